//! A walk over records in Thrift's compact protocol: the footer of a Parquet file and the headers of its pages.
//!
//! The decoder of the crate believes what they say: it reads a field it knows whatever kind the field claims to be, and
//! passes over as many elements of a list as it claims to have, though they take no bytes. So nothing reaches it that
//! was not walked over here before: fields are of the kind that the format gives them, elements take bytes.

use super::arrow_sizes::damaged;
use std::io::{Read, Result};

/// What the format says of a value.
pub(super) enum Kind {
    /// A field that holds its value in its own header.
    Truth,
    Byte,
    /// An integer of 16, 32 or 64 bits: all are written alike.
    Integer,
    Real,
    Bytes,
    List(&'static Kind),
    /// The kinds of its fields, each for the numbers from the first to the last. Fields it does not name may be anything.
    Record(&'static [(i64, i64, Kind)]),
}

use Kind::{Byte, Bytes, Integer, List, Real, Record, Truth};

const TEXTS: &Kind = &Record(&[(1, 2, Bytes)]);
const EMPTY: Kind = Record(&[]);
const TIME: Kind = Record(&[(1, 1, Truth), (2, 2, Record(&[(1, 3, EMPTY)]))]);
const STATISTICS: Kind =
    Record(&[(1, 2, Bytes), (3, 4, Integer), (5, 6, Bytes), (7, 8, Truth), (9, 9, Integer)]);

/// The header of a page.
pub(super) const PAGE: Kind = Record(&[
    (1, 4, Integer),
    (5, 5, Record(&[(1, 4, Integer), (5, 5, STATISTICS)])),
    (6, 6, EMPTY),
    (7, 7, Record(&[(1, 2, Integer), (3, 3, Truth)])),
    (8, 8, Record(&[(1, 6, Integer), (7, 7, Truth), (8, 8, STATISTICS)])),
]);

/// What stands at the end of a file.
pub(super) const FOOTER: Kind = Record(&[
    (1, 1, Integer),
    (2, 2, List(&SCHEMA_ELEMENT)),
    (3, 3, Integer),
    (4, 4, List(&ROW_GROUP)),
    (5, 5, List(TEXTS)),
    (6, 6, Bytes),
    (7, 7, List(&Record(&[(1, 2, EMPTY)]))),
    (8, 8, Record(&[(1, 2, Record(&[(1, 2, Bytes), (3, 3, Truth)]))])),
    (9, 9, Bytes),
]);

const SCHEMA_ELEMENT: Kind =
    Record(&[(1, 3, Integer), (4, 4, Bytes), (5, 9, Integer), (10, 10, LOGICAL_TYPE)]);

const LOGICAL_TYPE: Kind = Record(&[
    (1, 4, EMPTY),
    (5, 5, Record(&[(1, 2, Integer)])),
    (6, 6, EMPTY),
    (7, 8, TIME),
    (10, 10, Record(&[(1, 1, Byte), (2, 2, Truth)])),
    (11, 15, EMPTY),
    (16, 16, Record(&[(1, 1, Byte)])),
    (17, 18, Record(&[(1, 1, Bytes), (2, 2, Integer)])),
]);

const ROW_GROUP: Kind = Record(&[
    (1, 1, List(&COLUMN_CHUNK)),
    (2, 3, Integer),
    (4, 4, List(&Record(&[(1, 1, Integer), (2, 3, Truth)]))),
    (5, 7, Integer),
]);

const COLUMN_CHUNK: Kind = Record(&[
    (1, 1, Bytes),
    (2, 2, Integer),
    (3, 3, COLUMN),
    (4, 7, Integer),
    (8, 8, Record(&[(1, 1, EMPTY), (2, 2, Record(&[(1, 1, List(&Bytes)), (2, 2, Bytes)]))])),
    (9, 9, Bytes),
]);

const COLUMN: Kind = Record(&[
    (1, 1, Integer),
    (2, 2, List(&Integer)),
    (3, 3, List(&Bytes)),
    (4, 7, Integer),
    (8, 8, List(TEXTS)),
    (9, 11, Integer),
    (12, 12, STATISTICS),
    (13, 13, List(&Record(&[(1, 3, Integer)]))),
    (14, 15, Integer),
    (16, 16, Record(&[(1, 1, Integer), (2, 3, List(&Integer))])),
    (17, 17, Record(&[(1, 1, Record(&[(1, 8, Real)])), (2, 2, List(&Integer))])),
]);

/// Values inside values: a footer has ten, counting a list as two.
const MOST_LEVELS: usize = 20;

/// Reads Thrift's compact protocol.
pub(super) struct Compact<R> {
    input: R,
    /// The bytes read so far.
    pub(super) read: u64,
}

impl<R: Read> Compact<R> {
    pub(super) fn new(input: R) -> Self {
        Compact { input, read: 0 }
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        self.read += 1;
        Ok(byte[0])
    }

    pub(super) fn skip(&mut self, length: u64) -> Result<()> {
        let skipped = std::io::copy(&mut self.input.by_ref().take(length), &mut std::io::sink())?;
        self.read += skipped;
        if skipped == length { Ok(()) } else { Err(damaged("a header is longer than its column")) }
    }

    pub(super) fn unsigned(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged("a number is too long"))
    }

    pub(super) fn signed(&mut self) -> Result<i64> {
        let zigzag = self.unsigned()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// Walks over a record, and hands on its integers and the ends of all records inside, each with where it stands.
    pub(super) fn record(&mut self, kind: &Kind, keep: Keep<'_>) -> Result<()> {
        self.value(RECORD, Some(kind), Place::default(), keep)
    }

    /// A value that claims to be of the kind numbered `claim`.
    fn value(&mut self, claim: u8, kind: Option<&Kind>, place: Place, keep: Keep<'_>) -> Result<()> {
        match (claim, kind) {
            (1 | 2, None | Some(Truth)) => {}
            (3, None | Some(Byte)) => drop(self.byte()?),
            (4..=6, None | Some(Integer)) => {
                let value = self.signed()?;
                keep(place, Seen::Integer(value))?;
            }
            (7, None | Some(Real)) => self.skip(8)?,
            (8, None | Some(Bytes)) => {
                let length = self.unsigned()?;
                self.skip(length)?;
            }
            (9 | 10, None) => self.list(None, place, keep)?,
            (9 | 10, Some(List(of))) => self.list(Some(of), place, keep)?,
            (RECORD, None) => self.fields(&[], place, keep)?,
            (RECORD, Some(Record(fields))) => self.fields(fields, place, keep)?,
            _ => return Err(damaged("a header cannot be read")),
        }
        Ok(())
    }

    fn list(&mut self, of: Option<&Kind>, place: Place, keep: Keep<'_>) -> Result<()> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.unsigned()?,
            count => count.into(),
        };
        let claim = head & 0x0f;
        if count > 0 && matches!(claim, 1 | 2) {
            return Err(damaged("a header lists truth values, which no header of the format does"));
        }
        (0..count).try_for_each(|_| self.value(claim, of, place.inside()?.inside()?, keep))
    }

    fn fields(&mut self, fields: &[(i64, i64, Kind)], place: Place, keep: Keep<'_>) -> Result<()> {
        let (record, mut field) = (place, 0_i64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return keep(record, Seen::End);
            }
            field = match head >> 4 {
                0 => self.signed()?,
                step => field.saturating_add(step.into()),
            };
            if !(0..=i64::from(i16::MAX)).contains(&field) {
                return Err(damaged("a header has a field that cannot be"));
            }
            let kind = fields.iter().find(|(first, last, _)| (*first..=*last).contains(&field));
            let inside = record.inside()?;
            let outer = if record.level == 0 { field } else { record.outer };
            let place = Place { outer, field, ..inside };
            self.value(head & 0x0f, kind.map(|(_, _, kind)| kind), place, keep)?;
        }
    }
}

/// The number of records among the kinds of values.
const RECORD: u8 = 12;

/// What a walk hands on.
#[derive(Clone, Copy)]
pub(super) enum Seen {
    Integer(i64),
    /// The end of a record.
    End,
}

/// Takes what a walk hands on, and ends it by an error.
pub(super) type Keep<'a> = &'a mut dyn FnMut(Place, Seen) -> Result<()>;

/// Where in a header a value stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// How many values it is inside of, a list counted as two.
    pub(super) level: usize,
    /// The field of the header, and the one of the record around the value.
    pub(super) outer: i64,
    pub(super) field: i64,
}

impl Place {
    fn inside(self) -> Result<Self> {
        let level = self.level + 1;
        if level < MOST_LEVELS { Ok(Place { level, ..self }) } else { Err(damaged("a header is too deep")) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Compact, FOOTER, Kind, PAGE, Seen};

    /// The integers, each with its level, the field of the header and its own.
    fn walked(kind: &Kind, bytes: &[u8]) -> std::io::Result<Vec<(usize, i64, i64, i64)>> {
        let mut seen = Vec::new();
        Compact::new(bytes).record(kind, &mut |place, what| {
            if let Seen::Integer(value) = what {
                seen.push((place.level, place.outer, place.field, value));
            }
            Ok(())
        })?;
        Ok(seen)
    }

    #[test]
    fn integers_of_a_page_header_are_handed_on_with_their_fields() {
        // 1: 0, 2: 10, 3: 5, 5: {1: 3, 2: 0}, 15 (unknown): a list of two numbers
        let header = [0x15, 0, 0x15, 20, 0x15, 10, 0x2c, 0x15, 6, 0x15, 0, 0, 0xa9, 0x25, 2, 4, 0];
        let of_pages = [(1, 1, 1, 0), (1, 2, 2, 10), (1, 3, 3, 5), (2, 5, 1, 3), (2, 5, 2, 0)];
        assert_eq!(
            walked(&PAGE, &header).unwrap(),
            [&of_pages[..], &[(3, 15, 15, 1), (3, 15, 15, 2)]].concat()
        );
        assert!(walked(&PAGE, &header[..header.len() - 1]).is_err());
    }

    #[test]
    fn what_a_decoder_would_misread_is_refused() {
        let refused = |bytes: &[u8]| walked(&FOOTER, bytes).unwrap_err().to_string();
        // an unknown list of two thousand million truth values, which take no bytes
        assert!(refused(&[0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0]).contains("truth values"));
        // the version, an integer, claims to be a truth value
        assert!(refused(&[0x11, 0]).contains("cannot be read"));
        // a field of a number that only wraps to one of the format's
        assert!(refused(&[0x05, 0x82, 0x80, 8, 0, 0]).contains("cannot be"));
        assert!(refused(&[0x19; 40]).contains("cannot be read"));
        assert!(refused(&[&[0xfc; 1][..], &[0x1c; 40]].concat()).contains("too deep"));
    }
}
