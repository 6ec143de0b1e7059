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
use std::cell::RefCell;
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
}

/// Where multipliers come from: they are found again in every pass.
#[derive(Debug, Clone)]
pub struct Origin {
    loss: MarginLoss,
    v: Vec<f64>,
    /// The shares by which they were shrunk, one time after the other.
    allowed: Vec<Vec<f64>>,
    scale: f64,
    /// All sums over them, once one was asked for: they come from one pass.
    sums: RefCell<Option<Sums>>,
}

/// Sums over the multipliers of all rows.
#[derive(Debug, Clone)]
struct Sums {
    tilt: Vec<f64>,
    taken: Vec<f64>,
    dual: (f64, f64),
}

impl Sums {
    fn zeros(cells: usize) -> Self {
        Sums { tilt: vec![0.0; cells], taken: vec![0.0; cells], dual: (0.0, 0.0) }
    }

    fn add(&mut self, rows: &MarginRows, a: &Vec<f64>, loss: &MarginLoss) {
        add_into(&mut self.tilt, &rows.tilt(a));
        add_into(&mut self.taken, &rows.taken(a));
        let (linear, smooth) = rows.dual_terms(loss, a, 1.0);
        self.dual.0 += linear;
        self.dual.1 += smooth;
    }
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

    fn losses<const N: usize>(&self, v: &[f64], losses: [&MarginLoss; N]) -> [f64; N] {
        self.pass([0.0; N], |totals, rows| {
            totals.iter_mut().zip(losses).for_each(|(total, loss)| *total += rows.loss(v, loss));
        })
    }

    fn loss_and_gradient(&self, v: &[f64], loss: &impl RowLoss, gradient: &mut [f64]) -> f64 {
        self.pass(0.0, |total, rows| *total += rows.loss_and_gradient(v, loss, gradient))
    }

    fn hessian_product(&self, v: &[f64], dv: &[f64], loss: &MarginLoss, out: &mut [f64]) {
        self.pass((), |(), rows| rows.hessian_product(v, dv, loss, out));
    }

    fn multipliers(&self, loss: &MarginLoss, v: &[f64]) -> Origin {
        let (loss, v, sums) = (loss.clone(), v.to_vec(), RefCell::default());
        Origin { loss, v, allowed: Vec::new(), scale: 1.0, sums }
    }

    fn tilt(&self, a: &Origin) -> Vec<f64> {
        let sums =
            self.pass(Sums::zeros(self.layout.n_cells()), |sums, rows| sums.add(rows, &a.of(rows), &a.loss));
        let tilt = sums.tilt.clone();
        a.sums.replace(Some(sums));
        tilt
    }

    fn taken(&self, a: &Origin) -> Vec<f64> {
        if a.sums.borrow().is_none() {
            self.tilt(a);
        }
        a.sums.borrow().as_ref().map_or(Vec::new(), |sums| sums.taken.clone())
    }

    fn shrink(&self, allowed: &[f64], a: &mut Origin) {
        a.allowed.push(allowed.to_vec());
        a.sums.take();
    }

    fn scale(&self, theta: f64, a: &mut Origin) {
        a.scale *= theta;
        a.sums.take();
    }

    fn dual_terms(&self, loss: &MarginLoss, a: &Origin, theta: f64) -> (f64, f64) {
        match &*a.sums.borrow() {
            Some(sums) if theta == 1.0 && *loss == a.loss => return sums.dual,
            _ => {}
        }
        self.pass((0.0, 0.0), |(linear, smooth), rows| {
            let (l, s) = rows.dual_terms(loss, &a.of(rows), theta);
            *linear += l;
            *smooth += s;
        })
    }
}
