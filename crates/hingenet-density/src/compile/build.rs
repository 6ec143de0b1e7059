//! Building the tables: evaluate on a grid, compare with exact values at probes (training rows and draws
//! from the densities), refine until the error is small against the spread of the class scores.

use super::{Axis, Group, Layer, LineTable, PairTable, Scratch};
use crate::columns::{Columns, Kind};
use crate::estimate::kernel::Floor;
use crate::estimate::{FINE_COLUMNS, Joint, Marginal};
use crate::fit::{ExactModel, LESS};
use crate::terms::PerTerm;
use crate::terms::raw::{Product, RawTerm, Weighted};
use hingenet_base::control::Control;
use hingenet_base::error::Result;
use hingenet_base::numeric::random::Random;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Wanted root mean square error of the outputs, in their standard deviations.
const TOLERANCE: f64 = 1e-3;

/// Most nodes of a pair table and of a line table.
const MOST_PAIR_NODES: usize = 1 << 18;
const MOST_LINE_NODES: usize = 1 << 14;
/// Distance of the nodes, in units of the first, beyond which fewer nodes are not tried: categories have one each.
const COARSEST: f64 = 1e3;

/// Stands for no floor: below every log density of a finite table.
const NO_FLOOR: f64 = -1e9;

/// Tables of pairs hold log densities down to so far below their floor: readers see nothing of what lies lower, and the cells
/// across the floor need nodes beyond it.
const BELOW_FLOOR: f64 = 9.0;

/// Probes for each table: at most this many training rows, and as many draws.
const PROBES: usize = 300;

/// Tables of a fit and how well they agree with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// One for each feature.
    pub lines: Vec<LineTable>,
    /// One for each pair kept in some class.
    pub pairs: Vec<PairTable>,
    /// Root mean square difference of the outputs from exact ones, over their standard deviation: largest over
    /// the outputs, on training rows and draws.
    pub error: f64,
}

/// Most builds, each finer than the one before.
const BUILDS: usize = 4;

/// Context shared by all tables.
struct Builder<'a> {
    model: &'a ExactModel,
    columns: &'a Columns,
    features: &'a PerTerm,
    /// Training rows at which tables are compared with exact values.
    probes: Vec<usize>,
    reach: f64,
    seed: u64,
}

/// Compiles a fit; `columns` are its training rows.
pub fn compile(
    model: &ExactModel,
    columns: &Columns,
    floor: Floor,
    seed: u64,
    control: &Control,
) -> Result<Compiled> {
    let features = model.densities.features(&columns.values, false, control)?;
    let spread = output_spread(&model.scores.evaluate(&features), model.scores.base.len());
    let stride = columns.n_rows().div_ceil(PROBES).max(1);
    let probes = (0..columns.n_rows()).step_by(stride).collect();
    let builder =
        Builder { model, columns, features: &features, probes, reach: reach(floor, model, columns), seed };
    let pairs = pair_uses(model, &features);
    let rows = builder.probe_rows();
    let exact = model.outputs(&rows, control)?;
    let tables = (columns.n_features() + pairs.len()).max(1) as f64;
    let mut tolerance = 0.5 * TOLERANCE * spread / tables.sqrt();
    let mut compiled = builder.build(&pairs, tolerance, control)?;
    for build in 1.. {
        compiled.error = builder.error(&compiled, &rows, &exact) / spread;
        if compiled.error <= TOLERANCE || build == BUILDS {
            break;
        }
        tolerance *= 0.4;
        // coarse tables go before finer ones come
        drop(compiled);
        compiled = builder.build(&pairs, tolerance, control)?;
    }
    Ok(compiled)
}

/// Distance in bandwidths beyond which every floored density is at its floor.
fn reach(floor: Floor, model: &ExactModel, columns: &Columns) -> f64 {
    // densities may be those of more rows
    let behind = |marginal: &Marginal| match marginal {
        Marginal::Kernel { kde, .. } => kde.total,
        Marginal::Frequencies(_) => 0.0,
    };
    let totals = model.densities.classes.iter().flat_map(|c| c.marginals.iter().map(behind));
    let m = totals.chain(columns.class_totals()).fold(1.0, f64::max);
    match floor {
        Floor::Bandwidths(r) => (r * r + 2.0 * m.ln()).sqrt() + 0.1,
        // The floor in bandwidths depends on the bandwidth; 12 leave nothing above e^-72 of a kernel.
        Floor::Absolute(_) | Floor::None => 12.0,
    }
}

/// Kernel widths of one class along the axes of a pair: the whole width, and that given the other value.
struct PairWidth {
    class: usize,
    wide: [f64; 2],
    narrow: [f64; 2],
}

/// A class that uses a pair: its density, the values of that at the training rows, and its weights in the outputs.
struct Use<'a> {
    class: usize,
    joint: &'a Joint,
    values: &'a Vec<f64>,
    weights: &'a Vec<f64>,
}

/// The classes that use each pair.
type Uses<'a> = BTreeMap<(usize, usize), Vec<Use<'a>>>;

fn pair_uses<'a>(model: &'a ExactModel, features: &'a PerTerm) -> Uses<'a> {
    let mut uses = Uses::new();
    for (class, densities) in model.densities.classes.iter().enumerate() {
        let (values, weights) = (&features.classes[class].pairs, &model.scores.weights.classes[class].pairs);
        for (p, pair) in densities.pairs.iter().enumerate() {
            if weights[p].iter().any(|v| *v != 0.0) || product_term(model, *pair).is_some() {
                let joint = &densities.joints[p];
                let of_class = Use { class, joint, values: &values[p], weights: &weights[p] };
                uses.entry(*pair).or_default().push(of_class);
            }
        }
    }
    uses
}

/// The product of a pair and its place among the raw terms, if a score uses it.
fn product_term(model: &ExactModel, pair: (usize, usize)) -> Option<(usize, Weighted<Product>)> {
    model.raw_term(|term| match term {
        RawTerm::Product(p, product) if *p == pair => Some(*product),
        _ => None,
    })
}

/// Smallest standard deviation of an output; 1 if an output does not vary.
fn output_spread(rows: &[Vec<f64>], outputs: usize) -> f64 {
    let sd = |s: usize| {
        let mean = rows.iter().map(|r| r[s]).sum::<f64>() / rows.len() as f64;
        (rows.iter().map(|r| (r[s] - mean) * (r[s] - mean)).sum::<f64>() / rows.len() as f64).sqrt()
    };
    let smallest = (0..outputs).map(sd).fold(f64::INFINITY, f64::min);
    if smallest.is_finite() && smallest > 0.0 { smallest } else { 1.0 }
}

/// Root mean square, output by output, and the largest of them.
fn largest_rms(differences: &[Vec<f64>]) -> f64 {
    let outputs = differences.first().map_or(0, Vec::len);
    (0..outputs)
        .map(|s| (differences.iter().map(|d| d[s] * d[s]).sum::<f64>() / differences.len() as f64).sqrt())
        .fold(0.0, f64::max)
}

/// By how much smaller steps should be: the error falls with their fourth power.
fn refinement(wanted: f64, error: f64) -> f64 {
    (0.9 * (wanted / error.max(f64::MIN_POSITIVE)).sqrt().sqrt()).clamp(0.4, 0.85)
}

impl Builder<'_> {
    fn build(&self, uses: &Uses<'_>, tolerance: f64, control: &Control) -> Result<Compiled> {
        let built = AtomicUsize::new(0);
        let steps = control.steps("tables of the densities", self.columns.n_features() + uses.len())?;
        let line = |i: usize| {
            let table = self.line(i, tolerance);
            steps.done().map(|()| table)
        };
        let pair = |(pair, uses): (&(usize, usize), &Vec<Use<'_>>)| {
            control.check()?;
            let table = self.pair(*pair, uses, tolerance, control)?;
            let numbers: usize = table.layers.iter().map(|layer| layer.values.len()).sum();
            let numbers = numbers + built.fetch_add(numbers, Ordering::Relaxed);
            control.reserve(4.0 * numbers as f64, "holding the tables of the model", LESS)?;
            steps.done().map(|()| table)
        };
        Ok(Compiled {
            lines: (0..self.columns.n_features()).into_par_iter().map(line).collect::<Result<_>>()?,
            pairs: uses.par_iter().map(pair).collect::<Result<_>>()?,
            error: 0.0,
        })
    }

    /// Probes of whole rows, feature by feature: training rows, and the same moved by a kernel draw in every continuous
    /// feature.
    fn probe_rows(&self) -> Vec<Vec<f64>> {
        let mut random = Random::stream(self.seed, 0x7ab1e);
        let width = |i: usize, r: usize| {
            let class = self.columns.class[r];
            self.model.densities.classes[class].marginals[i].bandwidth().unwrap_or(0.0)
        };
        let column = |(i, column): (usize, &Vec<f64>)| {
            let moved = self.probes.iter().map(|&r| column[r] + width(i, r) * random.normal());
            self.probes.iter().map(|&r| column[r]).chain(moved).collect()
        };
        self.columns.values.iter().enumerate().map(column).collect()
    }

    /// Outputs of the tables at probe rows against exact ones.
    fn error(&self, compiled: &Compiled, rows: &[Vec<f64>], exact: &[Vec<f64>]) -> f64 {
        let mut scratch = Scratch::new(&compiled.lines, self.columns.n_classes);
        let difference = |(r, want): (usize, &Vec<f64>)| -> Vec<f64> {
            scratch.read(&compiled.lines, |i| rows[i][r]);
            let out = scratch.outputs(&self.model.scores.base, &compiled.lines, &compiled.pairs);
            out.iter().zip(want).map(|(a, b)| a - b).collect()
        };
        largest_rms(&exact.iter().enumerate().map(difference).collect::<Vec<_>>())
    }

    fn line(&self, i: usize, tolerance: f64) -> LineTable {
        let k = self.columns.n_classes;
        let marginals: Vec<_> = self.model.densities.classes.iter().map(|c| &c.marginals[i]).collect();
        let weights = || self.model.scores.weights.classes.iter().map(|c| &c.marginals[i]);
        let widths: Vec<(usize, f64)> =
            marginals.iter().enumerate().filter_map(|(y, m)| Some((y, m.bandwidth()?))).collect();
        let evaluate = |x: &[f64]| -> Vec<f64> {
            let columns: Vec<Vec<f64>> =
                marginals.iter().map(|m| m.log_densities_above(f64::NEG_INFINITY, x, |_| None)).collect();
            (0..x.len()).flat_map(|q| columns.iter().map(move |c| c[q])).collect()
        };
        let raw = self.model.raw_term(|term| match term {
            RawTerm::Linear(f, linear) if *f == i => Some(*linear),
            _ => None,
        });
        let values = self.features.classes.iter().map(|class| &class.marginals[i]);
        let empty = LineTable {
            axis: Axis::Levels(0),
            values: Vec::new(),
            floors: marginals.iter().map(|m| m.floor().max(NO_FLOOR)).collect(),
            weights: weights().flatten().copied().collect(),
            centre: self.centre(values.zip(weights()), &raw),
            raw: raw.map(|(_, term)| term),
        };
        let make = |axis: Axis| LineTable { values: evaluate(&axis.nodes()), axis, ..empty.clone() };
        if let Kind::Discrete(levels) = self.columns.kinds[i] {
            return make(Axis::Levels(levels));
        }
        let narrowest = widths.iter().map(|(_, h)| *h).fold(f64::INFINITY, f64::min);
        let probes = self.moved(i, narrowest);
        let exact = evaluate(&probes);
        let largest_weight = empty.weights.iter().fold(1e-9f64, |m, w| m.max(w.abs()));
        // In log units a table is never coarser than 1e-2, also where its weight is small: other rules read it.
        let wanted = (tolerance / largest_weight).min(1e-2);
        let mut scale = 0.5;
        loop {
            let group = |&(y, h): &(usize, f64)| Group {
                values: self.class_values(y, |r| self.columns.values[i][r]),
                reach: self.reach * h,
                step: scale * h,
            };
            let table = make(Axis::around(&widths.iter().map(group).collect::<Vec<_>>()));
            let mut t = vec![0.0; k];
            let mut difference = |(x, exact): (&f64, &[f64])| -> Vec<f64> {
                table.log_densities(*x, &mut t);
                (0..k).map(|y| t[y] - exact[y].max(table.floors[y])).collect()
            };
            let differences: Vec<Vec<f64>> =
                probes.iter().zip(exact.chunks_exact(k)).map(&mut difference).collect();
            let error = largest_rms(&differences);
            if error <= wanted || 2 * table.axis.len() > MOST_LINE_NODES {
                return table;
            }
            scale *= refinement(wanted, error);
        }
    }

    /// Observed values of the rows of class `y`; of all rows where the class has none.
    fn class_values(&self, y: usize, at: impl Fn(usize) -> f64) -> Vec<f64> {
        let seen = |own: bool| -> Vec<f64> {
            let rows = (0..self.columns.n_rows()).filter(|&r| !own || self.columns.class[r] == y);
            rows.map(&at).filter(|v| !v.is_nan()).collect()
        };
        let own = seen(true);
        if own.is_empty() { seen(false) } else { own }
    }

    /// Mean contribution of the training rows to each output: of densities, given as their values with their weights,
    /// and of the raw term beside them.
    fn centre<'b, T>(
        &'b self,
        densities: impl Iterator<Item = (&'b Vec<f64>, &'b Vec<f64>)>,
        raw: &'b Option<(usize, Weighted<T>)>,
    ) -> Vec<f64> {
        let raw = raw.iter().map(|(place, term)| (&self.features.raw[*place], &term.weights));
        let total: f64 = self.columns.weights.iter().sum();
        let mut centre = vec![0.0; self.model.scores.base.len()];
        for (values, weights) in densities.chain(raw) {
            let mean = values.iter().zip(&self.columns.weights).map(|(t, w)| t * w).sum::<f64>() / total;
            centre.iter_mut().zip(weights).for_each(|(c, v)| *c += v * mean);
        }
        centre
    }

    /// Probe values of one feature: training values, and the same moved by a kernel draw.
    fn moved(&self, i: usize, width: f64) -> Vec<f64> {
        let mut random = Random::stream(self.seed, i as u64);
        let at = self.probes.iter().map(|&r| self.columns.values[i][r]).filter(|x| !x.is_nan());
        at.flat_map(|x| [x, x + width * random.normal()]).collect()
    }

    fn pair(
        &self,
        (i, j): (usize, usize),
        uses: &[Use<'_>],
        tolerance: f64,
        control: &Control,
    ) -> Result<PairTable> {
        let raw = product_term(self.model, (i, j));
        let centre = self.centre(uses.iter().map(|u| (u.values, u.weights)), &raw);
        let raw = raw.map(|(_, term)| term);
        let (probe_x, probe_y) = self.pair_probes((i, j), uses);
        let exact: Vec<Vec<f64>> =
            uses.iter().map(|u| self.pair_values((i, j), u, &probe_x, &probe_y, u.joint.floor())).collect();
        let shear = shear(uses);
        let widths = self.pair_widths((i, j), uses, shear);
        let (mut scale, mut capped) = (1.0, false);
        loop {
            let first = self.pair_axis((i, j), 0, 0.0, &widths, scale);
            let second = self.pair_axis((i, j), 1, shear, &widths, scale);
            let size = first.len().saturating_mul(second.len());
            if size > MOST_PAIR_NODES && scale < COARSEST {
                scale *= 1.05 * (size as f64 / MOST_PAIR_NODES as f64).sqrt();
                capped = true;
                continue;
            }
            let bytes = size as f64 * (16.0 + 20.0 * uses.len() as f64);
            let what = format!("the table of a pair with {} and {} nodes", first.len(), second.len());
            control.reserve(bytes, what, FINE_COLUMNS)?;
            let (nx, ny) = (first.nodes(), second.nodes());
            let (grid_x, grid_y): (Vec<f64>, Vec<f64>) =
                nx.iter().flat_map(|x| ny.iter().map(move |v| (*x, v + shear * x))).unzip();
            let layer = |u: &Use<'_>| {
                let floor = u.joint.floor();
                let values = self.pair_values((i, j), u, &grid_x, &grid_y, floor - BELOW_FLOOR);
                Layer {
                    class: u.class,
                    floor: floor.max(NO_FLOOR),
                    weights: u.weights.clone(),
                    values: values.iter().map(|v| *v as f32).collect(),
                }
            };
            let layers = uses.iter().map(layer).collect();
            let (raw, centre) = (raw.clone(), centre.clone());
            let table = PairTable { pair: (i, j), first, second, shear, layers, raw, centre };
            let error = pair_error(&table, &probe_x, &probe_y, &exact);
            let factor = refinement(tolerance, error);
            let next = size as f64 / (factor * factor);
            if error <= tolerance || capped || next > MOST_PAIR_NODES as f64 {
                return Ok(table);
            }
            scale *= factor;
        }
    }

    /// Log densities of one class at complete queries, those below `least` raised to it.
    fn pair_values(&self, (i, j): (usize, usize), u: &Use<'_>, x: &[f64], y: &[f64], least: f64) -> Vec<f64> {
        // Only the product of marginals needs them; complete queries never fall back.
        let alone = |f: usize, q: &[f64]| match u.joint {
            Joint::Independent => self.model.densities.classes[u.class].marginals[f].features(q, |_| None),
            _ => vec![0.0; q.len()],
        };
        u.joint.log_densities_above(least, (x, y), (&alone(i, x), &alone(j, y)), |_| None)
    }

    /// Nodes of one side of a pair; the second side holds `y - shear x`.
    fn pair_axis(
        &self,
        pair: (usize, usize),
        side: usize,
        shear: f64,
        widths: &[PairWidth],
        scale: f64,
    ) -> Axis {
        let feature = if side == 0 { pair.0 } else { pair.1 };
        if let Kind::Discrete(levels) = self.columns.kinds[feature] {
            return Axis::Levels(levels);
        }
        let (x, y) = (&self.columns.values[pair.0], &self.columns.values[feature]);
        // Without shear the first feature may be missing; 0 · NaN must not hide the second.
        let at = |r: usize| if shear == 0.0 { y[r] } else { y[r] - shear * x[r] };
        let group = |w: &PairWidth| Group {
            values: self.class_values(w.class, at),
            reach: self.reach * w.wide[side],
            step: scale * w.narrow[side],
        };
        Axis::around(&widths.iter().map(group).collect::<Vec<_>>())
    }

    /// Widths of the kernels of each class along each axis (the second sheared).
    fn pair_widths(&self, pair: (usize, usize), uses: &[Use<'_>], shear: f64) -> Vec<PairWidth> {
        let width = |&Use { class, joint, .. }: &Use<'_>| match joint {
            Joint::Plane { h, .. } => {
                let across = h.c - 2.0 * shear * h.b + shear * shear * h.a;
                let narrow = [(h.det() / across).sqrt(), (h.det() / h.a).sqrt()];
                PairWidth { class, wide: [h.a.sqrt(), across.sqrt()], narrow }
            }
            other => {
                let marginals = &self.model.densities.classes[class].marginals;
                let mut narrow = [pair.0, pair.1].map(|f| marginals[f].bandwidth().unwrap_or(1.0));
                if let Joint::Mixed(mixed) = other {
                    narrow[usize::from(mixed.discrete_first)] = mixed.least_bandwidth();
                }
                PairWidth { class, wide: narrow.map(|l| 4.0 * l), narrow }
            }
        };
        uses.iter().map(width).collect()
    }

    /// Probe pairs: complete training rows, and the same moved by a kernel draw of their class.
    fn pair_probes(&self, (i, j): (usize, usize), uses: &[Use<'_>]) -> (Vec<f64>, Vec<f64>) {
        let mut random = Random::stream(self.seed, (i * self.columns.n_features() + j) as u64 + (1 << 32));
        let widths = self.pair_widths((i, j), uses, 0.0);
        let width = |f: usize, side: usize| match self.columns.kinds[f] {
            Kind::Continuous => widths.iter().map(|w| w.narrow[side]).fold(f64::INFINITY, f64::min),
            Kind::Discrete(_) => 0.0,
        };
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for &r in &self.probes {
            let (x, y) = (self.columns.values[i][r], self.columns.values[j][r]);
            if !x.is_nan() && !y.is_nan() {
                xs.extend([x, x + width(i, 0) * random.normal()]);
                ys.extend([y, y + width(j, 1) * random.normal()]);
            }
        }
        (xs, ys)
    }
}

/// Slope of the kernels' ridge where some class's kernel is strongly correlated, else 0.
fn shear(uses: &[Use<'_>]) -> f64 {
    let (mut strongest, mut slope) = (0.8, 0.0);
    for u in uses {
        if let Joint::Plane { h, .. } = u.joint {
            let correlation = (h.b / (h.a * h.c).sqrt()).abs();
            if correlation > strongest {
                (strongest, slope) = (correlation, h.b / h.a);
            }
        }
    }
    slope
}

/// Largest root mean square error of the densities' contributions to an output.
fn pair_error(table: &PairTable, x: &[f64], y: &[f64], exact: &[Vec<f64>]) -> f64 {
    let differences: Vec<Vec<f64>> = (0..x.len())
        .map(|q| {
            let mut difference = vec![0.0; table.centre.len()];
            table.add_densities(x[q], y[q], &mut difference);
            for (layer, t) in table.layers.iter().zip(exact) {
                difference.iter_mut().zip(&layer.weights).for_each(|(d, w)| *d -= w * t[q]);
            }
            difference
        })
        .collect();
    largest_rms(&differences)
}
