//! Pair tables of one column with several others: where a row stands by its class and the first column is found once for all
//! partners. Four tables take turns, so that rows of the same cell do not wait for each other.

use super::Digit;
use crate::Samples;
use hingenet_data::table::Codes;
use std::ops::Range;

/// Rows whose places are kept at a time.
const BLOCK: usize = 1 << 15;
/// Tables that take turns.
const LANES: usize = 4;
/// Most cells of a table of which there are several, so that all of them stay in the nearest cache.
const FEW_CELLS: usize = 1 << 12;
/// Most cells of a table.
const MOST_CELLS: usize = 1 << 16;

/// Whether the table of two features, numbered from 0, is counted here: whole rows, and not too many cells.
pub(crate) fn is_shared(samples: &Samples, i: usize, j: usize) -> bool {
    let card = samples.card();
    let is_complete = [0, i + 1, j + 1].iter().all(|&v| samples.is_complete(v));
    let cells = (card[0] * card[i + 1]).next_power_of_two().saturating_mul(card[j + 1]);
    let is_countable = samples.weights().is_none() && u32::try_from(samples.n_rows()).is_ok();
    is_countable && is_complete && cells <= MOST_CELLS
}

/// The tables `n(c, a, b)` of feature `i` and each of its partners, for all of which [`is_shared`] holds.
pub(crate) fn partner_counts(samples: &Samples, i: usize, partners: &[usize]) -> Vec<Vec<f64>> {
    let card = samples.card();
    let shift = (card[0] * card[i + 1]).next_power_of_two().trailing_zeros();
    let mut tables: Vec<Vec<u32>> = partners.iter().map(|&j| lanes(card[j + 1] << shift)).collect();
    let mut places = vec![0u16; BLOCK.min(samples.n_rows())];
    for start in (0..samples.n_rows()).step_by(BLOCK) {
        let rows = start..(start + BLOCK).min(samples.n_rows());
        let places = &mut places[..rows.len()];
        find_places(samples, i, rows.clone(), places);
        for (&j, lanes) in partners.iter().zip(&mut tables) {
            let size = card[j + 1] << shift;
            match samples.column(j + 1) {
                Codes::U8(codes) => add(places, &codes[rows.clone()], shift, size, lanes),
                Codes::U16(codes) => add(places, &codes[rows.clone()], shift, size, lanes),
            }
        }
    }
    let (k, r) = (card[0], card[i + 1]);
    let table = |(&j, lanes): (&usize, &Vec<u32>)| {
        let cells = (0..k * r).flat_map(|place| (0..card[j + 1]).map(move |b| b << shift | place));
        let size = card[j + 1] << shift;
        cells.map(|cell| lanes[cell..].iter().step_by(size).map(|n| f64::from(*n)).sum()).collect()
    };
    partners.iter().zip(&tables).map(table).collect()
}

/// Room for the tables of so many cells that take turns; one table if it is large, because then rows seldom meet in a cell.
fn lanes(size: usize) -> Vec<u32> {
    vec![0; if size <= FEW_CELLS { LANES * size } else { size }]
}

/// `c r + a` of some rows.
fn find_places(samples: &Samples, i: usize, rows: Range<usize>, places: &mut [u16]) {
    let class = Digit::complete(samples.column(0), samples.card()[i + 1]);
    let first = Digit::complete(samples.column(i + 1), 1);
    let mut position = [0u32; super::BLOCK];
    for (at, places) in places.chunks_mut(super::BLOCK).enumerate() {
        let start = rows.start + at * super::BLOCK;
        let position = &mut position[..places.len()];
        position.fill(0);
        [&class, &first].iter().for_each(|digit| digit.add(start..start + places.len(), position));
        places.iter_mut().zip(position).for_each(|(place, p)| *place = *p as u16);
    }
}

/// Counts rows with the states of one partner, in tables of so many cells.
fn add<T: Copy + Into<u32>>(places: &[u16], codes: &[T], shift: u32, size: usize, lanes: &mut [u32]) {
    let cell = |place: u16, code: T| (code.into() << shift | u32::from(place)) as usize;
    let (first, others) = lanes.split_at_mut(size);
    if others.is_empty() {
        places.iter().zip(codes).for_each(|(place, code)| first[cell(*place, *code)] += 1);
        return;
    }
    let (second, others) = others.split_at_mut(size);
    let (third, fourth) = others.split_at_mut(size);
    let (places, last_places) = places.as_chunks::<LANES>();
    let (codes, last_codes) = codes.as_chunks::<LANES>();
    for ([p, q, r, s], [a, b, c, d]) in places.iter().zip(codes) {
        first[cell(*p, *a)] += 1;
        second[cell(*q, *b)] += 1;
        third[cell(*r, *c)] += 1;
        fourth[cell(*s, *d)] += 1;
    }
    last_places.iter().zip(last_codes).for_each(|(place, code)| first[cell(*place, *code)] += 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::joint_counts;
    use hingenet_base::numeric::random::Random;

    #[test]
    fn tables_of_partners_are_those_of_the_pairs() {
        let mut random = Random::new(2);
        let card = [3, 13, 17, 700, 2, 40];
        for n in [1, 5, 3001, BLOCK + 4099] {
            let column = |&r: &usize| {
                let cells: Vec<Option<usize>> = (0..n).map(|_| Some(random.below(r))).collect();
                Codes::from_options(r, cells.into_iter())
            };
            let samples = Samples::new(card.to_vec(), card.iter().map(column).collect(), None).unwrap();
            for (i, partners) in [(0, &[1, 3, 4, 2][..]), (1, &[3, 2]), (3, &[4, 2])] {
                assert!(partners.iter().all(|&j| is_shared(&samples, i, j)));
                let found = partner_counts(&samples, i, partners);
                let want: Vec<Vec<f64>> =
                    partners.iter().map(|&j| joint_counts(&samples, &[0, i + 1, j + 1])).collect();
                assert_eq!(found, want, "{n} rows, feature {i}");
            }
            assert!(!is_shared(&samples, 2, 4), "a table of too many cells");
        }
    }
}
