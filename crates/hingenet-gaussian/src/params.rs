//! Settings of the Gaussian classifiers. What is `None` is chosen by inner cross-validation.

use crate::discriminative::MmSolver;
use crate::fisher::Information;
use crate::structure::{CLASSIFIER_ROUNDS, Method, SearchParams, StructureMethod};
use hingenet_base::error::{Result, require};

/// What happens to the weights after structure learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Learning {
    /// Nothing: each class is fitted alone.
    #[default]
    Generative,
    /// KL-SGBN.
    Kl,
    /// MM-SGBN.
    Mm,
}

/// How a row is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decision {
    /// By the likelihoods of the class networks.
    #[default]
    Network,
    /// By a support vector machine on the Fisher vectors: all components, or that many with the largest correlation
    /// with the label.
    FisherSvm(Option<usize>),
}

/// Where the variances of the nodes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variance {
    /// Mean squared residual per class and node.
    #[default]
    Ml,
    /// One vector for all classes.
    Pooled,
    /// 1: the classifier compares squared residuals.
    Fixed,
}

/// Class priors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Priors {
    /// The same for all classes.
    #[default]
    Equal,
    /// Share of the training rows.
    Empirical,
}

/// Weight of the squared slacks of the Fisher kernel machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SlackWeight {
    /// C itself.
    Plain(f64),
    /// `C = c n / tr K`: Fisher kernels have large traces, so this c is comparable between data sets.
    Trace(f64),
}

/// Values that inner cross-validation chooses where they are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tuning {
    /// Penalty λ1 > 0 of an arc (OR and H).
    pub lambda1: Option<f64>,
    /// Number k of free parameters of KL and MM.
    pub free: Option<usize>,
    /// Share ν of rows allowed below the margin in MM.
    pub nu: Option<f64>,
    /// Slack weight of KL and of the Fisher machine.
    pub c: Option<SlackWeight>,
}

/// Settings of a Gaussian classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianParams {
    /// How graphs are learnt.
    pub structure: StructureMethod,
    /// Settings of the order search; its seed is also that of the folds.
    pub search: SearchParams,
    /// Fused penalty γ >= 0 on the differences of the weights of two classes (OR only, in a common order).
    pub fused: Option<f64>,
    /// What happens to the weights afterwards.
    pub learning: Learning,
    /// Share by which the fitting error may grow in KL and MM.
    pub slack: f64,
    /// Solver of MM.
    pub solver: MmSolver,
    /// How rows are decided.
    pub decision: Decision,
    /// How the vectors of the Fisher machine are whitened.
    pub information: Information,
    /// Variances of the nodes.
    pub variance: Variance,
    /// Class priors.
    pub priors: Priors,
    /// Whether a class of one row is allowed; its nodes are independent with variance 1.
    pub tiny_classes: bool,
    /// What inner cross-validation may choose.
    pub tuning: Tuning,
}

impl Default for GaussianParams {
    fn default() -> Self {
        GaussianParams {
            structure: StructureMethod::default(),
            search: SearchParams { rounds: CLASSIFIER_ROUNDS, ..SearchParams::default() },
            fused: None,
            learning: Learning::default(),
            slack: 0.01,
            solver: MmSolver::default(),
            decision: Decision::default(),
            information: Information::default(),
            variance: Variance::default(),
            priors: Priors::default(),
            tiny_classes: false,
            tuning: Tuning::default(),
        }
    }
}

impl GaussianParams {
    /// The learner of the graphs, with a λ1 for those that have one.
    pub(crate) fn method(&self, lambda1: f64) -> Method {
        Method { kind: self.structure, lambda1, search: self.search.clone(), ..Method::default() }
    }

    /// Refuses values outside their ranges.
    pub fn check(&self) -> Result<()> {
        let positive = |name: &str, v: Option<f64>| {
            v.map_or(Ok(()), |v| require(name, v, "a finite number > 0", v.is_finite() && v > 0.0))
        };
        positive("lambda1", self.tuning.lambda1)?;
        positive("C", self.tuning.c.map(|(SlackWeight::Plain(c) | SlackWeight::Trace(c))| c))?;
        if let Some(nu) = self.tuning.nu {
            require("nu", nu, "a number between 0 and 1", nu > 0.0 && nu < 1.0)?;
        }
        if let Some(gamma) = self.fused {
            let or = self.structure == StructureMethod::Or;
            require("fused", gamma, "a finite number >= 0", gamma.is_finite() && gamma >= 0.0)?;
            require("fused", gamma, "structure learning by `or`", or)?;
        }
        self.search.check()?;
        require("slack", self.slack, "a finite number >= 0", self.slack.is_finite() && self.slack >= 0.0)
    }
}
