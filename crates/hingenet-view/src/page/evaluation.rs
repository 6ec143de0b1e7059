//! The page of an evaluation: verdict, comparison, mistakes, trust, robustness, data, how to repeat it.

use super::figures::{self, Drawn};
use super::{Card, Detail, Page, Section, Tab, data, mistakes, threshold};
use crate::chart::{Figure, series_styles};
use crate::table::{Cell, DataTable, percent};
use hingenet::report::{EvaluationReport, Headline, ModelResult, choice_words};

/// Models drawn in figures; tables have all.
const DRAWN: usize = 8;
/// Classes with curves.
const CLASSES: usize = 12;

/// The report as one HTML file. An error can only come from the page's own template.
pub fn evaluation_page(report: &EvaluationReport) -> Result<String, String> {
    let drawn = drawn(report);
    let best = best_first(&drawn, report.verdict.best);
    let mut sections = vec![comparison(report, &drawn)];
    sections.extend(learning_curve(report, &drawn));
    sections.push(mistakes::section(report, &best));
    let telling: Vec<Drawn> = best.into_iter().filter(|d| !d.is_baseline()).collect();
    sections.extend(threshold::section(report, &telling, &looked_for(report)));
    let rows = "rows of the first fold, explained by the most accurate model, which was not fitted on them";
    sections.extend(report.importance.iter().filter_map(|i| super::importance::section(i, rows)));
    sections.extend(robustness(&drawn));
    sections.extend(trade_offs(report));
    sections.push(curves(report, &drawn));
    if !telling.is_empty() {
        sections.push(trust(&telling));
        sections.push(margins(&telling));
    }
    sections.push(data::section(report));
    sections.push(data::columns(report));
    sections.push(reproduction(report));
    let page = Page {
        title: format!("Predicting {}", report.evaluation.data.target),
        kind: "Evaluation report".into(),
        facts: facts(report),
        verdict: verdict(report),
        warnings: report.findings.doubts.iter().map(|doubt| format!("{doubt}.")).collect(),
        cards: report.headlines.iter().map(|h| card(h, report)).collect(),
        sections,
        ..Page::default()
    };
    page.html().map_err(|e| e.to_string())
}

/// The best models, in the order of the results.
fn drawn(report: &EvaluationReport) -> Vec<Drawn<'_>> {
    let names: Vec<&str> = report.models.iter().map(|m| m.model.as_str()).collect();
    let styles = series_styles(&names);
    let results = &report.evaluation.results;
    let mut order: Vec<usize> = (0..names.len()).collect();
    let mean = |i: usize| results[i].accuracy.mean;
    order.sort_by(|&a, &b| mean(b).total_cmp(&mean(a)).then(a.cmp(&b)));
    order.truncate(DRAWN);
    order.sort_unstable();
    order.iter().map(|&i| Drawn { index: i, style: styles[i], study: &report.models[i] }).collect()
}

fn facts(report: &EvaluationReport) -> Vec<String> {
    let (data, protocol) = (&report.evaluation.data, &report.evaluation.protocol);
    let mut facts = Vec::new();
    facts.extend(data.file.clone());
    facts.push(format!("{} rows", data.rows));
    if data.unlabelled > 0 {
        facts.push(format!("{} of them without a class, in every training part", data.unlabelled));
    }
    facts.push(format!("{} features", data.features));
    facts.push(format!("{} classes", data.classes.len()));
    facts.push(match data.missing_cells {
        0 => "no cells missing".to_string(),
        n => format!("{n} cells missing"),
    });
    facts.push(match protocol.test_rows {
        Some(n) => format!("tested on {n} other rows"),
        None if protocol.repeats > 1 => {
            format!("{}-fold cross-validation, {} times", protocol.folds, protocol.repeats)
        }
        None => format!("{}-fold cross-validation", protocol.folds),
    });
    facts.extend(protocol.rows.last().map(|n| format!("fitted on {n} rows of each training part")));
    facts.extend(protocol.groups.iter().map(|g| format!("rows of one {g} stay together")));
    facts
}

/// What the figures carry, and no more: claims rest on tests adjusted for all comparisons.
fn verdict(report: &EvaluationReport) -> String {
    let (v, results) = (&report.verdict, &report.evaluation.results);
    let best = &results[v.best];
    let accuracy = &best.accuracy;
    let always = format!("always answering “{}” ({} %)", v.majority_class, percent(v.majority_share));
    let achieved = format!(
        "{} classifies {} % of unseen rows correctly (95 % interval {}–{} %)",
        best.model,
        percent(accuracy.mean),
        percent(accuracy.interval.low),
        percent(accuracy.interval.high)
    );
    if v.gain <= 0.0 {
        return format!("No model is more accurate than {always}.");
    }
    if !v.is_useful {
        return format!(
            "These rows do not show that any model is better than {always}: the best in the mean, {achieved}."
        );
    }
    let mut text = format!("{achieved}, {} percentage points more than {always}.", percent(v.gain));
    let pairs = report.differences.len();
    if !v.worse.is_empty() {
        text += &format!(" It is significantly better than {}", names(results, &v.worse));
        text += &match pairs {
            1 => format!(" (p < {}).", v.level),
            n => format!(" (p < {} after Holm's correction for all {n} comparisons).", v.level),
        };
    }
    if !v.similar.is_empty() {
        text += &format!(" The test cannot tell it apart from {}.", names(results, &v.similar));
    }
    text
}

/// The first of the named models, and how many there are.
fn names(results: &[ModelResult], list: &[usize]) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = list.iter().take(SHOWN).map(|&i| results[i].model.as_str()).collect();
    match names.split_last() {
        _ if list.len() > SHOWN => format!("{} and {} more", names.join(", "), list.len() - SHOWN),
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

fn card(h: &Headline, report: &EvaluationReport) -> Card {
    let show = |x: f64| if h.is_share { format!("{} %", percent(x)) } else { format!("{x:.4}") };
    let bare = |x: f64| if h.is_share { percent(x) } else { format!("{x:.4}") };
    let model = &report.evaluation.results[report.verdict.best].model;
    Card {
        name: format!("{} of {model}", h.name),
        value: show(h.value),
        exact: h.value.to_string(),
        interval: h.interval.map(|i| format!("95 %: {}–{}", bare(i.low), bare(i.high))).unwrap_or_default(),
        about: h.about.clone(),
        baseline: h.baseline.map(|b| format!("class frequencies alone: {}", show(b))).unwrap_or_default(),
    }
}

fn comparison(report: &EvaluationReport, drawn: &[Drawn]) -> Section {
    let results = &report.evaluation.results;
    let mut text = match report.evaluation.protocol.test_rows {
        Some(_) => {
            "Every model was tested on the same rows. Differences are tested with McNemar's exact test on the rows \
             that one model alone got right."
                .to_string()
        }
        None => "Every model saw the same folds. Folds share training rows, so differences are tested with the \
                 corrected resampled t-test (Nadeau and Bengio), which is more careful than comparing means."
            .to_string(),
    };
    text += &signed_ranks_text(report);
    if results.len() > 2 {
        text += " Who compares many models finds differences by luck: adjusted p-values (Holm) hold for all pairs \
                 together. The best of several models also looks a little better than it is.";
    }
    if results.len() > drawn.len() {
        text += &format!(" Figures show the {} most accurate of {} models.", drawn.len(), results.len());
    }
    let mut section = Section::new("models", "Models compared", text);
    section.figures.push(figures::accuracies(&report.evaluation, drawn, report.verdict.majority_share));
    section.figures.extend(figures::differences(&report.differences, drawn, report.verdict.best));
    let mut table = DataTable::new(
        "All models, with 95 % intervals; a click on a column head sorts. Log-likelihoods are comparable within one \
         family only.",
        &[
            "model",
            "accuracy %",
            "balanced error %",
            "log-loss",
            "Brier",
            "AUC",
            "log-likelihood",
            "fit s",
            "predict s",
        ],
    );
    table.rows = results.iter().map(model_row).collect();
    section.tables.push(table);
    if report.differences.len() > 1 {
        section.details.push(Detail {
            id: "pairs".into(),
            name: "All pairs of models".into(),
            note: format!("{} differences with their tests", report.differences.len()),
            table: pairs(report),
        });
    }
    section
}

/// What Wilcoxon's test is worth on these folds.
fn signed_ranks_text(report: &EvaluationReport) -> String {
    let Some(ranks) = report.differences.first().and_then(|d| d.tested.signed_ranks.as_ref()) else {
        return String::new();
    };
    let mut text = " Beside it stands Wilcoxon's signed-rank test, which papers print, with Bonferroni's factor for one model \
                    against all others. It takes folds for independent although they share rows, so its p-values are too \
                    small, and repeats make them smaller: no verdict here rests on it."
        .to_string();
    let least = 2.0 * 0.5f64.powi(ranks.pairs.min(1000) as i32);
    if least > report.verdict.level {
        text += &format!(" With {} folds it cannot fall below {least:.3}.", ranks.pairs);
    }
    text
}

fn model_row(r: &ModelResult) -> Vec<Cell> {
    let (accuracy, error) = (&r.accuracy, &r.balanced_error);
    vec![
        Cell::text(r.model.clone()),
        Cell::percent_interval(accuracy.mean, accuracy.interval.low, accuracy.interval.high),
        Cell::percent_interval(error.mean, error.interval.low, error.interval.high),
        Cell::number(r.log_loss, 4),
        Cell::number(r.brier, 4),
        Cell::optional(r.auc, |a| Cell::number(a, 4)),
        Cell::optional(r.log_likelihood, |l| Cell::number(l, 3)),
        Cell::number(r.fit_seconds, 3),
        Cell::number(r.predict_seconds, 3),
    ]
}

fn pairs(report: &EvaluationReport) -> DataTable {
    let name = |i: usize| report.evaluation.results[i].model.clone();
    let mut table = DataTable::new(
        "Differences of accuracy between all pairs, percentage points; adjusted p-values hold for all pairs together",
        &[
            "first",
            "second",
            "first less second",
            "± 95 %",
            "p-value",
            "p adjusted",
            "Wilcoxon p",
            "p Bonferroni",
        ],
    );
    table.rows = report
        .differences
        .iter()
        .take(200)
        .map(|d| {
            let (test, ranks) = (&d.tested, d.tested.signed_ranks.as_ref());
            vec![
                Cell::text(name(d.first)),
                Cell::text(name(d.second)),
                Cell::percent(d.mean),
                Cell::optional(test.ci95, Cell::percent),
                Cell::optional(test.p_value, figures::p_value),
                Cell::optional(test.p_adjusted, figures::p_value),
                Cell::optional(ranks.map(|s| s.p_value), figures::p_value),
                Cell::optional(ranks.map(|s| s.p_bonferroni), figures::p_value),
            ]
        })
        .collect();
    table
}

/// The best model first.
fn best_first<'a>(drawn: &[Drawn<'a>], best: usize) -> Vec<Drawn<'a>> {
    let mut list = drawn.to_vec();
    list.sort_by_key(|d| (d.index != best, d.index));
    list
}

/// Classes with rows, most frequent first.
fn frequent_classes(report: &EvaluationReport) -> Vec<usize> {
    let shares =
        |c: usize| report.models.first().and_then(|m| m.classes.get(c)).map_or(0.0, |k| k.prevalence);
    let mut found: Vec<usize> =
        (0..report.evaluation.data.classes.len()).filter(|&c| shares(c) > 0.0).collect();
    found.sort_by(|&a, &b| shares(b).total_cmp(&shares(a)).then(a.cmp(&b)));
    found
}

/// The same, but of two classes the rarer one first: it is usually the one that is looked for.
fn looked_for(report: &EvaluationReport) -> Vec<usize> {
    let mut found = frequent_classes(report);
    if found.len() == 2 {
        found.reverse();
    }
    found
}

fn curves(report: &EvaluationReport, drawn: &[Drawn]) -> Section {
    let classes = &report.evaluation.data.classes;
    let mut shown = frequent_classes(report);
    let mut text = "Each class against all others, ranked by its probability.".to_string();
    if shown.len() > CLASSES {
        text += &format!(" The {CLASSES} most frequent of {} classes.", shown.len());
        shown.truncate(CLASSES);
    }
    let mut section = Section::new("ranking", "Ranking by class", text);
    section.tabs = shown
        .iter()
        .map(|&c| Tab {
            id: format!("ranking-{c}"),
            name: classes[c].clone(),
            figures: vec![figures::roc(drawn, c), figures::precision_recall(drawn, c)],
            ..Tab::default()
        })
        .collect();
    section
}

fn trust(drawn: &[Drawn]) -> Section {
    let mut section = Section::new(
        "probabilities",
        "Can the probabilities be trusted?",
        "Reliability diagrams: among the answers given with a probability near 80 %, about 80 % should be right. \
         Vertical bars are 95 % intervals.",
    );
    overlaid(&mut section, drawn, figures::all_reliabilities, figures::reliability);
    section
}

fn margins(drawn: &[Drawn]) -> Section {
    let mut section = Section::new(
        "margins",
        "How clear are the decisions?",
        "The margin of a row is the log-probability of its true class less that of the best other class.",
    );
    overlaid(&mut section, drawn, figures::all_margins, figures::margins);
    section
}

/// All models in one figure, then each in one of its own.
fn overlaid(section: &mut Section, drawn: &[Drawn], all: fn(&[Drawn]) -> Figure, one: fn(&Drawn) -> Figure) {
    if drawn.len() == 1 {
        section.figures = drawn.iter().map(one).collect();
        return;
    }
    section.figures.push(all(drawn));
    let tab = |d: &Drawn| Tab {
        id: format!("{}-of-{}", section.id, d.index),
        name: d.study.model.clone(),
        figures: vec![one(d)],
        ..Tab::default()
    };
    section.tabs = drawn.iter().map(tab).collect();
}

/// Error against the number of training rows, where it was asked for.
fn learning_curve(report: &EvaluationReport, drawn: &[Drawn]) -> Option<Section> {
    let evaluation = &report.evaluation;
    let most = evaluation.protocol.rows.last().filter(|_| !evaluation.curve.is_empty())?;
    let mut section = Section::new(
        "learning",
        "Learning curves",
        format!(
            "Every model was fitted on the same rows, drawn at random in the proportions of the classes, the fewer among \
             the more, and tested on the same rows. All other figures of this page are those of {most} rows."
        ),
    );
    section.figures = vec![figures::errors(evaluation, drawn), figures::balanced_errors(evaluation, drawn)];
    Some(section)
}

fn robustness(drawn: &[Drawn]) -> Option<Section> {
    if drawn.iter().all(|d| d.study.missing.is_none()) {
        return None;
    }
    let mut section = Section::new(
        "robustness",
        "Missing features",
        "What remains of the accuracy when feature cells of the test rows are blanked at random.",
    );
    section.figures = vec![figures::missing(drawn)];
    section.figures.extend(drawn.iter().filter_map(figures::missing_parts));
    Some(section)
}

/// What the margin costs in likelihood. Without a sweep a margin-trained model's page says how to see it:
/// every point of the curve is an evaluation of its own, which is asked for and not taken.
fn trade_offs(report: &EvaluationReport) -> Option<Section> {
    let (id, title) = ("trade-off", "Margin against likelihood");
    if report.trade_offs.is_empty() {
        let margin = report.models.iter().any(|m| m.model.contains(":ml-bn-svm"));
        let how = "A margin-trained network gives up some likelihood for accuracy. This run did not ask how much: \
             evaluate again with --sweep lambda=0,1,4,16 for the curve.";
        return margin.then(|| Section::new(id, title, how));
    }
    let mut section = Section::new(
        id,
        title,
        "A margin-trained network gives up some likelihood for accuracy; the swept option says how much.",
    );
    let names: Vec<&str> = report.trade_offs.iter().map(|t| t.model.as_str()).collect();
    let styles = series_styles(&names);
    section.figures = report
        .trade_offs
        .iter()
        .zip(styles)
        .enumerate()
        .map(|(k, (t, style))| figures::trade_off(t, style, k))
        .collect();
    Some(section)
}

fn reproduction(report: &EvaluationReport) -> Section {
    let r = &report.reproduction;
    let mut section = Section::new(
        "reproduce",
        "How to get the same numbers",
        format!("hingenet {}, seed {}; results do not depend on the number of threads.", r.version, r.seed),
    );
    section.command = r.command.clone().unwrap_or_default();
    section.text.extend(r.warnings.iter().take(20).map(|w| format!("Warning: {w}")));
    let mut solvers = DataTable::new(
        "How the solvers ended",
        &["model", "method", "fits", "converged", "iterations (most)", "gap (largest)"],
    );
    for model in report.models.iter().filter(|m| !m.solvers.is_empty()) {
        let converged = model.solvers.iter().filter(|s| s.converged).count();
        let iterations = model.solvers.iter().map(|s| s.iterations).max().unwrap_or_default();
        let gap = model.solvers.iter().filter_map(|s| s.gap).reduce(f64::max);
        solvers.rows.push(vec![
            Cell::text(model.model.clone()),
            Cell::text(model.solvers[0].method.clone()),
            Cell::number(model.solvers.len() as f64, 0),
            Cell::number(converged as f64, 0),
            Cell::number(iterations as f64, 0),
            Cell::optional(gap, |g| Cell::shown(format!("{g:.1e}"), g)),
        ]);
    }
    if !solvers.rows.is_empty() {
        section.tables.push(solvers);
    }
    section.tables.extend(chosen(report));
    section
}

/// Options that inner cross-validation chose, fold by fold.
fn chosen(report: &EvaluationReport) -> Option<DataTable> {
    let mut table = DataTable::new("Options chosen by inner cross-validation", &["model", "option", "folds"]);
    for result in &report.evaluation.results {
        let keys: std::collections::BTreeSet<&String> = result.chosen.iter().flat_map(|c| c.keys()).collect();
        for key in keys {
            let words = |value: &f64| choice_words(key, *value);
            let values: Vec<String> =
                result.chosen.iter().map(|c| c.get(key).map_or("–".into(), |value| words(value).1)).collect();
            let cells = [result.model.clone(), words(&0.0).0.to_string(), values.join(", ")];
            table.rows.push(cells.into_iter().map(Cell::text).collect());
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
