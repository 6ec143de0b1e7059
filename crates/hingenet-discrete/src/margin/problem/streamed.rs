//! Rows that come past in pieces, so that they need not fit into memory: every sum over them is one pass.

use super::layout::Layout;
use super::loss::MarginLoss;
use super::loss_rows::LossRows;
use super::rows::{MarginRows, RowLoss};
use crate::{Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::sum::add_into;
use hingenet_data::pieces::{CodedPiece, CodedTable};
use std::sync::{Arc, Mutex, PoisonError};

/// Coded rows that come past as often as asked: the same pieces in the same order each time.
pub trait CodedPieces: Sync {
    /// Hands on all rows.
    fn for_each(&self, each: &mut dyn FnMut(CodedPiece) -> Result<()>) -> Result<()>;
}

impl CodedPieces for Mutex<CodedTable> {
    fn for_each(&self, each: &mut dyn FnMut(CodedPiece) -> Result<()>) -> Result<()> {
        self.lock().unwrap_or_else(PoisonError::into_inner).read_ahead(each)
    }
}

/// Complete, labelled rows that come past. A sum has the same bits for the same pieces.
#[derive(Clone)]
pub struct StreamedRows<'a> {
    structure: &'a Structure,
    layout: Arc<Layout>,
    pieces: &'a dyn CodedPieces,
    total_weight: f64,
    control: &'a Control,
    /// Why a pass ended early: what was summed since then is worth nothing.
    failed: Arc<Mutex<Option<Error>>>,
}

impl<'a> StreamedRows<'a> {
    /// Rows of so much weight.
    pub fn new(
        structure: &'a Structure,
        pieces: &'a dyn CodedPieces,
        total_weight: f64,
        control: &'a Control,
    ) -> Self {
        let layout = Arc::new(Layout::new(structure));
        StreamedRows { structure, layout, pieces, total_weight, control, failed: Arc::default() }
    }

    /// What was made of the rows, unless a pass ended early.
    pub fn checked<T>(&self, made: Result<T>) -> Result<T> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => made,
        }
    }

    /// One pass: `add` is called for each piece, in order.
    fn pass<T>(&self, mut total: T, mut add: impl FnMut(&mut T, &MarginRows)) -> T {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_some() {
            return total;
        }
        *failed = self
            .pieces
            .for_each(&mut |(columns, weights)| {
                self.control.check()?;
                let samples = Samples::new(self.structure.card().to_vec(), columns, weights)?;
                add(&mut total, &MarginRows::unmerged(self.structure, &self.layout, &samples)?);
                Ok(())
            })
            .err();
        total
    }

    /// Sums of values over the cells.
    fn sum(&self, each: impl Fn(&MarginRows) -> Vec<f64>) -> Vec<f64> {
        self.pass(vec![0.0; self.layout.n_cells()], |total, rows| add_into(total, &each(rows)))
    }
}

/// Where multipliers come from: they are found again in every pass.
#[derive(Debug, Clone)]
pub struct Origin {
    loss: MarginLoss,
    v: Vec<f64>,
    /// The shares by which they were shrunk, one time after the other.
    allowed: Vec<Vec<f64>>,
    scale: f64,
}

impl Origin {
    fn of(&self, rows: &MarginRows) -> Vec<f64> {
        let mut a = LossRows::multipliers(rows, &self.loss, &self.v);
        self.allowed.iter().for_each(|allowed| rows.shrink(allowed, &mut a));
        rows.scale(self.scale, &mut a);
        a
    }
}

impl LossRows for StreamedRows<'_> {
    type Multipliers = Origin;

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn total_weight(&self) -> f64 {
        self.total_weight
    }

    fn loss(&self, v: &[f64], loss: &impl RowLoss) -> f64 {
        self.pass(0.0, |total, rows| *total += rows.loss(v, loss))
    }

    fn loss_and_gradient(&self, v: &[f64], loss: &impl RowLoss, gradient: &mut [f64]) -> f64 {
        self.pass(0.0, |total, rows| *total += rows.loss_and_gradient(v, loss, gradient))
    }

    fn hessian_product(&self, v: &[f64], dv: &[f64], loss: &MarginLoss, out: &mut [f64]) {
        self.pass((), |(), rows| rows.hessian_product(v, dv, loss, out));
    }

    fn multipliers(&self, loss: &MarginLoss, v: &[f64]) -> Origin {
        Origin { loss: loss.clone(), v: v.to_vec(), allowed: Vec::new(), scale: 1.0 }
    }

    fn tilt(&self, a: &Origin) -> Vec<f64> {
        self.sum(|rows| rows.tilt(&a.of(rows)))
    }

    fn taken(&self, a: &Origin) -> Vec<f64> {
        self.sum(|rows| rows.taken(&a.of(rows)))
    }

    fn shrink(&self, allowed: &[f64], a: &mut Origin) {
        a.allowed.push(allowed.to_vec());
    }

    fn scale(&self, theta: f64, a: &mut Origin) {
        a.scale *= theta;
    }

    fn dual_terms(&self, loss: &MarginLoss, a: &Origin, theta: f64) -> (f64, f64) {
        self.pass((0.0, 0.0), |(linear, smooth), rows| {
            let (l, s) = rows.dual_terms(loss, &a.of(rows), theta);
            *linear += l;
            *smooth += s;
        })
    }
}
