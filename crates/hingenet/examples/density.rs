//! Classes that differ in their dependencies only: pairs of features find them, single features do not.
//! `cargo run --release -p hingenet --example density`

#![allow(clippy::print_stdout)]

use hingenet::evaluate::{Plan, Protocol, compare, generate};
use hingenet::{Control, Dataset, KernelDensity, LogDensity, Result};

fn main() -> Result<()> {
    let data = Dataset::new(generate("forest", Some(300), 1)?, "class", None)?;
    let models = [
        LogDensity::lu().bandwidth("normal").spec()?,
        LogDensity::slb().bandwidth("normal").threshold("benjamini_hochberg:0.05").spec()?,
        KernelDensity::tan().bandwidth("normal").spec()?,
    ];
    let found = compare(&Plan::new(&models, &data, &Protocol::default()), &Control::default())?;
    for result in found.results {
        println!("{:<60} {:.1} %", result.model, 100.0 * result.accuracy.mean);
    }
    Ok(())
}
