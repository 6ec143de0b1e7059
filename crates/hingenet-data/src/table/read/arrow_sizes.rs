//! The sizes that compressed buffers of Arrow files claim. The decoder takes as much memory as a buffer says before it
//! looks at the compressed bytes, so one wrong bit would end the program: sizes are checked before it sees them. What is
//! wrong in other ways is left to the decoder to tell.

use arrow_ipc::{Block, Message, MessageHeader, root_as_footer, root_as_message};
use hingenet_base::control::Control;
use std::io::{Cursor, Error, Read, Result, Seek, SeekFrom};

/// More than any compression gives: Zstandard writes 128 KiB of equal bytes as four.
pub(super) const MOST_RATIO: i64 = 1 << 16;
/// Stands before the length of a message; files of old versions do without.
const CONTINUATION_MARKER: [u8; 4] = [0xff; 4];
/// Bytes that say how long a compressed buffer is without compression.
const PREFIX: usize = 8;

/// Refuses an Arrow IPC file whose parts are longer than itself or whose buffers claim more than they can hold.
pub(super) fn check_file(input: &mut (impl Read + Seek), control: &Control) -> Result<()> {
    let length = input.seek(SeekFrom::End(0))?;
    let Some(end) = length.checked_sub(10) else { return Ok(()) };
    let word = part(input, end, 4)?;
    let footer_length = word.try_into().map_or(0, u32::from_le_bytes).into();
    let start =
        end.checked_sub(footer_length).ok_or_else(|| damaged("the footer is longer than the file"))?;
    let footer = part(input, start, footer_length)?;
    if let Ok(footer) = root_as_footer(&footer) {
        for block in [footer.dictionaries(), footer.recordBatches()].iter().flatten().flatten() {
            check_block(input, block, length, control)?;
        }
    }
    input.rewind()
}

fn check_block(input: &mut (impl Read + Seek), block: &Block, file: u64, control: &Control) -> Result<()> {
    let parts = [block.offset(), block.metaDataLength().into(), block.bodyLength()].map(u64::try_from);
    let [Ok(offset), Ok(head), Ok(body)] = parts else { return Err(damaged("a block has no size")) };
    let body_start = offset.checked_add(head);
    let Some(start) = body_start.filter(|s| s.checked_add(body).is_some_and(|end| end <= file)) else {
        return Err(damaged("a block is longer than the file"));
    };
    let head = part(input, offset, head)?;
    let skipped = if head.starts_with(&CONTINUATION_MARKER) { 8 } else { 4 };
    let Some(Ok(message)) = head.get(skipped..).map(root_as_message) else {
        return Err(damaged("a message cannot be read"));
    };
    check_buffers(message, control, |at| {
        let at =
            u64::try_from(at).ok().filter(|at| at.checked_add(PREFIX as u64).is_some_and(|end| end <= body));
        at.map_or(Ok(Vec::new()), |at| part(input, start + at, PREFIX as u64))
    })
}

/// Sums up what the compressed buffers of a message claim to hold; `at` gives the first bytes of a buffer.
fn check_buffers(
    message: Message<'_>,
    control: &Control,
    mut at: impl FnMut(i64) -> Result<Vec<u8>>,
) -> Result<()> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|d| d.data()),
        _ => None,
    };
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(()) };
    let mut total = 0.0;
    for buffer in batch.buffers().iter().flatten().filter(|b| b.length() >= PREFIX as i64) {
        let claimed = at(buffer.offset())?.try_into().map_or(0, i64::from_le_bytes);
        if claimed > buffer.length().saturating_mul(MOST_RATIO) {
            return Err(damaged("a compressed buffer claims to hold more than it can"));
        }
        total += claimed.max(0) as f64;
    }
    let hint = "give fewer rows or columns, or allow more (`--max-memory`)";
    control.reserve(total, "a batch of the Arrow file", hint).map_err(Error::other)
}

/// An Arrow IPC stream, message by message, each of them checked before it is passed on.
pub(super) struct CheckedStream<'a, R> {
    input: R,
    control: &'a Control,
    message: Cursor<Vec<u8>>,
}

impl<'a, R: Read> CheckedStream<'a, R> {
    pub(super) fn new(input: R, control: &'a Control) -> Self {
        CheckedStream { input, control, message: Cursor::default() }
    }

    /// The bytes of the next message; none at the end.
    fn next_message(&mut self) -> Result<Vec<u8>> {
        let mut bytes = up_to(&mut self.input, 4)?;
        if bytes == CONTINUATION_MARKER {
            bytes.extend(up_to(&mut self.input, 4)?);
        }
        let head_start = bytes.len();
        let length = bytes.last_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        bytes.extend(up_to(&mut self.input, length.into())?);
        let body_length = match root_as_message(&bytes[head_start..]) {
            Ok(message) => u64::try_from(message.bodyLength()).unwrap_or(0),
            Err(_) => return Ok(bytes),
        };
        let body = up_to(&mut self.input, body_length)?;
        if let Ok(message) = root_as_message(&bytes[head_start..]) {
            check_buffers(message, self.control, |at| {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                Ok(body.get(at..).and_then(|b| b.get(..PREFIX)).unwrap_or_default().to_vec())
            })?;
        }
        bytes.extend(body);
        Ok(bytes)
    }
}

impl<R: Read> Read for CheckedStream<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.message.position() as usize == self.message.get_ref().len() {
            self.message = Cursor::new(self.next_message()?);
        }
        self.message.read(out)
    }
}

/// So many bytes, or all that are left; memory is taken as they arrive.
fn up_to(input: &mut impl Read, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn part(input: &mut (impl Read + Seek), start: u64, length: u64) -> Result<Vec<u8>> {
    input.seek(SeekFrom::Start(start))?;
    up_to(input, length)
}

pub(super) fn damaged(problem: &str) -> Error {
    Error::new(std::io::ErrorKind::InvalidData, problem)
}
