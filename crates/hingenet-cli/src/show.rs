//! Tables for people, at most 100 characters wide.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};
use hingenet::report::{Evaluation, ModelResult};

const WIDTH: u16 = 100;
/// Cells of so many letters do not break: they hold a number with its interval.
const NUMBER: usize = 20;

/// One line under the header.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table whose first column is text and whose other columns are numbers.
pub fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(header.iter().map(ToString::to_string));
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    table.add_rows(&rows);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
            let cells = rows.iter().filter_map(|row| row.get(i).map(String::as_str));
            if cells.chain([header[i]]).all(|cell| cell.chars().count() <= NUMBER) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    let text = table.to_string();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The results of an evaluation.
pub fn evaluation(evaluation: &Evaluation) -> String {
    let (data, protocol) = (&evaluation.data, &evaluation.protocol);
    let mut text = format!(
        "{}, {}, {}, {} missing; {}; in brackets 95 % intervals\n",
        count(data.rows, "row"),
        count(data.features, "feature"),
        count(data.classes.len(), "class"),
        count(data.missing_cells, "cell"),
        match protocol.test_rows {
            Some(n) => format!("tested on {}", count(n, "other row")),
            None if protocol.repeats > 1 => format!("{} folds, {} repeats", protocol.folds, protocol.repeats),
            None => format!("{} folds", protocol.folds),
        }
    );
    if data.unlabelled > 0 {
        text += &format!("{} without a class, in every training part\n", count(data.unlabelled, "row"));
    }
    if let Some(rows) = protocol.rows.last() {
        text += &format!("fitted on {} of each training part\n", count(*rows, "row"));
    }
    text += &results(&evaluation.results);
    if !evaluation.curve.is_empty() {
        text += "\nLearning curves: error by number of training rows\n";
        text += &curve(evaluation);
    }
    if evaluation.results.iter().any(|r| !r.missing.is_empty()) {
        text += "\nAccuracy (%) when feature cells of the test rows are missing\n";
        text += &missing(&evaluation.results);
    }
    text
}

/// The main figures, one row a model.
pub fn results(results: &[ModelResult]) -> String {
    let header = ["model", "accuracy %", "balanced error %", "log-loss", "AUC", "fit", "predict"];
    table(&header, results.iter().map(main_figures))
}

/// The most accurate model against each other one.
pub fn tests(evaluation: &Evaluation) -> String {
    let results = &evaluation.results;
    let key = |r: &ModelResult| (r.accuracy.mean, -r.log_loss);
    let better = |a, b| if key(b) > key(a) { b } else { a };
    let Some(best) = results.iter().reduce(better).filter(|_| results.len() > 1) else {
        return String::new();
    };
    let p = |p: Option<f64>| {
        p.map_or("-".into(), |p| if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") })
    };
    let pairs = evaluation.tests.iter().filter(|t| t.first == best.model || t.second == best.model);
    let rows = pairs.map(|t| {
        let sign = if t.first == best.model { 1.0 } else { -1.0 };
        let other = if t.first == best.model { &t.second } else { &t.first };
        let test = &t.tested;
        let half = test.ci95.map_or(String::new(), |half| format!(" ± {}", percent(half)));
        let difference = format!("{}{half}", percent(sign * t.accuracy + 0.0));
        let ranks = [&test.signed_ranks, &t.signed_ranks_balanced].into_iter().flat_map(|of| {
            let of = of.as_ref();
            [p(of.map(|s| s.p_value)), p(of.map(|s| s.p_bonferroni))]
        });
        [other.clone(), difference, p(test.p_value), p(test.p_adjusted)].into_iter().chain(ranks).collect()
    });
    let header = ["against", "accuracy", "p", "Holm", "W accuracy", "Bonferroni", "W balanced", "Bonferroni"];
    let mut text = format!("\n{} less each other model, accuracy in percentage points\n", best.model);
    text += &table(&header, rows);
    text += "p: corrected resampled t-test (one split: McNemar's test), Holm over all pairs. W: Wilcoxon's signed\n\
             ranks over folds and repeats, Bonferroni over the other models; folds share rows, so W is too sure.\n";
    text
}

/// One row for each model and number of training rows.
fn curve(evaluation: &Evaluation) -> String {
    let header = ["model", "rows", "error %", "balanced error %", "log-loss", "AUC", "fit"];
    let rows = evaluation.curve.iter().map(|p| {
        let (accuracy, balanced) = (&p.accuracy, &p.balanced_error);
        vec![
            p.model.clone(),
            p.rows.to_string(),
            share(1.0 - accuracy.mean, 1.0 - accuracy.interval.high, 1.0 - accuracy.interval.low),
            share(balanced.mean, balanced.interval.low, balanced.interval.high),
            format!("{:.4}", p.log_loss),
            p.auc.map_or("-".into(), |auc| format!("{auc:.4}")),
            seconds(p.fit_seconds),
        ]
    });
    table(&header, rows)
}

/// A share in per cent with its interval.
fn share(x: f64, low: f64, high: f64) -> String {
    format!("{} ({:.1}–{:.1})", percent(x), 100.0 * low, 100.0 * high)
}

/// Model, accuracy and balanced error with their 95 % intervals, log-loss, AUC, times.
pub fn main_figures(result: &ModelResult) -> Vec<String> {
    let (accuracy, error) = (&result.accuracy, &result.balanced_error);
    vec![
        result.model.clone(),
        share(accuracy.mean, accuracy.interval.low, accuracy.interval.high),
        share(error.mean, error.interval.low, error.interval.high),
        format!("{:.4}", result.log_loss),
        result.auc.map_or("-".into(), |auc| format!("{auc:.4}")),
        seconds(result.fit_seconds),
        seconds(result.predict_seconds),
    ]
}

fn missing(results: &[ModelResult]) -> String {
    let rates: Vec<String> = results
        .first()
        .map(|r| r.missing.iter().map(|p| format!("{} %", round(100.0 * p.rate))).collect())
        .unwrap_or_default();
    let header: Vec<&str> = std::iter::once("model").chain(rates.iter().map(String::as_str)).collect();
    let row = |r: &ModelResult| {
        std::iter::once(r.model.clone()).chain(r.missing.iter().map(|p| percent(p.accuracy))).collect()
    };
    table(&header, results.iter().map(row))
}

/// A number of things: `1 cell`, `2 cells`.
pub fn count(n: usize, thing: &str) -> String {
    let plural = match thing {
        "class" => "classes",
        "category" => "categories",
        other => return format!("{n} {other}{}", if n == 1 { "" } else { "s" }),
    };
    format!("{n} {}", if n == 1 { thing } else { plural })
}

/// A share in per cent, two decimals.
pub fn percent(x: f64) -> String {
    format!("{:.2}", 100.0 * x)
}

/// A duration, seven characters wide so that columns keep their width from run to run.
pub fn seconds(s: f64) -> String {
    let text = match s {
        s if s < 0.0995 => format!("{:.1} ms", 1e3 * s),
        s if s < 99.5 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    };
    format!("{text:>7}")
}

/// A number without needless digits.
pub fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}
