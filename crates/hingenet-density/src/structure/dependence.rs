//! Which pairs of features depend on each other in which class: HSIC of all pairs of every class, and the
//! filter that keeps the largest values or the significant ones (steps 1 and 2 of SLB).

use super::hsic::{DEFAULT_RESIDUAL, DependenceKernel, all_pairs, benjamini_hochberg, bonferroni};
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
        let all: Vec<usize> = (0..d).collect();
        for y in 0..columns.n_classes {
            control.check()?;
            let rows = columns.rows_of(y);
            let complete = columns.values.iter().all(|column| rows.iter().all(|&r| !column[r].is_nan()));
            let (values, log_p) = if complete {
                criterion(columns, &all, &rows, control)?
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

    /// The pairs a threshold keeps; for a cross-validated threshold those of its largest candidate, all.
    pub fn select(&self, threshold: Threshold) -> Kept {
        match threshold {
            Threshold::CrossValidated => self.keep_fraction(1.0),
            Threshold::Fraction(f) => self.keep_fraction(f),
            Threshold::Lambda(lambda) => self.keep_from(lambda),
            Threshold::TopK(k) => self.keep_largest(k),
            Threshold::Bonferroni(alpha) => self.keep_tests(|p| bonferroni(p, alpha)),
            Threshold::BenjaminiHochberg(q) => self.keep_tests(|p| benjamini_hochberg(p, q)),
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

/// HSIC and logarithms of p-values (0 where there is no test) of all pairs of some features, on rows that have them all.
fn criterion(columns: &Columns, features: &[usize], rows: &[usize], control: &Control) -> Result<Values> {
    let samples: Vec<Sample> = features.iter().map(|&i| columns.sample(i, rows)).collect();
    let kernel = |(&i, sample): (&usize, &Sample)| match columns.kinds[i] {
        Kind::Discrete(_) => DependenceKernel::Equality,
        Kind::Continuous => DependenceKernel::of(sample),
    };
    let kernels: Vec<DependenceKernel> = features.iter().zip(&samples).map(kernel).collect();
    // Small classes afford factors that are exact to rounding.
    let residual = if rows.len() <= 2000 { 1e-3 * DEFAULT_RESIDUAL } else { DEFAULT_RESIDUAL };
    let all = all_pairs(&samples, &kernels, residual, control)?;
    let log_p = pairs(features.len()).map(|(i, j)| all.gamma(i, j).map_or(0.0, |g| g.log_p)).collect();
    Ok((all.v_statistics, log_p))
}

/// The same of all features, each pair on the rows that have both.
fn incomplete_class(columns: &Columns, rows: &[usize], control: &Control) -> Result<Values> {
    let (mut values, mut log_p) = (Vec::new(), Vec::new());
    let (steps, quiet) =
        (control.steps("dependence of pairs", pairs(columns.n_features()).count())?, control.quiet());
    for (i, j) in pairs(columns.n_features()) {
        let seen = |r: &usize| !columns.values[i][*r].is_nan() && !columns.values[j][*r].is_nan();
        let both: Vec<usize> = rows.iter().copied().filter(seen).collect();
        let of_pair =
            if both.len() < 2 { (vec![0.0], vec![0.0]) } else { criterion(columns, &[i, j], &both, &quiet)? };
        steps.done()?;
        values.extend(of_pair.0);
        log_p.extend(of_pair.1);
    }
    Ok((values, log_p))
}
