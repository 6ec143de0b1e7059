//! Lines over two axes, with bands, markers and error bars.

use super::frame::{Area, WIDTH, open, put, x_axis, x_rule, y_axis, y_rule};
use super::{Axis, SeriesStyle};
use crate::escape;

/// Height of the picture.
pub(super) const HEIGHT: f64 = 270.0;

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
    /// Which points are marked.
    pub markers: Markers,
    /// Whether the line is dashed.
    pub dashed: bool,
    /// Texts beside the points; empty without any.
    pub labels: Vec<String>,
}

/// Which points of a line are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markers {
    /// Every point: the points are what was measured.
    All,
    /// A few, so that lines are told apart without their colours.
    Few,
}

/// Marked points of a line with [`Markers::Few`].
const FEW: usize = 4;

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
    /// A place on the horizontal axis drawn for comparison.
    pub upright: Option<f64>,
    /// Intervals, in the colour of the first line.
    pub bars: Vec<ErrorBar>,
    /// Shares of a histogram over the horizontal axis, drawn small at the bottom: (from, to, share).
    pub counts: Vec<(f64, f64, f64)>,
    /// Heights over the horizontal axis, drawn small at the bottom as an area: (x, height).
    pub shade: &'a [(f64, f64)],
    /// Whether 0 is drawn across.
    pub zero: bool,
    /// Marks without a line, before the lines.
    pub dots: Vec<Dots<'a>>,
}

/// Points that no line joins.
#[derive(Debug, Clone)]
pub struct Dots<'a> {
    /// What they stand for.
    pub name: &'a str,
    /// How they are drawn.
    pub style: SeriesStyle,
    /// Where they lie.
    pub points: &'a [(f64, f64)],
}

impl Line<'_> {
    /// Numbers of the marked points. Lines of other styles have theirs elsewhere, lest they hide each other.
    fn marked(&self) -> Vec<usize> {
        let n = self.points.len();
        match self.markers {
            Markers::All => (0..n).collect(),
            Markers::Few if n < 2 => Vec::new(),
            Markers::Few => {
                let shift = (self.style.colour as f64 + 0.5) / 8.0;
                let at = |k: usize| ((k as f64 + shift) / FEW as f64 * (n - 1) as f64) as usize;
                let mut marked: Vec<usize> = (0..FEW).map(at).collect();
                marked.dedup();
                marked
            }
        }
    }
}

impl<'a> LineChart<'a> {
    /// A chart without lines.
    pub fn new(label: impl Into<String>, x: Axis, y: Axis) -> Self {
        let (lines, bars, counts) = (Vec::new(), Vec::new(), Vec::new());
        LineChart {
            label: label.into(),
            x,
            y,
            lines,
            diagonal: false,
            level: None,
            upright: None,
            bars,
            counts,
            shade: &[],
            zero: false,
            dots: Vec::new(),
        }
    }

    /// The chart as SVG text.
    pub fn svg(&self) -> String {
        open(HEIGHT, &self.label) + &self.body() + "</svg>"
    }

    /// What stands between the tags of the picture, [`WIDTH`] wide and [`HEIGHT`] high.
    pub(super) fn body(&self) -> String {
        let area = Area { left: 54.0, right: WIDTH - 14.0, top: 10.0, bottom: HEIGHT - 44.0 };
        let mut out = String::new();
        x_axis(&mut out, area, &self.x);
        y_axis(&mut out, area, &self.y);
        self.draw_comparisons(&mut out, area);
        for dots in &self.dots {
            let class = dots.style.class();
            put(&mut out, format_args!("<g class=\"{class}\"><title>{}</title>", escape(dots.name)));
            for p in dots.points {
                let (x, y) = (area.x(&self.x, p.0), area.y(&self.y, p.1));
                put(&mut out, format_args!("<path class=\"mark\" d=\"{}\"/>", dots.style.marker_path(x, y)));
            }
            out.push_str("</g>\n");
        }
        for line in &self.lines {
            put(
                &mut out,
                format_args!("<g class=\"{}\"><title>{}</title>", line.style.class(), escape(line.name)),
            );
            self.draw_line(&mut out, area, line);
            out.push_str("</g>\n");
        }
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
        let highest = self.shade.iter().map(|s| s.1).fold(0.0, f64::max);
        if let (Some(first), Some(last), true) = (self.shade.first(), self.shade.last(), highest > 0.0) {
            let full = 0.22 * (area.bottom - area.top);
            let top = self.shade.iter().map(|(x, h)| (area.x(&self.x, *x), area.bottom - h / highest * full));
            let ends = |p: &(f64, f64)| (area.x(&self.x, p.0), area.bottom);
            let outline = std::iter::once(ends(first)).chain(top).chain([ends(last)]);
            put(out, format_args!("<path class=\"counts\" d=\"{}z\"/>\n", path(outline)));
        }
        if self.zero && self.y.low < 0.0 && self.y.high > 0.0 {
            y_rule(out, area, &self.y, 0.0);
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
            y_rule(out, area, &self.y, level);
        }
        if let Some(place) = self.upright {
            x_rule(out, area, &self.x, place);
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
        for k in line.marked() {
            let (x, y) = place(line.points[k]);
            put(out, format_args!("<path class=\"mark\" d=\"{}\"/>", line.style.marker_path(x, y)));
        }
        let mut taken: Vec<TextBox> = Vec::new();
        for (p, label) in line.points.iter().zip(&line.labels) {
            let (x, y) = place(*p);
            let crossed = |b: &TextBox, bar: &ErrorBar| {
                b.holds(area.x(&self.x, bar.x), area.y(&self.y, bar.high), area.y(&self.y, bar.low))
            };
            let free = |b: &TextBox| {
                b.lies_in(area)
                    && taken.iter().all(|t| !t.overlaps(b))
                    && !self.bars.iter().any(|bar| crossed(b, bar))
            };
            // a label without room is left out; the table has it
            let Some(spot) = TextBox::around(x, y, label).into_iter().find(free) else { continue };
            put(
                out,
                format_args!(
                    "<text class=\"point\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    spot.left,
                    spot.bottom - 2.0,
                    escape(label)
                ),
            );
            taken.push(spot);
        }
    }
}

/// Room that a label beside a point takes.
#[derive(Debug, Clone, Copy)]
struct TextBox {
    left: f64,
    bottom: f64,
    width: f64,
}

impl TextBox {
    const HEIGHT: f64 = 13.0;

    /// Places beside a point, the best first.
    fn around(x: f64, y: f64, label: &str) -> [TextBox; 6] {
        let width = 7.0 * label.chars().count() as f64;
        let (right, left, middle) = (x + 6.0, x - 6.0 - width, x - width / 2.0);
        let (above, below) = (y - 5.0, y + 17.0);
        [
            (right, above),
            (right, below),
            (left, above),
            (left, below),
            (middle, above - 14.0),
            (middle, below + 14.0),
        ]
        .map(|(left, bottom)| TextBox { left, bottom, width })
    }

    fn overlaps(&self, other: &TextBox) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && (self.bottom - other.bottom).abs() < Self::HEIGHT
    }

    /// Whether an upright line goes through it.
    fn holds(&self, x: f64, top: f64, bottom: f64) -> bool {
        let beside = x < self.left - 1.0 || x > self.left + self.width + 1.0;
        !beside && top < self.bottom && bottom > self.bottom - Self::HEIGHT
    }

    fn lies_in(&self, area: Area) -> bool {
        let inside = self.left >= area.left && self.left + self.width <= area.right + 12.0;
        inside && self.bottom - Self::HEIGHT >= area.top - 8.0 && self.bottom <= area.bottom + 2.0
    }
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.enumerate() {
        put(&mut out, format_args!("{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' }));
    }
    out
}
