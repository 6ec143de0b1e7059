//! Discriminative baselines: maximum conditional likelihood (MCL) and maximum margin (MM) parameters.
//! Both depend on the class posterior only; how much likelihood is left depends on the form and on the
//! number of iterations, which therefore belongs beside every likelihood reported.
//!
//! MCL: Roos, Wettig, Grünwald, Myllymäki, Tirri, Machine Learning 59, 2005. MM: Pernkopf, Wohlmayr,
//! Tschiatschek, IEEE TPAMI 34, 2012 (capped log margins; the soft maximum has η = 10).

use super::ml_bn_svm::require_two_classes;
use super::problem::{LossRows, MarginRows, RowLoss, StreamedRows};
use crate::{Network, Normaliser, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::optimise::conjugate_gradient::conjugate_gradient;
use hingenet_base::optimise::lbfgs::{Iterate, LbfgsSettings, Minimum, lbfgs};
use hingenet_base::solver::{SolverReport, Stopping};

/// What is maximised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// `Σ s_m ln P(c_m | z_m)`.
    ConditionalLikelihood,
    /// `Σ s_m h_κ(λ ln d_m)`: log margins scaled by λ > 0 (the target margin is 1/λ) and capped at 1 with a
    /// rounding of width κ in (0, 1].
    Margin {
        /// Scale λ of the log margins.
        lambda: f64,
        /// Rounding κ of the cap.
        kappa: f64,
    },
}

/// How the parameters stay a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Free log weights (concave on C1 structures), L-BFGS, then Algorithm 1.
    #[default]
    Exact,
    /// Normalised tables throughout (row-wise softmax of free weights), conjugate gradients.
    Tables,
}

/// Settings of a discriminative fit.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalParams {
    /// What is maximised.
    pub objective: Objective,
    /// Form of the parameters.
    pub form: Form,
    /// Weight ρ ≥ 0 of the ridge `ρ/2 ‖w − w_ML‖²` (form exact only).
    pub ridge: f64,
    /// Virtual sample count α > 0 of the starting maximum-likelihood estimate.
    pub alpha: f64,
    /// Iterations; separable data have no finite optimum, so this is part of the method.
    pub max_iterations: usize,
}

impl Default for ConditionalParams {
    fn default() -> Self {
        ConditionalParams {
            objective: Objective::ConditionalLikelihood,
            form: Form::Exact,
            ridge: 0.0,
            alpha: 1.0,
            max_iterations: 150,
        }
    }
}

impl ConditionalParams {
    fn check(&self) -> Result<()> {
        require("ridge", self.ridge, "a finite number >= 0", self.ridge.is_finite() && self.ridge >= 0.0)?;
        require("alpha", self.alpha, "a finite number > 0", self.alpha.is_finite() && self.alpha > 0.0)?;
        if let Objective::Margin { lambda, kappa } = self.objective {
            require("lambda", lambda, "a finite number > 0", lambda.is_finite() && lambda > 0.0)?;
            require("kappa", kappa, "a number in (0, 1]", kappa > 0.0 && kappa <= 1.0)?;
        }
        Ok(())
    }
}

/// A discriminatively fitted network.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalFit {
    /// The normalised network.
    pub network: Network,
    /// How the solver ended; the objective is the negative of what is maximised, the gap the largest
    /// derivative.
    pub report: SolverReport,
}

/// Learns the parameters of a C1 structure from complete, labelled rows.
pub fn fit_conditional(
    samples: &Samples,
    structure: &Structure,
    params: &ConditionalParams,
    control: &Control,
) -> Result<ConditionalFit> {
    fit_watched(samples, structure, params, control, |_, _| Ok(()))
}

/// The same; `watch` sees the free weights of every iterate.
pub fn fit_watched(
    samples: &Samples,
    structure: &Structure,
    params: &ConditionalParams,
    control: &Control,
    mut watch: impl FnMut(usize, &[f64]) -> Result<()>,
) -> Result<ConditionalFit> {
    params.check()?;
    require_two_classes(samples)?;
    let n = counts::smoothed_counts(structure, samples, params.alpha)?;
    fit_rows(&MarginRows::new(structure, samples)?, structure, &n, params, control, &mut watch)
}

/// The same from rows that come past, whose raw counts are known.
pub fn fit_conditional_streamed(
    rows: &StreamedRows<'_>,
    structure: &Structure,
    raw_counts: &[f64],
    params: &ConditionalParams,
    control: &Control,
) -> Result<ConditionalFit> {
    params.check()?;
    let mut n = raw_counts.to_vec();
    counts::smooth(structure, &mut n, params.alpha);
    rows.checked(fit_rows(rows, structure, &n, params, control, &mut |_, _| Ok(())))
}

fn fit_rows<R: LossRows>(
    rows: &R,
    structure: &Structure,
    n: &[f64],
    params: &ConditionalParams,
    control: &Control,
    watch: &mut impl FnMut(usize, &[f64]) -> Result<()>,
) -> Result<ConditionalFit> {
    let finish = Finish::new(params.form, structure)?;
    let start = counts::ml_parameters(structure, n)?;
    let mut see = |at: Iterate<'_>| {
        control.progress("discriminative fit", at.iteration, params.max_iterations)?;
        watch(at.iteration, at.x)?;
        Ok(false)
    };
    let total = rows.total_weight();
    let (found, free) = match params.objective {
        Objective::ConditionalLikelihood => {
            run(structure, rows, &ConditionalLoss, params, start, total, &mut see)?
        }
        Objective::Margin { lambda, kappa } => {
            let loss = CappedMargin { lambda, kappa, eta: 10.0 };
            run(structure, rows, &loss, params, start, total, &mut see)?
        }
    };
    let w = finish.weights(free)?;
    let report = SolverReport {
        method: match params.form {
            Form::Exact => "L-BFGS (largest derivative)".into(),
            Form::Tables => "conjugate gradients (largest derivative)".into(),
        },
        converged: found.converged,
        iterations: found.iterations,
        objective: found.value,
        gap: Some(found.gradient_norm),
        slack: None,
    };
    Ok(ConditionalFit { network: Network::new(structure.clone(), w)?, report })
}

/// How free weights become a network with the same decisions.
pub(crate) enum Finish<'a> {
    /// Algorithm 1, which needs a covering parent of every child of the class (Condition 1).
    Normalise(Normaliser),
    /// Every table is normalised by itself, whatever the graph.
    Tables(&'a Structure),
}

impl<'a> Finish<'a> {
    /// An error names the first child of the class that lacks the parent the form needs.
    pub(crate) fn new(form: Form, structure: &'a Structure) -> Result<Self> {
        match form {
            Form::Exact => Ok(Finish::Normalise(Normaliser::new(structure)?)),
            Form::Tables => Ok(Finish::Tables(structure)),
        }
    }

    /// The log probabilities that belong to free weights.
    pub(crate) fn weights(&self, mut free: Vec<f64>) -> Result<Vec<f64>> {
        match self {
            Finish::Normalise(normaliser) => normaliser.normalise(&mut free).map(|()| free),
            Finish::Tables(structure) => Ok(table_softmax(structure, &free)),
        }
    }
}

fn run<R: LossRows>(
    structure: &Structure,
    rows: &R,
    loss: &impl RowLoss,
    params: &ConditionalParams,
    start: Vec<f64>,
    total: f64,
    see: &mut impl FnMut(Iterate<'_>) -> Result<bool>,
) -> Result<(Minimum, Vec<f64>)> {
    let tolerance = 1e-7 * total.max(1.0);
    match params.form {
        Form::Exact => {
            let settings = LbfgsSettings {
                memory: 10,
                max_iterations: params.max_iterations,
                gradient_tolerance: tolerance,
            };
            let centre = start.clone();
            let f = |w: &[f64], gradient: &mut [f64]| {
                let mut value = loss_gradient(rows, loss, w, gradient);
                for ((g, x), c) in gradient.iter_mut().zip(w).zip(&centre) {
                    *g += params.ridge * (x - c);
                    value += 0.5 * params.ridge * (x - c) * (x - c);
                }
                value
            };
            let found = lbfgs(start, None, &settings, f, see)?;
            let w = found.x.clone();
            Ok((found, w))
        }
        Form::Tables => {
            let stop = Stopping { tolerance, max_iterations: params.max_iterations };
            let f = |b: &[f64], gradient: &mut [f64]| {
                let w = table_softmax(structure, b);
                let value = loss_gradient(rows, loss, &w, gradient);
                through_softmax(structure, &w, gradient);
                value
            };
            let found = conjugate_gradient(start, stop, f, see)?;
            let free = found.x.clone();
            Ok((found, free))
        }
    }
}

/// Loss of the rows at w and its gradient.
fn loss_gradient<R: LossRows>(rows: &R, loss: &impl RowLoss, w: &[f64], gradient: &mut [f64]) -> f64 {
    let layout = rows.layout();
    let mut part = vec![0.0; layout.n_cells()];
    let value = rows.loss_and_gradient(&layout.gather(w), loss, &mut part);
    gradient.fill(0.0);
    layout.scatter_add(&part, gradient);
    value
}

/// Row-wise log-softmax of all tables.
pub fn table_softmax(structure: &Structure, b: &[f64]) -> Vec<f64> {
    let mut w = b.to_vec();
    for i in 0..structure.n_nodes() {
        for row in w[structure.table(i)].chunks_exact_mut(structure.card()[i]) {
            log_normalise(row);
        }
    }
    w
}

/// Gradient with respect to b from that with respect to w = log-softmax(b): `g − p Σ g` in every row.
fn through_softmax(structure: &Structure, w: &[f64], gradient: &mut [f64]) {
    for i in 0..structure.n_nodes() {
        let r = structure.card()[i];
        let table = structure.table(i);
        for (row, w) in gradient[table.clone()].chunks_exact_mut(r).zip(w[table].chunks_exact(r)) {
            let total: f64 = row.iter().sum();
            row.iter_mut().zip(w).for_each(|(g, w)| *g -= w.exp() * total);
        }
    }
}

/// `−s ln P(c_m | z_m)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalLoss;

impl RowLoss for ConditionalLoss {
    #[inline(always)]
    fn first(&self, class: usize, weight: f64, scores: &mut [f64]) -> Option<f64> {
        let own = scores[class];
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for s in scores.iter_mut() {
            *s = (*s - max).exp();
            total += *s;
        }
        scores.iter_mut().for_each(|s| *s *= weight / total);
        // −(1 − P) from the other classes: no cancellation where P is close to 1.
        let others: f64 = scores.iter().enumerate().filter(|(c, _)| *c != class).map(|(_, s)| s).sum();
        scores[class] = -others;
        Some(weight * (max - own + total.ln()))
    }
}

/// `−s h_κ(λ ln d)`, with h_κ(y) = y up to 1 − κ, 1 from 1 + κ, a parabola between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CappedMargin {
    /// Scale λ of the log margins.
    pub lambda: f64,
    /// Rounding κ of the cap.
    pub kappa: f64,
    /// Sharpness η of the soft maximum.
    pub eta: f64,
}

impl CappedMargin {
    fn cap(&self, y: f64) -> (f64, f64) {
        let k = self.kappa;
        if y <= 1.0 - k {
            (y, 1.0)
        } else if y < 1.0 + k {
            let rest = 1.0 + k - y;
            (1.0 - rest * rest / (4.0 * k), rest / (2.0 * k))
        } else {
            (1.0, 0.0)
        }
    }

    /// Turns scores into shares of the soft maximum over the wrong classes; returns the log margin.
    fn shares(&self, class: usize, s: &mut [f64]) -> f64 {
        let own = s[class];
        s[class] = f64::NEG_INFINITY;
        let max = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for x in s.iter_mut() {
            *x = (self.eta * (*x - max)).exp();
            total += *x;
        }
        s.iter_mut().for_each(|x| *x /= total);
        own - max - total.ln() / self.eta
    }
}

impl RowLoss for CappedMargin {
    fn first(&self, class: usize, weight: f64, s: &mut [f64]) -> Option<f64> {
        let margin = self.shares(class, s);
        let (value, slope) = self.cap(self.lambda * margin);
        let scale = weight * slope * self.lambda;
        s.iter_mut().for_each(|x| *x *= scale);
        s[class] = -scale;
        Some(-weight * value)
    }
}
