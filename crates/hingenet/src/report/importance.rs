//! How much each feature moves the decisions of a model: its Shapley values over many rows.

use crate::model::Model;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;
use hingenet_data::explain::{Reasons, ShapleyParams};
use hingenet_data::table::{Column, ColumnData, Table, UnseenPolicy};
use serde::{Deserialize, Serialize};

/// Rows explained, drawn without replacement if there are more.
const ROWS: usize = 100;
/// Evaluations of the model for a row: what is lost in the single values the mean wins back.
const EVALUATIONS: usize = 512;

/// The features of a model by how much they move its decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// Name and options of the model.
    pub model: String,
    /// Number of rows explained.
    pub rows: usize,
    /// Class names in code order.
    pub classes: Vec<String>,
    /// The features, most important first; ties to the earlier one.
    pub features: Vec<FeatureImportance>,
}

/// How much one feature moves decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureImportance {
    /// Name of the feature.
    pub feature: String,
    /// Mean over the rows of the absolute value for the class that the row is given (log-odds); 0 in rows where the
    /// feature is missing.
    pub mean: f64,
    /// Standard deviation of the same over the rows.
    pub sd: f64,
    /// The rows in which the feature is known.
    pub dots: Vec<Dot>,
}

/// One row in the swarm of a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dot {
    /// How large the cell is among those of its column: rank from 0 to 1.
    pub level: f64,
    /// What it adds to the log-odds of each class.
    pub values: Vec<f64>,
}

impl Importance {
    /// Explains at most 100 rows of a table, drawn by the seed.
    pub fn of(model: &Model, table: &Table, seed: u64, control: &Control) -> Result<Self> {
        let mut drawn = Random::new(seed).permutation(table.n_rows());
        drawn.truncate(ROWS);
        drawn.sort_unstable();
        let (rows, _) = model.schema.align(&table.rows(&drawn), UnseenPolicy::Missing)?;
        let levels: Vec<Vec<f64>> = rows.columns().iter().map(levels).collect();
        let name = |f: &hingenet_data::table::FeatureSpec| f.name.clone();
        let empty = |feature| FeatureImportance { feature, mean: 0.0, sd: 0.0, dots: Vec::new() };
        let mut features: Vec<FeatureImportance> =
            model.schema.features.iter().map(name).map(empty).collect();
        let mut sizes = vec![vec![0.0; drawn.len()]; features.len()];
        let reasons = Reasons::Shapley(ShapleyParams { evaluations: EVALUATIONS, seed });
        for (m, explanation) in
            model.explanations(&rows, UnseenPolicy::Missing, reasons, control)?.enumerate()
        {
            control.progress("importance", m, drawn.len())?;
            let explanation = explanation?;
            let class = explanation.class();
            for term in explanation.terms {
                sizes[term.feature][m] = term.scores[class].abs();
                let dot = Dot { level: levels[term.feature][m], values: term.scores };
                features[term.feature].dots.push(dot);
            }
        }
        for (feature, sizes) in features.iter_mut().zip(&sizes) {
            let n = sizes.len().max(1) as f64;
            feature.mean = sizes.iter().sum::<f64>() / n;
            feature.sd = (sizes.iter().map(|s| (s - feature.mean).powi(2)).sum::<f64>() / n).sqrt();
        }
        features.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        Ok(Importance {
            model: model.spec.to_string(),
            rows: drawn.len(),
            classes: model.classes.clone(),
            features,
        })
    }
}

/// Ranks of the known cells, from 0 to 1; equal cells share one.
fn levels(column: &Column) -> Vec<f64> {
    let cell = |i: usize| match column.data() {
        ColumnData::Numeric(n) => n.get(i),
        ColumnData::Categorical(c) => c.codes().get(i).map(|code| code as f64),
    };
    let cells: Vec<Option<f64>> = (0..column.len()).map(cell).collect();
    let mut distinct: Vec<f64> = cells.iter().copied().flatten().collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let top = distinct.len().saturating_sub(1).max(1) as f64;
    cells.iter().map(|c| c.map_or(0.0, |x| distinct.partition_point(|d| *d < x) as f64 / top)).collect()
}
