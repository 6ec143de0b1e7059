//! Columns of Parquet files as Arrow arrays: what each column holds, and its cells, some thousand at a time.
//! Only flat columns are read; the reader of the table refuses all others by the type stated here.

use arrow_array::builder::StringBuilder;
use arrow_array::types::{ArrowPrimitiveType, Decimal256Type, Float16Type};
use arrow_array::{ArrayRef, BooleanArray, Decimal256Array, Float32Array, Float64Array, Int64Array};
use arrow_array::{NullArray, UInt64Array};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use base64::Engine;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType as Stored};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::{SchemaDescriptor, Type};
use std::sync::Arc;

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// Number of any decimal that Parquet can hold.
type Digits = <Decimal256Type as ArrowPrimitiveType>::Native;

/// The root columns and what they hold.
pub(super) fn fields(file: &FileMetaData) -> Fields {
    let arrow = arrow_fields(file).unwrap_or_else(Fields::empty);
    let field = |column: &Arc<Type>| {
        let name = column.name();
        let hint = arrow.find(name).map(|(_, field)| field.data_type());
        Field::new(name, hinted(kind(column), hint), true)
    };
    file.schema_descr().root_schema().get_fields().iter().map(field).collect()
}

/// For each root column the first of its leaves; the only one if it is flat.
pub(super) fn leaves(schema: &SchemaDescriptor) -> Vec<usize> {
    let mut leaves = vec![0; schema.root_schema().get_fields().len()];
    (0..schema.num_columns()).rev().for_each(|leaf| leaves[schema.get_column_root_idx(leaf)] = leaf);
    leaves
}

/// The schema that Arrow's writers keep beside the one of Parquet.
fn arrow_fields(file: &FileMetaData) -> Option<Fields> {
    let entry = file.key_value_metadata()?.iter().find(|entry| entry.key == "ARROW:schema")?;
    let bytes = base64::prelude::BASE64_STANDARD.decode(entry.value.as_ref()?).ok()?;
    Some(arrow_ipc::convert::try_schema_from_ipc_buffer(&bytes).ok()?.fields)
}

/// Parquet has no word for some types of time and writes them as integers, and old files call texts bytes.
fn hinted(kind: DataType, hint: Option<&DataType>) -> DataType {
    let hint = match hint {
        Some(DataType::Dictionary(_, value)) => Some(value.as_ref()),
        hint => hint,
    };
    match (kind, hint) {
        (DataType::Int64, Some(hint)) if hint.is_temporal() => hint.clone(),
        (DataType::Binary, Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)) => DataType::Utf8,
        (DataType::Struct(_), Some(hint)) => hint.clone(),
        (kind, _) => kind,
    }
}

/// What a root column holds, in the widest type of its kind.
fn kind(column: &Type) -> DataType {
    let info = column.get_basic_info();
    if column.is_group() || info.repetition() == parquet::basic::Repetition::REPEATED {
        return DataType::Struct(Fields::empty());
    }
    match info.logical_type_ref() {
        Some(LogicalType::Unknown) => return DataType::Null,
        Some(LogicalType::Integer(int)) if !int.is_signed => return DataType::UInt64,
        Some(LogicalType::Integer(_)) => return DataType::Int64,
        Some(LogicalType::Float16) => return DataType::Float32,
        Some(LogicalType::String | LogicalType::Json) => return DataType::Utf8,
        Some(LogicalType::Decimal(decimal)) => return decimals(decimal.precision, decimal.scale),
        Some(LogicalType::Date) => return DataType::Date32,
        Some(LogicalType::Time(_)) => return DataType::Time64(TimeUnit::Nanosecond),
        Some(LogicalType::Timestamp(_)) => return DataType::Timestamp(TimeUnit::Nanosecond, None),
        Some(_) => return DataType::Binary,
        None => {}
    }
    use ConvertedType::*;
    match (info.converted_type(), column.get_physical_type()) {
        (UTF8 | JSON, _) => DataType::Utf8,
        (UINT_8 | UINT_16 | UINT_32 | UINT_64, _) => DataType::UInt64,
        (DECIMAL, _) => decimals(column.get_precision(), column.get_scale()),
        (DATE, _) => DataType::Date32,
        (TIME_MILLIS | TIME_MICROS, _) => DataType::Time64(TimeUnit::Nanosecond),
        (TIMESTAMP_MILLIS | TIMESTAMP_MICROS, _) | (_, Physical::INT96) => {
            DataType::Timestamp(TimeUnit::Nanosecond, None)
        }
        (INTERVAL, _) => DataType::Interval(IntervalUnit::DayTime),
        (_, Physical::BOOLEAN) => DataType::Boolean,
        (_, Physical::INT32 | Physical::INT64) => DataType::Int64,
        (_, Physical::FLOAT) => DataType::Float32,
        (_, Physical::DOUBLE) => DataType::Float64,
        (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => DataType::Binary,
    }
}

/// Decimals of a sound precision; what else a file claims is bytes to us.
fn decimals(precision: i32, scale: i32) -> DataType {
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 1..=76), Ok(scale)) if i32::from(scale) <= i32::from(precision) => {
            DataType::Decimal256(precision, scale)
        }
        _ => DataType::Binary,
    }
}

/// The cells of one column in one group of rows.
pub(super) struct Chunk {
    reader: ColumnReader,
    kind: DataType,
    numbers: Vec<f64>,
}

impl Chunk {
    pub(super) fn new(reader: ColumnReader, kind: DataType) -> Self {
        Chunk { reader, kind, numbers: Vec::new() }
    }

    /// The next cells as numbers, NaN where nothing stands: at most `most` and at least one. `None` if they are not stored as
    /// floating-point numbers.
    pub(super) fn next_floats(&mut self, most: usize) -> Result<Option<&[f64]>> {
        let (most, numbers) = (most.min(BATCH), &mut self.numbers);
        match (&mut self.reader, &self.kind) {
            (ColumnReader::DoubleColumnReader(r), DataType::Float64) => floats(r, most, numbers)?,
            (ColumnReader::FloatColumnReader(r), DataType::Float32) => floats(r, most, numbers)?,
            _ => return Ok(None),
        }
        Ok(Some(&self.numbers))
    }

    /// The next cells, at most `most` and at least one.
    pub(super) fn next(&mut self, most: usize) -> Result<ArrayRef> {
        let most = most.min(BATCH);
        match (&mut self.reader, &self.kind) {
            (_, DataType::Null) => Ok(Arc::new(NullArray::new(most))),
            (ColumnReader::BoolColumnReader(r), DataType::Boolean) => {
                Ok(Arc::new(cells(r, most)?.collect::<BooleanArray>()))
            }
            (ColumnReader::FloatColumnReader(r), DataType::Float32) => {
                Ok(Arc::new(cells(r, most)?.collect::<Float32Array>()))
            }
            (ColumnReader::DoubleColumnReader(r), DataType::Float64) => {
                Ok(Arc::new(cells(r, most)?.collect::<Float64Array>()))
            }
            (ColumnReader::Int32ColumnReader(r), kind) => {
                integers(cells(r, most)?.map(|x| x.map(|x| (x.into(), (x as u32).into()))), kind)
            }
            (ColumnReader::Int64ColumnReader(r), kind) => {
                integers(cells(r, most)?.map(|x| x.map(|x| (x, x as u64))), kind)
            }
            (ColumnReader::ByteArrayColumnReader(r), kind) => bytes(cells(r, most)?, kind),
            (ColumnReader::FixedLenByteArrayColumnReader(r), kind) => bytes(cells(r, most)?, kind),
            (_, kind) => Err(unexpected(kind)),
        }
    }
}

fn unexpected(kind: &DataType) -> ParquetError {
    ParquetError::General(format!("a column of {kind} is stored as something else"))
}

/// The next cells with their nulls.
fn cells<T: Stored>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
) -> Result<impl Iterator<Item = Option<T::T>>> {
    let (mut levels, mut values) = (Vec::new(), Vec::with_capacity(most));
    let (n_cells, _, _) = reader.read_records(most, Some(&mut levels), None, &mut values)?;
    if n_cells == 0 {
        return Err(too_few());
    }
    let mut values = values.into_iter();
    // a column that cannot be null has no levels
    Ok((0..n_cells).map(move |k| if levels.get(k) == Some(&0) { None } else { values.next() }))
}

/// The next cells as numbers.
fn floats<T: Stored<T: Into<f64> + Copy>>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
    numbers: &mut Vec<f64>,
) -> Result<()> {
    numbers.clear();
    let (mut levels, mut values) = (Vec::new(), Vec::with_capacity(most));
    let (n_cells, _, _) = reader.read_records(most, Some(&mut levels), None, &mut values)?;
    if n_cells == 0 {
        return Err(too_few());
    }
    if values.len() == n_cells {
        numbers.extend(values.into_iter().map(Into::into));
        return Ok(());
    }
    let mut values = values.into_iter().map(Into::into);
    let cell = |level: &i16| if *level == 0 { f64::NAN } else { values.next().unwrap_or(f64::NAN) };
    numbers.extend(levels.iter().map(cell));
    Ok(())
}

fn too_few() -> ParquetError {
    ParquetError::EOF("a column has fewer cells than there are rows".into())
}

/// Integers, each given as read with and without a sign.
fn integers(cells: impl Iterator<Item = Option<(i64, u64)>>, kind: &DataType) -> Result<ArrayRef> {
    match kind {
        DataType::Int64 => Ok(Arc::new(cells.map(|x| x.map(|x| x.0)).collect::<Int64Array>())),
        DataType::UInt64 => Ok(Arc::new(cells.map(|x| x.map(|x| x.1)).collect::<UInt64Array>())),
        _ => scaled(cells.map(|x| x.map(|x| Digits::from_i128(x.0.into()))), kind),
    }
}

fn bytes<B: AsBytes>(cells: impl Iterator<Item = Option<B>>, kind: &DataType) -> Result<ArrayRef> {
    match kind {
        DataType::Utf8 => {
            let mut texts = StringBuilder::new();
            for cell in cells {
                match cell {
                    Some(cell) => texts.append_value(str::from_utf8(cell.as_bytes())?),
                    None => texts.append_null(),
                }
            }
            Ok(Arc::new(texts.finish()))
        }
        DataType::Float32 => {
            let number = |cell: B| {
                let bits = cell.as_bytes().first_chunk().copied().unwrap_or_default();
                <Float16Type as ArrowPrimitiveType>::Native::from_le_bytes(bits).to_f32()
            };
            Ok(Arc::new(cells.map(|x| x.map(number)).collect::<Float32Array>()))
        }
        _ => scaled(cells.map(|x| x.map(|x| digits(x.as_bytes()))), kind),
    }
}

/// A whole number in big-endian bytes, the first of which has the sign.
fn digits(bytes: &[u8]) -> Digits {
    let negative = bytes.first().is_some_and(|&b| b >= 0x80);
    let mut wide = [if negative { 0xff } else { 0 }; 32];
    let n = bytes.len().min(32);
    wide[32 - n..].copy_from_slice(&bytes[bytes.len() - n..]);
    Digits::from_be_bytes(wide)
}

fn scaled(cells: impl Iterator<Item = Option<Digits>>, kind: &DataType) -> Result<ArrayRef> {
    let &DataType::Decimal256(precision, scale) = kind else { return Err(unexpected(kind)) };
    let array = cells.collect::<Decimal256Array>().with_precision_and_scale(precision, scale);
    Ok(Arc::new(array.map_err(|e| ParquetError::General(e.to_string()))?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::basic::Repetition;

    /// Writers of the first years know converted types only, and `INT96` for times.
    #[test]
    fn types_in_the_old_words_are_understood() {
        use ConvertedType::*;
        let (time, stamp) =
            (DataType::Time64(TimeUnit::Nanosecond), DataType::Timestamp(TimeUnit::Nanosecond, None));
        for (old, physical, found) in [
            (UTF8, Physical::BYTE_ARRAY, DataType::Utf8),
            (JSON, Physical::BYTE_ARRAY, DataType::Utf8),
            (NONE, Physical::BYTE_ARRAY, DataType::Binary),
            (UINT_8, Physical::INT32, DataType::UInt64),
            (UINT_64, Physical::INT64, DataType::UInt64),
            (INT_16, Physical::INT32, DataType::Int64),
            (DECIMAL, Physical::INT32, DataType::Decimal256(6, 2)),
            (DATE, Physical::INT32, DataType::Date32),
            (TIME_MILLIS, Physical::INT32, time.clone()),
            (TIME_MICROS, Physical::INT64, time),
            (TIMESTAMP_MILLIS, Physical::INT64, stamp.clone()),
            (TIMESTAMP_MICROS, Physical::INT64, stamp.clone()),
            (NONE, Physical::INT96, stamp),
            (INTERVAL, Physical::FIXED_LEN_BYTE_ARRAY, DataType::Interval(IntervalUnit::DayTime)),
        ] {
            let (precision, scale) = if old == DECIMAL { (6, 2) } else { (-1, -1) };
            let column = Type::primitive_type_builder("c", physical)
                .with_repetition(Repetition::OPTIONAL)
                .with_converted_type(old)
                .with_length(12)
                .with_precision(precision)
                .with_scale(scale);
            assert_eq!(kind(&column.build().unwrap()), found, "{old} {physical}");
        }
    }

    /// Some writers call texts bytes and say in Arrow's schema what they are.
    #[test]
    fn bytes_that_arrow_calls_texts_are_texts() {
        let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8));
        assert_eq!(hinted(DataType::Binary, Some(&DataType::Utf8)), DataType::Utf8);
        assert_eq!(hinted(DataType::Binary, Some(&coded)), DataType::Utf8);
        assert_eq!(hinted(DataType::Binary, None), DataType::Binary);
        assert_eq!(hinted(DataType::Int64, Some(&DataType::Utf8)), DataType::Int64);
    }

    #[test]
    fn decimals_of_no_sound_precision_are_bytes() {
        assert_eq!(decimals(76, 76), DataType::Decimal256(76, 76));
        for (precision, scale) in [(0, 0), (77, 2), (300, 2), (4, 5), (4, 200)] {
            assert_eq!(decimals(precision, scale), DataType::Binary, "{precision}, {scale}");
        }
    }
}
