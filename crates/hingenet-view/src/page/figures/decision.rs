//! What acting on a probability is worth.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, LegendEntry, Line, LineChart, Markers, SeriesStyle};
use crate::table::{Cell, DataTable};
use hingenet::report::Evaluation;

/// Thresholds that the table lists: every so many.
const STEP: usize = 10;
/// The worst net benefit that is drawn, as a share of the best one that is possible.
const DEPTH: f64 = 0.25;

/// Net benefit of each model by threshold, beside answering the class always and never.
pub fn decision_curve(evaluation: &Evaluation, drawn: &[Drawn], c: usize) -> Figure {
    let class = |d: &Drawn| &evaluation.results[d.index].classes[c];
    let name = &evaluation.data.classes[c];
    let best = drawn.first().and_then(|d| d.study.classes.get(c)).map_or(0.0, |k| k.prevalence);
    // a curve that falls far below 0 would squeeze all others: it goes on along the edge
    let low = -DEPTH * best;
    let model = |d: &Drawn| {
        class(d).thresholds.iter().map(|p| (p.threshold, p.net_benefit.max(low))).collect::<Vec<_>>()
    };
    let curves: Vec<Vec<(f64, f64)>> = drawn.iter().map(model).collect();
    let points = drawn.iter().take(1).flat_map(|d| &class(d).thresholds);
    let always: Vec<(f64, f64)> =
        points.map(|p| (p.threshold, p.treat_all)).take_while(|p| p.1 >= low).collect();
    let x = Axis::percent("threshold probability, %", 0.0, 1.0);
    let y = Axis::between("net benefit", low, 1.06 * best);
    let mut chart = LineChart::new(format!("Decision curves for {name}"), x, y);
    chart.zero = true;
    let plain = SeriesStyle { colour: 7, marker: 0 };
    let reference = Line {
        name: "always",
        style: plain,
        points: &always,
        band: &[],
        markers: Markers::Few,
        dashed: true,
        labels: Vec::new(),
    };
    chart.lines.push(reference);
    chart.lines.extend(drawn.iter().zip(&curves).map(|(d, points)| line(d, points)));
    let mut table = DataTable::new(
        format!("Net benefit of answering {name}, some thresholds"),
        &["model", "threshold %", "net benefit", "always"],
    );
    for d in drawn {
        for p in class(d).thresholds.iter().skip(STEP - 1).step_by(STEP) {
            table.rows.push(vec![
                Cell::text(d.study.model.as_str()),
                Cell::percent(p.threshold),
                Cell::number(p.net_benefit, 4),
                Cell::number(p.treat_all, 4),
            ]);
        }
    }
    let mut entries = legend(drawn);
    entries.push(LegendEntry { dashed: true, ..LegendEntry::new(format!("always {name}"), plain) });
    Figure::new(
        format!("decision-{c}"),
        "Decision curve",
        "Higher is better at the threshold at which you would act: rows rightly acted on, less those acted on in vain \
         weighed by the odds of the threshold, each as a share of all rows. A model is of use where it lies above always acting (dashed \
         curve) and never acting (dashed line at 0).",
        chart.svg(),
        table,
    )
    .with_legend(entries)
}
