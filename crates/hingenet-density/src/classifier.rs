//! The compiled classifier: class scores are sums of table lookups. It keeps no training rows.

use crate::calibration::Calibration;
use crate::columns::{Columns, Units};
use crate::compile::{LineTable, PairTable, compile};
use crate::fit::fit_exact;
use crate::missing::marginal_log_density;
use crate::params::{ClassWeights, Params, Threshold, Variant};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::{Classifier, Explanation, Training};
use hingenet_data::table::Table;

/// A fitted classifier of the density family.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DensityClassifier {
    pub(crate) variant: Variant,
    pub(crate) n_classes: usize,
    pub(crate) units: Units,
    pub(crate) base: Vec<f64>,
    pub(crate) lines: Vec<LineTable>,
    pub(crate) pairs: Vec<PairTable>,
    /// For each class the places of its pairs in `pairs`: the edges of its forest in generative variants.
    pub(crate) class_pairs: Vec<Vec<usize>>,
    pub(crate) calibration: Calibration,
    pub(crate) summary: Summary,
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
    /// Fits the variant that the parameters name and compiles it.
    pub fn fit(training: &Training<'_>, params: &Params, control: &Control) -> Result<Self> {
        params.check(training.classes.len())?;
        let (units, columns) = Columns::learn(training, params, control)?;
        Self::fit_columns(units, &columns, params, control)
    }

    fn fit_columns(units: Units, columns: &Columns, params: &Params, control: &Control) -> Result<Self> {
        let exact = fit_exact(columns, params, control)?;
        let compiled = compile(&exact, columns, params.floor, params.seed, control)?;
        if compiled.error > 1e-3 {
            control.warn(&format!(
                "lookup tables differ from exact scores by {:.1e} of their standard deviation",
                compiled.error
            ));
        }
        let class_pairs = exact
            .kept
            .of_class
            .iter()
            .map(|pairs| {
                pairs.iter().filter_map(|p| compiled.pairs.iter().position(|t| t.pair == *p)).collect()
            })
            .collect();
        let numbers = compiled.lines.iter().map(|t| t.values.len()).sum::<usize>()
            + compiled.pairs.iter().flat_map(|t| &t.layers).map(|l| l.values.len()).sum::<usize>();
        let summary = Summary {
            fraction: match exact.threshold {
                Some(Threshold::Fraction(f)) => Some(f),
                _ => None,
            },
            balanced: exact.class_weights == Some(ClassWeights::Balanced),
            kept: exact.kept.len(),
            table_numbers: numbers,
            table_error: compiled.error,
            reports: exact.reports,
        };
        Ok(DensityClassifier {
            variant: params.variant,
            n_classes: columns.n_classes(),
            units,
            base: exact.scores.base,
            lines: compiled.lines,
            pairs: compiled.pairs,
            class_pairs,
            calibration: exact.calibration,
            summary,
        })
    }

    /// Which classifier of the family this is.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Facts of the fit.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Units of the table columns.
    pub fn units(&self) -> &Units {
        &self.units
    }

    /// Pairs of table columns in use, and for each the classes that use it.
    pub fn pairs(&self) -> Vec<((usize, usize), Vec<usize>)> {
        let used = self.units.used();
        let classes = |p: usize| (0..self.n_classes).filter(|&y| self.class_pairs[y].contains(&p)).collect();
        let columns = |t: &PairTable| (used[t.pair.0], used[t.pair.1]);
        self.pairs.iter().enumerate().map(|(p, t)| (columns(t), classes(p))).collect()
    }

    /// Decision values: for an SVM of two classes one a row (positive for the second class), else one score for each
    /// class.
    pub fn decision_values(&self, rows: &Table) -> Result<Vec<Vec<f64>>> {
        let cells = self.units.encode(rows)?;
        let chunks = ordered_chunks(rows.n_rows(), 256, |range| {
            let mut scratch = Scratch::new(self);
            range.map(|r| self.outputs(&cells, r, None, &mut scratch)).collect::<Vec<_>>()
        });
        Ok(chunks.into_iter().flatten().collect())
    }

    /// Outputs of row `r` of encoded cells; `hidden` names a feature to treat as missing.
    pub(crate) fn outputs(
        &self,
        cells: &[Vec<f64>],
        r: usize,
        hidden: Option<usize>,
        s: &mut Scratch,
    ) -> Vec<f64> {
        for (i, line) in self.lines.iter().enumerate() {
            s.row[i] = if hidden == Some(i) { f64::NAN } else { cells[i][r] };
            s.log_density[i].fill(0.0);
            if !s.row[i].is_nan() {
                line.log_densities(s.row[i], &mut s.log_density[i]);
            }
        }
        let complete = s.row.iter().all(|x| !x.is_nan());
        if self.variant.is_generative() && !complete {
            return (0..self.n_classes).map(|y| self.base[y] + marginal_log_density(self, y, s)).collect();
        }
        self.add_terms(s)
    }

    fn add_terms(&self, s: &Scratch) -> Vec<f64> {
        let mut out = self.base.clone();
        for ((line, x), t) in self.lines.iter().zip(&s.row).zip(&s.log_density) {
            line.add(*x, t, &mut out);
        }
        for table in &self.pairs {
            let (i, j) = table.pair;
            match (s.row[i].is_nan(), s.row[j].is_nan()) {
                (false, false) => table.add(s.row[i], s.row[j], &mut out),
                (false, true) => table.add_marginal(&s.log_density[i], &mut out),
                (true, false) => table.add_marginal(&s.log_density[j], &mut out),
                (true, true) => {}
            }
        }
        out
    }

    /// Refuses tables that do not fit together (a model file may be damaged).
    pub fn check(&self) -> Result<()> {
        let d = self.units.used().len();
        let outputs = self.base.len();
        let sizes = self.n_classes >= 2
            && (outputs == self.n_classes || (outputs == 1 && self.n_classes == 2))
            && (!self.variant.is_generative() || outputs == self.n_classes)
            && self.lines.len() == d
            && self.class_pairs.len() == self.n_classes
            && self.class_pairs.iter().flatten().all(|p| *p < self.pairs.len());
        let kinds = self.units.kinds();
        let is_number = |f: usize| kinds.get(f) == Some(&crate::columns::Kind::Continuous);
        let levels_fit = |axis: &crate::compile::Axis, f: usize| match (axis, kinds[f]) {
            (crate::compile::Axis::Levels(n), crate::columns::Kind::Discrete(m)) => *n == m,
            (crate::compile::Axis::Pieces(_), crate::columns::Kind::Continuous) => true,
            _ => false,
        };
        let tables = sizes
            && self.base.iter().all(|b| b.is_finite())
            && self.lines.iter().enumerate().all(|(f, t)| {
                let number = t.raw.is_none() || is_number(f);
                t.is_valid(self.n_classes, outputs) && levels_fit(&t.axis, f) && number
            })
            && self.pairs.iter().all(|t| {
                let numbers = t.raw.is_none() || [t.pair.0, t.pair.1].iter().all(|f| is_number(*f));
                t.is_valid(d, self.n_classes, outputs)
                    && numbers
                    && levels_fit(&t.first, t.pair.0)
                    && levels_fit(&t.second, t.pair.1)
            });
        if tables { Ok(()) } else { Err(Error::model_file("the density tables do not fit together")) }
    }
}

/// Buffers of one row.
pub(crate) struct Scratch {
    /// The cells; NaN is missing.
    pub row: Vec<f64>,
    /// Log densities of every feature in every class; 0 where missing.
    pub log_density: Vec<Vec<f64>>,
}

impl Scratch {
    pub(crate) fn new(model: &DensityClassifier) -> Self {
        let d = model.lines.len();
        Scratch { row: vec![f64::NAN; d], log_density: vec![vec![0.0; model.n_classes]; d] }
    }
}

impl Classifier for DensityClassifier {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        let outputs = self.decision_values(rows)?;
        Ok(outputs.iter().flat_map(|o| self.calibration.log_proba(o)).collect())
    }

    fn explain(&self, rows: &Table, row: usize) -> Result<Explanation> {
        if row >= rows.n_rows() {
            return Err(Error::Shape { what: "row to explain".into(), expected: rows.n_rows(), found: row });
        }
        require_len("feature columns", self.units.n_columns(), rows.n_columns())?;
        let cells = self.units.encode(&rows.rows(&[row]))?;
        Ok(crate::explain::explain(self, &cells))
    }
}
