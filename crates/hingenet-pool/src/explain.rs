//! What to measure next: the expected information of every missing feature about the class.

use super::classifier::PoolClassifier;
use super::terms::averaged::mutual_information;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::softmax;
use hingenet_data::table::Table;

impl PoolClassifier {
    /// For every missing feature of the only row of a table the information (nats) that its value is expected
    /// to give about the class, from term A; largest first, ties to the earlier feature.
    ///
    /// With `Q(b, c)` the joint posterior of the feature's states and the class given the observed
    /// features, it is the mutual information of Q.
    pub(crate) fn expected_information(&self, row: &Table) -> Result<Vec<(usize, f64)>> {
        self.check(row)?;
        let averaged = &self.terms.averaged;
        let observed = averaged.observed(row, 0);
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
        let missing = (0..row.n_columns()).filter(|&j| row.column(j).is_missing(0));
        let mut gains: Vec<(usize, f64)> = missing.map(gain).collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(gains)
    }
}
