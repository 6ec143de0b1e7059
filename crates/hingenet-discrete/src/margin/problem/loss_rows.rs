//! Rows as first-order methods see them: sums over all rows at once, and multipliers. Rows may be at hand, or come past
//! in pieces; then each sum is one pass over them.

use super::layout::Layout;
use super::loss::MarginLoss;
use super::rows::{MarginRows, RowLoss, spread_groups};
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use rayon::prelude::*;

/// Rows of a margin program.
pub trait LossRows: Clone + Sync {
    /// Multipliers `a_{mc}` of all rows.
    type Multipliers: Clone;

    /// Where the class-dependent cells stand.
    fn layout(&self) -> &Layout;

    /// Σ s_m.
    fn total_weight(&self) -> f64;

    /// Σ of some losses over the rows.
    fn losses<const N: usize>(&self, v: &[f64], losses: [&MarginLoss; N]) -> [f64; N];

    /// Σ of a loss over the rows; its gradient with respect to `v` is added to `gradient`.
    fn loss_and_gradient(&self, v: &[f64], loss: &impl RowLoss, gradient: &mut [f64]) -> f64;

    /// Adds the Hessian of the loss at `v` times `dv` to `out`.
    fn hessian_product(&self, v: &[f64], dv: &[f64], loss: &MarginLoss, out: &mut [f64]);

    /// The multipliers of a loss at `v`: `λ s_m h_R'(t_m) π_{mc}`, and 0 at the own class.
    fn multipliers(&self, loss: &MarginLoss, v: &[f64]) -> Self::Multipliers;

    /// `Σ a_{mc} (φ_{c_m} − φ_c)` on the class-dependent cells.
    fn tilt(&self, a: &Self::Multipliers) -> Vec<f64>;

    /// What the multipliers take from the cells of the competitors.
    fn taken(&self, a: &Self::Multipliers) -> Vec<f64>;

    /// Shrinks each multiplier to the least share that the cells it takes from allow.
    fn shrink(&self, allowed: &[f64], a: &mut Self::Multipliers);

    /// Scales all multipliers.
    fn scale(&self, theta: f64, a: &mut Self::Multipliers);

    /// `Σ γ a` and the two smoothing terms of the dual of (11), for θ a.
    fn dual_terms(&self, loss: &MarginLoss, a: &Self::Multipliers, theta: f64) -> (f64, f64);
}

/// Multipliers of rows at hand: for each row K values.
impl LossRows for MarginRows {
    type Multipliers = Vec<f64>;

    fn layout(&self) -> &Layout {
        self.layout()
    }

    fn total_weight(&self) -> f64 {
        self.total_weight()
    }

    fn losses<const N: usize>(&self, v: &[f64], losses: [&MarginLoss; N]) -> [f64; N] {
        losses.map(|loss| self.loss(v, loss))
    }

    fn loss_and_gradient(&self, v: &[f64], loss: &impl RowLoss, gradient: &mut [f64]) -> f64 {
        self.loss_and_gradient(v, loss, gradient)
    }

    fn hessian_product(&self, v: &[f64], dv: &[f64], loss: &MarginLoss, out: &mut [f64]) {
        self.hessian_product(v, dv, loss, out);
    }

    fn multipliers(&self, loss: &MarginLoss, v: &[f64]) -> Vec<f64> {
        let k = self.n_classes();
        let mut a = vec![0.0; self.len() * k];
        a.par_chunks_mut(k * self.chunk()).enumerate().for_each(|(chunk, part)| {
            for (at, a) in part.chunks_exact_mut(k).enumerate() {
                let m = chunk * self.chunk() + at;
                self.scores(m, v, a);
                if loss.first(self.class(m), self.weight(m), a).is_none() {
                    a.fill(0.0);
                }
                a[self.class(m)] = 0.0;
            }
        });
        a
    }

    fn tilt(&self, a: &Vec<f64>) -> Vec<f64> {
        let k = self.n_classes();
        let parts = ordered_chunks(self.len(), self.chunk(), |range| {
            let mut tilt = vec![0.0; self.n_cells()];
            let mut coefficient = vec![0.0; k];
            for m in range {
                let row = &a[m * k..(m + 1) * k];
                if row.iter().any(|a| *a != 0.0) {
                    coefficient.iter_mut().zip(row).for_each(|(x, a)| *x = -a);
                    coefficient[self.class(m)] = row.iter().sum();
                    spread_groups(self.groups(m), k, &coefficient, &mut tilt);
                }
            }
            tilt
        });
        sum_parts(parts, self.n_cells())
    }

    fn taken(&self, a: &Vec<f64>) -> Vec<f64> {
        let k = self.n_classes();
        let parts = ordered_chunks(self.len(), self.chunk(), |range| {
            let mut taken = vec![0.0; self.n_cells()];
            for m in range {
                spread_groups(self.groups(m), k, &a[m * k..(m + 1) * k], &mut taken);
            }
            taken
        });
        sum_parts(parts, self.n_cells())
    }

    fn shrink(&self, allowed: &[f64], a: &mut Vec<f64>) {
        let k = self.n_classes();
        a.par_chunks_mut(k).enumerate().with_min_len(1024).for_each(|(m, row)| {
            for (c, x) in row.iter_mut().enumerate().filter(|(_, x)| **x > 0.0) {
                let cells = self.groups(m).iter().map(|&g| allowed[g as usize * k + c]);
                *x *= cells.fold(1.0, f64::min);
            }
        });
    }

    fn scale(&self, theta: f64, a: &mut Vec<f64>) {
        a.iter_mut().for_each(|a| *a *= theta);
    }

    fn dual_terms(&self, loss: &MarginLoss, a: &Vec<f64>, theta: f64) -> (f64, f64) {
        let k = self.n_classes();
        let eta = loss.eta();
        let parts = ordered_chunks(self.len(), self.chunk(), |range| {
            let (mut linear, mut smooth) = (0.0, 0.0);
            for m in range {
                let row = &a[m * k..(m + 1) * k];
                let b = theta * row.iter().sum::<f64>();
                if b > 0.0 {
                    linear += loss.gamma() * b;
                    if eta.is_finite() {
                        let shares = row.iter().map(|x| theta * x).filter(|x| *x > 0.0);
                        smooth += shares.map(|x| x * (b.ln() - x.ln())).sum::<f64>() / eta;
                    }
                    let cap = loss.lambda() * self.weight(m);
                    smooth -= cap * loss.hinge().conjugate((b / cap).min(1.0));
                }
            }
            (linear, smooth)
        });
        parts.into_iter().fold((0.0, 0.0), |(l, s), (x, y)| (l + x, s + y))
    }
}

fn sum_parts(parts: Vec<Vec<f64>>, len: usize) -> Vec<f64> {
    let mut total = vec![0.0; len];
    parts.iter().for_each(|part| add_into(&mut total, part));
    total
}
