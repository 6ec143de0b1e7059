//! A machine around a generative classifier. By Lemma 1 of the paper kernel naive Bayes and kernel TAN are points w_o in the
//! space of the machine's weights; here the penalty is the distance from that point:
//!
//! ```text
//! min ½ Σ_k |w_k - w_ok|² + Σ_i C_i max_k [1(k ≠ y) + s_k(x_i) - s_y(x_i)]
//! ```
//!
//! in the features' own units (log densities), where a forest has its weights. The intercepts are penalised around the log
//! class priors in the same way, features being measured from their means. So small C gives the generative
//! classifier itself, and larger C moves away from it for the sake of margins only. Given scores `o = w_o·t` of the rows
//! this is the machine of several classes with the losses `1 + o_k - o_y`; two classes at half the cost are the
//! paper's machine with one weight for each feature.

use super::design::{Design, Scaling};
use super::{Machines, Trained};
use crate::fit::log_prior;
use crate::structure::Kept;
use crate::terms::Scores;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::optimise::crammer_singer::MulticlassProblem;

impl Machines<'_> {
    /// Trains the machine around the classifier of these forests; no edges at all are naive Bayes.
    pub(super) fn around(&self, forests: &Kept, warm: &[Vec<f64>]) -> Result<Trained> {
        let k = self.class_weights.len();
        let class = self.classes_of_rows();
        let mut totals = vec![0.0; k];
        class.iter().zip(self.rows).for_each(|(&y, &r)| totals[y] += self.columns.weights[r]);
        let log_prior = log_prior(&totals, self.class_weights);
        let mut scores = Scores::of_forests(&log_prior, self.columns.n_features(), forests, self.available);
        scores.weights.raw = self.no_scores(k).weights.raw;
        let given = scores.evaluate(&self.set.features);
        let losses = Matrix::from_fn(class.len(), k, |i, c| {
            let row = &given[self.rows[i]];
            if c == class[i] { 0.0 } else { 1.0 + row[c] - row[class[i]] }
        });
        let design = Design::new(self, Scaling::Own);
        let p = design.columns.len();
        let rows = Matrix::from_fn(class.len(), p + 1, |i, j| if j < p { design.x[(i, j)] } else { 1.0 });
        let costs = self.costs(if k == 2 { 0.5 * self.cost } else { self.cost });
        let solved = self.solve_jointly(
            MulticlassProblem {
                rows: &rows,
                class: &class,
                losses: &losses,
                costs: &costs,
                intercepts: false,
            },
            warm,
        )?;
        for output in 0..k {
            let weights = solved.weights.row(output);
            design.add_to(&mut scores, output, &weights[..p], weights[p]);
        }
        let scores = if k == 2 { scores.second_against_first() } else { scores };
        Ok(Trained { scores, reports: vec![solved.report], multipliers: vec![solved.multipliers] })
    }
}
