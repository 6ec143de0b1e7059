//! Fitting term K: the choice of kernel and ridge by closed-form leave-one-out on a subset of the rows,
//! then the machines on all rows.

use super::gram::Gram;
use super::kernel::Kernel;
use super::{Machine, choose_scale, n_machines, targets};
use crate::fit::LESS_MEMORY;
use crate::rows::{Labelled, least, random_subset};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::linalg::Matrix;
use hingenet_base::numeric::random::Random;
use hingenet_base::optimise::squared_hinge::{KernelRows, SquaredHinge, SquaredHingeSolution};
use hingenet_base::solver::SolverReport;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most rows for the finite Newton method, which keeps the whole kernel matrix (288 MB at this size).
pub(crate) const NEWTON_ROWS: usize = 6000;
/// Rows of the first of the growing samples.
const FIRST_ROWS: usize = 4000;
/// Rows of the second look at the choices, in units of those of the first.
const SECOND_SEARCH: usize = 4;
/// Most entries of the factors of all machines beyond [`NEWTON_ROWS`] (400 MB): one machine with 7000 active
/// rows, or ten with 2200.
const MOST_FACTORS: usize = 50_000_000;

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
    pub(crate) rows: &'a Labelled,
    /// λ of term P per column; `None` if it is flat.
    pub(crate) metric: Option<&'a [f64]>,
    /// Variance of every column.
    pub(crate) variances: &'a [f64],
    /// Columns of the features.
    pub(crate) groups: &'a [Range<usize>],
    pub(crate) gammas: &'a [f64],
    /// Ridges, ascending.
    pub(crate) ridges: &'a [f64],
    /// Most rows in the search.
    pub(crate) search_rows: usize,
    /// Rows whose left-out values will be asked for, ascending.
    pub(crate) held_out: &'a [usize],
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
    ClosedForm(Vec<SquaredHingeSolution>),
    /// The machine has not seen the held-out rows.
    HeldOut,
}

impl MachineFit<'_> {
    /// Chooses kernel and ridge, fits on all rows, sets the scale b by leave-one-out on all rows.
    pub(crate) fn fit(&self, random: &mut Random, control: &Control) -> Result<FittedMachine> {
        let n = self.rows.len();
        let mut subset = random_subset(n, self.search_rows, random);
        let (mut choice, mut start) = self.choose(&subset, &self.candidates(), self.ridges, control)?;
        if n > NEWTON_ROWS {
            // what is best for few rows is too smooth for many: look around once more with more of them
            subset = random_subset(n, SECOND_SEARCH * self.search_rows, random);
            let (kernels, ridges) = self.around(choice);
            (choice, start) = self.choose(&subset, &kernels, ridges, control)?;
        }
        let kernel = self.kernel(choice.informed, choice.gamma);
        if n <= NEWTON_ROWS {
            let all: Vec<usize> = (0..n).collect();
            let start = (subset.len() < n).then_some(&start);
            return Ok(self.newton(&kernel, choice, &all, start, control)?.finish(choice));
        }
        self.fit_many(&kernel, choice, start, random, control)
    }

    /// Newton machines on some rows, from the active sets of a machine trained on fewer.
    fn newton(
        &self,
        kernel: &Kernel,
        choice: MachineChoice,
        rows: &[usize],
        start: Option<&Machine>,
        control: &Control,
    ) -> Result<Solved<'_>> {
        let part = self.part(rows);
        control.progress("kernel machine", rows.len(), self.rows.len())?;
        let starts = start.map(|machine| self.starts(machine, rows));
        self.reserve(rows.len(), starts.as_deref(), control)?;
        let gram = if rows.len() <= NEWTON_ROWS {
            Gram::stored(kernel, &part.points)
        } else {
            Gram::computed(kernel, &part.points)
        };
        let solutions = part.solutions(&gram, choice.ridge, starts, control)?;
        let beta: Vec<Vec<f64>> = solutions.iter().map(|s| s.beta.clone()).collect();
        let machine = Machine::new(kernel.clone(), self.groups, &part.points, &beta, 1.0);
        Ok(Solved { part, solutions, machine })
    }

    /// Many rows: Newton on samples that double, each starting from the machine of the one before, until
    /// all rows are in. If the active sets grow too large on the way, the machine of the last sample is
    /// kept; it has not seen the held-out rows.
    fn fit_many(
        &self,
        kernel: &Kernel,
        choice: MachineChoice,
        mut start: Machine,
        random: &mut Random,
        control: &Control,
    ) -> Result<FittedMachine> {
        let n = self.rows.len();
        let mut order = random.permutation(n);
        order.retain(|i| self.held_out.binary_search(i).is_err());
        let mut size = FIRST_ROWS.min(order.len());
        let mut rows = sorted(&order[..size]);
        loop {
            let solved = self.newton(kernel, choice, &rows, Some(&start), control)?;
            if size == n {
                return Ok(solved.finish(choice));
            }
            let grown = if 2 * size >= order.len() { n } else { 2 * size };
            rows = if grown == n { (0..n).collect() } else { sorted(&order[..grown]) };
            let squares = |active: &Vec<usize>| active.len().pow(2);
            let actives = self.starts(&solved.machine, &rows);
            if actives.iter().map(squares).sum::<usize>() > MOST_FACTORS {
                control.warn(&format!(
                    "the kernel machine uses a random sample of {size} of {n} rows: too many rows lie near its margins"
                ));
                return Ok(FittedMachine { without: Without::HeldOut, ..solved.finish(choice) });
            }
            // the factors go before the next ones come
            (start, size) = (solved.machine, grown);
        }
    }

    /// Asks for the memory of the machines of so many rows with these active sets: the kernel matrix, where it is kept, the
    /// factor of each machine, and the columns of the inverses by which the held-out rows are left out. Without starting sets, which few rows have, half of the rows are taken to be active.
    fn reserve(&self, rows: usize, starts: Option<&[Vec<usize>]>, control: &Control) -> Result<()> {
        let machines = n_machines(self.rows.n_classes());
        let active: Vec<f64> = match starts {
            Some(sets) => sets.iter().map(|set| set.len() as f64).collect(),
            None => vec![0.5 * rows as f64; machines],
        };
        let (n, held_out) = (rows as f64, self.held_out.len() as f64);
        let matrix = if rows <= NEWTON_ROWS { n * n } else { 0.0 };
        let factors: f64 = active.iter().map(|a| a * a + a * held_out.min(*a)).sum();
        let what = format!("fitting the kernel machines to {rows} rows");
        control.reserve(8.0 * (matrix + factors), what, LESS_MEMORY)
    }

    /// Asks for the memory of the search: a kernel matrix and the factors of its machines for each candidate that a thread
    /// tries.
    fn reserve_search(&self, rows: usize, candidates: usize, control: &Control) -> Result<()> {
        let tried = rayon::current_num_threads().min(candidates) as f64;
        let machines = n_machines(self.rows.n_classes()) as f64;
        // one factor of all rows, of which half are active in each machine
        let matrices = 2.0 + 0.25 * machines;
        let what = format!("choosing the kernel on {rows} rows");
        control.reserve(8.0 * tried * matrices * (rows as f64).powi(2), what, LESS_MEMORY)
    }

    fn kernel(&self, informed: bool, gamma: f64) -> Kernel {
        let flat = vec![1.0; self.variances.len()];
        let nu = self.metric.filter(|_| informed).unwrap_or(&flat);
        Kernel::new(gamma, nu, self.variances)
    }

    /// All kernels: flat or with the metric of P, and γ.
    fn candidates(&self) -> Vec<(bool, f64)> {
        let metrics = [false, true].into_iter().filter(|informed| !informed || self.metric.is_some());
        metrics.flat_map(|informed| self.gammas.iter().map(move |&gamma| (informed, gamma))).collect()
    }

    /// The kernels and ridges next to a choice, on the lists.
    fn around(&self, choice: MachineChoice) -> (Vec<(bool, f64)>, &[f64]) {
        let gammas = neighbours(self.gammas, choice.gamma);
        let kernels = gammas.iter().map(|&gamma| (choice.informed, gamma)).collect();
        (kernels, neighbours(self.ridges, choice.ridge))
    }

    /// Least leave-one-out log-loss over kernels and ridges on a subset; the machine of the best choice.
    fn choose(
        &self,
        subset: &[usize],
        candidates: &[(bool, f64)],
        ridges: &[f64],
        control: &Control,
    ) -> Result<(MachineChoice, Machine)> {
        self.reserve_search(subset.len(), candidates.len(), control)?;
        let part = self.part(subset);
        let (done, total) = (AtomicUsize::new(0), candidates.len() * ridges.len());
        let tell = || control.progress("choosing the kernel", done.fetch_add(1, Ordering::Relaxed), total);
        let tried = candidates
            .par_iter()
            .map(|&(informed, gamma)| part.try_ridges(informed, gamma, ridges, &tell, control))
            .collect::<Result<Vec<_>>>()?;
        let best = least("kernel machine", tried.into_iter().flatten())?;
        let kernel = self.kernel(best.choice.informed, best.choice.gamma);
        let machine = Machine::new(kernel, self.groups, &part.points, &best.beta, best.scale);
        Ok((best.choice, machine))
    }

    fn part(&self, rows: &[usize]) -> Part<'_> {
        Part {
            points: self.points.select_rows(rows),
            class: rows.iter().map(|&i| self.rows.class[i]).collect(),
            weight: rows.iter().map(|&i| self.rows.weight[i]).collect(),
            fit: self,
        }
    }

    /// Active sets at some rows, as positions among them, by the values of another machine.
    fn starts(&self, machine: &Machine, rows: &[usize]) -> Vec<Vec<usize>> {
        let values = machine.values_at(self.points, rows);
        let class: Vec<usize> = rows.iter().map(|&i| self.rows.class[i]).collect();
        (0..values.cols())
            .map(|m| {
                let target = targets(&class, self.rows.n_classes(), m);
                (0..target.len()).filter(|&r| target[r] * values[(r, m)] < 1.0).collect()
            })
            .collect()
    }
}

/// A value of a list with the one before and the one after it.
fn neighbours(list: &[f64], value: f64) -> &[f64] {
    let at = list.iter().position(|v| *v == value).unwrap_or(0);
    &list[at.saturating_sub(1)..(at + 2).min(list.len())]
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
    scale: f64,
    beta: Vec<Vec<f64>>,
}

/// Machines of a subset, whose scale is still to be set.
struct Solved<'a> {
    part: Part<'a>,
    solutions: Vec<SquaredHingeSolution>,
    machine: Machine,
}

impl Solved<'_> {
    /// Sets the scale b by leave-one-out.
    fn finish(self, choice: MachineChoice) -> FittedMachine {
        let Solved { part, solutions, mut machine } = self;
        (machine.scale, _) = part.scale_and_loss(&solutions);
        let report = newton_report(&solutions, choice.ridge);
        FittedMachine { machine, choice, report, without: Without::ClosedForm(solutions) }
    }
}

impl Part<'_> {
    /// The machines.
    fn solutions(
        &self,
        gram: &Gram,
        ridge: f64,
        starts: Option<Vec<Vec<usize>>>,
        control: &Control,
    ) -> Result<Vec<SquaredHingeSolution>> {
        solve_machines(gram, &self.class, &self.weight, self.fit.rows.n_classes(), ridge, starts, control)
    }

    /// The scale b of the machines, with the leave-one-out loss.
    fn scale_and_loss(&self, solutions: &[SquaredHingeSolution]) -> (f64, f64) {
        let n_classes = self.fit.rows.n_classes();
        let left_out = left_out_values(solutions, &self.class, n_classes);
        choose_scale(&left_out, &self.class, &self.weight, n_classes)
    }

    /// All ridges for one kernel with their losses, in the order listed. They are solved from the largest down, each from
    /// the active sets of the one before.
    fn try_ridges(
        &self,
        informed: bool,
        gamma: f64,
        ridges: &[f64],
        tell: &impl Fn() -> Result<()>,
        control: &Control,
    ) -> Result<Vec<(f64, Candidate)>> {
        let gram = Gram::stored(&self.fit.kernel(informed, gamma), &self.points);
        let mut starts: Option<Vec<Vec<usize>>> = None;
        let mut candidates = Vec::new();
        for &ridge in ridges.iter().rev() {
            tell()?;
            let solutions = self.solutions(&gram, ridge, starts.take(), control)?;
            let (scale, loss) = self.scale_and_loss(&solutions);
            starts = Some(solutions.iter().map(|s| s.active.clone()).collect());
            let beta = solutions.into_iter().map(|s| s.beta).collect();
            let choice = MachineChoice { informed, gamma, ridge };
            candidates.push((loss, Candidate { choice, scale, beta }));
        }
        candidates.reverse();
        Ok(candidates)
    }
}

/// Solves the machines of all classes. Without starting sets, all start from the solution in which every
/// row is active; its factorisation is shared.
pub(crate) fn solve_machines(
    gram: &Gram,
    class: &[usize],
    weight: &[f64],
    n_classes: usize,
    ridge: f64,
    starts: Option<Vec<Vec<usize>>>,
    control: &Control,
) -> Result<Vec<SquaredHingeSolution>> {
    let targets: Vec<Vec<f64>> = (0..n_machines(n_classes)).map(|m| targets(class, n_classes, m)).collect();
    let ridges: Vec<f64> = weight.iter().map(|w| ridge / w).collect();
    let machine =
        |m: usize| SquaredHinge { kernel: gram, labels: &targets[m], ridges: &ridges, intercept: false };
    let all: Vec<usize> = (0..class.len()).collect();
    let starts = match starts {
        Some(starts) => starts,
        None => {
            let factor = machine(0).factorise(&all)?;
            let start = |m: usize| {
                let mut beta = targets[m].clone();
                factor.solve(&mut beta);
                let values = gram.times(&all, &beta);
                machine(m).inside_the_margin(&values)
            };
            (0..targets.len()).into_par_iter().map(start).collect()
        }
    };
    (0..targets.len())
        .into_par_iter()
        .map(|m| machine(m).solve(Some(if starts[m].is_empty() { &all } else { &starts[m] }), control))
        .collect()
}

/// Leave-one-out values of all machines at the training rows.
pub(crate) fn left_out_values(
    solutions: &[SquaredHingeSolution],
    class: &[usize],
    n_classes: usize,
) -> Matrix {
    let columns: Vec<Vec<f64>> =
        solutions.par_iter().enumerate().map(|(m, s)| s.left_out(&targets(class, n_classes, m))).collect();
    Matrix::from_fn(class.len(), columns.len(), |i, m| columns[m][i])
}

fn sorted(rows: &[usize]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

fn newton_report(solutions: &[SquaredHingeSolution], ridge: f64) -> SolverReport {
    let reports = || solutions.iter().map(|s| &s.report);
    let converged = reports().all(|r| r.converged);
    let rounds = reports().map(|r| r.iterations).max().unwrap_or(0);
    let objective = reports().map(|r| ridge * r.objective).sum();
    SolverReport::new("finite Newton on the squared hinge loss", converged, rounds, objective, None)
}
