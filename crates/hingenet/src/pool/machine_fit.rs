//! Fitting term K: the choice of kernel and ridge by closed-form leave-one-out on a subset of the rows,
//! then the machines on all rows.

use super::blockwise;
use super::kernel::Kernel;
use super::machine::{CrossFitted, Machine, choose_scale, n_machines, targets};
use super::newton::{Problem, Solution};
use super::rows::random_subset;
use crate::classifier::SolverReport;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::numeric::linalg::Matrix;
use crate::numeric::random::Random;
use rayon::prelude::*;

/// Most rows for the finite Newton method, which keeps the whole kernel matrix (288 MB at this size).
pub(crate) const NEWTON_ROWS: usize = 6000;

/// What was chosen for term K.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MachineChoice {
    /// Whether the kernel uses the metric λ of term P (else every column counts alike).
    pub informed: bool,
    /// Width γ of the kernel.
    pub gamma: f64,
    /// Ridge μ.
    pub ridge: f64,
}

/// Rows, candidates and effort of the fit.
pub(crate) struct MachineFit<'a> {
    /// Encoded and completed training rows.
    pub(crate) points: &'a Matrix,
    pub(crate) class: &'a [usize],
    pub(crate) weight: &'a [f64],
    pub(crate) n_classes: usize,
    /// λ of term P per column; `None` if it is flat.
    pub(crate) metric: Option<&'a [f64]>,
    /// Variance of every column.
    pub(crate) variances: &'a [f64],
    pub(crate) gammas: &'a [f64],
    /// Ridges, ascending.
    pub(crate) ridges: &'a [f64],
    /// Most rows in the search.
    pub(crate) search_rows: usize,
}

/// Fitted machines, with what leave-one-out needs.
pub(crate) struct FittedMachine {
    pub(crate) machine: Machine,
    pub(crate) choice: MachineChoice,
    pub(crate) report: SolverReport,
    pub(crate) without: Without,
}

/// How the machines can do without a training row.
pub(crate) enum Without {
    /// Newton solutions: closed form.
    ClosedForm(Vec<Solution>),
    /// Machines of three folds.
    Folds(CrossFitted),
}

impl MachineFit<'_> {
    /// Chooses kernel and ridge, fits on all rows, sets the scale b by leave-one-out on all rows.
    pub(crate) fn fit(&self, random: &mut Random, control: &Control) -> Result<FittedMachine> {
        let subset = random_subset(self.class.len(), self.search_rows, random);
        let (choice, start) = self.choose(&subset, control)?;
        let kernel = self.kernel(choice.informed, choice.gamma);
        if self.class.len() > NEWTON_ROWS {
            return self.fit_blockwise(kernel, choice, start, random, control);
        }
        let matrix = kernel_matrix(&kernel, self.points);
        let starts = (subset.len() < self.class.len()).then(|| self.starts(&start));
        let solutions = self.solve(&matrix, choice.ridge, starts, control)?;
        let left_out = self.left_out(&solutions);
        let (scale, _) = choose_scale(&left_out, self.class, self.weight, self.n_classes);
        let beta: Vec<Vec<f64>> = solutions.iter().map(|s| s.beta.clone()).collect();
        let machine = Machine::new(kernel, self.points, &beta, scale, self.n_classes);
        let report = newton_report(&solutions);
        Ok(FittedMachine { machine, choice, report, without: Without::ClosedForm(solutions) })
    }

    fn fit_blockwise(
        &self,
        kernel: Kernel,
        choice: MachineChoice,
        start: Machine,
        random: &mut Random,
        control: &Control,
    ) -> Result<FittedMachine> {
        let fold: Vec<usize> = {
            let mut fold = vec![0; self.class.len()];
            random.permutation(self.class.len()).iter().enumerate().for_each(|(r, &i)| fold[i] = r % 3);
            fold
        };
        let mut machines = Vec::with_capacity(3);
        let mut left_out = Matrix::zeros(self.class.len(), n_machines(self.n_classes));
        for f in 0..3 {
            let (inside, outside): (Vec<usize>, Vec<usize>) =
                (0..self.class.len()).partition(|&i| fold[i] != f);
            let (machine, _) = self.blockwise(&kernel, choice, &inside, start.scale, control)?;
            let values = blockwise::values(&machine, self.points, &outside);
            for (r, &i) in outside.iter().enumerate() {
                left_out.row_mut(i).copy_from_slice(values.row(r));
            }
            machines.push(machine);
        }
        let (scale, _) = choose_scale(&left_out, self.class, self.weight, self.n_classes);
        let all: Vec<usize> = (0..self.class.len()).collect();
        let (machine, report) = self.blockwise(&kernel, choice, &all, scale, control)?;
        machines.iter_mut().for_each(|m| m.scale = scale);
        let without = Without::Folds(CrossFitted { machines, fold });
        Ok(FittedMachine { machine, choice, report, without })
    }

    /// The machines of some rows by blockwise dual descent.
    fn blockwise(
        &self,
        kernel: &Kernel,
        choice: MachineChoice,
        rows: &[usize],
        scale: f64,
        control: &Control,
    ) -> Result<(Machine, SolverReport)> {
        let class: Vec<usize> = rows.iter().map(|&i| self.class[i]).collect();
        let weight: Vec<f64> = rows.iter().map(|&i| self.weight[i]).collect();
        let targets: Vec<Vec<f64>> =
            (0..n_machines(self.n_classes)).map(|m| targets(&class, self.n_classes, m)).collect();
        let columns: Vec<usize> = (0..self.points.cols()).collect();
        let points = self.points.select(rows, &columns);
        let problem = blockwise::Problem {
            kernel,
            points: &points,
            targets: &targets,
            weight: &weight,
            ridge: choice.ridge,
        };
        let (beta, report) = problem.solve(control)?;
        let mut full = vec![vec![0.0; self.class.len()]; beta.len()];
        for (to, from) in full.iter_mut().zip(&beta) {
            rows.iter().zip(from).for_each(|(&i, b)| to[i] = *b);
        }
        Ok((Machine::new(kernel.clone(), self.points, &full, scale, self.n_classes), report))
    }

    fn kernel(&self, informed: bool, gamma: f64) -> Kernel {
        let flat = vec![1.0; self.variances.len()];
        let nu = self.metric.filter(|_| informed).unwrap_or(&flat);
        Kernel::new(gamma, nu, self.variances)
    }

    /// Least leave-one-out log-loss over metric, γ and μ on a subset; the machine of the best choice.
    fn choose(&self, subset: &[usize], control: &Control) -> Result<(MachineChoice, Machine)> {
        let part = self.part(subset);
        let mut candidates: Vec<(bool, f64)> = Vec::new();
        for informed in [false, true] {
            if !informed || self.metric.is_some() {
                candidates.extend(self.gammas.iter().map(|&gamma| (informed, gamma)));
            }
        }
        let tried: Vec<Result<Vec<Candidate>>> = candidates
            .par_iter()
            .map(|&(informed, gamma)| part.try_ridges(informed, gamma, control))
            .collect();
        let mut best: Option<Candidate> = None;
        for candidates in tried {
            for candidate in candidates? {
                if best.as_ref().is_none_or(|b| candidate.loss < b.loss) {
                    best = Some(candidate);
                }
            }
        }
        let best = best.ok_or_else(|| Error::Numeric {
            method: "kernel machine".into(),
            problem: "no kernel gives a finite loss".into(),
        })?;
        let kernel = self.kernel(best.choice.informed, best.choice.gamma);
        let machine = Machine::new(kernel, &part.points, &best.beta, best.scale, self.n_classes);
        Ok((best.choice, machine))
    }

    fn part(&self, rows: &[usize]) -> Part<'_> {
        let columns: Vec<usize> = (0..self.points.cols()).collect();
        Part {
            points: self.points.select(rows, &columns),
            class: rows.iter().map(|&i| self.class[i]).collect(),
            weight: rows.iter().map(|&i| self.weight[i]).collect(),
            fit: self,
        }
    }

    /// Active sets of a machine trained on a part of the rows, at all rows.
    fn starts(&self, machine: &Machine) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.class.len()).collect();
        let values = blockwise::values(machine, self.points, &all);
        (0..values.cols())
            .map(|m| {
                let target = targets(self.class, self.n_classes, m);
                (0..target.len()).filter(|&i| target[i] * values[(i, m)] < 1.0).collect()
            })
            .collect()
    }

    fn solve(
        &self,
        matrix: &Matrix,
        ridge: f64,
        starts: Option<Vec<Vec<usize>>>,
        control: &Control,
    ) -> Result<Vec<Solution>> {
        solve_machines(matrix, self.class, self.weight, self.n_classes, ridge, starts, control)
    }

    fn left_out(&self, solutions: &[Solution]) -> Matrix {
        left_out_values(solutions, self.class, self.n_classes)
    }
}

/// A subset of the rows.
struct Part<'a> {
    points: Matrix,
    class: Vec<usize>,
    weight: Vec<f64>,
    fit: &'a MachineFit<'a>,
}

struct Candidate {
    choice: MachineChoice,
    loss: f64,
    scale: f64,
    beta: Vec<Vec<f64>>,
}

impl Part<'_> {
    /// All ridges for one kernel, in the order listed. They are solved from the largest down, each from
    /// the active sets of the one before.
    fn try_ridges(&self, informed: bool, gamma: f64, control: &Control) -> Result<Vec<Candidate>> {
        let n_classes = self.fit.n_classes;
        let matrix = kernel_matrix(&self.fit.kernel(informed, gamma), &self.points);
        let mut starts: Option<Vec<Vec<usize>>> = None;
        let mut candidates = Vec::new();
        for &ridge in self.fit.ridges.iter().rev() {
            let solutions =
                solve_machines(&matrix, &self.class, &self.weight, n_classes, ridge, starts.take(), control)?;
            let left_out = left_out_values(&solutions, &self.class, n_classes);
            let (scale, loss) = choose_scale(&left_out, &self.class, &self.weight, n_classes);
            starts = Some(solutions.iter().map(|s| s.active.clone()).collect());
            let beta = solutions.into_iter().map(|s| s.beta).collect();
            candidates.push(Candidate {
                choice: MachineChoice { informed, gamma, ridge },
                loss,
                scale,
                beta,
            });
        }
        candidates.reverse();
        Ok(candidates)
    }
}

/// The kernel matrix of points with themselves.
pub(crate) fn kernel_matrix(kernel: &Kernel, points: &Matrix) -> Matrix {
    let n = points.rows();
    let (left, right) = (kernel.left(points), kernel.right(points));
    let mut matrix = Matrix::zeros(n, n);
    matrix.data_mut().par_chunks_mut(64 * n.max(1)).enumerate().for_each(|(k, out)| {
        let rows: Vec<usize> = (k * 64..((k + 1) * 64).min(n)).collect();
        out.copy_from_slice(left.select(&rows).block(&right).data());
    });
    matrix
}

/// Solves the machines of all classes. Without starting sets, all start from the solution in which every
/// row is active; its factorisation is shared.
pub(crate) fn solve_machines(
    matrix: &Matrix,
    class: &[usize],
    weight: &[f64],
    n_classes: usize,
    ridge: f64,
    starts: Option<Vec<Vec<usize>>>,
    control: &Control,
) -> Result<Vec<Solution>> {
    let targets: Vec<Vec<f64>> = (0..n_machines(n_classes)).map(|m| targets(class, n_classes, m)).collect();
    let problem = |m: usize| Problem { kernel: matrix, target: &targets[m], weight, ridge };
    let all: Vec<usize> = (0..class.len()).collect();
    let starts = match starts {
        Some(starts) => starts,
        None => {
            let factor = problem(0).factorise(&all)?;
            let start = |m: usize| {
                let mut beta = targets[m].clone();
                factor.solve(&mut beta);
                let values: Vec<f64> = matrix.mul_vec(&beta);
                problem(m).active_rows(&values)
            };
            (0..targets.len()).into_par_iter().map(start).collect()
        }
    };
    (0..targets.len())
        .into_par_iter()
        .map(|m| {
            let start = if starts[m].is_empty() { &all } else { &starts[m] };
            problem(m).solve(start, control)
        })
        .collect()
}

/// Leave-one-out values of all machines at the training rows.
pub(crate) fn left_out_values(solutions: &[Solution], class: &[usize], n_classes: usize) -> Matrix {
    let columns: Vec<Vec<f64>> =
        solutions.par_iter().enumerate().map(|(m, s)| s.left_out(&targets(class, n_classes, m))).collect();
    Matrix::from_fn(class.len(), columns.len(), |i, m| columns[m][i])
}

fn newton_report(solutions: &[Solution]) -> SolverReport {
    SolverReport {
        method: "finite Newton on the squared hinge loss".into(),
        converged: solutions.iter().all(|s| s.converged),
        iterations: solutions.iter().map(|s| s.rounds).max().unwrap_or(0),
        objective: solutions.iter().map(|s| s.objective).sum(),
        gap: None,
    }
}
