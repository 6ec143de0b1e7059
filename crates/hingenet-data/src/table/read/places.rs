//! Where the rows of a table stand in its file, for errors that come after reading.

use super::options::Place;
use hingenet_base::error::{Error, Result};

/// The file of a table and, of text files, the line of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// File name.
    pub file: String,
    /// Lines of its rows.
    pub(super) rows: Lines,
    /// Which rows of the file these are, from 0, where others were left out.
    pub(super) kept: Option<Vec<usize>>,
}

/// Number of rows, and their places as runs of rows on consecutive lines: (first row, its line).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lines {
    pub(super) n_rows: usize,
    runs: Vec<(usize, u64)>,
    /// Whether the lines are rows of a file that has no lines.
    are_rows: bool,
}

impl Lines {
    /// Rows that stand on no lines.
    #[cfg(feature = "parquet")]
    pub(super) fn none(n_rows: usize) -> Self {
        Lines { n_rows, runs: vec![(0, 1)], are_rows: true }
    }

    /// Adds a row that starts at this line.
    #[inline]
    pub(super) fn push(&mut self, line: u64) {
        let follows = |(row, first): &(usize, u64)| first + (self.n_rows - row) as u64 == line;
        if !self.runs.last().is_some_and(follows) {
            self.runs.push((self.n_rows, line));
        }
        self.n_rows += 1;
    }

    /// Line of a row, counted from 0.
    fn of(&self, row: usize) -> Option<u64> {
        let run = self.runs.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        let (first, line) = self.runs[run];
        Some(line + (row - first) as u64)
    }

    fn place(&self, row: usize) -> Option<Place> {
        self.of(row).map(if self.are_rows { Place::Row } else { Place::Line })
    }
}

impl Places {
    /// The places of some of the rows, in the given order.
    pub fn rows(&self, rows: &[usize]) -> Places {
        let mut kept = Lines { are_rows: self.rows.are_rows, ..Lines::default() };
        rows.iter().filter_map(|&row| self.rows.of(row)).for_each(|line| kept.push(line));
        let number = |&row: &usize| self.kept.as_ref().map_or(row, |kept| kept[row]);
        Places { file: self.file.clone(), rows: kept, kept: Some(rows.iter().map(number).collect()) }
    }

    /// Which rows of the file these are, from 0; none if they are all of them.
    pub fn kept(&self) -> Option<&[usize]> {
        self.kept.as_deref()
    }

    /// The result of work on the table as it was read; an error about its rows or columns gets file and line.
    pub fn locate<T>(&self, result: Result<T>) -> Result<T> {
        let file = |line, problem, hint| Error::File { file: self.file.clone(), line, problem, hint };
        result.map_err(|error| match error {
            Error::Row { row, problem, hint } => match self.rows.place(row.saturating_sub(1)) {
                Some(Place::Line(line)) => file(Some(line), problem, hint),
                Some(Place::Row(row)) => file(None, format!("row {row}: {problem}"), hint),
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
        let places = Places { file: "d.csv".into(), rows, kept: None };
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
