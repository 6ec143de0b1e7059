//! Asking a model: what follows for the class and for any column from what is known of others, how well that fits
//! together, what is most probable, and what to measure next.
//!
//! The class has the probabilities that [`Model::predict`] reports, calibrated where the model is; a column has the mean of
//! its distributions in the classes, `P(x_j | known) = Σ_c P(c | known) P(x_j | c, known)`. Discrete networks and their
//! averages are exact for every column, Gaussian networks for numbers (categories by the rule of
//! [`GaussianClassifier::beliefs`](hingenet_gaussian::GaussianClassifier::beliefs)), density models by the rules of
//! [`DensityClassifier::beliefs`](hingenet_density::DensityClassifier::beliefs). Other models answer for the class.

mod believe;
mod findings;
mod given;
mod number;

use super::{Fitted, Model};
pub(crate) use believe::{Believed, BelievedClass};
pub(super) use findings::Findings;
pub(crate) use given::Given;
use hingenet_base::error::{Error, Result};
use hingenet_data::belief::Belief;
use hingenet_discrete::Network;
use hingenet_discrete::inference::Beliefs;
use hingenet_gaussian::GaussianClassifier;
use serde::{Serialize, Serializer};

/// What is known of a column. Several facts about one column hold together.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// Its value.
    Value(String),
    /// A value that it does not have.
    Not(String),
    /// How probable what was seen is if it has one of these values; values that are not named are excluded.
    Likelihood(Vec<(String, f64)>),
}

/// A question to a model.
///
/// ```
/// use hingenet::evaluate::generate;
/// use hingenet::model::{Dataset, FitOptions, Known, Query, fit};
/// use hingenet::Control;
/// let data = Dataset::new(generate("corral", Some(200), 1)?, "class", None)?;
/// let model = fit(&"tan:ml".parse()?, &data, FitOptions::default(), &Control::default())?;
/// let known = vec![("a0".to_string(), Known::Value("t".into())), ("class".to_string(), Known::Not("0".into()))];
/// let answer = model.query(&Query { known, ..Query::default() })?;
/// assert!(answer.posterior.iter().all(|(column, _)| column != "a0"));
/// # Ok::<(), hingenet::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// What is known, by column; the target is a column too.
    pub known: Vec<(String, Known)>,
    /// Columns that are asked for; if none, the class and every column whose value is not known.
    pub targets: Vec<String>,
    /// Column that a measurement should tell about; the class if none.
    pub about: Option<String>,
    /// What measuring a column costs, 1 if it is not here.
    pub costs: Vec<(String, f64)>,
}

/// What a model answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Distribution of each column that was asked for.
    #[serde(serialize_with = "as_map")]
    pub posterior: Vec<(String, Posterior)>,
    /// Logarithm of the probability of everything known (of its density where numbers are); `None` where a model has none.
    pub log_evidence: Option<f64>,
    /// `ln Π P(known alone) − ln P(all known)`: above 0 what is known fits together worse than if it were independent.
    pub conflict: Option<f64>,
    /// The most probable values of everything together, by column; empty where a model cannot say.
    #[serde(serialize_with = "as_map")]
    pub most_probable: Vec<(String, String)>,
    /// What to measure next, the most information for its cost first.
    pub next: Vec<Measurement>,
}

/// The distribution of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)] // said with the variants
pub enum Posterior {
    /// Probability of each value.
    #[serde(serialize_with = "as_map")]
    States(Vec<(String, f64)>),
    /// Mean, standard deviation, and the quantiles of 5, 50 and 95 %.
    Number { mean: f64, sd: f64, quantiles: [f64; 3] },
}

/// What measuring one column is expected to tell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// The column.
    pub column: String,
    /// Expected information about what is asked for, in nats.
    pub nats: f64,
    /// Its cost.
    pub cost: f64,
}

fn as_map<V: Serialize, S: Serializer>(pairs: &[(String, V)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

impl Model {
    /// Answers a question; what is impossible together is an error.
    pub fn query(&self, query: &Query) -> Result<Answer> {
        let findings = Findings::new(self, query)?;
        let about = findings.about.unwrap_or(0);
        let believed = self.believe(&findings.given, about)?;
        if let Some(i) = findings.asked_by_name().find(|&i| i > 0 && believed.columns[i].is_none()) {
            return Err(self.only_class(findings.name(i)));
        }
        if about > 0 && !self.tells_of_columns() {
            return Err(Error::column(
                findings.name(about),
                "this model tells what to measure for the class only",
                "ask about the target, or fit a generative model such as tan:ml or sgbn:or",
            ));
        }
        let most_probable = match &self.fitted {
            Fitted::Discrete(m) => {
                self.most_probable_states(&[m.network().clone()], &believed.classes, &findings)?
            }
            Fitted::Averaged(m) => {
                self.most_probable_states(&m.network().networks()?, &believed.classes, &findings)?
            }
            Fitted::Gaussian(m) => self.most_probable_numbers(m, &findings)?,
            _ => Vec::new(),
        };
        let answer = Answer {
            posterior: self.named(&findings, &believed),
            log_evidence: believed.log_evidence,
            conflict: believed.conflict,
            most_probable,
            next: findings.by_cost(&believed.next),
        };
        self.answered(Ok(answer), Answer::is_finite)
    }

    /// Posteriors of the columns that are asked for, the class among them.
    fn named(&self, findings: &Findings<'_>, believed: &Believed) -> Vec<(String, Posterior)> {
        let k = self.classes.len();
        let posterior = |i: usize| match &believed.columns[i] {
            None if i == 0 => Some(findings.named(0, believed.classes.clone())),
            None => None,
            Some(Belief::States(joint)) => {
                Some(findings.named(i, joint.chunks_exact(k).map(|row| row.iter().sum()).collect()))
            }
            Some(Belief::Number(normals)) => Some(number::posterior(normals)),
            Some(Belief::Grid { at, joint }) => Some(number::grid_posterior(at, joint, k)),
        };
        let asked = (0..findings.len()).filter(|&i| findings.is_asked(i));
        asked.filter_map(|i| Some((findings.name(i).to_string(), posterior(i)?))).collect()
    }

    fn most_probable_states(
        &self,
        members: &[Network],
        classes: &[f64],
        findings: &Findings<'_>,
    ) -> Result<Vec<(String, String)>> {
        let beliefs = Beliefs::new(members, &findings.given.of_features())?;
        let mut best: Option<(Vec<usize>, f64)> = None;
        // P(c | known) / P(c, known) makes the calibrated probability of the network's own
        for (class, (p, score)) in classes.iter().zip(beliefs.log_classes()?).enumerate() {
            let scale = p.ln() - score;
            let Some((state, log)) = beliefs.most_probable(class)?.filter(|_| scale.is_finite()) else {
                continue;
            };
            if best.as_ref().is_none_or(|(_, other)| log + scale > *other) {
                best = Some((state, log + scale));
            }
        }
        let Some((state, _)) = best else { return Err(believe::impossible()) };
        Ok((0..state.len())
            .map(|i| (findings.name(i).to_string(), findings.state_name(i, state[i])))
            .collect())
    }

    fn most_probable_numbers(
        &self,
        model: &GaussianClassifier,
        findings: &Findings<'_>,
    ) -> Result<Vec<(String, String)>> {
        let (class, row) = model.beliefs(&self.evidence(&findings.given)?)?.most_probable()?;
        let cell = |j: usize| (findings.name(j + 1).to_string(), row.column(j).text(0).unwrap_or_default());
        let features = (0..row.n_columns()).map(cell);
        Ok(std::iter::once((self.target.clone(), self.classes[class].clone())).chain(features).collect())
    }
}

impl Answer {
    fn is_finite(&self) -> bool {
        let finite = |p: &Posterior| match p {
            Posterior::States(states) => states.iter().all(|(_, p)| p.is_finite()),
            Posterior::Number { mean, sd, quantiles } => {
                [mean, sd].into_iter().chain(quantiles).all(|x| x.is_finite())
            }
        };
        self.posterior.iter().all(|(_, p)| finite(p))
            && self.log_evidence.iter().chain(&self.conflict).all(|x| x.is_finite())
            && self.next.iter().all(|m| m.nats.is_finite())
    }
}
