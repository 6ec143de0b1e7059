//! Tables in pieces and in several files.

use super::*;
use hingenet_data::table::{Batches, would_match};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A row of the tables here: a number and a text, either of which may be missing.
type Row = (Option<f64>, Option<String>);

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
    folder
}

fn batches(path: &Path, options: &ReadOptions) -> Batches {
    Batches::of(path, options).unwrap()
}

fn pieces(batches: &Batches, most_rows: usize) -> Result<Vec<ReadResult>> {
    let mut pieces = Vec::new();
    batches.for_each(most_rows, &Control::default(), &mut |piece| {
        pieces.push(piece);
        Ok(())
    })?;
    Ok(pieces)
}

fn file_names(batches: &Batches) -> Vec<&str> {
    batches.files().iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect()
}

fn error_of(path: &Path) -> Error {
    let error =
        Batches::of(path, &ReadOptions::default()).and_then(|b| b.read(&Control::default())).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error
}

/// All cells of a table and where each row stands.
fn told(found: &ReadResult) -> Vec<(Vec<String>, String)> {
    let columns: Vec<Vec<String>> =
        found.table.columns().iter().map(|c| cells(&found.table, c.name())).collect();
    let place = |m: usize| {
        let (file, place) = found.places.of(m).unwrap();
        format!("{file}, {place}")
    };
    (0..found.table.n_rows()).map(|m| (columns.iter().map(|c| c[m].clone()).collect(), place(m))).collect()
}

/// Pieces of any size are the whole table, cut.
#[track_caller]
fn are_the_whole(batches: &Batches, most_rows: usize) {
    let whole = batches.read(&Control::default()).unwrap();
    let pieces = pieces(batches, most_rows).unwrap();
    let (last, full) = pieces.split_last().unwrap();
    assert!(full.iter().all(|piece| piece.table.n_rows() == most_rows) && last.table.n_rows() <= most_rows);
    assert_eq!(pieces.iter().flat_map(told).collect::<Vec<_>>(), told(&whole));
    assert!(pieces.iter().all(|piece| piece.skipped == whole.skipped));
}

fn typed() -> ReadOptions {
    ReadOptions { numeric: names(&["x"]), categorical: names(&["t"]), ..ReadOptions::default() }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let number = prop::option::of(-1e6..1e6);
    let text = prop::option::of("[ab ,;\"\n]{1,3}".prop_filter("no blank lines", |t| !t.trim().is_empty()));
    prop::collection::vec((number, text), 1..40)
}

fn as_csv(rows: &[Row]) -> Vec<u8> {
    let quoted = |t: &String| format!("\"{}\"", t.replace('"', "\"\""));
    let line = |(x, t): &Row| {
        let x = x.map_or("?".into(), |x| x.to_string());
        format!("{x},{}\n", t.as_ref().map_or("NA".into(), quoted))
    };
    ["x,t\n".to_string()].into_iter().chain(rows.iter().map(line)).collect::<String>().into_bytes()
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut writer, bytes).unwrap();
    writer.finish().unwrap()
}

/// The files of the rows, cut in two: their bytes, and the end of their names.
fn files(rows: &[Row], cut: usize, format: &str, write: impl Fn(&[Row]) -> Vec<u8>) -> TempDir {
    let (a, b) = rows.split_at(cut.min(rows.len()));
    let folder = tempfile::tempdir().unwrap();
    for (number, part) in [a, b].into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        fs::write(folder.path().join(format!("part-{number}.{format}")), write(part)).unwrap();
    }
    folder
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn text_in_pieces_is_the_whole_table(rows in rows(), cut in 0..40_usize, most in 1..12_usize) {
        for (format, write) in [("csv", as_csv as fn(&[Row]) -> Vec<u8>), ("csv.gz", |r| zipped(&as_csv(r)))] {
            let folder = files(&rows, cut, format, write);
            let batches = batches(folder.path(), &typed());
            are_the_whole(&batches, most);
            let whole = batches.read(&Control::default()).unwrap().table;
            let values: Vec<Option<f64>> = (0..rows.len()).map(|m| whole.column(0).as_numeric().unwrap().get(m)).collect();
            prop_assert_eq!(values, rows.iter().map(|row| row.0).collect::<Vec<_>>());
        }
    }
}

#[test]
fn arff_in_pieces_is_the_whole_table() {
    let head = "@relation r\n@attribute x numeric\n@attribute t {b,a}\n@data\n";
    let texts = [format!("{head}1,a\n\n% no row\n?,b\n{{0 3}}\n"), format!("{head}4,a\n")];
    let folder = folder(&[("a.arff", texts[0].as_bytes()), ("b.arff", texts[1].as_bytes())]);
    let batches = batches(folder.path(), &ReadOptions::default());
    (1..6).for_each(|most| are_the_whole(&batches, most));
    let pieces = pieces(&batches, 2).unwrap();
    assert!(
        pieces.iter().all(|piece| categories(&piece.table, "t") == ["b", "a"]),
        "the list that is declared"
    );
    let other = format!("{}4,a\n", head.replace("{b,a}", "{a,b}"));
    fs::write(folder.path().join("b.arff"), other).unwrap();
    let error = error_of(folder.path()).to_string();
    assert!(error.contains("b.arff") && error.contains("`t`") && error.contains("a.arff"), "{error}");
}

#[test]
fn tables_are_found_in_folders_and_by_patterns() {
    let (one, two) = (&b"x,t\n1,a\n"[..], &b"x,t\n2,b\n"[..]);
    let folder = folder(&[
        ("p10.csv", two),
        ("p1.csv.gz", &zipped(one)),
        ("_SUCCESS", b""),
        (".p1.csv.crc", b"crc"),
        ("README.md", b"# about"),
    ]);
    let found = batches(folder.path(), &ReadOptions::default());
    assert_eq!(file_names(&found), ["p1.csv.gz", "p10.csv"]);
    assert_eq!(cells(&found.read(&Control::default()).unwrap().table, "x"), ["1", "2"]);
    for (pattern, names) in [
        ("p*", &["p1.csv.gz", "p10.csv"][..]),
        ("p1?.csv", &["p10.csv"]),
        ("p[0-9][!1]*", &["p1.csv.gz", "p10.csv"]),
    ] {
        assert_eq!(
            file_names(&batches(&folder.path().join(pattern), &ReadOptions::default())),
            names,
            "{pattern}"
        );
    }
    fs::write(folder.path().join("p[1].csv"), "x,t\n3,c\n").unwrap();
    let itself = batches(&folder.path().join("p[1].csv"), &ReadOptions::default());
    assert_eq!(cells(&itself.read(&Control::default()).unwrap().table, "x"), ["3"], "a file is no pattern");
    let none = error_of(&folder.path().join("q*.csv")).to_string();
    assert!(none.contains("q*.csv") && none.contains("none that matches"), "{none}");
    fs::create_dir(folder.path().join("more")).unwrap();
    assert!(
        error_of(folder.path()).to_string().contains("more"),
        "rows of inner folders are not left out silently"
    );
}

#[test]
fn a_folder_has_tables_of_one_format() {
    let one = folder(&[("a.csv", b"x\n1\n"), ("b.arff", b"@attribute x numeric\n@data\n1\n")]);
    let error = error_of(one.path()).to_string();
    assert!(error.contains("a.csv") && error.contains("b.arff"), "{error}");
    let unnamed = folder(&[("a", b"x\n1\n"), ("b", b"@relation r\n@attribute x numeric\n@data\n1\n")]);
    let error = error_of(unnamed.path()).to_string();
    assert!(
        error.contains(&unnamed.path().join("b").display().to_string()) && error.contains("Csv"),
        "{error}"
    );
    let empty = folder(&[("_SUCCESS", b"")]);
    assert!(error_of(empty.path()).to_string().contains("no table"));
}

#[test]
fn files_have_the_columns_of_the_first_in_any_order() {
    let folder = folder(&[("a.csv", b"x,t,u\n1,a,7\n"), ("b.csv", b"u,x,t\n8,2,b\n9,3,c\n")]);
    let options = ReadOptions { ignore: names(&["u"]), ..typed() };
    let found = batches(folder.path(), &options);
    (1..4).for_each(|most| are_the_whole(&found, most));
    let whole = found.read(&Control::default()).unwrap();
    assert_eq!(
        (cells(&whole.table, "x"), cells(&whole.table, "t")),
        (names(&["1", "2", "3"]), names(&["a", "b", "c"]))
    );
    for (text, column) in [("x,t\n2,b\n", "u"), ("x,t,u,v\n2,b,8,1\n", "v"), ("x,s,u\n2,b,8\n", "s")] {
        fs::write(folder.path().join("b.csv"), text).unwrap();
        let error = error_of(folder.path()).to_string();
        let parts = ["a.csv", "b.csv", &format!("`{column}`")];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn a_file_without_rows_is_fine_among_others() {
    let folder = folder(&[("a.csv", b"x,t\n"), ("b.csv", b"x,t\n1,a\n2,b\n"), ("c.csv", b"x,t\n")]);
    are_the_whole(&batches(folder.path(), &typed()), 1);
    are_the_whole(&batches(folder.path(), &typed()), 2);
    fs::write(folder.path().join("b.csv"), "x,t\n").unwrap();
    let error = error_of(folder.path()).to_string();
    assert!(error.contains("there are columns, but no rows"), "{error}");
}

#[test]
fn types_are_those_of_all_files_and_messages_name_the_right_one() {
    let many: String = (0..30).map(|m| format!("{m},1\n")).collect();
    let folder = folder(&[
        ("a.csv", format!("x,t\n{many}").as_bytes()),
        ("b.csv", b"x,t\n7,2\nn/a,3\n"),
        ("c.csv", b"x,t\n9007199254740993,9007199254740993\n"),
    ]);
    let found = batches(folder.path(), &ReadOptions::default()).read(&Control::default()).unwrap();
    assert!(!is_numeric(&found.table, "x") && is_numeric(&found.table, "t"));
    let notes: Vec<String> = found.notes.iter().map(Note::to_string).collect();
    let place = |name: &str, line: usize| format!("{}, line {line}", folder.path().join(name).display());
    assert!(
        notes.iter().any(|note| note.contains(&place("b.csv", 3)) && note.contains("`n/a`")),
        "{notes:?}"
    );
    assert!(notes.iter().any(|note| note.contains(&place("c.csv", 2)) && note.contains("`t`")), "{notes:?}");
    // what is found out at the end of all files is told of the file it is in
    fs::write(folder.path().join("b.csv"), "x,t\n7,inf\n8,3\n").unwrap();
    let error = error_of(folder.path()).to_string();
    assert!(error.contains(&place("b.csv", 2)), "{error}");
}

#[test]
fn what_commas_are_stays_known_from_piece_to_piece() {
    let options = ReadOptions { delimiter: Some(b';'), numeric: names(&["x"]), ..ReadOptions::default() };
    let folder = folder(&[("a.csv", b"x\n1,5\n1,234\n2\n")]);
    are_the_whole(&batches(folder.path(), &options), 1);
    fs::write(folder.path().join("a.csv"), "x\n1,5\n2\n2.5\n").unwrap();
    for most in [1, 2, 3] {
        let error = pieces(&batches(folder.path(), &options), most).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("decimal points"), "{error}");
    }
}

/// Rows of all pieces, which are not kept.
fn n_rows(batches: &Batches, most_rows: usize, control: &Control) -> usize {
    let mut n_rows = 0;
    let mut count = |piece: ReadResult| {
        n_rows += piece.table.n_rows();
        Ok(())
    };
    batches.for_each(most_rows, control, &mut count).unwrap();
    n_rows
}

#[test]
fn memory_is_asked_for_a_piece_only() {
    let text: String = std::iter::once("x\n".into()).chain((0..50_000).map(|m| format!("{m}\n"))).collect();
    let folder = folder(&[("a.csv", text.as_bytes())]);
    let options = ReadOptions { numeric: names(&["x"]), ..ReadOptions::default() };
    let (found, control) = (batches(folder.path(), &options), Control::default().within_memory(100_000));
    assert!(matches!(found.read(&control), Err(Error::Memory { .. })));
    assert_eq!(n_rows(&found, 10_000, &control), 50_000);
    assert!(matches!(found.for_each(20_000, &control, &mut |_| Ok(())), Err(Error::Memory { .. })));
}

#[test]
fn progress_counts_the_rows_of_all_pieces() {
    let text: String = std::iter::once("x\n".into()).chain((0..9_000).map(|m| format!("{m}\n"))).collect();
    let folder = folder(&[("a.csv", text.as_bytes()), ("b.csv", text.as_bytes())]);
    let steps = Arc::new(Mutex::new(Vec::new()));
    let kept = steps.clone();
    let control = Control::default().on_progress(move |p| kept.lock().unwrap().push((p.done, p.total)));
    batches(folder.path(), &ReadOptions::default()).for_each(1000, &control, &mut |_| Ok(())).unwrap();
    assert_eq!(*steps.lock().unwrap(), [(4096, 0), (8192, 0), (12_288, 0), (16_384, 0)]);
}

#[test]
fn an_error_of_who_takes_the_pieces_ends_the_reading() {
    let folder = folder(&[("a.csv", b"x\n1\n2\n3\n")]);
    let mut seen = 0;
    let stopped =
        batches(folder.path(), &ReadOptions::default()).for_each(1, &Control::default(), &mut |_| {
            seen += 1;
            if seen == 2 { Err(Error::data("enough", "")) } else { Ok(()) }
        });
    assert!(stopped.is_err() && seen == 2);
}

#[cfg(feature = "parquet")]
mod of_typed_files {
    use super::*;
    use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use ::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use hingenet_data::table::read::is_decoding;

    /// Rows in groups of so many, in pages of three: texts are keys into a dictionary.
    fn as_parquet(rows: &[Row], group: usize) -> Vec<u8> {
        parquet(rows, group, |builder| builder)
    }

    /// The same in pages of the second form.
    fn as_second_parquet(rows: &[Row], group: usize) -> Vec<u8> {
        parquet(rows, group, |builder| builder.set_writer_version(WriterVersion::PARQUET_2_0))
    }

    /// The same where dictionaries are soon full, so that only the first pages of a group hold keys.
    fn as_full_parquet(rows: &[Row], group: usize) -> Vec<u8> {
        parquet(rows, group, |builder| builder.set_dictionary_page_size_limit(12))
    }

    fn parquet(
        rows: &[Row],
        group: usize,
        with: fn(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
    ) -> Vec<u8> {
        let schema =
            parse_message_type("message m { optional double x; optional binary t (UTF8); }").unwrap();
        let properties = WriterProperties::builder().set_data_page_row_count_limit(3).set_write_batch_size(3);
        let properties = with(properties).build();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties)).unwrap();
        let levels = |present: Vec<bool>| present.into_iter().map(i16::from).collect::<Vec<_>>();
        for rows in rows.chunks(group) {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let x: Vec<f64> = rows.iter().filter_map(|row| row.0).collect();
            let known = levels(rows.iter().map(|row| row.0.is_some()).collect());
            column.typed::<DoubleType>().write_batch(&x, Some(&known), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let t: Vec<ByteArray> =
                rows.iter().filter_map(|row| row.1.as_deref()).map(ByteArray::from).collect();
            let known = levels(rows.iter().map(|row| row.1.is_some()).collect());
            column.typed::<ByteArrayType>().write_batch(&t, Some(&known), None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
        writer.close().unwrap();
        bytes
    }

    fn record_batch(rows: &[Row]) -> RecordBatch {
        let x = Float64Array::from_iter(rows.iter().map(|row| row.0));
        let t = StringArray::from_iter(rows.iter().map(|row| row.1.as_deref()));
        RecordBatch::try_from_iter([("x", Arc::new(x) as ArrayRef), ("t", Arc::new(t))]).unwrap()
    }

    fn as_arrow(rows: &[Row], batch: usize) -> Vec<u8> {
        let mut writer = FileWriter::try_new(Vec::new(), &record_batch(rows).schema()).unwrap();
        rows.chunks(batch).for_each(|rows| writer.write(&record_batch(rows)).unwrap());
        writer.into_inner().unwrap()
    }

    fn as_stream(rows: &[Row], batch: usize) -> Vec<u8> {
        let mut writer = StreamWriter::try_new(Vec::new(), &record_batch(rows).schema()).unwrap();
        rows.chunks(batch).for_each(|rows| writer.write(&record_batch(rows)).unwrap());
        writer.into_inner().unwrap()
    }

    /// Writes rows, so many in a group.
    type Write = fn(&[Row], usize) -> Vec<u8>;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn typed_files_in_pieces_are_the_whole_table(
            rows in rows(), cut in 0..40_usize, most in 1..12_usize, group in 1..12_usize,
        ) {
            let text = |row: &Row| [row.0.map_or("-".into(), |x| x.to_string()), row.1.clone().unwrap_or("-".into())];
            let expected: Vec<_> = rows.iter().map(text).collect();
            let writers: [(&str, Write); 6] =
                [("parquet", as_parquet), ("parquet", as_second_parquet), ("parquet", as_full_parquet), ("arrow", as_arrow), ("arrows", as_stream), ("parquet.gz", |r, n| zipped(&as_parquet(r, n)))];
            for (format, write) in writers {
                let folder = files(&rows, cut, format, |rows| write(rows, group));
                let keyed = |options| ReadOptions { keyed: true, ..options };
                for options in [ReadOptions::default(), typed(), keyed(ReadOptions::default()), keyed(typed())] {
                    let batches = batches(folder.path(), &options);
                    are_the_whole(&batches, most);
                    let whole = told(&batches.read(&Control::default()).unwrap());
                    prop_assert_eq!(whole.into_iter().map(|row| row.0).collect::<Vec<_>>(), expected.clone());
                }
            }
        }
    }

    fn some_rows() -> Vec<Row> {
        (0..100).map(|m| (Some(f64::from(m)), Some(format!("t{}", m % 3)))).collect()
    }

    #[test]
    fn a_damaged_file_is_named_before_the_others_are_read() {
        let rows = some_rows();
        let good = as_parquet(&rows, 30);
        let folder = folder(&[("a.parquet", &good), ("b.parquet", &good[..good.len() - 9])]);
        let (mut seen, found) = (0, batches(folder.path(), &ReadOptions::default()));
        let error = found
            .for_each(10, &Control::default(), &mut |_| {
                seen += 1;
                Ok(())
            })
            .unwrap_err();
        assert!(error.to_string().contains("b.parquet") && seen == 0, "{error}");
    }

    #[test]
    fn progress_knows_the_rows_of_parquet_files() {
        let rows = some_rows();
        let folder = folder(&[("a.parquet", &as_parquet(&rows, 30)), ("b.parquet", &as_parquet(&rows, 100))]);
        for (path, total) in [(folder.path().to_path_buf(), 200), (folder.path().join("a.parquet"), 100)] {
            let steps = Arc::new(Mutex::new(Vec::new()));
            let kept = steps.clone();
            let control =
                Control::default().on_progress(move |p| kept.lock().unwrap().push((p.done, p.total)));
            batches(&path, &ReadOptions::default()).for_each(40, &control, &mut |_| Ok(())).unwrap();
            let steps = steps.lock().unwrap();
            assert!(steps.iter().all(|step| step.0 < total && step.1 == total), "{steps:?}");
            assert!(steps.iter().is_sorted());
        }
    }

    #[test]
    fn a_column_that_is_text_in_one_file_is_text_in_all() {
        let schema = |rows: Vec<Row>| as_arrow(&rows, 100);
        let numbers = RecordBatch::try_from_iter([
            ("x", Arc::new(StringArray::from(vec![Some("high"), None])) as ArrayRef),
            ("t", Arc::new(Float64Array::from(vec![1.0, 2.5]))),
        ]);
        let numbers = numbers.unwrap();
        let mut writer = FileWriter::try_new(Vec::new(), &numbers.schema()).unwrap();
        writer.write(&numbers).unwrap();
        let folder = folder(&[
            ("a.arrow", &schema(vec![(Some(0.5), Some("a".into())), (Some(3.0), None)])),
            ("b.arrow", &writer.into_inner().unwrap()),
        ]);
        let found = batches(folder.path(), &ReadOptions::default());
        let kinds: Vec<bool> =
            pieces(&found, 10).unwrap().iter().map(|p| is_numeric(&p.table, "x")).collect();
        assert_eq!(kinds, [true, false], "pieces end where types change");
        let whole = found.read(&Control::default()).unwrap().table;
        assert_eq!(cells(&whole, "x"), ["0.5", "3", "high", "-"]);
        assert_eq!(cells(&whole, "t"), ["a", "-", "1", "2.5"]);
    }

    /// A program's panic hook says nothing while a decoder runs, and only then.
    #[test]
    fn who_takes_the_pieces_is_outside_of_the_decoder() {
        let rows = some_rows();
        let folder = folder(&[("a.parquet", &as_parquet(&rows, 30)), ("b.arrow", &as_arrow(&rows, 30))]);
        for name in ["a.parquet", "b.arrow"] {
            let found = batches(&folder.path().join(name), &ReadOptions::default());
            let taken = |_| {
                assert!(!is_decoding());
                Ok(())
            };
            found.for_each(7, &Control::default(), &mut { taken }).unwrap();
            let panicking = || found.for_each(7, &Control::default(), &mut |_| panic!("mine"));
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panicking)).is_err());
        }
    }

    #[test]
    fn rows_of_a_large_group_are_read_within_the_memory_of_a_piece() {
        let rows: Vec<Row> =
            (0..60_000).map(|m| (Some(f64::from(m % 100)), Some(format!("t{}", m % 3)))).collect();
        let folder = folder(&[("a.parquet", &as_parquet(&rows, 60_000))]);
        let (found, control) =
            (batches(folder.path(), &ReadOptions::default()), Control::default().within_memory(200_000));
        assert!(matches!(found.read(&control), Err(Error::Memory { .. })));
        assert_eq!(n_rows(&found, 5_000, &control), 60_000);
    }
}

#[test]
fn the_files_are_listed() {
    let folder = folder(&[("a.csv", b"x\n1\n")]);
    let path = folder.path().join("a.csv");
    assert_eq!(batches(&path, &ReadOptions::default()).files(), [PathBuf::from(&path)]);
    let absent = batches(&folder.path().join("b.csv"), &ReadOptions::default());
    assert!(matches!(absent.read(&Control::default()), Err(Error::Io { .. })));
}

/// Whatever is read again by a pattern takes in the files that have come to match it.
#[test]
fn a_file_that_is_not_there_yet_matches_a_pattern_as_one_that_is() {
    let folder = folder(&[("part-1.csv", b"x\n1\n"), ("[a].csv", b"x\n1\n")]);
    fs::create_dir(folder.path().join("[in]")).unwrap();
    let at = |name: &str| folder.path().join(name);
    for (pattern, file, matches) in [
        ("part-*.csv", "part-9.csv", true),
        ("part-[0-9].csv", "[in]/../part-9.csv", true),
        ("[in]/../part-?.csv", "part-9.csv", false),
        ("part-*.csv", "other.csv", false),
        ("*.csv", ".part-9.csv", false),
        ("*.csv", "[in]/part-9.csv", false),
        ("[[]in]/*.csv", "[in]/part-9.csv", true),
        ("[a].csv", "a.csv", false),
        ("part-1.csv", "part-1.csv", false),
        ("part-*.csv", "nowhere/part-9.csv", false),
    ] {
        assert_eq!(would_match(&at(pattern), &at(file)), matches, "{pattern} {file}");
        if let Some(parent) = at(file).parent().filter(|parent| parent.exists()) {
            let (file, is_there) = (parent.join(at(file).file_name().unwrap()), at(file).exists());
            fs::write(&file, "x\n2\n").unwrap();
            let found = Batches::of(&at(pattern), &ReadOptions::default());
            let real = file.canonicalize().unwrap();
            let is_part = found.is_ok_and(|b| b.files().iter().any(|f| f.canonicalize().unwrap() == real));
            assert!(is_there || is_part == matches, "{pattern} {}", file.display());
            if !is_there {
                fs::remove_file(file).unwrap();
            }
        }
    }
}
