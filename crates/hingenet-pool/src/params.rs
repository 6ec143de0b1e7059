//! Settings of the pool: few for the user, the rest fixed by the method.

use super::masks::MaskSampler;
use hingenet_base::error::{Result, require};

/// Fewest rows of a group: a group of one row is the row.
pub(crate) const LEAST_GROUP: usize = 2;

/// Settings of the pool. `PoolParams::default()` is the recommended choice.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PoolParams {
    /// One joint kernel density for all patterns of missing features (power s = 0): the marginals of term P
    /// then belong to one distribution, at the cost of about 0.1-0.2 points of accuracy.
    pub consistent: bool,
    /// Fewer rows and candidates in every search: several times faster, slightly less accurate.
    pub fast: bool,
    /// Completions N of a row with missing features in term K, 1 to 1000.
    pub draws: usize,
    /// Keeps no training rows: the kernel terms are distilled into prototypes of at least so many rows of a class.
    pub group: Option<usize>,
    /// How the copies of training rows are blanked on which the weights of the terms are fitted.
    pub masks: MaskSampler,
    /// Picks row subsets, folds and blanked copies, nothing else.
    pub seed: u64,
}

impl Default for PoolParams {
    fn default() -> Self {
        PoolParams {
            consistent: false,
            fast: false,
            draws: 10,
            group: None,
            masks: MaskSampler::default(),
            seed: 0,
        }
    }
}

impl PoolParams {
    /// Refuses settings outside their range.
    pub fn check(&self) -> Result<()> {
        require("draws", self.draws, "1 to 1000", (1..=1000).contains(&self.draws))?;
        let group = self.group.unwrap_or(LEAST_GROUP);
        require("group", group, "at least 2", group >= LEAST_GROUP)
    }

    pub(crate) fn effort(&self) -> Effort {
        if self.fast { FAST } else { FULL }
    }
}

/// Sizes of the searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Rows in the leave-one-out criterion of P.
    pub(crate) density_rows: usize,
    /// Rows in the search of K.
    pub(crate) machine_rows: usize,
    /// Held-out rows in the search of G.
    pub(crate) gaussian_rows: usize,
    /// Rows whose blanked copies fit the pool.
    pub(crate) pool_rows: usize,
    /// Blanking rates of these copies.
    pub(crate) rates: &'static [f64],
    pub(crate) gammas: &'static [f64],
    pub(crate) ridges: &'static [f64],
}

const FULL: Effort = Effort {
    density_rows: 400,
    machine_rows: 700,
    gaussian_rows: 250,
    pool_rows: 1000,
    rates: &[0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9],
    gammas: &[0.1, 0.3, 1.0, 3.0],
    ridges: &[0.001, 0.03, 1.0],
};

const FAST: Effort = Effort {
    density_rows: 150,
    machine_rows: 350,
    gaussian_rows: 100,
    pool_rows: 300,
    rates: &[0.0, 0.3, 0.6, 0.9],
    gammas: &[0.3, 1.0],
    ridges: &[0.03, 1.0],
};
