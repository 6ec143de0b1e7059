//! Parquet and Arrow, good and damaged.

use super::*;
use arrow_array::types::{Float16Type, Int32Type};
use arrow_array::*;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, TimeUnit};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fn batch() -> RecordBatch {
    let tag: DictionaryArray<Int32Type> = vec![Some("v"), None, Some("u")].into_iter().collect();
    let price =
        Decimal128Array::from(vec![Some(150), None, Some(-25)]).with_precision_and_scale(6, 2).unwrap();
    RecordBatch::try_from_iter(vec![
        ("id", Arc::new(Int64Array::from(vec![Some(1), None, Some((1 << 53) + 1)])) as ArrayRef),
        ("x", Arc::new(Float64Array::from(vec![0.5, f64::NAN, -2.0]))),
        ("f", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(2.0)]))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("text", Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]))),
        ("large", Arc::new(LargeStringArray::from(vec![Some("NA"), None, Some("")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("2"), None, Some("10")]))),
        ("tag", Arc::new(tag)),
        ("price", Arc::new(price)),
    ])
    .unwrap()
}

/// A file that another program wrote, see `parquet/make.py`.
fn parquet(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/tables/parquet/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn arrow_file(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// The Parquet file of this name, and the same table in the forms of Arrow; Feather compresses with LZ4.
fn all_formats(name: &str, batch: &RecordBatch) -> [Vec<u8>; 4] {
    let lz4 = Some(CompressionType::LZ4_FRAME);
    [parquet(name), arrow_file(batch, None), arrow_stream(batch), arrow_file(batch, lz4)]
}

#[test]
fn every_supported_type_is_read_from_every_typed_format() {
    let zstd = arrow_file(&batch(), Some(CompressionType::ZSTD));
    let others = [parquet("plain"), parquet("old"), zstd];
    for bytes in all_formats("types", &batch()).into_iter().chain(others) {
        let found = try_read("standard input", &bytes, &ReadOptions::default()).unwrap();
        let table = &found.table;
        assert_eq!(cells(table, "id"), ["1", "-", "9007199254740992"]);
        assert_eq!(cells(table, "x"), ["0.5", "-", "-2"]);
        assert_eq!(cells(table, "price"), ["1.5", "-", "-0.25"]);
        assert_eq!(categories(table, "flag"), ["false", "true"]);
        assert_eq!(categories(table, "text"), ["a", "b"]);
        assert_eq!(cells(table, "large"), ["NA", "-", ""], "only nulls are missing in typed files");
        assert_eq!(categories(table, "view"), ["2", "10"]);
        assert_eq!(cells(table, "tag"), ["v", "-", "u"]);
        assert_eq!(categories(table, "tag"), ["u", "v"]);
        let large = |note: &Note| matches!(note, Note::LargeInteger { place: Place::Row(3), .. });
        assert!(found.notes.iter().any(large), "{:?}", found.notes);
    }
}

#[test]
fn rare_types_of_parquet_are_read() {
    let table = try_read("t", &parquet("more_types"), &ReadOptions::default()).unwrap().table;
    assert_eq!(cells(&table, "i8"), ["-1", "-", "100"]);
    assert_eq!(cells(&table, "u32"), ["4294967295", "-", "0"]);
    assert_eq!(cells(&table, "u64"), ["18446744073709552000", "-", "0"]);
    assert_eq!(cells(&table, "half"), ["0.5", "-", "-2"]);
    assert_eq!(cells(&table, "small"), ["-1.5", "-", "2.5"]);
    assert_eq!(cells(&table, "huge"), ["-100000000000000000000000000000000000000000000000000", "-", "0.5"]);
    assert_eq!(cells(&table, "nothing"), ["-", "-", "-"]);
    let required = try_read("t", &parquet("required"), &ReadOptions::default()).unwrap().table;
    assert_eq!(cells(&required, "x"), ["3", "1"]);
    let written =
        ReadOptions { categorical: names(&["u64", "half", "small", "nothing"]), ..Default::default() };
    let table = try_read("t", &parquet("more_types"), &written).unwrap().table;
    assert_eq!(categories(&table, "u64"), ["0", "18446744073709551615"]);
    assert_eq!(categories(&table, "half"), ["-2", "0.5"]);
    assert_eq!(categories(&table, "small"), ["-1.5", "2.5"]);
    assert!(categories(&table, "nothing").is_empty());
}

#[test]
fn rare_types_of_arrow_are_read() {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let half = vec![Some(Half::from_f32(0.5)), None, Some(Half::from_f32(-2.0))];
    let small = Decimal32Array::from(vec![Some(-15), None, Some(25)]).with_precision_and_scale(4, 1);
    let long = Decimal64Array::from(vec![Some(-15), None, Some(25)]).with_precision_and_scale(12, 1);
    let wide = Decimal128Array::from(vec![Some(-15), None, Some(25)]).with_precision_and_scale(30, 1);
    let keys = Int32Array::from(vec![Some(1), None, Some(0)]);
    let coded = DictionaryArray::new(keys, Arc::new(Float64Array::from(vec![7.5, 1e3])));
    let none: DictionaryArray<Int32Type> = vec![None::<&str>; 3].into_iter().collect();
    let batch = RecordBatch::try_from_iter(vec![
        ("half", Arc::new(Float16Array::from(half)) as ArrayRef),
        ("small", Arc::new(small.unwrap())),
        ("long", Arc::new(long.unwrap())),
        ("wide", Arc::new(wide.unwrap())),
        ("coded", Arc::new(coded)),
        ("none", Arc::new(none)),
    ])
    .unwrap();
    let written =
        ReadOptions { categorical: names(&["half", "small", "long", "wide", "coded"]), ..Default::default() };
    for bytes in [arrow_file(&batch, None), arrow_stream(&batch)] {
        for options in [&ReadOptions::default(), &written] {
            let table = try_read("standard input", &bytes, options).unwrap().table;
            assert_eq!(is_numeric(&table, "half"), options.categorical.is_empty());
            assert_eq!(cells(&table, "half"), ["0.5", "-", "-2"]);
            assert_eq!(cells(&table, "coded"), ["1000", "-", "7.5"]);
            assert_eq!(cells(&table, "none"), ["-", "-", "-"]);
            for decimals in ["small", "long", "wide"] {
                assert_eq!(cells(&table, decimals), ["-1.5", "-", "2.5"], "{decimals}");
            }
        }
    }
}

#[test]
fn an_error_about_a_row_of_a_typed_file_counts_rows_and_not_lines() {
    let found = try_read("d.parquet", &parquet("types"), &ReadOptions::default()).unwrap();
    let error =
        |m: usize| found.places.locate::<()>(Err(Error::row(m, "is odd", ""))).unwrap_err().to_string();
    assert_eq!(error(1), "d.parquet: row 2: is odd");
    let note = found.notes.iter().find(|note| matches!(note, Note::LargeInteger { .. })).unwrap();
    assert!(note.to_string().contains("column `id`, row 3: "), "{note}");
}

#[test]
fn options_apply_to_typed_files_too() {
    let options = ReadOptions {
        categorical: names(&["f"]),
        numeric: names(&["view", "flag"]),
        ignore: names(&["text"]),
        ..with_target("id")
    };
    for bytes in all_formats("types", &batch()) {
        let found = try_read("standard input", &bytes, &options).unwrap();
        assert_eq!(found.skipped, ["text"]);
        assert_eq!(categories(&found.table, "id"), ["1", "9007199254740993"]);
        assert_eq!(categories(&found.table, "f"), ["0.1", "2"]);
        assert_eq!(cells(&found.table, "view"), ["2", "-", "10"]);
        assert_eq!(cells(&found.table, "flag"), ["1", "-", "0"]);
    }
    let error = try_read("t", &parquet("types"), &with_target("q")).unwrap_err();
    assert!(error.to_string().contains("`q`") && error.hint().unwrap().contains("id, x"));
    let numeric = ReadOptions { numeric: names(&["text"]), ..Default::default() };
    let error = try_read("t", &parquet("types"), &numeric).unwrap_err();
    assert!(error.to_string().contains("row 1, column `text`: `b`"), "{error}");
}

#[test]
fn files_are_read_by_path() {
    for (bytes, suffix) in
        all_formats("types", &batch()).into_iter().zip([".parquet", ".arrow", ".arrows", ".feather"])
    {
        let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let found = read(file.path(), &ReadOptions::default(), &Control::default()).unwrap();
        assert_eq!(found.table.n_rows(), 3, "{suffix}");
    }
}

#[test]
fn dates_and_infinities_are_refused_with_a_remedy() {
    let dates = Date32Array::from(vec![1, 2]);
    let times = TimestampSecondArray::from(vec![1, 2]);
    assert_eq!(times.data_type(), &DataType::Timestamp(TimeUnit::Second, None));
    for (name, array) in [("day", Arc::new(dates) as ArrayRef), ("time", Arc::new(times))] {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
        let batch = RecordBatch::try_from_iter(vec![(name, array), ("x", x)]).unwrap();
        for bytes in all_formats(name, &batch) {
            let hint = format!("--ignore {name}");
            refused("bad.bin", &bytes, &ReadOptions::default(), None, &[name, "type"], &hint);
            let ignore = ReadOptions { ignore: names(&[name]), ..Default::default() };
            assert_eq!(try_read("ok.bin", &bytes, &ignore).unwrap().table.n_columns(), 1);
        }
    }
    for name in ["span", "list"] {
        let hint = format!("--ignore {name}");
        refused("bad.bin", &parquet(name), &ReadOptions::default(), None, &[name, "type"], &hint);
        let ignore = ReadOptions { ignore: names(&[name]), ..Default::default() };
        assert_eq!(cells(&try_read("ok.bin", &parquet(name), &ignore).unwrap().table, "x"), ["1", "2"]);
    }
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]));
    let batch = RecordBatch::try_from_iter(vec![("x", x)]).unwrap();
    for bytes in all_formats("infinite", &batch) {
        let parts = ["row 2", "`x`", "finite"];
        refused("bad.bin", &bytes, &ReadOptions::default(), None, &parts, "finite number");
    }
}

#[test]
fn empty_tables_are_refused() {
    for bytes in all_formats("empty", &batch().slice(0, 0)) {
        refused("bad.bin", &bytes, &ReadOptions::default(), None, &["no rows"], "one row");
    }
}

/// Damaged files give a table or an error. Decoders that panic inside are caught, and a program can keep
/// quiet about them: its panic hook is told.
#[test]
fn truncated_and_damaged_files_never_panic() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hingenet_data::table::read::is_decoding() {
            usual(panic);
        }
    }));
    for bytes in all_formats("types", &batch()).into_iter().chain([parquet("plain"), parquet("old")]) {
        for cut in (0..bytes.len()).step_by(29) {
            let _ = try_read("cut.bin", &bytes[..cut], &ReadOptions::default());
        }
        for at in (0..bytes.len()).step_by(11) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let _ = try_read("damaged.bin", &damaged, &ReadOptions::default());
        }
    }
    assert!(!hingenet_data::table::read::is_decoding());
}

/// A buffer says how long it is without compression: one wrong bit, and it asks for more memory than there is.
#[test]
fn no_flipped_bit_of_a_compressed_arrow_file_ends_the_program() {
    let equal = |text: &str| Arc::new(StringArray::from(vec![text; 300])) as ArrayRef;
    let batch = RecordBatch::try_from_iter(vec![("a", equal("one")), ("b", equal("two"))]).unwrap();
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let options = IpcWriteOptions::default().try_with_compression(Some(compression)).unwrap();
        let mut stream = Vec::new();
        let mut writer = StreamWriter::try_new_with_options(&mut stream, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        for good in [arrow_file(&batch, Some(compression)), stream] {
            assert!(try_read("standard input", &good, &ReadOptions::default()).is_ok());
            for bit in 0..8 * good.len() {
                let mut damaged = good.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let _ = try_read("standard input", &damaged, &ReadOptions::default());
            }
        }
    }
}

/// Pages and the lists in them say how much they hold, and the decoder would take as much memory: these small files ended the
/// program.
#[test]
fn no_size_in_a_parquet_file_ends_the_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/parquet");
    for (name, problem) in [
        ("page_of_2_gb", "a page claims to hold more than it can"),
        ("dictionary_of_2_g", "a page claims to hold more than it can"),
        ("texts_of_1_t", "more texts than there are rows"),
        ("suffixes_of_1_t", "more texts than there are rows"),
    ] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        refused(name, &bytes, &ReadOptions::default(), None, &[problem], "write the file again");
    }
}

#[test]
fn a_table_beyond_the_memory_allowed_is_refused_in_every_format() {
    let column = Arc::new(Float64Array::from_iter_values((0..20_000).map(f64::from))) as ArrayRef;
    let batch = RecordBatch::try_from_iter(vec![("x", column)]).unwrap();
    let text: String = std::iter::once("x\n".into()).chain((0..20_000).map(|m| format!("{m}\n"))).collect();
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    zipped.write_all(text.as_bytes()).unwrap();
    let files = [arrow_file(&batch, None), arrow_stream(&batch), text.into_bytes(), zipped.finish().unwrap()];
    let options = ReadOptions { numeric: vec!["x".into()], ..ReadOptions::default() };
    for bytes in files {
        let read = |memory: u64| {
            let source = Source::reader("standard input", &bytes[..]);
            hingenet_data::table::read::read(source, &options, &Control::default().within_memory(memory))
        };
        assert!(read(1_000_000).is_ok());
        let error = read(100_000).unwrap_err();
        assert!(matches!(error, Error::Memory { .. }) && error.hint().is_some(), "{error}");
    }
}
