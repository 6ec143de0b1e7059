//! Whether probabilities come true, and how clear decisions are.

use super::{Drawn, legend, line};
use crate::chart::{Axis, ErrorBar, Figure, LegendEntry, Line, LineChart, Markers, SeriesStyle, histogram};
use crate::table::{Cell, DataTable};
use hingenet::report::Reliability;

/// Stated probabilities of all models against what came true.
pub fn all_reliabilities(drawn: &[Drawn]) -> Figure {
    let points = |d: &Drawn| d.study.reliability.bins.iter().map(|b| (b.stated, b.correct)).collect();
    let curves: Vec<Vec<(f64, f64)>> = drawn.iter().map(points).collect();
    let [x, y] = ["stated probability of the answer, %", "answers that were right, %"]
        .map(|label| Axis::percent(label, 0.0, 1.0));
    let mut chart = LineChart::new("Reliability of all models", x, y);
    chart.diagonal = true;
    let lines = drawn.iter().zip(&curves);
    chart.lines = lines.map(|(d, points)| Line { markers: Markers::All, ..line(d, points) }).collect();
    let mut table = DataTable::new(
        "Stated probability of the answer and share of right answers",
        &["model", "rows", "mean stated %", "right %", "95 % from", "95 % to"],
    );
    for (d, b) in drawn.iter().flat_map(|d| d.study.reliability.bins.iter().map(move |b| (d, b))) {
        table.rows.push(vec![
            Cell::text(d.study.model.as_str()),
            Cell::amount(b.weight),
            Cell::percent(b.stated),
            Cell::percent(b.correct),
            Cell::percent(b.interval.low),
            Cell::percent(b.interval.high),
        ]);
    }
    Figure::new(
        "reliability-all",
        "All models",
        "On the dashed diagonal stated probabilities come true; below it a model is too sure. Points of few rows jump; the \
         pictures of single models show how many there are.",
        chart.svg(),
        table,
    )
    .with_legend(legend(drawn))
}

/// Stated probability against what came true.
pub fn reliability(drawn: &Drawn) -> Figure {
    let points = |r: &Reliability| r.bins.iter().map(|b| (b.stated, b.correct)).collect::<Vec<_>>();
    let (after, before) = (points(&drawn.study.reliability), drawn.study.uncalibrated.as_ref().map(points));
    let full = |label: &str| Axis::percent(label, 0.0, 1.0);
    let mut chart = LineChart::new(
        format!("Reliability of {}", drawn.study.model),
        full("stated probability of the answer, %"),
        full("answers that were right, %"),
    );
    chart.diagonal = true;
    let total: f64 = drawn.study.reliability.bins.iter().map(|b| b.weight).sum();
    for b in &drawn.study.reliability.bins {
        chart.counts.push((b.from, b.to, b.weight / total));
        chart.bars.push(ErrorBar { x: b.stated, low: b.interval.low, high: b.interval.high });
    }
    let mut legend = vec![LegendEntry::new(
        if before.is_some() { "after calibration" } else { "as the model states them" },
        drawn.style,
    )];
    if let Some(before) = &before {
        let style = SeriesStyle { colour: 7, marker: 1 };
        chart.lines.push(Line { style, dashed: true, markers: Markers::All, ..line(drawn, before) });
        legend.push(LegendEntry { dashed: true, ..LegendEntry::new("before calibration", style) });
    }
    chart.lines.push(Line { markers: Markers::All, ..line(drawn, &after) });
    let mean_error = |r: &Reliability| format!("{:.1} points", 100.0 * r.error);
    let mut reading = format!(
        "On the dashed diagonal stated probabilities come true; below it the model is too sure. Grey bars show how \
         many rows fall where. Mean distance from the diagonal: {}",
        mean_error(&drawn.study.reliability)
    );
    reading += &match &drawn.study.uncalibrated {
        Some(before) => format!(", before calibration {}.", mean_error(before)),
        None => ".".to_string(),
    };
    let table = reliability_table(&drawn.study.reliability, drawn.study.uncalibrated.as_ref());
    Figure::new(
        format!("reliability-{}", drawn.index),
        drawn.study.model.clone(),
        reading,
        chart.svg(),
        table,
    )
    .with_legend(legend)
}

fn reliability_table(after: &Reliability, before: Option<&Reliability>) -> DataTable {
    let mut table = DataTable::new(
        "Stated probability of the answer and share of right answers",
        &[
            "probabilities",
            "stated from %",
            "to %",
            "rows",
            "mean stated %",
            "right %",
            "95 % from",
            "95 % to",
        ],
    );
    let name = if before.is_some() { "after calibration" } else { "as stated" };
    for (name, reliability) in [(name, Some(after)), ("before calibration", before)] {
        for b in reliability.iter().flat_map(|r| &r.bins) {
            table.rows.push(vec![
                Cell::text(name),
                Cell::percent(b.from),
                Cell::percent(b.to),
                Cell::amount(b.weight),
                Cell::percent(b.stated),
                Cell::percent(b.correct),
                Cell::percent(b.interval.low),
                Cell::percent(b.interval.high),
            ]);
        }
    }
    table
}

/// How clear the decisions of all models are: the share of rows whose margin is at most so large.
pub fn all_margins(drawn: &[Drawn]) -> Figure {
    let cumulated = |d: &Drawn| {
        let m = &d.study.margins;
        let sums = m.shares.iter().scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        // the outer bins hold all beyond them, so the curve ends before the last edge
        m.edges[1..].iter().copied().zip(sums).take(m.shares.len().saturating_sub(1)).collect()
    };
    let curves: Vec<Vec<(f64, f64)>> = drawn.iter().map(cumulated).collect();
    let x = Axis::over("log P(true class) − largest other", curves.iter().flatten().map(|p| p.0));
    let y = Axis::percent("rows with at most this margin, %", 0.0, 1.0);
    let mut chart = LineChart::new("Margins of all models", x, y);
    chart.upright = Some(0.0);
    chart.lines = drawn.iter().zip(&curves).map(|(d, points)| line(d, points)).collect();
    let mut table = DataTable::new("Rows with at most this margin", &["model", "margin", "rows %"]);
    for (d, points) in drawn.iter().zip(&curves) {
        let row = |p: &(f64, f64)| {
            vec![Cell::text(d.study.model.as_str()), Cell::number(p.0, 3), Cell::percent(p.1)]
        };
        table.rows.extend(points.iter().map(row));
    }
    Figure::new(
        "margins-all",
        "All models",
        "At the dashed line a curve has reached the share of wrong answers; right of it, the lower a curve, the more of its \
         right answers are clear.",
        chart.svg(),
        table,
    )
    .with_legend(legend(drawn))
}

/// How clear the decisions are.
pub fn margins(drawn: &Drawn) -> Figure {
    let m = &drawn.study.margins;
    let top = (1.08 * m.shares.iter().copied().fold(0.0, f64::max)).max(0.01);
    let (low, high) = (m.edges.first().copied().unwrap_or(-1.0), m.edges.last().copied().unwrap_or(1.0));
    let x = Axis::between("log P(true class) − largest other", low, high);
    let y = Axis::percent("share of rows, %", 0.0, top);
    let label = format!("Margins of {}", drawn.study.model);
    let mut table = DataTable::new(format!("Margins; median {:.3}", m.median), &["from", "to", "rows %"]);
    table.rows = m
        .shares
        .iter()
        .enumerate()
        .map(|(k, s)| vec![Cell::number(m.edges[k], 3), Cell::number(m.edges[k + 1], 3), Cell::percent(*s)])
        .collect();
    let reading = format!(
        "Right of 0 the answer is right, left of it wrong (pale); far from 0 it is clear. Median {:.2}; the outer \
         bars hold all beyond them.",
        m.median
    );
    Figure::new(
        format!("margins-{}", drawn.index),
        drawn.study.model.clone(),
        reading,
        histogram(&label, &x, &y, &m.edges, &m.shares, drawn.style),
        table,
    )
}
