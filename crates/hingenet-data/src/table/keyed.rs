//! Numbers as files of columns keep them: keys into lists of values. Who counts looks at each value once, not at each cell.

use std::sync::Arc;

/// The key of a missing cell.
pub const NO_KEY: u32 = u32::MAX;

/// A column of numbers, part by part.
#[derive(Debug, Clone, Default)]
pub struct Keyed {
    parts: Vec<KeyedPart>,
    n_cells: usize,
    n_missing: usize,
}

/// Cells one after the other whose values stand in one list.
#[derive(Debug, Clone)]
pub struct KeyedPart {
    values: Arc<[f64]>,
    keys: Vec<u32>,
}

impl Keyed {
    /// Adds cells: numbers of values, which must be finite, or [`NO_KEY`].
    #[cfg(feature = "parquet")]
    pub(crate) fn push(&mut self, values: &Arc<[f64]>, keys: &[u32]) {
        debug_assert!(
            keys.iter().all(|&k| k == NO_KEY || values.get(k as usize).is_some_and(|x| x.is_finite()))
        );
        self.n_cells += keys.len();
        self.n_missing += keys.iter().filter(|key| **key == NO_KEY).count();
        match self.parts.last_mut() {
            Some(last) if Arc::ptr_eq(&last.values, values) => last.keys.extend_from_slice(keys),
            _ => self.parts.push(KeyedPart { values: values.clone(), keys: keys.to_vec() }),
        }
    }

    /// The parts.
    pub fn parts(&self) -> &[KeyedPart] {
        &self.parts
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.n_cells
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.n_cells == 0
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| size_of_val(&part.keys[..]) + size_of_val(&part.values[..])).sum()
    }

    /// Number of missing cells.
    pub fn n_missing(&self) -> usize {
        self.n_missing
    }

    /// How many values are no whole numbers.
    pub(super) fn n_fractions(&self) -> usize {
        let values = self.parts.iter().flat_map(|part| part.values.iter());
        values.filter(|x| x.is_finite() && x.fract() != 0.0).count()
    }

    /// All cells in row order, NaN where one is missing.
    pub fn cells(&self) -> impl Iterator<Item = f64> + '_ {
        self.parts.iter().flat_map(KeyedPart::cells)
    }
}

impl KeyedPart {
    /// The values. Some may stand in no cell.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The key of each cell.
    pub fn keys(&self) -> &[u32] {
        &self.keys
    }

    /// The cells, NaN where one is missing.
    pub fn cells(&self) -> impl Iterator<Item = f64> + '_ {
        cells_of(&self.values, &self.keys)
    }
}

/// The cells with these keys, NaN where one is missing.
pub(crate) fn cells_of(values: &[f64], keys: &[u32]) -> impl Iterator<Item = f64> {
    keys.iter().map(|&key| values.get(key as usize).copied().unwrap_or(f64::NAN))
}
