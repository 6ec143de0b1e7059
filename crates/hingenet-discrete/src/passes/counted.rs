//! What one pass counts in pieces of coded rows: tables of a graph, pairs of features, or distinct rows. Counts are whole
//! numbers, so pieces may come and be merged in any order.

use crate::counts::{add_available_counts, add_raw_counts, is_count, reserve_tables};
use crate::structure::{PairStatistics, PairTable, count, is_wide, pair_number};
use crate::{Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;
use hingenet_data::pieces::hash_bytes;
use hingenet_data::table::Codes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

/// Most distinct coded rows that are kept, chosen by their content: with what a margin program needs beside them, 30 columns
/// take half a gigabyte.
pub const MOST_ROWS: usize = 1 << 21;
/// Bytes of an entry of a map beside its key.
pub(super) const ENTRY: usize = 64;
/// Distinct rows that every class keeps, if there are so many: chance must not leave a rare class out.
const LEAST_ROWS: usize = 100;

/// What one pass counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Pass {
    /// The tables of a graph, given by the parents of its nodes.
    Tables(Vec<Vec<usize>>),
    /// All pairs of features given the class; tables that are wide for so many rows only where they are not 0.
    Pairs(usize),
    /// Distinct rows.
    Rows,
}

impl Pass {
    /// The tables of a graph.
    pub fn tables(structure: &Structure) -> Self {
        Pass::Tables((0..structure.n_nodes()).map(|i| structure.dag().parents(i).to_vec()).collect())
    }
}

/// What a pass counted in some pieces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counted {
    /// Tables that are laid out, one after the other; empty if there were no rows.
    pub dense: Vec<f64>,
    /// Counts of what occurs, by a key whose bytes are in the order of what it stands for.
    pub sparse: HashMap<Box<[u8]>, f64>,
    /// Whether the keys are distinct rows, of which the smallest hashes are enough.
    pub is_of_rows: bool,
}

impl Counted {
    /// Counts the coded rows of a piece. Tables are added to where they stand: with many states they are larger than a piece.
    pub(super) fn add(&mut self, pass: &Pass, samples: &Samples, control: &Control) -> Result<()> {
        match pass {
            Pass::Tables(parents) => {
                let structure = Structure::new(samples.card().to_vec(), Dag::new(parents.clone())?)?;
                if self.dense.is_empty() {
                    reserve_tables(&structure, control)?;
                }
                let add = if samples.has_missing() { add_available_counts } else { add_raw_counts };
                add(&structure, samples, self.laid_out(structure.n_entries(), control)?)
            }
            Pass::Pairs(rows) => self.add_pairs(samples, *rows, control),
            Pass::Rows => {
                self.is_of_rows = true;
                for m in 0..samples.n_rows() {
                    *self.sparse.entry(row_key(samples, m)).or_default() += samples.weight(m);
                }
                self.bound_rows();
                Ok(())
            }
        }
    }

    /// Counts pairs of features; tables that are wide for so many rows only where they are not 0.
    fn add_pairs(&mut self, samples: &Samples, rows: usize, control: &Control) -> Result<()> {
        let card = samples.card();
        let (of_features, of_pairs) = sizes(card, rows);
        let n_singles: usize = of_features.iter().sum();
        let laid_out = self.laid_out(n_singles + of_pairs.iter().sum::<usize>(), control)?;
        let (mut singles, mut tables) = laid_out.split_at_mut(n_singles);
        let take = |size: &usize| Mutex::new(tables.split_off_mut(..*size).unwrap_or_default());
        let places: Vec<Mutex<&mut [f64]>> = of_pairs.iter().map(take).collect();
        let add_pair = |i: usize, j: usize, table: PairTable| match table {
            PairTable::LaidOut(table) if !is_wide(card, i, j, rows) => {
                // each pair comes once in a piece, so nobody waits
                let mut place =
                    places[pair_number(card.len() - 1, i, j)].lock().unwrap_or_else(|e| e.into_inner());
                place.iter_mut().zip(table).for_each(|(all, n)| *all += n);
                Vec::new()
            }
            table => table.cells(card, i, j),
        };
        let (counted, pairs) = count(samples, rows, control, add_pair)?;
        for single in counted {
            let place = singles.split_off_mut(..single.len()).unwrap_or_default();
            place.iter_mut().zip(single).for_each(|(all, n)| *all += n);
        }
        for (i, j, cells) in pairs {
            for ((c, a, b), n) in cells {
                *self.sparse.entry(words(&[i, j, c, a, b])).or_default() += n;
            }
        }
        Ok(())
    }

    /// Tables of so many entries, which are 0 before the first piece.
    fn laid_out(&mut self, n_entries: usize, control: &Control) -> Result<&mut [f64]> {
        if self.dense.is_empty() {
            reserve_counts(8.0 * n_entries as f64, control)?;
            self.dense = vec![0.0; n_entries];
        }
        require_len("counts of a piece", n_entries, self.dense.len())?;
        Ok(&mut self.dense)
    }

    /// Refuses counts that are no whole numbers: of more rows than that sums are not exact.
    pub fn require_exact(&self) -> Result<()> {
        match self.dense.iter().chain(self.sparse.values()).all(is_count) {
            true => Ok(()),
            false => Err(Error::model_file("no table has so many rows")),
        }
    }

    /// Adds the counts of other pieces.
    pub fn merge(&mut self, other: Counted) -> Result<()> {
        if self.dense.is_empty() {
            self.dense = other.dense;
        } else if !other.dense.is_empty() {
            require_len("counts of a piece", self.dense.len(), other.dense.len())?;
            self.dense.iter_mut().zip(other.dense).for_each(|(a, b)| *a += b);
        }
        other.sparse.into_iter().for_each(|(key, n)| *self.sparse.entry(key).or_default() += n);
        self.require_exact()?;
        self.is_of_rows |= other.is_of_rows;
        self.bound_rows();
        Ok(())
    }

    /// Leaves out distinct rows that would be left out at the end, once there are many.
    fn bound_rows(&mut self) {
        if self.is_of_rows && self.sparse.len() > 2 * MOST_ROWS {
            self.keep_smallest(MOST_ROWS);
        }
    }

    /// Leaves the rows with the smallest hashes, so many of all, and some of each class. What is left out of a piece would be
    /// left out of the whole, so counts that stay are complete.
    pub fn keep_smallest(&mut self, most: usize) {
        if self.sparse.len() <= most {
            return;
        }
        let mut hashes: Vec<u64> = self.sparse.keys().map(|key| hash_bytes(key)).collect();
        let (_, &mut largest, _) = hashes.select_nth_unstable(most);
        // the class comes first in a key; of many classes only the first byte of its two counts here
        let mut classes: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
        for key in self.sparse.keys() {
            let hashes = classes.entry(key.first().copied().unwrap_or_default()).or_default();
            hashes.push(hash_bytes(key));
        }
        let least = |hashes: &mut Vec<u64>| match hashes.len() > LEAST_ROWS {
            true => *hashes.select_nth_unstable(LEAST_ROWS - 1).1,
            false => u64::MAX,
        };
        let of_class: BTreeMap<u8, u64> = classes.iter_mut().map(|(c, hashes)| (*c, least(hashes))).collect();
        self.sparse.retain(|key, _| {
            let hash = hash_bytes(key);
            hash < largest || key.first().is_some_and(|c| hash <= of_class[c])
        });
    }

    /// Memory, about.
    pub fn bytes(&self) -> usize {
        let key = self.sparse.keys().next().map_or(0, |key| key.len());
        8 * self.dense.len() + (ENTRY + key) * self.sparse.len()
    }

    /// The statistics of all pairs that were counted for so many rows.
    pub(super) fn into_pairs(self, card: &[usize], rows: usize) -> Result<PairStatistics> {
        let n = card.len() - 1;
        let damaged = || Error::model_file("the counts of pairs are damaged");
        let mut dense = &self.dense[..];
        let mut take = |size: usize| dense.split_off(..size).map(<[f64]>::to_vec).ok_or_else(damaged);
        let (of_features, of_pairs) = sizes(card, rows);
        let singles = of_features.into_iter().map(&mut take).collect::<Result<Vec<_>>>()?;
        let mut tables = Vec::with_capacity(of_pairs.len());
        for ((i, j), size) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).zip(of_pairs) {
            let table = match size {
                0 => PairTable::Cells(Vec::new()),
                size => PairTable::LaidOut(take(size)?),
            };
            tables.push((i, j, table));
        }
        if !dense.is_empty() {
            return Err(damaged());
        }
        for (key, count) in self.sorted() {
            let (words, _) = key.as_chunks();
            let [i, j, c, a, b] =
                std::array::from_fn(|k| words.get(k).map_or(0, |w| u32::from_be_bytes(*w) as usize));
            let at = tables.binary_search_by_key(&(i, j), |(i, j, _)| (*i, *j)).map_err(|_| damaged())?;
            match &mut tables[at].2 {
                PairTable::Cells(cells) if c < card[0] && a < card[i + 1] && b < card[j + 1] => {
                    cells.push(((c, a, b), count));
                }
                _ => return Err(damaged()),
            }
        }
        Ok(PairStatistics::from_tables(card, singles, tables, true))
    }

    pub(super) fn sorted(self) -> BTreeMap<Box<[u8]>, f64> {
        self.sparse.into_iter().collect()
    }
}

/// Asks for the memory of what is counted.
pub fn reserve_counts(bytes: f64, control: &Control) -> Result<()> {
    let hint = "leave out columns with very many values, use nb:ml, or allow more (`--max-memory`)";
    control.reserve(bytes, "what is counted in the table", hint)
}

/// Entries of the tables of single features, and of all pairs in order: none for those that are wide for so many rows.
fn sizes(card: &[usize], rows: usize) -> (Vec<usize>, Vec<usize>) {
    let n = card.len() - 1;
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let size = |(i, j): (usize, usize)| match is_wide(card, i, j, rows) {
        true => 0,
        false => card[0] * card[i + 1] * card[j + 1],
    };
    (card[1..].iter().map(|r| card[0] * r).collect(), pairs.map(size).collect())
}

/// Bytes in the order of lists of numbers below 2^32.
fn words(numbers: &[usize]) -> Box<[u8]> {
    numbers.iter().flat_map(|&n| (n as u32).to_be_bytes()).collect()
}

/// The coded cells of a row: a byte each where all states and the mark of a missing cell fit in one, else two.
fn row_key(samples: &Samples, m: usize) -> Box<[u8]> {
    let mut key = Vec::with_capacity(samples.card().len());
    for column in samples.columns() {
        match column {
            Codes::U8(codes) => key.push(codes[m]),
            Codes::U16(codes) => key.extend(codes[m].to_be_bytes()),
        }
    }
    key.into()
}

/// The rows of keys with their counts, in the order of [`Samples::merged`].
pub(super) fn rows_of(card: Vec<usize>, rows: BTreeMap<Box<[u8]>, f64>) -> Result<Samples> {
    let damaged = || Error::model_file("a row of the statistics is damaged");
    let mut cells: Vec<Vec<Option<usize>>> = vec![Vec::with_capacity(rows.len()); card.len()];
    for key in rows.keys() {
        let mut bytes = key.iter();
        let mut byte = || bytes.next().copied().ok_or_else(damaged);
        for (column, &r) in cells.iter_mut().zip(&card) {
            column.push(match r <= usize::from(Codes::MISSING_U8) {
                true => Some(byte()?).filter(|c| *c != Codes::MISSING_U8).map(usize::from),
                false => Some(u16::from_be_bytes([byte()?, byte()?]))
                    .filter(|c| *c != Codes::MISSING_U16)
                    .map(usize::from),
            });
        }
        if bytes.next().is_some() {
            return Err(damaged());
        }
    }
    let columns = cells.into_iter().zip(&card).map(|(c, &r)| Codes::from_options(r, c.into_iter())).collect();
    Samples::new(card, columns, Some(rows.into_values().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3000 rows of two bytes; every 200th is of class 1.
    fn row(m: u32) -> Box<[u8]> {
        [u8::from(m.is_multiple_of(200))].into_iter().chain(m.to_be_bytes()).collect()
    }

    fn counted(rows: impl Iterator<Item = u32>) -> Counted {
        let sparse = rows.map(|m| (row(m), f64::from(m % 3 + 1))).collect();
        Counted { sparse, is_of_rows: true, ..Counted::default() }
    }

    /// Pieces that were cut down on the way leave what the whole leaves, with all counts.
    #[test]
    fn rows_that_are_kept_do_not_depend_on_the_pieces() {
        let mut whole = counted(0..3000);
        whole.merge(counted(0..1500)).unwrap();
        whole.keep_smallest(400);
        let mut pieces = counted(2000..3000);
        for part in [counted(0..900), counted(900..2000), counted(0..1500)] {
            pieces.keep_smallest(400);
            let mut part = part;
            part.keep_smallest(400);
            pieces.merge(part).unwrap();
        }
        pieces.keep_smallest(400);
        assert_eq!(pieces, whole);
        let rare = whole.sparse.keys().filter(|key| key[0] == 1).count();
        assert_eq!(rare, 15, "all rows of a class that has few");
        assert!((400..420).contains(&whole.sparse.len()));
    }

    /// Rows `from..to` of a table with narrow, wide and very wide columns, some weighted twice.
    fn samples(rows: std::ops::Range<usize>) -> Samples {
        let card = vec![2, 3, 40, 900, 5];
        let column = |r: usize| {
            let cells = rows.clone().map(move |m| Some((m * (r + 7) + m / 5) % r));
            Codes::from_options(r, cells)
        };
        let columns = card.iter().map(|r| column(*r)).collect();
        let weights = (rows.start > 0).then(|| rows.clone().map(|m| 1.0 + (m % 2) as f64).collect());
        Samples::new(card, columns, weights).unwrap()
    }

    /// Whatever was counted before, a piece adds what it counts alone.
    #[test]
    fn a_piece_adds_what_it_counts_alone() {
        let kdb = Pass::Tables(vec![vec![], vec![0], vec![0, 1], vec![0, 1, 2], vec![0, 2]]);
        // tables of pairs are wide for 100 rows where they have more than 65 536 cells
        let pairs = [Pass::Pairs(100), Pass::Pairs(usize::MAX)];
        for pass in pairs.into_iter().chain([kdb, Pass::Rows]) {
            let mut together = Counted::default();
            let mut merged = Counted::default();
            for rows in [0..900, 900..901, 901..2500, 2500..2600] {
                let piece = samples(rows);
                together.add(&pass, &piece, &Control::default()).unwrap();
                let mut alone = Counted::default();
                alone.add(&pass, &piece, &Control::default()).unwrap();
                merged.merge(alone).unwrap();
            }
            together.require_exact().unwrap();
            assert_eq!(together, merged, "{pass:?}");
            assert_eq!(
                together.sparse.is_empty(),
                !matches!(pass, Pass::Pairs(100) | Pass::Rows),
                "{pass:?}"
            );
            let total: f64 = (0..2600).map(|m| if m < 900 { 1.0 } else { 1.0 + (m % 2) as f64 }).sum();
            let counted = together.dense.iter().chain(together.sparse.values()).sum::<f64>();
            // each row is counted once in every table
            let tables = match pass {
                Pass::Tables(_) => 5.0,
                Pass::Pairs(_) => 4.0 + 6.0,
                Pass::Rows => 1.0,
            };
            assert_eq!(counted, tables * total, "{pass:?}");
        }
    }

    #[test]
    fn counts_of_another_pass_are_refused() {
        let mut counted = Counted::default();
        counted.add(&Pass::Pairs(100), &samples(0..10), &Control::default()).unwrap();
        let graph = Pass::Tables(vec![vec![], vec![0], vec![0], vec![0], vec![0]]);
        assert!(counted.add(&graph, &samples(0..10), &Control::default()).is_err());
        counted.dense[0] = 2.0f64.powi(53) + 2.0;
        assert!(counted.require_exact().is_err());
    }

    #[test]
    fn few_rows_are_all_kept() {
        let mut few = counted(0..300);
        few.keep_smallest(400);
        assert_eq!(few, counted(0..300));
    }
}
