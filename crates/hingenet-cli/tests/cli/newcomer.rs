//! The path of a new user: what README shows runs on the files of the demo, and an own table with an identifier, a date, decimal
//! commas and gaps leads to warnings whose remedies give the numbers of a clean table.

use crate::support::Folder;

const README: &str = include_str!("../../../../README.md");

/// The commands of README that call the program, without comments.
fn examples() -> Vec<String> {
    let commands = README.lines().filter(|line| line.starts_with("hingenet "));
    commands
        .map(|line| line.split(" #").next().unwrap_or(line)["hingenet ".len()..].trim().to_string())
        .collect()
}

#[test]
fn every_example_of_the_readme_runs_on_files_of_the_demo() {
    let folder = Folder::new();
    let commands = examples();
    assert!(commands.len() >= 8 && commands[0] == "demo -o .", "{commands:?}");
    for command in &commands {
        folder.succeeds(command);
    }
    // what is written is named, what is read was written before
    let mut known: Vec<&str> = Vec::new();
    for command in &commands {
        let is_file = |word: &&str| [".csv", ".hgn", ".html"].iter().any(|end| word.ends_with(end));
        let words: Vec<&str> = command.split(' ').filter(is_file).collect();
        words
            .iter()
            .for_each(|word| assert!(folder.names().contains(&word.to_string()), "{command}: {word}"));
        known.extend(words);
    }
    assert!(known.contains(&"new.csv"), "{known:?}");
}

/// A row of the own table: patient, visit, dose, age, sex, state; `None` is a gap.
fn row(m: usize) -> (f64, Option<usize>, &'static str, &'static str) {
    let ill = m * 5 % 11 % 2;
    let dose = (m * 13 % 50) as f64 / 10.0 + 2.0 * ill as f64;
    let age = (!m.is_multiple_of(7)).then_some(30 + m * 37 % 43 - 9 * ill);
    (dose, age, ["f", "m"][m * 3 % 5 % 2], ["well", "ill"][ill])
}

/// The table as a spreadsheet of another country saves it, and as it should be.
fn own_tables() -> (String, String) {
    let (mut own, mut clean) =
        ("patient;visit;dose;age;sex;state\n".to_string(), "dose,age,sex,state\n".to_string());
    for m in 0..140 {
        let (dose, age, sex, state) = row(m);
        let age = age.map(|a| a.to_string()).unwrap_or_default();
        let comma = format!("{dose:.1}").replace('.', ",");
        own += &format!("P{m:03};{}.{}.2021;{comma};{age};{sex};{state}\n", m % 28 + 1, m % 12 + 1);
        clean += &format!("{dose:.1},{age},{sex},{state}\n");
    }
    (own, clean)
}

/// Figures of an evaluation without what depends on the clock.
fn figures(folder: &Folder, file: &str) -> String {
    let text = folder.text(file);
    let results = text.split("\"results\":").nth(1).unwrap_or_else(|| panic!("{text}"));
    let keep = |part: &&str| !part.contains("_seconds\":");
    results.split(',').filter(keep).collect::<Vec<_>>().join(",")
}

#[test]
fn an_own_table_leads_to_a_report_without_a_misleading_number() {
    let (own, clean) = own_tables();
    let folder = Folder::with(&[("own.csv", &own), ("clean.csv", &clean)]);
    let evaluate = |data: &str, name: &str, options: &str| {
        let models = "--model majority --model nb:ml --model tan:ml --model kde-nb --model pool,fast=true";
        folder.run(&format!(
            "evaluate {data} --target state --folds 3 {models} --report {name}.html --json {name}.json {options}"
        ))
    };
    let first = evaluate("own.csv", "first", "");
    assert_eq!(first.code, Some(0), "{}", first.show());
    assert!(first.stderr.contains("note: read as numbers with decimal commas: `dose`"), "{}", first.stderr);
    for column in ["patient", "visit"] {
        let told = format!("column `{column}`");
        let warned =
            |line: &str| line.starts_with("warning:") && line.contains(&told) && line.contains("--ignore");
        assert!(first.stderr.lines().any(warned), "{}", first.stderr);
        assert!(folder.text("first.html").contains(&format!("<li>{told}")), "{column}");
    }
    assert!(!first.stderr.contains("`dose` hold") && !first.stderr.contains("`age`"), "{}", first.stderr);

    // every remedy is an option that can be pasted, and together they end the warnings
    let words = first.stderr.lines().flat_map(|line| line.split("--ignore ").skip(1));
    let mut ignored: Vec<&str> = words.filter_map(|rest| rest.split_whitespace().next()).collect();
    ignored.sort_unstable();
    ignored.dedup();
    assert_eq!(ignored, ["patient", "visit"]);
    let mended = evaluate("own.csv", "mended", &format!("--ignore {} --strict", ignored.join(",")));
    assert_eq!(mended.code, Some(0), "{}", mended.show());
    assert!(!mended.stderr.contains("warning:"), "{}", mended.stderr);
    assert!(!folder.text("mended.html").contains("What looks wrong with the data"));
    assert_eq!(evaluate("clean.csv", "clean", "--strict").code, Some(0));
    assert_eq!(
        figures(&folder, "mended.json"),
        figures(&folder, "clean.json"),
        "the figures are those of a clean table"
    );

    // prediction: the same file with the same marks, and one that lacks a column
    folder.succeeds("fit own.csv --target state --ignore patient,visit --strict --model tan:ml -o m.hgn");
    let predicted = folder.succeeds("predict m.hgn own.csv --strict");
    assert!(!predicted.contains("warning:"), "{predicted}");
    folder.write("later.csv", b"dose;sex\n3,5;f\n350,0;x\n");
    let later = folder.succeeds("predict m.hgn later.csv");
    for told in ["1 of 3 columns of training is not in the file", "1 of 2 rows lie far outside", "`x` first"]
    {
        assert!(later.contains(told), "{told} in {later}");
    }
}
