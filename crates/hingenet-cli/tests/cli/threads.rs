//! Results do not depend on the number of threads: what the program writes. The library's tests go through all
//! models.

use crate::support::Folder;

#[test]
fn models_predictions_and_figures_are_equal_on_1_2_and_8_threads() {
    let folder = Folder::generated("mixed -n 250 -o d.csv");
    for model in ["majority", "nb:ml", "tan:mcl", "aode:ml", "kde-nb", "sgbn:search", "pool,fast=true"] {
        let outputs: Vec<(Vec<u8>, String, String)> = [1, 2, 8].map(|n| outputs(&folder, model, n)).into();
        assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2], "{model}");
    }
}

/// Rows that are read in pieces: one thread reads, counts and decodes them, or several do.
#[test]
fn models_of_pieces_are_equal_on_1_2_and_8_threads() {
    let folder = Folder::generated("waveform -n 14000 -o d.csv --quiet");
    for model in ["tan:ml", "nb:mcl", "nb:ml-bn-svm,lambda=1,gamma=1", "aode:ml", "sgbn:or,lambda1=100"] {
        let [one, two, eight] = [1, 2, 8].map(|threads| {
            let line = format!("fit d.csv --target class --model {model} --max-memory 2M -v -o m.hgn");
            let run = folder.run(&format!("{line} --threads {threads}"));
            assert!(run.code == Some(0) && run.stderr.contains("read in pieces"), "{}", run.show());
            folder.read("m.hgn")
        });
        assert!(one == two && one == eight, "{model}");
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
