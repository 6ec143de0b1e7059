//! Networks of classes as one SVG file: the panels of all classes and the differences below each other or side by side.

use super::panel::{class_panel, common_layout, difference_panel};
use crate::escape;
use hingenet::report::NetworkReport;
use std::fmt::Write;

const TITLE: f64 = 30.0;
const GAP: f64 = 24.0;
const LEGEND: f64 = 40.0;

/// A self-contained picture of all networks of a report and of how they differ, two panels in a row.
pub fn networks_svg(report: &NetworkReport) -> String {
    let layout = common_layout(report);
    let mut panels: Vec<(String, String)> = Vec::new();
    for network in &report.networks {
        let title = network.class.as_ref().map_or("all rows".to_string(), |c| format!("class {c}"));
        let arcs = network.arcs.len();
        panels.push((format!("{title}: {arcs} arcs"), class_panel(report, network, &layout, None)));
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
        panels.push((title, difference_panel(report, &drawn, &layout)));
    }
    let columns = panels.len().clamp(1, 2);
    let rows = panels.len().div_ceil(columns);
    let (w, h) = (layout.width + GAP, layout.height + TITLE + GAP);
    let (width, height) = ((w * columns as f64).max(560.0), h * rows as f64 + LEGEND);
    let mut out = String::new();
    // Writing to a string cannot fail; the results are dropped on purpose.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n{STYLE}<rect class=\"ground\" width=\"100%\" height=\"100%\"/>",
        escape(&report.method)
    );
    for (k, (title, panel)) in panels.iter().enumerate() {
        let (x, y) = (w * (k % columns) as f64, h * (k / columns) as f64);
        let _ = writeln!(
            out,
            "<g transform=\"translate({x:.0} {y:.0})\"><text class=\"title\" x=\"10\" y=\"20\">{}</text>\
             <g transform=\"translate(0 {TITLE})\">{panel}</g></g>",
            escape(title)
        );
    }
    let y = height - LEGEND + 14.0;
    let _ = writeln!(
        out,
        "<text class=\"note\" x=\"10\" y=\"{y:.0}\">Width: size of the weight; orange: negative; empty head: direction open.</text>"
    );
    if !report.comparisons.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"note\" x=\"10\" y=\"{:.0}\">Differences: + gained, − lost (dashed), ⇄ reversed, Δ changed in weight.</text>",
            y + 18.0
        );
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
.sign{font-size:15px;font-weight:700;fill:#111111;stroke:#ffffff;stroke-width:3px;paint-order:stroke}\
@media (prefers-color-scheme: dark){.ground{fill:#16181b}.title{fill:#ececec}.note{fill:#b4b4b4}\
.node rect{fill:#16181b;stroke:#b4b4b4}.node text{fill:#ececec}.head.open,.head.open.negative,.head.open.kept,.head.open.lost,.head.open.reversed,.head.open.changed{fill:#16181b}.sign{fill:#ececec;stroke:#16181b}\
.arc{stroke:#4da3dd}.head{fill:#4da3dd}.arc.negative,.arc.lost{stroke:#f07f2e}.head.negative,.head.lost{fill:#f07f2e}\
.arc.kept{stroke:#555555}.head.kept{fill:#555555}}\
</style>\n";
