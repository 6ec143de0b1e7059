//! Data of the density tests; every test program uses a part of it.

#![allow(dead_code)]

use hingenet_base::control::Control;
use hingenet_base::numeric::random::Random;
use hingenet_data::classifier::Classifier;
use hingenet_data::rows::Rows;
use hingenet_data::table::{Codes, Column, Table};
use hingenet_density::columns::Columns;
use hingenet_density::fit::fit_exact;
use hingenet_density::generate::Networks;
use hingenet_density::structure::hsic::DependenceKernel;
use hingenet_density::{DensityClassifier, Params};

/// Normal draws.
pub fn normal_sample(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.normal()).collect()
}

/// `n⁻² Tr(KHLH)` from all kernel values of rows of weight 1.
pub fn exact_hsic(x: &[f64], y: &[f64], kernels: [DependenceKernel; 2]) -> f64 {
    let n = x.len() as f64;
    let centred = |v: &[f64], kernel: DependenceKernel| {
        let row = |a: &f64| v.iter().map(|b| kernel.value(*a, *b)).collect::<Vec<f64>>();
        let matrix: Vec<Vec<f64>> = v.iter().map(row).collect();
        let means: Vec<f64> = matrix.iter().map(|r| r.iter().sum::<f64>() / n).collect();
        let mean = means.iter().sum::<f64>() / n;
        let cell = |i: usize, j: usize| matrix[i][j] - means[i] - means[j] + mean;
        (0..v.len())
            .flat_map(|i| (0..v.len()).map(|j| cell(i, j)).collect::<Vec<f64>>())
            .collect::<Vec<f64>>()
    };
    let (k, l) = (centred(x, kernels[0]), centred(y, kernels[1]));
    k.iter().zip(&l).map(|(a, b)| a * b).sum::<f64>() / (n * n)
}

/// Class names.
pub fn classes() -> Vec<String> {
    vec!["no".into(), "yes".into()]
}

/// `n` rows of each class; the classes differ in mean and in how neighbours depend on each other.
pub fn two_class_table(n: usize, d: usize, seed: u64) -> (Table, Codes) {
    let mut random = Random::new(seed);
    let mut columns = vec![Vec::new(); d];
    let mut class = Vec::new();
    for k in 0..2 * n {
        let y = usize::from(k >= n);
        let mut before = 0.0;
        for column in &mut columns {
            let link = if y == 0 { 0.8 } else { -0.5 };
            let x = 0.6 * y as f64 + link * before + random.normal();
            column.push(x);
            before = x;
        }
        class.push(Some(y));
    }
    let columns = columns.into_iter().enumerate().map(|(i, c)| Column::numeric(format!("x{i}"), c)).collect();
    (Table::new(columns).unwrap(), Codes::from_options(2, class.into_iter()))
}

/// Rows of two networks: `counts[y]` of class y, features named x1, x2, ....
pub fn draw(networks: &Networks, counts: [usize; 2], seed: u64) -> (Table, Codes) {
    let mut random = Random::stream(seed, 3);
    let class: Vec<usize> = (0..2).flat_map(|y| vec![y; counts[y]]).collect();
    let rows: Vec<Vec<f64>> = class.iter().map(|y| networks.row(*y, &mut random)).collect();
    let column = |i: usize| Column::numeric(format!("x{}", i + 1), rows.iter().map(|r| r[i]).collect());
    let table = Table::new((0..networks.parents(0).len()).map(column).collect()).unwrap();
    (table, Codes::from_options(2, class.into_iter().map(Some)))
}

/// The encoded training rows.
pub fn columns_of(table: &Table, class: &Codes, params: &Params) -> Columns {
    let names = classes();
    let rows = Rows::new(table, class, &names, None).unwrap();
    Columns::learn(&rows, params, &Control::default()).unwrap().1
}

/// Exact decision values of the training rows, in their own order.
pub fn exact(table: &Table, class: &Codes, params: &Params) -> Vec<f64> {
    let names = classes();
    let control = Control::default();
    let rows = Rows::new(table, class, &names, None).unwrap();
    let (units, columns) = Columns::learn(&rows, params, &control).unwrap();
    let model = fit_exact(&columns, params, &control).unwrap();
    model.outputs(&units.encode(table).unwrap(), &control).unwrap().iter().map(|o| o[0]).collect()
}

/// Number of rows of two classes that are decided rightly.
pub fn correct(model: &DensityClassifier, table: &Table, class: &Codes) -> usize {
    let p = model.log_proba(table).unwrap();
    (0..table.n_rows()).filter(|&r| usize::from(p[2 * r + 1] > p[2 * r]) == class.get(r).unwrap()).count()
}

/// The fitted classifier of a table of two classes.
#[allow(dead_code)]
pub fn fitted(table: &Table, class: &Codes, params: &Params) -> DensityClassifier {
    let names = classes();
    let rows = Rows::new(table, class, &names, None).unwrap();
    hingenet_density::fit(&rows, params, &Control::default()).unwrap().model
}
