//! A model to be asked by clicks: what its page has to know of it, and the answers to the page's questions. Everything
//! goes in and out as JSON, because the other side is a page; `types.d.ts` of `hingenet-view` says what it looks like.

mod ask;
mod compile;
mod facts;

use crate::model::Model;
use hingenet_base::error::Result;

/// A model as an explorer page asks it.
///
/// ```
/// use hingenet::explore::Explorer;
/// use hingenet::{Tan, model::Dataset, evaluate::generate};
/// let model = Tan::ml().fit(&Dataset::new(generate("corral", Some(200), 1)?, "class", None)?)?;
/// let facts = Explorer::new(&model)?.facts()?;
/// assert_eq!(facts["columns"][0]["name"], "class");
/// # Ok::<(), hingenet::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Explorer<'a> {
    model: &'a Model,
    /// Numbers of states of the columns, the class first; 0 for a number.
    cards: Vec<usize>,
}

impl<'a> Explorer<'a> {
    /// Prepares what all questions share.
    pub fn new(model: &'a Model) -> Result<Self> {
        let cards = model.query_variables().iter().map(|v| v.states.len()).collect();
        Ok(Explorer { model, cards })
    }
}
