//! Attribute-relation file format: declarations, then dense or sparse rows. Nominal attributes keep
//! their full declared list and its order. Strings are categories; dates and relations are refused.
//! Instance weights (`{w}` after a row) are refused: a weight belongs into a column of its own.

use super::arff_tokens::{Token, Tokens, split_row};
use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::Place;
use super::pieces::{FileRows, Opened, Piece};
use super::{Input, plan, read_error};
use crate::table::Codes;
use hingenet_base::error::{Error, Result};
use std::io::{BufRead, BufReader, Read};

/// Longest line, so that a file without line ends cannot fill the memory.
const MAX_LINE: u64 = 1 << 28;

/// The declared columns, and the rows below them.
pub(super) fn open<'a>(input: Input<'a>, context: &'a Context<'a>) -> Result<Opened<'a>> {
    let reader = BufReader::with_capacity(1 << 16, input.reader);
    let mut lines = Lines { reader, context, number: 0, text: Vec::new() };
    let attributes = declarations(&mut lines)?;
    let names: Vec<String> = attributes.iter().map(|a| a.name.clone()).collect();
    let roles = plan::roles(&names, context, None, |i| attributes[i].kind.role())?;
    for (attribute, role) in attributes.iter().zip(&roles) {
        attribute.check(role, context)?;
    }
    let rows = Box::new(Data { lines, attributes, cells: Vec::new() });
    Ok(Opened { names, roles, delimiter: None, n_rows: 0, rows })
}

/// The rows below `@data`.
struct Data<'a, R> {
    lines: Lines<'a, R>,
    attributes: Vec<Attribute>,
    cells: Vec<Token>,
}

impl<R: BufRead> FileRows for Data<'_, R> {
    fn fill(&mut self, piece: &mut Piece<'_>) -> Result<bool> {
        while self.lines.next_line()? {
            push_row(&self.lines, &self.attributes, &mut piece.columns, &mut self.cells)?;
            if piece.line_done(self.lines.number)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A declared attribute.
struct Attribute {
    name: String,
    kind: Kind,
    line: u64,
}

enum Kind {
    Numeric,
    Nominal(Vec<String>),
    Text,
    /// A type there is no column for.
    Other(String),
}

impl Kind {
    fn role(&self) -> Role {
        match self {
            Kind::Numeric | Kind::Other(_) => Role::Numeric(
                "correct the cell, or write `?` if the value is not known (`--na` names other texts for that)",
            ),
            Kind::Nominal(values) => Role::Declared(values.clone()),
            Kind::Text => Role::Categorical,
        }
    }
}

impl Attribute {
    /// Refuses what cannot be read, unless it is skipped.
    fn check(&self, role: &Role, context: &Context<'_>) -> Result<()> {
        let (problem, hint) = match &self.kind {
            _ if *role == Role::Skip => return Ok(()),
            Kind::Numeric | Kind::Text => return Ok(()),
            Kind::Other(kind) => (
                format!("has the type `{kind}`, which is neither numeric nor nominal"),
                "leave it out with `--ignore`, or convert it to numbers or texts",
            ),
            Kind::Nominal(values) if values.len() > Codes::MAX_CATEGORIES => {
                ("declares more than 65535 values".into(), "leave it out with `--ignore`")
            }
            Kind::Nominal(values) => {
                let mut seen = std::collections::HashSet::new();
                match values.iter().find(|value| !seen.insert(*value)) {
                    Some(twice) => {
                        (format!("declares the value `{twice}` twice"), "declare every value once")
                    }
                    None => return Ok(()),
                }
            }
        };
        Err(context.file(Some(self.line), format!("attribute `{}` {problem}", self.name), hint))
    }
}

/// Lines that are neither blank nor comments.
struct Lines<'a, R> {
    reader: R,
    context: &'a Context<'a>,
    number: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<'_, R> {
    /// Moves to the next line; false at the end.
    fn next_line(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            let read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.text);
            self.number += 1;
            if read.map_err(|e| read_error(self.context.file, e))? == 0 {
                return Ok(false);
            }
            if self.text.len() as u64 == MAX_LINE {
                return Err(self.error("this line is longer than 256 MB", "end every row with a line feed"));
            }
            if self.number == 1 && self.text.starts_with(b"\xef\xbb\xbf") {
                self.text.drain(..3);
            }
            let text = self.text.trim_ascii();
            if !text.is_empty() && text[0] != b'%' {
                return Ok(true);
            }
        }
    }

    fn error(&self, problem: impl Into<String>, hint: &str) -> Error {
        self.context.file(Some(self.number), problem, hint)
    }

    fn trimmed(&self) -> &[u8] {
        self.text.trim_ascii()
    }
}

/// Everything up to `@data`.
fn declarations<R: BufRead>(lines: &mut Lines<'_, R>) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    while lines.next_line()? {
        let text = std::str::from_utf8(lines.trimmed())
            .map_err(|_| lines.error("this line is not valid UTF-8", "save the file as UTF-8"))?;
        let (word, rest) = text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len()));
        match word.to_ascii_lowercase().as_str() {
            "@relation" => {}
            "@attribute" => attributes.push(attribute(rest.trim_ascii(), lines)?),
            "@data" if attributes.is_empty() => {
                return Err(lines.error("no attribute is declared", "declare columns with `@attribute`"));
            }
            "@data" => return Ok(attributes),
            _ => {
                let problem = format!("`{}` is no declaration", word.chars().take(40).collect::<String>());
                return Err(
                    lines.error(problem, "before `@data` only `@relation` and `@attribute` may stand")
                );
            }
        }
    }
    let problem = if lines.number == 1 { "the file is empty" } else { "there is no `@data` line" };
    Err(lines.context.file(None, problem, "an ARFF file declares its attributes and then says `@data`"))
}

/// `name type`, where the type may be a list in braces.
fn attribute<R: BufRead>(text: &str, lines: &Lines<'_, R>) -> Result<Attribute> {
    let incomplete =
        || lines.error("an attribute needs a name and a type", "write `@attribute name numeric`");
    let mut tokens = Tokens::new(text.as_bytes());
    let name =
        tokens.token(b"{").map_err(|problem| lines.error(problem, QUOTE_HINT))?.ok_or_else(incomplete)?;
    let name = String::from_utf8_lossy(&name.text).into_owned();
    let rest = text[tokens.pos..].trim_ascii();
    let kind = if let Some(list) = rest.strip_prefix('{') {
        Kind::Nominal(nominal(list, lines)?)
    } else {
        let word = rest.split_ascii_whitespace().next().ok_or_else(incomplete)?;
        match word.to_ascii_lowercase().as_str() {
            "numeric" | "real" | "integer" => Kind::Numeric,
            "string" => Kind::Text,
            _ => Kind::Other(word.into()),
        }
    };
    Ok(Attribute { name, kind, line: lines.number })
}

/// The values of a nominal attribute, after the opening brace.
fn nominal<R: BufRead>(list: &str, lines: &Lines<'_, R>) -> Result<Vec<String>> {
    let mut tokens = Tokens::new(list.as_bytes());
    let mut values = Vec::new();
    loop {
        let token = tokens.cell(b",}").map_err(|problem| lines.error(problem, QUOTE_HINT))?;
        let end = tokens.next_byte();
        if !token.text.is_empty() || token.quoted {
            values.push(String::from_utf8_lossy(&token.text).into_owned());
        } else if !(end == Some(b'}') && values.is_empty()) {
            return Err(lines.error("a value of the list is empty", "write every value, quoted if need be"));
        }
        match end {
            Some(b',') => {}
            Some(b'}') => return Ok(values),
            _ => return Err(lines.error("the list of values is not closed", "end it with `}`")),
        }
    }
}

/// Adds one row to the columns.
fn push_row<R: BufRead>(
    lines: &Lines<'_, R>,
    attributes: &[Attribute],
    columns: &mut [ColumnBuilder],
    cells: &mut Vec<Token>,
) -> Result<()> {
    let place = Place::Line(lines.number);
    let text = lines.trimmed();
    if let Some(sparse) = text.strip_prefix(b"{") {
        return push_sparse(sparse, lines, attributes, columns);
    }
    split_row(text, columns.len(), cells).map_err(|problem| lines.error(problem, QUOTE_HINT))?;
    let weighted =
        |token: &Token| !token.quoted && token.text.starts_with(b"{") && token.text.ends_with(b"}");
    if cells.len() == columns.len() + 1 && cells.last().is_some_and(weighted) {
        return Err(lines.error(WEIGHT, WEIGHT_HINT));
    }
    if cells.len() != columns.len() {
        let have = if cells.len() == 1 { "1 cell".into() } else { format!("{} cells", cells.len()) };
        let problem = format!("this row has {have}, but {} attributes are declared", columns.len());
        return Err(lines.error(problem, "quote values that contain commas or spaces"));
    }
    for (column, cell) in columns.iter_mut().zip(cells.iter()) {
        push_cell(column, cell, place, lines.context)?;
    }
    Ok(())
}

fn push_cell(column: &mut ColumnBuilder, cell: &Token, place: Place, context: &Context<'_>) -> Result<()> {
    if !cell.quoted && cell.text == b"?" {
        column.push_missing();
        return Ok(());
    }
    column.push(cell.text.as_slice().into(), place, context)
}

/// `i v, i v, ...}`: what is left out is 0, or the first declared value.
fn push_sparse<R: BufRead>(
    text: &[u8],
    lines: &Lines<'_, R>,
    attributes: &[Attribute],
    columns: &mut [ColumnBuilder],
) -> Result<()> {
    let place = Place::Line(lines.number);
    let mut given: Vec<Option<Token>> = vec![None; columns.len()];
    let mut tokens = Tokens::new(text);
    loop {
        tokens.skip_spaces();
        if tokens.peek() == Some(b'}') && given.iter().all(Option::is_none) {
            tokens.next_byte();
            break;
        }
        let entry = tokens.sparse_entry().map_err(|problem| lines.error(problem, SPARSE_HINT))?;
        match given.get_mut(entry.0) {
            Some(slot @ None) => *slot = Some(entry.1),
            Some(_) => return Err(lines.error(format!("index {} occurs twice", entry.0), SPARSE_HINT)),
            None => {
                let problem = format!("index {}, but {} attributes are declared", entry.0, columns.len());
                return Err(lines.error(problem, SPARSE_HINT));
            }
        }
        match tokens.next_byte() {
            Some(b',') => {}
            Some(b'}') => break,
            _ => return Err(lines.error("the sparse row is not closed", SPARSE_HINT)),
        }
    }
    tokens.skip_spaces();
    match tokens.peek() {
        None | Some(b'%') => {}
        Some(b',' | b'{') => return Err(lines.error(WEIGHT, WEIGHT_HINT)),
        Some(_) => return Err(lines.error("there is text after a sparse row", SPARSE_HINT)),
    }
    for (k, column) in columns.iter_mut().enumerate() {
        match (&given[k], &attributes[k].kind) {
            (Some(cell), _) => push_cell(column, cell, place, lines.context)?,
            (None, Kind::Nominal(values)) => match values.first() {
                Some(first) => column.push(first.as_bytes().into(), place, lines.context)?,
                None => column.push_missing(),
            },
            (None, Kind::Text) if column.role != Role::Skip => {
                let problem = format!("the string attribute `{}` is left out of a sparse row", column.name);
                return Err(
                    lines.error(problem, "give its value, or leave the attribute out with `--ignore`")
                );
            }
            (None, _) => column.push(b"0"[..].into(), place, lines.context)?,
        }
    }
    Ok(())
}

const QUOTE_HINT: &str = "close every quote; inside quotes write `\\'` for a quote";
const SPARSE_HINT: &str = "a sparse row is written {index value, index value}, indices counting from 0";
const WEIGHT: &str = "this row has an instance weight";
const WEIGHT_HINT: &str = "put weights into a numeric column and name it with `--weights`";
