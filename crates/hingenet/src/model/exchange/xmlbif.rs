//! XMLBIF 0.3, the XML form of BIF that Weka, pyAgrum, pgmpy and others read and write.

use super::{Definition, NamedNetwork, Variable, assemble, network_file};
use hingenet_base::error::{Error, Result};
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::BTreeMap;
use std::fmt::Write;

impl NamedNetwork {
    /// XMLBIF text. Names stand as they are, escaped; characters XML cannot hold are percent-encoded and
    /// flagged by a property.
    pub fn to_xmlbif(&self) -> String {
        let structure = self.network.structure();
        let mut out =
            String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<BIF VERSION=\"0.3\">\n<NETWORK>\n");
        // Writing to a string cannot fail; the results are dropped on purpose.
        let _ = writeln!(out, "<NAME>{}</NAME>", escape(&self.name));
        for variable in &self.variables {
            let _ = writeln!(out, "<VARIABLE TYPE=\"nature\">\n  <NAME>{}</NAME>", escape(&variable.name));
            for state in &variable.states {
                let _ = writeln!(out, "  <OUTCOME>{}</OUTCOME>", escape(state));
            }
            out.push_str("</VARIABLE>\n");
        }
        for (i, variable) in self.variables.iter().enumerate() {
            let _ = writeln!(out, "<DEFINITION>\n  <FOR>{}</FOR>", escape(&variable.name));
            for &p in structure.dag().parents(i) {
                let _ = writeln!(out, "  <GIVEN>{}</GIVEN>", escape(&self.variables[p].name));
            }
            out.push_str("  <TABLE>\n");
            for h in 0..structure.n_rows(i) {
                let row: Vec<String> = self.network.row(i, h).iter().map(|w| w.exp().to_string()).collect();
                let _ = writeln!(out, "    {}", row.join(" "));
            }
            out.push_str("  </TABLE>\n</DEFINITION>\n");
        }
        out.push_str("</NETWORK>\n</BIF>\n");
        out
    }

    /// Reads XMLBIF text; everything is checked (names, sizes, sums, cycles).
    pub fn from_xmlbif(text: &str) -> Result<Self> {
        // The format's own files carry a document type definition; the parser limits entity expansion.
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options).map_err(|e| bad(e.to_string()))?;
        let network = document.descendants().find(|n| n.has_tag_name("NETWORK"));
        let network = network.ok_or_else(|| bad("there is no NETWORK".into()))?;
        let name = child_text(network, "NAME").unwrap_or_default();
        let variables: Vec<Variable> =
            network.children().filter(|n| n.has_tag_name("VARIABLE")).map(variable).collect::<Result<_>>()?;
        let index = variables.iter().enumerate().map(|(i, v)| (v.name.as_str(), i)).collect();
        let is_definition = |n: &Node| n.has_tag_name("DEFINITION") || n.has_tag_name("PROBABILITY");
        let definitions = network.children().filter(is_definition).map(|n| definition(n, &variables, &index));
        let definitions = definitions.collect::<Result<_>>()?;
        if variables.is_empty() {
            return Err(bad("there are no variables".into()));
        }
        assemble(name, variables, definitions)
    }
}

fn variable(node: Node) -> Result<Variable> {
    let name = child_text(node, "NAME").ok_or_else(|| bad("a VARIABLE has no NAME".into()))?;
    let states: Vec<String> = node
        .children()
        .filter(|n| n.has_tag_name("OUTCOME") || n.has_tag_name("VALUE"))
        .map(text_of)
        .collect();
    if states.is_empty() {
        return Err(bad(format!("variable `{name}` has no states")));
    }
    Ok(Variable { name, states })
}

fn definition(node: Node, variables: &[Variable], index: &BTreeMap<&str, usize>) -> Result<Definition> {
    let position =
        |name: &str| index.get(name).copied().ok_or_else(|| bad(format!("unknown variable `{name}`")));
    let name = child_text(node, "FOR").ok_or_else(|| bad("a DEFINITION has no FOR".into()))?;
    let variable = position(&name)?;
    let given = node.children().filter(|n| n.has_tag_name("GIVEN")).map(|n| position(&text_of(n)));
    let parents = given.collect::<Result<Vec<_>>>()?;
    let table = child_text(node, "TABLE").ok_or_else(|| bad(format!("`{name}` has no TABLE")))?;
    let number = |w: &str| {
        w.parse::<f64>().map_err(|_| bad(format!("`{w}` in the table of `{name}` is not a number")))
    };
    let values: Vec<f64> = table.split_whitespace().map(number).collect::<Result<_>>()?;
    let rows = values.chunks(variables[variable].states.len()).map(<[f64]>::to_vec).collect();
    Ok(Definition { variable, parents, rows })
}

fn child_text(node: Node, tag: &str) -> Option<String> {
    node.children().find(|n| n.has_tag_name(tag)).map(text_of)
}

/// Text of a node, comments left out. Names and states are kept as written, spaces included.
fn text_of(node: Node) -> String {
    unescape_controls(&node.children().filter(Node::is_text).filter_map(|n| n.text()).collect::<String>())
}

fn bad(problem: String) -> Error {
    network_file(format!("XMLBIF: {problem}"))
}

/// Characters that XML 1.0 can neither hold nor escape, and carriage returns, which its readers change.
fn is_lost_in_xml(c: char) -> bool {
    (c < ' ' && c != '\t' && c != '\n') || c == '\u{fffe}' || c == '\u{ffff}'
}

/// Replaces what XML would misread. A lost character becomes `\u{hex}`, a backslash two.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' => out.push_str("\\\\"),
            c if is_lost_in_xml(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Undoes the backslash part of [`escape`]; anything else stays as it is.
fn unescape_controls(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        if let Some(after) = tail.strip_prefix('\\') {
            out.push('\\');
            rest = after;
        } else if let Some((c, after)) = tail
            .strip_prefix("u{")
            .and_then(|t| t.split_once('}'))
            .and_then(|(hex, after)| Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, after)))
        {
            out.push(c);
            rest = after;
        } else {
            out.push('\\');
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}
