//! Log densities as features of other estimators, and what the density family makes of repeated rows, several
//! classes and class weights.

use hingenet::model::{Dataset, FitOptions, Model, fit, fit_log_densities};
use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::table::{Codes, Column, Table, UnseenPolicy};
use hingenet_density::estimate::kernel::{LineKde, PlaneKde};
use hingenet_density::estimate::sample::{PairSample, Sample};
use hingenet_density::transform::OwnDensities;

/// `n` rows of each class: three numeric columns around the class's own centre.
fn blobs(n: usize, classes: usize) -> Dataset {
    let mut random = Random::new(11);
    let mut columns = vec![Vec::new(); 3];
    for m in 0..n * classes {
        let centre = [0.0, 4.0, -4.0][m % classes];
        columns.iter_mut().enumerate().for_each(|(j, c)| c.push(centre * (j as f64 - 0.5) + random.normal()));
    }
    let named = |(j, v): (usize, Vec<f64>)| Column::numeric(format!("x{j}"), v);
    let names: Vec<String> = ["a", "b", "c"][..classes].iter().map(|c| c.to_string()).collect();
    let class = Codes::from_options(classes, (0..n * classes).map(|m| Some(m % classes)));
    let table = Table::new(columns.into_iter().enumerate().map(named).collect()).unwrap();
    Dataset::from_parts("y", table, names, class, None).unwrap()
}

fn model(name: &str, data: &Dataset) -> Model {
    fit(&name.parse().unwrap(), data, FitOptions::default(), &Control::default()).unwrap()
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let found = model.predict(&data.features, UnseenPolicy::Missing).unwrap();
    let right = (0..data.n_rows()).filter(|&m| Some(found.class(m)) == data.class.get(m)).count();
    right as f64 / data.n_rows() as f64
}

#[test]
fn leaving_out_one_of_equal_rows_leaves_the_others() {
    let (x, y) = (vec![0.3, 0.3, 0.3, 1.0, -2.0], vec![1.0, 1.0, 1.0, 0.0, 0.5]);
    let (mx, my, w) = (vec![0.3, 1.0, -2.0], vec![1.0, 0.0, 0.5], vec![3.0, 1.0, 1.0]);
    let repeated = LineKde::new(&Sample::new(x.clone()), 0.7).unwrap();
    let merged = LineKde::new(&Sample::weighted(mx.clone(), w.clone()), 0.7).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
    close(repeated.log_densities([&[0.3]], |_| Some(1))[0], merged.log_densities([&[0.3]], |_| Some(0))[0]);
    let h = hingenet_density::estimate::bandwidth::Symmetric { a: 0.5, b: 0.1, c: 0.4 };
    let repeated = PlaneKde::new(&PairSample::new(x, y), h).unwrap();
    let merged = PlaneKde::new(&PairSample::weighted(mx, my, w), h).unwrap();
    close(
        repeated.log_densities([&[0.3], &[1.0]], |_| Some(2))[0],
        merged.log_densities([&[0.3], &[1.0]], |_| Some(0))[0],
    );
}

#[test]
fn categories_are_not_learnt_upside_down() {
    let cells = |m: usize, j: usize| Some((m + (m / 2) * j) % 3 % 2);
    let class = |m: usize| Some((cells(m, 0) == cells(m, 1)) as usize);
    let column = |j: usize| {
        let codes = Codes::from_options(2, (0..120).map(|m| cells(m, j)));
        Column::categorical(format!("x{j}"), vec!["no".into(), "yes".into()], codes)
    };
    let table = Table::new(vec![column(0), column(1)]).unwrap();
    let classes = vec!["different".to_string(), "equal".to_string()];
    let data =
        Dataset::from_parts("y", table, classes, Codes::from_options(2, (0..120).map(class)), None).unwrap();
    assert_eq!(accuracy(&model("slb,fraction=1,class_weights=none", &data), &data), 1.0);
}

#[test]
fn three_classes_are_told_apart_with_and_without_pairs() {
    let data = blobs(40, 3);
    for name in ["lu", "slb,fraction=1,class_weights=none", "slb"] {
        assert!(accuracy(&model(name, &data), &data) > 0.95, "{name}");
    }
}

#[test]
fn class_weights_shift_the_scores_of_densities_by_their_logarithms() {
    let data = blobs(30, 2);
    let scores = |name: &str| {
        let model = model(name, &data);
        model.densities().unwrap().decision_values(&data.features).unwrap()
    };
    let (plain, weighted) = (scores("kde-nb"), scores("kde-nb,class_weights=b:10"));
    for (p, w) in plain.iter().zip(&weighted) {
        assert!(((w[1] - w[0]) - (p[1] - p[0]) - 10f64.ln()).abs() < 1e-9);
    }
    for bad in ["b", "d:1", "a:-1", "a:x", "a:0", "%2:1"] {
        let fitted = format!("lu,class_weights={bad}")
            .parse()
            .and_then(|spec| fit(&spec, &data, FitOptions::default(), &Control::default()));
        assert!(fitted.is_err(), "{bad}");
    }
}

#[test]
fn log_densities_add_up_to_the_scores_of_naive_bayes() {
    let data = blobs(30, 2);
    let model = model("kde-nb", &data);
    let mut rows = data.features.rows(&[0, 7, 12]).columns().to_vec();
    rows[1] = Column::numeric("x1", vec![f64::NAN, 0.4, 9.0]);
    let rows = Table::new(rows).unwrap();
    let features = model.log_densities(&rows, &OwnDensities::default(), UnseenPolicy::Missing).unwrap();
    let list = model.log_density_list().unwrap();
    assert_eq!(list.len(), 6);
    let scores = model.densities().unwrap().decision_values(&rows).unwrap();
    for (t, score) in features.chunks(6).zip(&scores) {
        let sum = |y: usize| (0..6).filter(|&f| list[f].class == y).map(|f| t[f]).sum::<f64>();
        // equal priors; units of the columns shift both classes alike
        assert!(((sum(1) - sum(0)) - (score[1] - score[0])).abs() < 1e-9);
    }
    assert_eq!(features[1], 0.0);
}

#[test]
fn training_rows_are_measured_without_themselves_and_new_rows_with_all() {
    let data = blobs(30, 2);
    let spec = "slb,fraction=0.5,class_weights=none".parse().unwrap();
    let (model, own) = fit_log_densities(&spec, &data, FitOptions::default(), &Control::default()).unwrap();
    assert_eq!(own.n_rows, data.n_rows());
    let of = |own: &OwnDensities| model.log_densities(&data.features, own, UnseenPolicy::Missing).unwrap();
    let (without, with) = (of(&own), of(&OwnDensities::default()));
    let list = model.log_density_list().unwrap();
    assert!(list.iter().any(|d| d.second.is_some()));
    for (k, (a, b)) in without.iter().zip(&with).enumerate() {
        let (row, feature) = (k / list.len(), k % list.len());
        if Some(list[feature].class) == data.class.get(row) {
            assert!(a < b);
        } else {
            assert!((a - b).abs() < 0.05, "{a} {b}");
        }
    }
    let parts = OwnDensities::new(own.cells.clone(), own.values.clone(), own.n_rows).unwrap();
    assert_eq!(of(&parts), without);
    assert!(OwnDensities::new(vec![1.0; 5], vec![1.0; 4], 2).is_err());
    assert!(
        fit(&"tan:ml".parse().unwrap(), &data, FitOptions::default(), &Control::default())
            .unwrap()
            .log_density_list()
            .is_err()
    );
    assert_eq!(model.densities().unwrap().n_classes(), 2);
}

#[test]
fn raw_terms_survive_the_model_file_and_the_search() {
    let data = blobs(50, 2);
    let model = model("slb,augment=raw_and_products,bandwidth=normal", &data);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw-terms.hgn");
    model.save(&path).unwrap();
    let again = Model::load(&path).unwrap();
    let p = |m: &Model| m.densities().unwrap().log_proba(&data.features).unwrap();
    assert_eq!(p(&model), p(&again));
}

/// The other terms of the pool know a rare class, and its folds make it rarer: a model in place of a term must bear it.
#[test]
fn a_density_model_in_the_pool_bears_a_tiny_class() {
    let all = blobs(30, 2);
    let rows: Vec<usize> = (0..60).filter(|m| m % 2 == 0 || *m < 6).collect();
    let data = all.rows(&rows);
    let fit = |name: &str| fit(&name.parse().unwrap(), &data, FitOptions::default(), &Control::default());
    assert!(fit("kde-nb").unwrap_err().to_string().contains("class `b` has 3 rows"));
    assert!(fit("kde-nb,small_classes=allow").is_ok());
    assert!(fit("pool,fast=true,g=kde-nb+bandwidth=normal").is_ok());
    assert!(fit("pool,fast=true,g=kde-nb+small_classes=refuse").is_err());
}
