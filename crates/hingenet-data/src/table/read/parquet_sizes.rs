//! The sizes that pages of Parquet files claim. The decoder takes as much memory as a page says, so sizes are checked
//! before it sees them: those in the headers of pages before a column is read, those inside a page before it is decoded.
//! What is wrong in other ways is left to the decoder to tell.

use super::arrow_sizes::{MOST_RATIO, damaged};
use super::thrift::{Compact, PAGE, Seen};
use flate2::read::MultiGzDecoder;
use hingenet_base::control::Control;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::data_type::ByteArray;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, RowGroupReader};
use std::io::{Error, Read, Result};

/// What the headers of the pages of a column say.
pub(super) struct Checked {
    /// Bytes of the largest page, and of the dictionary.
    pub(super) bytes: f64,
    /// Whether there is one dictionary, and all other pages hold keys into it.
    pub(super) is_keys: bool,
}

/// Refuses a column of so many rows whose pages claim to hold more than they can, or than there is memory for.
pub(super) fn check_chunk(
    input: &impl ChunkReader,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    control: &Control,
) -> Result<Checked> {
    let (start, length) = chunk.byte_range();
    let end = start.checked_add(length).filter(|end| *end <= input.len());
    let end = end.ok_or_else(|| damaged("a column is longer than the file"))?;
    let (mut at, mut seen) = (start, 0);
    let (mut largest, mut dictionary) = (0.0_f64, 0.0);
    let (mut n_dictionaries, mut is_keys) = (0, true);
    while at < end && seen < rows as u64 {
        let bytes_at =
            |at: u64| Ok::<_, Error>(input.get_read(at).map_err(Error::other)?.take(end.saturating_sub(at)));
        let page = Claims::read(bytes_at(at)?)?;
        if page.unpacked > page.packed.saturating_mul(MOST_RATIO as u64) || page.entries > page.unpacked {
            return Err(damaged("a page claims to hold more than it can"));
        }
        let entries = page.entries as f64 * size_of::<ByteArray>() as f64;
        let hint = "write pages of fewer rows, or allow more (`--max-memory`)";
        let taken = page.unpacked as f64 + entries;
        control.reserve(taken, "a page of the Parquet file", hint).map_err(Error::other)?;
        match page.entries {
            0 => largest = largest.max(taken),
            _ => dictionary += taken,
        }
        match page.kind {
            DICTIONARY_PAGE => n_dictionaries += 1,
            _ => is_keys &= n_dictionaries == 1 && page.holds_keys(),
        }
        at = at.saturating_add(page.header);
        if let Compression::GZIP(_) = chunk.compression() {
            let packed = page.packed.saturating_sub(page.levels);
            if holds_more(bytes_at(at.saturating_add(page.levels))?.take(packed), page.unpacked) {
                return Err(damaged("a page holds more than it claims"));
            }
        }
        at = at.saturating_add(page.packed);
        seen = seen.saturating_add(page.values);
    }
    Ok(Checked { bytes: largest + dictionary, is_keys: is_keys && n_dictionaries == 1 })
}

/// Whether gzip makes more of the bytes than that: its decoder goes on as long as there is something. Bytes that are no
/// gzip are left to it.
fn holds_more(packed: impl Read, unpacked: u64) -> bool {
    let mut bytes = MultiGzDecoder::new(packed).take(unpacked.saturating_add(1));
    std::io::copy(&mut bytes, &mut std::io::sink()).is_ok_and(|found| found > unpacked)
}

/// What the header of a page says.
#[derive(Default)]
struct Claims {
    /// Bytes of the header, of the page behind it, and of what that unpacks to.
    header: u64,
    packed: u64,
    unpacked: u64,
    /// Bytes before what is packed.
    levels: u64,
    /// Cells of a page of data.
    values: u64,
    /// Values of a dictionary.
    entries: u64,
    /// What kind of page it is, and how its cells and the marks of missing ones are written, in the numbers of the format.
    kind: u64,
    encoding: u64,
    level_encoding: u64,
}

/// Numbers of the format: pages of data in its first and its second form, of a dictionary; keys in their old and their new
/// name, and runs.
const DATA_PAGE: u64 = 0;
const DATA_PAGE_V2: u64 = 3;
const DICTIONARY_PAGE: u64 = 2;
const KEYS: [u64; 2] = [2, 8];
const RUNS: u64 = 3;

impl Claims {
    fn read(input: impl Read) -> Result<Self> {
        let mut claims = Claims::default();
        let (mut first, mut second) = (0, 0);
        let mut compact = Compact::new(input);
        compact.record(&PAGE, &mut |place, seen| {
            let Seen::Integer(value) = seen else { return Ok(()) };
            let value = u64::try_from(value).unwrap_or(u64::MAX);
            match (place.level, place.outer, place.field) {
                (1, 1, _) => claims.kind = value,
                (1, 2, _) => claims.unpacked = value,
                (1, 3, _) => claims.packed = value,
                (2, 5, 1) => first = value,
                (2, 8, 1) => second = value,
                (2, 5, 2) | (2, 8, 4) => claims.encoding = value,
                (2, 5, 3) => claims.level_encoding = value,
                (2, 7, 1) => claims.entries = value,
                (2, 8, 5 | 6) => claims.levels = claims.levels.saturating_add(value),
                _ => {}
            }
            Ok(())
        })?;
        // the decoder counts the cells of no other pages, whatever their headers say
        let values = match claims.kind {
            DATA_PAGE => first,
            DATA_PAGE_V2 => second,
            _ => 0,
        };
        Ok(Claims { header: compact.read, values, ..claims })
    }

    /// Whether this is a page of keys.
    fn holds_keys(&self) -> bool {
        let has_runs = match self.kind {
            DATA_PAGE => self.level_encoding == RUNS,
            kind => kind == DATA_PAGE_V2,
        };
        has_runs && KEYS.contains(&self.encoding)
    }
}

/// A reader of one column of a group of rows, every page of which is checked before it is decoded.
pub(super) fn column_reader(
    group: &dyn RowGroupReader,
    leaf: usize,
    rows: usize,
) -> parquet::errors::Result<ColumnReader> {
    let column = group.metadata().column(leaf).column_descr_ptr();
    Ok(get_column_reader(column, page_reader(group, leaf, rows)?))
}

/// The pages of a column, each checked before it is handed on.
pub(super) fn page_reader(
    group: &dyn RowGroupReader,
    leaf: usize,
    rows: usize,
) -> parquet::errors::Result<Box<dyn PageReader>> {
    let has_levels = group.metadata().column(leaf).column_descr().max_def_level() > 0;
    Ok(Box::new(CheckedPages { pages: group.get_column_page_reader(leaf)?, has_levels, rows, seen: 0 }))
}

/// The pages of a column of so many rows. There is none after those that have its cells: the headers of others were not
/// looked at before.
struct CheckedPages {
    pages: Box<dyn PageReader>,
    has_levels: bool,
    rows: usize,
    /// Cells of the pages that were handed on.
    seen: usize,
}

impl CheckedPages {
    /// Texts written as differences begin with their number, for which the decoder takes memory.
    fn check(&self, page: &Page) -> Result<()> {
        let lists = match page.encoding() {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let levels = match page {
            Page::DataPage { buf, .. } if self.has_levels => {
                4 + u64::from(buf.first_chunk().map_or(0, |length| u32::from_le_bytes(*length)))
            }
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len)
            }
            _ => 0,
        };
        let mut rest = Compact::new(&page.buffer()[..]);
        rest.skip(levels)?;
        (0..lists).try_for_each(|_| rest.skip_differences(self.rows as u64))
    }
}

impl<R: Read> Compact<R> {
    /// Passes over a list of at most `most` integers written as packed differences (DELTA_BINARY_PACKED).
    fn skip_differences(&mut self, most: u64) -> Result<()> {
        let (block, parts, count) = (self.unsigned()?, self.unsigned()?, self.unsigned()?);
        let part = block.checked_div(parts).filter(|part| *part > 0 && part.is_multiple_of(8));
        let Some(part) = part.filter(|_| count <= most) else {
            return Err(damaged("a page claims to hold more texts than there are rows"));
        };
        self.signed()?;
        let mut left = count.saturating_sub(1);
        while left > 0 {
            self.signed()?;
            let mut packed: u64 = 0;
            for _ in 0..parts {
                let width = u64::from(self.byte()?);
                packed = packed.saturating_add(if left > 0 { width.saturating_mul(part / 8) } else { 0 });
                left = left.saturating_sub(part);
            }
            self.skip(packed)?;
        }
        Ok(())
    }
}

impl Iterator for CheckedPages {
    type Item = parquet::errors::Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> parquet::errors::Result<Option<Page>> {
        if self.seen >= self.rows {
            return Ok(None);
        }
        let page = self.pages.get_next_page()?;
        for page in page.iter() {
            self.check(page)?;
            let cells = if page.is_data_page() { page.num_values() as usize } else { 0 };
            self.seen = self.seen.saturating_add(cells);
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> parquet::errors::Result<Option<PageMetadata>> {
        if self.seen >= self.rows { Ok(None) } else { self.pages.peek_next_page() }
    }

    fn skip_next_page(&mut self) -> parquet::errors::Result<()> {
        self.pages.skip_next_page()
    }
}

#[cfg(test)]
mod tests {
    use super::holds_more;
    use std::io::Write;

    #[test]
    fn gzip_that_holds_more_than_a_page_claims_is_found() {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        writer.write_all(&[0; 1000]).unwrap();
        let once = writer.finish().unwrap();
        let twice = [&once[..], &once[..]].concat();
        assert!(holds_more(&once[..], 999) && !holds_more(&once[..], 1000));
        assert!(holds_more(&twice[..], 1999) && !holds_more(&twice[..], 2000));
        assert!(!holds_more(&b"no gzip"[..], 0));
    }
}
