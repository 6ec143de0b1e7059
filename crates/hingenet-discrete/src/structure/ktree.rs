//! k-dependence structures that satisfy Condition 1: the feature parents of a feature are a parent
//! `X_p` and some of the parents of `X_p`, so `X_p` covers it (k-trees; k = 1 is a greedy TAN).

use super::{PairStatistics, Structure};
use hingenet_base::error::{Result, require};
use hingenet_base::graph::Dag;

/// Most feature parents offered.
pub const MAX_K: usize = 4;

/// Builds the k-tree greedily, `k` in `1..=4`: features by `I(X_i; C)` descending; each later one gets
/// the class and `min(k, features before it)` features `Q ⊆ Pa(X_p) ∪ {X_p}` with the largest
/// `Σ_{p in Q} I(X_i; X_p | C)`; ties go to the lexicographically smallest Q. If no `X_p` offers that
/// many, the largest number offered is taken.
pub fn k_tree(pairs: &PairStatistics, k: usize) -> Result<Structure> {
    require("k", k, "a whole number from 1 to 4", (1..=MAX_K).contains(&k))?;
    let mut order: Vec<usize> = (1..=pairs.n_features()).collect();
    order.sort_by(|&i, &j| pairs.class_information(j).total_cmp(&pairs.class_information(i)).then(i.cmp(&j)));
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); pairs.n_features() + 1];
    for (at, &i) in order.iter().enumerate() {
        let mut best: Option<Choice> = None;
        for &p in &order[..at] {
            for choice in choices(pairs, i, p, &parents[p], k.min(at)) {
                if best.as_ref().is_none_or(|b| choice.beats(b)) {
                    best = Some(choice);
                }
            }
        }
        parents[i] = std::iter::once(0).chain(best.map(|b| b.features).unwrap_or_default()).collect();
    }
    Structure::new(pairs.card().to_vec(), Dag::new(parents)?)
}

/// Feature parents considered for one feature, ascending, and their information about it.
struct Choice {
    features: Vec<usize>,
    information: f64,
}

impl Choice {
    /// More parents first, then more information, then the smaller list.
    fn beats(&self, other: &Choice) -> bool {
        let by_size = self.features.len().cmp(&other.features.len());
        let by_information = self.information.total_cmp(&other.information);
        by_size.then(by_information).then(other.features.cmp(&self.features)).is_gt()
    }
}

/// `X_p` with every subset of its feature parents that makes `size` features, or all of them if there
/// are fewer.
fn choices(pairs: &PairStatistics, i: usize, p: usize, parents_of_p: &[usize], size: usize) -> Vec<Choice> {
    let others: Vec<usize> = parents_of_p.iter().copied().filter(|&q| q != 0).collect();
    let wanted = (size - 1).min(others.len()) as u32;
    let subsets = (0u32..1 << others.len()).filter(|s| s.count_ones() == wanted);
    let choice = |subset: u32| {
        let chosen = others.iter().enumerate().filter(|(b, _)| subset >> b & 1 == 1).map(|(_, &q)| q);
        let mut features: Vec<usize> = chosen.chain([p]).collect();
        features.sort_unstable();
        let sum: f64 = features.iter().map(|&q| pairs.conditional_information(i, q)).sum();
        // Sums of rounded numbers, rounded alike: ties do not depend on the order of addition.
        Choice { features, information: hingenet_data::information::settle(sum) }
    };
    subsets.map(choice).collect()
}
