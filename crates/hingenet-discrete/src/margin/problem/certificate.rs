//! Lower bounds by duality: how far a fit is from the optimum, without trusting the solver.
//!
//! With multipliers `a_{mc} ≥ 0`, `b_m = Σ_c a_{mc} ≤ λ s_m` and tilted counts
//! `q = n + Σ a_{mc} (φ_{c_m}(x^m) − φ_c(x^m)) ≥ 0`,
//!
//! ```text
//! d10(a) = Σ γ a_{mc} + Σ_rows Ent(q)                                                   ≤ p10
//! d11(a) = d10(a) + Σ_m [ (1/η) Σ_c a_{mc} ln(b_m/a_{mc}) − λ s_m h*(b_m/(λ s_m)) ]     ≤ p11
//! ```
//!
//! At the optimum w is the maximum-likelihood estimate of q and both gaps close.

use super::Problem;
use super::loss_rows::LossRows;
use super::rows::sum_groups;

/// Repair rounds before the rest is scaled.
const REPAIRS: usize = 20;

/// Bounds on the optimal values of problems (10) and (11), and their relative gaps.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Certificate {
    /// Hard objective (10) of the fitted network.
    pub upper10: f64,
    /// Proven lower bound on the optimum of (10).
    pub lower10: f64,
    /// Objective (11) of the fitted network.
    pub upper11: f64,
    /// Proven lower bound on the optimum of (11).
    pub lower11: f64,
}

impl Certificate {
    /// Nothing proven yet.
    pub const OPEN: Certificate = Certificate {
        upper10: f64::INFINITY,
        lower10: f64::NEG_INFINITY,
        upper11: f64::INFINITY,
        lower11: f64::NEG_INFINITY,
    };

    /// Relative duality gap of the non-smooth problem (10).
    pub fn gap10(&self) -> f64 {
        relative(self.upper10, self.lower10)
    }

    /// Relative duality gap of the smooth problem (11).
    pub fn gap11(&self) -> f64 {
        relative(self.upper11, self.lower11)
    }

    /// The gap of the smooth problem (11) or of (10).
    pub(in crate::margin) fn gap(&self, smooth: bool) -> f64 {
        if smooth { self.gap11() } else { self.gap10() }
    }

    pub(in crate::margin) fn upper(&self, smooth: bool) -> f64 {
        if smooth { self.upper11 } else { self.upper10 }
    }

    pub(in crate::margin) fn lower(&self, smooth: bool) -> f64 {
        if smooth { self.lower11 } else { self.lower10 }
    }

    /// The better bounds of two certificates of one problem.
    pub fn join(&self, other: &Certificate) -> Certificate {
        Certificate {
            upper10: self.upper10.min(other.upper10),
            lower10: self.lower10.max(other.lower10),
            upper11: self.upper11.min(other.upper11),
            lower11: self.lower11.max(other.lower11),
        }
    }
}

/// What a set of multipliers proves.
#[derive(Debug, Clone, PartialEq)]
pub struct DualPoint<M = Vec<f64>> {
    /// Lower bound on the optimum of (10).
    pub lower10: f64,
    /// Lower bound on the optimum of (11).
    pub lower11: f64,
    /// The multipliers, made feasible; they stay feasible when λ grows.
    pub multipliers: M,
}

/// Rounding can put the lower bound above the upper one by some 1e-15; the gap is then 0.
fn relative(upper: f64, lower: f64) -> f64 {
    if upper.is_finite() && lower.is_finite() {
        ((upper - lower) / upper.abs().max(f64::MIN_POSITIVE)).max(0.0)
    } else {
        f64::INFINITY
    }
}

impl<R: LossRows> Problem<R> {
    /// Bounds at the normalised parameters `w`, with the multipliers of the loss there.
    pub fn certificate(&self, w: &[f64]) -> Certificate {
        self.bounds(w, &self.dual_point(self.multipliers(w)))
    }

    /// Bounds at the normalised parameters `w`, with what other multipliers prove.
    pub fn bounds(&self, w: &[f64], dual: &DualPoint<R::Multipliers>) -> Certificate {
        let DualPoint { lower10, lower11, .. } = *dual;
        let [upper10, upper11] = self.objectives(w);
        Certificate { upper10, lower10, upper11, lower11 }
    }

    /// Both dual values of multipliers laid out as [`Problem::multipliers`], which are first made feasible.
    pub fn dual_point(&self, mut a: R::Multipliers) -> DualPoint<R::Multipliers> {
        let n = self.rows.layout().gather(self.likelihood.counts());
        let mut tilt = self.rows.tilt(&a);
        for _ in 0..REPAIRS {
            let q: Vec<f64> = n.iter().zip(&tilt).map(|(n, t)| n + t).collect();
            if q.iter().all(|q| *q >= 0.0) {
                break;
            }
            self.repair(&q, &mut a);
            tilt = self.rows.tilt(&a);
        }
        let fits = |(n, t): (&f64, &f64)| if *t < 0.0 { -n / t } else { 1.0 };
        let theta = n.iter().zip(&tilt).map(fits).fold(1.0, f64::min);
        tilt.iter_mut().for_each(|t| *t *= theta);
        let mut q = self.likelihood.counts().to_vec();
        self.rows.layout().scatter_add(&tilt, &mut q);
        let entropy = self.likelihood.entropy(&q);
        let (linear, smooth) = self.rows.dual_terms(&self.loss, &a, theta);
        if theta < 1.0 {
            self.rows.scale(theta, &mut a);
        }
        // A bound that is not a number proves nothing.
        let proven = |d: f64| if d.is_finite() { d } else { f64::NEG_INFINITY };
        let (lower10, lower11) = (proven(linear + entropy), proven(linear + smooth + entropy));
        DualPoint { lower10, lower11, multipliers: a }
    }

    /// Shrinks the multipliers of the competitors whose cells went below zero: each such cell allows the
    /// share `(q + U)/U` of the weight U that was taken from it.
    fn repair(&self, q: &[f64], a: &mut R::Multipliers) {
        let share = |(q, u): (&f64, f64)| if *q < 0.0 { ((q + u) / u).max(0.0) } else { 1.0 };
        let allowed: Vec<f64> = q.iter().zip(self.rows.taken(a)).map(share).collect();
        self.rows.shrink(&allowed, a);
    }

    /// Row terms of the dual of (11) for θ a.
    pub(in crate::margin) fn row_dual(&self, a: &R::Multipliers, theta: f64) -> f64 {
        let (linear, smooth) = self.rows.dual_terms(&self.loss, a, theta);
        linear + smooth
    }
}

impl Problem {
    /// Margins `S_{c_m} − S_c` of row `m` for a vector over the class-dependent cells.
    #[inline]
    pub fn margins(&self, m: usize, v: &[f64], out: &mut [f64]) {
        sum_groups(self.rows.groups(m), out.len(), v, out);
        let own = out[self.rows.class(m)];
        out.iter_mut().for_each(|s| *s = own - *s);
    }
}
