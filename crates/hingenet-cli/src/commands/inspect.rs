//! `hingenet inspect`

use super::Run;
use crate::failure::usage;
use crate::options::Comparison;
use crate::output::{self, Files};
use crate::page;
use crate::session::Session;
use crate::show::{self, count};
use anyhow::Result;
use clap::{Args, ValueEnum};
use hingenet::model::{Fitted, Model};
use hingenet::report::{
    FeatureImportance, Importance, ModelReport, NetworkPicture, NetworkReport, PictureArc, choice_words,
};
use hingenet::table::{FeatureKind, Table};
use hingenet_data::encode::FeatureCoder;
use hingenet_pool::PoolSummary;
use hingenet_view::network::{network_svg, networks_svg};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Arcs of a network that the text lists.
const ARCS: usize = 20;

#[derive(Args)]
pub struct Inspect {
    /// Model file made by `hingenet fit`
    model: PathBuf,
    /// What to write. `json` is the header of the file, and of a pool what its terms are and how much they count
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// File to write; stdout if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rows to say how much each feature moves decisions (in `text`, `json` and `html`), and to explain some of them (`html`)
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Row of that file to explain, counted from 1; may be given several times; the first three if not given
    #[arg(long = "row", value_name = "N", requires = "data")]
    rows: Vec<usize>,
    /// Coordinates of the features (columns node,x,y and z), where the explorer of `html` shows them
    #[arg(long, value_name = "FILE")]
    nodes: Option<PathBuf>,
    #[command(flatten)]
    comparison: Comparison,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Dot,
    Svg,
    Bif,
    Xmlbif,
    Html,
}

impl Run for Inspect {
    fn files(&self) -> Result<Files> {
        let inputs = std::iter::once(&self.model).chain(&self.data).chain(&self.nodes);
        Ok(Files::default().reads(inputs).writes_result(self.output.as_ref()))
    }

    fn run(&self, session: &Session) -> Result<()> {
        self.write(session)?;
        session.wrote(self.output.as_ref(), "");
        Ok(())
    }
}

impl Inspect {
    /// Parameters of a Gaussian model that discriminative learning moved; none where it moved nothing.
    fn moved(&self) -> Result<Option<Value>> {
        let networks = NetworkReport::of_model(&Model::load(&self.model)?)?;
        let moved = networks.map(|n| n.moved).filter(|moved| !moved.is_empty());
        Ok(moved.map(serde_json::to_value).transpose()?)
    }

    fn write(&self, session: &Session) -> Result<()> {
        let text = match self.format {
            Format::Json => {
                let mut header = header(&self.model)?;
                if header["family"] == "gaussian"
                    && let (Value::Object(fields), Some(moved)) = (&mut header, self.moved()?)
                {
                    fields.insert("moved".into(), moved);
                }
                if let (Value::Object(fields), Some(importance)) = (&mut header, self.importance(session)?) {
                    fields.insert("importance".into(), serde_json::to_value(importance)?);
                }
                output::json(&header)?
            }
            Format::Text => {
                let model = Model::load(&self.model)?;
                let text = describe(&model) + &arcs(&model)? + &self.importances(session)?;
                return output::write_text(self.output.as_ref(), &text);
            }
            Format::Dot => {
                let model = Model::load(&self.model)?;
                if let Some(networks) = NetworkReport::of_model(&model)? {
                    return output::write(self.output.as_ref(), networks.to_dot().as_bytes());
                }
                model.network()?.to_dot()
            }
            Format::Svg => {
                let model = Model::load(&self.model)?;
                if let Some(networks) = NetworkReport::of_model(&model)? {
                    return output::write(self.output.as_ref(), networks_svg(&networks).as_bytes());
                }
                network_svg(&NetworkPicture::of_model(&model)?)
            }
            Format::Html => {
                let model = Model::load(&self.model)?;
                let (report, rows) = self.report(&model, session)?;
                let exploration = page::exploration(&model, &report, rows.as_ref(), self.nodes.as_deref())?;
                return page::model(self.output.as_ref(), &report, exploration.as_ref());
            }
            Format::Bif => Model::load(&self.model)?.network()?.to_bif(),
            Format::Xmlbif => Model::load(&self.model)?.network()?.to_xmlbif(),
        };
        output::write(self.output.as_ref(), text.as_bytes())
    }

    /// The report, and the rows it was made with.
    fn report(&self, model: &Model, session: &Session) -> Result<(ModelReport, Option<Table>)> {
        let Some(data) = &self.data else {
            return Ok((ModelReport::of(model, &Table::default(), &[])?, None));
        };
        let (table, places) = self.comparison.reader.aligned(data, model, session)?;
        let n = table.n_rows();
        if let Some(row) = self.rows.iter().find(|&&row| row == 0 || row > n) {
            return Err(usage(
                format!("--row {row}: there is no such row"),
                format!("rows are counted from 1 to {n}"),
            ));
        }
        let chosen: Vec<usize> = if self.rows.is_empty() {
            (0..n.min(3)).collect()
        } else {
            self.rows.iter().map(|r| r - 1).collect()
        };
        let mut report = places.locate(ModelReport::of(model, &table, &chosen))?;
        report.importance = Some(Importance::of(model, &table, session.seed, &session.control)?);
        let report = page::judged(report, model, &table, &self.comparison, session)?;
        Ok((report, Some(table)))
    }

    /// What the decisions about the rows of `--data` rest on.
    fn importance(&self, session: &Session) -> Result<Option<Importance>> {
        let Some(data) = &self.data else { return Ok(None) };
        let model = Model::load(&self.model)?;
        let (table, places) = self.comparison.reader.aligned(data, &model, session)?;
        Ok(Some(places.locate(Importance::of(&model, &table, session.seed, &session.control))?))
    }

    /// The same as a table.
    fn importances(&self, session: &Session) -> Result<String> {
        let Some(importance) = self.importance(session)? else { return Ok(String::new()) };
        let row =
            |f: &FeatureImportance| vec![f.feature.clone(), format!("{:.4}", f.mean), format!("{:.4}", f.sd)];
        let head = ["importance", "mean absolute Shapley value", "standard deviation"];
        let table = show::table(&head, importance.features.iter().map(row));
        Ok(format!(
            "\n{table}\nlog-odds of the class each row is given, over {}\n",
            count(importance.rows, "row")
        ))
    }
}

/// The header of a model file that loads; for a pool with its terms, weights and choices, which stand in the sections.
fn header(path: &Path) -> Result<Value> {
    let model = Model::load(path)?;
    let mut header = Model::read_header(path)?;
    if let (Some(summary), Value::Object(fields)) = (model.pool_summary(), &mut header) {
        fields.insert("pool".into(), serde_json::to_value(summary)?);
    }
    Ok(header)
}

/// Terms and weights of a pool.
fn pool_lines(pool: &PoolSummary) -> Vec<String> {
    let at: Vec<String> = pool.missing.iter().map(|m| format!("{:.0} %", 100.0 * m)).collect();
    let keeps = match pool.prototypes {
        None => {
            format!(
                "{} and {}",
                count(pool.kept_rows, "training row"),
                count(pool.support_rows, "support row")
            )
        }
        Some(of) => {
            let prototypes = count(of.count, "prototype");
            format!("no training rows, but {prototypes}, each of {} rows or more", of.least_rows)
        }
    };
    let mut lines = vec![
        format!("keeps       {keeps}"),
        format!("weights     of the terms when so much is missing: {}", at.join(", ")),
    ];
    lines.extend(pool.terms.iter().map(|t| {
        let weights: Vec<String> = t.weights.iter().map(|w| format!("{w:.2}")).collect();
        format!("  {}: {}  {}", t.name, weights.join(" "), t.model)
    }));
    lines.extend(pool.gaps.iter().map(|gaps| {
        let (columns, gain) = (gaps.columns.join(", "), gaps.gain);
        format!(
            "gaps        tell the class in {columns}: log-loss {:.4} lower (standard error {:.4})",
            gain.mean, gain.error
        )
    }));
    lines
}

fn describe(model: &Model) -> String {
    let facts = &model.facts;
    let mut lines = vec![
        format!("model       {}", model.spec),
        format!("target      {}: {}", model.target, model.classes.join(", ")),
        format!(
            "trained on  {}, {} missing, seed {}",
            count(facts.rows, "row"),
            count(facts.missing_cells, "cell"),
            facts.seed
        ),
    ];
    lines.extend(facts.chosen.iter().map(|(key, value)| {
        let (option, value) = choice_words(key, *value);
        format!("chosen      {option} = {value}")
    }));
    lines.extend(facts.solver.iter().map(|s| {
        let end = if s.converged { "converged" } else { "not converged" };
        let gap = s.gap.map(|g| format!(", gap {g:.2e}")).unwrap_or_default();
        format!(
            "solver      {}: {end}, {} iterations, objective {:.6}{gap}",
            s.method, s.iterations, s.objective
        )
    }));
    lines.extend(model.pool_summary().iter().flat_map(pool_lines));
    lines.extend(facts.warnings.iter().map(|w| format!("warning     {w}")));
    lines.push(format!("features    {}", model.schema.features.len()));
    lines.extend(model.schema.features.iter().enumerate().map(|(i, f)| match &f.kind {
        FeatureKind::Numeric => format!("  {}: number{}", f.name, cuts(model, i)),
        FeatureKind::Categorical { categories } => format!("  {}: {}", f.name, shortened(categories)),
    }));
    lines.join("\n") + "\n"
}

/// Where a discrete model cuts a number.
fn cuts(model: &Model, feature: usize) -> String {
    let coders = match &model.fitted {
        Fitted::Discrete(fitted) => fitted.coders(),
        Fitted::Averaged(fitted) => fitted.coders(),
        _ => return String::new(),
    };
    match &coders[feature] {
        FeatureCoder::Cuts { cuts } if cuts.is_empty() => ", not cut and so not used".into(),
        FeatureCoder::Cuts { cuts } => {
            let cuts: Vec<String> = cuts.iter().map(f64::to_string).collect();
            format!(", cut at {}", cuts.join(", "))
        }
        FeatureCoder::Categories { .. } => String::new(),
    }
}

/// The arcs between features of every network of the model, the strongest first.
fn arcs(model: &Model) -> Result<String> {
    let pictures = match &model.fitted {
        Fitted::Discrete(_) | Fitted::Density(_) | Fitted::Gaussian(_) => {
            NetworkPicture::all_of_model(model)?
        }
        _ => Vec::new(),
    };
    Ok(pictures.iter().map(|picture| arcs_of(picture, pictures.len() > 1)).collect())
}

fn arcs_of(picture: &NetworkPicture, is_one_of_many: bool) -> String {
    let NetworkPicture { nodes, arcs, strength, is_directed, title } = picture;
    let mut between: Vec<&PictureArc> =
        arcs.iter().filter(|a| !nodes[a.from].is_class && !nodes[a.to].is_class).collect();
    between.sort_by(|a, b| b.strength.abs().total_cmp(&a.strength.abs()));
    let of = if is_one_of_many { format!(" of {title}") } else { String::new() };
    let (kind, line) = if *is_directed { ("arc", "->") } else { ("pair", "with") };
    if between.is_empty() {
        return format!("\nno {kind}s between features{of}\n");
    }
    let row = |a: &&PictureArc| {
        let name = format!("{} {line} {}", nodes[a.from].name, nodes[a.to].name);
        vec![name, format!("{:.3}", a.strength)]
    };
    let head = [format!("{kind}{of}"), strength.clone().unwrap_or("strength".into())];
    let table = show::table(&[&head[0], &head[1]], between.iter().take(ARCS).map(row));
    let rest = between.len().saturating_sub(ARCS);
    let more = if rest > 0 {
        format!("and {}; --format dot has all\n", count(rest, &format!("weaker {kind}")))
    } else {
        String::new()
    };
    format!("\n{table}{more}")
}

/// The first categories, and how many there are.
fn shortened(categories: &[String]) -> String {
    const SHOWN: usize = 8;
    let first = categories.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if categories.len() > SHOWN { format!("{first}, ... ({} categories)", categories.len()) } else { first }
}
