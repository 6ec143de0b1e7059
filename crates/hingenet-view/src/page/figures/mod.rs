//! The figures of an evaluation report: each a chart, how to read it, and its numbers.

mod comparison;
mod curve;
mod data;
mod decision;
mod missing;
mod ranking;
mod trust;

pub use comparison::{accuracies, confusion, differences, most_frequent, trade_off};
pub use curve::{balanced_errors, errors};
pub use data::{class_balance, columns, missing_columns};
pub use decision::decision_curve;
pub use missing::{missing, missing_parts};
pub use ranking::{precision_recall, roc};
pub use trust::{all_margins, all_reliabilities, margins, reliability};

use crate::chart::{BASELINE, LegendEntry, Line, Markers, SeriesStyle};
use crate::table::Cell;
use hingenet::report::ModelStudy;

/// A model as figures see it.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// Position in the results.
    pub index: usize,
    pub style: SeriesStyle,
    pub study: &'a ModelStudy,
}

impl Drawn<'_> {
    /// Whether the model says the same of every row: it has nothing to show but its accuracy.
    pub fn is_baseline(&self) -> bool {
        self.study.model == BASELINE
    }
}

pub fn legend(drawn: &[Drawn]) -> Vec<LegendEntry> {
    drawn.iter().map(|d| LegendEntry::new(d.study.model.clone(), d.style)).collect()
}

/// A p-value; very small ones are told as such.
pub fn p_value(p: f64) -> Cell {
    let text = if p < 0.001 { "< 0.001".to_string() } else { format!("{p:.3}") };
    Cell::shown(text, p)
}

fn line<'a>(d: &'a Drawn, points: &'a [(f64, f64)]) -> Line<'a> {
    Line {
        name: &d.study.model,
        style: d.style,
        points,
        band: &[],
        markers: Markers::Few,
        dashed: false,
        labels: Vec::new(),
    }
}
