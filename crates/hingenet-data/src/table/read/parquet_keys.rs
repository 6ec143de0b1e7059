//! Columns whose pages hold nothing but keys into one dictionary, as nearly all writers write texts, and numbers of few
//! distinct values: a text is looked at once for all cells that have it, and a number can stay a key. Which columns are such
//! ones, the headers of their pages say.

use super::builder::{ColumnBuilder, NO_CODE};
use super::context::Context;
use super::parquet::damaged;
use crate::table::{NO_KEY, cells_of};
use hingenet_base::error::Result as Read;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use std::ops::Range;
use std::sync::Arc;

/// Keys decoded at a time.
const BATCH: usize = 8192;

/// The cells of one column in one group of rows.
pub(super) struct Keys {
    pages: Box<dyn PageReader>,
    /// Whether cells may be null, and are marked where they are.
    has_levels: bool,
    dictionary: Dictionary,
    page: Option<OpenPage>,
    cells: Vec<u32>,
}

/// What the keys stand for.
pub(super) enum Dictionary {
    /// Texts, and the code that each has in the piece at hand.
    Texts(Texts, Vec<u32>),
    Numbers(Numbers),
}

/// The texts of a dictionary.
#[derive(Default)]
pub(super) struct Texts {
    bytes: bytes::Bytes,
    places: Vec<Range<usize>>,
}

/// The numbers of a dictionary.
pub(super) struct Numbers {
    /// Four bytes or eight.
    width: usize,
    values: Arc<[f64]>,
    has_nan: bool,
    is_infinite: bool,
}

/// What is left of a page.
struct OpenPage {
    cells: usize,
    levels: Option<Runs>,
    keys: Runs,
}

impl Keys {
    pub(super) fn new(pages: Box<dyn PageReader>, has_levels: bool, dictionary: Dictionary) -> Self {
        Keys { pages, has_levels, dictionary, page: None, cells: Vec::new() }
    }

    /// Forgets the codes of the last piece.
    pub(super) fn begin_piece(&mut self) {
        if let Dictionary::Texts(_, codes) = &mut self.dictionary {
            codes.fill(NO_CODE);
        }
    }

    /// Adds the next cells to their column, at most `most` and at least one; the first of them stands in this row. The
    /// number of cells.
    pub(super) fn push_next(
        &mut self,
        column: &mut ColumnBuilder,
        most: usize,
        first_row: u64,
        context: &Context<'_>,
    ) -> Read<usize> {
        self.decode(most).map_err(|e| damaged(context, e))?;
        match &mut self.dictionary {
            Dictionary::Texts(texts, codes) => {
                let text = |key: usize| texts.text(key).map_err(|e| damaged(context, e));
                column.push_keys(&self.cells, codes, text, first_row, context)?;
            }
            Dictionary::Numbers(numbers) => {
                numbers.check(&mut self.cells).map_err(|e| damaged(context, e))?;
                match numbers.is_infinite {
                    false => column.push_keyed(&numbers.values, &self.cells),
                    true => {
                        let cells: Vec<f64> = cells_of(&numbers.values, &self.cells).collect();
                        column.push_numbers(&cells, first_row, context)?;
                    }
                }
            }
        }
        Ok(self.cells.len())
    }

    /// Decodes the keys of the next cells.
    fn decode(&mut self, most: usize) -> Result<()> {
        let page = loop {
            match &mut self.page {
                Some(page) if page.cells > 0 => break page,
                _ => {}
            }
            match self.pages.get_next_page()? {
                Some(Page::DictionaryPage { buf, num_values, .. }) => {
                    self.dictionary.read(buf, num_values as usize)?;
                }
                Some(page) => self.page = Some(OpenPage::new(&page, self.has_levels)?),
                None => {
                    return Err(ParquetError::EOF("a column has fewer cells than there are rows".into()));
                }
            }
        };
        self.cells.clear();
        self.cells.resize(most.min(BATCH).min(page.cells), 0);
        page.cells -= self.cells.len();
        let Some(levels) = &mut page.levels else { return page.keys.fill(&mut self.cells) };
        levels.fill(&mut self.cells)?;
        let present = self.cells.iter().filter(|level| **level == 1).count();
        if present == self.cells.len() {
            return page.keys.fill(&mut self.cells);
        }
        let mut keys = vec![0; present];
        page.keys.fill(&mut keys)?;
        let mut keys = keys.into_iter();
        self.cells
            .iter_mut()
            .for_each(|cell| *cell = if *cell == 1 { keys.next().unwrap_or(NO_KEY) } else { NO_KEY });
        Ok(())
    }
}

impl Dictionary {
    pub(super) fn texts() -> Self {
        Dictionary::Texts(Texts::default(), Vec::new())
    }

    /// Numbers of so many bytes.
    pub(super) fn numbers(width: usize) -> Self {
        Dictionary::Numbers(Numbers { width, values: Arc::default(), has_nan: false, is_infinite: false })
    }

    /// So many entries, as they stand in their page.
    fn read(&mut self, bytes: bytes::Bytes, n: usize) -> Result<()> {
        *self = match self {
            Dictionary::Texts(..) => {
                let texts = Texts::read(bytes, n)?;
                let codes = vec![NO_CODE; texts.places.len()];
                Dictionary::Texts(texts, codes)
            }
            Dictionary::Numbers(Numbers { width, .. }) => {
                Dictionary::Numbers(Numbers::read(&bytes, n, *width)?)
            }
        };
        Ok(())
    }
}

fn short_dictionary() -> ParquetError {
    ParquetError::EOF("a dictionary is shorter than it claims".into())
}

impl Numbers {
    fn read(bytes: &[u8], n: usize, width: usize) -> Result<Self> {
        let bytes = bytes.get(..n.saturating_mul(width)).ok_or_else(short_dictionary)?;
        let values: Arc<[f64]> = match width {
            4 => bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four).into()).collect(),
            _ => bytes.as_chunks().0.iter().map(|eight| f64::from_le_bytes(*eight)).collect(),
        };
        let has_nan = values.iter().any(|x| x.is_nan());
        let is_infinite = values.iter().any(|x| x.is_infinite());
        Ok(Numbers { width, values, has_nan, is_infinite })
    }

    /// Refuses keys of nothing; those of NaN become those of missing cells.
    fn check(&self, keys: &mut [u32]) -> Result<()> {
        let n = self.values.len();
        if keys.iter().any(|&key| key as usize >= n && key != NO_KEY) {
            return Err(no_such_key());
        }
        if self.has_nan {
            let is_nan = |key: u32| self.values.get(key as usize).is_some_and(|x| x.is_nan());
            keys.iter_mut().filter(|key| is_nan(**key)).for_each(|key| *key = NO_KEY);
        }
        Ok(())
    }
}

fn no_such_key() -> ParquetError {
    ParquetError::General("a key is not in its dictionary".into())
}

impl Texts {
    /// A dictionary of so many texts, each behind its length.
    fn read(bytes: bytes::Bytes, n: usize) -> Result<Self> {
        let (mut places, mut at) = (Vec::new(), 0);
        for _ in 0..n {
            let length = bytes.get(at..).and_then(|rest| rest.first_chunk());
            let length = length.map_or(usize::MAX, |length| u32::from_le_bytes(*length) as usize);
            let start = at + size_of::<u32>();
            at = start.saturating_add(length);
            if at > bytes.len() {
                return Err(short_dictionary());
            }
            places.push(start..at);
        }
        Ok(Texts { bytes, places })
    }

    fn text(&self, key: usize) -> Result<&str> {
        let place = self.places.get(key).and_then(|place| self.bytes.get(place.clone()));
        let text = place.ok_or_else(no_such_key)?;
        Ok(str::from_utf8(text)?)
    }
}

impl OpenPage {
    fn new(page: &Page, has_levels: bool) -> Result<Self> {
        if !matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) {
            return Err(ParquetError::General("a page of keys holds something else".into()));
        }
        let short = || ParquetError::EOF("a page is shorter than it claims".into());
        let bytes = page.buffer();
        // where the levels stand, and where the keys begin
        let (levels, keys) = match page {
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                let start = *rep_levels_byte_len as usize;
                let end = start.saturating_add(*def_levels_byte_len as usize);
                (start..end, end)
            }
            _ if has_levels => {
                let length = bytes.first_chunk().ok_or_else(short)?;
                let end = (u32::from_le_bytes(*length) as usize).saturating_add(size_of::<u32>());
                (size_of::<u32>()..end, end)
            }
            _ => (0..0, 0),
        };
        if levels.start > levels.end || keys > bytes.len() {
            return Err(short());
        }
        let levels = has_levels.then(|| Runs::new(bytes.slice(levels), 1));
        // a page of nulls alone may have no keys, and no width of theirs
        let (width, keys) = match bytes.get(keys) {
            Some(width) => (u32::from(*width), bytes.slice(keys + 1..)),
            None => (0, bytes::Bytes::new()),
        };
        if width > u32::BITS {
            return Err(ParquetError::General("a key is too wide".into()));
        }
        Ok(OpenPage { cells: page.num_values() as usize, levels, keys: Runs::new(keys, width) })
    }
}

/// Whole numbers of so many bits, as runs of equal ones and of packed ones.
struct Runs {
    bytes: bytes::Bytes,
    width: u32,
    /// Where the next run begins.
    next: usize,
    run: Run,
    /// Numbers left of the run.
    left: usize,
}

#[derive(Clone, Copy)]
enum Run {
    Equal(u32),
    /// The bit at which the next number begins.
    Packed(usize),
}

impl Runs {
    fn new(bytes: bytes::Bytes, width: u32) -> Self {
        Runs { bytes, width, next: 0, run: Run::Equal(0), left: 0 }
    }

    /// The next numbers.
    fn fill(&mut self, mut out: &mut [u32]) -> Result<()> {
        while !out.is_empty() {
            if self.left == 0 {
                self.begin_run()?;
            }
            let n = self.left.min(out.len());
            let (some, rest) = out.split_at_mut(n);
            match &mut self.run {
                Run::Equal(number) => some.fill(*number),
                Run::Packed(bit) => {
                    unpack(&self.bytes, *bit, self.width, some)?;
                    *bit += n * self.width as usize;
                }
            }
            self.left -= n;
            out = rest;
        }
        Ok(())
    }

    fn begin_run(&mut self) -> Result<()> {
        let head = self.head()?;
        self.left = (head >> 1) as usize;
        if head & 1 == 1 {
            self.run = Run::Packed(self.next * 8);
            let bytes = self.left.saturating_mul(self.width as usize);
            self.left = self.left.saturating_mul(8);
            // the last run of a page may be cut off behind the last number that counts
            self.next = self.next.saturating_add(bytes).min(self.bytes.len());
            return Ok(());
        }
        let length = self.width.div_ceil(8) as usize;
        let number = self.bytes.get(self.next..self.next + length).ok_or_else(ended)?;
        self.next += length;
        self.run = Run::Equal(number.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)));
        Ok(())
    }

    fn head(&mut self) -> Result<u64> {
        let mut head = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = *self.bytes.get(self.next).ok_or_else(ended)?;
            self.next += 1;
            head |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(head);
            }
        }
        Err(ParquetError::General("a run is too long".into()))
    }
}

fn ended() -> ParquetError {
    ParquetError::EOF("a page has fewer cells than it claims".into())
}

/// Packed numbers from a bit on.
fn unpack(bytes: &[u8], bit: usize, width: u32, out: &mut [u32]) -> Result<()> {
    let end = out.len().saturating_mul(width as usize).saturating_add(bit);
    if end.div_ceil(8) > bytes.len() {
        return Err(ended());
    }
    let mask = (1u64 << width) - 1;
    for (k, number) in out.iter_mut().enumerate() {
        let bit = bit + k * width as usize;
        let word = match bytes.get(bit / 8..).and_then(|rest| rest.first_chunk()) {
            Some(word) => u64::from_le_bytes(*word),
            // the last bytes of the page
            None => bytes[bit / 8..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        *number = (word >> (bit % 8) & mask) as u32;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Runs;

    #[test]
    fn runs_of_both_kinds_are_read_in_parts_of_any_size() {
        // five times 300, then 16 numbers of 9 bits
        let packed: Vec<u32> = (0..16).map(|k| k * 31 % 512).collect();
        let mut bits = 0u128;
        let mut high = 0u128;
        for (k, n) in packed.iter().enumerate() {
            match k {
                0..8 => bits |= u128::from(*n) << (9 * k),
                _ => high |= u128::from(*n) << (9 * (k - 8)),
            }
        }
        let mut bytes = vec![5 << 1, 300u32 as u8, 1, 2 << 1 | 1];
        bytes.extend(&bits.to_le_bytes()[..9]);
        bytes.extend(&high.to_le_bytes()[..9]);
        let want: Vec<u32> = std::iter::repeat_n(300, 5).chain(packed).collect();
        for part in [1, 2, 7, 21] {
            let mut runs = Runs::new(bytes.clone().into(), 9);
            let mut found = Vec::new();
            while found.len() < want.len() {
                let mut some = vec![0; part.min(want.len() - found.len())];
                runs.fill(&mut some).unwrap();
                found.extend(some);
            }
            assert_eq!(found, want);
            assert!(runs.fill(&mut [0]).is_err());
        }
    }

    #[test]
    fn runs_that_end_too_early_or_claim_too_much_are_refused() {
        for bytes in [&[][..], &[0x80], &[0xff; 11], &[3, 1], &[2]] {
            assert!(Runs::new(bytes.to_vec().into(), 9).fill(&mut [0; 8]).is_err(), "{bytes:?}");
        }
        // two thousand million equal numbers take five bytes, and no memory
        let mut runs = Runs::new(vec![0xff, 0xff, 0xff, 0xff, 0x0e, 7, 0].into(), 9);
        assert!(runs.fill(&mut [0; 8]).is_err());
        let mut runs = Runs::new(vec![0xfe, 0xff, 0xff, 0xff, 0x0f, 7, 0].into(), 9);
        let mut some = [0; 8];
        runs.fill(&mut some).unwrap();
        assert_eq!(some, [7; 8]);
    }
}
