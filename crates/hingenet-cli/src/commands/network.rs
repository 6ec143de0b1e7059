//! `hingenet network`

use super::Run;
use crate::failure::usage;
use crate::options::seconds;
use crate::output::{self, Files};
use crate::page;
use crate::pieces::{ALL_ROWS, Pieces, is_too_large, leaves_no_room};
use crate::reader::LabelledReader;
use crate::session::Session;
use crate::show::{self, count};
use anyhow::{Result, anyhow};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use hingenet::model::{Dataset, Knowledge, PieceTable};
use hingenet::report::{Chance, Change, ClassNetwork, NetworkDifference, NetworkReport, WeightDifference};
use hingenet::table::{Codes, Table};
use hingenet::{Control, Error};
use hingenet_gaussian::StructureMethod;
use hingenet_gaussian::structure::{ALPHA, METHODS, STUDY_ROUNDS, SearchParams, Start};
use hingenet_gaussian::study::{
    ContrastParams, NetworkStudy, Resampling, StudyParams, node_names, study_moments, study_networks,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Arcs printed.
const SHOWN: usize = 20;

#[derive(Args)]
#[command(
    after_help = "Files: --truth has the columns from,to; --arcs from,to,rule with the rules forbidden and required;\n\
    --nodes node and any of group,tier,x,y,z. Nodes are columns; a categorical column with K categories\n\
    makes K - 1 nodes named column=category."
)]
pub struct Network {
    /// Rows to learn from: CSV, ARFF, Parquet or Arrow, plain or gzip; a folder or a pattern such as 'part-*.csv' for
    /// several files; - reads stdin
    data: PathBuf,
    /// Column whose classes get networks of their own; one network for all rows if not given
    #[arg(long, value_name = "COL")]
    target: Option<String>,
    /// How the graph is learnt
    #[arg(long, value_enum, default_value = "search")]
    method: MethodName,
    /// Level of the tests of `pc`, `gs`, `tc` and the like; 0.05 if not given
    #[arg(long, value_name = "P")]
    alpha: Option<f64>,
    /// Penalty of an arc for `or` and `h`; 0.6 for each row of the class if not given
    #[arg(long, value_name = "X")]
    lambda1: Option<f64>,
    /// Where `or` begins
    #[arg(long, value_enum, default_value = "lasso")]
    start: StartName,
    /// Penalty of an arc for `search`, in units of log n
    #[arg(long, value_name = "C", default_value_t = 2.0)]
    penalty: f64,
    /// Rounds of `search`
    #[arg(long, value_name = "N", default_value_t = STUDY_ROUNDS)]
    rounds: usize,
    /// Smallest weight of an arc that is shown, on standardised values
    #[arg(long, value_name = "W", default_value_t = 0.01)]
    cutoff: f64,
    /// Learn again on N resampled data sets: how sure the arcs are, intervals of differences
    #[arg(long, value_name = "N")]
    bootstrap: Option<usize>,
    /// Draw half of the rows without replacement instead of all with replacement (stability selection)
    #[arg(long, requires = "bootstrap")]
    half_samples: bool,
    /// Shuffle the classes N times to see which differences between them are more than chance; 0 leaves that out
    #[arg(long, value_name = "N", default_value_t = ContrastParams::default().shuffles, requires = "target")]
    shuffles: usize,
    /// Largest share of the reported differences that shuffled classes give too
    #[arg(long, value_name = "P", default_value_t = ContrastParams::default().level)]
    level: f64,
    /// Give up if it is not done after this time
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    max_time: Option<Duration>,
    /// True arcs to compare with
    #[arg(long, value_name = "EDGES.csv")]
    truth: Option<PathBuf>,
    /// Forbidden and required arcs
    #[arg(long, value_name = "FILE")]
    arcs: Option<PathBuf>,
    /// Groups, tiers and coordinates of nodes
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    /// File to write, by its ending: .json, .dot, .svg or .html; may be given several times; - is JSON to stdout
    #[arg(short, long, value_name = "NET.json|.dot|.svg|.html")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    reader: LabelledReader,
}

/// Features, and the codes and names of the classes.
type Rows = (Table, Option<(Codes, Vec<String>)>);

/// Networks, and what they were learnt from.
struct Learnt {
    study: NetworkStudy,
    known: Knowledge,
    columns: usize,
    missing_cells: usize,
}

/// A row of the table of methods.
#[derive(Clone, Copy)]
struct MethodName(&'static (&'static str, StructureMethod, &'static str));

impl ValueEnum for MethodName {
    fn value_variants<'a>() -> &'a [Self] {
        const { &variants() }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, _, words) = self.0;
        Some(PossibleValue::new(*name).help(*words))
    }
}

const fn variants() -> [MethodName; METHODS.len()] {
    let mut all = [MethodName(&METHODS[0]); METHODS.len()];
    let mut k = 1;
    while k < METHODS.len() {
        all[k] = MethodName(&METHODS[k]);
        k += 1;
    }
    all
}

#[derive(Clone, Copy, ValueEnum)]
enum StartName {
    /// The lasso of every node on all others
    Lasso,
    /// The neighbourhoods of `l1mb`, as in the paper's second experiment; slower
    L1mb,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Json,
    Dot,
    Svg,
    Html,
}

impl Run for Network {
    fn files(&self) -> Result<Files> {
        let known = [&self.truth, &self.arcs, &self.nodes].into_iter().flatten();
        Ok(Files::default().reads([&self.data]).reads(known).writes(&self.output))
    }

    fn run(&self, session: &Session) -> Result<()> {
        let formats = self.output.iter().map(|p| format_of(p)).collect::<Result<Vec<_>>>()?;
        let report = self.learn(session)?;
        session.done();
        if !self.output.iter().any(|p| !output::is_file(p)) {
            output::write_text(None, &describe(&report))?;
        }
        for (path, format) in self.output.iter().zip(formats) {
            output::write(Some(path), render(&report, format)?.as_bytes())?;
            session.wrote(path, "");
        }
        Ok(())
    }
}

impl Network {
    fn params(&self, session: &Session) -> StudyParams {
        let draw = if self.half_samples { Resampling::HalfSamples } else { Resampling::Bootstrap };
        StudyParams {
            method: self.method.0.1,
            lambda1: self.lambda1,
            start: match self.start {
                StartName::Lasso => Start::Lasso,
                StartName::L1mb => Start::L1mb,
            },
            alpha: self.alpha,
            search: SearchParams { penalty: self.penalty, rounds: self.rounds, seed: session.seed },
            cutoff: self.cutoff,
            resampling: self.bootstrap.map(|runs| (draw, runs)),
            contrast: (self.shuffles > 0)
                .then_some(ContrastParams { level: self.level, shuffles: self.shuffles }),
        }
    }

    fn learn(&self, session: &Session) -> Result<NetworkReport> {
        let params = self.params(session);
        params.check()?;
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut control = session.control.keeping_warnings(&warnings);
        if let Some(time) = self.max_time {
            control = control.at_most(time);
        }
        let Learnt { study, known, columns, missing_cells } = match self.read(session) {
            Ok(rows) => {
                let can_be_pieces = self.bootstrap.is_none() && rows.0.n_missing() == 0;
                match self.at_hand(rows, &params, &control) {
                    Err(error) if can_be_pieces && leaves_no_room(&error, &self.data) => {
                        session.detail("networks of all rows at once would take too much memory");
                        self.in_pieces(params, session, &control)?
                    }
                    learnt => learnt?,
                }
            }
            Err(error) if is_too_large(&error, &self.data) => self.in_pieces(params, session, &control)?,
            Err(error) => return Err(error),
        };
        let mut report = NetworkReport::of_study(&study, self.cutoff, &known.facts, known.truth.as_ref())?;
        report.source = page::file_name(&self.data);
        report.target = self.target.clone();
        report.method = self.method_words();
        for warning in warnings.lock().map(|w| w.clone()).unwrap_or_default() {
            if !report.origin.warnings.contains(&warning) {
                report.origin.warnings.push(warning);
            }
        }
        report.origin.facts = self.facts(columns, missing_cells, session.seed);
        Ok(report)
    }

    /// Networks of rows that are all at hand.
    fn at_hand(&self, (table, class): Rows, params: &StudyParams, control: &Control) -> Result<Learnt> {
        let known = self.knowledge(&node_names(&table)?)?;
        let class = class.as_ref().map(|(codes, names)| (codes, names.as_slice()));
        let study = study_networks(&table, None, class, &known.constraints, params, control)?;
        Ok(Learnt { study, known, columns: table.n_columns(), missing_cells: table.n_missing() })
    }

    /// Networks of the moments of a table that does not fit into memory.
    fn in_pieces(&self, mut params: StudyParams, session: &Session, control: &Control) -> Result<Learnt> {
        if self.bootstrap.is_some() {
            let problem =
                "the table does not fit into memory, and rows that are read in pieces cannot be drawn again";
            let hint = "leave out --bootstrap, give fewer rows, or allow more (`--max-memory`)";
            return Err(Error::data(problem, hint).into());
        }
        let pieces = Pieces::open(&self.data, (self.target.as_deref(), None), &self.reader, session)?;
        let read = |options: &_, hand_on: &mut dyn FnMut(_) -> _| pieces.read(options, hand_on);
        let target = self.target.as_deref().unwrap_or(ALL_ROWS);
        let table = PieceTable::scan(target, None, &pieces.options, control, &read)?;
        pieces.tell_left_out(session);
        if params.contrast.take().is_some() && self.target.is_some() {
            control.warn(
                "the table does not fit into memory: whether differences of the classes are more than chance is not \
                 tested (`--shuffles`)",
            );
        }
        let moments = table.moments(control)?;
        let known = self.knowledge(&moments.node_names()?)?;
        let classes = self.target.as_ref().map(|_| table.classes());
        let study = study_moments(&moments, classes, &known.constraints, &params, control)?;
        let (columns, missing_cells) = (table.schema().features.len(), table.missing_cells);
        Ok(Learnt { study, known, columns, missing_cells })
    }

    fn knowledge(&self, names: &[String]) -> Result<Knowledge> {
        let (nodes, arcs, truth) = (self.nodes.as_deref(), self.arcs.as_deref(), self.truth.as_deref());
        Ok(Knowledge::read(names, nodes, arcs, truth)?)
    }

    /// The features, and the codes and names of the classes where there is a target.
    fn read(&self, session: &Session) -> Result<Rows> {
        match &self.target {
            None => Ok((self.reader.plain.unlabelled(&self.data, session)?.0, None)),
            Some(target) => {
                let (table, places) = self.reader.labelled(&self.data, target, session)?;
                let data = places.locate(Dataset::new(table, target, None))?;
                self.reader.judge(&data, session)?;
                Ok((data.features, Some((data.class, data.classes))))
            }
        }
    }

    fn method_words(&self) -> String {
        let (_, method, sentence) = self.method.0;
        match method {
            StructureMethod::Search => {
                format!("order search, penalty {} log n, {}", self.penalty, count(self.rounds, "round"))
            }
            StructureMethod::Or => format!("OR-SGBN{}, {}", self.start_words(), self.lambda1_words()),
            StructureMethod::OrPrinted => {
                format!("Algorithm 3 as printed{}, {}", self.start_words(), self.lambda1_words())
            }
            StructureMethod::H => format!("H-SGBN, {}", self.lambda1_words()),
            StructureMethod::HWhole => format!("H-SGBN of the whole network, {}", self.lambda1_words()),
            StructureMethod::Tests(_) => {
                let name = sentence.split(':').next().unwrap_or_default();
                format!("{name}, Fisher z tests, alpha {}", self.alpha.unwrap_or(ALPHA))
            }
            StructureMethod::L1mb => "L1MB by BIC".into(),
        }
    }

    fn start_words(&self) -> &str {
        match self.start {
            StartName::Lasso => "",
            StartName::L1mb => " from L1MB",
        }
    }

    fn lambda1_words(&self) -> String {
        self.lambda1.map_or("lambda1 0.6 for each row".into(), |l| format!("lambda1 {l}"))
    }

    fn facts(&self, columns: usize, missing_cells: usize, seed: u64) -> Vec<(String, String)> {
        let mut facts = vec![
            ("method".to_string(), self.method_words()),
            ("columns".to_string(), columns.to_string()),
            ("missing cells".to_string(), missing_cells.to_string()),
            ("smallest weight shown".to_string(), self.cutoff.to_string()),
            ("seed".to_string(), seed.to_string()),
        ];
        if let Some(runs) = self.bootstrap {
            let kind = if self.half_samples { "half samples" } else { "bootstrap samples" };
            facts.push(("resampling".to_string(), format!("{runs} {kind}")));
        }
        facts
    }
}

fn format_of(path: &Path) -> Result<Format> {
    if !output::is_file(path) {
        return Ok(Format::Json);
    }
    match path.extension().and_then(|e| e.to_str()) {
        Some("json") => Ok(Format::Json),
        Some("dot" | "gv") => Ok(Format::Dot),
        Some("svg") => Ok(Format::Svg),
        Some("html" | "htm") => Ok(Format::Html),
        _ => Err(usage(
            format!("{}: the ending says no format", path.display()),
            "use .json, .dot, .svg or .html",
        )),
    }
}

fn render(report: &NetworkReport, format: Format) -> Result<String> {
    Ok(match format {
        Format::Json => output::json(report)?,
        Format::Dot => report.to_dot(),
        Format::Svg => hingenet_view::network::networks_svg(report),
        Format::Html => hingenet_view::network_page(report).map_err(|e| anyhow!("the page failed: {e}"))?,
    })
}

/// The networks in a few tables.
fn describe(report: &NetworkReport) -> String {
    let mut text = format!("{}, {}\n\n", count(report.nodes.len(), "node"), report.method);
    let name = |n: &ClassNetwork| n.class.clone().unwrap_or("all rows".into());
    let row = |n: &ClassNetwork| {
        vec![
            name(n),
            n.rows.unwrap_or(0).to_string(),
            n.arcs.len().to_string(),
            n.arcs.iter().filter(|a| !a.is_compelled).count().to_string(),
            n.log_likelihood.map_or("-".into(), |l| format!("{l:.2}")),
        ]
    };
    text += &show::table(
        &["network", "rows", "arcs", "direction open", "log-likelihood"],
        report.networks.iter().map(row),
    );
    for comparison in &report.comparisons {
        let found: Vec<&WeightDifference> = report.reported(comparison).collect();
        text += &format!("\n{}", comparison_words(comparison, &found));
    }
    text += &format!("\n{}", strongest(report));
    if report.networks.iter().any(|n| n.errors.is_some()) {
        text += &format!("\nErrors against the true graph\n{}", errors(report));
    }
    text
}

/// What differs by more than chance, and the networks learnt apart.
fn comparison_words(d: &NetworkDifference, found: &[&WeightDifference]) -> String {
    let head = format!("class {} against class {}: ", d.second, d.first);
    let Some(Chance { asked, expected_false, gained, lost }) = &d.chance else {
        return format!("{head}{}\n", apart_words(d));
    };
    let mut text = format!(
        "{head}{} of {asked} arcs of a common graph differ in weight; {expected_false:.2} expected by chance\n",
        found.len()
    );
    if !found.is_empty() {
        let row = |a: &&WeightDifference| {
            vec![
                format!("{} -> {}", a.from, a.to),
                format!("{:+.3}", a.weight_first),
                format!("{:+.3}", a.weight_second),
                format!("{:+.1}", a.z),
                show::percent(a.support),
            ]
        };
        let header = ["arc", &d.first, &d.second, "in standard errors", "% of half samples"];
        text += &show::table(&header, found.iter().take(SHOWN).map(row));
    }
    text + &format!(
        "learnt apart: {}; with the classes shuffled {gained:.0} gained, {lost:.0} lost on average\n",
        apart_words(d)
    )
}

fn apart_words(d: &NetworkDifference) -> String {
    format!(
        "{} gained, {} lost, {} reversed, {} changed, {} kept",
        d.count(Change::Gained),
        d.count(Change::Lost),
        d.count(Change::Reversed),
        d.count(Change::Changed),
        d.count(Change::Kept)
    )
}

fn strongest(report: &NetworkReport) -> String {
    let mut arcs: Vec<_> = report.networks.iter().flat_map(|n| n.arcs.iter().map(move |a| (n, a))).collect();
    let total = arcs.len();
    if total == 0 {
        return "No arcs\n".into();
    }
    arcs.sort_by(|a, b| b.1.weight.abs().total_cmp(&a.1.weight.abs()));
    let resampled = arcs.iter().any(|(_, a)| a.confidence.is_some());
    let mut header = vec!["arc", "network", "weight"];
    if resampled {
        header.push("in % of runs");
    }
    let rows = arcs.iter().take(SHOWN).map(|(n, a)| {
        let line = if a.is_compelled { "->" } else { "--" };
        let mut row = vec![
            format!("{} {line} {}", a.from, a.to),
            n.class.clone().unwrap_or("all rows".into()),
            format!("{:+.3}", a.weight),
        ];
        if resampled {
            row.push(a.confidence.map_or("-".into(), |c| show::percent(c.arc)));
        }
        row
    });
    let head = if total > SHOWN { format!("The {SHOWN} strongest of {total} arcs") } else { "Arcs".into() };
    let open = "-- : the direction is open, turning the arc round fits as well\n";
    let open = if arcs.iter().take(SHOWN).any(|(_, a)| !a.is_compelled) { open } else { "" };
    format!("{head}\n{}{open}", show::table(&header, rows))
}

fn errors(report: &NetworkReport) -> String {
    let header =
        ["network", "wrong", "missing", "total", "reversed", "skeleton", "SHD", "class errors", "class SHD"];
    let rows = report.networks.iter().filter_map(|n| {
        let e = n.errors?;
        let counts =
            [e.false_positive, e.missing, e.total, e.reversed, e.skeleton, e.shd, e.class_total, e.pdag_shd];
        let name = n.class.clone().unwrap_or("all rows".into());
        Some(std::iter::once(name).chain(counts.iter().map(usize::to_string)).collect())
    });
    show::table(&header, rows)
}
