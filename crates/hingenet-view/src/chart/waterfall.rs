//! Terms that add up, one row a term: each bar starts where the one above ends.

use super::Axis;
use super::frame::{Area, WIDTH, label_room, open, put, row_label, x_axis, x_rule};

const ROW: f64 = 24.0;

/// Steps from 0: (label, change). They end at `total`, which gets a row of its own.
pub fn waterfall(label: &str, axis_label: &str, steps: &[(String, f64)], total: f64) -> String {
    let mut at = 0.0;
    let mut spans: Vec<(&str, f64, f64)> = Vec::new();
    for (name, change) in steps {
        spans.push((name, at, at + change));
        at += change;
    }
    spans.push(("total", 0.0, total));
    let ends = spans.iter().flat_map(|s| [s.1, s.2]).chain([0.0]);
    let axis = Axis::over(axis_label, ends);
    let (room, most) = label_room(spans.iter().map(|s| s.0));
    // room for the values at the right of the longest bar
    let area = Area { left: room, right: WIDTH - 52.0, top: 4.0, bottom: 4.0 + ROW * spans.len() as f64 };
    let mut out = open(area.bottom + 42.0, label);
    x_axis(&mut out, area, &axis);
    x_rule(&mut out, area, &axis, 0.0);
    for (k, (name, from, to)) in spans.iter().enumerate() {
        let y = area.top + ROW * (k as f64 + 0.5);
        row_label(&mut out, area.left - 8.0, y, name, most);
        let (a, b) = (area.x(&axis, *from), area.x(&axis, *to));
        let is_total = k + 1 == spans.len();
        let class = if is_total {
            "bar s7"
        } else if to < from {
            "bar against"
        } else {
            "bar for"
        };
        put(
            &mut out,
            format_args!(
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"14\"/>",
                a.min(b),
                y - 7.0,
                (a - b).abs().max(1.0)
            ),
        );
        // the sign tells what the colour tells
        let text = format!("{:+.2}", to - from).replace('-', "−");
        let (x, y) = (a.max(b) + 4.0, y + 4.0);
        put(&mut out, format_args!("<text class=\"value\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>\n"));
    }
    out.push_str("</svg>");
    out
}
