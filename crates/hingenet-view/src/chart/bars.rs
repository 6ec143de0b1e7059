//! Horizontal bars with their values, and histograms.

use super::frame::{Area, WIDTH, label_room, open, put, row_label, text_width, x_axis, x_rule, y_axis};
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
    let text_room = bars.iter().map(|b| text_width(&b.text)).fold(0.0, f64::max) + 8.0;
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

/// Bars of one series.
#[derive(Debug, Clone)]
pub struct BarSeries<'a> {
    /// What it stands for.
    pub name: &'a str,
    /// How it is drawn.
    pub style: SeriesStyle,
    /// One value a row, of any sign.
    pub values: Vec<f64>,
}

/// For each row one bar a series from 0, with the marker of the series at its end.
pub fn grouped_bars(label: &str, axis: &Axis, rows: &[String], series: &[BarSeries]) -> String {
    let (room, most) = label_room(rows.iter().map(String::as_str));
    let thick = if series.len() == 1 { 14.0 } else { 9.0 };
    let row_height = thick * series.len() as f64 + 9.0;
    let bottom = 6.0 + row_height * rows.len() as f64;
    let area = Area { left: room, right: WIDTH - 16.0, top: 6.0, bottom };
    let mut out = open(bottom + 42.0, label);
    x_axis(&mut out, area, axis);
    let zero = area.x(axis, 0.0);
    x_rule(&mut out, area, axis, 0.0);
    for (k, row) in rows.iter().enumerate() {
        let top = area.top + row_height * k as f64 + 4.5;
        row_label(&mut out, room - 8.0, top + thick * series.len() as f64 / 2.0, row, most);
        for (s, one) in series.iter().enumerate() {
            let (value, y) = (one.values[k], top + thick * s as f64);
            let end = area.x(axis, value);
            put(
                &mut out,
                format_args!(
                    "<g class=\"{}\"><title>{}: {value:.4}</title><rect class=\"bar\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                     height=\"{:.1}\"/>",
                    one.style.class(),
                    escape(one.name),
                    zero.min(end),
                    y + 0.5,
                    (end - zero).abs().max(0.5),
                    thick - 1.0
                ),
            );
            if series.len() > 1 {
                let mark = one.style.marker_path(end, y + thick / 2.0);
                put(&mut out, format_args!("<path class=\"mark\" d=\"{mark}\"/>"));
            }
            out.push_str("</g>\n");
        }
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
    x_rule(&mut out, area, x, 0.0);
    out.push_str("</svg>");
    out
}
