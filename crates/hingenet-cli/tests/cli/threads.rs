//! Results do not depend on the number of threads: what the program writes. The library's tests go through all
//! models.

use crate::support::Folder;

#[test]
fn models_predictions_and_figures_are_equal_on_1_2_and_8_threads() {
    let folder = Folder::new();
    folder.succeeds("generate mixed -n 250 -o d.csv");
    for model in ["majority", "nb:ml", "tan:mcl", "aode:ml", "kde-nb", "sgbn:search", "pool,fast=true"] {
        let outputs: Vec<(Vec<u8>, String, String)> = [1, 2, 8].map(|n| outputs(&folder, model, n)).into();
        assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2], "{model}");
    }
}

fn outputs(folder: &Folder, model: &str, threads: usize) -> (Vec<u8>, String, String) {
    let common = format!("--threads {threads} --quiet");
    folder.succeeds(&format!("fit d.csv --target class --model {model} -o m.hgn {common}"));
    let predicted = folder.run(&format!("predict m.hgn d.csv --proba {common}"));
    let line =
        format!("evaluate d.csv --target class --model {model} --folds 3 --missing 0.5 --json - {common}");
    let evaluated = folder.run(&line);
    assert_eq!((predicted.code, evaluated.code), (Some(0), Some(0)), "{model}");
    (folder.read("m.hgn"), predicted.stdout, without_seconds(&evaluated.stdout))
}

/// JSON without the values of `fit_seconds` and `predict_seconds`.
fn without_seconds(json: &str) -> String {
    json.split(',').filter(|part| !part.contains("_seconds")).collect::<Vec<_>>().join(",")
}
