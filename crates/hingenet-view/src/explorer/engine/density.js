// @ts-check
// Density models in the page: lookups in their tables, sums over missing columns along the forest of each class, and
// what is believed of a column at the nodes of its table (`density/src/beliefs.rs` says the rules).

import { floatsOf, singlesOf } from "./arrays.js";
import { combinationsOf, isOpen, likelihoodOf, onlyState, settledFactor, unsureOf } from "./findings.js";
import { impossible, informationOf, logSumExp, toProbabilities } from "./numbers.js";

/**
 * @typedef {import("../types.d.ts").Finding} DensityFinding
 * @typedef {{ Levels: number } | { Pieces: { start: number, step: number, cells: number, first: number }[] }} AxisProgram
 * @typedef {{ axis: AxisProgram, values: string, floors: number[], weights: number[], raw?: { term: { range: { low: number, high: number } }, weights: number[] } }} LineProgram
 * @typedef {{ class: number, floor: number, weights: number[], values: string }} LayerProgram
 * @typedef {{ low: number, high: number }} HeldRange
 * @typedef {{ pair: number[], first: AxisProgram, second: AxisProgram, shear: number, layers: LayerProgram[], raw?: { term: { first: HeldRange, second: HeldRange, mean: number }, weights: number[] } }} PairProgram
 * @typedef {"Dropped" | { Standard: { mean: number, sd: number } } | { Levels: number[] } | { Categories: number }} UnitProgram
 * @typedef {{ n_classes: number, units: { units: UnitProgram[] }, base: number[], lines: LineProgram[], pairs: PairProgram[], class_pairs: number[][], calibration: { Temperature?: number, TwoSlopes?: { negative: number, positive: number } }, absent?: number[] }} Tables
 * @typedef {{ cards: number[], generative: boolean, tables: Tables }} DensityProgram
 * @typedef {{ states: Map<number, number>[], logWeights: Float64Array, logJoint: Float64Array | null }} DensityMixture
 */

/** Most nodes of a missing feature. */
const QUADRATURE = 96;
/** Most points at which a number is taken when other columns should tell about it. */
const ABOUT_POINTS = 24;
/** Sums of products below this may have lost terms and are taken in log space. */
const SMALL_SUM = 1e-280;

/** Positions of table nodes along one feature, ascending. */
class TableAxis {
  /** @param {AxisProgram} axis */
  constructor(axis) {
    this.levels = "Levels" in axis ? axis.Levels : 0;
    this.pieces = "Pieces" in axis ? axis.Pieces : [];
    const last = this.pieces[this.pieces.length - 1];
    this.length = last ? last.first + last.cells + 1 : this.levels;
    /** Where the last value was placed: first node, number of nodes, their weights. */
    this.node = 0;
    this.count = 1;
    this.weights = new Float64Array([1, 0, 0, 0]);
  }

  nodes() {
    if (this.levels) return Array.from({ length: this.levels }, (_, k) => k);
    return this.pieces.flatMap((p) => Array.from({ length: p.cells + 1 }, (_, k) => p.start + p.step * k));
  }

  /** @param {number} node */
  exactly(node) {
    this.node = node;
    this.count = 1;
    this.weights[0] = 1;
  }

  /** Cubic interpolation between the nodes; values beyond the ends and in gaps are at the nearest end of a piece. @param {number} x */
  place(x) {
    if (this.levels) {
      this.exactly(Math.min(Math.trunc(Math.max(x, 0)), this.levels - 1));
      return;
    }
    const { pieces } = this;
    let at = 0;
    while (at < pieces.length && pieces[at].start <= x) at += 1;
    if (at === 0) {
      this.exactly(0);
      return;
    }
    const piece = pieces[at - 1];
    const t = (x - piece.start) / piece.step;
    if (t >= piece.cells) {
      const next = pieces[at];
      const end = piece.start + piece.step * piece.cells;
      this.exactly(next && next.start - x < x - end ? next.first : piece.first + piece.cells);
      return;
    }
    const first = Math.min(Math.max(Math.trunc(t) - 1, 0), piece.cells - 3);
    const u = t - first;
    const [a, b, c] = [u - 1, u - 2, u - 3];
    this.node = piece.first + first;
    this.count = 4;
    this.weights[0] = (-a * b * c) / 6;
    this.weights[1] = (u * b * c) / 2;
    this.weights[2] = (-u * a * c) / 2;
    this.weights[3] = (u * a * b) / 6;
  }
}

/** Log densities of one feature in all classes. */
class LineTable {
  /** @param {LineProgram} line @param {number} k */
  constructor(line, k) {
    this.axis = new TableAxis(line.axis);
    this.values = floatsOf(line.values);
    this.floors = line.floors;
    this.weights = line.weights;
    this.raw = line.raw;
    this.k = k;
    const { nodes, logWeights } = quadratureOf(this.axis);
    this.nodes = nodes;
    this.logWeights = logWeights;
  }

  /** @param {number} x @param {number} y */
  logDensity(x, y) {
    const { axis, k } = this;
    axis.place(x);
    let sum = 0;
    for (let i = 0; i < axis.count; i += 1) sum += axis.weights[i] * this.values[(axis.node + i) * k + y];
    return Math.max(sum, this.floors[y]);
  }
}

/** Log densities of a pair of features in the classes that use it. */
class PairTable {
  /** @param {PairProgram} pair */
  constructor(pair) {
    this.pair = pair.pair;
    this.first = new TableAxis(pair.first);
    this.second = new TableAxis(pair.second);
    this.shear = pair.shear;
    this.raw = pair.raw;
    this.layers = pair.layers.map((layer) => ({ ofClass: layer.class, floor: layer.floor, weights: layer.weights, values: singlesOf(layer.values) }));
  }

  /** @param {{ floor: number, values: Float32Array }} layer @param {number} x @param {number} y */
  logDensity(layer, x, y) {
    const { first, second } = this;
    first.place(x);
    second.place(y - this.shear * x);
    let total = 0;
    for (let i = 0; i < first.count; i += 1) {
      const row = (first.node + i) * second.length + second.node;
      let along = 0;
      for (let j = 0; j < second.count; j += 1) along += layer.values[row + j] * second.weights[j];
      total += first.weights[i] * along;
    }
    return Math.max(total, layer.floor);
  }
}

/** Nodes and logarithms of trapezoid weights; the levels of a discrete axis. @param {TableAxis} axis */
function quadratureOf(axis) {
  const all = axis.nodes();
  if (axis.levels) return { nodes: Float64Array.from(all), logWeights: new Float64Array(all.length) };
  const stride = Math.max(Math.ceil(all.length / QUADRATURE), 1);
  const nodes = all.filter((_, q) => q % stride === 0);
  if (nodes.length > 0 && nodes[nodes.length - 1] !== all[all.length - 1]) nodes.push(all[all.length - 1]);
  const n = nodes.length;
  const width = (/** @type {number} */ q) => 0.5 * (nodes[Math.min(q + 1, n - 1)] - nodes[Math.max(q - 1, 0)]);
  return { nodes: Float64Array.from(nodes), logWeights: Float64Array.from(nodes, (_, q) => Math.log(Math.max(width(q), 2.2250738585072014e-308))) };
}

/** @param {HeldRange} range @param {number} x */
function held(range, x) {
  return Math.min(Math.max(x, range.low), range.high);
}

/** The forest of one class and the cells of a row; messages are made once. */
class ForestOfClass {
  /** @param {DensityModel} model @param {number} y @param {Float64Array} row */
  constructor(model, y, row) {
    this.model = model;
    this.y = y;
    this.row = row;
    this.neighbours = model.neighbours[y];
    /** @type {Map<number, Float64Array>} */
    this.messages = new Map();
    /** @type {Map<number, boolean>} */
    this.seenBehind = new Map();
  }

  /** @param {number} i */
  isSeen(i) {
    return !Number.isNaN(this.row[i]);
  }

  /** @param {number} i */
  positions(i) {
    return this.isSeen(i) ? this.row.subarray(i, i + 1) : this.model.lines[i].nodes;
  }

  /** @param {number} i */
  logMarginal(i) {
    return Float64Array.from(this.positions(i), (x) => this.model.lines[i].logDensity(x, this.y));
  }

  /** @param {number} i @param {number} from @returns {boolean} */
  anySeenBehind(i, from) {
    const key = i * this.row.length + from;
    let found = this.seenBehind.get(key);
    if (found === undefined) {
      found = this.isSeen(i) || this.neighbours[i].some(([k]) => k !== from && this.anySeenBehind(k, i));
      this.seenBehind.set(key, found);
    }
    return found;
  }

  /** `ln p(x_i, x_c)` of a pair. @param {number} pair @param {number} i @param {number} at @param {number} other */
  logJoint(pair, i, at, other) {
    const table = this.model.pairs[pair];
    const layer = table.layers.find((l) => l.ofClass === this.y) || table.layers[0];
    return table.pair[0] === i ? table.logDensity(layer, at, other) : table.logDensity(layer, other, at);
  }

  /** Own term `(1 - deg) ln p(x_i)` and all messages from behind, at the positions of node i. @param {number} i @param {number} from */
  below(i, from) {
    const own = this.logMarginal(i);
    const total = own.map((t) => (1 - this.neighbours[i].length) * t);
    for (const [k, pair] of this.neighbours[i]) {
      if (k === from) continue;
      const message = this.message(k, i, pair, own);
      for (let q = 0; q < total.length; q += 1) total[q] += message[q];
    }
    return total;
  }

  /** @param {number} c @param {number} i @param {number} pair @param {Float64Array} own @returns {Float64Array} */
  message(c, i, pair, own) {
    if (!this.anySeenBehind(c, i)) return own;
    const key = c * this.row.length + i;
    let found = this.messages.get(key);
    if (!found) {
      found = this.newMessage(c, i, pair);
      this.messages.set(key, found);
    }
    return found;
  }

  /** @param {number} c @param {number} i @param {number} pair */
  newMessage(c, i, pair) {
    const behind = this.below(c, i);
    const at = this.positions(i);
    if (this.isSeen(c)) return Float64Array.from(at, (x) => this.logJoint(pair, i, x, this.row[c]) + behind[0]);
    const { nodes, logWeights } = this.model.lines[c];
    const weighed = behind.map((b, q) => b + logWeights[q]);
    const terms = new Float64Array(nodes.length);
    const integral = (/** @type {number} */ x) => {
      for (let q = 0; q < nodes.length; q += 1) terms[q] = this.logJoint(pair, i, x, nodes[q]) + weighed[q];
      return logSumExp(terms);
    };
    if (this.isSeen(i)) return Float64Array.from(at, integral);
    const joint = this.model.joint(pair, this);
    const isFirst = this.model.pairs[pair].pair[0] === i;
    let top = -Infinity;
    for (const b of weighed) top = Math.max(top, b);
    const scaled = weighed.map((b) => Math.exp(b - top));
    return Float64Array.from(at, (x, a) => {
      let sum = 0;
      for (let q = 0; q < scaled.length; q += 1) sum += joint.proba[isFirst ? a * scaled.length + q : q * at.length + a] * scaled[q];
      return sum > SMALL_SUM ? Math.log(sum) + joint.top + top : integral(x);
    });
  }

  /** `ln p_y(cells of the row)`. */
  logDensity() {
    const visited = new Array(this.row.length).fill(false);
    const mark = (/** @type {number} */ i, /** @type {number} */ from) => {
      visited[i] = true;
      for (const [k] of this.neighbours[i]) if (k !== from) mark(k, i);
    };
    let total = 0;
    for (let i = 0; i < visited.length; i += 1) {
      if (!this.isSeen(i) || visited[i]) continue;
      mark(i, -1);
      total += this.below(i, -1)[0];
    }
    return total;
  }

  /** For a machine: the mean of `ln p(x_i, x_k)` over known partners, or `ln p(x_i)`. @param {number} i */
  pooled(i) {
    const has = (/** @type {number} */ p) => this.model.pairs[p].layers.some((l) => l.ofClass === this.y);
    const partners = this.neighbours[i].filter(([k, p]) => this.isSeen(k) && has(p));
    if (partners.length === 0) return this.logMarginal(i);
    return this.model.lines[i].nodes.map((x) => partners.reduce((sum, [k, p]) => sum + this.logJoint(p, i, x, this.row[k]), 0) / partners.length);
  }
}

export class DensityModel {
  /** @param {DensityProgram} program */
  constructor(program) {
    const { tables } = program;
    this.cards = program.cards;
    this.k = program.cards[0];
    this.generative = program.generative;
    this.tables = tables;
    const absent = tables.absent || [];
    /** Codes of the classes that take part. */
    this.codes = Array.from({ length: this.k }, (_, c) => c).filter((c) => !absent.includes(c));
    /** Units of the used features, with their columns. */
    this.units = tables.units.units.flatMap((unit, j) => (unit === "Dropped" ? [] : [{ unit, column: j + 1 }]));
    this.lines = tables.lines.map((line) => new LineTable(line, tables.n_classes));
    this.pairs = tables.pairs.map((pair) => new PairTable(pair));
    this.neighbours = tables.class_pairs.map((own) => {
      /** @type {number[][][]} */
      const forest = this.lines.map(() => []);
      for (const p of own) {
        const [i, j] = this.pairs[p].pair;
        forest[i].push([j, p]);
        forest[j].push([i, p]);
      }
      return forest;
    });
    /** @type {Map<number, { top: number, proba: Float64Array }>} */
    this.joints = new Map();
  }

  /** The joint density of a pair at the nodes of both features, the second fastest. @param {number} pair @param {ForestOfClass} forest */
  joint(pair, forest) {
    const key = pair * this.k + forest.y;
    let found = this.joints.get(key);
    if (!found) {
      const [i, j] = this.pairs[pair].pair;
      const { nodes } = this.lines[j];
      const log = new Float64Array(this.lines[i].nodes.length * nodes.length);
      this.lines[i].nodes.forEach((x, a) => nodes.forEach((y, b) => { log[a * nodes.length + b] = forest.logJoint(pair, i, x, y); }));
      const top = log.reduce((most, l) => Math.max(most, l), -Infinity);
      found = { top, proba: log.map((l) => Math.exp(l - top)) };
      this.joints.set(key, found);
    }
    return found;
  }

  /** Cells of the used features; NaN is missing. @param {DensityFinding[]} known @param {Map<number, number>} states */
  encoded(known, states) {
    return Float64Array.from(this.units, ({ unit, column }) => {
      const finding = known.find((f) => f.column === column);
      if (finding && "value" in finding) {
        if ("Standard" in unit) return Math.min(Math.max((finding.value - unit.Standard.mean) / unit.Standard.sd, -1e100), 1e100);
        const code = "Levels" in unit ? unit.Levels.indexOf(finding.value) : -1;
        return code < 0 ? NaN : code;
      }
      const state = states.get(column) ?? (finding ? onlyState(finding.states) : -1);
      return state < 0 ? NaN : state;
    });
  }

  /** Decision values of a row. @param {Float64Array} row */
  outputs(row) {
    const { tables } = this;
    const k = tables.n_classes;
    if (this.generative && row.some(Number.isNaN)) return tables.base.map((b, y) => b + new ForestOfClass(this, y, row).logDensity());
    const out = tables.base.slice();
    const s = out.length;
    const logs = this.lines.map((line, i) => Array.from({ length: k }, (_, y) => (Number.isNaN(row[i]) ? 0 : line.logDensity(row[i], y))));
    this.lines.forEach((line, i) => {
      for (let o = 0; o < s; o += 1) {
        if (line.raw && !Number.isNaN(row[i])) out[o] += line.raw.weights[o] * held(line.raw.term.range, row[i]);
        for (let y = 0; y < k; y += 1) out[o] += line.weights[y * s + o] * logs[i][y];
      }
    });
    for (const table of this.pairs) {
      const [i, j] = table.pair;
      const [one, other] = [Number.isNaN(row[i]), Number.isNaN(row[j])];
      if (one && other) continue;
      for (const layer of table.layers) {
        const t = one ? logs[j][layer.ofClass] : other ? logs[i][layer.ofClass] : table.logDensity(layer, row[i], row[j]);
        for (let o = 0; o < s; o += 1) out[o] += layer.weights[o] * t;
      }
      if (table.raw && !one && !other) {
        const { first, second, mean } = table.raw.term;
        for (let o = 0; o < s; o += 1) out[o] += table.raw.weights[o] * (held(first, row[i]) * held(second, row[j]) - mean);
      }
    }
    return out;
  }

  /** Values of the classes that take part by code, `other` for the rest. @param {ArrayLike<number>} values @param {number} other */
  byCode(values, other) {
    const all = new Float64Array(this.k).fill(other);
    this.codes.forEach((c, y) => { all[c] = values[y]; });
    return all;
  }

  /** `ln P(c | row)`, calibrated, and for generative models `ln p(c, row)` in the units of the columns. @param {Float64Array} row */
  rowScores(row) {
    const outputs = this.outputs(row);
    const { Temperature, TwoSlopes } = this.tables.calibration;
    const factor = TwoSlopes ? (outputs[0] > 0 ? TwoSlopes.positive : TwoSlopes.negative) : Temperature || 1;
    const scores = (outputs.length === 1 ? [-0.5 * outputs[0], 0.5 * outputs[0]] : outputs).map((s) => factor * s);
    const total = logSumExp(scores);
    const calibrated = this.byCode(scores.map((s) => s - total), -Infinity);
    if (!this.generative) return { calibrated, joint: null };
    let scale = 0;
    this.units.forEach(({ unit }, f) => { if ("Standard" in unit && !Number.isNaN(row[f])) scale -= Math.log(unit.Standard.sd); });
    return { calibrated, joint: this.byCode(outputs.map((s) => s + scale), -Infinity) };
  }

  /** For each class `ln P(x_f at each node | c, row)`. @param {ForestOfClass[]} forests @param {number} f */
  logShares(forests, f) {
    return forests.map((forest) => {
      const shares = (this.generative ? forest.below(f, -1) : forest.pooled(f)).map((s, q) => s + this.lines[f].logWeights[q]);
      const total = logSumExp(shares);
      return shares.map((s) => s - total);
    });
  }

  /** @param {Float64Array} row */
  forests(row) {
    return this.codes.map((_, y) => new ForestOfClass(this, y, row));
  }

  /** `ln p(states of the unsure columns | c, known)`, one after the other; 0 for classes that take no part. @param {DensityFinding[]} known @param {Map<number, number>} states */
  scoresOfStates(known, states) {
    const row = this.encoded(known, new Map());
    const own = new Float64Array(this.codes.length);
    this.units.forEach(({ column }, f) => {
      const state = states.get(column);
      if (state === undefined) return;
      this.logShares(this.forests(row.slice()), f).forEach((shares, y) => { own[y] += shares[state]; });
      row[f] = state;
    });
    return this.byCode(own, 0);
  }

  /** Classes and combinations of open states with their weights. @param {DensityFinding[]} known @param {ArrayLike<number> | undefined} ofClass @returns {DensityMixture} */
  mixture(known, ofClass) {
    const { k } = this;
    const unsure = unsureOf(known);
    const combinations = combinationsOf(unsure);
    const shares = new Float64Array(combinations.length * k);
    if (unsure.length > 0) {
      const every = combinationsOf(unsure.map(({ column, states }) => ({ column, states: states.map(() => 1) })));
      const scores = every.map(({ states }) => this.scoresOfStates(known, states));
      const totals = Array.from({ length: k }, (_, c) => logSumExp(scores.map((s) => s[c])));
      combinations.forEach(({ states, log }, a) => this.scoresOfStates(known, states).forEach((s, c) => { shares[a * k + c] = s - totals[c] + log; }));
    }
    const { calibrated, joint } = this.rowScores(this.encoded(known, new Map()));
    const weights = (/** @type {Float64Array} */ classes) => shares.map((s, at) => classes[at % k] + Math.log(ofClass ? ofClass[at % k] : 1) + s);
    const all = weights(calibrated);
    const seen = logSumExp(all);
    if (seen === -Infinity || Number.isNaN(seen)) throw impossible();
    const factor = settledFactor(known);
    return {
      states: combinations.map((c) => c.states),
      logWeights: all.map((w) => w - seen),
      logJoint: joint && this.overCombinations(weights(joint)).map((l) => l + factor),
    };
  }

  /** @param {Float64Array} logWeights */
  overCombinations(logWeights) {
    return Float64Array.from({ length: this.k }, (_, c) => logSumExp(logWeights.filter((__, at) => at % this.k === c)));
  }

  /** Scores of the classes, what is known of the class left out. @param {DensityFinding[]} known */
  classScores(known) {
    const { logWeights, logJoint } = this.mixture(known, undefined);
    return { calibrated: this.overCombinations(logWeights), joint: logJoint };
  }

  /** `P(x_f at each node | class, row)`; a state that the row has is certain. @param {ForestOfClass} forest @param {number} f */
  shares(forest, f) {
    const seen = forest.row[f];
    if (!Number.isNaN(seen)) return this.lines[f].nodes.map((_, q) => (q === seen ? 1 : 0));
    return this.logShares([forest], f)[0].map(Math.exp);
  }

  /** What is believed of feature f. @param {DensityFinding[]} known @param {DensityMixture} mixture @param {Float64Array} classes @param {ForestOfClass[][]} forests @param {number} f @returns {import("../types.d.ts").Belief} */
  column(known, mixture, classes, forests, f) {
    const { k, codes } = this;
    const { unit, column } = this.units[f];
    const finding = known.find((g) => g.column === column);
    if (finding && "value" in finding) return { at: [finding.value], joint: Array.from(classes) };
    const { nodes } = this.lines[f];
    const joint = new Array(nodes.length * k).fill(0);
    forests.forEach((ofRow, a) => ofRow.forEach((forest, y) => {
      const weight = Math.exp(mixture.logWeights[a * k + codes[y]]);
      this.shares(forest, f).forEach((p, q) => { joint[q * k + codes[y]] += weight * p; });
    }));
    if ("Standard" in unit) return { at: Array.from(nodes, (z) => unit.Standard.mean + unit.Standard.sd * z), joint };
    return "Levels" in unit ? { at: unit.Levels, joint } : { joint };
  }

  /** For every feature g the table of `P(x_about, x_g | known)`, a row for each point of the column asked about. @param {DensityMixture} mixture @param {ForestOfClass[][]} forests @param {number} f @param {number[]} others */
  tablesWith(mixture, forests, f, others) {
    const { k, codes } = this;
    const { nodes } = this.lines[f];
    const run = "Standard" in this.units[f].unit ? Math.ceil(nodes.length / ABOUT_POINTS) : 1;
    /** @type {Map<number, number[]>} */
    const tables = new Map(others.map((g) => [g, []]));
    const before = forests.map((ofRow) => ofRow.map((forest) => this.shares(forest, f)));
    for (let start = 0; start < nodes.length; start += run) {
      const end = Math.min(start + run, nodes.length);
      const sums = new Map(others.map((g) => [g, new Float64Array(this.lines[g].nodes.length)]));
      forests.forEach((ofRow, a) => {
        const row = ofRow[0].row.slice();
        row[f] = nodes[Math.floor((start + end - 1) / 2)];
        this.forests(row).forEach((forest, y) => {
          let mass = 0;
          for (let q = start; q < end; q += 1) mass += before[a][y][q];
          if (mass === 0) return;
          const weight = Math.exp(mixture.logWeights[a * k + codes[y]]) * mass;
          sums.forEach((sum, g) => this.shares(forest, g).forEach((p, q) => { sum[q] += weight * p; }));
        });
      });
      sums.forEach((sum, g) => tables.set(g, [...(tables.get(g) || []), ...sum]));
    }
    return tables;
  }

  /** What each open column tells about column `about`. @param {DensityFinding[]} known @param {DensityMixture} mixture @param {ForestOfClass[][]} forests @param {number} about */
  tellsOf(known, mixture, forests, about) {
    const next = new Array(this.cards.length).fill(null);
    const f = this.units.findIndex(({ column }) => column === about);
    const others = [...this.units.keys()].filter((g) => g !== f && isOpen(known, this.units[g].column));
    const tables = f >= 0 && isOpen(known, about) ? this.tablesWith(mixture, forests, f, others) : new Map();
    for (const g of others) next[this.units[g].column] = tables.has(g) ? informationOf(tables.get(g), this.lines[g].nodes.length) : 0;
    return next;
  }

  /** @param {DensityFinding[]} known @param {number} about @returns {import("../types.d.ts").Beliefs} */
  beliefs(known, about) {
    const ofClass = likelihoodOf(known, 0);
    const mixture = this.mixture(known, ofClass);
    const classes = this.overCombinations(mixture.logWeights);
    toProbabilities(classes);
    const forests = mixture.states.map((states) => this.forests(this.encoded(known, states)));
    /** @type {(import("../types.d.ts").Belief | null)[]} */
    const columns = new Array(this.cards.length).fill(null);
    this.units.forEach(({ column }, f) => { columns[column] = this.column(known, mixture, classes, forests, f); });
    const ofClasses = () => columns.map((belief, column) => (belief && belief.joint && isOpen(known, column) ? informationOf(belief.joint, this.k) : null));
    const next = about > 0 ? this.tellsOf(known, mixture, forests, about) : ofClasses();
    const logEvidence = mixture.logJoint && logSumExp(mixture.logJoint);
    let conflict = null;
    if (known.length > 1 && logEvidence !== null) {
      conflict = -logEvidence;
      for (const f of known) {
        const alone = this.mixture(f.column === 0 ? [] : [f], f.column === 0 ? ofClass : undefined);
        conflict += logSumExp(alone.logJoint || [0]);
      }
    }
    return { classes: Array.from(classes), logEvidence, conflict, columns, next };
  }
}
