//! Nested cross-validation of the threshold, the class weights and C: HSIC and densities are estimated anew in every fold,
//! then the candidates race over the folds, from sparse to dense for each machine, by balanced error or by the share of
//! wrong decisions. With many rows they race on some of them.

use super::TrainingSet;
use super::machines::{Machines, Trained};
use super::memory;
use crate::columns::Columns;
use crate::params::{Anchor, COSTS, ClassWeights, Criterion, FRACTIONS, PAPERS_COST, Params, Threshold};
use crate::structure::trees::trees;
use crate::structure::{Dependence, Kept};
use crate::terms::PerTerm;
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::log::argmax;
use hingenet_data::select::draw::Drawn;
use hingenet_data::select::folds::{at_most, split};
use hingenet_data::select::race::{CAREFUL, Judge, Race};

/// Relative duality gap of the machines inside the search: errors do not change below it.
const SEARCH_GAP: f64 = 1e-4;

/// How a machine is trained, once its pairs are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// C.
    pub cost: f64,
    /// Class weights.
    pub class_weights: ClassWeights,
}

/// Thresholds from sparse to dense, and machines to choose among, the softer margins first.
fn candidates(params: &Params) -> (Vec<Threshold>, Vec<Rule>) {
    let thresholds = match params.threshold {
        Threshold::CrossValidated => FRACTIONS.map(Threshold::Fraction).to_vec(),
        fixed => vec![fixed],
    };
    let weights = match &params.class_weights {
        ClassWeights::CrossValidated => vec![ClassWeights::None, ClassWeights::Balanced],
        fixed => vec![fixed.clone()],
    };
    let costs = params.cost.map_or(COSTS.to_vec(), |cost| vec![cost]);
    let rule = |&cost: &f64| weights.iter().map(move |w| Rule { cost, class_weights: w.clone() });
    (thresholds, costs.iter().flat_map(rule).collect())
}

/// Weight of each class, whose rows weigh so much.
pub fn class_weights(rule: &ClassWeights, totals: &[f64]) -> Vec<f64> {
    let (n, k) = (totals.iter().sum::<f64>(), totals.len() as f64);
    match rule {
        ClassWeights::Balanced => totals.iter().map(|m| n / (k * m)).collect(),
        ClassWeights::Given(weights) => weights.clone(),
        ClassWeights::None | ClassWeights::CrossValidated => vec![1.0; totals.len()],
    }
}

/// Number of folds: 5, or what the smallest class allows.
fn n_folds(columns: &Columns) -> usize {
    let counts: Vec<usize> = (0..columns.n_classes).map(|y| columns.rows_of(y).len()).collect();
    at_most(5, &counts)
}

/// A threshold with a machine, and the out-of-fold outputs of every row under them; empty if not all folds were run.
pub type Choice = ((Threshold, Rule), Vec<Vec<f64>>);

/// Chooses threshold and machine; ties go to the sparsest threshold, then to the smallest C, then to no weights.
pub fn choose(columns: &Columns, params: &Params, control: &Control) -> Result<Choice> {
    let (thresholds, rules) = candidates(params);
    let nothing_to_choose = thresholds.len() == 1 && rules.len() == 1;
    let folds = n_folds(columns);
    if nothing_to_choose || folds < 2 {
        if !nothing_to_choose {
            control.warn("a class has a single row: the threshold is not cross-validated, a tenth of the pairs is kept");
        }
        let threshold = if thresholds.len() == 1 { thresholds[0] } else { Threshold::Fraction(0.1) };
        let rule =
            Rule { cost: params.cost.unwrap_or(PAPERS_COST), class_weights: rules[0].class_weights.clone() };
        return Ok(((threshold, rule), Vec::new()));
    }
    let drawn = Drawn::of(&columns.class, &columns.weights, columns.n_classes, params.seed);
    let some = columns.subset(&drawn.rows);
    let fold = some.folds(folds, params.seed);
    let race = run((&some, &drawn), &fold, folds, &thresholds, &rules, params, control)?;
    // The leader never leaves, so there is a best point.
    let best = race.standing(Point::cmp)[0];
    let (t, r) = race.runners[best].point;
    let outputs = held_out(&fold, folds, &race, best);
    Ok(((thresholds[t], rules[r].clone()), drawn.among_all(outputs)))
}

/// Positions of a threshold and of a machine among the candidates; the order of ties.
type Point = (usize, usize);

/// A point for people.
fn show(&(t, r): &Point) -> String {
    format!("threshold {}, machine {}", t + 1, r + 1)
}

/// The race of all thresholds and machines on rows that stand for so many; it keeps the outputs of the held-out rows. The
/// densities and features of a fold are most of the memory of a fit, so the folds are prepared one after the other.
fn run(
    (columns, drawn): (&Columns, &Drawn),
    fold: &[usize],
    folds: usize,
    thresholds: &[Threshold],
    rules: &[Rule],
    params: &Params,
    control: &Control,
) -> Result<Race<Point, Vec<Vec<f64>>>> {
    let quiet = control.quiet();
    let part = |f: usize| Part::new((columns, drawn), split(fold, f), thresholds, params, &quiet);
    let walk = |part: &Part<'_>, path: &[Point], judge: &mut Judge<'_, Vec<Vec<f64>>>| {
        part.walk(path, rules, params, judge, &quiet)
    };
    let path = |r: usize| (0..thresholds.len()).map(|t| (t, r)).collect();
    let paths: Vec<Vec<Point>> = (0..rules.len()).map(path).collect();
    let mut race = Race::new(folds, CAREFUL, show);
    race.run_in_turn(part, &paths, &walk, control)?;
    Ok(race)
}

/// Out-of-fold outputs of a point; empty if it did not run on all folds.
fn held_out(fold: &[usize], folds: usize, race: &Race<Point, Vec<Vec<f64>>>, point: usize) -> Vec<Vec<f64>> {
    if race.kept(point).count() < folds {
        return Vec::new();
    }
    let mut out = vec![Vec::new(); fold.len()];
    for (part, outputs) in race.kept(point) {
        let (_, held) = split(fold, part);
        held.iter().zip(outputs).for_each(|(&r, o)| out[r].clone_from(o));
    }
    out
}

/// One fold: what does not depend on the point.
struct Part<'a> {
    /// Which rows of all these are some of.
    drawn: &'a Drawn,
    /// Rows to learn from.
    learn: Columns,
    set: TrainingSet,
    /// Pairs of the features: all that a threshold keeps.
    available: Kept,
    /// Pairs of each threshold.
    kept: Vec<Kept>,
    anchor: Option<Kept>,
    /// Classes of the held-out rows, what each adds to 1 - error if it is decided rightly, and their features.
    class: Vec<usize>,
    shares: Vec<f64>,
    judged: PerTerm,
}

impl<'a> Part<'a> {
    /// Selects the pairs and estimates the densities of the rows to learn from.
    fn new(
        (columns, drawn): (&Columns, &'a Drawn),
        (learn, held): (Vec<usize>, Vec<usize>),
        thresholds: &[Threshold],
        params: &Params,
        control: &Control,
    ) -> Result<Self> {
        let (learn, judge) = (columns.subset(&learn), columns.subset(&held));
        let (kept, anchor) = select(&learn, thresholds, params, control)?;
        let available = union(&kept);
        let mut set = TrainingSet::new(&learn, &available, params, control)?;
        let judged = set.densities.features(&judge.values, false, control)?;
        // The machines read features; the rows behind the densities would be half of what a fold holds.
        set.densities.classes.clear();
        let totals = drawn.scaled(&judge.class_totals());
        let of_row = |(w, y): (&f64, &usize)| w * drawn.stands_for[*y];
        let weights: Vec<f64> = judge.weights.iter().zip(&judge.class).map(of_row).collect();
        let shares = shares(&judge.class, &weights, &totals, params.criterion);
        Ok(Part { drawn, learn, set, available, kept, anchor, class: judge.class, shares, judged })
    }

    /// Trains the machines of the points one after the other, each started from the last; gives the judge the marks and
    /// outputs of the held-out rows. Where the pairs stay the same, so do the outputs.
    fn walk(
        &self,
        path: &[Point],
        rules: &[Rule],
        params: &Params,
        judge: &mut Judge<'_, Vec<Vec<f64>>>,
        control: &Control,
    ) -> Result<()> {
        let mut last: Option<(&Kept, Trained, Vec<Vec<f64>>)> = None;
        for &(t, r) in path {
            control.check()?;
            let kept = &self.kept[t];
            let (trained, outputs) = match last {
                Some((same, trained, outputs)) if same == kept => (trained, outputs),
                _ => {
                    let warm = last.map_or_else(Vec::new, |(_, trained, _)| trained.multipliers);
                    let trained = self.train(kept, &rules[r], params, &warm, control)?;
                    let outputs = trained.scores.evaluate(&self.judged);
                    (trained, outputs)
                }
            };
            if !judge(self.marks(&outputs), outputs.clone()) {
                break;
            }
            last = Some((kept, trained, outputs));
        }
        Ok(())
    }

    fn train(
        &self,
        kept: &Kept,
        rule: &Rule,
        params: &Params,
        warm: &[Vec<f64>],
        control: &Control,
    ) -> Result<Trained> {
        let totals = self.drawn.scaled(&self.learn.class_totals());
        let machines = Machines {
            set: &self.set,
            columns: &self.learn,
            rows: &self.set.rows,
            available: &self.available,
            kept,
            anchor: self.anchor.as_ref(),
            class_weights: &self.drawn.scaled(&class_weights(&rule.class_weights, &totals)),
            cost: rule.cost,
            params,
            gap: SEARCH_GAP.max(params.gap),
            control,
        };
        machines.train(warm)
    }

    /// The share of each held-out row that is decided rightly, else 0.
    fn marks(&self, outputs: &[Vec<f64>]) -> Vec<f64> {
        let rows = outputs.iter().zip(&self.class).zip(&self.shares);
        rows.map(|((out, class), share)| if decide(out) == *class { *share } else { 0.0 }).collect()
    }
}

/// What each row adds to 1 - error if it is decided rightly: its share of all weight or, of the balanced error, its share of
/// the weight of its class, divided by the number of classes that have weight.
fn shares(class: &[usize], weights: &[f64], totals: &[f64], criterion: Criterion) -> Vec<f64> {
    let present = totals.iter().filter(|total| **total > 0.0).count() as f64;
    let all: f64 = totals.iter().sum();
    let of = |y: usize| match criterion {
        Criterion::BalancedError => totals[y] * present,
        Criterion::Error => all,
    };
    let share = |(y, w): (&usize, &f64)| if totals[*y] > 0.0 { w / of(*y) } else { 0.0 };
    class.iter().zip(weights).map(share).collect()
}

/// The pairs every threshold keeps, and the forests of the anchor, whose edges are among them; naive Bayes has no edges.
/// Thresholds that keep none need no HSIC.
pub fn select(
    columns: &Columns,
    thresholds: &[Threshold],
    params: &Params,
    control: &Control,
) -> Result<(Vec<Kept>, Option<Kept>)> {
    let none = Kept::none(columns.n_classes);
    let mut kept = if thresholds.iter().all(|t| *t == Threshold::Fraction(0.0)) {
        vec![none.clone(); thresholds.len()]
    } else {
        memory::reserve_pairs(columns, thresholds.len(), control)?;
        let dependence = Dependence::compute(columns, params, control)?;
        thresholds.iter().map(|t| dependence.select(*t)).collect()
    };
    let anchor = match params.anchor {
        Anchor::None => None,
        Anchor::NaiveBayes => Some(none),
        Anchor::Tan => Some(trees(columns, params, control)?),
    };
    if let Some(forests) = &anchor {
        kept.iter_mut().for_each(|k| *k = union(&[k.clone(), forests.clone()]));
    }
    Ok((kept, anchor))
}

fn union(kept: &[Kept]) -> Kept {
    let n_classes = kept.first().map_or(0, |k| k.of_class.len());
    let of_class = (0..n_classes)
        .map(|y| {
            let mut all: Vec<(usize, usize)> =
                kept.iter().flat_map(|k| k.of_class[y].iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all
        })
        .collect();
    Kept { of_class }
}

/// The class an output row decides for: positive means the second of two classes, else the largest score.
fn decide(outputs: &[f64]) -> usize {
    match outputs {
        [d] => usize::from(*d > 0.0),
        many => argmax(many),
    }
}

/// Out-of-fold outputs from features that are already there (their own kernels left out): only the SVM is
/// trained anew in each fold. Empty where a class is too small to be held out.
pub fn out_of_fold(machines: &Machines<'_>) -> Result<Vec<Vec<f64>>> {
    let Machines { columns, params, .. } = machines;
    let folds = n_folds(columns);
    if folds < 2 {
        return Ok(Vec::new());
    }
    let fold = columns.folds(folds, params.seed);
    let mut out = vec![Vec::new(); columns.n_rows()];
    for f in 0..folds {
        let (held, learn): (Vec<usize>, Vec<usize>) = machines.rows.iter().partition(|&&r| fold[r] == f);
        let seen = |y: usize| learn.iter().any(|&r| columns.class[r] == y);
        if !(0..columns.n_classes).all(seen) {
            return Ok(Vec::new());
        }
        let (gap, control) = (SEARCH_GAP.max(params.gap), &machines.control.quiet());
        let trained = Machines { rows: &learn, gap, control, ..*machines }.train(&[])?;
        let outputs = trained.scores.evaluate(&machines.set.features);
        held.into_iter().for_each(|r| out[r].clone_from(&outputs[r]));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four rows of one class, one of another and none of a third: a mistake in the rare class costs the balanced error a half,
    /// the plain error its share of the weight.
    #[test]
    fn marks_add_up_to_one_less_the_error() {
        let (class, weights, totals) = ([0, 0, 0, 0, 1], [1.0, 1.0, 2.0, 1.0, 1.0], [5.0, 1.0, 0.0]);
        let of = |criterion| shares(&class, &weights, &totals, criterion);
        for (criterion, wanted) in [
            (Criterion::BalancedError, [0.1, 0.1, 0.2, 0.1, 0.5]),
            (Criterion::Error, [1.0 / 6.0, 1.0 / 6.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]),
        ] {
            let found = of(criterion);
            assert!(found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-15), "{criterion:?}: {found:?}");
        }
    }
}
