//! Rows that are drawn by their numbers, the same ones whenever the table is read and in pieces of any size.

use hingenet_base::error::{Result, require};

/// About a share of all rows, by a hash of the seed and of the number of a row. Unlike the hash of the content, this one
/// does not keep equal rows together: what is drawn looks like the rest, however often rows repeat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    seed: u64,
    share: f64,
}

impl Draw {
    /// Draws a share of the rows, more than 0 and less than 1.
    pub fn new(seed: u64, share: f64) -> Result<Self> {
        require("share of rows", share, "more than 0 and less than 1", share > 0.0 && share < 1.0)?;
        Ok(Draw { seed, share })
    }

    /// Whether the row of this number, from 0, is drawn.
    pub fn takes(&self, row: u64) -> bool {
        let uniform = mixed(mixed(self.seed) ^ row) as f64 / (u64::MAX as f64);
        uniform < self.share
    }
}

/// A hash of bytes that is the same everywhere.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let word = |part: &[u8]| part.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(8).fold(mixed(bytes.len() as u64), |state, part| mixed(state ^ word(part)))
}

/// The finaliser of SplitMix64, which is one to one.
pub(super) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of all rows, of neighbours and of every second one are as asked, to four standard errors.
    #[test]
    fn a_draw_takes_its_share_everywhere() {
        let share = 0.2;
        let draw = Draw::new(7, share).unwrap();
        let check = |rows: &mut dyn Iterator<Item = u64>| {
            let rows: Vec<bool> = rows.map(|row| draw.takes(row)).collect();
            let (n, taken) = (rows.len() as f64, rows.iter().filter(|t| **t).count() as f64);
            assert!((taken / n - share).abs() < 4.0 * (share * (1.0 - share) / n).sqrt(), "{taken} of {n}");
        };
        check(&mut (0..20_000));
        check(&mut (0..20_000).map(|row| 2 * row));
        check(&mut (1 << 40..(1 << 40) + 5000));
        check(&mut (0..100_000).filter(|row| draw.takes(row + 1)));
        let other = Draw::new(8, share).unwrap();
        assert!((0..1000).any(|row| draw.takes(row) != other.takes(row)));
        assert!(Draw::new(0, 0.0).is_err() && Draw::new(0, 1.0).is_err() && Draw::new(0, f64::NAN).is_err());
    }
}
