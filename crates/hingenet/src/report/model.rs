//! What the page of a fitted model shows: facts, networks, tables of nodes, cuts, curves, and the
//! reasons for the decisions about chosen rows.

use super::{CurveFigure, HeatMap, Importance, NetworkPicture, NetworkReport};
use serde::{Deserialize, Serialize};

/// Everything on the page of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelReport {
    /// Name and options.
    pub model: String,
    /// Name of the column that is predicted.
    pub target: String,
    /// Class names in code order.
    pub classes: Vec<String>,
    /// What kind of model this is and what it keeps, a sentence each.
    pub about: Vec<String>,
    /// How it came about.
    #[serde(flatten)]
    pub origin: Origin,
    /// Network to draw: of a discrete model, or the pairs of a density model.
    pub networks: Vec<NetworkPicture>,
    /// Networks of the classes of a Gaussian model, and how they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_networks: Option<NetworkReport>,
    /// Probability tables, in node order.
    pub tables: Vec<NodeTable>,
    /// Cut points of numeric features.
    pub cuts: Vec<FeatureCuts>,
    /// How terms look: a figure for each feature, or for the weights of the parts of a model.
    pub curves: Vec<CurveFigure>,
    /// Maps of pairs of features.
    pub maps: Vec<HeatMap>,
    /// Which of the terms are shown, a sentence each.
    pub terms: Vec<String>,
    /// Decisions for chosen rows.
    pub decisions: Vec<Decision>,
    /// How much each feature moves decisions, where rows were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
}

/// How a result came about.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Origin {
    /// Facts as (name, value).
    pub facts: Vec<(String, String)>,
    /// Warnings of the fit.
    pub warnings: Vec<String>,
}

/// Probability table of a node: one row for each assignment of its parents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeTable {
    /// Node by name.
    pub node: String,
    /// Whether it is the class.
    pub is_class: bool,
    /// Names of the parents, in the order of the conditions.
    pub parents: Vec<String>,
    /// Names of the states.
    pub states: Vec<String>,
    /// The rows shown: states of the parents, then `P(state | parents)`.
    pub rows: Vec<TableRow>,
    /// Number of rows of the whole table; those shown are the most probable ones.
    pub total_rows: usize,
}

/// One row of a probability table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableRow {
    /// States of the parents.
    pub given: Vec<String>,
    /// `P(state | given)`.
    pub probabilities: Vec<f64>,
    /// Weight of the training rows with each state and these states of the parents; empty where it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<f64>,
}

/// Where a numeric feature is cut into intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureCuts {
    /// Name of the feature.
    pub feature: String,
    /// Cut points, ascending; empty if the feature is not cut and so not used.
    pub cuts: Vec<f64>,
}

/// Why one row got its class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Number of the row, counted from 1.
    pub row: usize,
    /// The class decided for.
    pub class: String,
    /// Probability of each class.
    pub probabilities: Vec<f64>,
    /// Log-odds of the class when nothing is known.
    pub base: f64,
    /// What the known features add to them (Shapley values), largest first.
    pub values: Vec<DecisionValue>,
    /// Values left out because they are many and small: how many, and their sum.
    pub others: Option<(usize, f64)>,
    /// Log-odds of the class for the row: `base` and all values together.
    pub total: f64,
}

/// What one known feature adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionValue {
    /// The feature and its value.
    pub cell: String,
    /// Change of the log-odds of the class.
    pub value: f64,
    /// Standard error of the change, where it was estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
}
