//! Fitted discrete networks as a classifier: codes a table, sums missing features out, lists the terms of a decision; a
//! single network also gives likelihoods and draws new rows.

use super::Network;
use super::fit::select::ClassScores;
use super::inference::Inference;
use super::samples::code_columns;
use hingenet_base::error::{Result, require, require_len};
use hingenet_base::graph::components;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::classifier::{Classifier, log_posteriors};
use hingenet_data::encode::FeatureCoder;
use hingenet_data::explain::{Game, ScoreTerms, Term, leave_one_out};
use hingenet_data::table::{Codes, Table};

/// What a classifier of coded rows needs of its network, or of an average of several.
pub trait CodedScores: ClassScores {
    /// Numbers of states, the class first.
    fn card(&self) -> Vec<usize>;
    /// Refuses parameters that are no probabilities.
    fn require_proper(&self) -> Result<()>;
    /// `log P(c)`.
    fn log_prior(&self) -> Result<Vec<f64>>;
    /// The scores at temperature 1 of a complete row as sums of terms, where they are.
    fn additive(&self, _state: &[usize]) -> Option<(Vec<f64>, Vec<Term>)> {
        None
    }
    /// A label for each feature: features with different ones are independent given the class. `None` if all may depend on
    /// each other.
    fn independent(&self) -> Option<Vec<usize>> {
        None
    }
}

/// Feature states, normalised networks and temperature: `P(c | x) ∝ exp(S_c(x) / temperature)`.
#[derive(Debug, Clone, PartialEq)]
pub struct CodedClassifier<N> {
    coders: Vec<FeatureCoder>,
    network: N,
    temperature: f64,
    /// Weight of the labelled training rows in each cell of the tables, where it is known.
    support: Option<Vec<f64>>,
}

/// Temperatures that divide scores and leave them finite; calibration stays far within.
const TEMPERATURES: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// One network.
pub type DiscreteClassifier = CodedClassifier<Network>;

impl<N: CodedScores> CodedClassifier<N> {
    /// Joins the parts; refuses coders that do not fit the networks, parameters that are not normalised and
    /// a temperature that no calibration gives: scores divided by it stay finite.
    pub fn new(coders: Vec<FeatureCoder>, network: N, temperature: f64) -> Result<Self> {
        let card = network.card();
        require_len("feature coders", card.len() - 1, coders.len())?;
        for (i, coder) in coders.iter().enumerate() {
            coder.check()?;
            require_len(&format!("states of feature {i}"), card[i + 1], coder.n_states())?;
        }
        let is_usual = TEMPERATURES.contains(&temperature);
        require("temperature", temperature, "a number between 1e-100 and 1e100", is_usual)?;
        network.require_proper()?;
        Ok(CodedClassifier { coders, network, temperature, support: None })
    }

    /// States of the features.
    pub fn coders(&self) -> &[FeatureCoder] {
        &self.coders
    }

    /// Graphs and parameters.
    pub fn network(&self) -> &N {
        &self.network
    }

    /// Temperature of the posterior; 1 for maximum likelihood.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// The states of a table's cells, as the networks count them.
    pub fn code(&self, rows: &Table) -> Result<Vec<Codes>> {
        code_columns(&self.coders, rows)
    }

    /// `log P(c, observed cells)`, K values a row.
    pub fn log_joint(&self, rows: &Table) -> Result<Vec<f64>> {
        self.log_joint_coded(&self.code(rows)?, rows.n_rows())
    }

    /// [`Self::log_joint`] of `n` rows whose states are known.
    pub fn log_joint_coded(&self, codes: &[Codes], n: usize) -> Result<Vec<f64>> {
        if self.coders.is_empty() {
            return Ok(self.network.log_prior()?.repeat(n));
        }
        self.network.log_joint(codes)
    }

    /// `P(x_j = s | observed cells) = Σ_c P(c | observed) P(s | c, observed)` of the given rows of coded columns, state by state;
    /// zeros for a row that no class allows.
    pub fn column_probabilities(&self, codes: &[Codes], j: usize, rows: &[usize]) -> Result<Vec<f64>> {
        let mut codes: Vec<Codes> = codes.iter().map(|c| c.rows(rows)).collect();
        let (k, r) = (self.n_classes(), self.coders[j].n_states());
        let joint = self.network.log_joint(&codes)?;
        let posterior = self.log_posteriors(joint.clone())?;
        let mut probabilities = vec![0.0; rows.len() * r];
        for s in 0..r {
            codes[j] = Codes::from_options(r, std::iter::repeat_n(Some(s), rows.len()));
            let with = self.network.log_joint(&codes)?;
            for (at, p) in posterior.iter().enumerate().filter(|(at, _)| joint[*at] > f64::NEG_INFINITY) {
                probabilities[at / k * r + s] += (p + with[at] - joint[at]).exp();
            }
        }
        Ok(probabilities)
    }

    fn log_posteriors(&self, mut scores: Vec<f64>) -> Result<Vec<f64>> {
        scores.iter_mut().for_each(|s| *s /= self.temperature);
        log_posteriors(&mut scores, self.n_classes(), || self.network.log_prior())?;
        Ok(scores)
    }
}

impl<N: CodedScores> Classifier for CodedClassifier<N> {
    fn n_classes(&self) -> usize {
        self.network.card()[0]
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        self.log_posteriors(self.log_joint(rows)?)
    }

    /// The row is coded once. A feature of one state tells nothing and does not play.
    fn game<'a>(&'a self, row: &'a Table) -> Result<Game<'a>> {
        let state: Vec<Option<usize>> = self.code(row)?.iter().map(|c| c.get(0)).collect();
        let can_tell = |j: &usize| state[*j].is_some() && self.coders[*j].n_states() > 1;
        let players: Vec<usize> = (0..state.len()).filter(can_tell).collect();
        let n = players.len();
        let game = Game::new(players.clone(), move |known| {
            let somebody: Vec<bool> = known.chunks_exact(n).map(|s| s.contains(&true)).collect();
            let column = |j: usize| {
                let r = self.coders[j].n_states();
                match players.binary_search(&j) {
                    Ok(p) => {
                        Codes::from_options(r, known[p..].iter().step_by(n).map(|k| state[j].filter(|_| *k)))
                    }
                    Err(_) => Codes::from_options(r, somebody.iter().map(|k| state[j].filter(|_| *k))),
                }
            };
            let columns: Vec<Codes> = (0..state.len()).map(column).collect();
            self.log_posteriors(self.network.log_joint(&columns)?)
        });
        Ok(match self.network.independent() {
            Some(label) => game.in_groups(|j| label[j]),
            None => game,
        })
    }

    /// Exact terms: additive where the scores of a complete row are, else the change when one feature is hidden.
    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        let state: Option<Vec<usize>> = self.code(row)?.iter().map(|c| c.get(0)).collect();
        if let Some((mut base, mut terms)) = state.and_then(|state| self.network.additive(&state)) {
            let cool = |scores: &mut Vec<f64>| scores.iter_mut().for_each(|s| *s /= self.temperature);
            cool(&mut base);
            terms.iter_mut().for_each(|term| cool(&mut term.scores));
            let terms = ScoreTerms::additive(base, terms);
            if terms.is_possible() {
                return Ok(terms);
            }
        }
        leave_one_out(self, row, &Game::of_cells(self, row, 0..self.coders.len()))
    }
}

/// Rows of a table must be normalised to this (log of their sum).
const NORMALISED: f64 = 1e-6;

impl CodedScores for Network {
    fn card(&self) -> Vec<usize> {
        self.structure().card().to_vec()
    }

    fn require_proper(&self) -> Result<()> {
        let finite = self.w().iter().all(|w| !w.is_nan() && *w < f64::INFINITY);
        let error = if finite { self.normalisation_error() } else { f64::INFINITY };
        require("sum of a probability table row (log)", error, "0", error < NORMALISED)
    }

    fn log_prior(&self) -> Result<Vec<f64>> {
        Ok(Inference::new(self).conditional(&[0], &vec![None; self.structure().n_nodes()])?.table)
    }

    /// One term per class child, the base the class's own table; not where the class has parents.
    fn additive(&self, state: &[usize]) -> Option<(Vec<f64>, Vec<Term>)> {
        let s = self.structure();
        let with_class = |c: usize| move |i: usize| if i == 0 { c } else { state[i - 1] };
        let term = |i: usize| {
            let given = s.dag().parents(i).iter().filter(|&&p| p > 0).map(|p| p - 1).collect();
            let score = |c: usize| self.w()[s.entry_of(i, with_class(c))];
            Term::exact(i - 1, given, (0..s.n_classes()).map(score).collect())
        };
        let terms = || (1..s.n_nodes()).filter(|&i| s.is_class_child(i)).map(term).collect();
        s.dag().parents(0).is_empty().then(|| (self.row(0, 0).to_vec(), terms()))
    }

    /// Features that no path joins but through the class, which must be their parent.
    fn independent(&self) -> Option<Vec<usize>> {
        let dag = self.structure().dag();
        let between = dag.arcs().filter(|(from, _)| *from > 0).map(|(from, to)| (from - 1, to - 1));
        dag.parents(0).is_empty().then(|| components(dag.len() - 1, between))
    }
}

impl DiscreteClassifier {
    /// Says how much of the training rows is behind each cell of the tables.
    pub fn with_support(mut self, support: Vec<f64>) -> Result<Self> {
        require_len("cells with training rows", self.network.structure().n_entries(), support.len())?;
        let is_weight = support.iter().all(|n| n.is_finite() && *n >= 0.0);
        require("weights of training rows in cells", "some", "finite numbers from 0 on", is_weight)?;
        self.support = Some(support);
        Ok(self)
    }

    /// Weight of the training rows in each cell of the tables, laid out as the parameters; `None` in files of earlier versions.
    pub fn support(&self) -> Option<&[f64]> {
        self.support.as_deref()
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
}
