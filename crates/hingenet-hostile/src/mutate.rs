//! Alters the content of a model file and writes it with right checksums: whatever stands in it was put there on purpose.

use hingenet_base::numeric::random::Random;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

/// Bytes before the header.
const PREFIX: usize = 20;

/// Numbers that break what believes them.
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-308,
    -1e-308,
    5e-324,
    1e154,
    -1e154,
    1e200,
    1e308,
    -1e308,
    f64::MAX,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];
/// Whole numbers of the same kind.
const COUNTS: [u64; 14] =
    [0, 1, 2, 3, 7, 255, 65_535, 65_536, 10_000_000, 1 << 31, u32::MAX as u64, 1 << 53, 1 << 63, u64::MAX];
/// Types of the numbers in sections, with their bytes.
const TYPES: [(&str, usize); 5] = [("u8", 1), ("u32", 4), ("u64", 8), ("i128", 16), ("f64", 8)];
/// Descriptions of nested data whose numbers stand in a section, with its name.
const SHAPES: [(&str, &str); 3] =
    [("/about/parameters", "numbers"), ("/about/sets", "sets/numbers"), ("/about/task", "numbers")];
/// Key of an object that comes to stand twice: the mark is taken off when the header is written.
const TWICE: &str = "(twice)";

/// A model file taken apart.
#[derive(Clone)]
pub struct Parts {
    header: Value,
    /// The bytes of the sections, in the order of the header.
    sections: Vec<Vec<u8>>,
}

impl Parts {
    /// Of a file whose parts can be told apart; its checksums do not matter.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (header, mut rest) =
            bytes.get(PREFIX..bytes.len().checked_sub(4)?)?.split_at_checked(header_length(bytes))?;
        let header: Value = serde_json::from_slice(header).ok()?;
        let mut section = |info: &Value| {
            let length = usize::try_from(info["count"].as_u64()?).ok()?.checked_mul(width(info)?)?;
            let (own, after) = rest.split_at_checked(length)?;
            rest = after;
            Some(own.to_vec())
        };
        let infos = header.get("about").and(header["sections"].as_array())?;
        let sections = infos.iter().map(&mut section).collect::<Option<_>>()?;
        Some(Parts { header, sections })
    }

    /// All bytes of the file, with checksums that agree.
    pub fn seal(&self) -> Vec<u8> {
        let header = self.header.to_string().replace(&format!("\"{TWICE}"), "\"");
        sealed(header.as_bytes(), &self.sections.concat())
    }

    /// One to three alterations; where sections are files of the same kind, often of one of these.
    pub fn altered(&self, random: &mut Random) -> Parts {
        let (mut parts, files) = (self.clone(), self.inner_files());
        if !files.is_empty() && random.below(2) == 0 {
            let (at, file) = &files[random.below(files.len())];
            parts.replace(*at, file.altered(random).seal());
            return parts;
        }
        for _ in 0..1 + random.below(3) {
            match random.below(10) {
                0..=4 => parts.alter_header(random),
                5..=7 => parts.alter_section(random),
                8 => parts.resize_section(random),
                _ => parts.resize_list(random),
            }
        }
        parts
    }

    /// Sections that are whole files themselves, with their places.
    fn inner_files(&self) -> Vec<(usize, Parts)> {
        let bytes = (0..self.sections.len()).filter(|&at| self.header["sections"][at]["type"] == "u8");
        bytes.filter_map(|at| Some((at, Parts::of(&self.sections[at])?))).collect()
    }

    /// Puts other bytes in place of a section.
    fn replace(&mut self, at: usize, bytes: Vec<u8>) {
        self.header["sections"][at]["count"] = json!(bytes.len() / self.width(at));
        self.sections[at] = bytes;
    }

    /// Bytes of a number of a section.
    fn width(&self, at: usize) -> usize {
        width(&self.header["sections"][at]).unwrap_or(1)
    }

    /// Any of the sections, if there are some.
    fn any_section(&self, random: &mut Random) -> Option<usize> {
        (!self.sections.is_empty()).then(|| random.below(self.sections.len()))
    }

    /// Something somewhere in the description of the model.
    fn alter_header(&mut self, random: &mut Random) {
        let about = &mut self.header["about"];
        let mut places = Vec::new();
        list_places(about, &mut String::new(), &mut places);
        let any = |random: &mut Random| places[random.below(places.len())].clone();
        let other = about.pointer(&any(random)).unwrap().clone();
        let place = any(random);
        if let (0, Some(count)) = (random.below(4), about.pointer(&place).and_then(Value::as_u64)) {
            // the same count wherever it stands, so that what believes one of them finds the others agree
            return replace_everywhere(about, count, count_near(count, random));
        }
        let value = about.pointer_mut(&place).unwrap();
        if random.below(6) == 0 {
            *value = other;
            return;
        }
        alter(value, random);
    }

    /// One number of a section.
    fn alter_section(&mut self, random: &mut Random) {
        let Some(at) = self.any_section(random) else { return };
        let (width, is_real) = (self.width(at), self.header["sections"][at]["type"] == "f64");
        let section = &mut self.sections[at];
        let n = section.len() / width;
        if n == 0 {
            return;
        }
        let (to, from) = (random.below(n) * width, random.below(n) * width);
        let new: Vec<u8> = match random.below(4) {
            0 => section[from..from + width].to_vec(),
            _ if !is_real => whole(random).to_le_bytes()[..width].to_vec(),
            1 => {
                let old = f64::from_le_bytes(section[to..to + 8].try_into().unwrap());
                [-old, old * 1e3, old * 1e-3, old + 1.0][random.below(4)].to_le_bytes().to_vec()
            }
            _ => NUMBERS[random.below(NUMBERS.len())].to_le_bytes().to_vec(),
        };
        section[to..to + width].copy_from_slice(&new);
    }

    /// Makes a section shorter or longer and says so in its count.
    fn resize_section(&mut self, random: &mut Random) {
        let Some(at) = self.any_section(random) else { return };
        let (width, mut section) = (self.width(at), self.sections[at].clone());
        let n = section.len() / width;
        let length = [0, n.saturating_sub(1), n / 2, n + 1, 2 * n][random.below(5)];
        section.resize(length * width, 0);
        self.replace(at, section);
    }

    /// Makes a list of plain numbers one shorter or longer, and the section behind it too.
    fn resize_list(&mut self, random: &mut Random) {
        let sections = self.header["sections"].as_array().unwrap();
        let section = |name: &str| sections.iter().position(|s| s["name"] == name);
        let there = SHAPES.iter().filter(|(place, _)| self.header.pointer(place).is_some());
        let there: Vec<_> = there.filter_map(|(place, name)| Some((place, section(name)?))).collect();
        let Some((place, at)) = (!there.is_empty()).then(|| there[random.below(there.len())]) else { return };
        let Some(shape) = self.header.pointer_mut(place) else { return };
        let mut lists = Vec::new();
        list_numbers(shape, &mut String::new(), &mut 0, &mut lists);
        if lists.is_empty() {
            return;
        }
        let (place, first, count) = lists.swap_remove(random.below(lists.len()));
        let section = &mut self.sections[at];
        if (first + count) * 8 > section.len() {
            return; // another alteration came before
        }
        if random.below(2) == 0 && count > 0 {
            section.drain(first * 8..(first + 1) * 8);
            *shape.pointer_mut(&place).unwrap() = json!({ "#": count - 1 });
        } else {
            section.splice(first * 8..first * 8, 0.5f64.to_le_bytes());
            *shape.pointer_mut(&place).unwrap() = json!({ "#": count + 1 });
        }
        self.header["sections"][at]["count"] = json!(section.len() / 8);
    }
}

/// The file with the length of its header and its checksums as they should be, so that whatever was changed between
/// them is looked at.
pub fn resealed(bytes: &[u8]) -> Vec<u8> {
    let body = bytes.get(PREFIX..bytes.len().saturating_sub(4)).unwrap_or_default();
    let (header, sections) = body.split_at(header_length(bytes).min(body.len()));
    sealed(header, sections)
}

/// How long the first JSON value behind the fixed part of a file is, whatever the file says about it.
fn header_length(bytes: &[u8]) -> usize {
    let mut values = serde_json::Deserializer::from_slice(bytes.get(PREFIX..).unwrap_or_default())
        .into_iter::<IgnoredAny>();
    values.next();
    values.byte_offset()
}

fn sealed(header: &[u8], sections: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x89, b'H', b'G', b'N', b'\r', b'\n', 0x1a, b'\n', 1, 0, 0, 0];
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(checksum(header));
    bytes.extend(header);
    bytes.extend(sections);
    let sum = checksum(&bytes);
    bytes.extend(sum);
    bytes
}

/// Bytes of a number of a section, as the header describes it; `None` for types that are none.
fn width(info: &Value) -> Option<usize> {
    TYPES.iter().find(|(name, _)| info["type"] == *name).map(|(_, width)| *width)
}

/// A whole number of any size and sign; sections hold its lower bytes.
fn whole(random: &mut Random) -> i128 {
    let size = i128::from(COUNTS[random.below(COUNTS.len())]) << (63 * random.below(2));
    if random.below(4) == 0 { -size } else { size }
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

/// JSON pointers to all values.
fn list_places(value: &Value, at: &mut String, places: &mut Vec<String>) {
    places.push(at.clone());
    each_part(value, |key, part| {
        let before = at.len();
        at.push_str(&key);
        list_places(part, at, places);
        at.truncate(before);
    });
}

/// Lists `{"#": count}` with their pointers and the position of their first number.
fn list_numbers(value: &Value, at: &mut String, next: &mut usize, lists: &mut Vec<(String, usize, usize)>) {
    match value.get("#") {
        Some(Value::Null) => *next += 1,
        Some(count) => {
            let count = count.as_u64().unwrap_or(0).min(1 << 32) as usize;
            lists.push((at.clone(), *next, count));
            *next += count;
        }
        None => each_part(value, |key, part| {
            let before = at.len();
            at.push_str(&key);
            list_numbers(part, at, next, lists);
            at.truncate(before);
        }),
    }
}

fn each_part(value: &Value, mut work: impl FnMut(String, &Value)) {
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(i, part)| work(format!("/{i}"), part)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, part)| work(format!("/{}", key.replace('~', "~0").replace('/', "~1")), part)),
        _ => {}
    }
}

fn replace_everywhere(value: &mut Value, old: u64, new: u64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|v| replace_everywhere(v, old, new)),
        Value::Object(fields) => fields.values_mut().for_each(|v| replace_everywhere(v, old, new)),
        Value::Number(n) if n.as_u64() == Some(old) => *value = json!(new),
        _ => {}
    }
}

fn count_near(count: u64, random: &mut Random) -> u64 {
    match random.below(6) {
        0 => count.wrapping_add(1),
        1 => count.wrapping_sub(1),
        2 => count.wrapping_mul(2),
        _ => COUNTS[random.below(COUNTS.len())],
    }
}

/// Another value in place of this one, near it or of another type.
fn alter(value: &mut Value, random: &mut Random) {
    if random.below(8) == 0 {
        let others = [json!(null), json!(true), json!("text"), json!([]), json!({}), json!(1), json!(-1.5)];
        *value = others[random.below(others.len())].clone();
        return;
    }
    match value {
        Value::Null | Value::Bool(_) => {
            *value = [json!(null), json!(true), json!(false), json!(0)][random.below(4)].clone()
        }
        Value::Number(n) => {
            *value = match (random.below(3), n.as_u64()) {
                (0, _) => json!(NUMBERS[random.below(13)]),
                (_, Some(count)) => json!(count_near(count, random)),
                _ => json!(COUNTS[random.below(COUNTS.len())]),
            }
        }
        Value::String(text) => {
            let others = ["", "a", "class", "pool", "\u{1b}[31m<b>\"", "x\u{0}y"];
            *text = match random.below(3) {
                0 => text.repeat(100),
                _ => others[random.below(others.len())].into(),
            };
        }
        Value::Array(items) => alter_list(items, random),
        Value::Object(fields) => alter_fields(fields, random),
    }
}

fn alter_list(items: &mut Vec<Value>, random: &mut Random) {
    let n = items.len();
    if n == 0 {
        return items.push(json!(0));
    }
    let (a, b) = (random.below(n), random.below(n));
    match random.below(7) {
        0 => drop(items.remove(a)),
        1 => items.insert(a, items[b].clone()),
        2 => items.truncate(a),
        3 => items.swap(a, b),
        4 => items.extend(std::iter::repeat_n(items[a].clone(), 1 + random.below(1000))),
        5 => items[a] = items[b].clone(),
        _ => alter(&mut items[a], random),
    }
}

fn alter_fields(fields: &mut Map<String, Value>, random: &mut Random) {
    let Some(key) = fields.keys().nth(random.below(fields.len().max(1))).cloned() else {
        fields.insert("a".into(), json!(1));
        return;
    };
    let mut value = fields[&key].clone();
    match random.below(4) {
        0 => drop(fields.remove(&key)),
        1 => {
            alter(&mut value, random);
            fields.insert(format!("{TWICE}{key}"), value);
        }
        2 => drop(fields.insert(format!("{key}_"), value)),
        _ => {
            alter(&mut value, random);
            fields.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with a section of every type, the bytes of which are themselves such a file.
    fn file(inner: &[u8]) -> Parts {
        let info = |(name, width): &(&str, usize)| {
            let count = if *name == "u8" { inner.len() } else { 3 };
            (
                json!({"name": name, "type": name, "count": count}),
                if *width == 1 { inner.to_vec() } else { vec![7; 3 * width] },
            )
        };
        let (infos, sections): (Vec<Value>, Vec<Vec<u8>>) = TYPES.iter().map(info).unzip();
        Parts { header: json!({"about": {"kind": "test"}, "sections": infos}), sections }
    }

    #[test]
    fn every_type_of_section_is_taken_apart_and_altered() {
        let parts = file(&file(&[1, 2, 3]).seal());
        assert_eq!(Parts::of(&parts.seal()).unwrap().sections, parts.sections);
        let mut unknown = parts.clone();
        unknown.header["sections"][1]["type"] = json!("u16");
        assert!(Parts::of(&unknown.seal()).is_none());
        let mut changed = [false; TYPES.len()];
        let mut random = Random::new(1);
        for _ in 0..400 {
            let altered = Parts::of(&parts.altered(&mut random).seal()).unwrap();
            for (i, section) in altered.sections.iter().enumerate() {
                changed[i] |= *section != parts.sections[i];
            }
        }
        assert_eq!(changed, [true; TYPES.len()]);
    }

    #[test]
    fn what_stands_in_an_inner_file_is_altered_behind_right_checksums() {
        let (inner, mut random) = (file(&[1, 2, 3]), Random::new(2));
        let (mut headers, mut sections) = (0, 0);
        for _ in 0..100 {
            let altered = file(&inner.seal()).altered(&mut random);
            let Some(own) = Parts::of(&altered.sections[0]).filter(|own| own.seal() == altered.sections[0])
            else {
                continue;
            };
            headers += usize::from(own.header != inner.header);
            sections += usize::from(own.sections != inner.sections);
        }
        assert!(headers > 10 && sections > 10, "{headers} {sections}");
    }
}
