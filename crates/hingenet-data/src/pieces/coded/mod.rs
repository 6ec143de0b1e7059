//! The rows of a table in pieces as small codes, kept while the columns are looked at, so that later rounds need not read
//! and decode the table again. What a code stands for is only known once all pieces are: a number is kept as its bin among
//! the values of its column, a category by the order in which categories came, and both become states by a table.

mod store;

use super::columns::{self, ColumnScan, TableScan};
use crate::encode::{BinCells, BinMoves, FeatureCoder};
use crate::rows::Dataset;
use crate::table::Codes;
use hingenet_base::ahead::make_ahead;
use hingenet_base::error::{Error, Result};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;
use store::Store;

/// Rows that are kept as codes, piece by piece.
#[derive(Debug)]
pub struct CodedRows {
    class: Names,
    columns: Vec<Names>,
    moves: Vec<BinMoves>,
    /// The smallest value of each bin of a column, and the classes: once all pieces were scanned.
    lows: Vec<Vec<f64>>,
    classes: Vec<String>,
    blocks: Vec<Block>,
    store: Store,
    /// Why they are not kept any more.
    lost: Option<String>,
}

/// Names in the order in which they came.
#[derive(Debug, Default)]
struct Names {
    known: HashMap<String, u16>,
}

/// The rows of a piece.
#[derive(Debug)]
struct Block {
    n_rows: usize,
    has_weights: bool,
    /// The class first.
    columns: Vec<Kept>,
}

/// How the cells of a column are kept in a block.
#[derive(Debug, Clone, Copy)]
enum Kept {
    /// None is observed.
    Missing,
    /// Bins after so many moves, two bytes each, and then the rows of so many that are missing, four bytes each.
    Bins {
        moves: usize,
        gaps: usize,
    },
    /// Numbers of names, two bytes each, or one while there are few of them.
    Names,
    FewNames,
}

impl CodedRows {
    /// Keeps rows, so many bytes of them in memory and others in a temporary file.
    pub fn new(most_bytes: usize) -> Self {
        CodedRows {
            class: Names::default(),
            columns: Vec::new(),
            moves: Vec::new(),
            lows: Vec::new(),
            classes: Vec::new(),
            blocks: Vec::new(),
            store: Store::new(most_bytes),
            lost: None,
        }
    }

    /// Where the bins of each column went.
    pub(super) fn moves(&mut self, n_columns: usize) -> &mut [BinMoves] {
        self.moves.resize_with(n_columns, BinMoves::new);
        &mut self.moves
    }

    /// Keeps the rows of a piece: of numbers the bins that were found, of categories the codes.
    pub(super) fn add(&mut self, data: &Dataset, bins: Vec<Option<BinCells>>, weights: Option<&[u64]>) {
        if self.lost.is_some() || data.n_rows() == 0 {
            return;
        }
        self.columns.resize_with(bins.len(), Names::default);
        if let Err(reason) = self.try_add(data, &bins, weights) {
            *self = CodedRows { lost: Some(reason), ..CodedRows::new(0) };
        }
    }

    fn try_add(
        &mut self,
        data: &Dataset,
        bins: &[Option<BinCells>],
        weights: Option<&[u64]>,
    ) -> std::result::Result<(), String> {
        let mut cells = vec![self.class.numbered(&data.classes, &data.class)?];
        let columns = bins.iter().zip(data.features.columns()).zip(&mut self.columns).zip(&self.moves);
        for (((bins, column), names), moves) in columns {
            cells.push(match (bins, column.as_categorical()) {
                (Some(found), _) => Cells::Bins(found, moves.len()),
                (None, Some(texts)) => names.numbered(texts.categories(), texts.codes())?,
                (None, None) => Cells::Missing,
            });
        }
        let n_rows = data.n_rows();
        let columns: Vec<Kept> = cells.iter().map(Cells::kept).collect();
        let mut bytes = vec![0; columns.iter().map(|kept| kept.bytes(n_rows)).sum()];
        let mut rest = &mut bytes[..];
        let places: Vec<&mut [u8]> =
            columns.iter().map(|kept| rest.split_off_mut(..kept.bytes(n_rows)).unwrap_or_default()).collect();
        cells.par_iter().zip(places).for_each(|(cells, place)| cells.put(place));
        bytes.extend(weights.iter().copied().flatten().flat_map(|w| w.to_le_bytes()));
        self.blocks.push(Block { n_rows, has_weights: weights.is_some(), columns });
        self.store.add(bytes).map_err(|e| {
            let folder = std::env::temp_dir();
            format!("coded rows cannot be kept in {} ({e}); TMPDIR names another folder", folder.display())
        })
    }

    /// Notes what the bins stand for, once all pieces were scanned.
    pub fn end(&mut self, scan: &TableScan) {
        let lows = |column: &ColumnScan| match &column.cells {
            columns::Cells::Numbers(values) => values.lows(),
            _ => Vec::new(),
        };
        self.lows = scan.columns.iter().map(lows).collect();
        self.classes.clone_from(&scan.classes);
    }

    /// The rows in the states of the coders. An error tells why they are not kept.
    pub fn finish(self, coders: &[FeatureCoder]) -> std::result::Result<CodedTable, String> {
        if let Some(reason) = self.lost {
            return Err(reason);
        }
        let CodedRows { class, columns, moves, lows, classes, blocks, store, .. } = self;
        let columns: Vec<_> = columns.iter().zip(moves).zip(lows).zip(coders).collect();
        let states = columns.into_par_iter().map(|(((names, moves), lows), coder)| match coder {
            coder if coder.n_states() == 1 => States::One,
            FeatureCoder::Cuts { cuts } => {
                let state = |low: &f64| cuts.partition_point(|cut| cut < low) as u16;
                States::Bins(through(lows.iter().map(state).collect(), moves))
            }
            FeatureCoder::Categories { names: all } => States::Names(names.states(all)),
        });
        let features = states.collect();
        let n_states = coders.iter().map(FeatureCoder::n_states).collect();
        let class = class.states(&classes);
        Ok(CodedTable { n_classes: classes.len(), n_states, class, features, blocks, store })
    }
}

/// The cells of a column of a piece.
enum Cells<'a> {
    Missing,
    /// After so many moves.
    Bins(&'a BinCells, usize),
    /// Codes, and the number of each name. Few names have numbers of a byte.
    Names(&'a Codes, Vec<u16>),
    FewNames(&'a Codes, Vec<u16>),
}

impl Cells<'_> {
    fn kept(&self) -> Kept {
        match self {
            Cells::Missing => Kept::Missing,
            Cells::Bins(found, moves) => Kept::Bins { moves: *moves, gaps: found.gaps.len() },
            Cells::Names(..) => Kept::Names,
            Cells::FewNames(..) => Kept::FewNames,
        }
    }

    /// Writes them to the place they have in a block.
    fn put(&self, place: &mut [u8]) {
        let number = |numbers: &[u16], code: Option<usize>| code.map_or(Codes::MISSING_U16, |c| numbers[c]);
        match self {
            Cells::Missing => {}
            Cells::Bins(found, _) => {
                let (bins, gaps) = place.split_at_mut(2 * found.bins.len());
                bins.as_chunks_mut()
                    .0
                    .iter_mut()
                    .zip(&found.bins)
                    .for_each(|(b, bin)| *b = bin.to_le_bytes());
                gaps.as_chunks_mut()
                    .0
                    .iter_mut()
                    .zip(&found.gaps)
                    .for_each(|(g, gap)| *g = gap.to_le_bytes());
            }
            Cells::Names(codes, numbers) => {
                let cells = place.as_chunks_mut().0.iter_mut();
                cells.zip(codes.iter()).for_each(|(cell, code)| *cell = number(numbers, code).to_le_bytes());
            }
            // 65535 becomes 255, the narrow mark of a missing cell
            Cells::FewNames(codes, numbers) => {
                place
                    .iter_mut()
                    .zip(codes.iter())
                    .for_each(|(cell, code)| *cell = number(numbers, code) as u8);
            }
        }
    }
}

impl Names {
    /// The codes of a piece with the numbers of its categories.
    fn numbered<'a>(
        &mut self,
        categories: &[String],
        codes: &'a Codes,
    ) -> std::result::Result<Cells<'a>, String> {
        let numbers = categories.iter().map(|name| self.number(name)).collect();
        match self.known.len() {
            n if n <= Codes::MISSING_U8.into() => Ok(Cells::FewNames(codes, numbers)),
            n if n <= Codes::MAX_CATEGORIES => Ok(Cells::Names(codes, numbers)),
            _ => Err("a column has too many categories to keep its rows as codes".into()),
        }
    }

    /// The number of a name, the next one if it is new. (Numbers beyond those of codes are refused by who asks.)
    fn number(&mut self, name: &String) -> u16 {
        let next = self.known.len() as u16;
        match self.known.get(name) {
            Some(number) => *number,
            None => *self.known.entry(name.clone()).or_insert(next),
        }
    }

    /// The state of each name: its place among all.
    fn states(&self, all: &[String]) -> Vec<u16> {
        let mut states = vec![Codes::MISSING_U16; self.known.len()];
        for (place, name) in all.iter().enumerate() {
            if let Some(number) = self.known.get(name) {
                states[usize::from(*number)] = place as u16;
            }
        }
        states
    }
}

/// The states of bins as they were numbered before each move, and at the end after all.
fn through(last: Vec<u16>, moves: BinMoves) -> Vec<Vec<u16>> {
    let mut states = vec![last];
    for to in moves.iter().rev() {
        let after = &states[states.len() - 1];
        states.push(to.iter().map(|&bin| after[usize::from(bin)]).collect());
    }
    states.reverse();
    states
}

/// A table whose rows are kept as codes.
#[derive(Debug)]
pub struct CodedTable {
    n_classes: usize,
    n_states: Vec<usize>,
    class: Vec<u16>,
    features: Vec<States>,
    blocks: Vec<Block>,
    store: Store,
}

/// What the codes of a column stand for.
#[derive(Debug)]
enum States {
    /// A column of one state is never in doubt.
    One,
    /// The states of bins, by the number of moves that were made before.
    Bins(Vec<Vec<u16>>),
    /// Those of names.
    Names(Vec<u16>),
}

/// Rows in states: the class and the features, and the weights if some are not 1.
pub type CodedPiece = (Vec<Codes>, Option<Vec<f64>>);

impl CodedTable {
    /// Rows, without those of weight 0.
    pub fn n_rows(&self) -> usize {
        self.blocks.iter().map(|block| block.n_rows).sum()
    }

    /// Hands on all rows, piece by piece as they were read.
    pub fn for_each(&mut self, each: &mut dyn FnMut(CodedPiece) -> Result<()>) -> Result<()> {
        let CodedTable { n_classes, n_states, class, features, blocks, store } = self;
        let mut failed = None;
        let read = store.for_each(&mut |at, bytes| {
            let piece = blocks[at].decoded(bytes, (*n_classes, class), n_states, features);
            each(piece).map_err(|e| {
                failed = Some(e);
                std::io::Error::other("interrupted")
            })
        });
        match (failed, read) {
            (Some(error), _) => Err(error),
            (None, read) => read.map_err(|e| Error::io(Path::new("temporary file"), e)),
        }
    }

    /// The same, but a piece is read and decoded while the one before is looked at.
    pub fn read_ahead(&mut self, each: &mut dyn FnMut(CodedPiece) -> Result<()>) -> Result<()> {
        make_ahead(|hand| self.for_each(hand), each)
    }
}

impl Block {
    fn decoded(
        &self,
        mut bytes: &[u8],
        (n_classes, class): (usize, &[u16]),
        n_states: &[usize],
        features: &[States],
    ) -> CodedPiece {
        let mut take = |length: usize| bytes.split_off(..length.min(bytes.len())).unwrap_or_default();
        let parts: Vec<&[u8]> = self.columns.iter().map(|kept| take(kept.bytes(self.n_rows))).collect();
        let weights = self.has_weights.then(|| {
            let (words, _) = take(8 * self.n_rows).as_chunks();
            words.iter().map(|word| u64::from_le_bytes(*word) as f64).collect()
        });
        let names = |r: usize, states: &[u16], kept: &Kept, part: &[u8]| match kept {
            Kept::FewNames => coded(r, states, part.iter().map(|cell| few_or_missing(*cell))),
            _ => coded(r, states, words(part)),
        };
        let mut columns = vec![names(n_classes, class, &self.columns[0], parts[0])];
        let others = self.columns.par_iter().zip(&parts).skip(1).zip(features).zip(n_states);
        columns.par_extend(others.map(|(((kept, part), states), &r)| match (states, kept) {
            (States::One, _) => Codes::U8(vec![0; self.n_rows]),
            (States::Names(states), Kept::Names | Kept::FewNames) => names(r, states, kept, part),
            (States::Bins(states), Kept::Bins { moves, .. }) => {
                let (bins, gaps) = part.split_at(2 * self.n_rows);
                let mut codes = coded(r, &states[*moves], words(bins));
                let (gaps, _) = gaps.as_chunks();
                gaps.iter().for_each(|m| codes.blank(u32::from_le_bytes(*m) as usize));
                codes
            }
            _ => Codes::from_options(r, (0..self.n_rows).map(|_| None)),
        }));
        (columns, weights)
    }
}

impl Kept {
    fn bytes(self, n_rows: usize) -> usize {
        match self {
            Kept::Missing => 0,
            Kept::Names => 2 * n_rows,
            Kept::FewNames => n_rows,
            Kept::Bins { gaps, .. } => 2 * n_rows + 4 * gaps,
        }
    }
}

/// Cells of two bytes.
fn words(cells: &[u8]) -> impl Iterator<Item = u16> {
    cells.as_chunks().0.iter().map(|cell| u16::from_le_bytes(*cell))
}

fn few_or_missing(cell: u8) -> u16 {
    if cell == Codes::MISSING_U8 { Codes::MISSING_U16 } else { cell.into() }
}

/// States below `r` of numbers; numbers without a state are missing.
fn coded(r: usize, states: &[u16], numbers: impl Iterator<Item = u16>) -> Codes {
    match r <= usize::from(Codes::MISSING_U8) {
        true => {
            let mut narrow = [Codes::MISSING_U8; 1 << 16];
            narrow.iter_mut().zip(states).for_each(|(n, s)| *n = (*s).min(Codes::MISSING_U8.into()) as u8);
            Codes::U8(numbers.map(|number| narrow[usize::from(number)]).collect())
        }
        false => Codes::U16(
            numbers
                .map(|number| states.get(usize::from(number)).copied().unwrap_or(Codes::MISSING_U16))
                .collect(),
        ),
    }
}
