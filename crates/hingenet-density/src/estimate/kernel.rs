//! Gaussian kernel density estimates of one and two variables, evaluated in log space: `p(x) = (1/m) Σ_i K(x - x_i)`. Few kernels
//! are added one by one, many by way of nodes to nearly ten digits. Where the own kernel is most of a leave-one-out sum, it is
//! omitted, not subtracted.

use super::bandwidth::Symmetric;
use super::kernel_grid::{LONG, SHORT, add_lanes, least_share, line_sums, plane_sums};
use super::sample::{PairSample, Sample};
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::simd::{LANES, fused_exp, vectorised};

/// Direct sums of kernels above this have all their digits; below it the largest exponent is taken out first.
const SAFE: f64 = 1e-250;

/// `ln √(2π)`.
const LOG_ROOT_TAU: f64 = 0.918_938_533_204_672_7;

/// Gaussian kernel density estimate in D dimensions with the bandwidth matrix `H = L L'`. Centres and queries are
/// `L⁻¹ (x - x_0)`: measured from the first one, a large common shift costs no digits.
#[derive(Debug, Clone, PartialEq)]
pub struct Kde<const D: usize> {
    /// Centres, coordinate by coordinate.
    centres: [Vec<f64>; D],
    weights: Vec<f64>,
    /// Total weight m of the rows behind the estimate.
    pub total: f64,
    /// `log K(0)`, the kernel's peak: no value of the estimate is above it.
    pub log_peak: f64,
    origin: [f64; D],
    /// `l11, l21, l22`; of one variable the bandwidth alone.
    factor: [f64; 3],
}

/// Density estimate of one variable.
pub type LineKde = Kde<1>;

/// Density estimate of two variables.
pub type PlaneKde = Kde<2>;

impl Kde<1> {
    /// The estimate with bandwidth h > 0.
    pub fn new(sample: &Sample, h: f64) -> Result<Self> {
        require("bandwidth", h, "a finite number > 0", h.is_finite() && h > 0.0)?;
        if sample.is_empty() {
            return Err(Error::data("a density needs at least one value", "drop the column"));
        }
        Ok(Self::around([sample], [h, 0.0, 1.0], -LOG_ROOT_TAU - h.ln()))
    }

    /// The bandwidth.
    pub fn h(&self) -> f64 {
        self.factor[0]
    }
}

impl Kde<2> {
    /// The estimate with a positive definite bandwidth matrix.
    pub fn new(sample: &PairSample, h: Symmetric) -> Result<Self> {
        let shown = format!("[[{}, {}], [{}, {}]]", h.a, h.b, h.b, h.c);
        require("bandwidth matrix", shown, "a positive definite matrix", h.is_positive_definite())?;
        if sample.is_empty() {
            return Err(Error::data("a density needs at least one pair of values", "drop the pair"));
        }
        let l11 = h.a.sqrt();
        let l21 = h.b / l11;
        let l22 = (h.c - l21 * l21).sqrt();
        // log K(0) = -log(2π |H|^½).
        let log_peak = -2.0 * LOG_ROOT_TAU - l11.ln() - l22.ln();
        Ok(Self::around(sample.axes.each_ref(), [l11, l21, l22], log_peak))
    }
}

impl<const D: usize> Kde<D> {
    fn around(axes: [&Sample; D], factor: [f64; 3], log_peak: f64) -> Self {
        let origin = axes.map(|axis| axis.values[0]);
        Kde {
            centres: whitened(axes.map(|axis| &axis.values[..]), origin, factor),
            weights: axes[0].weights.clone(),
            total: axes[0].total,
            log_peak,
            origin,
            factor,
        }
    }

    /// `log p` at every query, given coordinate by coordinate; `own` says which training row a query is: its kernel is left out
    /// (one copy of it, if the row has a weight above 1).
    pub fn log_densities(&self, at: [&[f64]; D], own: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
        self.log_densities_above(f64::NEG_INFINITY, at, own)
    }

    /// As [`Self::log_densities`] for readers that do not tell values below `least` apart: those come out no higher.
    pub fn log_densities_above(
        &self,
        least: f64,
        at: [&[f64]; D],
        own: impl Fn(usize) -> Option<usize>,
    ) -> Vec<f64> {
        Reader { kde: self, at: whitened(at, self.origin, self.factor), least }.values(own)
    }
}

/// `L⁻¹ (x - x_0)` of every point.
fn whitened<const D: usize>(at: [&[f64]; D], origin: [f64; D], [l11, l21, l22]: [f64; 3]) -> [Vec<f64>; D] {
    let mut out = at.map(<[f64]>::to_vec);
    out[0].iter_mut().for_each(|x| *x = (*x - origin[0]) / l11);
    if let [first, second] = &mut out[..] {
        second.iter_mut().zip(first).for_each(|(y, s)| *y = (*y - origin[D - 1] - l21 * *s) / l22);
    }
    out
}

/// What leaving a row out takes from the weight of the merged row it belongs to: one row, so that the other
/// copies of a repeated row stay. (Without them a row of a table of categories would make its own class look
/// less likely than the others.)
#[inline(always)]
pub fn one_row(weight: f64) -> f64 {
    weight.min(1.0)
}

/// Values of an estimate at some queries, read off its sums of kernels.
struct Reader<'a, const D: usize> {
    kde: &'a Kde<D>,
    /// The queries in units of the bandwidth, coordinate by coordinate.
    at: [Vec<f64>; D],
    /// Values below it are not told apart.
    least: f64,
}

impl<const D: usize> Reader<'_, D> {
    /// Values from sums over the nodes of a grid where these have enough digits, else from direct sums.
    fn values(&self, own: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
        let Kde { weights, total, log_peak, .. } = self.kde;
        let queries = self.at[0].len();
        let sums = match self.stencil() {
            SHORT => self.sums_on_nodes::<SHORT>(),
            _ => self.sums_on_nodes::<LONG>(),
        };
        let Some(sums) = sums else { return self.direct(&(0..queries).collect::<Vec<_>>(), own) };
        let least_sum = 2.0 * least_share(self.stencil()) * total;
        let too_low_to_matter = self.reached_by(self.stencil());
        let mut out = vec![0.0; queries];
        let mut again = Vec::new();
        for (q, sum) in sums.into_iter().enumerate() {
            let less = own(q).map_or(0.0, |i| one_row(weights[i]));
            // Of a sum that is mostly the own kernel, leaving it out would leave mostly the error.
            if sum >= 2.0 * less && (sum >= least_sum || too_low_to_matter) {
                out[q] = log_peak + ((sum - less) / (total - less)).ln();
            } else {
                again.push(q);
            }
        }
        again.iter().zip(self.direct(&again, own)).for_each(|(&q, v)| out[q] = v);
        out
    }

    /// Sums at all queries by way of nodes; `None` where direct sums are cheaper.
    fn sums_on_nodes<const N: usize>(&self) -> Option<Vec<f64>> {
        match (&self.kde.centres[..], &self.at[..]) {
            ([centres], [at]) => line_sums::<N>(centres, &self.kde.weights, at),
            ([first, second], [s, t]) => plane_sums::<N>((first, second), &self.kde.weights, (s, t)),
            _ => None,
        }
    }

    /// The values of some queries, kernel by kernel.
    fn direct(&self, some: &[usize], own: impl Fn(usize) -> Option<usize>) -> Vec<f64> {
        let mut out = vec![0.0; some.len()];
        let Kde { total, log_peak, .. } = self.kde;
        let mut weights = self.kde.weights.clone();
        let digits_matter = self.least < log_peak + SAFE.ln() - total.ln();
        let safe = if digits_matter { SAFE } else { -1.0 };
        let (first, second) = (&self.kde.centres[0][..], &self.kde.centres[D - 1][..]);
        // Plain loops: what is called through iterators is not compiled for the wide instructions.
        vectorised(
            #[inline(always)]
            || {
                for (value, &q) in out.iter_mut().zip(some) {
                    let own = own(q);
                    let less = own.map_or(0.0, |i| one_row(weights[i]));
                    if let Some(i) = own {
                        weights[i] -= less;
                    }
                    let (s, t) = (self.at[0][q], self.at[D - 1][q]);
                    let squares = |from: usize, out: &mut [f64; BLOCK]| {
                        for (d, (a, b)) in out.iter_mut().zip(first[from..].iter().zip(&second[from..])) {
                            let (u, v) = (s - a, t - b);
                            *d = if D == 1 { u * u } else { u.mul_add(u, v * v) };
                        }
                    };
                    *value = log_peak + log_mean(&weights, total - less, safe, squares);
                    if let Some(i) = own {
                        weights[i] = self.kde.weights[i];
                    }
                }
            },
        );
        out
    }

    /// Whether all values that are told apart are precise on such stencils.
    fn reached_by(&self, stencil: usize) -> bool {
        self.least > self.kde.log_peak + (2.0 * least_share(stencil)).ln()
    }

    /// The short stencil, unless the long one saves direct sums.
    fn stencil(&self) -> usize {
        if self.reached_by(LONG) && !self.reached_by(SHORT) { LONG } else { SHORT }
    }
}

/// `log (m⁻¹ Σ_i w_i exp(-½ d_i²))`; a sum not above `safe`, so small that it has lost digits, is computed again with the largest
/// exponent taken out. `-inf` if no kernel is left.
#[inline(always)]
fn log_mean(weights: &[f64], m: f64, safe: f64, squares: impl Fn(usize, &mut [f64; BLOCK])) -> f64 {
    let sum = kernel_sum(weights, 0.0, &squares);
    if sum > safe && m > 0.0 {
        return (sum / m).ln();
    }
    let least = nearest(weights, &squares);
    if least == f64::INFINITY || m <= 0.0 {
        return f64::NEG_INFINITY;
    }
    (kernel_sum(weights, 0.5 * least, squares) / m).ln() - 0.5 * least
}

/// Kernels a direct sum works on together. (Shorter loops are unrolled before they are made wide.)
const BLOCK: usize = 64;

/// `Σ_i w_i exp(s - ½ d_i²)`, block by block in running sums of fixed order; `squares` writes d² of the kernels from its first
/// argument on.
#[inline(always)]
fn kernel_sum(weights: &[f64], shift: f64, squares: impl Fn(usize, &mut [f64; BLOCK])) -> f64 {
    let mut terms = [0.0; BLOCK];
    let mut sums = [0.0; LANES];
    for (block, w) in weights.chunks(BLOCK).enumerate() {
        squares(block * BLOCK, &mut terms);
        for term in &mut terms {
            *term = fused_exp((-0.5f64).mul_add(*term, shift));
        }
        for (term, w) in terms.iter_mut().zip(w) {
            *term *= w;
        }
        terms[w.len()..].fill(0.0);
        for term in terms.chunks_exact(LANES) {
            for l in 0..LANES {
                sums[l] += term[l];
            }
        }
    }
    add_lanes(&sums)
}

/// The smallest d² of a kernel that is present; infinite if there is none.
#[inline(always)]
fn nearest(weights: &[f64], squares: impl Fn(usize, &mut [f64; BLOCK])) -> f64 {
    let mut terms = [0.0; BLOCK];
    let mut least = f64::INFINITY;
    for (block, w) in weights.chunks(BLOCK).enumerate() {
        squares(block * BLOCK, &mut terms);
        for (d, w) in terms.iter().zip(w) {
            least = if *w > 0.0 && *d < least { *d } else { least };
        }
    }
    least
}

/// Lower end of a log-density feature (Remark 2 of the paper leaves it open): the density that one lone
/// training point produces R bandwidths away, `log K(0) - log m - R²/2`. It is equivariant under rescaling.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Floor {
    /// R bandwidths.
    Bandwidths(f64),
    /// An absolute log density.
    Absolute(f64),
    /// No floor.
    None,
}

impl Floor {
    /// The smallest log density for an estimate with this peak and total weight. Less than one row counts as
    /// one: the floor must not lie above the peak.
    pub fn log_value(&self, log_peak: f64, total: f64) -> f64 {
        match self {
            Floor::Bandwidths(r) => log_peak - total.max(1.0).ln() - 0.5 * r * r,
            Floor::Absolute(v) => *v,
            Floor::None => f64::NEG_INFINITY,
        }
    }

    /// Refuses NaN, and a negative number of bandwidths.
    pub fn check(&self) -> Result<()> {
        match self {
            Floor::Bandwidths(r) => require("floor", r, "a finite number >= 0", r.is_finite() && *r >= 0.0),
            Floor::Absolute(v) => require("floor", v, "a finite log density", v.is_finite()),
            Floor::None => Ok(()),
        }
    }
}
