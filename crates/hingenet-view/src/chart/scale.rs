//! Axes: ranges, round tick positions and their labels.

use crate::table::rounded;

/// One axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Name, with the unit.
    pub label: String,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Positions and labels of the ticks.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis over the values with round ticks, a little wider than they are.
    pub fn over(label: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values);
        let pad = if high > low { 0.05 * high - 0.05 * low } else { low.abs().max(1.0) * 0.05 };
        Axis::between(label, (low - pad).max(f64::MIN), (high + pad).min(f64::MAX))
    }

    /// An axis with exactly these ends.
    pub fn between(label: &str, low: f64, high: f64) -> Self {
        // as many ticks as their labels leave room for
        let several = [6, 5, 4, 3].map(|n| labelled(nice_ticks(low, high, n)));
        let letters =
            |ticks: &Vec<(f64, String)>| ticks.iter().map(|t| t.1.chars().count() + 2).sum::<usize>();
        let fitting = several.iter().find(|ticks| letters(ticks) <= LETTERS);
        let ticks = fitting.or(several.last()).cloned().unwrap_or_default();
        Axis { label: label.into(), low, high, ticks }
    }

    /// The same axis for values a hundred times smaller: shares labelled in per cent.
    pub fn in_hundredths(mut self) -> Self {
        self.low /= 100.0;
        self.high /= 100.0;
        self.ticks.iter_mut().for_each(|t| t.0 /= 100.0);
        self
    }

    /// An axis of shares between two shares, labelled in per cent.
    pub fn percent(label: &str, low: f64, high: f64) -> Self {
        Axis::between(label, 100.0 * low, 100.0 * high).in_hundredths()
    }

    /// An axis of shares over the values, a little wider but within 0 and 1 where they are.
    pub fn percent_over(label: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values);
        // less than a tenth of a point is no picture
        let pad = (0.06 * (high - low)).max(0.001);
        let (inside_low, inside_high) = (low >= 0.0, high <= 1.0);
        let low = if inside_low { (low - pad).max(0.0) } else { low - pad };
        let high = if inside_high { (high + pad).min(1.0) } else { high + pad };
        Axis::percent(label, low, high)
    }

    /// Where `value` lies between the ends, 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        if self.high > self.low {
            let value = value.clamp(self.low, self.high);
            let width = self.high - self.low;
            // the ends may be further apart than the largest number
            if width.is_finite() { (value - self.low) / width } else { 0.5 + 0.5 * value / f64::MAX }
        } else {
            0.5
        }
    }
}

fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) =
        values.into_iter().filter(|v| v.is_finite()).fold(start, |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// About `n` round numbers between two ends: multiples of 1, 2 or 5 times a power of ten.
pub fn nice_ticks(low: f64, high: f64, n: usize) -> Vec<f64> {
    let width = high - low;
    if !(width > 0.0 && width.is_finite()) {
        return vec![low];
    }
    let rough = width / n.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= rough).unwrap_or(10.0) * power;
    // where numbers lie so close together or so far from 0 that no multiple of a step tells them apart
    if !(step.is_normal() && (low / step).abs().max((high / step).abs()) < 1e15) {
        return vec![low];
    }
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Letters that fit side by side below a chart.
const LETTERS: usize = 42;

/// Ticks with labels that tell them apart, very large and very small ones with a power of ten.
fn labelled(ticks: Vec<f64>) -> Vec<(f64, String)> {
    let largest = ticks.iter().map(|t| t.abs()).fold(0.0, f64::max);
    let decimals = decimals(&ticks);
    let plain = largest == 0.0 || (1e-3..1e6).contains(&largest);
    let text = |t: f64| match plain {
        true => format!("{t:.decimals$}"),
        false if t == 0.0 => "0".to_string(),
        // ticks are round: four digits say them exactly
        false => format!("{:e}", rounded(t, 3)),
    };
    ticks.into_iter().map(|t| (t, text(t))).collect()
}

/// Decimals that tell the ticks apart.
fn decimals(ticks: &[f64]) -> usize {
    let step = ticks.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    if step.is_finite() && step > 0.0 { (-(step.log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_step_tells_apart_have_one_tick() {
        for (low, high) in
            [(0.0, 5e-324), (1e-310, 2e-310), (1e15, 1e15 + 0.25), (f64::MIN, f64::MAX), (1e300, 1e300)]
        {
            let axis = Axis::over("x", [low, high]);
            assert!(!axis.ticks.is_empty() && axis.ticks.len() < 20, "{low} {high}");
            let (left, right) = (axis.place(low), axis.place(high));
            assert!((0.0..=1.0).contains(&left) && left <= right && right <= 1.0, "{left} {right}");
        }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(nice_ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(nice_ticks(-3.0, 12.0, 5), [0.0, 5.0, 10.0]);
        assert_eq!(nice_ticks(3.0, 3.0, 5), [3.0]);
        let axis = Axis::percent_over("accuracy, %", [0.823, 0.861]);
        assert!(axis.ticks.len() >= 3 && axis.ticks.iter().all(|(t, _)| *t >= axis.low && *t <= axis.high));
    }

    #[test]
    fn very_small_and_very_large_ticks_have_powers_of_ten() {
        let texts =
            |low, high| Axis::between("x", low, high).ticks.into_iter().map(|t| t.1).collect::<Vec<_>>();
        assert_eq!(texts(0.0, 2.1e-5), ["0", "5e-6", "1e-5", "1.5e-5", "2e-5"]);
        assert_eq!(texts(0.0, 4.4e6), ["0", "1e6", "2e6", "3e6", "4e6"]);
        assert_eq!(texts(-1000.0, 2000.0), ["-1000", "-500", "0", "500", "1000", "1500", "2000"]);
    }

    #[test]
    fn no_values_or_equal_values_still_make_an_axis() {
        for values in [vec![], vec![0.5], vec![0.5, 0.5], vec![f64::NAN]] {
            let axis = Axis::over("x", values.clone());
            assert!(axis.high > axis.low && !axis.ticks.is_empty(), "{values:?}");
            let axis = Axis::percent_over("x", values);
            assert!(axis.high > axis.low && !axis.ticks.is_empty());
        }
    }
}
