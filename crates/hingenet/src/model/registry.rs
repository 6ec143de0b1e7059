//! The list of models a user can name, with their options, defaults and ranges.

use hingenet_base::error::{Error, Result};
use hingenet_density::Variant;
use std::sync::LazyLock;

/// The model used where none is named.
pub const DEFAULT_MODEL: &str = "pool";

/// One model a user can name.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Name, for example `tan:ml`.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// How it is fitted.
    pub(super) recipe: Recipe,
}

/// One option of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptionInfo {
    /// Name in `key=value`.
    pub key: &'static str,
    /// Value when it is not given.
    pub default: &'static str,
    /// Values allowed.
    pub range: &'static str,
    /// What it does.
    pub about: &'static str,
}

/// Which code fits a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipe {
    /// Class frequencies.
    Majority,
    /// A discrete network: its graph and how its parameters are learnt.
    Discrete(Graph, Rule),
    /// The pool of all families.
    Pool,
    /// A density classifier.
    Density(Variant),
    /// A Gaussian classifier; decided by the networks or by a machine on their Fisher vectors.
    Gaussian {
        /// How the class networks are learnt.
        rule: Discriminative,
        /// Whether a machine on the Fisher vectors decides.
        fisher: bool,
    },
    /// An average of one-dependence networks; margin-trained or not.
    Averaged {
        /// Whether the members are trained with the margin.
        margin: bool,
    },
}

/// Rules of learning the parameters of a discrete network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Maximum likelihood.
    Ml,
    /// Maximum conditional likelihood.
    Mcl,
    /// Maximum capped margin.
    Mm,
    /// BN-SVM.
    BnSvm,
    /// ML-BN-SVM.
    MlBnSvm,
}

/// How the class networks of the Gaussian family are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Discriminative {
    /// OR-SGBN.
    Or,
    /// H-SGBN.
    H,
    /// Order search.
    Search,
    /// KL-SGBN.
    Kl,
    /// MM-SGBN.
    Mm,
}

/// Graphs of the discrete family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Graph {
    /// Naive Bayes.
    Nb,
    /// Tree-augmented naive Bayes.
    Tan,
    /// k-tree.
    Kdb(usize),
    /// Given by the user.
    Dag,
}

/// All models, in the order they are shown.
pub fn models() -> &'static [ModelInfo] {
    &MODELS
}

/// The model with this name, or an error that lists what there is.
pub fn find(name: &str) -> Result<&'static ModelInfo> {
    MODELS.iter().find(|m| m.name == name).ok_or_else(|| Error::Parameter {
        name: "model".into(),
        value: name.into(),
        expected: format!("one of {}", MODELS.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")),
    })
}

const ALPHA: OptionInfo = OptionInfo {
    key: "alpha",
    default: "1",
    range: "0 or more",
    about: "virtual rows spread evenly over each probability table; 0 makes what was never seen impossible",
};
const ROOT: OptionInfo = OptionInfo {
    key: "root",
    default: "first",
    range: "first, min_params",
    about: "root of the tree: the first feature, or the one that gives the fewest parameters",
};
const EDGES: OptionInfo = OptionInfo {
    key: "edges",
    default: "none: it must be given",
    range: "a CSV file with the columns from,to, or a->b;a->c",
    about: "the arcs of the graph, by column name; the target is a node too",
};

const ITERATIONS: OptionInfo = OptionInfo {
    key: "iterations",
    default: "150",
    range: "a whole number",
    about: "iterations of the solver; separable data have no finite optimum, so this is part of the method",
};
const FORM: OptionInfo = OptionInfo {
    key: "form",
    default: "exact",
    range: "exact, tables",
    about: "free weights that are normalised at the end, or normalised tables throughout",
};
const RIDGE: OptionInfo = OptionInfo {
    key: "ridge",
    default: "0",
    range: "0 or more",
    about: "weight of the squared distance from the maximum-likelihood parameters",
};
const MM_LAMBDA: OptionInfo = OptionInfo {
    key: "lambda",
    default: "chosen by inner cross-validation",
    range: "above 0",
    about: "scale of the log margins: the target margin is 1/lambda",
};
const KAPPA: OptionInfo = OptionInfo {
    key: "kappa",
    default: "chosen by inner cross-validation",
    range: "0 to 1, above 0",
    about: "rounding of the cap on the margins",
};
const EARLY: OptionInfo = OptionInfo {
    key: "early_stopping",
    default: "false",
    range: "true, false",
    about: "choose the number of iterations by inner cross-validation",
};
const BN_SVM_LAMBDA: OptionInfo = OptionInfo {
    key: "lambda",
    default: "chosen by inner cross-validation",
    range: "0 or more",
    about: "weight of the margin shortfalls against the norm of the weights",
};
const NORM: OptionInfo =
    OptionInfo { key: "norm", default: "l2", range: "l2, l1", about: "norm of the weights" };
const LAMBDA: OptionInfo = OptionInfo {
    key: "lambda",
    default: "chosen by inner cross-validation",
    range: "0 or more",
    about: "weight of the margin shortfalls against the likelihood; 0 is maximum likelihood",
};
const GAMMA: OptionInfo = OptionInfo {
    key: "gamma",
    default: "chosen by inner cross-validation",
    range: "above 0",
    about: "log margin that every row should have",
};
const SOLVER: OptionInfo = OptionInfo {
    key: "solver",
    default: "auto",
    range: "auto, newton, interior, lbfgs, projected, conic",
    about: "method; projected is the paper's, conic an independent solver for small problems",
};
const SMOOTH: OptionInfo = OptionInfo {
    key: "smooth",
    default: "true",
    range: "true, false",
    about: "smooth margin loss (the paper's problem 11) or the plain hinge (problem 10)",
};

const TAU: OptionInfo = OptionInfo {
    key: "tau",
    default: "chosen by inner folds",
    range: "0 to 1",
    about: "weight of rows without a class in a semi-supervised fit; 0 leaves them out",
};

/// The five learning rules on one graph: graph options first, then those of the rule.
macro_rules! on_graph {
    ($structure:literal, $graph:expr, $about:literal, [$($own:expr),*]) => {
        [
            ModelInfo {
                name: concat!($structure, ":ml"),
                about: concat!($about, ", maximum likelihood"),
                options: &[ALPHA, $($own,)* TAU],
                recipe: Recipe::Discrete($graph, Rule::Ml),
            },
            ModelInfo {
                name: concat!($structure, ":mcl"),
                about: concat!($about, ", maximum conditional likelihood"),
                options: &[ALPHA, $($own,)* FORM, RIDGE, ITERATIONS],
                recipe: Recipe::Discrete($graph, Rule::Mcl),
            },
            ModelInfo {
                name: concat!($structure, ":mm"),
                about: concat!($about, ", maximum capped margin"),
                options: &[ALPHA, $($own,)* MM_LAMBDA, KAPPA, FORM, ITERATIONS, EARLY],
                recipe: Recipe::Discrete($graph, Rule::Mm),
            },
            ModelInfo {
                name: concat!($structure, ":bn-svm"),
                about: concat!($about, ", support vector machine on the network's terms"),
                options: &[ALPHA, $($own,)* BN_SVM_LAMBDA, NORM],
                recipe: Recipe::Discrete($graph, Rule::BnSvm),
            },
            ModelInfo {
                name: concat!($structure, ":ml-bn-svm"),
                about: concat!($about, ", the most likely network with the required margins"),
                options: &[ALPHA, $($own,)* LAMBDA, GAMMA, SMOOTH, SOLVER, TAU],
                recipe: Recipe::Discrete($graph, Rule::MlBnSvm),
            },
        ]
    };
}

const MAJORITY: [ModelInfo; 1] = [ModelInfo {
    name: "majority",
    about: "class frequencies, whatever the features say: the baseline to beat",
    options: &[],
    recipe: Recipe::Majority,
}];
const NB: [ModelInfo; 5] =
    on_graph!("nb", Graph::Nb, "naive Bayes: features independent given the class", []);
const TAN: [ModelInfo; 5] =
    on_graph!("tan", Graph::Tan, "tree-augmented naive Bayes: each feature sees one other", [ROOT]);
const KDB1: [ModelInfo; 5] = on_graph!("kdb1", Graph::Kdb(1), "greedy tree: each feature sees one other", []);
const KDB2: [ModelInfo; 5] =
    on_graph!("kdb2", Graph::Kdb(2), "2-tree: each feature sees up to two others", []);
const KDB3: [ModelInfo; 5] =
    on_graph!("kdb3", Graph::Kdb(3), "3-tree: each feature sees up to three others", []);
const KDB4: [ModelInfo; 5] =
    on_graph!("kdb4", Graph::Kdb(4), "4-tree: each feature sees up to four others", []);
const DAG: [ModelInfo; 5] = on_graph!("dag", Graph::Dag, "a graph you give", [EDGES]);
const AODE: [ModelInfo; 2] = [
    ModelInfo {
        name: "aode:ml",
        about: "average of networks in which all features see the same one, maximum likelihood",
        options: &[ALPHA],
        recipe: Recipe::Averaged { margin: false },
    },
    ModelInfo {
        name: "aode:ml-bn-svm",
        about: "average of networks in which all features see the same one, with the required margins",
        options: &[
            ALPHA,
            LAMBDA,
            GAMMA,
            OptionInfo {
                key: "tables",
                default: "shared",
                range: "shared, own",
                about: "pairwise tables for all networks, by the margin of their average; or each network by its own \
                        margin, with a certificate (also where training cells are missing)",
            },
        ],
        recipe: Recipe::Averaged { margin: true },
    },
];

const POOL: [ModelInfo; 1] = [ModelInfo {
    name: "pool",
    about: "kernel density, averaged network, shrunk Gaussian and margin kernel machine, weighed by the share of \
            missing features; keeps training rows",
    options: &[
        OptionInfo {
            key: "fast",
            default: "false",
            range: "true, false",
            about: "fewer rows and candidates in every search: faster, slightly less accurate",
        },
        OptionInfo {
            key: "consistent",
            default: "false",
            range: "true, false",
            about: "one joint kernel density for all patterns of missing features",
        },
        OptionInfo {
            key: "draws",
            default: "10",
            range: "1 to 1000",
            about: "completions of a row with missing features in the kernel machine",
        },
        OptionInfo {
            key: "a",
            default: "aode",
            range: "aode, or any other model, its options behind `+`: tan:ml-bn-svm+lambda=4",
            about: "the averaged network, or a model in its place",
        },
        OptionInfo {
            key: "g",
            default: "gaussian",
            range: "gaussian, or any other model, its options behind `+`: sgbn:search",
            about: "the shrunk Gaussians, or a model in their place",
        },
        OptionInfo {
            key: "mask",
            default: "mcar",
            range: "mcar, block, or a data file whose empty cells show what is missing",
            about: "gaps on which the weights are fitted: single cells, neighbouring columns, or patterns you give",
        },
    ],
    recipe: Recipe::Pool,
}];

const BANDWIDTH: OptionInfo = OptionInfo {
    key: "bandwidth",
    default: "plugin",
    range: "plugin, normal",
    about: "smoothing: two-stage plug-in, or the normal-scale rule (faster)",
};
const FLOOR: OptionInfo = OptionInfo {
    key: "floor",
    default: "4 (slb, lu), 8 for densities and around an anchor",
    range: "above 0",
    about: "log densities end where one training point lies this many bandwidths away",
};
const FRACTION: OptionInfo = OptionInfo {
    key: "fraction",
    default: "chosen by inner cross-validation",
    range: "0 to 1",
    about: "share of the most dependent (class, pair) combinations that are kept",
};
const COST: OptionInfo = OptionInfo {
    key: "c",
    default: "1",
    range: "above 0",
    about: "weight of the margin shortfalls of the support vector machine",
};
const CLASS_WEIGHTS: OptionInfo = OptionInfo {
    key: "class_weights",
    default: "chosen by inner cross-validation; none for densities",
    range: "none, balanced, or weights such as ill:2;well:1",
    about: "whether small classes count as much as large ones",
};
const FEATURES: OptionInfo = OptionInfo {
    key: "features",
    default: "leave_one_out",
    range: "leave_one_out, resubstitution, split, cross_fit",
    about: "where the log densities of the training rows come from; resubstitution is the paper's",
};
const PENALTY_NORM: OptionInfo = OptionInfo {
    key: "penalty",
    default: "l2",
    range: "l2, l1, group",
    about: "norm of the weights; l1 makes single terms zero, group all terms of a column or a pair",
};

const AUGMENT: OptionInfo = OptionInfo {
    key: "augment",
    default: "none",
    range: "none, raw, raw_and_products",
    about: "also the numbers themselves, or these and the products of kept pairs, as terms of the machine",
};
const AUGMENT_LU: OptionInfo = OptionInfo {
    range: "none, raw",
    about: "also the numbers themselves as terms of the machine",
    ..AUGMENT
};

const MULTICLASS: OptionInfo = OptionInfo {
    key: "multiclass",
    default: "one_vs_rest",
    range: "one_vs_rest, crammer_singer",
    about: "more than two classes: a machine for each against the rest, or one machine of all classes",
};
const ANCHOR: OptionInfo = OptionInfo {
    key: "anchor",
    default: "none",
    range: "none, nb, tan",
    about: "penalise the distance from kernel naive Bayes or kernel TAN, which small c gives back",
};
const ANCHOR_LU: OptionInfo =
    OptionInfo { range: "none, nb", about: "penalise the distance from kernel naive Bayes", ..ANCHOR };
const SMALL_CLASSES: OptionInfo = OptionInfo {
    key: "small_classes",
    default: "refuse",
    range: "refuse, allow, pairs",
    about: "classes with fewer than 4 rows: an error or not; pairs gives those below 20 pair densities too",
};

/// Options of every density model, then `own` ones.
macro_rules! density_options {
    ($($own:expr),*) => { &[BANDWIDTH, FLOOR, $($own,)* CLASS_WEIGHTS, SMALL_CLASSES] };
}

const fn density(name: &'static str, variant: Variant, about: &'static str) -> ModelInfo {
    let options: &[OptionInfo] = match variant {
        Variant::Slb => {
            density_options!(FRACTION, COST, FEATURES, PENALTY_NORM, MULTICLASS, ANCHOR, AUGMENT)
        }
        Variant::SlbAll => density_options!(COST, FEATURES, PENALTY_NORM, MULTICLASS, ANCHOR, AUGMENT),
        Variant::Lu => density_options!(COST, FEATURES, PENALTY_NORM, MULTICLASS, ANCHOR_LU, AUGMENT_LU),
        Variant::KdeNaiveBayes | Variant::KdeTan | Variant::KdeForest => density_options!(),
    };
    ModelInfo { name, about, options, recipe: Recipe::Density(variant) }
}

const DENSITY: [ModelInfo; 6] = [
    density("slb", Variant::Slb, "sparse linear machine on log densities of features and dependent pairs"),
    density("slb-all", Variant::SlbAll, "the same with all pairs"),
    density("lu", Variant::Lu, "the same with single features only"),
    density("kde-nb", Variant::KdeNaiveBayes, "naive Bayes with kernel densities"),
    density("kde-tan", Variant::KdeTan, "a tree of kernel densities for each class"),
    density(
        "kde-forest",
        Variant::KdeForest,
        "a forest of kernel densities for each class, edges by held-out likelihood",
    ),
];

const LAMBDA1: OptionInfo = OptionInfo {
    key: "lambda1",
    default: "chosen by inner cross-validation",
    range: "above 0",
    about: "penalty of an arc",
};
const FUSED: OptionInfo = OptionInfo {
    key: "fused",
    default: "none",
    range: "0 or more",
    about: "penalty of differences between the weights of two classes, in a common order",
};
const PENALTY: OptionInfo = OptionInfo {
    key: "penalty",
    default: "2",
    range: "above 0",
    about: "penalty of an arc in units of log n",
};
const ROUNDS: OptionInfo = OptionInfo {
    key: "rounds",
    default: "20",
    range: "a whole number",
    about: "restarts of the order search",
};
const START: OptionInfo = OptionInfo {
    key: "start",
    default: "or",
    range: "or, h, search",
    about: "how the graphs are learnt before the discriminative step",
};
const VARIANCE: OptionInfo = OptionInfo {
    key: "variance",
    default: "ml",
    range: "ml, pooled, fixed",
    about: "noise of the nodes: per class, one for all classes, or 1",
};
const PRIORS: OptionInfo =
    OptionInfo { key: "priors", default: "equal", range: "equal, empirical", about: "class priors" };
const FREE: OptionInfo = OptionInfo {
    key: "k",
    default: "chosen by inner cross-validation",
    range: "a whole number",
    about: "number of arc weights and biases that the discriminative step may move",
};
const SLACK: OptionInfo = OptionInfo {
    key: "slack",
    default: "0.01",
    range: "0 or more",
    about: "share by which the fitting error may grow",
};
const NU: OptionInfo = OptionInfo {
    key: "nu",
    default: "chosen by inner cross-validation",
    range: "between 0 and 1",
    about: "share of rows allowed below the margin",
};
const MM_SOLVER: OptionInfo = OptionInfo {
    key: "solver",
    default: "smooth",
    range: "smooth, ccp",
    about: "smoothed objective, or convex-concave steps by cone programs",
};
const SVM_C: OptionInfo = OptionInfo {
    key: "c",
    default: "chosen by inner cross-validation",
    range: "above 0",
    about: "weight of the squared slacks of the kernel machine",
};
const COMPONENTS: OptionInfo = OptionInfo {
    key: "components",
    default: "all",
    range: "a whole number",
    about: "Fisher components with the largest correlation with the class",
};

const CLASS_OF_ONE: OptionInfo = OptionInfo {
    key: "small_classes",
    default: "refuse",
    range: "refuse, allow",
    about: "a class of one row: an error, or independent nodes around it",
};
const INFORMATION: OptionInfo = OptionInfo {
    key: "information",
    default: "identity, as in the paper; diagonal where the graphs come from the order search",
    range: "identity, diagonal",
    about: "Fisher information by which the vectors are whitened; diagonal divides by the noise of the node",
};

/// One way of learning the class networks, decided by the networks (`sgbn`) or by a machine (`fisher`).
macro_rules! gaussian {
    ($rule:literal, $kind:expr, $about:literal, [$($own:expr),*], [$($network_only:expr),*]) => {
        [
            ModelInfo {
                name: concat!("sgbn:", $rule),
                about: concat!("sparse Gaussian network per class: ", $about),
                options: &[VARIANCE, PRIORS, CLASS_OF_ONE, $($own,)* $($network_only),*],
                recipe: Recipe::Gaussian { rule: $kind, fisher: false },
            },
            ModelInfo {
                name: concat!("fisher:", $rule),
                about: concat!("kernel machine on the Fisher vectors of such networks: ", $about),
                options: &[VARIANCE, COMPONENTS, INFORMATION, SVM_C, CLASS_OF_ONE, $($own),*],
                recipe: Recipe::Gaussian { rule: $kind, fisher: true },
            },
        ]
    };
}

const OR: [ModelInfo; 2] =
    gaussian!("or", Discriminative::Or, "arcs by order-constrained lasso", [LAMBDA1, FUSED], []);
const H: [ModelInfo; 2] =
    gaussian!("h", Discriminative::H, "arcs by block descent (depends on column order)", [LAMBDA1], []);
const SEARCH: [ModelInfo; 2] =
    gaussian!("search", Discriminative::Search, "arcs by search over orders", [PENALTY, ROUNDS], []);
const KL: [ModelInfo; 2] = gaussian!(
    "kl",
    Discriminative::Kl,
    "weights moved to improve the Fisher kernel",
    [START, LAMBDA1, PENALTY, ROUNDS, FREE, SLACK],
    [SVM_C]
);
const MM: [ModelInfo; 2] = gaussian!(
    "mm",
    Discriminative::Mm,
    "weights moved to a large margin",
    [START, LAMBDA1, PENALTY, ROUNDS, FREE, SLACK, NU, MM_SOLVER],
    []
);

static MODELS: LazyLock<Vec<ModelInfo>> = LazyLock::new(|| {
    [
        &MAJORITY[..],
        &NB,
        &TAN,
        &KDB1,
        &KDB2,
        &KDB3,
        &KDB4,
        &DAG,
        &AODE,
        &POOL,
        &DENSITY,
        &OR,
        &H,
        &SEARCH,
        &KL,
        &MM,
    ]
    .concat()
});
