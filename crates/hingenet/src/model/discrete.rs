//! How the discrete family is named and fitted: `nb:ml`, `tan:ml`, `kdb2:ml`, `dag:ml,edges=FILE.csv`, `dag:ml,edges=a->b;a->c`.

use super::knowledge::read_arcs;
use super::registry::{Graph, Rule};
use super::spec::unescaped;
use super::{Dataset, ModelSpec};
use hingenet_base::control::Control;
use hingenet_base::error::{Error, Result};
use hingenet_data::rows::Rows;
use hingenet_data::select::Fit;
use hingenet_discrete::margin::bn_svm::Norm;
use hingenet_discrete::margin::conditional::{ConditionalParams, Form, Objective};
use hingenet_discrete::margin::{MarginParams, Solver};
use hingenet_discrete::structure::Root;
use hingenet_discrete::{
    AveragedClassifier, DiscreteClassifier, DiscreteParams, Grid, Learning, MemberRule, MemberTables,
    StructureKind, fit_averaged,
};
use std::path::Path;

/// Fits a discrete model by the rule its name ends with; some rows may have no class.
pub fn fit(
    graph: Graph,
    rule: Rule,
    spec: &ModelSpec,
    rows: &Rows<'_>,
    control: &Control,
) -> Result<Fit<DiscreteClassifier>> {
    let params = params(graph, spec, rows.dataset())?;
    hingenet_discrete::fit(rows, &params, learning(rule, spec)?.as_ref(), control)
}

/// Fits an average of one-dependence networks.
pub fn fit_average(
    margin: bool,
    spec: &ModelSpec,
    rows: &Rows<'_>,
    control: &Control,
) -> Result<Fit<AveragedClassifier>> {
    let rule = if margin {
        let (lambda, gamma) = (spec.parsed("lambda", "a number")?, spec.parsed("gamma", "a number")?);
        let tables =
            spec.choice("tables", &[("shared", MemberTables::Shared), ("own", MemberTables::Own)])?;
        MemberRule::MlBnSvm { tables, lambda, gamma }
    } else {
        MemberRule::MaximumLikelihood
    };
    fit_averaged(rows, spec.number("alpha", 1.0)?, rule, control)
}

fn params(graph: Graph, spec: &ModelSpec, data: &Dataset) -> Result<DiscreteParams> {
    let structure = match graph {
        Graph::Nb => StructureKind::NaiveBayes,
        Graph::Tan => StructureKind::Tan(root(spec)?),
        Graph::Kdb(k) => StructureKind::KTree(k),
        Graph::Dag => StructureKind::Dag { class: data.target.clone(), arcs: arcs(spec, data)? },
    };
    let tau = spec.parsed("tau", "a number")?;
    Ok(DiscreteParams { tau, ..DiscreteParams::new(structure).alpha(spec.number("alpha", 1.0)?) })
}

fn root(spec: &ModelSpec) -> Result<Root> {
    spec.choice("root", &[("first", Root::First), ("min_params", Root::MinParams)])
}

/// Scales λ and roundings κ of the capped margins that are tried (the paper's intervals are 0.01 to 0.5 and
/// 0.01 to 1), and slack weights of BN-SVM.
const MARGIN_LAMBDA: [f64; 5] = [0.01, 0.05, 0.1, 0.2, 0.5];
const MARGIN_KAPPA: [f64; 3] = [0.01, 0.5, 1.0];
const BN_SVM_LAMBDA: [f64; 6] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// The rule with its options; `None` is maximum likelihood.
fn learning(rule: Rule, spec: &ModelSpec) -> Result<Option<Learning>> {
    Ok(Some(match rule {
        Rule::Ml => return Ok(None),
        Rule::Mcl => Learning::Conditional {
            params: ConditionalParams { ridge: spec.number("ridge", 0.0)?, ..conditional(spec)? },
            points: Vec::new(),
            early_stopping: false,
        },
        Rule::Mm => capped_margin(spec)?,
        Rule::BnSvm => {
            let lambda = spec.parsed("lambda", "a number")?;
            Learning::BnSvm {
                norm: spec.choice("norm", &[("l2", Norm::Squared), ("l1", Norm::Absolute)])?,
                params: MarginParams { lambda: lambda.unwrap_or(1.0), ..MarginParams::default() },
                lambdas: if lambda.is_some() { Vec::new() } else { BN_SVM_LAMBDA.to_vec() },
            }
        }
        Rule::MlBnSvm => ml_bn_svm(spec)?,
    }))
}

fn conditional(spec: &ModelSpec) -> Result<ConditionalParams> {
    Ok(ConditionalParams {
        form: spec.choice("form", &[("exact", Form::Exact), ("tables", Form::Tables)])?,
        max_iterations: spec.parsed("iterations", "a whole number")?.unwrap_or(150),
        ..ConditionalParams::default()
    })
}

fn capped_margin(spec: &ModelSpec) -> Result<Learning> {
    let (lambda, kappa) = (spec.parsed("lambda", "a number")?, spec.parsed("kappa", "a number")?);
    let lambdas = lambda.map_or(MARGIN_LAMBDA.to_vec(), |l| vec![l]);
    let kappas = kappa.map_or(MARGIN_KAPPA.to_vec(), |k| vec![k]);
    let points: Vec<(f64, f64)> = lambdas.iter().flat_map(|&l| kappas.iter().map(move |&k| (l, k))).collect();
    let (lambda, kappa) = points[0];
    Ok(Learning::Conditional {
        params: ConditionalParams { objective: Objective::Margin { lambda, kappa }, ..conditional(spec)? },
        points: if points.len() > 1 { points } else { Vec::new() },
        early_stopping: spec.choice("early_stopping", &[("false", false), ("true", true)])?,
    })
}

fn ml_bn_svm(spec: &ModelSpec) -> Result<Learning> {
    let (lambda, gamma) = (spec.parsed("lambda", "a number")?, spec.parsed("gamma", "a number")?);
    let solvers = [
        ("auto", Solver::Auto),
        ("interior", Solver::Interior),
        ("newton", Solver::Newton),
        ("lbfgs", Solver::Lbfgs),
        ("projected", Solver::Projected),
        ("conic", Solver::Conic),
    ];
    let params = MarginParams {
        lambda: lambda.unwrap_or(1.0),
        gamma: gamma.unwrap_or(1.0),
        smooth: spec.choice("smooth", &[("true", true), ("false", false)])?,
        solver: spec.choice("solver", &solvers)?,
        ..MarginParams::default()
    };
    let default = Grid::default();
    let grid = Grid {
        lambda: lambda.map_or(default.lambda, |l| vec![l]),
        gamma: gamma.map_or(default.gamma, |g| vec![g]),
        // A value that the user fixed stays.
        extend: lambda.is_none() && gamma.is_none(),
        folds: default.folds,
    };
    Ok(Learning::MlBnSvm { params, grid: (lambda.is_none() || gamma.is_none()).then_some(grid) })
}

/// The arcs of a CSV file with the columns `from` and `to`, or those that stand in the option itself.
fn arcs(spec: &ModelSpec, data: &Dataset) -> Result<Vec<(String, String)>> {
    let given = spec.text("edges").ok_or_else(|| bad_edges(spec, "(absent)"))?;
    if given.contains(ARROW) {
        return written_arcs(spec, given);
    }
    let features = data.features.columns().iter().map(|c| c.name().to_string());
    let names: Vec<String> = features.chain([data.target.clone()]).collect();
    let arcs = read_arcs(Path::new(given), &names)?;
    Ok(arcs.into_iter().map(|(from, to)| (names[from].clone(), names[to].clone())).collect())
}

fn written_arcs(spec: &ModelSpec, given: &str) -> Result<Vec<(String, String)>> {
    let arc = |text: &str| written_arc(text).ok_or_else(|| bad_edges(spec, text));
    given.split(';').filter(|text| !text.trim().is_empty()).map(arc).collect()
}

/// What stands between the ends of an arc that is written out.
const ARROW: &str = "->";

fn bad_edges(spec: &ModelSpec, value: &str) -> Error {
    Error::Parameter {
        name: format!("option `edges` of model `{}`", spec.name),
        value: value.into(),
        expected: "a CSV file with the columns from,to, or arcs such as a->b;a->c".into(),
    }
}

/// Both ends of `from->to`; characters that mean something else are written as `%2C`.
fn written_arc(text: &str) -> Option<(String, String)> {
    let (from, to) = text.split_once(ARROW)?;
    Some((unescaped(from.trim())?, unescaped(to.trim())?))
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arcs_of(edges: &str) -> Result<Vec<(String, String)>> {
        written_arcs(&format!("dag:ml,edges={edges}").parse()?, edges)
    }

    #[test]
    fn arcs_may_stand_in_the_name_of_the_model() {
        let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
        assert_eq!(arcs_of("a->b; b -> c;").unwrap(), [pair("a", "b"), pair("b", "c")]);
        assert_eq!(arcs_of("a%2C %C3%BC%3B->x%2D>y").unwrap(), [pair("a, ü;", "x->y")]);
    }

    #[test]
    fn arcs_that_cannot_be_read_are_named() {
        for bad in ["a->b;c", "a->", "->b", "a%2->b", "a%zz->b", "a%FF->b"] {
            assert!(arcs_of(bad).unwrap_err().to_string().contains("a->b;a->c"), "{bad}");
        }
    }
}
