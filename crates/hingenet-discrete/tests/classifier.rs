//! The discrete classifier through its public face: tables in, probabilities, terms and draws out.

use hingenet_base::control::Control;
use hingenet_base::numeric::log::log_sum_exp;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::explain::{ExplanationKind, Reasons};
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_discrete::fit::prepare;
use hingenet_discrete::structure::Root;
use hingenet_discrete::{DiscreteClassifier, DiscreteParams, StructureKind};

const KINDS: [StructureKind; 4] = [
    StructureKind::NaiveBayes,
    StructureKind::Tan(Root::First),
    StructureKind::Tan(Root::MinParams),
    StructureKind::KTree(2),
];

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

/// Two categorical columns and a number that depend on the class and on each other.
fn data(n: usize, gaps: bool) -> (Table, Codes) {
    let random = &mut Random::new(4);
    let class: Vec<usize> = (0..n).map(|_| random.below(2)).collect();
    let a: Vec<usize> = class.iter().map(|&c| if random.below(3) == 0 { 2 } else { c }).collect();
    let b: Vec<usize> = a.iter().map(|&a| if random.below(4) == 0 { 1 } else { a % 2 }).collect();
    let x: Vec<f64> = class.iter().map(|&c| c as f64 * 2.0 + random.normal()).collect();
    let mut gap = |p: usize| gaps && random.below(p) == 0;
    let a =
        Codes::from_options(3, a.into_iter().map(|v| (!gap(4)).then_some(v)).collect::<Vec<_>>().into_iter());
    let b =
        Codes::from_options(2, b.into_iter().map(|v| (!gap(3)).then_some(v)).collect::<Vec<_>>().into_iter());
    let x = x.into_iter().map(|v| if gap(5) { f64::NAN } else { v }).collect();
    let table = Table::new(vec![
        Column::categorical("a", names(&["p", "q", "r"]), a),
        Column::categorical("b", names(&["no", "yes"]), b),
        Column::numeric("x", x),
    ]);
    (table.unwrap(), Codes::from_options(2, class.into_iter().map(Some)))
}

fn fit_ml(rows: &Rows<'_>, params: &DiscreteParams) -> hingenet_base::error::Result<DiscreteClassifier> {
    Ok(hingenet_discrete::fit(rows, params, None, &Control::default())?.model)
}

fn fit(
    table: &Table,
    class: &Codes,
    kind: StructureKind,
) -> hingenet_base::error::Result<DiscreteClassifier> {
    let classes = names(&["neg", "pos"]);
    fit_ml(&Rows::new(table, class, &classes, None)?, &DiscreteParams::new(kind))
}

#[test]
fn probabilities_sum_to_one_and_beat_chance_with_and_without_gaps() {
    for gaps in [false, true] {
        let (table, class) = data(400, gaps);
        for kind in KINDS {
            let model = fit(&table, &class, kind.clone()).unwrap();
            let proba = model.log_proba(&table).unwrap();
            let right = proba.chunks(2).zip(class.iter()).filter(|(p, c)| (p[1] > p[0]) == (*c == Some(1)));
            assert!(right.count() > 300, "{kind:?}");
            assert!(proba.chunks(2).all(|p| log_sum_exp(p).abs() < 1e-12));
        }
    }
}

#[test]
fn the_terms_of_a_complete_row_add_up_to_the_decision() {
    let (table, class) = data(300, false);
    for kind in KINDS {
        let model = fit(&table, &class, kind).unwrap();
        let proba = model.log_proba(&table).unwrap();
        for row in [0, 7, 123] {
            let e = model.explain(&table, row, &Reasons::Terms, &Control::default()).unwrap();
            assert_eq!(e.kind, ExplanationKind::Additive);
            for c in 0..2 {
                let sum = e.base[c] + e.terms.iter().map(|t| t.scores[c]).sum::<f64>();
                assert!((sum - e.scores[c]).abs() < 1e-12);
            }
            let odds = proba[2 * row + 1] - proba[2 * row];
            assert!((e.scores[1] - e.scores[0] - odds).abs() < 1e-10);
            let sizes: Vec<f64> = e.terms.iter().map(|t| t.against_mean(0).abs()).collect();
            assert!(sizes.windows(2).all(|w| w[0] >= w[1]), "{sizes:?}");
        }
    }
}

#[test]
fn with_a_missing_cell_a_term_is_what_hiding_the_feature_changes() {
    let (table, class) = data(300, false);
    let model = fit(&table, &class, StructureKind::Tan(Root::First)).unwrap();
    let mut columns = table.rows(&[5]).columns().to_vec();
    columns[2] = Column::numeric("x", vec![f64::NAN]);
    let row = Table::new(columns.clone()).unwrap();
    let e = model.explain(&row, 0, &Reasons::Terms, &Control::default()).unwrap();
    assert_eq!(e.kind, ExplanationKind::LeaveOneOut);
    assert_eq!(e.terms.len(), 2);
    columns[0] = Column::categorical("a", names(&["p", "q", "r"]), Codes::U8(vec![Codes::MISSING_U8]));
    let without = model.log_proba(&Table::new(columns).unwrap()).unwrap();
    let with = model.log_proba(&row).unwrap();
    let term = e.terms.iter().find(|t| t.feature == 0).unwrap();
    for c in 0..2 {
        assert!((term.scores[c] - (with[c] - without[c])).abs() < 1e-12);
    }
}

#[test]
fn likelihoods_of_class_and_evidence_agree() {
    let (table, class) = data(50, true);
    let model = fit(&table, &class, StructureKind::Tan(Root::First)).unwrap();
    let joint = model.log_joint(&table).unwrap();
    let evidence: Vec<f64> = joint.chunks_exact(model.n_classes()).map(log_sum_exp).collect();
    let unknown = Codes::U8(vec![Codes::MISSING_U8; 50]);
    assert_eq!(evidence, model.log_likelihood(&table, &unknown).unwrap());
    let joint = model.log_likelihood(&table, &class).unwrap();
    let proba = model.log_proba(&table).unwrap();
    for m in 0..50 {
        let posterior = proba[2 * m + class.get(m).unwrap()];
        assert!((joint[m] - evidence[m] - posterior).abs() < 1e-10);
    }
}

#[test]
fn user_graphs_are_fitted_and_bad_ones_named() {
    let (table, class) = data(200, true);
    let dag = |arcs: &[(&str, &str)]| StructureKind::Dag {
        class: "y".into(),
        arcs: arcs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(),
    };
    // Diagnostic: the class has parents and no table row stands alone.
    let model = fit(&table, &class, dag(&[("a", "y"), ("x", "y"), ("a", "b")])).unwrap();
    assert!(model.log_proba(&table).unwrap().iter().all(|p| p.is_finite()));
    assert_eq!(
        model.explain(&table, 0, &Reasons::Terms, &Control::default()).unwrap().kind,
        ExplanationKind::LeaveOneOut
    );
    let error = |arcs: &[(&str, &str)]| fit(&table, &class, dag(arcs)).unwrap_err().to_string();
    assert!(error(&[("a", "z")]).contains("`z`"));
    assert!(error(&[("a", "b"), ("b", "x"), ("x", "a")]).contains("cycle"));
}

#[test]
fn bad_training_rows_are_refused() {
    let (table, class) = data(10, false);
    let classes = names(&["neg", "pos"]);
    let run = |class: &Codes, weights: Option<&[f64]>, params: DiscreteParams| {
        let rows = Rows::new(&table, class, &classes, weights);
        rows.and_then(|rows| prepare(&rows, &params, &Control::default())).unwrap_err().to_string()
    };
    let nb = || DiscreteParams::new(StructureKind::NaiveBayes);
    assert!(run(&Codes::U8(vec![1; 10]), None, nb()).contains("one class only (`pos`)"));
    let mut codes = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    codes[3] = Codes::MISSING_U8;
    assert!(run(&Codes::U8(codes), None, nb()).contains("row 4"));
    assert!(run(&Codes::U8(vec![0, 1]), None, nb()).contains("class labels"));
    assert!(run(&class, Some(&[1.0; 3]), nb()).contains("weights"));
    assert!(run(&class, Some(&[-1.0; 10]), nb()).contains("-1"));
    assert!(run(&class, Some(&[0.0; 10]), nb()).contains("zero"));
    assert!(run(&class, Some(&[f64::NAN; 10]), nb()).contains("NaN"));
    assert!(run(&class, None, nb().alpha(-1.0)).contains("alpha"));
    assert!(run(&class, None, nb().alpha(f64::NAN)).contains("alpha"));
    assert!(run(&class, None, DiscreteParams::new(StructureKind::KTree(9))).contains("k = 9"));
    let empty = Table::without_columns(0);
    let error = Rows::new(&empty, &Codes::U8(vec![]), &classes, None).unwrap_err();
    assert!(error.to_string().contains("no rows"));
}

#[test]
fn degenerate_columns_are_kept_and_harmless() {
    let class = Codes::U8(vec![0, 1, 0, 1, 1]);
    let classes = names(&["neg", "pos", "never"]);
    let table = Table::new(vec![
        Column::numeric("constant", vec![3.0; 5]),
        Column::numeric("empty", vec![f64::NAN; 5]),
        Column::categorical("none", vec![], Codes::U8(vec![Codes::MISSING_U8; 5])),
        Column::categorical("gaps", names(&["u", "v", "w"]), Codes::U8(vec![255, 255, 255, 255, 1])),
    ])
    .unwrap();
    let training = Rows::new(&table, &class, &classes, None).unwrap();
    for kind in KINDS {
        let model = fit_ml(&training, &DiscreteParams::new(kind)).unwrap();
        let proba = model.log_proba(&table).unwrap();
        assert!(proba.iter().all(|p| p.is_finite()) && proba.len() == 15);
    }
}

#[test]
fn impossible_rows_get_the_prior() {
    let (table, class) = data(40, false);
    let classes = names(&["neg", "pos"]);
    let training = Rows::new(&table, &class, &classes, None).unwrap();
    let params = DiscreteParams::new(StructureKind::Tan(Root::First)).alpha(0.0);
    let model = fit_ml(&training, &params).unwrap();
    let proba = model.log_proba(&table).unwrap();
    assert!(proba.iter().all(|p| !p.is_nan()));
}
