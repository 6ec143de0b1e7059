//! How well the rows of one class are ranked above the others.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, LineChart};
use crate::table::{Cell, DataTable};
use hingenet::report::ClassCurves;

/// Points of a curve that its table lists.
const TABLE_POINTS: usize = 11;

fn of_class<'a>(drawn: &'a [Drawn], c: usize) -> impl Iterator<Item = (&'a Drawn<'a>, &'a ClassCurves)> {
    drawn.iter().filter_map(move |d| d.study.classes.get(c).map(|k| (d, k)))
}

/// True against false alarms of one class.
pub fn roc(drawn: &[Drawn], c: usize) -> Figure {
    let full = |label: &str| Axis::percent(label, 0.0, 1.0);
    let mut chart = LineChart::new(
        "ROC curves",
        full("false positives, % of the other classes"),
        full("found, % of the class"),
    );
    chart.diagonal = true;
    chart.lines = of_class(drawn, c).map(|(d, k)| line(d, &k.roc)).collect();
    let lists = of_class(drawn, c).map(|(d, k)| (d.study.model.as_str(), k.roc.as_slice(), k.auc));
    let table = curve_table("ROC curve", &["model", "false positives %", "found %", "area"], lists);
    let reading = "Nearer to the upper left corner is better; the dashed diagonal is guessing.";
    Figure::new(format!("roc-{c}"), "ROC curve", reading, chart.svg(), table).with_legend(legend(drawn))
}

/// Precision against recall of one class.
pub fn precision_recall(drawn: &[Drawn], c: usize) -> Figure {
    let full = |label: &str| Axis::percent(label, 0.0, 1.0);
    let mut chart = LineChart::new(
        "Precision-recall curves",
        full("found (recall), % of the class"),
        full("right (precision), %"),
    );
    chart.level = of_class(drawn, c).next().map(|(_, k)| k.prevalence);
    chart.lines = of_class(drawn, c).map(|(d, k)| line(d, &k.precision_recall)).collect();
    let lists = of_class(drawn, c)
        .map(|(d, k)| (d.study.model.as_str(), k.precision_recall.as_slice(), k.average_precision));
    let table =
        curve_table("Precision-recall curve", &["model", "recall %", "precision %", "mean precision"], lists);
    let reading =
        "Nearer to the upper right corner is better; the dashed line is guessing, the share of the class.";
    Figure::new(format!("pr-{c}"), "Precision and recall", reading, chart.svg(), table)
        .with_legend(legend(drawn))
}

fn curve_table<'a>(
    caption: &str,
    header: &[&str],
    curves: impl Iterator<Item = (&'a str, &'a [(f64, f64)], Option<f64>)>,
) -> DataTable {
    let mut table = DataTable::new(format!("{caption}, some of its points"), header);
    for (model, points, area) in curves {
        let step = points.len().div_ceil(TABLE_POINTS).max(1);
        for (x, y) in points.iter().step_by(step) {
            let area = Cell::optional(area, |a| Cell::number(a, 4));
            table.rows.push(vec![Cell::text(model), Cell::percent(*x), Cell::percent(*y), area]);
        }
    }
    table
}
