//! How sure an arc is: the share of resampled data sets in which it is found, for half samples (stability selection) or
//! the bootstrap. An undirected edge of an equivalence class counts half for each direction.

use crate::moments::Moments;
use crate::structure::{ArcRule, Constraints, Method};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result, require};
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use rayon::prelude::*;

/// How data sets are drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resampling {
    /// Half of the rows without replacement.
    #[default]
    HalfSamples,
    /// As many rows with replacement.
    Bootstrap,
}

/// Arcs of one run: `(from, to, weight, share)`, share 1 or, for an undirected edge, one half.
pub type RunArcs = Vec<(usize, usize, f64, f64)>;

/// Shares over the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcConfidence {
    /// Share of runs with the arc i -> j.
    pub arc: Matrix,
    /// Mean number q of adjacent pairs in a run.
    pub mean_edges: f64,
    /// The arcs of every run, in run order.
    pub runs: Vec<RunArcs>,
}

impl ArcConfidence {
    /// Share of runs in which i and j are adjacent.
    pub fn adjacency(&self, i: usize, j: usize) -> f64 {
        // two shares of the same runs; their sum may round to more than all
        (self.arc[(i, j)] + self.arc[(j, i)]).min(1.0)
    }

    /// Share of i -> j among the runs in which the two are adjacent; `None` when they never are.
    pub fn direction(&self, i: usize, j: usize) -> Option<f64> {
        let adjacency = self.adjacency(i, j);
        (adjacency > 0.0).then(|| self.arc[(i, j)] / adjacency)
    }

    /// Bound on the expected number of wrong arcs with a share of at least `threshold` > ½:
    /// `q² / ((2π − 1) m (m − 1))` (Meinshausen, Bühlmann 2010). `None` below.
    pub fn expected_false_arcs(&self, threshold: f64) -> Option<f64> {
        let m = self.arc.rows() as f64;
        let valid = threshold > 0.5 && threshold <= 1.0 && m > 1.0;
        valid.then(|| self.mean_edges.powi(2) / ((2.0 * threshold - 1.0) * m * (m - 1.0)))
    }

    /// Threshold, arcs at or above it, bound on the wrong ones, for thresholds ½ + 1/20, ..., 1.
    pub fn threshold_curve(&self) -> Vec<(f64, usize, f64)> {
        (11..=20)
            .filter_map(|k| {
                let threshold = f64::from(k) / 20.0;
                let count = self.arc.data().iter().filter(|s| **s >= threshold - 1e-12).count();
                self.expected_false_arcs(threshold).map(|bound| (threshold, count, bound))
            })
            .collect()
    }
}

/// Learns the network again on so many sets of resampled rows, drawn by the seed of the method. A whole weight counts as
/// repetitions; an arc is present when its weight exceeds `cutoff`.
pub fn arc_confidence(
    x: &Matrix,
    weights: &[f64],
    method: &Method,
    constraints: &Constraints,
    (resampling, n_runs): (Resampling, usize),
    cutoff: f64,
    control: &Control,
) -> Result<ArcConfidence> {
    require("runs", n_runs, "at least 1", n_runs >= 1)?;
    require("cutoff", cutoff, "a finite number >= 0", cutoff.is_finite() && cutoff >= 0.0)?;
    Moments::of_rows(x, Some(weights))?;
    let rows = expanded(weights);
    if rows.len() < 4 {
        return Err(Error::data("resampling needs at least 4 rows", "add rows"));
    }
    let silent = control.quiet().on_warning(|_| ());
    let runs: Result<Vec<RunArcs>> = (0..n_runs)
        .into_par_iter()
        .map(|run| {
            control.progress("resampling", run, n_runs)?;
            let drawn = draw(&rows, resampling, &mut Random::stream(method.search.seed, run as u64));
            run_arcs(&x.select_rows(&drawn), method, constraints, cutoff, &silent)
        })
        .collect();
    let runs = runs?;
    let mut arc = Matrix::zeros(x.cols(), x.cols());
    for &(i, j, _, share) in runs.iter().flatten() {
        arc[(i, j)] += share / n_runs as f64;
    }
    let mean_edges = arc.data().iter().sum();
    Ok(ArcConfidence { arc, mean_edges, runs })
}

/// Row numbers with multiplicity: whole weights are repetitions, others keep one draw a row.
fn expanded(weights: &[f64]) -> Vec<usize> {
    let whole = weights.iter().all(|w| w.fract() == 0.0) && weights.iter().sum::<f64>() < 1e7;
    let times = |a: usize| if whole { weights[a] as usize } else { 1 };
    (0..weights.len()).flat_map(|a| std::iter::repeat_n(a, times(a))).collect()
}

fn draw(rows: &[usize], resampling: Resampling, random: &mut Random) -> Vec<usize> {
    match resampling {
        Resampling::Bootstrap => (0..rows.len()).map(|_| rows[random.below(rows.len())]).collect(),
        Resampling::HalfSamples => {
            let mut order = random.permutation(rows.len());
            order.truncate(rows.len() / 2);
            order.iter().map(|&k| rows[k]).collect()
        }
    }
}

fn run_arcs(
    drawn: &Matrix,
    method: &Method,
    constraints: &Constraints,
    cutoff: f64,
    control: &Control,
) -> Result<RunArcs> {
    let learnt = method.learn(&Moments::of_rows(drawn, None)?, constraints, control)?;
    let m = drawn.cols();
    let mut arcs = Vec::new();
    for i in 0..m {
        for j in (0..m).filter(|&j| learnt.theta[(i, j)].abs() > cutoff) {
            let weight = learnt.theta[(i, j)];
            // The other methods choose a direction. So does what is known.
            let is_open = learnt.class.is_undirected(i, j) && constraints.rule(j, i) != ArcRule::Forbidden;
            if method.kind.finds_class() && is_open {
                arcs.push((i, j, weight, 0.5));
                arcs.push((j, i, weight, 0.5));
            } else {
                arcs.push((i, j, weight, 1.0));
            }
        }
    }
    Ok(arcs)
}
