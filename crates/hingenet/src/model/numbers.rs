//! Rows of numbers that are read where they lie, block by block, so that no copy of the matrix is made.

use super::{Model, Predictions};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::table::{AlignReport, NumberRows, Table, Unseen, UnseenPolicy};
use rayon::prelude::*;

/// Rows that become a table at a time.
const BLOCK: usize = 1024;

impl Model {
    /// [`Model::predict_watched`] of rows that stand in the order of the training columns.
    pub fn predict_numbers(
        &self,
        rows: &NumberRows<'_>,
        unseen: UnseenPolicy,
        control: &Control,
    ) -> Result<Predictions> {
        let silent = control.quiet();
        let blocks = self.in_blocks(rows, control, |table| self.predict_watched(table, unseen, &silent))?;
        let mut all = Predictions {
            log_proba: Vec::with_capacity(rows.n_rows() * self.classes.len()),
            n_classes: self.classes.len(),
            missing: Vec::with_capacity(rows.n_rows()),
            report: AlignReport::default(),
        };
        for block in blocks {
            all.log_proba.extend(block.log_proba);
            all.missing.extend(block.missing);
            block.report.unseen.into_iter().for_each(|u| add(&mut all.report, u));
        }
        Ok(all)
    }

    /// `work` on one block of rows after the other, in parallel; the results in the order of the rows.
    pub fn in_blocks<T: Send>(
        &self,
        rows: &NumberRows<'_>,
        control: &Control,
        work: impl Fn(&Table) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let names = || self.schema.features.iter().map(|f| f.name.as_str());
        let block = |k: usize| {
            control.check()?;
            let range = k * BLOCK..((k + 1) * BLOCK).min(rows.n_rows());
            work(&rows.table(names(), range)?)
        };
        match rows.n_rows().div_ceil(BLOCK) {
            0 | 1 => Ok(vec![block(0)?]),
            blocks => (0..blocks).into_par_iter().map(block).collect(),
        }
    }
}

fn add(report: &mut AlignReport, unseen: Unseen) {
    match report.unseen.iter_mut().find(|u| u.column == unseen.column) {
        Some(known) => known.cells += unseen.cells,
        None => report.unseen.push(unseen),
    }
}
