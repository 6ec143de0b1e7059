//! What structure learning asks of the rows: `I(X_i; C)` and `I(X_i; X_j | C)` for all features, by raw
//! frequencies in nats. Cells may be missing: each pair uses the rows where both features are observed.
//!
//! Columns with few states are counted by bit planes, the others row by row; the choice is made by cost.

use super::Structure;
use crate::Samples;
use crate::tally::{count_pairs, group_counts, groups, is_shared};
use crate::tally::{joint_counts, narrow_columns, narrow_features};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_data::information;
use rayon::prelude::*;

/// The tables of all pairs are kept for the parameters if they are no larger than this (32 MB).
const KEEP_ENTRIES: usize = 1 << 22;

/// Bytes of a pair of features, without its table.
const BYTES_OF_PAIR: f64 = 96.0;

/// Asks for the memory of what is known of all pairs of features.
fn reserve_pairs(n: usize, control: &Control) -> Result<()> {
    let pairs = 0.5 * n as f64 * (n as f64 - 1.0);
    let hint = "leave columns out (`--ignore`), use nb, or allow more (`--max-memory`)";
    control.reserve(BYTES_OF_PAIR * pairs, format!("comparing {pairs} pairs of features"), hint)
}

/// Pairwise statistics given the class. Features are numbered from 1, as everywhere in this family.
#[derive(Debug, Clone)]
pub struct PairStatistics {
    card: Vec<usize>,
    /// `n(c, a)` for each feature.
    singles: Vec<Vec<f64>>,
    class_information: Vec<f64>,
    /// `I(X_i; X_j | C)`, all features by all features.
    conditional: Vec<f64>,
    /// `n(c, a, b)` of the pairs `i < j`; empty where it was not kept.
    tables: Vec<Vec<f64>>,
    complete: bool,
}

impl PairStatistics {
    /// Counts all pairs. The class must be known in every row.
    pub fn new(samples: &Samples, control: &Control) -> Result<Self> {
        samples.require_labels()?;
        let card = samples.card();
        reserve_pairs(card.len() - 1, control)?;
        let keep = kept_entries(card) <= KEEP_ENTRIES as f64;
        let judge = |i: usize, j: usize, table: PairTable| {
            let information = table.information(card, i, j);
            let laid_out = if let PairTable::LaidOut(table) = table { Some(table) } else { None };
            (information, laid_out.filter(|_| keep))
        };
        let (singles, pairs) = count(samples, samples.n_rows(), control, judge)?;
        Ok(Self::from_pairs(card, singles, pairs, !samples.has_missing()))
    }

    /// The same from tables that were counted before; `complete` says that no cell was missing.
    pub(crate) fn from_tables(
        card: &[usize],
        singles: Vec<Vec<f64>>,
        tables: Pairs<PairTable>,
        complete: bool,
    ) -> Self {
        let judge = |(i, j, table): (usize, usize, PairTable)| {
            let information = table.information(card, i, j);
            (i, j, (information, Some(table.laid_out(card, i, j))))
        };
        Self::from_pairs(card, singles, tables.into_par_iter().map(judge).collect(), complete)
    }

    fn from_pairs(card: &[usize], singles: Vec<Vec<f64>>, pairs: Vec<Judged>, complete: bool) -> Self {
        let n = card.len() - 1;
        let mut conditional = vec![0.0; n * n];
        let mut tables = vec![Vec::new(); n * n.saturating_sub(1) / 2];
        for (i, j, (information, table)) in pairs {
            conditional[i * n + j] = information;
            conditional[j * n + i] = information;
            tables[pair_number(n, i, j)] = table.unwrap_or_default();
        }
        let class_information = (0..n).map(|i| information::mutual(&singles[i], card[i + 1])).collect();
        PairStatistics { card: card.to_vec(), complete, singles, class_information, conditional, tables }
    }

    /// Numbers of states r_i, the class first.
    pub fn card(&self) -> &[usize] {
        &self.card
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.card.len() - 1
    }

    /// `I(X_i; C)`.
    pub fn class_information(&self, i: usize) -> f64 {
        self.class_information[i - 1]
    }

    /// `I(X_i; X_j | C)`, at least 0 and rounded to 12 decimals; 0 for `i = j`.
    pub fn conditional_information(&self, i: usize, j: usize) -> f64 {
        self.conditional[(i - 1) * self.n_features() + j - 1]
    }

    /// The counts `Σ s_m φ(x^m)` of a network whose features have the class and at most one feature as
    /// parents, read from the tables already counted. `None` if cells are missing, the tables were too
    /// large to keep, or the graph needs others: then the rows must be counted.
    pub fn counts_of(&self, structure: &Structure) -> Option<Vec<f64>> {
        if !self.complete || structure.card() != self.card {
            return None;
        }
        let mut counts = Vec::with_capacity(structure.n_entries());
        for i in 0..structure.n_nodes() {
            match *structure.dag().parents(i) {
                [] if i == 0 => counts.extend(self.class_counts()?),
                [0] => counts.extend(&self.singles[i - 1]),
                [0, p] if p < i => counts.extend(self.table(p, i)?),
                [0, p] => counts.extend(transposed(self.table(i, p)?, self.card[i], self.card[p])),
                _ => return None,
            }
        }
        Some(counts)
    }

    /// `n(c, a)` of feature `i`.
    pub(crate) fn single(&self, i: usize) -> &[f64] {
        &self.singles[i - 1]
    }

    pub(crate) fn class_counts(&self) -> Option<Vec<f64>> {
        let first = self.singles.first()?;
        Some(first.chunks_exact(self.card[1]).map(|row| row.iter().sum()).collect())
    }

    /// `n(c, a, b)` for features `i < j`, if it was kept.
    pub(crate) fn table(&self, i: usize, j: usize) -> Option<&Vec<f64>> {
        Some(&self.tables[pair_number(self.n_features(), i - 1, j - 1)]).filter(|t| !t.is_empty())
    }
}

/// `n(c, b, a)` from `n(c, a, b)`.
fn transposed(table: &[f64], r_a: usize, r_b: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(table.len());
    for slice in table.chunks_exact(r_a * r_b) {
        for b in 0..r_b {
            out.extend((0..r_a).map(|a| slice[a * r_b + b]));
        }
    }
    out
}

fn kept_entries(card: &[usize]) -> f64 {
    let (sum, squares) = card[1..].iter().fold((0.0, 0.0), |(s, q), &r| (s + r as f64, q + (r * r) as f64));
    card[0] as f64 * (sum * sum - squares) / 2.0
}

/// The place of a pair `i < j` among those of `n` features, numbered from 0.
pub(crate) fn pair_number(n: usize, i: usize, j: usize) -> usize {
    i * (2 * n - i - 1) / 2 + j - i - 1
}

/// A pair of features, numbered from 0, its information and, where it is kept, its table.
type Judged = (usize, usize, (f64, Option<Vec<f64>>));

/// Something for pairs of features, numbered from 0.
pub(crate) type Pairs<T> = Vec<(usize, usize, T)>;

/// A cell `(c, a, b)` of a table with its count.
pub(crate) type PairCell = ((usize, usize, usize), f64);

/// `n(c, a, b)` of two features.
pub(crate) enum PairTable {
    /// Every cell.
    LaidOut(Vec<f64>),
    /// The cells that occur, ascending, of a table far larger than the rows.
    Cells(Vec<PairCell>),
}

impl PairTable {
    /// `I(X_i; X_j | C)`.
    fn information(&self, card: &[usize], i: usize, j: usize) -> f64 {
        match self {
            PairTable::LaidOut(table) => information::conditional(table, card[i + 1], card[j + 1]),
            PairTable::Cells(cells) => sparse_information(cells, card[0], card[i + 1], card[j + 1]),
        }
    }

    fn laid_out(self, card: &[usize], i: usize, j: usize) -> Vec<f64> {
        match self {
            PairTable::LaidOut(table) => table,
            // too large to keep: the rows are counted again
            PairTable::Cells(_) if is_wide(card, i, j, 0) => Vec::new(),
            PairTable::Cells(cells) => {
                let (r_i, r_j) = (card[i + 1], card[j + 1]);
                let mut table = vec![0.0; card[0] * r_i * r_j];
                cells.into_iter().for_each(|((c, a, b), n)| table[(c * r_i + a) * r_j + b] = n);
                table
            }
        }
    }

    /// The cells that occur.
    pub(crate) fn cells(self, card: &[usize], i: usize, j: usize) -> Vec<PairCell> {
        match self {
            PairTable::Cells(cells) => cells,
            PairTable::LaidOut(table) => {
                let (r_i, r_j) = (card[i + 1], card[j + 1]);
                let cell = |at: usize| (at / (r_i * r_j), at / r_j % r_i, at % r_j);
                table.into_iter().enumerate().filter(|(_, n)| *n > 0.0).map(|(at, n)| (cell(at), n)).collect()
            }
        }
    }
}

/// Whether the table of a pair would be far larger than so many rows.
pub(crate) fn is_wide(card: &[usize], i: usize, j: usize, rows: usize) -> bool {
    let size = card[0] as f64 * (card[i + 1] + 1) as f64 * (card[j + 1] + 1) as f64;
    size > f64::max(65_536.0, 8.0 * rows as f64).min(f64::from(u32::MAX))
}

/// The tables `n(c, a)` of all features, and what `make` makes of the tables of all pairs. The tables of pairs that are
/// wide for so many rows are not laid out.
pub(crate) fn count<T: Send>(
    samples: &Samples,
    rows: usize,
    control: &Control,
    make: impl Fn(usize, usize, PairTable) -> T + Sync,
) -> Result<(Vec<Vec<f64>>, Pairs<T>)> {
    let card = samples.card();
    let n = card.len() - 1;
    let (mut singles, mut pairs) = (vec![Vec::new(); n], Vec::new());
    let narrow = narrow_features(samples);
    if let Some((class, columns)) = narrow_columns(samples, &narrow) {
        let read = |i: usize, j: usize, table| {
            let (i, j) = (narrow[i], narrow[j]);
            (i, j, make(i, j, PairTable::LaidOut(table)))
        };
        let counted = count_pairs(&class, &columns, control, read)?;
        narrow.iter().zip(counted.singles).for_each(|(&i, table)| singles[i] = table);
        pairs = counted.pairs;
    }
    let wide = singles.par_iter_mut().enumerate().filter(|(_, s)| s.is_empty());
    wide.for_each(|(i, s)| *s = joint_counts(samples, &[0, i + 1]));
    let is_narrow = |i: usize| narrow.binary_search(&i).is_ok();
    let all = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let all = all.filter(|&(i, j)| !(is_narrow(i) && is_narrow(j)));
    let (shared, wide): (Vec<_>, Vec<_>) = all.partition(|&(i, j)| is_shared(samples, i, j));
    let shared = groups(samples, &shared).into_par_iter().map(|groups| {
        control.check()?;
        let table = |(i, j, table)| (i, j, make(i, j, PairTable::LaidOut(table)));
        Ok(group_counts(samples, &groups).into_iter().map(table).collect::<Vec<_>>())
    });
    pairs.extend(shared.collect::<Result<Vec<_>>>()?.into_iter().flatten());
    let wide = wide.into_par_iter().map(|(i, j)| {
        control.check()?;
        let table = match is_wide(card, i, j, rows) {
            true => PairTable::Cells(cells(samples, i, j)),
            false => PairTable::LaidOut(joint_counts(samples, &[0, i + 1, j + 1])),
        };
        Ok((i, j, make(i, j, table)))
    });
    pairs.extend(wide.collect::<Result<Vec<_>>>()?);
    Ok((singles, pairs))
}

/// The cells that occur in the table of a pair, ascending.
fn cells(s: &Samples, i: usize, j: usize) -> Vec<PairCell> {
    let cell = |m: usize| {
        let (c, a, b) = (s.column(0).get(m)?, s.column(i + 1).get(m)?, s.column(j + 1).get(m)?);
        Some(((c, a, b), s.weight(m)))
    };
    let mut cells: Vec<PairCell> = (0..s.n_rows()).filter_map(cell).collect();
    cells.sort_by_key(|(key, _)| *key);
    cells.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0.0 };
        same
    });
    cells
}

/// `I(X_i; X_j | C)` from the cells that occur.
fn sparse_information(cells: &[PairCell], k: usize, r_i: usize, r_j: usize) -> f64 {
    let (mut n_c, mut n_ca, mut n_cb) = (vec![0.0; k], vec![0.0; k * r_i], vec![0.0; k * r_j]);
    for &((c, a, b), n) in cells {
        n_c[c] += n;
        n_ca[c * r_i + a] += n;
        n_cb[c * r_j + b] += n;
    }
    let total: f64 = n_c.iter().sum();
    let term =
        |&((c, a, b), n): &PairCell| information::term(n, n_c[c], n_ca[c * r_i + a], n_cb[c * r_j + b]);
    if total > 0.0 { information::settle(cells.iter().map(term).sum::<f64>() / total) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;
    use hingenet_data::table::Codes;

    /// Random columns, some with missing cells.
    fn samples(n: usize, card: &[usize], missing: &[bool], weights: bool, seed: u64) -> Samples {
        let mut random = Random::new(seed);
        let columns = card.iter().zip(missing).map(|(&r, &gaps)| {
            let cells = (0..n).map(|_| (!gaps || random.below(4) > 0).then(|| random.below(r)));
            Codes::from_options(r, cells.collect::<Vec<_>>().into_iter())
        });
        let columns = columns.collect();
        let weights = weights.then(|| (0..n).map(|m| 1.0 + (m % 3) as f64).collect());
        Samples::new(card.to_vec(), columns, weights).unwrap()
    }

    #[test]
    fn every_way_of_counting_gives_the_information_of_the_sparse_one() {
        let card = [3, 4, 2, 1, 5, 300, 40, 3];
        let missing = [false, false, true, false, true, false, true, false];
        for (n, weights) in [(1, false), (200, false), (20_000, false), (500, true)] {
            let s = samples(n, &card, &missing, weights, n as u64);
            let stats = PairStatistics::new(&s, &Control::default()).unwrap();
            for i in 0..7 {
                for j in i + 1..7 {
                    let want = sparse_information(&cells(&s, i, j), card[0], card[i + 1], card[j + 1]);
                    let got = stats.conditional_information(i + 1, j + 1);
                    assert!((got - want).abs() < 1e-11, "n {n}, pair {i} {j}: {got} and {want}");
                }
            }
        }
    }

    #[test]
    fn counts_read_from_pairs_equal_counted_rows() {
        let card = [3, 4, 2, 3, 40];
        let s = samples(3000, &card, &[false; 5], false, 1);
        let stats = PairStatistics::new(&s, &Control::default()).unwrap();
        let parents = vec![vec![], vec![0, 4], vec![0, 1], vec![0, 2], vec![0]];
        let tree = Structure::new(card.to_vec(), hingenet_base::graph::Dag::new(parents).unwrap()).unwrap();
        let want = crate::counts::raw_counts(&tree, &s).unwrap();
        assert_eq!(stats.counts_of(&tree), Some(want));
    }
}
