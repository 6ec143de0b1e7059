//! Densities of all rows with everything else from a sample: counted in pieces of any kind, and close to what a fit to all
//! rows in memory gives.

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::{Dataset, Rows};
use hingenet_data::table::{Codes, Column, Schema, Table};
use hingenet_density::params::{ClassWeights, Threshold};
use hingenet_density::{BinCounts, DensityPlan, DensitySums, DensityTask, Params, Variant, fit};

/// Two numbers on a bent ridge, a third beside them and a category that leans on them; gaps if they are wanted.
fn data(n: usize, seed: u64, has_gaps: bool) -> Dataset {
    let mut random = Random::new(seed);
    let class: Vec<usize> = (0..n).map(|_| usize::from(random.below(5) < 2)).collect();
    let gap = |x: f64, random: &mut Random| if has_gaps && random.below(9) == 0 { f64::NAN } else { x };
    let x: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let bend = |m: usize| if class[m] == 1 { 0.6 * x[m] * x[m] } else { 0.7 * x[m] };
    let y: Vec<f64> = (0..n).map(|m| bend(m) + 0.5 * random.normal()).collect();
    let z: Vec<f64> = (0..n).map(|m| 100.0 + 7.0 * (0.4 * class[m] as f64 + random.normal())).collect();
    let level = |m: usize, random: &mut Random| usize::from(y[m] > 0.3) + random.below(2);
    let levels: Vec<Option<usize>> =
        (0..n).map(|m| (!has_gaps || random.below(9) > 0).then(|| level(m, &mut random))).collect();
    let names = |r: usize| (0..r).map(|k| format!("s{k}")).collect::<Vec<_>>();
    let mut number = |name: &str, values: &[f64]| {
        Column::numeric(name, values.iter().map(|v| gap(*v, &mut random)).collect())
    };
    let features = vec![
        number("x", &x),
        number("y", &y),
        number("z", &z),
        Column::categorical("l", names(3), Codes::from_options(3, levels.into_iter())),
    ];
    let class = Codes::from_options(2, class.into_iter().map(Some));
    Dataset::from_parts("class", Table::new(features).unwrap(), names(2), class, None).unwrap()
}

fn part(data: &Dataset, range: std::ops::Range<usize>) -> Dataset {
    data.rows(&range.collect::<Vec<_>>())
}

fn params(variant: Variant) -> Params {
    let mut params = Params::new(variant);
    if variant == Variant::Slb {
        params.threshold = Threshold::Fraction(0.6);
        params.class_weights = ClassWeights::None;
        params.cost = Some(1.0);
    }
    params
}

/// A plan from the first rows, and what it wants counted.
fn planned(all: &Dataset, sample: usize, variant: Variant) -> (DensityPlan, DensityTask) {
    let control = Control::default();
    let some = part(all, 0..sample);
    let plan = DensityPlan::new(&Rows::of(&some).unwrap(), &params(variant), &control).unwrap();
    let class_rows: Vec<u64> =
        (0..2).map(|c| all.class.iter().filter(|x| *x == Some(c)).count() as u64).collect();
    let task = plan.task(vec![0, 1], &class_rows, &control).unwrap();
    task.check(&Schema::of(&all.features), 2).unwrap();
    (plan, task)
}

#[test]
fn what_is_counted_does_not_depend_on_the_pieces() {
    for has_gaps in [false, true] {
        let all = data(3000, 1, has_gaps);
        let (plan, task) = planned(&all, 400, Variant::KdeTan);
        let whole = task.gather(&all).unwrap();
        let mut sums = task.gather(&part(&all, 1700..3000)).unwrap();
        for range in [900..1700, 0..0, 0..20, 20..900] {
            sums.merge(&task.gather(&part(&all, range)).unwrap()).unwrap();
        }
        assert_eq!(sums, whole);
        let rows: u64 = whole.tables[0].rows.iter().sum();
        assert!(if has_gaps { rows < 3000 } else { rows == 3000 });
        let control = Control::default();
        let [a, b] = [sums, whole].map(|sums| plan.clone().finish(&task, sums, &control).unwrap().model);
        assert_eq!(a, b);
    }
}

/// With a sample of a thirtieth, the probabilities of new rows are much closer to those of all rows in memory than those of
/// the sample are. Machines have their weights from few rows all the same; their new rows are less of a surprise.
#[test]
fn densities_of_all_rows_are_nearly_those_in_memory() {
    let control = Control::default();
    for (variant, has_gaps) in [
        (Variant::KdeNaiveBayes, true),
        (Variant::KdeTan, false),
        (Variant::KdeForest, true),
        (Variant::Lu, false),
        (Variant::Slb, true),
    ] {
        let (all, new) = (data(12_000, 2, has_gaps), data(2000, 3, false));
        let (plan, task) = planned(&all, 400, variant);
        let model = plan.finish(&task, task.gather(&all).unwrap(), &control).unwrap().model;
        let in_memory =
            |rows: &Dataset| fit(&Rows::of(rows).unwrap(), &params(variant), &control).unwrap().model;
        let (whole, sample) = (in_memory(&all), in_memory(&part(&all, 0..400)));
        let logs = [&model as &dyn Classifier, &whole, &sample].map(|m| m.log_proba(&new.features).unwrap());
        let [found, want, of_sample] = &logs;
        let apart = |p: &[f64]| {
            p.iter().zip(want).map(|(a, b)| (a.exp() - b.exp()).abs()).sum::<f64>() / p.len() as f64
        };
        let loss = |p: &[f64]| {
            let own = p.chunks(2).zip(new.class.iter()).filter_map(|(row, class)| class.map(|c| -row[c]));
            own.sum::<f64>() / new.n_rows() as f64
        };
        let (near, far) = (apart(found), apart(of_sample));
        assert!(
            near < if variant.is_generative() { 0.5 } else { 1.0 } * far,
            "{variant:?}: {near} and {far}"
        );
        let [loss, least, most] = [found, want, of_sample].map(|p| loss(p));
        assert!(loss < most, "{variant:?}: {loss} and {most}");
        assert!(
            !variant.is_generative() || loss < least + 0.3 * (most - least),
            "{variant:?}: {loss}, {least}, {most}"
        );
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let all = data(600, 4, false);
    let (plan, task) = planned(&all, 300, Variant::KdeTan);
    let control = Control::default();
    let sums = task.gather(&all).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<BinCounts>)| {
        let mut tables = sums.tables.clone();
        change(&mut tables);
        assert!(plan.clone().finish(&task, DensitySums { tables }, &control).is_err());
    };
    refused(&|t| t[0].keys.swap(0, 1));
    refused(&|t| t[0].keys[0] = u64::MAX);
    refused(&|t| t[3].keys[0] += 100 << 24);
    refused(&|t| t[1].rows[0] = 0);
    refused(&|t| t[1].rows[0] = u64::MAX);
    refused(&|t| t[2].rows.truncate(1));
    refused(&|t| t.truncate(3));
    let other = Schema::of(&part(&all, 0..5).features.split_off("l").unwrap().1);
    assert!(task.check(&other, 2).is_err() && task.check(&Schema::of(&all.features), 1).is_err());
    let mut shorter = sums.clone();
    shorter.tables.pop();
    assert!(shorter.merge(&sums).is_err());
}
