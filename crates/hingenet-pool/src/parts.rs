//! A fitted pool as plain vectors and a small header, for the model file. What comes back is checked:
//! a damaged file is an error, never a panic or a NaN.

use super::averaged::{Averaged, Coding, Counts, States};
use super::classifier::{PoolClassifier, PoolFacts};
use super::completion::Completion;
use super::density::Density;
use super::encoding::{Encoding, Scale, types_fit};
use super::fit::Terms;
use super::gaussian::Gaussian;
use super::kernel::{Kernel, Side};
use super::machine::{Machine, n_machines};
use super::rows::{Cells, FeatureType, Labelled, NO_LEVEL, Rows};
use super::stand_in::FittedStandIns;
use super::weights::PoolWeights;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::linalg::Matrix;
use serde::{Deserialize, Serialize};

/// The small parts of a fitted pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolHeader {
    /// Names of the features.
    pub names: Vec<String>,
    /// Types of the features.
    pub types: Vec<FeatureType>,
    /// Number of classes.
    pub n_classes: usize,
    /// Codes of the classes that have training rows, ascending.
    pub present: Vec<usize>,
    /// Number of training rows kept.
    pub n_rows: usize,
    /// What the fit chose; the metric of term P is among it.
    pub facts: PoolFacts,
    /// Encoding of terms P and K.
    pub density_scales: Vec<Scale>,
    /// Encoding of term G, if there is one.
    pub gaussian_scales: Option<Vec<Scale>>,
    /// States of term A.
    pub states: Vec<States>,
    /// Square roots of the kernel's column weights.
    pub kernel_roots: Vec<f64>,
    /// Scale b of the softmax of term K.
    pub scale: f64,
    /// Number of completions.
    pub draws: usize,
    /// Weights of the terms.
    pub weights: PoolWeights,
}

/// A fitted pool as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolParts {
    /// Everything small.
    pub header: PoolHeader,
    /// Numeric training cells, feature by feature, NaN for missing.
    pub numbers: Vec<f64>,
    /// Categorical training cells, feature by feature, `u32::MAX` for missing.
    pub levels: Vec<u32>,
    /// Class of each kept row, as a position in `present`.
    pub class: Vec<u32>,
    /// Weight of each kept row.
    pub weight: Vec<f64>,
    /// Completed training rows; empty if no training cell is missing.
    pub points: Vec<f64>,
    /// Covariance of the completions; empty if there is none.
    pub covariance: Vec<f64>,
    /// Support points of the machine as the kernel needs them.
    pub support: Vec<f64>,
    /// Coefficients of the machines.
    pub coefficients: Vec<f64>,
    /// Class weights of term A.
    pub class_counts: Vec<f64>,
    /// State counts of term A.
    pub value_counts: Vec<f64>,
    /// Pair counts of term A, each pair once; empty if there were too many.
    pub pair_counts: Vec<f64>,
    /// Class means of term G.
    pub means: Vec<f64>,
    /// Class covariances of term G.
    pub covariances: Vec<f64>,
}

impl PartialEq for PoolClassifier {
    /// The same bits in every part; missing cells (NaN) are equal to each other.
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.to_parts(), other.to_parts());
        let bits = |v: &mut Vec<f64>| std::mem::take(v).into_iter().map(f64::to_bits).collect::<Vec<u64>>();
        let stand_ins = self.terms.stand_ins.equals(&other.terms.stand_ins);
        stand_ins && bits(&mut a.numbers) == bits(&mut b.numbers) && a == b
    }
}

impl PoolClassifier {
    /// The fitted pool as plain data.
    pub fn to_parts(&self) -> PoolParts {
        let terms = &self.terms;
        let rows = &terms.rows.rows;
        let (mut numbers, mut levels) = (Vec::new(), Vec::new());
        for cells in rows.features() {
            match cells {
                Cells::Numbers(x) => numbers.extend_from_slice(x),
                Cells::Levels { codes, .. } => levels.extend_from_slice(codes),
            }
        }
        let header = PoolHeader {
            names: self.names.clone(),
            types: rows.types(),
            n_classes: self.n_classes,
            present: self.present.clone(),
            n_rows: rows.len(),
            facts: self.facts.clone(),
            density_scales: terms.density.encoding.scales().to_vec(),
            gaussian_scales: terms.gaussian.as_ref().map(|g| g.encoding.scales().to_vec()),
            states: terms.averaged.coding.states().to_vec(),
            kernel_roots: terms.machine.kernel.roots().to_vec(),
            scale: terms.machine.scale,
            draws: terms.draws,
            weights: terms.weights,
        };
        let matrix = |m: Option<&Matrix>| m.map_or(Vec::new(), |m| m.data().to_vec());
        let gaussian = terms.gaussian.as_ref();
        PoolParts {
            header,
            numbers,
            levels,
            class: terms.rows.class.iter().map(|c| *c as u32).collect(),
            weight: terms.rows.weight.clone(),
            points: matrix(rows.has_missing().then_some(&terms.completion.points)),
            covariance: matrix(terms.completion.covariance.as_ref()),
            support: terms.machine.points.matrix().data().to_vec(),
            coefficients: terms.machine.coefficients.data().to_vec(),
            class_counts: terms.averaged.counts.class.clone(),
            value_counts: terms.averaged.counts.value.clone(),
            pair_counts: pack(&terms.averaged.coding, &terms.averaged.counts),
            means: matrix(gaussian.map(|g| &g.means)),
            covariances: gaussian
                .map_or(Vec::new(), |g| g.covariances.iter().flat_map(|c| c.data().to_vec()).collect()),
        }
    }

    /// The pool of parts read from a file; checks everything it relies on.
    pub fn from_parts(parts: PoolParts) -> Result<Self> {
        let rows = labelled(&parts)?;
        let header = parts.header;
        let (k, metric) = (rows.n_classes, &header.facts.density.metric);
        check(types_fit(&header.types, &header.density_scales, true), "encoding")?;
        check(metric.len() == header.types.len() && all_finite(metric), "metric")?;
        check(header.facts.density.power.is_finite(), "power")?;
        check(header.draws >= 1 && header.draws <= 1000 && header.scale.is_finite(), "draws and scale")?;
        let weights = &header.weights;
        check(weights.0.iter().flatten().all(|w| w.is_finite() && *w >= 0.0), "pool weights")?;
        let encoding = Encoding::from_scales(header.density_scales);
        let p = encoding.n_columns();
        let density = Density::new(encoding.clone(), &rows, metric, header.facts.density.power);
        let points = if rows.rows.has_missing() {
            matrix("completed rows", rows.len(), p, parts.points)?
        } else {
            encoding.encode(&rows.rows).values
        };
        let covariance = match parts.covariance.is_empty() {
            true => None,
            false => Some(matrix("covariance", p, p, parts.covariance)?),
        };
        check(header.kernel_roots.len() == p && all_finite(&header.kernel_roots), "kernel")?;
        let n_support = parts.support.len() / (p + 2);
        let machine = Machine {
            kernel: Kernel::from_roots(header.kernel_roots),
            support: Vec::new(),
            points: Side::from_matrix(matrix("support points", n_support, p + 2, parts.support)?),
            coefficients: matrix("coefficients", n_support, n_machines(k), parts.coefficients)?,
            scale: header.scale,
        };
        let gaussian = header
            .gaussian_scales
            .map(|scales| gaussian(&header.types, scales, &rows, parts.means, parts.covariances))
            .transpose()?;
        let counts = (parts.class_counts, parts.value_counts, parts.pair_counts);
        let terms = Terms {
            density,
            completion: Completion::new(encoding, points, covariance)?,
            machine,
            averaged: averaged(&header.types, header.states, k, counts)?,
            gaussian,
            stand_ins: FittedStandIns::default(),
            weights: header.weights,
            draws: header.draws,
            rows,
        };
        PoolClassifier::assemble(terms, header.facts, header.names, header.present, header.n_classes)
    }
}

fn check(ok: bool, what: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(Error::model_file(format!("the {what} of the pool cannot be used"))) }
}

fn all_finite(x: &[f64]) -> bool {
    x.iter().all(|v| v.is_finite())
}

fn matrix(what: &str, rows: usize, cols: usize, data: Vec<f64>) -> Result<Matrix> {
    check(rows.checked_mul(cols) == Some(data.len()) && all_finite(&data), what)?;
    Matrix::from_vec(rows, cols, data)
}

/// The kept training rows.
fn labelled(parts: &PoolParts) -> Result<Labelled> {
    let (header, n) = (&parts.header, parts.header.n_rows);
    let count = |number: bool| header.types.iter().filter(|t| (**t == FeatureType::Number) == number).count();
    check(n > 0 && !header.types.is_empty(), "size")?;
    check(count(true).checked_mul(n) == Some(parts.numbers.len()), "numbers")?;
    check(count(false).checked_mul(n) == Some(parts.levels.len()), "categories")?;
    check(parts.numbers.iter().all(|x| !x.is_infinite()), "numbers")?;
    let (mut numbers, mut levels) = (parts.numbers.chunks_exact(n), parts.levels.chunks_exact(n));
    let mut features = Vec::with_capacity(header.types.len());
    for kind in &header.types {
        features.push(match kind {
            FeatureType::Number => Cells::Numbers(numbers.next().unwrap_or_default().to_vec()),
            FeatureType::Levels(count) => {
                let codes = levels.next().unwrap_or_default().to_vec();
                check(codes.iter().all(|c| *c == NO_LEVEL || (*c as usize) < *count), "categories")?;
                Cells::Levels { count: *count, codes }
            }
        });
    }
    let present = &header.present;
    let ascending = present.windows(2).all(|w| w[0] < w[1]);
    check(present.len() >= 2 && ascending && present.iter().all(|c| *c < header.n_classes), "classes")?;
    check(parts.class.len() == n && parts.class.iter().all(|c| (*c as usize) < present.len()), "classes")?;
    check(parts.weight.len() == n && parts.weight.iter().all(|s| s.is_finite() && *s > 0.0), "row weights")?;
    let rows = Labelled {
        rows: Rows::from_cells(features, n),
        class: parts.class.iter().map(|c| *c as usize).collect(),
        weight: parts.weight.clone(),
        n_classes: present.len(),
    };
    check(rows.class_rows().iter().all(|n| *n > 0), "classes")?;
    Ok(rows)
}

fn gaussian(
    types: &[FeatureType],
    scales: Vec<Scale>,
    rows: &Labelled,
    means: Vec<f64>,
    covariances: Vec<f64>,
) -> Result<Gaussian> {
    check(types_fit(types, &scales, false), "encoding of the Gaussians")?;
    let encoding = Encoding::from_scales(scales);
    let (p, k) = (encoding.n_columns(), rows.n_classes);
    let all = matrix("covariances", k * p, p, covariances)?;
    let columns: Vec<usize> = (0..p).collect();
    let block = |c: usize| all.select(&(c * p..(c + 1) * p).collect::<Vec<_>>(), &columns);
    let class_weight = rows.class_weight();
    let total: f64 = class_weight.iter().sum();
    let log_prior = class_weight.iter().map(|n_c| (n_c / total).ln()).collect();
    let means = matrix("class means", k, p, means)?;
    Gaussian::new(encoding, log_prior, means, (0..k).map(block).collect())
        .map_err(|_| Error::model_file("a covariance of the pool is not positive definite"))
}

fn averaged(
    types: &[FeatureType],
    states: Vec<States>,
    k: usize,
    (class, value, pair): (Vec<f64>, Vec<f64>, Vec<f64>),
) -> Result<Averaged> {
    let fits = |(kind, states): (&FeatureType, &States)| match (kind, states) {
        (FeatureType::Number, States::Cuts(cuts)) => all_finite(cuts) && cuts.windows(2).all(|w| w[0] < w[1]),
        (FeatureType::Levels(a), States::Levels(b)) => a == b,
        _ => false,
    };
    check(types.len() == states.len() && types.iter().zip(&states).all(fits), "states")?;
    let coding = Coding::from_states(states);
    let counts_fit = |x: &[f64]| x.iter().all(|v| v.is_finite() && *v >= 0.0);
    check(class.len() == k && counts_fit(&class), "class counts")?;
    check(coding.total().checked_mul(k) == Some(value.len()) && counts_fit(&value), "state counts")?;
    check(counts_fit(&pair), "pair counts")?;
    let pair = unpack(&coding, k, &pair)?;
    Ok(Averaged::from_counts(coding, Counts { class, value, pair }))
}

/// Places of all pairs of states of different features, each pair once.
fn pairs(coding: &Coding) -> impl Iterator<Item = usize> + '_ {
    let (total, d) = (coding.total(), coding.states().len());
    (0..d).flat_map(move |j| {
        (coding.first(j)..coding.first(j + 1))
            .flat_map(move |a| (coding.first(j + 1)..total).map(move |b| a * total + b))
    })
}

fn pack(coding: &Coding, counts: &Counts) -> Vec<f64> {
    let k = counts.class.len();
    if counts.pair.is_empty() {
        return Vec::new();
    }
    pairs(coding).flat_map(|at| counts.pair[at * k..(at + 1) * k].iter().copied()).collect()
}

fn unpack(coding: &Coding, k: usize, packed: &[f64]) -> Result<Vec<f64>> {
    let total = coding.total();
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let size = total.checked_mul(total).and_then(|s| s.checked_mul(k));
    check(size.is_some_and(|s| s <= super::averaged::MOST_PAIRS), "pair counts")?;
    check(pairs(coding).count() * k == packed.len(), "pair counts")?;
    let mut pair = vec![0.0; total * total * k];
    for (at, counts) in pairs(coding).zip(packed.chunks_exact(k)) {
        pair[at * k..(at + 1) * k].copy_from_slice(counts);
    }
    Ok(pair)
}
