//! A small file that is honest about a huge table: it is refused before its rows are taken, and can be read in pieces.

use hingenet::table::{ReadOptions, Source, read};
use hingenet::{Control, Error};
use hingenet_data::table::read_pieces;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

const ROWS: usize = 8_000_000;
/// Bytes that a step may take; the table has eight for a number and one for a code.
const ALLOWED: u64 = 8 << 20;

/// Rows that are all the same: their dictionaries have one entry, and their pages say how often it comes.
fn file() -> Vec<u8> {
    let schema = parse_message_type("message rows { required double x; required binary s (UTF8); }").unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let (numbers, words) = (vec![1.5; 100_000], vec![ByteArray::from("word"); 100_000]);
    let mut column = group.next_column().unwrap().unwrap();
    for _ in 0..ROWS / numbers.len() {
        column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
    }
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    for _ in 0..ROWS / words.len() {
        column.typed::<ByteArrayType>().write_batch(&words, None, None).unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// One test, since memory is counted for the whole process.
#[test]
fn a_small_parquet_file_of_a_huge_table_is_refused_or_read_in_pieces_within_the_memory_allowed() {
    let bytes = file();
    assert!(bytes.len() < 200_000, "{} bytes", bytes.len());
    let (options, control) = (ReadOptions::default(), Control::default().within_memory(ALLOWED));
    let source = || Source::reader("rows.parquet", &bytes[..]);
    let taken = hingenet_hostile::peak(|| {
        let error = read(source(), &options, &control).unwrap_err();
        assert!(matches!(&error, Error::Memory { limit: Some(ALLOWED), .. }), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("--max-memory")), "{error}");
    });
    assert!(taken < 1 << 20, "{taken} bytes for a table that is refused");
    let mut rows = 0;
    let taken = hingenet_hostile::peak(|| {
        let pieces = read_pieces(source(), &options, 1 << 16, &control, &mut |piece| {
            rows += piece.table.n_rows();
            let cells = (piece.table.column(0).text(0), piece.table.column(1).text(0));
            assert_eq!(cells, (Some("1.5".into()), Some("word".into())));
            Ok(())
        });
        pieces.unwrap_or_else(|e| panic!("{e}"));
    });
    assert_eq!(rows, ROWS);
    assert!(taken < ALLOWED as usize, "{taken} bytes for a table in pieces");
}
