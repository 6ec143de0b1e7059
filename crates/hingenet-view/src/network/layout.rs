//! Where the nodes stand: layers by longest path, order inside a layer by the mean position of the
//! neighbours (Sugiyama's method), wide layers broken into several rows.

use crate::chart::text_width;
use hingenet::report::NetworkPicture;

/// Centre and width of a node box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Horizontal centre.
    pub x: f64,
    /// Vertical centre.
    pub y: f64,
    /// Width of the box.
    pub width: f64,
}

/// Places of all nodes and the size of the whole picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// One place per node.
    pub places: Vec<Place>,
    /// Width of the picture.
    pub width: f64,
    /// Height of the picture.
    pub height: f64,
}

/// Height of a node box.
pub const BOX_HEIGHT: f64 = 26.0;
/// Longest label drawn; the rest is shown on demand.
pub const LABEL_CHARS: usize = 18;

const GAP: f64 = 14.0;
/// Between layers, where arcs run.
const LAYER_GAP: f64 = 48.0;
/// Between rows of one layer.
const ROW_GAP: f64 = 18.0;
const MARGIN: f64 = 16.0;
const MAX_ROW: f64 = 1000.0;
const SWEEPS: usize = 12;

/// Lays a picture out: layers for arcs, a ring for pairs. Works for any graph; a node on a cycle stays where
/// its known parents put it.
pub fn layout(picture: &NetworkPicture) -> Layout {
    layout_within(picture, MAX_ROW)
}

/// The same with rows of at most this width.
pub fn layout_within(picture: &NetworkPicture, max_row: f64) -> Layout {
    let widths: Vec<f64> = picture.nodes.iter().map(|n| box_width(&n.name)).collect();
    if !picture.is_directed {
        return ring(picture, &widths);
    }
    place_rows(&layers(picture), &widths, &vec![BOX_HEIGHT; widths.len()], max_row)
}

/// Cards of one width and of the given heights: layers for arcs, rows in the given order if there are none between features.
pub fn layout_cards(picture: &NetworkPicture, width: f64, heights: &[f64], max_row: f64) -> Layout {
    place_rows(&layers(picture), &vec![width; heights.len()], heights, max_row)
}

/// The first card alone on top, the others in rows below it, with room for arcs between them.
pub fn rows_of_cards(order: &[usize], width: f64, heights: &[f64], max_row: f64) -> Layout {
    let (first, rest) = order.split_at(order.len().min(1));
    let in_row =
        ((max_row / width) as usize).clamp(1, ((rest.len() as f64).sqrt() * 1.6).ceil().max(1.0) as usize);
    let layers: Vec<Vec<usize>> =
        std::iter::once(first.to_vec()).chain(rest.chunks(in_row).map(<[usize]>::to_vec)).collect();
    place_rows(&layers, &vec![width; heights.len()], heights, max_row)
}

/// Nodes in layers, each layer in an order with few crossings.
fn layers(picture: &NetworkPicture) -> Vec<Vec<usize>> {
    let mut layers = into_layers(&layer_numbers(picture));
    reduce_crossings(&mut layers, picture);
    layers
}

/// Width of the box around a label.
pub(super) fn box_width(name: &str) -> f64 {
    text_width(&name.chars().take(LABEL_CHARS).collect::<String>()) + 20.0
}

/// All boxes on an ellipse, neighbours close to each other: the order is that of a walk along the strongest
/// pairs first.
fn ring(picture: &NetworkPicture, widths: &[f64]) -> Layout {
    let n = widths.len();
    let order = walk(picture);
    // boxes at the sides stand above each other, so the ring is high enough for half of them
    let widest = widths.iter().copied().fold(0.0, f64::max);
    let height = (n as f64 / 2.0 * (BOX_HEIGHT + 8.0)).max(3.0 * BOX_HEIGHT);
    let width = (1.25 * height).clamp(220.0, MAX_ROW - widest);
    let (cx, cy) = (MARGIN + (width + widest) / 2.0, MARGIN + (height + BOX_HEIGHT) / 2.0);
    let mut places = vec![Place { x: cx, y: cy, width: 0.0 }; n];
    for (k, &i) in order.iter().enumerate() {
        // equal steps in height, so that no two boxes of a side touch
        let turn = k as f64 / n as f64;
        let rise = if turn < 0.5 { 1.0 - 4.0 * turn } else { 4.0 * turn - 3.0 };
        let out = (1.0 - rise * rise).max(0.0).sqrt() * if turn < 0.5 { 1.0 } else { -1.0 };
        places[i] = Place { x: cx + out * width / 2.0, y: cy - rise * height / 2.0, width: widths[i] };
    }
    Layout { places, width: width + widest + 2.0 * MARGIN, height: height + BOX_HEIGHT + 2.0 * MARGIN }
}

/// All nodes, each next to the strongest of its partners that is still free.
fn walk(picture: &NetworkPicture) -> Vec<usize> {
    let n = picture.nodes.len();
    let mut partners = vec![Vec::new(); n];
    for arc in &picture.arcs {
        partners[arc.from].push((arc.strength.abs(), arc.to));
        partners[arc.to].push((arc.strength.abs(), arc.from));
    }
    partners.iter_mut().for_each(|p| p.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))));
    let mut order: Vec<usize> = Vec::with_capacity(n);
    let mut placed = vec![false; n];
    while order.len() < n {
        let next = order.last().and_then(|&i: &usize| partners[i].iter().find(|(_, j)| !placed[*j]));
        let i = match next {
            Some(&(_, j)) => j,
            None => (0..n).find(|&i| !placed[i]).unwrap_or_default(),
        };
        placed[i] = true;
        order.push(i);
    }
    order
}

/// Arcs `(from, to, strength)`, the strongest first, without those that would close a cycle.
pub fn without_cycles(mut arcs: Vec<(usize, usize, f64)>, nodes: usize) -> Vec<(usize, usize)> {
    arcs.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut kept = Vec::new();
    for (from, to, _) in arcs {
        if !children[from].contains(&to) && !leads_to(&children, to, from) {
            children[from].push(to);
            kept.push((from, to));
        }
    }
    kept
}

/// Whether a path runs from one node to another.
fn leads_to(children: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; children.len()];
    let mut open = vec![from];
    while let Some(v) = open.pop() {
        if v == to {
            return true;
        }
        if !std::mem::replace(&mut seen[v], true) {
            open.extend(&children[v]);
        }
    }
    false
}

/// Longest path from a root; the class has layer 0 and everything else is below it.
fn layer_numbers(picture: &NetworkPicture) -> Vec<usize> {
    let n = picture.nodes.len();
    let has_class = picture.nodes.iter().any(|node| node.is_class);
    let floor = |i: usize| usize::from(has_class && !picture.nodes[i].is_class);
    let mut layer: Vec<usize> = (0..n).map(floor).collect();
    // At most n rounds settle a graph without cycles; with cycles the bound stops the climbing.
    for _ in 0..n {
        let mut changed = false;
        for arc in &picture.arcs {
            let below = layer[arc.from] + 1;
            if !picture.nodes[arc.to].is_class && layer[arc.to] < below && below <= n {
                layer[arc.to] = below;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    layer
}

fn into_layers(layer: &[usize]) -> Vec<Vec<usize>> {
    let count = layer.iter().max().map_or(0, |m| m + 1);
    let mut layers = vec![Vec::new(); count];
    layer.iter().enumerate().for_each(|(i, &l)| layers[l].push(i));
    layers.retain(|l| !l.is_empty());
    layers
}

/// Sorts each layer by the mean relative position of its neighbours, downwards and upwards in turn.
fn reduce_crossings(layers: &mut [Vec<usize>], picture: &NetworkPicture) {
    let n = picture.nodes.len();
    let mut neighbours = vec![Vec::new(); n];
    for arc in &picture.arcs {
        // Arcs from the class go everywhere and would only pull nodes to the middle.
        if !picture.nodes[arc.from].is_class {
            neighbours[arc.from].push(arc.to);
            neighbours[arc.to].push(arc.from);
        }
    }
    let mut position = vec![0.5; n];
    for sweep in 0..SWEEPS {
        let count = layers.len();
        for k in 0..count {
            let k = if sweep % 2 == 0 { k } else { count - 1 - k };
            let mean = |i: usize| {
                let near = &neighbours[i];
                if near.is_empty() {
                    position[i]
                } else {
                    near.iter().map(|&j| position[j]).sum::<f64>() / near.len() as f64
                }
            };
            let mut keyed: Vec<(f64, usize)> = layers[k].iter().map(|&i| (mean(i), i)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            layers[k] = keyed.iter().map(|&(_, i)| i).collect();
            for (rank, &i) in layers[k].iter().enumerate() {
                position[i] = (rank as f64 + 0.5) / layers[k].len() as f64;
            }
        }
    }
}

/// Rows of boxes, each row centred; a layer wider than the page becomes several rows.
fn place_rows(layers: &[Vec<usize>], widths: &[f64], heights: &[f64], max_row: f64) -> Layout {
    let mut rows: Vec<(Vec<usize>, bool)> = Vec::new();
    for layer in layers {
        let mut first = true;
        let mut row: Vec<usize> = Vec::new();
        let mut used = 0.0;
        for &i in layer {
            if !row.is_empty() && used + GAP + widths[i] > max_row {
                rows.push((std::mem::take(&mut row), first));
                (used, first) = (0.0, false);
            }
            used += widths[i] + if row.is_empty() { 0.0 } else { GAP };
            row.push(i);
        }
        rows.push((row, first));
    }
    let row_width = |row: &[usize]| row.iter().map(|&i| widths[i] + GAP).sum::<f64>() - GAP;
    let width = rows.iter().map(|(row, _)| row_width(row)).fold(0.0, f64::max) + 2.0 * MARGIN;
    let mut places = vec![Place { x: 0.0, y: 0.0, width: 0.0 }; widths.len()];
    let mut y = MARGIN;
    for (k, (row, first)) in rows.iter().enumerate() {
        if k > 0 {
            y += if *first { LAYER_GAP } else { ROW_GAP };
        }
        let height = row.iter().map(|&i| heights[i]).fold(0.0, f64::max);
        let mut x = (width - row_width(row)) / 2.0;
        for &i in row {
            places[i] = Place { x: x + widths[i] / 2.0, y: y + height / 2.0, width: widths[i] };
            x += widths[i] + GAP;
        }
        y += height;
    }
    Layout { places, width, height: y + MARGIN }
}
