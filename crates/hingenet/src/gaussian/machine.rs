//! The support vector machine on Fisher vectors. Its scores are turned into probabilities by one temperature, fitted on
//! decisions for rows the machine has not seen.

use super::discriminative::Labelled;
use super::fisher::{correlation, fisher_kernel, fisher_vector, one_against_rest, scaled_residuals};
use super::network::GaussianNetwork;
use super::params::SlackWeight;
use crate::classifier::SolverReport;
use crate::error::{Error, Result, require_len};
use crate::numeric::linalg::{Matrix, dot};
use crate::numeric::log::log_normalise;
use crate::optimise::l2_svm::l2_svm;
use rayon::prelude::*;

/// A linear machine on Fisher vectors: one direction for two classes, else one per class.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FisherMachine {
    classes: usize,
    /// Length of a full Fisher vector.
    length: usize,
    /// Components used; `None` is all.
    components: Option<Vec<usize>>,
    directions: Vec<Vec<f64>>,
    biases: Vec<f64>,
    /// Scores are multiplied by this before they become log probabilities.
    temperature: f64,
}

impl FisherMachine {
    /// Trains on complete rows; `components` limits the Fisher components to those with the largest correlation.
    pub(super) fn train(
        data: &Labelled<'_>,
        components: Option<usize>,
        c: SlackWeight,
    ) -> Result<(Self, SolverReport)> {
        let classes = data.networks.len();
        let m = data.x.cols();
        let length = classes * m * m;
        let components = components.filter(|k| *k < length).map(|k| largest_components(data, k));
        let features = FeatureRows { networks: data.networks, components: components.as_deref() };
        let vectors = components.is_some().then(|| features.all(data.x)).transpose()?;
        let mut kernel = match &vectors {
            Some(v) => v.mul_transpose(v),
            None => fisher_kernel(data.networks, data.x),
        };
        let c = plain_weight(c, &kernel, data.weights);
        for a in 0..kernel.rows() {
            kernel[(a, a)] += 1.0 / (c * data.weights[a]);
        }
        let mut machine = FisherMachine {
            classes,
            length,
            components: components.clone(),
            directions: vec![],
            biases: vec![],
            temperature: 1.0,
        };
        let mut last = None;
        for y in one_against_rest(data.class, classes) {
            let svm = l2_svm(&kernel, &y, None, 1e-6, 1_000_000);
            let beta: Vec<f64> = svm.alpha.iter().zip(&y).map(|(a, y)| a * y).collect();
            machine.directions.push(features.combine(data.x, vectors.as_ref(), &beta)?);
            machine.biases.push(svm.bias);
            last = Some(svm.report);
        }
        let report = last.ok_or_else(|| Error::data("no class to separate", ""))?;
        Ok((machine, report))
    }

    /// Checks a machine read from a file.
    pub(super) fn check(&self, classes: usize, nodes: usize) -> Result<()> {
        require_len("classes of the machine", classes, self.classes)?;
        require_len("Fisher components", classes * nodes * nodes, self.length)?;
        let used = self.components.as_ref().map_or(self.length, Vec::len);
        let problems = if classes == 2 { 1 } else { classes };
        require_len("directions of the machine", problems, self.directions.len())?;
        require_len("biases of the machine", problems, self.biases.len())?;
        for direction in &self.directions {
            require_len("weights of a direction", used, direction.len())?;
        }
        let numbers = || self.directions.iter().flatten().chain(&self.biases);
        let indices = self.components.iter().flatten().all(|k| *k < self.length);
        if !numbers().all(|v| v.is_finite()) || !self.temperature.is_finite() || !indices {
            return Err(Error::model_file("the Fisher machine holds impossible numbers"));
        }
        Ok(())
    }

    /// Decision values of a row (NaN where missing), one per class: for two classes `f/2` and `−f/2`.
    pub fn decision(&self, networks: &[GaussianNetwork], row: &[f64]) -> Result<Vec<f64>> {
        let vector = FeatureRows { networks, components: self.components.as_deref() }.one(row)?;
        let f: Vec<f64> =
            self.directions.iter().zip(&self.biases).map(|(w, b)| dot(w, &vector) + b).collect();
        Ok(if self.classes == 2 { vec![0.5 * f[0], -0.5 * f[0]] } else { f })
    }

    /// Class scores: decision values times the temperature.
    pub fn scores(&self, networks: &[GaussianNetwork], row: &[f64]) -> Result<Vec<f64>> {
        Ok(self.decision(networks, row)?.into_iter().map(|f| self.temperature * f).collect())
    }

    /// Fits the temperature by maximum likelihood on decisions for unseen rows.
    pub(super) fn calibrate(&mut self, decisions: &[Vec<f64>], class: &[usize], weights: &[f64]) {
        self.temperature = best_temperature(decisions, class, weights);
    }

    /// The Fisher components in use; `None` is all.
    pub fn components(&self) -> Option<&[usize]> {
        self.components.as_deref()
    }
}

/// `C`, or `c n / tr K`.
pub(super) fn plain_weight(c: SlackWeight, kernel: &Matrix, weights: &[f64]) -> f64 {
    match c {
        SlackWeight::Plain(c) => c,
        SlackWeight::Trace(c) => {
            let n: f64 = weights.iter().sum();
            let trace: f64 = (0..kernel.rows()).map(|a| weights[a] * kernel[(a, a)]).sum();
            if trace > 0.0 { c * n / trace } else { c }
        }
    }
}

struct FeatureRows<'a> {
    networks: &'a [GaussianNetwork],
    components: Option<&'a [usize]>,
}

impl FeatureRows<'_> {
    fn one(&self, row: &[f64]) -> Result<Vec<f64>> {
        let full = fisher_vector(self.networks, row)?;
        Ok(match self.components {
            None => full,
            Some(list) => list.iter().map(|&k| full[k]).collect(),
        })
    }

    fn all(&self, x: &Matrix) -> Result<Matrix> {
        let rows: Result<Vec<Vec<f64>>> = (0..x.rows()).into_par_iter().map(|a| self.one(x.row(a))).collect();
        let rows = rows?;
        let length = rows.first().map_or(0, Vec::len);
        Matrix::from_vec(rows.len(), length, rows.into_iter().flatten().collect())
    }

    /// `Σ_a β_a φ(x_a)`, forming one vector at a time when they are long.
    fn combine(&self, x: &Matrix, vectors: Option<&Matrix>, beta: &[f64]) -> Result<Vec<f64>> {
        let mut sum: Vec<f64> = Vec::new();
        for a in (0..x.rows()).filter(|&a| beta[a] != 0.0) {
            let vector = match vectors {
                Some(v) => v.row(a).to_vec(),
                None => self.one(x.row(a))?,
            };
            sum.resize(vector.len(), 0.0);
            sum.iter_mut().zip(&vector).for_each(|(s, v)| *s += beta[a] * v);
        }
        if sum.is_empty() {
            let m = x.cols();
            sum = vec![0.0; self.components.map_or(self.networks.len() * m * m, <[usize]>::len)];
        }
        Ok(sum)
    }
}

/// The components with the largest |correlation| with the labels; ties to the smaller index; ascending.
fn largest_components(data: &Labelled<'_>, count: usize) -> Vec<usize> {
    let (x, m) = (data.x, data.x.cols());
    let labels = one_against_rest(data.class, data.networks.len());
    let scaled: Vec<Matrix> = data.networks.iter().map(|g| scaled_residuals(g, x)).collect();
    let sizes: Vec<f64> = (0..data.networks.len() * m)
        .into_par_iter()
        .flat_map_iter(|node| {
            let (u, j) = (&scaled[node / m], node % m);
            let others = (0..m).filter(move |&i| i != j).map(Some).chain([None]);
            let sizes: Vec<f64> = others
                .map(|i| {
                    let values: Vec<f64> =
                        (0..x.rows()).map(|a| u[(a, j)] * i.map_or(1.0, |i| x[(a, i)])).collect();
                    labels.iter().map(|y| correlation(&values, y, data.weights).abs()).fold(0.0, f64::max)
                })
                .collect();
            sizes.into_iter()
        })
        .collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    order.truncate(count);
    order.sort_unstable();
    order
}

/// The temperature t in [1e-4, 1e4] that maximises `Σ w log softmax(t f)`, a concave function: bisection on its slope.
fn best_temperature(decisions: &[Vec<f64>], class: &[usize], weights: &[f64]) -> f64 {
    let slope = |t: f64| -> f64 {
        let row = |(f, (c, w)): (&Vec<f64>, (&usize, &f64))| {
            let mut p: Vec<f64> = f.iter().map(|f| t * f).collect();
            log_normalise(&mut p);
            w * (f[*c] - p.iter().zip(f).map(|(p, f)| p.exp() * f).sum::<f64>())
        };
        decisions.iter().zip(class.iter().zip(weights)).map(row).sum()
    };
    let (mut low, mut high) = (1e-4f64.ln(), 1e4f64.ln());
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle.exp()) > 0.0 { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).exp()
}
