//! The PC algorithm in its stable form: an edge goes as soon as a set of neighbours of one end, of growing size, makes the
//! ends independent; which sets are tried is settled before each size, so that no removal changes what is asked of others
//! (Spirtes, Glymour, Scheines 2000; Colombo, Maathuis, JMLR 2014).

use super::fisher_z::{Separation, Tests};
use super::{Collider, Found, pairs};
use crate::structure::{ArcRule, Constraints};
use hingenet_base::error::Result;
use rayon::prelude::*;

pub(super) fn learn(tests: &Tests<'_>, known: &Constraints) -> Result<Found> {
    let mut edges: Vec<(usize, usize)> =
        pairs(tests.nodes()).filter(|&(i, j)| known.edge_rule(i, j) != ArcRule::Forbidden).collect();
    let mut separated = Vec::new();
    for size in 0.. {
        let around = neighbours(tests.nodes(), &edges);
        if around.iter().all(|list| list.len() <= size) {
            break;
        }
        let search = |&(i, j): &(usize, usize)| match known.edge_rule(i, j) {
            ArcRule::Required => Ok(Separation { by: None, strength: f64::INFINITY }),
            _ => separate(tests, (i, j), &around, size),
        };
        let found = edges.par_iter().map(search).collect::<Result<Vec<_>>>()?;
        let mut left = Vec::new();
        for (&edge, separation) in edges.iter().zip(found) {
            match separation.by {
                Some(by) => separated.push((edge, by, separation.strength)),
                None => left.push(edge),
            }
        }
        edges = left;
    }
    let around = neighbours(tests.nodes(), &edges);
    let mut colliders = Vec::new();
    for ((i, j), by, strength) in separated {
        let middle = around[i].iter().filter(|c| around[j].contains(c) && !by.contains(c));
        colliders.extend(middle.map(|&middle| Collider { strength, ends: (i, j), middle }));
    }
    Ok(Found { edges, colliders })
}

/// Sets of this size among the neighbours of i, then of j.
fn separate(
    tests: &Tests<'_>,
    (i, j): (usize, usize),
    around: &[Vec<usize>],
    size: usize,
) -> Result<Separation> {
    let others = |of: usize, than: usize| around[of].iter().copied().filter(|&v| v != than).collect();
    let (of_i, of_j): (Vec<usize>, Vec<usize>) = (others(i, j), others(j, i));
    let first = tests.separate((i, j), &[], &of_i, size..=size)?;
    if first.by.is_some() || size == 0 || of_j.iter().all(|v| of_i.contains(v)) {
        return Ok(first);
    }
    tests.separate((i, j), &[], &of_j, size..=size)
}

fn neighbours(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut around = vec![Vec::new(); nodes];
    for &(i, j) in edges {
        around[i].push(j);
        around[j].push(i);
    }
    around.iter_mut().for_each(|list| list.sort_unstable());
    around
}
