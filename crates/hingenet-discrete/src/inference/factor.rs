//! Tables over some variables in log space, multiplied and summed out by variable elimination.

use crate::structure::strides;
use crate::{Network, Structure};
use hingenet_base::error::{Error, Result};

/// Most entries of one intermediate table.
pub const MAX_FACTOR: usize = 1 << 24;

/// A log table over `vars` (in this order, the last one fastest).
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Variables.
    pub vars: Vec<usize>,
    /// One entry per joint state.
    pub table: Vec<f64>,
}

impl Factor {
    /// Node `i`'s table with the evidence filled in: a factor over the unobserved of `i` and its parents.
    pub(super) fn of_node(network: &Network, i: usize, evidence: &[Option<usize>]) -> Factor {
        let s = network.structure();
        let (start, axes) = open_family(s, i, evidence);
        let vars: Vec<usize> = axes.iter().map(|a| a.0).collect();
        let size = vars.iter().map(|&v| s.card()[v]).product();
        let mut table = Vec::with_capacity(size);
        let strides: Vec<usize> = axes.iter().map(|a| a.1).collect();
        walk(&vars, s.card(), &[strides], |at| table.push(network.w()[start + at[0]]));
        Factor { vars, table }
    }

    /// The product of factors as a factor over `vars`, which must contain all of theirs.
    pub(super) fn product(factors: &[Factor], vars: Vec<usize>, card: &[usize]) -> Result<Factor> {
        let size = vars.iter().map(|&v| card[v] as f64).product::<f64>();
        if size > MAX_FACTOR as f64 {
            return Err(Error::TooLarge {
                what: "exact inference with these missing features (entries of the largest table)".into(),
                size,
                limit: MAX_FACTOR as f64,
                hint: "give more features a value, or use a structure with fewer parents".into(),
            });
        }
        let mut table = Vec::with_capacity(size as usize);
        let strides: Vec<Vec<usize>> = factors.iter().map(|f| f.strides_along(&vars, card)).collect();
        walk(&vars, card, &strides, |at| {
            table.push(factors.iter().zip(at).map(|(f, &k)| f.table[k]).sum());
        });
        Ok(Factor { vars, table })
    }

    /// For each of `vars`: how far the position in this table moves when that variable's state grows by
    /// one (0 for variables this factor does not have).
    pub(super) fn strides_along(&self, vars: &[usize], card: &[usize]) -> Vec<usize> {
        let own = strides(card, &self.vars);
        vars.iter().map(|v| self.vars.iter().position(|o| o == v).map_or(0, |k| own[k])).collect()
    }

    /// Applies `reduce` to the entries that differ in the last variable only.
    pub(super) fn without_last(&self, r: usize, reduce: impl Fn(&[f64]) -> f64) -> Factor {
        let vars = self.vars[..self.vars.len() - 1].to_vec();
        Factor { vars, table: self.table.chunks_exact(r).map(reduce).collect() }
    }
}

/// Where the entries of node `i` start under the evidence, and how far they move with each unobserved variable of
/// its family, itself last.
pub(super) fn open_family(
    s: &Structure,
    i: usize,
    evidence: &[Option<usize>],
) -> (usize, Vec<(usize, usize)>) {
    let r = s.card()[i];
    let (mut start, mut axes) = (s.table(i).start, Vec::new());
    let parents = s.dag().parents(i).iter().zip(s.strides(i)).map(|(&p, &stride)| (p, stride * r));
    for (v, stride) in parents.chain([(i, 1)]) {
        match evidence[v] {
            Some(state) => start += state * stride,
            None => axes.push((v, stride)),
        }
    }
    (start, axes)
}

/// Goes through all joint states of `vars`, the last one fastest, with the positions in several tables; `strides[t][d]`
/// is the step of variable `vars[d]` in table t.
pub(super) fn walk(vars: &[usize], card: &[usize], strides: &[Vec<usize>], mut visit: impl FnMut(&[usize])) {
    let (mut at, mut state) = (vec![0; strides.len()], vec![0; vars.len()]);
    loop {
        visit(&at);
        let mut d = vars.len();
        loop {
            let Some(next) = d.checked_sub(1) else { return };
            d = next;
            state[d] += 1;
            if state[d] < card[vars[d]] {
                at.iter_mut().zip(strides).for_each(|(a, s)| *a += s[d]);
                break;
            }
            state[d] = 0;
            at.iter_mut().zip(strides).for_each(|(a, s)| *a -= s[d] * (card[vars[d]] - 1));
        }
    }
}
