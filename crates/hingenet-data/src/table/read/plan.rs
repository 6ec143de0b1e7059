//! What all readers share about a header: its checks, and the role of each column.

use super::builder::Role;
use super::context::Context;
use crate::table::{FeatureKind, parse_number};
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
    context: &Context<'_>,
    line: Option<u64>,
    natural: impl Fn(usize) -> Role,
) -> Result<Vec<Role>> {
    check_names(header, context, line)?;
    check_options(header, context, line)?;
    let options = context.options;
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

fn check_options(header: &[String], context: &Context<'_>, line: Option<u64>) -> Result<()> {
    let options = context.options;
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
