//! The compiled classifier: class scores are sums of table lookups. It keeps no training rows.

use crate::calibration::Calibration;
use crate::columns::Units;
use crate::compile::{LineTable, PairTable, Scratch};
use crate::missing::Marginals;
use crate::params::Variant;
use hingenet_base::error::Result;
use hingenet_base::graph::components;
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::{Classifier, log_posteriors};
use hingenet_data::explain::{Game, ScoreTerms};
use hingenet_data::table::Table;
use std::sync::OnceLock;

/// A fitted classifier of the density family.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DensityClassifier {
    /// Which classifier of the family this is.
    pub variant: Variant,
    pub(crate) n_classes: usize,
    /// Units of the table columns.
    pub units: Units,
    pub(crate) base: Vec<f64>,
    pub(crate) lines: Vec<LineTable>,
    pub(crate) pairs: Vec<PairTable>,
    /// For each class the places of its pairs in `pairs`: the edges of its forest in generative variants.
    pub(crate) class_pairs: Vec<Vec<usize>>,
    pub(crate) calibration: Calibration,
    /// Codes of declared classes that had no rows, ascending: they take no part and are never answered. `n_classes` does
    /// not count them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) absent: Vec<usize>,
    /// Facts of the fit.
    pub summary: Summary,
}

/// What is worth knowing about a fit.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Summary {
    /// Kept fraction of the (class, pair) values, where one was used or chosen.
    pub fraction: Option<f64>,
    /// Whether class weights were balanced.
    pub balanced: bool,
    /// Kept (class, pair) combinations.
    pub kept: usize,
    /// Numbers stored in all tables.
    pub table_numbers: usize,
    /// Root mean square difference from exact scores over their standard deviation.
    pub table_error: f64,
    /// How the solvers ended.
    pub reports: Vec<SolverReport>,
}

impl DensityClassifier {
    /// The model of `present` classes, by their codes, as one of all `n_classes` declared ones.
    pub fn among(mut self, n_classes: usize, present: &[usize]) -> Self {
        self.absent = (0..n_classes).filter(|c| !present.contains(c)).collect();
        self
    }

    /// Codes of the classes that take part.
    pub(crate) fn codes(&self) -> Vec<usize> {
        (0..self.n_classes + self.absent.len()).filter(|c| !self.absent.contains(c)).collect()
    }

    /// Values of the classes that take part, and `other` for those that do not, by code.
    pub(crate) fn by_code(&self, mut values: Vec<f64>, other: f64) -> Vec<f64> {
        self.absent.iter().for_each(|&c| values.insert(c, other));
        values
    }

    /// Pairs of table columns in use, and for each the classes that use it.
    pub fn pairs(&self) -> Vec<((usize, usize), Vec<usize>)> {
        let used = self.units.used();
        let codes = self.codes();
        let classes = |p: usize| {
            let own = (0..self.n_classes).filter(|&y| self.class_pairs[y].contains(&p));
            own.map(|y| codes[y]).collect()
        };
        let columns = |t: &PairTable| (used[t.pair.0], used[t.pair.1]);
        self.pairs.iter().enumerate().map(|(p, t)| (columns(t), classes(p))).collect()
    }

    /// Decision values: for an SVM of two classes one a row (positive for the second class), else one score for each
    /// class.
    pub fn decision_values(&self, rows: &Table) -> Result<Vec<Vec<f64>>> {
        let cells = self.units.encode(rows)?;
        let marginals = OnceLock::new();
        let chunks = ordered_chunks(rows.n_rows(), 256, |range| {
            let mut scratch = Scratch::new(&self.lines, self.n_classes);
            range.map(|r| self.outputs(&cells, r, &mut scratch, &marginals)).collect::<Vec<_>>()
        });
        Ok(chunks.into_iter().flatten().collect())
    }

    /// Outputs of row `r` of encoded cells; `marginals` are made when a row first needs them.
    pub(crate) fn outputs<'a>(
        &'a self,
        cells: &[Vec<f64>],
        r: usize,
        s: &mut Scratch,
        marginals: &OnceLock<Marginals<'a>>,
    ) -> Vec<f64> {
        s.read(&self.lines, |i| cells[i][r]);
        if self.variant.is_generative() && !s.is_complete() {
            let marginals = marginals.get_or_init(|| Marginals::new(self));
            return (0..self.n_classes).map(|y| self.base[y] + marginals.log_density(y, s)).collect();
        }
        s.outputs(&self.base, &self.lines, &self.pairs)
    }
}

impl Classifier for DensityClassifier {
    fn n_classes(&self) -> usize {
        self.n_classes.saturating_add(self.absent.len())
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        let outputs = self.decision_values(rows)?;
        let mut scores = outputs.iter().flat_map(|o| self.calibration.scores(o)).collect::<Vec<_>>();
        log_posteriors(&mut scores, self.n_classes, || {
            let mut prior = self.calibration.scores(&self.base);
            log_normalise(&mut prior);
            Ok(prior)
        })?;
        if self.absent.is_empty() {
            return Ok(scores);
        }
        let row = |scores: &[f64]| self.by_code(scores.to_vec(), f64::NEG_INFINITY);
        Ok(scores.chunks_exact(self.n_classes).flat_map(row).collect())
    }

    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        crate::explain::terms(self, row)
    }

    /// The classes of a generative variant are forests: columns that no pair joins are independent. The log-odds of a machine
    /// bend at 0, where they are calibrated by another factor, so they are no sums.
    fn game<'a>(&'a self, row: &'a Table) -> Result<Game<'a>> {
        let game = Game::of_cells(self, row, self.units.used().iter().copied());
        if !self.variant.is_generative() {
            return Ok(game);
        }
        let label = components(row.n_columns(), self.pairs().into_iter().map(|(pair, _)| pair));
        Ok(game.in_groups(|j| label[j]))
    }
}
