//! Margin loss of one row, Eq. (11): soft hinge of the soft maximum over the wrong classes,
//!
//! ```text
//! t_m = (1/η) ln Σ_{c ≠ c_m} exp(η (γ + S_c − S_{c_m})),     loss = λ s_m h_R(t_m)
//! ```
//!
//! R = 0 and η = ∞ give the hinge of problem (10).

use super::block::ScoreBlock;
use super::hinge::SoftHinge;
use super::rows::RowLoss;
use hingenet_base::numeric::simd::{self, vectorised};

/// How far problem (11) is smoothed: arc radius R and sharpness η of the soft maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothing {
    /// Radius R of the arc; 0 is the plain hinge.
    pub radius: f64,
    /// Sharpness η of the soft maximum; infinity is the maximum.
    pub eta: f64,
}

impl Smoothing {
    /// No smoothing: problem (10).
    pub const NONE: Smoothing = Smoothing { radius: 0.0, eta: f64::INFINITY };

    /// The same problem smoothed `factor` times as far.
    pub fn scaled(self, factor: f64) -> Self {
        Smoothing { radius: self.radius * factor, eta: self.eta / factor }
    }
}

/// The loss of every row of one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct MarginLoss {
    lambda: f64,
    n_classes: usize,
    /// Required log margin γ.
    gamma: f64,
    hinge: SoftHinge,
    radius: f64,
    eta: f64,
    /// No row whose largest difference lies below has a loss.
    quiet_below: f64,
}

impl MarginLoss {
    /// Weight λ, number of classes, required log margin γ.
    pub fn new(lambda: f64, n_classes: usize, gamma: f64, smoothing: Smoothing) -> Self {
        let hinge = SoftHinge::new(smoothing.radius);
        let lift =
            if smoothing.eta.is_finite() { ((n_classes - 1) as f64).ln() / smoothing.eta } else { 0.0 };
        let quiet_below = hinge.start() - lift;
        let Smoothing { radius, eta } = smoothing;
        MarginLoss { lambda, n_classes, gamma, hinge, radius, eta, quiet_below }
    }

    /// The same loss with other smoothing.
    pub fn with_smoothing(&self, smoothing: Smoothing) -> Self {
        Self::new(self.lambda, self.n_classes, self.gamma, smoothing)
    }

    /// The same loss with another λ.
    pub fn with_lambda(&self, lambda: f64) -> Self {
        MarginLoss { lambda, ..self.clone() }
    }

    /// Weight λ of the loss.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// Required log margin γ.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The soft hinge.
    pub fn hinge(&self) -> &SoftHinge {
        &self.hinge
    }

    /// Arc radius and sharpness.
    pub fn smoothing(&self) -> Smoothing {
        Smoothing { radius: self.radius, eta: self.eta }
    }

    /// Sharpness η; infinite for the plain maximum.
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// Whether this is the loss of problem (11); else that of (10).
    pub fn is_smooth(&self) -> bool {
        self.hinge.start() < 0.0 || (self.eta.is_finite() && self.n_classes > 2)
    }

    /// Replaces `s` by the differences `γ + S_c − S_{c_m}` (−∞ at the own class) and returns the largest.
    #[inline(always)]
    fn differences(&self, class: usize, s: &mut [f64]) -> f64 {
        let own = s[class];
        let mut max = f64::NEG_INFINITY;
        s.iter_mut().for_each(|x| *x = self.gamma + *x - own);
        s[class] = f64::NEG_INFINITY;
        for x in s.iter() {
            max = max.max(*x);
        }
        max
    }

    /// Turns differences into the shares π_c and returns t.
    #[inline(always)]
    fn soft_maximum(&self, max: f64, s: &mut [f64]) -> f64 {
        if self.takes_all() {
            // One competitor, or the plain maximum: the first largest takes all.
            let mut free = 1.0;
            for x in s.iter_mut() {
                let share = if *x == max { free } else { 0.0 };
                free -= share;
                *x = share;
            }
            return max;
        }
        let mut total = 0.0;
        for x in s.iter_mut() {
            let behind = self.eta * (*x - max);
            // Most are the largest, or too far behind to count: no exponential for them.
            *x = if behind == 0.0 {
                1.0
            } else if behind > TOO_FAR {
                behind.exp()
            } else {
                0.0
            };
            total += *x;
        }
        s.iter_mut().for_each(|x| *x /= total);
        max + total.ln() / self.eta
    }
}

type Line = [f64; ScoreBlock::ROWS];

/// Rows that vectors take together.
const STEP: usize = 8;

/// [`RowLoss::first`] for a block, in loops without branches: where classes overlap no branch of it can be foretold.
impl MarginLoss {
    #[inline(always)]
    fn block_losses(&self, class: usize, weights: &[f64], block: &mut ScoreBlock) -> f64 {
        let mut max = self.block_differences(class, block);
        let kept = block.keep(weights.len(), |r| max[r] > self.quiet_below);
        if kept == 0 {
            return 0.0;
        }
        block.pack_all();
        block.pack(&mut max);
        let mut scale = [0.0; ScoreBlock::ROWS];
        scale[..weights.len()].copy_from_slice(weights);
        block.pack(&mut scale);
        let width = kept.next_multiple_of(STEP);
        let total = self.block_shares(class, &max, width, block);
        if !self.takes_all() {
            max[..width].iter_mut().zip(&total).for_each(|(t, z)| *t += simd::ln(*z) / self.eta);
        }
        let mut value = max;
        let slope = block.line(class);
        self.hinge.values_and_slopes(&mut value[..width], &mut slope[..width]);
        slope[..width].iter_mut().zip(&scale).for_each(|(b, s)| *b *= -self.lambda * s);
        let slope = *slope;
        for c in (0..self.n_classes).filter(|c| *c != class) {
            block.line(c)[..width].iter_mut().zip(&slope).zip(&total).for_each(|((x, b), z)| *x *= -b / z);
        }
        value[..kept].iter().zip(&scale).map(|(h, s)| self.lambda * s * h).sum()
    }

    /// Replaces the scores of the wrong classes by the differences `γ + S_c − S_{c_m}`; the largest of each row.
    #[inline(always)]
    fn block_differences(&self, class: usize, block: &mut ScoreBlock) -> Line {
        let own = *block.line(class);
        let mut max = [f64::NEG_INFINITY; ScoreBlock::ROWS];
        for c in (0..self.n_classes).filter(|c| *c != class) {
            for ((x, max), own) in block.line(c).iter_mut().zip(&mut max).zip(&own) {
                *x = self.gamma + *x - own;
                *max = if *x > *max { *x } else { *max };
            }
        }
        max
    }

    /// Whether the largest difference alone counts: one competitor, or the plain maximum.
    #[inline(always)]
    fn takes_all(&self) -> bool {
        self.n_classes == 2 || self.eta.is_infinite()
    }

    /// Replaces differences by shares that add up to the returned totals.
    #[inline(always)]
    fn block_shares(&self, class: usize, max: &Line, width: usize, block: &mut ScoreBlock) -> Line {
        let mut total = [0.0; ScoreBlock::ROWS];
        for c in (0..self.n_classes).filter(|c| *c != class) {
            let cells = block.line(c)[..width].iter_mut().zip(max).zip(&mut total);
            if self.takes_all() {
                cells.for_each(|((x, max), total)| {
                    // The first largest.
                    *x = if *x == *max { 1.0 - *total } else { 0.0 };
                    *total += *x;
                });
            } else {
                cells.for_each(|((x, max), total)| {
                    let behind = self.eta * (*x - max);
                    *x = if behind > TOO_FAR { simd::exp(behind) } else { 0.0 };
                    *total += *x;
                });
            }
        }
        total
    }
}

/// The loss of one row and how it bends.
pub(in crate::margin) struct Bend {
    /// The loss.
    pub value: f64,
    /// The loss of problem (10).
    pub plain: f64,
    /// Whether there are second derivatives.
    pub curved: bool,
}

impl MarginLoss {
    /// As [`RowLoss::first`], with the second derivatives: those `right` of the diagonal, line by line (the matrix
    /// is symmetric and its lines add up to 0), and in `pull` their product with the differences
    /// `γ + S_c − S_{c_m}`.
    #[inline(always)]
    pub(in crate::margin) fn bend(
        &self,
        class: usize,
        weight: f64,
        s: &mut [f64],
        right: &mut [f64],
        pull: &mut [f64],
    ) -> Option<Bend> {
        let max = self.differences(class, s);
        if max <= self.quiet_below {
            return None;
        }
        pull.copy_from_slice(s);
        pull[class] = 0.0;
        let t = self.soft_maximum(max, s);
        let (value, slope) = self.hinge.value_and_slope(t);
        if slope == 0.0 {
            return None;
        }
        let scale = self.lambda * weight;
        let along = scale * self.hinge.curvature(t);
        // Between two competitors: (h'' − η h') π_c π_d; against the own class: −h'' π_c.
        let spread = if self.eta.is_finite() { scale * slope * self.eta } else { 0.0 };
        let across = along - spread;
        let k = self.n_classes;
        let mut curved = along > 0.0;
        let pairs = (0..k).flat_map(|c| (c + 1..k).map(move |d| (c, d)));
        for (x, (c, d)) in right.iter_mut().zip(pairs) {
            *x = if c == class || d == class { -along * (s[c] + s[d]) } else { across * s[c] * s[d] };
            curved |= *x < -FLAT * scale;
        }
        let mean: f64 = s.iter().zip(pull.iter()).map(|(p, d)| p * d).sum();
        pull.iter_mut().zip(s.iter()).for_each(|(d, p)| *d = p * (along * mean + spread * (*d - mean)));
        pull[class] = -along * mean;
        let b = scale * slope;
        s.iter_mut().for_each(|share| *share *= b);
        s[class] = -b;
        Some(Bend { value: scale * value, plain: scale * max.max(0.0), curved })
    }
}

/// Second derivatives below this part of the weight are left out.
const FLAT: f64 = 1e-9;

/// Logarithm of the share of a competitor that no longer changes a sum.
const TOO_FAR: f64 = -40.0;

/// The soft maximum t of a row with a loss, hinge and slope there.
struct Active {
    t: f64,
    value: f64,
    slope: f64,
}

impl MarginLoss {
    /// Replaces scores by the shares π_c; `None` if the row has no loss.
    #[inline(always)]
    fn active(&self, class: usize, s: &mut [f64]) -> Option<Active> {
        let max = self.differences(class, s);
        if max <= self.quiet_below {
            return None;
        }
        let t = self.soft_maximum(max, s);
        let (value, slope) = self.hinge.value_and_slope(t);
        (slope != 0.0).then_some(Active { t, value, slope })
    }
}

impl MarginLoss {
    /// Replaces the direction `ds` by the Hessian of the loss at `scores` times `ds`; `false` when it is zero.
    #[inline(always)]
    pub fn second(&self, class: usize, weight: f64, scores: &[f64], ds: &mut [f64]) -> bool {
        let mut share = [0.0; 64];
        let mut large;
        let pi: &mut [f64] = if scores.len() <= 64 {
            &mut share[..scores.len()]
        } else {
            large = vec![0.0; scores.len()];
            &mut large
        };
        pi.copy_from_slice(scores);
        let Some(Active { t, slope, .. }) = self.active(class, pi) else { return false };
        let own = ds[class];
        let dt: f64 = pi.iter().zip(ds.iter()).map(|(p, d)| p * (d - own)).sum();
        let scale = self.lambda * weight;
        let along = scale * self.hinge.curvature(t) * dt;
        let spread = if self.eta.is_finite() { scale * slope * self.eta } else { 0.0 };
        let mut back = 0.0;
        for (p, d) in pi.iter().zip(ds.iter_mut()) {
            *d = p * (along + spread * (*d - own - dt));
            back += *d;
        }
        ds[class] = -back;
        true
    }
}

impl RowLoss for MarginLoss {
    #[inline(always)]
    fn first(&self, class: usize, weight: f64, s: &mut [f64]) -> Option<f64> {
        let Active { value, slope, .. } = self.active(class, s)?;
        let scale = self.lambda * weight;
        let b = scale * slope;
        s.iter_mut().for_each(|share| *share *= b);
        s[class] = -b;
        Some(scale * value)
    }

    fn first_block(&self, class: usize, weights: &[f64], block: &mut ScoreBlock) -> f64 {
        vectorised(
            #[inline(always)]
            || self.block_losses(class, weights, block),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    /// Losses and derivatives of a block are those of its rows, one by one.
    #[test]
    fn a_block_of_rows_gives_what_its_rows_give() {
        let mut random = Random::new(5);
        for k in [2, 3, 5, 70] {
            for smoothing in
                [Smoothing { radius: 1.0, eta: 10.0 }, Smoothing { radius: 0.3, eta: 2.0 }, Smoothing::NONE]
            {
                let loss = MarginLoss::new(2.5, k, 3.0 * random.uniform(), smoothing);
                for n in [1, 7, 8, 63, 64] {
                    let class = random.below(k);
                    let weights: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
                    let scores: Vec<Vec<f64>> =
                        (0..n).map(|_| (0..k).map(|_| 2.0 * random.normal()).collect()).collect();
                    let mut block = ScoreBlock::new(k);
                    scores.iter().enumerate().for_each(|(r, s)| block.write(r, s));
                    let total = loss.first_block(class, &weights, &mut block);
                    let kept: Vec<usize> = block.kept().collect();
                    let mut expected = 0.0;
                    let (mut slopes, mut next) = (vec![0.0; k], 0);
                    for (r, mut s) in scores.into_iter().enumerate() {
                        let value = loss.first(class, weights[r], &mut s);
                        expected += value.unwrap_or(0.0);
                        if kept.get(next) != Some(&r) {
                            assert_eq!(value, None);
                            continue;
                        }
                        block.read(next, &mut slopes);
                        next += 1;
                        if value.is_none() {
                            s.fill(0.0);
                        }
                        for (a, b) in s.iter().zip(&slopes) {
                            assert!((a - b).abs() <= 1e-13, "{k} classes, {smoothing:?}: {s:?} {slopes:?}");
                        }
                    }
                    assert!((total - expected).abs() <= 1e-13 * (1.0 + expected), "{total} {expected}");
                }
            }
        }
    }
}
