//! Other models in place of term A or G: any classifier that can be fitted on the pool's rows and gives
//! class probabilities for rows with missing cells. The pool does not know the families behind them.

use super::rows::{Cells, Labelled, NO_LEVEL, Rows};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require_len};
use hingenet_data::classifier::Training;
use hingenet_data::table::{Codes, Column, Table};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A fitted model that stands in for a term.
pub trait TermModel: Debug + Send + Sync {
    /// Its name and options.
    fn name(&self) -> String;

    /// `ln P(c | observed cells)`, K values a row, for a table with the training columns.
    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>>;

    /// The model itself, for whoever knows its type.
    fn as_any(&self) -> &dyn Any;

    /// Whether both are the same model, bit by bit.
    fn equals(&self, other: &dyn TermModel) -> bool;
}

/// How to fit a model that stands in for a term.
pub trait TermRecipe: Sync {
    /// Fits on rows whose categories and classes have lost their names (they are numbered). With `settled`,
    /// the model of all rows, whatever that one has chosen by an inner search is kept.
    fn fit(
        &self,
        training: &Training,
        settled: Option<&dyn TermModel>,
        control: &Control,
    ) -> Result<Arc<dyn TermModel>>;
}

/// Models to take in place of the terms' own.
#[derive(Clone, Copy, Default)]
pub struct StandIns<'a> {
    /// In place of term A.
    pub averaged: Option<&'a dyn TermRecipe>,
    /// In place of term G.
    pub gaussian: Option<&'a dyn TermRecipe>,
}

/// Fitted stand-ins of a pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct FittedStandIns {
    pub(crate) averaged: Option<Arc<dyn TermModel>>,
    pub(crate) gaussian: Option<Arc<dyn TermModel>>,
}

impl FittedStandIns {
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let same = |a: &Option<Arc<dyn TermModel>>, b: &Option<Arc<dyn TermModel>>| match (a, b) {
            (Some(a), Some(b)) => a.equals(b.as_ref()),
            (a, b) => a.is_none() && b.is_none(),
        };
        same(&self.averaged, &other.averaged) && same(&self.gaussian, &other.gaussian)
    }
}

/// Fits a stand-in on the pool's rows.
pub(crate) fn fit(
    recipe: &dyn TermRecipe,
    names: &[String],
    rows: &Labelled,
    settled: Option<&dyn TermModel>,
    control: &Control,
) -> Result<Arc<dyn TermModel>> {
    let features = table(names, &rows.rows)?;
    let classes: Vec<String> = (0..rows.n_classes).map(|c| c.to_string()).collect();
    let training = Training {
        features: &features,
        class: &rows.codes(),
        classes: &classes,
        weights: Some(&rows.weight),
    };
    recipe.fit(&training, settled, control)
}

/// Log posteriors of a stand-in for every row, K values a row.
pub(crate) fn scores(
    model: &dyn TermModel,
    names: &[String],
    rows: &Rows,
    n_classes: usize,
) -> Result<Vec<f64>> {
    let scores = model.log_proba(&table(names, rows)?)?;
    require_len("probabilities of a term", rows.len() * n_classes, scores.len())?;
    Ok(scores)
}

/// Rows as a table; categories are named by their numbers.
fn table(names: &[String], rows: &Rows) -> Result<Table> {
    let column = |(name, cells): (&String, &Cells)| match cells {
        Cells::Numbers(x) => Column::numeric(name, x.clone()),
        Cells::Levels { count, codes } => {
            let levels = codes.iter().map(|&c| (c != NO_LEVEL).then_some(c as usize));
            let categories = (0..*count).map(|c| c.to_string()).collect();
            Column::categorical(name, categories, Codes::from_options(*count, levels))
        }
    };
    Table::new(names.iter().zip(rows.features()).map(column).collect())
}
