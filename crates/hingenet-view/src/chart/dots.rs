//! Dots with intervals, one row a series: who is better, and how sure is it?

use super::frame::{Area, WIDTH, label_room, open, put, row_label, x_axis, x_rule};
use super::{Axis, SeriesStyle};

const ROW: f64 = 34.0;

/// One row.
#[derive(Debug, Clone)]
pub struct DotRow<'a> {
    /// Its name.
    pub label: String,
    /// How it is drawn.
    pub style: SeriesStyle,
    /// The large dot.
    pub value: f64,
    /// Ends of its interval, if there is one.
    pub interval: Option<(f64, f64)>,
    /// Small dots, such as single folds.
    pub small: &'a [f64],
}

/// Rows over a common axis; `level` is drawn across for comparison.
pub fn dot_chart(label: &str, axis: &Axis, rows: &[DotRow], level: Option<f64>) -> String {
    let (room, most) = label_room(rows.iter().map(|r| r.label.as_str()));
    let area = Area { left: room, right: WIDTH - 16.0, top: 6.0, bottom: 6.0 + ROW * rows.len() as f64 };
    let mut out = open(area.bottom + 42.0, label);
    x_axis(&mut out, area, axis);
    if let Some(level) = level {
        x_rule(&mut out, area, axis, level);
    }
    for (k, row) in rows.iter().enumerate() {
        let y = area.top + ROW * (k as f64 + 0.5);
        row_label(&mut out, area.left - 8.0, y, &row.label, most);
        put(&mut out, format_args!("<g class=\"{}\">", row.style.class()));
        for v in row.small {
            put(
                &mut out,
                format_args!(
                    "<circle class=\"small\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\"/>",
                    area.x(axis, *v),
                    y + 8.0
                ),
            );
        }
        if let Some((low, high)) = row.interval {
            let (a, b) = (area.x(axis, low), area.x(axis, high));
            put(&mut out, format_args!("<path class=\"interval\" d=\"M{a:.1} {y:.1}H{b:.1}\"/>"));
        }
        let x = area.x(axis, row.value);
        put(&mut out, format_args!("<path class=\"mark\" d=\"{}\"/></g>\n", row.style.marker_path(x, y)));
    }
    out.push_str("</svg>");
    out
}
