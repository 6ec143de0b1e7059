//! Pair tables of columns with few states by bit planes: one plane per state, common bits are counts.
//! Blocks of rows keep the planes in the nearest caches; counts are whole numbers, so the order in which
//! blocks are added does not matter.

use crate::Samples;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::bits::{add_common_bits, pack_planes};
use hingenet_data::table::Codes;
use rayon::prelude::*;
use std::ops::Range;

/// Rows per block: a plane is 2 kB.
const BLOCK: usize = 1 << 14;
/// Planes of the second column that stay in the first cache while all planes of the first pass by.
const CACHED_PLANES: usize = 12;
/// Most planes of one group of columns; limits the memory of the counts of two groups.
const GROUP_PLANES: usize = 192;

/// Bit planes pay while the `K p_i p_j` pairs of planes of two columns (64 rows each) cost less than one
/// step per row: up to about this many (measured with AVX-512).
const PLANE_PAIRS: usize = 384;

/// A column with few states.
#[derive(Clone, Copy)]
pub(crate) struct Narrow<'a> {
    pub codes: &'a [u8],
    /// Number of states.
    pub r: usize,
    /// Whether no cell is missing: then the last state needs no plane of its own.
    pub complete: bool,
}

/// The features (numbered from 0) that bit planes count faster than a walk over the rows: few states,
/// bytes, no weights.
pub(crate) fn narrow_features(samples: &Samples) -> Vec<usize> {
    let most = (PLANE_PAIRS / samples.card()[0]).isqrt();
    let plain = samples.weights().is_none() && samples.is_complete(0);
    let is_narrow = |&i: &usize| {
        let planes = samples.card()[i + 1] - usize::from(samples.is_complete(i + 1));
        let bytes = [0, i + 1].iter().all(|&v| matches!(samples.column(v), Codes::U8(_)));
        plain && bytes && planes <= most
    };
    (0..samples.card().len() - 1).filter(is_narrow).collect()
}

/// The planes of the class and the columns of some narrow features; `None` without any.
pub(crate) fn narrow_columns<'a>(
    samples: &'a Samples,
    features: &[usize],
) -> Option<(ClassPlanes, Vec<Narrow<'a>>)> {
    let bytes = |i: usize| match samples.column(i) {
        Codes::U8(codes) => Some(codes.as_slice()),
        Codes::U16(_) => None,
    };
    let column = |&i: &usize| {
        let (r, complete) = (samples.card()[i + 1], samples.is_complete(i + 1));
        bytes(i + 1).map(|codes| Narrow { codes, r, complete })
    };
    let columns: Vec<Narrow<'_>> = features.iter().filter_map(column).collect();
    if columns.is_empty() {
        return None;
    }
    bytes(0).map(|codes| (ClassPlanes::new(codes, samples.card()[0]), columns))
}

impl Narrow<'_> {
    fn n_planes(&self) -> usize {
        if self.complete { self.r - 1 } else { self.r }
    }
}

/// The planes of the classes, block by block of rows.
pub(crate) struct ClassPlanes {
    k: usize,
    n_rows: usize,
    blocks: Vec<Vec<u64>>,
    /// Rows of each class.
    counts: Vec<u64>,
}

impl ClassPlanes {
    pub fn new(codes: &[u8], k: usize) -> Self {
        let pack = |block: &[u8]| {
            let mut planes = vec![0; block.len().div_ceil(64) * k];
            pack_planes(block, k, &mut planes);
            planes
        };
        let blocks: Vec<Vec<u64>> = codes.par_chunks(BLOCK).map(pack).collect();
        let mut counts = vec![0; k];
        for planes in &blocks {
            let words = planes.len() / k;
            for (n, plane) in counts.iter_mut().zip(planes.chunks_exact(words)) {
                *n += plane.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
            }
        }
        ClassPlanes { k, n_rows: codes.len(), blocks, counts }
    }

    /// Adds what `count(rows, class planes, sums)` finds in every block of rows to `n_sums` sums.
    fn sum_blocks(&self, n_sums: usize, count: impl Fn(Range<usize>, &[u64], &mut [u64]) + Sync) -> Vec<u64> {
        let empty = || vec![0u64; n_sums];
        let add_block = |mut sums: Vec<u64>, (b, planes): (usize, &Vec<u64>)| {
            count(b * BLOCK..((b + 1) * BLOCK).min(self.n_rows), planes, &mut sums);
            sums
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        self.blocks.par_iter().enumerate().fold(empty, add_block).reduce(empty, add)
    }
}

/// What is known of columns given the class.
pub(crate) struct Counted<T> {
    /// `n(c, a)` of every column.
    pub singles: Vec<Vec<f64>>,
    /// What the caller made of the table of every pair.
    pub pairs: Vec<T>,
}

/// Counts every column, and hands the table `n(c, a, b)` of every pair `i < j` of columns (numbered as
/// listed) to `read(i, j, table)`.
pub(crate) fn count_pairs<T: Send>(
    class: &ClassPlanes,
    columns: &[Narrow<'_>],
    control: &Control,
    read: impl Fn(usize, usize, Vec<f64>) -> T + Sync,
) -> Result<Counted<T>> {
    let groups = groups(columns);
    let mut singles = Vec::with_capacity(columns.len());
    let mut pairs = Vec::with_capacity(columns.len() * columns.len().saturating_sub(1) / 2);
    // Each group with itself first: that counts the single columns, which the other tiles need.
    for distance in 0..groups.len() {
        for (first, second) in groups.iter().zip(&groups[distance..]) {
            control.check()?;
            let tile = Tile { k: class.k, columns, first, second };
            let common = tile.count(class);
            if distance == 0 {
                singles.extend(tile.singles(&common, &class.counts));
            }
            let table =
                |(i, j): (usize, usize)| read(i, j, tile.table(&common, (i, &singles[i]), (j, &singles[j])));
            pairs.par_extend(tile.pairs().into_par_iter().map(table));
        }
    }
    Ok(Counted { singles, pairs })
}

/// The tables `n(c, a)` of every column.
pub(crate) fn count_singles(class: &ClassPlanes, columns: &[Narrow<'_>]) -> Vec<Vec<f64>> {
    let starts = plane_starts(columns);
    let n_planes = starts[columns.len()];
    let sums = class.sum_blocks(class.k * n_planes, |rows, class_planes, sums| {
        let words = rows.len().div_ceil(64);
        let mut planes = Vec::new();
        for (column, w) in columns.iter().zip(starts.windows(2)) {
            planes.resize(words * column.n_planes(), 0);
            pack_planes(&column.codes[rows.clone()], column.n_planes(), &mut planes);
            for (c, plane) in class_planes.chunks_exact(words).enumerate() {
                add_common_bits(plane, &planes, &mut sums[c * n_planes + w[0]..c * n_planes + w[1]]);
            }
        }
    });
    single_tables(columns, &starts, &sums, &class.counts)
}

/// `n(c, a)` from the numbers of bits of (class, plane). The last state of a complete column is what the
/// others leave of the class.
fn single_tables(columns: &[Narrow<'_>], starts: &[usize], bits: &[u64], classes: &[u64]) -> Vec<Vec<f64>> {
    let n_planes = starts[columns.len()];
    let single = |(column, w): (&Narrow<'_>, &[usize])| {
        let mut table = Vec::with_capacity(classes.len() * column.r);
        for (c, &n_c) in classes.iter().enumerate() {
            let counts = &bits[c * n_planes + w[0]..c * n_planes + w[1]];
            table.extend(counts.iter().map(|&n| n as f64));
            if column.complete {
                table.push((n_c - counts.iter().sum::<u64>()) as f64);
            }
        }
        table
    };
    columns.iter().zip(starts.windows(2)).map(single).collect()
}

/// Consecutive columns.
struct Group {
    columns: Range<usize>,
    /// Number of the first plane of each column, and the number of planes at the end.
    starts: Vec<usize>,
}

/// Groups of at most [`GROUP_PLANES`] planes.
fn groups(columns: &[Narrow<'_>]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut start = 0;
    while start < columns.len() {
        let starts = plane_starts(&columns[start..]);
        let most = starts.partition_point(|planes| *planes <= GROUP_PLANES) - 1;
        let n = most.clamp(1, columns.len() - start);
        groups.push(Group { columns: start..start + n, starts: starts[..=n].to_vec() });
        start += n;
    }
    groups
}

/// All pairs of a column of the first group with a later column of the second group.
struct Tile<'a> {
    k: usize,
    columns: &'a [Narrow<'a>],
    first: &'a Group,
    second: &'a Group,
}

impl Tile<'_> {
    fn n_first(&self) -> usize {
        self.first.starts[self.first.columns.len()]
    }

    fn n_second(&self) -> usize {
        self.second.starts[self.second.columns.len()]
    }

    fn pairs(&self) -> Vec<(usize, usize)> {
        let second = &self.second.columns;
        let later = |i: usize| second.start.max(i + 1)..second.end;
        self.first.columns.clone().flat_map(|i| later(i).map(move |j| (i, j))).collect()
    }

    /// Common bits of (class, plane of the first group, plane of the second group), and at the end the
    /// bits of (class, plane of the first group).
    fn count(&self, class: &ClassPlanes) -> Vec<u64> {
        let n_sums = self.k * self.n_first() * (self.n_second() + 1);
        class.sum_blocks(n_sums, |rows, class_planes, common| self.count_block(rows, class_planes, common))
    }

    /// `n(c, a)` of the columns of the first group.
    fn singles(&self, common: &[u64], classes: &[u64]) -> Vec<Vec<f64>> {
        let bits = &common[self.k * self.n_first() * self.n_second()..];
        single_tables(&self.columns[self.first.columns.clone()], &self.first.starts, bits, classes)
    }

    fn count_block(&self, rows: Range<usize>, class_planes: &[u64], common: &mut [u64]) {
        let words = rows.len().div_ceil(64);
        let first = self.pack(self.first, rows.clone());
        let other = (self.first.columns != self.second.columns).then(|| self.pack(self.second, rows.clone()));
        let second = other.as_ref().unwrap_or(&first);
        let mut masked = vec![0u64; first.len()];
        let (pairs, singles) = common.split_at_mut(self.k * self.n_first() * self.n_second());
        for (c, class_plane) in class_planes.chunks_exact(words).enumerate() {
            for (m, plane) in masked.chunks_exact_mut(words).zip(first.chunks_exact(words)) {
                m.iter_mut().zip(plane).zip(class_plane).for_each(|((m, p), c)| *m = p & c);
            }
            let size = self.n_first() * self.n_second();
            self.compare(words, &masked, second, &mut pairs[c * size..(c + 1) * size]);
            let size = self.n_first();
            add_common_bits(class_plane, &first, &mut singles[c * size..(c + 1) * size]);
        }
    }

    /// Adds the common bits of every plane of the first group with the planes of later columns.
    fn compare(&self, words: usize, masked: &[u64], second: &[u64], common: &mut [u64]) {
        let n_second = self.n_second();
        for start in (0..n_second).step_by(CACHED_PLANES) {
            let end = (start + CACHED_PLANES).min(n_second);
            for (i, w) in self.first.columns.clone().zip(self.first.starts.windows(2)) {
                let others = &self.second.columns;
                let later = (i + 1).saturating_sub(others.start).min(others.len());
                let start = start.max(self.second.starts[later]);
                if start >= end {
                    continue;
                }
                for p in w[0]..w[1] {
                    let x = &masked[p * words..(p + 1) * words];
                    let out = &mut common[p * n_second + start..p * n_second + end];
                    add_common_bits(x, &second[start * words..end * words], out);
                }
            }
        }
    }

    fn pack(&self, group: &Group, rows: Range<usize>) -> Vec<u64> {
        let words = rows.len().div_ceil(64);
        let mut planes = vec![0; words * group.starts[group.columns.len()]];
        for (column, w) in self.columns[group.columns.clone()].iter().zip(group.starts.windows(2)) {
            let planes = &mut planes[w[0] * words..w[1] * words];
            pack_planes(&column.codes[rows.clone()], column.n_planes(), planes);
        }
        planes
    }

    /// The table `n(c, a, b)` of columns `i < j`. The last state of a complete column is what the others
    /// leave of the partner's own counts.
    fn table(&self, common: &[u64], (i, n_i): (usize, &[f64]), (j, n_j): (usize, &[f64])) -> Vec<f64> {
        let (ci, cj) = (&self.columns[i], &self.columns[j]);
        let (r_i, r_j) = (ci.r, cj.r);
        let (p_i, p_j) = (ci.n_planes(), cj.n_planes());
        let first = self.first.starts[i - self.first.columns.start];
        let second = self.second.starts[j - self.second.columns.start];
        let mut table = vec![0.0; self.k * r_i * r_j];
        for (c, slice) in table.chunks_exact_mut(r_i * r_j).enumerate() {
            for a in 0..p_i {
                let from = (c * self.n_first() + first + a) * self.n_second() + second;
                let counts = &common[from..from + p_j];
                let row = &mut slice[a * r_j..(a + 1) * r_j];
                row.iter_mut().zip(counts).for_each(|(t, &n)| *t = n as f64);
                if cj.complete {
                    row[r_j - 1] = n_i[c * r_i + a] - counts.iter().sum::<u64>() as f64;
                }
            }
            if ci.complete {
                let (others, last) = slice.split_at_mut((r_i - 1) * r_j);
                last.copy_from_slice(&n_j[c * r_j..(c + 1) * r_j]);
                for row in others.chunks_exact(r_j) {
                    last.iter_mut().zip(row).for_each(|(t, n)| *t -= n);
                }
            }
        }
        table
    }
}

fn plane_starts(columns: &[Narrow<'_>]) -> Vec<usize> {
    let mut starts = vec![0];
    for column in columns {
        starts.push(starts[starts.len() - 1] + column.n_planes());
    }
    starts
}
