//! How well an estimated graph recovers a true one: arc errors as counted in Tables 4-6 of Zhou et al.
//! (2015), the structural Hamming distance, and three counts on equivalence classes.

use super::{Dag, Pdag};
use crate::error::{Result, require_len};

/// Error counts of an estimate against the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ArcErrors {
    /// Ordered pairs in the estimate but not in the truth.
    pub false_positive: usize,
    /// Ordered pairs in the truth but not in the estimate.
    pub missing: usize,
    /// Their sum: a reversed arc counts 2.
    pub total: usize,
    /// Arcs of the truth that the estimate has the other way round.
    pub reversed: usize,
    /// Unordered pairs adjacent in exactly one of the two graphs.
    pub skeleton: usize,
    /// Structural Hamming distance of the two DAGs: a reversed arc counts 1.
    pub shd: usize,
    /// Ordered pairs in which the true DAG and the class of the estimate differ (Table 6).
    pub pdag_paper: usize,
    /// Ordered pairs in which the two classes differ.
    pub pdag_entry: usize,
    /// Unordered pairs whose mark differs between the two classes: the usual distance of classes.
    pub pdag_shd: usize,
    /// Errors of the estimated class against the true DAG: wrong, missing or undirected edges count 1,
    /// reversed ones 2.
    pub class_total: usize,
}

/// Counts the errors of `estimate`, a member of `class`, against `truth`.
pub fn arc_errors(truth: &Dag, estimate: &Dag, class: &Pdag) -> Result<ArcErrors> {
    require_len("nodes of the true graph", estimate.len(), truth.len())?;
    let counts = count(&Pdag::directed(truth), &Pdag::directed(estimate));
    let classes = count(&Pdag::of(truth), class);
    let mixed = count(&Pdag::directed(truth), class);
    Ok(ArcErrors {
        false_positive: counts.extra,
        missing: counts.lost,
        total: counts.extra + counts.lost,
        reversed: counts.reversed,
        skeleton: counts.skeleton,
        shd: counts.pairs,
        pdag_paper: mixed.extra + mixed.lost,
        pdag_entry: classes.extra + classes.lost,
        pdag_shd: classes.pairs,
        class_total: class_errors(truth, class)?,
    })
}

/// Errors of an equivalence class against a true DAG: a reversed arc counts 2; an undirected, missing or
/// extra edge 1.
pub fn class_errors(truth: &Dag, class: &Pdag) -> Result<usize> {
    require_len("nodes of the true graph", class.len(), truth.len())?;
    let mixed = count(&Pdag::directed(truth), class);
    // An extra undirected edge differs in two ordered pairs but is one wrong edge.
    let extra_undirected = class
        .undirected_edges()
        .iter()
        .filter(|&&(i, j)| !truth.has_arc(i, j) && !truth.has_arc(j, i))
        .count();
    Ok(mixed.extra + mixed.lost - extra_undirected)
}

struct Counts {
    extra: usize,
    lost: usize,
    reversed: usize,
    skeleton: usize,
    pairs: usize,
}

fn count(truth: &Pdag, estimate: &Pdag) -> Counts {
    let mut c = Counts { extra: 0, lost: 0, reversed: 0, skeleton: 0, pairs: 0 };
    for i in 0..truth.len() {
        for j in 0..i {
            let t = [truth.has_mark(i, j), truth.has_mark(j, i)];
            let e = [estimate.has_mark(i, j), estimate.has_mark(j, i)];
            for k in 0..2 {
                c.extra += usize::from(e[k] && !t[k]);
                c.lost += usize::from(t[k] && !e[k]);
            }
            c.reversed += usize::from(t[0] != t[1] && e == [t[1], t[0]]);
            c.skeleton += usize::from((t[0] || t[1]) != (e[0] || e[1]));
            c.pairs += usize::from(t != e);
        }
    }
    c
}
