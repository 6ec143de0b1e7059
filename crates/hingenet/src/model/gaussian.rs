//! How the Gaussian family is named and fitted: `sgbn:or`, `sgbn:mm`, ..., `fisher:or`, ...

use super::registry::Discriminative;
use super::{Dataset, FitOptions, ModelSpec};
use crate::control::Control;
use crate::error::Result;
use crate::gaussian::discriminative::MmSolver;
use crate::gaussian::{
    Decision, GaussianFit, GaussianParams, Learning, Priors, SlackWeight, StructureMethod, Variance,
    fit as fit_gaussian,
};

/// Fits a Gaussian classifier.
pub fn fit(
    rule: Discriminative,
    fisher: bool,
    spec: &ModelSpec,
    data: &Dataset,
    options: FitOptions,
    control: &Control,
) -> Result<GaussianFit> {
    fit_gaussian(&data.training(), &params(rule, fisher, spec, options)?, control)
}

fn params(
    rule: Discriminative,
    fisher: bool,
    spec: &ModelSpec,
    options: FitOptions,
) -> Result<GaussianParams> {
    let starts =
        [("or", StructureMethod::Or), ("h", StructureMethod::H), ("search", StructureMethod::Search)];
    let (structure, learning) = match rule {
        Discriminative::Or => (StructureMethod::Or, Learning::Generative),
        Discriminative::H => (StructureMethod::H, Learning::Generative),
        Discriminative::Search => (StructureMethod::Search, Learning::Generative),
        Discriminative::Kl => (spec.choice("start", &starts)?, Learning::Kl),
        Discriminative::Mm => (spec.choice("start", &starts)?, Learning::Mm),
    };
    let default = GaussianParams::default();
    let components = spec.parsed("components", "a whole number")?;
    Ok(GaussianParams {
        structure,
        learning,
        decision: if fisher { Decision::FisherSvm(components) } else { Decision::Network },
        lambda1: spec.parsed("lambda1", "a number")?,
        fused: spec.parsed("fused", "a number")?,
        penalty: spec.number("penalty", default.penalty)?,
        rounds: spec.parsed("rounds", "a whole number")?.unwrap_or(default.rounds),
        variance: spec.choice(
            "variance",
            &[("ml", Variance::Ml), ("pooled", Variance::Pooled), ("fixed", Variance::Fixed)],
        )?,
        priors: spec.choice("priors", &[("equal", Priors::Equal), ("empirical", Priors::Empirical)])?,
        free: spec.parsed("k", "a whole number")?,
        slack: spec.number("slack", default.slack)?,
        nu: spec.parsed("nu", "a number between 0 and 1")?,
        solver: spec.choice("solver", &[("smooth", MmSolver::Smooth), ("ccp", MmSolver::Ccp)])?,
        c: spec.parsed("c", "a number")?.map(SlackWeight::Plain),
        seed: options.seed,
        ..default
    })
}
