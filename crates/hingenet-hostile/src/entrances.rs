//! The places where bytes from outside come in, and what is asked of each: an error, or something sound.

use crate::{answers, mutate};
use hingenet::explore::Explorer;
use hingenet::model::{Model, ModelSpec, NamedNetwork};
use hingenet::report::{NetworkPicture, NetworkReport};
use hingenet::table::{
    Codes, Column, ColumnData, Format, ReadOptions, ReadResult, Source, Table, read, write_csv,
};
use hingenet::{Control, Error};
use hingenet_data::table::{Note, read_pieces};
use hingenet_view::network::{matrices_svg, moved_svg, network_svg, networks_svg};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A place where bytes from outside come in.
pub struct Entrance {
    /// Name of the fuzz target and of the folder of its inputs.
    pub name: &'static str,
    /// Panics where the bytes break what must hold.
    pub open: fn(&[u8]),
}

impl Entrance {
    /// Model files.
    pub const MODEL_FILE: Self = Entrance { name: "model_file", open: model_file };
    /// Comma-separated values.
    pub const CSV: Self = Entrance { name: "csv", open: csv };
    /// ARFF.
    pub const ARFF: Self = Entrance { name: "arff", open: arff };
    /// Parquet, or else an Arrow file or stream.
    pub const PARQUET: Self = Entrance { name: "parquet", open: parquet };
    /// Networks in BIF.
    pub const BIF: Self =
        Entrance { name: "bif", open: |bytes| network(bytes, NamedNetwork::from_bif, NamedNetwork::to_bif) };
    /// Networks in XMLBIF.
    pub const XMLBIF: Self = Entrance {
        name: "xmlbif",
        open: |bytes| network(bytes, NamedNetwork::from_xmlbif, NamedNetwork::to_xmlbif),
    };
    /// Names of models with their options.
    pub const MODEL_NAME: Self = Entrance { name: "model_name", open: model_name };
    /// Pictures of networks.
    pub const NETWORK_JSON: Self = Entrance { name: "network_json", open: network_json };
    /// Requests of explorer pages.
    pub const EXPLORE_REQUEST: Self = Entrance { name: "explore_request", open: explore_request };

    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::MODEL_FILE,
        Self::CSV,
        Self::ARFF,
        Self::PARQUET,
        Self::BIF,
        Self::XMLBIF,
        Self::MODEL_NAME,
        Self::NETWORK_JSON,
        Self::EXPLORE_REQUEST,
    ];
}

/// Memory that a step of a reader may take: what can be small and unpack to anything is then refused.
const STEP: u64 = 16 << 20;

/// A model file as it is, and with right checksums around what stands between them: whatever loads answers with finite
/// numbers or an error.
fn model_file(bytes: &[u8]) {
    static ROWS: OnceLock<Table> = OnceLock::new();
    let rows = ROWS.get_or_init(rows);
    let resealed = mutate::resealed(bytes);
    // once, where the checksums are right already
    for file in std::iter::once(&resealed[..]).chain((bytes != resealed).then_some(bytes)) {
        let (_, problems) = answers::answered(file, rows, &answers::QUESTIONS);
        assert!(problems.is_empty(), "{problems:?}");
    }
}

/// Rows for the models of `fuzz/seeds`: usual ones, gaps, numbers far outside and an unseen category.
fn rows() -> Table {
    let numbers = |name: &str, x: [f64; 4]| Column::numeric(name, x.to_vec());
    let colours = ["red", "green", "mauve"].map(String::from).to_vec();
    let codes = Codes::from_options(3, [Some(0), Some(1), None, Some(2)].into_iter());
    Table::new(vec![
        numbers("length", [1.5, f64::NAN, f64::NAN, -1e300]),
        numbers("width", [0.5, 2.0, f64::NAN, 1e300]),
        Column::categorical("colour", colours, codes),
    ])
    .unwrap_or_else(|e| panic!("{e}"))
}

/// The table in the bytes, all of whose numbers are finite, and which is the same in pieces.
fn table(bytes: &[u8], options: &ReadOptions) -> hingenet::Result<Table> {
    let control = Control::default().within_memory(STEP);
    let ReadResult { table, notes, .. } = read(Source::reader("input", bytes), options, &control)?;
    assert!(table.require_finite().is_ok(), "{table:?}");
    // what commas are may only be told by cells of later pieces
    if !notes.iter().any(|note| matches!(note, Note::DecimalCommas { .. })) {
        in_pieces(bytes, &table, &types_given(&table, options), &control);
    }
    Ok(table)
}

/// The options that read every column as it is.
fn types_given(table: &Table, options: &ReadOptions) -> ReadOptions {
    let (numeric, categorical) =
        table.columns().iter().partition::<Vec<_>, _>(|c| matches!(c.data(), ColumnData::Numeric(_)));
    let names = |columns: Vec<&Column>| columns.iter().map(|c| c.name().to_string()).collect();
    ReadOptions { numeric: names(numeric), categorical: names(categorical), ..options.clone() }
}

/// The pieces of a table are the table. That a file is damaged may come out only where its cells are decoded in parts: then an
/// error says so, and what came before is the table's.
fn in_pieces(bytes: &[u8], whole: &Table, options: &ReadOptions, control: &Control) {
    let (most, mut row) = (whole.n_rows() / 3 + 1, 0);
    let pieces = read_pieces(Source::reader("input", bytes), options, most, control, &mut |piece| {
        for (column, part) in whole.columns().iter().zip(piece.table.columns()) {
            assert_eq!(column.name(), part.name());
            (0..part.len()).for_each(|m| assert_eq!(column.text(row + m), part.text(m), "row {}", row + m));
        }
        row += piece.table.n_rows();
        Ok(())
    });
    let is_damaged =
        |e: &Error| matches!(e, Error::File { problem, .. } if problem.contains("cannot be decoded"));
    let is_whole = pieces.is_ok() && row == whole.n_rows();
    assert!(is_whole || pieces.as_ref().is_err_and(is_damaged), "{pieces:?} in pieces of {most} rows");
}

/// A table that was read can be written and read again.
fn csv(bytes: &[u8]) {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let Ok(read) = table(bytes, &options) else { return };
    let mut written = Vec::new();
    write_csv(&read, &mut written).unwrap_or_else(|e| panic!("{e}"));
    let options = ReadOptions { delimiter: Some(b','), decimal: Some(b'.'), ..types_given(&read, &options) };
    match table(&written, &options) {
        // it begins with a name such as `<html`, and is taken for a file of another kind
        Err(Error::File { line: None, .. }) => {}
        again => assert!(again.as_ref().is_ok_and(|again| *again == read), "{read:?} became {again:?}"),
    }
}

fn arff(bytes: &[u8]) {
    let _ = table(bytes, &ReadOptions { format: Some(Format::Arff), ..ReadOptions::default() });
}

/// Parquet, or else an Arrow file or stream.
fn parquet(bytes: &[u8]) {
    let format = if bytes.starts_with(b"PAR1") { Format::Parquet } else { Format::Arrow };
    let _ = table(bytes, &ReadOptions { format: Some(format), ..ReadOptions::default() });
}

/// A network that was read has distinct names, can be turned to any class, and comes back when it is written.
fn network(
    bytes: &[u8],
    read: fn(&str) -> hingenet::Result<NamedNetwork>,
    write: fn(&NamedNetwork) -> String,
) {
    let Ok(first) = read(&String::from_utf8_lossy(bytes)) else { return };
    let is_distinct = |names: &[&str]| names.iter().collect::<BTreeSet<_>>().len() == names.len();
    let names: Vec<&str> = first.variables.iter().map(|v| v.name.as_str()).collect();
    let states = first.variables.iter().map(|v| v.states.iter().map(String::as_str).collect());
    assert!(
        is_distinct(&names) && states.collect::<Vec<Vec<_>>>().iter().all(|s| is_distinct(s)),
        "{first:?}"
    );
    let again = read(&write(&first)).unwrap_or_else(|e| panic!("{first:?} cannot be read again: {e}"));
    assert_eq!((&again.variables, again.network.structure()), (&first.variables, first.network.structure()));
    let is_near = |(a, b): (&f64, &f64)| (a.exp() - b.exp()).abs() < 1e-9;
    assert!(again.network.w().iter().zip(first.network.w()).all(is_near), "{first:?} became {again:?}");
    let last = names[names.len() - 1].to_string();
    first.with_class_first(&last).unwrap_or_else(|e| panic!("class `{last}`: {e}"));
}

/// A name of a model means the same when it is written and read again, as text and in a model file.
fn model_name(bytes: &[u8]) {
    let Ok(spec) = String::from_utf8_lossy(bytes).parse::<ModelSpec>() else { return };
    assert_eq!(spec.to_string().parse::<ModelSpec>().ok().as_ref(), Some(&spec));
    let stored = serde_json::to_string(&spec).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(serde_json::from_str::<ModelSpec>(&stored).ok().as_ref(), Some(&spec));
    spec.files();
}

/// The picture of a network, or the networks of classes, become SVG that is sound XML and shows numbers.
fn network_json(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let picture = NetworkPicture::from_json(&text).ok().map(|picture| vec![network_svg(&picture)]);
    let networks = NetworkReport::from_json(&text).ok();
    let networks = networks.map(|n| vec![networks_svg(&n), matrices_svg(&n), moved_svg(&n)]);
    for svg in picture.into_iter().chain(networks).flatten() {
        let drawn = roxmltree::Document::parse(&svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
        // names are text of others; what places things is ours
        let ours = ["d", "x", "y", "width", "height", "stroke-width", "transform"];
        let placing =
            drawn.descendants().flat_map(|node| node.attributes()).filter(|a| ours.contains(&a.name()));
        placing.for_each(|a| assert!(!a.value().contains("NaN") && !a.value().contains("inf"), "{svg}"));
    }
}

/// Whatever a page asks, models of every family that has a network answer with finite numbers, the classes with
/// probabilities.
fn explore_request(bytes: &[u8]) {
    static MODELS: OnceLock<Vec<Model>> = OnceLock::new();
    static EXPLORERS: OnceLock<Vec<Explorer>> = OnceLock::new();
    let files: [&[u8]; 4] = [
        include_bytes!("../../../fuzz/seeds/model_file/tan_ml"),
        include_bytes!("../../../fuzz/seeds/model_file/aode_ml"),
        include_bytes!("../../../fuzz/seeds/model_file/sgbn_or"),
        include_bytes!("../../../fuzz/seeds/model_file/kde_nb"),
    ];
    let load = |file: &&[u8]| Model::from_bytes(file).unwrap_or_else(|e| panic!("{e}"));
    let explore = |model| Explorer::new(model).unwrap_or_else(|e| panic!("{e}"));
    let models = MODELS.get_or_init(|| files.iter().map(load).collect());
    let explorers = EXPLORERS.get_or_init(|| models.iter().map(explore).collect());
    for (explorer, model) in explorers.iter().zip(models) {
        let Ok(answer) = explorer.answer(&String::from_utf8_lossy(bytes)) else { continue };
        assert!(is_sound(&answer), "{}: {answer}", model.spec);
    }
}

/// Whether an answer of the explorer is sound, for one set of beliefs or for each of several.
pub(crate) fn is_sound(answer: &str) -> bool {
    let read: Value = serde_json::from_str(answer).unwrap_or_else(|e| panic!("{e}: {answer}"));
    read.as_array().map_or(std::slice::from_ref(&read), Vec::as_slice).iter().all(are_sound)
}

/// Whether classes have probabilities and all that is believed of the columns is numbers; JSON has null for all others.
fn are_sound(beliefs: &Value) -> bool {
    let classes = beliefs["classes"].as_array().into_iter().flatten().map(Value::as_f64);
    let is_one = classes.sum::<Option<f64>>().is_some_and(|total| (total - 1.0).abs() < 1e-6);
    let columns = beliefs["columns"].as_array().into_iter().flatten();
    is_one && columns.filter(|column| !column.is_null()).all(|column| !column.to_string().contains("null"))
}
