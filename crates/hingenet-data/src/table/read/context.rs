//! What every cell of a file shares, its name and its missing tokens, and the errors that name a place in it.

use super::number::{self, Number};
use super::options::{MISSING_TOKENS, Place, ReadOptions};
use hingenet_base::error::Error;

/// What every cell of a file shares.
pub(super) struct Context<'a> {
    /// File name for errors.
    pub(super) file: &'a str,
    /// What was asked for.
    pub(super) options: &'a ReadOptions,
    missing: Vec<&'a str>,
    /// The decimal mark that was asked for.
    pub(super) decimal: Option<u8>,
    /// Whether a missing token is a number (`-999`), so that numbers must be looked up too.
    pub(super) numbers_may_be_missing: bool,
}

impl<'a> Context<'a> {
    /// A file with the missing tokens of the options.
    pub(super) fn new(file: &'a str, options: &'a ReadOptions) -> Self {
        let missing = match &options.missing {
            Some(tokens) => tokens.iter().map(String::as_str).collect(),
            None => MISSING_TOKENS.to_vec(),
        };
        let context =
            Context { file, options, missing, decimal: options.decimal, numbers_may_be_missing: false };
        let is_number = |token: &&str| matches!(context.number(token.as_bytes()), Number::Finite(_));
        let numbers_may_be_missing = context.missing.iter().any(is_number);
        Context { numbers_may_be_missing, ..context }
    }

    /// The same for a file whose missing cells are no texts.
    #[cfg(feature = "parquet")]
    pub(super) fn without_tokens(&self) -> Self {
        let Context { file, options, .. } = *self;
        Context { file, options, missing: Vec::new(), decimal: Some(b'.'), numbers_may_be_missing: false }
    }

    /// What a text says as a number.
    #[inline]
    pub(super) fn number(&self, text: &[u8]) -> Number {
        if self.decimal == Some(b',') { number::parse_comma(text) } else { number::parse(text) }
    }

    /// The number of a text with a decimal comma, where nobody said what marks decimals.
    pub(super) fn comma_number(&self, text: &[u8]) -> Option<f64> {
        match number::parse_comma(text) {
            Number::Finite(x) if self.decimal.is_none() && text.contains(&b',') => Some(x),
            _ => None,
        }
    }

    /// Whether a text stands for a missing cell.
    pub(super) fn is_missing(&self, text: &[u8]) -> bool {
        text.is_empty() || self.missing.iter().any(|token| token.as_bytes() == text)
    }

    /// An error about one cell.
    pub(super) fn cell(&self, place: Place, column: &str, value: &[u8], problem: &str, hint: &str) -> Error {
        self.spot(place, value).error(column, problem, hint)
    }

    /// A cell that may have to be told of.
    pub(super) fn spot(&self, place: Place, value: &[u8]) -> Spot {
        Spot { file: self.file.into(), place, value: shorten(value) }
    }

    /// An error about a line or the whole file.
    pub(super) fn file(
        &self,
        line: Option<u64>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Error {
        Error::File { file: self.file.into(), line, problem: problem.into(), hint: hint.into() }
    }
}

/// One cell and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Spot {
    pub(super) file: String,
    pub(super) place: Place,
    /// Its text, shortened.
    pub(super) value: String,
}

impl Spot {
    /// An error about the cell.
    pub(super) fn error(&self, column: &str, problem: &str, hint: &str) -> Error {
        let Spot { file, place, value } = self.clone();
        match place {
            Place::Line(line) => {
                let (column, problem, hint) = (column.into(), problem.into(), hint.into());
                Error::Cell { file, line, column, value, problem, hint }
            }
            Place::Row(row) => {
                let problem = format!("row {row}, column `{column}`: `{value}` {problem}");
                Error::File { file, line: None, problem, hint: hint.into() }
            }
        }
    }
}

/// A text as errors show it: valid, and not longer than 60 characters.
pub(super) fn shorten(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}
