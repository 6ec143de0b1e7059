//! Networks asked with what is known: states that were seen, states that are excluded, or a likelihood over the states
//! of a variable.
//!
//! A likelihood is the observation of a child of its own: a node with two states and `P(seen | state) = likelihood /
//! largest likelihood`. Everything that exact inference does with observations it does with likelihoods, too.

use super::elimination::{eliminate, order_of};
use super::{Expectation, Inference, impossible};
use crate::{Network, Structure};
use hingenet_base::error::{Result, require, require_len};
use hingenet_base::graph::Dag;
use hingenet_base::numeric::log::{argmax, log_sum_exp, softmax};
use hingenet_base::numeric::random::Random;
use hingenet_data::table::Codes;
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
}

/// What follows for all variables at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Columns {
    /// `log P(c, everything known)`.
    pub log_classes: Vec<f64>,
    /// `P(state | c, everything known)` of every variable, class by class; zeros in a class that is impossible.
    pub given_class: Vec<Vec<f64>>,
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

    /// `log P(c, everything known)`.
    pub fn log_classes(&self) -> Result<Vec<f64>> {
        let members: Vec<Vec<f64>> = self.members.iter().map(Member::log_classes).collect::<Result<_>>()?;
        let of = |c: usize| members.iter().map(|m| m[c]).collect::<Vec<f64>>();
        Ok((0..self.card[0]).map(|c| self.averaged(&of(c))).collect())
    }

    /// All variables: every member passes its messages up and down once for each class.
    pub fn columns(&self) -> Result<Columns> {
        let k = self.card[0];
        let mut given_class: Vec<Vec<f64>> = self.card.iter().map(|r| vec![0.0; k * r]).collect();
        let passes = self.members.par_iter().map(Member::passes).collect::<Result<Vec<_>>>()?;
        let mut log_classes = Vec::with_capacity(k);
        for c in 0..k {
            let mut share: Vec<f64> = passes.iter().map(|member| member[c].0).collect();
            log_classes.push(self.averaged(&share));
            if softmax(&mut share) == f64::NEG_INFINITY {
                continue;
            }
            for ((_, marginals), share) in passes.iter().map(|m| &m[c]).zip(&share).filter(|(_, s)| **s > 0.0)
            {
                for ((column, r), own) in given_class.iter_mut().zip(&self.card).zip(marginals) {
                    column[c * r..].iter_mut().zip(own).for_each(|(p, q)| *p += share * q);
                }
            }
        }
        Ok(Columns { log_classes, given_class })
    }

    /// The mean of the members' probabilities, with the factors of the likelihoods.
    fn averaged(&self, logs: &[f64]) -> f64 {
        log_sum_exp(logs) - (logs.len() as f64).ln() + self.log_factor
    }

    /// The most probable states of all variables in class `class`, with the logarithm of their probability together
    /// with everything known; `None` where the class is impossible. Of an average it is the best of what its members take
    /// for most probable.
    pub fn most_probable(&self, class: usize) -> Result<Option<(Vec<usize>, f64)>> {
        let mut best: Option<(Vec<usize>, f64)> = None;
        for member in &self.members {
            let Some(state) = member.most_probable(class)? else { continue };
            let logs: Vec<f64> = self.members.iter().map(|m| m.log_probability(&state)).collect();
            let log = self.averaged(&logs);
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
        Ok(Member { network, evidence })
    }

    /// As the classifier scores a row, so that both say the same.
    fn log_classes(&self) -> Result<Vec<f64>> {
        let card = self.network.structure().card();
        if card.len() == 1 {
            return Ok(self.given_class_seen(self.network.row(0, 0).to_vec()));
        }
        let cell = |(r, seen): (&usize, &Option<usize>)| Codes::from_options(*r, [*seen].into_iter());
        let row: Vec<Codes> = card.iter().zip(&self.evidence).skip(1).map(cell).collect();
        Ok(self.given_class_seen(Inference::new(&self.network).log_joint_rows(&row)?))
    }

    fn given_class_seen(&self, mut scores: Vec<f64>) -> Vec<f64> {
        let other = |c: usize| self.evidence[0].is_some_and(|seen| seen != c);
        scores.iter_mut().enumerate().filter(|(c, _)| other(*c)).for_each(|(_, s)| *s = f64::NEG_INFINITY);
        scores
    }

    /// `log P(c, known)` and `P(state | c, known)` of every variable, for each class: the expected counts of one row.
    fn passes(&self) -> Result<Vec<(f64, Vec<Vec<f64>>)>> {
        let s = self.network.structure();
        let expectation = Expectation::new(&self.network);
        let mut scratch = expectation.scratch();
        let mut pass = |class: usize| {
            if self.evidence[0].is_some_and(|seen| seen != class) {
                return Ok((f64::NEG_INFINITY, Vec::new()));
            }
            let mut evidence = self.evidence.clone();
            evidence[0] = Some(class);
            let mut counts = vec![0.0; s.n_entries()];
            let log = expectation.add(&evidence, 1.0, &mut scratch, &mut counts)?;
            let marginal = |i: usize| {
                let mut states = vec![0.0; s.card()[i]];
                for row in counts[s.table(i)].chunks_exact(states.len()) {
                    states.iter_mut().zip(row).for_each(|(p, q)| *p += q);
                }
                states
            };
            Ok((log, (0..s.n_nodes()).map(marginal).collect()))
        };
        (0..s.n_classes()).map(&mut pass).collect()
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
        let order = order_of(&self.network);
        let done = eliminate(&self.network, &evidence, &[], &all, &order, largest)?;
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
