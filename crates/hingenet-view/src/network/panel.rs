//! Networks over the same nodes, drawn side by side in one layout: the arcs of each class, and how two classes differ.
//! Kinds of arcs are told apart by dashes and a sign on the arc as well as by colour.

use super::layout::{BOX_HEIGHT, Layout, Place, layout_within, without_cycles};
use super::place::layout_at;
use super::svg::shorten;
use crate::escape;
use hingenet::report::{
    ArcChange, Change, ClassNetwork, NetworkDifference, NetworkPicture, NetworkReport, PictureArc,
    PictureNode,
};
use std::fmt::Write;

/// Rows of nodes are at most this wide, so that two panels fit side by side.
const ROW: f64 = 470.0;

/// One arc to draw.
struct Stroke {
    tail: usize,
    head: usize,
    width: f64,
    /// CSS classes beside `arc`.
    class: &'static str,
    /// Sign in the middle of the arc.
    sign: &'static str,
    /// An empty head: the direction is open.
    is_open: bool,
    /// How much the arc matters: its weight without sign, or by how much it differs.
    size: f64,
    /// Share of resampled fits that have it, where known.
    support: Option<f64>,
    title: String,
}

/// How the kinds of change look: CSS class, sign, name. Used by pictures and legends.
pub const CHANGES: [(Change, &str, &str, &str); 5] = [
    (Change::Gained, "gained", "+", "gained"),
    (Change::Lost, "lost", "−", "lost"),
    (Change::Reversed, "reversed", "⇄", "reversed"),
    (Change::Changed, "changed", "Δ", "changed in weight"),
    (Change::Kept, "kept", "", "kept"),
];

/// The common layout of all networks of a report: by the nodes' coordinates if all have them, else in layers of the
/// arcs of all classes, or on a circle when these would make a long narrow ladder.
pub fn common_layout(report: &NetworkReport) -> Layout {
    let names: Vec<&str> = report.nodes.iter().map(|n| n.name.as_str()).collect();
    let places: Option<Vec<(f64, f64)>> = report.nodes.iter().map(|n| n.place).collect();
    if let Some(places) = places.filter(|p| !p.is_empty()) {
        return layout_at(&names, &places, ROW);
    }
    let pairs = common_arcs(report);
    let union = NetworkPicture {
        title: String::new(),
        nodes: names
            .iter()
            .map(|n| PictureNode { name: n.to_string(), is_class: false, note: String::new() })
            .collect(),
        arcs: pairs.into_iter().map(|(from, to)| PictureArc { from, to, strength: 1.0 }).collect(),
        strength: None,
        is_directed: true,
    };
    let mut layout = layout_within(&union, ROW);
    let order = reading_order(&layout);
    let rows = order.chunk_by(|&a, &b| layout.places[a].y == layout.places[b].y).count() as f64;
    if rows > 3.0 + 1.7 * (names.len() as f64).sqrt() {
        return circle(report, &names, order);
    }
    spread(&mut layout, &order);
    layout
}

/// Nodes on a circle: group by group, inside a group from the top of the layers to their bottom.
fn circle(report: &NetworkReport, names: &[&str], mut order: Vec<usize>) -> Layout {
    order.sort_by_key(|&i| report.nodes[i].group);
    let mut points = vec![(0.0, 0.0); names.len()];
    for (k, &i) in order.iter().enumerate() {
        let angle = std::f64::consts::TAU * k as f64 / order.len() as f64;
        points[i] = (angle.sin(), angle.cos());
    }
    layout_at(names, &points, ROW)
}

/// Nodes from top to bottom, and from left to right in a row.
fn reading_order(layout: &Layout) -> Vec<usize> {
    let mut order: Vec<usize> = (0..layout.places.len()).collect();
    order.sort_by(|&a, &b| {
        let (p, q) = (layout.places[a], layout.places[b]);
        p.y.total_cmp(&q.y).then(p.x.total_cmp(&q.x))
    });
    order
}

/// Arcs of all networks that the layers follow.
fn common_arcs(report: &NetworkReport) -> Vec<(usize, usize)> {
    let arcs = report.networks.iter().flat_map(|n| &n.arcs).map(|a| (a.tail, a.head, a.weight));
    without_cycles(arcs.collect(), report.nodes.len())
}

/// Uses the whole width: the nodes of a row stand at equal distances, nodes alone in their row left and right in turn,
/// so that long arcs do not lie on each other in the middle.
fn spread(layout: &mut Layout, order: &[usize]) {
    layout.width = layout.width.max(ROW);
    let rows = order.chunk_by(|&a, &b| layout.places[a].y == layout.places[b].y);
    let rows: Vec<Vec<usize>> = rows.map(<[usize]>::to_vec).collect();
    for (r, row) in rows.iter().enumerate() {
        let used: f64 = row.iter().map(|&i| layout.places[i].width).sum();
        let gap = (layout.width - used) / (row.len() + 1) as f64;
        let aside = if row.len() > 2 { 0.0 } else { gap * if r % 2 == 0 { 0.45 } else { -0.45 } };
        let mut x = aside;
        for &i in row {
            let width = layout.places[i].width;
            layout.places[i].x = x + gap + width / 2.0;
            x += gap + width;
        }
    }
}

/// The network of one class; node `i` links to the anchor `{anchor}{i}`.
pub fn class_panel(
    report: &NetworkReport,
    network: &ClassNetwork,
    layout: &Layout,
    anchor: Option<&str>,
) -> String {
    let largest = report.networks.iter().flat_map(|n| &n.arcs).map(|a| a.weight.abs()).fold(1e-12, f64::max);
    let strokes = network.arcs.iter().map(|a| {
        let sure =
            a.confidence.map(|c| format!(", in {:.0} % of the runs", 100.0 * c.arc)).unwrap_or_default();
        let open = if a.is_compelled { "" } else { ", direction open" };
        Stroke {
            tail: a.tail,
            head: a.head,
            width: 0.8 + 3.4 * a.weight.abs() / largest,
            class: if a.weight < 0.0 { "negative" } else { "" },
            sign: "",
            is_open: !a.is_compelled,
            size: a.weight.abs(),
            support: a.confidence.map(|c| c.arc),
            title: format!("{} → {}: weight {:.3}{open}{sure}", a.from, a.to, a.weight),
        }
    });
    let title = match &network.class {
        Some(class) => format!("Network of class {class}"),
        None => "Network".to_string(),
    };
    draw(report, layout, &strokes.collect::<Vec<_>>(), &title, anchor)
}

/// The arcs of either class with what happens to them from the first to the second.
pub fn difference_panel(report: &NetworkReport, difference: &NetworkDifference, layout: &Layout) -> String {
    let size = |a: f64, b: f64| a.abs().max(b.abs());
    let largest = difference.arcs.iter().map(|a| size(a.arc.first, a.arc.second)).fold(1e-12, f64::max);
    let mut strokes: Vec<Stroke> = difference
        .arcs
        .iter()
        .map(|ArcChange { from, to, arc, is_identified }| {
            let (_, class, sign, name) = look(arc.change);
            let wide = 1.2 + 2.8 * size(arc.first, arc.second) / largest;
            Stroke {
                tail: arc.tail,
                head: arc.head,
                width: if arc.change == Change::Kept { 1.0 } else { wide },
                class,
                sign,
                is_open: !is_identified,
                size: (arc.second - arc.first).abs(),
                support: None,
                title: format!("{from} → {to}: {name}, {:.3} and {:.3}", arc.first, arc.second),
            }
        })
        .collect();
    // what stays is drawn first, below what differs
    strokes.sort_by_key(|s| s.class != "kept");
    let title = format!("How class {} differs from class {}", difference.second, difference.first);
    draw(report, layout, &strokes, &title, None)
}

/// How a kind of change looks.
pub fn look(change: Change) -> (Change, &'static str, &'static str, &'static str) {
    CHANGES.iter().copied().find(|c| c.0 == change).unwrap_or(CHANGES[4])
}

fn draw(
    report: &NetworkReport,
    layout: &Layout,
    strokes: &[Stroke],
    title: &str,
    anchor: Option<&str>,
) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail; the results are dropped on purpose.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w:.0} {h:.0}\" width=\"{w:.0}\" height=\"{h:.0}\" \
         role=\"{}\" aria-label=\"{}\" class=\"network panel\">",
        if anchor.is_some() { "group" } else { "img" },
        escape(title),
        w = layout.width,
        h = layout.height
    );
    strokes.iter().for_each(|s| draw_stroke(&mut out, layout, s));
    for (i, node) in report.nodes.iter().enumerate() {
        let place = layout.places[i];
        let group = node.group.map(|g| format!(", {}", report.groups[g])).unwrap_or_default();
        let note = escape(&format!("{}{group}", node.name));
        if let Some(anchor) = anchor {
            let _ = write!(out, "<a href=\"#{}{i}\" aria-label=\"{note}\">", escape(anchor));
        }
        let _ = write!(
            out,
            "<g class=\"node\" data-i=\"{i}\"><title>{note}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX_HEIGHT}\" rx=\"13\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
            place.x - place.width / 2.0,
            place.y - BOX_HEIGHT / 2.0,
            place.width,
            place.x,
            place.y + 4.5,
            escape(&shorten(&node.name))
        );
        out.push_str(if anchor.is_some() { "</a>\n" } else { "\n" });
    }
    out.push_str("</svg>\n");
    out
}

fn draw_stroke(out: &mut String, layout: &Layout, stroke: &Stroke) {
    let path = Bow::new(layout.places[stroke.tail], layout.places[stroke.head]);
    // The script of the page finds by these what to hide.
    let support = stroke.support.map(|s| format!(" data-support=\"{s:.3}\"")).unwrap_or_default();
    let _ = writeln!(
        out,
        "<g class=\"link\" data-from=\"{}\" data-to=\"{}\" data-size=\"{:.4}\"{support}>",
        stroke.tail, stroke.head, stroke.size
    );
    let _ = writeln!(
        out,
        "<path class=\"arc {}\" stroke-width=\"{:.2}\" d=\"M{:.1} {:.1} Q{:.1} {:.1} {:.1} {:.1}\"><title>{}</title></path>",
        stroke.class,
        stroke.width,
        path.start.0,
        path.start.1,
        path.bend.0,
        path.bend.1,
        path.end.0,
        path.end.1,
        escape(&stroke.title)
    );
    let _ = writeln!(
        out,
        "<path class=\"head {}{}\" d=\"{}\"/>",
        stroke.class,
        if stroke.is_open { " open" } else { "" },
        path.head(4.0 + 0.9 * stroke.width)
    );
    if !stroke.sign.is_empty() {
        let (x, y) = path.at(0.5);
        let _ = writeln!(
            out,
            "<text class=\"sign {}\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            stroke.class,
            y + 5.0,
            stroke.sign
        );
    }
    out.push_str("</g>\n");
}

/// A slightly bent line from the edge of one box to the edge of another, so that two opposite arcs stay apart.
struct Bow {
    start: (f64, f64),
    bend: (f64, f64),
    end: (f64, f64),
}

impl Bow {
    fn new(from: Place, to: Place) -> Self {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        // long arcs bend less, so that they stay inside the picture
        let share = 0.12f64.min(26.0 / dx.hypot(dy).max(1.0));
        let bend = ((from.x + to.x) / 2.0 - share * dy, (from.y + to.y) / 2.0 + share * dx);
        let whole = Bow { start: (from.x, from.y), bend, end: (to.x, to.y) };
        let outside = |p: Place, (x, y): (f64, f64)| {
            (x - p.x).abs() > p.width / 2.0 + 1.0 || (y - p.y).abs() > BOX_HEIGHT / 2.0 + 1.0
        };
        let steps = |k: i32| f64::from(k) / 60.0;
        let first = (0..=60).map(steps).find(|t| outside(from, whole.at(*t))).unwrap_or(0.4);
        let last = (0..=60).rev().map(steps).find(|t| outside(to, whole.at(*t))).unwrap_or(0.6);
        let (start, end) = (whole.at(first.min(0.5)), whole.at(last.max(0.5)));
        Bow { start, bend, end }
    }

    fn at(&self, t: f64) -> (f64, f64) {
        let mix = |a: f64, b: f64, c: f64| (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
        (mix(self.start.0, self.bend.0, self.end.0), mix(self.start.1, self.bend.1, self.end.1))
    }

    /// A triangle at the end, along the line.
    fn head(&self, size: f64) -> String {
        let (dx, dy) = (self.end.0 - self.bend.0, self.end.1 - self.bend.1);
        let length = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / length, dy / length);
        let back = (self.end.0 - 1.7 * size * ux, self.end.1 - 1.7 * size * uy);
        format!(
            "M{:.1} {:.1} L{:.1} {:.1} L{:.1} {:.1} z",
            self.end.0,
            self.end.1,
            back.0 - 0.8 * size * uy,
            back.1 + 0.8 * size * ux,
            back.0 + 0.8 * size * uy,
            back.1 - 0.8 * size * ux
        )
    }
}
