//! `hingenet query`

use super::Run;
use crate::output::{self, Files};
use crate::session::Session;
use crate::show;
use anyhow::Result;
use clap::Args;
use hingenet::model::{Answer, Known, Model, Posterior, Query as Question};
use serde::Serialize;
use std::path::PathBuf;

/// Version of the JSON.
const FORMAT: u32 = 1;
/// Conflicts below are not told from none.
const SLIGHT: f64 = 5e-5;
/// Measurements that are shown; the JSON has all.
const NEXT: usize = 12;

#[derive(Args)]
pub struct Query {
    /// Model file made by `hingenet fit`
    model: PathBuf,
    #[command(flatten)]
    facts: Facts,
    /// Column whose distribution to show; if none is named, the target and all that are not known
    #[arg(long, value_name = "COL")]
    target: Vec<String>,
    /// Column that the next measurement should tell about, instead of the target
    #[arg(long, value_name = "COL")]
    about: Option<String>,
    /// What measuring a column costs, 1 if it is not said
    #[arg(long, value_name = "COL=NUMBER", value_parser = cost)]
    cost: Vec<(String, f64)>,
    /// Write the answer as JSON to this file; - is stdout
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What is known of columns.
#[derive(Args)]
pub struct Facts {
    /// The value of a column; may be given several times, for the target too
    #[arg(long, value_name = "COL=VALUE", value_parser = pair)]
    given: Vec<(String, String)>,
    /// A value that a column does not have; may be given several times
    #[arg(long = "not", value_name = "COL=VALUE", value_parser = pair)]
    excluded: Vec<(String, String)>,
    /// How probable what was seen is with each of these values of a column; values that are not named are excluded
    #[arg(long, value_name = "COL=VALUE:W;VALUE:W", value_parser = likelihood)]
    likelihood: Vec<(String, Likelihood)>,
}

impl Facts {
    /// By column.
    pub fn known(&self) -> Vec<(String, Known)> {
        let given = self.given.iter().map(|(column, value)| (column.clone(), Known::Value(value.clone())));
        let excluded =
            self.excluded.iter().map(|(column, value)| (column.clone(), Known::Not(value.clone())));
        let weighed =
            self.likelihood.iter().map(|(column, list)| (column.clone(), Known::Likelihood(list.clone())));
        given.chain(excluded).chain(weighed).collect()
    }
}

/// Values with their likelihoods.
type Likelihood = Vec<(String, f64)>;

/// Both sides of `COL=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (column, value) = text.split_once('=').ok_or("expected COL=VALUE")?;
    Ok((column.to_string(), value.to_string()))
}

fn cost(text: &str) -> Result<(String, f64), String> {
    let (column, value) = pair(text)?;
    Ok((column, value.parse().map_err(|_| "expected COL=NUMBER".to_string())?))
}

fn likelihood(text: &str) -> Result<(String, Likelihood), String> {
    let (column, list) = pair(text)?;
    let one = |part: &str| {
        let (value, weight) = part.rsplit_once(':')?;
        Some((value.to_string(), weight.trim().parse().ok()?))
    };
    let values: Option<Likelihood> = list.split(';').map(one).collect();
    Ok((column, values.ok_or("expected COL=VALUE:W;VALUE:W with numbers W")?))
}

impl Run for Query {
    fn files(&self) -> Result<Files> {
        Ok(Files::default().reads([&self.model]).writes_result(self.json.as_ref()))
    }

    fn run(&self, _: &Session) -> Result<()> {
        let model = Model::load(&self.model)?;
        let answer = model.query(&self.question())?;
        match &self.json {
            Some(path) => {
                let (spec, target) = (model.spec.to_string(), &model.target[..]);
                let answered = Answered { format: FORMAT, model: spec, target, answer: &answer };
                let text = serde_json::to_string_pretty(&answered)? + "\n";
                output::write(Some(path), text.as_bytes())
            }
            None => output::write_text(None, &self.text(&answer)),
        }
    }
}

impl Query {
    fn question(&self) -> Question {
        Question {
            known: self.facts.known(),
            targets: self.target.clone(),
            about: self.about.clone(),
            costs: self.cost.clone(),
        }
    }

    /// Distributions, most probable values and the next measurements, as tables.
    fn text(&self, answer: &Answer) -> String {
        let mut text = String::new();
        for (column, posterior) in &answer.posterior {
            let rows: Vec<Vec<String>> = match posterior {
                Posterior::States(states) => {
                    states.iter().map(|(value, p)| vec![value.clone(), format!("{p:.4}")]).collect()
                }
                Posterior::Number { mean, sd, quantiles: [low, middle, high] } => vec![
                    vec!["mean ± standard deviation".into(), format!("{mean:.4} ± {sd:.4}")],
                    vec!["5 %, 50 %, 95 %".into(), format!("{low:.4}, {middle:.4}, {high:.4}")],
                ],
            };
            text += &show::table(&[column, "probability"], rows);
            text += "\n";
        }
        text += &answer
            .log_evidence
            .map(|l| format!("log-probability of what is given  {l:.4}\n"))
            .unwrap_or_default();
        if let Some(conflict) = answer.conflict {
            let words = match conflict {
                c if c > SLIGHT => "fits together worse than if it were independent",
                c if c < -SLIGHT => "fits together better than if it were independent",
                _ => "fits together as if it were independent",
            };
            text +=
                &format!("conflict  {:.4}: {words}\n", if conflict.abs() < SLIGHT { 0.0 } else { conflict });
        }
        if !answer.most_probable.is_empty() {
            let values = answer.most_probable.iter().map(|(column, value)| format!("{column} = {value}"));
            text += &format!("most probable together  {}\n", values.collect::<Vec<_>>().join(", "));
        }
        if !answer.next.is_empty() {
            let head: &[&str] = if self.cost.is_empty() {
                &["measure next", "expected information, nats"]
            } else {
                &["measure next", "expected information, nats", "for its cost"]
            };
            text += "\n";
            let rows = answer.next.iter().take(NEXT).map(|m| {
                let mut row = vec![m.column.clone(), format!("{:.4}", m.nats)];
                row.extend((!self.cost.is_empty()).then(|| format!("{:.4}", m.nats / m.cost)));
                row
            });
            text += &show::table(head, rows);
        }
        text
    }
}

/// The answer with what it answers for, columns in the order of the model.
#[derive(Serialize)]
struct Answered<'a> {
    format: u32,
    model: String,
    target: &'a str,
    #[serde(flatten)]
    answer: &'a Answer,
}
