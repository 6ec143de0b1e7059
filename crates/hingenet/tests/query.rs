//! What every model promises when it is asked: the class has the probabilities that it predicts, and distributions,
//! information and likelihoods of evidence follow from each other by the rules of probability.

use hingenet::evaluate::generate;
use hingenet::model::{Answer, Dataset, FitOptions, Known, Model, Posterior, Query, fit};
use hingenet::table::{Column, ReadOptions, Table, UnseenPolicy, read};
use hingenet::{Control, Error};
use std::path::Path;

fn fitted(name: &str) -> Model {
    let data = Dataset::new(generate("mixed", Some(300), 4).unwrap(), "class", None).unwrap();
    fit(&name.parse().unwrap(), &data, FitOptions { seed: 1, ..FitOptions::default() }, &Control::default())
        .unwrap()
}

fn value(column: &str, value: &str) -> (String, Known) {
    (column.to_string(), Known::Value(value.to_string()))
}

fn ask(model: &Model, known: &[(String, Known)]) -> Answer {
    model.query(&Query { known: known.to_vec(), ..Query::default() }).unwrap()
}

fn find<'a>(answer: &'a Answer, column: &str) -> &'a Posterior {
    &answer.posterior.iter().find(|(name, _)| name == column).unwrap().1
}

fn states<'a>(answer: &'a Answer, column: &str) -> &'a [(String, f64)] {
    match find(answer, column) {
        Posterior::States(states) => states,
        other => panic!("{column}: {other:?}"),
    }
}

fn probability(answer: &Answer, column: &str, state: &str) -> f64 {
    states(answer, column).iter().find(|(name, _)| name == state).unwrap().1
}

/// A table of one row; numbers where they can be read as such.
fn row(model: &Model, cells: &[(&str, String)]) -> Table {
    let columns = cells.iter().map(|(name, text)| {
        let is_number =
            model.schema.features.iter().any(|f| f.name == *name && f.kind.categories().is_none());
        match text.parse::<f64>() {
            Ok(number) if is_number => Column::numeric(*name, vec![number]),
            _ => {
                let code = hingenet::table::Codes::from_options(1, [Some(0)].into_iter());
                Column::categorical(*name, vec![text.clone()], code)
            }
        }
    });
    let columns: Vec<Column> = columns.collect();
    if columns.is_empty() { Table::without_columns(1) } else { Table::new(columns).unwrap() }
}

/// Models of every kind, as they were written by version 0.1.0.
#[test]
fn the_class_is_as_probable_as_predicted_by_every_model() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let query =
        read(folder.join("query.csv").as_path(), &ReadOptions::default(), &Control::default()).unwrap().table;
    let files = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path());
    let mut n = 0;
    for path in files.filter(|p| p.extension().is_some_and(|e| e == "hgn")) {
        let model = Model::load(&path).unwrap();
        let predicted = model.predict(&query, UnseenPolicy::Missing).unwrap();
        for m in 0..query.n_rows() {
            let mut known = Vec::new();
            for spec in &model.schema.features {
                let Some(text) = query.position(&spec.name).and_then(|j| query.column(j).text(m)) else {
                    continue;
                };
                let is_known = spec.kind.categories().is_none_or(|categories| categories.contains(&text));
                known.extend(is_known.then(|| value(&spec.name, &text)));
            }
            let question = Query { known, targets: vec![model.target.clone()], ..Query::default() };
            let answer = match model.query(&question) {
                // prediction falls back on the prior
                Err(e)
                    if e.to_string().contains("impossible") && path.to_string_lossy().contains("alpha_0") =>
                {
                    continue;
                }
                answer => answer.unwrap_or_else(|e| panic!("{} {m}: {e}", path.display())),
            };
            for (c, (_, p)) in states(&answer, &model.target).iter().enumerate() {
                let wanted = predicted.row(m)[c].exp();
                assert!((p - wanted).abs() < 1e-9, "{} row {m}: {p} {wanted}", path.display());
            }
            n += 1;
        }
    }
    assert!(n > 500, "{n}");
}

const NETWORKS: [&str; 4] = ["nb:ml", "tan:ml", "kdb2:ml", "aode:ml"];

#[test]
fn distributions_of_columns_are_the_likelihoods_of_rows_with_them() {
    for name in NETWORKS {
        let model = fitted(name);
        let column = &model.schema.features[1].name;
        let given: Vec<(&str, String)> = vec![(column, states(&ask(&model, &[]), column)[0].0.clone())];
        let known: Vec<(String, Known)> = given.iter().map(|(c, v)| value(c, v)).collect();
        let answer = ask(&model, &known);
        for spec in model.schema.features.iter().filter(|f| f.kind.categories().is_some()) {
            if answer.posterior.iter().all(|(c, _)| *c != spec.name) {
                continue;
            }
            let likelihood = |state: &String| {
                let mut cells = given.clone();
                cells.push((&spec.name, state.clone()));
                let table = row(&model, &cells);
                model.log_likelihood(&table, UnseenPolicy::Error).unwrap()[0].features.exp()
            };
            let all: Vec<f64> = states(&answer, &spec.name).iter().map(|(s, _)| likelihood(s)).collect();
            let total: f64 = all.iter().sum();
            assert!((total.ln() - answer.log_evidence.unwrap()).abs() < 1e-9, "{name}");
            for ((_, p), wanted) in states(&answer, &spec.name).iter().zip(&all) {
                assert!((p - wanted / total).abs() < 1e-9, "{name} {}: {p} {}", spec.name, wanted / total);
            }
        }
    }
}

#[test]
fn a_likelihood_is_the_mean_over_the_states_it_leaves() {
    for name in NETWORKS {
        let model = fitted(name);
        let features: Vec<String> = model.schema.features.iter().map(|f| f.name.clone()).collect();
        let (soft, other) = (&features[0], &features[2]);
        let before = ask(&model, &[]);
        let list: Vec<(String, f64)> =
            states(&before, soft).iter().enumerate().map(|(k, (s, _))| (s.clone(), 0.3 + k as f64)).collect();
        let answer = ask(&model, &[(soft.clone(), Known::Likelihood(list.clone()))]);
        let mut wanted = vec![0.0; states(&before, other).len()];
        let mut evidence = 0.0;
        for (state, l) in &list {
            let inside = ask(&model, &[value(soft, state)]);
            let weight = l * probability(&before, soft, state);
            evidence += weight;
            wanted.iter_mut().zip(states(&inside, other)).for_each(|(w, (_, p))| *w += weight * p);
        }
        assert!((answer.log_evidence.unwrap() - evidence.ln()).abs() < 1e-9, "{name}");
        for ((_, p), w) in states(&answer, other).iter().zip(&wanted) {
            assert!((p - w / evidence).abs() < 1e-9, "{name}: {p} {}", w / evidence);
        }
        // excluding a state is a likelihood of 0 for it
        let first = list[0].0.clone();
        let not = ask(&model, &[(soft.clone(), Known::Not(first.clone()))]);
        let rest = list.iter().skip(1).map(|(s, _)| (s.clone(), 1.0)).collect();
        let same = ask(&model, &[(soft.clone(), Known::Likelihood(rest))]);
        assert_eq!(not, same);
        assert_eq!(probability(&not, soft, &first), 0.0);
    }
}

#[test]
fn information_is_the_expected_fall_of_the_entropy() {
    let entropy = |states: &[(String, f64)]| {
        states.iter().filter(|(_, p)| *p > 0.0).map(|(_, p)| -p * p.ln()).sum::<f64>()
    };
    for name in NETWORKS {
        let model = fitted(name);
        let known = [value(&model.schema.features[1].name, &{
            let answer = ask(&model, &[]);
            states(&answer, &model.schema.features[1].name)[0].0.clone()
        })];
        let about = model.schema.features[3].name.clone();
        for target in [model.target.clone(), about] {
            let question = Query { known: known.to_vec(), about: Some(target.clone()), ..Query::default() };
            let answer = model.query(&question).unwrap();
            assert!(answer.next.iter().all(|m| m.column != target && m.column != known[0].0));
            for measurement in &answer.next {
                let mut fall = entropy(states(&answer, &target));
                for (state, p) in states(&answer, &measurement.column).iter().filter(|(_, p)| *p > 0.0) {
                    let mut more = known.to_vec();
                    more.push(value(&measurement.column, state));
                    fall -= p * entropy(states(&ask(&model, &more), &target));
                }
                let difference = (measurement.nats - fall).abs();
                assert!(difference < 1e-9, "{name} {}: {} {fall}", measurement.column, measurement.nats);
            }
        }
    }
}

#[test]
fn costs_change_the_order_of_measurements() {
    let model = fitted("tan:ml");
    let free = ask(&model, &[]);
    let first = free.next[0].column.clone();
    let question = Query { costs: vec![(first.clone(), 1e6)], ..Query::default() };
    let dear = model.query(&question).unwrap();
    assert_eq!(dear.next[0].column, free.next[1].column);
    let dearest = dear.next.iter().find(|m| m.column == first).unwrap();
    assert_eq!((dearest.nats, dearest.cost), (free.next[0].nats, 1e6));
}

/// The density of a number is proportional to the likelihood of the row with it: moments by a sum over a fine grid.
#[test]
fn numbers_of_gaussian_networks_have_the_moments_of_their_density() {
    let model = fitted("sgbn:or,lambda1=2");
    let numbers: Vec<&String> =
        model.schema.features.iter().filter(|f| f.kind.categories().is_none()).map(|f| &f.name).collect();
    let category = model.schema.features.iter().find(|f| f.kind.categories().is_some()).unwrap();
    let state = category.kind.categories().unwrap()[0].clone();
    let given = vec![(numbers[0].as_str(), "0.7".to_string()), (category.name.as_str(), state)];
    let known: Vec<(String, Known)> = given.iter().map(|(c, v)| value(c, v)).collect();
    let answer = ask(&model, &known);
    for column in &numbers[1..] {
        let found = &answer.posterior.iter().find(|(name, _)| name == *column).unwrap().1;
        let Posterior::Number { mean, sd, quantiles } = found else { panic!("{found:?}") };
        let grid: Vec<f64> = (0..4000).map(|k| mean + sd * (-10.0 + 20.0 * k as f64 / 3999.0)).collect();
        let density = |x: &f64| {
            let mut cells = given.clone();
            cells.push((column.as_str(), x.to_string()));
            model.log_likelihood(&row(&model, &cells), UnseenPolicy::Error).unwrap()[0].features.exp()
        };
        let density: Vec<f64> = grid.iter().map(density).collect();
        let total: f64 = density.iter().sum();
        let moment =
            |f: &dyn Fn(f64) -> f64| grid.iter().zip(&density).map(|(x, d)| f(*x) * d).sum::<f64>() / total;
        let (m, s) = (moment(&|x| x), moment(&|x| (x - mean).powi(2)).sqrt());
        assert!((m - mean).abs() < 1e-6 * sd && (s - sd).abs() < 1e-6 * sd, "{column}: {m} {mean} {s} {sd}");
        let below = moment(&|x| f64::from(u8::from(x <= quantiles[0])));
        assert!((below - 0.05).abs() < 0.005, "{column}: {below}");
    }
}

#[test]
fn the_most_probable_values_agree_with_what_is_known_and_beat_others() {
    for name in ["nb:ml", "tan:ml", "kdb2:ml", "tan:ml-bn-svm,lambda=4,gamma=2"] {
        let model = fitted(name);
        let start = ask(&model, &[]);
        let fixed = &model.schema.features[0].name;
        let seen = states(&start, fixed).last().unwrap().0.clone();
        let answer = ask(&model, &[value(fixed, &seen)]);
        assert_eq!(answer.most_probable.iter().find(|(c, _)| c == fixed).unwrap().1, seen, "{name}");
        let all: Vec<(String, Known)> = answer.most_probable.iter().map(|(c, v)| value(c, v)).collect();
        let best = ask(&model, &all).log_evidence.unwrap();
        let class = answer.most_probable[0].1.clone();
        for (k, (column, _)) in
            answer.most_probable.iter().enumerate().skip(1).filter(|(_, (c, _))| c != fixed)
        {
            for (state, _) in states(&start, column) {
                let mut other = all.clone();
                other[k] = value(column, state);
                // compared inside the class, where no temperature plays a part
                assert!(ask(&model, &other).log_evidence.unwrap() <= best + 1e-9, "{name} {class} {column}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let model = fitted("tan:ml");
    let refused = |known: &[(String, Known)]| {
        model.query(&Query { known: known.to_vec(), ..Query::default() }).unwrap_err().to_string()
    };
    assert!(refused(&[value("no such column", "1")]).contains("no such column"));
    let column = model.schema.features.iter().find(|f| f.kind.categories().is_some()).unwrap();
    let categories = column.kind.categories().unwrap();
    assert!(refused(&[value(&column.name, "no such value")]).contains("none of its values"));
    let both = [value(&column.name, &categories[0]), value(&column.name, &categories[1])];
    assert!(refused(&both).contains("no value is left"));
    let weighed = (column.name.clone(), Known::Likelihood(vec![(categories[0].clone(), -1.0)]));
    assert!(refused(&[weighed]).contains("from 0 on"));
    let pool = fitted("pool,fast=true");
    let error = pool.query(&Query { targets: vec![column.name.clone()], ..Query::default() }).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let answer = ask(&pool, &[]);
    assert!(answer.log_evidence.is_none() && !answer.next.is_empty() && answer.posterior.len() == 1);
}

/// Rows drawn given what is known have the distributions that the model tells.
#[test]
fn draws_follow_what_is_known() {
    let n = 20_000;
    for name in ["tan:ml", "aode:ml", "sgbn:or,lambda1=2"] {
        let model = fitted(name);
        let number = model.schema.features.iter().find(|f| f.name == "temperature").unwrap();
        let category = model.schema.features.iter().find(|f| f.name == "site").unwrap();
        let excluded = category.kind.categories().unwrap()[0].clone();
        let known = vec![value(&number.name, "55.5"), (category.name.clone(), Known::Not(excluded.clone()))];
        let answer = ask(&model, &known);
        let drawn = model.sample(n, &known, 3, &Control::default()).unwrap();
        let fixed = drawn.by_name(&number.name).unwrap().as_numeric().unwrap();
        assert!(fixed.iter().all(|x| x == Some(55.5)), "{name}");
        let share = |column: &str, state: &str| {
            let cells = drawn.by_name(column).unwrap().as_categorical().unwrap();
            (0..n).filter(|&m| cells.get(m) == Some(state)).count() as f64 / n as f64
        };
        assert_eq!(share(&category.name, &excluded), 0.0, "{name}");
        for (state, p) in states(&answer, "class").iter().chain(states(&answer, &category.name)) {
            let column = if model.classes.contains(state) { "class" } else { &category.name };
            let deviation = (p * (1.0 - p) / n as f64).sqrt();
            assert!((share(column, state) - p).abs() <= 5.0 * deviation + 1e-12, "{name} {state}: {p}");
        }
        if let Some((column, Posterior::Number { mean, sd, .. })) =
            answer.posterior.iter().find(|(_, p)| matches!(p, Posterior::Number { .. }))
        {
            let x = drawn.by_name(column).unwrap().as_numeric().unwrap();
            let found = x.iter().map(Option::unwrap).sum::<f64>() / n as f64;
            assert!((found - mean).abs() < 5.0 * sd / (n as f64).sqrt(), "{name} {column}: {found} {mean}");
        }
    }
}

/// Completions are those of the distributions that the model tells, for every kind of column.
#[test]
fn missing_cells_are_completed_by_their_distributions() {
    let data = generate("mixed", Some(300), 4).unwrap();
    for name in ["tan:ml", "aode:ml", "tan:ml-bn-svm,lambda=4,gamma=2", "sgbn:or,lambda1=2"] {
        let model = fitted(name);
        let rows = data.rows(&(0..25).collect::<Vec<_>>());
        let (full, spread) = model.impute(&rows, UnseenPolicy::Error, &Control::default()).unwrap();
        assert_eq!(full.n_missing(), 0, "{name}");
        assert!(rows.n_missing() > 10);
        for m in 0..rows.n_rows() {
            let known: Vec<(String, Known)> = (model.schema.features.iter())
                .filter_map(|f| Some(value(&f.name, &rows.by_name(&f.name).unwrap().text(m)?)))
                .collect();
            let answer = ask(&model, &known);
            for (j, f) in model.schema.features.iter().enumerate() {
                let sure = spread.column(j).as_numeric().unwrap().get(m);
                let cell = full.column(j).text(m).unwrap();
                if !rows.by_name(&f.name).unwrap().is_missing(m) {
                    assert!(sure.is_none() && Some(cell) == rows.by_name(&f.name).unwrap().text(m));
                    continue;
                }
                let found = &answer.posterior.iter().find(|(c, _)| *c == f.name).unwrap().1;
                let (value, sure) = (full.column(j), sure.unwrap());
                match (found, value.as_numeric()) {
                    (Posterior::Number { mean, sd, .. }, Some(x)) => {
                        assert!(
                            (x.get(m).unwrap() - mean).abs() < 1e-9 && (sure - sd).abs() < 1e-9,
                            "{name}"
                        );
                    }
                    (Posterior::States(states), None) => {
                        let best = states.iter().map(|(_, p)| *p).fold(0.0, f64::max);
                        assert!((sure - best).abs() < 1e-9, "{name} {}: {sure} {best}", f.name);
                        assert!((probability(&answer, &f.name, &cell) - best).abs() < 1e-9);
                    }
                    // a number of a discrete network: inside what training has seen, as sure as its intervals
                    (_, Some(x)) => assert!(x.get(m).unwrap().is_finite() && sure >= 0.0),
                    _ => panic!("{name} {}", f.name),
                }
            }
        }
        assert!(fitted("pool,fast=true").impute(&rows, UnseenPolicy::Error, &Control::default()).is_err());
    }
}

/// What one column tells about another is what that tells about the first, by every kind of integral; but two categories of
/// Gaussian networks, whose rule for states is no distribution of both.
#[test]
fn information_between_columns_is_symmetric() {
    for name in ["tan:ml", "sgbn:or", "kde-tan"] {
        let model = fitted(name);
        let known = vec![value("site", "coast"), ("maker".to_string(), Known::Not("C".into()))];
        let about = |column: &str| {
            let query = Query { known: known.clone(), about: Some(column.into()), ..Query::default() };
            model.query(&query).unwrap().next
        };
        for (one, other) in [("load", "speed"), ("load", "oil"), ("maker", "load"), ("oil", "alarm")]
            .iter()
            .take(if name == "tan:ml" { 4 } else { 3 })
        {
            let tells = |from: &str, to: &str| about(to).iter().find(|m| m.column == from).unwrap().nats;
            let (a, b) = (tells(one, other), tells(other, one));
            // kernel densities take the number asked about at fewer points than the other
            let close = if name == "kde-tan" { 0.01 } else { 1e-6 };
            assert!((a - b).abs() < close && a >= 0.0, "{name}: {one} {other} {a} {b}");
        }
        assert!(about("load").iter().all(|m| m.column != "load" && m.column != "site"));
    }
}

/// In a class that is known no calibration stands between a forest's probabilities and its evidence.
#[test]
fn columns_of_density_models_follow_their_densities() {
    let model = fitted("kde-tan");
    let given = |oil: Option<&str>| {
        let mut known = vec![value("class", "worn"), value("load", "50"), value("alarm", "yes")];
        known.extend(oil.map(|oil| value("oil", oil)));
        ask(&model, &known)
    };
    let open = given(None);
    let all = states(&open, "oil");
    let (first, base) = (&all[0].0, given(Some(&all[0].0)).log_evidence.unwrap());
    for (state, p) in &all[1..] {
        let ratio = (given(Some(state)).log_evidence.unwrap() - base).exp();
        let found = p / probability(&open, "oil", first);
        assert!((found / ratio - 1.0).abs() < 1e-9, "{state}: {found} {ratio}");
    }
    let table = generate("mixed", Some(300), 4).unwrap();
    let (class, load) =
        (table.column(table.position("class").unwrap()), table.column(table.position("load").unwrap()));
    let of_class = |m: &usize| class.text(*m).as_deref() == Some("worn");
    let rows: Vec<f64> = (0..300)
        .filter(of_class)
        .map(|m| load.as_numeric().unwrap().with_nan()[m])
        .filter(|x| !x.is_nan())
        .collect();
    let mean = rows.iter().sum::<f64>() / rows.len() as f64;
    let sd = (rows.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / rows.len() as f64).sqrt();
    for name in ["kde-nb", "kde-tan", "slb", "lu"] {
        let answer = ask(&fitted(name), &[value("class", "worn")]);
        let Posterior::Number { mean: found, sd: spread, quantiles } = find(&answer, "load") else {
            panic!()
        };
        assert!((found - mean).abs() < 0.1 * sd, "{name}: {found} {mean}");
        assert!(*spread > 0.9 * sd && *spread < 1.5 * sd, "{name}: {spread} {sd}");
        assert!(quantiles[0] < mean && quantiles[2] > mean);
        assert_eq!(answer.log_evidence.is_some(), name.starts_with("kde"), "{name}");
    }
}

/// A likelihood over the states of a category is the mean over them, in a class that is known.
#[test]
fn unsure_categories_of_density_models_are_mixtures() {
    for name in ["kde-tan", "slb"] {
        let model = fitted(name);
        let known = [value("class", "worn"), value("load", "50")];
        let with = |fact: Known| {
            let mut known = known.to_vec();
            known.push(("oil".to_string(), fact));
            ask(&model, &known)
        };
        let before = ask(&model, &known);
        let (a, b) = (states(&before, "oil")[0].clone(), states(&before, "oil")[1].clone());
        let (wa, wb) = (0.9 * a.1, 0.3 * b.1);
        let soft = with(Known::Likelihood(vec![(a.0.clone(), 0.9), (b.0.clone(), 0.3)]));
        let expected = (wa * probability(&with(Known::Value(a.0)), "alarm", "yes")
            + wb * probability(&with(Known::Value(b.0)), "alarm", "yes"))
            / (wa + wb);
        let found = probability(&soft, "alarm", "yes");
        assert!((found - expected).abs() < 1e-9, "{name}: {found} {expected}");
    }
}
