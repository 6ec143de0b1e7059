//! Tables that are read in pieces, as often as asked: one file, or many files with the same columns.

use super::options::{Format, ReadOptions, ReadResult, Source};
use super::pieces::{self, Order};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// A table that is read in pieces, as often as asked, so that it may be larger than the memory: one file or many with the
/// same columns. The files are found once; their rows follow each other in the order of the names of the files.
#[derive(Debug, Clone)]
pub struct Batches {
    /// What was asked for.
    table: String,
    files: Vec<PathBuf>,
    options: ReadOptions,
}

impl Batches {
    /// A file, a folder (all tables in it, by name; names that begin with `.` or `_` are left out), or a pattern with `*`,
    /// `?`, `[..]` in names. A pattern that is the name of a file is that file.
    pub fn of(path: &Path, options: &ReadOptions) -> Result<Self> {
        let files = match pattern_of(path) {
            Some(pattern) => matching(path, pattern)?,
            None if path.is_dir() => tables_in(path, options)?,
            None => vec![path.into()],
        };
        Ok(Batches { table: path.display().to_string(), files, options: options.clone() })
    }

    /// The files, in the order of their rows.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The same files read with other options (types that have become known).
    pub fn with(&self, options: ReadOptions) -> Self {
        Batches { table: self.table.clone(), files: self.files.clone(), options }
    }

    /// Hands on the rows in order, so many at most at a time. Where nothing is said about the type of a column, each piece
    /// infers it from its own rows; categories are those of the piece. A piece has fewer rows where typed files disagree.
    pub fn for_each(
        &self,
        most_rows: usize,
        control: &Control,
        each: &mut dyn FnMut(ReadResult) -> Result<()>,
    ) -> Result<()> {
        let names = self.files.iter().map(|file| file.display().to_string()).collect();
        let order = Order {
            table: &self.table,
            files: names,
            most_rows: most_rows.max(1),
            total: self.total(control)?,
            options: &self.options,
            control,
        };
        pieces::for_each(&order, self.files.iter().map(|file| Source::from(file.as_path())), each)
    }

    /// The whole table. A column that is text in one typed file and numbers in another is categorical.
    pub fn read(&self, control: &Control) -> Result<ReadResult> {
        let mut pieces = Vec::new();
        self.for_each(usize::MAX, control, &mut |piece| {
            pieces.push(piece);
            Ok(())
        })?;
        if pieces.len() < 2 {
            return pieces.pop().ok_or_else(|| pieces::no_rows(&self.table));
        }
        // typed files that disagree: what is text in one of them is text in all
        let columns = pieces.iter().flat_map(|piece| piece.table.columns());
        let texts = columns.filter(|column| column.as_categorical().is_some()).map(|c| c.name().to_string());
        let categorical: BTreeSet<String> = self.options.categorical.iter().cloned().chain(texts).collect();
        drop(pieces);
        let categorical = categorical.into_iter().collect();
        self.with(ReadOptions { categorical, ..self.options.clone() }).read(control)
    }

    /// The number of rows where the format tells it without reading them, else 0; one file is asked when it is read.
    #[cfg(feature = "parquet")]
    fn total(&self, control: &Control) -> Result<usize> {
        let mut total: usize = 0;
        for file in self.files.iter().filter(|_| self.files.len() > 1) {
            if self.options.format.or_else(|| Format::of_name(&file.to_string_lossy()))
                != Some(Format::Parquet)
            {
                return Ok(0);
            }
            match super::parquet::n_rows(file, &self.options, control)? {
                Some(n_rows) => total = total.saturating_add(n_rows),
                None => return Ok(0),
            }
        }
        Ok(total)
    }

    #[cfg(not(feature = "parquet"))]
    fn total(&self, _: &Control) -> Result<usize> {
        Ok(0)
    }
}

/// What stands for other characters in a pattern.
const WILDCARDS: [char; 3] = ['*', '?', '['];

const MATCHING: glob::MatchOptions = glob::MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The path as a pattern; a name of a file is none.
fn pattern_of(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| text.contains(WILDCARDS) && !path.exists())
}

/// Whether a file would be one of those that a pattern names, once it is there: who reads the table again would take it for a
/// part. Both may be written in any way.
pub fn would_match(pattern: &Path, file: &Path) -> bool {
    let matches = || {
        let (folder, rest) = split_at_wildcard(Path::new(pattern_of(pattern)?));
        let pattern = Path::new(&glob::Pattern::escape(real(&folder)?.to_str()?)).join(rest);
        let file = real(file.parent()?)?.join(file.file_name()?);
        Some(glob::Pattern::new(pattern.to_str()?).ok()?.matches_path_with(&file, MATCHING))
    };
    matches().unwrap_or(false)
}

/// A pattern up to the first name with a wildcard, and from there on.
fn split_at_wildcard(pattern: &Path) -> (PathBuf, PathBuf) {
    let is_plain = |part: &&Component<'_>| !part.as_os_str().to_string_lossy().contains(WILDCARDS);
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let (folder, rest) = parts.split_at(parts.iter().take_while(is_plain).count());
    (folder.iter().collect(), rest.iter().collect())
}

/// The one name that the system has for a folder that is there.
fn real(folder: &Path) -> Option<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.canonicalize().ok()
}

/// The files that a pattern names.
fn matching(path: &Path, pattern: &str) -> Result<Vec<PathBuf>> {
    let problem = |problem: String| Error::File {
        file: pattern.into(),
        line: None,
        problem,
        hint: "give a file, a folder, or a pattern such as `data/part-*.csv`".into(),
    };
    let found =
        glob::glob_with(pattern, MATCHING).map_err(|e| problem(format!("this is no pattern ({e})")))?;
    let files = found.map(|file| file.map_err(|e| Error::io(path, e.into())));
    let files =
        files.filter(|file| file.as_ref().map_or(true, |file| !file.is_dir())).collect::<Result<Vec<_>>>()?;
    match files.is_empty() {
        true => Err(problem("there is no such file, and none that matches it as a pattern".into())),
        false => Ok(files),
    }
}

/// The tables in a folder: files whose names end as those of tables do or, if there are none, all files.
fn tables_in(folder: &Path, options: &ReadOptions) -> Result<Vec<PathBuf>> {
    let problem = |problem: String| Error::File {
        file: folder.display().to_string(),
        line: None,
        problem,
        hint: "give the files of one table by a pattern, such as `data/part-*.csv`".into(),
    };
    let entries = std::fs::read_dir(folder).and_then(|list| list.collect::<std::io::Result<Vec<_>>>());
    let mut paths: Vec<PathBuf> =
        entries.map_err(|e| Error::io(folder, e))?.iter().map(std::fs::DirEntry::path).collect();
    paths.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_'])));
    paths.sort_unstable();
    if let Some(inner) = paths.iter().find(|path| path.is_dir()) {
        return Err(problem(format!("there is a folder in it, {}", inner.display())));
    }
    let format = |path: &PathBuf| options.format.or_else(|| Format::of_name(&path.to_string_lossy()));
    let (tables, others): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| format(path).is_some());
    let files = if tables.is_empty() { others } else { tables };
    let Some(first) = files.first() else { return Err(problem("there is no table in the folder".into())) };
    match files.iter().find(|file| format(file) != format(first)) {
        None => Ok(files),
        Some(other) => {
            Err(problem(format!("{} and {} have different formats", first.display(), other.display())))
        }
    }
}
