//! Problems (10) and (11) as conic programs for Clarabel: exponential cones for the table rows and the soft
//! maxima, second-order cones for the arcs.
//!
//! Variables: w, then ξ_m, then the helpers of the rows. All constraints read `A x + s = b`, `s` in a cone.

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{ExponentialConeT, NonnegativeConeT, SecondOrderConeT};
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT};
use hingenet_base::error::{Error, Result};
use hingenet_discrete::Structure;
use hingenet_discrete::margin::Problem;

/// What the conic solver found.
#[derive(Debug, Clone)]
pub struct ConicSolution {
    /// Normalised parameters.
    pub w: Vec<f64>,
    /// Multipliers of the margins, laid out as [`Problem::multipliers`].
    pub multipliers: Vec<f64>,
}

/// Solves the problem; a smooth loss makes it (11), else (10).
pub fn minimise(structure: &Structure, problem: &Problem) -> Result<ConicSolution> {
    let mut program = Program::new(problem);
    program.table_rows(structure);
    if problem.loss.is_smooth() {
        program.soft_margins();
    } else {
        program.margins();
    }
    program.solve()
}

struct Program<'a> {
    problem: &'a Problem,
    /// Triplets of A by row, b, and the cones in order.
    entries: Vec<(usize, usize, f64)>,
    b: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
    /// Linear objective; its length is the number of variables.
    cost: Vec<f64>,
    /// Row of A of the margin constraint of each (row, class).
    margin_row: Vec<Option<usize>>,
}

impl<'a> Program<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut cost: Vec<f64> = problem.likelihood.counts().iter().map(|n| -n).collect();
        let weight = |m: usize| problem.loss.lambda() * problem.rows.weight(m);
        cost.extend((0..problem.rows.len()).map(weight));
        let margin_row = vec![None; problem.rows.len() * problem.rows.n_classes()];
        Program { problem, entries: vec![], b: vec![], cones: vec![], cost, margin_row }
    }

    fn variable(&mut self) -> usize {
        self.cost.push(0.0);
        self.cost.len() - 1
    }

    fn xi(&self, m: usize) -> usize {
        self.problem.likelihood.counts().len() + m
    }

    /// Adds the row `s = constant + Σ coefficient x`; returns its number.
    fn row(&mut self, constant: f64, terms: &[(usize, f64)]) -> usize {
        let row = self.b.len();
        self.b.push(constant);
        self.entries.extend(terms.iter().map(|&(x, c)| (row, x, -c)));
        row
    }

    /// `lse_j w_j ≤ 0`: exp(w_j) ≤ t_j, Σ t_j ≤ 1.
    fn table_rows(&mut self, structure: &Structure) {
        for i in 0..structure.n_nodes() {
            let (start, card) = (structure.table(i).start, structure.card()[i]);
            for h in 0..structure.n_rows(i) {
                let mut total = Vec::with_capacity(card);
                for j in 0..card {
                    let t = self.variable();
                    self.row(0.0, &[(start + h * card + j, 1.0)]);
                    self.row(1.0, &[]);
                    self.row(0.0, &[(t, 1.0)]);
                    self.cones.push(ExponentialConeT());
                    total.push((t, -1.0));
                }
                self.row(1.0, &total);
                self.cones.push(NonnegativeConeT(1));
            }
        }
    }

    /// Terms of `S_{c_m} − S_c` in w.
    fn margin_terms(&self, m: usize, c: usize) -> Vec<(usize, f64)> {
        let rows = &self.problem.rows;
        let k = rows.n_classes();
        let entry = |g: u32, c: usize| rows.entries()[g as usize * k + c] as usize;
        let own = rows.class(m);
        rows.groups(m).iter().flat_map(|&g| [(entry(g, own), 1.0), (entry(g, c), -1.0)]).collect()
    }

    /// Problem (10): `S_{c_m} − S_c ≥ γ − ξ_m`, `ξ_m ≥ 0`.
    fn margins(&mut self) {
        let rows = &self.problem.rows;
        let k = rows.n_classes();
        for m in 0..rows.len() {
            let xi = self.xi(m);
            self.row(0.0, &[(xi, 1.0)]);
            let own = rows.class(m);
            for c in (0..k).filter(|&c| c != own) {
                let gamma = self.problem.loss.gamma();
                let mut terms = self.margin_terms(m, c);
                terms.push((xi, 1.0));
                self.margin_row[m * k + c] = Some(self.row(-gamma, &terms));
            }
            self.cones.push(NonnegativeConeT(k));
        }
    }

    /// Problem (11): t_m bounds the soft maximum (exponential cones), and (t_m, ξ_m) lies in the epigraph of
    /// the soft hinge, which is that of a hinge with its kink at (μ, R) plus a disc of radius R.
    fn soft_margins(&mut self) {
        let rows = &self.problem.rows;
        let k = rows.n_classes();
        let (eta, radius) = (self.problem.loss.smoothing().eta, self.problem.loss.smoothing().radius);
        let kink = self.problem.loss.hinge().start();
        for m in 0..rows.len() {
            let (xi, t) = (self.xi(m), self.variable());
            let own = rows.class(m);
            let mut total = Vec::with_capacity(k - 1);
            for c in (0..k).filter(|&c| c != own) {
                let gamma = self.problem.loss.gamma();
                let terms = self.margin_terms(m, c);
                if k == 2 || eta.is_infinite() {
                    let mut terms = terms;
                    terms.push((t, 1.0));
                    self.margin_row[m * k + c] = Some(self.row(-gamma, &terms));
                    self.cones.push(NonnegativeConeT(1));
                } else {
                    // exp(η (γ − margin − t)) ≤ e_c, Σ e_c ≤ 1
                    let e = self.variable();
                    let mut scaled: Vec<(usize, f64)> = terms.iter().map(|&(x, v)| (x, -eta * v)).collect();
                    scaled.push((t, -eta));
                    self.margin_row[m * k + c] = Some(self.row(eta * gamma, &scaled));
                    self.row(1.0, &[]);
                    self.row(0.0, &[(e, 1.0)]);
                    self.cones.push(ExponentialConeT());
                    total.push((e, -1.0));
                }
            }
            if !total.is_empty() {
                self.row(1.0, &total);
                self.cones.push(NonnegativeConeT(1));
            }
            let (u, v) = (self.variable(), self.variable());
            self.row(radius, &[]);
            self.row(0.0, &[(t, 1.0), (u, -1.0)]);
            self.row(0.0, &[(xi, 1.0), (v, -1.0)]);
            self.cones.push(SecondOrderConeT(3));
            self.row(-radius, &[(v, 1.0)]);
            self.row(kink - radius, &[(v, 1.0), (u, -1.0)]);
            self.cones.push(NonnegativeConeT(2));
        }
    }

    fn solve(self) -> Result<ConicSolution> {
        let failed = |problem: String| Error::Numeric { method: "conic solver".into(), problem };
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .max_threads(1)
            .build()
            .map_err(|e| failed(e.to_string()))?;
        let a = self.matrix();
        let p = CscMatrix::zeros((self.cost.len(), self.cost.len()));
        let mut solver = DefaultSolver::new(&p, &self.cost, &a, &self.b, &self.cones, settings)
            .map_err(|e| failed(e.to_string()))?;
        solver.solve();
        let solution = &solver.solution;
        let mut w = solution.x[..self.problem.likelihood.counts().len()].to_vec();
        if !w.iter().all(|x| x.is_finite()) {
            return Err(failed(format!("ended with status {:?}", solution.status)));
        }
        self.problem.likelihood.normaliser().normalise(&mut w)?;
        let multipliers = self.multipliers(&solution.z);
        Ok(ConicSolution { w, multipliers })
    }

    /// Multipliers of the margins, capped at λ s.
    fn multipliers(&self, z: &[f64]) -> Vec<f64> {
        let loss = &self.problem.loss;
        let k = self.problem.rows.n_classes();
        let soft = loss.is_smooth() && k > 2 && loss.smoothing().eta.is_finite();
        // The dual of an exponential cone has its first component negative; the row is scaled by η.
        let scale = if soft { -loss.smoothing().eta } else { 1.0 };
        let mut a: Vec<f64> =
            self.margin_row.iter().map(|row| row.map_or(0.0, |row| (scale * z[row]).max(0.0))).collect();
        for (m, row) in a.chunks_exact_mut(k).enumerate() {
            let cap = loss.lambda() * self.problem.rows.weight(m);
            let total: f64 = row.iter().sum();
            if total > cap {
                row.iter_mut().for_each(|x| *x *= cap / total);
            }
        }
        a
    }

    fn matrix(&self) -> CscMatrix<f64> {
        let (i, (j, v)): (Vec<usize>, (Vec<usize>, Vec<f64>)) =
            self.entries.iter().map(|&(i, j, v)| (i, (j, v))).unzip();
        CscMatrix::new_from_triplets(self.b.len(), self.cost.len(), i, j, v)
    }
}
