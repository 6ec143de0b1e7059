//! A fitted pool as plain vectors and a small header, for the model file. What comes back is checked:
//! a damaged file is an error, never a panic or a NaN.

use super::classifier::{PoolClassifier, PoolFacts};
use super::fit::{Terms, gaussian_of};
use super::gaps::{Gain, Gaps, Telling, indicated};
use super::points::completion::Completion;
use super::points::prototypes::Prototypes;
use super::points::{Encoding, Scale, types_fit};
use super::rows::{CellsSeen, ColumnFacts, FeatureType, Labelled};
use super::terms::TermModel;
use super::terms::averaged::{Averaged, MOST_PAIRS, States};
use super::terms::density::Density;
use super::terms::gaussian::Gaussian;
use super::terms::kernels::{Kept, Kernels};
use super::terms::machine::kernel::{Kernel, Side};
use super::terms::machine::{Machine, n_machines};
use super::weights::PoolWeights;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_data::encode::is_moderate;
use hingenet_data::table::{Codes, Column, ColumnData, FeatureSpec, Schema, Table};
use hingenet_discrete::averaged::{Counts, Numbering};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Stands for a missing category.
const NO_LEVEL: u32 = u32::MAX;
/// Largest exponent s of the share of observed features; those tried are below 2.
const MOST_POWER: f64 = 10.0;

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
    /// Number of training rows kept, or of prototypes.
    pub n_rows: usize,
    /// What is known of prototypes, where they are kept in place of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prototypes: Option<PrototypeHeader>,
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

/// Prototypes in place of training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrototypeHeader {
    /// Rows that each had to have.
    pub group: usize,
    /// Rows that each has.
    pub sizes: Vec<usize>,
    /// Which cells training has seen in each column.
    pub cells: Vec<CellsSeen>,
}

/// A fitted pool as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolParts {
    /// Everything small.
    pub header: PoolHeader,
    /// Categorical training cells, feature by feature, `u32::MAX` for missing.
    pub levels: Vec<u32>,
    /// Class of each kept row, as a position in `present`.
    pub class: Vec<u32>,
    /// Everything else, by the names in [`PoolParts::DOUBLES`].
    pub doubles: BTreeMap<&'static str, Vec<f64>>,
    /// The pool that reads gaps, where they tell the class.
    pub gaps: Option<Box<GapParts>>,
}

/// A pool that reads gaps as plain data. Its training rows are those of the pool beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct GapParts {
    /// Names of the columns that have an indicator, in the order of the columns.
    pub columns: Vec<String>,
    /// What the indicators are worth.
    pub gain: Gain,
    /// The pool, its features with the indicators behind them, without training rows.
    pub pool: PoolParts,
}

impl PoolParts {
    /// Vectors of numbers. Of term A: weights of classes, states and pairs of states (each pair once; empty if
    /// there were too many). Of term G: class means and covariances. Of term K: coefficients, support points as
    /// the kernel needs them, covariance of the completions (empty if there is none) and, row by row, the completed columns
    /// of the missing training cells (files of version 0.1.0 have all columns of all rows). Of the training rows: numbers (feature by feature, NaN for
    /// missing) and weights; or of prototypes: mean points, variances (feature by feature in each) and weights.
    pub const DOUBLES: [&'static str; 13] = [
        "class_counts",
        "coefficients",
        "covariance",
        "covariances",
        "means",
        "pair_counts",
        "points",
        "prototype_means",
        "prototype_variances",
        "support",
        "training_numbers",
        "value_counts",
        "weight",
    ];

    fn take(&mut self, name: &str) -> Vec<f64> {
        self.doubles.remove(name).unwrap_or_default()
    }

    /// Leaves the training rows out; prototypes stay.
    fn without_rows(mut self) -> Self {
        if self.header.prototypes.is_none() {
            (self.levels, self.class) = (Vec::new(), Vec::new());
            ["training_numbers", "weight"]
                .iter()
                .for_each(|name| drop(self.doubles.insert(name, Vec::new())));
        }
        self
    }
}

impl PartialEq for PoolClassifier {
    /// The same bits in every part; missing cells (NaN) are equal to each other.
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.to_parts(), other.to_parts());
        let bits = |parts: &mut PoolParts| -> Vec<u64> {
            parts.take("training_numbers").into_iter().map(f64::to_bits).collect()
        };
        let same = |(a, b): (Option<&dyn TermModel>, Option<&dyn TermModel>)| match (a, b) {
            (Some(a), Some(b)) => a.equals(b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.term_models().into_iter().zip(other.term_models()).all(same)
            && self.telling == other.telling
            && bits(&mut a) == bits(&mut b)
            && a == b
    }
}

impl PoolClassifier {
    /// The fitted pool as plain data.
    pub fn to_parts(&self) -> PoolParts {
        let Terms { kernels, averaged, others, weights } = self.terms.as_ref();
        let (mut numbers, mut levels, mut means, mut variances) = (vec![], vec![], vec![], vec![]);
        let (class, weight, prototypes) = match &kernels.kept {
            Kept::Rows(rows) => {
                for column in rows.features.columns() {
                    match column.data() {
                        ColumnData::Numeric(x) => numbers.extend_from_slice(x.with_nan()),
                        ColumnData::Categorical(c) => {
                            let level = |code: Option<usize>| code.map_or(NO_LEVEL, |code| code as u32);
                            levels.extend(c.codes().iter().map(level));
                        }
                    }
                }
                (&rows.class, &rows.weight, None)
            }
            Kept::Prototypes(of, group) => {
                means.extend_from_slice(of.means.data());
                variances.extend_from_slice(of.variances.data());
                let cells = kernels.columns.iter().map(|c| c.cells).collect();
                let header = PrototypeHeader { group: *group, sizes: of.sizes.clone(), cells };
                (&of.class, &of.weight, Some(header))
            }
        };
        let gaussian = gaussian_of(others);
        let header = PoolHeader {
            names: kernels.columns.iter().map(|c| c.name.clone()).collect(),
            types: kernels.columns.iter().map(|c| c.kind).collect(),
            n_classes: self.n_classes,
            present: self.present.clone(),
            n_rows: class.len(),
            prototypes,
            facts: self.facts.clone(),
            density_scales: kernels.density.encoding.scales.clone(),
            gaussian_scales: gaussian.map(|g| g.encoding.scales.clone()),
            states: averaged.states.clone(),
            kernel_roots: kernels.machine.kernel.roots.clone(),
            scale: kernels.machine.scale,
            draws: kernels.draws,
            weights: *weights,
        };
        let matrix = |m: Option<&Matrix>| m.map_or(Vec::new(), |m| m.data().to_vec());
        let counts = &averaged.counts;
        let doubles = [
            ("class_counts", counts.class.clone()),
            ("coefficients", kernels.machine.coefficients.data().to_vec()),
            ("covariance", matrix(kernels.completion.covariance.as_ref())),
            (
                "covariances",
                gaussian.iter().flat_map(|g| &g.covariances).flat_map(|c| c.data().to_vec()).collect(),
            ),
            ("means", matrix(gaussian.map(|g| &g.means))),
            ("pair_counts", pack(counts)),
            ("points", completed_cells(kernels)),
            ("prototype_means", means),
            ("prototype_variances", variances),
            ("support", kernels.machine.points.0.data().to_vec()),
            ("training_numbers", numbers),
            ("value_counts", counts.value.clone()),
            ("weight", weight.clone()),
        ];
        let class = class.iter().map(|c| *c as u32).collect();
        let gap_parts = |telling: &Telling| GapParts {
            columns: telling.columns.iter().map(|&j| kernels.columns[j].name.clone()).collect(),
            gain: telling.gain,
            pool: telling.pool.to_parts().without_rows(),
        };
        let gaps = self.telling.as_deref().map(|telling| Box::new(gap_parts(telling)));
        PoolParts { header, levels, class, doubles: BTreeMap::from(doubles), gaps }
    }

    /// The pool of parts read from a file; checks everything it relies on.
    pub fn from_parts(mut parts: PoolParts) -> Result<Self> {
        let gaps = parts.gaps.take();
        let mut pool = Self::assembled(parts, None)?;
        pool.telling = gaps.map(|gaps| telling(*gaps, &pool)).transpose()?.map(Arc::new);
        Ok(pool)
    }

    /// The pool of parts, on training rows that are given if they are not among them.
    fn assembled(mut parts: PoolParts, rows: Option<Labelled>) -> Result<Self> {
        let header = parts.header.clone();
        let (kept, columns) = match rows {
            Some(rows) => {
                let columns = ColumnFacts::of(&rows.features);
                (Kept::Rows(rows), columns)
            }
            None => kept(&mut parts)?,
        };
        let n_classes = header.present.len();
        check(header.weights.0.iter().flatten().all(|w| is_count(*w)), "pool weights")?;
        let averaged = Arc::new(averaged(&mut parts, n_classes)?);
        let gaussian =
            gaussian(&mut parts, &averaged.counts.class)?.map(|g| Arc::new(g) as Arc<dyn TermModel>);
        let kernels = kernels(parts, kept, columns)?;
        let others = [Some(averaged.clone() as Arc<dyn TermModel>), gaussian];
        let terms = Arc::new(Terms { kernels, averaged, others, weights: header.weights });
        let PoolHeader { facts, present, n_classes, .. } = header;
        Ok(PoolClassifier { terms, facts, present, n_classes, telling: None, gaps: Gaps::default() })
    }
}

/// The pool that reads gaps beside another one.
fn telling(parts: GapParts, beside: &PoolClassifier) -> Result<Telling> {
    let GapParts { columns, gain, pool } = parts;
    let known = &beside.terms.kernels.columns;
    let find = |name: &String| known.iter().position(|c| c.name == *name);
    let columns: Vec<usize> =
        columns.iter().map(find).collect::<Option<_>>().ok_or_else(|| unusable("gaps"))?;
    check(!columns.is_empty() && columns.windows(2).all(|w| w[0] < w[1]) && gain.error >= 0.0, "gaps")?;
    let types = known.iter().map(|c| c.kind).chain(columns.iter().map(|_| FeatureType::Levels(2)));
    let header = &pool.header;
    check(pool.gaps.is_none() && types.eq(header.types.iter().copied()), "columns with gaps")?;
    check(header.names.len() == header.types.len(), "columns with gaps")?;
    check(header.n_classes == beside.n_classes && header.present == beside.present, "classes with gaps")?;
    let rows = match &beside.terms.kernels.kept {
        Kept::Rows(rows) => {
            check(header.prototypes.is_none() && header.n_rows == rows.len(), "rows with gaps")?;
            check(pool.levels.is_empty() && pool.class.is_empty(), "rows with gaps")?;
            Some(Labelled { features: indicated(&rows.features, &columns)?, ..rows.clone() })
        }
        Kept::Prototypes(..) => {
            check(header.prototypes.is_some(), "prototypes with gaps")?;
            None
        }
    };
    Ok(Telling { columns, gain, pool: PoolClassifier::assembled(pool, rows)? })
}

impl PoolHeader {
    /// Refuses columns that are not those of a model around the pool or in it; what follows relies on their sizes.
    pub fn check_columns(&self, schema: &Schema) -> Result<()> {
        let kind = |f: &FeatureSpec| {
            f.kind.categories().map_or(FeatureType::Number, |names| FeatureType::Levels(names.len()))
        };
        let same = self.names.iter().eq(schema.features.iter().map(|f| &f.name))
            && self.types.iter().copied().eq(schema.features.iter().map(kind));
        check(same, "columns")
    }
}

/// Terms P and K.
fn kernels(mut parts: PoolParts, kept: Kept, columns: Vec<ColumnFacts>) -> Result<Kernels> {
    let (points, covariance) = (parts.take("points"), parts.take("covariance"));
    let (support, coefficients) = (parts.take("support"), parts.take("coefficients"));
    let header = parts.header;
    let n_classes = header.present.len();
    let (metric, power) = (&header.facts.density.metric, header.facts.density.power);
    check(types_fit(&header.types, &header.density_scales, true), "encoding")?;
    check(metric.len() == header.types.len() && metric.iter().all(|m| is_count(*m)), "metric")?;
    check((0.0..=MOST_POWER).contains(&power), "power")?;
    check((1..=1000).contains(&header.draws) && is_moderate(header.scale), "draws and scale")?;
    let encoding = Encoding::from_scales(header.density_scales);
    let p = encoding.n_columns();
    // points are dense, the levels in the file are not
    let cells = p as f64 * (5.0 * header.n_rows as f64 + p as f64);
    Control::default().reserve(cells * 8.0, "the pool in this file", "use a machine with more memory")?;
    let (density, points) = match &kept {
        Kept::Rows(rows) => {
            let points = if points.len() == rows.len() * p && rows.features.n_missing() > 0 {
                matrix("completed rows", rows.len(), p, points)?
            } else {
                completed_rows(&encoding, rows, &points)?
            };
            (Density::new(encoding.clone(), rows, metric, power), points)
        }
        Kept::Prototypes(prototypes, _) => {
            check(prototypes.means.cols() == p && points.is_empty(), "prototypes")?;
            let density = Density::of_prototypes(encoding.clone(), prototypes, metric, power);
            (density, prototypes.means.clone())
        }
    };
    let covariance = (!covariance.is_empty()).then(|| matrix("covariance", p, p, covariance)).transpose()?;
    check(header.kernel_roots.len() == p && all_moderate(&header.kernel_roots), "kernel")?;
    let n_support = support.len() / (p + 2);
    let machine = Machine::from_points(
        Kernel { roots: header.kernel_roots },
        &encoding.groups,
        Side(matrix("support points", n_support, p + 2, support)?),
        matrix("coefficients", n_support, n_machines(n_classes), coefficients)?,
        header.scale,
    );
    let completion = Completion::new(encoding, points, covariance)?;
    Ok(Kernels { columns, kept, density, completion, machine, draws: header.draws })
}

/// The completed columns of the missing training cells, row by row.
fn completed_cells(kernels: &Kernels) -> Vec<f64> {
    let Kept::Rows(rows) = &kernels.kept else { return Vec::new() };
    let encoding = &kernels.density.encoding;
    let missing = |i: usize| -> Vec<bool> {
        rows.features.columns().iter().map(|column| column.is_missing(i)).collect()
    };
    let completed = |i: usize| -> Vec<f64> {
        encoding.columns(&missing(i), true).map(|a| kernels.completion.points[(i, a)]).collect()
    };
    (0..rows.len()).flat_map(completed).collect()
}

/// The training rows as points, with the completed columns in their places.
fn completed_rows(encoding: &Encoding, rows: &Labelled, completed: &[f64]) -> Result<Matrix> {
    check(all_moderate(completed), "completed rows")?;
    let encoded = encoding.encode(&rows.features);
    let mut points = encoded.values.clone();
    let mut next = completed.iter();
    for i in 0..rows.len() {
        for a in encoding.columns(encoded.pattern(i), false) {
            points[(i, a)] = *next.next().ok_or_else(|| unusable("completed rows"))?;
        }
    }
    check(next.next().is_none(), "completed rows")?;
    Ok(points)
}

fn check(ok: bool, what: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(unusable(what)) }
}

fn unusable(what: &str) -> Error {
    Error::model_file(format!("the {what} of the pool cannot be used"))
}

fn all_moderate(x: &[f64]) -> bool {
    x.iter().all(|v| is_moderate(*v))
}

/// Whether a weight is one that rows can add up to.
fn is_count(x: f64) -> bool {
    x >= 0.0 && is_moderate(x)
}

fn matrix(what: &str, rows: usize, cols: usize, data: Vec<f64>) -> Result<Matrix> {
    check(rows.checked_mul(cols) == Some(data.len()) && all_moderate(&data), what)?;
    Matrix::from_vec(rows, cols, data)
}

/// Training rows or prototypes, and the columns of the training rows.
fn kept(parts: &mut PoolParts) -> Result<(Kept, Vec<ColumnFacts>)> {
    let Some(header) = parts.header.prototypes.take() else {
        let rows = labelled(parts)?;
        let columns = ColumnFacts::of(&rows.features);
        return Ok((Kept::Rows(rows), columns));
    };
    let (names, types) = (&parts.header.names, &parts.header.types);
    require_len("feature names", types.len(), names.len())?;
    require_len("cells of prototypes", types.len(), header.cells.len())?;
    let column =
        |(j, cells): (usize, CellsSeen)| ColumnFacts { name: names[j].clone(), kind: types[j], cells };
    let columns = header.cells.iter().copied().enumerate().map(column).collect();
    Ok((Kept::Prototypes(prototypes(parts, header.sizes)?, header.group), columns))
}

fn prototypes(parts: &mut PoolParts, sizes: Vec<usize>) -> Result<Prototypes> {
    let [means, variances, weight] =
        ["prototype_means", "prototype_variances", "weight"].map(|name| parts.take(name));
    check(parts.take("training_numbers").is_empty() && parts.levels.is_empty(), "prototypes")?;
    let (n, header) = (parts.header.n_rows, &parts.header);
    check(n > 0 && sizes.len() == n && parts.class.len() == n && weight.len() == n, "prototypes")?;
    check(weight.iter().all(|w| is_count(*w) && *w > 0.0), "weights of prototypes")?;
    check(variances.iter().all(|v| *v >= 0.0), "variances of prototypes")?;
    check_classes(header, &parts.class)?;
    let prototypes = Prototypes {
        means: matrix("means of prototypes", n, means.len() / n, means)?,
        variances: matrix("variances of prototypes", n, header.types.len(), variances)?,
        weight,
        sizes,
        class: parts.class.iter().map(|c| *c as usize).collect(),
        n_classes: header.present.len(),
    };
    let has_rows = |c: usize| prototypes.class.binary_search(&c).is_ok();
    check(prototypes.class.is_sorted() && (0..prototypes.n_classes).all(has_rows), "classes")?;
    Ok(prototypes)
}

/// Refuses classes that are not those of the model.
fn check_classes(header: &PoolHeader, class: &[u32]) -> Result<()> {
    let present = &header.present;
    let ascending = present.windows(2).all(|w| w[0] < w[1]);
    check(present.len() >= 2 && ascending && present.iter().all(|c| *c < header.n_classes), "classes")?;
    check(class.iter().all(|c| (*c as usize) < present.len()), "classes")
}

/// The kept training rows. Names of classes and categories are those of the model around the pool, whose own
/// terms go by codes; here they are numbered.
fn labelled(parts: &mut PoolParts) -> Result<Labelled> {
    let (numbers, weight) = (parts.take("training_numbers"), parts.take("weight"));
    let (header, n) = (&parts.header, parts.header.n_rows);
    let count = |number: bool| header.types.iter().filter(|t| (**t == FeatureType::Number) == number).count();
    check(n > 0 && !header.types.is_empty(), "size")?;
    check(count(true).checked_mul(n) == Some(numbers.len()), "numbers")?;
    check(count(false).checked_mul(n) == Some(parts.levels.len()), "categories")?;
    check(numbers.iter().all(|x| !x.is_infinite()), "numbers")?;
    require_len("feature names", header.types.len(), header.names.len())?;
    let (mut numbers, mut levels) = (numbers.chunks_exact(n), parts.levels.chunks_exact(n));
    let numbered = |count: usize| (0..count).map(|c| c.to_string()).collect();
    let column = |(kind, name): (&FeatureType, &String)| match *kind {
        FeatureType::Number => Ok(Column::numeric(name, numbers.next().unwrap_or_default().to_vec())),
        FeatureType::Levels(count) => {
            let codes = levels.next().unwrap_or_default();
            let known = |c: &u32| *c == NO_LEVEL || (*c as usize) < count;
            check(count <= Codes::MAX_CATEGORIES && codes.iter().all(known), "categories")?;
            let cells = codes.iter().map(|c| (*c != NO_LEVEL).then_some(*c as usize));
            Ok(Column::categorical(name, numbered(count), Codes::from_options(count, cells)))
        }
    };
    let columns = header.types.iter().zip(&header.names).map(column).collect::<Result<_>>()?;
    check_classes(header, &parts.class)?;
    check(parts.class.len() == n, "classes")?;
    check(weight.len() == n && weight.iter().all(|s| is_count(*s) && *s > 0.0), "row weights")?;
    let rows = Labelled {
        features: Table::new(columns)?,
        class: parts.class.iter().map(|c| *c as usize).collect(),
        weight,
        classes: numbered(header.present.len()),
    };
    check(rows.class.is_sorted() && rows.class_ranges().iter().all(|c| !c.is_empty()), "classes")?;
    Ok(rows)
}

fn gaussian(parts: &mut PoolParts, class_weight: &[f64]) -> Result<Option<Gaussian>> {
    let (means, covariances) = (parts.take("means"), parts.take("covariances"));
    let (Some(scales), Some(choice)) = (parts.header.gaussian_scales.take(), parts.header.facts.gaussian)
    else {
        return Ok(None);
    };
    check(types_fit(&parts.header.types, &scales, false), "encoding of the Gaussians")?;
    let encoding = Encoding::from_scales(scales);
    let (p, k) = (encoding.n_columns(), class_weight.len());
    let all = matrix("covariances", k * p, p, covariances)?;
    let block = |c: usize| all.select_rows(&(c * p..(c + 1) * p).collect::<Vec<_>>());
    let means = matrix("class means", k, p, means)?;
    Gaussian::new(choice, encoding, class_weight, means, (0..k).map(block).collect())
        .map(Some)
        .map_err(|_| Error::model_file("a covariance of the pool is not positive definite"))
}

fn averaged(parts: &mut PoolParts, k: usize) -> Result<Averaged> {
    let [class, value, pair] = ["class_counts", "value_counts", "pair_counts"].map(|name| parts.take(name));
    let (types, states) = (&parts.header.types, &parts.header.states);
    let fits = |(kind, states): (&FeatureType, &States)| states.fit(*kind);
    check(types.len() == states.len() && types.iter().zip(states).all(fits), "states")?;
    let numbering = Numbering::new(states.iter().map(States::count));
    let counts_fit = |x: &[f64]| x.iter().all(|v| is_count(*v));
    check(class.len() == k && counts_fit(&class), "class counts")?;
    check(numbering.total().checked_mul(k) == Some(value.len()) && counts_fit(&value), "state counts")?;
    check(counts_fit(&pair), "pair counts")?;
    let pair = unpack(&numbering, k, &pair)?;
    Ok(Averaged::from_counts(states.clone(), Counts { states: numbering, class, value, pair }))
}

/// Places of all pairs of states of different features, each pair once.
fn pairs(states: &Numbering) -> impl Iterator<Item = usize> + '_ {
    let total = states.total();
    (0..states.n_features()).flat_map(move |j| {
        let later = states.first(j + 1)..total;
        states.of(j).flat_map(move |a| later.clone().map(move |b| a * total + b))
    })
}

fn pack(counts: &Counts) -> Vec<f64> {
    let k = counts.class.len();
    if counts.pair.is_empty() {
        return Vec::new();
    }
    pairs(&counts.states).flat_map(|at| counts.pair[at * k..(at + 1) * k].iter().copied()).collect()
}

fn unpack(states: &Numbering, k: usize, packed: &[f64]) -> Result<Vec<f64>> {
    let total = states.total();
    if packed.is_empty() {
        return Ok(Vec::new());
    }
    let size = total.checked_mul(total).and_then(|s| s.checked_mul(k));
    check(size.is_some_and(|s| s <= MOST_PAIRS), "pair counts")?;
    check(pairs(states).count() * k == packed.len(), "pair counts")?;
    let mut pair = vec![0.0; total * total * k];
    for (at, counts) in pairs(states).zip(packed.chunks_exact(k)) {
        pair[at * k..(at + 1) * k].copy_from_slice(counts);
    }
    Ok(pair)
}
