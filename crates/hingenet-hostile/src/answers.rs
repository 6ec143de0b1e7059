//! Everything the program can do with a model file, and what counts as an answer: finite numbers, probabilities that
//! sum to one, or an error that ends with exit code 3 (2 where this kind of model cannot do it).

use crate::entrances::is_sound;
use hingenet::explore::Explorer;
use hingenet::model::{Dataset, Known, Model, NamedNetwork, Posterior, Predictions, Query};
use hingenet::report::{ModelReport, NetworkPicture, NetworkReport};
use hingenet::table::{Column, ColumnData, Table, UnseenPolicy};
use hingenet::{Control, Error, Explanation, Reasons, Result, ShapleyParams};
use hingenet_view::explorer::Exploration;
use hingenet_view::network::{network_svg, networks_svg};

/// What is wrong with an answer.
type Problem = String;
/// Something a program does with a model and rows, and what is wrong with what came of it.
type Check = fn(&Model, &Table) -> Result<Option<Problem>>;

/// What is asked of models most; quick enough for millions of small ones.
pub const QUESTIONS: [(&str, Check); 4] = [
    ("predict", predictions),
    ("explain", explanations),
    ("loglik", likelihoods),
    ("query", |m, _| query(m)),
];

/// What else the program does with a model.
const COMMANDS: [(&str, Check); 14] = [
    ("save", |m, _| m.to_bytes().map(|_| None)),
    ("sample", |m, _| m.sample(5, &[], 1, &Control::default()).map(|table| cells(&table))),
    ("sample --given", |m, _| given(m).map(|table| cells(&table))),
    ("predict --coverage", prediction_sets),
    ("impute", imputed),
    ("merge", merged),
    ("fit --like", fitted_like),
    ("inspect", |m, _| inspected(m).map(|text| words(&text))),
    ("inspect --format dot", |m, _| dot(m).map(|text| words(&text))),
    ("inspect --format svg", |m, _| svg(m).map(|text| words(&text))),
    ("inspect --format bif", |m, _| read_back(m, |n| NamedNetwork::from_bif(&n.to_bif()))),
    ("inspect --format xmlbif", |m, _| read_back(m, |n| NamedNetwork::from_xmlbif(&n.to_xmlbif()))),
    ("inspect --format html", page),
    ("explore", explored),
];

/// Whether a file loads, and what is wrong with the answers of the model in it, whatever it is asked.
pub fn problems(bytes: &[u8], rows: &Table) -> (bool, Vec<Problem>) {
    answered(bytes, rows, QUESTIONS.iter().chain(&COMMANDS))
}

/// The same for some of the questions.
pub fn answered<'c>(
    bytes: &[u8],
    rows: &Table,
    checks: impl IntoIterator<Item = &'c (&'static str, Check)>,
) -> (bool, Vec<Problem>) {
    let model = match Model::from_bytes(bytes) {
        Ok(model) => model,
        Err(Error::ModelFile { .. }) => return (false, Vec::new()),
        Err(other) => return (false, vec![format!("load: {other}")]),
    };
    let wrong = |(command, check): &(&str, Check)| match check(&model, rows) {
        Ok(problem) => problem.map(|p| format!("{command}: {p}")),
        // exit codes 3 and 2 of the program
        Err(e @ (Error::Numeric { .. } | Error::Parameter { .. } | Error::Interrupted)) => {
            Some(format!("{command}: {e}"))
        }
        Err(_) => None,
    };
    (true, checks.into_iter().filter_map(wrong).collect())
}

fn predictions(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let (whole, terms) = model.predict_terms(rows, UnseenPolicy::Missing, &Control::default())?;
    Ok(std::iter::once(&whole).chain(terms.iter().map(|(_, p)| p)).find_map(improper))
}

/// The first row whose probabilities do not sum to one.
fn improper(predictions: &Predictions) -> Option<Problem> {
    let of_row = |log_proba: &[f64]| {
        let total: f64 = log_proba.iter().map(|l| l.exp()).sum();
        ((total - 1.0).abs() > 1e-6 || total.is_nan()).then(|| format!("{log_proba:?}"))
    };
    predictions.log_proba.chunks(predictions.n_classes).find_map(of_row)
}

/// Sets of a larger coverage hold those of a smaller one.
fn prediction_sets(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let held_out = model.calibration_rows() as f64;
    if held_out == 0.0 {
        return Ok(None);
    }
    let most = held_out / (held_out + 1.0);
    let predictions = model.predict(rows, UnseenPolicy::Missing)?;
    let sets = |share: f64| model.prediction_sets(&predictions, share * most);
    let (wide, narrow) = (sets(0.95)?, sets(0.3)?);
    let is_within =
        wide.len() == predictions.log_proba.len() && narrow.iter().zip(&wide).all(|(n, w)| *w || !n);
    Ok((!is_within).then(|| format!("{narrow:?} is not within {wide:?}")))
}

/// Completed cells are finite, and so is how sure they are; cells that the model cannot know stay missing.
fn imputed(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let (completed, spread) = model.impute(rows, UnseenPolicy::Missing, &Control::default())?;
    let all = completed.columns().iter().chain(spread.columns());
    let mut numbers = all.filter_map(Column::as_numeric).flat_map(|column| column.iter().flatten());
    let unsure = |column: &Column| column.as_numeric().is_some_and(|x| x.iter().flatten().any(|s| s < 0.0));
    let negative =
        spread.columns().iter().find(|column| unsure(column)).map(|column| column.name().to_string());
    Ok(numbers.find(|x| !x.is_finite()).map(|x| x.to_string()).or(negative))
}

/// The model and itself, as if the rows had come twice.
fn merged(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    if !model.keeps_statistics() {
        return Ok(None);
    }
    let both = model.merge(model, &Control::default())?;
    if Some(both.facts.rows) != model.facts.rows.checked_mul(2) {
        return Ok(Some(format!("{} rows are merged to {}", model.facts.rows, both.facts.rows)));
    }
    still_answers(&both, rows)
}

/// The same model of rows that it has drawn itself.
fn fitted_like(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    if !model.keeps_statistics() {
        return Ok(None);
    }
    let control = Control::default();
    let drawn = model.sample(20, &[], 2, &control)?;
    still_answers(&model.fit_like(&Dataset::new(drawn, &model.target, None)?, &control)?, rows)
}

/// What is wrong with the predictions of a model that was made of another one, once it was saved.
fn still_answers(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    predictions(&Model::from_bytes(&model.to_bytes()?)?, rows)
}

fn explanations(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let control = Control::default();
    for reasons in [Reasons::Terms, Reasons::Shapley(ShapleyParams { evaluations: 64, seed: 0 })] {
        for explanation in model.explanations(rows, UnseenPolicy::Missing, reasons, &control)? {
            let problem = explanation_problem(&explanation?);
            if problem.is_some() {
                return Ok(problem);
            }
        }
    }
    Ok(None)
}

/// A class that is impossible is infinitely far from the others; nothing else is infinite.
fn explanation_problem(e: &Explanation) -> Option<Problem> {
    let class = e.class();
    let mut numbers = vec![e.level(&e.base, class), e.level(&e.scores, class)];
    numbers.extend(e.terms.iter().map(|t| e.effect(t, class)));
    numbers.extend(e.next.iter().flatten().map(|(_, nats)| *nats));
    let impossible = e.scores.contains(&f64::NEG_INFINITY);
    let fine = |x: &f64| x.is_finite() || (impossible && !x.is_nan());
    (!numbers.iter().all(fine)).then(|| format!("{numbers:?}"))
}

/// A row may be impossible, never more than certain in a way that has no number.
fn likelihoods(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let found = model.log_likelihood(rows, UnseenPolicy::Missing)?;
    let mut numbers = found.iter().flat_map(|r| [Some(r.features), r.joint]).flatten();
    Ok(numbers.find(|l| l.is_nan() || *l == f64::INFINITY).map(|l| l.to_string()))
}

/// Distributions add up to 1, numbers are numbers.
fn query(model: &Model) -> Result<Option<Problem>> {
    let known = vec![(model.target.clone(), Known::Not(model.classes[0].clone()))];
    let answer = model.query(&Query { known, ..Query::default() })?;
    let wrong = |posterior: &Posterior| match posterior {
        Posterior::States(states) => {
            let total: f64 = states.iter().map(|(_, p)| p).sum();
            (total.is_nan() || (total - 1.0).abs() > 1e-6).then(|| format!("{states:?}"))
        }
        Posterior::Number { mean, sd, quantiles } => {
            let all = [*mean, *sd, quantiles[0], quantiles[1], quantiles[2]];
            (!all.iter().all(|x| x.is_finite())).then(|| format!("{all:?}"))
        }
    };
    Ok(answer.posterior.iter().find_map(|(_, p)| wrong(p)))
}

fn given(model: &Model) -> Result<Table> {
    let known = (model.target.clone(), Known::Value(model.classes[0].clone()));
    model.sample(5, &[known], 1, &Control::default())
}

fn cells(table: &Table) -> Option<Problem> {
    let numbers = table.columns().iter().filter_map(|column| match column.data() {
        ColumnData::Numeric(x) => x.with_nan().iter().find(|x| !x.is_finite()),
        ColumnData::Categorical(_) => None,
    });
    numbers.map(f64::to_string).next()
}

/// What the text and the JSON about a model show beside its header.
fn inspected(model: &Model) -> Result<String> {
    let pictures = NetworkPicture::all_of_model(model)?;
    let moved = NetworkReport::of_model(model)?.map(|networks| networks.moved);
    Ok(format!("{:?}{pictures:?}{moved:?}", model.pool_summary()))
}

/// The page that can be asked, alone or with the program behind it, and what it asks.
fn explored(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let explorer = Explorer::new(model)?;
    let given = explorer.rows(rows, rows.n_rows())?;
    let exploration = match Exploration::offline(&explorer, Some(given.clone()))? {
        Some(alone) => alone,
        None => Exploration::served(&explorer, Some(given), "token")?,
    };
    let report = ModelReport::of(model, &Table::default(), &[])?;
    if let Err(e) = hingenet_view::model_page(&report, Some(&exploration)) {
        return Ok(Some(e.to_string()));
    }
    for request in [r#"{"beliefs":{"known":[],"about":1}}"#, r#"{"classes":{"sets":[[]]}}"#] {
        let answer = explorer.answer(request)?;
        if !is_sound(&answer) {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

fn dot(model: &Model) -> Result<String> {
    Ok(match NetworkReport::of_model(model)? {
        Some(networks) => networks.to_dot(),
        None => model.network()?.to_dot(),
    })
}

fn svg(model: &Model) -> Result<String> {
    Ok(match NetworkReport::of_model(model)? {
        Some(networks) => networks_svg(&networks),
        None => network_svg(&NetworkPicture::of_model(model)?),
    })
}

/// What is wrong with a network that was written and read again.
fn read_back(model: &Model, read: impl Fn(&NamedNetwork) -> Result<NamedNetwork>) -> Result<Option<Problem>> {
    let network = model.network()?;
    Ok(read(&network).err().map(|e| format!("cannot be read: {e}")))
}

/// The page with decisions for some rows; those with an impossible class show it as infinite.
fn page(model: &Model, rows: &Table) -> Result<Option<Problem>> {
    let possible = |&m: &usize| {
        let explanation = model.explain(rows, m, UnseenPolicy::Missing);
        explanation.is_ok_and(|e| !e.scores.contains(&f64::NEG_INFINITY))
    };
    let shown: Vec<usize> = [0, 1].into_iter().filter(possible).collect();
    let report = ModelReport::of(model, rows, &shown)?;
    Ok(hingenet_view::model_page(&report, None).map_or_else(|e| Some(e.to_string()), |text| words(&text)))
}

/// Numbers that are none, as a text shows them. The ends of the outer intervals of a feature are infinite.
fn words(text: &str) -> Option<Problem> {
    let text = text.replace("(-inf, inf)", "").replace("(-inf, ", "").replace(", inf)", "");
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !part(c)).find(|w| ["NaN", "inf", "Infinity"].contains(w)).map(String::from)
}
