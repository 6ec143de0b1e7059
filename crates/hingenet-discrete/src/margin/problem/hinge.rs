//! The soft hinge of problem (11) and its conjugate: the hinge max(0, z) with its kink replaced by an arc
//! of radius R tangent to both sides.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Below this radius the arc is narrower than rounding and the plain hinge is used.
const SMALLEST_RADIUS: f64 = 1e-8;

/// `h_R`; the arc has its centre at `(μ, R)` with `μ = R (1 − √2)` and ends at `R (1 − 1/√2)`. Radius 0 is
/// the plain hinge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftHinge {
    radius: f64,
    start: f64,
    end: f64,
}

impl SoftHinge {
    /// Largest value of `h_R(z) − max(0, z)`, attained at z = 0, for R = 1.
    pub const LIFT: f64 = 0.089_820_278_875_545_36;

    /// The hinge with an arc of this radius.
    pub fn new(radius: f64) -> Self {
        if radius < SMALLEST_RADIUS {
            return SoftHinge { radius: 0.0, start: 0.0, end: 0.0 };
        }
        SoftHinge { radius, start: radius * (1.0 - SQRT_2), end: radius * (1.0 - FRAC_1_SQRT_2) }
    }

    /// Where the slope starts to differ from 0.
    pub fn start(&self) -> f64 {
        self.start
    }

    /// `h_R(z)` and `h_R'(z)`.
    #[inline]
    pub fn value_and_slope(&self, z: f64) -> (f64, f64) {
        if z < self.start || (self.radius == 0.0 && z <= 0.0) {
            (0.0, 0.0)
        } else if z < self.end {
            let x = z - self.start;
            let root = (self.radius * self.radius - x * x).sqrt();
            (x * x / (self.radius + root), x / root)
        } else {
            (z, 1.0)
        }
    }

    /// [`SoftHinge::value_and_slope`] for many z, which the values replace; without branches, in vectors.
    #[inline(always)]
    pub fn values_and_slopes(&self, z: &mut [f64], slopes: &mut [f64]) {
        if self.radius == 0.0 {
            for (z, slope) in z.iter_mut().zip(slopes) {
                *slope = if *z > 0.0 { 1.0 } else { 0.0 };
                *z *= *slope;
            }
            return;
        }
        for (z, slope) in z.iter_mut().zip(slopes) {
            // The arc between its ends, then the straight line from there.
            let on_arc = if *z < self.end { *z } else { self.end };
            let x = if on_arc > self.start { on_arc - self.start } else { 0.0 };
            let root = (self.radius * self.radius - x * x).sqrt();
            let steep = x / root;
            *slope = if steep < 1.0 { steep } else { 1.0 };
            *z = x * x / (self.radius + root) + (*z - on_arc);
        }
    }

    /// `h_R''(z)`: R² / (R² − (z − μ)²)^{3/2} on the arc, else 0.
    #[inline]
    pub fn curvature(&self, z: f64) -> f64 {
        if z < self.start || z >= self.end {
            return 0.0;
        }
        let x = z - self.start;
        let square = self.radius * self.radius - x * x;
        self.radius * self.radius / (square * square.sqrt())
    }

    /// Conjugate `h*(y) = R (y (1 − √2) + √(1 + y²) − 1)` for 0 ≤ y ≤ 1; at most 0, and 0 at both ends.
    pub fn conjugate(&self, y: f64) -> f64 {
        // √(1 + y²) − 1 without cancellation.
        self.radius * (y * (1.0 - SQRT_2) + y * y / (1.0 + (1.0 + y * y).sqrt()))
    }

    /// First and second derivative of the conjugate.
    pub fn conjugate_slopes(&self, y: f64) -> (f64, f64) {
        let square = 1.0 + y * y;
        let root = square.sqrt();
        (self.radius * ((1.0 - SQRT_2) + y / root), self.radius / (square * root))
    }
}
