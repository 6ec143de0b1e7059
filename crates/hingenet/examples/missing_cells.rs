//! Every third cell is missing, in training and in prediction: networks sum over what they do not know.
//! `cargo run --release -p hingenet --example missing_cells`

#![allow(clippy::print_stdout)]

use hingenet::evaluate::generate;
use hingenet::table::{Column, UnseenPolicy};
use hingenet::{Dataset, NaiveBayes, Result, Table};

/// The table with every third number taken away; `NaN` is a missing cell.
fn blanked(table: &Table) -> Result<Table> {
    let blank = |(j, column): (usize, &Column)| match column.as_numeric() {
        Some(numbers) => {
            let cells = numbers.with_nan().iter().enumerate();
            let cells = cells.map(|(i, x)| if (i + j) % 3 == 0 { f64::NAN } else { *x }).collect();
            Column::numeric(column.name(), cells)
        }
        None => column.clone(),
    };
    Table::new(table.columns().iter().enumerate().map(blank).collect())
}

fn main() -> Result<()> {
    let table = blanked(&generate("waveform", Some(600), 1)?)?;
    let data = Dataset::new(table.clone(), "class", None)?;
    let model = NaiveBayes::ml().fit(&data)?;

    let predictions = model.predict(&table, UnseenPolicy::Missing)?;
    let truth = data.class.iter().enumerate();
    let right = truth.filter(|(row, class)| *class == Some(predictions.class(*row))).count();
    println!("{right} of {} rows, {} cells missing", data.n_rows(), table.n_missing());
    Ok(())
}
