//! What remains of the accuracy as feature cells go missing.

use super::{Drawn, legend, line};
use crate::chart::{Axis, Figure, LegendEntry, Line, LineChart, Markers, SeriesStyle, styles_beside};
use crate::table::{Cell, DataTable};
use hingenet::report::Curve;

/// Accuracy of each model as cells go missing.
pub fn missing(drawn: &[Drawn]) -> Figure {
    let named: Vec<(&str, SeriesStyle, &Curve)> = drawn
        .iter()
        .filter_map(|d| d.study.missing.as_ref().map(|c| (d.study.model.as_str(), d.style, c)))
        .collect();
    let lines: Vec<Line> = drawn
        .iter()
        .filter_map(|d| d.study.missing.as_ref().map(|c| (d, c)))
        .map(|(d, c)| Line { band: &c.band, markers: Markers::All, ..line(d, &c.points) })
        .collect();
    Figure::new(
        "missing",
        "Accuracy when feature cells are missing",
        "A flat line is a model that copes with gaps; bands are 95 % intervals. The same cells are \
         blanked for every model.",
        chart("Accuracy by share of missing cells", lines),
        table("model", &named),
    )
    .with_legend(legend(drawn))
}

/// Accuracy of a composed model and of each of its parts alone.
pub fn missing_parts(drawn: &Drawn) -> Option<Figure> {
    let whole = drawn.study.missing.as_ref().filter(|_| !drawn.study.missing_parts.is_empty())?;
    let styles = styles_beside(drawn.style, drawn.study.missing_parts.len());
    let mut named: Vec<(&str, SeriesStyle, &Curve)> = drawn
        .study
        .missing_parts
        .iter()
        .zip(styles)
        .map(|(curve, style)| (curve.name.as_str(), style, curve))
        .collect();
    named.push((drawn.study.model.as_str(), drawn.style, whole));
    let lines = named
        .iter()
        .map(|(name, style, curve)| Line {
            name,
            style: *style,
            points: &curve.points,
            band: if std::ptr::eq(*curve, whole) { &curve.band } else { &[] },
            markers: Markers::All,
            dashed: false,
            labels: Vec::new(),
        })
        .collect();
    let figure = Figure::new(
        format!("missing-parts-{}", drawn.index),
        format!("Terms of {}", drawn.study.model),
        "Each term of the model alone (P kernel density, A averaged networks, G Gaussians, K kernel machine, or what \
         stands in their place), and the whole with its 95 % band. Where the whole lies above all terms, weighing \
         them pays.",
        chart(&format!("Accuracy of {} and its terms by share of missing cells", drawn.study.model), lines),
        table("term", &named),
    );
    let entries = named.iter().map(|(name, style, _)| LegendEntry::new(*name, *style)).collect();
    Some(figure.with_legend(entries))
}

fn chart(label: &str, lines: Vec<Line>) -> String {
    let high = lines.iter().flat_map(|l| l.points.iter().map(|p| p.0)).fold(0.0, f64::max);
    let x = Axis::percent("feature cells missing, %", 0.0, if high > 0.0 { high } else { 1.0 });
    let points = lines.iter().flat_map(|l| l.points.iter().map(|p| p.1));
    let y = Axis::percent_over(
        "accuracy, %",
        points.chain(lines.iter().flat_map(|l| l.band.iter().flat_map(|b| [b.0, b.1]))),
    );
    let mut chart = LineChart::new(label, x, y);
    chart.lines = lines;
    chart.svg()
}

fn table(first: &str, curves: &[(&str, SeriesStyle, &Curve)]) -> DataTable {
    let mut table =
        DataTable::new("Accuracy, %", &[first, "missing %", "accuracy %", "95 % from", "95 % to"]);
    for (name, _, curve) in curves {
        for (p, b) in curve.points.iter().zip(&curve.band) {
            table.rows.push(vec![
                Cell::text(*name),
                Cell::percent(p.0),
                Cell::percent(p.1),
                Cell::percent(b.0),
                Cell::percent(b.1),
            ]);
        }
    }
    table
}
