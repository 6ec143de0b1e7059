//! Tasks and statistics as bytes, in the container of the model file: versioned, checksummed, believed in nothing.

use super::{Findings, Gathered, Shape, Task, Work};
use crate::model::file::Container;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::exact::ExactSums;
use hingenet_data::encode::{ValueArrays, ValueCounts};
use hingenet_data::pieces::{Cells, ColumnScan, RowSample, TableScan};
use hingenet_data::rows::Dataset;
use hingenet_data::table::{Codes, Column, ColumnData, FeatureKind, FeatureSpec, Schema, Table};
use hingenet_density::{BinCounts, DensitySums};
use hingenet_discrete::Counted;
use hingenet_discrete::averaged::Counts;
use hingenet_discrete::counts::is_count;
use hingenet_gaussian::ExactMoments;
use hingenet_pool::PoolSums;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the header says the bytes are, so that no model is taken for one.
const TASK: &str = "task";
const STATISTICS: &str = "statistics";

impl Task {
    /// The bytes of the task.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut container = Container::new(Value::Null);
        let shape = container.put_plain(self)?;
        container.about = json!({ TASK: shape });
        container.to_bytes()
    }

    /// Reads and checks them.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut container = Container::from_bytes(bytes)?;
        let shape = part(&mut container, TASK)?;
        let task: Task = container.take_plain(shape)?;
        container.require_empty()?;
        match &task.work {
            Work::Columns => {}
            Work::Count { shape, coding, .. } => {
                shape.check()?;
                coding.check(&shape.schema)?;
                require_len("classes", shape.classes.len(), coding.n_classes)?;
            }
            Work::Moments { shape, grids, .. } => {
                shape.check()?;
                grids.check(&shape.schema)?;
            }
            Work::Sample { shape, .. } => shape.check()?,
            Work::Pool { shape, task } => {
                shape.check()?;
                task.check(&shape.schema, shape.classes.len())?;
            }
            Work::Density { shape, task } => {
                shape.check()?;
                task.check(&shape.schema, shape.classes.len())?;
            }
        }
        Ok(task)
    }
}

/// What the header calls by this name.
fn part(container: &mut Container, name: &str) -> Result<Value> {
    match std::mem::take(&mut container.about) {
        Value::Object(mut about) if about.len() == 1 => about.remove(name),
        _ => None,
    }
    .ok_or_else(|| Error::model_file(format!("this is no {name}")))
}

/// The readable part of statistics.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum About {
    Columns {
        target: String,
        rows: u64,
        missing: u64,
        classes: Vec<String>,
        columns: Vec<AboutColumn>,
    },
    Count {
        key: usize,
        #[serde(default)]
        is_of_rows: bool,
    },
    Moments {
        nodes: usize,
        sample: Option<AboutSample>,
    },
    Sample(AboutSample),
    /// Numbers of states of the features.
    Pool {
        states: Vec<usize>,
    },
    /// Bins of each table.
    Density {
        bins: Vec<usize>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutSample {
    target: String,
    most: usize,
    shape: Shape,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AboutColumn {
    name: String,
    observed: u64,
    kind: Kind,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Kind {
    Missing,
    Numbers { shift: u32 },
    Categories { names: Vec<String> },
    Mixed,
}

impl Gathered {
    /// The bytes of what was gathered.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = Container::new(Value::Null);
        let about = match &self.0 {
            Findings::Columns(scan) => put_scan(scan, &mut out),
            Findings::Count(counted) => put_counted(counted, &mut out),
            Findings::Moments(moments, sample) => put_moments(moments, sample.as_ref(), &mut out),
            Findings::Sample(sample) => About::Sample(put_sample(sample, &mut out)),
            Findings::Pool(sums) => put_pool(sums, &mut out),
            Findings::Density(sums) => put_densities(sums, &mut out),
        };
        let about = serde_json::to_value(about).map_err(|e| Error::model_file(e.to_string()))?;
        out.about = json!({ STATISTICS: about });
        out.to_bytes()
    }

    /// Reads and checks them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Container::from_bytes(bytes)?;
        let about = part(&mut from, STATISTICS)?;
        let about = serde_json::from_value(about).map_err(|e| Error::model_file(format!("header: {e}")))?;
        let findings = match about {
            About::Columns { target, rows, missing, classes, columns } => {
                let class_rows = from.take("class_rows")?;
                require_len("rows of classes", classes.len(), class_rows.len())?;
                let column =
                    |(i, column): (usize, AboutColumn)| take_column(i, column, classes.len(), &mut from);
                let columns = columns.into_iter().enumerate().map(column).collect::<Result<_>>()?;
                let scan = TableScan { target, rows, missing, classes, class_rows, columns };
                scan.check_counts()?;
                Findings::Columns(scan)
            }
            About::Count { key, is_of_rows } => {
                Findings::Count(Counted { is_of_rows, ..take_counted(key, &mut from)? })
            }
            About::Moments { nodes, sample } => {
                let moments = take_moments(nodes, &mut from)?;
                Findings::Moments(moments, sample.map(|about| take_sample(about, &mut from)).transpose()?)
            }
            About::Sample(about) => Findings::Sample(take_sample(about, &mut from)?),
            About::Pool { states } => Findings::Pool(take_pool(&states, &mut from)?),
            About::Density { bins } => Findings::Density(take_densities(&bins, &mut from)?),
        };
        from.require_empty()?;
        Ok(Gathered(findings))
    }
}

fn put_scan(scan: &TableScan, out: &mut Container) -> About {
    out.put("class_rows", &scan.class_rows);
    let column = |(i, column): (usize, &ColumnScan)| {
        let kind = match &column.cells {
            Cells::Missing => Kind::Missing,
            Cells::Mixed => Kind::Mixed,
            Cells::Categories { names, rows } => {
                out.put(&format!("{i}/rows"), rows);
                Kind::Categories { names: names.clone() }
            }
            Cells::Numbers(values) => {
                let ValueArrays { shift, low, high, rows } = values.arrays();
                out.put(&format!("{i}/low"), &low);
                // most values have a bin of their own
                if high != low {
                    out.put(&format!("{i}/high"), &high);
                }
                out.put(&format!("{i}/rows"), &rows);
                Kind::Numbers { shift }
            }
        };
        AboutColumn { name: column.name.clone(), observed: column.observed, kind }
    };
    let columns = scan.columns.iter().enumerate().map(column).collect();
    About::Columns {
        target: scan.target.clone(),
        rows: scan.rows,
        missing: scan.missing,
        classes: scan.classes.clone(),
        columns,
    }
}

fn take_column(i: usize, about: AboutColumn, n_classes: usize, from: &mut Container) -> Result<ColumnScan> {
    let cells = match about.kind {
        Kind::Missing => Cells::Missing,
        Kind::Mixed => Cells::Mixed,
        Kind::Categories { names } => {
            let rows = from.take(&format!("{i}/rows"))?;
            require_len("rows of categories", names.len(), rows.len())?;
            Cells::Categories { names, rows }
        }
        Kind::Numbers { shift } => {
            let low: Vec<f64> = from.take(&format!("{i}/low"))?;
            let name = format!("{i}/high");
            let high = if from.has(&name) { from.take(&name)? } else { low.clone() };
            let arrays = ValueArrays { shift, low, high, rows: from.take(&format!("{i}/rows"))? };
            Cells::Numbers(ValueCounts::from_arrays(n_classes, &arrays)?)
        }
    };
    Ok(ColumnScan { name: about.name, cells, observed: about.observed })
}

fn put_counted(counted: &Counted, out: &mut Container) -> About {
    let mut sparse: Vec<(&[u8], f64)> = counted.sparse.iter().map(|(key, n)| (&key[..], *n)).collect();
    sparse.sort_unstable_by_key(|(key, _)| *key);
    out.put("counts", &counted.dense);
    out.put("keys", &sparse.iter().flat_map(|(key, _)| key.iter().copied()).collect::<Vec<u8>>());
    out.put("rows", &sparse.iter().map(|(_, n)| *n).collect::<Vec<f64>>());
    About::Count { key: sparse.first().map_or(0, |(key, _)| key.len()), is_of_rows: counted.is_of_rows }
}

fn take_counted(key: usize, from: &mut Container) -> Result<Counted> {
    let (dense, keys, rows): (Vec<f64>, Vec<u8>, Vec<f64>) =
        (from.take("counts")?, from.take("keys")?, from.take("rows")?);
    if !dense.iter().chain(&rows).all(is_count) {
        return Err(Error::model_file("a count is no whole number of rows"));
    }
    require_len("bytes of keys", rows.len().saturating_mul(key), keys.len())?;
    let sparse = keys.chunks_exact(key.max(1)).map(Box::from).zip(rows).collect();
    Ok(Counted { dense, sparse, is_of_rows: false })
}

fn put_moments(moments: &ExactMoments, sample: Option<&RowSample>, out: &mut Container) -> About {
    put_sums(&moments.classes, out);
    let nodes = moments.classes.first().map_or(0, ExactSums::n_columns);
    About::Moments { nodes, sample: sample.map(|sample| put_sample(sample, out)) }
}

fn put_sums(classes: &[ExactSums], out: &mut Container) {
    out.put("rows", &classes.iter().map(|c| c.rows).collect::<Vec<u64>>());
    out.put("sums", &classes.iter().flat_map(|c| c.sums.iter().copied()).collect::<Vec<i128>>());
    out.put("products", &classes.iter().flat_map(|c| c.products.iter().copied()).collect::<Vec<i128>>());
}

fn put_pool(sums: &PoolSums, out: &mut Container) -> About {
    let Counts { states, class, value, pair } = &sums.counts;
    out.put("class_counts", class);
    out.put("value_counts", value);
    out.put("pair_counts", pair);
    put_sums(&sums.classes, out);
    About::Pool { states: (0..states.n_features()).map(|j| states.of(j).len()).collect() }
}

fn take_pool(states: &[usize], from: &mut Container) -> Result<PoolSums> {
    let [class, value, pair] = ["class_counts", "value_counts", "pair_counts"].map(|name| from.take(name));
    let counts = Counts::given(states, class?, value?, pair?)?;
    let rows: Vec<u64> = from.take("rows")?;
    let (sums, products): (Vec<i128>, Vec<i128>) = (from.take("sums")?, from.take("products")?);
    let columns = sums.len().checked_div(rows.len()).unwrap_or(0);
    Ok(PoolSums { counts, classes: sums_of_classes(rows, columns, &sums, &products)? })
}

fn put_densities(sums: &DensitySums, out: &mut Container) -> About {
    out.put("keys", &sums.tables.iter().flat_map(|t| t.keys.iter().copied()).collect::<Vec<u64>>());
    out.put("rows", &sums.tables.iter().flat_map(|t| t.rows.iter().copied()).collect::<Vec<u64>>());
    About::Density { bins: sums.tables.iter().map(|t| t.keys.len()).collect() }
}

/// Whether they fit a task is checked where that is known.
fn take_densities(bins: &[usize], from: &mut Container) -> Result<DensitySums> {
    let (keys, rows): (Vec<u64>, Vec<u64>) = (from.take("keys")?, from.take("rows")?);
    let total = bins.iter().fold(0, |sum: usize, n| sum.saturating_add(*n));
    require_len("keys of bins", total, keys.len())?;
    require_len("rows of bins", total, rows.len())?;
    let (mut keys, mut rows) = (keys.into_iter(), rows.into_iter());
    let table = |n: &usize| BinCounts {
        keys: keys.by_ref().take(*n).collect(),
        rows: rows.by_ref().take(*n).collect(),
    };
    Ok(DensitySums { tables: bins.iter().map(table).collect() })
}

fn take_moments(nodes: usize, from: &mut Container) -> Result<ExactMoments> {
    let rows: Vec<u64> = from.take("rows")?;
    let (sums, products): (Vec<i128>, Vec<i128>) = (from.take("sums")?, from.take("products")?);
    Ok(ExactMoments { classes: sums_of_classes(rows, nodes, &sums, &products)? })
}

fn sums_of_classes(rows: Vec<u64>, nodes: usize, sums: &[i128], products: &[i128]) -> Result<Vec<ExactSums>> {
    let pairs = nodes.saturating_mul(nodes.saturating_add(1)) / 2;
    require_len("sums of the nodes", rows.len().saturating_mul(nodes), sums.len())?;
    require_len("products of the nodes", rows.len().saturating_mul(pairs), products.len())?;
    let class = |(c, rows): (usize, u64)| ExactSums {
        rows,
        sums: sums[c * nodes..(c + 1) * nodes].to_vec(),
        products: products[c * pairs..(c + 1) * pairs].to_vec(),
    };
    Ok(rows.into_iter().enumerate().map(class).collect())
}

fn put_sample(sample: &RowSample, out: &mut Container) -> AboutSample {
    let data = sample.data();
    let words = |codes: &Codes| codes.iter().map(|c| c.map_or(u32::MAX, |c| c as u32)).collect::<Vec<u32>>();
    out.put("class", &words(&data.class));
    out.put("weights", data.weights.as_deref().unwrap_or_default());
    for (i, column) in data.features.columns().iter().enumerate() {
        match column.data() {
            ColumnData::Numeric(n) => out.put(&i.to_string(), n.with_nan()),
            ColumnData::Categorical(c) => out.put(&i.to_string(), &words(c.codes())),
        }
    }
    let shape = Shape { schema: Schema::of(&data.features), classes: data.classes.clone() };
    AboutSample { target: data.target.clone(), most: sample.most(), shape }
}

fn take_sample(about: AboutSample, from: &mut Container) -> Result<RowSample> {
    let AboutSample { target, most, shape } = about;
    shape.check()?;
    let weights: Vec<f64> = from.take("weights")?;
    let codes = |name: &str, n: usize, from: &mut Container| {
        let words: Vec<u32> = from.take(name)?;
        let known = |w: &u32| *w == u32::MAX || (*w as usize) < n;
        if words.len() != weights.len() || !words.iter().all(known) {
            return Err(Error::model_file("the codes of a sample do not fit its columns"));
        }
        Ok(Codes::from_options(n, words.into_iter().map(|w| (w != u32::MAX).then_some(w as usize))))
    };
    let class = codes("class", shape.classes.len(), from)?;
    let mut columns = Vec::new();
    for (i, FeatureSpec { name, kind }) in shape.schema.features.iter().enumerate() {
        columns.push(match kind {
            FeatureKind::Categorical { categories } => {
                let codes = codes(&i.to_string(), categories.len(), from)?;
                Column::categorical(name, categories.clone(), codes)
            }
            FeatureKind::Numeric => {
                let numbers: Vec<f64> = from.take(&i.to_string())?;
                if numbers.len() != weights.len() || numbers.iter().any(|x| x.is_infinite()) {
                    return Err(Error::model_file("the numbers of a sample do not fit its columns"));
                }
                Column::numeric(name, numbers)
            }
        });
    }
    let features = Table::new(columns)?;
    let classes = shape.classes.clone();
    RowSample::of(&Dataset { target, features, classes, class, weights: Some(weights) }, most)
}
