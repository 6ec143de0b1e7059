//! Maximum-likelihood parameters from rows with missing feature cells, by expectation maximisation.
//!
//! Each step replaces the counts of Eq. (4) by their expectation given the observed cells and the class
//! (exact, by messages or elimination) and takes the parameters of Eq. (3). The penalised likelihood
//! `Σ s_m log P(c_m, observed) + Σ α/(r_i H_i) w^i_{j|h}` never falls.

use super::counts::{self, require_alpha};
use super::inference::{Expectation, impossible};
use super::{Network, Samples, Structure};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::sum::{add_into, ordered_chunks};
use hingenet_base::solver::{SolverReport, Stopping};

/// When EM stops in every fit: the tolerance is that of the growth of the objective, as a share of its size.
pub const EM: Stopping = Stopping { tolerance: 1e-8, max_iterations: 200 };

/// What EM found.
#[derive(Debug, Clone)]
pub struct EmFit {
    /// Maximum-likelihood parameters.
    pub network: Network,
    /// How it ended; the gap is the last relative growth of the objective.
    pub report: SolverReport,
    /// Objective after each iteration.
    pub trace: Vec<f64>,
}

/// Fits the parameters of a structure. Feature cells may be missing, class labels may not.
pub fn fit_em(
    structure: &Structure,
    samples: &Samples,
    alpha: f64,
    stop: Stopping,
    control: &Control,
) -> Result<EmFit> {
    require_alpha(alpha)?;
    samples.require_labels()?;
    let available = counts::available_counts(structure, samples)?;
    if is_closed(structure) {
        return closed_form(structure, &available, alpha);
    }
    // A start without zeros: a probability of zero would never change again.
    let mut start = available;
    counts::smooth(structure, &mut start, if alpha > 0.0 { alpha } else { 1.0 });
    let mut network = Network::new(structure.clone(), counts::ml_parameters(structure, &start)?)?;
    let rows = EmRows::new(structure, samples)?;
    let mut trace: Vec<f64> = Vec::new();
    loop {
        control.progress("EM for missing cells", trace.len(), stop.max_iterations)?;
        let (mut expected, log_likelihood) = rows.expected_counts(&network)?;
        let objective = log_likelihood + log_prior(structure, network.w(), alpha);
        let growth = trace.last().map_or(f64::INFINITY, |last| (objective - last) / (1.0 + objective.abs()));
        trace.push(objective);
        counts::smooth(structure, &mut expected, alpha);
        let converged = growth <= stop.tolerance;
        if converged || trace.len() >= stop.max_iterations {
            let method = "EM (gap: relative growth of the log-likelihood)";
            let gap = if growth.is_finite() { growth.max(0.0) } else { 1.0 };
            let report = SolverReport::new(method, converged, trace.len(), objective, Some(gap));
            return Ok(EmFit { network, report, trace });
        }
        network = Network::new(structure.clone(), counts::ml_parameters(structure, &expected)?)?;
    }
}

/// Whether no feature has a feature parent: then the expected counts of missing cells follow the
/// parameters, and the available cells alone decide.
fn is_closed(structure: &Structure) -> bool {
    (0..structure.n_nodes()).all(|i| structure.dag().parents(i).iter().all(|&p| p == 0))
}

/// Naive Bayes: `n = n_seen + n_missing p` has the fixed point `p ∝ n_seen + α share`.
fn closed_form(structure: &Structure, available: &[f64], alpha: f64) -> Result<EmFit> {
    let mut counts = available.to_vec();
    counts::smooth(structure, &mut counts, alpha);
    let w = counts::ml_parameters(structure, &counts)?;
    let seen = available.iter().zip(&w).filter(|(n, _)| **n > 0.0);
    let objective = seen.map(|(n, w)| n * w).sum::<f64>() + log_prior(structure, &w, alpha);
    let network = Network::new(structure.clone(), w)?;
    let report = SolverReport::new("available cells (closed form)", true, 0, objective, None);
    Ok(EmFit { network, report, trace: Vec::new() })
}

/// `Σ α/(r_i H_i) w`; cells of probability zero count only with α > 0, when there are none.
fn log_prior(structure: &Structure, w: &[f64], alpha: f64) -> f64 {
    if alpha == 0.0 {
        return 0.0;
    }
    let table = |i: usize| {
        let range = structure.table(i);
        alpha / range.len() as f64 * w[range].iter().sum::<f64>()
    };
    (0..structure.n_nodes()).map(table).sum()
}

/// The rows of an EM fit: complete ones counted once, the others listed.
struct EmRows<'a> {
    samples: &'a Samples,
    complete: Vec<f64>,
    incomplete: Vec<usize>,
    chunk: usize,
}

impl<'a> EmRows<'a> {
    fn new(structure: &Structure, samples: &'a Samples) -> Result<Self> {
        let open = |m: &usize| samples.columns().iter().any(|c| c.get(*m).is_none());
        let (incomplete, full): (Vec<usize>, Vec<usize>) = (0..samples.n_rows()).partition(open);
        let complete = if full.iter().all(|&m| samples.weight(m) == 0.0) {
            vec![0.0; structure.n_entries()]
        } else {
            counts::raw_counts(structure, &samples.rows(&full)?)?
        };
        // Few enough chunks for their tables to fit into memory; the number depends on sizes only.
        let chunks = ((1 << 24) / structure.n_entries()).clamp(1, 64);
        let chunk = incomplete.len().div_ceil(chunks).max(1);
        Ok(EmRows { samples, complete, incomplete, chunk })
    }

    /// Expected counts of all rows and their log-likelihood.
    fn expected_counts(&self, network: &Network) -> Result<(Vec<f64>, f64)> {
        let expectation = Expectation::new(network);
        let parts = ordered_chunks(self.incomplete.len(), self.chunk, |range| {
            let mut counts = vec![0.0; network.w().len()];
            let mut log_likelihood = 0.0;
            let mut scratch = expectation.scratch();
            for &m in &self.incomplete[range] {
                let evidence: Vec<Option<usize>> = self.samples.columns().iter().map(|c| c.get(m)).collect();
                let weight = self.samples.weight(m);
                if weight > 0.0 {
                    let log_evidence = expectation.add(&evidence, weight, &mut scratch, &mut counts)?;
                    if log_evidence == f64::NEG_INFINITY {
                        return Err(impossible());
                    }
                    log_likelihood += weight * log_evidence;
                }
            }
            Ok::<_, Error>((counts, log_likelihood))
        });
        let mut counts = self.complete.clone();
        // 0 log 0 = 0: cells that do not occur add nothing.
        let known = self.complete.iter().zip(network.w()).filter(|(n, _)| **n > 0.0);
        let mut log_likelihood: f64 = known.map(|(n, w)| n * w).sum();
        for part in parts {
            let (part_counts, part_likelihood) = part?;
            add_into(&mut counts, &part_counts);
            log_likelihood += part_likelihood;
        }
        Ok((counts, log_likelihood))
    }
}
