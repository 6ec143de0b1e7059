//! Linear objectives over linear and second-order cone constraints, solved by Clarabel: `min c'x` subject to
//! `b − A x ∈ K`. What our own solvers are held against.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

/// Kind of a group of rows.
// Not every test needs both.
#[allow(dead_code)]
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

    /// The minimiser and the minimum of `cost'x`.
    pub fn minimise(self, cost: &[f64]) -> (Vec<f64>, f64) {
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
        let mut solver =
            DefaultSolver::new(&quadratic, cost, &a, &self.right, &self.cones, settings).unwrap();
        solver.solve();
        let solution = &solver.solution;
        assert!(
            matches!(solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved),
            "{:?}",
            solution.status
        );
        (solution.x.clone(), solution.obj_val)
    }
}
