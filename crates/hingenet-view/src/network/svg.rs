//! The picture of a network as SVG text.

use super::layout::{BOX_HEIGHT, LABEL_CHARS, Layout, Place, layout};
use crate::escape;
use hingenet::report::{NetworkPicture, PictureArc};
use std::fmt::Write;

const LEGEND_HEIGHT: f64 = 36.0;
const LEGEND_LINE: f64 = 14.0;

/// A self-contained SVG picture; follows the reader's light or dark setting.
pub fn network_svg(picture: &NetworkPicture) -> String {
    draw(
        picture,
        &Dress {
            style: STYLE,
            attributes: "font-family=\"system-ui, sans-serif\" font-size=\"13\"",
            links: None,
        },
    )
}

/// The picture for a page that has the rules of class `network` in its style sheet; node `i` links to the
/// anchor `{anchor}{i}`.
pub fn network_fragment(picture: &NetworkPicture, anchor: Option<&str>) -> String {
    draw(picture, &Dress { style: "", attributes: "class=\"network\"", links: anchor })
}

/// What differs between a file of its own and a part of a page.
struct Dress<'a> {
    style: &'a str,
    attributes: &'a str,
    links: Option<&'a str>,
}

fn draw(picture: &NetworkPicture, dress: &Dress) -> String {
    let layout = layout(picture);
    let height = layout.height + if picture.strength.is_some() { LEGEND_HEIGHT } else { 0.0 };
    // room for the legend, which may be wider than a small network
    let legend = picture.strength.as_ref().map_or(0.0, |s| 16.0 + 6.6 * (s.chars().count() + 14) as f64);
    let width = layout.width.max(legend);
    let mut out = String::new();
    // Writing to a string cannot fail; the results are dropped on purpose.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"{}\" aria-label=\"{}\" {}>",
        if dress.links.is_some() { "group" } else { "img" },
        escape(&picture.title),
        dress.attributes
    );
    out.push_str(dress.style);
    let strongest = picture.arcs.iter().map(|a| a.strength.abs()).fold(0.0, f64::max);
    for arc in &picture.arcs {
        draw_arc(&mut out, picture, &layout, arc, strongest);
    }
    for i in 0..picture.nodes.len() {
        draw_node(&mut out, picture, &layout, i, dress.links);
    }
    if let Some(strength) = &picture.strength {
        let what = if picture.is_directed { "arc" } else { "line" };
        let lines = [format!("{what} width: {}", escape(strength)), format!("the widest is {strongest:.3}")];
        for (line, up) in lines.iter().zip([LEGEND_LINE + 8.0, 8.0]) {
            let y = height - up;
            let _ = writeln!(out, "<text class=\"legend\" x=\"16\" y=\"{y:.1}\">{line}</text>");
        }
    }
    out.push_str("</svg>\n");
    out
}

fn draw_node(out: &mut String, picture: &NetworkPicture, layout: &Layout, i: usize, links: Option<&str>) {
    let (node, place) = (&picture.nodes[i], layout.places[i]);
    let class = if node.is_class { "node class" } else { "node" };
    let note = if node.note.is_empty() { node.name.clone() } else { format!("{}: {}", node.name, node.note) };
    if let Some(anchor) = links {
        let _ = write!(out, "<a href=\"#{}{i}\" aria-label=\"{}\">", escape(anchor), escape(&note));
    }
    let _ = write!(
        out,
        "<g class=\"{class}\"><title>{}</title><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BOX_HEIGHT}\" rx=\"{}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
        escape(&note),
        place.x - place.width / 2.0,
        place.y - BOX_HEIGHT / 2.0,
        place.width,
        if node.is_class { 3 } else { 13 },
        place.x,
        place.y + 4.5,
        escape(&shorten(&node.name))
    );
    out.push_str(if links.is_some() { "</a>\n" } else { "\n" });
}

/// Blue and orange of the Okabe-Ito palette: told apart by colour-blind readers too.
const STYLE: &str = "<style>\
.node rect{fill:#ffffff;stroke:#444444;stroke-width:1.2}.node text{fill:#111111}\
.class rect{fill:#cfe2f3;stroke:#1f4e79;stroke-width:2}.class text{font-weight:600}\
.arc{fill:none;stroke:#0072b2}.arc.negative{stroke:#d55e00}.head{fill:#0072b2}.head.negative{fill:#d55e00}.from-class{stroke:#bbbbbb;stroke-dasharray:3 3}.legend{fill:#555555;font-size:12px}\
@media (prefers-color-scheme: dark){.node rect{fill:#1e1e1e;stroke:#bbbbbb}.node text{fill:#eeeeee}\
.class rect{fill:#123a5a;stroke:#9fc5e8}.from-class{stroke:#555555}.legend{fill:#bbbbbb}}\
</style>\n";

fn draw_arc(out: &mut String, picture: &NetworkPicture, layout: &Layout, arc: &PictureArc, strongest: f64) {
    let (from, to) = (layout.places[arc.from], layout.places[arc.to]);
    let share = if strongest > 0.0 { arc.strength.abs() / strongest } else { 0.5 };
    let from_class = picture.nodes[arc.from].is_class;
    let sign = if arc.strength < 0.0 { " negative" } else { "" };
    let (class, width) = if from_class {
        ("arc from-class".to_string(), 1.0)
    } else {
        (format!("arc{sign}"), 1.0 + 4.0 * share)
    };
    let joint = if picture.is_directed { "→" } else { "–" };
    let names = format!("{} {joint} {}", picture.nodes[arc.from].name, picture.nodes[arc.to].name);
    let label = match &picture.strength {
        Some(unit) if !from_class => format!("{names}: {} {:.4}", unit, arc.strength),
        _ => names,
    };
    let _ = writeln!(
        out,
        "<path class=\"{class}\" stroke-width=\"{width:.2}\" d=\"{}\"><title>{}</title></path>",
        if picture.is_directed { curve(from, to) } else { chord(from, to, layout) },
        escape(&label)
    );
    if !from_class && picture.is_directed {
        let _ = writeln!(out, "<path class=\"head{sign}\" d=\"{}\"/>", arrow_head(from, to));
    }
}

/// From the lower edge of one box to the upper edge of another; sideways arcs bow around.
fn curve(from: Place, to: Place) -> String {
    let (y1, y2) = ends(from, to);
    let bend = ((y2 - y1).abs() / 2.0).max(18.0) * if y2 >= y1 { 1.0 } else { -1.0 };
    format!(
        "M{:.1} {y1:.1} C{:.1} {:.1} {:.1} {:.1} {:.1} {y2:.1}",
        from.x,
        from.x,
        y1 + bend,
        to.x,
        y2 - bend,
        to.x
    )
}

/// Between two boxes of a ring, bent towards its middle, the more the farther apart they are; boxes hide the
/// ends.
fn chord(from: Place, to: Place, layout: &Layout) -> String {
    let reach = (to.x - from.x).hypot(to.y - from.y) / layout.width.hypot(layout.height);
    let bend = 0.05 + 0.6 * reach;
    let towards_the_middle = |a: f64, b: f64, size: f64| (1.0 - bend) * 0.5 * (a + b) + bend * 0.5 * size;
    let (x, y) =
        (towards_the_middle(from.x, to.x, layout.width), towards_the_middle(from.y, to.y, layout.height));
    format!("M{:.1} {:.1} Q{x:.1} {y:.1} {:.1} {:.1}", from.x, from.y, to.x, to.y)
}

fn ends(from: Place, to: Place) -> (f64, f64) {
    let half = BOX_HEIGHT / 2.0;
    if to.y > from.y { (from.y + half, to.y - half) } else { (from.y - half, to.y + half) }
}

fn arrow_head(from: Place, to: Place) -> String {
    let (y1, y2) = ends(from, to);
    let back = if y2 >= y1 { -8.0 } else { 8.0 };
    format!("M{:.1} {y2:.1} l-4.5 {back:.1} h9 z", to.x)
}

/// A label that fits into a box.
pub(super) fn shorten(name: &str) -> String {
    if name.chars().count() <= LABEL_CHARS {
        name.to_string()
    } else {
        name.chars().take(LABEL_CHARS - 1).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hingenet::report::PictureNode;

    /// A class above a chain of `n` features, with one hostile name.
    fn picture(n: usize) -> NetworkPicture {
        let node = |i: usize| PictureNode {
            name: if i == 1 { "<img onerror=alert(1)>".into() } else { format!("feature {i}") },
            is_class: i == 0,
            note: String::new(),
        };
        let from_class = (1..=n).map(|to| PictureArc { from: 0, to, strength: 0.0 });
        let chain = (2..=n).map(|to| PictureArc { from: to / 2, to, strength: 0.1 * to as f64 });
        NetworkPicture {
            title: "test".into(),
            nodes: (0..=n).map(node).collect(),
            arcs: from_class.chain(chain).collect(),
            strength: Some("conditional mutual information".into()),
            is_directed: true,
        }
    }

    #[test]
    fn names_stay_text_and_every_node_and_arc_is_drawn() {
        let svg = network_svg(&picture(9));
        assert!(!svg.contains("<img") && svg.contains("&lt;img onerror=aler"));
        assert_eq!(svg.matches("<g class=\"node").count(), 10);
        assert_eq!(svg.matches("class=\"arc").count(), 17);
    }

    #[test]
    fn the_part_of_a_page_links_its_nodes_and_brings_no_style() {
        let svg = network_fragment(&picture(3), Some("node-"));
        assert!(!svg.contains("<style") && svg.contains("class=\"network\""));
        assert_eq!(svg.matches("<a href=\"#node-").count(), 4);
    }

    #[test]
    fn pairs_have_no_arrow_heads() {
        let pairs = NetworkPicture { is_directed: false, ..picture(9) };
        let svg = network_svg(&pairs);
        assert!(!svg.contains("class=\"head") && svg.contains("feature 2 – feature 4"));
    }

    #[test]
    fn boxes_never_overlap_and_stay_inside() {
        for (n, is_directed) in [1, 2, 3, 5, 30, 60, 200].into_iter().flat_map(|n| [(n, true), (n, false)]) {
            let layout = layout(&NetworkPicture { is_directed, ..picture(n) });
            for (i, a) in layout.places.iter().enumerate() {
                assert!(a.x - a.width / 2.0 >= 0.0 && a.x + a.width / 2.0 <= layout.width);
                assert!(a.y > 0.0 && a.y < layout.height);
                for b in &layout.places[..i] {
                    let apart =
                        (a.y - b.y).abs() >= BOX_HEIGHT || (a.x - b.x).abs() >= (a.width + b.width) / 2.0;
                    assert!(apart, "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn a_cyclic_picture_is_drawn_too() {
        let mut p = picture(3);
        p.arcs.push(PictureArc { from: 3, to: 1, strength: -1.0 });
        assert!(network_svg(&p).contains("arc negative"));
    }
}
