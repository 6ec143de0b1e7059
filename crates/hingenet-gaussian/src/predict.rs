//! The fitted classifier: class networks, priors, and where asked for a machine on their Fisher vectors. Missing
//! features are marginalised exactly; the machine takes the Fisher vector of the observed part.

use crate::features::{FeatureMap, require_room};
use crate::fisher::{FisherMachine, Information, fisher_vector, parameter};
use crate::missing::{Conditional, by_pattern};
use crate::network::GaussianNetwork;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::components;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::{Classifier, log_posteriors};
use hingenet_data::explain::{Game, ScoreTerms, Term, leave_one_out};
use hingenet_data::table::{Codes, Schema, Table};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// A Gaussian classifier. Nodes are standardised columns and category indicators, see [`FeatureMap`].
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GaussianClassifier {
    /// How columns became nodes.
    pub features: FeatureMap,
    /// The network of each class, over these nodes.
    pub networks: Vec<GaussianNetwork>,
    /// Prior of each class.
    pub prior: Vec<f64>,
    /// The machine on Fisher vectors, where one decides.
    pub machine: Option<FisherMachine>,
    /// The network of each class before discriminative learning, where there was some; files of earlier versions lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<GaussianNetwork>>,
}

impl GaussianClassifier {
    /// Refuses parts (of a model file) that do not fit the columns or each other.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        let (classes, nodes) = (self.prior.len(), self.features.nodes().len());
        self.features.check(schema)?;
        require_room(classes, nodes)?;
        for networks in [Some(&self.networks), self.start.as_ref()].into_iter().flatten() {
            require_len("class networks", classes, networks.len())?;
            for network in networks {
                require_len("nodes of a class network", nodes, network.nodes())?;
                if !network.is_moderate() {
                    return Err(Error::model_file(
                        "a parameter of a class network is too large or too small",
                    ));
                }
            }
        }
        let total: f64 = self.prior.iter().sum();
        if !self.prior.iter().all(|p| *p >= 0.0 && p.is_finite()) || (total - 1.0).abs() > 1e-6 {
            return Err(Error::data("the class priors do not sum to one", ""));
        }
        self.machine.as_ref().map_or(Ok(()), |machine| machine.check(classes, nodes))
    }

    /// Columns that have a node.
    fn used(&self) -> BTreeSet<usize> {
        self.features.nodes().iter().map(|node| node.column).collect()
    }

    fn log_prior(&self) -> Vec<f64> {
        self.prior.iter().map(|p| p.ln()).collect()
    }

    /// Log density of the observed numeric cells of each row, in the units of the columns. Indicator nodes of
    /// categorical columns enter as the normal variables the model takes them for.
    pub fn log_density(&self, rows: &Table) -> Result<Vec<f64>> {
        let x = self.features.encode(rows)?;
        let joint = class_scores(&self.networks, &self.prior, None, &x, &Control::default())?;
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
        let names = self.features.node_names();
        let m = names.len();
        let name = |k: usize| match parameter(m, k) {
            (c, i, j) if i == m => (c, names[j].clone()),
            (c, i, j) => (c, format!("{}->{}", names[i], names[j])),
        };
        (0..self.networks.len() * m * m).map(name).collect()
    }

    /// Draws rows with their classes, the classes by their priors.
    pub fn sample(&self, n: usize, seed: u64) -> Result<(Table, Codes)> {
        let mut random = Random::new(seed);
        let class: Vec<usize> = (0..n).map(|_| random.weighted(&self.prior)).collect();
        let rows: Vec<Vec<f64>> = class.iter().map(|&c| self.networks[c].sample(&mut random)).collect();
        let codes = Codes::from_options(self.prior.len(), class.into_iter().map(Some));
        Ok((self.features.decode(&rows)?, codes))
    }
}

/// Class scores of encoded rows, up to a constant a row: `log p(x_observed, c)`, or those of the machine.
pub(super) fn class_scores(
    networks: &[GaussianNetwork],
    prior: &[f64],
    machine: Option<&FisherMachine>,
    x: &Matrix,
    control: &Control,
) -> Result<Vec<Vec<f64>>> {
    if let Some(machine) = machine {
        let one = |a: usize| control.check().and_then(|()| machine.scores(networks, x.row(a)));
        return (0..x.rows()).into_par_iter().map(one).collect();
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
        let x = self.features.encode(rows)?;
        let (machine, unwatched) = (self.machine.as_ref(), Control::default());
        let mut scores = class_scores(&self.networks, &self.prior, machine, &x, &unwatched)?.concat();
        log_posteriors(&mut scores, self.prior.len(), || Ok(self.log_prior()))?;
        Ok(scores)
    }

    /// For a complete row of the network classifier one term per node, which add up (indicator nodes of one column have a
    /// term each); otherwise what each observed feature changes.
    fn terms(&self, row: &Table) -> Result<ScoreTerms> {
        let x = self.features.encode(row)?;
        let nodes = self.features.nodes();
        if self.machine.is_some() || x.data().iter().any(|v| v.is_nan()) {
            return leave_one_out(self, row, &Game::of_cells(self, row, self.used()));
        }
        let term = |j: usize| {
            let parents = self.networks.iter().flat_map(|g| g.dag().parents(j));
            let given: BTreeSet<usize> = parents.map(|&i| nodes[i].column).collect();
            let scores = self.networks.iter().map(|g| g.node_term(j, x.row(0))).collect();
            Term::exact(nodes[j].column, given.into_iter().collect(), scores)
        };
        Ok(ScoreTerms::additive(self.log_prior(), (0..nodes.len()).map(term).collect()))
    }

    /// Columns that no arc of any class joins are independent given the class; the machine sees all of them together.
    fn game<'a>(&'a self, row: &'a Table) -> Result<Game<'a>> {
        let game = Game::of_cells(self, row, self.used());
        if self.machine.is_some() {
            return Ok(game);
        }
        let column = |i: usize| self.features.nodes()[i].column;
        let arcs = self.networks.iter().flat_map(|g| g.dag().arcs()).map(|(i, j)| (column(i), column(j)));
        let label = components(self.features.columns(), arcs);
        Ok(game.in_groups(|j| label[j]))
    }
}
