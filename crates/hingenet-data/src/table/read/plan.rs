//! What all readers share: checks of the header, the role of each column, progress, and the table at the end.

use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::{ReadOptions, ReadResult};
use super::places::{Lines, Places};
use crate::table::{FeatureKind, Table, parse_number};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::similar::did_you_mean;
use std::collections::{HashMap, HashSet};

/// What to do about a text in a column that `--numeric` names, and in one that a model knows as numbers.
const ASKED: &str =
    "correct the cell, name the text with `--na` if it means missing, or leave the column out of `--numeric`";
const TRAINED: &str = "the model was trained on numbers here: correct the cell, leave it empty, or name the text with `--na` \
                       if it means missing";

/// The role of each column: what the options say, else `natural(position)`. Refuses empty and repeated
/// names, and options that name columns the file does not have. `line` is that of the header.
pub(super) fn roles(
    header: &[String],
    options: &ReadOptions,
    context: &Context<'_>,
    line: Option<u64>,
    natural: impl Fn(usize) -> Role,
) -> Result<Vec<Role>> {
    check_names(header, context, line)?;
    check_options(header, options, context, line)?;
    let schema = options.schema.as_ref().map(|schema| {
        schema.features.iter().map(|spec| (spec.name.as_str(), &spec.kind)).collect::<HashMap<_, _>>()
    });
    let set = |names: &'_ [String]| names.iter().cloned().collect::<HashSet<String>>();
    let (categorical, numeric, ignore) =
        (set(&options.categorical), set(&options.numeric), set(&options.ignore));
    let role = |(i, name): (usize, &String)| {
        // a declared list of values is kept by whoever asks for categories
        let categories = || match natural(i) {
            Role::Declared(values) => Role::Declared(values),
            _ => Role::Categorical,
        };
        if ignore.contains(name) {
            Role::Skip
        } else if options.target.as_ref() == Some(name) || categorical.contains(name) {
            categories()
        } else if numeric.contains(name) {
            Role::Numeric(ASKED)
        } else {
            match schema.as_ref().map(|s| s.get(name.as_str())) {
                None => natural(i),
                Some(None) => Role::Skip,
                Some(Some(FeatureKind::Numeric)) => Role::Numeric(TRAINED),
                Some(Some(FeatureKind::Categorical { .. })) => categories(),
            }
        }
    };
    Ok(header.iter().enumerate().map(role).collect())
}

fn check_names(header: &[String], context: &Context<'_>, line: Option<u64>) -> Result<()> {
    let mut first = HashMap::new();
    for (i, name) in header.iter().enumerate() {
        if name.is_empty() {
            let problem = format!("column {} has no name", i + 1);
            let hint =
                "name every column in the first line (row names must be left out when the file is written)";
            return Err(context.file(line, problem, or_header_missing(header, hint)));
        }
        if let Some(k) = first.insert(name, i) {
            let problem = format!("the column name `{name}` occurs twice (columns {} and {})", k + 1, i + 1);
            return Err(context.file(line, problem, or_header_missing(header, "rename one of the columns")));
        }
    }
    Ok(())
}

/// The hint, unless there are numbers among the names: then the first line is probably a row.
fn or_header_missing(header: &[String], hint: &str) -> String {
    match header.iter().find(|name| parse_number(name).is_some()) {
        Some(name) => format!(
            "if the file has no line with the names of the columns (`{name}` looks like a cell), say so with `--no-header`, \
             and they are c1 to c{}; otherwise: {hint}",
            header.len()
        ),
        None => hint.into(),
    }
}

fn check_options(
    header: &[String],
    options: &ReadOptions,
    context: &Context<'_>,
    line: Option<u64>,
) -> Result<()> {
    let named = [
        ("the target", options.target.as_slice()),
        ("`--categorical`", &options.categorical),
        ("`--numeric`", &options.numeric),
        ("`--ignore`", &options.ignore),
    ];
    for (who, names) in named {
        if let Some(name) = names.iter().find(|name| !header.contains(name)) {
            let mut list = header.iter().take(20).map(String::as_str).collect::<Vec<_>>().join(", ");
            if header.len() > 20 {
                list += ", ...";
            }
            let known = did_you_mean(name, header.iter().map(String::as_str));
            let problem = format!("there is no column `{name}` (named by {who}){known}");
            let hint = match header {
                [only] if line.is_some() => format!(
                    "the first line has one name, `{only}`: if that is no name but a title, remove the line; if cells are \
                     parted by another character than comma, semicolon or tab, give it with `--delimiter`"
                ),
                _ => format!("the columns are: {list}"),
            };
            return Err(context.file(line, problem, or_header_missing(header, &hint)));
        }
    }
    Ok(())
}

/// Adds a row of a text; tells the control now and then, and asks for the memory of more.
#[inline]
pub(super) fn row_done(
    rows: &mut Lines,
    line: u64,
    columns: &[ColumnBuilder],
    control: &Control,
) -> Result<()> {
    rows.push(line);
    if rows.n_rows.is_multiple_of(4096) {
        control.progress("reading rows", rows.n_rows, 0)?;
        reserve(columns, 0.0, control)?;
    }
    Ok(())
}

/// Asks for the memory of the columns with so many bytes more: a small file can hold a huge table.
pub(super) fn reserve(columns: &[ColumnBuilder], more: f64, control: &Control) -> Result<()> {
    let bytes = columns.iter().map(|c| c.bytes() as f64).sum::<f64>() + more;
    let hint = "leave columns out (`--ignore`), give fewer rows, or allow more (`--max-memory`)";
    control.reserve(bytes, "the table", hint)
}

/// The table and its notes.
pub(super) fn finish(
    columns: Vec<ColumnBuilder>,
    rows: Lines,
    context: &Context<'_>,
    delimiter: Option<u8>,
    control: &Control,
) -> Result<ReadResult> {
    reserve(&columns, 0.0, control)?;
    if rows.n_rows == 0 {
        return Err(context.file(
            None,
            "there are columns, but no rows",
            "give at least one row of data below the header; lines must end in LF or CRLF",
        ));
    }
    let free_commas = context.decimal.is_none() && delimiter.is_some_and(|d| d != b',');
    let decimal_commas = columns.iter().any(|column| column.has_decimal_commas(free_commas));
    let (mut notes, mut typed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for column in columns {
        if column.role == Role::Skip {
            skipped.push(column.name.clone());
        }
        typed.extend(column.finish(context, decimal_commas, &mut notes)?);
    }
    let table = if typed.is_empty() { Table::without_columns(rows.n_rows) } else { Table::new(typed)? };
    Ok(ReadResult {
        table,
        notes,
        delimiter,
        skipped,
        places: Places { file: context.file.into(), rows, kept: None },
    })
}
