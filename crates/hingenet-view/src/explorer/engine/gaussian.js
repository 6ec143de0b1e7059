// @ts-check
// Gaussian class networks in the page: mixtures of conditional Gaussians over classes and over the states that likelihoods leave
// open. A category is known by indicators; its states in a class have the density at their indicators as a share of all.

import { floatsOf, wholesOf } from "./arrays.js";
import { combinationsOf, isOpen, likelihoodOf, onlyState, settledFactor, unsureOf } from "./findings.js";
import { impossible, informationOf, informationOfNormals, informationOfPairs, logSumExp, toProbabilities } from "./numbers.js";

/**
 * @typedef {import("../types.d.ts").Finding} GivenFinding
 * @typedef {{ parents: string, order: string, weights: string, bias: string, variance: string }} NetworkProgram
 * @typedef {{ cards: number[], prior: string, columns: string, means: string, scales: string, networks: NetworkProgram[] }} GaussianProgram
 * @typedef {{ rows: Float64Array[], states: Map<number, number>[], logWeights: Float64Array, logEvidence: number, filled: Float64Array[][] | null }} Mixture
 */

/** The lower factor of a symmetric matrix, in place. @param {Float64Array} q @param {number} n */
function factorise(q, n) {
  for (let j = 0; j < n; j += 1) {
    for (let i = j; i < n; i += 1) {
      let sum = q[i * n + j];
      for (let k = 0; k < j; k += 1) sum -= q[i * n + k] * q[j * n + k];
      if (i === j) {
        if (!(sum > 0)) throw new Error("the parameters are so extreme that there is no finite answer");
        q[i * n + i] = Math.sqrt(sum);
      } else {
        q[i * n + j] = sum / q[j * n + j];
      }
    }
  }
}

/** Solves `L L' x = b` in place. @param {Float64Array} factor @param {Float64Array} x */
function solveFactored(factor, x) {
  const n = x.length;
  for (let i = 0; i < n; i += 1) {
    for (let k = 0; k < i; k += 1) x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let k = i + 1; k < n; k += 1) x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
}

/** The network of one class. */
class ClassNetwork {
  /** @param {NetworkProgram} program */
  constructor(program) {
    this.order = wholesOf(program.order);
    this.bias = floatsOf(program.bias);
    this.variance = floatsOf(program.variance);
    const flat = wholesOf(program.parents);
    const weights = floatsOf(program.weights);
    /** @type {{ from: Int32Array, weight: Float64Array }[]} */
    this.parents = [];
    for (let at = 0, w = 0; at < flat.length;) {
      const from = flat.subarray(at + 1, at + 1 + flat[at]);
      this.parents.push({ from, weight: weights.subarray(w, w + from.length) });
      w += from.length;
      at += 1 + from.length;
    }
  }

  /** @param {number} j @param {Float64Array} row */
  mean(j, row) {
    const { from, weight } = this.parents[j];
    let sum = this.bias[j];
    for (let i = 0; i < from.length; i += 1) sum += weight[i] * row[from[i]];
    return sum;
  }

  /** The factor of `Q = A'D A` over the given nodes, summing the terms of the relevant ones. @param {number[]} nodes @param {boolean[] | null} relevant */
  precisionFactor(nodes, relevant) {
    const n = nodes.length;
    const place = new Int32Array(this.bias.length).fill(-1);
    nodes.forEach((j, k) => { place[j] = k; });
    const q = new Float64Array(n * n);
    this.parents.forEach(({ from, weight }, j) => {
      if (relevant && !relevant[j]) return;
      const at = [j, ...from].map((i) => place[i]);
      for (let a = 0; a < at.length; a += 1) {
        for (let b = 0; b < at.length; b += 1) {
          if (at[a] >= 0 && at[b] >= 0) q[at[a] * n + at[b]] += ((a ? -weight[a - 1] : 1) * (b ? -weight[b - 1] : 1)) / this.variance[j];
        }
      }
    });
    factorise(q, n);
    return { q, place };
  }
}

/** One network prepared for the cells that are missing, as `missing/mod.rs` has it. */
class ConditionalNetwork {
  /** @param {ClassNetwork} network @param {boolean[]} missing */
  constructor(network, missing) {
    this.network = network;
    this.missing = missing;
    const relevant = missing.map((m) => !m);
    for (let at = network.order.length - 1; at >= 0; at -= 1) {
      const j = network.order[at];
      if (relevant[j]) for (const i of network.parents[j].from) relevant[i] = true;
    }
    this.relevant = relevant;
    this.hidden = [...missing.keys()].filter((j) => missing[j] && relevant[j]);
    this.factor = network.precisionFactor(this.hidden, relevant);
    /** @type {{ inverse: Float64Array, place: Int32Array, n: number } | null} */
    this.spread = null;
  }

  /** The row with missing cells replaced by their means given the others. @param {Float64Array} row */
  complete(row) {
    const { network, hidden, relevant, missing } = this;
    const filled = row.map((v, j) => (missing[j] ? 0 : v));
    if (hidden.length > 0) {
      const x = new Float64Array(hidden.length);
      const { q, place } = this.factor;
      network.parents.forEach(({ from, weight }, j) => {
        if (!relevant[j]) return;
        const scaled = (filled[j] - network.mean(j, filled)) / network.variance[j];
        if (place[j] >= 0) x[place[j]] -= scaled;
        for (let i = 0; i < from.length; i += 1) if (place[from[i]] >= 0) x[place[from[i]]] += weight[i] * scaled;
      });
      solveFactored(q, x);
      hidden.forEach((j, k) => { filled[j] = x[k]; });
    }
    for (const j of network.order) if (!relevant[j]) filled[j] = network.mean(j, filled);
    return filled;
  }

  /** @param {Float64Array} row */
  logDensity(row) {
    const filled = this.complete(row);
    const { network, hidden } = this;
    let log = 0.5 * hidden.length * Math.log(2 * Math.PI);
    for (let j = 0; j < filled.length; j += 1) {
      if (!this.relevant[j]) continue;
      const r = filled[j] - network.mean(j, filled);
      log -= (0.5 * r * r) / network.variance[j] + 0.5 * Math.log(2 * Math.PI * network.variance[j]);
    }
    for (let k = 0; k < hidden.length; k += 1) log -= Math.log(this.factor.q[k * hidden.length + k]);
    return log;
  }

  /** Covariance of two nodes given those that are known. @param {number} i @param {number} j */
  covariance(i, j) {
    if (!this.spread) {
      const nodes = [...this.missing.keys()].filter((node) => this.missing[node]);
      const { q, place } = this.network.precisionFactor(nodes, null);
      const n = nodes.length;
      // the inverse of the factor, column by column
      const inverse = new Float64Array(n * n);
      for (let c = 0; c < n; c += 1) {
        for (let r = c; r < n; r += 1) {
          let sum = r === c ? 1 : 0;
          for (let k = c; k < r; k += 1) sum -= q[r * n + k] * inverse[k * n + c];
          inverse[r * n + c] = sum / q[r * n + r];
        }
      }
      this.spread = { inverse, place, n };
    }
    const { inverse, place, n } = this.spread;
    const [a, b] = [place[i], place[j]];
    if (a < 0 || b < 0) return 0;
    let sum = 0;
    for (let k = Math.max(a, b); k < n; k += 1) sum += inverse[k * n + a] * inverse[k * n + b];
    return sum;
  }
}

export class GaussianModel {
  /** @param {GaussianProgram} program */
  constructor(program) {
    this.cards = program.cards;
    this.k = program.cards[0];
    this.logPrior = floatsOf(program.prior).map(Math.log);
    this.columns = wholesOf(program.columns);
    this.means = floatsOf(program.means);
    this.scales = floatsOf(program.scales);
    this.networks = program.networks.map((network) => new ClassNetwork(network));
    /** First node of every column; a category has its other indicators behind it. */
    this.first = program.cards.map((_, column) => this.columns.indexOf(column));
    /** @type {Map<string, ConditionalNetwork[]>} */
    this.prepared = new Map();
  }

  /** Standardised nodes of what is known; NaN is missing. @param {GivenFinding[]} known @param {Map<number, number>} states */
  encoded(known, states) {
    const row = new Float64Array(this.columns.length).fill(NaN);
    /** @param {number} node @param {number} x */
    const put = (node, x) => {
      row[node] = this.scales[node] === 0 ? 0 : Math.min(Math.max((x - this.means[node]) / this.scales[node], -1e100), 1e100);
    };
    /** @param {number} column @param {number} state */
    const indicate = (column, state) => {
      for (let s = 0; s + 1 < this.cards[column]; s += 1) put(this.first[column] + s, s === state ? 1 : 0);
    };
    for (const f of known) {
      if (f.column === 0) continue;
      if ("value" in f) put(this.first[f.column], f.value);
      else if (onlyState(f.states) >= 0) indicate(f.column, onlyState(f.states));
    }
    states.forEach((state, column) => indicate(column, state));
    return row;
  }

  /** The networks prepared for what this row misses. @param {Float64Array} row */
  conditionals(row) {
    const key = row.reduce((text, v) => text + (Number.isNaN(v) ? "1" : "0"), "");
    let found = this.prepared.get(key);
    if (!found) {
      if (this.prepared.size > 64) this.prepared.clear();
      const missing = Array.from(row, (v) => Number.isNaN(v));
      found = this.networks.map((network) => new ConditionalNetwork(network, missing));
      this.prepared.set(key, found);
    }
    return found;
  }

  /** `ln p(c, row)` of the nodes. @param {Float64Array} row */
  jointScores(row) {
    return Float64Array.from(this.conditionals(row), (network, c) => network.logDensity(row) + this.logPrior[c]);
  }

  /** Classes and combinations of open states with their weights. @param {GivenFinding[]} known @param {{ column: number, states: number[] }[]} unsure @param {ArrayLike<number> | undefined} ofClass @returns {Mixture} */
  mixture(known, unsure, ofClass) {
    const { k } = this;
    const row = this.encoded(known, new Map());
    const joint = this.jointScores(row);
    const density = logSumExp(joint) - this.logScale(row);
    const total = logSumExp(joint);
    const combinations = combinationsOf(unsure);
    const rows = combinations.map(({ states }) => this.encoded(known, states));
    const every = combinationsOf(unsure.map(({ column, states }) => ({ column, states: states.map(() => 1) })));
    const totals = Array.from({ length: k }, () => new Float64Array(every.length));
    every.forEach(({ states }, a) => this.jointScores(this.encoded(known, states)).forEach((s, c) => { totals[c][a] = s; }));
    const logWeights = new Float64Array(rows.length * k);
    rows.forEach((own, a) => {
      const scores = this.jointScores(own);
      for (let c = 0; c < k; c += 1) {
        const likelihood = Math.log(ofClass ? ofClass[c] : 1);
        logWeights[a * k + c] = joint[c] - total + likelihood + scores[c] - logSumExp(totals[c]) + combinations[a].log;
      }
    });
    const seen = logSumExp(logWeights);
    if (seen === -Infinity || Number.isNaN(seen)) throw impossible();
    return { rows, states: combinations.map((c) => c.states), logWeights: logWeights.map((w) => w - seen), logEvidence: density + seen + settledFactor(known), filled: null };
  }

  /** `Σ ln deviation` of the known numbers. @param {Float64Array} row */
  logScale(row) {
    let log = 0;
    row.forEach((v, node) => {
      if (this.cards[this.columns[node]] === 0 && this.scales[node] > 0 && !Number.isNaN(v)) log += Math.log(this.scales[node]);
    });
    return log;
  }

  /** @param {Mixture} mixture @param {number} c */
  logClass(mixture, c) {
    return logSumExp(mixture.logWeights.filter((_, at) => at % this.k === c));
  }

  /** Scores of the classes, what is known of the class left out. @param {GivenFinding[]} known */
  classScores(known) {
    const mixture = this.mixture(known, unsureOf(known), undefined);
    const calibrated = Float64Array.from({ length: this.k }, (_, c) => this.logClass(mixture, c));
    return { calibrated, joint: calibrated.map((l) => l + mixture.logEvidence) };
  }

  /** Means of all nodes for each combination and class. @param {Mixture} mixture */
  filled(mixture) {
    mixture.filled ||= mixture.rows.map((row) => this.conditionals(row).map((network) => network.complete(row)));
    return mixture.filled;
  }

  /** A number: its normal distributions with a label each. @param {Mixture} mixture @param {number} column @param {(a: number, c: number) => number} label */
  normals(mixture, column, label) {
    const node = this.first[column];
    const filled = this.filled(mixture);
    return mixture.rows.flatMap((row, a) => this.conditionals(row).map((network, c) => {
      const mean = this.means[node] + this.scales[node] * filled[a][c][node];
      return [label(a, c), Math.exp(mixture.logWeights[a * this.k + c]), mean, this.scales[node] * Math.sqrt(network.covariance(node, node))];
    }));
  }

  /** A category: `P(state, label)`. @param {GivenFinding[]} known @param {Mixture} mixture @param {number} column @param {number} labels @param {(a: number, c: number) => number} label */
  states(known, mixture, column, labels, label) {
    const { k } = this;
    const r = this.cards[column];
    const joint = new Array(r * labels).fill(0);
    const settled = onlyState(likelihoodOf(known, column) || []);
    mixture.rows.forEach((_, a) => {
      const seen = mixture.states[a].get(column) ?? settled;
      const scores = seen >= 0 ? [] : Array.from({ length: r }, (__, s) => this.jointScores(this.encoded(known, new Map(mixture.states[a]).set(column, s))));
      for (let c = 0; c < k; c += 1) {
        const shares = Float64Array.from({ length: r }, (__, s) => (seen >= 0 ? (s === seen ? 0 : -Infinity) : scores[s][c]));
        toProbabilities(shares);
        const weight = Math.exp(mixture.logWeights[a * k + c]);
        for (let s = 0; s < r; s += 1) joint[s * labels + label(a, c)] += weight * shares[s];
      }
    });
    return joint;
  }

  /** Two numbers together. @param {Mixture} mixture @param {number} one @param {number} other */
  pairs(mixture, one, other) {
    const nodes = [this.first[one], this.first[other]];
    const all = this.filled(mixture);
    return mixture.rows.flatMap((row, a) => this.conditionals(row).map((network, c) => {
      const filled = all[a][c];
      const deviation = nodes.map((node) => Math.sqrt(network.covariance(node, node)));
      const product = deviation[0] * deviation[1];
      return {
        weight: Math.exp(mixture.logWeights[a * this.k + c]),
        mean: nodes.map((node) => this.means[node] + this.scales[node] * filled[node]),
        sd: nodes.map((node, e) => this.scales[node] * deviation[e]),
        correlation: product > 0 ? network.covariance(nodes[0], nodes[1]) / product : 0,
      };
    }));
  }

  /** @param {GivenFinding[]} known @param {number} about @returns {import("../types.d.ts").Beliefs} */
  beliefs(known, about) {
    const { cards, k } = this;
    const ofClass = likelihoodOf(known, 0);
    const mixture = this.mixture(known, unsureOf(known), ofClass);
    const classes = Float64Array.from({ length: k }, (_, c) => this.logClass(mixture, c));
    toProbabilities(classes);
    const ofClasses = (/** @type {number} */ _, /** @type {number} */ c) => c;
    const columns = cards.map((r, column) => {
      if (column === 0) return null;
      return r > 0 ? { joint: this.states(known, mixture, column, k, ofClasses) } : { normals: this.normals(mixture, column, ofClasses) };
    });
    const measured = (/** @type {number} */ column) => column > 0 && column !== about && isOpen(known, column);
    const tells = (/** @type {number} */ column) => {
      if (about > 0) return this.tellsOf(known, ofClass, mixture, about, column);
      const belief = columns[column];
      return belief && belief.joint ? informationOf(belief.joint, k) : informationOfNormals((belief && belief.normals) || [], k);
    };
    const next = cards.map((_, column) => (measured(column) ? tells(column) : null));
    let conflict = null;
    if (known.length > 1) {
      conflict = -mixture.logEvidence;
      for (const f of known) {
        const alone = f.column === 0 ? [] : [f];
        conflict += this.mixture(alone, unsureOf(alone), f.column === 0 ? ofClass : undefined).logEvidence;
      }
    }
    return { classes: Array.from(classes), logEvidence: mixture.logEvidence, conflict, columns, next };
  }

  /** What `column` tells about `about`: one that is a category is left open, so that every combination has one of its states. @param {GivenFinding[]} known @param {ArrayLike<number> | undefined} ofClass @param {Mixture} mixture @param {number} about @param {number} column */
  tellsOf(known, ofClass, mixture, about, column) {
    if (!isOpen(known, about)) return 0;
    const split = this.cards[about] > 0 ? about : column;
    const other = split === about ? column : about;
    const r = this.cards[split];
    if (r === 0) return informationOfPairs(this.pairs(mixture, about, column));
    const unsure = unsureOf(known);
    if (!likelihoodOf(known, split)) unsure.push({ column: split, states: new Array(r).fill(1) });
    const parts = this.mixture(known, unsure, ofClass);
    const label = (/** @type {number} */ a) => parts.states[a].get(split) || 0;
    return this.cards[other] > 0 ? informationOf(this.states(known, parts, other, r, label), r) : informationOfNormals(this.normals(parts, other, label), r);
  }
}
