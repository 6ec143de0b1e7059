//! A fit from what is counted in passes over coded pieces of a table, each pass planned by what the last one counted.
//! Counts are whole numbers, so the pieces may come in any order; finished, they give the model that the rows give in
//! memory, bit by bit where it is one of maximum likelihood.
//!
//! | model | passes |
//! |---|---|
//! | naive Bayes, given graph | its tables |
//! | TAN, averages | pairs of features |
//! | k-tree | pairs, then its tables |
//! | any with missing cells (EM) or a margin | distinct rows, at most [`MOST_ROWS`] |
//! | one with a margin, of more distinct rows that can come past again | those, pairs, tables, and one for each step |

mod coding;
mod counted;

pub use coding::Coding;
pub use counted::{Counted, MOST_ROWS, Pass, reserve_counts};

use crate::averaged::{Stars, fit_averaged_rows};
use crate::counts;
use crate::fit::{Prepared, fit_prepared, fit_streamed, given, learnt_from, prepared};
use crate::margin::CodedPieces;
use crate::params::{DiscreteParams, Learning, MemberRule, StructureKind};
use crate::{AveragedClassifier, DiscreteClassifier, Network, Structure};
use counted::{ENTRY, rows_of};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;
use hingenet_data::encode::FeatureCoder;
use hingenet_data::pieces::{ColumnScan, TableScan};
use hingenet_data::select::Fit;
use std::collections::BTreeMap;

/// Share of the memory that distinct rows may take where all rows can come past again, and fewest that are kept all the same.
/// What a choice of options takes beside them is about ten times as much.
const ROWS_SHARE: f64 = 1.0 / 32.0;
const FEWEST_ROWS: usize = 10_000;

/// What a model is to be made of the counts.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // said with the variants
pub enum Aim {
    /// A network, by maximum likelihood unless another rule is given.
    Network { params: DiscreteParams, learning: Option<Learning> },
    /// An average of one-dependence networks.
    Average { alpha: f64, rule: MemberRule },
}

/// A model made of counts.
#[allow(missing_docs)] // as in [`Aim`]
pub enum Made {
    Network(Fit<DiscreteClassifier>),
    Average(Fit<AveragedClassifier>),
}

/// What comes after a pass.
pub enum Next {
    /// Another one.
    Pass(Pass),
    /// The model.
    Made(Box<Made>),
}

/// A fit in passes.
#[derive(Debug, Clone)]
pub struct PassFit {
    aim: Aim,
    coding: Coding,
    /// Names of the features.
    features: Vec<String>,
    rows: u64,
    /// Their total weight.
    total: u64,
    /// Whether some coded cell is missing.
    has_gaps: bool,
}

impl PassFit {
    /// A fit to a table whose columns were scanned; also the first pass.
    pub fn new(aim: Aim, scan: &TableScan, control: &Control) -> Result<(Self, Pass)> {
        if let Aim::Network { params, .. } = &aim {
            counts::require_alpha(params.alpha)?;
        }
        let coding = Coding::learn(scan, control)?;
        let total: u64 = scan.class_rows.iter().sum();
        // a feature with one state is never in doubt
        let has_gap =
            |(column, coder): (&ColumnScan, &FeatureCoder)| column.observed < total && coder.n_states() > 1;
        let has_gaps = scan.columns.iter().zip(&coding.coders).any(has_gap);
        let features = scan.columns.iter().map(|c| c.name.clone()).collect();
        let fit = PassFit { aim, coding, features, rows: scan.rows, total, has_gaps };
        let pass = fit.first()?;
        Ok((fit, pass))
    }

    /// A fit whose counts are all there; no cell was missing.
    pub fn of_counts(aim: Aim, coding: Coding, features: Vec<String>) -> Self {
        PassFit { aim, coding, features, rows: 0, total: 0, has_gaps: false }
    }

    /// How pieces are coded.
    pub fn coding(&self) -> &Coding {
        &self.coding
    }

    /// Whether the parameters can be learnt from rows that come past.
    pub fn can_pass(&self) -> bool {
        matches!(self.aim, Aim::Network { learning: Some(_), .. }) && !self.has_gaps
    }

    /// Distinct rows that need to be kept where all rows can come past again.
    pub fn enough_rows(&self, control: &Control) -> usize {
        let row = (ENTRY + self.coding.coders.len()) as f64;
        let rows = |bytes: u64| (ROWS_SHARE * bytes as f64 / row) as usize;
        control.memory().map_or(MOST_ROWS, |bytes| rows(bytes).clamp(FEWEST_ROWS, MOST_ROWS))
    }

    /// Whether some rows were not kept.
    pub fn is_part(&self, counted: &Counted) -> bool {
        counted.is_of_rows && counted.sparse.values().sum::<f64>() < self.total as f64
    }

    /// The model of rows that come past, some of which were kept: options are chosen on these, everything else is learnt
    /// from all.
    pub fn passing(&self, kept: Counted, pieces: &dyn CodedPieces, control: &Control) -> Result<Made> {
        let Aim::Network { params, learning: Some(learning) } = &self.aim else {
            return Err(Error::model_file(
                "only parameters with a margin are learnt from rows that come past",
            ));
        };
        control.tell(&format!(
            "there are more than {} distinct rows: each step passes over all {} rows",
            kept.sparse.len(),
            self.rows
        ));
        let samples = rows_of(self.coding.card(), kept.sorted())?;
        let likely = self.likely_from(params, pieces, control)?;
        let (structure, coders) = (likely.network().structure().clone(), self.coding.coders.clone());
        let support = likely.support().unwrap_or_default().to_vec();
        let prepared = Prepared { coders, samples, structure, support };
        fit_streamed(prepared, params, learning, pieces, control).map(Made::Network)
    }

    /// Graph and counts of rows that come past.
    fn likely_from(
        &self,
        params: &DiscreteParams,
        pieces: &dyn CodedPieces,
        control: &Control,
    ) -> Result<DiscreteClassifier> {
        let likely = PassFit { aim: Aim::Network { params: params.clone(), learning: None }, ..self.clone() };
        let mut pass = likely.first()?;
        loop {
            let mut all = Counted::default();
            pieces.for_each(&mut |piece| {
                control.check()?;
                likely.coding.count_kept(&pass, piece, &mut all, control)
            })?;
            all.require_exact()?;
            match likely.counted(&pass, all, control)? {
                Next::Pass(next) => pass = next,
                Next::Made(made) => match *made {
                    Made::Network(fit) => return Ok(fit.model),
                    Made::Average(_) => return Err(Error::model_file("a network was asked for")),
                },
            }
        }
    }

    fn first(&self) -> Result<Pass> {
        match &self.aim {
            Aim::Network { params, learning: None } if !self.has_gaps => match &params.structure {
                StructureKind::Tan(_) | StructureKind::KTree(_) => Ok(Pass::Pairs(self.rows as usize)),
                kind => Ok(Pass::tables(&given(kind, self.coding.card(), self.features.iter().cloned())?)),
            },
            // an average needs all tables
            Aim::Average { rule: MemberRule::MaximumLikelihood, .. } if !self.has_gaps => {
                Ok(Pass::Pairs(usize::MAX))
            }
            _ => Ok(Pass::Rows),
        }
    }

    /// Goes on from what a pass counted in all pieces.
    pub fn counted(&self, pass: &Pass, counted: Counted, control: &Control) -> Result<Next> {
        let made = match (pass, &self.aim) {
            (Pass::Tables(parents), Aim::Network { params, .. }) => {
                let structure = Structure::new(self.coding.card(), Dag::new(parents.clone())?)?;
                Made::Network(self.likely(structure, counted.dense, params.alpha)?)
            }
            (Pass::Pairs(rows), Aim::Network { params, .. }) => {
                let pairs = counted.into_pairs(&self.coding.card(), *rows)?;
                let structure = learnt_from(&params.structure, &pairs)?;
                match pairs.counts_of(&structure) {
                    None => return Ok(Next::Pass(Pass::tables(&structure))),
                    Some(counts) => Made::Network(self.likely(structure, counts, params.alpha)?),
                }
            }
            (Pass::Pairs(rows), Aim::Average { alpha, .. }) => {
                let stars = Stars::from_pairs(&counted.into_pairs(&self.coding.card(), *rows)?, *alpha)?;
                let model = AveragedClassifier::new(self.coding.coders.clone(), stars, 1.0)?;
                Made::Average(Fit { model, reports: Vec::new(), chosen: BTreeMap::new() })
            }
            (Pass::Rows, aim) => {
                let mut counted = counted;
                counted.keep_smallest(MOST_ROWS);
                self.warn_of_part(&counted, control);
                let samples = rows_of(self.coding.card(), counted.sorted())?;
                let coders = self.coding.coders.clone();
                match aim {
                    Aim::Network { params, learning } => {
                        let prepared =
                            prepared(coders, samples, params, self.features.iter().cloned(), control)?;
                        Made::Network(fit_prepared(prepared, params, learning.as_ref(), control)?)
                    }
                    Aim::Average { alpha, rule } => {
                        Made::Average(fit_averaged_rows(coders, &samples, *alpha, *rule, control)?)
                    }
                }
            }
            (Pass::Tables(_), Aim::Average { .. }) => {
                return Err(Error::model_file("an average is not made of tables"));
            }
        };
        Ok(Next::Made(Box::new(made)))
    }

    /// Tells if there were more distinct rows than are kept.
    fn warn_of_part(&self, counted: &Counted, control: &Control) {
        if self.is_part(counted) {
            let kept: f64 = counted.sparse.values().sum();
            control.warn(&format!(
                "there are too many distinct rows to keep them all: the model is learnt from {} of them, which stand for {kept} of {}",
                counted.sparse.len(),
                self.total
            ));
        }
    }

    /// The network of maximum likelihood with these raw counts.
    fn likely(&self, structure: Structure, raw: Vec<f64>, alpha: f64) -> Result<Fit<DiscreteClassifier>> {
        require_len("counts of the tables", structure.n_entries(), raw.len())?;
        let network = Network::likely(structure, &raw, alpha)?;
        let model = DiscreteClassifier::new(self.coding.coders.clone(), network, 1.0)?.with_support(raw)?;
        Ok(Fit { model, reports: Vec::new(), chosen: BTreeMap::new() })
    }
}
