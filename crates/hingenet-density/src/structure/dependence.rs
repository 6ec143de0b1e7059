//! Which pairs of features depend on each other in which class: HSIC of all pairs of every class, and the
//! filter that keeps the largest values or the significant ones (steps 1 and 2 of SLB).

use super::hsic::{AllPairs, DEFAULT_RESIDUAL, DependenceKernel, all_pairs, benjamini_hochberg, bonferroni};
use super::{pair_index, pairs};
use crate::columns::{Columns, Kind};
use crate::estimate::sample::Sample;
use crate::params::{Params, Threshold};
use hingenet_base::control::Control;
use hingenet_base::error::Result;

/// HSIC of all pairs in all classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    d: usize,
    /// For each class the values of the pairs (0,1), (0,2), ....
    values: Vec<Vec<f64>>,
    /// Logarithms of the gamma-approximation p-values, in the same order; 0 where there is no test.
    log_p: Vec<Vec<f64>>,
    /// Whether a class has enough rows for pair densities.
    eligible: Vec<bool>,
}

/// The kept pairs i < j of every class, in lexicographic order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// For each class its pairs.
    pub of_class: Vec<Vec<(usize, usize)>>,
}

impl Kept {
    /// No pairs at all.
    pub fn none(n_classes: usize) -> Self {
        Kept { of_class: vec![Vec::new(); n_classes] }
    }

    /// Number of kept (class, pair) combinations.
    pub fn len(&self) -> usize {
        self.of_class.iter().map(Vec::len).sum()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Dependence {
    /// Computes HSIC of all pairs in every class, missing cells pair by pair.
    pub fn compute(columns: &Columns, params: &Params, control: &Control) -> Result<Self> {
        let d = columns.n_features();
        let mut dependence =
            Dependence { d, values: Vec::new(), log_p: Vec::new(), eligible: pair_classes(columns, params) };
        for y in 0..columns.n_classes() {
            control.check()?;
            let rows = columns.rows_of(y);
            let (values, log_p) = if rows.iter().all(|&r| (0..d).all(|i| !columns.feature(i)[r].is_nan())) {
                complete_class(columns, &rows, control)?
            } else {
                incomplete_class(columns, &rows, control)?
            };
            dependence.values.push(values);
            dependence.log_p.push(log_p);
        }
        Ok(dependence)
    }

    /// HSIC of the pair i < j in class `y`.
    pub fn value(&self, y: usize, i: usize, j: usize) -> f64 {
        self.values[y][pair_index(self.d, i, j)]
    }

    /// Logarithm of the p-value of the pair i < j in class `y`.
    pub fn log_p(&self, y: usize, i: usize, j: usize) -> f64 {
        self.log_p[y][pair_index(self.d, i, j)]
    }

    /// Values of all classes, pooled; classes that cannot have pairs are left out.
    fn pooled<'a>(&'a self, of: &'a [Vec<f64>]) -> Vec<f64> {
        of.iter().zip(&self.eligible).filter(|(_, e)| **e).flat_map(|(v, _)| v.iter().copied()).collect()
    }

    /// The pairs with this fraction of the pooled values: the k largest, `k = ⌈f T⌉`.
    pub fn keep_fraction(&self, fraction: f64) -> Kept {
        let total = self.pooled(&self.values).len() as f64;
        self.keep_largest((fraction * total - 1e-9).ceil().max(0.0) as usize)
    }

    /// The pairs with the k largest of the pooled values, and those equal to the last of them.
    fn keep_largest(&self, k: usize) -> Kept {
        let mut sorted = self.pooled(&self.values);
        sorted.sort_by(|a, b| b.total_cmp(a));
        let last = if k == 0 { None } else { sorted.get(k - 1).or(sorted.last()) };
        self.keep_from(last.copied().unwrap_or(f64::INFINITY))
    }

    /// The pairs a threshold keeps; for a cross-validated threshold those of its largest candidate.
    pub fn select(&self, threshold: &Threshold) -> Kept {
        match threshold {
            Threshold::CrossValidated(list) => self.keep_fraction(list.iter().copied().fold(0.0, f64::max)),
            Threshold::Fraction(f) => self.keep_fraction(*f),
            Threshold::Lambda(lambda) => self.keep_from(*lambda),
            Threshold::TopK(k) => self.keep_largest(*k),
            Threshold::Bonferroni(alpha) => self.keep_tests(|p| bonferroni(p, *alpha)),
            Threshold::BenjaminiHochberg(q) => self.keep_tests(|p| benjamini_hochberg(p, *q)),
        }
    }

    fn keep_from(&self, lambda: f64) -> Kept {
        self.keep(|y, p| self.values[y][p] >= lambda)
    }

    fn keep_tests(&self, test: impl Fn(&[f64]) -> Vec<bool>) -> Kept {
        let mut significant = test(&self.pooled(&self.log_p)).into_iter();
        let n = self.d * (self.d.max(1) - 1) / 2;
        let flags: Vec<Vec<bool>> = self
            .eligible
            .iter()
            .map(|e| if *e { significant.by_ref().take(n).collect() } else { vec![false; n] })
            .collect();
        self.keep(|y, p| flags[y][p])
    }

    fn keep(&self, wanted: impl Fn(usize, usize) -> bool) -> Kept {
        let of_class = (0..self.values.len())
            .map(|y| {
                let listed = pairs(self.d).enumerate().filter(|_| self.eligible[y]);
                listed.filter_map(|(p, pair)| wanted(y, p).then_some(pair)).collect()
            })
            .collect();
        Kept { of_class }
    }
}

/// Fewest rows of a class with pair densities.
pub(crate) const FEWEST_PAIR_ROWS: f64 = 20.0;

/// Whether each class has enough rows for pair densities: 20, or 4 where that is allowed.
pub(crate) fn pair_classes(columns: &Columns, params: &Params) -> Vec<bool> {
    let least = if params.pairs_in_small_classes { 4.0 } else { FEWEST_PAIR_ROWS };
    columns.class_totals().iter().map(|m| *m >= least).collect()
}

type Values = (Vec<f64>, Vec<f64>);

fn complete_class(columns: &Columns, rows: &[usize], control: &Control) -> Result<Values> {
    let d = columns.n_features();
    let samples: Vec<Sample> = (0..d).map(|i| sample(columns, i, rows)).collect();
    let kernels: Vec<DependenceKernel> = (0..d).map(|i| kernel(columns, i, &samples[i])).collect();
    let all = all_pairs(&samples, &kernels, residual(rows.len()), control)?;
    let log_p = pairs(d).map(|(i, j)| log_p(&all, i, j)).collect();
    Ok((all.v_statistics().to_vec(), log_p))
}

fn incomplete_class(columns: &Columns, rows: &[usize], control: &Control) -> Result<Values> {
    let (mut values, mut tests) = (Vec::new(), Vec::new());
    for (i, j) in pairs(columns.n_features()) {
        let seen = |r: &usize| !columns.feature(i)[*r].is_nan() && !columns.feature(j)[*r].is_nan();
        let both: Vec<usize> = rows.iter().copied().filter(seen).collect();
        if both.len() < 2 {
            values.push(0.0);
            tests.push(0.0);
            continue;
        }
        let samples = [sample(columns, i, &both), sample(columns, j, &both)];
        let kernels = [kernel(columns, i, &samples[0]), kernel(columns, j, &samples[1])];
        let all = all_pairs(&samples, &kernels, residual(both.len()), control)?;
        values.push(all.v_statistic(0, 1));
        tests.push(log_p(&all, 0, 1));
    }
    Ok((values, tests))
}

/// Small classes afford factors that are exact to rounding.
fn residual(rows: usize) -> f64 {
    if rows <= 2000 { 1e-3 * DEFAULT_RESIDUAL } else { DEFAULT_RESIDUAL }
}

fn log_p(all: &AllPairs, i: usize, j: usize) -> f64 {
    all.gamma(i, j).map_or(0.0, |g| g.log_p)
}

fn sample(columns: &Columns, i: usize, rows: &[usize]) -> Sample {
    let values = rows.iter().map(|&r| columns.feature(i)[r]).collect();
    Sample::weighted(values, columns.weights_of(rows))
}

fn kernel(columns: &Columns, i: usize, sample: &Sample) -> DependenceKernel {
    match columns.kinds()[i] {
        Kind::Discrete(_) => DependenceKernel::Equality,
        Kind::Continuous => DependenceKernel::of(sample),
    }
}
