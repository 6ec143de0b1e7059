//! Machines and cone programs against Clarabel, which shares no code with ours.

#[path = "oracles/cone.rs"]
mod oracle;

use hingenet_base::control::Control;
use hingenet_base::numeric::linalg::{Matrix, dot};
use hingenet_base::numeric::random::Random;
use hingenet_base::optimise::cone::ConeProgram as Ours;
use hingenet_base::optimise::crammer_singer::{MulticlassProblem, crammer_singer};
use hingenet_base::optimise::group_svm::{Group, group_svm};
use hingenet_base::optimise::linear_svm::SvmProblem;
use oracle::{Cone, ConeProgram};

fn blobs(n: usize, p: usize, k: usize, seed: u64) -> (Matrix, Vec<usize>) {
    let mut random = Random::new(seed);
    let class: Vec<usize> = (0..n).map(|i| i % k).collect();
    let rows = Matrix::from_fn(n, p, |i, j| f64::from(u8::from(j % k == class[i])) + random.normal());
    (rows, class)
}

/// The same problem with one slack for each row, `½|w|² <= t` as a cone.
fn by_cone_program(rows: &Matrix, class: &[usize], k: usize, cost: f64) -> f64 {
    let (n, p) = (rows.rows(), rows.cols());
    let (b, xi, t) = (k * p, k * p + k, k * p + k + n);
    let mut program = ConeProgram::new(t + 1);
    for i in 0..n {
        program.row(0.0, [(xi + i, -1.0)]);
        for c in (0..k).filter(|c| *c != class[i]) {
            let y = class[i];
            let difference = (0..p).flat_map(|j| [(c * p + j, rows[(i, j)]), (y * p + j, -rows[(i, j)])]);
            program.row(-1.0, difference.chain([(b + c, 1.0), (b + y, -1.0), (xi + i, -1.0)]));
        }
    }
    program.close(Cone::NonNegative);
    // |w|² <= 2 t  is  |(√2 w, t - 1)| <= t + 1  up to scale.
    program.row(1.0, [(t, -1.0)]);
    program.row(-1.0, [(t, -1.0)]);
    (0..k * p).for_each(|j| program.row(0.0, [(j, -std::f64::consts::SQRT_2)]));
    program.close(Cone::SecondOrder);
    let mut costs = vec![0.0; t + 1];
    costs[xi..t].fill(cost);
    costs[t] = 1.0;
    program.minimise(&costs).1
}

#[test]
fn the_optimum_is_that_of_a_cone_program_and_the_gap_is_certified() {
    for (n, p, k, cost) in [(40, 4, 3, 1.0), (30, 40, 4, 0.3), (60, 3, 5, 5.0)] {
        let (rows, class) = blobs(n, p, k, 3);
        let (losses, costs) = (MulticlassProblem::unit_losses(&class, k), vec![cost; n]);
        let problem = MulticlassProblem {
            rows: &rows,
            class: &class,
            losses: &losses,
            costs: &costs,
            intercepts: true,
        };
        let found = crammer_singer(problem, 1e-6, None, &Control::default()).unwrap();
        assert!(found.report.converged, "{:?}", found.report);
        let want = by_cone_program(&rows, &class, k, cost);
        let objective = found.report.objective;
        assert!((objective - want).abs() < 1e-5 * want, "{objective} {want}");
        // Scores of all classes may be shifted together; the weights of the optimum add up to zero.
        for j in 0..p {
            assert!(found.weights.col(j).iter().sum::<f64>().abs() < 1e-8);
        }
    }
}

/// Bounded programs with rows, cones over shared variables and cones over the variables of a group.
#[test]
fn random_cone_programs_have_the_optimum_of_the_reference() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let (shared, groups) = (2 + random.below(6), random.below(8));
        let n = shared + 2 * groups;
        let mut ours = Ours::new(shared, groups, 2);
        let mut other = ConeProgram::new(n);
        let mut constrain = |right: Vec<f64>, rows: Vec<Vec<(usize, f64)>>| {
            let cone = if rows.len() == 1 { Cone::NonNegative } else { Cone::SecondOrder };
            right.iter().zip(&rows).for_each(|(b, row)| other.row(*b, row.iter().copied()));
            other.close(cone);
            ours.cone(right.into_iter().zip(rows).collect());
        };
        // A ball around all shared variables, and one around each group that grows with a shared one.
        let radius = 1.0 + random.uniform();
        let ball = (0..shared).map(|j| vec![(j, -1.0)]);
        constrain(
            std::iter::once(radius).chain((0..shared).map(|_| random.normal() * 0.1)).collect(),
            std::iter::once(vec![]).chain(ball).collect(),
        );
        for g in 0..groups {
            let first = shared + 2 * g;
            let rows = vec![vec![(g % shared, -0.3)], vec![(first, -1.0)], vec![(first + 1, -1.0), (0, 0.5)]];
            constrain(vec![2.0, 0.1, 0.0], rows);
            let row = (0..shared).map(|j| (j, random.normal())).chain([(first, 0.7), (first + 1, 0.2)]);
            constrain(vec![1.0], vec![row.collect()]);
        }
        let cost: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let found = ours.minimise(&cost, &Control::default()).unwrap();
        let (x, optimum) = other.minimise(&cost);
        let ours = dot(&cost, &found.x);
        assert!((ours - optimum).abs() < 1e-6 * (1.0 + optimum.abs()), "{found:?} {x:?} {optimum}");
        let off = found.x.iter().zip(&x).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(off < 1e-3, "{off:e} {found:?} {x:?}");
    }
}

/// The group machine as a program for the reference: norms, intercept and slacks as variables.
fn group_optimum(rows: &Matrix, labels: &[f64], cost: f64, groups: &[Group]) -> f64 {
    let (n, p) = (rows.rows(), rows.cols());
    let (norms, intercept, slacks) = (p, p + groups.len(), p + groups.len() + 1);
    let mut program = ConeProgram::new(slacks + n);
    for (i, y) in labels.iter().enumerate() {
        let margin = rows.row(i).iter().enumerate().map(|(j, x)| (j, -y * x));
        program.row(-1.0, margin.chain([(intercept, -y), (slacks + i, -1.0)]));
        program.row(0.0, [(slacks + i, -1.0)]);
    }
    program.close(Cone::NonNegative);
    for (g, group) in groups.iter().enumerate() {
        program.row(0.0, [(norms + g, -1.0)]);
        group.columns.iter().for_each(|&j| program.row(0.0, [(j, -1.0)]));
        program.close(Cone::SecondOrder);
    }
    let mut costs = vec![0.0; slacks + n];
    groups.iter().enumerate().for_each(|(g, group)| costs[norms + g] = group.penalty);
    costs[slacks..].fill(cost);
    program.minimise(&costs).1
}

#[test]
fn group_machines_and_the_one_norm_have_the_optimum_of_the_reference() {
    for (n, p, size, cost) in
        [(60, 12, 1, 0.3), (80, 12, 3, 0.1), (40, 60, 1, 1.0), (40, 60, 4, 2.0), (200, 5, 1, 5.0)]
    {
        let (rows, class) = blobs(n, p, 2, 5);
        let labels: Vec<f64> = class.iter().map(|c| if *c == 1 { 1.0 } else { -1.0 }).collect();
        let columns: Vec<usize> = (0..p).collect();
        let group = |c: &[usize]| Group { columns: c.to_vec(), penalty: (c.len() as f64).sqrt() };
        let groups: Vec<Group> = columns.chunks(size).map(group).collect();
        let costs = vec![cost; n];
        let problem = SvmProblem { rows: &rows, labels: &labels, costs: &costs };
        let found = group_svm(problem, &groups, 1e-6, &Control::default()).unwrap();
        assert!(found.report.converged, "{:?}", found.report);
        let want = group_optimum(&rows, &labels, cost, &groups);
        assert!((found.report.objective - want).abs() < 1e-6 * want, "{:?} {want}", found.report);
    }
}
