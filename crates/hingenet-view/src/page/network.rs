//! The page of learnt networks: the networks of the classes side by side in one layout, how they differ, the arcs as
//! matrices with blocks, and tables of arcs, groups and nodes. The page of a Gaussian model has the same sections.

use super::{Page, Section};
use crate::chart::Figure;
use crate::network::{CHANGES, adjacency_matrix, class_panel, common_layout, difference_panel, look};
use crate::table::{Cell, DataTable};
use hingenet::report::{
    ArcChange, Chance, Change, ClassNetwork, NetworkArc, NetworkDifference, NetworkReport, WeightDifference,
};
use std::collections::BTreeMap;

/// Networks of at most so many nodes stand side by side; the names of more could not be read.
const SIDE_BY_SIDE: usize = 60;
/// Arcs listed in a table: all of any network that can be read.
const ARCS: usize = 20_000;
/// Nodes listed in a table.
const NODES: usize = 2000;
/// Blocks listed in a table.
const BLOCKS: usize = 400;

/// The networks as one HTML file. An error can only come from the page's own template.
pub fn network_page(report: &NetworkReport) -> Result<String, String> {
    let mut parts = sections(report);
    parts.extend(recovery(report));
    parts.push(Section::facts("How the networks came about.".into(), "Facts", &report.origin));
    let rows: usize = report.networks.iter().filter_map(|n| n.rows).sum();
    let mut about =
        vec![format!("{rows} rows"), format!("{} nodes", report.nodes.len()), report.method.clone()];
    about.extend(report.target.as_ref().map(|t| format!("one network for each class of column {t}")));
    let page = Page {
        title: report.source.clone(),
        kind: "Sparse Gaussian networks".into(),
        facts: about,
        verdict: verdict(report),
        sections: parts,
        ..Page::default()
    };
    page.html().map_err(|e| e.to_string())
}

/// The sections that a page of networks and the page of a Gaussian model share.
pub(super) fn sections(report: &NetworkReport) -> Vec<Section> {
    let mut list = vec![networks(report)];
    list.extend(moved(report));
    list.extend(differences(report));
    list.extend(apart(report));
    list.push(matrices(report));
    list.push(arcs(report));
    list.extend(confidence(report));
    list.extend(groups(report));
    list.push(nodes(report));
    list
}

/// The answer in a sentence or two.
fn verdict(report: &NetworkReport) -> String {
    let arcs = |n: &ClassNetwork| match &n.class {
        Some(class) => format!("{} arcs in class {class}", n.arcs.len()),
        None => format!("{} arcs", n.arcs.len()),
    };
    let counts: Vec<String> = report.networks.iter().map(arcs).collect();
    let mut text = format!("{}.", counts.join(", "));
    for d in &report.comparisons {
        let words = match &d.chance {
            Some(chance) => found_words(report.reported(d).count(), chance),
            None => change_counts(d),
        };
        text += &format!(" Class {} against class {}: {words}.", d.second, d.first);
    }
    text
}

fn found_words(count: usize, chance: &Chance) -> String {
    let Chance { asked, expected_false, .. } = chance;
    let verb = if count == 1 { "differs" } else { "differ" };
    format!("{count} of {asked} arcs {verb} in weight, {expected_false:.2} expected by chance")
}

fn change_counts(d: &NetworkDifference) -> String {
    let count = |(change, _, _, name): &(Change, &str, &str, &str)| format!("{} {name}", d.count(*change));
    CHANGES.iter().map(count).collect::<Vec<_>>().join(", ")
}

fn networks(report: &NetworkReport) -> Section {
    let several = report.networks.len() > 1;
    let mut section = Section::new(
        "network",
        if several { "Networks of the classes" } else { "Network" },
        "An arc from a node to another means that the second depends directly on the first. The wider an arc, the larger \
         its weight on standardised values.",
    );
    if several {
        section.text.push("All classes have the same layout, so that arcs can be compared by eye.".into());
    }
    section.keys = vec![
        key("", "", false, "positive weight"),
        key("negative", "", false, "negative weight"),
        key("", "", true, "direction open: turning the arc round fits as well"),
    ];
    let layout = common_layout(report);
    section.figures = panels(report, "network", |n| {
        let rows = n.rows.map(|r| format!(", {r} rows")).unwrap_or_default();
        let reading = format!("{} arcs{rows}. A node leads to its line in the table of nodes.", n.arcs.len());
        (reading, class_panel(report, n, &layout, Some("node-row-")))
    });
    section
}

/// A figure for each network: how to read it, and its picture.
fn panels(report: &NetworkReport, id: &str, draw: impl Fn(&ClassNetwork) -> (String, String)) -> Vec<Figure> {
    let figure = |(k, n): (usize, &ClassNetwork)| {
        let title = n.class.as_ref().map_or("All rows".to_string(), |c| format!("Class {c}"));
        let (reading, svg) = draw(n);
        panel(report, format!("{id}-{k}"), title, reading, svg)
    };
    report.networks.iter().enumerate().map(figure).collect()
}

fn panel(report: &NetworkReport, id: String, title: String, reading: String, svg: String) -> Figure {
    let mut figure = Figure::new(id, title, reading, svg, DataTable::default());
    figure.scrolls = true;
    figure.is_wide = report.nodes.len() > SIDE_BY_SIDE;
    figure
}

/// A small picture of a kind of arc, and its name.
fn key(class: &str, sign: &str, is_open: bool, name: &str) -> (String, String) {
    let open = if is_open { " open" } else { "" };
    let sign = match sign {
        "" => String::new(),
        sign => {
            format!("<text class=\"sign {class}\" x=\"17\" y=\"14\" text-anchor=\"middle\">{sign}</text>")
        }
    };
    let svg = format!(
        "<svg viewBox=\"0 0 44 18\" width=\"44\" height=\"18\" aria-hidden=\"true\" class=\"network\">\
         <path class=\"arc {class}\" stroke-width=\"2.4\" d=\"M2 9H34\"/><path class=\"head {class}{open}\" d=\"M43 9L33 4V14z\"/>{sign}</svg>"
    );
    (svg, name.to_string())
}

/// What discriminative learning changed, class by class, in the layout of the networks.
fn moved(report: &NetworkReport) -> Option<Section> {
    let text = "The networks were first learnt to describe their classes; then some weights were moved so that the classes are told \
         apart better. The picture has the weights that moved, the wider the larger; the arcs of the node (constant) are \
         the constants of its children (their bias).";
    let mut section = Section::about(&report.moved, "moved", "What discriminative learning changed", text)?;
    section.keys = vec![key("changed", "Δ", false, "weight moved")];
    let with_constant = report.with_constant();
    let layout = common_layout(&with_constant);
    for (k, network) in report.networks.iter().enumerate() {
        let Some(class) = &network.class else { continue };
        let table = moved_table(report, class);
        if table.rows.is_empty() {
            continue;
        }
        let drawn = report.moved_arcs(class);
        let constants = drawn.arcs.iter().filter(|a| a.arc.tail == report.nodes.len()).count();
        let reading = format!("{} weights and {constants} constants moved.", drawn.arcs.len() - constants);
        let svg = difference_panel(&with_constant, &drawn, &layout);
        let mut figure = panel(report, format!("moved-{k}"), format!("Class {class}"), reading, svg);
        figure.table = table;
        section.figures.push(figure);
    }
    Some(section)
}

/// Every parameter of a class that moved: at most as many as the step may move.
fn moved_table(report: &NetworkReport, class: &str) -> DataTable {
    let mut table = DataTable::new("Parameters that moved", &["from", "to", "before", "after", "change"]);
    for w in report.moved.iter().filter(|w| w.class == class) {
        let numbers = [w.before, w.after, w.change()].map(|x| Cell::number(x, 4));
        let from = w.from.as_deref().unwrap_or("(constant)");
        table.rows.push([Cell::text(from), Cell::text(&w.to)].into_iter().chain(numbers).collect());
    }
    table
}

/// What differs by more than chance.
fn differences(report: &NetworkReport) -> Option<Section> {
    let compared: Vec<(&NetworkDifference, &Chance)> =
        report.comparisons.iter().filter_map(|d| Some((d, d.chance.as_ref()?))).collect();
    let text = "One graph is learnt for both classes, and each of its arcs is asked whether its weight differs. The same is done \
         with the classes shuffled: only arcs are shown that stand out from what that gives. Differences of means play no part. \
         The support is the share of half samples that show the same difference.";
    let mut section = Section::about(&compared, "differences", "How the classes differ", text)?;
    section.keys = vec![key("changed", "Δ", false, "weight differs")];
    let layout = common_layout(report);
    let figure = |(k, (d, chance)): (usize, &(&NetworkDifference, &Chance))| {
        let drawn = report.as_drawn(d);
        let title = format!("Class {} against class {}", d.second, d.first);
        let reading = format!("{}.", found_words(drawn.arcs.len(), chance));
        let svg = difference_panel(report, &drawn, &layout);
        let mut figure = panel(report, format!("contrast-{k}"), title, reading, svg);
        figure.table = contrast_table(d, report.reported(d));
        figure
    };
    section.figures = compared.iter().enumerate().map(figure).collect();
    Some(section)
}

fn contrast_table<'a>(d: &NetworkDifference, arcs: impl Iterator<Item = &'a WeightDifference>) -> DataTable {
    let (first, second) = (format!("weight in {}", d.first), format!("weight in {}", d.second));
    let mut table = DataTable::new(
        "Weights that differ",
        &["from", "to", &first, &second, "difference in standard errors", "support %"],
    );
    let row = |a: &WeightDifference| {
        vec![
            Cell::text(a.from.clone()),
            Cell::text(a.to.clone()),
            Cell::number(a.weight_first, 3),
            Cell::number(a.weight_second, 3),
            Cell::number(a.z, 1),
            Cell::number(100.0 * a.support, 0),
        ]
    };
    table.rows = arcs.map(row).collect();
    table
}

/// Networks that were learnt apart, side by side.
fn apart(report: &NetworkReport) -> Option<Section> {
    let text = "Arcs that only one class has, that run the other way, or whose weight differs, when each class is learnt from its \
         own rows alone: mostly chance where rows are few. An empty head means that the direction is open in one of the \
         classes, so that a reversal there says nothing.";
    let mut section = Section::about(&report.comparisons, "apart", "Networks learnt apart", text)?;
    section.keys = CHANGES.iter().map(|(_, class, sign, name)| key(class, sign, false, name)).collect();
    let layout = common_layout(report);
    section.figures = report
        .comparisons
        .iter()
        .enumerate()
        .map(|(k, d)| {
            let title = format!("Class {} against class {}", d.second, d.first);
            let mut figure = panel(
                report,
                format!("difference-{k}"),
                title,
                format!("{} arcs.{}", change_counts(d), shuffled_words(d)),
                difference_panel(report, d, &layout),
            );
            figure.table = difference_table(d);
            figure
        })
        .collect();
    if report.comparisons.iter().flat_map(|d| &d.arcs).all(|a| a.arc.interval.is_none()) {
        section.text.push(
            "Without resampling no interval of a difference is known, so that arcs of both classes count as kept \
             whatever their weights."
                .into(),
        );
    }
    Some(section)
}

/// What the counts are when the classes are shuffled.
fn shuffled_words(d: &NetworkDifference) -> String {
    let words = |c: &Chance| {
        format!(" With the classes shuffled {:.0} gained and {:.0} lost on average.", c.gained, c.lost)
    };
    d.chance.as_ref().map(words).unwrap_or_default()
}

fn difference_table(d: &NetworkDifference) -> DataTable {
    let (first, second) = (format!("weight in {}", d.first), format!("weight in {}", d.second));
    let mut table = DataTable::new(
        "Arcs that differ",
        &["from", "to", "change", &first, &second, "95 % interval of the difference", "direction"],
    );
    let row = |a: &ArcChange| {
        vec![
            Cell::text(a.from.clone()),
            Cell::text(a.to.clone()),
            Cell::text(look(a.arc.change).3),
            Cell::number(a.arc.first, 3),
            Cell::number(a.arc.second, 3),
            Cell::text(a.arc.interval.map_or("–".into(), |(low, high)| format!("{low:.3} to {high:.3}"))),
            Cell::text(if a.is_identified { "settled" } else { "open" }),
        ]
    };
    let mut arcs: Vec<&ArcChange> = d.arcs.iter().filter(|a| a.arc.change != Change::Kept).collect();
    let size = |a: &ArcChange| (a.arc.second - a.arc.first).abs();
    arcs.sort_by(|a, b| size(b).total_cmp(&size(a)));
    table.rows = arcs.into_iter().take(ARCS).map(row).collect();
    table
}

fn matrices(report: &NetworkReport) -> Section {
    let mut section = Section::new(
        "matrix",
        "Arcs as a matrix",
        "Rows are parents, columns are children; a square is an arc, the stronger its colour the larger its weight, and a \
         bar across it marks a negative weight.",
    );
    if !report.groups.is_empty() {
        section.text.push(format!("Lines separate the groups, in this order: {}.", report.groups.join(", ")));
    }
    section.figures = panels(report, "matrix", |n| (String::new(), adjacency_matrix(report, n).0));
    section
}

/// One table with the arcs of all classes.
fn arcs(report: &NetworkReport) -> Section {
    let text =
        "The strongest first, by the largest weight of any class. A click on a column head sorts the table.";
    let mut section = Section::new("arcs", "All arcs", text);
    let pairs = pairs_by_strength(report);
    if pairs.len() > ARCS {
        section.text.push(format!("The first {ARCS} of {} arcs.", pairs.len()));
    }
    let resampled = report.networks.iter().any(|n| n.arcs.iter().any(|a| a.confidence.is_some()));
    let mut table = DataTable::new("Arcs", &["from", "to"]);
    for n in &report.networks {
        let of = n.class.as_ref().map(|c| format!(", {c}")).unwrap_or_default();
        table.header.push(format!("weight{of}"));
        table.header.push(format!("direction{of}"));
        if resampled {
            table.header.push(format!("in % of runs{of}"));
            table.header.push(format!("adjacent in %{of}"));
        }
    }
    for &(tail, head) in pairs.iter().take(ARCS) {
        let mut row = vec![Cell::text(&report.nodes[tail].name), Cell::text(&report.nodes[head].name)];
        for n in &report.networks {
            let arc = n.arcs.iter().find(|a| (a.tail, a.head) == (tail, head));
            row.extend(arc_cells(arc, resampled));
        }
        table.rows.push(row);
    }
    section.tables.push(table);
    section
}

/// Arcs of any class, the strongest first.
fn pairs_by_strength(report: &NetworkReport) -> Vec<(usize, usize)> {
    let mut strength: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for arc in report.networks.iter().flat_map(|n| &n.arcs) {
        let largest = strength.entry((arc.tail, arc.head)).or_default();
        *largest = largest.max(arc.weight.abs());
    }
    let mut pairs: Vec<_> = strength.into_iter().collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1));
    pairs.into_iter().map(|(pair, _)| pair).collect()
}

fn arc_cells(arc: Option<&NetworkArc>, resampled: bool) -> Vec<Cell> {
    let mut cells = vec![
        Cell::optional(arc.map(|a| a.weight), |w| Cell::number(w, 3)),
        Cell::text(arc.map_or("–", |a| if a.is_compelled { "settled" } else { "open" })),
    ];
    if resampled {
        let share = arc.and_then(|a| a.confidence);
        cells.push(Cell::optional(share.map(|s| s.arc), Cell::percent));
        cells.push(Cell::optional(share.map(|s| s.adjacency), Cell::percent));
    }
    cells
}

fn confidence(report: &NetworkReport) -> Option<Section> {
    if report.networks.iter().all(|n| n.thresholds.is_empty()) {
        return None;
    }
    let mut section = Section::new(
        "confidence",
        "How sure the arcs are",
        "Arcs found in at least this share of the resampled data sets, and a bound on how many of them are expected to be \
         wrong (Meinshausen and Bühlmann 2010; the bound is proven for half samples).",
    );
    for n in &report.networks {
        let title = n.class.as_ref().map_or("All rows".to_string(), |c| format!("Class {c}"));
        let mut table = DataTable::new(title, &["share of runs", "arcs", "expected wrong, at most"]);
        table.rows = n
            .thresholds
            .iter()
            .map(|(t, arcs, wrong)| {
                vec![Cell::percent(*t), Cell::number(*arcs as f64, 0), Cell::number(*wrong, 2)]
            })
            .collect();
        section.tables.push(table);
    }
    Some(section)
}

/// Arcs between groups, class by class.
fn groups(report: &NetworkReport) -> Option<Section> {
    if report.groups.is_empty() {
        return None;
    }
    let g = report.groups.len();
    let mut section = Section::new(
        "groups",
        "Arcs between groups",
        "How many arcs run from one group of nodes to another.",
    );
    let mut table = DataTable::new("Blocks of groups", &["from", "to", "possible pairs"]);
    for n in &report.networks {
        let of = n.class.as_ref().map(|c| format!(", {c}")).unwrap_or_default();
        table.header.push(format!("arcs{of}"));
        table.header.push(format!("sum of |weights|{of}"));
    }
    for block in (0..g * g).take(BLOCKS) {
        let blocks: Vec<_> = report.networks.iter().filter_map(|n| n.blocks.as_ref()).collect();
        let pairs = blocks.first().map_or(0, |b| b.pairs[block]);
        let mut row = vec![
            Cell::text(&report.groups[block / g]),
            Cell::text(&report.groups[block % g]),
            Cell::number(pairs as f64, 0),
        ];
        for b in blocks {
            row.push(Cell::number(b.arcs[block] as f64, 0));
            row.push(Cell::number(b.strength[block], 3));
        }
        table.rows.push(row);
    }
    section.tables.push(table);
    Some(section)
}

/// Parents and children of every node; the lines are where nodes of the pictures lead to.
fn nodes(report: &NetworkReport) -> Section {
    let mut section = Section::new("nodes", "Nodes", "Number of parents and of children of each node.");
    let mut table = DataTable::new("Nodes", &["node"]);
    section.row_anchor = "node-row-".into();
    if !report.groups.is_empty() {
        table.header.push("group".into());
    }
    for n in &report.networks {
        let of = n.class.as_ref().map(|c| format!(", {c}")).unwrap_or_default();
        table.header.push(format!("parents{of}"));
        table.header.push(format!("children{of}"));
    }
    for (i, node) in report.nodes.iter().enumerate().take(NODES) {
        let mut row = vec![Cell::text(&node.name)];
        if !report.groups.is_empty() {
            row.push(Cell::text(node.group.map_or("–", |g| report.groups[g].as_str())));
        }
        for n in &report.networks {
            let (parents, children) = n.degrees[i];
            row.extend([Cell::number(parents as f64, 0), Cell::number(children as f64, 0)]);
        }
        table.rows.push(row);
    }
    section.tables.push(table);
    section
}

/// Errors against a known graph.
fn recovery(report: &NetworkReport) -> Option<Section> {
    let known: Vec<_> = report.networks.iter().filter_map(|n| Some((n, n.errors?))).collect();
    if known.is_empty() {
        return None;
    }
    let mut section = Section::new(
        "recovery",
        "Errors against the true graph",
        "A reversed arc is one wrong and one missing arc. The class is the set of all graphs that fit equally well; there an \
         undirected edge counts one error, a reversed one two.",
    );
    let header = [
        "network",
        "wrong",
        "missing",
        "total",
        "reversed",
        "skeleton",
        "SHD",
        "errors of the class",
        "SHD of the classes",
    ];
    let mut table = DataTable::new("Errors", &header);
    table.rows = known
        .iter()
        .map(|(n, e)| {
            let mut row = vec![Cell::text(n.class.clone().unwrap_or("all rows".into()))];
            let counts = [
                e.false_positive,
                e.missing,
                e.total,
                e.reversed,
                e.skeleton,
                e.shd,
                e.class_total,
                e.pdag_shd,
            ];
            row.extend(counts.map(|c| Cell::number(c as f64, 0)));
            row
        })
        .collect();
    section.tables.push(table);
    Some(section)
}
