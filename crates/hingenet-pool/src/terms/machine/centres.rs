//! The support rows of term K as its kernel meets them. The kernel is a product over the features,
//! `exp(−Σ_j D_j) = Π_j exp(−D_j)`, and most features have few different values among the support rows: their factors are
//! computed once for each value and looked up. The points of a [`Panel`], completions of one query, are the lanes of
//! vectors; what they have in common is computed once for all of them.

use super::kernel::{Kernel, Side};
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::simd::{exp_in_place, fused_exp, vectorised};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ops::Range;

/// Most points of a panel: ten completions and two to spare, three vectors of four lanes.
pub(crate) const PANEL: usize = 12;
/// A feature is coded where its different values are at most this many, or one for so many support rows.
const FEW_VALUES: usize = 16;
const ROWS_PER_VALUE: usize = 8;
/// Codes are 16 bits wide.
const MOST_VALUES: usize = 1 << 16;
/// Most entries of a table for several features: 48 kB of a panel, which stay near the processor.
const MOST_ENTRIES: usize = 512;

/// Points whose kernels are computed together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panel<'a> {
    /// At most [`PANEL`] points, one after the other.
    pub(crate) points: &'a [f64],
    /// Their number, which no coordinates tell where there are none: a category that is always missing has no state.
    pub(crate) count: usize,
    /// Features that have the same cells in all points; `None`: there need not be any.
    pub(crate) shared: Option<&'a [bool]>,
    /// The training row that all points come from and that must not have been used.
    pub(crate) own: Option<usize>,
}

/// The support rows, feature by feature, and their coefficients without zeros.
#[derive(Debug, Clone)]
pub(crate) struct Centres {
    len: usize,
    n_machines: usize,
    features: Vec<Feature>,
    /// Machine and coefficient of every coefficient that is not 0, and where those of each row begin.
    entries: Vec<(u32, f64)>,
    starts: Vec<usize>,
    /// `Σ β` of each machine: the part of the kernel that is 1.
    totals: Vec<f64>,
}

/// One feature of the support rows, in the coordinates of the kernel.
#[derive(Debug, Clone)]
struct Feature {
    number: usize,
    columns: Range<usize>,
    cells: Cells,
}

#[derive(Debug, Clone)]
enum Cells {
    /// The different values, and which of them each row has.
    Coded { codes: Vec<u16>, values: Vec<Value> },
    /// Column by column.
    Plain(Vec<Vec<f64>>),
}

/// One value of a coded feature.
#[derive(Debug, Clone)]
struct Value {
    /// Columns (from the first of the feature) that are not 0.
    filled: Vec<(usize, f64)>,
    /// `|v|²`.
    square: f64,
}

/// Working space: kernels of a panel with all support rows, for what needs each of them.
pub(crate) struct PanelKernels<const L: usize> {
    /// `exp(−Σ D)`, without the 1.
    pub(crate) kernels: Vec<[f64; L]>,
    /// `f`, machine by machine.
    pub(crate) values: Vec<[f64; L]>,
}

impl Centres {
    /// From points made ready for the right side of a kernel block; `groups` are the columns of the features.
    pub(crate) fn new(points: &Side, groups: &[Range<usize>], coefficients: &Matrix) -> Self {
        let len = points.len();
        let most = (len / ROWS_PER_VALUE).clamp(FEW_VALUES, MOST_VALUES);
        let feature = |(number, columns): (usize, &Range<usize>)| {
            let column = |a: usize| (0..len).map(|s| scaled(points, s, a)).collect();
            let plain = || Cells::Plain(columns.clone().map(column).collect());
            let cells = coded(points, columns, most).unwrap_or_else(plain);
            Feature { number, columns: columns.clone(), cells }
        };
        let filled = groups.iter().enumerate().filter(|(_, columns)| !columns.is_empty());
        let features: Vec<Feature> = filled.map(feature).collect();
        let n_machines = coefficients.cols();
        let mut entries = Vec::new();
        let mut starts = vec![0];
        for s in 0..len {
            let row = coefficients.row(s).iter().enumerate();
            entries.extend(row.filter(|(_, b)| **b != 0.0).map(|(m, b)| (m as u32, *b)));
            starts.push(entries.len());
        }
        let totals = (0..n_machines).map(|m| coefficients.col(m).iter().sum()).collect();
        Centres { len, n_machines, features, entries, starts, totals }
    }

    /// `f` of the points of a panel, one row per point and one column per machine; `correction` may change the values by
    /// way of the kernels.
    pub(crate) fn values(&self, kernel: &Kernel, panel: &Panel, correction: &impl Correct) -> Matrix {
        match panel.count {
            ..=1 => self.lanes::<1>(kernel, panel, correction),
            2..=4 => self.lanes::<4>(kernel, panel, correction),
            5..=8 => self.lanes::<8>(kernel, panel, correction),
            _ => self.lanes::<PANEL>(kernel, panel, correction),
        }
    }

    fn lanes<const L: usize>(&self, kernel: &Kernel, panel: &Panel, correction: &impl Correct) -> Matrix {
        let mut work = PanelKernels { kernels: Vec::new(), values: vec![[0.0; L]; self.n_machines] };
        let keep = panel.own.is_some_and(|own| correction.concerns(own));
        self.add_up(&Factors::<L>::new(self, kernel, panel), keep, &mut work);
        if let Some(own) = panel.own.filter(|_| keep) {
            correction.correct(own, &mut work);
        }
        Matrix::from_fn(panel.count, self.n_machines, |l, m| self.totals[m] + work.values[m][l])
    }

    /// Kernels of all support rows times their coefficients.
    fn add_up<const L: usize>(&self, factors: &Factors<L>, keep: bool, work: &mut PanelKernels<L>) {
        vectorised(
            #[inline(always)]
            || {
                for s in 0..self.len {
                    let mut k = [factors.common[s]; L];
                    for lookup in &factors.lookups {
                        let factor = &lookup.table[lookup.codes[s] as usize];
                        for l in 0..L {
                            k[l] *= factor[l];
                        }
                    }
                    if !factors.plain.is_empty() {
                        let mut d = [0.0; L];
                        for (column, z) in &factors.plain {
                            let v = column[s];
                            for l in 0..L {
                                let off = z[l] - v;
                                d[l] = off.mul_add(off, d[l]);
                            }
                        }
                        for l in 0..L {
                            k[l] *= fused_exp(-d[l]);
                        }
                    }
                    for &(m, beta) in &self.entries[self.starts[s]..self.starts[s + 1]] {
                        let out = &mut work.values[m as usize];
                        for l in 0..L {
                            out[l] = beta.mul_add(k[l], out[l]);
                        }
                    }
                    if keep {
                        work.kernels.push(k);
                    }
                }
            },
        );
    }
}

/// What changes the values of points that come from a training row.
pub(crate) trait Correct {
    /// Whether anything changes without this row.
    fn concerns(&self, own: usize) -> bool;
    /// Changes the values, given the kernels.
    fn correct<const L: usize>(&self, own: usize, work: &mut PanelKernels<L>);
}

/// Nothing changes.
pub(crate) struct Unchanged;

impl Correct for Unchanged {
    fn concerns(&self, _: usize) -> bool {
        false
    }

    fn correct<const L: usize>(&self, _: usize, _: &mut PanelKernels<L>) {}
}

/// The factors of the kernel for one panel.
struct Factors<'a, const L: usize> {
    /// `exp(−Σ D)` over the shared features, for every support row.
    common: Vec<f64>,
    /// Those of the other coded features.
    lookups: Vec<Lookup<'a, L>>,
    /// Other columns: support rows and points.
    plain: Vec<(&'a [f64], [f64; L])>,
}

/// `exp(−D)` of every value of a feature, or of every pair of values of two, and so on; and which of them each row has.
struct Lookup<'a, const L: usize> {
    codes: Cow<'a, [u16]>,
    table: Vec<[f64; L]>,
}

impl<'a, const L: usize> Lookup<'a, L> {
    /// One table in place of two.
    fn merged(self, other: Self) -> Self {
        let n = other.table.len() as u16;
        let codes = self.codes.iter().zip(other.codes.iter()).map(|(a, b)| a * n + b).collect();
        let pair = |a: &[f64; L], b: &[f64; L]| std::array::from_fn(|l| a[l] * b[l]);
        let table = self.table.iter().flat_map(|a| other.table.iter().map(move |b| pair(a, b))).collect();
        Lookup { codes: Cow::Owned(codes), table }
    }

    /// Fewer and larger tables with the same products.
    fn joined(mut lookups: Vec<Self>) -> Vec<Self> {
        lookups.sort_by_key(|lookup| lookup.table.len());
        let mut joined: Vec<Self> = Vec::with_capacity(lookups.len());
        for lookup in lookups {
            match joined.pop() {
                Some(last) if last.table.len() * lookup.table.len() <= MOST_ENTRIES => {
                    joined.push(last.merged(lookup));
                }
                Some(last) => joined.extend([last, lookup]),
                None => joined.push(lookup),
            }
        }
        joined
    }
}

impl<'a, const L: usize> Factors<'a, L> {
    fn new(centres: &'a Centres, kernel: &Kernel, panel: &Panel) -> Self {
        let p = kernel.roots.len();
        let point = |l: usize, a: usize| kernel.roots[a] * panel.points[l * p + a];
        // lanes without a point repeat the last one
        let lanes =
            |a: usize| -> [f64; L] { std::array::from_fn(|l| point(l.min(panel.count.max(1) - 1), a)) };
        let (mut lookups, mut shared_lookups) = (Vec::new(), Vec::new());
        let (mut plain, mut shared_plain) = (Vec::new(), Vec::new());
        for Feature { number, columns, cells } in &centres.features {
            let is_shared = panel.shared.is_some_and(|shared| shared[*number]);
            match cells {
                Cells::Plain(of_rows) => {
                    let columns = columns.clone().zip(of_rows);
                    if is_shared {
                        shared_plain.extend(columns.map(|(a, column)| (column, point(0, a))));
                    } else {
                        plain.extend(columns.map(|(a, column)| (column.as_slice(), lanes(a))));
                    }
                }
                Cells::Coded { codes, values } => {
                    let codes = Cow::Borrowed(codes.as_slice());
                    if is_shared {
                        let cells: Vec<[f64; 1]> = columns.clone().map(|a| [point(0, a)]).collect();
                        shared_lookups.push(Lookup { codes, table: factors_of(&cells, values) });
                    } else {
                        let cells: Vec<[f64; L]> = columns.clone().map(lanes).collect();
                        lookups.push(Lookup { codes, table: factors_of(&cells, values) });
                    }
                }
            }
        }
        let common = common_factors(centres.len, &shared_plain, Lookup::joined(shared_lookups));
        Factors { common, lookups: Lookup::joined(lookups), plain }
    }
}

/// `exp(−Σ D)` over columns and coded features in which all points are one.
fn common_factors(len: usize, plain: &[(&Vec<f64>, f64)], lookups: Vec<Lookup<1>>) -> Vec<f64> {
    let mut common = vec![if plain.is_empty() { 1.0 } else { 0.0 }; len];
    if !plain.is_empty() {
        plain.iter().for_each(|(column, x)| subtract_squares(&mut common, column, *x));
        exp_in_place(&mut common);
    }
    for Lookup { codes, table } in lookups {
        common.iter_mut().zip(codes.iter()).for_each(|(common, code)| *common *= table[*code as usize][0]);
    }
    common
}

/// `exp(−|z − v|²)` of points, whose columns are given, and of every value: `|z|² − 2 z v + |v|²` over the columns that v
/// fills, `(z − v)²` where there is one column only.
fn factors_of<const L: usize>(cells: &[[f64; L]], values: &[Value]) -> Vec<[f64; L]> {
    let mut square = [0.0; L];
    cells.iter().for_each(|z| (0..L).for_each(|l| square[l] += z[l] * z[l]));
    let mut factors: Vec<[f64; L]> = Vec::with_capacity(values.len());
    for value in values {
        let mut d = [0.0; L];
        match (cells, value.filled.as_slice()) {
            ([z], filled) => {
                let v = filled.first().map_or(0.0, |(_, v)| *v);
                (0..L).for_each(|l| d[l] = -(z[l] - v).powi(2));
            }
            (_, filled) => {
                (0..L).for_each(|l| d[l] = -(square[l] + value.square));
                for (a, v) in filled {
                    (0..L).for_each(|l| d[l] += 2.0 * v * cells[*a][l]);
                }
                d.iter_mut().for_each(|d| *d = d.min(0.0));
            }
        }
        factors.push(d);
    }
    exp_in_place(factors.as_flattened_mut());
    factors
}

/// `out −= (x − t)²`.
fn subtract_squares(out: &mut [f64], t: &[f64], x: f64) {
    vectorised(
        #[inline(always)]
        || {
            for (o, t) in out.iter_mut().zip(t) {
                let off = x - t;
                *o = (-off).mul_add(off, *o);
            }
        },
    );
}

/// Column `a` of support row `s` in the coordinates of the kernel.
fn scaled(points: &Side, s: usize, a: usize) -> f64 {
    points.0[(s, a)] * std::f64::consts::FRAC_1_SQRT_2
}

/// A feature by its values; `None` if it has more than `most`.
fn coded(points: &Side, columns: &Range<usize>, most: usize) -> Option<Cells> {
    let mut known: FxHashMap<Vec<u64>, u16> = FxHashMap::default();
    let mut values = Vec::new();
    let mut codes = Vec::with_capacity(points.len());
    for s in 0..points.len() {
        let cells: Vec<f64> = columns.clone().map(|a| scaled(points, s, a)).collect();
        let bits = cells.iter().map(|v| v.to_bits()).collect();
        let code = match known.get(&bits) {
            Some(code) => *code,
            None if values.len() == most => return None,
            None => {
                let filled = cells.iter().copied().enumerate().filter(|(_, v)| *v != 0.0).collect();
                values.push(Value { filled, square: dot(&cells, &cells) });
                *known.entry(bits).or_insert((values.len() - 1) as u16)
            }
        };
        codes.push(code);
    }
    Some(Cells::Coded { codes, values })
}
