//! A network in the units of the columns instead of standardised ones, and what it says of rows that lie in the memory
//! of the caller.

use crate::missing::{Conditional, by_pattern};
use crate::network::GaussianNetwork;
use hingenet_base::error::{Result, require_len};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_data::table::NumberRows;

impl GaussianNetwork {
    /// The same distribution over `mean + scale · x`; a scale of 0 (a constant column) counts as 1.
    pub fn in_units(&self, place: &[(f64, f64)]) -> Result<Self> {
        require_len("units of the nodes", self.nodes(), place.len())?;
        let scale = |j: usize| if place[j].1 > 0.0 { place[j].1 } else { 1.0 };
        let theta = self.theta();
        let weights = Matrix::from_fn(self.nodes(), self.nodes(), |i, j| theta[(i, j)] * scale(j) / scale(i));
        let bias = |j: usize| {
            let shift: f64 = (0..self.nodes()).map(|i| weights[(i, j)] * place[i].0).sum();
            place[j].0 + scale(j) * self.bias()[j] - shift
        };
        let variance = |j: usize| self.variance()[j] * scale(j) * scale(j);
        Self::new(&weights, (0..self.nodes()).map(bias).collect(), (0..self.nodes()).map(variance).collect())
    }

    /// `(I − Θ) D⁻¹ (I − Θ)'`, the inverse of the joint covariance.
    pub fn precision(&self) -> Matrix {
        let (m, theta) = (self.nodes(), self.theta());
        let scaled = Matrix::from_fn(m, m, |i, j| {
            (f64::from(u8::from(i == j)) - theta[(i, j)]) / self.variance()[j].sqrt()
        });
        scaled.mul_transpose(&scaled)
    }

    /// Log density of the observed cells of each row.
    pub fn log_densities(&self, rows: &NumberRows<'_>) -> Result<Vec<f64>> {
        self.on_rows(rows, |conditional, row| conditional.log_density(row))
    }

    /// The rows with missing cells replaced by their means given the observed ones, row by row.
    pub fn completed(&self, rows: &NumberRows<'_>) -> Result<Vec<f64>> {
        let filled = self.on_rows(rows, |conditional, row| conditional.complete(row))?;
        Ok(filled.into_iter().flatten().collect())
    }

    fn on_rows<T: Send>(
        &self,
        rows: &NumberRows<'_>,
        work: impl Fn(&Conditional<'_>, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>> {
        require_len("columns", self.nodes(), rows.n_columns())?;
        let one = |prepared: &[Conditional<'_>], row: &[f64]| work(&prepared[0], row);
        by_pattern(std::slice::from_ref(self), rows.n_rows(), |a| rows.row(a), one)
    }

    /// `n` rows drawn from the network, row by row.
    pub fn samples(&self, n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).flat_map(|_| self.sample(&mut random)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_the_density_by_their_scale_only() {
        let theta = Matrix::from_fn(2, 2, |i, j| if (i, j) == (0, 1) { 0.7 } else { 0.0 });
        let network = GaussianNetwork::new(&theta, vec![0.1, -0.2], vec![0.5, 2.0]).unwrap();
        let place = [(10.0, 4.0), (-3.0, 0.5)];
        let moved = network.in_units(&place).unwrap();
        let z = [0.3, f64::NAN, -1.2, 0.4];
        let x: Vec<f64> = z.iter().enumerate().map(|(k, z)| place[k % 2].0 + place[k % 2].1 * z).collect();
        let log = |g: &GaussianNetwork, v: &[f64]| g.log_densities(&NumberRows::new(v, 2).unwrap()).unwrap();
        let (a, b) = (log(&network, &z), log(&moved, &x));
        assert!((a[0] - b[0] - 4f64.ln()).abs() < 1e-12);
        assert!((a[1] - b[1] - 2f64.ln()).abs() < 1e-12);
    }
}
