//! MM-SGBN: a soft margin on the likelihood ratio (Algorithm 2),
//!
//! ```text
//! min λ Σ w_i ξ_i − r,   d_i >= r − ξ_i,  ξ >= 0,  r >= 0,  h_c <= T_c,     d_i = L_{y_i}(x_i) − max_{c≠y_i} L_c(x_i)   (3.11)
//! ```
//!
//! With λ = 1/(ν n), 0 < ν < 1, the problem is bounded and at most a share ν of the rows lies below the margin r. The
//! smoothed solver replaces `(r − d)₊` by `τ log(1 + e^((r − d)/τ))` and the maximum by a soft one, for falling τ.

use super::ball::Ball;
use super::{DiscriminativeFit, Labelled, Leeway, ccp};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::spectral::{SmoothProblem, spectral_projected_gradient};
use hingenet_base::solver::Stopping;

/// Which solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MmSolver {
    /// Smoothed objective, projected gradient: any number of rows.
    #[default]
    Smooth,
    /// Convex-concave procedure with second-order cone programs: some hundred rows.
    Ccp,
}

/// Moves the networks to a local minimum of (3.11) with a share ν in (0, 1) of rows allowed below the margin.
pub fn fit_mm(
    data: &Labelled<'_>,
    leeway: Leeway,
    nu: f64,
    solver: MmSolver,
    control: &Control,
) -> Result<DiscriminativeFit> {
    require("nu", nu, "a number between 0 and 1", nu > 0.0 && nu < 1.0)?;
    let problem = Margins::new(data, leeway, nu)?;
    match solver {
        MmSolver::Smooth => smooth(problem, control),
        MmSolver::Ccp => ccp::solve(problem, control),
    }
}

/// Objective (3.11) and the margin r at given margins: r is the largest value with at most weight 1/λ strictly below it.
pub fn margin_objective(margins: &[f64], weights: &[f64], lambda: f64) -> (f64, f64) {
    let mut order: Vec<usize> = (0..margins.len()).collect();
    order.sort_by(|&a, &b| margins[a].total_cmp(&margins[b]).then(a.cmp(&b)));
    let mut seen = 0.0;
    let mut r = 0.0f64;
    for &i in &order {
        seen += weights[i];
        r = margins[i];
        if seen > 1.0 / lambda + 1e-9 {
            break;
        }
    }
    let r = r.max(0.0);
    let short: f64 = margins.iter().zip(weights).map(|(d, w)| w * (r - d).max(0.0)).sum();
    (lambda * short - r, r)
}

/// Margins `d_i = L_{y_i}(x_i) − max_{c≠y_i} L_c(x_i)` of log-likelihoods, one row a sample.
pub fn margins_of(scores: &Matrix, class: &[usize]) -> Vec<f64> {
    (0..class.len())
        .map(|a| {
            let others = scores.row(a).iter().enumerate().filter(|(c, _)| *c != class[a]);
            scores[(a, class[a])] - others.map(|(_, l)| *l).fold(f64::NEG_INFINITY, f64::max)
        })
        .collect()
}

/// Problem (3.11) in ball coordinates. Of the log-likelihoods only the terms of nodes with free parameters change.
pub(super) struct Margins<'a> {
    pub data: &'a Labelled<'a>,
    pub ball: Ball,
    pub lambda: f64,
    /// Terms of the nodes without free parameters, one column a class.
    pub fixed: Matrix,
}

impl<'a> Margins<'a> {
    fn new(data: &'a Labelled<'a>, leeway: Leeway, nu: f64) -> Result<Self> {
        let ball = Ball::new(data, leeway)?;
        let (n, classes) = (data.x.rows(), data.networks.len());
        let mut fixed = Matrix::from_fn(n, classes, |a, c| data.networks[c].log_density(data.x.row(a)));
        for block in &ball.blocks {
            for a in 0..n {
                fixed[(a, block.class)] += 0.5 * block.residual[a] * block.residual[a] / block.variance;
            }
        }
        let lambda = 1.0 / (nu * data.weights.iter().sum::<f64>());
        Ok(Margins { data, ball, lambda, fixed })
    }

    /// Residuals of the free nodes and the log-likelihoods at u.
    pub fn scores(&self, u: &[f64]) -> (Vec<Vec<f64>>, Matrix) {
        let mut l = self.fixed.clone();
        let residuals: Vec<Vec<f64>> = self.ball.blocks.iter().map(|b| b.residuals(u)).collect();
        for (block, r) in self.ball.blocks.iter().zip(&residuals) {
            let scale = 0.5 / block.variance;
            for (a, r) in r.iter().enumerate() {
                l[(a, block.class)] -= scale * r * r;
            }
        }
        (residuals, l)
    }

    /// The objective at u.
    pub fn objective(&self, u: &[f64]) -> f64 {
        let d = margins_of(&self.scores(u).1, self.data.class);
        margin_objective(&d, self.data.weights, self.lambda).0
    }
}

/// Smoothing widths as shares of the spread of the margins at the start.
const WIDTHS: [f64; 4] = [1.0, 0.3, 0.1, 0.03];

fn smooth(exact: Margins<'_>, control: &Control) -> Result<DiscriminativeFit> {
    let (data, start) = (exact.data, exact.ball.start());
    let d = margins_of(&exact.scores(&start).1, data.class);
    let (objective, r) = margin_objective(&d, data.weights, exact.lambda);
    let spread = deviation(&d, data.weights);
    let mut problem = Smoothed {
        exact: &exact,
        tau: 1.0,
        margins: d,
        best: (objective, start.clone()),
        trace: vec![objective],
    };
    let mut x = start;
    x.push(r);
    let mut report = ccp::empty_report(objective);
    for width in WIDTHS {
        problem.tau = (width * spread).max(1e-12);
        let stop = Stopping { tolerance: 1e-6, max_iterations: 100 };
        report = spectral_projected_gradient(&mut problem, &mut x, stop, control)?;
    }
    let Smoothed { best: (best, u), trace, .. } = problem;
    report.method = "MM-SGBN smooth, spectral projected gradient (predicted relative decrease)".into();
    report.objective = best;
    exact.ball.finish(data, &u, trace, report)
}

fn deviation(d: &[f64], weights: &[f64]) -> f64 {
    let n: f64 = weights.iter().sum();
    let mean = d.iter().zip(weights).map(|(d, w)| w * d).sum::<f64>() / n;
    (d.iter().zip(weights).map(|(d, w)| w * (d - mean) * (d - mean)).sum::<f64>() / n).sqrt()
}

/// The smoothed objective in (u, r).
struct Smoothed<'a> {
    exact: &'a Margins<'a>,
    tau: f64,
    /// Margins at the last evaluation.
    margins: Vec<f64>,
    /// Best exact objective seen and where.
    best: (f64, Vec<f64>),
    trace: Vec<f64>,
}

impl Smoothed<'_> {
    /// Soft maximum of the other classes; its weights into `share`.
    fn rival(&self, scores: &[f64], own: usize, share: &mut [f64]) -> f64 {
        let top =
            (0..scores.len()).filter(|&c| c != own).map(|c| scores[c]).fold(f64::NEG_INFINITY, f64::max);
        for (c, s) in share.iter_mut().enumerate() {
            *s = if c == own { 0.0 } else { ((scores[c] - top) / self.tau).exp() };
        }
        let total: f64 = share.iter().sum();
        share.iter_mut().for_each(|s| *s /= total);
        top + self.tau * total.ln()
    }
}

impl SmoothProblem for Smoothed<'_> {
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let dimension = self.exact.ball.dimension;
        let (u, r) = (&x[..dimension], x[dimension]);
        let (residuals, l) = self.exact.scores(u);
        let mut value = -r;
        let mut slope_r = -1.0;
        // ∂f/∂L_c(x_a), one row a class
        let mut slope = Matrix::zeros(l.cols(), l.rows());
        let mut share = vec![0.0; l.cols()];
        for a in 0..l.rows() {
            let own = self.exact.data.class[a];
            let rival = self.rival(l.row(a), own, &mut share);
            let t = (r - (l[(a, own)] - rival)) / self.tau;
            let weight = self.exact.lambda * self.exact.data.weights[a];
            let e = (-t.abs()).exp();
            let sigmoid = if t > 0.0 { 1.0 } else { e } / (1.0 + e);
            value += weight * self.tau * (t.max(0.0) + e.ln_1p());
            slope_r += weight * sigmoid;
            for c in 0..l.cols() {
                slope[(c, a)] = weight * sigmoid * if c == own { -1.0 } else { share[c] };
            }
        }
        self.margins = margins_of(&l, self.exact.data.class);
        for (block, mut residual) in self.exact.ball.blocks.iter().zip(residuals) {
            // ∂L/∂δ = Σ_a z_a r_a / σ²
            let slopes = residual.iter_mut().zip(slope.row(block.class));
            slopes.for_each(|(r, s)| *r *= s / block.variance);
            block.pull_back(&residual, &mut gradient[..dimension]);
        }
        gradient[dimension] = slope_r;
        Ok(value)
    }

    fn project(&self, x: &mut [f64]) {
        self.exact.ball.project(x);
        let last = self.exact.ball.dimension;
        x[last] = x[last].max(0.0);
    }

    fn accepted(&mut self, x: &[f64]) {
        let (objective, _) = margin_objective(&self.margins, self.exact.data.weights, self.exact.lambda);
        if objective < self.best.0 {
            self.best = (objective, x[..self.exact.ball.dimension].to_vec());
            self.trace.push(objective);
        }
    }
}
