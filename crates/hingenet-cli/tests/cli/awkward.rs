//! Files as people have them: quoted names, comments, empty classes, identifiers, units, dates, marks of other systems. Every
//! one goes through fit, predict and evaluate with models of several families, or is refused with an exact message.

use crate::support::Folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const ROWS: usize = 24;
/// One model of each family that asks for little.
const MODELS: [&str; 4] = ["nb:ml", "tan:ml", "kde-nb", "pool,fast=true"];

/// A file, the options that read it, and what has to be told about it.
struct Case {
    file: &'static str,
    bytes: Vec<u8>,
    target: &'static str,
    options: Vec<&'static str>,
    told: Vec<&'static str>,
    is_refused: bool,
}

impl Case {
    fn works(file: &'static str, text: impl Into<Vec<u8>>) -> Self {
        let bytes = text.into();
        Case { file, bytes, target: "class", options: Vec::new(), told: Vec::new(), is_refused: false }
    }

    fn refused(
        file: &'static str,
        text: impl Into<Vec<u8>>,
        error: &'static str,
        hint: &'static str,
    ) -> Self {
        Case { told: vec![error, hint], is_refused: true, ..Self::works(file, text) }
    }

    fn target(self, target: &'static str) -> Self {
        Case { target, ..self }
    }

    fn with(mut self, options: &[&'static str]) -> Self {
        self.options.extend(options);
        self
    }

    fn tells(mut self, text: &'static str) -> Self {
        self.told.push(text);
        self
    }
}

/// Numbers, a category and the class of a row; the class depends on all of them.
fn row(m: usize) -> (f64, f64, &'static str, &'static str) {
    let class = m % 2;
    let noise = (m * 7 % 10) as f64;
    (
        1.5 + noise / 4.0 + class as f64,
        10.25 - noise - class as f64,
        ["red", "green", "blue"][(m + class) % 3],
        ["no", "yes"][class],
    )
}

/// A text of a header line and so many rows.
fn table(header: &str, row: impl Fn(usize) -> String) -> String {
    std::iter::once(header.to_string()).chain((0..ROWS).map(row)).map(|line| line + "\n").collect()
}

fn plain() -> String {
    with("extra", |m| format!("{}.5", m * 5 % 7))
}

/// The ordinary table with one more column in front.
fn with(name: &str, cell: impl Fn(usize) -> String) -> String {
    table(&format!("{name},x,y,colour,class"), |m| {
        let (x, y, colour, class) = row(m);
        format!("{},{x},{y},{colour},{class}", cell(m))
    })
}

fn arff(attributes: &str, row: impl Fn(usize) -> String) -> String {
    table(&format!("@relation awkward\n{attributes}\n@data"), row)
}

const NUMBERS: &str = "@attribute x numeric\n@attribute y real\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn csv_cases() -> Vec<Case> {
    let semicolons = |decimals: usize| {
        table("x;y;colour;class", |m| {
            let (x, y, colour, class) = row(m);
            format!("{x:.decimals$};{:.decimals$};{colour};{class}", y + 1.0).replace('.', ",")
        })
    };
    vec![
        Case::works("plain.csv", plain()),
        Case::works("crlf.csv", plain().replace('\n', "\r\n")),
        Case::works("bom.csv", format!("\u{feff}{}", plain())),
        Case::works("tabs.tsv", plain().replace(',', "\t")),
        Case::works("gzip.csv.gz", gzip(&plain())),
        Case::works("no_last_line_end.csv", plain().trim_end()),
        Case::works("blank_lines.csv", plain().replace('\n', "\n\n")),
        Case::works("spaces.csv", plain().replace(',', " , ")),
        Case::works("pipes.csv", plain().replace(',', "|")).with(&["--delimiter", "|"]),
        Case::refused("pipes.csv", plain().replace(',', "|"), "there is no column `class`", "`--delimiter`"),
        Case::works("decimal_commas.csv", semicolons(2)).tells("numbers with decimal commas: `x`, `y`"),
        Case::works("thousands_perhaps.csv", semicolons(3))
            .tells("columns `x`, `y` hold numbers with decimal commas"),
        Case::works("thousands_not.csv", semicolons(3)).with(&["--decimal", ",", "--strict"]),
        Case::works("quoted_commas.csv", with("paid", |m| format!("\"{},{}\"", m, m * 3 % 10)))
            .tells("--decimal ,"),
        Case::works(
            "quoted_names.csv",
            plain().replace("extra,x", "\"the, extra\",\"a \"\"b\"\"\"").replace("class\n", "the class\n"),
        )
        .target("the class"),
        Case::works("line_in_a_cell.csv", with("note", |m| format!("\"first\nsecond {}\"", m % 3))),
        Case::works("single_quotes.csv", with("note", |m| format!("'{}'", m % 3))),
        Case::works(
            "missing_tokens.csv",
            with("gaps", |m| ["", "?", "NA", "NaN", "null", "1.5", "2.5"][m % 7].into()),
        ),
        Case::works(
            "own_token.csv",
            with("gaps", |m| if m % 5 == 0 { "-999".into() } else { format!("{}.5", m % 4) }),
        )
        .with(&["--na", "-999"]),
        Case::works("dash_token.csv", with("gaps", |m| if m == 3 { "-".into() } else { format!("{}.5", m) }))
            .tells("name it with `--na`"),
        Case::works(
            "dash_named.csv",
            with("gaps", |m| if m == 3 { "-".into() } else { format!("{}.5", m * 5 % 23) }),
        )
        .with(&["--na", "-", "--strict"]),
        Case::works("percent.csv", with("share", |m| format!("{}%", m * 7 % 24)))
            .tells("`share` holds numbers with a unit"),
        Case::works("units.csv", with("mass", |m| format!("{}.5 kg", m * 7 % 24)))
            .tells("`mass` holds numbers with a unit"),
        Case::works("iso_dates.csv", with("seen", |m| format!("2021-0{}-1{}", m % 9 + 1, m % 10)))
            .tells("`seen` holds dates"),
        Case::works("dates.csv", with("seen", |m| format!("{}/{}/2021", m % 12 + 1, m % 28 + 1)))
            .tells("`seen` holds dates"),
        Case::works("times.csv", with("seen", |m| format!("2021-01-{:02}T10:00:00", m + 1)))
            .tells("`seen` holds dates"),
        Case::works("names.csv", with("name", |m| format!("Mr {m}")))
            .tells("`name` names or numbers the rows"),
        Case::works("row_numbers.csv", with("id", |m| format!("{}", m + 1)))
            .tells("`id` names or numbers the rows"),
        Case::works("left_out.csv", with("id", |m| format!("{}", m + 1)))
            .with(&["--ignore", "id", "--strict"]),
        Case::works("large_numbers.csv", with("key", |m| format!("900719925474099{}", m % 10)))
            .tells("above 2^53"),
        Case::works("constant.csv", with("same", |_| "7".into())).tells("`same` has no two different values"),
        Case::works("all_missing.csv", with("none", |_| "?".into())).tells("every cell is missing"),
        Case::works("repeated.csv", with("again", |m| row(m).0.to_string()))
            .tells("column `x` repeats column `again`"),
        Case::works("codes.csv", with("code", |m| (m % 3).to_string()))
            .tells("name those that are codes with `--categorical`"),
        Case::works("codes_named.csv", with("code", |m| (m % 3).to_string()))
            .with(&["--categorical", "code"]),
        Case::works("booleans.csv", with("on", |m| ["TRUE", "FALSE"][m % 3 / 2].into())),
        Case::works(
            "notations.csv",
            with("n", |m| ["1e3", "+5", ".5", "5.", "007", "-0", "2E-2"][m % 7].into()),
        ),
        Case::works("unicode.csv", with("größe", |m| ["klein", "größer", "中文", "🙂"][m % 4].into())),
        Case::works("long_names.csv", with("text", |m| "long ".repeat(1000) + ["a", "b"][m % 2])),
        Case::works("escapes.csv", with("text", |m| format!("\u{1b}[31m{}\u{1b}[0m", m % 2))),
        Case::works("number_classes.csv", plain().replace("yes", "1").replace("no", "0")),
        Case::works(
            "class_in_front.csv",
            table("class,x,y", |m| format!("{},{},{}", row(m).3, row(m).0, row(m).1)),
        ),
        Case::works("no_header.csv", plain().split_once('\n').unwrap().1).with(&["--no-header"]).target("c5"),
        Case::works("unlabelled.csv", plain().replacen("no\n", "\n", 2))
            .with(&["--drop-unlabelled"])
            .tells("2 rows without a class left out"),
        Case::works("wide.csv", {
            let names: Vec<String> = (0..60).map(|j| format!("w{j}")).collect();
            let cells =
                |m: usize| (0..60).map(|j| ((m * (j + 3)) % 11).to_string()).collect::<Vec<_>>().join(",");
            table(&format!("{},class", names.join(",")), |m| format!("{},{}", cells(m), row(m).3))
        }),
    ]
}

fn refused_csv_cases() -> Vec<Case> {
    let latin = plain().replace("red", "r\u{fc}d").chars().map(|c| c as u8).collect::<Vec<u8>>();
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(plain().encode_utf16().flat_map(u16::to_le_bytes)).collect();
    vec![
        Case::refused("empty.csv", "", "the file is empty", "name the columns"),
        Case::refused("latin1.csv", latin, "is not valid UTF-8", "iconv"),
        Case::refused("utf16.csv", utf16, "the text is UTF-16", "UTF-8"),
        Case::refused(
            "twice.csv",
            with("x", |m| m.to_string()),
            "the column name `x` occurs twice",
            "rename",
        ),
        Case::refused("row_names.csv", with("", |m| m.to_string()), "column 1 has no name", "row names"),
        Case::refused("ragged.csv", plain() + "1,2\n", "line 26: this row has 2 cells", "`--delimiter`"),
        Case::refused(
            "title.csv",
            format!("Made in May\n{}", plain()),
            "there is no column `class`",
            "`Made in May`",
        ),
        Case::refused(
            "commented.csv",
            format!("# a, b\n{}", plain()),
            "there is no column `class`",
            "the columns are: # a, b",
        ),
        Case::refused(
            "infinite.csv",
            with("z", |m| if m == 9 { "inf".into() } else { m.to_string() }),
            "line 11",
            "finite number",
        ),
        Case::refused("unlabelled.csv", plain().replacen("no\n", "\n", 2), "line 2", "`--drop-unlabelled`"),
        Case::refused(
            "no_header.csv",
            plain().split_once('\n').unwrap().1,
            "there is no column `class`",
            "`--no-header`",
        ),
        Case::refused("one_class.csv", plain().replace("yes", "no"), "one class only (`no`)", "two classes"),
        Case::refused(
            "unknown.csv",
            plain(),
            "there is no column `Class` (named by the target) (did you mean `class`?)",
            "the columns are",
        )
        .target("Class"),
        Case::refused(
            "workbook.xlsx",
            b"PK\x03\x04\x14\0\x06\0[Content_Types].xml".to_vec(),
            "an Excel workbook",
            "as CSV",
        ),
        Case::refused(
            "sheet.csv",
            b"PK\x03\x04\x14\0\x06\0xl/workbook.xml".to_vec(),
            "an Excel workbook",
            "as CSV",
        ),
        Case::refused("page.csv", "<!DOCTYPE html>\n<html></html>\n", "a web page", "download"),
        Case::refused("scan.pdf", b"%PDF-1.4\n\xe2\xe3".to_vec(), "a PDF document", "CSV"),
        Case::refused("picture.png", b"\x89PNG\r\n\x1a\n\0\0".to_vec(), "a picture (PNG)", "CSV"),
    ]
}

fn arff_cases() -> Vec<Case> {
    let numbers = |m: usize| format!("{},{}", row(m).0, row(m).1);
    let classed = |attributes: &str| format!("{attributes}@attribute class {{no,yes}}");
    let dense = |m: usize| format!("{},{}", numbers(m), row(m).3);
    vec![
        Case::works("plain.arff", arff(&classed(NUMBERS), dense)),
        Case::works("shouting.arff", arff(&classed(NUMBERS), dense).replace("@attribute", "@ATTRIBUTE").replace("@data", "@DATA")),
        Case::works("crlf_bom.arff", format!("\u{feff}{}", arff(&classed(NUMBERS), dense).replace('\n', "\r\n"))),
        Case::works("comments.arff", format!("% from\n%\n\n{}", arff(&classed(NUMBERS), |m| format!("{}\n% after {m}\n", dense(m))))),
        Case::works("tabs.arff", arff(&classed(NUMBERS), dense).replace("@attribute ", "@attribute\t")),
        Case::works("quoted.arff", arff("@attribute 'it\\'s x' numeric\n@attribute \"y, %\" real\n@attribute 'the class' {'not so',yes}", |m| {
            dense(m).replace(",no", ", 'not so'")
        })).target("the class"),
        Case::works("empty_class.arff", arff(&format!("{NUMBERS}@attribute class {{never,no,yes}}"), dense)).tells("`never` (0)"),
        Case::works("nominal_numbers.arff", arff(&classed(&format!("{NUMBERS}@attribute k {{3,1,2}}\n")), |m| {
            format!("{},{},{}", numbers(m), m % 3 + 1, row(m).3)
        })),
        Case::works("sparse.arff", arff(&classed(NUMBERS), |m| match row(m) {
            (x, _, _, "no") => format!("{{0 {x}}}"),
            (x, y, _, _) => format!("{{0 {x}, 1 {y}, 2 yes}}"),
        })),
        Case::works("gaps.arff", arff(&classed(NUMBERS), |m| format!("{},{},{}", row(m).0, if m % 3 == 0 { "?".into() } else { row(m).1.to_string() }, row(m).3))),
        Case::works("text_ids.arff", arff(&classed(&format!("@attribute id string\n{NUMBERS}")), |m| format!("'case {m}',{}", dense(m))))
            .tells("`id` names or numbers the rows"),
        Case::works("integers.arff", arff(&classed("@attribute x integer\n@attribute y INTEGER\n"), |m| {
            format!("{},{},{}", m * 7 % 10 + 3 * (m % 2), m * 3 % 10, row(m).3)
        })),
        Case::works("unicode.arff", arff("@attribute größe numeric\n@attribute y real\n@attribute class {nein,ja}", |m| {
            dense(m).replace("yes", "ja").replace("no", "nein")
        })),
        Case::works("date_left_out.arff", arff(&classed(&format!("@attribute seen date 'yyyy-MM-dd'\n{NUMBERS}")), |m| format!("2021-01-02,{}", dense(m))))
            .with(&["--ignore", "seen"]),
        Case::refused("date.arff", arff(&classed(&format!("@attribute seen date 'yyyy-MM-dd'\n{NUMBERS}")), |m| format!("2021-01-02,{}", dense(m))), "attribute `seen` has the type `date`", "`--ignore`"),
        Case::refused("weights.arff", arff(&classed(NUMBERS), |m| format!("{},{{2}}", dense(m))), "weight", "`--weights`"),
        Case::refused("undeclared.arff", arff(&classed(NUMBERS), |m| dense(m).replace("yes", "maybe")), "`maybe` is not one of the declared values", "declared list"),
        Case::refused("word.arff", arff(&classed(NUMBERS), |m| dense(m).replace("10.25", "ten")), "is not a number", "`?`"),
        Case::refused("twice.arff", arff(&classed("@attribute x numeric\n@attribute x real\n"), dense), "`x` occurs twice", "rename"),
        Case::refused("no_data.arff", "@relation r\n@attribute x numeric\n", "@data", "@data"),
    ]
}

/// Runs one case; what is wrong, if anything.
fn trouble(case: &Case) -> Option<String> {
    let folder = Folder::new();
    folder.write(case.file, &case.bytes);
    let own = |command: &[&str]| -> Vec<String> {
        command.iter().chain(&case.options).map(|s| s.to_string()).collect()
    };
    for model in MODELS {
        let fit = folder.run_words(&own(&[
            "fit",
            case.file,
            "--target",
            case.target,
            "--model",
            model,
            "-o",
            "m.hgn",
        ]));
        let lacks = case.told.iter().find(|told| !fit.stderr.contains(*told));
        let expected = if case.is_refused { Some(3) } else { Some(0) };
        if fit.code != expected || lacks.is_some() || fit.stderr.contains('\u{1b}') {
            return Some(format!("lacks {lacks:?}: {}", fit.show()));
        }
        if case.is_refused {
            return None;
        }
        let mut words = own(&["predict", "m.hgn", case.file]);
        words.retain(|word| word != "--drop-unlabelled");
        let predict = folder.run_words(&words);
        if predict.code != Some(0) || predict.stdout.lines().count() != ROWS + 1 {
            return Some(predict.show());
        }
    }
    let models = MODELS.iter().flat_map(|model| ["--model", model]);
    let words: Vec<&str> =
        ["evaluate", case.file, "--target", case.target, "--folds", "2"].into_iter().chain(models).collect();
    let evaluate = folder.run_words(&own(&words));
    (evaluate.code != Some(0)).then(|| evaluate.show())
}

#[test]
fn awkward_files_work_or_are_refused_with_an_exact_message() {
    let cases: Vec<Case> = [csv_cases(), refused_csv_cases(), arff_cases()].into_iter().flatten().collect();
    assert!(cases.len() > 75, "{}", cases.len());
    let troubles: Vec<String> =
        cases.iter().filter_map(|case| Some(format!("{}: {}", case.file, trouble(case)?))).collect();
    assert!(troubles.is_empty(), "{} of {}\n{}", troubles.len(), cases.len(), troubles.join("\n\n"));
}

/// A declared class without rows gets no probability from density models, whatever else is asked of them.
#[test]
fn density_models_take_tables_with_an_empty_declared_class() {
    let text = arff(&format!("{NUMBERS}@attribute class {{no,never,yes}}"), |m| {
        format!("{},{},{}", row(m).0, row(m).1, row(m).3)
    });
    let folder = Folder::with(&[("d.arff", &text), ("two.arff", &text.replace("never,", ""))]);
    for model in ["slb", "slb-all", "lu", "kde-nb", "kde-tan", "kde-forest", "slb,anchor=nb"] {
        let fit = |data: &str| {
            folder.succeeds(&format!("fit {data}.arff --target class --model {model} -o {data}.hgn"))
        };
        fit("d");
        fit("two");
        let predicted = |data: &str| folder.run(&format!("predict {data}.hgn {data}.arff --proba")).stdout;
        let without: String = predicted("d")
            .lines()
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                assert!(["p_never", "0"].contains(&cells[3]), "{model}: {line}");
                format!("{},{},{},{}\n", cells[0], cells[1], cells[2], cells[4])
            })
            .collect();
        assert_eq!(without, predicted("two"), "{model}");
        for kind in ["shapley", "terms"] {
            folder.succeeds(&format!("explain d.hgn d.arff --row 3 --kind {kind}"));
        }
        folder.succeeds("inspect d.hgn --format html --data d.arff -o page.html");
    }
}
