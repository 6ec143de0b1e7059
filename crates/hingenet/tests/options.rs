//! Options are declared once: what is declared holds for every model, and the guide shows the same.

use hingenet::model::{ModelInfo, ModelSpec, OptionDefault, OptionInfo, OptionKind, models};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

fn all() -> impl Iterator<Item = (&'static ModelInfo, &'static OptionInfo)> {
    models().iter().flat_map(|m| m.options.iter().map(move |o| (m, o)))
}

fn spec(model: &ModelInfo, option: &OptionInfo, value: &str) -> hingenet::Result<ModelSpec> {
    format!("{},{}={value}", model.name, option.key).parse()
}

#[test]
fn a_default_is_a_value_of_its_option() {
    for (model, option) in all().filter(|(_, o)| !matches!(o.default, OptionDefault::Open(_))) {
        let written = spec(model, option, &option.default.to_string());
        assert!(written.is_ok(), "{}: {} = {}", model.name, option.key, option.default);
        if let OptionKind::Word(words) = option.kind {
            let default = option.default.to_string();
            let is_flag = words == ["false", "true"];
            assert!(
                is_flag || words[0] == default,
                "{}: {} does not begin with {default}",
                model.name,
                option.key
            );
        }
    }
}

#[test]
fn values_out_of_range_are_refused_with_the_name() {
    for (model, option) in all() {
        let bad: &[&str] = match option.kind {
            OptionKind::Number(..) => &["NaN", "inf", "-inf", "-1", "four", ""],
            OptionKind::Whole(..) => &["-1", "1.5", "NaN", "99999999999999999999", ""],
            OptionKind::Word(_) => &["nothing", "", "NaN"],
            OptionKind::Text { .. } => &[],
        };
        for value in bad {
            let error = spec(model, option, value).unwrap_err().to_string();
            assert!(error.contains(option.key) && error.contains(model.name), "{error}");
        }
    }
    for bad in [
        "slb,threshold=bonferroni:2",
        "slb,threshold=best",
        "slb,class_weights=ill:-1",
        "dag:ml,edges=a->",
        "pool,a=pool",
        "pool,g=sgbn:or+lambda1=NaN",
        "tan:ml,lambda=1",
        "tan:ml,alpha=1,alpha=2",
        "tan:ml,alpha",
    ] {
        assert!(bad.parse::<ModelSpec>().is_err(), "{bad}");
    }
}

#[test]
fn a_spec_is_written_as_it_is_read() {
    for text in [
        "nb:ml",
        "slb,c=0.5,norm=l1",
        "pool,a=tan:ml-bn-svm+lambda=4,draws=20,fast=true",
        "nb:ml,alpha=1e-12",
    ] {
        assert_eq!(text.parse::<ModelSpec>().unwrap().to_string(), text);
    }
    let json = serde_json::to_string(&"tan:ml-bn-svm,lambda=4.0".parse::<ModelSpec>().unwrap()).unwrap();
    assert_eq!(json, r#"{"name":"tan:ml-bn-svm","options":{"lambda":"4"}}"#);
}

#[test]
fn former_names_of_options_are_understood() {
    for (old, new) in [("slb,penalty=l1", "slb,norm=l1"), ("nb:mm,lambda=0.1", "nb:mm,scale=0.1")] {
        assert_eq!(old.parse::<ModelSpec>().unwrap(), new.parse().unwrap());
    }
    let file = r#"{"name":"slb","options":{"penalty":"group"}}"#;
    assert_eq!(serde_json::from_str::<ModelSpec>(file).unwrap().to_string(), "slb,norm=group");
    assert!("nb:mm,scale=0.1,lambda=0.1".parse::<ModelSpec>().is_err(), "an option given under both names");
    assert!("sgbn:or,norm=l1".parse::<ModelSpec>().is_err());
}

/// The models of a guide page, and how its name begins.
const PAGES: [(&str, &[&str]); 4] = [
    ("discrete", &["nb", "tan", "kdb1", "kdb2", "kdb3", "kdb4", "dag", "aode"]),
    ("density", &["slb", "slb-all", "lu", "kde-nb", "kde-tan", "kde-forest"]),
    ("gaussian", &["sgbn", "fisher"]),
    ("pool", &["pool"]),
];

const BEGIN: &str = "<!-- options: made from the declarations by `HINGENET_BLESS=1 cargo test -p hingenet --test options` -->\n";
const END: &str = "<!-- end of options -->\n";

/// The tables of options in the guide say what is declared; `HINGENET_BLESS=1` writes them.
#[test]
fn the_guide_shows_the_declared_options() {
    for (page, families) in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(format!("{page}.md"));
        let text = std::fs::read_to_string(&path).unwrap();
        let (before, rest) =
            text.split_once(BEGIN).unwrap_or_else(|| panic!("{page}.md has no table of options"));
        let (found, after) = rest.split_once(END).unwrap();
        let made = table(families);
        if std::env::var_os("HINGENET_BLESS").is_some() {
            std::fs::write(&path, [before, BEGIN, &made, END, after].concat()).unwrap();
        } else {
            assert_eq!(found, made, "{page}.md: run with HINGENET_BLESS=1 to write the table");
        }
    }
}

fn table(families: &[&str]) -> String {
    let of_page: Vec<&ModelInfo> = models()
        .iter()
        .filter(|m| families.contains(&m.name.split(':').next().unwrap_or_default()))
        .collect();
    // Options in the order of their first model; the same key may mean less in one of them.
    let mut rows: Vec<(String, BTreeSet<&str>)> = Vec::new();
    for model in &of_page {
        for o in model.options {
            let row = format!("{} | {} | {} |", o.kind, o.default, o.about);
            let row = format!("| `{}` | @ | {}\n", o.key, row);
            match rows.iter_mut().find(|(text, _)| *text == row) {
                Some((_, names)) => _ = names.insert(model.name),
                None => rows.push((row, BTreeSet::from([model.name]))),
            }
        }
    }
    let names: BTreeSet<&str> = of_page.iter().map(|m| m.name).collect();
    let mut text = String::from("| option | of | values | default | what it does |\n|---|---|---|---|---|\n");
    rows.iter().for_each(|(row, of)| text += &row.replacen('@', &shortened(of, &names), 1));
    text
}

/// Names of models in short: `:rule` for all graphs that know the rule, `graph:` for all rules of a graph.
fn shortened(of: &BTreeSet<&str>, all: &BTreeSet<&str>) -> String {
    if of == all {
        return "all".into();
    }
    let mut rest: BTreeSet<&str> = of.clone();
    let mut text = String::new();
    let parts: Vec<String> = all
        .iter()
        .filter_map(|n| n.split_once(':'))
        .flat_map(|(graph, rule)| [format!(":{rule}"), format!("{graph}:")])
        .collect();
    for part in parts.iter().filter(|p| p.starts_with(':')).chain(parts.iter().filter(|p| p.ends_with(':'))) {
        let named = |but: &str| -> BTreeSet<&str> {
            let is_named = |n: &&str| (n.starts_with(part) || n.ends_with(part)) && !n.starts_with(but);
            all.iter().copied().filter(is_named).collect()
        };
        // Averages of networks know less than the networks.
        for (but, note) in [("-", ""), ("aode", " (not `aode`)")] {
            let named = named(but);
            if named.len() > 1 && named.is_subset(of) && !named.is_disjoint(&rest) {
                rest.retain(|n| !named.contains(n));
                let _ = write!(text, "`{part}`{note} ");
            }
        }
    }
    rest.iter().for_each(|name| _ = write!(text, "`{name}` "));
    text.trim_end().into()
}
