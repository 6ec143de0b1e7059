//! The Newton matrix `∇²L + Bᵀ E B` of the interior-point method, factorised over the class-dependent cells
//! or, where there are fewer of them, over the rows and their competitors:
//!
//! ```text
//! dw = H⁺ (g − Bᵀ f),   (E⁻¹ + B H⁺ Bᵀ) f = B H⁺ g
//! ```
//!
//! H⁺ inverts ∇²L on consistent changes of the counts and is simple: `dw_{j|h} = g_{j|h}/e_{j|h} − Σ_j g_{j|h}/e_h`.

use super::interior_rows::{Linear, row_couplings};
use crate::margin::problem::{Expansion, LossRows, MarginRows, Problem};
use hingenet_base::numeric::linalg::{Cholesky, Matrix};
use hingenet_base::numeric::sum::add_into;
use rayon::prelude::*;

/// Relative ridge on the diagonal.
const RIDGE: f64 = 1e-11;

/// Part of the smallest expected count below which the curvature of a row's loss is left out of the matrix
/// (not of its right-hand side): the step is then inexact by as little.
const NEGLIGIBLE: f64 = 1e-8;

/// Fewest cells for which the system over the rows is taken: it loses digits where more rows sit at the kink of
/// a plain hinge than the tables have parameters, and small systems are solved in no time anyway.
const MANY_CELLS: usize = 300;

/// Both forms of the Newton system of one problem.
pub(super) struct Systems<'a> {
    problem: &'a Problem,
    /// Table row of each class-dependent cell.
    table_rows: Vec<u32>,
    /// Whether the system over the rows is the smaller one.
    fewer_rows: bool,
}

/// A factorised Newton matrix.
pub(super) enum Factor {
    /// Over the class-dependent cells.
    Cells(Cholesky),
    /// Over rows and competitors, with the reciprocal weights of H⁺ for cells and table rows.
    Rows {
        /// Factor of `E⁻¹ + B H⁺ Bᵀ`.
        factor: Cholesky,
        /// 1/e of each cell.
        cells: Vec<f64>,
        /// 1/e of each table row.
        table_rows: Vec<f64>,
    },
}

/// Multiplications of one step over the cells, and over the rows.
pub(super) fn step_work(problem: &Problem) -> (f64, f64) {
    let (len, k) = (problem.rows.len() as f64, problem.rows.n_classes() as f64);
    let slots = problem.rows.n_slots() as f64;
    let cells = (problem.rows.n_cells() as f64).powi(3) / 3.0 + len * (slots * k).powi(2) / 2.0;
    let pairs = len * (k - 1.0);
    (cells, pairs.powi(3) / 3.0 + len * len * slots * k)
}

impl<'a> Systems<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let (cells, rows) = step_work(problem);
        let fewer_rows = rows < 0.5 * cells && problem.rows.n_cells() >= MANY_CELLS;
        let table_rows = problem.likelihood.rows_of(problem.rows.entries());
        Systems { problem, table_rows, fewer_rows }
    }

    /// Factorises at an expansion, with the step weights that lead to the tilted counts `q` if they are
    /// given, and as little ridge as it needs.
    pub fn factorise(&self, at: &Expansion, q: Option<&[f64]>, linear: &Linear) -> Option<Factor> {
        if self.fewer_rows {
            let (entries, totals) = self.problem.likelihood.inverse_weights(at, q.unwrap_or(&at.expected));
            let reciprocal = |x: f64| 1.0 / x.max(f64::MIN_POSITIVE);
            let cells: Vec<f64> = self.problem.rows.gather(&entries).into_iter().map(reciprocal).collect();
            let totals: Vec<f64> = totals.into_iter().map(reciprocal).collect();
            let factor = cholesky(self.over_rows(&cells, &totals, linear))?;
            return Some(Factor::Rows { factor, cells, table_rows: totals });
        }
        let between = q.map(|q| self.problem.likelihood.between(at, q));
        let at = between.as_ref().unwrap_or(at);
        let active = self.active(at, linear);
        let couplings = row_couplings(self.problem, linear, &active);
        cholesky(self.over_cells(at, &active, &couplings)).map(Factor::Cells)
    }

    /// Replaces the right-hand side over the class-dependent cells by the solution.
    pub fn solve(&self, factor: &Factor, g: &mut [f64]) {
        match factor {
            Factor::Cells(factor) => factor.solve(g),
            Factor::Rows { factor, cells, table_rows } => {
                let mut u = g.to_vec();
                self.inverse(cells, table_rows, &mut u);
                let (len, k) = (self.problem.rows.len(), self.problem.rows.n_classes());
                let mut f = Vec::with_capacity(len * (k - 1));
                let mut change = vec![0.0; k];
                for m in 0..len {
                    self.problem.margins(m, &u, &mut change);
                    f.extend(self.competitors(m).map(|c| change[c]));
                }
                factor.solve(&mut f);
                let mut spread = vec![0.0; len * k];
                let mut next = f.iter();
                for m in 0..len {
                    for c in self.competitors(m) {
                        spread[m * k + c] = next.next().copied().unwrap_or(0.0);
                    }
                }
                let back = self.problem.rows.tilt(&spread);
                g.iter_mut().zip(&back).for_each(|(g, b)| *g -= b);
                self.inverse(cells, table_rows, g);
            }
        }
    }

    fn competitors(&self, m: usize) -> impl Iterator<Item = usize> + Clone {
        let own = self.problem.rows.class(m);
        (0..self.problem.rows.n_classes()).filter(move |&c| c != own)
    }

    /// H⁺ in place.
    fn inverse(&self, cells: &[f64], totals: &[f64], g: &mut [f64]) {
        let mut sums = vec![0.0; totals.len()];
        g.iter().zip(&self.table_rows).for_each(|(g, &r)| sums[r as usize] += g);
        sums.iter_mut().zip(totals).for_each(|(s, t)| *s *= t);
        for ((g, x), &r) in g.iter_mut().zip(cells).zip(&self.table_rows) {
            *g = *g * x - sums[r as usize];
        }
    }

    /// Lower triangle of `E⁻¹ + B H⁺ Bᵀ`.
    ///
    /// `(φ_{c_m} − φ_c) H⁺ (φ_{c_m'} − φ_c')` needs for each class the sum T_c over the nodes of
    /// `[same cell]/e_cell − [same table row]/e_row` only: table rows of different classes are different,
    /// and the class node's own row cancels.
    fn over_rows(&self, cells: &[f64], totals: &[f64], linear: &Linear) -> Matrix {
        let table_rows = &self.table_rows;
        let (rows, k) = (&self.problem.rows, self.problem.rows.n_classes());
        let size = rows.len() * (k - 1);
        let mut matrix = Matrix::zeros(size, size);
        matrix.data_mut().par_chunks_mut(size * (k - 1)).enumerate().for_each(|(m, lines)| {
            let (own, groups) = (rows.class(m), rows.groups(m));
            let mut t = vec![0.0; k];
            for other in 0..=m {
                t.fill(0.0);
                for (slot, (&g, &h)) in groups.iter().zip(rows.groups(other)).enumerate() {
                    let (g, h) = (g as usize * k, h as usize * k);
                    if g == h {
                        t.iter_mut().zip(&cells[g..g + k]).for_each(|(t, x)| *t += x);
                    }
                    if slot > 0 && table_rows[g] == table_rows[h] {
                        let of_class = table_rows[g..g + k].iter().map(|&r| totals[r as usize]);
                        t.iter_mut().zip(of_class).for_each(|(t, x)| *t -= x);
                    }
                }
                let own_other = rows.class(other);
                let same = if own == own_other { t[own] } else { 0.0 };
                for (line, c) in lines.chunks_exact_mut(size).zip(self.competitors(m)) {
                    let line = &mut line[other * (k - 1)..(other + 1) * (k - 1)];
                    for (x, d) in line.iter_mut().zip(self.competitors(other)) {
                        let crossed =
                            if d == own { t[own] } else { 0.0 } + if c == own_other { t[c] } else { 0.0 };
                        *x = same - crossed + if c == d { t[c] } else { 0.0 };
                    }
                }
            }
            // E⁻¹ = diag(1/t) + k/(1 − k Σt) 11ᵀ.
            let bend = linear.k[m] / linear.open[m];
            for (at, (line, c)) in lines.chunks_exact_mut(size).zip(self.competitors(m)).enumerate() {
                let line = &mut line[m * (k - 1)..(m + 1) * (k - 1)];
                line.iter_mut().for_each(|x| *x += bend);
                line[at] += 1.0 / linear.t[m * k + c].max(f64::MIN_POSITIVE);
            }
        });
        matrix
    }

    /// Rows whose E is not negligible beside the curvature of the likelihood: late in a run those at the kink of
    /// their hinge.
    fn active(&self, expansion: &Expansion, linear: &Linear) -> Vec<usize> {
        let k = self.problem.rows.n_classes();
        let cells = self.problem.rows.gather(&expansion.expected);
        let least = NEGLIGIBLE * cells.iter().fold(f64::INFINITY, |m, e| m.min(*e));
        // The trace of E: rows with two tied competitors may have a small Σ E but a large E.
        let size = |m: usize| {
            let t = &linear.t[m * k..(m + 1) * k];
            let total: f64 = t.iter().sum();
            t.iter().map(|x| x * (linear.open[m] + linear.k[m] * (total - x))).sum::<f64>()
        };
        (0..self.problem.rows.len()).filter(|&m| size(m) > least).collect()
    }

    /// Factorises over the cells at an expansion, for given rows and the second derivatives of their losses.
    pub fn factorise_cells(&self, at: &Expansion, rows: &[usize], couplings: &[f64]) -> Option<Factor> {
        cholesky(self.over_cells(at, rows, couplings)).map(Factor::Cells)
    }

    /// Lower triangle of `∇²L + G + Bᵀ E B`; each slot owns its rows of the matrix. The flat gauge directions,
    /// along which w changes and the distribution does not, get the curvature `G = Σ_h u_h p_h p_hᵀ` over the
    /// table rows: the step is then the one that keeps w normalised to first order, and no other is changed.
    fn over_cells(&self, expansion: &Expansion, active: &[usize], couplings: &[f64]) -> Matrix {
        let (rows, k) = (&self.problem.rows, self.problem.rows.n_classes());
        let size = rows.n_cells();
        let entries = rows.entries();
        let mut matrix = Matrix::zeros(size, size);
        matrix.data_mut().par_chunks_mut(size).enumerate().for_each(|(j, line)| {
            let mut unit = vec![0.0; self.problem.likelihood.counts().len()];
            unit[entries[j] as usize] = 1.0;
            let mut out = vec![0.0; unit.len()];
            self.problem.likelihood.add_hessian_product(expansion, &unit, &mut out);
            let (row, p) = (self.table_rows[j], &expansion.p);
            let gauge = expansion.u[row as usize] * p[entries[j] as usize];
            for ((x, &e), &r) in line.iter_mut().zip(entries).zip(&self.table_rows) {
                *x = out[e as usize] + if r == row { gauge * p[e as usize] } else { 0.0 };
            }
        });
        let bounds = rows.slot_groups();
        let mut owned = Vec::with_capacity(rows.n_slots());
        let mut rest = matrix.data_mut();
        for slot in 0..rows.n_slots() {
            let (own, tail) = rest.split_at_mut((bounds[slot + 1] - bounds[slot]) * k * size);
            owned.push(own);
            rest = tail;
        }
        owned.into_par_iter().enumerate().for_each(|(slot, lines)| {
            let pairs = k * (k - 1) / 2;
            // The compiler makes something of numbers that it knows.
            let sums = match pairs {
                1 => sum_pairs(1, rows, couplings, active, slot),
                3 => sum_pairs(3, rows, couplings, active, slot),
                6 => sum_pairs(6, rows, couplings, active, slot),
                _ => sum_pairs(pairs, rows, couplings, active, slot),
            };
            let width = bounds[slot + 1];
            for (at, sum) in sums.chunks_exact(pairs).enumerate() {
                add_couplings(sum, k, &mut lines[at / width * k * size + at % width * k..], size);
            }
        });
        matrix
    }
}

/// Sums of the rows' couplings, one for each pair of classes, for every group of one slot (outer) and every group up to
/// that slot (inner).
#[inline(always)]
fn sum_pairs(pairs: usize, rows: &MarginRows, couplings: &[f64], active: &[usize], slot: usize) -> Vec<f64> {
    let bounds = rows.slot_groups();
    let (first, width) = (bounds[slot], bounds[slot + 1]);
    let mut sums = vec![0.0; (width - first) * width * pairs];
    for (&m, coupling) in active.iter().zip(couplings.chunks_exact(pairs)) {
        let groups = rows.groups(m);
        let base = (groups[slot] as usize - first) * width;
        for &g in &groups[..=slot] {
            let at = (base + g as usize) * pairs;
            add_into(&mut sums[at..at + pairs], coupling);
        }
    }
    sums
}

/// Adds the K × K matrix with the given entries right of its diagonal, symmetric, its lines adding up to 0.
fn add_couplings(right: &[f64], k: usize, lines: &mut [f64], size: usize) {
    let pairs = (0..k).flat_map(|c| (c + 1..k).map(move |d| (c, d)));
    for (x, (c, d)) in right.iter().zip(pairs) {
        lines[c * size + d] += x;
        lines[d * size + c] += x;
        lines[c * size + c] -= x;
        lines[d * size + d] -= x;
    }
}

/// Cholesky factor with as little ridge as it needs.
fn cholesky(mut matrix: Matrix) -> Option<Cholesky> {
    let mut ridge = RIDGE;
    for _ in 0..10 {
        for j in 0..matrix.rows() {
            matrix[(j, j)] *= 1.0 + ridge;
        }
        if let Ok(factor) = Cholesky::new(&matrix) {
            return Some(factor);
        }
        ridge *= 30.0;
    }
    None
}
