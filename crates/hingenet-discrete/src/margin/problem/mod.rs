//! Problems (10) and (11) of the paper on merged rows: values, gradients and Hessian products, in the
//! constrained form F and in the unconstrained form `G(w) = F(A1(w))`.

mod block;
mod certificate;
mod hinge;
mod layout;
mod likelihood;
mod loss;
mod loss_rows;
mod rows;
mod streamed;

pub use block::ScoreBlock;
pub use certificate::{Certificate, DualPoint};
pub use hinge::SoftHinge;
pub use layout::Layout;
pub use likelihood::{Expansion, Likelihood};
pub use loss::{MarginLoss, Smoothing};
pub use loss_rows::LossRows;
pub(crate) use rows::ANY;
pub(super) use rows::spread_groups;
pub use rows::{MarginRows, RowLoss};
pub use streamed::{CodedPieces, StreamedRows};

use hingenet_base::numeric::linalg::dot;
use hingenet_base::numeric::sum::ordered_chunks;

/// Counts, rows and loss of one fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem<R = MarginRows> {
    /// Counts and Algorithm 1.
    pub likelihood: Likelihood,
    /// Merged rows.
    pub rows: R,
    /// The margin loss.
    pub loss: MarginLoss,
}

/// G at one point, kept for Hessian products.
#[derive(Debug, Clone)]
pub struct Point {
    /// G(w).
    pub value: f64,
    /// Gradient of G.
    pub gradient: Vec<f64>,
    /// The likelihood part.
    pub expansion: Expansion,
    /// Class-dependent entries of w.
    pub v: Vec<f64>,
}

impl<R: LossRows> Problem<R> {
    /// Problem (11): `F(w) = −nᵀw + λ Σ_m s_m h_R(t_m(w))`, to be minimised over sub-normalised w.
    pub fn objective(&self, w: &[f64]) -> f64 {
        -dot(self.likelihood.counts(), w) + self.loss_of(w, &self.loss)
    }

    /// F and its gradient.
    pub fn objective_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(self.likelihood.counts()).for_each(|(g, n)| *g = -n);
        self.add_loss_gradient(&self.rows.layout().gather(w), gradient) - dot(self.likelihood.counts(), w)
    }

    /// Problem (10) at w: `−nᵀw + λ Σ_m s_m max(0, γ − log d_m)`.
    pub fn hard_objective(&self, w: &[f64]) -> f64 {
        -dot(self.likelihood.counts(), w) + self.loss_of(w, &self.hard_loss())
    }

    /// Problems (10) and (11) at w.
    fn objectives(&self, w: &[f64]) -> [f64; 2] {
        let losses = self.rows.losses(&self.rows.layout().gather(w), [&self.hard_loss(), &self.loss]);
        losses.map(|loss| -dot(self.likelihood.counts(), w) + loss)
    }

    /// Slack sum `Σ_m s_m ξ_m` of problem (10) at w.
    pub fn slack_sum(&self, w: &[f64]) -> f64 {
        self.loss_of(w, &self.hard_loss().with_lambda(1.0))
    }

    fn hard_loss(&self) -> MarginLoss {
        self.loss.with_smoothing(Smoothing::NONE)
    }

    fn loss_of(&self, w: &[f64], loss: &MarginLoss) -> f64 {
        let [total] = self.rows.losses(&self.rows.layout().gather(w), [loss]);
        total
    }

    /// The unconstrained form `G(w) = F(A1(w))` with its gradient.
    pub fn unconstrained(&self, w: &[f64]) -> Point {
        let expansion = self.likelihood.expand(w);
        let v = self.rows.layout().gather(w);
        let mut gradient = vec![0.0; w.len()];
        let value = expansion.value + self.add_loss_gradient(&v, &mut gradient);
        self.likelihood.add_gradient(&expansion, &mut gradient);
        Point { value, gradient, expansion, v }
    }

    /// Hessian of G at `at` times `direction`.
    pub fn hessian_product(&self, at: &Point, direction: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.rows.layout().n_cells()];
        self.rows.hessian_product(&at.v, &self.rows.layout().gather(direction), &self.loss, &mut product);
        let mut out = vec![0.0; direction.len()];
        self.rows.layout().scatter_add(&product, &mut out);
        self.likelihood.add_hessian_product(&at.expansion, direction, &mut out);
        out
    }

    fn add_loss_gradient(&self, v: &[f64], gradient: &mut [f64]) -> f64 {
        let mut part = vec![0.0; v.len()];
        let value = self.rows.loss_and_gradient(v, &self.loss, &mut part);
        self.rows.layout().scatter_add(&part, gradient);
        value
    }

    /// Multipliers a_{mc} of the loss at w.
    pub fn multipliers(&self, w: &[f64]) -> R::Multipliers {
        self.rows.multipliers(&self.loss, &self.rows.layout().gather(w))
    }
}

impl Problem {
    /// Rows that at w are not beyond their required margins by more than `ahead`, in ascending order.
    pub fn rows_within(&self, w: &[f64], ahead: f64) -> Vec<usize> {
        let v = self.rows.layout().gather(w);
        let parts = ordered_chunks(self.rows.len(), self.rows.chunk(), |range| {
            let mut margins = vec![0.0; self.rows.n_classes()];
            let within = |&m: &usize| {
                self.margins(m, &v, &mut margins);
                let own = self.rows.class(m);
                margins.iter().enumerate().any(|(c, margin)| c != own && margin - self.loss.gamma() < ahead)
            };
            range.filter(within).collect::<Vec<usize>>()
        });
        parts.into_iter().flatten().collect()
    }
}
