//! Total conditioning: nodes that depend on each other given all other nodes are adjacent in the moral graph, which the
//! inverse of the correlation matrix shows at once. Edges of triangles are then asked whether they only join parents of a
//! common child (Pellet, Elisseeff: Using Markov Blankets for Causal Structure Learning, JMLR 2008, with its collider sets
//! and its correction for descendants of colliders).
//!
//! TC-bw finds the moral graph by backward elimination instead: every node is regressed on all others, and the one that says
//! least leaves until all that are left are significant.

use super::fisher_z::{Tests, for_each_subset};
use super::{Collider, Found, pairs};
use crate::structure::{ArcRule, Constraints};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::graph::Pdag;
use hingenet_base::numeric::linalg::{Cholesky, Matrix};
use rayon::prelude::*;

/// Most nodes of TC-bw: the eliminations of one node take time with the cube of their number.
const MOST_NODES: usize = 1000;

pub(super) fn learn(
    tests: &Tests<'_>,
    is_backward: bool,
    rows: f64,
    known: &Constraints,
    control: &Control,
) -> Result<Found> {
    let (varying, precision) = precision(tests, rows)?;
    let parts = match is_backward {
        true => by_elimination(tests, &precision, control)?,
        false => significant(tests, &precision),
    };
    let depends = |a: usize, b: usize| parts[a][b] && parts[b][a];
    let moral = pairs(varying.len()).filter(|&(a, b)| depends(a, b)).map(|(a, b)| (varying[a], varying[b]));
    let free = moral.filter(|&(i, j)| known.edge_rule(i, j) == ArcRule::Free);
    let required = pairs(tests.nodes()).filter(|&(i, j)| known.edge_rule(i, j) == ArcRule::Required);
    let moral = Pdag::undirected(tests.nodes(), free.chain(required));
    resolve(tests, &moral, known)
}

/// The nodes that vary, and the inverse of their correlations.
fn precision(tests: &Tests<'_>, rows: f64) -> Result<(Vec<usize>, Matrix)> {
    let varying: Vec<usize> = (0..tests.nodes()).filter(|&j| tests.correlation[(j, j)] > 0.0).collect();
    let held = varying.len().saturating_sub(2) as f64;
    if rows - held - 3.0 < 1.0 {
        return Err(Error::data(
            format!(
                "total conditioning of {} nodes needs at least {} rows, found {rows}",
                varying.len(),
                held + 4.0
            ),
            "add rows, select columns, or use method `pc` or `search`",
        ));
    }
    let factor = Cholesky::new(&tests.correlation.select(&varying, &varying)).map_err(|_| {
        Error::data(
            "a column is a linear combination of others, so nothing is left to test given all of them",
            "leave it out, or use method `pc` or `search`",
        )
    })?;
    Ok((varying, factor.inverse()))
}

/// Whether each pair depends given all others.
fn significant(tests: &Tests<'_>, precision: &Matrix) -> Vec<Vec<bool>> {
    let m = precision.rows();
    let z = |i: usize, j: usize| tests.z(partial(precision, i, j), m - 2);
    (0..m).map(|i| (0..m).map(|j| i != j && tests.is_significant(z(i, j))).collect()).collect()
}

fn partial(precision: &Matrix, i: usize, j: usize) -> f64 {
    precision[(i, j)] / (precision[(i, i)] * precision[(j, j)]).sqrt()
}

/// The nodes that stay in the regression of each node. Taking node k out of the table takes it out of the precision:
/// `P ← P − P_:k P_k: / P_kk`.
fn by_elimination(tests: &Tests<'_>, precision: &Matrix, control: &Control) -> Result<Vec<Vec<bool>>> {
    let m = precision.rows();
    if m > MOST_NODES {
        let hint = "use method `tc`, or select columns";
        return Err(Error::too_large("the backward elimination (nodes)", m as f64, MOST_NODES as f64, hint));
    }
    let of_node = |target: usize| {
        let mut p = precision.clone();
        let mut left: Vec<usize> = (0..m).filter(|&i| i != target).collect();
        while !left.is_empty() {
            control.check()?;
            let z = |i: usize| tests.z(partial(&p, i, target), left.len() - 1);
            let scored: Vec<(usize, f64)> = left.iter().map(|&i| (i, z(i))).collect();
            let Some(&(k, least)) = scored.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            if tests.is_significant(least) {
                break;
            }
            left.retain(|&i| i != k);
            let row: Vec<f64> = p.row(k).to_vec();
            for &i in left.iter().chain([&target]) {
                let share = row[i] / row[k];
                left.iter().chain([&target]).for_each(|&j| p[(i, j)] -= share * row[j]);
            }
        }
        Ok((0..m).map(|i| left.contains(&i)).collect())
    };
    (0..m).into_par_iter().map(of_node).collect()
}

/// Takes edges out of the moral graph that join parents of a common child, and says where these collide.
fn resolve(tests: &Tests<'_>, moral: &Pdag, known: &Constraints) -> Result<Found> {
    let edges = moral.undirected_edges();
    let search = |&(i, j): &(usize, usize)| match known.edge_rule(i, j) {
        ArcRule::Required => Ok(None),
        _ => collider_set(tests, moral, (i, j)),
    };
    let found = edges.par_iter().map(search).collect::<Result<Vec<_>>>()?;
    let mut colliders = Vec::new();
    let mut left = Vec::new();
    for (&(i, j), found) in edges.iter().zip(found) {
        match found {
            None => left.push((i, j)),
            Some((strength, middles)) => {
                let collider = |middle| Collider { strength, ends: (i, j), middle };
                colliders.extend(middles.into_iter().map(collider));
            }
        }
    }
    // Edges at a collider may have been found to join parents too.
    let is_left = |i: usize, j: usize| left.binary_search(&(i.min(j), i.max(j))).is_ok();
    colliders.retain(|c| is_left(c.ends.0, c.middle) && is_left(c.ends.1, c.middle));
    Ok(Found { edges: left, colliders })
}

/// The nodes of the triangles over i - j at which the two collide, and |z| of the two when they are left out; `None` where
/// the edge is one.
fn collider_set(
    tests: &Tests<'_>,
    moral: &Pdag,
    (i, j): (usize, usize),
) -> Result<Option<(f64, Vec<usize>)>> {
    let around = |v: usize| (0..moral.len()).filter(move |&u| moral.is_adjacent(u, v));
    let triangle: Vec<usize> = around(i).filter(|&v| moral.is_adjacent(v, j)).collect();
    if triangle.is_empty() {
        return Ok(None);
    }
    let base = |of: usize, than: usize| around(of).filter(|v| *v != than && !triangle.contains(v)).collect();
    let (of_i, of_j): (Vec<usize>, Vec<usize>) = (base(i, j), base(j, i));
    let base = if of_i.len() <= of_j.len() { of_i } else { of_j };
    let mut result = None;
    for_each_subset(&triangle, 0..=triangle.len(), |kept| {
        let out: Vec<usize> = triangle.iter().copied().filter(|v| !kept.contains(v)).collect();
        let mut fixed = base.clone();
        fixed.extend(kept);
        let plain = tests.separate((i, j), &fixed, &[], 0..=0)?;
        let found = match plain.by {
            Some(_) => plain,
            // Descendants of colliders open the path as the colliders themselves do.
            None => {
                let below = reachable(moral, &out, &triangle, (i, j));
                let (doubtful, sure): (Vec<usize>, Vec<usize>) = base.iter().partition(|&&v| below[v]);
                fixed = sure;
                fixed.extend(kept);
                if doubtful.is_empty() {
                    return Ok(false);
                }
                tests.separate((i, j), &fixed, &doubtful, 0..=doubtful.len() - 1)?
            }
        };
        if found.by.is_some() {
            result = Some((found.strength, out));
        }
        Ok(result.is_some())
    })?;
    Ok(result)
}

/// Nodes that can be reached from some without passing the triangles of an edge or its ends.
fn reachable(moral: &Pdag, from: &[usize], triangle: &[usize], (i, j): (usize, usize)) -> Vec<bool> {
    let mut seen = vec![false; moral.len()];
    let mut stack = from.to_vec();
    while let Some(v) = stack.pop() {
        for u in (0..moral.len()).filter(|&u| moral.is_adjacent(u, v)) {
            if u != i && u != j && !triangle.contains(&u) && !seen[u] {
                seen[u] = true;
                stack.push(u);
            }
        }
    }
    seen
}
