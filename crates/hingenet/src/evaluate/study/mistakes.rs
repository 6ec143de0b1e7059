//! Rows that were answered wrongly, to be looked at one by one.

use crate::evaluate::compare::Ran;
use crate::report::Mistake;
use hingenet_base::numeric::log::argmax;

/// Mistakes of all models together that a page can bear.
pub(super) const MOST: usize = 400;

/// Rows that model `i` answered wrongly in the first repeat, those first whose true class it gave the least probability.
pub(super) fn wrong(ran: &Ran, i: usize) -> Vec<usize> {
    let (tested, log_proba) = (&ran.splits.tested, &ran.outcomes[i].log_proba[0]);
    let predicted = tested.predicted(log_proba, ran.splits.n_classes());
    let of_class = |m: usize| predicted.row(m)[tested.class[m]];
    let right = predicted.correct();
    let mut rows: Vec<usize> = (0..right.len()).filter(|&m| !right[m]).collect();
    rows.sort_by(|&a, &b| of_class(a).total_cmp(&of_class(b)).then(a.cmp(&b)));
    rows
}

/// The first `most` of them.
pub(super) fn worst(ran: &Ran, i: usize, wrong: &[usize], most: usize) -> Vec<Mistake> {
    let (splits, log_proba) = (&ran.splits, &ran.outcomes[i].log_proba[0]);
    let predicted = splits.tested.predicted(log_proba, splits.n_classes());
    let mistake = |&m: &usize| {
        let (class, answer) = (splits.tested.class[m], argmax(predicted.row(m)));
        Mistake {
            row: splits.rows[m] + 1,
            fold: splits.folds[0][m] + 1,
            class: splits.classes()[class].clone(),
            of_class: predicted.row(m)[class].exp(),
            answer: splits.classes()[answer].clone(),
            of_answer: predicted.row(m)[answer].exp(),
        }
    };
    wrong.iter().take(most).map(mistake).collect()
}
