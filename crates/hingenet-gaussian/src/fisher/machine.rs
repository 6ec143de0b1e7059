//! The support vector machine on Fisher vectors. Its scores are turned into probabilities by one temperature, fitted on
//! decisions for rows the machine has not seen.

use crate::discriminative::Labelled;
use crate::fisher::{
    Information, all_scaled_residuals, fisher_kernel, fisher_vector, most_correlated, one_against_rest,
};
use crate::network::GaussianNetwork;
use crate::params::SlackWeight;
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::optimise::squared_hinge::SquaredHinge;
use hingenet_base::solver::SolverReport;
use hingenet_data::encode::is_moderate;
use hingenet_data::select::calibration::{Targets, temperature};
use hingenet_data::select::criterion::Judged;
use rayon::prelude::*;

/// A linear machine on Fisher vectors: one direction for two classes, else one per class.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FisherMachine {
    classes: usize,
    /// How the vectors are whitened.
    #[serde(default)]
    information: Information,
    /// Length of a full Fisher vector.
    length: usize,
    /// Components used; `None` is all.
    components: Option<Vec<usize>>,
    directions: Vec<Vec<f64>>,
    biases: Vec<f64>,
    /// 1/T: scores are divided by the temperature T. Model files call this factor `temperature`.
    #[serde(rename = "temperature")]
    inverse_temperature: f64,
}

impl FisherMachine {
    /// Trains with slack weight c.
    pub(crate) fn train(
        data: &Labelled<'_>,
        vectors: &FisherRows,
        c: SlackWeight,
        control: &Control,
    ) -> Result<(Self, SolverReport)> {
        let classes = data.networks.len();
        let kernel = &vectors.kernel;
        let c = plain_weight(c, kernel, data.weights);
        let ridges: Vec<f64> = data.weights.iter().map(|w| 1.0 / (c * w)).collect();
        let mut machine = FisherMachine {
            classes,
            information: vectors.information,
            length: classes * data.x.cols() * data.x.cols(),
            components: vectors.selected.as_ref().map(|(components, _)| components.clone()),
            directions: vec![],
            biases: vec![],
            inverse_temperature: 1.0,
        };
        let mut last = None;
        for labels in one_against_rest(data.class, classes) {
            let svm = SquaredHinge { kernel, labels: &labels, ridges: &ridges, intercept: true };
            let found = svm.solve(None, control)?;
            machine.directions.push(vectors.combine(data, &found.beta));
            machine.biases.push(found.intercept);
            last = Some(found.report);
        }
        let report = last.ok_or_else(|| Error::data("no class to separate", ""))?;
        Ok((machine, report))
    }

    /// Checks a machine read from a file.
    pub(crate) fn check(&self, classes: usize, nodes: usize) -> Result<()> {
        require_len("classes of the machine", classes, self.classes)?;
        require_len("Fisher components", classes * nodes * nodes, self.length)?;
        let used = self.components.as_ref().map_or(self.length, Vec::len);
        let problems = if classes == 2 { 1 } else { classes };
        require_len("directions of the machine", problems, self.directions.len())?;
        require_len("biases of the machine", problems, self.biases.len())?;
        for direction in &self.directions {
            require_len("weights of a direction", used, direction.len())?;
        }
        let numbers = self.directions.iter().flatten().chain(&self.biases);
        let components = self.components.as_deref().is_none_or(|list| {
            !list.is_empty() && list.windows(2).all(|w| w[0] < w[1]) && list.iter().all(|k| *k < self.length)
        });
        let positive = self.inverse_temperature > 0.0 && is_moderate(self.inverse_temperature);
        if !numbers.copied().all(is_moderate) || !components || !positive {
            return Err(Error::model_file("the Fisher machine holds impossible numbers"));
        }
        Ok(())
    }

    /// Class scores of a row (NaN where missing), over the temperature: for two classes `f/2` and `−f/2`.
    pub fn scores(&self, networks: &[GaussianNetwork], row: &[f64]) -> Result<Vec<f64>> {
        let vector = fisher_vector(networks, row, self.information)?;
        let vector = used_components(vector, self.components.as_deref());
        let decisions = self.directions.iter().zip(&self.biases).map(|(w, b)| dot(w, &vector) + b);
        let f: Vec<f64> = decisions.map(|f| self.inverse_temperature * f).collect();
        Ok(if self.classes == 2 { vec![0.5 * f[0], -0.5 * f[0]] } else { f })
    }

    /// Fits the temperature by maximum likelihood on decisions for unseen rows.
    pub(crate) fn calibrate(&mut self, decisions: &[Vec<f64>], class: &[usize], weights: &[f64]) {
        let rows = decisions.iter().zip(class.iter().zip(weights));
        let rows: Vec<Judged<'_>> = rows.map(|(scores, (c, w))| (&scores[..], *c, *w)).collect();
        self.inverse_temperature = 1.0 / temperature(&rows, &Targets::Certain, (1e-4, 1e4));
    }
}

/// `C`, or `c n / tr K`.
pub(crate) fn plain_weight(c: SlackWeight, kernel: &Matrix, weights: &[f64]) -> f64 {
    match c {
        SlackWeight::Plain(c) => c,
        SlackWeight::Trace(c) => {
            let n: f64 = weights.iter().sum();
            let trace: f64 = (0..kernel.rows()).map(|a| weights[a] * kernel[(a, a)]).sum();
            if trace > 0.0 { c * n / trace } else { c }
        }
    }
}

/// Fisher vectors of training rows as the machine needs them, whatever its slack weight.
pub(crate) struct FisherRows {
    information: Information,
    /// The components in use and the vectors, one row a sample; `None` uses all, and no vector is formed.
    selected: Option<(Vec<usize>, Matrix)>,
    kernel: Matrix,
}

impl FisherRows {
    /// Of complete rows; `components` limits the components to those with the largest correlation with the label.
    pub fn new(
        data: &Labelled<'_>,
        components: Option<usize>,
        information: Information,
        control: &Control,
    ) -> Result<Self> {
        let m = data.x.cols();
        let Some(count) = components.filter(|k| *k < data.networks.len() * m * m) else {
            let kernel = fisher_kernel(data.networks, data.x, information, control)?;
            return Ok(FisherRows { information, selected: None, kernel });
        };
        let components = most_correlated(data, count, |_, _, _| true);
        let one = |a: usize| {
            control.check()?;
            let full = fisher_vector(data.networks, data.x.row(a), information);
            full.map(|v| used_components(v, Some(&components)))
        };
        let rows: Result<Vec<Vec<f64>>> = (0..data.x.rows()).into_par_iter().map(one).collect();
        let vectors = Matrix::from_vec(data.x.rows(), count, rows?.into_iter().flatten().collect())?;
        Ok(FisherRows { information, kernel: vectors.gram_of_rows(), selected: Some((components, vectors)) })
    }

    /// `Σ_a β_a φ(x_a)`.
    fn combine(&self, data: &Labelled<'_>, beta: &[f64]) -> Vec<f64> {
        match &self.selected {
            Some((_, vectors)) => vectors.transpose().mul_vec(beta),
            None => data.networks.iter().flat_map(|g| self.combined_class(g, data.x, beta)).collect(),
        }
    }

    /// The components of one class of `Σ_a β_a φ(x_a)`: for the arc i -> j `Σ_a β_a u_aj x_ai`, without forming vectors.
    fn combined_class(&self, network: &GaussianNetwork, x: &Matrix, beta: &[f64]) -> Vec<f64> {
        let m = x.cols();
        let mut u = all_scaled_residuals(network, x, self.information);
        (0..m).for_each(|j| u.row_mut(j).iter_mut().zip(beta).for_each(|(u, b)| *u *= b));
        let arcs = u.mul(x);
        let node = |j: usize| {
            let others = arcs.row(j).iter().enumerate().filter(move |(i, _)| *i != j).map(|(_, v)| *v);
            others.chain([u.row(j).iter().sum::<f64>()])
        };
        (0..m).flat_map(node).collect()
    }
}

fn used_components(full: Vec<f64>, components: Option<&[usize]>) -> Vec<f64> {
    match components {
        None => full,
        Some(list) => list.iter().map(|&k| full[k]).collect(),
    }
}
