//! From labelled rows to a classifier: class networks from the moments of each class, then discriminative learning,
//! then, where asked for, the machine on Fisher vectors. Options left open are chosen by inner cross-validation first.
//! Networks that nothing is learnt after need the moments alone (`generative`).

mod generative;
mod rows;
mod select;

pub use generative::{MomentTable, fit_moments, is_of_moments, needs_rows};

use crate::discriminative::{Labelled, Leeway, fit_kl, fit_mm};
use crate::features;
use crate::fisher::{FisherMachine, FisherRows, Information, fisher_kernel, plain_weight};
use crate::missing::{Conditional, by_pattern};
use crate::moments::Moments;
use crate::network::{GaussianNetwork, VARIANCE_FLOOR};
use crate::params::{Decision, GaussianParams, Learning, Priors, SlackWeight, Variance};
use crate::predict::GaussianClassifier;
use crate::structure::{Constraints, StructureFit, fit_fused};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::softmax;
use hingenet_base::solver::SolverReport;
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use rows::Sample;

/// Fits a Gaussian classifier. The reports are of the structure solver of each class, the discriminative solver and the
/// machine, in this order.
pub fn fit(rows: &Rows<'_>, params: &GaussianParams, control: &Control) -> Result<Fit<GaussianClassifier>> {
    params.check()?;
    if !params.tiny_classes {
        // A class without rows is no class of these rows.
        rows.present()
            .into_iter()
            .try_for_each(|c| rows.require_class_rows(c, 2.0, "its network needs 2"))?;
    }
    if is_of_moments(params)
        && let Some(table) = MomentTable::of(rows, control)?
    {
        return generative::fit_rows(rows, &table, params, control);
    }
    features::reserve(rows.features(), rows.n_classes(), control)?;
    let (features, sample) = Sample::new(rows)?;
    reserve_kernels(sample.x.rows(), params, control)?;
    let choice = select::choose(&sample, params, control)?;
    let class = ClassModels::learn(&sample, params, &choice.point, control)?;
    let moved = class.discriminate(&sample, params, &choice.point, control)?;
    let (mut machine, last) = moved.machine(&sample, &class, &choice.point, control)?.unzip();
    if let (Some(machine), Some(unseen)) = (&mut machine, &choice.unseen) {
        machine.calibrate(unseen, &sample.class, &sample.weights);
    }
    let reports = class.reports.into_iter().chain(moved.report).chain(last).collect();
    let start = (params.learning != Learning::Generative).then_some(class.networks);
    let model = GaussianClassifier { features, networks: moved.networks, prior: class.prior, machine, start };
    Ok(Fit { model, reports, chosen: choice.chosen })
}

/// Kernel matrices of all rows at one time, as many as the folds keep and one is made of.
const KERNELS: f64 = 7.0;

/// Asks for the memory of the kernels between all pairs of rows, where something is learnt from them.
fn reserve_kernels(n: usize, params: &GaussianParams, control: &Control) -> Result<()> {
    if params.decision == Decision::Network && params.learning != Learning::Kl {
        return Ok(());
    }
    let hint =
        "give fewer rows, use sgbn:or or sgbn:mm, which need no kernel, or allow more (`--max-memory`)";
    control.reserve(
        KERNELS * 8.0 * (n as f64).powi(2),
        format!("learning from the kernels between {n} rows"),
        hint,
    )
}

/// A value for every option that inner cross-validation can choose.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    lambda1: f64,
    free: usize,
    nu: f64,
    c: SlackWeight,
}

/// The networks of the classes before discriminative learning: what λ1 decides.
struct ClassModels {
    networks: Vec<GaussianNetwork>,
    /// Prior of each class; 0 for a class without rows.
    prior: Vec<f64>,
    /// The rows without missing cells, where something is learnt from them after the networks.
    complete: Option<Matrix>,
    reports: Vec<SolverReport>,
}

impl ClassModels {
    fn learn(sample: &Sample, params: &GaussianParams, point: &Point, control: &Control) -> Result<Self> {
        let sizes = sample.class_weights();
        let prior = priors(&sizes, params.priors);
        let (networks, reports) = class_networks(sample, params, point.lambda1, control)?;
        let needs_rows = params.learning != Learning::Generative || params.decision != Decision::Network;
        let complete = needs_rows.then(|| completed(&sample.x, &networks, &prior)).transpose()?;
        Ok(ClassModels { networks, prior, complete, reports })
    }

    /// Makes the networks discriminate, where asked for, and prepares the Fisher vectors of the machine.
    fn discriminate(
        &self,
        sample: &Sample,
        params: &GaussianParams,
        point: &Point,
        control: &Control,
    ) -> Result<MovedModels> {
        let Some(x) = &self.complete else {
            return Ok(MovedModels { networks: self.networks.clone(), fisher: None, report: None });
        };
        let data = Labelled { x, class: &sample.class, weights: &sample.weights, networks: &self.networks };
        let (networks, report) = discriminate(&data, params, point, control)?;
        let data = Labelled { networks: &networks, ..data };
        let fisher = match params.decision {
            Decision::Network => None,
            Decision::FisherSvm(components) => {
                Some(FisherRows::new(&data, components, params.information, control)?)
            }
        };
        Ok(MovedModels { networks, fisher, report })
    }
}

/// The networks after discriminative learning: what k, ν and, for KL, C decide.
struct MovedModels {
    networks: Vec<GaussianNetwork>,
    fisher: Option<FisherRows>,
    report: Option<SolverReport>,
}

impl MovedModels {
    /// Trains the machine, where there is one.
    fn machine(
        &self,
        sample: &Sample,
        class: &ClassModels,
        point: &Point,
        control: &Control,
    ) -> Result<Option<(FisherMachine, SolverReport)>> {
        let (Some(x), Some(fisher)) = (&class.complete, &self.fisher) else { return Ok(None) };
        let networks = &self.networks;
        let data = Labelled { x, class: &sample.class, weights: &sample.weights, networks };
        FisherMachine::train(&data, fisher, point.c, control).map(Some)
    }
}

/// Priors of classes of these sizes.
fn priors(sizes: &[f64], priors: Priors) -> Vec<f64> {
    let share: Vec<f64> = match priors {
        Priors::Empirical => sizes.to_vec(),
        Priors::Equal => sizes.iter().map(|w| if *w > 0.0 { 1.0 } else { 0.0 }).collect(),
    };
    let total: f64 = share.iter().sum();
    share.iter().map(|s| s / total).collect()
}

/// One network per class. A class with less than two rows, where allowed or left by inner folds, gets independent nodes
/// around its row with variance 1.
fn class_networks(
    sample: &Sample,
    params: &GaussianParams,
    lambda1: f64,
    control: &Control,
) -> Result<(Vec<GaussianNetwork>, Vec<SolverReport>)> {
    let (free, silent) = (Constraints::none(sample.x.cols()), control.quiet());
    let method = params.method(lambda1);
    let mut found = Vec::new();
    for c in 0..sample.classes {
        let (x, weights) = sample.of_class(c);
        found.push(match weights.iter().sum::<f64>() >= 2.0 {
            true => Ok(method.learn_rows(&x, &weights, &free, &silent)?),
            false => Err(first_row(&x)),
        });
    }
    networks_of(found, params, lambda1, control)
}

/// What was learnt of a class, or its only row.
type ClassFit = std::result::Result<(Moments, StructureFit), Vec<f64>>;

/// The networks of the classes from what was learnt of each.
fn networks_of(
    mut found: Vec<ClassFit>,
    params: &GaussianParams,
    lambda1: f64,
    control: &Control,
) -> Result<(Vec<GaussianNetwork>, Vec<SolverReport>)> {
    if let Some(gamma) = params.fused {
        fuse(&mut found, lambda1, gamma, control)?;
    }
    let network = |class: &ClassFit| match class {
        Ok((moments, fit)) => GaussianNetwork::from_structure(fit, moments),
        Err(row) => {
            let m = row.len();
            GaussianNetwork::new(&Matrix::zeros(m, m), row.clone(), vec![1.0; m])
        }
    };
    let networks = found.iter().map(network).collect::<Result<Vec<_>>>()?;
    let networks = set_variances(networks, &found, params.variance)?;
    let reports = found.into_iter().flatten().map(|(_, fit)| fit.report).collect();
    Ok((networks, reports))
}

/// Learns two classes again with the fused penalty.
fn fuse(found: &mut [ClassFit], lambda1: f64, gamma: f64, control: &Control) -> Result<()> {
    require("fused", gamma, "two classes with at least 2 rows each", found.iter().flatten().count() == 2)?;
    let both: Vec<&Moments> = found.iter().flatten().map(|(moments, _)| moments).collect();
    let free = Constraints::none(both[0].nodes());
    let fits = fit_fused([both[0], both[1]], lambda1, gamma, &free, control)?;
    found.iter_mut().flatten().zip(fits).for_each(|((_, old), new)| *old = new);
    Ok(())
}

fn first_row(x: &Matrix) -> Vec<f64> {
    let value = |j: usize| if x.rows() > 0 && !x[(0, j)].is_nan() { x[(0, j)] } else { 0.0 };
    (0..x.cols()).map(value).collect()
}

fn set_variances(
    networks: Vec<GaussianNetwork>,
    found: &[ClassFit],
    variance: Variance,
) -> Result<Vec<GaussianNetwork>> {
    let m = networks.first().map_or(0, GaussianNetwork::nodes);
    let common = match variance {
        Variance::Ml => return Ok(networks),
        Variance::Fixed => vec![1.0; m],
        Variance::Pooled => {
            let n: f64 = found.iter().flatten().map(|(moments, _)| moments.rows).sum();
            let total = |j: usize| found.iter().flatten().map(|(_, fit)| fit.squared_error[j]).sum::<f64>();
            // Columns have variance 1 over all rows.
            (0..m).map(|j| if n > 0.0 { (total(j) / n).max(VARIANCE_FLOOR) } else { 1.0 }).collect()
        }
    };
    networks.iter().map(|g| g.with_variance(common.clone())).collect()
}

/// Missing cells replaced by their means given the observed ones, averaged over the classes with the posterior: the
/// label is not used, so training rows are completed as new rows would be.
fn completed(x: &Matrix, networks: &[GaussianNetwork], prior: &[f64]) -> Result<Matrix> {
    let complete = |prepared: &[Conditional<'_>], row: &[f64]| {
        if !row.iter().any(|v| v.is_nan()) {
            return row.to_vec();
        }
        let mut share: Vec<f64> =
            prepared.iter().zip(prior).map(|(c, p)| c.log_density(row) + p.ln()).collect();
        softmax(&mut share);
        let mut filled = vec![0.0; row.len()];
        for (conditional, s) in prepared.iter().zip(&share).filter(|(_, s)| **s > 0.0) {
            filled.iter_mut().zip(conditional.complete(row)).for_each(|(f, v)| *f += s * v);
        }
        row.iter().zip(filled).map(|(v, f)| if v.is_nan() { f } else { *v }).collect()
    };
    let rows = by_pattern(networks, x.rows(), |a| x.row(a), complete)?;
    Matrix::from_vec(x.rows(), x.cols(), rows.into_iter().flatten().collect())
}

/// KL-SGBN or MM-SGBN on complete rows, with how the solver ended.
fn discriminate(
    data: &Labelled<'_>,
    params: &GaussianParams,
    point: &Point,
    control: &Control,
) -> Result<(Vec<GaussianNetwork>, Option<SolverReport>)> {
    let (leeway, silent) = (Leeway { free: point.free, slack: params.slack }, control.quiet());
    let end = match params.learning {
        Learning::Generative => return Ok((data.networks.to_vec(), None)),
        Learning::Mm => fit_mm(data, leeway, point.nu, params.solver, &silent)?,
        Learning::Kl => {
            let c = match point.c {
                SlackWeight::Plain(c) => c,
                scaled => {
                    let kernel = fisher_kernel(data.networks, data.x, Information::Identity, control)?;
                    plain_weight(scaled, &kernel, data.weights)
                }
            };
            fit_kl(data, leeway, c, &silent)?
        }
    };
    Ok((end.networks, Some(end.report)))
}
