//! Category codes of one column: one byte per cell up to 255 categories, two bytes above. The largest
//! value of the type stands for a missing cell, so a column can have at most 65535 categories.

use std::collections::HashMap;

/// Codes `0..n_categories` with missing cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// At most 255 categories.
    U8(Vec<u8>),
    /// At most 65535 categories.
    U16(Vec<u16>),
}

impl Codes {
    /// The byte that stands for a missing cell in [`Codes::U8`].
    pub const MISSING_U8: u8 = u8::MAX;
    /// The word that stands for a missing cell in [`Codes::U16`].
    pub const MISSING_U16: u16 = u16::MAX;
    /// Most categories a column can have.
    pub const MAX_CATEGORIES: usize = u16::MAX as usize;

    /// The smallest representation for `n_categories` (at most [`Self::MAX_CATEGORIES`]).
    pub fn from_options(n_categories: usize, cells: impl Iterator<Item = Option<usize>>) -> Self {
        debug_assert!(n_categories <= Self::MAX_CATEGORIES);
        if n_categories <= Self::MISSING_U8 as usize {
            Codes::U8(cells.map(|c| c.map_or(Self::MISSING_U8, |c| c as u8)).collect())
        } else {
            Codes::U16(cells.map(|c| c.map_or(Self::MISSING_U16, |c| c as u16)).collect())
        }
    }

    /// Number of cells.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Codes::U8(v) => v.len(),
            Codes::U16(v) => v.len(),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of row `i`, `None` when missing.
    #[inline]
    pub fn get(&self, i: usize) -> Option<usize> {
        match self {
            Codes::U8(v) => (v[i] != Self::MISSING_U8).then_some(v[i] as usize),
            Codes::U16(v) => (v[i] != Self::MISSING_U16).then_some(v[i] as usize),
        }
    }

    /// All cells in row order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Option<usize>> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The given rows, in the given order.
    pub fn rows(&self, rows: &[usize]) -> Codes {
        match self {
            Codes::U8(v) => Codes::U8(rows.iter().map(|&i| v[i]).collect()),
            Codes::U16(v) => Codes::U16(rows.iter().map(|&i| v[i]).collect()),
        }
    }

    /// These cells, then those of another column of as many categories.
    pub fn joined(&self, other: &Codes) -> Codes {
        match (self, other) {
            (Codes::U8(a), Codes::U8(b)) => Codes::U8([&a[..], b].concat()),
            (a, b) => Codes::U16(
                a.iter().chain(b.iter()).map(|c| c.map_or(Self::MISSING_U16, |c| c as u16)).collect(),
            ),
        }
    }

    /// Makes the cell of row `i` missing.
    pub fn blank(&mut self, i: usize) {
        match self {
            Codes::U8(v) => v[i] = Self::MISSING_U8,
            Codes::U16(v) => v[i] = Self::MISSING_U16,
        }
    }

    /// Whether any cell is missing.
    pub fn has_missing(&self) -> bool {
        self.n_missing() > 0
    }

    /// The largest code, `None` when every cell is missing.
    pub fn max(&self) -> Option<usize> {
        // One above each code, with the mark of a missing cell wrapping round to 0: a plain maximum.
        let above = match self {
            Codes::U8(v) => v.iter().map(|c| c.wrapping_add(1)).max().map_or(0, usize::from),
            Codes::U16(v) => v.iter().map(|c| c.wrapping_add(1)).max().map_or(0, usize::from),
        };
        above.checked_sub(1)
    }

    /// Number of missing cells.
    pub fn n_missing(&self) -> usize {
        match self {
            Codes::U8(v) => v.iter().filter(|&&c| c == Self::MISSING_U8).count(),
            Codes::U16(v) => v.iter().filter(|&&c| c == Self::MISSING_U16).count(),
        }
    }

    /// Codes of the dictionary `from` as codes of the dictionary `to`; names that `to` lacks become missing.
    pub fn recode(&self, from: &[String], to: &[String]) -> Codes {
        if from == to {
            return self.clone();
        }
        let positions: HashMap<&str, usize> =
            to.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
        let map: Vec<Option<usize>> = from.iter().map(|name| positions.get(name.as_str()).copied()).collect();
        Codes::from_options(to.len(), self.iter().map(|c| c.and_then(|c| map[c])))
    }
}
