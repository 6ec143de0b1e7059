//! The pool as its page shows it: which term weighs how much as features go missing, what each feature
//! tells about the class, what the fit chose, and which training rows the model keeps.

use super::{Caption, Curve, CurveFigure, ModelReport};
use crate::model::Model;
use hingenet_pool::{PoolClassifier, TermSummary, Transform};

/// Features whose information is shown.
const FEATURES: usize = 30;

/// Fills in the weights, the information of the features, and facts.
pub(super) fn describe(report: &mut ModelReport, model: &Model, fitted: &PoolClassifier) {
    report.curves = vec![weights(fitted), information(model, fitted)];
    let summary = fitted.summary();
    let facts = &summary.facts;
    let mut add = |name: &str, value: String| report.origin.facts.push((name.into(), value));
    match summary.prototypes {
        None => add(
            "training rows kept",
            format!(
                "{} in the kernel density, {} in the kernel machine",
                summary.kept_rows, summary.support_rows
            ),
        ),
        Some(of) => add(
            "training rows kept",
            format!("none; {} prototypes of at least {} rows each", of.count, of.least_rows),
        ),
    }
    if let Some(gaps) = &summary.gaps {
        let (columns, gain) = (gaps.columns.join(", "), gaps.gain);
        let worth = format!("log-loss {:.4} lower (standard error {:.4})", gain.mean, gain.error);
        add("gaps that tell the class", format!("{columns}; {worth}"));
    }
    let d = &facts.density;
    add(
        "kernel density",
        format!("{}, information exponent {}, τ {:.4}", scale(d.transform), d.exponent, d.tau),
    );
    let m = &facts.machine;
    let metric = if m.informed { "weighted by information" } else { "unweighted" };
    add("kernel machine", format!("features {metric}, width {:.4}, ridge {:.2e}", m.gamma, m.ridge));
    match &facts.gaussian {
        Some(g) => add(
            "shrunk Gaussians",
            format!("{}, pooled share {}, diagonal share {}", scale(g.transform), g.pooled, g.diagonal),
        ),
        None => add("shrunk Gaussians", "left out".into()),
    }
}

fn weights(fitted: &PoolClassifier) -> CurveFigure {
    let summary = fitted.summary();
    let curve = |term: &TermSummary| {
        let knots = summary.missing.iter().zip(&term.weights).map(|(share, w)| (100.0 * share, *w));
        // constant above the last knot
        let end = (100.0, term.weights[term.weights.len() - 1]);
        Curve {
            name: format!("{}: {}", term.name, term.model),
            points: knots.chain([end]).collect(),
            band: Vec::new(),
        }
    };
    CurveFigure {
        caption: Caption {
            title: "Weight of each term".into(),
            reading: "The log-probabilities of the terms are added with these weights. A term whose line rises counts \
                      more the more features of a row are missing; at 0 it says nothing."
                .into(),
            x: "missing features, % of a row".into(),
            y: "weight".into(),
        },
        curves: summary.terms.iter().map(curve).collect(),
        places: Vec::new(),
        shares: Vec::new(),
    }
}

fn information(model: &Model, fitted: &PoolClassifier) -> CurveFigure {
    let names = model.schema.features.iter().map(|f| f.name.clone());
    let mut ranked: Vec<(String, f64)> = names.zip(fitted.facts.information.iter().copied()).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total = ranked.len();
    ranked.truncate(FEATURES);
    let more = if total > FEATURES { format!(" The first {FEATURES} of {total}.") } else { String::new() };
    let reading =
        format!("Mutual information of a feature alone with the class; the kernels use it as a scale.{more}");
    CurveFigure {
        caption: Caption {
            title: "What each feature tells about the class".into(),
            reading,
            x: "feature".into(),
            y: "mutual information, nats".into(),
        },
        curves: vec![Curve {
            name: "mutual information".into(),
            points: ranked.iter().enumerate().map(|(k, (_, v))| (k as f64, *v)).collect(),
            band: Vec::new(),
        }],
        places: ranked.into_iter().map(|(name, _)| name).collect(),
        shares: Vec::new(),
    }
}

fn scale(transform: Transform) -> &'static str {
    match transform {
        Transform::Identity => "numbers as they are",
        Transform::Asinh => "numbers by asinh",
    }
}
