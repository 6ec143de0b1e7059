//! From a data set and a model name to a fitted model.

use super::registry::{Recipe, Rule};
use super::{
    Dataset, Facts, Fitted, Majority, Model, ModelSpec, NumberData, PieceFit, Ranges, density, discrete,
    gaussian, pool, sets,
};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_data::table::Schema;
use hingenet_discrete::fit_averaged;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a fit needs beside data and model name.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitOptions {
    /// Seed of every random choice.
    pub seed: u64,
    /// Ends the search for options after 60 % of this time and the fit after all of it, with the best so far (models
    /// of [`can_be_timed`](super::ModelInfo::can_be_timed)); the result then depends on the speed of the machine. Other fits
    /// fail if they are not done by then.
    pub max_time: Option<Duration>,
    /// Share of the rows to hold back from the fit, 5000 at most, for [`Model::prediction_sets`].
    pub calibrate_sets: Option<f64>,
    /// Whether the model keeps its statistics, so that it can be merged with others ([`Model::merge`]).
    pub keep_statistics: bool,
    /// Counts of fewer rows are not among them, and the model is made without these; 0 keeps all.
    pub least_count: u64,
}

impl FitOptions {
    /// Refuses options that do not go together.
    pub(super) fn check(&self) -> Result<()> {
        let (least, fits) = (self.least_count, self.keep_statistics || self.least_count == 0);
        require("least_count", least, "0 where no statistics are kept", fits)
    }

    /// A control that keeps the time, from now on.
    pub(super) fn timed(&self, spec: &ModelSpec, control: &Control) -> Control {
        match self.max_time {
            None => control.clone(),
            Some(time) if spec.info().can_be_timed() => control.clone().within(time),
            Some(time) => control.clone().at_most(time),
        }
    }
}

/// Fits the named model. Rows of weight zero are dropped, equal rows merged and all rows sorted first ([`Rows`]), so
/// that row order and duplication never matter; a fit that adds whole numbers only has that property by itself and is
/// spared the sorting.
pub fn fit(spec: &ModelSpec, data: &Dataset, options: FitOptions, control: &Control) -> Result<Model> {
    control.check()?;
    options.check()?;
    let control = &options.timed(spec, control);
    match options.calibrate_sets {
        None => fit_all(spec, data, options, control),
        Some(share) => sets::fit_calibrated(spec, data, share, options, control),
    }
}

/// Fits the named model to all rows.
pub(super) fn fit_all(
    spec: &ModelSpec,
    data: &Dataset,
    options: FitOptions,
    control: &Control,
) -> Result<Model> {
    if options.keep_statistics {
        return PieceFit::new(spec, &data.target, None, options)?.fit_whole(data, control);
    }
    let cells = Cells { rows: data.n_rows(), missing: data.features.n_missing() };
    let rows = match spec.info().recipe {
        Recipe::Discrete(_, Rule::Ml) => match Rows::counted(data)? {
            Some(rows) => rows,
            None => Rows::partly_labelled(data)?,
        },
        Recipe::Discrete(_, Rule::MlBnSvm) => Rows::partly_labelled(data)?,
        _ if data.class.has_missing() => return Err(needs_classes(spec)),
        _ => Rows::of(data)?,
    };
    fit_rows(spec, &rows, cells, options, control)
}

fn needs_classes(spec: &ModelSpec) -> Error {
    Error::Unsupported {
        model: spec.name().into(),
        problem: "it cannot learn from rows without a class".into(),
        hint:
            "leave these rows out (`--drop-unlabelled`), or take `:ml` or `:ml-bn-svm` of nb, tan, kdb or dag"
                .into(),
    }
}

/// Fits the named model to numbers that stay with the caller, with the same bits as [`fit`]. The sorted rows
/// are the only copy, except for discrete networks, which need no sorting, but columns, and where rows are held back.
pub fn fit_numbers(
    spec: &ModelSpec,
    data: &NumberData<'_>,
    options: FitOptions,
    control: &Control,
) -> Result<Model> {
    control.check()?;
    let needs_columns = options.calibrate_sets.is_some() || options.keep_statistics;
    if matches!(spec.info().recipe, Recipe::Discrete(..)) || needs_columns {
        return fit(spec, &data.dataset()?, options, control);
    }
    let control = &options.timed(spec, control);
    let cells = Cells { rows: data.rows.n_rows(), missing: data.rows.n_missing() };
    fit_rows(spec, &Rows::of_numbers(data)?, cells, options, control)
}

/// Size of the table a fit was asked for, before equal rows were merged.
pub(super) struct Cells {
    pub(super) rows: usize,
    pub(super) missing: usize,
}

/// Fits the named model to rows that can be learnt from.
pub(super) fn fit_rows(
    spec: &ModelSpec,
    rows: &Rows<'_>,
    cells: Cells,
    options: FitOptions,
    control: &Control,
) -> Result<Model> {
    let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
    let control = &control.keeping_warnings(&warnings);
    let fit = match spec.info().recipe {
        Recipe::Majority => {
            let model = Fitted::Majority(Majority::fit(&rows.class_totals()));
            Fit { model, reports: Vec::new(), chosen: BTreeMap::new() }
        }
        Recipe::Discrete(graph, rule) => {
            let params = discrete::params(graph, spec, rows.dataset())?;
            let learning = discrete::learning(rule, spec);
            hingenet_discrete::fit(rows, &params, learning.as_ref(), control)?.map(Fitted::Discrete)
        }
        Recipe::Averaged { margin } => {
            let rule = discrete::member_rule(margin, spec);
            fit_averaged(rows, discrete::ALPHA.of(spec), rule, control)?.map(Fitted::Averaged)
        }
        Recipe::Density(variant) => {
            let dense = rows.without_empty_classes();
            let learnt = dense.as_ref().unwrap_or(rows);
            let params = density::params(variant, spec, learnt, options)?;
            let fitted = hingenet_density::fit(learnt, &params, control)?;
            fitted.map(|model| Fitted::Density(model.among(rows.n_classes(), &rows.present())))
        }
        Recipe::Gaussian { structure, learning, fisher } => {
            let params = gaussian::params(structure, learning, fisher, spec, options);
            hingenet_gaussian::fit(rows, &params, control)?.map(Fitted::Gaussian)
        }
        Recipe::Pool => {
            let pool = pool::fit(spec, rows, options, control)?;
            let facts = &pool.facts;
            let reports = facts.pool_report.iter().chain([&facts.machine_report]).cloned().collect();
            Fit { model: Fitted::Pool(Box::new(pool)), reports, chosen: BTreeMap::new() }
        }
    };
    let whole = Whole {
        rows: cells.rows,
        missing: cells.missing,
        ranges: rows.features().ranges(),
        target: rows.target().to_string(),
        classes: rows.classes().to_vec(),
        schema: Schema::of(rows.features()),
    };
    Ok(finished(spec, whole, fit, options, &warnings))
}

/// What a model keeps of the table it was fitted to.
#[derive(Clone)]
pub(super) struct Whole {
    pub(super) rows: usize,
    pub(super) missing: usize,
    pub(super) ranges: Ranges,
    pub(super) target: String,
    pub(super) classes: Vec<String>,
    pub(super) schema: Schema,
}

/// The model, with what is worth knowing about how it came about.
pub(super) fn finished(
    spec: &ModelSpec,
    whole: Whole,
    fit: Fit<Fitted>,
    options: FitOptions,
    warnings: &Mutex<Vec<String>>,
) -> Model {
    let Fit { model: fitted, reports, chosen } = fit;
    let facts = Facts {
        rows: whole.rows,
        missing_cells: whole.missing,
        seed: options.seed,
        ranges: whole.ranges,
        solver: worst(&reports),
        chosen: chosen.into_iter().map(|(key, value)| (spec.info().name_of(key), value)).collect(),
        warnings: warnings.lock().map(|w| w.clone()).unwrap_or_default(),
    };
    let Whole { target, classes, schema, .. } = whole;
    Model { spec: spec.clone(), target, classes, schema, facts, fitted, sets: None, kept: None }
}

/// Of several solvers the one that ended worst: not converged before converged, then by its gap.
fn worst(reports: &[SolverReport]) -> Option<SolverReport> {
    let key = |r: &SolverReport| (!r.converged, r.gap.unwrap_or(0.0));
    let worse = |a: &&SolverReport, b: &&SolverReport| {
        let ((a_open, a_gap), (b_open, b_gap)) = (key(a), key(b));
        a_open.cmp(&b_open).then(a_gap.total_cmp(&b_gap))
    };
    reports.iter().max_by(worse).cloned()
}
