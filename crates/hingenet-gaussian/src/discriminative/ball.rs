//! Ball coordinates. The fitting error of a class is quadratic in its free parameters; per column block with design A
//! (rows of the class, free parents), `H = A'A = LL'`, `d = H⁻¹A'r0` and `u = L'(δ − d)` it is
//! `h = h_min + ‖u‖²`, so the constraint `h <= T` is a ball around zero.

use super::{DiscriminativeFit, Labelled, Leeway};
use crate::fisher::{most_correlated, parameter};
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};
use hingenet_base::solver::SolverReport;
use std::ops::Range;

/// One parameter of a class network: the arc `row -> column`, or the bias of `column` when `row` is the number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FreeParameter {
    /// Child node.
    pub column: usize,
    /// Parent node, or the number of nodes for the bias.
    pub row: usize,
}

/// The free parameters of one node of one class.
pub(super) struct Block {
    pub class: usize,
    pub column: usize,
    /// Parents (m for the bias), ascending.
    pub rows: Vec<usize>,
    /// Residuals of the start on all rows.
    pub residual: Vec<f64>,
    /// Design of the free parameters on all samples, one row a parameter.
    pub design: Matrix,
    pub variance: f64,
    factor: Cholesky,
    /// Unconstrained minimiser d of the class error.
    centre: Vec<f64>,
    /// First coordinate of the block.
    pub offset: usize,
}

impl Block {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// `δ = d + L'⁻¹ u`.
    pub fn change(&self, u: &[f64]) -> Vec<f64> {
        let mut x = u[self.offset..self.offset + self.len()].to_vec();
        self.factor.backward(&mut x);
        x.iter_mut().zip(&self.centre).for_each(|(x, d)| *x += d);
        x
    }

    /// Gradient in u from the slopes in the residuals of the samples: the gradient in δ is `g = A's`, in u it is `L⁻¹ g`.
    pub fn pull_back(&self, slopes: &[f64], into: &mut [f64]) {
        let part = &mut into[self.offset..self.offset + self.len()];
        part.iter_mut().enumerate().for_each(|(k, g)| *g = dot(self.design.row(k), slopes));
        self.factor.forward(part);
    }

    /// `r0 − A δ` on all samples at u.
    pub fn residuals(&self, u: &[f64]) -> Vec<f64> {
        let mut r = self.residual.clone();
        for (k, delta) in self.change(u).into_iter().enumerate() {
            r.iter_mut().zip(self.design.row(k)).for_each(|(r, z)| *r -= delta * z);
        }
        r
    }

    /// Row p of `L'⁻¹` applied to the design: coordinates of sample a in u, so that `r = r0 − A d − (L⁻¹A')' u`.
    pub fn design_in_u(&self, a: usize) -> Vec<f64> {
        let mut row = self.design.col(a);
        self.factor.forward(&mut row);
        row
    }

    /// Residual of sample a at the centre, u = 0.
    pub fn central_residual(&self, a: usize) -> f64 {
        self.residual[a] - dot(&self.design.col(a), &self.centre)
    }
}

/// All free parameters in ball coordinates.
pub(super) struct Ball {
    pub blocks: Vec<Block>,
    /// Coordinates and radius of each class.
    pub classes: Vec<(Range<usize>, f64)>,
    pub free: Vec<Vec<FreeParameter>>,
    pub dimension: usize,
}

impl Ball {
    /// Checks rows and leeway, and frees the parameters (present arcs, biases) whose Fisher components correlate most with
    /// the labels.
    pub fn new(data: &Labelled<'_>, leeway: Leeway) -> Result<Self> {
        data.check()?;
        let slack = leeway.slack;
        require("slack", slack, "a finite number >= 0", slack.is_finite() && slack >= 0.0)?;
        let free = select(data, leeway.free);
        let mut ball = Ball { blocks: Vec::new(), classes: Vec::new(), free, dimension: 0 };
        for (c, network) in data.networks.iter().enumerate() {
            let own = data.weights_of(c);
            let (first, error) = (ball.dimension, network.fitting_error(data.x, &own));
            let mut gained = 0.0;
            for group in ball.free[c].chunk_by(|a, b| a.column == b.column) {
                let rows: Vec<usize> = group.iter().map(|p| p.row).collect();
                let (block, gain) = make_block(data, &own, c, group[0].column, rows)?;
                gained += gain;
                ball.blocks.push(Block { offset: ball.dimension, ..block });
                ball.dimension += group.len();
            }
            let least = (error - gained).max(0.0);
            let radius = ((1.0 + slack) * error - least).max(0.0).sqrt();
            ball.classes.push((first..ball.dimension, radius));
        }
        Ok(ball)
    }

    /// Coordinates of the start: δ = 0, `u = −L'd`.
    pub fn start(&self) -> Vec<f64> {
        let mut u = vec![0.0; self.dimension];
        for block in &self.blocks {
            let l = block.factor.factor();
            for k in 0..block.len() {
                u[block.offset + k] = -(k..block.len()).map(|i| l[(i, k)] * block.centre[i]).sum::<f64>();
            }
        }
        u
    }

    /// Shrinks the coordinates of each class into its ball; further coordinates are left alone.
    pub fn project(&self, u: &mut [f64]) {
        for (range, radius) in &self.classes {
            let part = &mut u[range.clone()];
            let norm = dot(part, part).sqrt();
            if norm > *radius {
                let scale = radius / norm;
                part.iter_mut().for_each(|v| *v *= scale);
            }
        }
    }

    /// The result at u.
    pub fn finish(
        self,
        data: &Labelled<'_>,
        u: &[f64],
        objective: Vec<f64>,
        report: SolverReport,
    ) -> Result<DiscriminativeFit> {
        let m = data.x.cols();
        let mut parts: Vec<(Matrix, Vec<f64>)> =
            data.networks.iter().map(|n| (n.theta(), n.bias().to_vec())).collect();
        for block in &self.blocks {
            let (theta, bias) = &mut parts[block.class];
            for (&i, delta) in block.rows.iter().zip(block.change(u)) {
                if i == m {
                    bias[block.column] += delta;
                } else {
                    theta[(i, block.column)] += delta;
                }
            }
        }
        let moved = data.networks.iter().zip(parts).map(|(n, (theta, bias))| n.with_weights(&theta, bias));
        let networks = moved.collect::<Result<_>>()?;
        Ok(DiscriminativeFit { networks, free: self.free, objective, convex_optima: Vec::new(), report })
    }
}

/// The block of one node, and how much its free parameters can lower the error of the class, whose rows weigh `own`.
fn make_block(
    data: &Labelled<'_>,
    own: &[f64],
    class: usize,
    column: usize,
    rows: Vec<usize>,
) -> Result<(Block, f64)> {
    let (x, m) = (data.x, data.x.cols());
    let network = &data.networks[class];
    let design =
        Matrix::from_fn(rows.len(), x.rows(), |k, a| if rows[k] == m { 1.0 } else { x[(a, rows[k])] });
    let residual: Vec<f64> = (0..x.rows()).map(|a| network.residual(column, x.row(a))).collect();
    let mut h = Matrix::zeros(rows.len(), rows.len());
    let mut right = vec![0.0; rows.len()];
    for p in 0..rows.len() {
        let weighted: Vec<f64> = design.row(p).iter().zip(own).map(|(z, w)| z * w).collect();
        right[p] = dot(&weighted, &residual);
        for q in 0..=p {
            h[(p, q)] = dot(&weighted, design.row(q));
        }
    }
    let trace: f64 = (0..rows.len()).map(|p| h[(p, p)]).sum();
    let ridge = 1e-10 * trace.max(f64::MIN_POSITIVE) / rows.len() as f64;
    (0..rows.len()).for_each(|p| h[(p, p)] += ridge.max(1e-300));
    let factor = Cholesky::new(&h)?;
    let mut centre = right.clone();
    factor.solve(&mut centre);
    let gain = dot(&centre, &right);
    let variance = network.variance()[column];
    Ok((Block { class, column, rows, residual, design, variance, factor, centre, offset: 0 }, gain))
}

/// The present arcs and biases that correlate most with the labels, jointly over the classes; sorted by column, then row,
/// within a class.
fn select(data: &Labelled<'_>, count: usize) -> Vec<Vec<FreeParameter>> {
    let m = data.x.cols();
    let present = |c: usize, i: usize, j: usize| {
        // A class without rows has no fit to move away from.
        data.class.contains(&c) && (i == m || data.networks[c].dag().has_arc(i, j))
    };
    let mut free = vec![Vec::new(); data.networks.len()];
    for k in most_correlated(data, count, present) {
        let (c, row, column) = parameter(m, k);
        free[c].push(FreeParameter { row, column });
    }
    free
}
