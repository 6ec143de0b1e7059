//! Monotone spectral projected gradient: `min f(x)` over a convex set with a cheap projection. The step is
//! Barzilai-Borwein's, the line search Armijo's along the projected direction.

use crate::control::Control;
use crate::error::Result;
use crate::numeric::linalg::dot;
use crate::solver::{SolverReport, Stopping};

/// A smooth function over a convex set.
pub trait SmoothProblem {
    /// f(x), and its gradient into `gradient`.
    fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64>;
    /// Replaces x by the nearest point of the set.
    fn project(&self, x: &mut [f64]);
    /// Called at every accepted point, which is the point of the last evaluation.
    fn accepted(&mut self, _x: &[f64]) {}
}

/// Minimises from `x` (projected first) and leaves the result there. f never rises. The tolerance is that of the
/// predicted decrease `−g'd`, as a share of |f|.
pub fn spectral_projected_gradient(
    problem: &mut impl SmoothProblem,
    x: &mut [f64],
    stop: Stopping,
    control: &Control,
) -> Result<SolverReport> {
    let n = x.len();
    problem.project(x);
    let mut g = vec![0.0; n];
    let mut f = problem.value(x, &mut g)?;
    problem.accepted(x);
    let largest = g.iter().fold(0.0f64, |a, v| a.max(v.abs()));
    let mut step = if largest > 0.0 { 1.0 / largest } else { 1.0 };
    let method = "spectral projected gradient (predicted relative decrease)";
    let mut report = SolverReport::new(method, false, 0, f, None);
    let (mut trial, mut g_trial) = (vec![0.0; n], vec![0.0; n]);
    while report.iterations < stop.max_iterations {
        control.check()?;
        let mut d: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x - step * g).collect();
        problem.project(&mut d);
        d.iter_mut().zip(x.iter()).for_each(|(d, x)| *d -= x);
        let slope = dot(&g, &d);
        report.gap = Some(-slope / f.abs().max(f64::MIN_POSITIVE));
        if -slope <= stop.tolerance * f.abs() {
            report.converged = true;
            break;
        }
        report.iterations += 1;
        let mut length = 1.0;
        let f_trial = loop {
            trial.iter_mut().zip(x.iter().zip(&d)).for_each(|(t, (x, d))| *t = x + length * d);
            let value = problem.value(&trial, &mut g_trial)?;
            if value.is_finite() && value <= f + 1e-4 * length * slope {
                break Some(value);
            }
            length *= 0.5;
            if length < 1e-12 {
                break None;
            }
        };
        // No decrease can be found any more: rounding of f.
        let Some(f_trial) = f_trial else { break };
        let (mut ss, mut sy) = (0.0, 0.0);
        for k in 0..n {
            let s = trial[k] - x[k];
            ss += s * s;
            sy += s * (g_trial[k] - g[k]);
        }
        step = if sy > 0.0 { (ss / sy).clamp(1e-12, 1e8) } else { 1e8 };
        x.copy_from_slice(&trial);
        std::mem::swap(&mut g, &mut g_trial);
        f = f_trial;
        problem.accepted(x);
    }
    report.objective = f;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `½ Σ scale_j (x_j − centre_j)²` over the positive orthant, whose solution is the centre with zeros for what
    /// is negative, or over the unit ball.
    struct Quadratic {
        centre: Vec<f64>,
        scale: Vec<f64>,
        ball: bool,
        values: Vec<f64>,
        last: f64,
    }

    impl SmoothProblem for Quadratic {
        fn value(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64> {
            let mut value = 0.0;
            for j in 0..x.len() {
                let off = x[j] - self.centre[j];
                gradient[j] = self.scale[j] * off;
                value += 0.5 * self.scale[j] * off * off;
            }
            self.last = value;
            Ok(value)
        }

        fn project(&self, x: &mut [f64]) {
            let norm = dot(x, x).sqrt();
            for v in x.iter_mut() {
                *v = if self.ball { *v / norm.max(1.0) } else { v.max(0.0) };
            }
        }

        fn accepted(&mut self, _: &[f64]) {
            self.values.push(self.last);
        }
    }

    fn minimum(ball: bool) -> (Quadratic, Vec<f64>) {
        let (centre, scale) = (vec![2.0, -1.0, 0.5, -3.0], vec![1.0, 30.0, 0.2, 5.0]);
        let mut problem = Quadratic { centre, scale, ball, values: vec![], last: 0.0 };
        let mut x = vec![1.0; 4];
        let stop = Stopping { tolerance: 1e-14, max_iterations: 1000 };
        let report = spectral_projected_gradient(&mut problem, &mut x, stop, &Control::default()).unwrap();
        assert!(report.converged, "{report:?}");
        assert!(problem.values.windows(2).all(|v| v[1] <= v[0]), "{:?}", problem.values);
        (problem, x)
    }

    #[test]
    fn bounds_that_hold_are_met_exactly() {
        let (_, x) = minimum(false);
        for (x, want) in x.iter().zip([2.0, 0.0, 0.5, 0.0]) {
            assert!((x - want).abs() < 1e-6, "{x} {want}");
        }
    }

    /// On the sphere the gradient is `−μ x`: `x_j = scale_j centre_j / (scale_j + μ)` with μ from `|x| = 1`, by bisection.
    #[test]
    fn the_nearest_point_of_a_ball_solves_its_equation() {
        let (problem, x) = minimum(true);
        let at = |mu: f64| -> Vec<f64> {
            (0..4).map(|j| problem.scale[j] * problem.centre[j] / (problem.scale[j] + mu)).collect()
        };
        let (mut low, mut high) = (0.0, 1e3);
        for _ in 0..200 {
            let mu = 0.5 * (low + high);
            if dot(&at(mu), &at(mu)) > 1.0 { low = mu } else { high = mu }
        }
        for (x, want) in x.iter().zip(at(low)) {
            assert!((x - want).abs() < 1e-6, "{x} {want}");
        }
    }
}
