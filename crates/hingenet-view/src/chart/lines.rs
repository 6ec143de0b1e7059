//! Lines over two axes, with bands, markers and error bars.

use super::frame::{Area, WIDTH, open, put, x_axis, y_axis};
use super::{Axis, SeriesStyle};
use crate::escape;

const HEIGHT: f64 = 270.0;

/// One line.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// What it stands for.
    pub name: &'a str,
    /// How it is drawn.
    pub style: SeriesStyle,
    /// Points in drawing order.
    pub points: &'a [(f64, f64)],
    /// Interval around each point; empty without one.
    pub band: &'a [(f64, f64)],
    /// Whether points are marked.
    pub markers: bool,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Texts beside the points; empty without any.
    pub labels: Vec<String>,
}

/// An interval drawn at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorBar {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A chart of lines.
#[derive(Debug, Clone)]
pub struct LineChart<'a> {
    /// What it shows, for screen readers.
    pub label: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The lines, the first at the back.
    pub lines: Vec<Line<'a>>,
    /// Whether the diagonal is drawn for comparison.
    pub diagonal: bool,
    /// A level drawn for comparison.
    pub level: Option<f64>,
    /// Intervals, in the colour of the first line.
    pub bars: Vec<ErrorBar>,
    /// Shares of a histogram over the horizontal axis, drawn small at the bottom: (from, to, share).
    pub counts: Vec<(f64, f64, f64)>,
}

impl<'a> LineChart<'a> {
    /// A chart without lines.
    pub fn new(label: impl Into<String>, x: Axis, y: Axis) -> Self {
        let (lines, bars, counts) = (Vec::new(), Vec::new(), Vec::new());
        LineChart { label: label.into(), x, y, lines, diagonal: false, level: None, bars, counts }
    }

    /// The chart as SVG text.
    pub fn svg(&self) -> String {
        let area = Area { left: 54.0, right: WIDTH - 14.0, top: 10.0, bottom: HEIGHT - 44.0 };
        let mut out = open(HEIGHT, &self.label);
        x_axis(&mut out, area, &self.x);
        y_axis(&mut out, area, &self.y);
        self.draw_comparisons(&mut out, area);
        for line in &self.lines {
            put(
                &mut out,
                format_args!("<g class=\"{}\"><title>{}</title>", line.style.class(), escape(line.name)),
            );
            self.draw_line(&mut out, area, line);
            out.push_str("</g>\n");
        }
        out.push_str("</svg>");
        out
    }

    fn draw_comparisons(&self, out: &mut String, area: Area) {
        for (from, to, share) in &self.counts {
            let (x1, x2) = (area.x(&self.x, *from), area.x(&self.x, *to));
            let height = share * 0.35 * (area.bottom - area.top);
            put(
                out,
                format_args!(
                    "<rect class=\"counts\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
                    x1 + 1.0,
                    area.bottom - height,
                    (x2 - x1 - 2.0).max(0.5)
                ),
            );
        }
        if self.diagonal {
            let low = self.x.low.max(self.y.low);
            let high = self.x.high.min(self.y.high);
            put(
                out,
                format_args!(
                    "<path class=\"rule\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>\n",
                    area.x(&self.x, low),
                    area.y(&self.y, low),
                    area.x(&self.x, high),
                    area.y(&self.y, high)
                ),
            );
        }
        if let Some(level) = self.level {
            put(
                out,
                format_args!(
                    "<path class=\"rule\" d=\"M{:.1} {:.1}H{:.1}\"/>\n",
                    area.left,
                    area.y(&self.y, level),
                    area.right
                ),
            );
        }
        let class = self.lines.last().map(|l| l.style.class()).unwrap_or_default();
        for bar in &self.bars {
            let x = area.x(&self.x, bar.x);
            put(
                out,
                format_args!(
                    "<path class=\"interval {class}\" d=\"M{x:.1} {:.1}V{:.1}\"/>\n",
                    area.y(&self.y, bar.low),
                    area.y(&self.y, bar.high)
                ),
            );
        }
    }

    fn draw_line(&self, out: &mut String, area: Area, line: &Line) {
        let place = |(x, y): (f64, f64)| (area.x(&self.x, x), area.y(&self.y, y));
        if line.band.len() == line.points.len() && line.points.len() > 1 {
            let upper = line.points.iter().zip(line.band).map(|(p, b)| place((p.0, b.1)));
            let lower = line.points.iter().zip(line.band).rev().map(|(p, b)| place((p.0, b.0)));
            put(out, format_args!("<path class=\"band\" d=\"{}z\"/>", path(upper.chain(lower))));
        }
        let dashed = if line.dashed { " dashed" } else { "" };
        put(
            out,
            format_args!(
                "<path class=\"line{dashed}\" d=\"{}\"/>",
                path(line.points.iter().map(|p| place(*p)))
            ),
        );
        if line.markers {
            for p in line.points {
                let (x, y) = place(*p);
                put(out, format_args!("<path class=\"mark\" d=\"{}\"/>", line.style.marker_path(x, y)));
            }
        }
        let mut last = f64::INFINITY;
        for (p, label) in line.points.iter().zip(&line.labels) {
            let (x, y) = place(*p);
            // neighbours that stand close have their texts on different sides
            let below = (x - last).abs() < 9.0 * label.chars().count() as f64;
            last = if below { f64::INFINITY } else { x };
            put(
                out,
                format_args!(
                    "<text class=\"point\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    x + 6.0,
                    if below { y + 15.0 } else { y - 7.0 },
                    escape(label)
                ),
            );
        }
    }
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.enumerate() {
        put(&mut out, format_args!("{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' }));
    }
    out
}
