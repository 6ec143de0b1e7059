//! Params of the density classifiers, their defaults and their checks.

use crate::estimate::bandwidth::{LineBandwidth, PlaneBandwidth};
use crate::estimate::kernel::Floor;
use hingenet_base::error::{Result, require, require_len};

/// Which classifier of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Variant {
    /// Sparse log-bivariate density classifier.
    Slb,
    /// SLB without filter: all pairs (the paper's SLB-).
    SlbAll,
    /// Univariate log densities only.
    Lu,
    /// Kernel naive Bayes.
    KdeNaiveBayes,
    /// Kernel TAN: a Chow-Liu tree of kernel densities for each class.
    KdeTan,
    /// The same with the edges that held-out likelihood supports.
    KdeForest,
}

impl Variant {
    /// Whether the class scores are log joint densities (not an SVM).
    pub fn is_generative(&self) -> bool {
        matches!(self, Variant::KdeNaiveBayes | Variant::KdeTan | Variant::KdeForest)
    }
}

/// Where the log-density features of the training rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrainingFeatures {
    /// A row's own kernel is left out.
    LeaveOneOut,
    /// All kernels, as in the paper.
    Resubstitution,
    /// Densities from half the rows of each class, SVM on the other half.
    Split,
    /// Features of a fold from the densities of the other folds.
    CrossFit,
}

/// Which (class, pair) values of HSIC are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// The fraction with the smallest error in nested cross-validation, by the [`Criterion`].
    CrossValidated,
    /// Values at least λ.
    Lambda(f64),
    /// The largest fraction of all values, pooled over the classes.
    Fraction(f64),
    /// The k largest values, pooled over the classes.
    TopK(usize),
    /// Gamma-approximation p-values, Bonferroni at this level.
    Bonferroni(f64),
    /// Gamma-approximation p-values, Benjamini-Hochberg at this rate.
    BenjaminiHochberg(f64),
}

/// What the search for threshold, class weights and C makes small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// The mean over classes of the error within the class.
    BalancedError,
    /// The share of rows decided wrongly, as in the paper.
    Error,
}

/// Candidates of the cross-validated C: with many log densities for each row, C = 1 is nearly a hard margin.
pub const COSTS: [f64; 3] = [0.01, 0.1, 1.0];
/// C where rows are too few to choose it: the paper's.
pub const PAPERS_COST: f64 = 1.0;

/// Candidates of the cross-validated fraction, from sparse to dense.
pub const FRACTIONS: [f64; 10] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0];

/// Class weights of the SVM; of generative classifiers the factors of the class frequencies in the prior.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassWeights {
    /// None or balanced, chosen by cross-validation; none for generative classifiers.
    CrossValidated,
    /// 1 for every class.
    None,
    /// `n / (K n_y)`.
    Balanced,
    /// One weight for each class.
    Given(Vec<f64>),
}

/// Penalty of the SVM's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Penalty {
    /// `½ |w|²`.
    TwoNorm,
    /// `|w|_1`: sparse.
    OneNorm,
    /// `Σ_g √|g| |w_g|`: all terms of a column, or of a pair, are one group and come or go together.
    GroupNorm,
}

/// How the SVM decides among more than two classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Multiclass {
    /// One machine for each class against the rest.
    OneVsRest,
    /// One machine of all classes (Crammer & Singer).
    CrammerSinger,
}

/// The generative classifier around whose weights the SVM's are penalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// None: around zero.
    None,
    /// Kernel naive Bayes.
    NaiveBayes,
    /// Kernel TAN; its edges are kept whatever the threshold.
    Tan,
}

/// Raw columns next to the log densities of an SVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Augment {
    /// Log densities only.
    None,
    /// The standardised numbers too.
    Raw,
    /// These and the products of kept pairs.
    RawAndProducts,
}

/// Params of a density classifier; [`Params::new`] gives the recommended ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Which classifier.
    pub variant: Variant,
    /// Bandwidth of one variable.
    pub line: LineBandwidth,
    /// Bandwidth matrix of two variables.
    pub plane: PlaneBandwidth,
    /// Origin of the training features.
    pub training_features: TrainingFeatures,
    /// Lower end of the log densities.
    pub floor: Floor,
    /// Which pairs are kept.
    pub threshold: Threshold,
    /// What a search for them, for class weights and for C goes by.
    pub criterion: Criterion,
    /// C of the SVM; chosen by cross-validation where none is given.
    pub cost: Option<f64>,
    /// Relative duality gap of the SVM.
    pub gap: f64,
    /// Penalty of the SVM.
    pub penalty: Penalty,
    /// Machines of more than two classes.
    pub multiclass: Multiclass,
    /// Where the weights of the SVM are drawn to.
    pub anchor: Anchor,
    /// Raw columns of the SVM.
    pub augment: Augment,
    /// Class weights.
    pub class_weights: ClassWeights,
    /// Whether classes with fewer than 4 rows are allowed; their bandwidths come from the spread of all rows.
    pub tiny_classes: bool,
    /// Whether classes with fewer than 20 rows may have pair densities.
    pub pairs_in_small_classes: bool,
    /// Seed of folds and splits.
    pub seed: u64,
}

impl Params {
    /// The defaults of a variant: floor R = 4 for features of an SVM, R = 8 for likelihood ratios.
    pub fn new(variant: Variant) -> Self {
        Params {
            variant,
            line: LineBandwidth::PlugIn,
            plane: PlaneBandwidth::PlugIn,
            training_features: TrainingFeatures::LeaveOneOut,
            floor: Floor::Bandwidths(if variant.is_generative() { 8.0 } else { 4.0 }),
            threshold: match variant {
                Variant::SlbAll => Threshold::Fraction(1.0),
                Variant::Lu => Threshold::Fraction(0.0),
                _ => Threshold::CrossValidated,
            },
            criterion: Criterion::BalancedError,
            cost: None,
            gap: 1e-6,
            penalty: Penalty::TwoNorm,
            multiclass: Multiclass::OneVsRest,
            anchor: Anchor::None,
            augment: Augment::None,
            class_weights: ClassWeights::CrossValidated,
            tiny_classes: false,
            pairs_in_small_classes: false,
            seed: 0,
        }
    }

    /// Refuses parameters outside their ranges.
    pub fn check(&self, n_classes: usize) -> Result<()> {
        let positive = |name: &str, v: f64| require(name, v, "a finite number > 0", v.is_finite() && v > 0.0);
        self.floor.check()?;
        self.cost.map_or(Ok(()), |c| positive("C", c))?;
        positive("gap", self.gap)?;
        self.check_threshold()?;
        self.check_augment()?;
        self.check_penalty(n_classes)?;
        if let ClassWeights::Given(w) = &self.class_weights {
            require_len("class weights", n_classes, w.len())?;
            w.iter().try_for_each(|w| positive("class weight", *w))?;
        }
        Ok(())
    }

    fn check_augment(&self) -> Result<()> {
        let problem = match (self.variant, self.augment) {
            (_, Augment::None) | (Variant::Slb | Variant::SlbAll, _) | (Variant::Lu, Augment::Raw) => {
                return Ok(());
            }
            (Variant::Lu, Augment::RawAndProducts) => "none or raw: this model has no pairs to multiply",
            _ => "none: raw columns are terms of a machine, not of densities",
        };
        require("augment", format!("{:?}", self.augment), problem, false)
    }

    fn check_penalty(&self, n_classes: usize) -> Result<()> {
        let two_norm = self.penalty == Penalty::TwoNorm;
        let joint = self.multiclass == Multiclass::CrammerSinger && n_classes > 2;
        let penalty = format!("{:?}", self.penalty);
        require("norm", &penalty, "l2 with the machine of all classes (crammer_singer)", two_norm || !joint)?;
        let anchored = self.anchor != Anchor::None;
        require("norm", &penalty, "l2 with an anchor", two_norm || !anchored)?;
        let anchor = format!("{:?}", self.anchor);
        let machine = !anchored || !self.variant.is_generative();
        require("anchor", &anchor, "none: this model is generative itself", machine)?;
        let has_pairs = self.anchor != Anchor::Tan || self.variant != Variant::Lu;
        require("anchor", &anchor, "none or nb: this model has no pairs for the edges of a tree", has_pairs)
    }

    fn check_threshold(&self) -> Result<()> {
        let level = |name: &str, a: f64| require(name, a, "a number in (0, 1)", a > 0.0 && a < 1.0);
        match self.threshold {
            Threshold::Lambda(l) => require("lambda", l, "a number >= 0", l >= 0.0),
            Threshold::Fraction(f) => require("fraction", f, "a number in [0, 1]", (0.0..=1.0).contains(&f)),
            Threshold::CrossValidated | Threshold::TopK(_) => Ok(()),
            Threshold::Bonferroni(a) => level("alpha", a),
            Threshold::BenjaminiHochberg(q) => level("q", q),
        }
    }
}
