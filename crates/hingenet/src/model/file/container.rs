//! The bytes of a model file: a size-limited JSON header and raw little-endian number sections, with
//! checksums. Knows nothing of models. A file is data: whatever it holds, reading it can fail but not
//! harm: nothing is allocated beyond the size of the file, nothing is read beyond the sections that the header
//! names (so an endless source ends too), and nothing in it is ever executed.
//!
//! ```text
//! offset  bytes  what
//! 0       8      magic 89 48 47 4E 0D 0A 1A 0A (shows damage by text-mode transfers)
//! 8       4      format version
//! 12      4      length H of the header, at most 16 MiB
//! 16      4      CRC-32 of the header
//! 20      H      header: JSON, {"about": {...}, "sections": [{"name", "type", "count"}, ...]}
//! 20+H    ...    the sections, one after the other, little-endian
//! end-4   4      CRC-32 of everything before
//! ```

use super::strict::Strict;
use hingenet_base::error::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

/// Version written by this library; it reads this and all older ones.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = [0x89, b'H', b'G', b'N', b'\r', b'\n', 0x1a, b'\n'];
const PREFIX: usize = 20;
const MAX_HEADER: usize = 16 << 20;

/// A header and named sections of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// What the sections mean.
    pub about: Value,
    sections: BTreeMap<String, Section>,
}

/// Numbers of one type as they stand in the file.
#[derive(Debug, Clone, PartialEq)]
struct Section {
    info: SectionInfo,
    bytes: Vec<u8>,
}

/// A type of the numbers in a section.
pub trait Number: Sized {
    /// Its name in the header.
    const TYPE: &'static str;
    /// Little-endian bytes.
    fn write(values: &[Self]) -> Vec<u8>;
    /// The numbers in such bytes.
    fn read(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! number {
    ($type:ident) => {
        impl Number for $type {
            const TYPE: &'static str = stringify!($type);
            fn write(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|x| x.to_le_bytes()).collect()
            }
            fn read(bytes: &[u8]) -> Vec<Self> {
                bytes.as_chunks().0.iter().map(|b| $type::from_le_bytes(*b)).collect()
            }
        }
    };
}
number!(f64);
number!(u8);
number!(u32);
number!(u64);
number!(i128);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<V> {
    about: V,
    sections: Vec<SectionInfo>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SectionInfo {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    count: u64,
}

impl Container {
    /// A container without sections.
    pub fn new(about: Value) -> Self {
        Container { about, sections: BTreeMap::new() }
    }

    /// Adds a section; a later one with the same name replaces it.
    pub fn put<T: Number>(&mut self, name: &str, values: &[T]) {
        let info = SectionInfo { name: name.into(), kind: T::TYPE.into(), count: values.len() as u64 };
        self.sections.insert(name.into(), Section { info, bytes: T::write(values) });
    }

    /// Takes the numbers of a section out.
    pub fn take<T: Number>(&mut self, name: &str) -> Result<Vec<T>> {
        match self.sections.remove(name) {
            Some(section) if section.info.kind == T::TYPE => Ok(T::read(&section.bytes)),
            Some(_) => Err(Error::model_file(format!("section `{name}` is not of type {}", T::TYPE))),
            None => Err(Error::model_file(format!("section `{name}` is absent"))),
        }
    }

    /// Whether there is such a section.
    pub fn has(&self, name: &str) -> bool {
        self.sections.contains_key(name)
    }

    /// Takes in the sections of another container, their names behind `prefix`; its header comes back.
    pub fn put_all(&mut self, prefix: &str, inner: Container) -> Value {
        for (name, mut section) in inner.sections {
            section.info.name = format!("{prefix}{name}");
            self.sections.insert(section.info.name.clone(), section);
        }
        inner.about
    }

    /// The container that [`Self::put_all`] took in, with its header.
    pub fn take_all(&mut self, prefix: &str, about: Value) -> Container {
        let mut inner = Container::new(about);
        for (name, section) in std::mem::take(&mut self.sections) {
            match name.strip_prefix(prefix) {
                Some(own) => inner.sections.insert(own.into(), section),
                None => self.sections.insert(name, section),
            };
        }
        inner
    }

    /// Refuses sections that nobody asked for.
    pub fn require_empty(&self) -> Result<()> {
        match self.sections.keys().next() {
            None => Ok(()),
            Some(name) => Err(Error::model_file(format!("unknown section `{name}`"))),
        }
    }

    /// All bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let infos = self.sections.values().map(|section| section.info.clone());
        let header = Header { about: self.about.clone(), sections: infos.collect() };
        let header = serde_json::to_vec(&header).map_err(|e| Error::model_file(format!("header: {e}")))?;
        if header.len() > MAX_HEADER {
            let (size, limit) = (header.len() as f64, MAX_HEADER as f64);
            let hint = "ignore columns with very many or very long categories";
            return Err(Error::too_large("the header of the model file (bytes)", size, limit, hint));
        }
        let mut bytes = Vec::with_capacity(PREFIX + header.len() + 4);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&crc32(&header).to_le_bytes());
        bytes.extend_from_slice(&header);
        self.sections.values().for_each(|s| bytes.extend_from_slice(&s.bytes));
        let checksum = crc32(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// Reads and checks a whole file.
    pub fn read(input: impl Read) -> Result<Self> {
        let mut input = Checked { input, crc: flate2::Crc::new() };
        let header = read_header(&mut input)?;
        let mut sections = BTreeMap::new();
        for info in header.sections {
            let section = Section { bytes: input.exactly(info.length()?)?, info };
            if let Some(first) = sections.insert(section.info.name.clone(), section) {
                return Err(Error::model_file(format!("section `{}` occurs twice", first.info.name)));
            }
        }
        let checksum = input.crc.sum();
        if word(&input.exactly(4)?, 0) != checksum {
            return Err(Error::model_file("the checksum does not agree: the file is damaged"));
        }
        if !input.up_to(1)?.is_empty() {
            return Err(Error::model_file("there are bytes that belong to no section"));
        }
        Ok(Container { about: header.about.0, sections })
    }

    /// Reads and checks all bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes)
    }

    /// Reads the header only; the sections are neither read nor checked.
    pub fn read_about(input: impl Read) -> Result<Value> {
        Ok(read_header(&mut Checked { input, crc: flate2::Crc::new() })?.about.0)
    }
}

/// A source of which every byte read goes into a checksum.
struct Checked<R> {
    input: R,
    crc: flate2::Crc,
}

impl<R: Read> Checked<R> {
    /// The next bytes, or all that are left; memory is taken as they arrive, not as a file promises them.
    fn up_to(&mut self, length: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let input = &mut self.input;
        input.take(length).read_to_end(&mut bytes).map_err(|e| Error::io(PathBuf::new(), e))?;
        self.crc.update(&bytes);
        Ok(bytes)
    }

    fn exactly(&mut self, length: u64) -> Result<Vec<u8>> {
        let bytes = self.up_to(length)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(Error::model_file("the file is truncated")) }
    }
}

impl SectionInfo {
    /// Length in bytes.
    fn length(&self) -> Result<u64> {
        let problem = |problem: &str| Error::model_file(format!("section `{}` {problem}", self.name));
        let width = match self.kind.as_str() {
            u8::TYPE => size_of::<u8>(),
            u32::TYPE => size_of::<u32>(),
            u64::TYPE => size_of::<u64>(),
            i128::TYPE => size_of::<i128>(),
            f64::TYPE => size_of::<f64>(),
            other => return Err(problem(&format!("has unknown type `{other}`"))),
        };
        self.count.checked_mul(width as u64).ok_or_else(|| problem("is larger than any file"))
    }
}

/// Magic, version and header; nothing else is read before they are known to be ours.
fn read_header(input: &mut Checked<impl Read>) -> Result<Header<Strict>> {
    let prefix = input.up_to(PREFIX as u64)?;
    let header = input.exactly(header_length(&prefix)?)?;
    if word(&prefix, 16) != crc32(&header) {
        return Err(Error::model_file("the checksum of the header does not agree: the file is damaged"));
    }
    serde_json::from_slice(&header).map_err(|e| Error::model_file(format!("the header is not valid: {e}")))
}

/// Checks magic and version; the header length behind them.
fn header_length(prefix: &[u8]) -> Result<u64> {
    if prefix.len() < PREFIX || !prefix.starts_with(&MAGIC) {
        let truncated = prefix.len() < PREFIX;
        let problem = if truncated { "the file is truncated" } else { "this is not a Hingenet model" };
        return Err(Error::ModelFile {
            problem: problem.into(),
            hint: "give a file written by `hingenet fit`".into(),
        });
    }
    let version = word(prefix, 8);
    if version == 0 || version > FORMAT_VERSION {
        return Err(Error::ModelFile {
            problem: format!(
                "format version {version} is unknown (this program reads 1 to {FORMAT_VERSION})"
            ),
            hint: "update Hingenet".into(),
        });
    }
    let length = word(prefix, 12) as usize;
    if length > MAX_HEADER { Err(Error::model_file("the header is too long")) } else { Ok(length as u64) }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Container {
        let mut c = Container::new(serde_json::json!({"kind": "test"}));
        c.put("a", &[1.5, f64::NEG_INFINITY]);
        c.put("b", &[7u32, 0, u32::MAX]);
        c
    }

    #[test]
    fn bytes_come_back_as_they_were() {
        let c = sample();
        let bytes = c.to_bytes().unwrap();
        let mut back = Container::from_bytes(&bytes).unwrap();
        assert_eq!(back, c);
        assert_eq!(Container::read_about(&bytes[..]).unwrap(), c.about);
        assert_eq!(back.take::<f64>("a").unwrap(), [1.5, f64::NEG_INFINITY]);
        assert!(back.take::<f64>("b").is_err() && back.take::<u32>("c").is_err());
    }

    /// A file with this header and these bytes behind it, both checksums right.
    fn sealed(version: u32, header: &str, rest: &[u8]) -> Vec<u8> {
        let (length, sum) = (header.len() as u32, crc32(header.as_bytes()));
        let words = [version, length, sum].map(u32::to_le_bytes).concat();
        let bytes = [&MAGIC[..], &words, header.as_bytes(), rest].concat();
        let sum = crc32(&bytes).to_le_bytes();
        [&bytes[..], &sum].concat()
    }

    #[test]
    fn a_file_that_is_refused_is_told_what_is_wrong_with_it() {
        let section = |kind: &str, count: u64| format!(r#"{{"name":"a","type":"{kind}","count":{count}}}"#);
        let header = |sections: &str| format!(r#"{{"about":1,"sections":[{sections}]}}"#);
        let of = |sections: &str, rest: &[u8]| sealed(1, &header(sections), rest);
        let word = section("u32", 1);
        let good = of(&word, &[7, 0, 0, 0]);
        assert_eq!(Container::from_bytes(&good).unwrap().take::<u32>("a").unwrap(), [7]);
        let length = |n: usize| [&good[..12], &(n as u32).to_le_bytes(), &good[16..PREFIX]].concat();
        for (bytes, problem) in [
            (b"x,class\n1,a\n2,b\n3,a\n".to_vec(), "this is not a Hingenet model"),
            (good[..PREFIX - 1].to_vec(), "the file is truncated"),
            (sealed(0, "{}", &[]), "format version 0 is unknown"),
            (sealed(2, "{}", &[]), "format version 2 is unknown"),
            (length(MAX_HEADER + 1), "the header is too long"),
            (length(MAX_HEADER), "the file is truncated"),
            (sealed(1, "{}", &[]), "the header is not valid"),
            (of(&section("f32", 1), &[0; 4]), "section `a` has unknown type `f32`"),
            (of(&section("f64", u64::MAX), &[0; 8]), "section `a` is larger than any file"),
            (of(&section("f64", u64::MAX / 8), &[0; 8]), "the file is truncated"),
            (of(&format!("{word},{word}"), &[0; 8]), "section `a` occurs twice"),
            (of(&word, &[0; 8]), "the checksum does not agree"),
            ([&good[..], &[0]].concat(), "there are bytes that belong to no section"),
        ] {
            let error = Container::from_bytes(&bytes).unwrap_err().to_string();
            assert!(error.contains(problem), "`{error}` is not `{problem}`");
        }
        let mut damaged = good.clone();
        damaged[16] ^= 1;
        let error = Container::read_about(&damaged[..]).unwrap_err().to_string();
        assert!(error.contains("the checksum of the header"), "{error}");
    }

    #[test]
    fn a_header_of_the_largest_size_is_written_and_read_and_a_larger_one_is_not_written() {
        let empty = Container::new(Value::String(String::new())).to_bytes().unwrap().len() - PREFIX - 4;
        let of = |length: usize| Container::new(Value::String("x".repeat(length - empty)));
        let largest = of(MAX_HEADER);
        assert_eq!(Container::from_bytes(&largest.to_bytes().unwrap()).unwrap(), largest);
        let error = of(MAX_HEADER + 1).to_bytes().unwrap_err();
        assert!(error.hint().unwrap().contains("ignore columns"), "{error}");
    }

    #[test]
    fn a_container_within_another_keeps_its_sections_apart() {
        let mut outer = sample();
        let about = outer.put_all("in/", sample());
        assert!(outer.has("in/a") && outer.has("b") && !outer.has("c"));
        let mut outer = Container::from_bytes(&outer.to_bytes().unwrap()).unwrap();
        let mut inner = outer.take_all("in/", about);
        assert_eq!((inner.about.clone(), outer.has("in/a"), outer.has("a")), (sample().about, false, true));
        for container in [&mut inner, &mut outer] {
            assert_eq!(container.take::<u32>("b").unwrap(), [7, 0, u32::MAX]);
            assert!(container.require_empty().unwrap_err().to_string().contains("unknown section `a`"));
            container.take::<f64>("a").unwrap();
            container.require_empty().unwrap();
        }
    }

    #[test]
    fn every_truncation_and_every_flipped_byte_is_an_error() {
        let bytes = sample().to_bytes().unwrap();
        for n in 0..bytes.len() {
            assert!(Container::from_bytes(&bytes[..n]).is_err(), "truncated to {n}");
            let mut damaged = bytes.clone();
            damaged[n] ^= 0xff;
            assert!(Container::from_bytes(&damaged).is_err(), "byte {n} flipped");
        }
    }
}
