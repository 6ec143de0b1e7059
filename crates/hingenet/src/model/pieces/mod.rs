//! Fits to tables that come in pieces: batches of files larger than memory, or parts on many machines. The fit asks for
//! one round after the other; a round is a task that is carried out on every piece, in any order and anywhere, and
//! what it gathered is merged in any order too. Tasks and what they gather are bytes, so they can travel.
//!
//! ```text
//! loop {
//!     task = fit.task()                                     // the same for all pieces
//!     gathered = merge(gather(task, piece) for all pieces)  // whole numbers, so the order does not matter
//!     fit.advance(gathered)                                 // the next round, or the model
//! }
//! ```

mod bytes;
mod kept;
mod least;
mod rounds;
mod table;

pub(crate) use kept::Kept;
pub use table::PieceTable;

use super::fit::{Whole, finished};
use super::majority::Majority;
use super::registry::Recipe;
use super::{Dataset, FitOptions, Fitted, Model, ModelSpec, density, discrete, gaussian};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::pieces::{CodedRows, MOST_ROWS, RowSample, TableScan, piece, whole_weights};
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_data::table::{Codes, Schema, Table, UnseenPolicy};
use hingenet_density::{DensityPlan, DensitySums, DensityTask, Variant};
use hingenet_discrete::{Aim, Coding, Counted, Made, Next, Pass, PassFit};
use hingenet_gaussian::{
    ExactMoments, GaussianParams, MomentTable, NodeGrids, fit_moments, is_of_moments, needs_rows,
};
use hingenet_pool::{PoolSums, PoolTask};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A fit to a table that comes in pieces.
///
/// ```
/// use hingenet::evaluate::generate;
/// use hingenet::model::{Dataset, FitOptions, Gathered, PieceFit, fit};
/// use hingenet::Control;
/// let (control, spec) = (Control::default(), "tan:ml".parse()?);
/// let table = generate("corral", Some(200), 1)?;
/// let pieces = [table.rows(&(0..70).collect::<Vec<_>>()), table.rows(&(70..200).collect::<Vec<_>>())];
/// let mut fit_pieces = PieceFit::new(&spec, "class", None, FitOptions::default())?;
/// let model = loop {
///     let task = fit_pieces.task()?;
///     let mut all = Gathered::of(&task, pieces[1].clone(), &control)?;
///     all.merge(Gathered::of(&task, pieces[0].clone(), &control)?)?;
///     if let Some(model) = fit_pieces.advance(all, &control)? {
///         break model;
///     }
/// };
/// let whole = fit(&spec, &Dataset::new(table, "class", None)?, FitOptions::default(), &control)?;
/// assert_eq!(model.to_bytes()?, whole.to_bytes()?);
/// # Ok::<(), hingenet::Error>(())
/// ```
pub struct PieceFit {
    spec: ModelSpec,
    options: FitOptions,
    warnings: Arc<Mutex<Vec<String>>>,
    task: Task,
    /// What is known once the columns are.
    known: Option<Known>,
}

struct Known {
    whole: Whole,
    /// Total weight of each class.
    class_rows: Vec<u64>,
    plan: Plan,
}

/// What a model is made of.
enum Plan {
    /// Counts of coded rows.
    Passes(Box<PassFit>),
    /// Moments of the classes.
    Moments(Box<GaussianParams>),
    /// Rows.
    Rows,
    /// A pool, which has some terms from rows and others from sums: what the columns hold, and the pool of a sample once there
    /// is one.
    Pool(Box<TableScan>, Option<Box<Model>>),
    /// Densities of all rows, of which a sample decides everything else: what it decided, once there is one.
    Densities(Option<Box<DensityPlan>>),
}

/// What is to be gathered from every piece of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    target: String,
    weights: Option<String>,
    /// Counts of fewer rows are not kept.
    #[serde(default)]
    least: u64,
    work: Work,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Work {
    /// Types, categories, values.
    Columns,
    /// Counts of coded rows.
    Count { shape: Shape, coding: Coding, pass: Pass },
    /// Moments of the classes and, where options are open, some rows to choose them on.
    Moments { shape: Shape, grids: NodeGrids, most: Option<usize> },
    /// Some rows.
    Sample { shape: Shape, most: usize },
    /// Counts and moments for terms of a pool.
    Pool { shape: Shape, task: PoolTask },
    /// Bins of the densities.
    Density { shape: Shape, task: DensityTask },
}

/// Columns and classes of the whole table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    schema: Schema,
    classes: Vec<String>,
}

/// What a task gathered from some pieces.
#[derive(Debug, Clone)]
pub struct Gathered(Findings);

#[derive(Debug, Clone)]
enum Findings {
    Columns(TableScan),
    Count(Counted),
    Moments(ExactMoments, Option<RowSample>),
    Sample(RowSample),
    Pool(PoolSums),
    Density(DensitySums),
}

impl Task {
    /// The first round.
    fn columns(target: &str, weights: Option<&str>) -> Self {
        Task { target: target.into(), weights: weights.map(String::from), least: 0, work: Work::Columns }
    }

    /// Carries the task out on a piece.
    fn gather(&self, table: Table, control: &Control) -> Result<Gathered> {
        self.gather_rows(piece(table, &self.target, self.weights.as_deref())?, control)
    }

    /// The same for rows that are split into features and class.
    fn gather_rows(&self, data: Dataset, control: &Control) -> Result<Gathered> {
        control.check()?;
        Ok(Gathered(match &self.work {
            Work::Columns => Findings::Columns(TableScan::of(&data)?),
            Work::Count { shape, coding, pass } => {
                Findings::Count(coding.count(pass, &shape.aligned(data)?, control)?)
            }
            Work::Moments { shape, grids, most } => {
                let data = shape.aligned(data)?;
                let class: Vec<usize> = data.class.iter().flatten().collect();
                let (features, weights) = (&data.features, whole_weights(&data)?);
                let moments = ExactMoments::of(grids, features, &class, &weights, data.classes.len())?;
                let sample = most.map(|most| RowSample::of(&data, most)).transpose()?;
                Findings::Moments(moments, sample)
            }
            Work::Sample { shape, most } => Findings::Sample(RowSample::of(&shape.aligned(data)?, *most)?),
            Work::Pool { shape, task } => Findings::Pool(task.gather(&shape.aligned(data)?)?),
            Work::Density { shape, task } => Findings::Density(task.gather(&shape.aligned(data)?)?),
        }))
    }
}

impl Task {
    /// Adds another piece to what was gathered. Rows may be kept while the columns are looked at.
    fn gather_into(
        &self,
        all: &mut Option<Gathered>,
        table: Table,
        kept: Option<&mut CodedRows>,
        control: &Control,
    ) -> Result<()> {
        if self.work != Work::Columns {
            let found = self.gather(table, control)?;
            return added(all, found);
        }
        control.check()?;
        let data = piece(table, &self.target, self.weights.as_deref())?;
        match all {
            Some(Gathered(Findings::Columns(scan))) => scan.add(&data, kept)?,
            _ => *all = Some(Gathered(Findings::Columns(TableScan::keeping(&data, kept)?))),
        }
        Ok(())
    }
}

/// Adds what was found to what was gathered before.
fn added(all: &mut Option<Gathered>, found: Gathered) -> Result<()> {
    match all {
        Some(all) => all.merge(found),
        None => {
            *all = Some(found);
            Ok(())
        }
    }
}

impl Shape {
    /// A piece with all columns, categories and classes of the table.
    fn aligned(&self, data: Dataset) -> Result<Dataset> {
        let (features, report) = self.schema.align(&data.features, UnseenPolicy::Error)?;
        if let Some(name) = report.absent.first() {
            let problem = format!("column `{name}` is in one piece of the table and not in another");
            return Err(Error::data(problem, "give all pieces the same columns"));
        }
        let class = data.class.recode(&data.classes, &self.classes);
        let data = Dataset { features, class, classes: self.classes.clone(), ..data };
        data.require_labels()?;
        Ok(data)
    }

    fn check(&self) -> Result<()> {
        self.schema.check()?;
        let distinct: std::collections::BTreeSet<&String> = self.classes.iter().collect();
        if distinct.len() != self.classes.len() || distinct.len() > Codes::MAX_CATEGORIES {
            return Err(Error::model_file("the class names are not distinct"));
        }
        Ok(())
    }
}

impl Gathered {
    /// Carries the task of [`PieceFit::task`] out on a piece.
    pub fn of(task: &[u8], piece: Table, control: &Control) -> Result<Self> {
        Task::from_bytes(task)?.gather(piece, control)
    }

    /// Adds what was gathered from other pieces.
    pub fn merge(&mut self, other: Gathered) -> Result<()> {
        match (&mut self.0, other.0) {
            (Findings::Columns(a), Findings::Columns(b)) => a.merge(&b),
            (Findings::Count(a), Findings::Count(b)) => a.merge(b),
            (Findings::Sample(a), Findings::Sample(b)) => a.merge(&b),
            (Findings::Pool(a), Findings::Pool(b)) => a.merge(&b),
            (Findings::Density(a), Findings::Density(b)) => a.merge(&b),
            (Findings::Moments(a, some), Findings::Moments(b, more)) => {
                a.merge(&b)?;
                match (some, more) {
                    (Some(some), Some(more)) => some.merge(&more),
                    _ => Ok(()),
                }
            }
            _ => Err(Error::model_file("statistics of different rounds cannot be merged")),
        }
    }

    /// Columns that hold numbers in one piece and texts in another: where types are inferred, all pieces are to be read
    /// again with these as categories.
    pub fn mixed(&self) -> Vec<String> {
        if let Findings::Columns(scan) = &self.0 { scan.mixed() } else { Vec::new() }
    }

    /// Memory, about.
    pub(super) fn size(&self) -> usize {
        match &self.0 {
            Findings::Columns(scan) => scan.bytes(),
            Findings::Count(counted) => counted.bytes(),
            Findings::Moments(moments, sample) => {
                moments.bytes() + sample.as_ref().map_or(0, RowSample::bytes)
            }
            Findings::Sample(sample) => sample.bytes(),
            Findings::Pool(sums) => sums.bytes(),
            Findings::Density(sums) => sums.bytes(),
        }
    }
}

impl PieceFit {
    /// A fit of the named model; `target` and `weights` name columns.
    pub fn new(spec: &ModelSpec, target: &str, weights: Option<&str>, options: FitOptions) -> Result<Self> {
        if options.calibrate_sets.is_some() {
            return Err(Error::Unsupported {
                model: spec.name().into(),
                problem: "rows that come in pieces cannot be held back to calibrate prediction sets".into(),
                hint: "leave out calibrate_sets, or allow more memory".into(),
            });
        }
        options.check()?;
        let least = options.least_count;
        let task = Task { least, ..Task::columns(target, weights) };
        Ok(PieceFit { spec: spec.clone(), options, warnings: Arc::default(), task, known: None })
    }

    /// What is to be gathered from every piece now.
    pub fn task(&self) -> Result<Vec<u8>> {
        self.task.to_bytes()
    }

    /// The columns, once they are known: pieces of text should be read with their types.
    pub fn schema(&self) -> Option<&Schema> {
        self.known.as_ref().map(|known| &known.whole.schema)
    }

    /// Goes on from what was gathered from all pieces: the model, or `None` if there is another round.
    pub fn advance(&mut self, gathered: Gathered, control: &Control) -> Result<Option<Model>> {
        let control = &control.keeping_warnings(&self.warnings);
        let gathered = gathered.without_few(&self.task, control)?;
        match (gathered.0, &self.task.work) {
            (Findings::Columns(scan), Work::Columns) => self.start(&scan, control),
            (Findings::Count(counted), Work::Count { pass, .. }) => {
                self.count(pass.clone(), counted, control)
            }
            (Findings::Moments(moments, sample), Work::Moments { grids, .. }) => {
                self.moments(moments, sample, grids.clone(), control).map(Some)
            }
            (Findings::Sample(sample), Work::Sample { .. }) => self.sampled(sample, control),
            (Findings::Pool(sums), Work::Pool { task, .. }) => self.pooled(&task.clone(), &sums).map(Some),
            (Findings::Density(sums), Work::Density { task, .. }) => {
                self.dense(&task.clone(), sums, control).map(Some)
            }
            _ => Err(Error::model_file("these statistics are of another round")),
        }
    }

    /// Fits to rows that are all at hand.
    pub(super) fn fit_whole(mut self, data: &Dataset, control: &Control) -> Result<Model> {
        loop {
            let gathered = self.task.gather_rows(data.clone(), control)?;
            if let Some(model) = self.advance(gathered, control)? {
                return Ok(model);
            }
        }
    }

    /// The statistics, if they are to be kept.
    fn kept(&self, gathered: impl FnOnce() -> Gathered) -> Result<Option<Box<Kept>>> {
        if !self.options.keep_statistics {
            return Ok(None);
        }
        Ok(Some(Box::new(Kept { task: self.task.to_bytes()?, gathered: gathered().to_bytes()? })))
    }

    /// Plans the second round, if there is one.
    fn start(&mut self, scan: &TableScan, control: &Control) -> Result<Option<Model>> {
        scan.check()?;
        let shape = Shape { schema: scan.schema(), classes: scan.classes.clone() };
        let whole = Whole {
            rows: scan.rows as usize,
            missing: scan.missing as usize,
            ranges: scan.ranges(),
            target: scan.target.clone(),
            classes: scan.classes.clone(),
            schema: scan.schema(),
        };
        let class_rows = scan.class_rows.clone();
        if matches!(self.spec.info().recipe, Recipe::Majority) && !self.options.keep_statistics {
            let totals: Vec<f64> = scan.class_rows.iter().map(|n| *n as f64).collect();
            let model = Fitted::Majority(Majority::fit(&totals));
            let fit = Fit { model, reports: Vec::new(), chosen: BTreeMap::new() };
            return Ok(Some(finished(&self.spec, whole, fit, self.options, &self.warnings)));
        }
        let plan;
        (plan, self.task.work) = match aim(&self.spec, &whole, self.options)? {
            Aims::Discrete(aim) => {
                let (fit, pass) = PassFit::new(*aim, scan, control)?;
                if self.options.keep_statistics && pass == Pass::Rows {
                    return Err(kept::keeps_none(&self.spec, "it is learnt from distinct rows"));
                }
                let coding = fit.coding().clone();
                (Plan::Passes(Box::new(fit)), Work::Count { shape, coding, pass })
            }
            Aims::Gaussian(params) if is_of_moments(&params) && !scan.has_gaps() => {
                if self.options.keep_statistics {
                    kept::require_moments(&self.spec, &params)?;
                }
                let grids = NodeGrids::new(&whole.schema, &whole.ranges);
                let most = needs_rows(&params).then_some(MOST_ROWS);
                (Plan::Moments(params), Work::Moments { shape, grids, most })
            }
            _ if self.options.keep_statistics => {
                return Err(kept::keeps_none(&self.spec, "it is learnt from rows"));
            }
            _ => {
                let plan = match self.spec.info().recipe {
                    Recipe::Pool => Plan::Pool(Box::new(scan.clone()), None),
                    Recipe::Density(_) => Plan::Densities(None),
                    _ => Plan::Rows,
                };
                (plan, Work::Sample { shape, most: MOST_ROWS })
            }
        };
        self.known = Some(Known { whole, class_rows, plan });
        Ok(None)
    }

    fn known(&self) -> Result<&Known> {
        self.known.as_ref().ok_or_else(|| Error::model_file("the columns have not been gathered"))
    }

    fn count(&mut self, pass: Pass, counted: Counted, control: &Control) -> Result<Option<Model>> {
        let Known { whole, plan: Plan::Passes(passes), .. } = self.known()? else {
            return Err(Error::model_file("there is nothing to count"));
        };
        let kept = self.kept(|| Gathered(Findings::Count(counted.clone())))?;
        let made = match passes.counted(&pass, counted, control)? {
            Next::Made(made) => *made,
            Next::Pass(next) => {
                if let Work::Count { pass, .. } = &mut self.task.work {
                    *pass = next;
                }
                return Ok(None);
            }
        };
        Ok(Some(Model { kept, ..self.of_counts(whole, made) }))
    }

    fn of_counts(&self, whole: &Whole, made: Made) -> Model {
        let fit = match made {
            Made::Network(fit) => fit.map(Fitted::Discrete),
            Made::Average(fit) => fit.map(Fitted::Averaged),
        };
        finished(&self.spec, whole.clone(), fit, self.options, &self.warnings)
    }

    fn moments(
        &self,
        moments: ExactMoments,
        sample: Option<RowSample>,
        grids: NodeGrids,
        control: &Control,
    ) -> Result<Model> {
        let Known { whole, plan: Plan::Moments(params), .. } = self.known()? else {
            return Err(Error::model_file("no moments are wanted"));
        };
        let kept = self.kept(|| Gathered(Findings::Moments(moments.clone(), None)))?;
        let class_rows: Vec<u64> = moments.classes.iter().map(|c| c.rows).collect();
        let rows = sample.map(|sample| Rows::of(&sample.finish(&class_rows))).transpose()?;
        let table = MomentTable { schema: whole.schema.clone(), grids, moments };
        let fit = fit_moments(&table, &whole.classes, rows.as_ref(), params, control)?;
        let model =
            finished(&self.spec, whole.clone(), fit.map(Fitted::Gaussian), self.options, &self.warnings);
        Ok(Model { kept, ..model })
    }

    /// A fit to a sample, as of a table that has no other rows. A pool goes on where there are some.
    fn sampled(&mut self, sample: RowSample, control: &Control) -> Result<Option<Model>> {
        let Known { whole, class_rows, plan } = self.known()?;
        let whole = whole.clone();
        let data = sample.finish(class_rows);
        let total: u64 = class_rows.iter().sum();
        let stand_for: f64 = data.weights.iter().flatten().sum();
        let is_part = stand_for < total as f64;
        if let (Plan::Densities(None), Recipe::Density(variant), true) =
            (plan, self.spec.info().recipe, is_part)
        {
            return self.plan_densities(variant, &data, control);
        }
        let mut model = super::fit::fit_all(&self.spec, &data, self.options, control)?;
        (model.facts.rows, model.facts.missing_cells) = (whole.rows, whole.missing);
        let has_sums = matches!(&model.fitted, Fitted::Pool(pool) if pool.has_terms_of_sums());
        let (Plan::Pool(scan, _), true, true) = (plan, is_part, has_sums) else {
            if is_part {
                control.warn(&format!(
                    "{} needs its rows at hand: it was fitted to {} distinct rows out of {}",
                    self.spec.name(),
                    data.n_rows(),
                    whole.rows
                ));
            }
            model.facts.ranges = whole.ranges;
            model.facts.warnings = self.warnings.lock().map(|w| w.clone()).unwrap_or_default();
            return Ok(Some(model));
        };
        control.warn(&format!(
            "the kernel terms of the pool and the weights of its terms are those of {} distinct rows out of {}; the other terms \
             are those of all rows",
            data.n_rows(),
            whole.rows
        ));
        let Fitted::Pool(pool) = &mut model.fitted else { return Ok(Some(model)) };
        if pool.reader_of_gaps().is_some() {
            control.warn(
                "gaps tell the class in the sample, but a pool of rows that come in pieces does not use them as evidence: give it \
                 memory for all rows, or a column that says what is missing",
            );
            **pool = pool.as_ref().clone().without_reader_of_gaps();
        }
        let task = PoolTask::new(pool, scan);
        if let Work::Sample { shape, .. } = &self.task.work {
            self.task.work = Work::Pool { shape: shape.clone(), task };
        }
        if let Some(Known { plan: Plan::Pool(_, fitted), .. }) = &mut self.known {
            *fitted = Some(Box::new(model));
        }
        Ok(None)
    }

    /// What a sample decides of a density model, and the round that counts all rows.
    fn plan_densities(
        &mut self,
        variant: Variant,
        data: &Dataset,
        control: &Control,
    ) -> Result<Option<Model>> {
        let Known { whole, class_rows, .. } = self.known()?;
        control.warn(&format!(
            "pairs, bandwidths, weights and probabilities of {} are those of {} distinct rows out of {}; its densities are those of \
             all rows",
            self.spec.name(),
            data.n_rows(),
            whole.rows
        ));
        let rows = Rows::of(data)?;
        let dense = rows.without_empty_classes();
        let learnt = dense.as_ref().unwrap_or(&rows);
        let params = density::params(variant, &self.spec, learnt, self.options)?;
        let planned = DensityPlan::new(learnt, &params, control)?;
        let present = rows.present();
        let class_rows: Vec<u64> = present.iter().map(|&c| class_rows[c]).collect();
        let task = planned.task(present, &class_rows, control)?;
        if let Work::Sample { shape, .. } = &self.task.work {
            self.task.work = Work::Density { shape: shape.clone(), task };
        }
        if let Some(Known { plan: Plan::Densities(plan), .. }) = &mut self.known {
            *plan = Some(Box::new(planned));
        }
        Ok(None)
    }

    /// The model that was planned, of the densities of all rows.
    fn dense(&mut self, task: &DensityTask, sums: DensitySums, control: &Control) -> Result<Model> {
        let missing = || Error::model_file("no densities are wanted");
        let Some(Known { whole, plan: Plan::Densities(plan), .. }) = &mut self.known else {
            return Err(missing());
        };
        let fit = plan.take().ok_or_else(missing)?.finish(task, sums, control)?;
        let n_classes = whole.classes.len();
        let fit = fit.map(|model| Fitted::Density(model.among(n_classes, task.present())));
        Ok(finished(&self.spec, whole.clone(), fit, self.options, &self.warnings))
    }

    /// The pool of a sample with the terms that all rows give.
    fn pooled(&mut self, task: &PoolTask, sums: &PoolSums) -> Result<Model> {
        let missing = || Error::model_file("there is no pool of a sample");
        let Some(Known { whole, plan: Plan::Pool(_, fitted), .. }) = &mut self.known else {
            return Err(missing());
        };
        let mut model = *fitted.take().ok_or_else(missing)?;
        let Fitted::Pool(pool) = model.fitted else { return Err(missing()) };
        model.fitted = Fitted::Pool(Box::new(pool.with_sums(task, sums)?));
        model.facts.ranges.clone_from(&whole.ranges);
        model.facts.warnings = self.warnings.lock().map(|w| w.clone()).unwrap_or_default();
        Ok(model)
    }
}

/// What is wanted of a model that does not need its rows.
enum Aims {
    Discrete(Box<Aim>),
    Gaussian(Box<GaussianParams>),
    Other,
}

fn aim(spec: &ModelSpec, whole: &Whole, options: FitOptions) -> Result<Aims> {
    Ok(match spec.info().recipe {
        Recipe::Discrete(graph, rule) => {
            let columns = whole.schema.features.iter().map(|f| f.all_missing(0)).collect();
            let empty = Dataset {
                target: whole.target.clone(),
                features: Table::new(columns)?,
                classes: whole.classes.clone(),
                class: Codes::from_options(whole.classes.len(), std::iter::empty()),
                weights: None,
            };
            let params = discrete::params(graph, spec, &empty)?;
            Aims::Discrete(Box::new(Aim::Network { params, learning: discrete::learning(rule, spec) }))
        }
        Recipe::Averaged { margin } => Aims::Discrete(Box::new(Aim::Average {
            alpha: discrete::ALPHA.of(spec),
            rule: discrete::member_rule(margin, spec),
        })),
        Recipe::Gaussian { structure, learning, fisher } => {
            Aims::Gaussian(Box::new(gaussian::params(structure, learning, fisher, spec, options)))
        }
        _ => Aims::Other,
    })
}
