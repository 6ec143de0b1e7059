//! Files of version 0.1.0, one of every kind of model, must load and predict what the program that wrote them
//! predicted. `files/NAME.hgn` is the model, `files/NAME.csv` its answer (`predict --proba`) to `files/query.csv`,
//! whose rows have missing cells, unseen categories and numbers far outside the training range.

use hingenet::model::Model;
use hingenet::table::{ReadOptions, Table, UnseenPolicy, read};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files")
}

fn table(path: &Path) -> Table {
    read(path, &ReadOptions::default(), &hingenet::Control::default()).unwrap().table
}

fn names() -> Vec<String> {
    let files = folder().read_dir().unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter_map(|f| Some(f.strip_suffix(".hgn")?.to_string())).collect();
    names.sort();
    names
}

/// Largest difference of a probability between today's answer and the one kept beside the model.
fn difference(name: &str, query: &Table) -> f64 {
    let model = Model::load(folder().join(format!("{name}.hgn"))).unwrap_or_else(|e| panic!("{name}: {e}"));
    let found = model.predict(query, UnseenPolicy::Missing).unwrap_or_else(|e| panic!("{name}: {e}"));
    for i in 0..found.len() {
        let total: f64 = found.row(i).iter().map(|l| l.exp()).sum();
        assert!((total - 1.0).abs() < 1e-9, "{name}, row {}: probabilities sum to {total}", i + 1);
    }
    let kept = table(&folder().join(format!("{name}.csv")));
    assert_eq!(found.len(), kept.n_rows(), "{name}");
    let column = |c: &String| kept.by_name(&format!("p_{c}")).unwrap().as_numeric().unwrap();
    let columns: Vec<_> = model.classes.iter().map(column).collect();
    let cells = (0..found.len()).flat_map(|i| (0..columns.len()).map(move |c| (i, c)));
    cells.map(|(i, c)| (found.row(i)[c].exp() - columns[c].get(i).unwrap()).abs()).fold(0.0, f64::max)
}

#[test]
fn files_of_the_first_version_predict_the_same() {
    let query = table(&folder().join("query.csv"));
    let names = names();
    assert_eq!(names.len(), 86, "a file of the first version is missing");
    for name in names {
        let difference = difference(&name, &query);
        assert!(difference <= 1e-12, "{name}: a probability differs by {difference:e}");
    }
}
