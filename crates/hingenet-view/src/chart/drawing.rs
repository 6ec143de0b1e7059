//! Lines and points that somebody has as plain data, drawn as a file of their own: with its colours and its legend.

use super::frame::{WIDTH, put, text_width};
use super::lines::HEIGHT;
use super::{Axis, Dots, Line, LineChart, Markers, SeriesStyle, series_styles};
use crate::escape;
use serde::Deserialize;

/// A chart as it is written down, for example in JSON.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawing {
    /// What it shows, for screen readers.
    pub label: String,
    /// Horizontal axis.
    pub x: DrawnAxis,
    /// Vertical axis.
    pub y: DrawnAxis,
    /// What is drawn, the first at the back.
    pub series: Vec<Series>,
    /// Whether the diagonal is drawn for comparison.
    #[serde(default)]
    pub diagonal: bool,
    /// A level drawn for comparison.
    #[serde(default)]
    pub level: Option<f64>,
}

/// An axis; its ends come from the data where they are not given, its ticks are round numbers unless they are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnAxis {
    /// Name, with the unit.
    pub label: String,
    /// Lower end.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub high: Option<f64>,
    /// Positions and labels of the ticks.
    #[serde(default)]
    pub ticks: Vec<(f64, String)>,
}

/// A line, or points that no line joins.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// What it stands for, in the legend.
    pub name: String,
    /// Points in drawing order.
    pub points: Vec<(f64, f64)>,
    /// Interval around each point; empty without one.
    #[serde(default)]
    pub band: Vec<(f64, f64)>,
    /// Whether there is no line between the points.
    #[serde(default)]
    pub scatter: bool,
}

impl DrawnAxis {
    fn axis(&self, values: impl Iterator<Item = f64>) -> Axis {
        let known = Axis::over(&self.label, values.chain(self.low).chain(self.high));
        let (low, high) = (self.low.unwrap_or(known.low), self.high.unwrap_or(known.high));
        let mut axis = Axis::between(&self.label, low.min(high), high.max(low));
        if !self.ticks.is_empty() {
            axis.ticks = self.ticks.clone();
        }
        axis
    }
}

impl Drawing {
    /// The picture as an SVG file that stands alone.
    pub fn svg(&self) -> String {
        let names: Vec<&str> = self.series.iter().map(|s| s.name.as_str()).collect();
        let styles = series_styles(&names);
        let points = || self.series.iter().flat_map(|s| s.points.iter().chain(&s.band));
        let x = self.x.axis(self.series.iter().flat_map(|s| &s.points).map(|p| p.0));
        // both ends of a band are heights
        let low_ends = self.series.iter().flat_map(|s| s.band.iter().map(|b| b.0));
        let y = self.y.axis(points().map(|p| p.1).chain(low_ends));
        let mut chart = LineChart::new(&self.label, x, y);
        (chart.diagonal, chart.level) = (self.diagonal, self.level);
        for (series, style) in self.series.iter().zip(&styles) {
            let (name, style, points) = (series.name.as_str(), *style, series.points.as_slice());
            if series.scatter {
                chart.dots.push(Dots { name, style, points });
            } else {
                let (markers, labels) = (Markers::All, Vec::new());
                chart.lines.push(Line {
                    name,
                    style,
                    points,
                    band: &series.band,
                    markers,
                    dashed: false,
                    labels,
                });
            }
        }
        let (legend, height) = self.legend(&styles);
        let height = HEIGHT + height;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" width=\"{:.0}\" height=\"{:.0}\" \
             role=\"img\" aria-label=\"{}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{}{legend}</svg>\n",
            1.5 * WIDTH,
            1.5 * height,
            escape(&self.label),
            chart.body()
        )
    }

    /// Names with their line and marker below the chart, as many in a row as there is room for, and the height they take.
    fn legend(&self, styles: &[SeriesStyle]) -> (String, f64) {
        let mut out = String::new();
        let (mut x, mut y) = (LEFT, HEIGHT + 12.0);
        for (series, style) in self.series.iter().zip(styles) {
            let width = SAMPLE + text_width(&series.name) + 12.0;
            if x > LEFT && x + width > WIDTH {
                (x, y) = (LEFT, y + ROW);
            }
            let line = if series.scatter {
                String::new()
            } else {
                format!("<path class=\"line\" d=\"M{x:.1} {y:.1}h24\"/>")
            };
            put(
                &mut out,
                format_args!(
                    "<g class=\"{}\">{line}<path class=\"mark\" d=\"{}\"/></g><text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
                    style.class(),
                    style.marker_path(x + 12.0, y),
                    x + SAMPLE,
                    y + 4.5,
                    escape(&series.name)
                ),
            );
            x += width;
        }
        (out, y + ROW - HEIGHT)
    }
}

/// Where the legend begins, how much of it is line and marker, and how far its rows are apart.
const LEFT: f64 = 20.0;
const SAMPLE: f64 = 30.0;
const ROW: f64 = 19.0;

/// The rules of the pages, for a file that stands alone.
const STYLE: &str =
    concat!(include_str!("colours.css"), include_str!("chart.css"), ".ground{fill:var(--paper)}\n");

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing() -> Drawing {
        let axis = |label: &str| DrawnAxis { label: label.into(), low: None, high: None, ticks: Vec::new() };
        let line = Series {
            name: "a <line>".into(),
            points: vec![(0.0, 1.0), (1.0, 2.0)],
            band: vec![(0.5, 1.5), (1.0, 9.0)],
            scatter: false,
        };
        let dots = Series { name: "dots".into(), band: Vec::new(), scatter: true, ..line.clone() };
        Drawing {
            label: "what it shows".into(),
            x: axis("x"),
            y: axis("y"),
            series: vec![line, dots],
            diagonal: false,
            level: None,
        }
    }

    #[test]
    fn a_drawing_brings_its_colours_and_names_every_series_once() {
        let svg = drawing().svg();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && svg.contains("<style>"));
        for name in ["a &lt;line&gt;", "dots"] {
            assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{svg}");
        }
        // one line and its sample; two marks of each series and one in the legend
        assert_eq!(svg.matches("class=\"line\"").count(), 2);
        assert_eq!(svg.matches("class=\"mark\"").count(), 6);
    }

    #[test]
    fn the_band_lies_inside_the_axis_and_given_ends_count() {
        let highest_tick = |svg: &str| svg.matches(">8</text>").count();
        let mut drawing = drawing();
        assert_eq!(highest_tick(&drawing.svg()), 1);
        drawing.y.high = Some(3.0);
        assert_eq!(highest_tick(&drawing.svg()), 0);
        drawing.x.ticks = vec![(0.5, "half".into())];
        assert!(drawing.svg().contains(">half</text>"));
    }
}
