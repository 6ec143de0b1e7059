//! A network with parameters: `log P(x) = Σ_i w^i_{x_i|x(Pa_i)}`, Eq. (1) of the paper.

use super::{Normaliser, Structure, counts};
use hingenet_base::error::{Result, require_len};
use hingenet_base::numeric::log::log_sum_exp;

/// A structure and its log parameters w.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    structure: Structure,
    w: Vec<f64>,
}

impl Network {
    /// Joins structure and parameters; only the length is checked.
    pub fn new(structure: Structure, w: Vec<f64>) -> Result<Self> {
        require_len("network parameters", structure.n_entries(), w.len())?;
        Ok(Network { structure, w })
    }

    /// The network of maximum likelihood, Eq. (3), from the raw counts of its tables.
    pub fn likely(structure: Structure, counts: &[f64], alpha: f64) -> Result<Self> {
        let mut n = counts.to_vec();
        counts::smooth(&structure, &mut n, alpha);
        let w = counts::ml_parameters(&structure, &n)?;
        Network::new(structure, w)
    }

    /// Graph, states, layout.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// All log parameters, in layout order.
    pub fn w(&self) -> &[f64] {
        &self.w
    }

    /// The proper network with the same posterior for complete rows (Algorithm 1).
    pub fn normalised(mut self) -> Result<Self> {
        Normaliser::new(&self.structure)?.normalise(&mut self.w)?;
        Ok(self)
    }

    /// Row `h` of node `i`'s table.
    pub fn row(&self, i: usize, h: usize) -> &[f64] {
        let r = self.structure.card()[i];
        let start = self.structure.table(i).start + h * r;
        &self.w[start..start + r]
    }

    /// Largest |lse| over all rows: 0 for a normalised network, Eq. (2).
    pub fn normalisation_error(&self) -> f64 {
        let rows = |i: usize| (0..self.structure.n_rows(i)).map(move |h| (i, h));
        (0..self.structure.n_nodes())
            .flat_map(rows)
            .fold(0.0, |e, (i, h)| e.max(log_sum_exp(self.row(i, h)).abs()))
    }

    /// `log P(x)` of a complete assignment (class included).
    pub fn log_joint(&self, state: impl Fn(usize) -> usize + Copy) -> f64 {
        (0..self.structure.n_nodes()).map(|i| self.w[self.structure.entry_of(i, state)]).sum()
    }
}
