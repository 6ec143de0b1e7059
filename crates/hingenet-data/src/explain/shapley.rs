//! Reasons that add up, for every model: Shapley values of the known features of a row, by the model's own probabilities
//! with features missing. No other data are needed.
//!
//! The players are the known features. A coalition S of them is worth the log-odds of a class c that the model reports for
//! the row with the cells of S alone, and the value of a feature is what it adds, averaged over all orders of the n features:
//!
//! ```text
//! v_c(S) = ln P(c | x_S) − ln (1 − P(c | x_S))
//! φ_i    = Σ_{S ∌ i} |S|! (n − |S| − 1)! / n!  (v(S ∪ i) − v(S))            v(∅) + Σ φ_i = v(all)
//! ```
//!
//! Two classes and features in groups that are independent given the class: `v(S) − v(∅) = Σ_g (v(S ∩ g) − v(∅))`, so each
//! group is a game of its own, and a group of one (naive Bayes) has a closed form. A small group is gone through subset by
//! subset. For a large one there is no polynomial algorithm (a missing parent of n features makes the log-odds a function of a
//! sum of n numbers, as hard as counting the solutions of a knapsack): orders are drawn, each with its reverse, which together
//! are exact wherever features interact in pairs only. The contributions along an order add up to the change, so their means do.
//!
//! Shapley 1953; Castro, Gómez, Tejada 2009 (orders); Mitchell, Cooper, Frank, Holmes 2022 (reversed orders).

use super::{ExplanationKind, ScoreTerms, Term, log_odds};
use crate::classifier::Classifier;
use crate::table::Table;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;

/// An impossible class counts as improbable as the least probable one met, but as no more than this (log): all
/// differences are finite.
const FLOOR: f64 = -700.0;
/// Cells, and coalitions, evaluated between two looks at whether to stop.
const CELLS: usize = 1 << 20;
const COALITIONS: usize = 512;
/// Least number of orders that are drawn, each with its reverse: fewer would not tell their own error.
const PAIRS: usize = 8;
/// Largest error of `v(∅) + Σ φ` (relative to 1 + |v|) that is rounding.
const ROUNDING: f64 = 1e-10;

/// How much work Shapley values may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShapleyParams {
    /// Coalitions evaluated for a row, about. With n features (of one group) all `2ⁿ` are taken if they are no more than
    /// twice as many; otherwise as many orders as fit are drawn, but not fewer than 16 (which cost `16 n`).
    pub evaluations: usize,
    /// Seed of the orders.
    pub seed: u64,
}

impl Default for ShapleyParams {
    fn default() -> Self {
        ShapleyParams { evaluations: 2048, seed: 0 }
    }
}

/// `log P(c | cells of S)`, K values for each coalition S, given as one flag for each player.
type Worth<'a> = dyn Fn(&[bool]) -> Result<Vec<f64>> + 'a;

/// A row as a game of its known features.
pub struct Game<'a> {
    players: Vec<usize>,
    /// Places of the players, by group.
    groups: Vec<Vec<usize>>,
    log_proba: Box<Worth<'a>>,
}

impl<'a> Game<'a> {
    /// The features that play, and `log P(c | cells of S)` for coalitions S of them: K values for each, one flag for each player.
    pub fn new(players: Vec<usize>, log_proba: impl Fn(&[bool]) -> Result<Vec<f64>> + 'a) -> Self {
        let groups = vec![(0..players.len()).collect()];
        Game { players, groups, log_proba: Box::new(log_proba) }
    }

    /// The game of any model: the known ones among `features` play, and the model classifies copies of the row. Other cells
    /// stay as they are, except that nobody known is nothing known.
    pub fn of_cells<C: Classifier + ?Sized>(
        model: &'a C,
        row: &'a Table,
        features: impl IntoIterator<Item = usize>,
    ) -> Self {
        let players: Vec<usize> = features.into_iter().filter(|&j| !row.column(j).is_missing(0)).collect();
        let of_player = players.clone();
        Game::new(players, move |known| {
            let coalitions = known.chunks_exact(of_player.len());
            let mut copies = row.rows(&vec![0; coalitions.len()]);
            for (m, coalition) in coalitions.enumerate() {
                if !coalition.contains(&true) {
                    (0..row.n_columns()).for_each(|j| copies.blank(m, j));
                }
                let hidden = of_player.iter().zip(coalition).filter(|(_, known)| !**known);
                hidden.for_each(|(&j, _)| copies.blank(m, j));
            }
            model.log_proba(&copies)
        })
    }

    /// Players of the same label are a group; groups are independent given the class, whatever else is known.
    pub fn in_groups(mut self, label: impl Fn(usize) -> usize) -> Self {
        let mut places: Vec<usize> = (0..self.players.len()).collect();
        places.sort_by_key(|&p| label(self.players[p]));
        let same = |a: &usize, b: &usize| label(self.players[*a]) == label(self.players[*b]);
        self.groups = places.chunk_by(same).map(<[usize]>::to_vec).collect();
        self
    }

    /// The features that play.
    pub(super) fn players(&self) -> &[usize] {
        &self.players
    }

    /// `log P(c | cells of S)` of `n` coalitions, which `fill` marks.
    pub(super) fn log_proba(
        &self,
        n: usize,
        fill: impl Fn(usize, &mut [bool]),
        control: &Control,
    ) -> Result<Vec<f64>> {
        let width = self.players.len();
        let block = (CELLS / width.max(1)).clamp(1, COALITIONS);
        let mut log_proba = Vec::new();
        for start in (0..n).step_by(block) {
            control.check()?;
            let mut known = vec![false; block.min(n - start) * width];
            known.chunks_exact_mut(width).enumerate().for_each(|(i, flags)| fill(start + i, flags));
            log_proba.extend((self.log_proba)(&known)?);
        }
        Ok(log_proba)
    }
}

/// Shapley values of the known cells of a row whose log posterior is `reported`; those of cells that do not play are 0.
pub(super) fn shapley(
    row: &Table,
    game: &Game<'_>,
    reported: &[f64],
    params: &ShapleyParams,
    control: &Control,
) -> Result<ScoreTerms> {
    let mut values = of_players(game, reported, params, control)?;
    let idle = (0..row.n_columns()).filter(|j| !row.column(*j).is_missing(0) && !game.players.contains(j));
    values.terms.extend(idle.map(|j| Term::exact(j, Vec::new(), vec![0.0; reported.len()])));
    Ok(values)
}

fn of_players(
    game: &Game<'_>,
    reported: &[f64],
    params: &ShapleyParams,
    control: &Control,
) -> Result<ScoreTerms> {
    let k = reported.len();
    if game.players.is_empty() {
        let (odds, _) = finite_log_odds(reported, k);
        return Ok(ScoreTerms {
            kind: ExplanationKind::Shapley,
            base: odds.clone(),
            terms: vec![],
            scores: odds,
        });
    }
    if k == 2
        && game.groups.len() > 1
        && let (values, true) = played(game, &game.groups, k, params, control)?
    {
        return Ok(values);
    }
    let together = [(0..game.players.len()).collect()];
    Ok(played(game, &together, k, params, control)?.0)
}

/// The values group by group, and whether they add up: not where a class is impossible, whose log-odds are no sums.
fn played(
    game: &Game<'_>,
    groups: &[Vec<usize>],
    k: usize,
    params: &ShapleyParams,
    control: &Control,
) -> Result<(ScoreTerms, bool)> {
    let budget = params.evaluations as f64 / game.players.len() as f64;
    let parts: Vec<Part<'_>> = groups.iter().map(|g| Part::new(g, budget, params.seed)).collect();
    let mut ends = vec![2];
    parts.iter().for_each(|part| ends.push(ends[ends.len() - 1] + part.len()));
    // nobody, everybody, then the parts one after the other
    let fill = |i: usize, known: &mut [bool]| match i {
        0 => {}
        1 => known.fill(true),
        _ => {
            let part = ends.partition_point(|end| *end <= i) - 1;
            parts[part].fill(i - ends[part], known);
        }
    };
    let log_proba = game.log_proba(ends[parts.len()], fill, control)?;
    let (worth, possible) = finite_log_odds(&log_proba, k);
    let (base, rest) = worth.split_at(k);
    let scores = &rest[..k];
    let mut terms = Vec::with_capacity(game.players.len());
    for (part, ends) in parts.iter().zip(ends.windows(2)) {
        let values = part.values(base, &worth[ends[0] * k..ends[1] * k]);
        terms.extend(part.members.iter().zip(values).map(|(&p, (scores, standard_error))| Term {
            feature: game.players[p],
            given: Vec::new(),
            scores,
            standard_error,
        }));
    }
    let sum = |c: usize| base[c] + terms.iter().map(|t: &Term| t.scores[c]).sum::<f64>();
    let adds_up = |c: usize| (sum(c) - scores[c]).abs() <= ROUNDING * (1.0 + scores[c].abs());
    let closed = possible && (0..k).all(adds_up);
    Ok((
        ScoreTerms { kind: ExplanationKind::Shapley, base: base.to_vec(), terms, scores: scores.to_vec() },
        closed,
    ))
}

/// Log-odds of every class from log posteriors, K values a row, and whether all classes are possible in all rows.
fn finite_log_odds(log_proba: &[f64], k: usize) -> (Vec<f64>, bool) {
    let floor = log_proba.iter().copied().filter(|l| l.is_finite()).fold(FLOOR, f64::min);
    let finite: Vec<f64> = log_proba.iter().map(|l| l.max(floor)).collect();
    let odds = finite.chunks_exact(k).flat_map(|row| (0..k).map(|c| log_odds(row, c))).collect();
    (odds, log_proba.iter().all(|l| l.is_finite()))
}

/// The game of one group.
struct Part<'a> {
    members: &'a [usize],
    /// Orders of the members, each followed by its reverse; empty if all subsets are taken.
    orders: Vec<Vec<usize>>,
}

/// Value for each class, and its standard error where orders were drawn.
type Value = (Vec<f64>, Option<Vec<f64>>);

impl<'a> Part<'a> {
    /// `budget` coalitions for each member.
    fn new(members: &'a [usize], budget: f64, seed: u64) -> Self {
        let n = members.len();
        let pairs = ((budget / 2.0) as usize).max(PAIRS);
        let mut orders = Vec::new();
        if (n as f64).exp2() > (2.0 * budget).max(2.0 * PAIRS as f64) * n as f64 {
            for pair in 0..pairs {
                let order = Random::stream(seed, pair as u64).permutation(n);
                orders.extend([order.clone(), order.into_iter().rev().collect()]);
            }
        }
        Part { members, orders }
    }

    /// Number of coalitions: the beginnings of the orders, or all but the empty one.
    fn len(&self) -> usize {
        let n = self.members.len();
        if self.orders.is_empty() { (1 << n) - 1 } else { self.orders.len() * n }
    }

    /// Marks the members of coalition `i`.
    fn fill(&self, i: usize, known: &mut [bool]) {
        let n = self.members.len();
        match self.orders.get(i / n) {
            Some(order) => order[..=i % n].iter().for_each(|&p| known[self.members[p]] = true),
            None => (0..n).filter(|p| (i + 1) >> p & 1 == 1).for_each(|p| known[self.members[p]] = true),
        }
    }

    /// The values of the members from what nobody (`empty`) and the coalitions are worth, K values each.
    fn values(&self, empty: &[f64], worth: &[f64]) -> Vec<Value> {
        if self.orders.is_empty() { self.over_subsets(empty, worth) } else { self.over_orders(empty, worth) }
    }

    fn over_subsets(&self, empty: &[f64], worth: &[f64]) -> Vec<Value> {
        let (n, k) = (self.members.len(), empty.len());
        // |S|! (n − |S| − 1)! / n!
        let mut weight = vec![1.0 / n as f64];
        (1..n).for_each(|s| weight.push(weight[s - 1] * s as f64 / (n - s) as f64));
        let of = |set: usize| if set == 0 { empty } else { &worth[(set - 1) * k..set * k] };
        let mut values = vec![vec![0.0; k]; n];
        for set in 0..(1usize << n) - 1 {
            let (without, weight) = (of(set), weight[set.count_ones() as usize]);
            for p in (0..n).filter(|p| set >> p & 1 == 0) {
                let with = of(set | 1 << p);
                let value = values[p].iter_mut().zip(with.iter().zip(without));
                value.for_each(|(v, (with, without))| *v += weight * (with - without));
            }
        }
        values.into_iter().map(|value| (value, None)).collect()
    }

    fn over_orders(&self, empty: &[f64], worth: &[f64]) -> Vec<Value> {
        let (n, k) = (self.members.len(), empty.len());
        // what each member adds, mean of an order and its reverse
        let pair = |(orders, worth): (&[Vec<usize>], &[f64])| {
            let mut gain = vec![0.0; n * k];
            for (order, worth) in orders.iter().zip(worth.chunks_exact(n * k)) {
                let mut before = empty;
                for (&p, after) in order.iter().zip(worth.chunks_exact(k)) {
                    (0..k).for_each(|c| gain[p * k + c] += 0.5 * (after[c] - before[c]));
                    before = after;
                }
            }
            gain
        };
        let gains: Vec<Vec<f64>> =
            self.orders.chunks_exact(2).zip(worth.chunks_exact(2 * n * k)).map(pair).collect();
        let pairs = gains.len() as f64;
        let value = |p: usize| {
            let of = |c: usize| gains.iter().map(move |g| g[p * k + c]);
            let mean: Vec<f64> = (0..k).map(|c| of(c).sum::<f64>() / pairs).collect();
            let variance = |c: usize| of(c).map(|g| (g - mean[c]).powi(2)).sum::<f64>() / (pairs - 1.0);
            let error = (0..k).map(|c| (variance(c) / pairs).sqrt()).collect();
            (mean, Some(error))
        };
        (0..n).map(value).collect()
    }
}
