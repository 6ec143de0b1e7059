//! Horizontal bars with their values, and histograms.

use super::frame::{Area, WIDTH, label_room, open, put, row_label, x_axis, y_axis};
use super::{Axis, SeriesStyle};
use crate::escape;

const ROW: f64 = 24.0;

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its length, at least 0.
    pub value: f64,
    /// What stands beside it.
    pub text: String,
}

/// Bars from 0, the longest one as wide as the chart allows.
pub fn bar_chart(label: &str, bars: &[Bar], style: SeriesStyle) -> String {
    let (room, most) = label_room(bars.iter().map(|b| b.label.as_str()));
    let text_room = bars.iter().map(|b| b.text.chars().count()).max().unwrap_or(0) as f64 * 7.2 + 12.0;
    let longest = bars.iter().map(|b| b.value).fold(0.0, f64::max);
    let full = WIDTH - room - text_room;
    let mut out = open(ROW * bars.len() as f64 + 6.0, label);
    for (k, bar) in bars.iter().enumerate() {
        let y = ROW * (k as f64 + 0.5) + 3.0;
        let width = if longest > 0.0 { bar.value / longest * full } else { 0.0 };
        row_label(&mut out, room - 8.0, y, &bar.label, most);
        put(
            &mut out,
            format_args!(
                "<rect class=\"bar {}\" x=\"{room:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"14\"/>",
                style.class(),
                y - 7.0
            ),
        );
        put(
            &mut out,
            format_args!(
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
                room + width + 6.0,
                y + 4.5,
                escape(&bar.text)
            ),
        );
    }
    out.push_str("</svg>");
    out
}

/// A histogram over `edges` (one more than `shares`); bins below 0, mistakes, are pale.
pub fn histogram(
    label: &str,
    x: &Axis,
    y: &Axis,
    edges: &[f64],
    shares: &[f64],
    style: SeriesStyle,
) -> String {
    let height = 210.0;
    let area = Area { left: 54.0, right: WIDTH - 14.0, top: 10.0, bottom: height - 44.0 };
    let mut out = open(height, label);
    x_axis(&mut out, area, x);
    y_axis(&mut out, area, y);
    for (k, share) in shares.iter().enumerate() {
        let (a, b) = (area.x(x, edges[k]), area.x(x, edges[k + 1]));
        let top = area.y(y, *share);
        let wrong = if edges[k + 1] <= 0.0 { " wrong" } else { "" };
        put(
            &mut out,
            format_args!(
                "<rect class=\"bar{wrong} {}\" x=\"{a:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                style.class(),
                (b - a - 0.8).max(0.4),
                area.bottom - top
            ),
        );
    }
    let zero = area.x(x, 0.0);
    put(
        &mut out,
        format_args!("<path class=\"rule\" d=\"M{zero:.1} {:.1}V{:.1}\"/>\n</svg>", area.top, area.bottom),
    );
    out
}
