//! A table in pieces whose columns are known: what `evaluate` and `network` make of it beside models of all its rows.

use super::rounds::{Read, Rounds};
use super::{Findings, Gathered, PieceFit, Shape, Task, Work};
use crate::model::{Dataset, FitOptions, Model, ModelSpec};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::pieces::{Draw, joined, piece};
use hingenet_data::table::{ReadOptions, Schema};
use hingenet_gaussian::{MomentTable, NodeGrids};
use std::collections::BTreeMap;
use std::fmt;

/// A table in pieces. Types, categories and classes are those of all rows.
pub struct PieceTable<'a> {
    read: Read<'a>,
    options: ReadOptions,
    task: Task,
    shape: Shape,
    ranges: BTreeMap<String, [f64; 2]>,
    has_gaps: bool,
    /// Number of rows.
    pub rows: usize,
    /// Missing cells of the features.
    pub missing_cells: usize,
}

impl fmt::Debug for PieceTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PieceTable").field("rows", &self.rows).field("shape", &self.shape).finish()
    }
}

impl<'a> PieceTable<'a> {
    /// Looks at the columns of all pieces. `target` and `weights` name columns.
    pub fn scan(
        target: &str,
        weights: Option<&str>,
        options: &ReadOptions,
        control: &Control,
        read: Read<'a>,
    ) -> Result<Self> {
        let task = Task::columns(target, weights);
        let (gathered, mut options) = Rounds { control, read }.columns(&task, None, options)?;
        let Findings::Columns(scan) = gathered.0 else { return Err(unlike_asked()) };
        scan.check_types()?;
        let shape = Shape { schema: scan.schema(), classes: scan.classes.clone() };
        options.schema = Some(shape.schema.clone());
        Ok(PieceTable {
            read,
            options,
            task,
            ranges: scan.ranges(),
            has_gaps: scan.has_gaps(),
            rows: scan.rows as usize,
            missing_cells: scan.missing as usize,
            shape,
        })
    }

    /// The features.
    pub fn schema(&self) -> &Schema {
        &self.shape.schema
    }

    /// The classes.
    pub fn classes(&self) -> &[String] {
        &self.shape.classes
    }

    /// The rows that are drawn, at hand, and their numbers.
    pub fn drawn(&self, draw: Draw, control: &Control) -> Result<(Dataset, Vec<usize>)> {
        let (mut all, mut numbers): (Option<Dataset>, Vec<usize>) = (None, Vec::new());
        let mut n_before = 0;
        (self.read)(&self.options, &mut |(table, places)| {
            control.check()?;
            let rows: Vec<usize> =
                (0..table.n_rows()).filter(|&m| draw.takes((n_before + m) as u64)).collect();
            numbers.extend(rows.iter().map(|m| n_before + m));
            n_before += table.n_rows();
            let (target, weights) = (&self.task.target, self.task.weights.as_deref());
            let some = places.rows(&rows).locate(
                piece(table.rows(&rows), target, weights).and_then(|data| self.shape.aligned(data)),
            )?;
            all = Some(match &all {
                None => some,
                Some(before) => joined(before, &some)?,
            });
            Ok(())
        })?;
        let none =
            || Error::data("no row was drawn", "take a larger share of the rows, or allow more memory");
        all.filter(|data| data.n_rows() > 0).map(|data| (data, numbers)).ok_or_else(none)
    }

    /// Fits a model to the rows, but for those that are drawn.
    pub fn fit(
        &self,
        spec: &ModelSpec,
        options: FitOptions,
        without: Option<Draw>,
        control: &Control,
    ) -> Result<Model> {
        let fit = PieceFit::new(spec, &self.task.target, self.task.weights.as_deref(), options)?;
        let Some(draw) = without else { return fit.fit(&self.options, control, self.read) };
        fit.fit(&self.options, control, &|options, hand_on| {
            let mut n_before = 0;
            (self.read)(options, &mut |(table, places)| {
                let rows: Vec<usize> =
                    (0..table.n_rows()).filter(|&m| !draw.takes((n_before + m) as u64)).collect();
                n_before += table.n_rows();
                hand_on((table.rows(&rows), places.rows(&rows)))
            })
        })
    }

    /// The moments of each class as whole numbers, from all rows; no cell may be missing.
    pub fn moments(&self, control: &Control) -> Result<MomentTable> {
        if self.has_gaps {
            let problem =
                "the table does not fit into memory, and read in pieces it may have no missing cells here";
            return Err(Error::data(
                problem,
                "fill the cells in, leave their rows out, or allow more memory",
            ));
        }
        let grids = NodeGrids::new(self.schema(), &self.ranges);
        let work = Work::Moments { shape: self.shape.clone(), grids: grids.clone(), most: None };
        let task = Task { work, ..self.task.clone() };
        match (Rounds { control, read: self.read }).round(&task, None, &self.options)? {
            Gathered(Findings::Moments(moments, _)) => {
                Ok(MomentTable { schema: self.schema().clone(), grids, moments })
            }
            _ => Err(unlike_asked()),
        }
    }
}

fn unlike_asked() -> Error {
    Error::model_file("these statistics are of another round")
}
