//! Averaged one-dependence networks: one network per feature X_s, in which X_s depends on the class and
//! every other feature on the class and X_s. Each is C1 (X_s covers the others), learnt and normalised
//! alone; `P(c, z) = mean_s P_s(c, z)`, exact with missing features because each member is.
//!
//! Webb, Boughton, Wang: Not so naive Bayes, Machine Learning 58, 2005.

use super::inference::log_joint_rows;
use super::margin::{MarginFit, MarginParams, fit_margin};
use super::{Network, Samples, Structure, counts};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// An average of networks over the same variables.
#[derive(Debug, Clone, PartialEq)]
pub struct AveragedNetworks {
    members: Vec<Network>,
}

impl AveragedNetworks {
    /// Joins members over the same variables.
    pub fn new(members: Vec<Network>) -> Result<Self> {
        let Some(first) = members.first() else {
            return Err(Error::data("there is no feature to average over", "give at least one feature"));
        };
        for member in &members {
            require_len("variables of a member", first.structure().n_nodes(), member.structure().n_nodes())?;
        }
        Ok(AveragedNetworks { members })
    }

    /// The networks, one per feature.
    pub fn members(&self) -> &[Network] {
        &self.members
    }

    /// `log P(c, observed features)` for each row and class: `lse_s S_c^s − ln N`.
    pub fn log_joint_rows(&self, features: &[Codes]) -> Result<Vec<f64>> {
        let scores: Vec<Vec<f64>> =
            self.members.iter().map(|member| log_joint_rows(member, features)).collect::<Result<_>>()?;
        let share = (scores.len() as f64).ln();
        let len = scores.first().map_or(0, Vec::len);
        let mean = |i: usize| {
            let column: Vec<f64> = scores.iter().map(|s| s[i]).collect();
            log_sum_exp(&column) - share
        };
        Ok((0..len).into_par_iter().map(mean).collect())
    }
}

/// The structure in which every feature depends on the class and on feature `s`.
pub fn one_dependence(card: &[usize], s: usize) -> Result<Structure> {
    let parents = (0..card.len())
        .map(|i| match i {
            0 => vec![],
            i if i == s => vec![0],
            _ => vec![0, s],
        })
        .collect();
    Structure::new(card.to_vec(), Dag::new(parents)?)
}

/// Maximum-likelihood members from complete rows.
pub fn fit_aode_ml(samples: &Samples, alpha: f64, control: &Control) -> Result<AveragedNetworks> {
    let card = samples.card();
    let member = |s: usize| {
        control.check()?;
        let structure = one_dependence(card, s)?;
        let n = counts::smoothed_counts(&structure, samples, alpha)?;
        let w = counts::ml_parameters(&structure, &n)?;
        Network::new(structure, w)
    };
    AveragedNetworks::new((1..card.len()).into_par_iter().map(member).collect::<Result<_>>()?)
}

/// Members trained with the margin, each alone, from complete rows, one per feature.
pub fn fit_aode_margin(
    samples: &Samples,
    params: &MarginParams,
    control: &Control,
) -> Result<Vec<MarginFit>> {
    let card = samples.card();
    let member = |s: usize| fit_margin(samples, &one_dependence(card, s)?, params, &control.quiet());
    (1..card.len()).into_par_iter().map(member).collect()
}
