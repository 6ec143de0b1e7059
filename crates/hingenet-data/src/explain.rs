//! Why a row got its class: one type for every model, which the command line, Python, JSON and pages show. A family
//! gives the terms of its class scores ([`ScoreTerms`]); where they do not add up, [`leave_one_out`] says what each
//! feature changes.

use crate::classifier::Classifier;
use crate::table::Table;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::argmax;

/// Log probabilities in an explanation are at least this: `exp` of it is still a number, so all differences are finite.
const FLOOR: f64 = -700.0;
/// Cells predicted at once when features are left out.
const CELLS: usize = 1 << 20;

/// Why a row got its class.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The row, in the columns of training.
    pub row: Table,
    /// `log P(c | observed cells)`, as predicted.
    pub log_proba: Vec<f64>,
    /// How to read the terms.
    pub kind: ExplanationKind,
    /// Score of each class before any term.
    pub base: Vec<f64>,
    /// The terms, those that matter most for the class decided for first; ties to the lower feature.
    pub terms: Vec<Term>,
    /// Total score of each class: its softmax is the probability, so it is determined up to a constant common to all
    /// classes.
    pub scores: Vec<f64>,
    /// Missing features with the information (nats) each is expected to give about the class, largest first; `None`
    /// if the model cannot say.
    pub next: Option<Vec<(usize, f64)>>,
}

/// The class scores of one row as a family takes them apart.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTerms {
    kind: ExplanationKind,
    base: Vec<f64>,
    terms: Vec<Term>,
    scores: Vec<f64>,
}

/// How the terms of an [`Explanation`] relate to its scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationKind {
    /// `base + Σ terms = scores`, exactly (complete rows of additive models).
    Additive,
    /// A term is the change of the class log-odds when that feature alone is treated as missing.
    LeaveOneOut,
}

/// One local term of a class score.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Feature the term belongs to (the child node), by position.
    pub feature: usize,
    /// Other features the term depends on (its parents), by position.
    pub given: Vec<usize>,
    /// Contribution to each class score.
    pub scores: Vec<f64>,
}

impl Term {
    /// Contribution to class `c` against the mean of all classes: what ranks the terms.
    pub fn against_mean(&self, c: usize) -> f64 {
        against_mean(&self.scores, c)
    }
}

impl ScoreTerms {
    /// Terms that add up: the scores are `base + Σ terms`.
    pub fn additive(base: Vec<f64>, terms: Vec<Term>) -> Self {
        let score = |c: usize| base[c] + terms.iter().map(|t| t.scores[c]).sum::<f64>();
        let scores = (0..base.len()).map(score).collect();
        ScoreTerms { kind: ExplanationKind::Additive, base, terms, scores }
    }

    /// Whether some class is possible; if not, the terms do not say where the probabilities come from.
    pub fn is_possible(&self) -> bool {
        self.scores.iter().any(|s| s.is_finite())
    }
}

impl Explanation {
    /// Classifies the only row of a table and sorts the terms.
    pub(crate) fn new<C: Classifier + ?Sized>(model: &C, row: Table) -> Result<Self> {
        let log_proba = model.log_proba(&row)?;
        let ScoreTerms { kind, base, terms, scores } = model.terms(&row)?;
        let next = model.next_measurements(&row)?;
        let mut explanation = Explanation { row, log_proba, kind, base, terms, scores, next };
        let class = explanation.class();
        let mut terms = std::mem::take(&mut explanation.terms);
        let effect = |t: &Term| explanation.effect(t, class).abs();
        terms.sort_by(|a, b| effect(b).total_cmp(&effect(a)).then(a.feature.cmp(&b.feature)));
        explanation.terms = terms;
        Ok(explanation)
    }

    /// The class decided for.
    pub fn class(&self) -> usize {
        argmax(&self.log_proba)
    }

    /// What a term does for class `c`: in an additive explanation its contribution against the mean of all
    /// classes; else the change of the log-odds `ln P(c) / (1 − P(c))` when its feature alone is treated
    /// as missing.
    pub fn effect(&self, term: &Term, c: usize) -> f64 {
        match self.kind {
            ExplanationKind::Additive => term.against_mean(c),
            ExplanationKind::LeaveOneOut => {
                let without: Vec<f64> = self.scores.iter().zip(&term.scores).map(|(s, t)| s - t).collect();
                log_odds(&self.scores, c) - log_odds(&without, c)
            }
        }
    }

    /// The same scale for class scores as a whole ([`Self::base`] or [`Self::scores`]).
    pub fn level(&self, scores: &[f64], c: usize) -> f64 {
        match self.kind {
            ExplanationKind::Additive => against_mean(scores, c),
            ExplanationKind::LeaveOneOut => log_odds(scores, c),
        }
    }

    /// Whether everything told about the class decided for is a number, infinite only where some class is impossible.
    pub fn is_number(&self) -> bool {
        let class = self.class();
        let levels = [self.level(&self.base, class), self.level(&self.scores, class)];
        let effects = self.terms.iter().map(|t| self.effect(t, class));
        let gains = self.next.iter().flatten().map(|(_, nats)| *nats);
        let impossible = self.scores.contains(&f64::NEG_INFINITY);
        let fine = |x: f64| x.is_finite() || (impossible && !x.is_nan());
        self.log_proba.iter().all(|l| *l <= 1e-6) && levels.into_iter().chain(effects).chain(gains).all(fine)
    }

    /// `column = value` of a feature of the row.
    pub fn cell(&self, feature: usize) -> String {
        let column = self.row.column(feature);
        format!("{} = {}", column.name(), column.text(0).unwrap_or("(missing)".into()))
    }
}

/// What each observed feature among `features` changes in the log posterior of the only row of a table: the posterior
/// with it less the posterior without it. The base is the posterior of a row without any cell.
pub fn leave_one_out<C: Classifier + ?Sized>(
    model: &C,
    row: &Table,
    features: impl IntoIterator<Item = usize>,
) -> Result<ScoreTerms> {
    let observed: Vec<usize> = features.into_iter().filter(|&j| !row.column(j).is_missing(0)).collect();
    // What each copy of the row does not show: nothing, everything, then one feature at a time.
    let mut hidden: Vec<Vec<usize>> = vec![vec![], (0..row.n_columns()).collect()];
    hidden.extend(observed.iter().map(|&j| vec![j]));
    let mut log_proba = Vec::with_capacity(hidden.len() * model.n_classes());
    for block in hidden.chunks((CELLS / row.n_columns().max(1)).max(1)) {
        let mut copies = row.rows(&vec![0; block.len()]);
        for (m, features) in block.iter().enumerate() {
            features.iter().for_each(|&j| copies.blank(m, j));
        }
        log_proba.extend(model.log_proba(&copies)?.into_iter().map(|l| l.max(FLOOR)));
    }
    let mut rows = log_proba.chunks_exact(model.n_classes());
    let mut next = || rows.next().unwrap_or_default();
    let (scores, base) = (next().to_vec(), next().to_vec());
    let term = |feature: usize| Term {
        feature,
        given: Vec::new(),
        scores: scores.iter().zip(next()).map(|(with, without)| with - without).collect(),
    };
    let terms = observed.into_iter().map(term).collect();
    Ok(ScoreTerms { kind: ExplanationKind::LeaveOneOut, base, terms, scores })
}

/// `scores[c]` less the mean; an impossible class is infinitely far below the possible ones.
fn against_mean(scores: &[f64], c: usize) -> f64 {
    if scores[c] == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    scores[c] - scores.iter().sum::<f64>() / scores.len() as f64
}

/// `ln P(c) / (1 − P(c))` for `P ∝ exp(scores)`.
fn log_odds(scores: &[f64], c: usize) -> f64 {
    let others = || scores.iter().enumerate().filter(|(o, _)| *o != c).map(|(_, s)| *s);
    let most = others().fold(f64::NEG_INFINITY, f64::max);
    scores[c] - most - others().map(|s| (s - most).exp()).sum::<f64>().ln()
}
