//! Linear objectives over linear and second-order cone constraints, by an interior-point method:
//!
//! ```text
//! min c'x   s = h − G x ∈ K          max −h'z   G'z + c = 0,  z ∈ K
//! ```
//!
//! where K is a product of cones `{u: u_0 >= |u_1..|}`; a cone of one row is the half-line. Some variables are shared by many
//! rows, the others come in small groups (a row's slack) of which no cone knows two: an orthogonal elimination of each
//! group leaves a dense system over the shared variables only. Nesterov-Todd scaling; Vandenberghe: The CVXOPT linear
//! and quadratic cone program solvers, 2010, gives start, scaling and steps.

use super::interior::{LONGEST, PrimalDual, follow};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::numeric::linalg::{Cholesky, Matrix, dot};
use std::collections::BTreeMap;

/// Most steps; 10 to 30 are usual.
const MOST_STEPS: usize = 100;
/// Relative gap and residuals that end the method, and those with which a method stopped by rounding is still good.
const TOLERANCE: f64 = 1e-9;
const USABLE: f64 = 1e-6;
/// Optimum below which the gap is no longer relative to it.
const LEAST_OPTIMUM: f64 = 1e-3;
/// Share of the largest pivot added to all: the last steps are nearly singular.
const RIDGE: f64 = 1e-15;

/// A cone program, built row by row.
#[derive(Debug)]
pub struct ConeProgram {
    shared: usize,
    group_size: usize,
    groups: usize,
    cones: Vec<ConeRows>,
    right: Vec<f64>,
}

/// The rows of one cone: a dense block over the variables that occur in it.
#[derive(Debug)]
struct ConeRows {
    first: usize,
    size: usize,
    columns: Vec<usize>,
    /// One row a column of G.
    entries: Matrix,
}

/// A solved cone program.
#[derive(Debug, Clone, PartialEq)]
pub struct ConeSolution {
    /// The minimiser.
    pub x: Vec<f64>,
    /// Multipliers z of the rows, in their order.
    pub dual: Vec<f64>,
    /// Steps of the interior-point method.
    pub iterations: usize,
}

/// One row of a cone, `right − Σ value · x[variable]`; a variable must occur once at most.
pub type ConeRow = (f64, Vec<(usize, f64)>);

impl ConeProgram {
    /// A program without constraints: `shared` variables, then `groups` groups of `group_size` variables each.
    pub fn new(shared: usize, groups: usize, group_size: usize) -> Self {
        ConeProgram { shared, group_size, groups, cones: Vec::new(), right: Vec::new() }
    }

    /// Variable `k` of group `group`.
    pub fn local(&self, group: usize, k: usize) -> usize {
        self.shared + group * self.group_size + k
    }

    /// Demands that the row is at least 0.
    pub fn at_least_zero(&mut self, right: f64, entries: Vec<(usize, f64)>) {
        self.cone(vec![(right, entries)]);
    }

    /// Demands that the first row is at least the norm of the others. No two groups may meet in a cone.
    pub fn cone(&mut self, rows: Vec<ConeRow>) {
        let mut columns: Vec<usize> = rows.iter().flat_map(|(_, e)| e.iter().map(|(j, _)| *j)).collect();
        columns.sort_unstable();
        columns.dedup();
        let mut entries = Matrix::zeros(columns.len(), rows.len());
        let (first, size) = (self.right.len(), rows.len());
        for (r, (right, row)) in rows.into_iter().enumerate() {
            self.right.push(right);
            for (j, value) in row {
                entries[(columns.partition_point(|c| *c < j), r)] = value;
            }
        }
        self.cones.push(ConeRows { first, size, columns, entries });
    }

    /// The minimiser of `cost'x` with the multipliers of the rows; an error when there is none or the method fails.
    pub fn minimise(&self, cost: &[f64], control: &Control) -> Result<ConeSolution> {
        let mut point = Point::start(self, cost)?;
        let iterations = follow(&mut point, MOST_STEPS, control)?;
        let reached = point.distance();
        if reached.is_nan() || reached > USABLE {
            return Err(failed(format!("it ended after {iterations} steps, {reached:.1e} from the optimum")));
        }
        Ok(ConeSolution { x: point.x, dual: point.z, iterations })
    }

    /// `G x`.
    fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.right.len()];
        for cone in &self.cones {
            let part = &mut out[cone.rows()];
            for (k, &j) in cone.columns.iter().enumerate() {
                part.iter_mut().zip(cone.entries.row(k)).for_each(|(o, g)| *o += g * x[j]);
            }
        }
        out
    }

    /// `G'z`.
    fn transposed_times(&self, z: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.shared + self.groups * self.group_size];
        for cone in &self.cones {
            let part = &z[cone.rows()];
            for (k, &j) in cone.columns.iter().enumerate() {
                out[j] += dot(cone.entries.row(k), part);
            }
        }
        out
    }

    /// `G'W⁻²G`, factorised; `scalings` holds one W a cone.
    fn factorise(&self, scalings: &[Scaling]) -> Result<Factored> {
        // Rows of W⁻¹G of each group with its cones, and of the cones without a group.
        let mut of_group: Vec<Vec<usize>> = vec![Vec::new(); self.groups];
        let mut system = Matrix::zeros(self.shared, self.shared);
        let mut alone = Vec::new();
        for (c, cone) in self.cones.iter().enumerate() {
            match cone.columns.last().and_then(|j| j.checked_sub(self.shared)) {
                Some(local) => of_group[local / self.group_size].push(c),
                None => alone.push(c),
            }
        }
        // Stacks of rows over the same shared variables: their products are those of large matrices.
        let mut stacks: BTreeMap<Vec<usize>, Vec<f64>> = BTreeMap::new();
        let eliminate = |cones: &Vec<usize>| self.eliminate(cones, self.group_size, scalings, &mut stacks);
        let groups = of_group.iter().map(eliminate).collect::<Result<Vec<_>>>()?;
        for c in alone {
            self.eliminate(&[c], 0, scalings, &mut stacks)?;
        }
        for (columns, rows) in stacks {
            let height = rows.len() / columns.len().max(1);
            let product = Matrix::from_vec(height, columns.len(), rows)?.gram_of_columns();
            for (a, &i) in columns.iter().enumerate() {
                for (b, &j) in columns[..=a].iter().enumerate() {
                    system[(i, j)] += product[(a, b)];
                }
            }
        }
        let largest = (0..self.shared).map(|j| system[(j, j)]).fold(0.0, f64::max);
        (0..self.shared).for_each(|j| system[(j, j)] += RIDGE * largest);
        Ok(Factored { shared: Cholesky::new(&system)?, groups })
    }

    /// The rows `W⁻¹G` of some cones with the variables of their group, `locals` of them, rotated out of all but the first
    /// rows; the others are added to the stack of their shared variables.
    fn eliminate(
        &self,
        cones: &[usize],
        locals: usize,
        scalings: &[Scaling],
        stacks: &mut BTreeMap<Vec<usize>, Vec<f64>>,
    ) -> Result<Eliminated> {
        let mut columns: Vec<usize> =
            cones.iter().flat_map(|&c| self.cones[c].columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.truncate(columns.partition_point(|j| *j < self.shared));
        let width = columns.len();
        let height: usize = cones.iter().map(|&c| self.cones[c].size).sum();
        let mut rows = Matrix::zeros(height, locals + width);
        let mut top = 0;
        for &c in cones {
            let cone = &self.cones[c];
            for (k, &j) in cone.columns.iter().enumerate() {
                let mut scaled = cone.entries.row(k).to_vec();
                scalings[c].divide(&mut scaled);
                let at = match j.checked_sub(self.shared) {
                    Some(local) => local % self.group_size,
                    None => locals + columns.partition_point(|c| *c < j),
                };
                scaled.iter().enumerate().for_each(|(r, v)| rows[(top + r, at)] = *v);
            }
            top += cone.size;
        }
        let upper = rotate(&mut rows, locals).ok_or_else(|| failed("a variable has no constraint".into()))?;
        let stack = stacks.entry(columns.clone()).or_default();
        (locals..height).for_each(|r| stack.extend_from_slice(&rows.row(r)[locals..]));
        let coupling = Matrix::from_fn(locals, width, |r, j| rows[(r, locals + j)]);
        Ok(Eliminated { columns, upper, coupling })
    }
}

fn failed(problem: String) -> Error {
    Error::numeric("second-order cone program", problem)
}

/// Householder rotations that make the first columns upper triangular; returns their triangle.
fn rotate(rows: &mut Matrix, columns: usize) -> Option<Matrix> {
    let height = rows.rows();
    for k in 0..columns {
        let norm = (k..height).map(|r| rows[(r, k)].powi(2)).sum::<f64>().sqrt();
        if norm.is_nan() || norm <= 0.0 {
            return None;
        }
        let mut v: Vec<f64> = (k..height).map(|r| rows[(r, k)]).collect();
        v[0] += norm.copysign(v[0]);
        let scale = 2.0 / dot(&v, &v);
        let mut along = vec![0.0; rows.cols()];
        for (r, v) in v.iter().enumerate() {
            along.iter_mut().zip(rows.row(k + r)).for_each(|(a, x)| *a += scale * v * x);
        }
        for (r, v) in v.iter().enumerate() {
            rows.row_mut(k + r).iter_mut().zip(&along).for_each(|(x, a)| *x -= v * a);
        }
    }
    Some(Matrix::from_fn(columns, columns, |r, c| if c < r { 0.0 } else { rows[(r, c)] }))
}

/// A group after its elimination: `upper · local + coupling · shared`.
struct Eliminated {
    columns: Vec<usize>,
    upper: Matrix,
    coupling: Matrix,
}

struct Factored {
    shared: Cholesky,
    groups: Vec<Eliminated>,
}

impl Factored {
    /// Solves `G'W⁻²G x = v` in place.
    fn solve(&self, v: &mut [f64], shared: usize) {
        let (head, tail) = v.split_at_mut(shared);
        let size = self.groups.first().map_or(0, |g| g.upper.rows());
        for (group, local) in self.groups.iter().zip(tail.chunks_exact_mut(size.max(1))) {
            // R'y = g, then the shared side loses C'y.
            for r in 0..size {
                local[r] = (local[r] - (0..r).map(|k| group.upper[(k, r)] * local[k]).sum::<f64>())
                    / group.upper[(r, r)];
                group.columns.iter().zip(group.coupling.row(r)).for_each(|(&j, c)| head[j] -= c * local[r]);
            }
        }
        self.shared.solve(head);
        for (group, local) in self.groups.iter().zip(tail.chunks_exact_mut(size.max(1))) {
            for r in (0..size).rev() {
                let of_shared: f64 =
                    group.columns.iter().zip(group.coupling.row(r)).map(|(&j, c)| c * head[j]).sum();
                let of_later: f64 = (r + 1..size).map(|k| group.upper[(r, k)] * local[k]).sum();
                local[r] = (local[r] - of_shared - of_later) / group.upper[(r, r)];
            }
        }
    }
}

impl ConeRows {
    fn rows(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.size
    }
}

/// Nesterov-Todd scaling of one cone, `W z = W⁻¹ s`: `W = η [w_0 w_1'; w_1 I + w_1 w_1'/(1 + w_0)]`.
struct Scaling {
    eta: f64,
    w: Vec<f64>,
}

impl Scaling {
    fn new(s: &[f64], z: &[f64]) -> Self {
        let (ds, dz) = (determinant(s).sqrt(), determinant(z).sqrt());
        let product = dot(s, z) / (ds * dz);
        let gamma = (0.5 * (1.0 + product)).sqrt();
        let entry = |(r, (s, z)): (usize, (&f64, &f64))| {
            (s / ds + if r == 0 { z / dz } else { -z / dz }) / (2.0 * gamma)
        };
        Scaling { eta: (ds / dz).sqrt(), w: s.iter().zip(z).enumerate().map(entry).collect() }
    }

    /// W = 1.
    fn identity(size: usize) -> Self {
        let mut w = vec![0.0; size];
        w[0] = 1.0;
        Scaling { eta: 1.0, w }
    }

    /// `W u` in place.
    fn multiply(&self, u: &mut [f64]) {
        self.apply(u, 1.0, self.eta);
    }

    /// `W⁻¹ u` in place.
    fn divide(&self, u: &mut [f64]) {
        self.apply(u, -1.0, 1.0 / self.eta);
    }

    fn apply(&self, u: &mut [f64], sign: f64, scale: f64) {
        let (w0, w1) = (self.w[0], &self.w[1..]);
        let first = u[0];
        let along = dot(w1, &u[1..]);
        u[0] = scale * (w0 * first + sign * along);
        let factor = sign * first + along / (1.0 + w0);
        u[1..].iter_mut().zip(w1).for_each(|(u, w)| *u = scale * (*u + factor * w));
    }
}

/// `u_0² − |u_1|²`.
fn determinant(u: &[f64]) -> f64 {
    let norm = dot(&u[1..], &u[1..]).sqrt();
    (u[0] - norm) * (u[0] + norm)
}

/// The product of the cone's algebra, `(u'v, u_0 v_1 + v_0 u_1)`.
fn product(u: &[f64], v: &[f64]) -> Vec<f64> {
    let rest = u[1..].iter().zip(&v[1..]).map(|(a, b)| u[0] * b + v[0] * a);
    std::iter::once(dot(u, v)).chain(rest).collect()
}

/// Length at which `u + t d` leaves the cone: with d in the coordinates in which u is the unit, `1 + t d_0 = t |d_1|`.
fn length_inside(u: &[f64], d: &[f64]) -> f64 {
    let size = determinant(u).sqrt();
    let along = (u[0] * d[0] - dot(&u[1..], &d[1..])) / size;
    let factor = (along + d[0]) / (u[0] + size);
    let across: f64 = d[1..].iter().zip(&u[1..]).map(|(d, u)| (d - factor * u).powi(2)).sum();
    let outwards = (across.sqrt() - along) / size;
    if outwards > 0.0 { 1.0 / outwards } else { f64::INFINITY }
}

/// An iterate.
struct Point<'a> {
    program: &'a ConeProgram,
    cost: &'a [f64],
    x: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    scalings: Vec<Scaling>,
    /// `λ = W z = W⁻¹ s`.
    lambda: Vec<f64>,
    /// `G x + s − h` and `G'z + c`.
    residuals: (Vec<f64>, Vec<f64>),
}

/// Changes of all variables; those of s and z are in the scaled coordinates, `W⁻¹ ds` and `W dz`.
struct Move {
    x: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
}

impl<'a> Point<'a> {
    /// The least squares solutions of both sides, moved into the cones.
    fn start(program: &'a ConeProgram, cost: &'a [f64]) -> Result<Self> {
        let identity: Vec<Scaling> = program.cones.iter().map(|c| Scaling::identity(c.size)).collect();
        let factor = program.factorise(&identity)?;
        let mut x = program.transposed_times(&program.right);
        factor.solve(&mut x, program.shared);
        let mut s: Vec<f64> = program.right.iter().zip(program.times(&x)).map(|(h, g)| h - g).collect();
        let mut u: Vec<f64> = cost.iter().map(|c| -c).collect();
        factor.solve(&mut u, program.shared);
        let mut z = program.times(&u);
        move_inside(program, &mut s);
        move_inside(program, &mut z);
        let mut point = Point {
            program,
            cost,
            x,
            s,
            z,
            scalings: Vec::new(),
            lambda: Vec::new(),
            residuals: (Vec::new(), Vec::new()),
        };
        point.refresh();
        Ok(point)
    }

    /// Scaling and residuals of the iterate.
    fn refresh(&mut self) {
        let program = self.program;
        let scaling = |c: &ConeRows| Scaling::new(&self.s[c.rows()], &self.z[c.rows()]);
        self.scalings = program.cones.iter().map(scaling).collect();
        self.lambda = self.scaled(&self.z, Scaling::multiply);
        let primal = program
            .times(&self.x)
            .iter()
            .zip(self.s.iter().zip(&program.right))
            .map(|(g, (s, h))| g + s - h)
            .collect();
        let dual = program.transposed_times(&self.z).iter().zip(self.cost).map(|(g, c)| g + c).collect();
        self.residuals = (primal, dual);
    }

    /// A vector over the rows with every cone scaled.
    fn scaled(&self, v: &[f64], scale: impl Fn(&Scaling, &mut [f64])) -> Vec<f64> {
        let mut out = v.to_vec();
        for (cone, scaling) in self.program.cones.iter().zip(&self.scalings) {
            scale(scaling, &mut out[cone.rows()]);
        }
        out
    }

    /// Largest of the relative gap and the relative residuals.
    fn distance(&self) -> f64 {
        let norm = |v: &[f64]| dot(v, v).sqrt();
        let (primal, dual) = (dot(self.cost, &self.x), -dot(&self.program.right, &self.z));
        let gap = dot(&self.s, &self.z) / primal.abs().max(dual.abs()).max(LEAST_OPTIMUM);
        let of_rows = norm(&self.residuals.0) / norm(&self.program.right).max(1.0);
        gap.max(of_rows).max(norm(&self.residuals.1) / norm(self.cost).max(1.0))
    }
}

/// Adds the same to the first row of all cones, so that all are well inside.
fn move_inside(program: &ConeProgram, u: &mut [f64]) {
    let outside = |c: &ConeRows| dot(&u[c.rows()][1..], &u[c.rows()][1..]).sqrt() - u[c.first];
    let most = program.cones.iter().map(outside).fold(f64::NEG_INFINITY, f64::max);
    let size = dot(u, u).sqrt().max(1.0);
    if most >= -1e-8 * size {
        program.cones.iter().for_each(|c| u[c.first] += 1.0 + most);
    }
}

impl PrimalDual for Point<'_> {
    type Factor = Factored;
    type Move = Move;

    fn is_solved(&self) -> bool {
        self.distance() <= TOLERANCE
    }

    fn excess(&self) -> f64 {
        self.distance() / TOLERANCE
    }

    fn factorise(&self) -> Result<Factored> {
        self.program.factorise(&self.scalings)
    }

    fn products(&self) -> (usize, f64) {
        (self.program.cones.len(), dot(&self.s, &self.z))
    }

    fn sum_after(&self, step: &Move, length: f64) -> f64 {
        let row = |r: usize| (self.lambda[r] + length * step.s[r]) * (self.lambda[r] + length * step.z[r]);
        (0..self.lambda.len()).map(row).sum()
    }

    /// `centre e − ds ∘ dz` in the scaled coordinates.
    fn aim(&self, centre: f64, predictor: Option<&Move>) -> Vec<f64> {
        let mut out = vec![0.0; self.lambda.len()];
        for cone in &self.program.cones {
            if let Some(step) = predictor {
                let second = product(&step.s[cone.rows()], &step.z[cone.rows()]);
                out[cone.rows()].iter_mut().zip(second).for_each(|(o, v)| *o = -v);
            }
            out[cone.first] += centre;
        }
        out
    }

    /// `G'dz = −r_x`, `G dx + ds = −r_z`, `λ ∘ (W⁻¹ds + W dz) = aim − λ ∘ λ`, with s and z eliminated.
    fn towards(&self, factor: &Factored, aim: &[f64]) -> Move {
        let program = self.program;
        // What the scaled changes of s and z add up to: λ \ aim − λ.
        let mut total = vec![0.0; self.lambda.len()];
        for cone in &program.cones {
            let (lambda, aim) = (&self.lambda[cone.rows()], &aim[cone.rows()]);
            let first = (lambda[0] * aim[0] - dot(&lambda[1..], &aim[1..])) / determinant(lambda);
            let out = &mut total[cone.rows()];
            out[0] = first - lambda[0];
            for r in 1..cone.size {
                out[r] = (aim[r] - first * lambda[r]) / lambda[0] - lambda[r];
            }
        }
        let mut known = self.scaled(&self.residuals.0, Scaling::divide);
        known.iter_mut().zip(&total).for_each(|(k, t)| *k += t);
        let pulled = program.transposed_times(&self.scaled(&known, Scaling::divide));
        let mut x: Vec<f64> = self.residuals.1.iter().zip(&pulled).map(|(r, p)| -r - p).collect();
        factor.solve(&mut x, program.shared);
        let mut z = self.scaled(&program.times(&x), Scaling::divide);
        z.iter_mut().zip(&known).for_each(|(z, k)| *z += k);
        let s = total.iter().zip(&z).map(|(t, z)| t - z).collect();
        Move { x, s, z }
    }

    fn longest(&self, step: &Move) -> f64 {
        self.program.cones.iter().fold(LONGEST, |longest, cone| {
            let of = |d: &[f64]| length_inside(&self.lambda[cone.rows()], &d[cone.rows()]);
            longest.min(of(&step.s)).min(of(&step.z))
        })
    }

    fn advance(&mut self, step: &Move, length: f64) {
        let (ds, dz) = (self.scaled(&step.s, Scaling::multiply), self.scaled(&step.z, Scaling::divide));
        let add = |to: &mut [f64], d: &[f64]| to.iter_mut().zip(d).for_each(|(v, d)| *v += length * d);
        add(&mut self.x, &step.x);
        add(&mut self.s, &ds);
        add(&mut self.z, &dz);
        self.refresh();
    }
}
