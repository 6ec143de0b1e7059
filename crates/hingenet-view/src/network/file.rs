//! Networks of classes as one SVG file: the panels of all classes, the differences and what discriminative learning changed, or the
//! arcs as matrices, side by side and below each other.

use super::matrix::adjacency_matrix;
use super::panel::{class_panel, common_layout, difference_panel};
use crate::escape;
use hingenet::report::{ClassNetwork, NetworkReport};
use std::fmt::Write;

const TITLE: f64 = 30.0;
const GAP: f64 = 24.0;
const LEGEND: f64 = 40.0;
const WIDTHS: &str = "Width: size of the weight; orange: negative; empty head: direction open.";

/// A picture with its title and its size.
struct Panel {
    title: String,
    svg: String,
    size: (f64, f64),
}

/// A self-contained picture of all networks of a report and of how they differ, two panels in a row.
pub fn networks_svg(report: &NetworkReport) -> String {
    let layout = common_layout(report);
    let size = (layout.width, layout.height);
    let mut panels: Vec<Panel> = Vec::new();
    for network in &report.networks {
        panels.push(Panel { title: title(network), svg: class_panel(report, network, &layout, None), size });
    }
    for comparison in &report.comparisons {
        let title = format!("class {} against class {}", comparison.second, comparison.first);
        let (title, drawn) = match comparison.chance {
            Some(chance) => {
                let words = match report.reported(comparison).count() {
                    1 => "1 weight differs".to_string(),
                    found => format!("{found} weights differ"),
                };
                let by_chance = chance.expected_false;
                (format!("{title}: {words}, {by_chance:.2} by chance"), report.as_drawn(comparison))
            }
            None => (format!("{title}, learnt apart"), comparison.clone()),
        };
        panels.push(Panel { title, svg: difference_panel(report, &drawn, &layout), size });
    }
    panels.extend(moved(report));
    let mut notes = vec![WIDTHS];
    if panels.len() > report.networks.len() {
        notes.push("Differences: + gained, − lost (dashed), ⇄ reversed, Δ changed in weight.");
    }
    sheet(&report.method, &panels, &notes)
}

/// What discriminative learning changed in each class alone, in a self-contained picture (Fig. 5 of Zhou et al. 2015).
pub fn moved_svg(report: &NetworkReport) -> String {
    sheet(
        &report.method,
        &moved(report),
        &["Width: size of the weight; the node (constant) is 1 in every row."],
    )
}

/// The arcs of every network as a matrix with blocks of the groups of nodes, in a self-contained picture.
pub fn matrices_svg(report: &NetworkReport) -> String {
    let panel = |network: &ClassNetwork| {
        let (svg, side) = adjacency_matrix(report, network);
        Panel { title: title(network), svg, size: (side, side) }
    };
    let panels: Vec<Panel> = report.networks.iter().map(panel).collect();
    let groups = format!("Groups in this order: {}.", report.groups.join(", "));
    let mut notes = vec!["Rows are parents, columns children; orange with a bar: negative."];
    if !report.groups.is_empty() {
        notes.push(&groups);
    }
    sheet(&report.method, &panels, &notes)
}

fn title(network: &ClassNetwork) -> String {
    let class = network.class.as_ref().map_or("all rows".to_string(), |c| format!("class {c}"));
    format!("{class}: {} arcs", network.arcs.len())
}

/// What discriminative learning changed in each class.
fn moved(report: &NetworkReport) -> Vec<Panel> {
    let with_constant = report.with_constant();
    let layout = common_layout(&with_constant);
    let panel = |class: &String| {
        let drawn = report.moved_arcs(class);
        (!drawn.arcs.is_empty()).then(|| Panel {
            title: format!(
                "class {class}: {} parameters that discriminative learning moved",
                drawn.arcs.len()
            ),
            svg: difference_panel(&with_constant, &drawn, &layout),
            size: (layout.width, layout.height),
        })
    };
    report.networks.iter().filter_map(|network| network.class.as_ref()).filter_map(panel).collect()
}

/// Panels two in a row with notes below.
fn sheet(label: &str, panels: &[Panel], notes: &[&str]) -> String {
    let largest = |side: fn(&Panel) -> f64| panels.iter().map(side).fold(0.0, f64::max);
    let (w, h) = (largest(|p| p.size.0) + GAP, largest(|p| p.size.1) + TITLE + GAP);
    let columns = panels.len().clamp(1, 2);
    let rows = panels.len().div_ceil(columns);
    let (width, height) = ((w * columns as f64).max(560.0), h * rows as f64 + LEGEND);
    let mut out = String::new();
    // Writing to a string cannot fail; the results are dropped on purpose.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n{STYLE}<rect class=\"ground\" width=\"100%\" height=\"100%\"/>",
        escape(label)
    );
    for (k, Panel { title, svg, .. }) in panels.iter().enumerate() {
        let (x, y) = (w * (k % columns) as f64, h * (k / columns) as f64);
        let _ = writeln!(
            out,
            "<g transform=\"translate({x:.0} {y:.0})\"><text class=\"title\" x=\"10\" y=\"20\">{}</text>\
             <g transform=\"translate(0 {TITLE})\">{svg}</g></g>",
            escape(title)
        );
    }
    for (k, note) in notes.iter().enumerate() {
        let y = height - LEGEND + 14.0 + 18.0 * k as f64;
        let _ = writeln!(out, "<text class=\"note\" x=\"10\" y=\"{y:.0}\">{}</text>", escape(note));
    }
    out.push_str("</svg>\n");
    out
}

/// The colours of the pages, for a file that stands alone.
const STYLE: &str = "<style>\
.ground{fill:#ffffff}.title{fill:#111111;font-weight:600;font-size:15px}.note{fill:#555555;font-size:12px}\
.node rect{fill:#ffffff;stroke:#565656;stroke-width:1.2}.node text{fill:#111111}\
.arc{fill:none;stroke:#0072b2}.head{fill:#0072b2}.arc.negative,.arc.lost{stroke:#d55e00}.head.negative,.head.lost{fill:#d55e00}\
.arc.lost{stroke-dasharray:6 4}.arc.reversed{stroke:#8a4f9e;stroke-dasharray:2 3}.head.reversed{fill:#8a4f9e}\
.arc.changed{stroke:#00795a}.head.changed{fill:#00795a}.arc.kept{stroke:#bbbbbb}.head.kept{fill:#bbbbbb}\
.head.open,.head.open.negative,.head.open.kept,.head.open.lost,.head.open.reversed,.head.open.changed{fill:#ffffff}\
.head.open{stroke:#0072b2}.head.open.negative,.head.open.lost{stroke:#d55e00}.head.open.kept{stroke:#bbbbbb}.head.open.reversed{stroke:#8a4f9e}.head.open.changed{stroke:#00795a}\
.row{fill:#555555}.paper{fill:#ffffff}.axis{fill:none;stroke:#999999;stroke-width:.8}.cell{fill:#0072b2}.cell.negative{fill:#d55e00}.bar-across{fill:none;stroke:#ffffff}\
.sign{font-size:15px;font-weight:700;fill:#111111;stroke:#ffffff;stroke-width:3px;paint-order:stroke}\
@media (prefers-color-scheme: dark){.ground{fill:#16181b}.title{fill:#ececec}.note{fill:#b4b4b4}\
.node rect{fill:#16181b;stroke:#b4b4b4}.node text{fill:#ececec}.head.open,.head.open.negative,.head.open.kept,.head.open.lost,.head.open.reversed,.head.open.changed{fill:#16181b}.sign{fill:#ececec;stroke:#16181b}\
.arc{stroke:#4da3dd}.head{fill:#4da3dd}.arc.negative,.arc.lost{stroke:#f07f2e}.head.negative,.head.lost{fill:#f07f2e}\
.row{fill:#b4b4b4}.paper{fill:#16181b}.axis{stroke:#777777}.cell{fill:#4da3dd}.cell.negative{fill:#f07f2e}.bar-across{stroke:#16181b}\
.arc.kept{stroke:#555555}.head.kept{fill:#555555}}\
</style>\n";
