//! What differs between the networks of two classes: arcs gained, lost, reversed, changed in weight, with bootstrap
//! intervals; arc counts per block of node groups and degrees per node (the paper's Section 5.5 and Figure 4).

use super::confidence::{ArcConfidence, RunArcs};
use hingenet_base::error::{Error, Result, require, require_len};
use hingenet_base::numeric::linalg::Matrix;

/// How an arc differs from the first to the second class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only in the second class.
    Gained,
    /// Only in the first class.
    Lost,
    /// In the second class the other way round; listed with its direction in the first class.
    Reversed,
    /// In both, and the interval of the difference excludes zero.
    Changed,
    /// In both, no change shown.
    Kept,
}

/// One arc that is present in at least one class.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ArcDifference {
    /// Parent node.
    pub tail: usize,
    /// Child node.
    pub head: usize,
    /// Kind of change.
    pub change: Change,
    /// Weight in the first class (0 when absent).
    pub first: f64,
    /// Weight in the second class; of the reverse arc when the arc is reversed.
    pub second: f64,
    /// Bootstrap interval of the difference of the weights of the arc, second minus first; `None` without runs.
    pub interval: Option<(f64, f64)>,
}

/// Compares two weight matrices over the same nodes. `runs` are the resampled arcs of both classes, `level` the coverage
/// of the intervals (0.95).
pub fn difference_network(
    first: &Matrix,
    second: &Matrix,
    cutoff: f64,
    runs: Option<(&ArcConfidence, &ArcConfidence)>,
    level: f64,
) -> Result<Vec<ArcDifference>> {
    let m = first.rows();
    require_len("nodes of the second network", m, second.rows())?;
    require("level", level, "a number between 0 and 1", level > 0.0 && level < 1.0)?;
    require("cutoff", cutoff, "a finite number >= 0", cutoff.is_finite() && cutoff >= 0.0)?;
    if let Some((a, b)) = runs {
        require_len("runs of the second class", a.runs.len(), b.runs.len())?;
    }
    let weight = |theta: &Matrix, i: usize, j: usize| Some(theta[(i, j)]).filter(|w| w.abs() > cutoff);
    let mut arcs = Vec::new();
    for (tail, head) in (0..m * m).map(|e| (e / m, e % m)) {
        let (here, there) = (weight(first, tail, head), weight(second, tail, head));
        let (back_here, back_there) = (weight(first, head, tail), weight(second, head, tail));
        let (mut change, second) = match (here, there) {
            (Some(_), Some(_)) => (Change::Kept, there),
            (Some(_), None) if back_there.is_some() => (Change::Reversed, back_there),
            (Some(_), None) => (Change::Lost, None),
            (None, Some(_)) if back_here.is_none() => (Change::Gained, there),
            // Listed as reversed with its direction in the first class.
            _ => continue,
        };
        let interval = runs.map(|(a, b)| interval(&a.runs, &b.runs, tail, head, level));
        if change == Change::Kept && interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0) {
            change = Change::Changed;
        }
        let (first, second) = (here.unwrap_or(0.0), second.unwrap_or(0.0));
        arcs.push(ArcDifference { tail, head, change, first, second, interval });
    }
    Ok(arcs)
}

/// Percentile interval of the difference of the weight of i -> j over paired runs.
fn interval(first: &[RunArcs], second: &[RunArcs], i: usize, j: usize, level: f64) -> (f64, f64) {
    let weight = |arcs: &RunArcs| arcs.iter().find(|a| (a.0, a.1) == (i, j)).map_or(0.0, |a| a.2);
    let mut differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| weight(b) - weight(a)).collect();
    differences.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (differences.len() - 1) as f64;
        let (low, high) = (place.floor() as usize, place.ceil() as usize);
        differences[low] + (place - low as f64) * (differences[high] - differences[low])
    };
    let tail = 0.5 * (1.0 - level);
    if differences.is_empty() { (0.0, 0.0) } else { (at(tail), at(1.0 - tail)) }
}

/// Arcs of one network by blocks of node groups.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GroupTable {
    /// Number of groups.
    pub groups: usize,
    /// Arcs from group g to group h at `g · groups + h`.
    pub arcs: Vec<usize>,
    /// Sum of their absolute weights.
    pub strength: Vec<f64>,
    /// Pairs of nodes that could carry such an arc.
    pub pairs: Vec<usize>,
}

/// Counts the arcs between groups (for example brain regions by lobe).
pub fn group_table(theta: &Matrix, group: &[usize], groups: usize, cutoff: f64) -> Result<GroupTable> {
    require_len("groups of the nodes", theta.rows(), group.len())?;
    if let Some(j) = group.iter().position(|g| *g >= groups) {
        return Err(Error::Graph {
            node: j.to_string(),
            problem: format!("group {} does not exist", group[j]),
        });
    }
    let cells = groups * groups;
    let mut table =
        GroupTable { groups, arcs: vec![0; cells], strength: vec![0.0; cells], pairs: vec![0; cells] };
    for i in 0..theta.rows() {
        for j in (0..theta.rows()).filter(|&j| j != i) {
            let cell = group[i] * groups + group[j];
            table.pairs[cell] += 1;
            if theta[(i, j)].abs() > cutoff {
                table.arcs[cell] += 1;
                table.strength[cell] += theta[(i, j)].abs();
            }
        }
    }
    Ok(table)
}

/// Parents and children of each node: `(in, out)`.
pub fn degrees(theta: &Matrix, cutoff: f64) -> Vec<(usize, usize)> {
    let m = theta.rows();
    let present = |i: usize, j: usize| theta[(i, j)].abs() > cutoff;
    (0..m)
        .map(|v| ((0..m).filter(|&i| present(i, v)).count(), (0..m).filter(|&j| present(v, j)).count()))
        .collect()
}
