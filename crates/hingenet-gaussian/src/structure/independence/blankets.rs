//! Learners by Markov blankets: the blanket of every node is grown and shrunk, an edge is left between nodes of each other's
//! blankets that no part of a blanket separates, and nodes without an edge that depend on each other whenever a common
//! neighbour is held collide there. The learners differ in how a blanket grows.
//!
//! GS: Margaritis, Thrun, NIPS 1999. IAMB, inter-IAMB: Tsamardinos, Aliferis, Statnikov, FLAIRS 2003. Fast-IAMB: Yaramakala,
//! Margaritis, ICDM 2005. The steps after the blankets are those of the R package bnlearn (Scutari 2010).

use super::fisher_z::Tests;
use super::{Collider, Found, pairs};
use crate::structure::{ArcRule, Constraints};
use hingenet_base::error::Result;
use rayon::prelude::*;

/// How a blanket grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// GS: by the first node that depends on the target.
    First,
    /// IAMB: by the node that depends on it most.
    Strongest,
    /// Fast-IAMB: by all that depend on it, and shrinks after each such step.
    All,
    /// Inter-IAMB: by the node that depends on it most, and shrinks after each step.
    Interleaved,
}

pub(super) fn learn(tests: &Tests<'_>, growth: Growth, known: &Constraints) -> Result<Found> {
    let m = tests.nodes();
    let grown: Vec<Vec<usize>> = (0..m)
        .into_par_iter()
        .map(|target| Blanket::of(tests, target, known).learn(growth))
        .collect::<Result<_>>()?;
    // Both ends must have the other in their blanket.
    let blankets: Vec<Vec<usize>> =
        (0..m).map(|i| grown[i].iter().copied().filter(|&j| grown[j].contains(&i)).collect()).collect();
    let candidates: Vec<(usize, usize)> = pairs(m).filter(|&(i, j)| blankets[i].contains(&j)).collect();
    let is_edge = |&(i, j): &(usize, usize)| match known.edge_rule(i, j) {
        ArcRule::Required => Ok(true),
        ArcRule::Forbidden => Ok(false),
        ArcRule::Free => is_direct(tests, (i, j), &blankets),
    };
    let kept = candidates.par_iter().map(is_edge).collect::<Result<Vec<bool>>>()?;
    let edges: Vec<(usize, usize)> =
        candidates.iter().zip(kept).filter(|(_, kept)| *kept).map(|(&edge, _)| edge).collect();
    let colliders = colliders(tests, &edges, &blankets, known)?;
    Ok(Found { edges, colliders })
}

/// A blanket while it grows and shrinks; nodes in the order in which they came.
struct Blanket<'a> {
    tests: &'a Tests<'a>,
    target: usize,
    members: Vec<usize>,
    /// The first of them are required and stay.
    required: usize,
}

impl<'a> Blanket<'a> {
    fn of(tests: &'a Tests<'a>, target: usize, known: &Constraints) -> Self {
        let is_required = |&v: &usize| v != target && known.edge_rule(v, target) == ArcRule::Required;
        let members: Vec<usize> = (0..tests.nodes()).filter(is_required).collect();
        Blanket { tests, target, required: members.len(), members }
    }

    fn learn(mut self, growth: Growth) -> Result<Vec<usize>> {
        let mut seen = Vec::new();
        while self.grow(growth)? {
            if matches!(growth, Growth::All | Growth::Interleaved) {
                // What came alone passed its test just now.
                let newest = if growth == Growth::Interleaved { self.members.last().copied() } else { None };
                self.shrink(newest, false)?;
                let mut now = self.members.clone();
                now.sort_unstable();
                if seen.contains(&now) {
                    break;
                }
                seen.push(now);
            }
        }
        match growth {
            Growth::First => self.shrink(None, true)?,
            Growth::Strongest => self.shrink(self.members.last().copied(), false)?,
            Growth::All | Growth::Interleaved => {}
        }
        Ok(self.members)
    }

    /// Takes nodes in that depend on the target given the members; says whether any came.
    fn grow(&mut self, growth: Growth) -> Result<bool> {
        let outside = (0..self.tests.nodes()).filter(|v| *v != self.target && !self.members.contains(v));
        let outside: Vec<usize> = outside.collect();
        let strengths = self.tests.strengths(&outside, self.target, &self.members)?;
        let mut dependent: Vec<(usize, f64)> =
            outside.into_iter().zip(strengths).filter(|(_, s)| self.tests.is_significant(*s)).collect();
        if growth != Growth::First {
            dependent.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        let at_once = if growth == Growth::All { dependent.len() } else { 1 };
        self.members.extend(dependent.iter().take(at_once).map(|(v, _)| v));
        Ok(!dependent.is_empty())
    }

    /// Takes members out that are independent of the target given the others, the oldest first; `again` starts over after
    /// each.
    fn shrink(&mut self, newest: Option<usize>, again: bool) -> Result<()> {
        let mut k = self.required;
        while k < self.members.len() {
            let node = self.members[k];
            let others: Vec<usize> = self.members.iter().copied().filter(|&v| v != node).collect();
            let stays = newest == Some(node)
                || self.tests.is_significant(self.tests.strength(node, self.target, &others)?);
            if stays {
                k += 1;
            } else {
                self.members = others;
                k = if again { self.required } else { k };
            }
        }
        Ok(())
    }
}

/// Whether no subset of the smaller blanket separates the two; of equally large ones, of neither.
fn is_direct(tests: &Tests<'_>, (i, j): (usize, usize), blankets: &[Vec<usize>]) -> Result<bool> {
    let [of_i, of_j] = [without(&blankets[i], &[j]), without(&blankets[j], &[i])];
    let separated = |pool: &[usize]| Ok(tests.separate((i, j), &[], pool, 0..=pool.len())?.by.is_some());
    Ok(match of_i.len().cmp(&of_j.len()) {
        std::cmp::Ordering::Less => !separated(&of_i)?,
        std::cmp::Ordering::Greater => !separated(&of_j)?,
        std::cmp::Ordering::Equal => !separated(&of_i)? && !separated(&of_j)?,
    })
}

/// `i -> c <- j` for neighbours i, j of c without an edge that no subset of the smaller blanket separates together with c.
fn colliders(
    tests: &Tests<'_>,
    edges: &[(usize, usize)],
    blankets: &[Vec<usize>],
    known: &Constraints,
) -> Result<Vec<Collider>> {
    let m = tests.nodes();
    let mut is_edge = vec![false; m * m];
    for &(i, j) in edges {
        is_edge[i * m + j] = true;
        is_edge[j * m + i] = true;
    }
    let triples: Vec<((usize, usize), usize)> = pairs(m)
        .filter(|&(i, j)| !is_edge[i * m + j] && known.edge_rule(i, j) == ArcRule::Free)
        .flat_map(|(i, j)| (0..m).map(move |c| ((i, j), c)))
        .filter(|&((i, j), c)| is_edge[i * m + c] && is_edge[j * m + c])
        .collect();
    let collider = |&((i, j), middle): &((usize, usize), usize)| {
        let [of_i, of_j] = [without(&blankets[i], &[middle, j]), without(&blankets[j], &[middle, i])];
        let pool = if of_i.len() <= of_j.len() { of_i } else { of_j };
        let found = tests.separate((i, j), &[middle], &pool, 0..=pool.len())?;
        let strength = found.strength;
        Ok(found.by.is_none().then_some(Collider { strength, ends: (i, j), middle }))
    };
    let found = triples.par_iter().map(collider).collect::<Result<Vec<_>>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn without(list: &[usize], out: &[usize]) -> Vec<usize> {
    list.iter().copied().filter(|v| !out.contains(v)).collect()
}
