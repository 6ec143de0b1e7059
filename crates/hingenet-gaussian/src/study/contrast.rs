//! Differences between the networks of two classes with error control. One graph serves both classes, and each of its
//! arcs is asked whether its weight differs:
//!
//! 1. The graph of the rows centred within their classes is learnt; arcs that only one class shows (those whose signs
//!    differ cancel in the whole) join it where they close no cycle.
//! 2. Every node is regressed on its parents in each class, and the difference of a weight over its standard error
//!    (classes with variances of their own, as in Welch's test) is brought to the scale of a normal variable.
//! 3. The same is done with the classes of the centred rows shuffled. A difference is reported above the least threshold
//!    at which the mean number of arcs that shuffled classes put above it is at most a share (the level) of those found.
//! 4. The support of a difference is the share of half samples in which the pair passes the same threshold with the same
//!    sign, for half of the rows.
//!
//! Shuffling repeats the choice of the graph too, so that what is chosen because it looks different is not counted as
//! found. Differences of means and a common graph play no part.

use super::difference::{Change, difference_network};
use crate::moments::Moments;
use crate::structure::{ArcRule, Constraints, Method, SearchParams, StructureFit, reachable};
use hingenet_base::control::Control;
use hingenet_base::error::{Result, require};
use hingenet_base::numeric::linalg::{Cholesky, Matrix};
use hingenet_base::numeric::random::Random;
use rayon::prelude::*;

/// How differences are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContrastParams {
    /// Largest share of the reported that shuffled classes report too. What is near a difference may be reported in its
    /// place where a direction is wrong: on networks with known differences 2 to 6 % of the reported were false at 0.02.
    pub level: f64,
    /// How often the classes are shuffled, and how many half samples are drawn.
    pub shuffles: usize,
}

impl Default for ContrastParams {
    fn default() -> Self {
        ContrastParams { level: 0.02, shuffles: 50 }
    }
}

impl ContrastParams {
    /// Refuses values outside their ranges.
    pub fn check(&self) -> Result<()> {
        require("level", self.level, "a number between 0 and 1", self.level > 0.0 && self.level < 1.0)?;
        require("shuffles", self.shuffles, "at least 10", self.shuffles >= 10)
    }
}

/// An arc of the common graph in two classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contrast {
    /// Parent node.
    pub tail: usize,
    /// Child node.
    pub head: usize,
    /// Weight in the first class.
    pub first: f64,
    /// Weight in the second class.
    pub second: f64,
    /// The difference, second minus first, in standard errors, as a standard normal variable would be.
    pub z: f64,
}

/// Rounds of an order search: the common graph is improved afterwards, and it is learnt many times.
const ROUNDS: usize = 10;

/// The differences that are reported, and what chance gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrasts {
    /// Position of the class that is compared with the first.
    pub class: usize,
    /// Arcs whose weights differ, the clearest first, each with its support.
    pub reported: Vec<(Contrast, f64)>,
    /// What shuffled classes give.
    pub chance: Chance,
}

/// What shuffled classes give.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Chance {
    /// Arcs of the common graph that were asked whether they differ.
    pub asked: usize,
    /// Mean number of differences that would be reported.
    pub expected_false: f64,
    /// Mean number of arcs that networks learnt apart gain.
    pub gained: f64,
    /// Mean number of arcs that they lose.
    pub lost: f64,
}

/// Fewest rows of a class that is compared: half of them must still make a network.
pub const FEWEST_ROWS: usize = 8;

/// Complete rows of one class with their weights.
pub type ClassRows<'a> = (&'a Matrix, &'a [f64]);

/// Compares the first class with the one at position `class`; λ1 of the method is that of one row.
pub fn contrasts(
    class: usize,
    classes: [ClassRows<'_>; 2],
    method: &Method,
    constraints: &Constraints,
    cutoff: f64,
    params: ContrastParams,
    control: &Control,
) -> Result<Contrasts> {
    params.check()?;
    let silent = control.quiet().on_warning(|_| ());
    let search = SearchParams { rounds: method.search.rounds.min(ROUNDS), ..method.search.clone() };
    let method = &Method { search, ..method.clone() };
    let learner = Learner { method, constraints, cutoff, control: &silent };
    let all = Both::new(classes);
    let (found, _) = learner.compare(&all, &all.classes)?;
    let runs = |stage: &str, draw: &(dyn Fn(&mut Random) -> [Vec<usize>; 2] + Sync)| {
        let run = |k: usize| {
            control.progress(stage, k, params.shuffles)?;
            learner.compare(&all, &draw(&mut Random::stream(method.search.seed, k as u64)))
        };
        (0..params.shuffles).into_par_iter().map(run).collect::<Result<Vec<_>>>()
    };
    let shuffled = runs("shuffled classes", &|random| all.shuffled(random))?;
    let null: Vec<f64> = shuffled.iter().flat_map(|(arcs, _)| arcs.iter().map(|a| a.z.abs())).collect();
    let threshold = Threshold::new(&found, null, params);
    let mut reported: Vec<Contrast> =
        found.iter().copied().filter(|a| a.z.abs() >= threshold.reported).collect();
    reported.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()).then((a.tail, a.head).cmp(&(b.tail, b.head))));
    let halves =
        if reported.is_empty() { Vec::new() } else { runs("half samples", &|random| all.halves(random))? };
    let support = |arc: &Contrast| {
        let found =
            |(arcs, _): &&(Vec<Contrast>, (usize, usize))| passes(arcs, arc, threshold.allowed / 2f64.sqrt());
        halves.iter().filter(found).count() as f64 / params.shuffles as f64
    };
    let mean = |count: fn(&(usize, usize)) -> usize| {
        shuffled.iter().map(|(_, apart)| count(apart)).sum::<usize>() as f64 / params.shuffles as f64
    };
    Ok(Contrasts {
        class,
        reported: reported.iter().map(|arc| (*arc, support(arc))).collect(),
        chance: Chance {
            asked: found.len(),
            expected_false: threshold.expected_false,
            gained: mean(|a| a.0),
            lost: mean(|a| a.1),
        },
    })
}

/// Whether the pair of nodes passes a threshold with the same sign, in either direction.
fn passes(arcs: &[Contrast], arc: &Contrast, threshold: f64) -> bool {
    let same = |a: &&Contrast| [(arc.tail, arc.head), (arc.head, arc.tail)].contains(&(a.tail, a.head));
    arcs.iter().find(same).is_some_and(|a| a.z.abs() >= threshold && a.z.signum() == arc.z.signum())
}

/// Where differences begin to be reported.
#[derive(Debug, PartialEq)]
struct Threshold {
    /// The least |z| reported; infinite if there is none.
    reported: f64,
    /// What shuffled classes would still allow, which may be less.
    allowed: f64,
    /// Mean number that shuffled classes put at or above the least reported.
    expected_false: f64,
}

impl Threshold {
    /// The largest number of arcs found for which the mean number of shuffled classes is at most the level's share.
    fn new(found: &[Contrast], mut null: Vec<f64>, params: ContrastParams) -> Self {
        let mut sizes: Vec<f64> = found.iter().map(|a| a.z.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        null.sort_by(|a, b| b.total_cmp(a));
        let shuffles = params.shuffles as f64;
        let above = |t: f64| null.partition_point(|z| *z >= t) as f64 / shuffles;
        let share = |k: usize| params.level * (k + 1) as f64;
        match (0..sizes.len()).rev().find(|&k| above(sizes[k]) <= share(k)) {
            None => Threshold { reported: f64::INFINITY, allowed: f64::INFINITY, expected_false: 0.0 },
            Some(k) => Threshold {
                reported: sizes[k],
                allowed: null.get((share(k) * shuffles) as usize).map_or(0.0, |z| z.min(sizes[k])),
                expected_false: above(sizes[k]),
            },
        }
    }
}

/// The rows of two classes, each centred within its class: positions of the first class, then of the second.
struct Both {
    x: Matrix,
    weights: Vec<f64>,
    classes: [Vec<usize>; 2],
}

impl Both {
    fn new(classes: [ClassRows<'_>; 2]) -> Self {
        let m = classes[0].0.cols();
        let mut cells = Vec::new();
        for (x, weights) in classes {
            let total: f64 = weights.iter().sum();
            let mean: Vec<f64> =
                (0..m).map(|j| (0..x.rows()).map(|a| weights[a] * x[(a, j)]).sum::<f64>() / total).collect();
            (0..x.rows()).for_each(|a| cells.extend(x.row(a).iter().zip(&mean).map(|(v, mean)| v - mean)));
        }
        let (n, first) = (cells.len() / m, classes[0].0.rows());
        Both {
            x: Matrix::from_fn(n, m, |a, j| cells[a * m + j]),
            weights: classes.iter().flat_map(|(_, w)| w.iter().copied()).collect(),
            classes: [(0..first).collect(), (first..n).collect()],
        }
    }

    /// The rows dealt to two classes of the same sizes by chance.
    fn shuffled(&self, random: &mut Random) -> [Vec<usize>; 2] {
        let mut order = random.permutation(self.weights.len());
        let second = order.split_off(self.classes[0].len());
        [order, second]
    }

    /// Half of the rows of each class.
    fn halves(&self, random: &mut Random) -> [Vec<usize>; 2] {
        self.classes.each_ref().map(|rows| {
            let order = random.permutation(rows.len());
            order[..rows.len().div_ceil(2)].iter().map(|&k| rows[k]).collect()
        })
    }

    fn moments(&self, rows: &[usize]) -> Result<Moments> {
        let weights: Vec<f64> = rows.iter().map(|&a| self.weights[a]).collect();
        Moments::of_rows(&self.x.select_rows(rows), Some(&weights))
    }
}

struct Learner<'a> {
    method: &'a Method,
    constraints: &'a Constraints,
    cutoff: f64,
    control: &'a Control,
}

impl Learner<'_> {
    /// The arcs of the common graph with their differences; arcs that the graphs learnt apart gain and lose.
    fn compare(&self, all: &Both, classes: &[Vec<usize>; 2]) -> Result<(Vec<Contrast>, (usize, usize))> {
        self.control.check()?;
        let [first, second] = [all.moments(&classes[0])?, all.moments(&classes[1])?];
        let m = first.nodes();
        let gram = Matrix::from_fn(m, m, |i, j| first.gram[(i, j)] + second.gram[(i, j)]);
        let whole = Moments::given(first.rows + second.rows, vec![0.0; m], gram)?;
        let [whole, a, b] = [&whole, &first, &second].map(|moments| self.learn(moments));
        let (whole, a, b) = (whole?, a?, b?);
        let price = self.method.search.penalty * (first.rows + second.rows).ln();
        let climbed = |order: [&StructureFit; 3]| {
            let parents = self.common_graph(order);
            let mut graph =
                Joint { classes: [&first, &second], price, constraints: self.constraints, parents };
            (graph.climb(), graph)
        };
        // Where directions are hard to tell, one way up leads to a worse graph than another.
        let (mut best, mut graph) = climbed([&whole, &a, &b]);
        for order in [[&a, &b, &whole], [&b, &a, &whole]] {
            let (score, other) = climbed(order);
            if score > best + 1e-7 {
                (best, graph) = (score, other);
            }
        }
        let arcs = (0..m).flat_map(|j| graph.contrasts(j, &graph.parents[j])).collect();
        let apart = difference_network(&a.theta, &b.theta, self.cutoff, None, 0.95)?;
        let count = |change: Change| apart.iter().filter(|arc| arc.change == change).count();
        Ok((arcs, (count(Change::Gained), count(Change::Lost))))
    }

    /// Learns from moments; λ1 goes with the number of rows.
    fn learn(&self, moments: &Moments) -> Result<StructureFit> {
        let method = Method { lambda1: self.method.lambda1 * moments.rows, ..self.method.clone() };
        method.learn(moments, self.constraints, self.control)
    }

    /// Parents of each node: the arcs of one graph, then those of the others that close no cycle, the strongest first.
    fn common_graph(&self, fits: [&StructureFit; 3]) -> Vec<Vec<usize>> {
        let m = fits[0].theta.rows();
        let mut parents = vec![Vec::new(); m];
        for fit in fits {
            let pairs = (0..m * m).map(|e| (fit.theta[(e / m, e % m)].abs(), e / m, e % m));
            let mut arcs: Vec<(f64, usize, usize)> =
                pairs.filter(|(weight, _, _)| *weight > self.cutoff).collect();
            arcs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            for (_, i, j) in arcs {
                if parents[j].contains(&i) || parents[i].contains(&j) {
                    continue;
                }
                let free = |i: usize, j: usize, parents: &[Vec<usize>]| {
                    self.constraints.rule(i, j) != ArcRule::Forbidden && !reachable(parents, i)[j]
                };
                if free(i, j, &parents) {
                    parents[j].push(i);
                } else if free(j, i, &parents) {
                    parents[i].push(j);
                }
            }
        }
        parents
    }
}

/// A graph for both classes and its score: a weight is shared unless one for each class pays its price,
///
/// ```text
/// s_j(P) = − Σ_c n_c log v_cj(P) − Σ_{i ∈ P} (C + min(z_ij², C)),   C = c log n
/// ```
///
/// with the residual variance v_cj of class c: sharing a weight costs about z² of the likelihood, a second one costs C.
struct Joint<'a> {
    classes: [&'a Moments; 2],
    price: f64,
    constraints: &'a Constraints,
    parents: Vec<Vec<usize>>,
}

impl Joint<'_> {
    /// Drops and turns arcs while the score rises; the score reached.
    fn climb(&mut self) -> f64 {
        let m = self.parents.len();
        let mut score: Vec<f64> = (0..m).map(|j| self.score(j, &self.parents[j])).collect();
        for _ in 0..SWEEPS {
            let mut moved = false;
            for j in 0..m {
                for i in self.parents[j].clone() {
                    let without: Vec<usize> = self.parents[j].iter().copied().filter(|&p| p != i).collect();
                    let dropped = self.score(j, &without);
                    let turned: Vec<usize> = self.parents[i].iter().copied().chain([j]).collect();
                    let kept = std::mem::replace(&mut self.parents[j], without);
                    let may_turn =
                        self.constraints.rule(j, i) != ArcRule::Forbidden && !reachable(&self.parents, j)[i];
                    let other = if may_turn { self.score(i, &turned) } else { f64::NEG_INFINITY };
                    let is_required = self.constraints.rule(i, j) == ArcRule::Required;
                    if !is_required && other > score[i].max(score[i] + score[j] - dropped) + 1e-7 {
                        self.parents[i] = turned;
                        (score[i], score[j], moved) = (other, dropped, true);
                    } else if !is_required && dropped > score[j] + 1e-7 {
                        (score[j], moved) = (dropped, true);
                    } else {
                        self.parents[j] = kept;
                    }
                }
            }
            if !moved {
                break;
            }
        }
        score.iter().sum()
    }

    fn score(&self, j: usize, parents: &[usize]) -> f64 {
        let [Some(a), Some(b)] = self.classes.map(|c| Regression::new(c, j, parents)) else {
            return f64::NEG_INFINITY;
        };
        let fit = |r: &Regression, c: &Moments| c.rows * r.residual.max(f64::MIN_POSITIVE).ln();
        let arcs: f64 =
            contrasts_of(j, parents, &a, &b).map(|c| self.price + (c.z * c.z).min(self.price)).sum();
        -fit(&a, self.classes[0]) - fit(&b, self.classes[1]) - arcs
    }

    /// The differences of the weights of one node's parents.
    fn contrasts(&self, j: usize, parents: &[usize]) -> Vec<Contrast> {
        match self.classes.map(|c| Regression::new(c, j, parents)) {
            [Some(a), Some(b)] => contrasts_of(j, parents, &a, &b).filter(|c| c.z.is_finite()).collect(),
            _ => Vec::new(),
        }
    }
}

fn contrasts_of<'a>(
    j: usize,
    parents: &'a [usize],
    a: &'a Regression,
    b: &'a Regression,
) -> impl Iterator<Item = Contrast> + 'a {
    parents.iter().enumerate().map(move |(k, &tail)| {
        let (u, v) = (a.variance[k], b.variance[k]);
        let t = (b.weights[k] - a.weights[k]) / (u + v).sqrt();
        let freedom = (u + v).powi(2) / (u * u / a.freedom + v * v / b.freedom);
        Contrast { tail, head: j, first: a.weights[k], second: b.weights[k], z: normal(t, freedom) }
    })
}

/// Most sweeps over the arcs of a graph.
const SWEEPS: usize = 50;

/// A Student variable as the normal one of the same tail, to about two digits (Wallace 1959).
fn normal(t: f64, freedom: f64) -> f64 {
    let scale = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0);
    t.signum() * scale * (freedom * (t * t / freedom).ln_1p()).sqrt()
}

/// Least squares of a node on its parents in one class.
struct Regression {
    weights: Vec<f64>,
    /// Residual variance, divisor n.
    residual: f64,
    /// Variances of the weights.
    variance: Vec<f64>,
    freedom: f64,
}

impl Regression {
    /// `None` where the parents are linearly dependent or as many as the rows.
    fn new(moments: &Moments, j: usize, parents: &[usize]) -> Option<Self> {
        let freedom = moments.rows - 1.0 - parents.len() as f64;
        let factor = Cholesky::new(&moments.gram.select(parents, parents)).ok()?;
        let right: Vec<f64> = parents.iter().map(|&i| moments.gram[(i, j)]).collect();
        let mut weights = right.clone();
        factor.solve(&mut weights);
        let explained: f64 = weights.iter().zip(&right).map(|(w, r)| w * r).sum();
        let squares = (moments.gram[(j, j)] - explained).max(0.0);
        let variance = factor.inverse_diagonal().iter().map(|v| squares / freedom * v).collect();
        (freedom >= 1.0).then_some(Regression {
            weights,
            residual: squares / moments.rows,
            variance,
            freedom,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_student_variable_becomes_a_normal_one() {
        // Two-sided 5 % and 0.1 % points.
        for (t, freedom, z) in
            [(2.228, 10.0, 1.960), (1.984, 100.0, 1.960), (4.587, 10.0, 3.291), (3.496, 60.0, 3.30)]
        {
            assert!((normal(t, freedom) - z).abs() < 0.03, "{t} {freedom}: {}", normal(t, freedom));
            assert_eq!(normal(-t, freedom), -normal(t, freedom));
        }
    }

    #[test]
    fn the_threshold_is_the_least_that_keeps_the_level() {
        let arc = |z: f64| Contrast { tail: 0, head: 1, first: 0.0, second: 0.0, z };
        let found: Vec<Contrast> = [9.0, -8.0, 7.0, 3.0, -2.0].map(arc).to_vec();
        let params = ContrastParams { level: 0.1, shuffles: 10 };
        // The shuffled give 0.1 at 7, no more than a twentieth of three; 0.3 at 3, more than a twentieth of four.
        let null = vec![7.5, 6.0, 3.5, 2.5, 1.0];
        let at = |null: &[f64], level: f64| {
            Threshold::new(&found, null.to_vec(), ContrastParams { level, ..params })
        };
        assert_eq!(at(&null, 0.05), Threshold { reported: 7.0, allowed: 6.0, expected_false: 0.1 });
        assert_eq!(at(&null, 0.01), Threshold { reported: 8.0, allowed: 7.5, expected_false: 0.0 });
        assert_eq!(at(&[10.0; 20], 0.1).reported, f64::INFINITY);
    }

    #[test]
    fn ancestors_follow_the_arcs() {
        let parents = vec![vec![], vec![0], vec![1], vec![]];
        assert_eq!(reachable(&parents, 2), [true, true, false, false]);
    }
}
