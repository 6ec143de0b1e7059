//! The fitted pool behind the common interface: probabilities of any rows, explanations, and plain facts
//! about what the fit chose.

use super::fit::Terms;
use super::gaps::{Gaps, Telling};
use super::rows::{FeatureType, number, put_rows};
use super::terms::density::search::DensityChoice;
use super::terms::gaussian::GaussianChoice;
use super::terms::machine::fit::MachineChoice;
use super::terms::{self, TermModel, TermScores, missing_share, varying};
use super::weights::{LETTERS, PoolWeights, TERMS};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::log::{mutual_information, softmax};
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{Game, ScoreTerms, leave_one_out};
use hingenet_data::table::Table;
use std::sync::Arc;

/// Log probability of a class that has no training rows: the smallest whose exponential is still a normal number
/// (10⁻³⁰⁴), so that averages and log losses stay finite where `-inf` would not.
const ABSENT: f64 = -700.0;

/// What the fit of a pool chose, and how its solvers ended.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolFacts {
    /// Choices of term P.
    pub density: DensityChoice,
    /// Choices of term K.
    pub machine: MachineChoice,
    /// Choices of term G; `None` if it was left out.
    pub gaussian: Option<GaussianChoice>,
    /// How the solver of term K ended.
    pub machine_report: SolverReport,
    /// How the fit of the weights ended; `None` if there were too few rows to fit them.
    pub pool_report: Option<SolverReport>,
    /// Training rows after merging equal ones.
    pub rows: usize,
    /// Mutual information of each feature with the class (nats, bias-corrected).
    pub information: Vec<f64>,
}

/// Weighted product of four class posteriors, each with its own marginal for missing features:
/// kernel density (P), averaged one-dependence network (A), shrunk class Gaussians (G) and a margin
/// kernel machine averaged over completions (K).
///
/// The model keeps training rows, of which terms P and K are made, or prototypes of them
/// ([`PoolParams::group`](super::PoolParams)). Clones share them.
#[derive(Debug, Clone)]
pub struct PoolClassifier {
    pub(crate) terms: Arc<Terms>,
    /// What the fit chose.
    pub facts: PoolFacts,
    /// Class code of each class that has training rows.
    pub(crate) present: Vec<usize>,
    pub(crate) n_classes: usize,
    /// The pool that reads gaps, where they tell the class.
    pub(crate) telling: Option<Arc<Telling>>,
    /// What a missing cell means.
    pub(crate) gaps: Gaps,
}

/// Letters of terms with their log posteriors, K values a row.
pub type TermPosteriors = Vec<(&'static str, Vec<f64>)>;

impl PoolClassifier {
    /// Weights of the terms at the knots of the share of missing features.
    pub fn weights(&self) -> &PoolWeights {
        &self.terms.weights
    }

    /// The models of terms A and G; G may be left out.
    pub fn term_models(&self) -> [Option<&dyn TermModel>; 2] {
        self.terms.others.each_ref().map(Option::as_deref)
    }

    /// The same pool with other models in place of terms A and G where they are given, as read from a file.
    pub fn with_stand_ins(mut self, stand_ins: [Option<Arc<dyn TermModel>>; 2]) -> Self {
        for (term, stand_in) in Arc::make_mut(&mut self.terms).others.iter_mut().zip(stand_ins) {
            *term = stand_in.or_else(|| term.take());
        }
        self
    }

    /// The pool that reads gaps as evidence: its features are those of this one, and an indicator of every column whose gaps
    /// tell the class behind them. `None` if they do not.
    pub fn reader_of_gaps(&self) -> Option<&PoolClassifier> {
        self.telling.as_deref().map(|telling| &telling.pool)
    }

    /// [`Self::with_stand_ins`] for the pool that reads gaps.
    pub fn with_stand_ins_for_gaps(mut self, stand_ins: [Option<Arc<dyn TermModel>>; 2]) -> Self {
        self.telling = self.telling.map(|telling| {
            let Telling { columns, gain, pool } = Arc::unwrap_or_clone(telling);
            Arc::new(Telling { columns, gain, pool: pool.with_stand_ins(stand_ins) })
        });
        self
    }

    /// The same pool without the one that reads gaps.
    pub fn without_reader_of_gaps(self) -> Self {
        PoolClassifier { telling: None, ..self }
    }

    /// Number of feature columns.
    pub fn n_features(&self) -> usize {
        self.terms.kernels.columns.len()
    }

    /// Says what a missing cell of the rows to come means; without gaps that tell nothing changes.
    pub fn read_gaps(&mut self, gaps: Gaps) {
        self.gaps = gaps;
    }

    /// The pool with the indicators of gaps, if it is the one to judge rows like these.
    fn telling(&self, rows: &Table) -> Option<&Telling> {
        let telling = self.telling.as_deref().filter(|_| self.gaps == Gaps::AsInTraining);
        telling.filter(|telling| telling.can_read(rows))
    }

    /// Log posteriors of the pool and of each of its terms alone, K values a row; a term that was left out
    /// is not listed.
    pub fn log_proba_and_terms(&self, rows: &Table) -> Result<(Vec<f64>, TermPosteriors)> {
        self.check(rows)?;
        if let Some(telling) = self.telling(rows) {
            return telling.pool.log_proba_and_terms(&telling.indicated(rows)?);
        }
        let scores = self.term_scores(rows, |_| (0..rows.n_rows()).collect())?;
        let alone = self.listed_terms().map(|f| (LETTERS[f], self.alone(&scores, f))).collect();
        Ok((self.pooled_from(&self.missing_shares(rows), &scores), alone))
    }

    /// Places of the terms in [`PoolWeights`]; the Gaussian is left out where there are too many columns.
    pub(crate) fn listed_terms(&self) -> impl Iterator<Item = usize> {
        let gaussian = self.terms.others[1].is_some();
        (0..TERMS).filter(move |&f| LETTERS[f] != "G" || gaussian)
    }

    fn alone(&self, scores: &TermScores, term: usize) -> Vec<f64> {
        let k = scores.n_classes;
        let n = scores.terms[0].len() / k;
        let of_row = |i: usize| self.all_classes(&scores.posteriors(i)[term * k..(term + 1) * k]);
        (0..n).flat_map(of_row).collect()
    }

    /// `log P(c | known cells)`, row by row, K values a row, whatever gaps mean: [`Gaps::Unknown`].
    pub fn log_proba_of_known(&self, rows: &Table) -> Result<Vec<f64>> {
        self.check(rows)?;
        let missing = self.missing_shares(rows);
        let weights: Vec<_> = missing.iter().map(|share| self.terms.weights.at(*share)).collect();
        // a term whose weight is 0 is not asked
        let needed =
            |f: usize| (0..missing.len()).filter(|&i| missing[i] < 1.0 && weights[i][f] > 0.0).collect();
        Ok(self.pooled_from(&missing, &self.term_scores(rows, needed)?))
    }

    /// The game of the known cells of a row that can tell something, and of all cells of columns whose gaps do.
    fn game_of<'a>(&'a self, row: &'a Table, can_tell: impl Fn(usize) -> bool) -> Result<Game<'a>> {
        let features = 0..row.n_columns();
        let Some(telling) = self.telling(row) else {
            return Ok(Game::of_cells(self, row, features.filter(|&j| can_tell(j))));
        };
        let indicated = telling.indicated(row)?;
        let is_indicated = |j: usize| telling.columns.contains(&j) && !row.column(j).is_absent();
        let plays = |&j: &usize| is_indicated(j) || (!row.column(j).is_missing(0) && can_tell(j));
        let players: Vec<usize> = features.filter(plays).collect();
        Ok(Game::new(players.clone(), move |known| {
            let coalitions = known.chunks_exact(players.len());
            let mut copies = indicated.rows(&vec![0; coalitions.len()]);
            for (m, coalition) in coalitions.enumerate() {
                if coalition.contains(&true) {
                    let hidden = players.iter().zip(coalition).filter(|(_, known)| !**known);
                    hidden.for_each(|(&j, _)| telling.hide(&mut copies, m, j));
                } else {
                    (0..indicated.n_columns()).for_each(|j| copies.blank(m, j));
                }
            }
            telling.pool.log_proba(&copies)
        }))
    }

    /// Refuses a table that has not the training columns, and infinite numbers.
    pub(crate) fn check(&self, table: &Table) -> Result<()> {
        let training = &self.terms.kernels.columns;
        require_len("feature columns", training.len(), table.n_columns())?;
        for (column, training) in table.columns().iter().zip(training) {
            let (found, wanted) = (FeatureType::of(column), training.kind);
            if found != wanted {
                return Err(Error::column(
                    column.name(),
                    format!("{}, but training saw {}", found.described(), wanted.described()),
                    "bring the table into the columns and categories of the training table first",
                ));
            }
        }
        table.require_finite()
    }

    /// Share of missing features of every row, among those that vary in training.
    fn missing_shares(&self, rows: &Table) -> Vec<f64> {
        missing_share(rows, &varying(&self.terms.kernels.columns))
    }

    /// Scores of the four terms over the classes that have training rows, each for the rows that need it (ascending);
    /// elsewhere they are 0 and say nothing.
    fn term_scores(&self, rows: &Table, needed: impl Fn(usize) -> Vec<usize>) -> Result<TermScores> {
        let (n, n_classes) = (rows.n_rows(), self.present.len());
        let [p, a, g, k] = [0, 1, 2, 3].map(needed);
        let mut needs_machine = vec![false; n];
        k.iter().for_each(|&i| needs_machine[i] = true);
        // the machine draws its completions by the kernels
        let (p, k) = if p.is_empty() && k.is_empty() {
            (vec![0.0; n * n_classes], vec![0.0; n * n_classes])
        } else {
            self.terms.kernels.scores(rows, &needs_machine)?
        };
        let [term_a, term_g] = self.term_models();
        let of = |term: Option<&dyn TermModel>, needed: &[usize]| {
            if needed.len() == n {
                return terms::scores(term, rows, n_classes);
            }
            let mut scores = vec![0.0; n * n_classes];
            if !needed.is_empty() {
                put_rows(&mut scores, needed, &terms::scores(term, &rows.rows(needed), n_classes)?);
            }
            Ok(scores)
        };
        Ok(TermScores { n_classes, terms: [p, of(term_a, &a)?, of(term_g, &g)?, k] })
    }

    /// `ln P(c|x_o)` over all classes, K values a row. Nothing that varies observed: the class frequencies,
    /// exactly.
    fn pooled_from(&self, missing: &[f64], scores: &TermScores) -> Vec<f64> {
        let prior = self.terms.kernels.density.log_prior();
        let mut out = Vec::with_capacity(missing.len() * self.n_classes);
        for (i, &missing) in missing.iter().enumerate() {
            if missing == 1.0 {
                out.extend(self.all_classes(&prior));
            } else {
                out.extend(self.all_classes(&scores.pooled(i, &self.terms.weights, missing)));
            }
        }
        out
    }

    /// Puts the values of the classes with training rows at their codes.
    pub(crate) fn all_classes(&self, present: &[f64]) -> Vec<f64> {
        let mut all = vec![ABSENT; self.n_classes];
        self.present.iter().zip(present).for_each(|(&c, v)| all[c] = *v);
        all
    }
}

impl Classifier for PoolClassifier {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        self.check(rows)?;
        if let Some(telling) = self.telling(rows) {
            return telling.pool.log_proba(&telling.indicated(rows)?);
        }
        self.log_proba_of_known(rows)
    }

    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        self.check(row)?;
        leave_one_out(self, row, &self.game_of(row, |_| true)?)
    }

    /// A cell that all training rows share tells nothing and does not play; a gap that tells does.
    fn game<'a>(&'a self, row: &'a Table) -> Result<Game<'a>> {
        self.check(row)?;
        let training = &self.terms.kernels.columns;
        self.game_of(row, |j| training[j].differs_from(number(row.column(j), 0)))
    }

    /// The information (nats) about the class that the value of each missing feature is expected to give, from term A: with
    /// `Q(b, c)` the joint posterior of the feature's states and the class given the observed features, the mutual
    /// information of Q. Largest first, ties to the earlier feature.
    fn next_measurements(&self, row: &Table) -> Result<Option<Vec<(usize, f64)>>> {
        self.check(row)?;
        let averaged = &self.terms.averaged;
        let observed = averaged.observed(row, 0);
        let gain = |j: usize| {
            let at = observed.partition_point(|(i, _)| *i < j);
            let mut joint = Vec::new();
            for b in averaged.counts.states.of(j) {
                let mut states = observed.clone();
                states.insert(at, (j, b));
                joint.extend(averaged.stars.scores(&states));
            }
            softmax(&mut joint);
            (j, mutual_information(&joint, self.present.len()).max(0.0))
        };
        let missing = (0..row.n_columns()).filter(|&j| row.column(j).is_missing(0));
        let mut gains: Vec<(usize, f64)> = missing.map(gain).collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(Some(gains))
    }
}
