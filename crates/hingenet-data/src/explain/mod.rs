//! Why a row got its class: one type for every model, which the command line, Python, JSON and pages show. The reasons are
//! Shapley values (module `shapley`), or the terms of the class scores as a family takes them apart ([`ScoreTerms`]); where
//! those do not add up, [`leave_one_out`] says what each feature changes.

mod shapley;

pub use shapley::{Game, ShapleyParams};

use crate::classifier::Classifier;
use crate::table::Table;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::argmax;

/// Log probabilities of features left out are at least this: `exp` of it is still a number, so all differences are finite.
const FLOOR: f64 = -700.0;

/// Which reasons to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// Shapley values of the known features.
    Shapley(ShapleyParams),
    /// The terms of the class scores.
    Terms,
}

impl Default for Reasons {
    fn default() -> Self {
        Reasons::Shapley(ShapleyParams::default())
    }
}

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
    /// Total score of each class: for Shapley values its log-odds; for terms its softmax is the probability, so it is
    /// determined up to a constant common to all classes.
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
    /// `base + Σ terms = scores`, all log-odds `ln P(c) / (1 − P(c))`: from those without any cell to those of the row.
    Shapley,
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
    /// Standard error of each contribution, where it was estimated.
    pub standard_error: Option<Vec<f64>>,
}

impl Term {
    /// A term that is exact.
    pub fn exact(feature: usize, given: Vec<usize>, scores: Vec<f64>) -> Self {
        Term { feature, given, scores, standard_error: None }
    }

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
    pub(crate) fn new<C: Classifier + ?Sized>(
        model: &C,
        row: Table,
        reasons: &Reasons,
        control: &Control,
    ) -> Result<Self> {
        let log_proba = model.log_proba(&row)?;
        let ScoreTerms { kind, base, terms, scores } = match reasons {
            Reasons::Shapley(params) => {
                shapley::shapley(&row, &model.game(&row)?, &log_proba, params, control)?
            }
            Reasons::Terms => model.terms(&row)?,
        };
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

    /// What a term does for class `c`: its Shapley value; in an additive explanation its contribution against the mean of
    /// all classes; else the change of the log-odds `ln P(c) / (1 − P(c))` when its feature alone is treated
    /// as missing.
    pub fn effect(&self, term: &Term, c: usize) -> f64 {
        match self.kind {
            ExplanationKind::Shapley => term.scores[c],
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
            ExplanationKind::Shapley => scores[c],
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

/// What each player of a game of the only row of a table changes in the log posterior: the posterior with it less the
/// posterior without it. The base is the posterior of nobody known.
pub fn leave_one_out<C: Classifier + ?Sized>(model: &C, row: &Table, game: &Game<'_>) -> Result<ScoreTerms> {
    let k = model.n_classes();
    if game.players().is_empty() {
        let scores: Vec<f64> = model.log_proba(row)?.into_iter().map(|l| l.max(FLOOR)).collect();
        let kind = ExplanationKind::LeaveOneOut;
        return Ok(ScoreTerms { kind, base: scores.clone(), terms: Vec::new(), scores });
    }
    // everybody, nobody, then all but one
    let fill = |i: usize, known: &mut [bool]| {
        known.fill(i != 1);
        i.checked_sub(2).into_iter().for_each(|p| known[p] = false);
    };
    let mut log_proba = game.log_proba(game.players().len() + 2, fill, &Control::default())?;
    log_proba.iter_mut().for_each(|l| *l = l.max(FLOOR));
    let (scores, rest) = log_proba.split_at(k);
    let (base, without) = rest.split_at(k);
    let term = |(&feature, without): (&usize, &[f64])| {
        Term::exact(feature, Vec::new(), scores.iter().zip(without).map(|(s, w)| s - w).collect())
    };
    let terms = game.players().iter().zip(without.chunks_exact(k)).map(term).collect();
    let kind = ExplanationKind::LeaveOneOut;
    Ok(ScoreTerms { kind, base: base.to_vec(), terms, scores: scores.to_vec() })
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
