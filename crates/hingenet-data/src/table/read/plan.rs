//! What all readers share: checks of the header, the role of each column, progress, and the table at the end.

use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::{ReadOptions, ReadResult};
use crate::table::{FeatureKind, Table};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use std::collections::{HashMap, HashSet};

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
            Role::Numeric
        } else {
            match schema.as_ref().map(|s| s.get(name.as_str())) {
                None => natural(i),
                Some(None) => Role::Skip,
                Some(Some(FeatureKind::Numeric)) => Role::Numeric,
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
            return Err(context.file(line, problem, hint));
        }
        if let Some(k) = first.insert(name, i) {
            let problem = format!("the column name `{name}` occurs twice (columns {} and {})", k + 1, i + 1);
            return Err(context.file(line, problem, "rename one of the columns"));
        }
    }
    Ok(())
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
            let problem = format!("there is no column `{name}` (named by {who})");
            return Err(context.file(line, problem, format!("the columns are: {list}")));
        }
    }
    Ok(())
}

/// Tells the control of a row read from a text, now and then, and asks for the memory of more.
#[inline]
pub(super) fn row_done(n_rows: &mut usize, columns: &[ColumnBuilder], control: &Control) -> Result<()> {
    *n_rows += 1;
    if n_rows.is_multiple_of(4096) {
        control.progress("reading rows", *n_rows, 0)?;
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
    n_rows: usize,
    context: &Context<'_>,
    delimiter: Option<u8>,
) -> Result<ReadResult> {
    if n_rows == 0 {
        return Err(context.file(
            None,
            "there are columns, but no rows",
            "give at least one row of data below the header; lines must end in LF or CRLF",
        ));
    }
    let (mut notes, mut typed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for column in columns {
        if column.role == Role::Skip {
            skipped.push(column.name.clone());
        }
        typed.extend(column.finish(context, &mut notes)?);
    }
    let table = if typed.is_empty() { Table::without_columns(n_rows) } else { Table::new(typed)? };
    Ok(ReadResult { table, notes, delimiter, skipped })
}
