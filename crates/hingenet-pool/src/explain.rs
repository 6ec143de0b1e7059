//! Why a row got its class, and what to measure next: the change of the class log-odds when one observed
//! feature is treated as missing, and the expected information of every missing feature about the class.

use super::classifier::PoolClassifier;
use super::terms::averaged::mutual_information;
use hingenet_base::error::{Error, Result};
use hingenet_base::numeric::log::softmax;
use hingenet_data::classifier::{Explanation, ExplanationKind, Term};
use hingenet_data::table::Table;

/// For each observed feature: log posterior with it less log posterior without it.
pub(crate) fn leave_one_out(pool: &PoolClassifier, table: &Table, row: usize) -> Result<Explanation> {
    let one = one_row(pool, table, row)?;
    let observed: Vec<usize> = (0..one.n_columns()).filter(|&j| !one.column(j).is_missing(0)).collect();
    let mut copies = one.rows(&vec![0; observed.len() + 1]);
    observed.iter().enumerate().for_each(|(r, &j)| copies.blank(r + 1, j));
    let log_proba = pool.pooled(&copies)?;
    let (scores, without) = log_proba.split_at(pool.n_classes);
    let terms = observed
        .iter()
        .zip(without.chunks_exact(pool.n_classes))
        .map(|(&feature, without)| Term {
            feature,
            given: Vec::new(),
            scores: scores.iter().zip(without).map(|(with, without)| with - without).collect(),
        })
        .collect();
    let base = pool.all_classes(&pool.terms.kernels.density.log_prior());
    Ok(Explanation { kind: ExplanationKind::LeaveOneOut, base, terms, scores: scores.to_vec() })
}

impl PoolClassifier {
    /// What to measure next: for every missing feature of the row, the information (nats) that its value
    /// is expected to give about the class, from term A; largest first, ties to the earlier feature.
    ///
    /// With `Q(b, c)` the joint posterior of the feature's states and the class given the observed
    /// features, it is the mutual information of Q.
    pub fn next_measurements(&self, table: &Table, row: usize) -> Result<Vec<(usize, f64)>> {
        let one = one_row(self, table, row)?;
        let averaged = &self.terms.averaged;
        let observed = averaged.observed(&one, 0);
        let gain = |j: usize| {
            let at = observed.partition_point(|(i, _)| *i < j);
            let mut joint = Vec::new();
            for b in averaged.counts.states.of(j) {
                let mut states = observed.clone();
                states.insert(at, (j, b));
                joint.extend(averaged.stars.scores(&states));
            }
            softmax(&mut joint);
            (j, mutual_information(&joint, self.present.len()).max(0.0))
        };
        let missing = (0..one.n_columns()).filter(|&j| one.column(j).is_missing(0));
        let mut gains: Vec<(usize, f64)> = missing.map(gain).collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(gains)
    }
}

fn one_row(pool: &PoolClassifier, table: &Table, row: usize) -> Result<Table> {
    if row >= table.n_rows() {
        return Err(Error::data(
            format!("there is no row {}", row + 1),
            format!("the table has {} rows", table.n_rows()),
        ));
    }
    let one = table.rows(&[row]);
    pool.check(&one)?;
    Ok(one)
}
