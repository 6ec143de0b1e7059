//! Which model is better, where it fails, and what it costs.

use super::{Drawn, p_value};
use crate::chart::{
    Axis, DotRow, ErrorBar, Figure, Grid, Line, LineChart, Markers, SeriesStyle, dot_chart, heat_map,
};
use crate::table::{Cell, DataTable, percent};
use hingenet::report::{Difference, Evaluation, TradeOff};

/// Classes of a confusion matrix; a page of eight models with more would be too large.
const CONFUSED: usize = 26;

/// Accuracy of every model with its interval and folds.
pub fn accuracies(evaluation: &Evaluation, drawn: &[Drawn], majority: f64) -> Figure {
    let result = |d: &Drawn| &evaluation.results[d.index].accuracy;
    let values = drawn.iter().flat_map(|d| {
        let a = result(d);
        a.folds.iter().copied().chain([a.interval.low, a.interval.high])
    });
    let values: Vec<f64> = values.collect();
    let (low, high) = values.iter().fold((1.0f64, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
    // a level far away would squeeze everything else
    let level = Some(majority).filter(|m| low - m < 3.0 * (high - low).max(0.02));
    let axis = Axis::percent_over("accuracy, %", values.into_iter().chain(level));
    let row = |d: &Drawn| {
        let a = &evaluation.results[d.index].accuracy;
        DotRow {
            label: d.study.model.clone(),
            style: d.style,
            value: a.mean,
            interval: Some((a.interval.low, a.interval.high)),
            small: if a.folds.len() > 1 { &a.folds } else { &[] },
        }
    };
    let rows: Vec<DotRow> = drawn.iter().map(row).collect();
    let mut table = DataTable::new("Accuracy, %", &["model", "mean", "95 % from", "95 % to", "folds"]);
    table.rows = drawn
        .iter()
        .map(|d| {
            let a = result(d);
            let folds: Vec<String> = a.folds.iter().map(|f| percent(*f)).collect();
            vec![
                Cell::text(d.study.model.clone()),
                Cell::percent(a.mean),
                Cell::percent(a.interval.low),
                Cell::percent(a.interval.high),
                Cell::text(folds.join(", ")),
            ]
        })
        .collect();
    Figure::new(
        "accuracy",
        "Accuracy of each model",
        match level {
            Some(_) => {
                "Right is better. The bar is the 95 % interval of the mean, small dots are single folds, the dashed \
                 line is always answering the most frequent class."
                    .to_string()
            }
            None => format!(
                "Right is better. The bar is the 95 % interval of the mean, small dots are single folds. Always \
                 answering the most frequent class ({} %) lies far to the left.",
                percent(majority)
            ),
        },
        dot_chart("Accuracy of each model with its interval", &axis, &rows, level),
        table,
    )
}

/// The best model less another one.
struct Lead<'a> {
    drawn: Drawn<'a>,
    mean: f64,
    half: Option<f64>,
    p: Option<f64>,
    adjusted: Option<f64>,
    /// p-values of Wilcoxon's test, plain and times the number of other models.
    ranks: Option<(f64, f64)>,
    folds: Vec<f64>,
}

fn leads<'a>(differences: &[Difference], drawn: &[Drawn<'a>], best: usize) -> Vec<Lead<'a>> {
    let lead = |d: &Drawn<'a>| {
        let pair = (best.min(d.index), best.max(d.index));
        let found = differences.iter().find(|x| (x.first, x.second) == pair)?;
        let sign = if found.first == best { 1.0 } else { -1.0 };
        let test = &found.tested;
        let folds = found.folds.iter().map(|f| sign * f).collect();
        Some(Lead {
            drawn: *d,
            mean: sign * found.mean,
            half: test.ci95,
            p: test.p_value,
            adjusted: test.p_adjusted,
            ranks: test.signed_ranks.as_ref().map(|s| (s.p_value, s.p_bonferroni)),
            folds,
        })
    };
    drawn.iter().filter(|d| d.index != best).filter_map(lead).collect()
}

/// The best model less each other one, fold by fold.
pub fn differences(differences: &[Difference], drawn: &[Drawn], best: usize) -> Option<Figure> {
    let found = leads(differences, drawn, best);
    let name = &drawn.iter().find(|d| d.index == best)?.study.model;
    if found.is_empty() {
        return None;
    }
    let reach = |l: &Lead| {
        let half = l.half.unwrap_or(0.0);
        l.folds.iter().copied().chain([l.mean - half, l.mean + half]).collect::<Vec<f64>>()
    };
    let values = found.iter().flat_map(reach).chain([0.0]);
    let axis =
        Axis::over("difference of accuracy, percentage points", values.map(|v| 100.0 * v)).in_hundredths();
    let row = |l: &'_ Lead<'_>| (l.drawn.study.model.clone(), l.drawn.style, l.mean, l.half);
    let rows: Vec<DotRow> = found
        .iter()
        .map(|l| (row(l), &l.folds))
        .map(|((label, style, value, half), folds)| DotRow {
            label,
            style,
            value,
            interval: half.map(|half| (value - half, value + half)),
            small: if folds.len() > 1 { folds } else { &[] },
        })
        .collect();
    let cells = |l: &Lead| {
        let folds: Vec<String> = l.folds.iter().map(|f| percent(*f)).collect();
        vec![
            Cell::text(l.drawn.study.model.clone()),
            Cell::percent(l.mean),
            Cell::optional(l.half, Cell::percent),
            Cell::optional(l.p, p_value),
            Cell::optional(l.adjusted, p_value),
            Cell::optional(l.ranks.map(|r| r.0), p_value),
            Cell::optional(l.ranks.map(|r| r.1), p_value),
            Cell::text(folds.join(", ")),
        ]
    };
    let caption = format!("Accuracy of {name} less that of each model, percentage points");
    let header = ["model", "mean", "± 95 %", "p-value", "p adjusted", "Wilcoxon p", "p Bonferroni", "folds"];
    let mut table = DataTable::new(caption, &header);
    table.rows = found.iter().map(cells).collect();
    Some(Figure::new(
        "differences",
        format!("{name} against each other model"),
        "Right of the dashed line the best model is ahead. A bar that crosses the line means the folds cannot tell \
         the two apart; small dots are single folds. Each bar is a 95 % interval of its own, not adjusted for the \
         number of comparisons; the table has p-values adjusted over all pairs.",
        dot_chart("Differences of accuracy to the best model", &axis, &rows, Some(0.0)),
        table,
    ))
}

/// Which classes are taken for which; of many classes the most frequent ones.
pub fn confusion(drawn: &Drawn, confusion: &[Vec<f64>], classes: &[String]) -> Figure {
    let rates = &drawn.study.rates;
    let shown = most_frequent(confusion);
    let of_shown = |row: &Vec<f64>| shown.iter().map(|&c| row[c]).collect::<Vec<f64>>();
    let names: Vec<String> = shown.iter().map(|&c| classes[c].clone()).collect();
    let values: Vec<Vec<f64>> = shown.iter().map(|&c| of_shown(&rates[c])).collect();
    let grid = Grid {
        label: format!("Confusion matrix of {}", drawn.study.model),
        x: "answer",
        y: "true class",
        columns: &names,
        rows: &names,
        values: values.iter().map(|row| row.iter().map(|r| Some(*r)).collect()).collect(),
        texts: shown
            .iter()
            .map(|&c| of_shown(&confusion[c]).into_iter().zip(of_shown(&rates[c])).map(cell_text).collect())
            .collect(),
        full: 1.0,
    };
    let mut header = vec!["true class".to_string()];
    header.extend(names.iter().map(|c| format!("answer {c}")));
    header.push("correct %".into());
    let row = |&c: &usize| {
        let mut cells = vec![Cell::text(classes[c].clone())];
        cells.extend(of_shown(&confusion[c]).into_iter().map(Cell::amount));
        cells.push(Cell::percent(rates[c][c]));
        cells
    };
    let rows = shown.iter().map(row).collect();
    let table = DataTable { caption: "Test rows by true class and answer, all folds".into(), header, rows };
    let mut reading =
        "Numbers of test rows and, below, their share of the rows of that true class; a strong diagonal \
                       means few mistakes."
            .to_string();
    if shown.len() < classes.len() {
        reading += &format!(" The {} most frequent of {} classes.", shown.len(), classes.len());
    }
    Figure::new(format!("confusion-{}", drawn.index), "Confusion matrix", reading, heat_map(&grid), table)
}

/// Rows and their share.
fn cell_text((rows, share): (f64, f64)) -> String {
    format!("{}\n{:.1} %", Cell::amount(rows).text, 100.0 * share)
}

/// Classes of a confusion matrix, in their order: all, or those with the most rows.
pub fn most_frequent(confusion: &[Vec<f64>]) -> Vec<usize> {
    let total = |c: usize| confusion[c].iter().sum::<f64>();
    let mut order: Vec<usize> = (0..confusion.len()).collect();
    order.sort_by(|&a, &b| total(b).total_cmp(&total(a)).then(a.cmp(&b)));
    order.truncate(CONFUSED);
    order.sort_unstable();
    order
}

/// Likelihood against accuracy as an option grows.
pub fn trade_off(trade_off: &TradeOff, style: SeriesStyle, number: usize) -> Figure {
    let likelihoods: Option<Vec<f64>> = trade_off.points.iter().map(|p| p.log_likelihood).collect();
    let (x, places): (Axis, Vec<f64>) = match &likelihoods {
        Some(values) => {
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            // room for the label of the point at the right
            let room = high + 0.08 * (high - low);
            let axis = Axis::over("log-likelihood of a test row, nats", values.iter().copied().chain([room]));
            (axis, values.clone())
        }
        None => {
            let n = trade_off.points.len();
            let ticks =
                trade_off.points.iter().enumerate().map(|(k, p)| (k as f64, p.value.clone())).collect();
            let axis = Axis { label: trade_off.key.clone(), low: -0.3, high: n as f64 - 0.7, ticks };
            (axis, (0..n).map(|k| k as f64).collect())
        }
    };
    let y = Axis::percent_over(
        "accuracy, %",
        trade_off.points.iter().flat_map(|p| [p.interval.low, p.interval.high]),
    );
    let points: Vec<(f64, f64)> =
        places.iter().zip(&trade_off.points).map(|(x, p)| (*x, p.accuracy)).collect();
    let mut chart = LineChart::new(format!("Trade-off of {}", trade_off.model), x, y);
    let ends = trade_off.points.iter().map(|p| (p.interval.low, p.interval.high));
    chart.bars = places.iter().zip(ends).map(|(&x, (low, high))| ErrorBar { x, low, high }).collect();
    let labels = if likelihoods.is_some() {
        trade_off.points.iter().map(|p| p.value.clone()).collect()
    } else {
        Vec::new()
    };
    chart.lines = vec![Line {
        name: &trade_off.model,
        style,
        points: &points,
        band: &[],
        markers: Markers::All,
        dashed: false,
        labels,
    }];
    let mut table = DataTable::new(
        "Trade-off",
        &[trade_off.key.as_str(), "log-likelihood", "slack", "accuracy %", "95 % from", "95 % to"],
    );
    table.rows = trade_off
        .points
        .iter()
        .map(|p| {
            vec![
                Cell::text(p.value.clone()),
                Cell::optional(p.log_likelihood, |l| Cell::number(l, 4)),
                Cell::optional(p.slack, |s| Cell::number(s, 4)),
                Cell::percent(p.accuracy),
                Cell::percent(p.interval.low),
                Cell::percent(p.interval.high),
            ]
        })
        .collect();
    let reading = if likelihoods.is_some() {
        format!(
            "Up is more accurate, right is a better description of the data; the line shows what one costs in the \
             other. Beside each point stands its {}.",
            trade_off.key
        )
    } else {
        "Accuracy for each value of the option, with its 95 % interval.".to_string()
    };
    Figure::new(format!("trade-off-{number}"), trade_off.model.clone(), reading, chart.svg(), table)
}
