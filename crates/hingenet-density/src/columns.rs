//! Training rows in the units of the family: numeric features standardised by all training rows, discrete
//! ones as codes.

use crate::estimate::sample::Sample;
use crate::params::Params;
use crate::structure::dependence::FEWEST_PAIR_ROWS;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_data::encode::{Divisor, Standard};
use hingenet_data::rows::Rows;
use hingenet_data::select::folds::{Order, stratified};
use hingenet_data::table::{Column, ColumnData, Table};

/// What a feature is to the densities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// A number.
    Continuous,
    /// One of so many values, coded 0, 1, ....
    Discrete(usize),
}

/// How one column of a table becomes a feature.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Unit {
    /// Constant in training: not used.
    Dropped,
    /// A number in standard deviations (n - 1) from the mean of the training rows.
    Standard(Standard),
    /// The values of a numeric column with few distinct values; others are treated as missing.
    Levels(Vec<f64>),
    /// A categorical column with so many categories.
    Categories(usize),
}

impl Unit {
    /// What the feature is; `None` if it is not used.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Unit::Dropped => None,
            Unit::Standard(_) => Some(Kind::Continuous),
            Unit::Levels(values) => Some(Kind::Discrete(values.len())),
            Unit::Categories(n) => Some(Kind::Discrete(*n)),
        }
    }

    /// A raw cell in this unit; NaN (missing) stays NaN.
    fn encode(&self, x: f64) -> f64 {
        match self {
            Unit::Standard(standard) => standard.score(x),
            Unit::Levels(values) => values.iter().position(|v| *v == x).map_or(f64::NAN, |code| code as f64),
            Unit::Categories(n) if x < *n as f64 => x,
            Unit::Categories(_) | Unit::Dropped => f64::NAN,
        }
    }

    /// `log` of the factor that turns a density of this feature into original units: `-log sd`.
    pub fn log_scale(&self) -> f64 {
        match self {
            Unit::Standard(standard) => -standard.sd.ln(),
            _ => 0.0,
        }
    }
}

/// The units of all columns of a table.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Units {
    /// The unit of every table column.
    pub units: Vec<Unit>,
}

impl Units {
    /// Learns the units from raw cells of the columns of `table` (codes for categories) with weights.
    fn learn(table: &Table, cells: &[Vec<f64>], weights: &[f64], control: &Control) -> Self {
        let learn = |(column, cells): (&Column, &Vec<f64>)| {
            let unit = unit_of(column, cells, weights);
            if unit == Unit::Dropped {
                control.warn(&format!("column `{}` is constant in training and is not used", column.name()));
            }
            unit
        };
        Units { units: table.columns().iter().zip(cells).map(learn).collect() }
    }

    /// Table columns that are used, ascending: feature f is column `used()[f]`.
    pub fn used(&self) -> Vec<usize> {
        (0..self.units.len()).filter(|&i| self.units[i] != Unit::Dropped).collect()
    }

    /// Kinds of the used features.
    pub fn kinds(&self) -> Vec<Kind> {
        self.units.iter().filter_map(Unit::kind).collect()
    }

    /// The used features of a table, feature by feature; NaN stands for missing.
    pub fn encode(&self, table: &Table) -> Result<Vec<Vec<f64>>> {
        require_len("feature columns", self.units.len(), table.n_columns())?;
        for (column, unit) in table.columns().iter().zip(&self.units) {
            let numeric = matches!(unit, Unit::Standard(_) | Unit::Levels(_));
            let fits = *unit == Unit::Dropped || numeric == column.as_numeric().is_some();
            if !fits {
                let problem = "the type differs from training";
                return Err(Error::column(column.name(), problem, "give the training columns"));
            }
        }
        Ok(self.encode_cells(&raw_cells(table)?))
    }

    fn encode_cells(&self, cells: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let used = cells.iter().zip(&self.units).filter(|(_, unit)| **unit != Unit::Dropped);
        used.map(|(cells, unit)| cells.iter().map(|x| unit.encode(*x)).collect()).collect()
    }
}

/// Numbers as they are, codes of categories, NaN for missing; infinities are refused.
fn raw_cells(table: &Table) -> Result<Vec<Vec<f64>>> {
    table.require_finite()?;
    let raw = |column: &Column| match column.data() {
        ColumnData::Categorical(c) => c.codes().iter().map(|c| c.map_or(f64::NAN, |c| c as f64)).collect(),
        ColumnData::Numeric(numbers) => numbers.with_nan().to_vec(),
    };
    Ok(table.columns().iter().map(raw).collect())
}

/// A numeric column with at most this many distinct values is discrete: so few have frequencies, not a density.
const DISCRETE_VALUES: usize = 10;

fn unit_of(column: &Column, cells: &[f64], weights: &[f64]) -> Unit {
    let seen = || cells.iter().zip(weights).filter(|(x, _)| !x.is_nan());
    let mut distinct: Vec<f64> = seen().map(|(x, _)| *x).collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() < 2 {
        return Unit::Dropped;
    }
    if let ColumnData::Categorical(c) = column.data() {
        return Unit::Categories(c.categories().len());
    }
    // A handful of rows with different values is not a discrete column.
    if distinct.len() <= DISCRETE_VALUES && (distinct.len() as f64) < seen().map(|(_, w)| w).sum() {
        return Unit::Levels(distinct);
    }
    let standard = Standard::learn(cells, Some(weights), Divisor::OneLess);
    if standard.is_constant() { Unit::Dropped } else { Unit::Standard(standard) }
}

/// Training rows: features column by column (NaN is missing), class codes and weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// Kinds of the features.
    pub kinds: Vec<Kind>,
    /// Cells, feature by feature.
    pub values: Vec<Vec<f64>>,
    pub(crate) class: Vec<usize>,
    pub(crate) weights: Vec<f64>,
    pub(crate) n_classes: usize,
    /// Lower bound of bandwidths: 1e-3 in standardised units.
    pub(crate) least_bandwidth: f64,
}

impl Columns {
    /// Rows as they are: no standardisation, no merging, no lower bound of the bandwidths.
    pub fn raw(kinds: Vec<Kind>, values: Vec<Vec<f64>>, class: Vec<usize>, n_classes: usize) -> Result<Self> {
        require_len("kinds of features", values.len(), kinds.len())?;
        for column in &values {
            require_len("cells of a feature", class.len(), column.len())?;
        }
        let weights = vec![1.0; class.len()];
        Ok(Columns { kinds, values, class, weights, n_classes, least_bandwidth: 0.0 })
    }

    /// Learns the units of the columns and encodes the rows; every class must have some.
    pub fn learn(rows: &Rows<'_>, params: &Params, control: &Control) -> Result<(Units, Self)> {
        require_enough_rows(rows, params, control)?;
        let (cells, weights) = (raw_cells(rows.features())?, rows.all_weights());
        require_enough_weight(&weights)?;
        let units = Units::learn(rows.features(), &cells, &weights, control);
        let columns = Columns {
            kinds: units.kinds(),
            values: units.encode_cells(&cells),
            class: rows.class_codes(),
            weights,
            n_classes: rows.n_classes(),
            least_bandwidth: 1e-3,
        };
        if columns.n_features() == 0 {
            return Err(Error::data("every feature is constant", "give a feature that varies"));
        }
        Ok((units, columns))
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.values.len()
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.class.len()
    }

    /// Feature `i` of the given rows.
    pub(crate) fn sample(&self, i: usize, rows: &[usize]) -> Sample {
        let of = |v: &[f64]| rows.iter().map(|&r| v[r]).collect();
        Sample::weighted(of(&self.values[i]), of(&self.weights))
    }

    /// Rows of class `y`, ascending.
    pub fn rows_of(&self, y: usize) -> Vec<usize> {
        (0..self.n_rows()).filter(|&r| self.class[r] == y).collect()
    }

    /// Total weight of each class.
    pub fn class_totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.n_classes];
        for (y, w) in self.class.iter().zip(&self.weights) {
            totals[*y] += w;
        }
        totals
    }

    /// The given rows, in the given order.
    pub fn subset(&self, rows: &[usize]) -> Columns {
        let of = |v: &Vec<f64>| rows.iter().map(|&r| v[r]).collect();
        Columns {
            kinds: self.kinds.clone(),
            values: self.values.iter().map(of).collect(),
            class: rows.iter().map(|&r| self.class[r]).collect(),
            weights: of(&self.weights),
            ..*self
        }
    }

    /// Stratified folds: fold number of every row, each class dealt out in a random order.
    pub fn folds(&self, k: usize, seed: u64) -> Vec<usize> {
        stratified(self.class.iter().map(|y| Some(*y)), k, Order::ShuffledByClass(seed))
    }
}

/// Refuses weights of which all together are less than two rows: there is no spread with divisor n - 1.
fn require_enough_weight(weights: &[f64]) -> Result<()> {
    let total: f64 = weights.iter().sum();
    if total >= 2.0 {
        return Ok(());
    }
    let problem = format!(
        "all rows together weigh {total:.1e}, less than two rows, and densities count rows by their weights"
    );
    Err(Error::data(problem, "multiply all weights by the same number, so that a row weighs about 1"))
}

/// Fewest rows of a class with densities of its own.
const FEWEST_ROWS: f64 = 4.0;

/// Refuses classes without rows, and with fewer than 4 unless they are allowed; warns of classes with fewer than 20.
fn require_enough_rows(rows: &Rows<'_>, params: &Params, control: &Control) -> Result<()> {
    let (counts, totals) = (rows.class_counts(), rows.class_totals());
    let mut few = Vec::new();
    for (y, name) in rows.classes().iter().enumerate() {
        if counts[y] == 0 {
            let problem = format!("class `{name}` has no training row");
            return Err(Error::data(problem, "drop the class or add rows"));
        }
        if !params.tiny_classes {
            rows.require_class_rows(y, FEWEST_ROWS, "densities need 4")?;
        }
        let n = (counts[y] as f64).max(totals[y].floor());
        if n < FEWEST_PAIR_ROWS {
            few.push(format!("`{name}` ({n})"));
        }
    }
    if !few.is_empty() {
        let rule = if params.pairs_in_small_classes {
            "their pair densities are uncertain"
        } else {
            "they get no pair densities unless they are asked for"
        };
        control.warn(&format!("classes with fewer than 20 rows: {}; {rule}", few.join(", ")));
    }
    Ok(())
}
