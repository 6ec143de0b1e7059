//! Options of the family: which graph, which rule for its parameters, what is chosen by inner folds.

use crate::margin::MarginParams;
use crate::margin::bn_svm::Norm;
use crate::margin::conditional::{ConditionalParams, Objective};
use crate::structure::Root;

/// Which graph to use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // said with the variants
pub enum StructureKind {
    /// The class is the only parent of every feature.
    NaiveBayes,
    /// Tree-augmented naive Bayes.
    Tan(Root),
    /// k-tree with the given number of feature parents, 1 to 4.
    KTree(usize),
    /// Arcs `(from, to)` by column name; `class` is the name of the target.
    Dag { class: String, arcs: Vec<(String, String)> },
}

/// Settings of a discrete fit.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscreteParams {
    /// The graph.
    pub structure: StructureKind,
    /// Virtual sample size α of Eq. (4), at least 0; 0 makes what was never seen impossible.
    pub alpha: f64,
    /// Weight τ in [0, 1] of rows without a class, where there are any; `None`: chosen by inner folds.
    pub tau: Option<f64>,
}

impl DiscreteParams {
    /// The structure with the default α = 1.
    pub fn new(structure: StructureKind) -> Self {
        DiscreteParams { structure, alpha: 1.0, tau: None }
    }

    /// Virtual sample size α.
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }
}

/// How the parameters are learnt other than by maximum likelihood.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the fields are said with their rule
pub enum Learning {
    /// ML-BN-SVM; with a grid λ and γ are chosen from it, else taken from the parameters.
    MlBnSvm { params: MarginParams, grid: Option<Grid> },
    /// BN-SVM of Eq. (9), where γ is 1; λ is chosen from `lambdas`, if there are any.
    BnSvm { norm: Norm, params: MarginParams, lambdas: Vec<f64> },
    /// Maximum conditional likelihood or maximum margin; (λ, κ) of the margin are chosen from `points`, if there are any,
    /// and with early stopping also the number of iterations.
    Conditional { params: ConditionalParams, points: Vec<(f64, f64)>, early_stopping: bool },
}

impl Learning {
    /// Sets the virtual sample size α.
    pub(crate) fn set_alpha(&mut self, alpha: f64) {
        match self {
            Learning::MlBnSvm { params, .. } | Learning::BnSvm { params, .. } => params.alpha = alpha,
            Learning::Conditional { params, .. } => params.alpha = alpha,
        }
    }

    /// The points (λ, κ) that are tried one by one; κ is 0 where there is none.
    pub(crate) fn points(&self) -> Vec<(f64, f64)> {
        match self {
            Learning::BnSvm { lambdas, .. } => lambdas.iter().map(|&lambda| (lambda, 0.0)).collect(),
            Learning::Conditional { points, .. } => points.clone(),
            Learning::MlBnSvm { .. } => Vec::new(),
        }
    }

    /// The same rule at one of its points; also the names of the values that were set.
    pub(crate) fn at(&self, (lambda, kappa): (f64, f64)) -> (Self, &'static [&'static str]) {
        let mut rule = self.clone();
        let names: &[&str] = match &mut rule {
            Learning::BnSvm { params, lambdas, .. } => {
                params.lambda = lambda;
                lambdas.clear();
                &["lambda"]
            }
            Learning::Conditional { params, points, .. } => {
                params.objective = Objective::Margin { lambda, kappa };
                points.clear();
                &["lambda", "kappa"]
            }
            Learning::MlBnSvm { .. } => &[],
        };
        (rule, names)
    }

    /// Whether the posterior needs a temperature: a likelihood of the class has none to mend.
    pub(crate) fn is_calibrated(&self) -> bool {
        match self {
            Learning::MlBnSvm { .. } | Learning::BnSvm { .. } => true,
            Learning::Conditional { params, .. } => params.objective != Objective::ConditionalLikelihood,
        }
    }

    /// The same rule, solved as far as the scores of inner folds need it.
    pub(crate) fn for_calibration(&self) -> Self {
        let mut rough = self.clone();
        if let Learning::MlBnSvm { params, .. } = &mut rough {
            *params = params.for_calibration();
        }
        rough
    }
}

/// The values tried for ML-BN-SVM.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Values of λ, ascending.
    pub lambda: Vec<f64>,
    /// Values of γ, ascending.
    pub gamma: Vec<f64>,
    /// Inner folds, at least 2.
    pub folds: usize,
    /// Whether the grid grows while the best value sits on its edge (λ up to 1024, γ from 0.1 to 20, the ends of
    /// the grid of the paper's experiments).
    pub extend: bool,
    /// Whether the virtual sample count α rises from the given one while that is clearly better.
    pub alpha: bool,
}

impl Default for Grid {
    fn default() -> Self {
        Grid {
            lambda: vec![0.0, 0.25, 1.0, 4.0, 16.0, 64.0],
            gamma: vec![1.0, 5.0, 10.0],
            folds: 5,
            extend: true,
            alpha: false,
        }
    }
}

/// How the members of an average learn.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // said with the variants
pub enum MemberRule {
    /// Maximum likelihood.
    MaximumLikelihood,
    /// With margins: the weight λ of the slacks and the required log margin γ; what is absent is chosen by inner
    /// cross-validation of the average.
    MlBnSvm { tables: MemberTables, lambda: Option<f64>, gamma: Option<f64> },
}

/// Who has the tables that the margin trains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberTables {
    /// Pairs of features, for all members together, by the margin of the average; where training cells are missing as
    /// [`MemberTables::Own`].
    Shared,
    /// Each member, by its own margin: convex, with a certificate.
    Own,
}
