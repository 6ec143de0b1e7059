//! One set of pairwise tables for all members of averaged one-dependence networks, trained with the margin of the average.
//!
//! For each pair of features s < t there is one table of free numbers `u_st(c, a, b)`; member s has
//! `P(x_t = b | c, x_s = a) ∝ exp u_st(c, a, b)` over b, member t `P(x_s = a | c, x_t = b) ∝ exp u_st(c, a, b)` over a. With
//! the scores `S_c = ln (1/N) Σ_s P_s(c, z)` of the average,
//!
//! ```text
//! min_u  −(1/N) Σ_s log-likelihood of member s + Σ_m loss of Eq. (11) at (S_c)
//! ```
//!
//! λ = 0 gives the members of maximum likelihood. The sum over the members inside the logarithm makes the problem
//! non-convex: L-BFGS goes from there to a stationary point. The members stay normalised, so the average stays exact with
//! missing features.

use super::stars::Stars;
use crate::Samples;
use crate::margin::{ANY, MarginLoss, MarginParams, RowLoss};
use crate::tally::joint_counts;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::simd;
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use hingenet_base::optimise::lbfgs::{LbfgsSettings, lbfgs};
use hingenet_base::solver::SolverReport;
use std::ops::Range;

/// Counts below this are taken as this: the logarithm of a table entry must be a number.
const LEAST_COUNT: f64 = 1e-9;
/// The descent ends when this many iterations together gain less than the tolerance, relative to the objective.
const PATIENCE: usize = 5;

/// Trains the tables on complete rows; also how the solver ended (its residual is the largest derivative, relative to the
/// number of rows). When the time is up it ends at the point it has reached, at first the members of maximum likelihood.
pub fn fit_shared_tables(
    samples: &Samples,
    params: &MarginParams,
    control: &Control,
) -> Result<(Stars, SolverReport)> {
    params.check()?;
    let problem = SharedTables::new(samples, params);
    let start: Vec<f64> = problem.counts.iter().map(|n| n.max(LEAST_COUNT).ln()).collect();
    let scale: Vec<f64> = problem.counts.iter().map(|n| 1.0 / (n + 1.0)).collect();
    let gradient_tolerance = 1e-9 * problem.rows();
    let settings = LbfgsSettings { memory: 20, max_iterations: 300, gradient_tolerance };
    let mut values: Vec<f64> = Vec::new();
    let mut cut_short = false;
    let least_gain = params.tolerance;
    let found = lbfgs(
        start,
        Some(&scale),
        &settings,
        |u, gradient| problem.objective(u, gradient),
        |point| {
            control.check()?;
            cut_short = control.time_is_up();
            values.push(point.value);
            let before = values.len().checked_sub(PATIENCE + 1).map(|i| values[i]);
            Ok(cut_short || before.is_some_and(|b| b - point.value <= least_gain * point.value.abs()))
        },
    )?;
    let method = "shared pairwise tables, L-BFGS (largest derivative per row)";
    let gap = found.gradient_norm / problem.rows();
    let converged = found.converged && !cut_short;
    let report = SolverReport::new(method, converged, found.iterations, found.value, Some(gap));
    Ok((problem.stars(&found.x)?, report))
}

/// Entries of one distribution: `len` of them, `step` apart.
#[derive(Clone, Copy)]
struct Line {
    first: usize,
    step: usize,
    len: usize,
}

impl Line {
    fn entries(self) -> impl Iterator<Item = usize> {
        (0..self.len).map(move |i| self.first + i * self.step)
    }

    /// `out = u − lse u`.
    fn normalise(self, u: &[f64], out: &mut [f64]) {
        let max = self.entries().map(|e| u[e]).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = self.entries().map(|e| simd::exp(u[e] - max)).sum();
        let log = max + total.ln();
        self.entries().for_each(|e| out[e] = u[e] - log);
    }

    /// Adds the derivatives with respect to u, given those with respect to the normalised logarithms.
    fn pull_back(self, log: &[f64], slopes: &[f64], out: &mut [f64]) {
        let total: f64 = self.entries().map(|e| slopes[e]).sum();
        self.entries().for_each(|e| out[e] += slopes[e] - simd::exp(log[e]) * total);
    }
}

/// Features s < t (from 0) and where their table starts; an entry is `start + (a r_t + b) K + c`.
#[derive(Clone, Copy)]
struct Pair {
    s: usize,
    t: usize,
    start: usize,
}

/// Where everything stands in u: the class, then `P(x_s | c)` (entry `a K + c`), then the pairs.
struct Layout {
    classes: usize,
    states: Vec<usize>,
    roots: Vec<usize>,
    pairs: Vec<Pair>,
    len: usize,
}

impl Layout {
    fn new(card: &[usize]) -> Self {
        let (classes, states) = (card[0], card[1..].to_vec());
        let mut len = classes;
        let mut take = |size: usize| {
            len += size * classes;
            len - size * classes
        };
        let roots = states.iter().map(|&r| take(r)).collect();
        let mut pairs = Vec::new();
        for t in 0..states.len() {
            for s in 0..t {
                pairs.push(Pair { s, t, start: take(states[s] * states[t]) });
            }
        }
        Layout { classes, states, roots, pairs, len }
    }

    /// The distributions of class and roots.
    fn top_lines(&self) -> impl Iterator<Item = Line> {
        let class = Line { first: 0, step: 1, len: self.classes };
        let root = move |(&first, &len): (&usize, &usize)| {
            (0..self.classes).map(move |c| Line { first: first + c, step: self.classes, len })
        };
        std::iter::once(class).chain(self.roots.iter().zip(&self.states).flat_map(root))
    }

    /// `P(x_t | c, x_s)` of a pair.
    fn forward_lines(&self, pair: Pair) -> impl Iterator<Item = Line> {
        let (k, r, len) = (self.classes, self.states[pair.s], self.states[pair.t]);
        (0..r * k).map(move |i| Line { first: pair.start + i / k * len * k + i % k, step: k, len })
    }

    /// `P(x_s | c, x_t)` of a pair.
    fn backward_lines(&self, pair: Pair) -> impl Iterator<Item = Line> {
        let (k, len, r) = (self.classes, self.states[pair.s], self.states[pair.t]);
        (0..r * k).map(move |i| Line { first: pair.start + i, step: r * k, len })
    }
}

/// Normalised logarithms; `forward` also holds class and roots.
struct Logs {
    forward: Vec<f64>,
    backward: Vec<f64>,
}

/// The training problem.
struct SharedTables<'a> {
    layout: Layout,
    samples: &'a Samples,
    /// Smoothed counts, laid out as u.
    counts: Vec<f64>,
    /// Feature states, row by row, and classes.
    codes: Vec<u16>,
    class: Vec<u16>,
    loss: MarginLoss,
}

/// Loss of some rows with its derivatives.
struct Part {
    loss: f64,
    slopes: Logs,
}

impl<'a> SharedTables<'a> {
    fn new(samples: &'a Samples, params: &MarginParams) -> Self {
        let card = samples.card();
        let layout = Layout::new(card);
        let counts = smoothed(&layout, samples, params.alpha);
        let state = |i: usize, m: usize| samples.column(i).get(m).unwrap_or(0) as u16;
        let n = samples.n_rows();
        let codes = (0..n).flat_map(|m| (1..card.len()).map(move |i| state(i, m))).collect();
        let class = (0..n).map(|m| state(0, m)).collect();
        SharedTables { counts, codes, class, loss: params.loss(card[0]), layout, samples }
    }

    fn rows(&self) -> f64 {
        self.samples.total_weight()
    }

    fn members(&self) -> f64 {
        self.layout.states.len() as f64
    }

    fn logs(&self, u: &[f64]) -> Logs {
        let (mut forward, mut backward) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        self.layout.top_lines().for_each(|line| line.normalise(u, &mut forward));
        for &pair in &self.layout.pairs {
            self.layout.forward_lines(pair).for_each(|line| line.normalise(u, &mut forward));
            self.layout.backward_lines(pair).for_each(|line| line.normalise(u, &mut backward));
        }
        Logs { forward, backward }
    }

    fn objective(&self, u: &[f64], gradient: &mut [f64]) -> f64 {
        let logs = self.logs(u);
        // At most eight chunks: each has a gradient of its own.
        let chunk = self.class.len().div_ceil(8).max(256);
        let parts = ordered_chunks(self.class.len(), chunk, |range| match self.layout.classes {
            2 => self.rows_part::<2>(range, &logs),
            3 => self.rows_part::<3>(range, &logs),
            _ => self.rows_part::<ANY>(range, &logs),
        });
        let mut slopes = Logs { forward: vec![0.0; u.len()], backward: vec![0.0; u.len()] };
        let mut value = self.subtract_likelihood(&logs, &mut slopes);
        for part in parts {
            value += part.loss;
            add_into(&mut slopes.forward, &part.slopes.forward);
            add_into(&mut slopes.backward, &part.slopes.backward);
        }
        gradient.fill(0.0);
        self.layout.top_lines().for_each(|l| l.pull_back(&logs.forward, &slopes.forward, gradient));
        for &pair in &self.layout.pairs {
            self.layout
                .forward_lines(pair)
                .for_each(|l| l.pull_back(&logs.forward, &slopes.forward, gradient));
            let back = |l: Line| l.pull_back(&logs.backward, &slopes.backward, gradient);
            self.layout.backward_lines(pair).for_each(back);
        }
        value
    }

    /// `−(1/N) Σ_s` log-likelihood; every member has the class, one has each root, one each direction of a pair.
    fn subtract_likelihood(&self, logs: &Logs, slopes: &mut Logs) -> f64 {
        let k = self.layout.classes;
        let mut value = 0.0;
        for (e, &n) in self.counts.iter().enumerate() {
            let n = if e < k { n } else { n / self.members() };
            slopes.forward[e] -= n;
            value -= n * logs.forward[e];
            if e >= self.layout.pairs.first().map_or(usize::MAX, |p| p.start) {
                slopes.backward[e] -= n;
                value -= n * logs.backward[e];
            }
        }
        value
    }

    fn rows_part<const K: usize>(&self, range: Range<usize>, logs: &Logs) -> Part {
        let k = if K == ANY { self.layout.classes } else { K };
        let d = self.layout.states.len();
        let empty = || vec![0.0; self.layout.len];
        let mut part = Part { loss: 0.0, slopes: Logs { forward: empty(), backward: empty() } };
        let (mut members, mut scores) = (vec![0.0; d * k], vec![0.0; k]);
        let (mut top, mut max) = (vec![0.0; k], vec![0.0; k]);
        for m in range {
            let codes = &self.codes[m * d..(m + 1) * d];
            self.member_scores::<K>(codes, logs, &mut members);
            average(&mut members, &mut top, &mut max);
            scores.iter_mut().zip(&logs.forward).zip(&top).for_each(|((s, prior), top)| *s = prior + top);
            let class = usize::from(self.class[m]);
            if let Some(value) = self.loss.first(class, self.samples.weight(m), &mut scores) {
                part.loss += value;
                members
                    .chunks_exact_mut(k)
                    .for_each(|m| m.iter_mut().zip(&scores).for_each(|(m, s)| *m *= s));
                add_into(&mut part.slopes.forward[..k], &scores);
                self.spread::<K>(codes, &members, &mut part.slopes);
            }
        }
        part
    }

    /// `ln P_s(z | c)` of each member, K values a member.
    #[inline(always)]
    fn member_scores<const K: usize>(&self, codes: &[u16], logs: &Logs, members: &mut [f64]) {
        let k = if K == ANY { self.layout.classes } else { K };
        for ((member, &start), &a) in members.chunks_exact_mut(k).zip(&self.layout.roots).zip(codes) {
            let at = start + usize::from(a) * k;
            member.copy_from_slice(&logs.forward[at..at + k]);
        }
        for pair in &self.layout.pairs {
            let at = self.cell(pair, codes, k);
            add_into(&mut members[pair.s * k..pair.s * k + k], &logs.forward[at..at + k]);
            add_into(&mut members[pair.t * k..pair.t * k + k], &logs.backward[at..at + k]);
        }
    }

    /// Adds derivatives with respect to the members' scores to the entries behind them.
    #[inline(always)]
    fn spread<const K: usize>(&self, codes: &[u16], members: &[f64], slopes: &mut Logs) {
        let k = if K == ANY { self.layout.classes } else { K };
        for ((member, &start), &a) in members.chunks_exact(k).zip(&self.layout.roots).zip(codes) {
            let at = start + usize::from(a) * k;
            add_into(&mut slopes.forward[at..at + k], member);
        }
        for pair in &self.layout.pairs {
            let at = self.cell(pair, codes, k);
            add_into(&mut slopes.forward[at..at + k], &members[pair.s * k..pair.s * k + k]);
            add_into(&mut slopes.backward[at..at + k], &members[pair.t * k..pair.t * k + k]);
        }
    }

    #[inline(always)]
    fn cell(&self, pair: &Pair, codes: &[u16], k: usize) -> usize {
        let row = usize::from(codes[pair.s]) * self.layout.states[pair.t];
        pair.start + (row + usize::from(codes[pair.t])) * k
    }

    /// The members.
    fn stars(&self, u: &[f64]) -> Result<Stars> {
        let logs = self.logs(u);
        let k = self.layout.classes;
        let mut stars = Stars::zeros(self.samples.card())?;
        let first: Vec<usize> = (0..self.layout.states.len()).map(|s| stars.states().first(s)).collect();
        for (s, (&root, &r)) in self.layout.roots.iter().zip(&self.layout.states).enumerate() {
            stars.prior_mut(s).copy_from_slice(&logs.forward[..k]);
            let tables = logs.forward[root..root + r * k].chunks_exact(k);
            tables.enumerate().for_each(|(a, p)| stars.value_mut(first[s] + a).copy_from_slice(p));
        }
        for pair in &self.layout.pairs {
            let (rows, columns) = (self.layout.states[pair.s], self.layout.states[pair.t]);
            for cell in 0..rows * columns {
                let a = (pair.s, first[pair.s] + cell / columns);
                let b = (pair.t, first[pair.t] + cell % columns);
                let at = pair.start + cell * k..pair.start + (cell + 1) * k;
                stars.pair_mut(a, b).copy_from_slice(&logs.forward[at.clone()]);
                stars.pair_mut(b, a).copy_from_slice(&logs.backward[at]);
            }
        }
        Ok(stars)
    }
}

/// Turns scores of members into their shares in the average, whose logarithm goes to `top`; `max` is for work.
#[inline(always)]
fn average(members: &mut [f64], top: &mut [f64], max: &mut [f64]) {
    let k = top.len();
    let share = ((members.len() / k) as f64).ln();
    max.fill(f64::NEG_INFINITY);
    for member in members.chunks_exact(k) {
        max.iter_mut().zip(member).for_each(|(max, m)| *max = max.max(*m));
    }
    top.fill(0.0);
    for member in members.chunks_exact_mut(k) {
        for ((m, max), total) in member.iter_mut().zip(max.iter()).zip(top.iter_mut()) {
            *m = simd::exp(*m - max);
            *total += *m;
        }
    }
    for member in members.chunks_exact_mut(k) {
        member.iter_mut().zip(top.iter()).for_each(|(m, total)| *m /= total);
    }
    top.iter_mut().zip(max.iter()).for_each(|(t, max)| *t = max + t.ln() - share);
}

/// Smoothed counts of class, roots and pairs, Eq. (4).
fn smoothed(layout: &Layout, samples: &Samples, alpha: f64) -> Vec<f64> {
    let tables = std::iter::once(vec![0])
        .chain((0..layout.states.len()).map(|s| vec![s + 1, 0]))
        .chain(layout.pairs.iter().map(|p| vec![p.s + 1, p.t + 1, 0]));
    let counted = |variables: Vec<usize>| {
        let table = joint_counts(samples, &variables);
        let share = alpha / table.len() as f64;
        table.into_iter().map(move |n| n + share)
    };
    tables.flat_map(counted).collect()
}

#[cfg(test)]
mod tests {
    use super::super::stars::{Counts, Smoothing};
    use super::*;
    use crate::counts;
    use hingenet_base::numeric::random::Random;
    use hingenet_data::table::Codes;

    fn samples(classes: usize, seed: u64) -> Samples {
        let mut random = Random::new(seed);
        let card = vec![classes, 2, 3, 2, 4];
        let mut columns = vec![Vec::new(); card.len()];
        for _ in 0..60 {
            let c = random.below(classes);
            columns[0].push(c as u8);
            for i in 1..card.len() {
                let state = if random.below(3) == 0 { c } else { random.below(card[i]) };
                columns[i].push((state % card[i]) as u8);
            }
        }
        Samples::new(card, columns.into_iter().map(Codes::U8).collect(), None).unwrap()
    }

    fn moved(problem: &SharedTables<'_>, random: &mut Random) -> Vec<f64> {
        problem.counts.iter().map(|n| n.ln() + 0.3 * random.normal()).collect()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let mut random = Random::new(4);
        for classes in [2, 3, 4] {
            let data = samples(classes, 1);
            let params = MarginParams { lambda: 2.0, gamma: 3.0, ..MarginParams::default() };
            let problem = SharedTables::new(&data, &params);
            let mut u = moved(&problem, &mut random);
            let (mut gradient, mut unused) = (vec![0.0; u.len()], vec![0.0; u.len()]);
            problem.objective(&u, &mut gradient);
            for e in 0..u.len() {
                let at = u[e];
                let mut value = |x: f64| {
                    u[e] = x;
                    problem.objective(&u, &mut unused)
                };
                let slope = (value(at + 1e-5) - value(at - 1e-5)) / 2e-5;
                u[e] = at;
                assert!(
                    (slope - gradient[e]).abs() < 1e-5,
                    "{classes} classes, {e}: {slope} {}",
                    gradient[e]
                );
            }
        }
    }

    #[test]
    fn the_objective_is_that_of_the_networks_it_stands_for() {
        let data = samples(3, 2);
        let params = MarginParams { lambda: 0.7, gamma: 2.0, ..MarginParams::default() };
        let problem = SharedTables::new(&data, &params);
        let u = moved(&problem, &mut Random::new(9));
        let value = problem.objective(&u, &mut vec![0.0; u.len()]);
        let average = problem.stars(&u).unwrap();
        let mut expected = 0.0;
        let members = average.networks().unwrap();
        for member in &members {
            assert!(member.normalisation_error() < 1e-12);
            let n = counts::smoothed_counts(member.structure(), &data, params.alpha).unwrap();
            let own = n.iter().zip(member.w()).map(|(n, w)| n * w).sum::<f64>();
            expected -= own / members.len() as f64;
        }
        let mut scores = average.log_joint_rows(&data.columns()[1..]).unwrap();
        for (m, s) in scores.chunks_exact_mut(3).enumerate() {
            expected += problem.loss.first(usize::from(problem.class[m]), 1.0, s).unwrap_or(0.0);
        }
        assert!((value - expected).abs() < 1e-9 * expected, "{value} {expected}");
    }

    #[test]
    fn without_margin_the_members_are_those_of_maximum_likelihood() {
        let data = samples(3, 5);
        let params = MarginParams { lambda: 0.0, ..MarginParams::default() };
        let (shared, report) = fit_shared_tables(&data, &params, &Control::default()).unwrap();
        assert!(report.converged && report.gap.unwrap() < 1e-9);
        let likely = Stars::from_counts(&Counts::new(&data, usize::MAX), Smoothing::Even(params.alpha));
        for (a, b) in shared.networks().unwrap().iter().zip(likely.networks().unwrap()) {
            assert!(a.w().iter().zip(b.w()).all(|(x, y)| (x - y).abs() < 1e-9));
        }
    }

    #[test]
    fn without_time_the_descent_ends_where_it_begins() {
        let data = samples(3, 5);
        let fit = |lambda: f64, control: &Control| {
            let params = MarginParams { lambda, ..MarginParams::default() };
            fit_shared_tables(&data, &params, control).unwrap()
        };
        let (stopped, report) = fit(4.0, &Control::default().within(std::time::Duration::ZERO));
        assert!(!report.converged && report.iterations == 0, "{report:?}");
        let (likely, _) = fit(0.0, &Control::default());
        for (a, b) in stopped.networks().unwrap().iter().zip(likely.networks().unwrap()) {
            assert!(a.w().iter().zip(b.w()).all(|(x, y)| (x - y).abs() < 1e-9));
        }
    }

    #[test]
    fn the_margin_is_bought_with_likelihood_and_bits_do_not_depend_on_threads() {
        let data = samples(2, 7);
        let fit = |lambda: f64| {
            let params = MarginParams { lambda, gamma: 2.0, tolerance: 1e-8, ..MarginParams::default() };
            fit_shared_tables(&data, &params, &Control::default()).unwrap()
        };
        let wrong = |lambda: f64| {
            let scores = fit(lambda).0.log_joint_rows(&data.columns()[1..]).unwrap();
            let hit = |(m, s): &(usize, &[f64])| (s[1] > s[0]) != (data.column(0).get(*m) == Some(1));
            scores.chunks_exact(2).enumerate().filter(hit).count()
        };
        assert!(wrong(10.0) < wrong(0.0));
        let bits = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                fit(1.0).0.networks().unwrap()[2].w().iter().map(|w| w.to_bits()).collect::<Vec<_>>()
            })
        };
        assert_eq!(bits(1), bits(2));
        assert_eq!(bits(1), bits(8));
    }
}
