//! A table of any length is read within the memory of a piece.

use hingenet::Control;
use hingenet::table::{ReadOptions, Source};
use hingenet_data::table::read_pieces;
use std::io::Read;

/// Lines that are made when they are read.
struct Lines<I> {
    lines: I,
    at_hand: Vec<u8>,
}

impl<I: Iterator<Item = String>> Read for Lines<I> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at_hand.is_empty() {
            self.at_hand = self.lines.next().unwrap_or_default().into_bytes();
        }
        let n = out.len().min(self.at_hand.len());
        out[..n].copy_from_slice(&self.at_hand[..n]);
        self.at_hand.drain(..n);
        Ok(n)
    }
}

#[test]
fn memory_is_that_of_a_piece() {
    const ROWS: usize = 500_000;
    let row = |m: usize| format!("{m},{}.5,c{}\n", m % 1000, m % 7);
    let lines = std::iter::once("id,x,c\n".to_string()).chain((0..ROWS).map(row));
    let source = Source::reader("rows.csv", Lines { lines, at_hand: Vec::new() });
    let options = ReadOptions { numeric: vec!["id".into(), "x".into()], ..ReadOptions::default() };
    let mut sum = 0.0;
    let taken = hingenet_hostile::peak(|| {
        let read = read_pieces(source, &options, 1 << 14, &Control::default(), &mut |piece| {
            sum += piece.table.column(0).as_numeric().map_or(0.0, |ids| ids.iter().flatten().sum());
            Ok(())
        });
        read.unwrap_or_else(|e| panic!("{e}"));
    });
    assert_eq!(sum, (ROWS * (ROWS - 1) / 2) as f64);
    // the buffer of the scanner and a piece, of which a column may be there twice; the table is 8.5 MB
    assert!(taken < 3 << 20, "{taken} bytes");
}
