//! Weighted samples of one or two variables and their moments. A row of weight 2 counts like two equal
//! rows everywhere: every n is a total weight, every quantile one of the repeated values.

/// Values of one variable with their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The values.
    pub values: Vec<f64>,
    /// Their weights.
    pub weights: Vec<f64>,
    /// n: the total weight.
    pub total: f64,
}

impl Sample {
    /// Finite values, weight 1 each.
    pub fn new(values: Vec<f64>) -> Self {
        let weights = vec![1.0; values.len()];
        Self::weighted(values, weights)
    }

    /// Finite values with positive weights: the rows of a fit, which are checked.
    pub fn weighted(values: Vec<f64>, weights: Vec<f64>) -> Self {
        debug_assert_eq!(values.len(), weights.len());
        let total = weights.iter().sum();
        Sample { values, weights, total }
    }

    /// Number of rows, whatever their weights.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        // Measured from the first value, so that a large common shift costs no digits.
        let origin = self.values[0];
        let sum: f64 = self.values.iter().zip(&self.weights).map(|(x, w)| w * (x - origin)).sum();
        origin + sum / self.total
    }

    /// The variance with divisor n - 1; 0 for a constant or a single value.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        let sum: f64 = self.values.iter().zip(&self.weights).map(|(x, w)| w * (x - mean) * (x - mean)).sum();
        if self.is_constant() { 0.0 } else { sum / (self.total - 1.0).max(f64::MIN_POSITIVE) }
    }

    /// The standard deviation with divisor n - 1.
    pub fn sd(&self) -> f64 {
        self.variance().sqrt()
    }

    /// Whether all values are equal.
    pub fn is_constant(&self) -> bool {
        self.values.windows(2).all(|w| w[0] == w[1])
    }

    /// Quantiles of type 7 (linear interpolation at position (n - 1) p of the repeated order statistics).
    pub fn quantile(&self, p: f64) -> f64 {
        let sorted = self.sorted();
        let position = ((self.total - 1.0) * p).max(0.0);
        let (low, part) = (position.floor(), position - position.floor());
        let (a, b) = (sorted.order_statistic(low), sorted.order_statistic(low + 1.0));
        a + part * (b - a)
    }

    /// Interquartile range.
    pub fn iqr(&self) -> f64 {
        self.quantile(0.75) - self.quantile(0.25)
    }

    /// The same sample in ascending order.
    pub fn sorted(&self) -> Sample {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        Sample { total: self.total, ..self.part(&order) }
    }

    /// The given rows.
    pub(crate) fn part(&self, rows: &[usize]) -> Sample {
        let of = |v: &[f64]| rows.iter().map(|&r| v[r]).collect();
        Self::weighted(of(&self.values), of(&self.weights))
    }

    /// `(x - shift) / scale` for every value.
    pub fn scaled(&self, shift: f64, scale: f64) -> Sample {
        let values = self.values.iter().map(|x| (x - shift) / scale).collect();
        Sample { values, weights: self.weights.clone(), total: self.total }
    }

    /// Number of distinct values.
    pub fn n_distinct(&self) -> usize {
        let sorted = self.sorted();
        usize::from(!self.is_empty()) + sorted.values.windows(2).filter(|w| w[0] != w[1]).count()
    }

    /// Value at 0-based position `k` of the repeated values; the sample must be sorted.
    fn order_statistic(&self, k: f64) -> f64 {
        let mut before = 0.0;
        for (x, w) in self.values.iter().zip(&self.weights) {
            before += w;
            if before > k {
                return *x;
            }
        }
        self.values.last().copied().unwrap_or(0.0)
    }
}

/// Pairs of values with their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSample {
    /// The two variables, each alone.
    pub axes: [Sample; 2],
}

impl PairSample {
    /// Finite pairs, weight 1 each.
    pub fn new(x: Vec<f64>, y: Vec<f64>) -> Self {
        let weights = vec![1.0; x.len()];
        Self::weighted(x, y, weights)
    }

    /// Finite pairs with positive weights.
    pub fn weighted(x: Vec<f64>, y: Vec<f64>, weights: Vec<f64>) -> Self {
        PairSample { axes: [Sample::weighted(x, weights.clone()), Sample::weighted(y, weights)] }
    }

    /// The first values.
    pub fn x(&self) -> &[f64] {
        &self.axes[0].values
    }

    /// The second values.
    pub fn y(&self) -> &[f64] {
        &self.axes[1].values
    }

    /// The weights.
    pub fn weights(&self) -> &[f64] {
        &self.axes[0].weights
    }

    /// n: the total weight.
    pub fn total(&self) -> f64 {
        self.axes[0].total
    }

    /// Number of rows, whatever their weights.
    pub fn len(&self) -> usize {
        self.axes[0].len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.axes[0].is_empty()
    }

    /// Sample covariance `[s11, s12, s22]`, divisor n - 1.
    pub fn covariance(&self) -> [f64; 3] {
        let [a, b] = &self.axes;
        let (mx, my) = (a.mean(), b.mean());
        let product = |i: usize| a.weights[i] * (a.values[i] - mx) * (b.values[i] - my);
        let cross: f64 = (0..self.len()).map(product).sum();
        [a.variance(), cross / (self.total() - 1.0).max(f64::MIN_POSITIVE), b.variance()]
    }

    /// `A (x, y)ᵀ` for every pair, A = [[a, b], [c, d]].
    pub fn mapped(&self, [a, b, c, d]: [f64; 4]) -> PairSample {
        // The means go first: they change no difference and would cost digits.
        let [mx, my] = [self.axes[0].mean(), self.axes[1].mean()];
        let pairs = || self.x().iter().zip(self.y()).map(|(x, y)| (x - mx, y - my));
        let x = pairs().map(|(x, y)| a * x + b * y).collect();
        let y = pairs().map(|(x, y)| c * x + d * y).collect();
        Self::weighted(x, y, self.weights().to_vec())
    }
}

#[cfg(test)]
impl PairSample {
    /// Standard normal x, and y of x and a standard normal number.
    pub(crate) fn drawn(n: usize, seed: u64, y: impl Fn(f64, f64) -> f64) -> Self {
        let mut random = hingenet_base::numeric::random::Random::new(seed);
        let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let y = x.iter().map(|x| y(*x, random.normal())).collect();
        Self::new(x, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_repetitions() {
        let repeated = Sample::new(vec![1.0, 4.0, 4.0, 4.0, 2.5, 2.5, 9.0]);
        let merged = Sample::weighted(vec![4.0, 1.0, 9.0, 2.5], vec![3.0, 1.0, 1.0, 2.0]);
        assert!((repeated.mean() - merged.mean()).abs() < 1e-15);
        assert!((repeated.sd() - merged.sd()).abs() < 1e-14);
        for p in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0] {
            assert_eq!(repeated.quantile(p), merged.quantile(p), "{p}");
        }
        assert_eq!(repeated.n_distinct(), 4);
    }
}
