//! Models that keep their statistics: others with the same states can be merged with them, so that more rows are learnt
//! later, or elsewhere, without those that were learnt before. States, categories and classes stay those of the first fit.

use super::{Aims, Findings, Gathered, Shape, Task, Work, aim};
use crate::model::fit::{Whole, finished};
use crate::model::registry::{Recipe, Rule};
use crate::model::{Dataset, FitOptions, Fitted, Model, ModelSpec};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_discrete::{Coding, Counted, DiscreteClassifier, Made, Next, Pass, PassFit};
use hingenet_gaussian::{GaussianParams, MomentTable, fit_moments, is_of_moments, needs_rows};
use std::borrow::Cow;
use std::sync::Mutex;

/// What was gathered, and what for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    pub(crate) task: Vec<u8>,
    pub(crate) gathered: Vec<u8>,
}

impl Kept {
    /// Refuses statistics that are not of this model (for those read from a file).
    pub(crate) fn check(&self, model: &Model) -> Result<()> {
        let task = Task::from_bytes(&self.task)?;
        let (shape, gathered) = match task.work {
            Work::Count { shape, .. } | Work::Moments { shape, .. } => {
                (shape, Gathered::from_bytes(&self.gathered)?)
            }
            Work::Columns | Work::Sample { .. } | Work::Pool { .. } | Work::Density { .. } => {
                return Err(Error::model_file("these statistics are not kept"));
            }
        };
        let fits = matches!(gathered.0, Findings::Count(_) | Findings::Moments(..));
        match fits
            && task.target == model.target
            && shape.schema == model.schema
            && shape.classes == model.classes
        {
            true => Ok(()),
            false => Err(Error::model_file("the statistics are not those of the model")),
        }
    }
}

/// The error of a model whose statistics cannot be kept.
pub(super) fn keeps_none(spec: &ModelSpec, why: &str) -> Error {
    Error::Unsupported {
        model: spec.name().into(),
        problem: format!("it keeps no statistics: {why}"),
        hint: "take nb:ml, tan:ml, kdb:ml, dag:ml, aode:ml, sgbn:search, or sgbn:or with lambda1 given, and complete rows".into(),
    }
}

/// Refuses networks that cannot be learnt again from their moments.
pub(super) fn require_moments(spec: &ModelSpec, params: &GaussianParams) -> Result<()> {
    match is_of_moments(params) && !needs_rows(params) {
        true => Ok(()),
        false => Err(keeps_none(spec, "its parameters or options are learnt from rows")),
    }
}

impl Model {
    /// Whether the model has the statistics that it is made of, so that it can be merged: those that it was asked to keep
    /// ([`FitOptions::keep_statistics`]), or the counts of the tables of a network of maximum likelihood.
    pub fn keeps_statistics(&self) -> bool {
        self.kept.is_some() || self.table_counts().is_some()
    }

    fn table_counts(&self) -> Option<(&DiscreteClassifier, &[f64])> {
        let (Fitted::Discrete(network), Recipe::Discrete(_, Rule::Ml)) =
            (&self.fitted, self.spec.info().recipe)
        else {
            return None;
        };
        Some((network, network.support().filter(|_| self.facts.missing_cells == 0)?))
    }

    fn kept(&self) -> Result<Cow<'_, Kept>> {
        if let Some(kept) = self.kept.as_deref() {
            return Ok(Cow::Borrowed(kept));
        }
        self.of_tables()?.map(Cow::Owned).ok_or_else(|| Error::Unsupported {
            model: self.spec.name().into(),
            problem: "the model does not keep its statistics".into(),
            hint: "fit it with `--keep-statistics`".into(),
        })
    }

    /// The counts that every network of maximum likelihood has of its own tables: its graph stays.
    fn of_tables(&self) -> Result<Option<Kept>> {
        let Some((network, support)) = self.table_counts() else { return Ok(None) };
        let (coders, n_classes) = (network.coders().to_vec(), self.classes.len());
        let work = Work::Count {
            shape: Shape { schema: self.schema.clone(), classes: self.classes.clone() },
            coding: Coding { coders, n_classes },
            pass: Pass::tables(network.network().structure()),
        };
        let task = Task { work, ..Task::columns(&self.target, None) };
        let counted = Counted { dense: support.to_vec(), ..Counted::default() };
        let gathered = Gathered(Findings::Count(counted)).to_bytes()?;
        Ok(Some(Kept { task: task.to_bytes()?, gathered }))
    }

    /// The same model fitted to other rows: states, categories and classes are those of this one, all counts are of the
    /// rows given. The two can be merged.
    pub fn fit_like(&self, data: &Dataset, control: &Control) -> Result<Model> {
        let kept = self.kept()?;
        let task = Task::from_bytes(&kept.task)?;
        let control = &control.keeping_warnings(&Default::default());
        let missing = data.features.n_missing();
        if missing > 0 {
            let problem =
                format!("{missing} cells are missing, and statistics are kept of complete rows only");
            return Err(Error::data(problem, "leave out these rows or columns, or fit to all rows at once"));
        }
        let gathered = task.gather_rows(data.clone(), control)?.without_few(&task, control)?;
        let whole = Whole { rows: data.n_rows(), missing, ranges: data.features.ranges(), ..self.whole() };
        self.remade(whole, &task, gathered, control)
    }

    /// This model and another with the same states, of other rows, as one: what a fit to the rows of both gives, had it had
    /// these states.
    pub fn merge(&self, other: &Model, control: &Control) -> Result<Model> {
        let (own, others) = (self.kept()?, other.kept()?);
        if self.spec != other.spec || own.task != others.task {
            return Err(Error::data(
                "the models differ in name, options, columns, states or classes",
                "fit one of them like the other (`fit --like MODEL.hgn`), then merge",
            ));
        }
        let mut gathered = Gathered::from_bytes(&own.gathered)?;
        gathered.merge(Gathered::from_bytes(&others.gathered)?)?;
        let mut whole = self.whole();
        let rows = whole.rows.checked_add(other.facts.rows);
        whole.rows = rows.ok_or_else(|| Error::model_file("no two tables have so many rows together"))?;
        for (name, [low, high]) in &other.facts.ranges {
            let range = whole.ranges.entry(name.clone()).or_insert([*low, *high]);
            *range = [range[0].min(*low), range[1].max(*high)];
        }
        self.remade(whole, &Task::from_bytes(&own.task)?, gathered, control)
    }

    fn whole(&self) -> Whole {
        Whole {
            rows: self.facts.rows,
            missing: self.facts.missing_cells,
            ranges: self.facts.ranges.clone(),
            target: self.target.clone(),
            classes: self.classes.clone(),
            schema: self.schema.clone(),
        }
    }

    fn remade(&self, whole: Whole, task: &Task, gathered: Gathered, control: &Control) -> Result<Model> {
        let options = FitOptions { seed: self.facts.seed, ..FitOptions::default() };
        let kept = Kept { task: task.to_bytes()?, gathered: gathered.to_bytes()? };
        let damaged = || Error::model_file("the statistics are not those of the model");
        let fit = match (&task.work, gathered.0, aim(&self.spec, &whole, options)?) {
            (Work::Count { coding, pass, .. }, Findings::Count(counted), Aims::Discrete(aim)) => {
                let features = whole.schema.features.iter().map(|f| f.name.clone()).collect();
                let passes = PassFit::of_counts(*aim, coding.clone(), features);
                match passes.counted(pass, counted, control)? {
                    Next::Made(made) => match *made {
                        Made::Network(fit) => fit.map(Fitted::Discrete),
                        Made::Average(fit) => fit.map(Fitted::Averaged),
                    },
                    Next::Pass(_) => {
                        return Err(keeps_none(&self.spec, "the tables of another graph need all rows"));
                    }
                }
            }
            (Work::Moments { grids, .. }, Findings::Moments(moments, _), Aims::Gaussian(params)) => {
                let table = MomentTable { schema: whole.schema.clone(), grids: grids.clone(), moments };
                let fit = fit_moments(&table, &whole.classes, None, &params, control)?;
                // moments from a file may be of numbers that no network can hold
                fit.model.check(&whole.schema)?;
                fit.map(Fitted::Gaussian)
            }
            _ => return Err(damaged()),
        };
        let mut model = finished(&self.spec, whole, fit, options, &Mutex::default());
        model.kept = Some(Box::new(kept));
        Ok(model)
    }
}
