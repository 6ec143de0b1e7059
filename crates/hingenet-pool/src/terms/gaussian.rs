//! Term G: one Gaussian per class with a covariance shrunk towards the pooled one and towards its
//! diagonal. A missing feature is integrated out exactly by striking its rows and columns.

use super::TermModel;
use super::density::search::transforms;
use crate::points::moments::{ClassMoments, Sample};
use crate::points::{Encoded, Encoding, Transform};
use crate::rows::{Labelled, blank_cells, least, put_rows, random_subset, repeated};
use crate::weights::floored_posterior;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::{Cholesky, Matrix, dot};
use hingenet_base::numeric::log::log_normalise;
use hingenet_base::numeric::random::Random;
use hingenet_base::numeric::sum::ordered_chunks;
use hingenet_data::select::folds::split;
use hingenet_data::table::Table;
use rayon::prelude::*;
use std::any::Any;

/// Most columns: the exact marginal costs the cube of the observed columns for every row and class.
pub(crate) const MOST_COLUMNS: usize = 200;

const TOWARDS_POOLED: [f64; 3] = [0.1, 0.5, 1.0];
const TOWARDS_DIAGONAL: [f64; 3] = [0.05, 0.2, 0.5];
/// Exponents that take over-confidence out of the criterion.
const EXPONENTS: [f64; 5] = [0.1, 0.2, 0.4, 0.7, 1.0];

/// What was chosen for term G.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GaussianChoice {
    /// Transform of the numeric features.
    pub transform: Transform,
    /// Share a of the pooled covariance.
    pub pooled: f64,
    /// Share g of the diagonal.
    pub diagonal: f64,
}

/// Shrunk class Gaussians:
///
/// ```text
/// S = (1−a) C_c + a C_p,   Σ_c = (1−g) S + g (diag(S) + diag(C_p))/2 + 1e-4 I
/// S_c(x_o) = ln(n_c/n) − ½ ln det Σ_c,oo − ½ (x_o − μ_c,o)ᵀ Σ_c,oo⁻¹ (x_o − μ_c,o)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gaussian {
    pub(crate) choice: GaussianChoice,
    pub(crate) encoding: Encoding,
    pub(crate) log_prior: Vec<f64>,
    /// One row per class.
    pub(crate) means: Matrix,
    pub(crate) covariances: Vec<Matrix>,
    /// Inverse covariances `Λ_c` and `ln det Σ_c`.
    precisions: Vec<(Matrix, f64)>,
}

impl Gaussian {
    /// Fits means and shrunk covariances.
    pub(crate) fn fit(training: &Labelled, choice: GaussianChoice) -> Result<Self> {
        let encoding = Encoding::learn(&training.features, &training.weight, choice.transform, false);
        let moments = moments(&encoding, training)?;
        Self::shrunk(encoding, &moments, choice)
    }

    pub(crate) fn shrunk(encoding: Encoding, moments: &ClassMoments, choice: GaussianChoice) -> Result<Self> {
        let (a, g) = (choice.pooled, choice.diagonal);
        let pooled = &moments.pooled;
        let shrink = |c: &Matrix| {
            Matrix::from_fn(c.rows(), c.cols(), |i, j| {
                let s = (1.0 - a) * c[(i, j)] + a * pooled[(i, j)];
                if i == j { (1.0 - g) * s + g * 0.5 * (s + pooled[(i, i)]) + 1e-4 } else { (1.0 - g) * s }
            })
        };
        let covariances = moments.covariances.iter().map(shrink).collect();
        Self::new(choice, encoding, &moments.class_weight, moments.means.clone(), covariances)
    }

    /// Takes over the parameters and inverts the covariances.
    pub(crate) fn new(
        choice: GaussianChoice,
        encoding: Encoding,
        class_weight: &[f64],
        means: Matrix,
        covariances: Vec<Matrix>,
    ) -> Result<Self> {
        let total: f64 = class_weight.iter().sum();
        let log_prior = class_weight.iter().map(|n_c| (n_c / total).ln()).collect();
        let invert = |sigma: &Matrix| Cholesky::new(sigma).map(|c| (c.inverse(), c.log_det()));
        let precisions = covariances.par_iter().map(invert).collect::<Result<_>>()?;
        Ok(Gaussian { choice, encoding, log_prior, means, covariances, precisions })
    }

    /// Factorises the smaller side of a pattern for all classes.
    fn marginal(&self, pattern: &[bool]) -> Marginal {
        let columns = |observed: bool| -> Vec<usize> { self.encoding.columns(pattern, observed).collect() };
        let (observed, missing) = (columns(true), columns(false));
        let by_missing = missing.len() < observed.len();
        let factors = if by_missing {
            self.precisions.iter().map(|(lambda, _)| Factor::new(lambda, &missing)).collect()
        } else {
            self.covariances.iter().map(|sigma| Factor::new(sigma, &observed)).collect()
        };
        Marginal { pattern: pattern.to_vec(), observed, missing, by_missing, factors, work: Vec::new() }
    }

    /// Adds `S_c` of one row. With few missing columns the observed block is not factorised at all:
    ///
    /// ```text
    /// ln det Σ_oo = ln det Σ + ln det Λ_mm,   δᵀ Σ_oo⁻¹ δ = δᵀ Λ_oo δ − bᵀ Λ_mm⁻¹ b,   b = Λ_mo δ
    /// ```
    fn score(&self, marginal: &mut Marginal, encoded: &Encoded, i: usize, out: &mut Vec<f64>) {
        let x = encoded.values.row(i);
        for (c, factor) in marginal.factors.iter().enumerate() {
            let mean = self.means.row(c);
            let work = &mut marginal.work;
            work.clear();
            let (log_det, squares) = if marginal.by_missing {
                let (lambda, log_det) = &self.precisions[c];
                let mut delta = vec![0.0; x.len()];
                marginal.observed.iter().for_each(|&a| delta[a] = x[a] - mean[a]);
                let all: f64 = marginal.observed.iter().map(|&a| delta[a] * dot(lambda.row(a), &delta)).sum();
                work.extend(marginal.missing.iter().map(|&a| dot(lambda.row(a), &delta)));
                (log_det + factor.log_det, all - factor.whitened_square(work))
            } else {
                work.extend(marginal.observed.iter().map(|&a| x[a] - mean[a]));
                (factor.log_det, factor.whitened_square(work))
            };
            out.push(self.log_prior[c] - 0.5 * log_det - 0.5 * squares.max(0.0));
        }
    }
}

impl TermModel for Gaussian {
    fn name(&self) -> String {
        "shrunk class Gaussians".into()
    }

    /// `S_c` of every row, K values a row. Rows with the same pattern share their factorisations.
    fn scores(&self, rows: &Table) -> Result<Vec<f64>> {
        let encoded = self.encoding.encode(rows);
        let order = encoded.by_pattern();
        let k = self.log_prior.len();
        let parts = ordered_chunks(order.len(), 64, |range| {
            let mut marginal: Option<Marginal> = None;
            let mut out = Vec::with_capacity(range.len() * k);
            for &i in &order[range] {
                if marginal.as_ref().is_none_or(|m| m.pattern != encoded.pattern(i)) {
                    marginal = Some(self.marginal(encoded.pattern(i)));
                }
                if let Some(m) = &mut marginal {
                    self.score(m, &encoded, i, &mut out);
                }
            }
            out
        });
        let mut scores = vec![0.0; order.len() * k];
        put_rows(&mut scores, &order, &parts.concat());
        Ok(scores)
    }

    fn equals(&self, other: &dyn TermModel) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

/// Factorised blocks of all classes for one pattern: those of the precisions over the missing columns if
/// these are fewer, else those of the covariances over the observed columns.
struct Marginal {
    pattern: Vec<bool>,
    observed: Vec<usize>,
    missing: Vec<usize>,
    by_missing: bool,
    factors: Vec<Factor>,
    work: Vec<f64>,
}

/// Cholesky factor of a block, packed row by row. Blocks are small and many, so it is
/// factorised here row by row, without the overhead of a blocked algorithm.
struct Factor {
    rows: Vec<f64>,
    log_det: f64,
}

impl Factor {
    fn new(sigma: &Matrix, columns: &[usize]) -> Self {
        let m = columns.len();
        let mut rows = vec![0.0; m * (m + 1) / 2];
        let mut log_det = 0.0;
        for i in 0..m {
            let (done, current) = rows.split_at_mut(i * (i + 1) / 2);
            let source = sigma.row(columns[i]);
            for j in 0..i {
                let other = &done[j * (j + 1) / 2..(j + 1) * (j + 2) / 2];
                current[j] = (source[columns[j]] - dot(&current[..j], &other[..j])) * other[j];
            }
            // both matrices are positive definite: only rounding can make the pivot this small
            let pivot = (source[columns[i]] - dot(&current[..i], &current[..i])).max(1e-12);
            log_det += pivot.ln();
            current[i] = 1.0 / pivot.sqrt();
        }
        Factor { rows, log_det }
    }

    /// `|L⁻¹ v|²`, overwriting v.
    fn whitened_square(&self, v: &mut [f64]) -> f64 {
        for i in 0..v.len() {
            let row = &self.rows[i * (i + 1) / 2..(i + 1) * (i + 2) / 2];
            v[i] = (v[i] - dot(&row[..i], &v[..i])) * row[i];
        }
        dot(v, v)
    }
}

fn moments(encoding: &Encoding, training: &Labelled) -> Result<ClassMoments> {
    let encoded = encoding.encode(&training.features);
    Sample { encoding, encoded: &encoded, rows: training }.class_moments()
}

/// Chooses transform and shrinkage: fits on two thirds of the rows, log-loss of the tempered posterior on
/// at most `rows` of the others, each complete and once with half its cells blanked.
pub(crate) fn choose(
    training: &Labelled,
    rows: usize,
    random: &mut Random,
    control: &Control,
) -> Result<GaussianChoice> {
    let (inside, outside) = split(&training.folds(3, random), 2);
    let fit_rows = training.select(&inside);
    let held: Vec<usize> =
        random_subset(outside.len(), rows, random).into_iter().map(|i| outside[i]).collect();
    let held = training.select(&held);
    let mut queries = repeated(&held.features, 2);
    blank_cells(&mut queries, held.len()..2 * held.len(), random, |_| 0.5);
    let mut tried = Vec::new();
    for &transform in transforms(&training.features) {
        let encoding = Encoding::learn(&fit_rows.features, &fit_rows.weight, transform, false);
        let moments = moments(&encoding, &fit_rows)?;
        for pooled in TOWARDS_POOLED {
            for diagonal in TOWARDS_DIAGONAL {
                control.check()?;
                let choice = GaussianChoice { transform, pooled, diagonal };
                let model = Gaussian::shrunk(encoding.clone(), &moments, choice)?;
                tried.push((tempered_loss(&model.scores(&queries)?, &held), choice));
            }
        }
    }
    least("shrunk Gaussians", tried)
}

/// Least log-loss of `logpost(b · L)` over the exponents b, L the posterior with the pool's floor: without
/// the floor a few over-confident rows would decide.
fn tempered_loss(scores: &[f64], held: &Labelled) -> f64 {
    let k = held.n_classes();
    let mut floored = scores.to_vec();
    floored.chunks_exact_mut(k).for_each(floored_posterior);
    let loss = |exponent: f64| {
        let mut loss = 0.0;
        for (i, row) in floored.chunks_exact(k).enumerate() {
            let mut post: Vec<f64> = row.iter().map(|l| exponent * l).collect();
            log_normalise(&mut post);
            let m = i % held.len();
            loss -= held.weight[m] * post[held.class[m]];
        }
        loss
    };
    EXPONENTS.into_iter().map(loss).fold(f64::INFINITY, f64::min)
}
