//! Random members of an equivalence class and random orders of a DAG: where each round of the search starts.

use crate::structure::{ArcRule, Constraints};
use hingenet_base::numeric::random::Random;

/// Draws 5 m arcs and reverses those that are covered (`pa_j = pa_i ∪ {i}`): the class stays the same.
pub(super) fn reverse_covered_arcs(parents: &mut [Vec<usize>], known: &Constraints, random: &mut Random) {
    let mut arcs: Vec<(usize, usize)> = Vec::new();
    for (j, list) in parents.iter_mut().enumerate() {
        list.sort_unstable();
        arcs.extend(list.iter().map(|&i| (i, j)));
    }
    if arcs.is_empty() {
        return;
    }
    for _ in 0..5 * parents.len() {
        let k = random.below(arcs.len());
        let (i, j) = arcs[k];
        let may_turn = known.rule(i, j) != ArcRule::Required && known.rule(j, i) != ArcRule::Forbidden;
        if may_turn && is_covered(parents, i, j) {
            parents[j].retain(|&p| p != i);
            let at = parents[i].partition_point(|&p| p < j);
            parents[i].insert(at, j);
            arcs[k] = (j, i);
        }
    }
}

/// Sorted lists: `pa_j` without i equals `pa_i`.
fn is_covered(parents: &[Vec<usize>], i: usize, j: usize) -> bool {
    parents[j].len() == parents[i].len() + 1 && parents[j].iter().filter(|&&p| p != i).eq(parents[i].iter())
}

/// A topological order, uniform among the free nodes at each place; lower tiers first.
pub(super) fn random_order(parents: &[Vec<usize>], known: &Constraints, random: &mut Random) -> Vec<usize> {
    let m = parents.len();
    let mut children = vec![Vec::new(); m];
    let mut waiting: Vec<usize> = parents.iter().map(Vec::len).collect();
    for (j, list) in parents.iter().enumerate() {
        list.iter().for_each(|&i| children[i].push(j));
    }
    let mut free: Vec<usize> = (0..m).filter(|&v| waiting[v] == 0).collect();
    let mut order = Vec::with_capacity(m);
    while !free.is_empty() {
        let lowest = free.iter().map(|&v| known.tier(v)).min().unwrap_or(0);
        let choice: Vec<usize> = (0..free.len()).filter(|&k| known.tier(free[k]) == lowest).collect();
        let v = free.swap_remove(choice[random.below(choice.len())]);
        order.push(v);
        for &c in &children[v] {
            waiting[c] -= 1;
            if waiting[c] == 0 {
                free.push(c);
            }
        }
    }
    order
}
