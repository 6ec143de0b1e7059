//! A tree-augmented network with a margin: how it classifies, why, and that it is a probability model all the same.
//! `cargo run --release -p hingenet --example discrete`

#![allow(clippy::print_stdout)]

use hingenet::evaluate::generate;
use hingenet::table::UnseenPolicy;
use hingenet::{Control, Dataset, Result, Tan};

fn main() -> Result<()> {
    let table = generate("corral", Some(500), 1)?;
    let data = Dataset::new(table.clone(), "class", None)?;
    let model = Tan::ml_bn_svm().lambda(4.0).gamma(5.0).fit(&data)?;

    let predictions = model.predict(&table, UnseenPolicy::Missing)?;
    let class = predictions.class(0);
    println!("row 1 is `{}`; what its features add to the log-odds:", model.classes[class]);
    for term in model.explain(&table, 0, UnseenPolicy::Missing)?.terms {
        println!("  {}: {:+.2}", model.schema.features[term.feature].name, term.scores[class]);
    }
    println!("five rows of the model itself: {:?}", model.sample(5, &[], 0, &Control::default())?);
    println!("{}", model.network()?.to_dot());
    Ok(())
}
