//! Linear objectives over linear and second-order cone constraints, solved by the interior-point method of Clarabel:
//! `min c'x` subject to `b − A x ∈ K`. For small exact solves and convex-concave steps.

use crate::error::{Error, Result};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// Kind of a group of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cone {
    /// Every row is at least 0.
    NonNegative,
    /// The first row is at least the norm of the others.
    SecondOrder,
}

/// A cone program, built row by row.
#[derive(Debug)]
pub struct ConeProgram {
    columns: Vec<Vec<(usize, f64)>>,
    right: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    closed: usize,
}

/// A solved cone program.
#[derive(Debug, Clone, PartialEq)]
pub struct ConeSolution {
    /// The minimiser.
    pub x: Vec<f64>,
    /// The minimum.
    pub optimum: f64,
    /// Multipliers of the rows, in their order.
    pub dual: Vec<f64>,
    /// Steps of the interior-point method.
    pub iterations: usize,
}

impl ConeProgram {
    /// A program without constraints over this many variables.
    pub fn new(variables: usize) -> Self {
        ConeProgram { columns: vec![Vec::new(); variables], right: Vec::new(), cones: Vec::new(), closed: 0 }
    }

    /// Adds the row `right − Σ value · x[variable]`; a variable must occur once at most.
    pub fn row(&mut self, right: f64, entries: impl IntoIterator<Item = (usize, f64)>) {
        let row = self.right.len();
        self.right.push(right);
        for (variable, value) in entries {
            if value != 0.0 {
                self.columns[variable].push((row, value));
            }
        }
    }

    /// Puts the rows added since the last call into a cone.
    pub fn close(&mut self, cone: Cone) {
        let size = self.right.len() - self.closed;
        self.closed = self.right.len();
        if size > 0 {
            self.cones.push(match cone {
                Cone::NonNegative => SupportedConeT::NonnegativeConeT(size),
                Cone::SecondOrder => SupportedConeT::SecondOrderConeT(size),
            });
        }
    }

    /// The minimiser and the minimum of `cost'x`; an error when there is none or the method fails.
    pub fn minimise(self, cost: &[f64]) -> Result<(Vec<f64>, f64)> {
        self.solve(cost).map(|found| (found.x, found.optimum))
    }

    /// The same with the multipliers of the rows.
    pub fn solve(self, cost: &[f64]) -> Result<ConeSolution> {
        let n = cost.len();
        let mut starts = vec![0];
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for column in &self.columns {
            for (row, value) in column {
                rows.push(*row);
                values.push(*value);
            }
            starts.push(rows.len());
        }
        let a = CscMatrix::new(self.right.len(), n, starts, rows, values);
        let quadratic = CscMatrix::<f64>::zeros((n, n));
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let failed = |problem: String| Error::Numeric { method: "second-order cone program".into(), problem };
        let mut solver = DefaultSolver::new(&quadratic, cost, &a, &self.right, &self.cones, settings)
            .map_err(|e| failed(format!("{e:?}")))?;
        solver.solve();
        let solution = &solver.solution;
        let usable = matches!(
            solution.status,
            SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
        );
        if usable && solution.x.iter().all(|v| v.is_finite()) {
            Ok(ConeSolution {
                x: solution.x.clone(),
                optimum: solution.obj_val,
                dual: solution.z.clone(),
                iterations: solution.iterations as usize,
            })
        } else {
            Err(failed(format!("{:?}", solution.status)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_point_of_a_disc_is_found() {
        let mut program = ConeProgram::new(2);
        program.row(2.0, []);
        program.row(1.0, [(0, -1.0)]);
        program.row(0.0, [(1, -1.0)]);
        program.close(Cone::SecondOrder);
        let (x, optimum) = program.minimise(&[0.0, 1.0]).unwrap();
        assert!((x[0] + 1.0).abs() < 1e-4 && (optimum + 2.0).abs() < 1e-6, "{x:?} {optimum}");
    }
}
