//! The arcs of a network as a matrix with blocks of node groups (Figure 4 of Zhou et al. 2015): rows are parents,
//! columns are children. A negative weight has a bar across its square, so that colour is not needed to tell the sign.

use crate::escape;
use hingenet::report::{ClassNetwork, NetworkReport};
use std::fmt::Write;

/// Size of a small matrix; larger ones scroll.
const SIZE: f64 = 400.0;
/// Most nodes whose names are written out.
const NAMED: usize = 300;
/// Letters of a name that are written at most.
const LETTERS: usize = 24;
/// Least side of a cell with and without names.
const LEAST: (f64, f64) = (8.0, 3.0);

/// The matrix of one class, and the length of its sides. Nodes stand by group, then in their own order.
pub fn adjacency_matrix(report: &NetworkReport, network: &ClassNetwork) -> (String, f64) {
    let m = report.nodes.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by_key(|&i| (report.nodes[i].group, i));
    let mut place = vec![0; m];
    order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
    let has_labels = m <= NAMED;
    let least = if has_labels { LEAST.0 } else { LEAST.1 };
    let cell = (SIZE / m.max(1) as f64).clamp(least, 18.0);
    let longest = report.nodes.iter().map(|n| n.name.chars().count()).max().unwrap_or(1).min(LETTERS);
    let font = (cell - 0.5).min(11.0);
    let room = if has_labels { 8.0 + longest as f64 * font * 0.62 } else { 16.0 };
    let size = room + cell * m as f64 + 6.0;
    let mut out = String::new();
    let title = network.class.as_ref().map_or("Arcs".to_string(), |c| format!("Arcs of class {c}"));
    // Writing to a string cannot fail; the results are dropped on purpose.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size:.0} {size:.0}\" width=\"{size:.0}\" height=\"{size:.0}\" \
         role=\"img\" aria-label=\"{}\" class=\"network matrix\">\
         <rect class=\"paper\" x=\"{room:.1}\" y=\"{room:.1}\" width=\"{w:.1}\" height=\"{w:.1}\"/>",
        escape(&title),
        w = cell * m as f64
    );
    if has_labels {
        labels(&mut out, report, &order, (room, cell, font, longest));
    }
    block_lines(&mut out, report, &order, room, cell);
    let largest = report.networks.iter().flat_map(|n| &n.arcs).map(|a| a.weight.abs()).fold(1e-12, f64::max);
    for arc in &network.arcs {
        let (x, y) = (room + cell * place[arc.head] as f64, room + cell * place[arc.tail] as f64);
        let class = if arc.weight < 0.0 { "cell negative" } else { "cell" };
        let _ = writeln!(
            out,
            "<g><title>{} → {}: {:.3}</title><rect class=\"{class}\" fill-opacity=\"{:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>{}</g>",
            escape(&arc.from),
            escape(&arc.to),
            arc.weight,
            0.3 + 0.7 * arc.weight.abs() / largest,
            x + 0.4,
            y + 0.4,
            cell - 0.8,
            cell - 0.8,
            if arc.weight < 0.0 { bar(x, y, cell) } else { String::new() }
        );
    }
    out.push_str("</svg>\n");
    (out, size)
}

fn bar(x: f64, y: f64, cell: f64) -> String {
    format!(
        "<path class=\"bar-across\" d=\"M{:.1} {:.1}H{:.1}\" stroke-width=\"{:.1}\"/>",
        x + 0.18 * cell,
        y + cell / 2.0,
        x + 0.82 * cell,
        (0.16 * cell).max(0.8)
    )
}

fn labels(
    out: &mut String,
    report: &NetworkReport,
    order: &[usize],
    (room, cell, font, longest): (f64, f64, f64, usize),
) {
    for (k, &i) in order.iter().enumerate() {
        let name = &report.nodes[i].name;
        let short: String = match name.chars().count() > longest {
            true => name.chars().take(longest - 1).chain(['…']).collect(),
            false => name.clone(),
        };
        let middle = room + cell * (k as f64 + 0.5) + 0.35 * font;
        let _ = writeln!(
            out,
            "<text class=\"row\" font-size=\"{font:.1}\" x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\
             <text class=\"row\" font-size=\"{font:.1}\" transform=\"translate({middle:.1} {:.1}) rotate(-90)\">{}</text>",
            room - 4.0,
            escape(&short),
            room - 4.0,
            escape(&short)
        );
    }
}

/// Lines between the blocks of groups, and around everything.
fn block_lines(out: &mut String, report: &NetworkReport, order: &[usize], room: f64, cell: f64) {
    let m = order.len();
    let group = |k: usize| report.nodes[order[k]].group;
    let ends = (0..=m).filter(|&k| k == 0 || k == m || group(k) != group(k - 1));
    let far = room + cell * m as f64;
    for k in ends {
        let at = room + cell * k as f64;
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{room:.1} {at:.1}H{far:.1}M{at:.1} {room:.1}V{far:.1}\"/>"
        );
    }
}
