//! A chart with everything a reader needs: title, how to read it, legend, and its numbers as a table.

use super::SeriesStyle;
use crate::table::DataTable;
use serde::Serialize;

/// A chart on a page.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Anchor on the page.
    pub id: String,
    /// What is shown.
    pub title: String,
    /// How to read it, in a sentence.
    pub reading: String,
    /// The picture.
    pub svg: String,
    /// What the colours and markers stand for.
    pub legend: Vec<LegendEntry>,
    /// Its numbers.
    pub table: DataTable,
    /// Whether it takes the whole width and scrolls when it is wider.
    pub is_wide: bool,
    /// Whether it scrolls where the page is narrower than it can be read.
    pub scrolls: bool,
}

/// One entry of a legend.
#[derive(Debug, Clone, Serialize)]
pub struct LegendEntry {
    /// What it stands for.
    pub name: String,
    /// CSS class of the colour.
    pub class: String,
    /// Path of the marker in a box of 24 by 12.
    pub marker: String,
    /// Whether the line is dashed.
    pub dashed: bool,
}

impl LegendEntry {
    /// The entry of a series.
    pub fn new(name: impl Into<String>, style: SeriesStyle) -> Self {
        LegendEntry {
            name: name.into(),
            class: style.class(),
            marker: style.marker_path(12.0, 6.0),
            dashed: false,
        }
    }
}

impl Figure {
    /// A figure without legend.
    pub fn new(
        id: impl Into<String>,
        title: impl Into<String>,
        reading: impl Into<String>,
        svg: String,
        table: DataTable,
    ) -> Self {
        Figure {
            id: id.into(),
            title: title.into(),
            reading: reading.into(),
            svg,
            legend: Vec::new(),
            table,
            is_wide: false,
            scrolls: false,
        }
    }

    /// The same with a legend.
    pub fn with_legend(mut self, legend: Vec<LegendEntry>) -> Self {
        self.legend = legend;
        self
    }
}
