//! Parquet and Arrow IPC files, batch by batch. Integers, floats and decimals are numbers; booleans,
//! texts and dictionaries of texts are categories, in the order every reader uses (a dictionary's own
//! order depends on the rows). Nulls and NaN are missing. Dates, times and nested columns are refused.

use super::builder::{ColumnBuilder, Role};
use super::context::Context;
use super::options::{Format, Place, ReadOptions, ReadResult};
use super::{plan, read_error};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchReader};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Fields, Float32Type, Float64Type, Int64Type, UInt64Type};
use arrow::ipc::reader::{FileReader, StreamReader};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Largest integer up to which every integer is a floating-point number.
const EXACT: u64 = 1 << 53;

/// Reads a Parquet file; without a path the bytes are kept in memory, since its index stands at the end.
pub(super) fn read_parquet(
    reader: Box<dyn Read + '_>,
    path: Option<&Path>,
    file: &str,
    options: &ReadOptions,
    control: &Control,
) -> Result<ReadResult> {
    let context = plan::context(file, options);
    guarded(&context, || match path {
        Some(path) => {
            let opened = File::open(path).map_err(|e| Error::io(path, e))?;
            parquet_batches(opened, &context, options, control)
        }
        None => parquet_batches(bytes::Bytes::from(all(reader, file)?), &context, options, control),
    })
}

/// Reads an Arrow IPC file or stream; a file without a path is kept in memory.
pub(super) fn read_arrow(
    reader: Box<dyn Read + '_>,
    path: Option<&Path>,
    is_file: bool,
    file: &str,
    options: &ReadOptions,
    control: &Control,
) -> Result<ReadResult> {
    let context = plan::context(file, options);
    guarded(&context, || {
        let batches: Box<dyn RecordBatchReader + '_> = match path {
            _ if !is_file => Box::new(StreamReader::try_new(reader, None).map_err(|e| damaged(&context, e))?),
            Some(path) => {
                let opened = BufReader::new(File::open(path).map_err(|e| Error::io(path, e))?);
                Box::new(FileReader::try_new(opened, None).map_err(|e| damaged(&context, e))?)
            }
            None => {
                let bytes = Cursor::new(all(reader, file)?);
                Box::new(FileReader::try_new(bytes, None).map_err(|e| damaged(&context, e))?)
            }
        };
        let (columns, _) = columns(batches.schema().fields(), &context, options)?;
        let arrays = batches.map(|batch| batch.map(|batch| batch.columns().to_vec()));
        collect(columns, arrays, Format::Arrow, &context, control)
    })
}

fn parquet_batches<T: ChunkReader + 'static>(
    input: T,
    context: &Context<'_>,
    options: &ReadOptions,
    control: &Control,
) -> Result<ReadResult> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(input).map_err(|e| damaged(context, e))?;
    let (columns, kept) = columns(builder.schema().fields(), context, options)?;
    let mask = ProjectionMask::roots(builder.parquet_schema(), kept.iter().copied());
    let width = columns.len();
    let batches = builder.with_projection(mask).build().map_err(|e| damaged(context, e))?;
    let widen = |batch: RecordBatch| {
        let nothing: ArrayRef = arrow::array::new_null_array(&DataType::Null, batch.num_rows());
        let mut arrays = vec![nothing; width];
        kept.iter().zip(batch.columns()).for_each(|(&i, array)| arrays[i] = array.clone());
        arrays
    };
    collect(columns, batches.map(|b| b.map(widen)), Format::Parquet, context, control)
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
fn guarded(context: &Context<'_>, work: impl FnOnce() -> Result<ReadResult>) -> Result<ReadResult> {
    DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(false);
    done.unwrap_or_else(|_| Err(damaged(context, "it cannot be decoded")))
}

fn damaged(context: &Context<'_>, problem: impl std::fmt::Display) -> Error {
    let hint = "write the file again; files of other compressions or types can be converted to CSV";
    context.file(None, format!("the file is damaged or not supported: {problem}"), hint)
}

fn all(mut reader: Box<dyn Read + '_>, file: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|e| read_error(file, e))?;
    Ok(bytes)
}

/// Builders of all columns, and the positions of those that are read.
fn columns(
    fields: &Fields,
    context: &Context<'_>,
    options: &ReadOptions,
) -> Result<(Vec<ColumnBuilder>, Vec<usize>)> {
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    if names.is_empty() {
        return Err(context.file(None, "there are no columns", "write a table with columns"));
    }
    let roles = plan::roles(&names, options, context, None, |i| natural_role(fields[i].data_type()))?;
    let (mut columns, mut kept) = (Vec::new(), Vec::new());
    for (i, (name, role)) in names.into_iter().zip(roles).enumerate() {
        if role != Role::Skip {
            kept.push(i);
            check_type(&name, fields[i].data_type(), context)?;
        }
        columns.push(match role {
            Role::Infer => ColumnBuilder::typed_numbers(name),
            role => ColumnBuilder::new(name, role),
        });
    }
    Ok((columns, kept))
}

/// Numbers stay numbers ([`Role::Infer`]), everything else is categorical.
fn natural_role(kind: &DataType) -> Role {
    match kind {
        DataType::Dictionary(_, value) => natural_role(value),
        _ if kind.is_numeric() || *kind == DataType::Null => Role::Infer,
        _ => Role::Categorical,
    }
}

fn check_type(name: &str, kind: &DataType, context: &Context<'_>) -> Result<()> {
    let known = match kind {
        DataType::Dictionary(_, value) => return check_type(name, value, context),
        DataType::Boolean | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {
            true
        }
        _ => kind.is_numeric(),
    };
    if known {
        return Ok(());
    }
    let problem = format!("column `{name}` has the type {kind}, which is neither number, text nor boolean");
    let hint = format!("leave it out with `--ignore {name}`, or convert it to numbers or texts");
    Err(context.file(None, problem, hint))
}

fn collect<E: std::fmt::Display>(
    mut columns: Vec<ColumnBuilder>,
    batches: impl Iterator<Item = std::result::Result<Vec<ArrayRef>, E>>,
    format: Format,
    context: &Context<'_>,
    control: &Control,
) -> Result<ReadResult> {
    let mut n_rows = 0;
    for arrays in batches {
        let arrays = arrays.map_err(|e| damaged(context, e))?;
        for (column, array) in columns.iter_mut().zip(&arrays) {
            push_array(column, array, n_rows as u64 + 1, context)?;
        }
        n_rows += arrays.first().map_or(0, |a| a.len());
        control.progress("reading rows", n_rows, 0)?;
    }
    plan::finish(columns, n_rows, context, format, None)
}

/// Adds a batch of cells to its column.
fn push_array(
    column: &mut ColumnBuilder,
    array: &ArrayRef,
    first_row: u64,
    context: &Context<'_>,
) -> Result<()> {
    let array = match array.data_type() {
        DataType::Dictionary(_, value) => cast(array, value).map_err(|e| damaged(context, e))?,
        _ => array.clone(),
    };
    let is_text = matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match column.role() {
        Role::Skip => Ok(()),
        Role::Infer | Role::Numeric if !is_text => {
            note_large_integers(column, &array, first_row);
            let numbers = cast(&array, &DataType::Float64).map_err(|e| damaged(context, e))?;
            let cells = numbers.as_primitive::<Float64Type>().iter().map(|x| x.unwrap_or(f64::NAN));
            column.push_numbers(cells, first_row, context)
        }
        _ => push_texts(column, &array, first_row, context),
    }
}

/// Cells as texts; a number is written in the shortest form that gives it back.
fn push_texts(
    column: &mut ColumnBuilder,
    array: &ArrayRef,
    first_row: u64,
    context: &Context<'_>,
) -> Result<()> {
    let mut push = |k: usize, text: Option<&str>| match text {
        Some(text) => column.push_text(text, Place::Row(first_row + k as u64), context),
        None => {
            column.push_missing();
            Ok(())
        }
    };
    match array.data_type() {
        DataType::Float64 => array
            .as_primitive::<Float64Type>()
            .iter()
            .enumerate()
            .try_for_each(|(k, x)| push(k, x.filter(|x| !x.is_nan()).map(|x| x.to_string()).as_deref())),
        DataType::Float32 => array
            .as_primitive::<Float32Type>()
            .iter()
            .enumerate()
            .try_for_each(|(k, x)| push(k, x.filter(|x| !x.is_nan()).map(|x| x.to_string()).as_deref())),
        _ => {
            let texts = cast(array, &DataType::LargeUtf8).map_err(|e| damaged(context, e))?;
            texts.as_string::<i64>().iter().enumerate().try_for_each(|(k, text)| push(k, text))
        }
    }
}

fn note_large_integers(column: &mut ColumnBuilder, array: &ArrayRef, first_row: u64) {
    let found = match array.data_type() {
        DataType::Int64 => {
            let mut cells = array.as_primitive::<Int64Type>().iter().enumerate();
            cells
                .find(|(_, x)| x.is_some_and(|x| x.unsigned_abs() > EXACT))
                .map(|(k, x)| (k, x.unwrap_or_default().to_string()))
        }
        DataType::UInt64 => {
            let mut cells = array.as_primitive::<UInt64Type>().iter().enumerate();
            cells
                .find(|(_, x)| x.is_some_and(|x| x > EXACT))
                .map(|(k, x)| (k, x.unwrap_or_default().to_string()))
        }
        _ => None,
    };
    if let Some((k, value)) = found {
        column.note_large(Place::Row(first_row + k as u64), value);
    }
}
