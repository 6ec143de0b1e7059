//! Asking a model: what follows for the class and for any column from what is known of others, how well that fits
//! together, what is most probable, and what to measure next.
//!
//! The class has the probabilities that [`Model::predict`] reports, calibrated where the model is; a column has the mean of
//! its distributions in the classes, `P(x_j | known) = Σ_c P(c | known) P(x_j | c, known)`. Discrete networks and their
//! averages are exact for every column, Gaussian networks for numbers (categories by the rule of
//! [`GaussianClassifier::beliefs`](hingenet_gaussian::GaussianClassifier::beliefs)). Other models answer for the class.

mod findings;
mod number;

use super::{Fitted, Model};
pub(super) use findings::Findings;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::log::{log_sum_exp, mutual_information, softmax};
use hingenet_data::belief::Belief;
use hingenet_discrete::Network;
use hingenet_discrete::inference::Beliefs;
use hingenet_gaussian::{GaussianBeliefs, GaussianClassifier};
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
        let answer = match &self.fitted {
            Fitted::Discrete(m) => self.ask_networks(&[m.network().clone()], m.temperature(), &findings),
            Fitted::Averaged(m) => self.ask_networks(&m.network().networks()?, m.temperature(), &findings),
            Fitted::Gaussian(m) => self.ask_gaussians(m, &findings),
            _ => self.ask_class(&findings),
        };
        self.answered(answer, Answer::is_finite)
    }

    /// Exact answers of discrete networks, averaged if there are several.
    fn ask_networks(&self, members: &[Network], temperature: f64, findings: &Findings<'_>) -> Result<Answer> {
        let k = self.classes.len();
        let of_class = findings.of_class();
        let mut of_features = findings.all();
        of_features[0] = None;
        let beliefs = Beliefs::new(members, &of_features)?;
        // The class is calibrated by the temperature; what the user knows of it is not.
        let scores = beliefs.log_joint(&[0])?.table;
        let log_evidence = log_sum_exp(&with_logs(&scores, &of_class, 1.0));
        require_possible(log_evidence)?;
        let mut class = with_logs(&scores, &of_class, temperature);
        softmax(&mut class);
        // P(c | known) / P(c, known) of every class: what turns a joint table into the answer.
        let scale: Vec<f64> = class.iter().zip(&scores).map(|(p, s)| p.ln() - s).collect();
        let reweighed = |vars: &[usize]| -> Result<Vec<f64>> {
            let table = beliefs.log_joint(vars)?.table;
            let stride = table.len() / k;
            let entry = |(at, l): (usize, &f64)| {
                let p = l + scale[at / stride];
                if p.is_nan() { 0.0 } else { p.exp() }
            };
            Ok(table.iter().enumerate().map(entry).collect())
        };
        let state = |j: usize| Ok(Belief::States(transposed(&reweighed(&[0, j])?, k)));
        let mut answer = self.assembled(findings, &class, state)?;
        if let Some(about) = findings.about.filter(|about| *about > 0) {
            let gain = |j: usize| {
                let (first, second) = (about.min(j), about.max(j));
                let table = reweighed(&[0, first, second])?;
                let size = table.len() / k;
                let sum = |at: usize| (0..k).map(|c| table[c * size + at]).sum::<f64>();
                let pairs: Vec<f64> = (0..size).map(sum).collect();
                Ok(mutual_information(&pairs, findings.n_states(second)).max(0.0))
            };
            answer.next = findings.measurements(gain)?;
        }
        answer.log_evidence = Some(log_evidence);
        answer.conflict = findings.conflict(log_evidence, |alone| {
            Ok(Beliefs::new(members, &alone.all())?.log_joint(&[])?.table[0])
        })?;
        answer.most_probable = self.most_probable_states(&beliefs, &scale, findings)?;
        Ok(answer)
    }

    fn most_probable_states(
        &self,
        beliefs: &Beliefs,
        scale: &[f64],
        findings: &Findings<'_>,
    ) -> Result<Vec<(String, String)>> {
        let mut best: Option<(Vec<usize>, f64)> = None;
        for (class, scale) in scale.iter().enumerate().filter(|(_, s)| s.is_finite()) {
            let Some((state, log)) = beliefs.most_probable(class)? else { continue };
            if best.as_ref().is_none_or(|(_, other)| log + scale > *other) {
                best = Some((state, log + scale));
            }
        }
        let Some((state, _)) = best else { return Err(impossible()) };
        Ok((0..state.len())
            .map(|i| (findings.name(i).to_string(), findings.state_name(i, state[i])))
            .collect())
    }

    /// Answers of class networks over numbers.
    fn ask_gaussians(&self, model: &GaussianClassifier, findings: &Findings<'_>) -> Result<Answer> {
        if let Some(about) = findings.about.filter(|about| *about > 0) {
            return Err(Error::column(
                findings.name(about),
                "this model tells what to measure for the class only",
                "ask about the target, or fit a discrete model such as tan:ml",
            ));
        }
        let beliefs = |findings: &Findings<'_>| -> Result<GaussianBeliefs<'_>> {
            let (row, likelihoods) = findings.row()?;
            model.beliefs(&row, &likelihoods, &findings.of_class())
        };
        let all = beliefs(findings)?;
        let mut class = all.log_classes();
        softmax(&mut class);
        let mut answer = self.assembled(findings, &class, |j| all.column(j - 1))?;
        answer.log_evidence = Some(all.log_evidence());
        answer.conflict = findings.conflict(all.log_evidence(), |one| Ok(beliefs(one)?.log_evidence()))?;
        let (class, row) = all.most_probable()?;
        let cell = |j: usize| (findings.name(j + 1).to_string(), row.column(j).text(0).unwrap_or_default());
        answer.most_probable = vec![(self.target.clone(), self.classes[class].clone())];
        answer.most_probable.extend((0..row.n_columns()).map(cell));
        Ok(answer)
    }

    /// Models that know the class only: its probabilities, and what to measure next where they can say.
    fn ask_class(&self, findings: &Findings<'_>) -> Result<Answer> {
        let (row, likelihoods) = findings.row()?;
        let only_class = |column: &str| {
            self.unsupported(
                format!("this model can be asked for `{}` only, not for `{column}`", self.target),
                "fit a generative model such as tan:ml, aode:ml or sgbn:or",
            )
        };
        let unsure = likelihoods.first().map(|(j, _)| j + 1);
        let other = findings.asked_beside_class().or(unsure).or(findings.about.filter(|i| *i > 0));
        if let Some(i) = other {
            return Err(only_class(findings.name(i)));
        }
        let classifier = self.fitted.classifier();
        let mut class = with_logs(&classifier.log_proba(&row)?, &findings.of_class(), 1.0);
        require_possible(softmax(&mut class))?;
        let next = classifier.next_measurements(&row)?.unwrap_or_default();
        let gain = |(j, nats): &(usize, f64)| (findings.name(j + 1).to_string(), *nats);
        Ok(Answer {
            posterior: vec![(self.target.clone(), findings.named(0, class))],
            log_evidence: None,
            conflict: None,
            most_probable: Vec::new(),
            next: findings.by_cost(next.iter().map(gain)),
        })
    }

    /// Posteriors of the class and of the columns that are asked for, and what each unknown column tells of the class.
    fn assembled(
        &self,
        findings: &Findings<'_>,
        class: &[f64],
        belief: impl Fn(usize) -> Result<Belief>,
    ) -> Result<Answer> {
        let mut posterior = Vec::new();
        let mut gains = Vec::new();
        for i in 0..findings.len() {
            let (asked, open) = (findings.is_asked(i), findings.is_open(i));
            if i == 0 && asked {
                posterior.push((self.target.clone(), findings.named(0, class.to_vec())));
            }
            if i == 0 || !(asked || open) {
                continue;
            }
            let name = findings.name(i).to_string();
            let (found, nats) = match belief(i)? {
                Belief::States(joint) => {
                    let states = joint.chunks_exact(class.len()).map(|row| row.iter().sum()).collect();
                    (findings.named(i, states), mutual_information(&joint, class.len()))
                }
                Belief::Number(normals) => {
                    (number::posterior(&normals), number::information(&normals, class.len()))
                }
            };
            if asked {
                posterior.push((name.clone(), found));
            }
            if open {
                gains.push((name, nats.max(0.0)));
            }
        }
        Ok(Answer {
            posterior,
            log_evidence: None,
            conflict: None,
            most_probable: Vec::new(),
            next: findings.by_cost(gains.into_iter()),
        })
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

/// `scores / temperature + ln likelihood`.
fn with_logs(scores: &[f64], likelihood: &[f64], temperature: f64) -> Vec<f64> {
    scores.iter().zip(likelihood).map(|(s, l)| s / temperature + l.ln()).collect()
}

fn require_possible(log_evidence: f64) -> Result<()> {
    if log_evidence == f64::NEG_INFINITY { Err(impossible()) } else { Ok(()) }
}

fn impossible() -> Error {
    Error::data("what is given is impossible in this model", "check the given values")
}

/// A table of class by state as one of state by class.
fn transposed(table: &[f64], k: usize) -> Vec<f64> {
    let r = table.len() / k;
    (0..table.len()).map(|at| table[at % k * r + at / k]).collect()
}
