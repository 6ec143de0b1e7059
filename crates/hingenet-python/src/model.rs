//! Fitting by model name, and fitted models.

use crate::error::{for_python, to_python};
use crate::features::{Features, codes};
use crate::work;
use hingenet::model::{
    self, Dataset, FitOptions, Gaps, ModelInfo, ModelSpec, NumberData, OptionDefault, OptionInfo, OptionKind,
    Predictions,
};
use hingenet::table::{AlignReport, Codes, Column, Table, UnseenPolicy};
use hingenet::{Control, Explanation, ExplanationKind, Reasons, ShapleyParams};
use hingenet_data::table::{NumberRows, category_order};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use std::time::Duration;

/// Tables of at most this many cells are predicted on the calling thread: a worker would cost more than
/// the work, which is too short to be interrupted.
const SMALL: usize = 2_000;

/// Column, number of cells and first of the categories that training has not seen.
type Unseen = (String, usize, String);

/// What is answered about each class of each row, and what training has not seen of the rows.
type Answers<'py, T> = PyResult<(Bound<'py, PyArray2<T>>, Vec<Unseen>)>;

/// Arrays by name.
type Arrays<'py> = PyResult<Bound<'py, PyDict>>;

/// A fitted model.
#[pyclass(frozen, module = "hingenet._engine")]
pub struct Model(pub model::Model);

/// What a fit learns from: numbers where they lie, or a table.
pub enum Data<'a> {
    /// A C-ordered matrix of Python.
    InPlace(NumberData<'a>),
    /// Columns.
    Table(Dataset),
}

/// Rows to learn from, as `hingenet._input` has them.
#[derive(FromPyObject)]
pub struct Labelled<'py> {
    pub features: Features<'py>,
    pub names: Vec<String>,
    /// In the order of `classes`.
    pub codes: PyReadonlyArray1<'py, i64>,
    pub classes: Vec<String>,
    pub target: String,
    pub weights: Option<PyReadonlyArray1<'py, f64>>,
}

impl Labelled<'_> {
    /// The classes in the order of every reader, and the class of each row among them.
    pub fn class(&self) -> PyResult<(Vec<String>, Codes)> {
        let mut ordered = self.classes.clone();
        category_order(&mut ordered);
        let class = codes(&self.target, &self.codes, self.classes.len())?.recode(&self.classes, &ordered);
        Ok((ordered, class))
    }

    /// The rows as a fit takes them.
    pub fn data(&self) -> PyResult<Data<'_>> {
        let (classes, class) = self.class()?;
        let weights = self.weights.as_ref().map(|w| w.as_array().to_vec());
        let (target, names) = (self.target.clone(), &self.names);
        if let Some(rows) = self.features.in_place()? {
            let names = names.clone();
            return Ok(Data::InPlace(NumberData { target, rows, names, classes, class, weights }));
        }
        let table = self.features.table(names.iter().map(String::as_str))?;
        Dataset::from_parts(target, table, classes, class, weights).map(Data::Table).map_err(to_python)
    }
}

/// Fits the model named `spec`.
#[pyfunction]
#[pyo3(signature = (spec, rows, seed=0, threads=1, progress=None, max_time=None, calibrate_sets=None, max_memory=None, keep_statistics=false))]
#[allow(clippy::too_many_arguments)] // keyword arguments in Python
pub fn fit(
    py: Python<'_>,
    spec: &str,
    rows: Labelled<'_>,
    seed: u64,
    threads: usize,
    progress: Option<Bound<'_, PyAny>>,
    max_time: Option<f64>,
    calibrate_sets: Option<f64>,
    max_memory: Option<f64>,
    keep_statistics: bool,
) -> PyResult<Model> {
    let spec: ModelSpec = spec.parse().map_err(to_python)?;
    let data = rows.data()?;
    let seconds = |s: f64| {
        let time = Duration::try_from_secs_f64(s);
        time.map_err(|_| {
            PyValueError::new_err(format!("max_time = {s}: expected a number of seconds, 0 or more"))
        })
    };
    let options = FitOptions {
        seed,
        max_time: max_time.map(seconds).transpose()?,
        calibrate_sets,
        keep_statistics,
        least_count: 0,
    };
    if let Some(bytes) = max_memory.filter(|bytes| bytes.is_nan() || *bytes < 0.0) {
        let text = format!("max_memory = {bytes}: expected a number of bytes, 0 or more");
        return Err(PyValueError::new_err(text));
    }
    work::run(py, threads, progress.as_ref(), |control| {
        let control = max_memory.map_or(control.clone(), |bytes| control.clone().within_memory(bytes as u64));
        match &data {
            Data::InPlace(data) => model::fit_numbers(&spec, data, options, &control),
            Data::Table(data) => model::fit(&spec, data, options, &control),
        }
    })
    .map(Model)
}

/// What looks wrong with the rows of a frame to learn from, and what mends it, a text for each.
#[pyfunction]
pub fn doubts(rows: Labelled<'_>) -> PyResult<Vec<String>> {
    let found = match rows.data()? {
        Data::InPlace(_) => Vec::new(),
        Data::Table(data) => model::doubts(&data),
    };
    Ok(found.iter().map(|doubt| for_python(&doubt.to_string())).collect())
}

/// Every model there is as JSON: name, what it is, and its options as they are declared: key, kind, words, values
/// allowed, default (null where it is no single value, and `otherwise` says what happens) and what they do.
#[pyfunction]
pub fn models() -> String {
    let option = |o: &OptionInfo| {
        let (kind, words) = match o.kind {
            OptionKind::Number(..) => ("number", None),
            OptionKind::Whole(..) => ("whole", None),
            OptionKind::Word(["false", "true"]) => ("flag", None),
            OptionKind::Word(words) => ("word", Some(words)),
            OptionKind::Text { .. } => ("text", None),
        };
        let (default, otherwise) = match o.default {
            OptionDefault::Number(x) => (json!(x), None),
            OptionDefault::Whole(n) => (json!(n), None),
            OptionDefault::Word(word) if kind == "flag" => (json!(word == "true"), None),
            OptionDefault::Word(word) => (json!(word), None),
            OptionDefault::Open(text) => (Value::Null, Some(text)),
        };
        json!({"key": o.key, "kind": kind, "words": words, "values": o.kind.to_string(), "default": default,
            "otherwise": otherwise, "about": o.about})
    };
    let model = |m: &ModelInfo| {
        let options: Vec<Value> = m.options.iter().map(option).collect();
        json!({"name": m.name, "about": m.about, "options": options})
    };
    Value::Array(model::models().iter().map(model).collect()).to_string()
}

/// What a model file says about itself (JSON), without reading the parameters.
#[pyfunction]
pub fn read_header(path: &str) -> PyResult<String> {
    model::Model::read_header(path).map(|header| header.to_string()).map_err(to_python)
}

#[pymethods]
impl Model {
    /// The model in the bytes of a model file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        model::Model::from_bytes(bytes).map(Model).map_err(to_python)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.to_bytes().map(|bytes| PyBytes::new(py, &bytes)).map_err(to_python)
    }

    /// Pickles and copies by the bytes of the model file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: &str) -> PyResult<Self> {
        model::Model::load(path).map(Model).map_err(to_python)
    }

    /// Writes the model file.
    fn save(&self, path: &str) -> PyResult<()> {
        self.0.save(path).map_err(to_python)
    }

    /// Name and options.
    #[getter]
    fn spec(&self) -> String {
        self.0.spec.to_string()
    }

    /// Name of the target.
    #[getter]
    fn target(&self) -> &str {
        &self.0.target
    }

    /// Class names in the order of the columns of `proba`.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes.clone()
    }

    /// Feature names and, for categorical features, their categories.
    #[getter]
    fn features(&self) -> Vec<(String, Option<Vec<String>>)> {
        use hingenet::table::FeatureKind::{Categorical, Numeric};
        let one = |f: &hingenet::table::FeatureSpec| match &f.kind {
            Numeric => (f.name.clone(), None),
            Categorical { categories } => (f.name.clone(), Some(categories.clone())),
        };
        self.0.schema.features.iter().map(one).collect()
    }

    /// Facts of the fit as JSON: rows, chosen options, how the solver ended, warnings.
    fn facts(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.facts).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// Whether the model has the statistics that it is made of.
    #[getter]
    fn keeps_statistics(&self) -> bool {
        self.0.keeps_statistics()
    }

    /// The same model of other rows, with class codes in the order of `classes`.
    #[pyo3(signature = (features, y, classes, threads=1))]
    fn fit_like(
        &self,
        py: Python<'_>,
        features: Features<'_>,
        y: PyReadonlyArray1<'_, i64>,
        classes: Vec<String>,
        threads: usize,
    ) -> PyResult<Self> {
        let names = self.0.schema.features.iter().map(|f| f.name.as_str());
        let target = self.0.target.clone();
        let class = codes(&target, &y, classes.len())?.recode(&classes, &self.0.classes);
        let features = features.table(names)?;
        let data = Dataset { target, features, classes: self.0.classes.clone(), class, weights: None };
        work::run(py, threads, None, |control| self.0.fit_like(&data, control)).map(Model)
    }

    /// This model and one of other rows as one.
    #[pyo3(signature = (other, threads=1))]
    fn merge(&self, py: Python<'_>, other: &Model, threads: usize) -> PyResult<Self> {
        work::run(py, threads, None, |control| self.0.merge(&other.0, control)).map(Model)
    }

    /// The same model, which reads missing cells as in training or as not known.
    fn reading_gaps(&self, as_in_training: bool) -> Self {
        let mut model = self.0.clone();
        model.read_gaps(if as_in_training { Gaps::AsInTraining } else { Gaps::Unknown });
        Model(model)
    }

    /// Columns whose gaps tell the class, with the gain in log-loss and its standard error.
    fn telling_gaps(&self) -> Option<(Vec<String>, f64, f64)> {
        let gaps = self.0.pool_summary()?.gaps?;
        Some((gaps.columns, gaps.gain.mean, gaps.gain.error))
    }

    /// `log P(class | observed cells)` (or the probability itself), one row per sample, and the columns with
    /// unseen categories as (column, cells, first).
    #[pyo3(signature = (features, log=true, threads=1))]
    fn proba<'py>(
        &self,
        py: Python<'py>,
        features: Features<'_>,
        log: bool,
        threads: usize,
    ) -> Answers<'py, f64> {
        self.answers(py, &features, threads, |predictions| {
            let mut values = std::mem::take(&mut predictions.log_proba);
            if !log {
                // here and not in Python, so that every way to predict gives the same bits
                values.iter_mut().for_each(|v| *v = v.exp());
            }
            Ok(values)
        })
    }

    /// Whether each class belongs to the prediction set of each row, and the columns with unseen categories.
    #[pyo3(signature = (features, coverage, threads=1))]
    fn sets<'py>(
        &self,
        py: Python<'py>,
        features: Features<'_>,
        coverage: f64,
        threads: usize,
    ) -> Answers<'py, bool> {
        self.answers(py, &features, threads, |predictions| self.0.prediction_sets(predictions, coverage))
    }

    /// The terms behind the decisions, as arrays: `base` and `scores` (row by class), `additive` (row),
    /// and one entry per term in `row`, `feature`, `given` and `terms` (term by class).
    #[pyo3(signature = (features, threads=1))]
    fn terms<'py>(&self, py: Python<'py>, features: Features<'_>, threads: usize) -> Arrays<'py> {
        let explanations = self.explanations(py, &features, Reasons::Terms, threads)?;
        let k = self.0.classes.len();
        let matrix = |v: Vec<f64>| {
            let n_rows = v.len() / k;
            v.into_pyarray(py).reshape([n_rows, k])
        };
        let terms = || explanations.iter().enumerate().flat_map(|(m, e)| e.terms.iter().map(move |t| (m, t)));
        let out = PyDict::new(py);
        let additive = explanations.iter().map(|e| e.kind == ExplanationKind::Additive);
        out.set_item("additive", PyArray1::from_iter(py, additive))?;
        out.set_item("base", matrix(explanations.iter().flat_map(|e| e.base.clone()).collect())?)?;
        out.set_item("scores", matrix(explanations.iter().flat_map(|e| e.scores.clone()).collect())?)?;
        out.set_item("row", PyArray1::from_iter(py, terms().map(|(m, _)| m as i64)))?;
        out.set_item("feature", PyArray1::from_iter(py, terms().map(|(_, t)| t.feature as i64)))?;
        out.set_item("given", terms().map(|(_, t)| t.given.clone()).collect::<Vec<_>>())?;
        out.set_item("terms", matrix(terms().flat_map(|(_, t)| t.scores.clone()).collect())?)?;
        Ok(out)
    }

    /// Shapley values, as arrays: `base` and `total` (row by class), `values` and `standard_error` (row by feature by
    /// class, 0 where a cell is missing or a value exact), `known` (row by feature).
    #[pyo3(signature = (features, evaluations, seed=0, threads=1))]
    fn shapley<'py>(
        &self,
        py: Python<'py>,
        features: Features<'_>,
        evaluations: usize,
        seed: u64,
        threads: usize,
    ) -> Arrays<'py> {
        let reasons = Reasons::Shapley(ShapleyParams { evaluations, seed });
        let explanations = self.explanations(py, &features, reasons, threads)?;
        let (n, d, k) = (explanations.len(), self.0.schema.features.len(), self.0.classes.len());
        let (mut values, mut errors) = (vec![0.0; n * d * k], vec![0.0; n * d * k]);
        let mut known = vec![false; n * d];
        for (m, term) in
            explanations.iter().enumerate().flat_map(|(m, e)| e.terms.iter().map(move |t| (m, t)))
        {
            let at = m * d + term.feature;
            known[at] = true;
            values[at * k..(at + 1) * k].copy_from_slice(&term.scores);
            term.standard_error.iter().for_each(|e| errors[at * k..(at + 1) * k].copy_from_slice(e));
        }
        let rows = |of: fn(&Explanation) -> &Vec<f64>| {
            explanations.iter().flat_map(of).copied().collect::<Vec<f64>>()
        };
        let out = PyDict::new(py);
        out.set_item("base", rows(|e| &e.base).into_pyarray(py).reshape([n, k])?)?;
        out.set_item("total", rows(|e| &e.scores).into_pyarray(py).reshape([n, k])?)?;
        out.set_item("values", values.into_pyarray(py).reshape([n, d, k])?)?;
        out.set_item("standard_error", errors.into_pyarray(py).reshape([n, d, k])?)?;
        out.set_item("known", known.into_pyarray(py).reshape([n, d])?)?;
        Ok(out)
    }
}

/// Rows in the order of the training columns.
pub enum Rows<'a> {
    /// Numbers where they lie.
    InPlace(NumberRows<'a>),
    /// Columns.
    Table(Table),
}

impl Model {
    /// What `answer` makes of the predictions of `features`, one value for each class of each row.
    fn answers<'py, T: Element>(
        &self,
        py: Python<'py>,
        features: &Features<'_>,
        threads: usize,
        answer: impl FnOnce(&mut Predictions) -> hingenet::Result<Vec<T>>,
    ) -> Answers<'py, T> {
        let mut predictions = self.predictions(py, features, threads)?;
        let shape = [predictions.len(), predictions.n_classes];
        let values = answer(&mut predictions).map_err(to_python)?;
        Ok((values.into_pyarray(py).reshape(shape)?, unseen(predictions.report)))
    }

    /// Predictions of `features`, which stand in the order of training.
    fn predictions(&self, py: Python<'_>, features: &Features<'_>, threads: usize) -> PyResult<Predictions> {
        let (rows, (n_rows, n_columns)) = (self.rows(features)?, features.shape());
        let predict = |control: &Control| match &rows {
            Rows::InPlace(rows) => self.0.predict_numbers(rows, UnseenPolicy::Missing, control),
            Rows::Table(table) => self.0.predict_watched(table, UnseenPolicy::Missing, control),
        };
        if n_rows.saturating_mul(n_columns) <= SMALL {
            py.detach(|| predict(&Control::default())).map_err(to_python)
        } else {
            work::run(py, threads, None, predict)
        }
    }

    fn explanations(
        &self,
        py: Python<'_>,
        features: &Features<'_>,
        reasons: Reasons,
        threads: usize,
    ) -> PyResult<Vec<Explanation>> {
        let table = self.table(features)?;
        work::run(py, threads, None, |control| {
            let explanations = self.0.explanations(&table, UnseenPolicy::Missing, reasons, control)?;
            explanations.map(|e| control.check().and(e)).collect()
        })
    }

    /// The table of `features`, which stand in the order of training.
    pub fn table(&self, features: &Features<'_>) -> PyResult<Table> {
        features.table(self.0.schema.features.iter().map(|f| f.name.as_str()))
    }

    /// The same with class codes (in the order of `classes`), negative ones missing.
    pub fn table_with_class(
        &self,
        features: &Features<'_>,
        y: &PyReadonlyArray1<'_, i64>,
    ) -> PyResult<Table> {
        let class = codes(&self.0.target, y, self.0.classes.len())?;
        let class = Column::categorical(&self.0.target, self.0.classes.clone(), class);
        let columns = self.table(features)?.columns().iter().cloned().chain([class]).collect();
        Table::new(columns).map_err(to_python)
    }

    /// The rows of `features`, in place where that is possible.
    pub fn rows<'a>(&self, features: &'a Features<'_>) -> PyResult<Rows<'a>> {
        match features.in_place()? {
            Some(rows) if rows.n_columns() == self.0.schema.features.len() => Ok(Rows::InPlace(rows)),
            _ => self.table(features).map(Rows::Table),
        }
    }

    /// `work` on the rows of `features`, in blocks where they lie in place; its numbers one after the other.
    pub fn row_by_row(
        &self,
        py: Python<'_>,
        features: &Features<'_>,
        threads: usize,
        work: impl Fn(&Table) -> hingenet::Result<Vec<f64>> + Sync,
    ) -> PyResult<Vec<f64>> {
        let rows = self.rows(features)?;
        work::run(py, threads, None, |control| match &rows {
            Rows::InPlace(rows) => Ok(self.0.in_blocks(rows, control, &work)?.concat()),
            Rows::Table(table) => work(table),
        })
    }
}

fn unseen(report: AlignReport) -> Vec<Unseen> {
    report.unseen.into_iter().map(|u| (u.column, u.cells, u.first)).collect()
}
