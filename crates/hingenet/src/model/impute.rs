//! Completing missing cells: each by its own distribution given the known cells of its row, the class unknown.

use super::generative::interval;
use super::{Fitted, Model};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::log::argmax;
use hingenet_data::belief::{Belief, grid_moments, moments};
use hingenet_data::combinations::RowEvidence;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::table::{Codes, Column, FeatureKind, FeatureSpec, Table, UnseenPolicy};
use rayon::prelude::*;

/// What is put into a cell, and how sure that is.
#[derive(Debug, Clone, Copy)]
enum Filled {
    /// The most probable category, with its probability.
    Category(usize, f64),
    /// The mean, with the standard deviation.
    Number(f64, f64),
}

/// Cells of one column, by row.
type Cells = Vec<(usize, Filled)>;

impl Model {
    /// The features of a table with their missing cells completed, and how sure each completion is: a number has its
    /// mean and standard deviation given the known cells, a category the most probable one and its probability. The second
    /// table has these as numbers, cells that were known are missing in it. Discrete networks know of a number its interval
    /// only: it is taken as uniform inside.
    pub fn impute(&self, table: &Table, unseen: UnseenPolicy, control: &Control) -> Result<(Table, Table)> {
        let (rows, _) = self.schema.align(table, unseen)?;
        let k = self.classes.len();
        let cells = match &self.fitted {
            Fitted::Gaussian(model) => cells_by_row(&rows, k, control, |row| {
                let beliefs = model.beliefs(&RowEvidence::of_cells(row, k))?;
                open(row).map(|j| Ok((j, Some(beliefs.column(j)?)))).collect()
            })?,
            Fitted::Density(model) => cells_by_row(&rows, k, control, |row| {
                let columns = model.beliefs(&RowEvidence::of_cells(row, k))?.columns();
                Ok(columns.into_iter().enumerate().filter(|(j, _)| row.column(*j).is_missing(0)).collect())
            })?,
            _ => self.discrete_cells(&rows, control)?,
        };
        let finite = |cells: &Cells| {
            cells.iter().all(|(_, filled)| match filled {
                Filled::Category(_, p) => p.is_finite(),
                Filled::Number(x, sd) => x.is_finite() && sd.is_finite(),
            })
        };
        let cells = self.answered(Ok(cells), |cells| cells.iter().all(finite))?;
        let (mut completed, mut spread) = (Vec::new(), Vec::new());
        for ((column, spec), cells) in rows.columns().iter().zip(&self.schema.features).zip(&cells) {
            completed.push(filled_in(column, spec, cells));
            spread.push(spread_of(column, cells));
        }
        if completed.is_empty() {
            return Ok((Table::without_columns(rows.n_rows()), Table::without_columns(rows.n_rows())));
        }
        Ok((Table::new(completed)?, Table::new(spread)?))
    }

    /// Exact distributions of discrete networks and their averages.
    fn discrete_cells(&self, rows: &Table, control: &Control) -> Result<Vec<Cells>> {
        let coders = self.coders().ok_or_else(|| {
            self.unsupported(
                "this model does not know how columns depend on each other",
                "fit a generative model such as tan:ml, aode:ml or sgbn:or",
            )
        })?;
        let codes = match &self.fitted {
            Fitted::Discrete(model) => model.code(rows)?,
            Fitted::Averaged(model) => model.code(rows)?,
            _ => Vec::new(),
        };
        let column = |j: usize| {
            control.progress("completing columns", j, coders.len())?;
            let missing: Vec<usize> = (0..rows.n_rows()).filter(|&m| rows.column(j).is_missing(m)).collect();
            if missing.is_empty() {
                return Ok(Vec::new());
            }
            let probabilities = match &self.fitted {
                Fitted::Discrete(model) => model.column_probabilities(&codes, j, &missing)?,
                Fitted::Averaged(model) => model.column_probabilities(&codes, j, &missing)?,
                _ => Vec::new(),
            };
            let each = probabilities.chunks_exact(coders[j].n_states());
            let fill = |(&m, p): (&usize, &[f64])| match self.filled(j, &coders[j], p) {
                Some(filled) if p.iter().sum::<f64>() > 0.0 => Ok(Some((m, filled))),
                Some(_) => Err(Error::row(m, "is impossible in this model", "check its cells")),
                None => Ok(None),
            };
            Ok(missing
                .iter()
                .zip(each)
                .map(fill)
                .collect::<Result<Vec<_>>>()?
                .into_iter()
                .flatten()
                .collect())
        };
        (0..coders.len()).map(column).collect()
    }

    /// A cell from the probabilities of its states; `None` where the model does not know the values of a column.
    fn filled(&self, j: usize, coder: &FeatureCoder, p: &[f64]) -> Option<Filled> {
        let spec = &self.schema.features[j];
        if let FeatureCoder::Cuts { cuts } = coder {
            let range = self.facts.ranges.get(&spec.name).copied();
            let middle = |s: usize| {
                let (low, high) = interval(cuts, range, s);
                (0.5 * (low + high), high - low)
            };
            let mean = p.iter().enumerate().map(|(s, p)| p * middle(s).0).sum::<f64>();
            let second = |(s, p): (usize, &f64)| {
                let (middle, width) = middle(s);
                p * ((middle - mean).powi(2) + width * width / 12.0)
            };
            return Some(Filled::Number(mean, p.iter().enumerate().map(second).sum::<f64>().sqrt()));
        }
        let best = argmax(p);
        let name = coder.state_name(best);
        let code = spec.kind.categories()?.iter().position(|c| *c == name)?;
        Some(Filled::Category(code, p[best]))
    }
}

/// Cells by what is believed of the missing columns of each row.
fn cells_by_row(
    rows: &Table,
    classes: usize,
    control: &Control,
    beliefs: impl Fn(&Table) -> Result<Vec<(usize, Option<Belief>)>> + Sync,
) -> Result<Vec<Cells>> {
    let incomplete: Vec<usize> =
        (0..rows.n_rows()).filter(|&m| rows.columns().iter().any(|c| c.is_missing(m))).collect();
    let row = |&m: &usize| -> Result<Vec<(usize, usize, Filled)>> {
        control.check()?;
        let found = beliefs(&rows.one_row(m)?)?;
        Ok(found.into_iter().filter_map(|(j, belief)| Some((j, m, filled_from(&belief?, classes)))).collect())
    };
    let all: Vec<Vec<(usize, usize, Filled)>> = incomplete.par_iter().map(row).collect::<Result<_>>()?;
    let mut cells = vec![Cells::new(); rows.n_columns()];
    all.into_iter().flatten().for_each(|(j, m, filled)| cells[j].push((m, filled)));
    Ok(cells)
}

/// Columns that the only row of a table misses.
fn open(row: &Table) -> impl Iterator<Item = usize> + '_ {
    (0..row.n_columns()).filter(|&j| row.column(j).is_missing(0))
}

fn filled_from(belief: &Belief, classes: usize) -> Filled {
    match belief {
        Belief::States(joint) => {
            let states: Vec<f64> = joint.chunks_exact(classes).map(|row| row.iter().sum()).collect();
            let best = argmax(&states);
            Filled::Category(best, states.get(best).copied().unwrap_or(0.0))
        }
        Belief::Number(normals) => {
            let (mean, sd) = moments(normals);
            Filled::Number(mean, sd)
        }
        Belief::Grid { at, joint } => {
            let (mean, sd) = grid_moments(at, joint, classes);
            Filled::Number(mean, sd)
        }
    }
}

fn filled_in(column: &Column, spec: &FeatureSpec, cells: &Cells) -> Column {
    match (&spec.kind, column.as_numeric(), column.as_categorical()) {
        (FeatureKind::Categorical { categories }, _, Some(old)) => {
            let mut codes: Vec<Option<usize>> = old.codes().iter().collect();
            for (m, filled) in cells {
                if let Filled::Category(code, _) = filled {
                    codes[*m] = Some(*code);
                }
            }
            let codes = Codes::from_options(categories.len(), codes.into_iter());
            Column::categorical(column.name(), categories.clone(), codes)
        }
        (_, Some(old), _) => {
            let mut values = old.with_nan().to_vec();
            for (m, filled) in cells {
                if let Filled::Number(x, _) = filled {
                    values[*m] = *x;
                }
            }
            Column::numeric(column.name(), values)
        }
        _ => column.clone(),
    }
}

fn spread_of(column: &Column, cells: &Cells) -> Column {
    let mut spread = vec![f64::NAN; column.len()];
    for (m, filled) in cells {
        let (Filled::Category(_, s) | Filled::Number(_, s)) = filled;
        spread[*m] = *s;
    }
    Column::numeric(column.name(), spread)
}
