//! What more training rows bring.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, Line, LineChart, Markers};
use crate::table::{Cell, DataTable};
use hingenet::report::CurvePoint;

/// From this ratio of the largest to the smallest number of rows on, equal factors have equal widths.
const WIDE: f64 = 10.0;

/// A share with the ends of its interval.
type Share = (f64, f64, f64);

/// The points of a line, and the interval around each.
type Shape = (Vec<(f64, f64)>, Vec<(f64, f64)>);

/// Error of each model by the number of training rows.
pub fn errors(points: &[CurvePoint], drawn: &[Drawn]) -> Figure {
    let error = |p: &CurvePoint| {
        let a = &p.accuracy;
        (1.0 - a.mean, 1.0 - a.interval.high, 1.0 - a.interval.low)
    };
    figure("curve", "Error by number of training rows", "error, %", points, drawn, error)
}

/// The same where every class counts alike.
pub fn balanced_errors(points: &[CurvePoint], drawn: &[Drawn]) -> Figure {
    let error = |p: &CurvePoint| {
        let b = &p.balanced_error;
        (b.mean, b.interval.low, b.interval.high)
    };
    let title = "Balanced error by number of training rows";
    figure("curve-balanced", title, "balanced error, %", points, drawn, error)
}

fn figure(
    id: &str,
    title: &str,
    label: &str,
    points: &[CurvePoint],
    drawn: &[Drawn],
    share: fn(&CurvePoint) -> Share,
) -> Figure {
    let rows: Vec<f64> = points.iter().map(|p| p.rows as f64).collect();
    let (x, place) = axis(&rows);
    let of = |d: &Drawn| points.iter().filter(|p| p.model == d.study.model).collect::<Vec<&CurvePoint>>();
    let shapes: Vec<Shape> = drawn
        .iter()
        .map(|d| {
            let middle = |p: &&CurvePoint| (place(p.rows as f64), share(p).0);
            let ends = |p: &&CurvePoint| (share(p).1, share(p).2);
            (of(d).iter().map(middle).collect(), of(d).iter().map(ends).collect())
        })
        .collect();
    let lines = drawn.iter().zip(&shapes);
    let lines = lines.map(|(d, (p, band))| Line { band, markers: Markers::All, ..line(d, p) });
    let y =
        Axis::percent_over(label, shapes.iter().flat_map(|(_, band)| band.iter().flat_map(|b| [b.0, b.1])));
    let mut chart = LineChart::new(title, x, y);
    chart.lines = lines.collect();
    let mut table = DataTable::new(title, &["model", "rows", label, "95 % from", "95 % to"]);
    for p in drawn.iter().flat_map(of) {
        let (mean, low, high) = share(p);
        let shares = [mean, low, high].map(Cell::percent);
        let head = [Cell::text(p.model.clone()), Cell::number(p.rows as f64, 0)];
        table.rows.push(head.into_iter().chain(shares).collect());
    }
    let reading = "Down is better; bands are 95 % intervals. A line that still falls at the right asks for more rows, a \
                   flat one for another model. Points of one line share rows, so they move together.";
    Figure::new(id, title, reading, chart.svg(), table).with_legend(legend(drawn))
}

/// The numbers of rows as an axis, and where each of them lies on it.
fn axis(rows: &[f64]) -> (Axis, fn(f64) -> f64) {
    let (low, high) = rows.iter().fold((f64::MAX, 0.0f64), |(l, h), n| (l.min(*n), h.max(*n)));
    let place: fn(f64) -> f64 = if high >= WIDE * low { f64::ln } else { |n| n };
    let mut numbers = rows.to_vec();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    // ticks are numbers of rows that were measured, as many as have room
    let step = numbers.len().div_ceil(8).max(1);
    let ticks = numbers.iter().rev().step_by(step).map(|n| (place(*n), n.to_string())).collect();
    let pad = (0.03 * (place(high) - place(low))).max(0.01);
    let label = "training rows of each fit".to_string();
    (Axis { label, low: place(low) - pad, high: place(high) + pad, ticks }, place)
}
