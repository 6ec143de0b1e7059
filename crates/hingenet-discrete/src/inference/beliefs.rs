//! Networks asked with what is known: states that were seen, states that are excluded, or a likelihood over the states
//! of a variable.
//!
//! A likelihood is the observation of a child of its own: a node with two states and `P(seen | state) = likelihood /
//! largest likelihood`. Everything that exact inference does with observations it does with likelihoods, too.

use super::elimination::{eliminate, order_of, sum_out};
use super::factor::walk;
use super::{Factor, Inference, impossible};
use crate::{Network, Structure};
use hingenet_base::error::{Result, require, require_len};
use hingenet_base::graph::Dag;
use hingenet_base::numeric::log::{argmax, log_sum_exp, softmax};
use hingenet_base::numeric::random::Random;
use rayon::prelude::*;

/// What is known of one variable: how probable what was seen is in each of its states. A single state above 0 is an
/// observation, a state of 0 is excluded, and a common factor does not matter but for the probability of everything known.
pub type Finding = Vec<f64>;

/// Networks over the same variables, averaged (`P(v) = mean_m P_m(v)`), and what is known of these.
#[derive(Debug, Clone)]
pub struct Beliefs {
    members: Vec<Member>,
    /// Numbers of states of the variables, without the observed children.
    card: Vec<usize>,
    /// Logarithm of the factors that the likelihoods were divided by.
    log_factor: f64,
}

/// A network with its observed children, and the observations.
#[derive(Debug, Clone)]
struct Member {
    network: Network,
    evidence: Vec<Option<usize>>,
    /// In which variables are eliminated.
    order: Vec<usize>,
}

/// State of an observed child.
const SEEN: usize = 1;

impl Beliefs {
    /// One finding a variable, `None` where nothing is known; variable 0 is the class.
    pub fn new(networks: &[Network], findings: &[Option<Finding>]) -> Result<Self> {
        let card = networks.first().map(|n| n.structure().card().to_vec()).unwrap_or_default();
        require_len("variables of the findings", card.len(), findings.len())?;
        let mut log_factor = 0.0;
        for (i, (finding, r)) in findings.iter().zip(&card).enumerate() {
            let Some(finding) = finding else { continue };
            require_len(&format!("likelihoods of variable {i}"), *r, finding.len())?;
            let largest = finding.iter().copied().fold(0.0, f64::max);
            let is_likelihood = finding.iter().all(|l| *l >= 0.0) && largest > 0.0 && largest.is_finite();
            require("likelihood of the states", largest, "numbers from 0 on, one above 0", is_likelihood)?;
            log_factor += largest.ln();
        }
        let members = networks.iter().map(|n| Member::new(n, findings)).collect::<Result<_>>()?;
        Ok(Beliefs { members, card, log_factor })
    }

    /// `log P(vars, everything known)` over all states of the variables, which are given in ascending order.
    pub fn log_joint(&self, vars: &[usize]) -> Result<Factor> {
        let tables: Vec<Vec<f64>> =
            self.members.iter().map(|m| m.log_joint(vars, &self.card)).collect::<Result<_>>()?;
        let shift = self.log_factor - (self.members.len() as f64).ln();
        let entry = |k: usize| {
            let terms: Vec<f64> = tables.iter().map(|t| t[k]).collect();
            log_sum_exp(&terms) + shift
        };
        Ok(Factor { vars: vars.to_vec(), table: (0..tables[0].len()).map(entry).collect() })
    }

    /// The most probable states of all variables in class `class`, with the logarithm of their probability together
    /// with everything known; `None` where the class is impossible. Of an average it is the best of what its members take
    /// for most probable.
    pub fn most_probable(&self, class: usize) -> Result<Option<(Vec<usize>, f64)>> {
        let mut best: Option<(Vec<usize>, f64)> = None;
        for member in &self.members {
            let Some(state) = member.most_probable(class)? else { continue };
            let logs: Vec<f64> = self.members.iter().map(|m| m.log_probability(&state)).collect();
            let log = log_sum_exp(&logs) - (self.members.len() as f64).ln() + self.log_factor;
            if best.as_ref().is_none_or(|(_, other)| log > *other) {
                best = Some((state[..self.card.len()].to_vec(), log));
            }
        }
        Ok(best)
    }

    /// `n` draws of all variables given everything known, each from its own random stream.
    pub fn draw(&self, n: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
        let inference: Vec<Inference<'_>> = self.members.iter().map(|m| Inference::new(&m.network)).collect();
        let with = || self.members.iter().zip(&inference);
        let mut weights: Vec<f64> =
            with().map(|(m, i)| i.log_evidence(&m.evidence)).collect::<Result<_>>()?;
        if softmax(&mut weights) == f64::NEG_INFINITY {
            return Err(impossible());
        }
        let samplers: Vec<_> = (weights.iter().zip(with()))
            .map(|(weight, (m, i))| (*weight > 0.0).then(|| i.sampler(&m.evidence)).transpose())
            .collect::<Result<_>>()?;
        let draw = |k: usize| {
            let mut random = Random::stream(seed, k as u64);
            let member = if weights.len() > 1 { random.weighted(&weights) } else { 0 };
            let sampler = samplers[member].as_ref().ok_or_else(impossible)?;
            Ok(sampler.draw(&mut random)[..self.card.len()].to_vec())
        };
        (0..n).into_par_iter().map(draw).collect()
    }
}

impl Member {
    fn new(network: &Network, findings: &[Option<Finding>]) -> Result<Self> {
        let s = network.structure();
        let (mut card, mut parents) = (s.card().to_vec(), s.dag().parent_lists().to_vec());
        let (mut w, mut evidence) = (network.w().to_vec(), vec![None; card.len()]);
        for (i, finding) in findings.iter().enumerate() {
            let Some(finding) = finding else { continue };
            if finding.iter().filter(|l| **l > 0.0).count() == 1 {
                evidence[i] = Some(argmax(finding));
                continue;
            }
            let largest = finding.iter().copied().fold(0.0, f64::max);
            card.push(2);
            parents.push(vec![i]);
            evidence.push(Some(SEEN));
            let row = |l: &f64| [(1.0 - l / largest).ln(), (l / largest).ln()];
            w.extend(finding.iter().flat_map(row));
        }
        let network = Network::new(Structure::new(card, Dag::new(parents)?)?, w)?;
        let order = order_of(&network);
        Ok(Member { network, evidence, order })
    }

    fn log_joint(&self, vars: &[usize], card: &[usize]) -> Result<Vec<f64>> {
        let open = sum_out(&self.network, &self.evidence, vars, &self.order)?.kept;
        // Observed variables are not in the table of the elimination: all their other states are impossible.
        let seen: Vec<Option<usize>> = vars.iter().map(|&v| self.evidence[v]).collect();
        let strides = open.strides_along(vars, self.network.structure().card());
        let mut full = Vec::new();
        let mut state = vec![0; vars.len()];
        walk(vars, card, &[strides], |at| {
            let fits = seen.iter().zip(&state).all(|(seen, j)| seen.is_none_or(|seen| seen == *j));
            full.push(if fits { open.table[at[0]] } else { f64::NEG_INFINITY });
            for d in (0..vars.len()).rev() {
                state[d] += 1;
                if state[d] < card[vars[d]] {
                    break;
                }
                state[d] = 0;
            }
        });
        Ok(full)
    }

    /// Every variable leaves by its largest entry; then the states are read backwards.
    fn most_probable(&self, class: usize) -> Result<Option<Vec<usize>>> {
        let mut evidence = self.evidence.clone();
        if evidence[0].is_some_and(|seen| seen != class) {
            return Ok(None);
        }
        evidence[0] = Some(class);
        let all = vec![true; evidence.len()];
        let largest = |v: &[f64]| v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let done = eliminate(&self.network, &evidence, &[], &all, &self.order, largest)?;
        if done.kept.table[0] == f64::NEG_INFINITY {
            return Ok(None);
        }
        done.read_back(self.network.structure().card(), &mut evidence, argmax);
        Ok(Some(evidence.into_iter().map(Option::unwrap_or_default).collect()))
    }

    fn log_probability(&self, state: &[usize]) -> f64 {
        self.network.log_joint(|i| state[i])
    }
}
