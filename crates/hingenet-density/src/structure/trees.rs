//! Trees and forests of kernel densities: Chow-Liu on the mutual information of each class, and the number
//! of edges that held-out likelihood supports (Lafferty, Liu, Wasserman 2012).

use super::dependence::{Kept, pair_classes};
use super::pairs;
use crate::columns::Columns;
use crate::estimate::features::Densities;
use crate::estimate::kernel::Floor;
use crate::estimate::{Joint, Marginal};
use crate::params::Params;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::graph::{Edge, maximum_spanning_tree};
use hingenet_base::numeric::random::Random;
use rayon::prelude::*;

/// The edges of a maximum spanning tree on mutual information, heaviest first (ties by pair). A class with
/// too few rows for pair densities has no edges.
pub fn tree_edges(
    columns: &Columns,
    rows: &[usize],
    params: &Params,
    control: &Control,
) -> Result<Vec<Edge>> {
    let information = pair_information(columns, rows, params, control)?;
    let d = columns.n_features();
    let edges = pairs(d).zip(information).map(|((a, b), weight)| Edge { a, b, weight }).collect();
    let mut tree = maximum_spanning_tree(d, edges);
    tree.sort_by(|x, y| y.weight.total_cmp(&x.weight).then((x.a, x.b).cmp(&(y.a, y.b))));
    Ok(tree)
}

/// Mutual information of all pairs within the given rows: resubstitution, no floor, complete rows of a pair.
pub fn pair_information(
    columns: &Columns,
    rows: &[usize],
    params: &Params,
    control: &Control,
) -> Result<Vec<f64>> {
    let plain = Params { floor: Floor::None, ..params.clone() };
    let part = columns.subset(rows);
    let all: Vec<usize> = (0..rows.len()).collect();
    let d = columns.n_features();
    let values: Vec<Vec<f64>> = (0..d)
        .into_par_iter()
        .map(|i| Ok(Marginal::estimate(&part, i, &all, &plain)?.features(&part.values[i], |_| None)))
        .collect::<Result<_>>()?;
    let list: Vec<(usize, usize)> = pairs(d).collect();
    let steps = control.steps("information of pairs", list.len())?;
    let information = |&(i, j): &(usize, usize)| {
        // m⁻¹ Σ_l log [p(x_l, y_l) / (p(x_l) p(y_l))] over the complete rows of the pair.
        let (x, y) = (&part.values[i], &part.values[j]);
        let joint = Joint::estimate(None, &part, (i, j), &all, &plain, control)?;
        let log_joint = joint.features((x, y), (&values[i], &values[j]), |_| None);
        let (mut sum, mut total) = (0.0, 0.0);
        for r in (0..part.n_rows()).filter(|&r| !x[r].is_nan() && !y[r].is_nan()) {
            sum += part.weights[r] * (log_joint[r] - values[i][r] - values[j][r]);
            total += part.weights[r];
        }
        steps.done().map(|()| if total > 0.0 { sum / total } else { 0.0 })
    };
    list.par_iter().map(information).collect()
}

/// The tree of every class.
pub fn trees(columns: &Columns, params: &Params, control: &Control) -> Result<Kept> {
    per_class(columns, params, |rows, _| tree_edges(columns, rows, params, control))
}

/// The forest of every class: the k heaviest edges of its tree. Half of the class's rows give densities and
/// a tree; k is the number of its heaviest edges that maximises the log-likelihood of the other half.
pub fn forests(columns: &Columns, params: &Params, control: &Control) -> Result<Kept> {
    per_class(columns, params, |rows, y| {
        let k = held_out_edges(columns, rows, y, params, control)?;
        let mut tree = tree_edges(columns, rows, params, control)?;
        tree.truncate(k);
        Ok(tree)
    })
}

fn per_class(
    columns: &Columns,
    params: &Params,
    edges: impl Fn(&[usize], usize) -> Result<Vec<Edge>>,
) -> Result<Kept> {
    let enough = pair_classes(columns, params);
    let mut of_class = Vec::new();
    for y in 0..columns.n_classes {
        let found = if enough[y] { edges(&columns.rows_of(y), y)? } else { Vec::new() };
        let mut list: Vec<(usize, usize)> = found.iter().map(|e| (e.a, e.b)).collect();
        list.sort_unstable();
        of_class.push(list);
    }
    Ok(Kept { of_class })
}

fn held_out_edges(
    columns: &Columns,
    rows: &[usize],
    class: usize,
    params: &Params,
    control: &Control,
) -> Result<usize> {
    let mut order = rows.to_vec();
    Random::stream(params.seed, 1000 + class as u64).shuffle(&mut order);
    let (learn, judge) = order.split_at(order.len() / 2);
    let (mut learn, judge) = (learn.to_vec(), columns.subset(judge));
    learn.sort_unstable();
    let tree = tree_edges(columns, &learn, params, control)?;
    let one_class = Columns { class: vec![0; learn.len()], n_classes: 1, ..columns.subset(&learn) };
    let edges = Kept { of_class: vec![tree.iter().map(|e| (e.a, e.b)).collect()] };
    let densities = Densities::estimate(&one_class, &edges, params, control)?;
    let values = &densities.features(&judge.values, false, control)?.classes[0];
    let (mut gain, mut best) = (0.0, (0, 0.0));
    for (k, (edge, both)) in tree.iter().zip(&values.pairs).enumerate() {
        let (ta, tb) = (&values.marginals[edge.a], &values.marginals[edge.b]);
        gain += (0..judge.n_rows()).map(|r| judge.weights[r] * (both[r] - ta[r] - tb[r])).sum::<f64>();
        if gain > best.1 {
            best = (k + 1, gain);
        }
    }
    Ok(best.0)
}
