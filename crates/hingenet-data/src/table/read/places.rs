//! Where the rows of a table stand in its file, for errors that come after reading.

use super::options::Place;
use hingenet_base::error::{Error, Result};
use std::sync::Arc;

/// The file of a table or its files and, of text files, the line of each row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// Name of the file; of a table in several files, of their folder or pattern.
    pub file: String,
    /// Names of the files.
    pub(super) files: Arc<[String]>,
    /// Lines of its rows.
    pub(super) rows: Lines,
    /// Which rows of the table these are, from 0, where others were left out.
    pub(super) kept: Option<Vec<usize>>,
}

/// Number of rows, and their places as runs of rows on consecutive lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lines {
    pub(super) n_rows: usize,
    /// Number of the file that rows are added of.
    pub(super) file: usize,
    runs: Vec<Run>,
    /// Whether the lines are rows of a file that has no lines.
    are_rows: bool,
}

/// Rows on consecutive lines of a file: the first of them, and its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    row: usize,
    file: usize,
    line: u64,
}

impl Lines {
    /// Adds a row that starts at this line.
    #[inline]
    pub(super) fn push(&mut self, line: u64) {
        let Lines { n_rows: row, file, .. } = *self;
        let follows = |run: &Run| run.file == file && run.line + (row - run.row) as u64 == line;
        if !self.runs.last().is_some_and(follows) {
            self.runs.push(Run { row, file, line });
        }
        self.n_rows += 1;
    }

    /// Adds rows that stand on no lines, the first of which has this number in its file.
    #[cfg(feature = "parquet")]
    pub(super) fn push_rows(&mut self, first: u64, n_rows: usize) {
        if n_rows > 0 {
            self.are_rows = true;
            self.push(first);
            self.n_rows += n_rows - 1;
        }
    }

    /// All of them, after which there are none; rows of the same file may follow.
    pub(super) fn take(&mut self) -> Self {
        let file = self.file;
        std::mem::replace(self, Lines { file, ..Lines::default() })
    }

    /// File and line of a row, counted from 0.
    fn of(&self, row: usize) -> Option<(usize, u64)> {
        let run = self.runs.partition_point(|run| run.row <= row).checked_sub(1)?;
        let run = self.runs[run];
        Some((run.file, run.line + (row - run.row) as u64))
    }
}

impl Places {
    /// The places of some of the rows, in the given order.
    pub fn rows(&self, rows: &[usize]) -> Places {
        let mut kept = Lines { are_rows: self.rows.are_rows, ..Lines::default() };
        for (file, line) in rows.iter().filter_map(|&row| self.rows.of(row)) {
            kept.file = file;
            kept.push(line);
        }
        let number = |&row: &usize| self.kept.as_ref().map_or(row, |kept| kept[row]);
        let kept_rows = Some(rows.iter().map(number).collect());
        Places { file: self.file.clone(), files: self.files.clone(), rows: kept, kept: kept_rows }
    }

    /// Which rows of the table these are, from 0; none if they are all of them.
    pub fn kept(&self) -> Option<&[usize]> {
        self.kept.as_deref()
    }

    /// File and place of a row, counted from 0.
    pub fn of(&self, row: usize) -> Option<(&str, Place)> {
        let (file, line) = self.rows.of(row)?;
        let place = if self.rows.are_rows { Place::Row(line) } else { Place::Line(line) };
        Some((self.files.get(file)?, place))
    }

    /// The result of work on the table as it was read; an error about its rows or columns gets file and line.
    pub fn locate<T>(&self, result: Result<T>) -> Result<T> {
        let file = |line, problem, hint| Error::File { file: self.file.clone(), line, problem, hint };
        result.map_err(|error| match error {
            Error::Row { row, problem, hint } => match self.of(row.saturating_sub(1)) {
                Some((file, Place::Line(line))) => {
                    Error::File { file: file.into(), line: Some(line), problem, hint }
                }
                Some((file, Place::Row(row))) => {
                    let problem = format!("row {row}: {problem}");
                    Error::File { file: file.into(), line: None, problem, hint }
                }
                None => file(None, format!("row {row}: {problem}"), hint),
            },
            Error::Column { column, problem, hint } => {
                file(None, format!("column `{column}`: {problem}"), hint)
            }
            Error::Data { problem, hint } => file(None, problem, hint),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_at_its_line() {
        let lines = [2, 3, 4, 7, 8, 12];
        let mut rows = Lines::default();
        lines.iter().for_each(|line| rows.push(*line));
        assert_eq!((rows.n_rows, rows.runs.len()), (6, 3), "three runs of rows");
        let places = Places { file: "d.csv".into(), files: ["d.csv".into()].into(), rows, kept: None };
        for (m, line) in lines.iter().enumerate() {
            let error = places.locate::<()>(Err(Error::row(m, "is odd", ""))).unwrap_err();
            assert_eq!(error.to_string(), format!("d.csv, line {line}: is odd"));
        }
        let error = places.rows(&[1, 3, 5]).locate::<()>(Err(Error::row(1, "is odd", ""))).unwrap_err();
        assert_eq!(error.to_string(), "d.csv, line 7: is odd");
        let twice = places.rows(&[1, 3, 5]).rows(&[0, 2]);
        assert_eq!((places.kept(), twice.kept()), (None, Some(&[1, 5][..])));
    }
}
