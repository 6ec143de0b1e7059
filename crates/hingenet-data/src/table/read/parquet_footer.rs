//! What the footer of a Parquet file claims. The decoder takes memory for as many columns inside a column as the footer
//! says, and calls itself for every level of them, so the tree of columns is checked before it sees it.

use super::arrow_sizes::damaged;
use super::thrift::{Compact, FOOTER, Place, Seen};
use hingenet_base::control::Control;
use parquet::file::reader::ChunkReader;
use std::io::{Error, Result};

/// Columns inside columns: nobody nests as deeply.
const MOST_LEVELS: usize = 64;
/// More than the decoder keeps of a column, or of its part in a group of rows, however little the footer says of it.
const BYTES_PER_PART: f64 = 1024.0;

/// Refuses a footer that the decoder would misread, be busy with for long, or take too much memory for. Where none can
/// be found, it says so.
pub(super) fn check_footer(input: &impl ChunkReader, control: &Control) -> Result<()> {
    let Some(end) = input.len().checked_sub(8) else { return Ok(()) };
    let tail = input.get_bytes(end, 8).map_err(Error::other)?;
    let length = tail.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let Some(start) = end.checked_sub(length.into()).filter(|_| tail.ends_with(b"PAR1")) else {
        return Ok(());
    };
    let footer = input.get_bytes(start, length as usize).map_err(Error::other)?;
    check(&footer, control)
}

fn check(footer: &[u8], control: &Control) -> Result<()> {
    let (mut tree, mut children, mut parts) = (Tree::default(), 0, 0.0);
    Compact::new(footer).record(&FOOTER, &mut |Place { level, outer, field }, seen| {
        match (seen, level, outer, field) {
            (Seen::Integer(value), 4, SCHEMA, CHILDREN) => children = u64::try_from(value).unwrap_or(0),
            (Seen::End, 3, SCHEMA, _) => tree.add(std::mem::take(&mut children))?,
            _ => {}
        }
        if let (Seen::End, 3, ..) | (Seen::End, 6, GROUPS, COLUMNS) = (seen, level, outer, field) {
            parts += 1.0;
        }
        Ok(())
    })?;
    let hint = "give fewer columns or larger groups of rows, or allow more (`--max-memory`)";
    control.reserve(parts * BYTES_PER_PART, "the footer of the Parquet file", hint).map_err(Error::other)?;
    if tree.claimed > tree.nodes { Err(damaged("it claims more columns than it names")) } else { Ok(()) }
}

/// Fields of the footer: its columns, how many of them stand inside one, its groups of rows, and their columns.
const SCHEMA: i64 = 2;
const CHILDREN: i64 = 5;
const GROUPS: i64 = 4;
const COLUMNS: i64 = 1;

/// The columns as they come, each before those inside it.
#[derive(Default)]
struct Tree {
    nodes: u64,
    /// Sum of the columns that are said to stand inside others.
    claimed: u64,
    /// How many are still to come inside each column that the one at hand stands in.
    open: Vec<u64>,
}

impl Tree {
    /// Adds a column inside which so many are said to stand.
    fn add(&mut self, children: u64) -> Result<()> {
        self.nodes += 1;
        self.claimed = self.claimed.saturating_add(children);
        while self.open.pop_if(|left| *left == 0).is_some() {}
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
        self.open.push(children);
        if self.open.len() > MOST_LEVELS { Err(damaged("its columns are nested too deeply")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_LEVELS, check};
    use hingenet_base::control::Control;

    /// A footer with a schema of columns (`1` a version, `2` the columns), each with the number that stands inside it.
    fn footer(children: &[i32]) -> Vec<u8> {
        let varint = |mut x: u32| {
            let mut bytes = Vec::new();
            while x >= 0x80 {
                bytes.push(x as u8 | 0x80);
                x >>= 7;
            }
            bytes.push(x as u8);
            bytes
        };
        let mut bytes = [&[0x15, 2, 0x19, 0xfc][..], &varint(children.len() as u32)].concat();
        for &n in children {
            // 3: optional, 4: a name, 5: columns inside
            bytes.extend([0x35, 2, 0x18, 1, b'c', 0x15]);
            bytes.extend(varint(n as u32 * 2));
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    fn refused(children: &[i32]) -> String {
        check(&footer(children), &Control::default()).unwrap_err().to_string()
    }

    #[test]
    fn columns_that_are_claimed_must_be_there() {
        let control = Control::default();
        check(&footer(&[3, 0, 2, 0, 0, 0]), &control).unwrap();
        check(&footer(&[0]), &control).unwrap();
        assert!(refused(&[1, i32::MAX]).contains("claims more columns"));
        assert!(refused(&[3, 0]).contains("claims more columns"));
    }

    #[test]
    fn columns_are_nested_only_so_deeply() {
        let mut chain = vec![1; MOST_LEVELS - 1];
        chain.push(0);
        check(&footer(&chain), &Control::default()).unwrap();
        chain.insert(0, 1);
        assert!(refused(&chain).contains("nested too deeply"));
        // many columns beside each other are no depth
        let wide: Vec<i32> = std::iter::once(4000).chain([1, 0].into_iter().cycle().take(8000)).collect();
        check(&footer(&wide), &Control::default()).unwrap();
    }

    #[test]
    fn memory_is_asked_for_before_it_is_taken() {
        let columns: Vec<i32> = std::iter::once(2000).chain(std::iter::repeat_n(0, 2000)).collect();
        let little = Control::default().within_memory(1 << 20);
        let error = check(&footer(&columns), &little).unwrap_err().to_string();
        assert!(error.contains("the footer of the Parquet file needs 2.0 MB"), "{error}");
    }
}
