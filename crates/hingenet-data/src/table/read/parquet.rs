//! Parquet and Arrow IPC files, batch by batch. Integers, floats and decimals are numbers; booleans,
//! texts and dictionaries of texts are categories, in the order every reader uses (a dictionary's own
//! order depends on the rows). Nulls and NaN are missing. Dates, times and nested columns are refused.

use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::{Format, Place, ReadOptions};
use super::parquet_file::SharedFile;
use super::parquet_keys::{Dictionary, Keys};
use super::pieces::{FileRows, Opened, Piece};
use super::{Input, arrow_sizes, parquet_columns, parquet_footer, parquet_sizes, plan, read_error};
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, downcast_integer_array};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{DataType, Fields};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use parquet::basic::Type as Physical;
use parquet::file::reader::{ChunkReader, FileReader as _, RowGroupReader, SerializedFileReader};
use rayon::prelude::*;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Largest integer up to which every integer is a floating-point number.
const EXACT: u64 = 1 << 53;

/// The columns of a Parquet file, and its rows; without a path the bytes are kept in memory, since its index stands at
/// the end.
pub(super) fn open_parquet<'a>(
    input: Input<'a>,
    context: &'a Context<'a>,
    control: &'a Control,
) -> Result<Opened<'a>> {
    let Input { file, path, reader, .. } = input;
    guarded(context, || match path {
        Some(path) => parquet_groups(|| shared(&path), context, control),
        None => {
            let bytes = bytes::Bytes::from(all(reader, &file, control)?);
            parquet_groups(|| Ok(bytes.clone()), context, control)
        }
    })
}

/// The number of rows that a Parquet file says it has; none if it is zipped.
pub(super) fn n_rows(path: &Path, options: &ReadOptions, control: &Control) -> Result<Option<usize>> {
    let Input { file, path, format: Format::Parquet, .. } = Input::open(path.into(), options)? else {
        return Ok(None);
    };
    let context = Context::new(&file, options);
    let Some(path) = path else { return Ok(None) };
    guarded(&context, || Ok(Some(rows_of(&parquet_file(|| shared(&path), &context, control)?.1))))
}

fn rows_of<T: ChunkReader + 'static>(file: &SerializedFileReader<T>) -> usize {
    usize::try_from(file.metadata().file_metadata().num_rows()).unwrap_or(0)
}

/// The columns of an Arrow IPC file or stream, and its rows; a file without a path is kept in memory.
pub(super) fn open_arrow<'a>(
    input: Input<'a>,
    context: &'a Context<'a>,
    control: &'a Control,
) -> Result<Opened<'a>> {
    let Input { file, head, path, reader, .. } = input;
    guarded(context, || {
        let damaged = |e| damaged(context, e);
        let batches: Box<dyn RecordBatchReader + 'a> = match path {
            _ if !head.starts_with(b"ARROW1") => {
                let checked = arrow_sizes::CheckedStream::new(reader, control);
                Box::new(StreamReader::try_new(checked, None).map_err(damaged)?)
            }
            Some(path) => {
                let mut input = BufReader::new(opened(&path)?);
                arrow_sizes::check_file(&mut input, control).map_err(|e| unchecked(context, e))?;
                Box::new(FileReader::try_new(input, None).map_err(damaged)?)
            }
            None => {
                let mut input = Cursor::new(all(reader, &file, control)?);
                arrow_sizes::check_file(&mut input, control).map_err(|e| unchecked(context, e))?;
                Box::new(FileReader::try_new(input, None).map_err(damaged)?)
            }
        };
        let (names, roles, _) = columns(batches.schema().fields(), context)?;
        let rows = Box::new(ArrowRows { batches, batch: None, row: 0, context });
        Ok(Opened { names, roles, delimiter: None, n_rows: 0, rows })
    })
}

fn opened(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Error::io(path, e))
}

fn shared(path: &Path) -> Result<SharedFile> {
    SharedFile::open(path).map_err(|e| Error::io(path, e))
}

/// A Parquet file whose footer was checked; `input` gives its bytes, once for the checks and once for the decoder.
fn parquet_file<T: ChunkReader + 'static>(
    input: impl Fn() -> Result<T>,
    context: &Context<'_>,
    control: &Control,
) -> Result<(T, SerializedFileReader<T>)> {
    let (source, input) = (input()?, input()?);
    parquet_footer::check_footer(&input, control).map_err(|e| unchecked(context, e))?;
    let file = SerializedFileReader::new(source).map_err(|e| damaged(context, e))?;
    Ok((input, file))
}

fn parquet_groups<'a, T: ChunkReader + 'static>(
    input: impl Fn() -> Result<T>,
    context: &'a Context<'a>,
    control: &'a Control,
) -> Result<Opened<'a>> {
    let (input, file) = parquet_file(input, context, control)?;
    let fields = parquet_columns::fields(file.metadata().file_metadata());
    let leaves = parquet_columns::leaves(file.metadata().file_metadata().schema_descr());
    let (names, roles, kept) = columns(&fields, context)?;
    let n_rows = rows_of(&file);
    let column =
        |i: usize| Leaf { column: i, leaf: leaves[i], kind: fields[i].data_type().clone(), chunk: None };
    let leaves = kept.into_iter().map(column).collect();
    let rows = Box::new(Groups { input, file, leaves, group: 0, read: 0, row: 0, context, control });
    Ok(Opened { names, roles, delimiter: None, n_rows, rows })
}

/// The rows of a Parquet file, group by group.
struct Groups<'a, T: ChunkReader> {
    input: T,
    file: SerializedFileReader<T>,
    leaves: Vec<Leaf>,
    /// The group at hand, and how many of its rows were read.
    group: usize,
    read: usize,
    /// Rows of the file that were read.
    row: usize,
    context: &'a Context<'a>,
    control: &'a Control,
}

/// A column that is read.
struct Leaf {
    /// Its number among all columns, and among those of Parquet.
    column: usize,
    leaf: usize,
    kind: DataType,
    /// Its cells in the group at hand, and the memory they are read with: while parts of the group are still to be read.
    chunk: Option<(Chunk, f64)>,
}

/// The cells of a column in a group.
enum Chunk {
    Values(Box<parquet_columns::Chunk>),
    Keys(Box<Keys>),
}

impl<T: ChunkReader + 'static> FileRows for Groups<'_, T> {
    fn fill(&mut self, piece: &mut Piece<'_>) -> Result<bool> {
        guarded(self.context, || {
            while self.group < self.file.num_row_groups() {
                if self.fill_from_group(piece)? {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

impl<T: ChunkReader + 'static> Groups<'_, T> {
    /// Adds rows of the group at hand, as many as there is room for, several columns at a time.
    fn fill_from_group(&mut self, piece: &mut Piece<'_>) -> Result<bool> {
        let Groups { context, control, .. } = *self;
        let group = self.file.get_row_group(self.group).map_err(|e| damaged(context, e))?;
        let rows = usize::try_from(group.metadata().num_rows()).map_err(|e| damaged(context, e))?;
        let n = piece.room().min(rows - self.read);
        let end = self.row.checked_add(n).ok_or_else(|| damaged(context, "it has too many rows"))?;
        let is_last_part = self.read + n == rows;
        piece.reserve(n as f64 * self.leaves.len() as f64 * 8.0)?;
        let (input, group) = (&self.input, group.as_ref());
        let part = Part { input, group, rows, part: self.row..end, is_last: is_last_part, context, control };
        // columns are in the order of the file, as the leaves are
        let mut columns = piece.columns.iter_mut().enumerate();
        let pairs = self.leaves.iter_mut().map(|leaf| (columns.find(|(i, _)| *i == leaf.column), leaf));
        let filled = pairs.collect::<Vec<_>>().into_par_iter().map(|(column, leaf)| match column {
            Some((_, column)) => guarded(context, || part.fill(leaf, column)),
            None => Ok(()),
        });
        // the first error by column, whichever came first in time
        filled.collect::<Vec<_>>().into_iter().collect::<Result<()>>()?;
        let open = self.leaves.iter().flat_map(|leaf| &leaf.chunk).map(|(_, bytes)| bytes).sum();
        let hint = "write pages of fewer rows, or allow more (`--max-memory`)";
        control.reserve(open, "a page of each column of the Parquet file", hint)?;
        piece.tell()?;
        let is_full = piece.rows_done(self.row as u64 + 1, n);
        (self.row, self.read) = (end, self.read + n);
        if is_last_part {
            (self.group, self.read) = (self.group + 1, 0);
        }
        Ok(is_full)
    }
}

/// Some rows of a group.
struct Part<'a, T> {
    input: &'a T,
    group: &'a dyn RowGroupReader,
    /// Rows of the group.
    rows: usize,
    /// Numbers of the rows in the file.
    part: Range<usize>,
    is_last: bool,
    context: &'a Context<'a>,
    control: &'a Control,
}

impl<T: ChunkReader + 'static> Part<'_, T> {
    /// Adds the rows to one of the columns.
    fn fill(&self, leaf: &mut Leaf, column: &mut ColumnBuilder) -> Result<()> {
        let context = self.context;
        self.control.check()?;
        let (chunk, _) = match &mut leaf.chunk {
            Some(open) => open,
            none => none.insert(self.open(leaf.leaf, &leaf.kind, &column.role)?),
        };
        if let Chunk::Keys(keys) = chunk {
            keys.begin_piece();
        }
        let mut row = self.part.start;
        while row < self.part.end {
            let (most, first) = (self.part.end - row, row as u64 + 1);
            row += match chunk {
                Chunk::Keys(keys) => keys.push_next(column, most, first, context)?,
                Chunk::Values(values) => push_next(values, column, most, first, context)?,
            };
        }
        if self.is_last {
            leaf.chunk = None;
        }
        Ok(())
    }

    /// The cells of a column in the group, and the memory they are read with.
    fn open(&self, leaf: usize, kind: &DataType, role: &Role) -> Result<(Chunk, f64)> {
        let Part { context, group, rows, .. } = *self;
        let metadata = group.metadata().column(leaf);
        let checked = parquet_sizes::check_chunk(self.input, metadata, rows, self.control);
        let checked = checked.map_err(|e| unchecked(context, e))?;
        let column = metadata.column_descr();
        let is_number = context.options.keyed && matches!(role, Role::Numbers | Role::Numeric(_));
        let dictionary = match (kind, column.physical_type()) {
            _ if !checked.is_keys || column.max_def_level() > 1 => None,
            (DataType::Utf8, Physical::BYTE_ARRAY) => Some(Dictionary::texts()),
            (DataType::Float64, Physical::DOUBLE) if is_number => Some(Dictionary::numbers(8)),
            (DataType::Float32, Physical::FLOAT) if is_number => Some(Dictionary::numbers(4)),
            _ => None,
        };
        let chunk = match dictionary {
            Some(dictionary) => {
                let pages = parquet_sizes::page_reader(group, leaf, rows).map_err(|e| damaged(context, e))?;
                Chunk::Keys(Box::new(Keys::new(pages, column.max_def_level() > 0, dictionary)))
            }
            None => {
                let reader =
                    parquet_sizes::column_reader(group, leaf, rows).map_err(|e| damaged(context, e))?;
                Chunk::Values(Box::new(parquet_columns::Chunk::new(reader, kind.clone())))
            }
        };
        Ok((chunk, checked.bytes))
    }
}

/// Adds the next cells to their column; the number of cells.
fn push_next(
    values: &mut parquet_columns::Chunk,
    column: &mut ColumnBuilder,
    most: usize,
    first_row: u64,
    context: &Context<'_>,
) -> Result<usize> {
    if let Role::Numbers | Role::Numeric(_) = column.role
        && let Some(numbers) = values.next_floats(most).map_err(|e| damaged(context, e))?
    {
        column.push_numbers(numbers, first_row, context)?;
        return Ok(numbers.len());
    }
    let array = values.next(most).map_err(|e| damaged(context, e))?;
    push_array(column, &array, first_row, context)?;
    Ok(array.len())
}

/// The rows of an Arrow file or stream, batch by batch.
struct ArrowRows<'a> {
    batches: Box<dyn RecordBatchReader + 'a>,
    /// What is left of the batch at hand.
    batch: Option<RecordBatch>,
    /// Rows of the file that were read.
    row: usize,
    context: &'a Context<'a>,
}

impl FileRows for ArrowRows<'_> {
    fn fill(&mut self, piece: &mut Piece<'_>) -> Result<bool> {
        let context = self.context;
        guarded(context, || {
            while let Some(batch) = self.batch.take().map(Ok).or_else(|| self.batches.next()) {
                let batch = batch.map_err(|e| damaged(context, e))?;
                let n = piece.room().min(batch.num_rows());
                piece.reserve(n as f64 * batch.num_columns() as f64 * 8.0)?;
                for (column, array) in piece.columns.iter_mut().zip(batch.columns()) {
                    push_array(column, &array.slice(0, n), self.row as u64 + 1, context)?;
                }
                let is_full = piece.rows_done(self.row as u64 + 1, n);
                self.row += n;
                piece.tell()?;
                if n < batch.num_rows() {
                    self.batch = Some(batch.slice(n, batch.num_rows() - n));
                }
                if is_full {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a decoder of Parquet or Arrow bytes. Some of them panic on damaged files;
/// that becomes an ordinary error, and a program's panic hook should say nothing meanwhile.
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Runs a decoder of untrusted bytes; should it panic on a damaged file, that is an error like others.
fn guarded<T>(context: &Context<'_>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = DECODING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(outer);
    done.unwrap_or_else(|_| Err(damaged(context, "it cannot be decoded")))
}

pub(super) fn damaged(context: &Context<'_>, problem: impl std::fmt::Display) -> Error {
    let hint = "write the file again; files of other compressions or types can be converted to CSV";
    context.file(None, format!("the file is damaged or not supported: {problem}"), hint)
}

/// Why the sizes in a file cannot be: an error of ours, or damage.
fn unchecked(context: &Context<'_>, e: std::io::Error) -> Error {
    e.downcast::<Error>().unwrap_or_else(|e| damaged(context, e))
}

/// All bytes of a source, which is asked for by the megabyte: it may be a small file that unzips to a huge one.
fn all(mut reader: Box<dyn Read + '_>, file: &str, control: &Control) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let hint = "give it as a file that is not compressed, or allow more (`--max-memory`)";
        control.reserve(2.0 * bytes.len() as f64, "a table that comes in a stream", hint)?;
        let wanted = (bytes.len() as u64).max(1 << 20);
        let read = reader.by_ref().take(wanted).read_to_end(&mut bytes).map_err(|e| read_error(file, e))?;
        if (read as u64) < wanted {
            return Ok(bytes);
        }
    }
}

/// Names and roles of all columns, and the positions of those that are read.
fn columns(fields: &Fields, context: &Context<'_>) -> Result<(Vec<String>, Vec<Role>, Vec<usize>)> {
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    if names.is_empty() {
        return Err(context.file(None, "there are no columns", "write a table with columns"));
    }
    let roles = plan::roles(&names, context, None, |i| natural_role(fields[i].data_type()))?;
    let kept: Vec<usize> = (0..names.len()).filter(|&i| roles[i] != Role::Skip).collect();
    for &i in &kept {
        check_type(&names[i], fields[i].data_type(), context)?;
    }
    Ok((names, roles, kept))
}

/// The type of the cells, whether they stand in a dictionary or not.
fn cell_type(kind: &DataType) -> &DataType {
    match kind {
        DataType::Dictionary(_, value) => cell_type(value),
        kind => kind,
    }
}

/// Numbers stay numbers, everything else is categorical.
fn natural_role(kind: &DataType) -> Role {
    let kind = cell_type(kind);
    if kind.is_numeric() || *kind == DataType::Null { Role::Numbers } else { Role::Categorical }
}

fn is_text(kind: &DataType) -> bool {
    matches!(cell_type(kind), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn check_type(name: &str, kind: &DataType, context: &Context<'_>) -> Result<()> {
    let kind = cell_type(kind);
    if is_text(kind) || kind.is_numeric() || matches!(kind, DataType::Boolean | DataType::Null) {
        return Ok(());
    }
    let problem = format!("column `{name}` has the type {kind}, which is neither number, text nor boolean");
    let hint = format!("leave it out with `--ignore {name}`, or convert it to numbers or texts");
    Err(context.file(None, problem, hint))
}

/// Adds a batch of cells to its column.
fn push_array(
    column: &mut ColumnBuilder,
    array: &ArrayRef,
    first_row: u64,
    context: &Context<'_>,
) -> Result<()> {
    match column.role {
        Role::Skip => Ok(()),
        Role::Numbers | Role::Numeric(_) if !is_text(array.data_type()) => {
            if let Some((k, value)) = large_integer(array) {
                column.note_large(Place::Row(first_row + k as u64), value.as_bytes(), context);
            }
            column.push_numbers(&numbers(array), first_row, context)
        }
        _ => texts(array, &mut |k, text| match text {
            Some(text) => column.push_text(text, Place::Row(first_row + k as u64), context),
            None => {
                column.push_missing();
                Ok(())
            }
        }),
    }
}

/// The cells as numbers, NaN where nothing stands. Types that are no numbers were refused before.
fn numbers(array: &ArrayRef) -> Vec<f64> {
    let array = array.as_ref();
    downcast_integer_array! {
        array => { array.iter().map(|x| x.map_or(f64::NAN, |x| x as f64)).collect() }
        DataType::Float64 => floats::<Float64Type>(array),
        DataType::Float32 => floats::<Float32Type>(array),
        DataType::Float16 => floats::<Float16Type>(array),
        DataType::Boolean => {
            array.as_boolean().iter().map(|x| x.map_or(f64::NAN, |x| f64::from(u8::from(x)))).collect()
        }
        DataType::Decimal32(..) => decimals::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimals::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
        DataType::Dictionary(..) => {
            let values = numbers(array.as_any_dictionary().values());
            keys(array).into_iter().map(|k| k.map_or(f64::NAN, |k| values[k])).collect()
        }
        _ => vec![f64::NAN; array.len()]
    }
}

fn floats<T: ArrowPrimitiveType<Native: Into<f64>>>(array: &dyn Array) -> Vec<f64> {
    array.as_primitive::<T>().iter().map(|x| x.map_or(f64::NAN, Into::into)).collect()
}

/// Decimals, each rounded once: by way of its digits.
fn decimals<T: DecimalType>(array: &dyn Array) -> Vec<f64> {
    let array = array.as_primitive::<T>();
    let number = |k| match array.is_null(k) {
        true => f64::NAN,
        false => array.value_as_string(k).parse().unwrap_or(f64::NAN),
    };
    (0..array.len()).map(number).collect()
}

/// Where in the dictionary each cell points, nowhere if it is null.
fn keys(array: &dyn Array) -> Vec<Option<usize>> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return vec![None; array.len()];
    }
    let keys = dictionary.normalized_keys();
    keys.into_iter().enumerate().map(|(k, key)| array.is_valid(k).then_some(key)).collect()
}

/// What is done with the text of the cell at a place.
type Push<'p> = &'p mut dyn FnMut(usize, Option<&str>) -> Result<()>;

/// Hands on the cells as texts; a number is written in the shortest form that gives it back.
fn texts(array: &ArrayRef, push: Push<'_>) -> Result<()> {
    let array = array.as_ref();
    downcast_integer_array! {
        array => { written(array.iter(), push) }
        DataType::Float64 => written_floats::<Float64Type>(array, push),
        DataType::Float32 => written_floats::<Float32Type>(array, push),
        DataType::Float16 => written_floats::<Float16Type>(array, push),
        DataType::Boolean => written(array.as_boolean().iter(), push),
        DataType::Decimal32(..) => written_decimals::<Decimal32Type>(array, push),
        DataType::Decimal64(..) => written_decimals::<Decimal64Type>(array, push),
        DataType::Decimal128(..) => written_decimals::<Decimal128Type>(array, push),
        DataType::Decimal256(..) => written_decimals::<Decimal256Type>(array, push),
        DataType::Utf8 => strings(array.as_string::<i32>().iter(), push),
        DataType::LargeUtf8 => strings(array.as_string::<i64>().iter(), push),
        DataType::Utf8View => strings(array.as_string_view().iter(), push),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut values = Vec::with_capacity(dictionary.values().len());
            texts(dictionary.values(), &mut |_, text| {
                values.push(text.map(str::to_owned));
                Ok(())
            })?;
            let mut cells = keys(array).into_iter().enumerate();
            cells.try_for_each(|(k, key)| push(k, key.and_then(|key| values[key].as_deref())))
        }
        _ => (0..array.len()).try_for_each(|k| push(k, None))
    }
}

fn strings<'a>(cells: impl Iterator<Item = Option<&'a str>>, push: Push<'_>) -> Result<()> {
    cells.enumerate().try_for_each(|(k, text)| push(k, text))
}

fn written<T: ToString>(cells: impl Iterator<Item = Option<T>>, push: Push<'_>) -> Result<()> {
    cells.enumerate().try_for_each(|(k, x)| push(k, x.map(|x| x.to_string()).as_deref()))
}

fn written_floats<T>(array: &dyn Array, push: Push<'_>) -> Result<()>
where
    T: ArrowPrimitiveType<Native: Into<f64> + ToString>,
{
    let is_number = |x: &T::Native| !Into::<f64>::into(*x).is_nan();
    written(array.as_primitive::<T>().iter().map(|x| x.filter(is_number)), push)
}

fn written_decimals<T: DecimalType>(array: &dyn Array, push: Push<'_>) -> Result<()> {
    let array = array.as_primitive::<T>();
    written((0..array.len()).map(|k| array.is_valid(k).then(|| array.value_as_string(k))), push)
}

/// The first integer that no floating-point number equals.
fn large_integer(array: &ArrayRef) -> Option<(usize, String)> {
    let array = array.as_ref();
    downcast_integer_array! {
        array => {
            let mut cells = array.iter().enumerate();
            let is_large = |x: i128| x.unsigned_abs() > u128::from(EXACT);
            cells.find_map(|(k, x)| x.filter(|&x| is_large(i128::from(x))).map(|x| (k, x.to_string())))
        }
        _ => None
    }
}
