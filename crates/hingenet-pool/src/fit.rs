//! Fitting the pool: each term with its own choices, then the weights on blanked copies of training rows
//! that no term has seen (P and K by leave-one-out, the others by three-fold cross-fitting).

use super::classifier::{PoolClassifier, PoolFacts};
use super::gaps::{Gain, Gaps, Telling, blanked_like, indicated, telling_columns, without_gaps};
use super::params::{Effort, PoolParams};
use super::points::prototypes::require_groups;
use super::points::{Encoding, Transform, too_fine};
use super::rows::{ColumnFacts, FeatureType, Labelled, put_rows, random_subset, repeated};
use super::terms::averaged::Averaged;
use super::terms::density::search::{DensityChoice, DensitySearch};
use super::terms::gaussian::{self, Gaussian};
use super::terms::kernels::{Ground, Kept, Kernels, Own, Source};
use super::terms::machine::fit::{FittedMachine, MachineFit, Without};
use super::terms::machine::{Decision, LeftOut};
use super::terms::{StandIns, TermModel, TermRecipe, TermScores, missing_share, varying};
use super::weights::{Cases, PoolWeights};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::Rows;
use hingenet_data::select::folds::split;
use hingenet_data::table::Table;
use std::any::Any;
use std::sync::Arc;

/// Most training rows in the kernel density (and in the completions); above it a random sample.
pub(crate) const DENSITY_ROWS: usize = 20_000;
/// With fewer rows than this the weights of the terms are those of other tables.
const FEWEST_ROWS: usize = 30;
/// A row that is alone in its class says nothing about terms that have not seen it.
const CLASS_ROWS: usize = 2;
/// Folds of the cross-fitted terms.
const FOLDS: usize = 3;
const STAGES: usize = 6;
/// What to do where the pool would take too much.
pub(crate) const LESS_MEMORY: &str = "leave out columns with many categories (`--ignore`), give fewer rows, use a discrete model such as \
    tan:ml-bn-svm, or allow more (`--max-memory`)";

/// Fits the pool of the four terms, or of other models in place of A or G, on training rows, which may have missing cells.
pub fn fit(rows: &Rows, params: &PoolParams, instead: StandIns, control: &Control) -> Result<PoolClassifier> {
    params.check()?;
    params.masks.check(rows.features().n_columns())?;
    let training = Labelled::new(rows)?.without_identifiers(control);
    params.group.map_or(Ok(()), |group| require_groups(&training, group))?;
    let pool = |terms: Terms, facts: PoolFacts| PoolClassifier {
        terms: Arc::new(terms),
        facts,
        present: rows.present(),
        n_classes: rows.n_classes(),
        telling: None,
        gaps: Gaps::default(),
    };
    let plain =
        Fit { training: &training, indicators: &[], params, effort: params.effort(), instead, control };
    let (terms, facts, without) = plain.run()?;
    let mut fitted = pool(terms, facts);
    let columns = telling_columns(&training);
    if !columns.is_empty() && !without.loss.is_empty() {
        let training = Labelled { features: indicated(&training.features, &columns)?, ..training.clone() };
        // what there is to warn of has been said
        let silent = control.clone().on_warning(|_| {});
        let telling = Fit { training: &training, indicators: &columns, control: &silent, ..plain };
        let (terms, facts, with) = telling.run()?;
        let gain = Gain::new(&without.loss, &with.loss, &with.weight).filter(Gain::is_clear);
        fitted.telling = gain.map(|gain| Arc::new(Telling { columns, gain, pool: pool(terms, facts) }));
    }
    Ok(fitted)
}

struct Fit<'a> {
    training: &'a Labelled,
    /// Columns that have an indicator among the last columns of the training rows.
    indicators: &'a [usize],
    params: &'a PoolParams,
    effort: Effort,
    instead: StandIns<'a>,
    control: &'a Control,
}

/// Log-losses and weights of training rows as they are, predicted by terms that have not seen them; empty if there were too
/// few.
#[derive(Default)]
struct LeftOutLosses {
    loss: Vec<f64>,
    weight: Vec<f64>,
}

/// The fitted terms and their weights.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// P and K.
    pub(crate) kernels: Kernels,
    /// The averaged network; also where another model is term A, it tells what to measure next.
    pub(crate) averaged: Arc<Averaged>,
    /// Terms A and G; G may be left out.
    pub(crate) others: [Option<Arc<dyn TermModel>>; 2],
    pub(crate) weights: PoolWeights,
}

/// A term whose out-of-sample scores come from fitting it again without a fold, and its model of all rows.
type CrossFitted<'r> = (&'r TermRecipe<'r>, Arc<dyn TermModel>);

impl Fit<'_> {
    fn run(&self) -> Result<(Terms, PoolFacts, LeftOutLosses)> {
        self.stage("averaged network", 0)?;
        let averaged = Arc::new(Averaged::fit(self.training, self.control)?);
        if !averaged.stars.has_pairs() {
            self.control
                .warn("too many pairs of states: term A treats the features as independent given the class");
        }
        let information = averaged.information();
        self.stage("kernel density", 1)?;
        let sampled = self.density_rows();
        let of_columns = self.information_of_columns(&information);
        self.reserve(sampled.len())?;
        let rows = self.training.select(&sampled);
        let search = DensitySearch {
            training: &rows,
            information: &of_columns,
            rows: self.effort.density_rows,
            consistent: self.params.consistent,
        };
        let density = search.choose(&mut self.random(1), self.control)?;
        let ground = Ground::new(self.training, &sampled, rows, &density)?;
        self.stage("kernel machine", 2)?;
        let chosen = random_subset(sampled.len(), self.effort.pool_rows, &mut self.random(7));
        let judged = self.judged_classes();
        let of_row = |&r: &usize| Own { density: r, machine: sampled[r] };
        let is_judged = |own: &Own| judged[self.training.class[own.machine]];
        let own: Vec<Own> = chosen.iter().map(of_row).filter(is_judged).collect();
        let FittedMachine { machine, choice, report, without } = self.machine(&ground, &density, &own)?;
        let Ground { rows, density: kernel_density, completion, points, .. } = ground;
        let kernels = Kernels {
            columns: ColumnFacts::of(&rows.features),
            kept: Kept::Rows(rows),
            density: kernel_density,
            completion,
            machine,
            draws: self.params.draws,
        };
        self.stage("Gaussians", 3)?;
        let own_averaged = |rows: &Labelled, _: Option<&dyn TermModel>, control: &Control| {
            Ok(Arc::new(Averaged::fit(rows, control)?) as Arc<dyn TermModel>)
        };
        let own_gaussian = |rows: &Labelled, settled: Option<&dyn TermModel>, control: &Control| {
            let choice = match settled.and_then(|model| (model as &dyn Any).downcast_ref::<Gaussian>()) {
                Some(model) => model.choice,
                None => gaussian::choose(rows, self.effort.gaussian_rows, &mut self.random(3), control)?,
            };
            Ok(Arc::new(Gaussian::fit(rows, choice)?) as Arc<dyn TermModel>)
        };
        let term_a: CrossFitted = match self.instead[0] {
            Some(recipe) => (recipe, recipe(self.training, None, self.control)?),
            None => (&own_averaged, averaged.clone()),
        };
        let others = [Some(term_a), self.term_g(&own_gaussian)?];
        self.stage("pool weights", 4)?;
        let (weights, pool_report, losses) = self.weights(&kernels, &without, &own, &others)?;
        let kernels = match self.params.group {
            None => kernels,
            Some(group) => {
                self.stage("prototypes", 5)?;
                let source =
                    Source { rows: self.training, points: &points, density: &density, ridge: choice.ridge };
                kernels.distilled(&source, group, self.control)?
            }
        };
        self.stage("done", STAGES)?;
        let others = others.map(|term| term.map(|(_, model)| model));
        let facts = PoolFacts {
            density,
            machine: choice,
            gaussian: gaussian_of(&others).map(|g| g.choice),
            machine_report: report,
            pool_report,
            rows: self.training.len(),
            information,
        };
        Ok((Terms { kernels, averaged, others, weights }, facts, losses))
    }

    fn stage(&self, name: &str, done: usize) -> Result<()> {
        match self.indicators {
            [] => self.control.progress(name, done, STAGES),
            _ => self.control.progress(&format!("{name}, gaps as evidence"), done, STAGES),
        }
    }

    fn random(&self, stream: u64) -> Random {
        Random::stream(self.params.seed, stream)
    }

    fn density_rows(&self) -> Vec<usize> {
        let n = self.training.len();
        if n > DENSITY_ROWS {
            self.control
                .warn(&format!("the kernel density uses a random sample of {DENSITY_ROWS} of {n} rows"));
        }
        random_subset(n, DENSITY_ROWS, &mut self.random(6))
    }

    /// The information of the features that have columns: the others have no part in distances.
    fn information_of_columns(&self, information: &[f64]) -> Vec<f64> {
        let features = &self.training.features;
        let mut of_columns = information.to_vec();
        for j in too_fine(features) {
            let (name, kind) = (features.column(j).name(), FeatureType::of(features.column(j)));
            self.control.warn(&format!(
                "column `{name}` has {}: the kernel and Gaussian terms do not use it; if it holds identifiers, leave it out",
                kind.described()
            ));
            of_columns[j] = 0.0;
        }
        of_columns
    }

    /// Asks for the memory of the points: all rows encoded, completed and as the machine needs them, those of the density
    /// with their squares too.
    fn reserve(&self, density_rows: usize) -> Result<()> {
        let rows = self.training;
        let p = Encoding::learn(&rows.features, &rows.weight, Transform::Identity, true).n_columns();
        let cells = p as f64 * (4.0 * rows.len() as f64 + 4.0 * density_rows as f64);
        let what = format!("the pool of {} rows with {p} encoded columns", rows.len());
        self.control.reserve(cells * 8.0, what, LESS_MEMORY)
    }

    fn machine(&self, ground: &Ground, density: &DensityChoice, own: &[Own]) -> Result<FittedMachine> {
        let metric = ground.density.encoding.per_column(&density.metric);
        let search_rows = if self.training.n_classes() > 10 {
            self.effort.machine_rows * 5 / 7
        } else {
            self.effort.machine_rows
        };
        let fit = MachineFit {
            points: &ground.points,
            rows: self.training,
            metric: (density.exponent > 0.0).then_some(metric.as_slice()),
            variances: &ground.variances,
            groups: &ground.density.encoding.groups,
            gammas: self.effort.gammas,
            ridges: self.effort.ridges,
            search_rows,
            held_out: &own.iter().map(|o| o.machine).collect::<Vec<_>>(),
        };
        let fitted = fit.fit(&mut self.random(2), self.control)?;
        if !fitted.report.converged {
            self.control.warn("the kernel machine stopped before its tolerance; its best solution is used");
        }
        Ok(fitted)
    }

    /// Term G; `None` if there are too many columns.
    fn term_g<'r>(&'r self, own: &'r TermRecipe<'r>) -> Result<Option<CrossFitted<'r>>> {
        let recipe = self.instead[1].unwrap_or(own);
        if self.instead[1].is_none() {
            let rows = self.training;
            let encoding = Encoding::learn(&rows.features, &rows.weight, Transform::Identity, false);
            let (columns, most) = (encoding.n_columns(), gaussian::MOST_COLUMNS);
            if columns > most {
                self.control
                    .warn(&format!("{columns} encoded columns (most {most}): the Gaussian term is left out"));
                return Ok(None);
            }
        }
        Ok(Some((recipe, recipe(self.training, None, self.control)?)))
    }

    /// Which classes have rows that are not alone.
    fn judged_classes(&self) -> Vec<bool> {
        self.training.class_ranges().iter().map(|rows| rows.len() >= CLASS_ROWS).collect()
    }

    /// The weights of the terms; those of other tables for very small data. A term that is left out has weight 0.
    fn weights(
        &self,
        kernels: &Kernels,
        without: &Without,
        own: &[Own],
        others: &[Option<CrossFitted>; 2],
    ) -> Result<(PoolWeights, Option<SolverReport>, LeftOutLosses)> {
        let training = self.training;
        let (mut weights, report, losses) = if training.len() < FEWEST_ROWS || own.is_empty() {
            self.control.warn(&format!(
                "{} different rows are too few to learn the weights of the terms, which are those of other tables",
                training.len()
            ));
            (PoolWeights::of_other_tables(training.len()), None, LeftOutLosses::default())
        } else {
            let cases = self.cases(kernels, without, own, others)?;
            let (weights, report) = cases.fit(self.control)?;
            // the first copies are the rows themselves
            let (loss, weight) = (cases.losses(&weights, own.len()), cases.weight[..own.len()].to_vec());
            (weights, Some(report), LeftOutLosses { loss, weight })
        };
        for (weights, _) in weights.0[1..].iter_mut().zip(others).filter(|(_, term)| term.is_none()) {
            *weights = [0.0; 4];
        }
        Ok((weights, report, losses))
    }

    /// Blanked copies of the `chosen` training rows with the terms' posteriors.
    fn cases(
        &self,
        kernels: &Kernels,
        without: &Without,
        chosen: &[Own],
        others: &[Option<CrossFitted>; 2],
    ) -> Result<Cases> {
        let training = self.training;
        let originals: Vec<usize> = chosen.iter().map(|o| o.machine).collect();
        let complete = training.features.rows(&originals);
        let rows = self.copies(&complete)?;
        let own = chosen.repeat(self.effort.rates.len());
        let closed_form;
        let decision: &dyn Decision = match without {
            Without::ClosedForm(solutions) => {
                closed_form = LeftOut::new(&kernels.machine, solutions, &originals);
                &closed_form
            }
            Without::HeldOut => &kernels.machine,
        };
        let (p, k) = kernels.scores_without(&rows, decision, &own)?;
        let fold = self.folds();
        let query_fold: Vec<usize> = own.iter().map(|o| fold[o.machine]).collect();
        let cross_fitted = |term: &Option<CrossFitted>| match term {
            Some(term) => self.cross_fitted(term, &fold, &rows, &query_fold),
            None => Ok(vec![0.0; p.len()]),
        };
        let (a, g) = (cross_fitted(&others[0])?, cross_fitted(&others[1])?);
        let scores = TermScores { n_classes: training.n_classes(), terms: [p, a, g, k] };
        Ok(Cases {
            n_classes: training.n_classes(),
            terms: (0..rows.n_rows()).flat_map(|i| scores.posteriors(i)).collect(),
            missing: missing_share(&rows, &varying(&kernels.columns)),
            class: own.iter().map(|o| training.class[o.machine]).collect(),
            weight: own.iter().map(|o| training.weight[o.machine]).collect(),
            copies: self.effort.rates.len() as f64,
            rows: training.len(),
        })
    }

    /// Fold of each row. Rows that are alone in their class are in none, so that no class is without rows where a term is
    /// fitted again.
    fn folds(&self) -> Vec<usize> {
        let (judged, class) = (self.judged_classes(), &self.training.class);
        let mut fold = self.training.folds(FOLDS, &mut self.random(5));
        let alone = fold.iter_mut().zip(class).filter(|(_, c)| !judged[**c]);
        alone.for_each(|(fold, _)| *fold = FOLDS);
        fold
    }

    /// One copy of the rows for each rate of blanked cells, below each other.
    fn copies(&self, rows: &Table) -> Result<Table> {
        let (masks, rates, random) = (&self.params.masks, self.effort.rates, &mut self.random(4));
        if self.indicators.is_empty() {
            return Ok(masks.copies(rows, rates, random));
        }
        let whole = without_gaps(rows.n_rows(), rows.n_columns() - self.indicators.len())?;
        let pattern = masks.copies(&whole, rates, random);
        Ok(blanked_like(repeated(rows, rates.len()), &pattern, self.indicators))
    }

    /// Scores of rows by models of one term that have not seen the rows' fold; everything but the settled
    /// choices is learnt again in every fold.
    fn cross_fitted(
        &self,
        (recipe, settled): &CrossFitted,
        fold: &[usize],
        rows: &Table,
        query_fold: &[usize],
    ) -> Result<Vec<f64>> {
        let k = self.training.n_classes();
        let silent = self.control.clone().on_warning(|_| {});
        let mut scores = vec![0.0; rows.n_rows() * k];
        for f in 0..FOLDS {
            self.control.check()?;
            let ((inside, _), (_, queries)) = (split(fold, f), split(query_fold, f));
            let model = recipe(&self.training.select(&inside), Some(settled.as_ref()), &silent)?;
            let found = super::terms::scores(Some(model.as_ref()), &rows.rows(&queries), k)?;
            put_rows(&mut scores, &queries, &found);
        }
        Ok(scores)
    }
}

/// The Gaussians, if no other model is term G.
pub(crate) fn gaussian_of(others: &[Option<Arc<dyn TermModel>>; 2]) -> Option<&Gaussian> {
    others[1].as_ref().and_then(|g| (g.as_ref() as &dyn Any).downcast_ref())
}
