//! Bandwidth matrices in two dimensions: normal scale, and direct plug-in with one scalar pilot per order
//! (sum of asymptotic mean squared errors; Duong & Hazelton 2003, Chacón & Duong 2010). The criterion is
//! strictly convex in H, so damped Newton finds the one minimiser.

use super::functionals::kernel_derivative_at_zero;
use super::plane_functionals::{normal_plane_functionals, plane_functionals};
use crate::estimate::sample::PairSample;
use hingenet_base::numeric::linalg::{Cholesky, Matrix};

/// Symmetric 2 x 2 matrix `[[a, b], [b, c]]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Symmetric {
    /// Upper left.
    pub a: f64,
    /// Off the diagonal.
    pub b: f64,
    /// Lower right.
    pub c: f64,
}

impl Symmetric {
    /// The bandwidth matrix of a sample of `m` rows for all of them: its square roots fall with the sixth root.
    pub fn narrowed(&self, m: f64, all: f64) -> Symmetric {
        let squared = (m / all).min(1.0).cbrt();
        Symmetric { a: self.a * squared, b: self.b * squared, c: self.c * squared }
    }

    /// The determinant.
    pub fn det(&self) -> f64 {
        self.a * self.c - self.b * self.b
    }

    /// Whether the matrix is positive definite (NaN is not).
    pub fn is_positive_definite(&self) -> bool {
        self.a > 0.0 && self.c > 0.0 && self.det() > 0.0 && self.det().is_finite()
    }

    /// The symmetric square root of a positive definite matrix: `(S + √det I) / √(tr + 2 √det)`.
    pub fn root(&self) -> Symmetric {
        let s = self.det().sqrt();
        let t = (self.a + self.c + 2.0 * s).sqrt();
        Symmetric { a: (self.a + s) / t, b: self.b / t, c: (self.c + s) / t }
    }

    /// The inverse.
    pub fn inverse(&self) -> Symmetric {
        let d = self.det();
        Symmetric { a: self.c / d, b: -self.b / d, c: self.a / d }
    }

    /// `R self R` for symmetric R.
    pub fn between(&self, r: &Symmetric) -> Symmetric {
        let (p, q) = (self.a * r.a + self.b * r.b, self.a * r.b + self.b * r.c);
        let (s, t) = (self.b * r.a + self.c * r.b, self.b * r.b + self.c * r.c);
        Symmetric { a: r.a * p + r.b * s, b: r.a * q + r.b * t, c: r.b * q + r.c * t }
    }

    /// Raises eigenvalues below `least` to `least`.
    pub fn with_eigenvalues_at_least(&self, least: f64) -> Symmetric {
        let (mean, half) = (0.5 * (self.a + self.c), 0.5 * (self.a - self.c));
        let radius = half.hypot(self.b);
        let (low, high) = (mean - radius, mean + radius);
        if low >= least {
            return *self;
        }
        if radius == 0.0 || high <= least {
            let v = high.max(least);
            return Symmetric { a: v, b: 0.0, c: v };
        }
        // H + (least - low) u u', u the unit eigenvector of the smaller eigenvalue.
        let (cos2, sin2) = (half / radius, self.b / radius);
        let lift = least - low;
        Symmetric {
            a: self.a + lift * 0.5 * (1.0 - cos2),
            b: self.b - lift * 0.5 * sin2,
            c: self.c + lift * 0.5 * (1.0 + cos2),
        }
    }
}

/// Rule for the bandwidth matrix H of a pair of variables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlaneBandwidth {
    /// Direct plug-in, two stages, full matrix.
    PlugIn,
    /// Direct plug-in, one stage, full matrix.
    PlugInOneStage,
    /// `n^(-1/3) S`, optimal for normal data.
    Normal,
    /// Direct plug-in with a diagonal matrix.
    Diagonal,
    /// `n^(-1/3) diag(S)`: products of normal-scale kernels, one bandwidth for a variable in all its pairs.
    Product,
}

impl PlaneBandwidth {
    /// The bandwidth matrix of a sample whose covariance is positive definite.
    pub fn choose(&self, sample: &PairSample) -> Symmetric {
        match self {
            PlaneBandwidth::PlugIn => plug_in_plane(sample, PilotStages::Two).h,
            PlaneBandwidth::PlugInOneStage => plug_in_plane(sample, PilotStages::One).h,
            PlaneBandwidth::Normal => normal_scale_plane(sample),
            PlaneBandwidth::Diagonal => diagonal_plane(sample),
            PlaneBandwidth::Product => Symmetric { b: 0.0, ..normal_scale_plane(sample) },
        }
    }
}

/// Stages of the plug-in rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PilotStages {
    /// Normal-scale ψ of order 6 → g₄ → ψ₄.
    One,
    /// Normal-scale ψ of order 8 → g₆ → ψ₆ → g₄ → ψ₄.
    Two,
}

/// Stages of the plug-in rule, in sphered coordinates where not said otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanePlugIn {
    /// Pilot of order 6 and the functionals ψ_(6,0) .. ψ_(0,6) (two stages only).
    pub sixth: Option<(f64, Vec<f64>)>,
    /// Pilot of order 4.
    pub g4: f64,
    /// ψ_(4,0), ψ_(3,1), ψ_(2,2), ψ_(1,3), ψ_(0,4).
    pub psi4: [f64; 5],
    /// The minimum of the criterion.
    pub criterion: f64,
    /// The bandwidth matrix, in units of the data.
    pub h: Symmetric,
}

/// The normal-scale matrix `n^(-1/3) S`.
pub fn normal_scale_plane(sample: &PairSample) -> Symmetric {
    let [a, b, c] = sample.covariance();
    let f = sample.total().powf(-1.0 / 3.0);
    Symmetric { a: f * a, b: f * b, c: f * c }
}

/// Direct plug-in with a full matrix: sphere by `S^(-1/2)`, estimate ψ₄, minimise the criterion, undo the
/// sphering.
pub fn plug_in_plane(sample: &PairSample, stages: PilotStages) -> PlanePlugIn {
    let [a, b, c] = sample.covariance();
    let root = Symmetric { a, b, c }.root();
    let inverse = root.inverse();
    let z = sample.mapped([inverse.a, inverse.b, inverse.b, inverse.c]);
    let n = sample.total();
    let (sixth, g4, psi4) = functionals_of_order_four(&z, stages);
    let (sphered, criterion) = minimise(&psi4, n);
    PlanePlugIn { sixth, g4, psi4, criterion, h: sphered.between(&root) }
}

type Sixth = Option<(f64, Vec<f64>)>;

fn functionals_of_order_four(z: &PairSample, stages: PilotStages) -> (Sixth, f64, [f64; 5]) {
    let n = z.total();
    let (sixth, g4) = if stages == PilotStages::One {
        (None, pilot(4, n, &normal_plane_functionals(6)))
    } else {
        let g6 = pilot(6, n, &normal_plane_functionals(8));
        let psi6 = plane_functionals(z, 6, g6);
        let g4 = pilot(4, n, &psi6);
        (Some((g6, psi6)), g4)
    };
    let psi = plane_functionals(z, 4, g4);
    (sixth, g4, [psi[0], psi[1], psi[2], psi[3], psi[4]])
}

/// Pilot g of order m, the minimiser of the summed squared leading bias `K_r n⁻¹ g^-(m+2) + g² P_r / 2`
/// over the multi-indices with both entries even; `next` holds ψ of order m + 2.
fn pilot(m: usize, n: f64, next: &[f64]) -> f64 {
    let (mut a1, mut a2, mut a3) = (0.0, 0.0, 0.0);
    for r2 in (0..=m).step_by(2) {
        let k = kernel_derivative_at_zero(m - r2) * kernel_derivative_at_zero(r2);
        // ψ_(r1+2, r2) and ψ_(r1, r2+2): places r2 and r2 + 2 of order m + 2.
        let p = next[r2] + next[r2 + 2];
        a1 += k * k;
        a2 += k * p;
        a3 += p * p;
    }
    let order = m as f64 + 2.0;
    let (b1, b2) = (2.0 * order * a1, (order - 2.0) * a2);
    let gamma = (-b2 + (b2 * b2 + 4.0 * b1 * a3).sqrt()) / (2.0 * b1);
    (gamma * n).powf(-1.0 / (order + 2.0))
}

/// `PI(H) = 1/(4πn |H|^½) + Q(H)/4` with
/// `Q = a² ψ40 + 4ab ψ31 + (2ac + 4b²) ψ22 + 4bc ψ13 + c² ψ04`; infinite outside the cone.
pub fn plug_in_criterion(h: &Symmetric, psi4: &[f64; 5], n: f64) -> f64 {
    if !h.is_positive_definite() {
        return f64::INFINITY;
    }
    let t = [h.a, h.b, h.c];
    let m = quadratic_form(psi4);
    let q: f64 = (0..3).map(|i| t[i] * (0..3).map(|j| m[i][j] * t[j]).sum::<f64>()).sum();
    1.0 / (4.0 * std::f64::consts::PI * n * h.det().sqrt()) + 0.25 * q
}

fn quadratic_form(p: &[f64; 5]) -> [[f64; 3]; 3] {
    [[p[0], 2.0 * p[1], p[2]], [2.0 * p[1], 4.0 * p[2], 2.0 * p[3]], [p[2], 2.0 * p[3], p[4]]]
}

/// Damped Newton in (a, b, c) from `n^(-1/3) I`; backtracking keeps H positive definite. A handful of steps is enough.
fn minimise(psi4: &[f64; 5], n: f64) -> (Symmetric, f64) {
    let start = n.powf(-1.0 / 3.0);
    let mut h = Symmetric { a: start, b: 0.0, c: start };
    let mut value = plug_in_criterion(&h, psi4, n);
    for _ in 0..40 {
        let Some([a, b, c]) = newton_step(&h, psi4, n) else { break };
        let moved = |by: f64| Symmetric { a: h.a + by * a, b: h.b + by * b, c: h.c + by * c };
        let mut length = 1.0;
        while length > 1e-10 && plug_in_criterion(&moved(length), psi4, n) > value {
            length *= 0.5;
        }
        if length <= 1e-10 {
            break;
        }
        let relative = length * (a * a + b * b + c * c).sqrt() / (h.a + h.c);
        h = moved(length);
        value = plug_in_criterion(&h, psi4, n);
        if relative < 1e-12 {
            break;
        }
    }
    (h, value)
}

/// `-(∇²PI)⁻¹ ∇PI`, with `∇PI = -½ k det^(-3/2) (c, -2b, a) + M t / 2` and k = 1/(4πn).
fn newton_step(h: &Symmetric, psi4: &[f64; 5], n: f64) -> Option<[f64; 3]> {
    let k = 1.0 / (4.0 * std::f64::consts::PI * n);
    let det = h.det();
    let v = [h.c, -2.0 * h.b, h.a];
    let bend = [[0.0, 0.0, 1.0], [0.0, -2.0, 0.0], [1.0, 0.0, 0.0]];
    let (t, m) = ([h.a, h.b, h.c], quadratic_form(psi4));
    let (first, second) = (0.5 * k * det.powf(-1.5), 0.75 * k * det.powf(-2.5));
    let slope = |i: usize| -first * v[i] + 0.5 * (0..3).map(|j| m[i][j] * t[j]).sum::<f64>();
    let hessian = Matrix::from_fn(3, 3, |i, j| second * v[i] * v[j] - first * bend[i][j] + 0.5 * m[i][j]);
    let mut step = [-slope(0), -slope(1), -slope(2)];
    Cholesky::new(&hessian).ok()?.solve(&mut step);
    Some(step)
}

/// Direct plug-in over diagonal matrices: each axis divided by its sd, ψ₄ as in the full rule, then
/// `a³ = ψ04^¾ / (4πn ψ40^¾ (√(ψ40 ψ04) + ψ22))`, `c = a √(ψ40/ψ04)`.
pub fn diagonal_plane(sample: &PairSample) -> Symmetric {
    let [s11, _, s22] = sample.covariance();
    let z = sample.mapped([1.0 / s11.sqrt(), 0.0, 0.0, 1.0 / s22.sqrt()]);
    let (_, _, psi) = functionals_of_order_four(&z, PilotStages::Two);
    let (p40, p22, p04) = (psi[0], psi[2], psi[4]);
    let below = 4.0 * std::f64::consts::PI * sample.total() * p40.powf(0.75) * ((p40 * p04).sqrt() + p22);
    let a = (p04.powf(0.75) / below).cbrt();
    Symmetric { a: a * s11, b: 0.0, c: a * (p40 / p04).sqrt() * s22 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diagonal_rule_minimises_the_criterion_over_diagonal_matrices() {
        let sample = PairSample::drawn(80, 31, |x, noise| 5.0 * (0.7 * x + x * x * 0.3 + noise));
        let h = diagonal_plane(&sample);
        let [s11, _, s22] = sample.covariance();
        let z = sample.mapped([1.0 / s11.sqrt(), 0.0, 0.0, 1.0 / s22.sqrt()]);
        let (_, _, psi) = functionals_of_order_four(&z, PilotStages::Two);
        let value = |p: f64, q: f64| {
            let scaled = Symmetric { a: p * h.a / s11, b: 0.0, c: q * h.c / s22 };
            plug_in_criterion(&scaled, &psi, sample.total())
        };
        for (p, q) in [(0.99, 1.0), (1.01, 1.0), (1.0, 0.99), (1.0, 1.01), (0.9, 1.2), (1.3, 1.3)] {
            assert!(value(1.0, 1.0) < value(p, q), "{p} {q}");
        }
        let product = PlaneBandwidth::Product.choose(&sample);
        let normal = |s: f64| sample.total().powf(-1.0 / 3.0) * s;
        assert_eq!((h.b, product), (0.0, Symmetric { a: normal(s11), b: 0.0, c: normal(s22) }));
    }
}
