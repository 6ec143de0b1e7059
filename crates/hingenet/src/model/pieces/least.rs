//! Counts of few rows, which statistics that leave their place may be asked not to tell. A model is made of what is kept,
//! so its parameters do not tell them either.

use super::{Findings, Gathered, Shape, Task, Work};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::exact::ExactSums;
use hingenet_discrete::Counted;
use hingenet_gaussian::{ExactMoments, NodeGrids};

impl Gathered {
    /// The same without counts of fewer rows than the task asks for. A count of states that is left out counts as 0: whatever
    /// is counted more finely was smaller still, so no table has rows that another one denies. Moments cannot lack a part
    /// and are refused.
    pub(super) fn without_few(mut self, task: &Task, control: &Control) -> Result<Self> {
        match (&mut self.0, &task.work) {
            _ if task.least < 2 => {}
            (Findings::Count(counted), _) => hide(counted, task.least, control),
            (Findings::Moments(moments, _), Work::Moments { shape, grids, .. }) => {
                refuse(moments, shape, grids, task.least)?;
            }
            _ => {}
        }
        Ok(self)
    }
}

fn hide(counted: &mut Counted, least: u64, control: &Control) {
    let is_few = |n: &f64| *n > 0.0 && *n < least as f64;
    let before = counted.sparse.len();
    counted.sparse.retain(|_, n| !is_few(n));
    let mut hidden = before - counted.sparse.len();
    for n in counted.dense.iter_mut().filter(|n| is_few(n)) {
        *n = 0.0;
        hidden += 1;
    }
    if hidden > 0 {
        control.warn(&format!("{hidden} counts of fewer than {least} rows are left out: they count as 0"));
    }
}

/// The rows of a class, and those of a category in it, can be read from moments.
fn refuse(moments: &ExactMoments, shape: &Shape, grids: &NodeGrids, least: u64) -> Result<()> {
    let few = |problem: String| {
        let hint = "leave the column out, merge rare categories or classes, or ask for a smaller least count";
        Err(Error::data(problem, hint))
    };
    for (class, sums) in shape.classes.iter().zip(&moments.classes) {
        if (1..least).contains(&sums.rows) {
            return few(format!("class `{class}` has fewer than {least} rows"));
        }
        for (feature, rows) in shape.schema.features.iter().zip(category_rows(sums, shape, grids)) {
            let names = feature.kind.categories().unwrap_or_default().iter();
            if let Some((name, _)) = names.zip(rows).find(|(_, n)| (1..i128::from(least)).contains(n)) {
                return few(format!(
                    "category `{name}` of column `{}` has fewer than {least} rows in class `{class}`",
                    feature.name
                ));
            }
        }
    }
    Ok(())
}

/// The rows of each category in a class, column by column. The last category of a column has no node: it has what the others
/// leave.
fn category_rows(sums: &ExactSums, shape: &Shape, grids: &NodeGrids) -> Vec<Vec<i128>> {
    let mut rows = vec![Vec::new(); shape.schema.features.len()];
    for (j, (column, _)) in grids.categories() {
        rows[column].push(sums.sums.get(j).copied().unwrap_or_default());
    }
    for counted in &mut rows {
        counted.push(i128::from(sums.rows) - counted.iter().sum::<i128>());
    }
    rows
}
