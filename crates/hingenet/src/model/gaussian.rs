//! How the Gaussian family is named and fitted: `sgbn:or`, `sgbn:mm`, ..., `fisher:or`, ...

use super::options::{CHOSEN, Opt, OptionDefault, OptionInfo, OptionKind, OptionValue, option, options};
use super::{FitOptions, Fitted, Model, ModelSpec, NumberData};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::table::{Codes, NumberRows, Table, UnseenPolicy};
use hingenet_gaussian::discriminative::MmSolver;
use hingenet_gaussian::fisher::Information;
use hingenet_gaussian::network::GaussianNetwork;
use hingenet_gaussian::structure::{Constraints, SearchParams};
use hingenet_gaussian::study::{ClassStudy, StudyParams, study_networks};
use hingenet_gaussian::{
    Decision, GaussianClassifier, GaussianParams, Learning, Priors, SlackWeight, StructureMethod, Tuning,
    Variance,
};
use std::ops::Bound;

options! { gaussian_setters:
    VARIANCE variance: words(Variance; "ml" => Variance::Ml, "pooled" => Variance::Pooled,
        "fixed" => Variance::Fixed) = "ml",
        "noise of the nodes: per class, one for all classes, or 1";
    PRIORS priors: words(Priors; "equal" => Priors::Equal, "empirical" => Priors::Empirical) = "equal",
        "class priors";
    SMALL_CLASSES small_classes: words(bool; "refuse" => false, "allow" => true) = "refuse",
        "a class of one row: an error, or independent nodes around it";
    LAMBDA1 lambda1: number(1e-12 ..= 1e12) or CHOSEN, "penalty of an arc";
    FUSED fused: number(0.0 ..= 1e12) or "none",
        "penalty of differences between the weights of two classes, in a common order";
    PENALTY penalty: number(1e-12 ..= 1e12) = 2.0, "penalty of an arc in units of log n";
    ROUNDS rounds: whole(>= 0) = 20, "restarts of the order search";
    START start: words(StructureMethod; "or" => StructureMethod::Or, "h" => StructureMethod::H,
        "search" => StructureMethod::Search) = "or",
        "how the graphs are learnt before the discriminative step";
    FREE k: whole(>= 0) or CHOSEN, "number of arc weights and biases that the discriminative step may move";
    SLACK slack: number(0.0 ..= 1e12) = 0.01, "share by which the fitting error may grow";
    NU nu: number(1e-12 < .. < 1.0) or CHOSEN, "share of rows allowed below the margin";
    SOLVER solver: words(MmSolver; "smooth" => MmSolver::Smooth, "ccp" => MmSolver::Ccp) = "smooth",
        "smoothed objective, or convex-concave steps by cone programs";
    COST c: number(1e-12 ..= 1e12) or CHOSEN, "weight of the squared slacks of the kernel machine";
    COMPONENTS components: whole(>= 1) or "all", "Fisher components with the largest correlation with the class";
    INFORMATION information: words(Information; "identity" => Information::Identity,
        "diagonal" => Information::Diagonal)
        or "identity, as in the paper; diagonal where the graphs come from the order search",
        "Fisher information by which the vectors are whitened; diagonal divides by the noise of the node";
}

/// A Gaussian network for all rows of a table, without classes.
#[derive(Debug, Clone)]
pub struct NetworkFit {
    /// The network in the units of the columns.
    pub network: GaussianNetwork,
    /// How it was learnt, on standardised columns.
    pub study: ClassStudy,
}

/// Learns one Gaussian network for all rows of numbers. Rows are merged and sorted first, as in [`super::fit`],
/// so that their order and duplication never matter.
pub fn fit_network(
    rows: NumberRows<'_>,
    names: Vec<String>,
    weights: Option<Vec<f64>>,
    params: &StudyParams,
    control: &Control,
) -> Result<NetworkFit> {
    let data = NumberData {
        target: String::new(),
        rows,
        names,
        classes: vec![String::new()],
        class: Codes::from_options(1, std::iter::repeat_n(Some(0), rows.n_rows())),
        weights,
    };
    let rows = data.canonical()?;
    let free = Constraints::none(rows.features.n_columns());
    let study = study_networks(&rows.features, rows.weights.as_deref(), None, &free, params, control)?;
    let place: Vec<(f64, f64)> = study.features.nodes().iter().map(|n| (n.mean, n.scale)).collect();
    match study.classes.into_iter().next() {
        Some(study) => Ok(NetworkFit { network: study.network.in_units(&place)?, study }),
        None => Err(Error::data("there are no rows", "give at least two rows")),
    }
}

impl Model {
    /// Fisher vectors of the rows of a table under the class networks, row by row.
    pub fn fisher_vectors(&self, table: &Table, unseen: UnseenPolicy) -> Result<Vec<f64>> {
        let (rows, _) = self.schema.align(table, unseen)?;
        self.class_networks()?.fisher_vectors(&rows)
    }

    /// The Gaussian networks behind this model.
    pub fn class_networks(&self) -> Result<&GaussianClassifier> {
        match &self.fitted {
            Fitted::Gaussian(fitted) => Ok(fitted),
            _ => Err(self
                .unsupported("this model has no Gaussian networks", "fit a Gaussian model such as sgbn:mm")),
        }
    }
}

/// The settings of a Gaussian classifier; without a structure the option `start` says how the graphs are learnt.
pub(super) fn params(
    structure: Option<StructureMethod>,
    learning: Learning,
    fisher: bool,
    spec: &ModelSpec,
    options: FitOptions,
) -> GaussianParams {
    let structure = structure.unwrap_or_else(|| START.of(spec));
    // Least squares leaves nodes with next to no noise, whose gradients would drown all others.
    let information = if structure.has_lambda1() { Information::Identity } else { Information::Diagonal };
    GaussianParams {
        structure,
        learning,
        decision: if fisher { Decision::FisherSvm(COMPONENTS.of(spec)) } else { Decision::Network },
        information: INFORMATION.of(spec).unwrap_or(information),
        fused: FUSED.of(spec),
        search: SearchParams { penalty: PENALTY.of(spec), rounds: ROUNDS.of(spec), seed: options.seed },
        variance: VARIANCE.of(spec),
        priors: PRIORS.of(spec),
        slack: SLACK.of(spec),
        solver: SOLVER.of(spec),
        tiny_classes: SMALL_CLASSES.of(spec),
        tuning: Tuning {
            lambda1: LAMBDA1.of(spec),
            free: FREE.of(spec),
            nu: NU.of(spec),
            c: COST.of(spec).map(SlackWeight::Plain),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    /// 400 rows of a -> b -> c in odd units, a cell in ten missing if asked for.
    fn chain(missing: bool) -> Vec<f64> {
        let mut random = Random::new(7);
        let mut cells = Vec::new();
        for m in 0..400 {
            let a = random.normal();
            let b = 0.8 * a + 0.6 * random.normal();
            let c = -0.8 * b + 0.6 * random.normal();
            let row = [1e3 + 50.0 * a, b, 1e-3 * c];
            cells.extend(
                row.iter().enumerate().map(|(j, v)| if missing && (m + j) % 10 == 0 { f64::NAN } else { *v }),
            );
        }
        cells
    }

    #[test]
    fn a_chain_is_found_in_any_units_with_and_without_missing_cells() {
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        for (missing, method) in [
            (false, StructureMethod::Search),
            (true, StructureMethod::Search),
            (false, StructureMethod::Or),
            (true, StructureMethod::H),
        ] {
            let cells = chain(missing);
            let params = StudyParams {
                method,
                search: SearchParams { rounds: 5, ..SearchParams::default() },
                ..StudyParams::default()
            };
            let rows = NumberRows::new(&cells, 3).unwrap();
            let fit = fit_network(rows, names.clone(), None, &params, &Control::default()).unwrap();
            let class = &fit.study.structure.class;
            assert!(class.is_adjacent(0, 1) && class.is_adjacent(1, 2), "{method:?}");
            let (mean, covariance) = fit.network.joint();
            assert!((mean[0] - 1e3).abs() < 10.0 && (covariance[(0, 0)].sqrt() / 50.0 - 1.0).abs() < 0.25);
            let product = covariance.mul(&fit.network.precision());
            let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
            assert!((0..9).all(|k| (product[(k / 3, k % 3)] - identity(k / 3, k % 3)).abs() < 1e-6));
        }
    }
}
