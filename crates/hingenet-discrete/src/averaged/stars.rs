//! The tables of averaged one-dependence networks, and their scores. Feature s in turn is the root of a
//! star: every other feature depends on the class and on it. Of all the tables only the class's own may
//! differ between two members, so all members together are one table of pairs of states.
//!
//! States are numbered through: feature j owns the states from `first(j)` on. `a` and `b` are such states.
//!
//! ```text
//! P_s(c, x) = π_s(c) P(a_s|c) Π_{t ≠ s} P(b_t|c, a_s)        S_c = ln (1/N) Σ_s P_s(c, x)
//! ```
//!
//! Missing leaves drop out. A missing root is summed out, or its member left out of the average.

use crate::counts::is_count;
use crate::samples::check_codes;
use crate::structure::PairStatistics;
use crate::tally::joint_counts;
use crate::{Network, Samples, Structure, counts};
use hingenet_base::error::{Error, Result, require_len};
use hingenet_base::graph::Dag;
use hingenet_base::numeric::simd::exp_in_place;
use hingenet_base::numeric::sum::add_into;
use hingenet_data::table::Codes;
use rayon::prelude::*;

/// Most entries of the tables of all pairs of features (8 GB).
const MAX_ENTRIES: f64 = (1u64 << 30) as f64;
/// Entries up to which pairs are counted in one table (128 MB): one feature of very many states would leave most
/// of it empty.
const ONE_TABLE: usize = 1 << 24;
/// Rows per parallel task.
const CHUNK: usize = 64;

/// The states of all features, numbered through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    first: Vec<usize>,
}

impl Numbering {
    /// From the number of states of each feature.
    pub fn new(n_states: impl IntoIterator<Item = usize>) -> Self {
        let mut first = vec![0];
        n_states.into_iter().for_each(|r| first.push(first[first.len() - 1] + r));
        Numbering { first }
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of states of all features together.
    pub fn total(&self) -> usize {
        self.first[self.n_features()]
    }

    /// The first state of feature `j`.
    pub fn first(&self, j: usize) -> usize {
        self.first[j]
    }

    /// Position of state `b` of feature `t` among the states of all features but `s`.
    #[inline]
    fn beside(&self, s: usize, t: usize, b: usize) -> usize {
        if t < s { b } else { b - self.of(s).len() }
    }

    /// The states of feature `j`.
    #[inline]
    pub fn of(&self, j: usize) -> std::ops::Range<usize> {
        self.first[j]..self.first[j + 1]
    }
}

/// Weighted counts of class, states and pairs of states, each over the rows where they are observed.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// States of the features.
    pub states: Numbering,
    /// `n_c`.
    pub class: Vec<f64>,
    /// `N_c(a)` at `a K + c`.
    pub value: Vec<f64>,
    /// `N_c(a, b)` at `(a total + b) K + c` for b of a later feature than a, else 0; empty if there are too many.
    pub pair: Vec<f64>,
}

impl Counts {
    /// Counts labelled rows; pairs are left out where their table would have more than `most` entries.
    pub fn new(samples: &Samples, most: usize) -> Self {
        let card = samples.card();
        let states = Numbering::new(card[1..].iter().copied());
        let (k, total) = (card[0], states.total());
        let value =
            (1..card.len()).into_par_iter().flat_map_iter(|i| joint_counts(samples, &[i, 0])).collect();
        let size = total.checked_mul(total).and_then(|n| n.checked_mul(k)).filter(|n| *n <= most);
        let mut pair = vec![0.0; size.unwrap_or(0)];
        if !pair.is_empty() {
            let sizes = (0..states.n_features()).map(|s| states.of(s).len() * total * k);
            split_blocks(sizes, &mut pair).into_par_iter().enumerate().for_each(|(s, block)| {
                for t in s + 1..states.n_features() {
                    let table = joint_counts(samples, &[s + 1, t + 1, 0]);
                    let width = states.of(t).len() * k;
                    let rows = block.chunks_exact_mut(total * k).zip(table.chunks_exact(width));
                    rows.for_each(|(row, part)| row[states.first(t) * k..][..width].copy_from_slice(part));
                }
            });
        }
        Counts { class: joint_counts(samples, &[0]), states, value, pair }
    }

    /// Those of no rows.
    pub fn empty(states: Numbering, n_classes: usize, most: usize) -> Self {
        let total = states.total();
        let size = total.checked_mul(total).and_then(|n| n.checked_mul(n_classes)).filter(|n| *n <= most);
        Counts {
            class: vec![0.0; n_classes],
            value: vec![0.0; total * n_classes],
            pair: vec![0.0; size.unwrap_or(0)],
            states,
        }
    }

    /// Counts that were written down: whole numbers, as many as the states of the features ask for.
    pub fn given(n_states: &[usize], class: Vec<f64>, value: Vec<f64>, pair: Vec<f64>) -> Result<Self> {
        let total = n_states.iter().try_fold(0usize, |sum, r| sum.checked_add(*r));
        let times = |a: Option<usize>, b: usize| a.and_then(|a| a.checked_mul(b));
        let k = class.len();
        let pairs = total.and_then(|n| times(times(total, n), k));
        let fits = times(total, k) == Some(value.len()) && (pair.is_empty() || pairs == Some(pair.len()));
        if !fits || ![&class, &value, &pair].into_iter().flatten().all(is_count) {
            return Err(Error::model_file("the counts of the states are damaged"));
        }
        Ok(Counts { states: Numbering::new(n_states.iter().copied()), class, value, pair })
    }

    /// Adds the counts of other rows.
    pub fn merge(&mut self, other: &Counts) -> Result<()> {
        if self.states != other.states {
            return Err(Error::model_file("counts of different states cannot be merged"));
        }
        for (what, own, more) in [
            ("classes", &mut self.class, &other.class),
            ("states", &mut self.value, &other.value),
            ("pairs of states", &mut self.pair, &other.pair),
        ] {
            require_len(&format!("counts of {what}"), own.len(), more.len())?;
            add_into(own, more);
            if !own.iter().all(is_count) {
                return Err(Error::model_file("no table has so many rows"));
            }
        }
        Ok(())
    }

    /// The same from the counts of all pairs; `None` if some were not kept.
    fn from_pairs(pairs: &PairStatistics, most: usize) -> Option<Self> {
        let card = pairs.card();
        let states = Numbering::new(card[1..].iter().copied());
        let (k, total) = (card[0], states.total());
        let mut value = vec![0.0; total * k];
        for i in 1..card.len() {
            let own = &mut value[states.first(i - 1) * k..];
            pairs.single(i).iter().enumerate().for_each(|(at, n)| own[at % card[i] * k + at / card[i]] = *n);
        }
        let size = total.checked_mul(total).and_then(|n| n.checked_mul(k)).filter(|n| *n <= most);
        let mut pair = vec![0.0; size.unwrap_or(0)];
        if !pair.is_empty() {
            for (s, t) in (1..card.len()).flat_map(|s| (s + 1..card.len()).map(move |t| (s, t))) {
                let (r_s, r_t) = (card[s], card[t]);
                for (at, n) in pairs.table(s, t)?.iter().enumerate() {
                    let (c, a, b) = (at / (r_s * r_t), at / r_t % r_s, at % r_t);
                    pair[((states.first(s - 1) + a) * total + states.first(t - 1) + b) * k + c] = *n;
                }
            }
        }
        Some(Counts { class: pairs.class_counts()?, states, value, pair })
    }
}

/// The slices of the given sizes, one after the other.
fn split_blocks(sizes: impl Iterator<Item = usize>, mut rest: &mut [f64]) -> Vec<&mut [f64]> {
    let take = |size: usize| rest.split_off_mut(..size).unwrap_or_default();
    sizes.map(take).collect()
}

/// Where the lines of each feature start behind class and states, and where the last one ends.
fn line_starts(states: &Numbering, k: usize) -> Vec<usize> {
    let mut starts = vec![(states.n_features() + states.total()) * k];
    for s in 0..states.n_features() {
        let r = states.of(s).len();
        starts.push(starts[s] + r * (states.total() - r) * k);
    }
    starts
}

/// What is added to the counts, and what becomes of members whose root is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Smoothing {
    /// α virtual rows spread evenly over each whole table, Eq. (4); missing roots are summed out.
    Even(f64),
    /// One virtual row for each class and for each line of a table: over the states evenly, over pairs like
    /// `P(b|c)`. Only members vote whose root is observed in a state that the counts know.
    ///
    /// ```text
    /// P(a|c) = (N_c(a) + 1/r)/(n_c + 1),   P(b|c,a) = (N_c(a,b) + P(b|c))/(N_c(a) + 1)
    /// ```
    Backed,
}

/// All members of an average.
#[derive(Debug, Clone, PartialEq)]
pub struct Stars {
    states: Numbering,
    n_classes: usize,
    /// `ln π_s(c)` at `s K + c`, then `ln P(a|c)` at `a K + c`, then, unless the features depend on the class
    /// alone, for each a a line of `ln P(b|c,a)` for the states b of all other features.
    logs: Vec<f64>,
    /// Where the lines of each feature start in `logs`; one more entry at the end.
    lines: Vec<usize>,
    /// Which states let their members vote; `None`: every member votes, a missing root is summed out.
    voting: Option<Vec<bool>>,
}

impl Stars {
    /// Maximum-likelihood members from smoothed counts.
    pub fn from_counts(counts: &Counts, smoothing: Smoothing) -> Self {
        let (states, k) = (&counts.states, counts.class.len());
        let (d, total) = (states.n_features(), states.total());
        let even = |n_lines: usize, r: usize| match smoothing {
            Smoothing::Even(alpha) => alpha / (n_lines * r) as f64,
            Smoothing::Backed => 1.0 / r as f64,
        };
        let mut prior = counts.class.clone();
        log_shares(&mut prior, 0..k, 1, |_| even(1, k));
        let lines = line_starts(states, k);
        let len = if counts.pair.is_empty() { lines[0] } else { lines[d] };
        let mut logs = prior.repeat(d);
        logs.extend_from_slice(&counts.value);
        logs.resize(len, 0.0);
        let (value, pair) = logs[d * k..].split_at_mut(total * k);
        for j in 0..d {
            let (own, r) = (states.first(j) * k..states.first(j + 1) * k, states.of(j).len());
            (0..k).for_each(|c| log_shares(value, own.start + c..own.end, k, |_| even(k, r)));
        }
        if !pair.is_empty() {
            let n_lines = |s: usize| k * states.of(s).len();
            let sizes = lines.windows(2).map(|w| w[1] - w[0]);
            split_blocks(sizes, pair).into_par_iter().enumerate().for_each(|(s, block)| {
                smoothed_pairs(counts, s, block, |t, at| match smoothing {
                    Smoothing::Even(_) => even(n_lines(s), states.of(t).len()),
                    Smoothing::Backed => value[at].exp(),
                });
            });
        }
        let seen = || counts.value.chunks_exact(k).map(|row| row.iter().any(|n| *n > 0.0)).collect();
        let voting = (smoothing == Smoothing::Backed).then(seen);
        Stars { states: states.clone(), n_classes: k, logs, lines, voting }
    }

    /// Maximum-likelihood members from complete rows, with the counts of Eq. (4).
    pub fn from_rows(samples: &Samples, alpha: f64) -> Result<Self> {
        let card = samples.card();
        require_room(card)?;
        let counts = Counts::new(samples, ONE_TABLE);
        if !counts.pair.is_empty() {
            return Ok(Self::from_counts(&counts, Smoothing::Even(alpha)));
        }
        Self::one_by_one(card, alpha, |structure| counts::raw_counts(structure, samples))
    }

    /// The same from the counts of all pairs.
    pub fn from_pairs(pairs: &PairStatistics, alpha: f64) -> Result<Self> {
        require_room(pairs.card())?;
        let absent = || Error::model_file("the counts of a pair are absent");
        let counts = Counts::from_pairs(pairs, ONE_TABLE).ok_or_else(absent)?;
        if !counts.pair.is_empty() {
            return Ok(Self::from_counts(&counts, Smoothing::Even(alpha)));
        }
        Self::one_by_one(pairs.card(), alpha, |structure| pairs.counts_of(structure).ok_or_else(absent))
    }

    /// Members each from the raw counts of its tables.
    fn one_by_one(
        card: &[usize],
        alpha: f64,
        counts: impl Fn(&Structure) -> Result<Vec<f64>> + Sync,
    ) -> Result<Self> {
        let member = |s: usize| {
            let structure = one_dependence(card, s)?;
            let raw = counts(&structure)?;
            Network::likely(structure, &raw, alpha)
        };
        Self::from_networks(&(1..card.len()).into_par_iter().map(member).collect::<Result<Vec<_>>>()?)
    }

    /// Joins networks; the s-th must have the structure that [`one_dependence`] gives feature s.
    pub fn from_networks(members: &[Network]) -> Result<Self> {
        let Some(first) = members.first() else { return Err(no_feature()) };
        let card = first.structure().card();
        require_len("members of an average", card.len() - 1, members.len())?;
        let mut stars = Stars::zeros(card)?;
        for (s, member) in members.iter().enumerate() {
            if *member.structure() != one_dependence(card, s + 1)? {
                return Err(Error::graph(s + 1, "is not the root of its member of the average"));
            }
            let places = stars.places(s);
            places.into_iter().zip(member.w()).for_each(|(at, w)| stars.logs[at] = *w);
        }
        Ok(stars)
    }

    /// Members whose tables are still to be set.
    pub(super) fn zeros(card: &[usize]) -> Result<Self> {
        require_room(card)?;
        let (k, states) = (card[0], Numbering::new(card[1..].iter().copied()));
        let lines = line_starts(&states, k);
        Ok(Stars { logs: vec![0.0; lines[states.n_features()]], states, n_classes: k, lines, voting: None })
    }

    /// Member `s` (from 0) as a network.
    pub fn network(&self, s: usize) -> Result<Network> {
        let w = self.places(s).into_iter().map(|at| self.logs[at]).collect();
        Network::new(one_dependence(&self.card(), s + 1)?, w)
    }

    /// Numbers of states, the class first.
    pub(super) fn card(&self) -> Vec<usize> {
        let r = |j: usize| self.states.of(j).len();
        std::iter::once(self.n_classes).chain((0..self.states.n_features()).map(r)).collect()
    }

    /// The members as networks, one per feature.
    pub fn networks(&self) -> Result<Vec<Network>> {
        (0..self.states.n_features()).map(|s| self.network(s)).collect()
    }

    /// Where each entry of the network of member `s` stands here.
    fn places(&self, s: usize) -> Vec<usize> {
        let k = self.n_classes;
        let mut places: Vec<usize> = (s * k..(s + 1) * k).collect();
        for t in 0..self.states.n_features() {
            for c in 0..k {
                for a in self.states.of(s) {
                    match t == s {
                        true => places.push(self.value_start() + a * k + c),
                        false => {
                            places.extend(self.states.of(t).map(|b| self.pair_start((s, a), (t, b)) + c))
                        }
                    }
                }
            }
        }
        places
    }

    fn value_start(&self) -> usize {
        self.states.n_features() * self.n_classes
    }

    /// Start of the pairs with state `a` of feature `s`.
    fn line_start(&self, s: usize, a: usize) -> usize {
        let length = (self.states.total() - self.states.of(s).len()) * self.n_classes;
        self.lines[s] + (a - self.states.first(s)) * length
    }

    /// Start of the pair of state `a` of feature `s` and state `b` of feature `t`.
    fn pair_start(&self, (s, a): (usize, usize), (t, b): (usize, usize)) -> usize {
        self.line_start(s, a) + self.states.beside(s, t, b) * self.n_classes
    }

    /// `ln π_s(c)` of every class.
    pub(super) fn prior_mut(&mut self, s: usize) -> &mut [f64] {
        let k = self.n_classes;
        &mut self.logs[s * k..(s + 1) * k]
    }

    /// `ln P(a|c)` of every class.
    pub(super) fn value_mut(&mut self, a: usize) -> &mut [f64] {
        let start = self.value_start() + a * self.n_classes;
        &mut self.logs[start..start + self.n_classes]
    }

    /// `ln P(b|c,a)` of every class, for (feature, state) of both.
    pub(super) fn pair_mut(&mut self, a: (usize, usize), b: (usize, usize)) -> &mut [f64] {
        let start = self.pair_start(a, b);
        &mut self.logs[start..start + self.n_classes]
    }

    /// The states.
    pub fn states(&self) -> &Numbering {
        &self.states
    }

    /// Number of classes K.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Whether features depend on each other at all (there were not too many pairs of states).
    pub fn has_pairs(&self) -> bool {
        self.logs.len() > self.lines[0]
    }

    /// `S_c` of coded rows, K values a row.
    pub fn log_joint_rows(&self, features: &[Codes]) -> Result<Vec<f64>> {
        let n = check_codes(&self.card()[1..], features)?;
        let mut out = vec![0.0; n * self.n_classes];
        out.par_chunks_mut(CHUNK * self.n_classes).enumerate().for_each(|(chunk, out)| {
            for (m, scores) in out.chunks_exact_mut(self.n_classes).enumerate() {
                let state = |(j, column): (usize, &Codes)| {
                    column.get(chunk * CHUNK + m).map(|a| (j, self.states.first(j) + a))
                };
                let observed: Vec<(usize, usize)> = features.iter().enumerate().filter_map(state).collect();
                scores.copy_from_slice(&self.scores(&observed));
            }
        });
        Ok(out)
    }

    /// `S_c` for the observed (feature, state) of one row, ascending.
    pub fn scores(&self, observed: &[(usize, usize)]) -> Vec<f64> {
        let k = self.n_classes;
        // tables from counts sum to one: a leaf of one state adds ln 1, and a wide table has thousands of them
        let tells = |&(t, _): &(usize, usize)| self.voting.is_none() || self.states.of(t).len() > 1;
        let leaves: Vec<(usize, usize)> = observed.iter().copied().filter(tells).collect();
        let mut members = Vec::with_capacity(self.value_start());
        if self.has_pairs() {
            let mut next = observed.iter().peekable();
            for s in 0..self.states.n_features() {
                let prior = &self.logs[s * k..(s + 1) * k];
                match (next.next_if(|(j, _)| *j == s), &self.voting) {
                    (Some(&(_, a)), voting) if voting.as_ref().is_none_or(|v| v[a]) => {
                        let start = members.len();
                        members.extend_from_slice(prior);
                        self.add_star(s, a, &leaves, &mut members[start..]);
                    }
                    (None, None) => {
                        let rest = self.without_root(s, &leaves);
                        members.extend(prior.iter().zip(rest).map(|(p, r)| p + r));
                    }
                    _ => {}
                }
            }
        }
        if members.is_empty() {
            let mut score = self.logs[..k].to_vec();
            let value = |a: usize| &self.logs[self.value_start() + a * k..][..k];
            observed.iter().for_each(|(_, a)| add_into(&mut score, value(*a)));
            return score;
        }
        let share = ((members.len() / k) as f64).ln();
        let mut scores = lse_by_class(&mut members, k);
        scores.iter_mut().for_each(|s| *s -= share);
        scores
    }

    /// Adds `ln P(x | c)` of member `s` with its root in state `a`.
    #[inline]
    fn add_star(&self, s: usize, a: usize, leaves: &[(usize, usize)], star: &mut [f64]) {
        let k = self.n_classes;
        add_into(star, &self.logs[self.value_start() + a * k..][..k]);
        let line = &self.logs[self.line_start(s, a)..];
        for &(t, b) in leaves.iter().filter(|(t, _)| *t != s) {
            add_into(star, &line[self.states.beside(s, t, b) * k..][..k]);
        }
    }

    /// `ln P_s(x | c)` of member `s`, its root summed out.
    fn without_root(&self, s: usize, leaves: &[(usize, usize)]) -> Vec<f64> {
        let (k, roots) = (self.n_classes, self.states.of(s));
        let mut stars = vec![0.0; roots.len() * k];
        for (star, a) in stars.chunks_exact_mut(k).zip(roots) {
            self.add_star(s, a, leaves, star);
        }
        lse_by_class(&mut stars, k)
    }
}

/// Refuses an average without members, and tables of pairs that would not fit into memory.
pub(super) fn require_room(card: &[usize]) -> Result<()> {
    let total = card[1..].iter().sum::<usize>() as f64;
    let size = card[1..].iter().map(|&r| r as f64 * (total - r as f64)).sum::<f64>() * card[0] as f64;
    match card.len() {
        ..=1 => Err(no_feature()),
        _ if size > MAX_ENTRIES => Err(Error::TooLarge {
            what: "the tables of all pairs of features (entries)".into(),
            size,
            limit: MAX_ENTRIES,
            hint: "use columns with fewer categories".into(),
        }),
        _ => Ok(()),
    }
}

fn no_feature() -> Error {
    Error::data("there is no feature to average over", "give at least one feature")
}

/// Writes `ln P(b|c,a)` for the states a of feature `s` and all b of other features t; `more(t, b K + c)` is
/// added to the count.
fn smoothed_pairs(counts: &Counts, s: usize, block: &mut [f64], more: impl Fn(usize, usize) -> f64) {
    let (states, k) = (&counts.states, counts.class.len());
    let (total, r) = (states.total(), states.of(s).len());
    if total == r {
        return;
    }
    for (a, line) in states.of(s).zip(block.chunks_exact_mut((total - r) * k)) {
        for t in (0..states.n_features()).filter(|&t| t != s) {
            let first = states.beside(s, t, states.first(t));
            let own = &mut line[first * k..(first + states.of(t).len()) * k];
            for (b, cells) in states.of(t).zip(own.chunks_exact_mut(k)) {
                let from = (a.min(b) * total + a.max(b)) * k;
                cells.copy_from_slice(&counts.pair[from..from + k]);
            }
            let (len, at) = (own.len(), states.first(t) * k);
            (0..k).for_each(|c| log_shares(own, c..len, k, |i| more(t, at + i)));
        }
    }
}

/// `ln Σ exp` over the rows of K values, one for each class; overwrites the values.
fn lse_by_class(values: &mut [f64], k: usize) -> Vec<f64> {
    let mut most = vec![f64::NEG_INFINITY; k];
    for row in values.chunks_exact(k) {
        most.iter_mut().zip(row).for_each(|(m, v)| *m = m.max(*v));
    }
    // a class that is impossible stays so
    most.iter_mut().filter(|m| m.is_infinite()).for_each(|m| *m = 0.0);
    for row in values.chunks_exact_mut(k) {
        row.iter_mut().zip(&most).for_each(|(v, m)| *v -= m);
    }
    exp_in_place(values);
    let mut sums = vec![0.0; k];
    values.chunks_exact(k).for_each(|row| add_into(&mut sums, row));
    sums.iter().zip(most).map(|(sum, m)| sum.ln() + m).collect()
}

/// Replaces the counts `step` apart by the logarithms of their smoothed shares; uniform where there are none.
fn log_shares(table: &mut [f64], range: std::ops::Range<usize>, step: usize, more: impl Fn(usize) -> f64) {
    let entries = || range.clone().step_by(step);
    let total: f64 = entries().map(|at| table[at]).sum();
    let total = total + entries().map(&more).sum::<f64>();
    for at in entries() {
        let share = if total > 0.0 { (table[at] + more(at)) / total } else { 1.0 / entries().count() as f64 };
        table[at] = share.ln();
    }
}

/// The structure in which every feature depends on the class and on feature `s` (from 1).
pub fn one_dependence(card: &[usize], s: usize) -> Result<Structure> {
    let parents = (0..card.len())
        .map(|i| match i {
            0 => vec![],
            i if i == s => vec![0],
            _ => vec![0, s],
        })
        .collect();
    Structure::new(card.to_vec(), Dag::new(parents)?)
}
