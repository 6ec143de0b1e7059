//! The list of models a user can name, with their options, which the families declare.

use super::options::OptionInfo;
use super::{density as kde, discrete as net, gaussian as sgbn, pool};
use hingenet_base::error::{Error, Result};
use hingenet_base::similar::did_you_mean;
use hingenet_density::Variant;
use hingenet_gaussian::{Learning, StructureMethod};
use std::sync::LazyLock;

/// The model used where none is named.
pub const DEFAULT_MODEL: &str = "pool";

/// One model a user can name.
#[derive(Debug, Clone)]
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

/// Names of options in files and commands of earlier versions, and what they are called now: `penalty` was a norm in
/// one family and a number in another, `lambda` a weight here and a scale there.
const FORMER_NAMES: [(&str, &str); 2] = [("penalty", "norm"), ("lambda", "scale")];

impl ModelInfo {
    /// Whether a fit has something to show when its time is over ([`Control::within`](crate::Control::within)): its search
    /// then chooses among what it has tried.
    pub fn can_be_timed(&self) -> bool {
        match self.recipe {
            Recipe::Discrete(_, rule) => rule != Rule::Ml,
            Recipe::Averaged { margin } => margin,
            _ => false,
        }
    }

    /// Place among the models by how long a fit takes, roughly: cheap ones are evaluated first.
    pub(crate) fn cost(&self) -> usize {
        match self.recipe {
            Recipe::Majority => 0,
            Recipe::Discrete(_, Rule::Ml) => 1,
            Recipe::Averaged { margin: false } => 2,
            Recipe::Discrete(..) | Recipe::Averaged { .. } => 3,
            Recipe::Density(_) => 4,
            Recipe::Gaussian { .. } => 5,
            Recipe::Pool => 6,
        }
    }

    /// The option of this name; a former name is understood too.
    pub fn option(&self, key: &str) -> Option<&OptionInfo> {
        let named = |key: &str| self.options.iter().find(|o| o.key == key);
        let former = FORMER_NAMES.iter().filter(|(old, _)| *old == key);
        named(key).or_else(|| former.filter_map(|(_, new)| named(new)).next())
    }

    /// How an option that a family has chosen is called.
    pub(super) fn name_of(&self, key: String) -> String {
        self.option(&key).map(|o| o.key.to_string()).unwrap_or(key)
    }

    /// What to expect as the name of an option where `key` is none.
    pub(super) fn keys(&self, key: &str) -> String {
        let keys: Vec<&str> = self.options.iter().map(|o| o.key).collect();
        if keys.is_empty() {
            return "no options".into();
        }
        format!("one of {}{}", keys.join(", "), did_you_mean(key, keys.iter().copied()))
    }
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
        /// How the graphs are learnt; `None` leaves it to the option `start`.
        structure: Option<StructureMethod>,
        /// What happens to the weights afterwards.
        learning: Learning,
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

/// The model with this name, or an error that names those like it.
pub fn find(name: &str) -> Result<&'static ModelInfo> {
    let found = MODELS.iter().find(|m| m.name == name);
    found.ok_or_else(|| Error::parameter("model", name, expected(name)))
}

/// What could be meant by a name that no model has: those that begin with it, or one that looks like it.
fn expected(name: &str) -> String {
    let names = || MODELS.iter().map(|m| m.name);
    let family = format!("{name}:");
    let longer: Vec<&str> = names().filter(|known| known.starts_with(&family)).collect();
    match longer.is_empty() {
        true => format!("a name that `hingenet models` lists{}", did_you_mean(name, names())),
        false => format!("one of {}", longer.join(", ")),
    }
}

const fn discrete(
    name: &'static str,
    about: &'static str,
    options: &'static [OptionInfo],
    graph: Graph,
    rule: Rule,
) -> ModelInfo {
    ModelInfo { name, about, options, recipe: Recipe::Discrete(graph, rule) }
}

/// The five learning rules on one graph: graph options first, then those of the rule.
macro_rules! on_graph {
    ($structure:literal, $graph:expr, $about:literal, [$($own:expr),*]) => {
        [
            discrete(
                concat!($structure, ":ml"), concat!($about, ", maximum likelihood"),
                &[net::ALPHA.info, $($own.info,)* net::TAU.info], $graph, Rule::Ml,
            ),
            discrete(
                concat!($structure, ":mcl"), concat!($about, ", maximum conditional likelihood"),
                &[
                    net::POSITIVE_ALPHA, $($own.info,)* net::FORM.info, net::RIDGE.info, net::ITERATIONS.info,
                    net::EARLY_STOPPING.info,
                ],
                $graph, Rule::Mcl,
            ),
            discrete(
                concat!($structure, ":mm"), concat!($about, ", maximum capped margin"),
                &[
                    net::POSITIVE_ALPHA, $($own.info,)* net::SCALE.info, net::KAPPA.info, net::FORM.info,
                    net::ITERATIONS.info, net::EARLY_STOPPING.info,
                ],
                $graph, Rule::Mm,
            ),
            discrete(
                concat!($structure, ":bn-svm"), concat!($about, ", support vector machine on the network's terms"),
                &[net::ALPHA.info, $($own.info,)* net::LAMBDA.info, net::NORM.info], $graph, Rule::BnSvm,
            ),
            discrete(
                concat!($structure, ":ml-bn-svm"), concat!($about, ", the most likely network with the required margins"),
                &[
                    net::CHOSEN_ALPHA, $($own.info,)* net::LAMBDA.info, net::GAMMA.info, net::SMOOTH.info,
                    net::SOLVER.info, net::GAP.info, net::TAU.info,
                ],
                $graph, Rule::MlBnSvm,
            ),
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
    on_graph!("tan", Graph::Tan, "tree-augmented naive Bayes: each feature sees one other", [net::ROOT]);
const KDB1: [ModelInfo; 5] = on_graph!("kdb1", Graph::Kdb(1), "greedy tree: each feature sees one other", []);
const KDB2: [ModelInfo; 5] =
    on_graph!("kdb2", Graph::Kdb(2), "2-tree: each feature sees up to two others", []);
const KDB3: [ModelInfo; 5] =
    on_graph!("kdb3", Graph::Kdb(3), "3-tree: each feature sees up to three others", []);
const KDB4: [ModelInfo; 5] =
    on_graph!("kdb4", Graph::Kdb(4), "4-tree: each feature sees up to four others", []);
const DAG: [ModelInfo; 5] = on_graph!("dag", Graph::Dag, "a graph you give", [net::EDGES]);
const AODE: [ModelInfo; 2] = [
    ModelInfo {
        name: "aode:ml",
        about: "average of networks in which all features see the same one, maximum likelihood",
        options: &[net::ALPHA.info],
        recipe: Recipe::Averaged { margin: false },
    },
    ModelInfo {
        name: "aode:ml-bn-svm",
        about: "average of networks in which all features see the same one, with the required margins",
        options: &[net::ALPHA.info, net::LAMBDA.info, net::GAMMA.info, net::TABLES.info],
        recipe: Recipe::Averaged { margin: true },
    },
];

const POOL: [ModelInfo; 1] = [ModelInfo {
    name: "pool",
    about: "kernel density, averaged network, shrunk Gaussian and margin kernel machine, weighed by the share of \
            missing features; keeps training rows",
    options: &[
        pool::FAST.info,
        pool::CONSISTENT.info,
        pool::DRAWS.info,
        pool::ROWS.info,
        pool::GROUP.info,
        pool::AVERAGED.info,
        pool::GAUSSIAN.info,
        pool::MASK.info,
    ],
    recipe: Recipe::Pool,
}];

/// Options of every density model, those of the machines (`own` first) between them.
macro_rules! density_options {
    () => { &[kde::BANDWIDTH.info, kde::FLOOR.info, kde::CLASS_WEIGHTS.info, kde::SMALL_CLASSES.info] };
    ([$($own:expr),*], $anchor:expr, $augment:expr) => {
        &[
            kde::BANDWIDTH.info, kde::FLOOR.info, $($own.info,)* kde::CRITERION.info, kde::COST.info, kde::FEATURES.info,
            kde::NORM.info, kde::MULTICLASS.info, $anchor, $augment, kde::CLASS_WEIGHTS.info, kde::SMALL_CLASSES.info,
        ]
    };
}

const fn density(name: &'static str, variant: Variant, about: &'static str) -> ModelInfo {
    let options: &[OptionInfo] = match variant {
        Variant::Slb => {
            density_options!([kde::FRACTION, kde::THRESHOLD], kde::ANCHOR.info, kde::AUGMENT.info)
        }
        Variant::SlbAll => density_options!([], kde::ANCHOR.info, kde::AUGMENT.info),
        Variant::Lu => density_options!([], kde::ANCHOR_OF_LU, kde::AUGMENT_OF_LU),
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

/// One way of learning the class networks, decided by the networks (`sgbn`) or by a machine (`fisher`).
macro_rules! gaussian {
    (@recipe $fisher:literal, $learning:ident $structure:ident) => {
        Recipe::Gaussian {
            structure: Some(StructureMethod::$structure), learning: Learning::$learning, fisher: $fisher
        }
    };
    (@recipe $fisher:literal, $learning:ident) => {
        Recipe::Gaussian { structure: None, learning: Learning::$learning, fisher: $fisher }
    };
    ($rule:literal, $learning:ident $($structure:ident)?, $about:literal, [$($own:expr),*], [$($network_only:expr),*]) => {
        [
            ModelInfo {
                name: concat!("sgbn:", $rule),
                about: concat!("sparse Gaussian network per class: ", $about),
                options: &[
                    sgbn::VARIANCE.info, sgbn::PRIORS.info, sgbn::SMALL_CLASSES.info, $($own.info,)* $($network_only.info),*
                ],
                recipe: gaussian!(@recipe false, $learning $($structure)?),
            },
            ModelInfo {
                name: concat!("fisher:", $rule),
                about: concat!("kernel machine on the Fisher vectors of such networks: ", $about),
                options: &[
                    sgbn::VARIANCE.info, sgbn::COMPONENTS.info, sgbn::INFORMATION.info, sgbn::COST.info,
                    sgbn::SMALL_CLASSES.info, $($own.info),*
                ],
                recipe: gaussian!(@recipe true, $learning $($structure)?),
            },
        ]
    };
}

const OR: [ModelInfo; 2] =
    gaussian!("or", Generative Or, "arcs by order-constrained lasso", [sgbn::LAMBDA1, sgbn::FUSED], []);
const H: [ModelInfo; 2] =
    gaussian!("h", Generative H, "arcs by block descent (depends on column order)", [sgbn::LAMBDA1], []);
const SEARCH: [ModelInfo; 2] =
    gaussian!("search", Generative Search, "arcs by search over orders", [sgbn::PENALTY, sgbn::ROUNDS], []);
const KL: [ModelInfo; 2] = gaussian!(
    "kl",
    Kl,
    "weights moved to improve the Fisher kernel",
    [sgbn::START, sgbn::LAMBDA1, sgbn::PENALTY, sgbn::ROUNDS, sgbn::FREE, sgbn::SLACK],
    [sgbn::COST]
);
const MM: [ModelInfo; 2] = gaussian!(
    "mm",
    Mm,
    "weights moved to a large margin",
    [
        sgbn::START,
        sgbn::LAMBDA1,
        sgbn::PENALTY,
        sgbn::ROUNDS,
        sgbn::FREE,
        sgbn::SLACK,
        sgbn::NU,
        sgbn::SOLVER
    ],
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
