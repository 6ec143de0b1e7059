//! The pool, the model to try first; progress is shown, and the model travels through its file format.
//! `cargo run --release -p hingenet --example pool`

#![allow(clippy::print_stdout, clippy::print_stderr)]

use hingenet::evaluate::generate;
use hingenet::table::UnseenPolicy;
use hingenet::{Control, Dataset, Model, Pool, Result};

fn main() -> Result<()> {
    let table = generate("waveform", Some(300), 1)?;
    let data = Dataset::new(table.clone(), "class", None)?;
    let control = Control::default().on_progress(|p| eprintln!("{}: {} of {}", p.stage, p.done, p.total));
    let model = Pool::new().fast(true).seed(7).fit_with(&data, &control)?;

    let loaded = Model::from_bytes(&model.to_bytes()?)?;
    let predictions = loaded.predict(&table, UnseenPolicy::Missing)?;
    let proba: Vec<f64> = predictions.row(0).iter().map(|log| log.exp()).collect();
    println!("{:?}: {proba:.3?}", loaded.classes);
    Ok(())
}
