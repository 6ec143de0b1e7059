//! Good CSV: types, delimiters, quotes, missing tokens, warnings.

use super::*;
use std::io::{Read, Write};

#[test]
fn types_are_inferred_from_every_present_cell() {
    let table = csv("a,b,c\n1,x,1\n?,y,\n2.5,NA,two\nNaN,null,3\n").table;
    assert_eq!(cells(&table, "a"), ["1", "-", "2.5", "-"]);
    assert_eq!(cells(&table, "b"), ["x", "y", "-", "-"]);
    assert_eq!(cells(&table, "c"), ["1", "-", "two", "3"]);
    assert!(is_numeric(&table, "a") && !is_numeric(&table, "b") && !is_numeric(&table, "c"));
}

#[test]
fn delimiters_are_detected_in_the_header_or_given() {
    for (delimiter, text) in [(b',', "a,b\n1,2\n"), (b';', "a;b\n1;2\n"), (b'\t', "a\tb\n1\t2\n")] {
        let found = csv(text);
        assert_eq!((found.delimiter, found.table.n_columns()), (Some(delimiter), 2), "{text:?}");
    }
    assert_eq!(csv("\"x,y\";b\n1;2\n").table.column(0).name(), "x,y");
    let options = ReadOptions { delimiter: Some(b'|'), ..Default::default() };
    assert_eq!(cells(&csv_with("a|b,c\n1|2\n", &options).table, "b,c"), ["2"]);
    assert_eq!(csv("only\n1\n2\n").table.n_columns(), 1);
    // most of them decide, the first of equals, not what stands in quotes, and not blank lines before
    for (text, delimiter, n_columns) in [
        ("a;b;c,d\n1;2;3\n", b';', 3),
        ("a,b;c\n1,2\n", b',', 2),
        ("\r\n\na;b\n1;2\n", b';', 2),
        ("\"p,\n,q\";b\n1;2\n", b';', 2),
    ] {
        let found = csv(text);
        assert_eq!((found.delimiter, found.table.n_columns()), (Some(delimiter), n_columns), "{text:?}");
    }
}

#[test]
fn only_what_ends_a_line_or_surrounds_a_cell_is_taken_off() {
    let table = csv("a,b\nx\r,1\n   \n\ty \t,2\r\n").table;
    assert_eq!((cells(&table, "a"), cells(&table, "b")), (names(&["x\r", "y"]), names(&["1", "2"])));
    let tabs = csv("a\tb\n\t 1\n 2 \t3\n").table;
    assert_eq!((cells(&tabs, "a"), cells(&tabs, "b")), (names(&["-", "2"]), names(&["1", "3"])));
}

/// The reader takes a megabyte at a time: whichever byte of a record is the last one it has, the record comes out whole.
#[test]
fn records_are_whole_wherever_a_piece_of_the_file_ends() {
    let records = "\"a\"\"b\" ,\"c\"\r\n\"\"\"\" , d \r\ne,\"f\r\ng\"\r\n";
    for k in 0..=records.len() {
        let start = "x,y\n";
        let filler = "z".repeat((1 << 20) - 1 - k - start.len() - ",0\n".len());
        let table = csv(&format!("{start}{filler},0\n{records}")).table;
        assert_eq!(cells(&table, "x")[1..], ["a\"b", "\"", "e"], "{k} bytes before");
        assert_eq!(cells(&table, "y"), ["0", "c", "d", "f\r\ng"], "{k} bytes before");
    }
}

/// A source that hands out few bytes at a time and is interrupted by signals.
struct Slow<'a> {
    bytes: &'a [u8],
    calls: usize,
}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let n = buffer.len().min(100);
        self.bytes.read(&mut buffer[..n])
    }
}

#[test]
fn a_slow_source_is_read_to_its_end_and_a_failing_one_is_no_short_table() {
    let text: String = (0..2000).map(|i| format!("{i},row {i}\n")).collect();
    let text = format!("i,name\n{text}");
    let slow = Slow { bytes: text.as_bytes(), calls: 0 };
    let found = read(Source::reader("slow.csv", slow), &ReadOptions::default(), &Control::default()).unwrap();
    assert_eq!(found.table, csv(&text).table);
    let failing = text.as_bytes().chain(Failing);
    let error = read(Source::reader("pipe.csv", failing), &ReadOptions::default(), &Control::default());
    let error = error.unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("pipe.csv"), "{error}");
}

/// A source whose device is gone.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the device is gone"))
    }
}

#[test]
fn memory_is_asked_for_while_rows_arrive() {
    // eight bytes a number, two a category, 64 a distinct text of a column, nothing for what is ignored
    let text: String = (0..12_288).map(|i| format!("{},x,{i}\n", i % 2)).collect();
    let bytes = format!("n,c,id\n{text}");
    let options = ReadOptions { ignore: names(&["id"]), ..Default::default() };
    let within = |limit: u64| {
        let control = Control::default().within_memory(limit);
        read(Source::reader("d.csv", bytes.as_bytes()), &options, &control)
    };
    let needed = 12_288 * (8 + 2) + 64 * (2 + 1);
    assert_eq!(within(needed).unwrap().table.n_rows(), 12_288);
    let error = within(needed - 1).unwrap_err();
    assert!(matches!(error, Error::Memory { bytes, .. } if bytes == needed as f64), "{error:?}");
    assert!(error.hint().unwrap().contains("--max-memory"));
    let early = within(4096 * 10).unwrap_err();
    assert!(matches!(early, Error::Memory { bytes, .. } if bytes == 4096.0 * 10.0 + 192.0), "{early:?}");
}

#[test]
fn quotes_line_ends_byte_order_marks_and_spaces_are_understood() {
    let text = "\u{feff}name, \"note\" ,n\r\n\"a, b\",\"he said \"\"yes\"\"\", 1 \r\n\"two\nlines\",\" kept \",2\r\n\r\n";
    let table = csv(text).table;
    assert_eq!(cells(&table, "name"), ["a, b", "two\nlines"]);
    assert_eq!(cells(&table, "note"), ["he said \"yes\"", " kept "]);
    assert_eq!(cells(&table, "n"), ["1", "2"]);
    assert_eq!(cells(&csv("a,b\n1,5\" pipe").table, "b"), ["5\" pipe"]);
}

#[test]
fn quoted_missing_tokens_are_missing_and_a_lone_quoted_blank_is_a_row() {
    let table = csv("a,b\n\"NA\",\"\"\nx,1\n").table;
    assert_eq!((cells(&table, "a"), cells(&table, "b")), (names(&["-", "x"]), names(&["-", "1"])));
    assert_eq!(cells(&csv("a\n1\n\"\"\n\n2\n").table, "a"), ["1", "-", "2"]);
}

#[test]
fn options_override_types_and_leave_columns_out() {
    let text = "id,code,x,y\nu1,1,5,0\nu2,2,6,1\n";
    let options = ReadOptions {
        categorical: names(&["code"]),
        numeric: names(&["x"]),
        ignore: names(&["id"]),
        ..with_target("y")
    };
    let found = csv_with(text, &options);
    assert_eq!(found.skipped, ["id"]);
    assert_eq!(categories(&found.table, "code"), ["1", "2"]);
    assert_eq!(categories(&found.table, "y"), ["0", "1"]);
    assert!(is_numeric(&found.table, "x"));
    assert_eq!(found.table.n_columns(), 3);
}

#[test]
fn missing_tokens_can_be_replaced() {
    let options = ReadOptions { missing: Some(names(&["-999", "n/a"])), ..Default::default() };
    let table = csv_with("a,b\n-999,NA\n1,n/a\n,x\n", &options).table;
    assert_eq!(cells(&table, "a"), ["-", "1", "-"]);
    assert_eq!(cells(&table, "b"), ["NA", "-", "x"]);
    let forced = ReadOptions { numeric: names(&["a"]), ..options };
    assert_eq!(cells(&csv_with("a\n-999\n1\n", &forced).table, "a"), ["-", "1"]);
}

#[test]
fn category_order_is_by_value_if_all_are_numbers_else_by_bytes() {
    let options = ReadOptions { categorical: names(&["a", "b"]), ..Default::default() };
    let table = csv_with("a,b\n10,10\n9,9\n1.0,x\n1,1\n", &options).table;
    assert_eq!(categories(&table, "a"), ["1", "1.0", "9", "10"]);
    assert_eq!(categories(&table, "b"), ["1", "10", "9", "x"]);
}

#[test]
fn gzip_is_undone_by_its_magic_bytes_also_in_several_members() {
    let zip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let bytes = [zip("a,b\n1,x\n"), zip("2,y\n")].concat();
    let table = try_read("anything", &bytes, &ReadOptions::default()).unwrap().table;
    assert_eq!(cells(&table, "a"), ["1", "2"]);
    let cut = try_read("data.csv.gz", &bytes[..bytes.len() - 5], &ReadOptions::default()).unwrap_err();
    assert!(cut.to_string().contains("data.csv.gz") && cut.hint().is_some(), "{cut}");
    let mut damaged = zip(&"a,b\n1,2\n".repeat(1000));
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    assert!(try_read("data.csv.gz", &damaged, &ReadOptions::default()).is_err());
}

#[test]
fn a_path_is_read_and_a_missing_file_is_named() {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(b"a,b\n1,x\n").unwrap();
    let table = read(file.path(), &ReadOptions::default(), &Control::default()).unwrap().table;
    assert_eq!(cells(&table, "b"), ["x"]);
    let absent = std::path::Path::new("no such file.csv");
    let error = read(absent, &ReadOptions::default(), &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("no such file.csv"));
}

#[test]
fn records_longer_than_the_buffer_are_read() {
    let long = "z".repeat(3 << 20);
    let table = csv(&format!("a,b\n\"{long}\",1\nshort,2\n")).table;
    assert_eq!(cells(&table, "a"), ["short".to_string(), long].into_iter().rev().collect::<Vec<_>>());
    assert_eq!(cells(&table, "b"), ["1", "2"]);
}

#[test]
fn many_distinct_numbers_become_eight_byte_numbers_and_stay_exact() {
    let value = |i: usize| i as f64 * 0.37 - 1000.0;
    let text: String = (0..100_000).map(|i| format!("{},{}\n", value(i), i % 3)).collect();
    let table = csv(&format!("x,y\n?,?\n{text}")).table;
    let x = table.by_name("x").unwrap().as_numeric().unwrap();
    assert_eq!(x.get(0), None);
    assert!((0..100_000).all(|i| x.get(i + 1) == Some(value(i))));
}

#[test]
fn exactly_65535_categories_are_accepted() {
    let text: String = (0..65535).map(|i| format!("c{i}\n")).collect();
    let table = csv(&format!("x\n{text}NA\n?\n")).table;
    assert_eq!(categories(&table, "x").len(), 65535);
    assert_eq!(table.n_missing(), 2);
}

#[test]
fn narrow_codes_widen_without_losing_missing_cells() {
    for n in [254, 255, 256, 257] {
        let text: String = (0..n).map(|i| format!("c{i:03}\n\"\"\n")).collect();
        let table = csv(&format!("x\n{text}")).table;
        let x = table.by_name("x").unwrap();
        assert_eq!((categories(&table, "x").len(), x.n_missing()), (n, n), "{n} categories");
        assert!((0..n).all(|i| x.as_categorical().unwrap().get(2 * i) == Some(format!("c{i:03}").as_str())));
    }
}

#[test]
fn a_schema_gives_types_and_skips_columns_the_model_does_not_know() {
    let training =
        csv_with("c,x\n1,1.5\n2,2\n", &ReadOptions { categorical: names(&["c"]), ..Default::default() });
    let schema = Schema::of(&training.table);
    let options = ReadOptions { schema: Some(schema.clone()), ..Default::default() };
    let found = csv_with("id,c\nu1,2\nu2,3\n", &options);
    assert_eq!(found.skipped, ["id"]);
    let (table, report) = schema.align(&found.table, UnseenPolicy::Missing).unwrap();
    assert_eq!((cells(&table, "c"), cells(&table, "x")), (names(&["2", "-"]), names(&["-", "-"])));
    assert_eq!((report.unseen[0].cells, report.absent), (1, names(&["x"])));
}

#[test]
fn an_all_missing_column_is_kept_as_numbers_with_a_warning() {
    let found = csv("a,b\n,1.5\n?,2.5\n");
    assert_eq!(found.notes, [Note::AllMissing { column: "a".into() }]);
    assert!(found.notes[0].is_warning() && is_numeric(&found.table, "a"));
    assert_eq!(found.table.by_name("a").unwrap().n_missing(), 2);
}

#[test]
fn integers_above_2_to_the_53_are_rounded_with_a_warning() {
    for option in [ReadOptions::default(), ReadOptions { numeric: names(&["a"]), ..Default::default() }] {
        let found = csv_with("a\n0.5\n9007199254740993\n", &option);
        assert_eq!(cells(&found.table, "a")[1], "9007199254740992");
        let [Note::LargeInteger { column, place, value, .. }] = found.notes.as_slice() else {
            panic!("{:?}", found.notes)
        };
        assert_eq!((column.as_str(), *place, value.as_str()), ("a", Place::Line(3), "9007199254740993"));
    }
    assert!(csv("a\n0.5\n9007199254740991\n1e300\n").notes.is_empty());
}

#[test]
fn few_integers_bring_a_hint() {
    let found = csv("a,b,c,d\n1,1.5,1,x\n2,2.5,NA,y\n");
    assert_eq!(found.notes, [Note::IntegerCodes { columns: vec![("a".into(), 2)] }]);
    assert!(found.notes[0].to_string().contains("--categorical"));
    let eleven: String = (0..11).map(|i| format!("{i}\n")).collect();
    assert!(csv(&format!("a\n{eleven}")).notes.is_empty());
}

#[test]
fn a_word_among_numbers_brings_a_hint() {
    let numbers: String = (0..10).map(|i| format!("{i}.5\n")).collect();
    let found = csv(&format!("a\n{numbers}nan\n"));
    let [Note::MostlyNumbers { place, value, .. }] = found.notes.as_slice() else {
        panic!("{:?}", found.notes)
    };
    assert_eq!((*place, value.as_str()), (Place::Line(12), "nan"));
    assert!(found.notes[0].to_string().contains("--na"));
    assert!(csv("doors\n2\n3\n4\n5more\n").notes.is_empty());
    // ten numbers for each word
    let notes = |n: usize| {
        let numbers: String = (0..n).map(|i| format!("{i}.5\n")).collect();
        csv(&format!("a\n{numbers}none\nseveral\n")).notes.len()
    };
    assert_eq!((notes(19), notes(20)), (0, 1));
}

#[test]
fn decimal_commas_are_numbers_where_they_can_be_nothing_else() {
    let found = csv("dose;size;n\n51,3;1,234;1\n7;2,5;2\n;0,125;3\n");
    assert_eq!(cells(&found.table, "dose"), ["51.3", "7", "-"]);
    assert_eq!(cells(&found.table, "size"), ["1.234", "2.5", "0.125"], "one cell says what the comma is");
    assert_eq!(found.notes[0], Note::DecimalCommas { columns: names(&["dose", "size"]) });
    assert!(!found.notes[0].is_warning() && found.notes[0].to_string().contains("--decimal ."));
    let other = csv("dose;size\n51,3;1,234\n7;2,500\n");
    assert_eq!(cells(&other.table, "size"), ["1.234", "2.5"], "another column says what the comma is");
    // thousands, a mixture with points, lists, cells parted by commas, the target: categories as before
    for text in [
        "a;b\n1,234;1\n12,000;2\n",
        "a;b\n1,5;1\n2.5;2\n",
        "a;b\n1,2,3;1\n1,5;2\n",
        "a,b\n\"1,5\",1\n\"2,5\",2\n",
    ] {
        assert!(!is_numeric(&csv(text).table, "a"), "{text}");
    }
    let target = csv_with("a;b\n1,5;1\n2,5;2\n", &with_target("a"));
    assert!(!is_numeric(&target.table, "a"));
}

#[test]
fn the_decimal_mark_can_be_given() {
    let decimal = |mark: u8| ReadOptions { decimal: Some(mark), ..Default::default() };
    let comma = csv_with("a,b\n\"1,234\",2\n\"12,000\",3\n", &decimal(b','));
    assert_eq!(cells(&comma.table, "a"), ["1.234", "12"]);
    assert!(
        !is_numeric(&csv_with("a;b\n1.5;1\n2,5;2\n", &decimal(b',')).table, "a"),
        "a point is no mark then"
    );
    assert!(!is_numeric(&csv_with("a;b\n1,5;1\n2,5;2\n", &decimal(b'.')).table, "a"));
    assert!(ReadOptions { decimal: Some(b';'), ..Default::default() }.check().is_err());
}

#[test]
fn decimal_commas_among_numbers_are_read_or_refused_with_the_remedy() {
    let numbers = ReadOptions { numeric: names(&["a"]), ..Default::default() };
    let found = csv_with("a;b\n2,125;x\n1,5;x\n2;y\n", &numbers);
    assert_eq!(cells(&found.table, "a"), ["2.125", "1.5", "2"]);
    assert_eq!(found.notes, [Note::DecimalCommas { columns: names(&["a"]) }]);
    let hint =
        |text: &str| try_read("q.csv", text.as_bytes(), &numbers).unwrap_err().hint().unwrap().to_string();
    assert!(hint("a;b\n1,234;x\n").contains("`--decimal ,`"));
    assert!(hint("a;b\n1.5;x\n2,5;y\n").contains("one decimal mark"));
}

#[test]
fn a_file_without_a_header_gets_numbered_columns() {
    let options = ReadOptions { no_header: true, target: Some("c3".into()), ..Default::default() };
    let found = csv_with("5.1,3.5,a\n4.9,3.0,b\n", &options);
    assert_eq!(
        (cells(&found.table, "c1"), cells(&found.table, "c3")),
        (names(&["5.1", "4.9"]), names(&["a", "b"]))
    );
    assert!(try_read("d.arff", b"@relation r\n@attribute a numeric\n@data\n1\n", &options).is_err());
}

#[test]
fn a_name_that_is_nearly_right_is_proposed() {
    let error = try_read("d.csv", b"Age,sex\n1,f\n2,m\n", &with_target("age")).unwrap_err();
    assert!(error.to_string().contains("did you mean `Age`?"), "{error}");
}
