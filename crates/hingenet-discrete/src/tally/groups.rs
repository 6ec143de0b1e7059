//! Pair tables of columns with more than a few states. Where tables are small, some columns are counted together with the
//! class: one step for each row then counts all pairs among them, whose tables are sums of that one. Where a row stands by
//! its class and the first column is found once for all groups that begin with it. Counts of some thousand rows take two
//! bytes, so that a table stays in the nearest cache; four small ones take turns, so that rows of the same cell do not wait
//! for each other.

use super::Digit;
use crate::Samples;
use crate::structure::pair_number;
use hingenet_data::table::Codes;
use std::cmp::Reverse;
use std::ops::Range;

/// Rows whose places are kept at a time, beside a table in the nearest cache.
const BLOCK: usize = 1 << 12;
/// Blocks after which counts of two bytes are handed over: none can have more rows than that.
const BLOCKS: usize = 15;
/// Tables that take turns.
const LANES: usize = 4;
/// Most cells of a table of which there are several.
const FEW_CELLS: usize = 1 << 12;
/// Most cells of a table of more than two columns, and the rows that there are for each at least: beyond, its sums cost more
/// than steps for pairs.
const GROUP_CELLS: usize = 1 << 15;
const ROWS_OF_CELL: usize = 4;
/// Most cells of a table.
const MOST_CELLS: usize = 1 << 16;
/// Groups with the same first column that are counted together: enough to share what they share, few enough for all threads.
const TOGETHER: usize = 8;
/// Columns that are looked at as the next one of a group.
const CANDIDATES: usize = 64;

/// Columns, numbered from 0 in ascending order, and the pairs of them that are wanted (by their places in the group).
#[derive(Debug, PartialEq)]
pub(crate) struct Group {
    columns: Vec<usize>,
    pairs: Vec<(usize, usize)>,
}

/// Whether the table of two features, numbered from 0, is counted here: whole rows, and not too many cells.
pub(crate) fn is_shared(samples: &Samples, i: usize, j: usize) -> bool {
    let card = samples.card();
    let is_complete = [0, i + 1, j + 1].iter().all(|&v| samples.is_complete(v));
    let cells = (card[0] * card[i + 1]).saturating_mul(card[j + 1]);
    let is_countable = samples.weights().is_none() && u32::try_from(samples.n_rows()).is_ok();
    is_countable && is_complete && cells <= MOST_CELLS
}

/// Groups that hold every one of these pairs, in ascending order, once; some groups with the same first column at a time.
pub(crate) fn groups(samples: &Samples, pairs: &[(usize, usize)]) -> Vec<Vec<Group>> {
    let card = samples.card();
    let n = card.len() - 1;
    let mut open = vec![false; n * n.saturating_sub(1) / 2];
    pairs.iter().for_each(|&(i, j)| open[pair_number(n, i, j)] = true);
    let most = GROUP_CELLS.min(samples.n_rows() / ROWS_OF_CELL);
    let mut all: Vec<Vec<Group>> = Vec::new();
    for partners in pairs.chunk_by(|a, b| a.0 == b.0) {
        let (first, start) = (partners[0].0, all.len());
        for at in 0..partners.len() {
            let is_open = |open: &[bool], k: usize| open[pair_number(n, first, k)];
            if !is_open(&open, partners[at].1) {
                continue;
            }
            let mut group = Group { columns: vec![first], pairs: Vec::new() };
            let mut cells = card[0] * card[first + 1];
            let mut next = Some(partners[at].1);
            while let Some(column) = next {
                group.add(column, n, &mut open);
                cells *= card[column + 1];
                let gain = |k: usize| group.columns.iter().filter(|&&i| open[pair_number(n, i, k)]).count();
                let later = partners[at + 1..].iter().map(|pair| pair.1).filter(|k| *k > column);
                let wanted = later.filter(|&k| is_open(&open, k)).take(CANDIDATES);
                // the first of those that add most
                let fitting = wanted.filter(|&k| cells.saturating_mul(card[k + 1]) <= most);
                next = fitting.min_by_key(|&k| Reverse(gain(k)));
            }
            match all[start..].last_mut() {
                Some(some) if some.len() < TOGETHER => some.push(group),
                _ => all.push(vec![group]),
            }
        }
    }
    all
}

/// The tables `n(c, a, b)` of all pairs of some groups with the same first column; for pairs of the groups, [`is_shared`] holds.
pub(crate) fn group_counts(samples: &Samples, groups: &[Group]) -> Vec<(usize, usize, Vec<f64>)> {
    let Some(first) = groups.first().map(|group| group.columns[0]) else { return Vec::new() };
    let card = samples.card();
    let mut counts: Vec<Counts> = groups.iter().map(|group| Counts::new(group.shape(card))).collect();
    let mut places = vec![0u16; BLOCK.min(samples.n_rows())];
    let mut positions = places.clone();
    for (block, start) in (0..samples.n_rows()).step_by(BLOCK).enumerate() {
        let rows = start..(start + BLOCK).min(samples.n_rows());
        let (places, positions) = (&mut places[..rows.len()], &mut positions[..rows.len()]);
        find_places(samples, first, rows.clone(), places);
        for (group, counts) in groups.iter().zip(&mut counts) {
            positions.copy_from_slice(places);
            group.columns[1..].iter().for_each(|&j| extend(samples, j, rows.clone(), positions));
            counts.add(positions);
            if block % BLOCKS == BLOCKS - 1 {
                counts.hand_over();
            }
        }
    }
    let tables = groups.iter().zip(counts).flat_map(|(group, mut counts)| {
        counts.hand_over();
        group.pairs.iter().map(move |&(x, y)| {
            let table = counts.of_pair(x, y).into_iter().map(f64::from).collect();
            (group.columns[x], group.columns[y], table)
        })
    });
    tables.collect()
}

impl Group {
    /// Adds a column, with those of its pairs that are not in another group.
    fn add(&mut self, column: usize, n: usize, open: &mut [bool]) {
        for (x, &i) in self.columns.iter().enumerate() {
            if std::mem::take(&mut open[pair_number(n, i, column)]) {
                self.pairs.push((x, self.columns.len()));
            }
        }
        self.columns.push(column);
    }

    /// Numbers of states, the class first.
    fn shape(&self, card: &[usize]) -> Vec<usize> {
        std::iter::once(card[0]).chain(self.columns.iter().map(|i| card[i + 1])).collect()
    }
}

/// How often the states of a group occur, the last one fastest.
struct Counts {
    shape: Vec<usize>,
    /// Of rows that came lately: one table, or some that take turns.
    late: Vec<u16>,
    /// Of those before.
    early: Vec<u32>,
}

impl Counts {
    fn new(shape: Vec<usize>) -> Self {
        let size = shape.iter().product();
        let lanes = if size <= FEW_CELLS { LANES } else { 1 };
        Counts { shape, late: vec![0; lanes * size], early: vec![0; size] }
    }

    fn add(&mut self, positions: &[u16]) {
        let (first, others) = self.late.split_at_mut(self.early.len());
        if others.is_empty() {
            positions.iter().for_each(|p| first[usize::from(*p)] += 1);
            return;
        }
        let (second, others) = others.split_at_mut(self.early.len());
        let (third, fourth) = others.split_at_mut(self.early.len());
        let (fours, last) = positions.as_chunks::<LANES>();
        for [p, q, r, s] in fours {
            first[usize::from(*p)] += 1;
            second[usize::from(*q)] += 1;
            third[usize::from(*r)] += 1;
            fourth[usize::from(*s)] += 1;
        }
        last.iter().for_each(|p| first[usize::from(*p)] += 1);
    }

    fn hand_over(&mut self) {
        for lane in self.late.chunks_exact_mut(self.early.len()) {
            self.early.iter_mut().zip(&*lane).for_each(|(n, late)| *n += u32::from(*late));
            lane.fill(0);
        }
    }

    /// The table of the class and two columns of the group: all others summed out, the last ones first.
    fn of_pair(&self, x: usize, y: usize) -> Vec<u32> {
        let (mut shape, mut table) = (self.shape.clone(), self.early.clone());
        for axis in (1..shape.len()).rev().filter(|axis| ![x + 1, y + 1].contains(axis)) {
            let inner: usize = shape[axis + 1..].iter().product();
            table = sum_out(&table, shape[axis], inner);
            shape.remove(axis);
        }
        table
    }
}

/// Sums over an axis of so many states; so many cells of the axes behind it stand together.
fn sum_out(table: &[u32], r: usize, inner: usize) -> Vec<u32> {
    if inner == 1 {
        return table.chunks_exact(r).map(|cells| cells.iter().sum()).collect();
    }
    let mut sums = Vec::with_capacity(table.len() / r);
    for block in table.chunks_exact(r * inner) {
        let start = sums.len();
        sums.extend_from_slice(&block[..inner]);
        for cells in block[inner..].chunks_exact(inner) {
            sums[start..].iter_mut().zip(cells).for_each(|(sum, n)| *sum += n);
        }
    }
    sums
}

/// `c r + a` of some rows.
fn find_places(samples: &Samples, i: usize, rows: Range<usize>, places: &mut [u16]) {
    let class = Digit::complete(samples.column(0), samples.card()[i + 1]);
    let first = Digit::complete(samples.column(i + 1), 1);
    let mut position = [0u32; super::BLOCK];
    for (at, places) in places.chunks_mut(super::BLOCK).enumerate() {
        let start = rows.start + at * super::BLOCK;
        let position = &mut position[..places.len()];
        position.fill(0);
        [&class, &first].iter().for_each(|digit| digit.add(start..start + places.len(), position));
        places.iter_mut().zip(position).for_each(|(place, p)| *place = *p as u16);
    }
}

/// Goes on from places `h` to `h r + b`, where a table has at most [`MOST_CELLS`].
fn extend(samples: &Samples, j: usize, rows: Range<usize>, positions: &mut [u16]) {
    let r = samples.card()[j + 1] as u16;
    let go_on = |p: &mut u16, b: u16| *p = p.wrapping_mul(r).wrapping_add(b);
    match samples.column(j + 1) {
        Codes::U8(codes) => positions.iter_mut().zip(&codes[rows]).for_each(|(p, b)| go_on(p, (*b).into())),
        Codes::U16(codes) => positions.iter_mut().zip(&codes[rows]).for_each(|(p, b)| go_on(p, *b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::joint_counts;
    use hingenet_base::numeric::random::Random;

    /// All pairs but some, of columns with few states and with many, in rows that are enough for groups and in rows that are not.
    #[test]
    fn every_pair_is_in_one_group_and_has_its_table() {
        let mut random = Random::new(2);
        let card = [3, 13, 17, 700, 2, 40, 5, 4, 6, 3, 11];
        for n in [1, 5, 3001, 3 * BLOCK * BLOCKS + 4099] {
            let column = |&r: &usize| {
                // few rows are not in the first state, so that one cell has more of them than two bytes count
                let cells: Vec<Option<usize>> =
                    (0..n).map(|_| Some(random.below(r) * usize::from(random.below(50) == 0))).collect();
                Codes::from_options(r, cells.into_iter())
            };
            let samples = Samples::new(card.to_vec(), card.iter().map(column).collect(), None).unwrap();
            let all = (0..10).flat_map(|i| (i + 1..10).map(move |j| (i, j)));
            let pairs: Vec<_> = all.filter(|&(i, j)| is_shared(&samples, i, j) && (i, j) != (3, 5)).collect();
            assert!(!is_shared(&samples, 2, 4), "a table of too many cells");
            let groups = groups(&samples, &pairs);
            let sizes = groups.iter().flatten().map(|group| group.columns.len());
            assert_eq!(sizes.max() > Some(2), n > 3000, "{n} rows");
            let mut found: Vec<_> = groups.iter().flat_map(|groups| group_counts(&samples, groups)).collect();
            found.sort_by_key(|&(i, j, _)| (i, j));
            let want: Vec<_> =
                pairs.iter().map(|&(i, j)| (i, j, joint_counts(&samples, &[0, i + 1, j + 1]))).collect();
            assert_eq!(found, want, "{n} rows");
        }
    }

    /// The steps that are saved where a column of many states meets some of few.
    #[test]
    fn columns_of_few_states_go_together() {
        let column = |&r: &usize| Codes::from_options(r, (0..200_000).map(|m| Some(m % r)));
        let card: Vec<usize> = [3].into_iter().chain([50; 4]).chain([5; 6]).collect();
        let samples = Samples::new(card.clone(), card.iter().map(column).collect(), None).unwrap();
        let pairs: Vec<_> = (0..4).flat_map(|i| (i + 1..10).map(move |j| (i, j))).collect();
        // 6 pairs of the first columns, and 4 x 6 with the others, three of these at a time
        assert_eq!(groups(&samples, &pairs).iter().flatten().count(), 6 + 8);
    }
}
