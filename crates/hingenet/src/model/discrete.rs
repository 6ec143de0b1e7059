//! How the discrete family is named and fitted: `nb:ml`, `tan:ml`, `kdb2:ml`, `dag:ml,edges=FILE.csv`, `dag:ml,edges=a->b;a->c`.

use super::knowledge::read_arcs;
use super::options::{
    CHOSEN, Opt, OptionDefault, OptionInfo, OptionKind, OptionValue, bad_value, option, options,
};
use super::registry::{Graph, Rule};
use super::spec::unescaped;
use super::{Dataset, Model, ModelSpec};
use hingenet_base::error::Result;
use hingenet_discrete::margin::bn_svm::Norm;
use hingenet_discrete::margin::conditional::{ConditionalParams, Form, Objective};
use hingenet_discrete::margin::{MarginParams, Solver};
use hingenet_discrete::structure::Root;
use hingenet_discrete::{DiscreteParams, Grid, Learning, MemberRule, MemberTables, StructureKind};
use std::ops::Bound;
use std::path::{Path, PathBuf};

options! { table_setters:
    ALPHA alpha: number(0.0 ..= 1e12) = 1.0,
        "virtual rows spread evenly over each probability table; 0 makes what was never seen impossible";
}

options! { margin_setters:
    LAMBDA lambda: number(0.0 ..= 1e12) or CHOSEN,
        "weight of the margin shortfalls against the likelihood (0 is maximum likelihood); for bn-svm against the norm \
         of the weights";
    GAMMA gamma: number(1e-12 ..= 1e12) or CHOSEN, "log margin that every row should have";
}

options! { rule_setters:
    FORM form: words(Form; "exact" => Form::Exact, "tables" => Form::Tables) = "exact",
        "free weights that are normalised at the end, or normalised tables throughout";
    RIDGE ridge: number(0.0 ..= 1e12) = 0.0, "weight of the squared distance from the maximum-likelihood parameters";
    ITERATIONS iterations: whole(>= 0) = 150,
        "iterations of the solver; separable data have no finite optimum, so this is part of the method";
    SCALE scale: number(1e-12 ..= 1e12) or CHOSEN, "scale of the log margins: the target margin is 1/scale";
    KAPPA kappa: number(0.0 < .. <= 1.0) or CHOSEN, "rounding of the cap on the margins";
    EARLY_STOPPING early_stopping: flag() = false, "choose the number of iterations by inner cross-validation";
    NORM norm: words(Norm; "l2" => Norm::Squared, "l1" => Norm::Absolute) = "l2", "norm of the weights";
    SMOOTH smooth: flag() = true,
        "smooth margin loss (the paper's problem 11) or the plain hinge (problem 10)";
    SOLVER solver: words(Solver; "auto" => Solver::Auto, "newton" => Solver::Newton,
        "interior" => Solver::Interior, "lbfgs" => Solver::Lbfgs) = "auto",
        "method; auto takes the one that measures best for the size of the problem";
    GAP gap: number(0.0 < .. < 1.0) or "1e-6, 0.01 where a problem is too large for dense steps",
        "relative duality gap to prove: how far the objective may be from its optimum";
    TAU tau: number(0.0 ..= 1.0) or "chosen by inner folds",
        "weight of rows without a class in a semi-supervised fit; 0 leaves them out";
}

options! { tan_setters:
    ROOT root: words(Root; "first" => Root::First, "min_params" => Root::MinParams) = "first",
        "root of the tree: the first feature, or the one that gives the fewest parameters";
}

options! { dag_setters:
    EDGES edges: text("a CSV file with the columns from,to, or a->b;a->c", check_edges) or "none: it must be given",
        "the arcs of the graph, by column name; the target is a node too";
}

options! { averaged_setters:
    TABLES tables: words(MemberTables; "shared" => MemberTables::Shared, "own" => MemberTables::Own) = "shared",
        "pairwise tables for all networks, by the margin of their average; or each network by its own margin, with a \
         certificate (also where training cells are missing)";
}

/// The pseudo-count of ML-BN-SVM, which is chosen together with λ and γ.
pub(super) const CHOSEN_ALPHA: OptionInfo = OptionInfo {
    default: OptionDefault::Open("1, or more where λ or γ is chosen and inner folds clearly ask for it"),
    ..ALPHA.info
};

/// The pseudo-count of rules that need every probability above 0.
pub(super) const POSITIVE_ALPHA: OptionInfo = OptionInfo {
    kind: OptionKind::Number(Bound::Included(1e-12), Bound::Included(1e12)),
    about: "virtual rows spread evenly over each probability table",
    ..ALPHA.info
};

/// How the members of an average of one-dependence networks are trained.
pub(super) fn member_rule(margin: bool, spec: &ModelSpec) -> MemberRule {
    if margin {
        MemberRule::MlBnSvm { tables: TABLES.of(spec), lambda: LAMBDA.of(spec), gamma: GAMMA.of(spec) }
    } else {
        MemberRule::MaximumLikelihood
    }
}

/// Graph and pseudo-counts of a discrete network.
pub(super) fn params(graph: Graph, spec: &ModelSpec, data: &Dataset) -> Result<DiscreteParams> {
    let structure = match graph {
        Graph::Nb => StructureKind::NaiveBayes,
        Graph::Tan => StructureKind::Tan(ROOT.of(spec)),
        Graph::Kdb(k) => StructureKind::KTree(k),
        Graph::Dag => StructureKind::Dag { class: data.target.clone(), arcs: arcs(spec, data)? },
    };
    Ok(DiscreteParams { tau: TAU.of(spec), ..DiscreteParams::new(structure).alpha(ALPHA.of(spec)) })
}

/// Scales λ and roundings κ of the capped margins that are tried (the paper's intervals are 0.01 to 0.5 and
/// 0.01 to 1), and slack weights of BN-SVM.
const MARGIN_LAMBDA: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.5];
const MARGIN_KAPPA: [f64; 3] = [0.01, 0.5, 1.0];
const BN_SVM_LAMBDA: [f64; 6] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// The rule with its options; `None` is maximum likelihood.
pub(super) fn learning(rule: Rule, spec: &ModelSpec) -> Option<Learning> {
    match rule {
        Rule::Ml => None,
        Rule::Mcl => Some(Learning::Conditional {
            params: ConditionalParams { ridge: RIDGE.of(spec), ..conditional(spec) },
            points: Vec::new(),
            early_stopping: EARLY_STOPPING.of(spec),
        }),
        Rule::Mm => Some(capped_margin(spec)),
        Rule::BnSvm => {
            let lambda = LAMBDA.of(spec);
            Some(Learning::BnSvm {
                norm: NORM.of(spec),
                params: MarginParams { lambda: lambda.unwrap_or(1.0), ..MarginParams::default() },
                lambdas: if lambda.is_some() { Vec::new() } else { BN_SVM_LAMBDA.to_vec() },
            })
        }
        Rule::MlBnSvm => Some(ml_bn_svm(spec)),
    }
}

fn conditional(spec: &ModelSpec) -> ConditionalParams {
    ConditionalParams {
        form: FORM.of(spec),
        max_iterations: ITERATIONS.of(spec),
        ..ConditionalParams::default()
    }
}

fn capped_margin(spec: &ModelSpec) -> Learning {
    let scales = SCALE.of(spec).map_or(MARGIN_LAMBDA.to_vec(), |l| vec![l]);
    let kappas = KAPPA.of(spec).map_or(MARGIN_KAPPA.to_vec(), |k| vec![k]);
    let points: Vec<(f64, f64)> = scales.iter().flat_map(|&l| kappas.iter().map(move |&k| (l, k))).collect();
    let (lambda, kappa) = points[0];
    Learning::Conditional {
        params: ConditionalParams { objective: Objective::Margin { lambda, kappa }, ..conditional(spec) },
        points: if points.len() > 1 { points } else { Vec::new() },
        early_stopping: EARLY_STOPPING.of(spec),
    }
}

/// The gap that was asked for, else those of the defaults.
fn with_gap(gap: Option<f64>) -> MarginParams {
    let default = MarginParams::default();
    match gap {
        Some(gap) => MarginParams { tolerance: gap, large_tolerance: gap, ..default },
        None => default,
    }
}

fn ml_bn_svm(spec: &ModelSpec) -> Learning {
    let (lambda, gamma) = (LAMBDA.of(spec), GAMMA.of(spec));
    let params = MarginParams {
        lambda: lambda.unwrap_or(1.0),
        gamma: gamma.unwrap_or(1.0),
        smooth: SMOOTH.of(spec),
        solver: SOLVER.of(spec),
        ..with_gap(GAP.of(spec))
    };
    let default = Grid::default();
    let grid = Grid {
        lambda: lambda.map_or(default.lambda, |l| vec![l]),
        gamma: gamma.map_or(default.gamma, |g| vec![g]),
        // A value that the user fixed stays.
        extend: lambda.is_none() && gamma.is_none(),
        folds: default.folds,
        alpha: !ALPHA.is_given(spec),
    };
    Learning::MlBnSvm { params, grid: (lambda.is_none() || gamma.is_none()).then_some(grid) }
}

/// The arcs of a CSV file with the columns `from` and `to`, or those that stand in the option itself.
fn arcs(spec: &ModelSpec, data: &Dataset) -> Result<Vec<(String, String)>> {
    let given = EDGES.of(spec).ok_or_else(|| bad_value(EDGES.info.key, spec.name(), "(absent)", ARCS))?;
    if let Some(arcs) = written_arcs(&given) {
        return arcs.map_err(|text| bad_value(EDGES.info.key, spec.name(), &text, ARCS));
    }
    let features = data.features.columns().iter().map(|c| c.name().to_string());
    let names: Vec<String> = features.chain([data.target.clone()]).collect();
    let arcs = read_arcs(Path::new(&given), &names)?;
    Ok(arcs.into_iter().map(|(from, to)| (names[from].clone(), names[to].clone())).collect())
}

/// The file that holds the arcs, unless they stand in the option itself.
pub(super) fn arcs_file(spec: &ModelSpec) -> Option<PathBuf> {
    EDGES.of(spec).filter(|text| written_arcs(text).is_none()).map(PathBuf::from)
}

/// What stands between the ends of an arc that is written out.
const ARROW: &str = "->";
/// What `edges` expects.
const ARCS: &str = "a CSV file with the columns from,to, or arcs such as a->b;a->c";

fn check_edges(text: &str) -> Result<(), String> {
    written_arcs(text).map_or(Ok(()), |arcs| arcs.map(|_| ()).map_err(|_| ARCS.into()))
}

/// Arcs that stand in the option itself, or the piece that is none; `None` for the name of a file.
fn written_arcs(text: &str) -> Option<Result<Vec<(String, String)>, String>> {
    let arc = |text: &str| written_arc(text).ok_or(text.to_string());
    let pieces = || text.split(';').filter(|text| !text.trim().is_empty());
    text.contains(ARROW).then(|| pieces().map(arc).collect())
}

/// Both ends of `from->to`; characters that mean something else are written as `%2C`.
fn written_arc(text: &str) -> Option<(String, String)> {
    let (from, to) = text.split_once(ARROW)?;
    Some((unescaped(from.trim())?, unescaped(to.trim())?))
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
}

impl Model {
    /// The log margin that training asked of every row, on the scale of the probabilities; `None` where it asked for none.
    pub(crate) fn asked_margin(&self) -> Option<f64> {
        let asked = GAMMA.of(&self.spec).or_else(|| self.facts.chosen.get("gamma").copied())?;
        Some(asked / self.temperature().unwrap_or(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_may_stand_in_the_name_of_the_model() {
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        let arcs = |text: &str| written_arcs(text).unwrap().unwrap();
        assert_eq!(arcs("a->b; b -> c;"), [pair("a", "b"), pair("b", "c")]);
        assert_eq!(arcs("a%2C %C3%BC%3B->x%2D>y"), [pair("a, ü;", "x->y")]);
    }

    #[test]
    fn arcs_that_cannot_be_read_are_named() {
        for bad in ["a->b;c", "a->", "->b", "a%2->b", "a%zz->b", "a%FF->b"] {
            let error = format!("dag:ml,edges={bad}").parse::<ModelSpec>().unwrap_err().to_string();
            assert!(error.contains("a->b;a->c"), "{error}");
        }
    }
}
