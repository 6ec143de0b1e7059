//! The list of models a user can name, with their options, defaults and ranges.

use crate::error::{Error, Result};

/// The model used where none is named.
pub const DEFAULT_MODEL: &str = "tan:ml";

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
    /// A discrete network: its graph.
    Discrete(Graph),
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
    MODELS
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
    range: "a CSV file with the columns from,to",
    about: "the arcs of the graph, by column name; the target is a node too",
};

const fn discrete(name: &'static str, graph: Graph, about: &'static str) -> ModelInfo {
    let options: &[OptionInfo] = match graph {
        Graph::Tan => &[ALPHA, ROOT],
        Graph::Dag => &[ALPHA, EDGES],
        Graph::Nb | Graph::Kdb(_) => &[ALPHA],
    };
    ModelInfo { name, about, options, recipe: Recipe::Discrete(graph) }
}

const MODELS: &[ModelInfo] = &[
    ModelInfo {
        name: "majority",
        about: "class frequencies, whatever the features say: the baseline to beat",
        options: &[],
        recipe: Recipe::Majority,
    },
    discrete("nb:ml", Graph::Nb, "naive Bayes: features independent given the class, maximum likelihood"),
    discrete(
        "tan:ml",
        Graph::Tan,
        "tree-augmented naive Bayes: each feature sees one other, maximum likelihood",
    ),
    discrete("kdb1:ml", Graph::Kdb(1), "greedy tree: each feature sees one other, maximum likelihood"),
    discrete("kdb2:ml", Graph::Kdb(2), "2-tree: each feature sees up to two others, maximum likelihood"),
    discrete("kdb3:ml", Graph::Kdb(3), "3-tree: each feature sees up to three others, maximum likelihood"),
    discrete("kdb4:ml", Graph::Kdb(4), "4-tree: each feature sees up to four others, maximum likelihood"),
    discrete("dag:ml", Graph::Dag, "a graph you give, maximum likelihood"),
];
