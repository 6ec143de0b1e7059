//! Bins in the order of their keys. Many keys are sorted first and then find their bins one behind the other: memory is read
//! from one end to the other, where single looks would wait for it each time.

use rayon::iter::Either;

/// Bits of a digit by which keys are sorted: their counts and places stay in the nearest cache.
const DIGIT: u32 = 11;
/// Bins that are passed over for each key at most, before it is looked for by halves.
const DENSE: usize = 16;

/// Keys of bins, ascending, and the number of each bin: in the order in which they came to be.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    keys: Vec<u64>,
    numbers: Vec<u32>,
}

impl Order {
    /// Number of bins.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Memory.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.keys[..]) + size_of_val(&self.numbers[..])
    }

    /// The numbers of the bins, their keys ascending.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The number of the bin of each key, which come in ascending order with what they belong to; keys without a bin get one
    /// with the next number.
    pub fn find_or_add(&mut self, keys: impl ExactSizeIterator<Item = (u64, u32)>) -> Vec<(u32, u32)> {
        let is_dense = DENSE * keys.len() > self.keys.len();
        let (mut at, mut fresh): (usize, Vec<Fresh>) = (0, Vec::new());
        let number = |(key, of): (u64, u32)| {
            at += match is_dense {
                true => self.keys[at..].iter().take_while(|bin| **bin < key).count(),
                false => self.keys[at..].partition_point(|bin| *bin < key),
            };
            let number = match (self.keys.get(at), fresh.last()) {
                (Some(bin), _) if *bin == key => self.numbers[at],
                (_, Some(last)) if last.key == key => last.number,
                _ => {
                    let number = (self.keys.len() + fresh.len()) as u32;
                    fresh.push(Fresh { at, key, number });
                    number
                }
            };
            (of, number)
        };
        let numbers = keys.map(number).collect();
        self.insert(&fresh);
        numbers
    }

    /// Puts new bins where they belong, the last one first.
    fn insert(&mut self, fresh: &[Fresh]) {
        let mut end = self.keys.len();
        self.keys.resize(end + fresh.len(), 0);
        self.numbers.resize(end + fresh.len(), 0);
        for (before, &Fresh { at, key, number }) in fresh.iter().enumerate().rev() {
            self.keys.copy_within(at..end, at + before + 1);
            self.numbers.copy_within(at..end, at + before + 1);
            self.keys[at + before] = key;
            self.numbers[at + before] = number;
            end = at;
        }
    }
}

/// A new bin, and how many of the old ones stand before it.
struct Fresh {
    at: usize,
    key: u64,
    number: u32,
}

/// Keys in ascending order, each with what it belongs to, a number below `n`.
pub(super) fn ascending(mut keys: Vec<(u64, u32)>, n: usize) -> impl ExactSizeIterator<Item = (u64, u32)> {
    let first = keys.first().map_or(0, |key| key.0);
    let differing = keys.iter().fold(0, |bits, key| bits | (key.0 ^ first));
    // the bits that keys have in common are left out, which leaves room for the others beside the number
    let low = differing.trailing_zeros().min(u64::BITS - 1);
    let width = u64::BITS - differing.leading_zeros().min(u64::BITS - low);
    let width = width.saturating_sub(low);
    let of = usize::BITS - n.leading_zeros();
    if width + of > u64::BITS {
        keys.sort_unstable();
        return Either::Left(keys.into_iter());
    }
    let common = first & !differing;
    let entry = |(key, number): (u64, u32)| ((key & differing) >> low) << of | u64::from(number);
    let sorted = sorted_by(keys.into_iter().map(entry).collect(), of, width);
    let mask = (1 << of) - 1;
    let key = move |entry: u64| (common | entry >> of << low, (entry & mask) as u32);
    Either::Right(sorted.into_iter().map(key))
}

/// Sorts numbers by so many bits from `low` on, digit by digit.
fn sorted_by(mut entries: Vec<u64>, low: u32, width: u32) -> Vec<u64> {
    let passes = width.div_ceil(DIGIT);
    let digit = width.div_ceil(passes.max(1));
    let mut sorted = vec![0; entries.len()];
    for pass in 0..passes {
        let place = |entry: u64| (entry >> (low + pass * digit) & ((1 << digit) - 1)) as usize;
        let mut starts = [0usize; 1 << DIGIT];
        entries.iter().for_each(|&entry| starts[place(entry)] += 1);
        let mut start = 0;
        starts.iter_mut().for_each(|n| start += std::mem::replace(n, start));
        for &entry in &entries {
            let at = &mut starts[place(entry)];
            sorted[*at] = entry;
            *at += 1;
        }
        std::mem::swap(&mut entries, &mut sorted);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet_base::numeric::random::Random;

    /// Keys with many common bits at either end, and without.
    #[test]
    fn keys_are_sorted_whatever_bits_they_have() {
        let mut random = Random::new(7);
        for (low, width) in [(0, 1), (0, 11), (5, 12), (37, 27), (0, 45), (12, 52), (0, 64)] {
            for n in [0, 1, 2, 1000] {
                let key = |random: &mut Random| (random.bits() >> (64 - width) << low) ^ 0x3ff;
                let keys: Vec<(u64, u32)> = (0..n).map(|m| (key(&mut random), m)).collect();
                let mut want: Vec<u64> = keys.iter().map(|key| key.0).collect();
                want.sort_unstable();
                let found: Vec<(u64, u32)> = ascending(keys.clone(), n as usize).collect();
                assert!(found.iter().all(|found| keys[found.1 as usize] == *found));
                assert_eq!(found.into_iter().map(|key| key.0).collect::<Vec<_>>(), want);
            }
        }
    }

    /// Some keys at a time, few and many, new and known.
    #[test]
    fn every_key_keeps_its_number() {
        let mut random = Random::new(3);
        let (mut order, mut keys) = (Order::default(), Vec::<u64>::new());
        for n in [3, 0, 1, 5000, 20, 1, 3000, 200] {
            let some: Vec<(u64, u32)> = (0..n).map(|m| (random.below(4000) as u64 * 3, m)).collect();
            let found = order.find_or_add(ascending(some.clone(), n as usize));
            assert_eq!(found.len(), some.len());
            for (of, number) in found {
                let key = some[of as usize].0;
                if number as usize == keys.len() {
                    keys.push(key);
                }
                assert_eq!(keys[number as usize], key);
            }
            assert!(order.keys.is_sorted_by(|a, b| a < b) && order.len() == keys.len());
            assert!(order.keys.iter().zip(order.numbers()).all(|(key, v)| keys[*v as usize] == *key));
        }
    }
}
