//! Bins of decimals, found without a search: values such as 3.25 are multiples of a hundredth, and in the range of a column
//! there are not many of them. What a value has found once stands at its place among the multiples.

/// Most decimals, and most places of a column.
const MOST_DECIMALS: i32 = 6;
const MOST_PLACES: f64 = (1 << 18) as f64;
/// How often the multiples may be chosen anew.
const MOST_CHOICES: u32 = 4;
/// Stands at a place whose value was not met yet.
const NO_BIN: u16 = u16::MAX;

/// The bins of multiples of a power of ten.
#[derive(Debug, Clone, Default)]
pub(super) struct Grid {
    /// Multiples of one; 0 where there are none.
    scale: f64,
    /// The first multiple that has a place.
    first: f64,
    bins: Vec<u16>,
    n_choices: u32,
}

impl Grid {
    /// Chooses multiples among which nearly all values are, if those that are now are not.
    pub fn choose(&mut self, values: impl Iterator<Item = f64> + Clone) {
        let (n, n_outside) = values
            .clone()
            .fold((0, 0), |(n, outside), x| (n + 1, outside + usize::from(self.place(x).is_none())));
        if 2 * n_outside <= n || self.n_choices == MOST_CHOICES {
            return;
        }
        self.n_choices += 1;
        let (low, high) =
            values.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let scales = (0..=MOST_DECIMALS).map(|d| 10f64.powi(d));
        let mut scales = scales.take_while(|scale| (high - low) * scale < MOST_PLACES / 2.0);
        if let Some(scale) = scales.find(|scale| values.clone().all(|x| multiple(x, *scale).is_some())) {
            let span = ((high - low) * scale).round();
            // as many places on either side for values that come later
            let n_places = (2.0 * span + 1024.0).min(MOST_PLACES);
            let first = (low * scale).round() - ((n_places - span) / 2.0).floor();
            let bins = vec![NO_BIN; n_places as usize];
            *self = Grid { scale, first, bins, n_choices: self.n_choices };
        }
    }

    /// The place of a value, if it is such a multiple.
    #[inline]
    pub fn place(&self, x: f64) -> Option<usize> {
        let place = multiple(x, self.scale)? - self.first;
        // of negative numbers and of those too large there is no bin
        (place >= 0.0 && place < self.bins.len() as f64).then_some(place as usize)
    }

    /// The bin that was kept at a place.
    #[inline]
    pub fn bin(&self, place: usize) -> Option<usize> {
        Some(self.bins[place]).filter(|bin| *bin != NO_BIN).map(usize::from)
    }

    /// Keeps a bin at a place, if its number is not too large.
    pub fn keep(&mut self, place: usize, bin: usize) {
        if bin < usize::from(NO_BIN) {
            self.bins[place] = bin as u16;
        }
    }

    /// The same multiples, whose bins are not known.
    pub fn without_bins(mut self) -> Self {
        self.bins.fill(NO_BIN);
        self
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.bins[..])
    }
}

/// Which multiple of `1 / scale` a value is, if it is one: the number nearest to it.
#[inline]
fn multiple(x: f64, scale: f64) -> Option<f64> {
    // adding and taking away makes numbers below 2^51 whole
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    let whole = (x * scale + WHOLE) - WHOLE;
    (whole / scale == x).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(values: &[f64]) -> Grid {
        let mut grid = Grid::default();
        grid.choose(values.iter().copied());
        grid
    }

    #[test]
    fn decimals_have_a_place_of_their_own() {
        let values: Vec<f64> = (-60_000..60_000).map(|k| f64::from(k) / 10_000.0).collect();
        let grid = chosen(&values);
        let places: Vec<usize> = values.iter().filter_map(|x| grid.place(*x)).collect();
        assert!(places.len() == values.len() && places.is_sorted_by(|a, b| b - a == 1));
        for none in [0.12345, 1e9, -1e9, f64::NAN, f64::INFINITY, 1e300, f64::MIN_POSITIVE] {
            assert_eq!(grid.place(none), None, "{none}");
        }
        assert_eq!(grid.place(-0.0), grid.place(0.0));
    }

    #[test]
    fn values_that_are_no_decimals_or_too_far_apart_have_none() {
        for values in [&[1.0 / 3.0, 0.5][..], &[0.0, 1e6], &[0.1, 1e5], &[f64::MAX, f64::MIN], &[]] {
            assert!(values.iter().all(|x| chosen(values).place(*x).is_none()), "{values:?}");
        }
        assert!(chosen(&[1e15 + 1.0, 1e15]).place(1e15).is_some());
    }

    #[test]
    fn a_bin_stands_at_its_place_until_bins_move() {
        let mut grid = chosen(&[1.0, 2.0, 7.0]);
        let places = [1.0, 2.0].map(|x| grid.place(x).unwrap());
        grid.keep(places[0], 3);
        grid.keep(places[1], 1 << 16);
        assert_eq!(places.map(|place| grid.bin(place)), [Some(3), None]);
        // decimals that come later may be chosen
        grid.choose([0.25, 0.5, 0.75].into_iter());
        assert_eq!(grid.place(0.25).map(|place| grid.bin(place)), Some(None));
        assert_eq!(grid.without_bins().bins.iter().max(), Some(&NO_BIN));
    }
}
