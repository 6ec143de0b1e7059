//! The generic pieces of figures: curves with bands and maps of values over two axes. Families fill them,
//! the view draws them, so a new family needs no new drawing.

use serde::{Deserialize, Serialize};

/// One line of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What the line stands for, for the legend.
    pub name: String,
    /// Its points in drawing order, as (x, y).
    pub points: Vec<(f64, f64)>,
    /// Lower and upper end of an interval around each point; empty without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<(f64, f64)>,
}

/// What stands around a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caption {
    /// What is shown.
    pub title: String,
    /// How to read it, in a sentence.
    pub reading: String,
    /// Name of the horizontal axis.
    pub x: String,
    /// Name of the vertical axis.
    pub y: String,
}

/// Several curves over the same axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveFigure {
    /// Its words.
    #[serde(flatten)]
    pub caption: Caption,
    /// The lines.
    pub curves: Vec<Curve>,
    /// Names of the places 0, 1, ... where they are categories, drawn as bars; empty where they are numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
    /// Where rows are expected, as (x, share), drawn small at the bottom; empty if that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<(f64, f64)>,
}

/// Values over two axes, drawn as coloured cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Its words.
    #[serde(flatten)]
    pub caption: Caption,
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// Labels of the rows.
    pub rows: Vec<String>,
    /// One list of values a row; none where no rows are expected.
    pub values: Vec<Vec<Option<f64>>>,
    /// The value of full colour; values beyond it are drawn alike.
    pub full: f64,
}
