//! How well the rows of one class are ranked above the others.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, LineChart};
use crate::table::{Cell, DataTable};
use hingenet::report::ClassCurves;

/// Points of a curve that its table lists.
const TABLE_POINTS: usize = 11;

/// The points of a curve and the area under it.
type Ranking<'a> = (&'a [(f64, f64)], Option<f64>);

/// True against false alarms of one class.
pub fn roc(drawn: &[Drawn], c: usize) -> Figure {
    let x = Axis::percent("false positives, % of the other classes", 0.0, 1.0);
    let mut chart = LineChart::new("ROC curves", x, Axis::percent("found, % of the class", 0.0, 1.0));
    chart.diagonal = true;
    let mut table =
        DataTable::new("ROC curve, some of its points", &["model", "false positives %", "found %", "area"]);
    add_curves(&mut chart, &mut table, drawn, c, |k| (&k.roc, k.auc));
    let reading = "Nearer to the upper left corner is better; the dashed diagonal is guessing.";
    Figure::new(format!("roc-{c}"), "ROC curve", reading, chart.svg(), table).with_legend(legend(drawn))
}

/// Precision against recall of one class.
pub fn precision_recall(drawn: &[Drawn], c: usize) -> Figure {
    let reading =
        "Nearer to the upper right corner is better; the dashed line is guessing, the share of the class.";
    let header = ["model", "recall %", "precision %", "mean precision"];
    let mut table = DataTable::new("Precision-recall curve, some of its points", &header);
    let [x, y] = ["found (recall), % of the class", "right (precision), %"]
        .map(|label| Axis::percent(label, 0.0, 1.0));
    let mut chart = LineChart::new("Precision-recall curves", x, y);
    chart.level = drawn.iter().find_map(|d| d.study.classes.get(c)).map(|k| k.prevalence);
    add_curves(&mut chart, &mut table, drawn, c, |k| (&k.precision_recall, k.average_precision));
    Figure::new(format!("pr-{c}"), "Precision and recall", reading, chart.svg(), table)
        .with_legend(legend(drawn))
}

/// The curve of each model, with some of its points and the area under it in the table.
fn add_curves<'a>(
    chart: &mut LineChart<'a>,
    table: &mut DataTable,
    drawn: &'a [Drawn],
    c: usize,
    curve: fn(&ClassCurves) -> Ranking<'_>,
) {
    for (d, class) in drawn.iter().filter_map(|d| d.study.classes.get(c).map(|k| (d, k))) {
        let (points, area) = curve(class);
        chart.lines.push(line(d, points));
        let step = points.len().div_ceil(TABLE_POINTS).max(1);
        for (x, y) in points.iter().step_by(step) {
            let area = Cell::optional(area, |a| Cell::number(a, 4));
            let model = Cell::text(d.study.model.as_str());
            table.rows.push(vec![model, Cell::percent(*x), Cell::percent(*y), area]);
        }
    }
}
