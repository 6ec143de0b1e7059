//! What more training rows bring.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, Line, LineChart, Markers};
use crate::table::{Cell, DataTable};
use hingenet::report::Evaluation;

/// From this ratio of the largest to the smallest number of rows on, equal factors have equal widths.
const WIDE: f64 = 10.0;

/// A share with the ends of its interval.
type Share = (f64, f64, f64);

/// The points of a line, and the interval around each.
type Shape = (Vec<(f64, f64)>, Vec<(f64, f64)>);

/// An error that a model makes with so many training rows.
struct Point<'a> {
    model: &'a str,
    rows: f64,
    error: Share,
}

/// Error of each model by the number of training rows.
pub fn errors(evaluation: &Evaluation, drawn: &[Drawn]) -> Figure {
    let points = evaluation.curve.iter().map(|p| {
        let a = &p.accuracy;
        let error = (1.0 - a.mean, 1.0 - a.interval.high, 1.0 - a.interval.low);
        Point { model: &p.model, rows: p.rows as f64, error }
    });
    let points: Vec<Point> = points.collect();
    figure("curve", "Error by number of training rows", "error, %", &points, drawn)
}

/// The same where every class counts alike.
pub fn balanced_errors(evaluation: &Evaluation, drawn: &[Drawn]) -> Figure {
    let points = evaluation.curve.iter().map(|p| {
        let b = &p.balanced_error;
        Point { model: &p.model, rows: p.rows as f64, error: (b.mean, b.interval.low, b.interval.high) }
    });
    let points: Vec<Point> = points.collect();
    let title = "Balanced error by number of training rows";
    figure("curve-balanced", title, "balanced error, %", &points, drawn)
}

fn figure(id: &str, title: &str, label: &str, points: &[Point], drawn: &[Drawn]) -> Figure {
    let (x, place) = axis(points.iter().map(|p| p.rows).collect());
    let of = |d: &Drawn| points.iter().filter(|p| p.model == d.study.model).collect::<Vec<&Point>>();
    let shape = |d: &Drawn| -> Shape {
        let line = of(d).iter().map(|p| (place(p.rows), p.error.0)).collect();
        (line, of(d).iter().map(|p| (p.error.1, p.error.2)).collect())
    };
    let shapes: Vec<Shape> = drawn.iter().map(shape).collect();
    let ends = shapes.iter().flat_map(|(_, band)| band.iter().flat_map(|b| [b.0, b.1]));
    let mut chart = LineChart::new(title, x, Axis::percent_over(label, ends));
    let lines = drawn.iter().zip(&shapes);
    chart.lines = lines.map(|(d, (p, band))| Line { band, markers: Markers::All, ..line(d, p) }).collect();
    let mut table = DataTable::new(title, &["model", "rows", label, "95 % from", "95 % to"]);
    for p in drawn.iter().flat_map(of) {
        let shares = [p.error.0, p.error.1, p.error.2].map(Cell::percent);
        let head = [Cell::text(p.model), Cell::number(p.rows, 0)];
        table.rows.push(head.into_iter().chain(shares).collect());
    }
    let reading = "Down is better; bands are 95 % intervals. A line that still falls at the right asks for more rows, a \
                   flat one for another model. Points of one line share rows, so they move together.";
    Figure::new(id, title, reading, chart.svg(), table).with_legend(legend(drawn))
}

/// The numbers of rows as an axis, and where each of them lies on it.
fn axis(mut numbers: Vec<f64>) -> (Axis, fn(f64) -> f64) {
    let (low, high) = numbers.iter().fold((f64::MAX, 0.0f64), |(l, h), n| (l.min(*n), h.max(*n)));
    let place: fn(f64) -> f64 = if high >= WIDE * low { f64::ln } else { |n| n };
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    // ticks are numbers of rows that were measured, as many as have room
    let step = numbers.len().div_ceil(8).max(1);
    let ticks = numbers.iter().rev().step_by(step).map(|n| (place(*n), n.to_string())).collect();
    let pad = (0.03 * (place(high) - place(low))).max(0.01);
    let label = "training rows of each fit".to_string();
    (Axis { label, low: place(low) - pad, high: place(high) + pad, ticks }, place)
}
