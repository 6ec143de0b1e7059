//! Figures of the terms of a score: curves along a feature, bars over its categories, maps of pairs.

use crate::chart::{
    Axis, BarSeries, Figure, Grid, LegendEntry, Line, LineChart, Markers, SeriesStyle, grouped_bars,
    heat_map, series_styles,
};
use crate::table::{Cell, DataTable};
use hingenet::report::{Curve, CurveFigure, HeatMap};

/// Points of a curve that its table lists.
const TABLE_POINTS: usize = 21;

/// Curves over numbers, or bars over categories. `style_of` knows the names that look alike everywhere.
pub fn curve_figure(
    figure: &CurveFigure,
    number: usize,
    style_of: &dyn Fn(&str) -> Option<SeriesStyle>,
) -> Figure {
    let names: Vec<&str> = figure.curves.iter().map(|c| c.name.as_str()).collect();
    let own = series_styles(&names);
    let styles: Vec<SeriesStyle> =
        names.iter().zip(own).map(|(name, own)| style_of(name).unwrap_or(own)).collect();
    let (svg, table) = if figure.places.is_empty() {
        (lines(figure, &styles), points(figure))
    } else {
        (bars(figure, &styles), places(figure))
    };
    let legend = names.iter().zip(&styles).map(|(name, style)| LegendEntry::new(*name, *style));
    let made = Figure::new(
        format!("curve-{number}"),
        figure.caption.title.clone(),
        figure.caption.reading.clone(),
        svg,
        table,
    );
    if names.len() > 1 { made.with_legend(legend.collect()) } else { made }
}

fn lines(figure: &CurveFigure, styles: &[SeriesStyle]) -> String {
    let points = || figure.curves.iter().flat_map(|c| c.points.iter());
    let bands = figure.curves.iter().flat_map(|c| c.band.iter().flat_map(|b| [b.0, b.1]));
    let ends = |end: fn(f64, f64) -> f64, start| points().map(|p| p.0).fold(start, end);
    let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, f64::NEG_INFINITY));
    let x = if high > low {
        Axis::between(&figure.caption.x, low, high)
    } else {
        Axis::over(&figure.caption.x, [low, high])
    };
    let y = Axis::over(&figure.caption.y, points().map(|p| p.1).chain(bands));
    let mut chart = LineChart::new(figure.caption.title.clone(), x, y);
    chart.shade = &figure.shares;
    chart.zero = true;
    // few points are knots, many are a smooth curve
    let markers =
        if figure.curves.iter().all(|c| c.points.len() <= 12) { Markers::All } else { Markers::Few };
    let line = |(c, style): (&'_ Curve, &SeriesStyle)| (c.name.clone(), *style);
    let named: Vec<(String, SeriesStyle)> = figure.curves.iter().zip(styles).map(line).collect();
    chart.lines = figure
        .curves
        .iter()
        .zip(&named)
        .map(|(c, (name, style))| Line {
            name,
            style: *style,
            points: &c.points,
            band: &c.band,
            markers,
            dashed: false,
            labels: Vec::new(),
        })
        .collect();
    chart.svg()
}

fn points(figure: &CurveFigure) -> DataTable {
    let all = figure.curves.iter().all(|c| c.points.len() <= TABLE_POINTS);
    let caption = if all {
        figure.caption.title.clone()
    } else {
        format!("{}, some of its points", figure.caption.title)
    };
    let mut table = DataTable::new(caption, &["curve", figure.caption.x.as_str(), figure.caption.y.as_str()]);
    for curve in &figure.curves {
        let step = curve.points.len().div_ceil(TABLE_POINTS).max(1);
        for (x, y) in curve.points.iter().step_by(step) {
            table.rows.push(vec![Cell::text(curve.name.clone()), Cell::digits(*x), Cell::number(*y, 4)]);
        }
    }
    table
}

fn bars(figure: &CurveFigure, styles: &[SeriesStyle]) -> String {
    let values = figure.curves.iter().flat_map(|c| c.points.iter().map(|p| p.1));
    let axis = Axis::over(&figure.caption.y, values.chain([0.0]));
    let series: Vec<BarSeries> = figure
        .curves
        .iter()
        .zip(styles)
        .map(|(c, style)| BarSeries {
            name: &c.name,
            style: *style,
            values: c.points.iter().map(|p| p.1).collect(),
        })
        .collect();
    grouped_bars(&figure.caption.title, &axis, &figure.places, &series)
}

fn places(figure: &CurveFigure) -> DataTable {
    let mut table = DataTable::new(figure.caption.title.clone(), &[figure.caption.x.as_str()]);
    table.header.extend(figure.curves.iter().map(|c| c.name.clone()));
    let row = |(k, place): (usize, &String)| {
        let values = figure.curves.iter().map(|c| Cell::number(c.points[k].1, 4));
        std::iter::once(Cell::text(place.clone())).chain(values).collect()
    };
    table.rows = figure.places.iter().enumerate().map(row).collect();
    table
}

/// The map of a pair of features.
pub fn heat_figure(map: &HeatMap, number: usize) -> Figure {
    let text = |v: &Option<f64>| v.map(|v| format!("{v:.2}")).unwrap_or_default();
    let grid = Grid {
        label: map.caption.title.clone(),
        x: &map.caption.x,
        y: &map.caption.y,
        columns: &map.columns,
        rows: &map.rows,
        values: map.values.clone(),
        texts: map.values.iter().map(|row| row.iter().map(text).collect()).collect(),
        full: map.full,
    };
    let mut table = DataTable {
        caption: map.caption.title.clone(),
        header: vec![map.caption.y.clone()],
        rows: Vec::new(),
    };
    table.header.extend(map.columns.iter().cloned());
    let row = |(name, row): (&String, &Vec<Option<f64>>)| {
        let values = row.iter().map(|v| Cell::optional(*v, |v| Cell::number(v, 4)));
        std::iter::once(Cell::text(name.clone())).chain(values).collect()
    };
    table.rows = map.rows.iter().zip(&map.values).map(row).collect();
    Figure::new(
        format!("map-{number}"),
        map.caption.title.clone(),
        map.caption.reading.clone(),
        heat_map(&grid),
        table,
    )
}
