//! The Bayesian Interchange Format (BIF) as pyAgrum, pgmpy, bnlearn and others read and write it. Names that every reader
//! accepts are letters, digits and underscores, beginning with a letter; the original name travels in a property line,
//! percent-encoded where its characters mean something in BIF.

use super::{Definition, NamedNetwork, Variable, assemble, network_file};
use crate::model::spec::unescaped;
use hingenet_base::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

impl NamedNetwork {
    /// BIF text. Names become plain identifiers; the originals stand in property lines that [`Self::from_bif`] knows.
    pub fn to_bif(&self) -> String {
        let structure = self.network.structure();
        let names = safe_names(self.variables.iter().map(|v| v.name.as_str()));
        let states: Vec<Vec<String>> =
            self.variables.iter().map(|v| safe_names(v.states.iter().map(String::as_str))).collect();
        let mut out = format!("network {} {{\n}}\n", safe_names([self.name.as_str()]).concat());
        for (i, variable) in self.variables.iter().enumerate() {
            write_variable(&mut out, variable, &names[i], &states[i]);
        }
        for i in 0..names.len() {
            let parents = structure.dag().parents(i);
            let given: Vec<&str> = parents.iter().map(|&p| names[p].as_str()).collect();
            let bar = if given.is_empty() { String::new() } else { format!(" | {}", given.join(", ")) };
            // Writing to a string cannot fail; the results are dropped on purpose.
            let _ = writeln!(out, "probability ( {}{bar} ) {{", names[i]);
            for h in 0..structure.n_rows(i) {
                let row: Vec<String> = self.network.row(i, h).iter().map(|w| w.exp().to_string()).collect();
                if parents.is_empty() {
                    let _ = writeln!(out, "  table {};", row.join(", "));
                } else {
                    let strides = structure.strides(i);
                    let assignment = parents
                        .iter()
                        .zip(strides)
                        .map(|(&p, s)| states[p][h / s % states[p].len()].as_str());
                    let _ = writeln!(
                        out,
                        "  ({}) {};",
                        assignment.collect::<Vec<_>>().join(", "),
                        row.join(", ")
                    );
                }
            }
            out.push_str("}\n");
        }
        out
    }

    /// Reads BIF text; everything is checked (names, sizes, sums, cycles).
    pub fn from_bif(text: &str) -> Result<Self> {
        let tokens = tokenise(text)?;
        let room = tokens.len() + MOST_DEFAULT_ROWS;
        let mut parser = Parser { tokens, at: 0, room, variables: Vec::new(), index: BTreeMap::new() };
        let mut name = String::new();
        let mut definitions = Vec::new();
        while let Some(token) = parser.next() {
            match token.as_str() {
                "network" => name = parser.network()?,
                "variable" => parser.variable()?,
                "probability" => definitions.push(parser.probability()?),
                other => {
                    return Err(
                        parser.error(format!("expected network, variable or probability, found `{other}`"))
                    );
                }
            }
        }
        if parser.variables.is_empty() {
            return Err(parser.error("there are no variables".into()));
        }
        let variables = parser.variables.into_iter().map(|v| v.original).collect();
        assemble(name, variables, definitions)
    }
}

fn write_variable(out: &mut String, variable: &Variable, name: &str, states: &[String]) {
    let _ = writeln!(out, "variable {name} {{");
    let _ = writeln!(out, "  type discrete [ {} ] {{ {} }};", states.len(), states.join(", "));
    if name != variable.name {
        let _ = writeln!(out, "  property name = {};", encode(&variable.name));
    }
    for (j, (safe, original)) in states.iter().zip(&variable.states).enumerate() {
        if safe != original {
            let _ = writeln!(out, "  property state{j} = {};", encode(original));
        }
    }
    out.push_str("}\n");
}

/// A variable with the names used inside the file and the original ones.
struct Known {
    original: Variable,
    states: BTreeMap<String, usize>,
}

/// Rows of tables that need not stand in a file, since a `default` line stands for them.
const MOST_DEFAULT_ROWS: usize = 1 << 16;

struct Parser {
    tokens: Vec<(String, usize)>,
    at: usize,
    /// Rows that the tables still to come may have.
    room: usize,
    variables: Vec<Known>,
    index: BTreeMap<String, usize>,
}

impl Parser {
    fn next(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at).map(|(t, _)| t.clone());
        self.at += 1;
        token
    }

    fn take(&mut self) -> Result<String> {
        self.next().ok_or_else(|| self.error("the file ends in the middle of a block".into()))
    }

    fn expect(&mut self, want: &str) -> Result<()> {
        let found = self.take()?;
        if found == want { Ok(()) } else { Err(self.error(format!("expected `{want}`, found `{found}`"))) }
    }

    fn error(&self, problem: String) -> Error {
        let line = self.tokens.get(self.at.saturating_sub(1)).or(self.tokens.last()).map_or(1, |(_, l)| *l);
        network_file(format!("BIF, line {line}: {problem}"))
    }

    /// Words up to `end`, without commas.
    fn words(&mut self, end: &str) -> Result<Vec<String>> {
        let mut words = Vec::new();
        loop {
            match self.take()? {
                word if word == end => return Ok(words),
                word if word == "," => {}
                word => words.push(word),
            }
        }
    }

    fn network(&mut self) -> Result<String> {
        let name = self.words("{")?.concat();
        self.words("}")?;
        Ok(name)
    }

    fn variable(&mut self) -> Result<()> {
        let name = self.take()?;
        self.expect("{")?;
        let mut states: Vec<String> = Vec::new();
        let mut original: BTreeMap<String, String> = BTreeMap::new();
        loop {
            match self.take()?.as_str() {
                "}" => break,
                "type" => states = self.states()?,
                "property" => {
                    if let [key, equals, value] = self.words(";")?.as_slice()
                        && equals == "="
                        && let Some(value) = unescaped(value)
                    {
                        original.insert(key.clone(), value);
                    }
                }
                other => return Err(self.error(format!("expected type or property, found `{other}`"))),
            }
        }
        if states.is_empty() {
            return Err(self.error(format!("variable `{name}` has no states")));
        }
        self.add_variable(name, states, &original)
    }

    /// `discrete [ n ] { a, b };` behind the word `type`.
    fn states(&mut self) -> Result<Vec<String>> {
        self.expect("discrete")?;
        self.expect("[")?;
        let count = self.take()?;
        self.expect("]")?;
        self.expect("{")?;
        let states = self.words("}")?;
        self.expect(";")?;
        if count.parse() == Ok(states.len()) {
            Ok(states)
        } else {
            Err(self.error(format!("{count} states are announced, {} are listed", states.len())))
        }
    }

    fn add_variable(
        &mut self,
        name: String,
        states: Vec<String>,
        original: &BTreeMap<String, String>,
    ) -> Result<()> {
        let mut codes = BTreeMap::new();
        for (j, state) in states.iter().enumerate() {
            if codes.insert(state.clone(), j).is_some() {
                return Err(self.error(format!("state `{state}` of variable `{name}` occurs twice")));
            }
        }
        let restore = |key: &str, safe: &String| original.get(key).unwrap_or(safe).clone();
        let variable = Variable {
            name: restore("name", &name),
            states: states.iter().enumerate().map(|(j, s)| restore(&format!("state{j}"), s)).collect(),
        };
        if self.index.insert(name.clone(), self.variables.len()).is_some() {
            return Err(self.error(format!("variable `{name}` occurs twice")));
        }
        self.variables.push(Known { original: variable, states: codes });
        Ok(())
    }

    /// `( X | A, B ) { ... }` behind the word `probability`.
    fn probability(&mut self) -> Result<Definition> {
        self.expect("(")?;
        let names = self.words(")")?;
        let (variable, parents) = match names.as_slice() {
            [own] => (own, &[][..]),
            [own, bar, parents @ ..] if bar == "|" => (own, parents),
            _ => return Err(self.error("expected `X` or `X | A, B` between parentheses".into())),
        };
        let known = |name: &String| {
            self.index.get(name).copied().ok_or_else(|| self.error(format!("unknown variable `{name}`")))
        };
        let (variable, parents) = (known(variable)?, parents.iter().map(known).collect::<Result<Vec<_>>>()?);
        self.expect("{")?;
        let sizes = parents.iter().map(|&p| self.variables[p].states.len());
        let n_rows = sizes.into_iter().try_fold(1usize, |n, r| n.checked_mul(r));
        let Some((n_rows, room)) = n_rows.and_then(|n| Some((n, self.room.checked_sub(n)?))) else {
            return Err(self.error("the file is too short for a table of this size".into()));
        };
        self.room = room;
        let rows = self.rows(variable, &parents, n_rows)?;
        Ok(Definition { variable, parents, rows })
    }

    fn rows(&mut self, variable: usize, parents: &[usize], n_rows: usize) -> Result<Vec<Vec<f64>>> {
        let mut rows: Vec<Option<Vec<f64>>> = vec![None; n_rows];
        let mut default = None;
        loop {
            match self.take()?.as_str() {
                "}" => break,
                "property" => drop(self.words(";")?),
                "default" => default = Some(self.numbers()?),
                "table" => {
                    let (values, r) = (self.numbers()?, self.variables[variable].states.len());
                    let needed = r * n_rows;
                    if values.len() != needed {
                        let found = values.len();
                        return Err(self.error(format!("the table has {found} numbers, needs {needed}")));
                    }
                    // `table` lists the states of the variable slowest, the parents behind it.
                    let row = |h: usize| (0..r).map(|j| values[j * n_rows + h]).collect();
                    rows = (0..n_rows).map(|h| Some(row(h))).collect();
                }
                "(" => {
                    let h = self.assignment(parents)?;
                    if rows[h].replace(self.numbers()?).is_some() {
                        return Err(self.error("an assignment of the parents occurs twice".into()));
                    }
                }
                other => return Err(self.error(format!("expected a row of probabilities, found `{other}`"))),
            }
        }
        let complete = rows.into_iter().map(|row| row.or_else(|| default.clone()));
        complete.collect::<Option<_>>().ok_or_else(|| {
            let name = &self.variables[variable].original.name;
            self.error(format!("variable `{name}` lacks the row of some parent assignment"))
        })
    }

    /// Parent states up to `)`, as a row number with the last parent fastest.
    fn assignment(&mut self, parents: &[usize]) -> Result<usize> {
        let states = self.words(")")?;
        if states.len() != parents.len() {
            let (found, needed) = (states.len(), parents.len());
            return Err(self.error(format!("an assignment has {found} states, needs {needed}")));
        }
        states.iter().zip(parents).try_fold(0, |h, (state, &p)| {
            let known = &self.variables[p].states;
            let code = known.get(state).ok_or_else(|| self.error(format!("unknown state `{state}`")))?;
            Ok(h * known.len() + code)
        })
    }

    fn numbers(&mut self) -> Result<Vec<f64>> {
        let words = self.words(";")?;
        let number = |w: &String| w.parse::<f64>().map_err(|_| self.error(format!("`{w}` is not a number")));
        words.iter().map(number).collect()
    }
}

/// Words, quoted strings and punctuation with their line numbers; comments are dropped.
fn tokenise(text: &str) -> Result<Vec<(String, usize)>> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|c| *c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                for c in chars.by_ref() {
                    line += usize::from(c == '\n');
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '"' => {
                let mut word = String::new();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some(c) => word.push(c),
                        None => {
                            return Err(Error::model_file(format!(
                                "BIF, line {line}: a quote is not closed"
                            )));
                        }
                    }
                }
                tokens.push((word, line));
            }
            '{' | '}' | '(' | ')' | '[' | ']' | ',' | ';' | '|' | '=' => tokens.push((c.to_string(), line)),
            c => {
                let mut word = String::from(c);
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"{}()[],;|=\"".contains(*c)) {
                    word.push(c);
                }
                tokens.push((word, line));
            }
        }
    }
    Ok(tokens)
}

/// Safe names for `names`, distinct and in the same order. A name that is safe already stays.
fn safe_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    // the number to try next for each name: texts without Latin letters are all the same
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    let mut safe = Vec::new();
    for name in names {
        let base = safe_name(name);
        let mut candidate = base.clone();
        while !taken.insert(candidate.clone()) {
            let k = next.entry(base.clone()).or_insert(2);
            candidate = format!("{base}_{k}");
            *k += 1;
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

/// Percent-encodes everything but letters, digits and a few harmless marks; [`unescaped`] undoes it. Quotes say where nothing
/// stands.
fn encode(text: &str) -> String {
    let mut out = String::from(if text.is_empty() { "\"\"" } else { "" });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::safe_names;
    use std::collections::BTreeSet;

    /// One try for each name: so many in quadratic time would take hours.
    #[test]
    fn names_without_latin_letters_become_distinct_ones() {
        assert_eq!(
            safe_names(["a", "a", "ä", "a_2", "ö", "a"]),
            ["a", "a_2", "s__", "a_2_2", "s___2", "a_3"]
        );
        let names: Vec<String> = (0..300_000).map(|i| "ж".repeat(1 + i % 2)).collect();
        let safe = safe_names(names.iter().map(String::as_str));
        assert_eq!(safe.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
