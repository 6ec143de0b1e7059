//! A fitted discrete network as a classifier: codes a table, sums missing features out, lists the terms
//! of a decision, gives likelihoods and draws new rows.

use super::inference::{Evidence, Inference};
use super::samples::code_columns;
use super::{Network, Structure};
use hingenet_base::error::{Result, require, require_len};
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::{Classifier, log_posteriors};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::explain::{ScoreTerms, Term, leave_one_out};
use hingenet_data::table::{Codes, Table};
use rayon::prelude::*;

/// Feature states, normalised network and temperature: `P(c | x) ∝ exp(S_c(x) / temperature)`.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscreteClassifier {
    coders: Vec<FeatureCoder>,
    network: Network,
    temperature: f64,
}

/// Rows of a table must be normalised to this (log of their sum).
const NORMALISED: f64 = 1e-6;

/// Refuses parameters that are no probabilities.
pub(super) fn require_proper(network: &Network) -> Result<()> {
    let finite = network.w().iter().all(|w| !w.is_nan() && *w < f64::INFINITY);
    let error = if finite { network.normalisation_error() } else { f64::INFINITY };
    require("sum of a probability table row (log)", error, "0", error < NORMALISED)
}

impl DiscreteClassifier {
    /// Joins the parts; refuses coders that do not fit the network, parameters that are not normalised and
    /// a temperature that is not positive.
    pub fn new(coders: Vec<FeatureCoder>, network: Network, temperature: f64) -> Result<Self> {
        let card = network.structure().card();
        require_len("feature coders", card.len() - 1, coders.len())?;
        for (i, coder) in coders.iter().enumerate() {
            coder.check()?;
            require_len(&format!("states of feature {i}"), card[i + 1], coder.n_states())?;
        }
        require(
            "temperature",
            temperature,
            "a finite number > 0",
            temperature.is_finite() && temperature > 0.0,
        )?;
        require_proper(&network)?;
        Ok(DiscreteClassifier { coders, network, temperature })
    }

    /// States of the features.
    pub fn coders(&self) -> &[FeatureCoder] {
        &self.coders
    }

    /// Graph and parameters.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Temperature of the posterior; 1 for maximum likelihood.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The states of a table's cells, as the network counts them.
    pub fn code(&self, rows: &Table) -> Result<Vec<Codes>> {
        code_columns(&self.coders, rows)
    }

    /// `log P(c, observed cells)`, K values a row.
    pub fn log_joint(&self, rows: &Table) -> Result<Vec<f64>> {
        let inference = Inference::new(&self.network);
        if self.coders.is_empty() {
            return Ok(self.log_prior(&inference)?.repeat(rows.n_rows()));
        }
        inference.log_joint_rows(&self.code(rows)?)
    }

    /// `log P(observed cells)` of each row, the class summed out.
    pub fn log_evidence(&self, rows: &Table) -> Result<Vec<f64>> {
        Ok(self.log_joint(rows)?.chunks_exact(self.n_classes()).map(log_sum_exp).collect())
    }

    /// `log P(class, observed cells)` of each row; a row without class has it summed out.
    pub fn log_likelihood(&self, rows: &Table, class: &Codes) -> Result<Vec<f64>> {
        require_len("class labels", rows.n_rows(), class.len())?;
        if let Some(c) = class.max().filter(|&c| c >= self.n_classes()) {
            require("class code", c, "a code below the number of classes", false)?;
        }
        let joint = self.log_joint(rows)?;
        let row = |(scores, c): (&[f64], Option<usize>)| c.map_or_else(|| log_sum_exp(scores), |c| scores[c]);
        Ok(joint.chunks_exact(self.n_classes()).zip(class.iter()).map(row).collect())
    }

    /// `n` draws of all variables given evidence (variable 0 is the class): coded columns, the class
    /// first. Row `m` uses its own random stream, so the draws do not depend on the number of threads.
    pub fn sample(&self, n: usize, seed: u64, evidence: &Evidence) -> Result<Vec<Codes>> {
        let inference = Inference::new(&self.network);
        let sampler = inference.sampler(evidence)?;
        let draw = |m: usize| sampler.draw(&mut Random::stream(seed, m as u64));
        let rows: Vec<Vec<usize>> = (0..n).into_par_iter().map(draw).collect();
        let card = self.network.structure().card();
        let column = |i: usize| Codes::from_options(card[i], rows.iter().map(|row| Some(row[i])));
        Ok((0..card.len()).map(column).collect())
    }

    fn structure(&self) -> &Structure {
        self.network.structure()
    }

    fn log_prior(&self, inference: &Inference<'_>) -> Result<Vec<f64>> {
        Ok(inference.conditional(&[0], &vec![None; self.structure().n_nodes()])?.table)
    }

    /// One term per class child, `base` the class's own table.
    fn additive(&self, state: &[usize]) -> ScoreTerms {
        let s = self.structure();
        let with_class = |c: usize| move |i: usize| if i == 0 { c } else { state[i - 1] };
        let term = |i: usize| Term {
            feature: i - 1,
            given: s.dag().parents(i).iter().filter(|&&p| p > 0).map(|p| p - 1).collect(),
            scores: (0..self.n_classes())
                .map(|c| self.network.w()[s.entry_of(i, with_class(c))] / self.temperature)
                .collect(),
        };
        let terms = (1..s.n_nodes()).filter(|&i| s.is_class_child(i)).map(term).collect();
        ScoreTerms::additive(self.network.row(0, 0).iter().map(|w| w / self.temperature).collect(), terms)
    }
}

impl Classifier for DiscreteClassifier {
    fn n_classes(&self) -> usize {
        self.structure().n_classes()
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        let mut scores = self.log_joint(rows)?;
        scores.iter_mut().for_each(|s| *s /= self.temperature);
        log_posteriors(&mut scores, self.n_classes(), || self.log_prior(&Inference::new(&self.network)))?;
        Ok(scores)
    }

    /// Exact terms: additive for a complete row whose class has no parents, else the change when one
    /// feature is hidden.
    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        let state: Option<Vec<usize>> = self.code(row)?.iter().map(|c| c.get(0)).collect();
        let root = self.structure().dag().parents(0).is_empty();
        match state.filter(|_| root).map(|state| self.additive(&state)) {
            Some(terms) if terms.is_possible() => Ok(terms),
            _ => leave_one_out(self, row, 0..self.coders.len()),
        }
    }
}
