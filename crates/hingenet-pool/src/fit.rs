//! Fitting the pool: each term with its own choices, then the weights on blanked copies of training rows
//! that no term has seen (P and K by leave-one-out, A and G by three-fold cross-fitting).

use super::averaged::{Averaged, Coding};
use super::classifier::{PoolClassifier, PoolFacts};
use super::completion::{self, Completion};
use super::density::Density;
use super::density_search::{DensityChoice, DensitySearch};
use super::encoding::{Encoded, Encoding};
use super::gaussian::{self, Gaussian, GaussianChoice};
use super::imputation;
use super::machine::{Decision, LeftOut};
use super::machine_fit::{FittedMachine, MachineFit, Without};
use super::moments::Sample;
use super::params::{Effort, PoolParams};
use super::predict::{KernelTerms, Own, TermScores, missing_share};
use super::rows::{Labelled, Rows, random_subset};
use super::stand_in::{self, FittedStandIns, StandIns, TermModel, TermRecipe};
use super::weights::{Cases, PoolWeights, TERMS};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;
use hingenet_base::solver::SolverReport;
use hingenet_data::classifier::Training;
use std::sync::Arc;

/// Most training rows in the kernel density (and in the completions); above it a random sample.
pub(crate) const DENSITY_ROWS: usize = 20_000;
/// Fewer rows than this, or a class with fewer than [`CLASS_ROWS`]: no cross-fitting, equal weights.
const FEWEST_ROWS: usize = 30;
const CLASS_ROWS: usize = 3;
const STAGES: usize = 6;

/// Fits the pool of the four terms on training rows, which may have missing cells.
///
/// Equal rows are merged into weights and sorted first, so neither their order nor repetition in place of
/// weights matters. The seed picks row subsets, folds and blanked copies, nothing else.
pub fn fit(training: &Training, params: &PoolParams, seed: u64, control: &Control) -> Result<PoolClassifier> {
    fit_with(training, params, StandIns::default(), seed, control)
}

/// [`fit`] with other models in place of term A or G.
pub fn fit_with(
    training: &Training,
    params: &PoolParams,
    stand_ins: StandIns,
    seed: u64,
    control: &Control,
) -> Result<PoolClassifier> {
    params.check()?;
    let (rows, present) = Labelled::new(training)?;
    params.masks.check(rows.rows.n_features())?;
    let names: Vec<String> = training.features.columns().iter().map(|c| c.name().to_string()).collect();
    let (training_rows, effort) = (&rows, params.effort());
    let fit = Fit { training: training_rows, names: &names, params, effort, stand_ins, seed, control };
    let (parts, facts) = fit.run()?;
    PoolClassifier::assemble(parts, facts, names, present, training.classes.len())
}

struct Fit<'a> {
    training: &'a Labelled,
    names: &'a [String],
    params: &'a PoolParams,
    effort: Effort,
    stand_ins: StandIns<'a>,
    seed: u64,
    control: &'a Control,
}

/// The fitted terms and their weights.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// Rows of the kernel density.
    pub(crate) rows: Labelled,
    pub(crate) density: Density,
    pub(crate) completion: Completion,
    pub(crate) machine: super::machine::Machine,
    pub(crate) averaged: Averaged,
    pub(crate) gaussian: Option<Gaussian>,
    /// Models in place of the averaged network and the Gaussians.
    pub(crate) stand_ins: FittedStandIns,
    pub(crate) weights: PoolWeights,
    pub(crate) draws: usize,
}

impl Fit<'_> {
    fn run(&self) -> Result<(Terms, PoolFacts)> {
        self.stage("states", 0)?;
        let coding = Coding::learn(self.training, self.control)?;
        let information = coding.information(self.training);
        self.stage("kernel density", 1)?;
        let sampled = self.density_rows();
        let rows = if sampled.len() < self.training.len() {
            self.training.select(&sampled)
        } else {
            self.training.clone()
        };
        let search = DensitySearch {
            training: &rows,
            information: &information,
            rows: self.effort.density_rows,
            consistent: self.params.consistent,
        };
        let density_choice = search.choose(&mut self.random(1), self.control)?;
        let kernels = Kernels::new(self.training, rows, &sampled, density_choice)?;
        self.stage("kernel machine", 2)?;
        let chosen = random_subset(sampled.len(), self.effort.pool_rows, &mut self.random(7));
        let originals: Vec<usize> = chosen.iter().map(|&r| sampled[r]).collect();
        let machine = self.machine(&kernels, &originals)?;
        self.stage("averaged network and Gaussians", 3)?;
        let averaged = Averaged::fit(coding, self.training);
        if !averaged.has_pairs() {
            self.control
                .warn("too many pairs of states: term A treats the features as independent given the class");
        }
        let stand_ins = self.fit_stand_ins()?;
        let gaussian_choice = if stand_ins.gaussian.is_some() { None } else { self.gaussian_choice()? };
        let gaussian = gaussian_choice.map(|choice| Gaussian::fit(self.training, choice)).transpose()?;
        self.stage("pool weights", 4)?;
        let (weights, pool_report) =
            self.weights(&kernels, &machine, (&chosen, &originals), gaussian_choice, &stand_ins)?;
        self.stage("done", STAGES)?;
        let facts = PoolFacts {
            density: kernels.choice,
            machine: machine.choice,
            gaussian: gaussian_choice,
            machine_report: machine.report,
            pool_report,
            rows: self.training.len(),
            information,
        };
        let terms = Terms {
            rows: kernels.rows,
            density: kernels.density,
            completion: kernels.completion,
            machine: machine.machine,
            averaged,
            gaussian,
            stand_ins,
            weights,
            draws: self.params.draws,
        };
        Ok((terms, facts))
    }

    fn stage(&self, name: &str, done: usize) -> Result<()> {
        self.control.progress(name, done, STAGES)
    }

    fn random(&self, stream: u64) -> Random {
        Random::stream(self.seed, stream)
    }

    fn density_rows(&self) -> Vec<usize> {
        let n = self.training.len();
        if n > DENSITY_ROWS {
            self.control
                .warn(&format!("the kernel density uses a random sample of {DENSITY_ROWS} of {n} rows"));
        }
        random_subset(n, DENSITY_ROWS, &mut self.random(6))
    }

    fn machine(&self, kernels: &Kernels, originals: &[usize]) -> Result<FittedMachine> {
        let training = self.training;
        let informed = kernels.choice.exponent > 0.0;
        let metric = kernels.density.encoding.per_column(&kernels.choice.metric);
        let search_rows =
            if training.n_classes > 10 { self.effort.machine_rows * 5 / 7 } else { self.effort.machine_rows };
        let fit = MachineFit {
            points: &kernels.points,
            class: &training.class,
            weight: &training.weight,
            n_classes: training.n_classes,
            metric: informed.then_some(metric.as_slice()),
            variances: &kernels.variances,
            gammas: self.effort.gammas,
            ridges: self.effort.ridges,
            search_rows,
            held_out: originals,
        };
        let fitted = fit.fit(&mut self.random(2), self.control)?;
        if !fitted.report.converged {
            self.control.warn("the kernel machine stopped before its tolerance; its best solution is used");
        }
        Ok(fitted)
    }

    fn fit_stand_ins(&self) -> Result<FittedStandIns> {
        let fit = |recipe: Option<&dyn TermRecipe>| {
            recipe.map(|r| stand_in::fit(r, self.names, self.training, None, self.control)).transpose()
        };
        Ok(FittedStandIns {
            averaged: fit(self.stand_ins.averaged)?,
            gaussian: fit(self.stand_ins.gaussian)?,
        })
    }

    fn gaussian_choice(&self) -> Result<Option<GaussianChoice>> {
        let training = self.training;
        let columns =
            Encoding::learn(&training.rows, &training.weight, super::encoding::Transform::Identity, false)
                .n_columns();
        if columns > gaussian::MOST_COLUMNS {
            let most = gaussian::MOST_COLUMNS;
            self.control
                .warn(&format!("{columns} encoded columns (most {most}): the Gaussian term is left out"));
            return Ok(None);
        }
        gaussian::choose(training, self.effort.gaussian_rows, &mut self.random(3), self.control).map(Some)
    }

    /// The weights of the terms; equal ones for very small data.
    fn weights(
        &self,
        kernels: &Kernels,
        machine: &FittedMachine,
        rows: (&[usize], &[usize]),
        gaussian: Option<GaussianChoice>,
        stand_ins: &FittedStandIns,
    ) -> Result<(PoolWeights, Option<SolverReport>)> {
        let training = self.training;
        let has_gaussian = gaussian.is_some() || stand_ins.gaussian.is_some();
        let smallest = training.class_rows().into_iter().min().unwrap_or(0);
        if training.len() < FEWEST_ROWS || smallest < CLASS_ROWS {
            self.control.warn(&format!(
                "{} different rows, {smallest} in the smallest class: too few to learn the weights of the terms, all count alike",
                training.len()
            ));
            return Ok((without_absent(PoolWeights::EQUAL, has_gaussian), None));
        }
        let cases = self.cases(kernels, machine, rows, gaussian, stand_ins)?;
        let (weights, report) = cases.fit(self.control)?;
        Ok((without_absent(weights, has_gaussian), Some(report)))
    }

    /// Blanked copies of training rows with the terms' posteriors. `chosen` are the rows' positions in the
    /// density, `originals` among all rows.
    fn cases(
        &self,
        kernels: &Kernels,
        machine: &FittedMachine,
        (chosen, originals): (&[usize], &[usize]),
        gaussian: Option<GaussianChoice>,
        stand_ins: &FittedStandIns,
    ) -> Result<Cases> {
        let complete = self.training.rows.select(originals);
        let copies = self.params.masks.copies(&complete, self.effort.rates, &mut self.random(4));
        let rows = Rows::concat(&copies);
        let own: Vec<Own> = (0..rows.len())
            .map(|q| q % chosen.len())
            .map(|r| Own { density: chosen[r], machine: originals[r] })
            .collect();
        let closed_form;
        let decision: &dyn Decision = match &machine.without {
            Without::ClosedForm(solutions) => {
                closed_form = LeftOut::new(&machine.machine, solutions, originals);
                &closed_form
            }
            Without::HeldOut(machine) => machine,
        };
        let terms = KernelTerms {
            density: &kernels.density,
            completion: &kernels.completion,
            decision,
            scale: machine.machine.scale,
            draws: self.params.draws,
        };
        let (p, k) = terms.scores(&rows, &own)?;
        let (a, g) = self.cross_fitted(&rows, &own, gaussian, stand_ins)?;
        let scores = TermScores { n_classes: self.training.n_classes, terms: [p, a, g, k] };
        Ok(Cases {
            n_classes: self.training.n_classes,
            terms: (0..rows.len()).flat_map(|i| scores.posteriors(i)).collect(),
            missing: missing_share(&rows),
            class: own.iter().map(|o| self.training.class[o.machine]).collect(),
            weight: own.iter().map(|o| self.training.weight[o.machine]).collect(),
            copies: self.effort.rates.len() as f64,
        })
    }

    /// Scores of A and G from models that have not seen the row's fold; cuts, moments and medians are
    /// learnt again in every fold.
    fn cross_fitted(
        &self,
        rows: &Rows,
        own: &[Own],
        gaussian: Option<GaussianChoice>,
        stand_ins: &FittedStandIns,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let training = self.training;
        let k = training.n_classes;
        let fold = training.folds(3, &mut self.random(5));
        let mut averaged = vec![0.0; rows.len() * k];
        let mut gaussians = vec![0.0; rows.len() * k];
        for f in 0..3 {
            self.control.check()?;
            let inside: Vec<usize> = (0..training.len()).filter(|&i| fold[i] != f).collect();
            let queries: Vec<usize> = (0..rows.len()).filter(|&q| fold[own[q].machine] == f).collect();
            let (inside, part) = (training.select(&inside), rows.select(&queries));
            let other = |recipe: Option<&dyn TermRecipe>, settled: &Option<Arc<dyn TermModel>>| {
                let (Some(recipe), Some(settled)) = (recipe, settled) else { return Ok(None) };
                let silent = self.control.clone().on_warning(|_| {});
                let model = stand_in::fit(recipe, self.names, &inside, Some(settled.as_ref()), &silent)?;
                stand_in::scores(model.as_ref(), self.names, &part, k).map(Some)
            };
            let a = match other(self.stand_ins.averaged, &stand_ins.averaged)? {
                Some(scores) => scores,
                None => Averaged::fit(Coding::learn(&inside, self.control)?, &inside).scores(&part),
            };
            scatter(&a, &queries, k, &mut averaged);
            let g = match (other(self.stand_ins.gaussian, &stand_ins.gaussian)?, gaussian) {
                (None, Some(choice)) => Some(Gaussian::fit(&inside, choice)?.scores(&part)),
                (scores, _) => scores,
            };
            if let Some(g) = g {
                scatter(&g, &queries, k, &mut gaussians);
            }
        }
        Ok((averaged, gaussians))
    }
}

fn scatter(scores: &[f64], rows: &[usize], k: usize, out: &mut [f64]) {
    for (row, &i) in scores.chunks_exact(k).zip(rows) {
        out[i * k..(i + 1) * k].copy_from_slice(row);
    }
}

/// A term that is left out has weight 0.
fn without_absent(mut weights: PoolWeights, has_gaussian: bool) -> PoolWeights {
    if !has_gaussian {
        weights.0[GAUSSIAN_TERM] = [0.0; 4];
    }
    weights
}

/// Position of term G among the terms.
const GAUSSIAN_TERM: usize = TERMS - 2;

/// What P and K share: encoded rows, the density and the completions.
struct Kernels {
    rows: Labelled,
    density: Density,
    choice: DensityChoice,
    completion: Completion,
    /// All training rows, encoded and completed.
    points: hingenet_base::numeric::linalg::Matrix,
    variances: Vec<f64>,
}

impl Kernels {
    fn new(all: &Labelled, rows: Labelled, sampled: &[usize], choice: DensityChoice) -> Result<Self> {
        let encoding = Encoding::learn(&rows.rows, &rows.weight, choice.transform, true);
        let density = Density::new(encoding.clone(), &rows, &choice.metric, choice.power);
        let encoded: Encoded = encoding.encode(&all.rows);
        let sample = Sample {
            encoding: &encoding,
            encoded: &encoded,
            class: &all.class,
            weight: &all.weight,
            n_classes: all.n_classes,
        };
        let covariance = completion::covariance(&sample)?;
        let variances = sample.variances();
        let points = imputation::complete(&density, &encoded, &all.weight, sampled, covariance.as_ref())?;
        let columns: Vec<usize> = (0..points.cols()).collect();
        let completion = Completion::new(encoding, points.select(sampled, &columns), covariance)?;
        Ok(Kernels { rows, density, choice, completion, points, variances })
    }
}
