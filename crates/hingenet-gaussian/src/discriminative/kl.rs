//! KL-SGBN: minimise the radius-margin objective over the free parameters inside the balls (Algorithm 1). The dual is
//! solved afresh at every evaluation, so J falls monotonically; with α fixed, as printed, it need not.

use super::ball::Ball;
use super::radius_margin::{Evaluator, Node};
use super::{DiscriminativeFit, Labelled, Leeway};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::spectral::{SmoothProblem, spectral_projected_gradient};
use hingenet_base::solver::Stopping;

/// Moves the networks to a local minimum of J with weight C > 0 of the squared slacks.
pub fn fit_kl(data: &Labelled<'_>, leeway: Leeway, c: f64, control: &Control) -> Result<DiscriminativeFit> {
    require("C", c, "a finite number > 0", c.is_finite() && c > 0.0)?;
    let ball = Ball::new(data, leeway)?;
    let mut u = ball.start();
    let nodes: Vec<Node> = ball.blocks.iter().map(|b| Node { class: b.class, column: b.column }).collect();
    let evaluator = Evaluator::new(data, c, &nodes);
    let samples = data.x.rows();
    let mut problem = Problem { ball: &ball, samples, evaluator, last: f64::NAN, kept: Vec::new() };
    let stop = Stopping { tolerance: 1e-6, max_iterations: 100 };
    let mut report = spectral_projected_gradient(&mut problem, &mut u, stop, control)?;
    report.method = "KL-SGBN, spectral projected gradient (predicted relative decrease)".into();
    let objective = problem.kept;
    ball.finish(data, &u, objective, report)
}

struct Problem<'a> {
    ball: &'a Ball,
    samples: usize,
    evaluator: Evaluator<'a>,
    last: f64,
    kept: Vec<f64>,
}

impl SmoothProblem for Problem<'_> {
    fn value(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let blocks = &self.ball.blocks;
        let mut scaled = Matrix::zeros(blocks.len(), self.samples);
        for (k, block) in blocks.iter().enumerate() {
            let residuals = block.residuals(u);
            scaled.row_mut(k).iter_mut().zip(residuals).for_each(|(s, r)| *s = r / block.variance);
        }
        let mut j = self.evaluator.evaluate(&scaled)?;
        for (k, block) in blocks.iter().enumerate() {
            let slopes = j.slopes.row_mut(k);
            slopes.iter_mut().for_each(|s| *s *= -2.0 / block.variance);
            block.pull_back(slopes, gradient);
        }
        self.last = j.value;
        Ok(j.value)
    }

    fn project(&self, u: &mut [f64]) {
        self.ball.project(u);
    }

    fn accepted(&mut self, _: &[f64]) {
        self.kept.push(self.last);
    }
}
