//! Splits delimited text into records and cells, in one pass over a fixed buffer that grows only for a
//! record larger than itself. Quotes as in RFC 4180 (`""` inside quotes is a quote); unquoted cells lose
//! spaces around them, quoted ones keep everything; lines end in LF or CRLF; blank lines are skipped.

use super::context::Context;
use super::dictionary::Cell;
use super::read_error;
use hingenet_base::error::{Error, Result};
use std::io::Read;

/// First size of the buffer.
const BUFFER: usize = 1 << 20;
/// Largest record, so that a quote that is never closed cannot fill the memory.
const MAX_RECORD: usize = 1 << 28;
/// Zero bytes after the data, so that the word of every cell can be read in one go.
const PADDING: usize = 16;

/// One cell of the current record.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    /// Whether `""` inside stands for one quote.
    escaped: bool,
}

/// Reads records one by one.
pub(super) struct Scanner<'a> {
    reader: Box<dyn Read + 'a>,
    context: &'a Context<'a>,
    buffer: Vec<u8>,
    /// Data not yet consumed: `buffer[start..end]`.
    start: usize,
    end: usize,
    at_eof: bool,
    /// Line on which `start` stands.
    line: u64,
    pub(super) delimiter: u8,
    spans: Vec<Span>,
    /// Line on which the current record starts.
    pub(super) record_line: u64,
    scratch: Vec<u8>,
}

/// What scanning for a record came to.
enum Scan {
    /// A record; the next one starts here, so many lines further down.
    Record { next: usize, lines: u64 },
    /// The data ends inside the record.
    Incomplete { in_quotes: bool },
}

impl<'a> Scanner<'a> {
    /// Starts at the first byte after a byte-order mark; `None` detects the delimiter in the first line.
    pub(super) fn new(
        reader: Box<dyn Read + 'a>,
        delimiter: Option<u8>,
        context: &'a Context<'a>,
    ) -> Result<Self> {
        let mut scanner = Scanner {
            reader,
            context,
            buffer: vec![0; BUFFER + PADDING],
            start: 0,
            end: 0,
            at_eof: false,
            line: 1,
            delimiter: b',',
            spans: Vec::new(),
            record_line: 1,
            scratch: Vec::new(),
        };
        scanner.fill()?;
        let data = &scanner.buffer[..scanner.end];
        if data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff") {
            return Err(context.file(None, "the text is UTF-16", "save the file as UTF-8"));
        }
        if data.starts_with(b"\xef\xbb\xbf") {
            scanner.start = 3;
        }
        scanner.delimiter = delimiter.unwrap_or_else(|| detect_delimiter(&data[scanner.start..]));
        Ok(scanner)
    }

    /// Number of cells of the current record.
    pub(super) fn n_cells(&self) -> usize {
        self.spans.len()
    }

    /// Moves to the next record; false at the end.
    pub(super) fn next_record(&mut self) -> Result<bool> {
        loop {
            match self.scan()? {
                Scan::Record { next, lines } => {
                    self.record_line = self.line;
                    self.start = next;
                    self.line += lines;
                    if !self.is_blank() {
                        return Ok(true);
                    }
                }
                Scan::Incomplete { .. } if !self.at_eof => self.fill()?,
                Scan::Incomplete { in_quotes: true } => {
                    return Err(self.quote_error("a quote is opened and never closed"));
                }
                Scan::Incomplete { .. } => return Ok(false),
            }
        }
    }

    /// The cells of the current record, in order, each with its position.
    #[inline]
    pub(super) fn for_each_cell(&mut self, mut f: impl FnMut(usize, Cell<'_>) -> Result<()>) -> Result<()> {
        for (k, span) in self.spans.iter().enumerate() {
            let len = span.end - span.start;
            if !span.escaped {
                f(k, Cell::new(&self.buffer[span.start..], len))?;
                continue;
            }
            self.scratch.clear();
            let mut quotes = 0;
            for &byte in &self.buffer[span.start..span.end] {
                quotes += usize::from(byte == b'"');
                if byte != b'"' || quotes % 2 == 1 {
                    self.scratch.push(byte);
                }
            }
            f(k, self.scratch.as_slice().into())?;
        }
        Ok(())
    }

    fn is_blank(&self) -> bool {
        // a quoted empty cell starts after its quote, so it is not at the start of the line
        matches!(self.spans.as_slice(), [only] if only.start == only.end && !self.quoted(only))
    }

    fn quoted(&self, span: &Span) -> bool {
        span.start > 0 && self.buffer[span.start - 1] == b'"'
    }

    /// Finds the cells of the record that starts at `self.start`.
    fn scan(&mut self) -> Result<Scan> {
        let data = &self.buffer[..self.end];
        let mut pos = self.start;
        let mut lines = 0;
        self.spans.clear();
        loop {
            let first = skip_spaces(data, pos, self.delimiter);
            let stop = if data.get(first) == Some(&b'"') {
                let Some((end, escaped, feeds)) = scan_quoted(data, first + 1) else {
                    return Ok(Scan::Incomplete { in_quotes: true });
                };
                self.spans.push(Span { start: first + 1, end, escaped });
                lines += feeds;
                let mut stop = skip_spaces(data, end + 1, self.delimiter);
                if data.get(stop) == Some(&b'\r') && data.get(stop + 1) == Some(&b'\n') {
                    stop += 1;
                }
                match data.get(stop) {
                    Some(&byte) if byte == self.delimiter || byte == b'\n' => stop,
                    None => return Ok(Scan::Incomplete { in_quotes: false }),
                    Some(b'\r') if stop + 1 == data.len() && !self.at_eof => {
                        return Ok(Scan::Incomplete { in_quotes: false });
                    }
                    Some(_) => return Err(self.quote_error("there is text after a closing quote")),
                }
            } else {
                let Some(stop) = find_end(data, first, self.delimiter) else {
                    return Ok(Scan::Incomplete { in_quotes: false });
                };
                let end = trim_end(data, first, stop, self.delimiter);
                self.spans.push(Span { start: first, end, escaped: false });
                stop
            };
            pos = stop + 1;
            if data[stop] == b'\n' {
                return Ok(Scan::Record { next: pos, lines: lines + 1 });
            }
        }
    }

    fn quote_error(&self, problem: &str) -> Error {
        let hint = "write a quote inside a quoted cell twice (`\"\"`), and close every quote";
        self.context.file(Some(self.line), problem, hint)
    }

    /// Moves unread data to the front and reads more; at the end of the data adds the last line feed.
    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end + PADDING + 1 >= self.buffer.len() {
            if self.end > MAX_RECORD {
                return Err(self.context.file(
                    Some(self.line),
                    "the record that starts here is larger than 256 MB",
                    "look for a quote that is never closed, or a wrong `--delimiter`",
                ));
            }
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let room = self.buffer.len() - PADDING - 1;
        while self.end < room && !self.at_eof {
            match self.reader.read(&mut self.buffer[self.end..room]) {
                Ok(0) => self.at_eof = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(read_error(self.context.file, e)),
            }
        }
        if self.at_eof && self.end > 0 && self.buffer[self.end - 1] != b'\n' {
            self.buffer[self.end] = b'\n';
            self.end += 1;
        }
        Ok(())
    }
}

/// Comma, semicolon or tab: the one the first line has most of outside quotes; comma if none.
fn detect_delimiter(data: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut in_quotes = false;
    let first_line = data.iter().position(|b| !b"\r\n".contains(b)).unwrap_or_default();
    for &byte in &data[first_line..] {
        match byte {
            b'\n' if !in_quotes => break,
            b'"' => in_quotes = !in_quotes,
            _ if !in_quotes => {
                counts.iter_mut().filter(|(d, _)| *d == byte).for_each(|(_, n)| *n += 1);
            }
            _ => {}
        }
    }
    // the first of equals wins
    counts.iter().rev().max_by_key(|(_, n)| *n).map_or(b',', |(d, _)| *d)
}

/// Position of the closing quote, whether there are quotes inside, and the number of line feeds; `None` if the closing
/// quote, or the byte after it, is not in the data.
fn scan_quoted(data: &[u8], from: usize) -> Option<(usize, bool, u64)> {
    let (mut end, mut escaped, mut feeds) = (from, false, 0);
    loop {
        match data.get(end)? {
            b'"' if *data.get(end + 1)? == b'"' => {
                escaped = true;
                end += 2;
            }
            b'"' => return Some((end, escaped, feeds)),
            byte => {
                feeds += u64::from(*byte == b'\n');
                end += 1;
            }
        }
    }
}

fn is_space(byte: u8, delimiter: u8) -> bool {
    (byte == b' ' || byte == b'\t') && byte != delimiter
}

#[inline]
fn skip_spaces(data: &[u8], mut pos: usize, delimiter: u8) -> usize {
    while data.get(pos).is_some_and(|b| is_space(*b, delimiter)) {
        pos += 1;
    }
    pos
}

/// The end of an unquoted cell without the spaces, and without the CR of a line end.
#[inline]
fn trim_end(data: &[u8], start: usize, stop: usize, delimiter: u8) -> usize {
    let mut end = stop;
    if end > start && data[end - 1] == b'\r' && data[stop] == b'\n' {
        end -= 1;
    }
    while end > start && is_space(data[end - 1], delimiter) {
        end -= 1;
    }
    end
}

/// Position of the first delimiter or line feed, eight bytes at a time.
#[inline]
fn find_end(data: &[u8], from: usize, delimiter: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = 0x8080_8080_8080_8080;
    let delimiters = ONES * u64::from(delimiter);
    let line_feeds = ONES * u64::from(b'\n');
    // the lowest marked byte of `zeros` is the lowest zero byte of its argument
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x & TOPS;
    let mut pos = from;
    while let Some(chunk) = data.get(pos..pos + 8) {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(chunk);
        let word = u64::from_le_bytes(bytes);
        let found = zeros(word ^ delimiters) | zeros(word ^ line_feeds);
        if found != 0 {
            return Some(pos + found.trailing_zeros() as usize / 8);
        }
        pos += 8;
    }
    data.get(pos..)?.iter().position(|b| *b == delimiter || *b == b'\n').map(|k| pos + k)
}
