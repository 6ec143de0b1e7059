//! Mutual information of pairs of features: resubstitution from kernel densities, and the Epanechnikov
//! estimate with its jackknife correction that the paper's software used.

use crate::estimate::sample::PairSample;
use hingenet_base::error::{Result, require};

/// `m⁻¹ Σ_l log [p(x_l, y_l) / (p(x_l) p(y_l))]` from log densities at the rows, weighted.
pub fn mutual_information(joint: &[f64], first: &[f64], second: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let sum: f64 = (0..joint.len()).map(|l| weights[l] * (joint[l] - first[l] - second[l])).sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Mutual information with the product kernel `(1 - u²)₊` of support [-h, h]; no normalising constants:
/// `MI = m⁻¹ Σ_l log(S_xy,l / (S_x,l S_y,l)) + log m`, row sums S with the own term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpanechnikovInformation {
    /// The plain estimate.
    pub plain: f64,
    /// `m MI - (m-1) mean_k MI_(-k)`, row k left out of the sums and of the mean.
    pub jackknife: f64,
}

/// The Epanechnikov estimate of a sample of pairs with weights 1.
pub fn epanechnikov_information(sample: &PairSample, h: (f64, f64)) -> Result<EpanechnikovInformation> {
    for width in [h.0, h.1] {
        require("bandwidth", width, "a finite number > 0", width.is_finite() && width > 0.0)?;
    }
    require("rows", sample.len(), "at least 2", sample.len() >= 2)?;
    let m = sample.len();
    let bump = |u: f64| (1.0 - u * u).max(0.0);
    let kx = |l: usize, k: usize| bump((sample.x()[l] - sample.x()[k]) / h.0);
    let ky = |l: usize, k: usize| bump((sample.y()[l] - sample.y()[k]) / h.1);
    let sums: Vec<[f64; 3]> = (0..m)
        .map(|l| {
            (0..m).fold([0.0; 3], |[xy, x, y], k| {
                let (a, b) = (kx(l, k), ky(l, k));
                [xy + a * b, x + a, y + b]
            })
        })
        .collect();
    let term = |[xy, x, y]: [f64; 3]| (xy / (x * y)).ln();
    let plain = sums.iter().map(|s| term(*s)).sum::<f64>() / m as f64 + (m as f64).ln();
    let without = |k: usize| {
        let left = (0..m).filter(|&l| l != k).map(|l| {
            let (a, b) = (kx(l, k), ky(l, k));
            term([sums[l][0] - a * b, sums[l][1] - a, sums[l][2] - b])
        });
        left.sum::<f64>() / (m - 1) as f64 + ((m - 1) as f64).ln()
    };
    let mean_without = (0..m).map(without).sum::<f64>() / m as f64;
    let jackknife = m as f64 * plain - (m - 1) as f64 * mean_without;
    Ok(EpanechnikovInformation { plain, jackknife })
}
