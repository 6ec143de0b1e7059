//! What follows from what is known, by position: the one mechanism behind [`Model::query`] and the explorer.

use super::{Given, number};
use crate::model::{Fitted, Model};
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::log::{log_sum_exp, mutual_information, softmax};
use hingenet_data::belief::Belief;
use hingenet_data::combinations::RowEvidence;
use hingenet_data::table::{Codes, Table};
use hingenet_density::DensityClassifier;
use hingenet_discrete::Network;
use hingenet_discrete::inference::{Beliefs, Columns};
use hingenet_gaussian::{GaussianBeliefs, GaussianClassifier};
use rayon::prelude::*;

/// What a model believes of the class and of every column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Believed {
    /// `P(c | known)`, calibrated where the model is.
    pub classes: Vec<f64>,
    /// Logarithm of the probability of everything known, where a model has one.
    pub log_evidence: Option<f64>,
    /// `Σ ln P(each known alone) − ln P(all known)`; `None` if fewer than two columns are known.
    pub conflict: Option<f64>,
    /// By variable; `None` for the class and where a model does not tell.
    pub columns: Vec<Option<Belief>>,
    /// Information (nats) that an open feature is expected to give about the variable that was asked about.
    pub next: Vec<Option<f64>>,
}

/// The class alone.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BelievedClass {
    pub classes: Vec<f64>,
    pub log_evidence: Option<f64>,
}

/// Scores of the classes for some sets of findings, K values a set, what is known of the class left out.
struct ClassScores {
    /// `ln P(c | known)` up to a constant a set, calibrated.
    calibrated: Vec<f64>,
    /// `ln P(c, known)`, where a model has one.
    joint: Option<Vec<f64>>,
}

impl Model {
    /// What follows for every column, and what each open feature tells about variable `about`.
    pub(crate) fn believe(&self, given: &Given, about: usize) -> Result<Believed> {
        let believed = match &self.fitted {
            Fitted::Discrete(m) => {
                self.believe_networks(&[m.network().clone()], m.temperature(), given, about)
            }
            Fitted::Averaged(m) => {
                self.believe_networks(&m.network().networks()?, m.temperature(), given, about)
            }
            Fitted::Gaussian(m) => self.believe_gaussians(m, given, about),
            Fitted::Density(m) => self.believe_densities(m, given, about),
            _ => self.believe_class(given, about),
        };
        self.answered(believed, Believed::is_finite)
    }

    /// The class for each of many sets of findings. As in [`Model::predict`], findings that are impossible together
    /// say nothing.
    pub(crate) fn believe_classes(&self, sets: &[Given]) -> Result<Vec<BelievedClass>> {
        let k = self.classes.len();
        let (sure, unsure): (Vec<usize>, Vec<usize>) =
            (0..sets.len()).partition(|&m| sets[m].unsure().is_empty());
        let mut found: Vec<Option<BelievedClass>> = vec![None; sets.len()];
        let mut put = |at: &[usize], scores: ClassScores| {
            for (a, &m) in at.iter().enumerate() {
                let part = |logs: &[f64]| with_logs(&logs[a * k..(a + 1) * k], &sets[m].of_class(k), 1.0);
                let mut classes = part(&scores.calibrated);
                let log_evidence = scores.joint.as_ref().map(|joint| log_sum_exp(&part(joint)));
                let possible = softmax(&mut classes) > f64::NEG_INFINITY;
                found[m] = possible.then_some(BelievedClass { classes, log_evidence });
            }
        };
        put(&sure, self.sure_classes(&sure.iter().map(|&m| &sets[m]).collect::<Vec<_>>())?);
        let each: Vec<ClassScores> =
            unsure.par_iter().map(|&m| self.unsure_classes(&sets[m])).collect::<Result<_>>()?;
        unsure.into_iter().zip(each).for_each(|(m, scores)| put(&[m], scores));
        let nothing = self.sure_classes(&[&Given::nothing(self.schema.features.len() + 1)])?;
        let mut prior = nothing.calibrated;
        softmax(&mut prior);
        let prior = BelievedClass { classes: prior, log_evidence: None };
        let found = found.into_iter().map(|f| f.unwrap_or_else(|| prior.clone())).collect();
        let finite = |f: &BelievedClass| f.classes.iter().chain(&f.log_evidence).all(|x| x.is_finite());
        self.answered(Ok(found), |found: &Vec<BelievedClass>| found.iter().all(finite))
    }

    /// All sets at once: what is known of features is settled.
    fn sure_classes(&self, sets: &[&Given]) -> Result<ClassScores> {
        let k = self.classes.len();
        let factors: Vec<f64> = sets.iter().map(|given| given.log_factor()).collect();
        let scaled = |joint: Vec<f64>| joint.iter().enumerate().map(|(at, s)| s + factors[at / k]).collect();
        if let Some(coders) = self.coders() {
            let column = |j: usize| {
                Codes::from_options(coders[j].n_states(), sets.iter().map(|given| given.settled(j + 1)))
            };
            let codes: Vec<Codes> = (0..coders.len()).map(column).collect();
            let (joint, temperature) = match &self.fitted {
                Fitted::Averaged(m) => (m.log_joint_coded(&codes, sets.len())?, m.temperature()),
                Fitted::Discrete(m) => (m.log_joint_coded(&codes, sets.len())?, m.temperature()),
                _ => return Err(Error::data("this model has no states", "")),
            };
            let calibrated = joint.iter().map(|s| s / temperature).collect();
            return Ok(ClassScores { calibrated, joint: Some(scaled(joint)) });
        }
        let rows = self.cells(sets)?;
        let calibrated = self.posteriors(self.log_proba_of_known(&rows))?;
        let joint = match &self.fitted {
            Fitted::Gaussian(m) => {
                let density = m.log_density(&rows)?;
                Some(scaled(calibrated.iter().enumerate().map(|(at, p)| p + density[at / k]).collect()))
            }
            Fitted::Density(m) => m.log_joint(&rows)?.map(scaled),
            _ => None,
        };
        Ok(ClassScores { calibrated, joint })
    }

    /// One set with a likelihood over several states of a feature.
    fn unsure_classes(&self, given: &Given) -> Result<ClassScores> {
        let alone = || -> Result<RowEvidence<'_>> {
            Ok(RowEvidence { of_class: vec![1.0; self.classes.len()], ..self.evidence(given)? })
        };
        let of_networks = |members: &[Network], temperature: f64| {
            let joint = Beliefs::new(members, &given.of_features())?.log_classes()?;
            Ok(ClassScores {
                calibrated: joint.iter().map(|s| s / temperature).collect(),
                joint: Some(joint),
            })
        };
        match &self.fitted {
            Fitted::Discrete(m) => of_networks(&[m.network().clone()], m.temperature()),
            Fitted::Averaged(m) => of_networks(&m.network().networks()?, m.temperature()),
            Fitted::Gaussian(m) => {
                let beliefs = m.beliefs(&alone()?)?;
                let calibrated = beliefs.log_classes();
                let log_evidence = beliefs.log_evidence() + given.log_factor();
                let joint = Some(calibrated.iter().map(|l| l + log_evidence).collect());
                Ok(ClassScores { calibrated, joint })
            }
            Fitted::Density(m) => {
                let beliefs = m.beliefs(&alone()?)?;
                let factor = given.log_factor();
                let joint = beliefs.log_joint().map(|joint| joint.iter().map(|l| l + factor).collect());
                Ok(ClassScores { calibrated: beliefs.log_classes(), joint })
            }
            _ => Err(self.takes_values_only(given)),
        }
    }

    /// Exact answers of discrete networks, averaged if there are several.
    fn believe_networks(
        &self,
        members: &[Network],
        temperature: f64,
        given: &Given,
        about: usize,
    ) -> Result<Believed> {
        let k = self.classes.len();
        let of_class = given.of_class(k);
        let all = Beliefs::new(members, &given.of_features())?.columns()?;
        // The class is calibrated by the temperature; what the user knows of it is not.
        let log_evidence = log_sum_exp(&with_logs(&all.log_classes, &of_class, 1.0));
        require_possible(log_evidence)?;
        let mut classes = with_logs(&all.log_classes, &of_class, temperature);
        softmax(&mut classes);
        let columns = joint_with_class(&all, &classes);
        let next = if about == 0 {
            self.tells_of_class(given, &columns)
        } else {
            // P(c | known) / P(c, known) of every class: what turns a joint table into the answer.
            let scale: Vec<f64> = classes.iter().zip(&all.log_classes).map(|(p, s)| p.ln() - s).collect();
            tells_of_states(members, given, about, &scale)?
        };
        let conflict = conflict(given, log_evidence, || self.log_evidence_alone(given))?;
        Ok(Believed { classes, log_evidence: Some(log_evidence), conflict, columns, next })
    }

    /// `Σ_i ln Σ_s l_s P(x_i = s)` over everything known: the networks score one row for each state.
    fn log_evidence_alone(&self, given: &Given) -> Result<f64> {
        let k = self.classes.len();
        let n = given.likelihood.len();
        let states = |i: usize| given.likelihood[i].iter().flatten().enumerate().filter(|(_, l)| **l > 0.0);
        let one = |i: usize, s: usize| {
            let mut one = Given::nothing(n);
            one.likelihood[i] = given.likelihood[i]
                .as_ref()
                .map(|l| (0..l.len()).map(|t| f64::from(u8::from(s == t))).collect());
            one
        };
        let features = || given.known().filter(|i| *i > 0);
        let nothing = Given::nothing(n);
        let seen: Vec<Given> = features().flat_map(|i| states(i).map(move |(s, _)| one(i, s))).collect();
        let rows: Vec<&Given> = std::iter::once(&nothing).chain(&seen).collect();
        let joint = self.sure_classes(&rows)?.joint.unwrap_or_default();
        let mut scores = joint.chunks_exact(k);
        let class =
            scores.next().map_or(0.0, |prior| log_sum_exp(&with_logs(prior, &given.of_class(k), 1.0)));
        let mut alone = |i: usize| {
            let logs: Vec<f64> =
                states(i).zip(&mut scores).map(|((_, l), s)| l.ln() + log_sum_exp(s)).collect();
            log_sum_exp(&logs)
        };
        Ok(class + features().map(&mut alone).sum::<f64>())
    }

    /// Answers of class networks over numbers.
    fn believe_gaussians(&self, model: &GaussianClassifier, given: &Given, about: usize) -> Result<Believed> {
        let log_evidence = |given: &Given| -> Result<f64> {
            Ok(model.log_evidence(&self.evidence(given)?)? + given.log_factor())
        };
        let all = model.beliefs(&self.evidence(given)?)?;
        let mut classes = all.log_classes();
        softmax(&mut classes);
        // a column of categories of which training has seen none has no distribution
        let has_states = |belief: &Belief| !matches!(belief, Belief::States(joint) if joint.is_empty());
        let column = |i: usize| Ok(i.checked_sub(1).map(|j| all.column(j)).transpose()?.filter(has_states));
        let columns: Vec<Option<Belief>> = (0..given.numbers.len()).map(column).collect::<Result<_>>()?;
        let next = match about.checked_sub(1) {
            None => self.tells_of_class(given, &columns),
            Some(about) => self.tells_of_column(model, given, about, &all)?,
        };
        let log_all = all.log_evidence() + given.log_factor();
        let conflict = conflict(given, log_all, || {
            given.known().map(|i| log_evidence(&given.alone(i))).sum::<Result<f64>>()
        })?;
        Ok(Believed { classes, log_evidence: Some(log_all), conflict, columns, next })
    }

    /// What each open feature tells about feature `about`. A category is left open by a likelihood of 1 for all of its
    /// states, so that every combination has one of them.
    fn tells_of_column(
        &self,
        model: &GaussianClassifier,
        given: &Given,
        about: usize,
        all: &GaussianBeliefs<'_>,
    ) -> Result<Vec<Option<f64>>> {
        let evidence = self.evidence(given)?;
        let states = |j: usize| evidence.known.column(j).as_categorical().map(|c| c.categories().len());
        let split = |j: usize| -> Result<Option<(GaussianBeliefs<'_>, usize)>> {
            let Some(r) = states(j) else { return Ok(None) };
            let mut evidence = evidence.clone();
            if given.likelihood[j + 1].is_none() {
                evidence.likelihoods.push((j, vec![1.0; r]));
            }
            Ok(Some((model.beliefs(&evidence)?, r)))
        };
        let tells = |(belief, labels): (Belief, usize)| match belief {
            Belief::States(joint) | Belief::Grid { joint, .. } => mutual_information(&joint, labels),
            Belief::Number(normals) => number::information(&normals, labels),
        };
        let by_about = if given.is_open(about + 1) { split(about)? } else { None };
        let gain = |j: usize| -> Result<f64> {
            if !given.is_open(about + 1) {
                return Ok(0.0);
            }
            if let Some((beliefs, r)) = &by_about {
                return Ok(tells((beliefs.column_with(j, about)?, *r)));
            }
            match split(j)? {
                Some((beliefs, r)) => Ok(tells((beliefs.column_with(about, j)?, r))),
                None => Ok(number::pair_information(&all.pair(about, j)?)),
            }
        };
        let measured = |i: usize| i > 0 && i != about + 1 && given.is_open(i);
        let next = |i: usize| measured(i).then(|| Ok(gain(i - 1)?.max(0.0))).transpose();
        (0..given.numbers.len()).into_par_iter().map(next).collect()
    }

    /// Answers of density models.
    fn believe_densities(&self, model: &DensityClassifier, given: &Given, about: usize) -> Result<Believed> {
        let k = self.classes.len();
        let beliefs = |given: &Given| model.beliefs(&self.evidence(given)?);
        let all = beliefs(given)?;
        let mut classes = all.log_classes();
        softmax(&mut classes);
        let columns: Vec<Option<Belief>> = std::iter::once(None).chain(all.columns()).collect();
        let next = match about.checked_sub(1) {
            None => self.tells_of_class(given, &columns),
            Some(j) => {
                let tables = if given.is_open(about) { all.columns_with(j) } else { Vec::new() };
                let nats = |i: usize| {
                    let Some(Some(table)) = tables.get(i - 1) else { return Some(0.0) };
                    let points = columns[i].as_ref().map_or(1, |belief| belief.points(k));
                    Some(mutual_information(table, points).max(0.0))
                };
                let measured = |i: usize| i > 0 && i != about && given.is_open(i) && columns[i].is_some();
                (0..columns.len()).map(|i| if measured(i) { nats(i) } else { None }).collect()
            }
        };
        let log_evidence = all.log_joint().map(|joint| log_sum_exp(joint) + given.log_factor());
        let conflict = match log_evidence {
            None => None,
            Some(log_evidence) => conflict(given, log_evidence, || {
                let alone = |i: usize| {
                    let one = given.alone(i);
                    Ok(beliefs(&one)?.log_joint().map_or(0.0, log_sum_exp) + one.log_factor())
                };
                given.known().map(alone).sum::<Result<f64>>()
            })?,
        };
        Ok(Believed { classes, log_evidence, conflict, columns, next })
    }

    /// Whether the model says what its columns tell about each other.
    pub(super) fn tells_of_columns(&self) -> bool {
        self.coders().is_some() || matches!(self.fitted, Fitted::Gaussian(_) | Fitted::Density(_))
    }

    /// `log P(c | known cells)`: that a question leaves a column open is no evidence.
    fn log_proba_of_known(&self, rows: &Table) -> Result<Vec<f64>> {
        match &self.fitted {
            Fitted::Pool(pool) => pool.log_proba_of_known(rows),
            other => other.classifier().log_proba(rows),
        }
    }

    /// Models that know the class only: its probabilities, and what to measure next where they can say.
    fn believe_class(&self, given: &Given, about: usize) -> Result<Believed> {
        if !given.unsure().is_empty() {
            return Err(self.takes_values_only(given));
        }
        let row = self.cells(&[given])?;
        let mut classes =
            with_logs(&self.log_proba_of_known(&row)?, &given.of_class(self.classes.len()), 1.0);
        require_possible(softmax(&mut classes))?;
        let mut next = vec![None; given.numbers.len()];
        if about == 0 {
            let gains = self.fitted.classifier().next_measurements(&row)?.unwrap_or_default();
            gains.into_iter().for_each(|(j, nats)| next[j + 1] = Some(nats));
        }
        let columns = vec![None; given.numbers.len()];
        Ok(Believed { classes, log_evidence: None, conflict: None, columns, next })
    }

    fn takes_values_only(&self, given: &Given) -> Error {
        let unsure = given.unsure().first().map_or(0, |(j, _)| *j);
        self.only_class(&self.schema.features[unsure].name)
    }

    /// The error of a model that knows nothing of its columns.
    pub(super) fn only_class(&self, column: &str) -> Error {
        self.unsupported(
            format!("this model can be asked for `{}` only, not for `{column}`", self.target),
            "fit a generative model such as tan:ml, aode:ml or sgbn:or",
        )
    }

    /// What each open feature tells about the class, from its distribution together with it.
    fn tells_of_class(&self, given: &Given, columns: &[Option<Belief>]) -> Vec<Option<f64>> {
        let k = self.classes.len();
        let tells = |(i, belief): (usize, &Option<Belief>)| {
            let nats = match belief.as_ref().filter(|_| given.is_open(i))? {
                Belief::States(joint) | Belief::Grid { joint, .. } => mutual_information(joint, k),
                Belief::Number(normals) => number::information(normals, k),
            };
            Some(nats.max(0.0))
        };
        columns.iter().enumerate().map(tells).collect()
    }
}

impl Believed {
    fn is_finite(&self) -> bool {
        let finite = |belief: &Belief| match belief {
            Belief::States(joint) => joint.iter().all(|p| p.is_finite()),
            Belief::Grid { at, joint } => at.iter().chain(joint).all(|x| x.is_finite()),
            Belief::Number(normals) => {
                normals.iter().all(|n| [n.weight, n.mean, n.sd].iter().all(|x| x.is_finite()))
            }
        };
        let numbers = self.classes.iter().chain(&self.log_evidence).chain(&self.conflict);
        numbers.chain(self.next.iter().flatten()).all(|x| x.is_finite())
            && self.columns.iter().flatten().all(finite)
    }
}

/// `P(state, c | known) = P(c | known) P(state | c, known)` of every variable but the class.
fn joint_with_class(all: &Columns, classes: &[f64]) -> Vec<Option<Belief>> {
    let k = classes.len();
    let joint = |states: &Vec<f64>| {
        let r = states.len() / k;
        let entry = |at: usize| classes[at % k] * states[at % k * r + at / k];
        Some(Belief::States((0..states.len()).map(entry).collect()))
    };
    std::iter::once(None).chain(all.given_class.iter().skip(1).map(joint)).collect()
}

/// What each open feature tells about variable `about`: the networks are asked once for each of its states.
fn tells_of_states(
    members: &[Network],
    given: &Given,
    about: usize,
    scale: &[f64],
) -> Result<Vec<Option<f64>>> {
    let k = scale.len();
    let r = members.first().map_or(0, |n| n.structure().card()[about]);
    let likelihood = given.likelihood[about].clone().unwrap_or_else(|| vec![1.0; r]);
    let mut pairs: Vec<Vec<f64>> = vec![Vec::new(); given.likelihood.len()];
    for (s, l) in likelihood.iter().enumerate().filter(|(_, l)| **l > 0.0) {
        let mut findings = given.of_features();
        findings[about] = Some((0..r).map(|t| if t == s { *l } else { 0.0 }).collect());
        let seen = Beliefs::new(members, &findings)?.columns()?;
        let weight =
            |(log, scale): (&f64, &f64)| Some(log + scale).filter(|l| !l.is_nan()).map_or(0.0, f64::exp);
        let weights: Vec<f64> = seen.log_classes.iter().zip(scale).map(weight).collect();
        for (pairs, states) in pairs.iter_mut().zip(&seen.given_class) {
            let n = states.len() / k;
            let sum = |t: usize| (0..k).map(|c| weights[c] * states[c * n + t]).sum::<f64>();
            pairs.extend((0..n).map(sum));
        }
    }
    let states = likelihood.iter().filter(|l| **l > 0.0).count();
    let tells = |(i, pairs): (usize, &Vec<f64>)| {
        let measured = i > 0 && i != about && given.is_open(i);
        measured.then(|| mutual_information(pairs, pairs.len() / states.max(1)).max(0.0))
    };
    Ok(pairs.iter().enumerate().map(tells).collect())
}

/// `alone`, which is `Σ ln P(each known alone)`, less the logarithm of the probability of all; needs two that are known.
fn conflict(given: &Given, log_evidence: f64, alone: impl FnOnce() -> Result<f64>) -> Result<Option<f64>> {
    (given.known().count() > 1).then(|| Ok(alone()? - log_evidence)).transpose()
}

/// `scores / temperature + ln likelihood`.
fn with_logs(scores: &[f64], likelihood: &[f64], temperature: f64) -> Vec<f64> {
    scores.iter().zip(likelihood).map(|(s, l)| s / temperature + l.ln()).collect()
}

fn require_possible(log_evidence: f64) -> Result<()> {
    if log_evidence == f64::NEG_INFINITY { Err(impossible()) } else { Ok(()) }
}

pub(super) fn impossible() -> Error {
    Error::data("what is given is impossible in this model", "check the given values")
}
