//! Bandwidths in one dimension: rules of thumb and the direct plug-in rule of Wand & Jones (1994).

use super::functionals::functional;
use super::least_squares;
use crate::estimate::sample::Sample;

/// Rule for the bandwidth h of one variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LineBandwidth {
    /// Direct plug-in, two stages.
    PlugIn,
    /// Direct plug-in, one stage.
    PlugInOneStage,
    /// `(4/(3n))^(1/5) sd`, optimal for normal data.
    Normal,
    /// `0.9 min(sd, IQR/1.34) n^(-1/5)`.
    Silverman,
    /// `1.06 min(sd, IQR/1.34) n^(-1/5)`.
    Scott,
    /// Least-squares cross-validation.
    LeastSquares,
}

impl LineBandwidth {
    /// The bandwidth of a sample. A constant sample gives 0 (the caller applies its lower bound).
    pub fn choose(&self, sample: &Sample) -> f64 {
        if sample.is_constant() {
            return 0.0;
        }
        match self {
            LineBandwidth::PlugIn => plug_in(sample).h,
            LineBandwidth::PlugInOneStage => plug_in_one_stage(sample).h,
            LineBandwidth::Normal => normal_scale(sample),
            LineBandwidth::Silverman => silverman(sample),
            LineBandwidth::Scott => scott(sample),
            LineBandwidth::LeastSquares => least_squares(sample),
        }
    }
}

/// The normal-scale bandwidth `(4/(3n))^(1/5) sd`.
pub fn normal_scale(sample: &Sample) -> f64 {
    (4.0 / (3.0 * sample.total)).powf(0.2) * sample.sd()
}

/// Silverman's rule; where the smaller spread is 0, sd is used.
pub fn silverman(sample: &Sample) -> f64 {
    0.9 * robust_spread(sample, 1.34) * sample.total.powf(-0.2)
}

/// Scott's rule; where the smaller spread is 0, sd is used.
pub fn scott(sample: &Sample) -> f64 {
    1.06 * robust_spread(sample, 1.34) * sample.total.powf(-0.2)
}

/// The smaller of sd and IQR / `normal`, the IQR of a normal distribution in its sd; sd where the IQR is 0.
fn robust_spread(sample: &Sample, normal: f64) -> f64 {
    let (sd, iqr) = (sample.sd(), sample.iqr());
    if iqr > 0.0 { sd.min(iqr / normal) } else { sd }
}

/// Stages of the direct plug-in rule, in units of z = (x - mean) / scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlugIn {
    /// s = min(sd, IQR/1.349), or sd where IQR = 0.
    pub scale: f64,
    /// Pilot of ψ₆ and its value (two-stage rule only).
    pub sixth: Option<(f64, f64)>,
    /// Pilot of ψ₄.
    pub g4: f64,
    /// ψ₄(g₄).
    pub psi4: f64,
    /// The bandwidth, in units of the data.
    pub h: f64,
}

/// Two-stage direct plug-in: normal-scale ψ₈ → g₆ → ψ₆ → g₄ → ψ₄ → h.
///
/// The pilots annihilate the leading bias `φ^(r)(0)/(n g^(r+1)) + g² ψ_{r+2}/2`. With the diagonal terms
/// `(-1)^(r/2) ψ_r(g)` is the integral of a square, so the signs are safe.
pub fn plug_in(sample: &Sample) -> PlugIn {
    let n = sample.total;
    let (z, scale) = standardised(sample);
    let g6 = (2.0 * 2f64.sqrt().powi(9) / (7.0 * n)).powf(1.0 / 9.0);
    let psi6 = functional(&z, 6, g6);
    let g4 = (-3.0 * (2.0 / std::f64::consts::PI).sqrt() / (psi6 * n)).powf(1.0 / 7.0);
    PlugIn { sixth: Some((g6, psi6)), ..last_stage(&z, scale, g4) }
}

/// One-stage direct plug-in: normal-scale ψ₆ → g₄ → ψ₄ → h.
pub fn plug_in_one_stage(sample: &Sample) -> PlugIn {
    let (z, scale) = standardised(sample);
    let g4 = (2.0 * 2f64.sqrt().powi(7) / (5.0 * sample.total)).powf(1.0 / 7.0);
    last_stage(&z, scale, g4)
}

fn standardised(sample: &Sample) -> (Sample, f64) {
    let scale = robust_spread(sample, 1.349);
    (sample.scaled(sample.mean(), scale), scale)
}

fn last_stage(z: &Sample, scale: f64, g4: f64) -> PlugIn {
    let psi4 = functional(z, 4, g4);
    let h = scale * (2.0 * std::f64::consts::PI.sqrt() * psi4 * z.total).powf(-0.2);
    PlugIn { scale, sixth: None, g4, psi4, h }
}
