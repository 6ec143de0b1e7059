//! How well the rows of one class are ranked above the others.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, LineChart};
use crate::table::{Cell, DataTable};
use hingenet::report::ClassCurves;

/// Points of a curve that its table lists.
const TABLE_POINTS: usize = 11;

/// One kind of curve.
struct Kind {
    id: &'static str,
    title: &'static str,
    reading: &'static str,
    /// What the curve is called, for its table and for screen readers.
    name: &'static str,
    axes: [&'static str; 2],
    header: [&'static str; 4],
    /// The points of a class and the area under them.
    curve: fn(&ClassCurves) -> (&[(f64, f64)], Option<f64>),
}

/// True against false alarms of one class.
pub fn roc(drawn: &[Drawn], c: usize) -> Figure {
    let kind = Kind {
        id: "roc",
        title: "ROC curve",
        reading: "Nearer to the upper left corner is better; the dashed diagonal is guessing.",
        name: "ROC curve",
        axes: ["false positives, % of the other classes", "found, % of the class"],
        header: ["model", "false positives %", "found %", "area"],
        curve: |k| (&k.roc, k.auc),
    };
    kind.figure(drawn, c, |chart| chart.diagonal = true)
}

/// Precision against recall of one class.
pub fn precision_recall(drawn: &[Drawn], c: usize) -> Figure {
    let kind = Kind {
        id: "pr",
        title: "Precision and recall",
        reading: "Nearer to the upper right corner is better; the dashed line is guessing, the share of the class.",
        name: "Precision-recall curve",
        axes: ["found (recall), % of the class", "right (precision), %"],
        header: ["model", "recall %", "precision %", "mean precision"],
        curve: |k| (&k.precision_recall, k.average_precision),
    };
    let prevalence = drawn.iter().find_map(|d| d.study.classes.get(c)).map(|k| k.prevalence);
    kind.figure(drawn, c, |chart| chart.level = prevalence)
}

impl Kind {
    fn figure(&self, drawn: &[Drawn], c: usize, guessing: impl Fn(&mut LineChart)) -> Figure {
        let [x, y] = self.axes.map(|label| Axis::percent(label, 0.0, 1.0));
        let mut chart = LineChart::new(format!("{}s", self.name), x, y);
        guessing(&mut chart);
        let mut table = DataTable::new(format!("{}, some of its points", self.name), &self.header);
        for (d, class) in drawn.iter().filter_map(|d| d.study.classes.get(c).map(|k| (d, k))) {
            let (points, area) = (self.curve)(class);
            chart.lines.push(line(d, points));
            let step = points.len().div_ceil(TABLE_POINTS).max(1);
            for (x, y) in points.iter().step_by(step) {
                let (model, area) =
                    (Cell::text(&d.study.model), Cell::optional(area, |a| Cell::number(a, 4)));
                table.rows.push(vec![model, Cell::percent(*x), Cell::percent(*y), area]);
            }
        }
        Figure::new(format!("{}-{c}", self.id), self.title, self.reading, chart.svg(), table)
            .with_legend(legend(drawn))
    }
}
