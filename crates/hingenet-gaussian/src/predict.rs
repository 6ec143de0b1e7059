//! The fitted classifier: class networks, priors, and where asked for a machine on their Fisher vectors. Missing
//! features are marginalised exactly; the machine takes the Fisher vector of the observed part.

use crate::features::FeatureMap;
use crate::fisher::{FisherMachine, Information, fisher_vector};
use crate::missing::{Conditional, by_pattern};
use crate::network::GaussianNetwork;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::{Classifier, log_posteriors};
use hingenet_data::explain::ScoreTerms;
use hingenet_data::table::{Codes, Table};
use rayon::prelude::*;

/// A Gaussian classifier. Nodes are standardised columns and category indicators, see [`FeatureMap`].
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "ClassifierParts")]
pub struct GaussianClassifier {
    pub(super) features: FeatureMap,
    pub(super) networks: Vec<GaussianNetwork>,
    pub(super) prior: Vec<f64>,
    pub(super) machine: Option<FisherMachine>,
}

/// The classifier as a model file has it, before its parts are checked.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct ClassifierParts {
    features: FeatureMap,
    networks: Vec<GaussianNetwork>,
    prior: Vec<f64>,
    machine: Option<FisherMachine>,
}

impl TryFrom<ClassifierParts> for GaussianClassifier {
    type Error = Error;

    fn try_from(p: ClassifierParts) -> Result<Self> {
        p.features.check()?;
        GaussianClassifier::new(p.features, p.networks, p.prior, p.machine)
    }
}

impl GaussianClassifier {
    /// Checks that the parts fit together.
    pub(super) fn new(
        features: FeatureMap,
        networks: Vec<GaussianNetwork>,
        prior: Vec<f64>,
        machine: Option<FisherMachine>,
    ) -> Result<Self> {
        require_len("class networks", prior.len(), networks.len())?;
        for network in &networks {
            require_len("nodes of a class network", features.nodes().len(), network.nodes())?;
        }
        let total: f64 = prior.iter().sum();
        if !prior.iter().all(|p| *p >= 0.0 && p.is_finite()) || (total - 1.0).abs() > 1e-6 {
            return Err(Error::data("the class priors do not sum to one", ""));
        }
        if let Some(machine) = &machine {
            machine.check(prior.len(), features.nodes().len())?;
        }
        Ok(GaussianClassifier { features, networks, prior, machine })
    }

    /// The network of each class, over the nodes of [`Self::features`].
    pub fn networks(&self) -> &[GaussianNetwork] {
        &self.networks
    }

    /// How columns became nodes.
    pub fn features(&self) -> &FeatureMap {
        &self.features
    }

    /// Prior of each class.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    pub(super) fn log_prior(&self) -> Vec<f64> {
        self.prior.iter().map(|p| p.ln()).collect()
    }

    /// The machine on Fisher vectors, where one decides.
    pub fn machine(&self) -> Option<&FisherMachine> {
        self.machine.as_ref()
    }

    /// Class scores of encoded rows, up to a constant a row.
    pub(super) fn scores(&self, x: &Matrix) -> Result<Vec<Vec<f64>>> {
        class_scores(&self.networks, &self.prior, self.machine.as_ref(), x)
    }

    /// Log density of the observed numeric cells of each row, in the units of the columns. Indicator nodes of
    /// categorical columns enter as the normal variables the model takes them for.
    pub fn log_density(&self, rows: &Table) -> Result<Vec<f64>> {
        let x = self.features.encode(rows)?;
        let joint = class_scores(&self.networks, &self.prior, None, &x)?;
        Ok((0..x.rows()).map(|a| log_sum_exp(&joint[a]) - self.features.log_scale(x.row(a))).collect())
    }

    /// Fisher vector of each row (class by class, node by node: the arcs from the other nodes, then the bias),
    /// row by row, on standardised nodes; [`Self::fisher_names`] tells the order.
    pub fn fisher_vectors(&self, rows: &Table) -> Result<Vec<f64>> {
        let x = self.features.encode(rows)?;
        let vectors: Vec<Vec<f64>> = (0..x.rows())
            .into_par_iter()
            .map(|a| fisher_vector(&self.networks, x.row(a), Information::Identity))
            .collect::<Result<_>>()?;
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Class and parameter behind each component of a Fisher vector: `from->to`, or the node for its bias.
    pub fn fisher_names(&self) -> Vec<(usize, String)> {
        let m = self.features.nodes().len();
        let of_node = |c: usize, j: usize| {
            let name =
                move |i: usize| format!("{}->{}", self.features.node_name(i), self.features.node_name(j));
            let arcs = (0..m).filter(move |&i| i != j).map(move |i| (c, name(i)));
            arcs.chain(std::iter::once((c, self.features.node_name(j))))
        };
        let of_class = |c: usize| (0..m).flat_map(move |j| of_node(c, j));
        (0..self.networks.len()).flat_map(of_class).collect()
    }

    /// Draws rows with their classes, the classes by their priors.
    pub fn sample(&self, n: usize, seed: u64) -> Result<(Table, Codes)> {
        let mut random = Random::new(seed);
        let class: Vec<usize> = (0..n).map(|_| random.weighted(&self.prior)).collect();
        let rows: Vec<Vec<f64>> = class.iter().map(|&c| self.networks[c].sample(&mut random)).collect();
        let codes = Codes::from_options(self.prior.len(), class.into_iter().map(Some));
        Ok((self.features.decode(&rows)?, codes))
    }

    /// The rows with missing cells replaced by their means given the observed ones under one class.
    pub fn impute(&self, rows: &Table, class: usize) -> Result<Table> {
        let Some(network) = self.networks.get(class) else {
            return Err(Error::Shape { what: "class".into(), expected: self.networks.len(), found: class });
        };
        let x = self.features.encode(rows)?;
        let complete = |prepared: &[Conditional<'_>], row: &[f64]| prepared[0].complete(row);
        let filled = by_pattern(std::slice::from_ref(network), x.rows(), |a| x.row(a), complete)?;
        self.features.decode(&filled)
    }
}

/// Class scores of encoded rows, up to a constant a row: `log p(x_observed, c)`, or those of the machine.
pub(super) fn class_scores(
    networks: &[GaussianNetwork],
    prior: &[f64],
    machine: Option<&FisherMachine>,
    x: &Matrix,
) -> Result<Vec<Vec<f64>>> {
    if let Some(machine) = machine {
        return (0..x.rows()).into_par_iter().map(|a| machine.scores(networks, x.row(a))).collect();
    }
    let joint = |prepared: &[Conditional<'_>], row: &[f64]| {
        prepared.iter().zip(prior).map(|(c, p)| c.log_density(row) + p.ln()).collect()
    };
    by_pattern(networks, x.rows(), |a| x.row(a), joint)
}

impl Classifier for GaussianClassifier {
    fn n_classes(&self) -> usize {
        self.prior.len()
    }

    fn log_proba(&self, rows: &Table) -> Result<Vec<f64>> {
        let mut scores = self.scores(&self.features.encode(rows)?)?.concat();
        log_posteriors(&mut scores, self.prior.len(), || Ok(self.log_prior()))?;
        Ok(scores)
    }

    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        super::explain::terms(self, row)
    }
}
