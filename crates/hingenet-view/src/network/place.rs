//! Nodes at coordinates that the user gave, moved apart where their boxes would overlap.

use super::layout::{BOX_HEIGHT, Layout, Place, box_width};

const MARGIN: f64 = 10.0;
const GAP: f64 = 6.0;
const ROUNDS: usize = 400;

/// Nodes at their coordinates (x to the right, y upwards), scaled to `width`.
pub fn layout_at(names: &[&str], points: &[(f64, f64)], width: f64) -> Layout {
    let (left, right) = range(points.iter().map(|p| p.0));
    let (low, high) = range(points.iter().map(|p| p.1));
    let widths: Vec<f64> = names.iter().map(|n| box_width(n)).collect();
    // Room for the boxes: crowded pictures become larger than asked for.
    let area: f64 = widths.iter().map(|w| (w + GAP) * (BOX_HEIGHT + GAP)).sum();
    let width = width.max((3.0 * area).sqrt());
    let scale = (width / (right - left).max(1e-12)).min(1.6 * width / (high - low).max(1e-12));
    let mut places: Vec<Place> = points
        .iter()
        .zip(&widths)
        .map(|(p, w)| Place { x: (p.0 - left) * scale, y: (high - p.1) * scale, width: *w })
        .collect();
    for _ in 0..ROUNDS {
        if !push_apart(&mut places) {
            break;
        }
    }
    let edge = places.iter().map(|p| p.x - p.width / 2.0).fold(f64::INFINITY, f64::min);
    let top = places.iter().map(|p| p.y - BOX_HEIGHT / 2.0).fold(f64::INFINITY, f64::min);
    for p in &mut places {
        p.x += MARGIN - edge;
        p.y += MARGIN - top;
    }
    let width = places.iter().map(|p| p.x + p.width / 2.0).fold(0.0, f64::max) + MARGIN;
    let height = places.iter().map(|p| p.y + BOX_HEIGHT / 2.0).fold(0.0, f64::max) + MARGIN;
    Layout { places, width, height }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Moves every overlapping pair apart along the direction that needs less; says whether one was moved.
fn push_apart(places: &mut [Place]) -> bool {
    let mut moved = false;
    for a in 1..places.len() {
        for b in 0..a {
            let (p, q) = (places[a], places[b]);
            let across = (p.width + q.width) / 2.0 + GAP - (p.x - q.x).abs();
            let along = BOX_HEIGHT + GAP - (p.y - q.y).abs();
            if across <= 0.0 || along <= 0.0 {
                continue;
            }
            moved = true;
            if along <= across {
                let half = (along / 2.0 + 0.1) * if p.y >= q.y { 1.0 } else { -1.0 };
                (places[a].y, places[b].y) = (p.y + half, q.y - half);
            } else {
                let half = (across / 2.0 + 0.1) * if p.x >= q.x { 1.0 } else { -1.0 };
                (places[a].x, places[b].x) = (p.x + half, q.x - half);
            }
        }
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_keep_their_sides_and_do_not_overlap() {
        let names = ["left", "right", "top", "near the top"];
        let layout = layout_at(&names, &[(-1.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.99)], 400.0);
        let p = &layout.places;
        assert!(p[0].x < p[2].x && p[2].x < p[1].x && p[2].y < p[0].y);
        for a in 0..4 {
            for b in 0..a {
                let apart = (p[a].y - p[b].y).abs() >= BOX_HEIGHT
                    || (p[a].x - p[b].x).abs() >= (p[a].width + p[b].width) / 2.0;
                assert!(apart, "{:?} {:?}", p[a], p[b]);
            }
        }
    }

    #[test]
    fn one_point_for_all_is_no_failure() {
        let layout = layout_at(&["a", "b", "c"], &[(2.0, 2.0); 3], 400.0);
        assert!(layout.width.is_finite() && layout.height > 3.0 * BOX_HEIGHT);
    }
}
