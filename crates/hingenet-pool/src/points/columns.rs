//! Training points column by column, and their squared distances from a query over the features it observes. Numbers
//! are columns; categories are codes, which cost one comparison where indicator columns cost a product each.

use super::prototypes::Prototypes;
use super::{Encoded, Encoding, Scale};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::simd::{ln, vectorised};
use std::ops::Range;

/// Stands for a missing code. Points have at most 3000 columns, so every code is smaller.
const NO_CODE: u16 = u16::MAX;
/// Rows whose distances are added up together: 8 kB, which stay in the first cache.
const TILE: usize = 1024;
/// Squared height of an indicator.
const SQUARED_HEIGHT: f64 = 0.5;

/// The points.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    features: Vec<Feature>,
    groups: Vec<Range<usize>>,
    len: usize,
}

/// One feature of all points. What a missing cell stands for is the distribution of the feature in the class of its row:
/// the distance is the expected one.
#[derive(Debug, Clone)]
enum Feature {
    /// Means of the cells; and their variances, where cells are missing (0 for the others).
    Number { means: Vec<f64>, variances: Option<Vec<f64>> },
    /// Codes of the cells; and which are missing, if any are.
    Levels { codes: Vec<u16>, gaps: Option<Gaps> },
    /// Means and variances of prototypes.
    Spread { means: Vec<f64>, variances: Vec<f64> },
    /// Shares of the levels in prototypes, level by level.
    Shares(Vec<Vec<f64>>),
}

/// Missing categories of a feature.
#[derive(Debug, Clone)]
struct Gaps {
    /// Rows that lack the feature, ascending, with their classes.
    rows: Vec<(usize, usize)>,
    /// Share of every level in every class.
    shares: Matrix,
}

impl Gaps {
    /// A missing category is the query's level with the share of the class: `D = 1 − share`, of which the 1 is there.
    fn subtract_shares(&self, out: &mut [f64], level: usize, weight: f64, rows: &Range<usize>) {
        let first = self.rows.partition_point(|(i, _)| *i < rows.start);
        for (i, class) in self.rows[first..].iter().take_while(|(i, _)| *i < rows.end) {
            out[i - rows.start] -= weight * self.shares[(*class, level)];
        }
    }
}

impl Columns {
    /// Encoded rows, sorted by class, with their weights.
    pub(crate) fn new(
        encoding: &Encoding,
        encoded: &Encoded,
        weight: &[f64],
        classes: Vec<Range<usize>>,
    ) -> Self {
        let feature = |(j, scale): (usize, &Scale)| {
            let moments = ClassMeans { encoding, encoded, weight, classes: &classes, feature: j };
            match scale {
                Scale::Number { .. } => moments.number(),
                Scale::Levels { .. } => moments.levels(),
            }
        };
        let features = encoding.scales.iter().enumerate().map(feature).collect();
        Columns { features, groups: encoding.groups.clone(), len: encoded.len() }
    }

    /// Prototypes. Their kernels are means over what they stand for, `D = −2 ln E[exp(−½ λ D_j)]`: of a normal number with
    /// mean m and variance v, `λ (x − m)²/(1 + λ v) + ln(1 + λ v)`; of a category, `−2 ln(share + (1 − share) e^(−λ/2))`.
    pub(crate) fn of_prototypes(encoding: &Encoding, prototypes: &Prototypes) -> Self {
        let feature = |(j, scale): (usize, &Scale)| match scale {
            Scale::Number { .. } => Feature::Spread {
                means: prototypes.means.col(encoding.groups[j].start),
                variances: prototypes.variances.col(j),
            },
            Scale::Levels { .. } => {
                let share = |mean: f64| (mean / SQUARED_HEIGHT.sqrt()).clamp(0.0, 1.0);
                let of_level = |a: usize| prototypes.means.col(a).into_iter().map(share).collect();
                Feature::Shares(encoding.groups[j].clone().map(of_level).collect())
            }
        };
        Columns {
            features: encoding.scales.iter().enumerate().map(feature).collect(),
            groups: encoding.groups.clone(),
            len: prototypes.len(),
        }
    }

    /// Distances `Σ_{j∈o} λ_j D_j` of queries to all rows, one line per query; `scale` times for each query. Tile by tile
    /// of the rows, so that the columns of a tile are fetched once for all queries.
    pub(crate) fn distances(
        &self,
        queries: &Encoded,
        rows: &[usize],
        metric: &[f64],
        scale: impl Fn(usize) -> f64,
    ) -> Matrix {
        let mut distances = Matrix::zeros(rows.len(), self.len);
        let scales: Vec<f64> = rows.iter().map(|&i| scale(i)).collect();
        for start in (0..self.len).step_by(TILE) {
            let tile = start..(start + TILE).min(self.len);
            for (r, (&i, scale)) in rows.iter().zip(&scales).enumerate() {
                let out = &mut distances.row_mut(r)[tile.clone()];
                let observed = queries.pattern(i).iter().enumerate().filter(|(_, observed)| **observed);
                let mut waiting = None;
                for (j, _) in observed {
                    let cells = &queries.values.row(i)[self.groups[j].clone()];
                    let weight = scale * metric[j];
                    let Feature::Number { means, variances: None } = &self.features[j] else {
                        self.add(j, cells, weight, tile.clone(), out);
                        continue;
                    };
                    // columns of numbers go two by two, which halves the way through the sums
                    let one = (&means[tile.clone()], cells[0], weight);
                    match waiting.take() {
                        None => waiting = Some(one),
                        Some(other) => add_two(out, other, one),
                    }
                }
                if let Some((t, x, weight)) = waiting {
                    add_squares(out, t, x, weight);
                }
            }
        }
        distances
    }

    /// Adds `weight · D_j` of a query cell to the distances of some rows.
    fn add(&self, feature: usize, cells: &[f64], weight: f64, rows: Range<usize>, out: &mut [f64]) {
        match &self.features[feature] {
            Feature::Number { means, variances } => {
                add_squares(out, &means[rows.clone()], cells[0], weight);
                if let Some(variances) = variances {
                    add_scaled(out, &variances[rows], weight);
                }
            }
            Feature::Levels { codes, gaps } => {
                let Some(level) = cells.iter().position(|e| *e != 0.0) else { return };
                add_different(out, &codes[rows.clone()], level as u16, weight);
                if let Some(gaps) = gaps {
                    gaps.subtract_shares(out, level, weight, &rows);
                }
            }
            Feature::Spread { means, variances } => {
                add_spread(out, &means[rows.clone()], &variances[rows], cells[0], weight);
            }
            Feature::Shares(levels) => {
                let Some(level) = cells.iter().position(|e| *e != 0.0) else { return };
                add_shares(out, &levels[level][rows], weight);
            }
        }
    }
}

/// `out += weight (x − t)²`.
fn add_squares(out: &mut [f64], t: &[f64], x: f64, weight: f64) {
    vectorised(
        #[inline(always)]
        || {
            for (o, t) in out.iter_mut().zip(t) {
                let off = x - t;
                *o = (weight * off).mul_add(off, *o);
            }
        },
    );
}

/// The same for two columns, each with the query's cell and weight.
fn add_two(out: &mut [f64], (t, x, v): (&[f64], f64, f64), (u, y, w): (&[f64], f64, f64)) {
    vectorised(
        #[inline(always)]
        || {
            for ((o, t), u) in out.iter_mut().zip(t).zip(u) {
                let (a, b) = (x - t, y - u);
                *o = (v * a).mul_add(a, (w * b).mul_add(b, *o));
            }
        },
    );
}

/// `out += weight (x − m)²/(1 + weight v) + ln(1 + weight v)`.
fn add_spread(out: &mut [f64], means: &[f64], variances: &[f64], x: f64, weight: f64) {
    vectorised(
        #[inline(always)]
        || {
            for ((o, m), v) in out.iter_mut().zip(means).zip(variances) {
                let (off, widened) = (x - m, 1.0 + weight * v);
                *o += weight * off * off / widened + ln(widened);
            }
        },
    );
}

/// `out −= 2 ln(share + (1 − share) e^(−weight/2))`.
fn add_shares(out: &mut [f64], shares: &[f64], weight: f64) {
    let other = (-0.5 * weight).exp().max(f64::MIN_POSITIVE);
    vectorised(
        #[inline(always)]
        || out.iter_mut().zip(shares).for_each(|(o, s)| *o -= 2.0 * ln(s + (1.0 - s) * other)),
    );
}

/// `out += weight v`.
fn add_scaled(out: &mut [f64], v: &[f64], weight: f64) {
    vectorised(
        #[inline(always)]
        || out.iter_mut().zip(v).for_each(|(o, v)| *o = weight.mul_add(*v, *o)),
    );
}

/// `out += weight` where the code is another.
fn add_different(out: &mut [f64], codes: &[u16], level: u16, weight: f64) {
    vectorised(
        #[inline(always)]
        || out.iter_mut().zip(codes).for_each(|(o, code)| *o += if *code == level { 0.0 } else { weight }),
    );
}

/// Means of one feature in the classes, for its missing cells; those of all rows for a class that never observes it.
struct ClassMeans<'a> {
    encoding: &'a Encoding,
    encoded: &'a Encoded,
    weight: &'a [f64],
    classes: &'a [Range<usize>],
    feature: usize,
}

impl ClassMeans<'_> {
    fn is_observed(&self, i: usize) -> bool {
        self.encoded.pattern(i)[self.feature]
    }

    fn has_gaps(&self) -> bool {
        !(0..self.encoded.len()).all(|i| self.is_observed(i))
    }

    /// Weighted mean of `of(row)` over the observed cells of each class.
    fn of_classes(&self, of: impl Fn(usize) -> f64) -> Vec<f64> {
        let sums = |rows: Range<usize>| {
            rows.filter(|&i| self.is_observed(i))
                .fold((0.0, 0.0), |(total, sum), i| (total + self.weight[i], sum + self.weight[i] * of(i)))
        };
        let mean = |(total, sum): (f64, f64)| sum / total.max(f64::MIN_POSITIVE);
        let all = mean(sums(0..self.encoded.len()));
        let of_class = |class: &Range<usize>| Some(sums(class.clone())).filter(|(total, _)| *total > 0.0);
        self.classes.iter().map(|class| of_class(class).map_or(all, mean)).collect()
    }

    fn number(&self) -> Feature {
        let a = self.encoding.groups[self.feature].start;
        let cell = |i: usize| self.encoded.values[(i, a)];
        let mut means: Vec<f64> = (0..self.encoded.len()).map(cell).collect();
        if !self.has_gaps() {
            return Feature::Number { means, variances: None };
        }
        let (first, second) = (self.of_classes(cell), self.of_classes(|i| cell(i).powi(2)));
        let mut variances = vec![0.0; means.len()];
        for (c, class) in self.classes.iter().enumerate() {
            for i in class.clone().filter(|&i| !self.is_observed(i)) {
                means[i] = first[c];
                variances[i] = (second[c] - first[c].powi(2)).max(0.0);
            }
        }
        Feature::Number { means, variances: Some(variances) }
    }

    fn levels(&self) -> Feature {
        let group = self.encoding.groups[self.feature].clone();
        let level = |i: usize| self.encoded.values.row(i)[group.clone()].iter().position(|e| *e != 0.0);
        let codes: Vec<u16> =
            (0..self.encoded.len()).map(|i| level(i).map_or(NO_CODE, |a| a as u16)).collect();
        if !self.has_gaps() {
            return Feature::Levels { codes, gaps: None };
        }
        let of_class = |(c, rows): (usize, &Range<usize>)| rows.clone().map(move |i| (i, c));
        let all = self.classes.iter().enumerate().flat_map(of_class);
        let rows = all.filter(|(i, _)| codes[*i] == NO_CODE).collect();
        let share = |a: usize| self.of_classes(|i| self.encoded.values[(i, a)].powi(2) / SQUARED_HEIGHT);
        let columns: Vec<Vec<f64>> = group.map(share).collect();
        let shares = Matrix::from_fn(self.classes.len(), columns.len(), |c, a| columns[a][c]);
        Feature::Levels { codes, gaps: Some(Gaps { rows, shares }) }
    }
}
