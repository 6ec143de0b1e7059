//! How much each feature moves decisions: a section of the page of a model and of an evaluation.

use super::Section;
use crate::chart::{Figure, SwarmRow, swarm_chart};
use crate::table::{Cell, DataTable};
use hingenet::report::{FeatureImportance, Importance};

/// Features drawn; the table has all.
const DRAWN: usize = 15;
/// Classes drawn where there are more than two.
const CLASSES: usize = 4;

/// None if no feature moves anything. `about` says which rows were explained.
pub fn section(importance: &Importance, about: &str) -> Option<Section> {
    importance.features.first().filter(|f| f.mean > 0.0)?;
    let mut section = Section::new(
        "importance",
        "What the decisions rest on",
        format!(
            "Each dot is one of {} {about}, and where it stands is what the feature adds to the log-odds of the class \
             there (its Shapley value); right speaks for the class. The colour is the size of the cell among all dots of the \
             line: blue is small, orange large; categories count in their order. Features that move decisions most come first.",
            importance.rows
        ),
    );
    let n = importance.classes.len();
    let drawn: Vec<usize> = if n == 2 { vec![1] } else { (0..n.min(CLASSES)).collect() };
    section.figures = drawn.into_iter().map(|c| swarm(importance, c)).collect();
    Some(section)
}

fn swarm(importance: &Importance, c: usize) -> Figure {
    let class = &importance.classes[c];
    let line = |f: &'_ FeatureImportance| f.dots.iter().map(|d| (d.values[c], d.level)).collect();
    let rows: Vec<SwarmRow> =
        importance.features.iter().take(DRAWN).map(|f| (f.feature.as_str(), line(f))).collect();
    let mut table =
        DataTable::new("Absolute value for the class decided for", &["feature", "mean", "sd over rows"]);
    let row = |f: &FeatureImportance| {
        vec![Cell::text(f.feature.as_str()), Cell::number(f.mean, 4), Cell::number(f.sd, 4)]
    };
    table.rows = importance.features.iter().map(row).collect();
    Figure::new(
        format!("importance-{c}"),
        format!("{}: {class}", importance.model),
        "Far from the middle line: the feature moves the decision much.",
        swarm_chart(
            &format!("What features add for {class}"),
            &format!("adds to the log-odds of {class}"),
            &rows,
        ),
        table,
    )
}
