//! Names that every BIF reader accepts: letters, digits and underscores, beginning with a letter. The
//! original name travels in a property line, percent-encoded where its characters mean something in BIF.

use std::collections::BTreeSet;

/// Safe names for `names`, distinct and in the same order. A name that is safe already stays.
pub fn safe_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut safe = Vec::new();
    for name in names {
        let base = safe_name(name);
        let mut candidate = base.clone();
        let mut k = 2;
        while !taken.insert(candidate.clone()) {
            candidate = format!("{base}_{k}");
            k += 1;
        }
        safe.push(candidate);
    }
    safe
}

fn safe_name(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, "s_");
    }
    out
}

/// Percent-encodes everything but letters, digits and a few harmless marks; [`unescaped`](crate::model::spec::unescaped) undoes it.
pub fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
