//! A density model as its page shows it: one figure for each feature, maps of the strongest pairs, and the
//! pairs as a network.

use super::{Caption, Curve, CurveFigure, HeatMap, ModelReport, NetworkPicture, PictureArc, PictureNode};
use crate::evaluate::metrics::quantile;
use crate::model::Model;
use hingenet_base::numeric::log::argmax;
use hingenet_density::{self, DensityClassifier, Surface};

/// Classes with a curve in one figure: those that the feature moves most.
const CLASSES: usize = 6;
/// Curves on a page, which bounds the number of figures.
const CURVES: usize = 120;
/// Maps on a page.
const MAPS: usize = 9;
/// Categories along one side of a figure: the most frequent ones.
const CATEGORIES: usize = 20;
/// Places of a map with less than this part of the largest share are left empty: no rows are expected there.
const SPARSE: f64 = 0.002;
/// Mean size of a contribution that is none.
const SILENT: f64 = 1e-9;
/// Share of the expected rows whose values the colours of a map span.
const SPANNED: f64 = 0.98;

/// Fills in curves, maps and the network of pairs.
pub(super) fn describe(report: &mut ModelReport, model: &Model, fitted: &DensityClassifier) {
    let mut curves = fitted.curves();
    curves.sort_by(|a, b| b.strength().total_cmp(&a.strength()));
    let all = curves.len();
    // in a forest the terms of a feature and of its only pair may cancel
    curves.retain(|c| c.strength() > SILENT);
    let features = curves.len();
    if features < all {
        report
            .terms
            .push(format!("{} features count through their pairs only and have no curve.", all - features));
    }
    curves.truncate((CURVES / model.classes.len().min(CLASSES)).max(1));
    report.curves = curves.iter().map(|c| curve_figure(model, c)).collect();
    if features > curves.len() {
        report.terms.push(format!("The {} of {features} features that move the score most.", curves.len()));
    }
    let network = pairs(model, fitted);
    let strength = |p: usize| network.arcs[p].strength;
    let mut order: Vec<usize> = (0..network.arcs.len()).collect();
    order.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)));
    report.maps = order.iter().take(MAPS).map(|&p| heat_map(model, &fitted.surface(p))).collect();
    report.networks.push(network);
    if order.len() > MAPS {
        let text = format!("The {MAPS} of {} pairs that move the score most have a map.", order.len());
        report.terms.push(text);
    }
}

fn name(model: &Model, column: usize) -> String {
    model.schema.features[column].name.clone()
}

/// Names of the categories of a column; `None` if it holds numbers.
fn categories(model: &Model, column: usize) -> Option<&[String]> {
    model.schema.features[column].kind.categories()
}

/// Positions of the largest shares in ascending order, at most so many.
fn most_expected(share: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..share.len()).collect();
    order.sort_by(|&a, &b| share[b].total_cmp(&share[a]).then(a.cmp(&b)));
    order.truncate(most);
    order.sort_unstable();
    order
}

/// Largest distance between two contributions to the score of class `c`.
fn reach(scores: &[Vec<f64>], c: usize) -> f64 {
    let values = || scores.iter().map(|s| s[c]);
    values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
}

fn curve_figure(model: &Model, curve: &hingenet_density::Curve) -> CurveFigure {
    let column = name(model, curve.column);
    let mut classes: Vec<usize> = (0..model.classes.len()).collect();
    classes.sort_by(|&a, &b| reach(&curve.scores, b).total_cmp(&reach(&curve.scores, a)).then(a.cmp(&b)));
    classes.truncate(CLASSES);
    classes.sort_unstable();
    let categories = categories(model, curve.column);
    let shown = match categories {
        Some(_) => most_expected(&curve.share, CATEGORIES),
        None => (0..curve.positions.len()).collect(),
    };
    let x = |place: usize, k: usize| if categories.is_some() { place as f64 } else { curve.positions[k] };
    let points = |c: usize| shown.iter().enumerate().map(move |(p, &k)| (x(p, k), curve.scores[k][c]));
    let mut reading = "Above 0 the value speaks for the class, below against it.".to_string();
    if shown.len() < curve.positions.len() {
        reading += &format!(" The {} most frequent of {} categories.", shown.len(), curve.positions.len());
    }
    if classes.len() < model.classes.len() {
        reading += &format!(" The {} of {} classes it moves most.", classes.len(), model.classes.len());
    }
    if categories.is_none() {
        reading += " Grey: where values are expected.";
    }
    let line =
        |&c: &usize| Curve { name: model.classes[c].clone(), points: points(c).collect(), band: Vec::new() };
    CurveFigure {
        caption: Caption { title: column.clone(), reading, x: column, y: "part of the score".into() },
        curves: classes.iter().map(line).collect(),
        places: categories.map(|names| shown.iter().map(|&k| names[k].clone()).collect()).unwrap_or_default(),
        shares: shown.iter().enumerate().map(|(p, &k)| (x(p, k), curve.share[k])).collect(),
    }
}

/// One side of a map: which places of the surface, and their labels.
fn side(model: &Model, column: usize, positions: &[f64], share: &[f64]) -> (Vec<usize>, Vec<String>) {
    match categories(model, column) {
        Some(names) => {
            let shown = most_expected(share, CATEGORIES);
            let labels = shown.iter().map(|&k| names[k].clone()).collect();
            (shown, labels)
        }
        None => {
            let largest = positions.iter().map(|x| x.abs()).fold(0.0, f64::max);
            let span = positions.last().copied().unwrap_or(0.0) - positions.first().copied().unwrap_or(0.0);
            let decimals = (2.0 - span.abs().max(1e-6).log10()).ceil().clamp(0.0, 6.0) as usize;
            let label = |x: &f64| match (1e-2..1e6).contains(&largest) {
                true => format!("{x:.decimals$}"),
                false => format!("{x:.1e}"),
            };
            let labels = positions.iter().map(label).collect();
            ((0..positions.len()).collect(), labels)
        }
    }
}

/// The map of the class that a pair moves most; of two classes, of the second.
fn heat_map(model: &Model, surface: &Surface) -> HeatMap {
    let (n, m) = (surface.first.len(), surface.second.len());
    let at = |i: usize, j: usize| i * m + j;
    let along = |i: usize| (0..m).map(|j| surface.share[at(i, j)]).sum::<f64>();
    let across = |j: usize| (0..n).map(|i| surface.share[at(i, j)]).sum::<f64>();
    let (a, b) = surface.columns;
    let (columns, column_labels) = side(model, a, &surface.first, &(0..n).map(along).collect::<Vec<_>>());
    let (mut rows, mut row_labels) = side(model, b, &surface.second, &(0..m).map(across).collect::<Vec<_>>());
    if categories(model, b).is_none() {
        // numbers grow upwards
        rows.reverse();
        row_labels.reverse();
    }
    let class = match model.classes.len() {
        2 => 1,
        k => argmax(&(0..k).map(|c| size(surface, c)).collect::<Vec<_>>()),
    };
    let largest = surface.share.iter().copied().fold(0.0, f64::max);
    let value = |i: usize, j: usize| {
        (surface.share[at(i, j)] >= SPARSE * largest).then(|| surface.scores[at(i, j)][class])
    };
    let (x, y) = (name(model, a), name(model, b));
    let title = format!("{x} with {y}: class {}", model.classes[class]);
    let reading = "Blue places speak for the class, orange ones against it; stronger colour counts more. Empty places hold \
                   hardly any rows.";
    HeatMap {
        caption: Caption { title, reading: reading.into(), x, y },
        columns: column_labels,
        rows: row_labels,
        values: rows.iter().map(|&j| columns.iter().map(|&i| value(i, j)).collect()).collect(),
        full: spanned(surface, class),
    }
}

/// Mean size of the contributions to one class over the rows expected.
fn size(surface: &Surface, class: usize) -> f64 {
    surface.scores.iter().zip(&surface.share).map(|(s, p)| p * s[class].abs()).sum()
}

/// Size of contribution that all but the most extreme rows stay below.
fn spanned(surface: &Surface, class: usize) -> f64 {
    let sizes = surface.scores.iter().map(|s| s[class].abs());
    quantile(sizes.zip(surface.share.iter().copied()).collect(), SPANNED)
}

/// The pairs in use; features without any are nodes too.
pub(super) fn pairs(model: &Model, fitted: &DensityClassifier) -> NetworkPicture {
    let node = |f: &hingenet_data::table::FeatureSpec| PictureNode {
        name: f.name.clone(),
        is_class: false,
        note: String::new(),
    };
    let arc = |s: Surface| PictureArc { from: s.columns.0, to: s.columns.1, strength: s.strength() };
    let arcs: Vec<PictureArc> = fitted.surfaces().map(arc).collect();
    NetworkPicture {
        title: format!("{} for {}: pairs of features", model.spec, model.target),
        nodes: model.schema.features.iter().map(node).collect(),
        strength: (!arcs.is_empty()).then(|| "mean size of the pair's part of the score".into()),
        arcs,
        is_directed: false,
    }
}
