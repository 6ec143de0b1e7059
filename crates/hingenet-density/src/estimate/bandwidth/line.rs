//! Bandwidths in one dimension: rules of thumb and the direct plug-in rule of Wand & Jones (1994).

use super::functionals::functional;
use super::{PilotStages, least_squares};
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
            LineBandwidth::PlugIn => plug_in(sample, PilotStages::Two).h,
            LineBandwidth::PlugInOneStage => plug_in(sample, PilotStages::One).h,
            LineBandwidth::Normal => normal_scale(sample),
            LineBandwidth::Silverman => 0.9 * robust_spread(sample, 1.34) * sample.total.powf(-0.2),
            LineBandwidth::Scott => 1.06 * robust_spread(sample, 1.34) * sample.total.powf(-0.2),
            LineBandwidth::LeastSquares => least_squares(sample),
        }
    }
}

/// The normal-scale bandwidth `(4/(3n))^(1/5) sd`.
pub fn normal_scale(sample: &Sample) -> f64 {
    (4.0 / (3.0 * sample.total)).powf(0.2) * sample.sd()
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

/// Direct plug-in of two stages, normal-scale ψ₈ → g₆ → ψ₆ → g₄ → ψ₄ → h, or of one, normal-scale ψ₆ → g₄ → ψ₄ → h.
///
/// The pilots annihilate the leading bias `φ^(r)(0)/(n g^(r+1)) + g² ψ_{r+2}/2`. With the diagonal terms
/// `(-1)^(r/2) ψ_r(g)` is the integral of a square, so the signs are safe.
pub fn plug_in(sample: &Sample, stages: PilotStages) -> PlugIn {
    let (n, root_two) = (sample.total, 2f64.sqrt());
    let scale = robust_spread(sample, 1.349);
    let z = sample.scaled(sample.mean(), scale);
    let (sixth, g4) = match stages {
        PilotStages::One => (None, (2.0 * root_two.powi(7) / (5.0 * n)).powf(1.0 / 7.0)),
        PilotStages::Two => {
            let g6 = (2.0 * root_two.powi(9) / (7.0 * n)).powf(1.0 / 9.0);
            let psi6 = functional::<6>(&z, g6);
            let g4 = (-3.0 * (2.0 / std::f64::consts::PI).sqrt() / (psi6 * n)).powf(1.0 / 7.0);
            (Some((g6, psi6)), g4)
        }
    };
    let psi4 = functional::<4>(&z, g4);
    let h = scale * (2.0 * std::f64::consts::PI.sqrt() * psi4 * n).powf(-0.2);
    PlugIn { scale, sixth, g4, psi4, h }
}
