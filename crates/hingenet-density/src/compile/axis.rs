//! Node positions of a lookup table along one feature: the values of a discrete feature, or evenly spaced
//! nodes wherever training values are near, with one wide cell across each gap. So an outlier costs a few
//! nodes, not a coarse grid.

use hingenet_data::encode::{FURTHEST, is_moderate};

/// Positions of table nodes along one feature, ascending.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Axis {
    /// Nodes at the codes 0, 1, ....
    Levels(usize),
    /// Pieces of evenly spaced nodes.
    Pieces(Vec<Piece>),
}

/// Evenly spaced nodes.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Piece {
    /// First node.
    start: f64,
    /// Distance of the nodes.
    step: f64,
    /// Number of cells; there is one node more.
    cells: usize,
    /// Number of the first node along the axis.
    first: usize,
}

impl Piece {
    fn end(&self) -> f64 {
        self.start + self.step * self.cells as f64
    }
}

/// Values around which nodes are wanted: the kernel centres of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The values.
    pub values: Vec<f64>,
    /// How far around each of them.
    pub reach: f64,
    /// Largest distance of the nodes.
    pub step: f64,
}

impl Group {
    /// Disjoint intervals with the step.
    fn intervals(&self) -> Vec<(f64, f64, f64)> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        let mut intervals: Vec<(f64, f64, f64)> = Vec::new();
        for x in sorted {
            match intervals.last_mut() {
                Some((_, end, _)) if x - self.reach <= *end + 2.0 * self.step => *end = x + self.reach,
                _ => intervals.push((x - self.reach, x + self.reach, self.step)),
            }
        }
        intervals
    }
}

/// Interpolation weights of a value on consecutive nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The first node.
    pub node: usize,
    /// Number of nodes: 4 for cubic interpolation, 1 for an exact node.
    pub count: usize,
    /// Their weights, which sum to 1.
    pub weights: [f64; 4],
}

impl Place {
    fn exactly(node: usize) -> Place {
        Place { node, count: 1, weights: [1.0, 0.0, 0.0, 0.0] }
    }
}

impl Axis {
    /// Nodes at most `step` apart within `reach` of every value of every group; where groups overlap, the
    /// smallest step counts.
    pub fn around(groups: &[Group]) -> Axis {
        let intervals: Vec<(f64, f64, f64)> = groups.iter().flat_map(Group::intervals).collect();
        let mut ends: Vec<f64> = intervals.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let mut stretches: Vec<(f64, f64, f64)> = Vec::new();
        for w in ends.windows(2) {
            let covering = intervals.iter().filter(|(a, b, _)| *a <= w[0] && *b >= w[1]);
            let step = covering.map(|(_, _, step)| *step).fold(f64::INFINITY, f64::min);
            match stretches.last_mut() {
                Some((_, end, before)) if *end == w[0] && *before == step => *end = w[1],
                _ if step.is_finite() => stretches.push((w[0], w[1], step)),
                _ => {}
            }
        }
        let mut first = 0;
        let pieces = stretches.into_iter().map(|(start, end, step)| {
            let cells = ((end - start) / step).ceil().clamp(3.0, 1e7) as usize;
            let piece = Piece { start, step: (end - start) / cells as f64, cells, first };
            first += cells + 1;
            piece
        });
        Axis::Pieces(pieces.collect())
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            Axis::Levels(n) => *n,
            Axis::Pieces(pieces) => pieces.last().map_or(0, |p| p.first + p.cells + 1),
        }
    }

    /// All node positions.
    pub fn nodes(&self) -> Vec<f64> {
        match self {
            Axis::Levels(n) => (0..*n).map(|k| k as f64).collect(),
            Axis::Pieces(pieces) => {
                pieces.iter().flat_map(|p| (0..=p.cells).map(move |k| p.start + p.step * k as f64)).collect()
            }
        }
    }

    /// Where an observed value lies; values beyond the ends and in gaps are placed at the nearest end of a
    /// piece, where every density is below its floor.
    #[inline]
    pub fn place(&self, x: f64) -> Place {
        match self {
            Axis::Levels(n) => Place::exactly((x.max(0.0) as usize).min(n.saturating_sub(1))),
            Axis::Pieces(pieces) => place_in(pieces, x),
        }
    }

    /// Whether the sizes and positions make sense (a model file may be hostile).
    pub fn is_valid(&self) -> bool {
        match self {
            Axis::Levels(n) => *n > 0,
            Axis::Pieces(pieces) => {
                let mut expected = 0;
                let mut end = -FURTHEST;
                !pieces.is_empty()
                    && pieces.iter().all(|p| {
                        let fine = p.cells >= 3
                            && p.cells < 1 << 24
                            && p.first == expected
                            && is_moderate(p.start)
                            && p.start >= end - 1e-9 * (1.0 + end.abs())
                            && p.step > 0.0
                            && is_moderate(p.end());
                        expected = p.first.saturating_add(p.cells).saturating_add(1);
                        end = p.end();
                        fine
                    })
            }
        }
    }
}

#[inline]
fn place_in(pieces: &[Piece], x: f64) -> Place {
    let at = pieces.partition_point(|p| p.start <= x);
    let Some(piece) = at.checked_sub(1).and_then(|k| pieces.get(k)) else {
        return Place::exactly(0);
    };
    let t = (x - piece.start) / piece.step;
    if t >= piece.cells as f64 {
        return Place::exactly(match pieces.get(at) {
            Some(next) if next.start - x < x - piece.end() => next.first,
            _ => piece.first + piece.cells,
        });
    }
    // Four nodes around the cell, shifted inwards at the ends of the piece.
    let first = (t as usize).saturating_sub(1).min(piece.cells - 3);
    Place { node: piece.first + first, count: 4, weights: cubic(t - first as f64) }
}

/// Lagrange weights of the nodes 0, 1, 2, 3 at u.
#[inline]
fn cubic(u: f64) -> [f64; 4] {
    let (a, b, c) = (u - 1.0, u - 2.0, u - 3.0);
    [-a * b * c / 6.0, u * b * c / 2.0, -u * a * c / 2.0, u * a * b / 6.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_interpolated_exactly_and_ends_are_held() {
        let wide = Group { values: vec![0.0, 0.3, 1.0, 1e6], reach: 0.5, step: 0.1 };
        let spike = Group { values: vec![0.7], reach: 0.01, step: 0.001 };
        let axis = Axis::around(&[wide, spike]);
        assert!(axis.is_valid() && axis.len() < 80, "{}", axis.len());
        let nodes = axis.nodes();
        for x in [-7.0, -0.5, 0.05, 0.69, 0.6999, 0.71, 0.9999, 1.5, 3.0, 5e5 + 1.0, 1e6, 1e6 + 0.5, 2e6] {
            let p = axis.place(x);
            assert!(p.node + p.count <= nodes.len());
            let cube = |v: f64| (v - 0.3) * (v - 0.3) * (v + 1.0);
            let back: f64 = (0..p.count).map(|k| p.weights[k] * cube(nodes[p.node + k])).sum();
            let nearest = if x > 1.5 { x.clamp(1e6 - 0.5, 1e6 + 0.5) } else { x.max(-0.5) };
            let nearest = if x == 3.0 { 1.5 } else { nearest };
            assert!((back / cube(nearest) - 1.0).abs() < 1e-6, "{x}: {back} {}", cube(nearest));
        }
        assert_eq!(Axis::Levels(3).place(2.0), Place::exactly(2));
    }
}
