// @ts-check
// Discrete networks in the page. The class is instantiated; for each class and each network messages go up a junction tree over
// the features in log space and, where columns are asked for, down again. A variable is the last, fastest one of the
// only clique in which it is summed out.

import { floatsOf, wholesOf } from "./arrays.js";
import { isOpen, likelihoodOf } from "./findings.js";
import { impossible, informationOf, logSumExp, toProbabilities, withLikelihood } from "./numbers.js";

/**
 * @typedef {import("../types.d.ts").Finding} Finding
 * @typedef {import("../types.d.ts").Beliefs} Beliefs
 * @typedef {{ tables: string, parents: string, cliques: string, prior: number[] }} MemberProgram
 * @typedef {{ kind: "discrete", cards: number[], temperature: number, members: MemberProgram[] }} DiscreteProgram
 * @typedef {{ own: number, r: number, start: number, size: number, above: number, message: number, rows: number, map: Int32Array }} Clique
 */

/** Positions of the states of each variable in one array, and their number at the end. @param {number[]} cards */
function stateOffsets(cards) {
  const offsets = new Int32Array(cards.length + 1);
  cards.forEach((r, v) => { offsets[v + 1] = offsets[v] + r; });
  return offsets;
}

/** Mixed radix: how far a position moves with the state of each variable, the last one fastest. @param {number[]} vars @param {number[]} cards */
function strideOf(vars, cards) {
  const strides = new Map();
  let stride = 1;
  for (let d = vars.length - 1; d >= 0; d -= 1) {
    strides.set(vars[d], stride);
    stride *= cards[vars[d]];
  }
  return { strides, size: stride };
}

/** One network as a junction tree. */
class JunctionTree {
  /** @param {MemberProgram} program @param {number[]} cards */
  constructor(program, cards) {
    const tables = floatsOf(program.tables);
    const nodes = nodesOf(wholesOf(program.parents), cards);
    const flat = wholesOf(program.cliques);
    /** @type {Clique[]} */
    this.cliques = [];
    /** @type {number[][]} */
    const scopes = [];
    /** @type {number[][]} */
    const own = [];
    let entries = 0;
    let messages = 0;
    for (let at = 0; at < flat.length;) {
      const above = flat[at];
      const scope = Array.from(flat.subarray(at + 2, at + 2 + flat[at + 1]));
      at += 2 + scope.length;
      own.push(Array.from(flat.subarray(at + 1, at + 1 + flat[at])));
      at += 1 + flat[at];
      const last = scope[scope.length - 1];
      const size = strideOf(scope, cards).size;
      const k = this.cliques.length;
      const rows = size / cards[last];
      this.cliques.push({ own: last, r: cards[last], start: entries, size, above: above === k ? -1 : above, message: messages, rows, map: new Int32Array(0) });
      scopes.push(scope);
      entries += size;
      messages += rows;
    }
    this.cliques.forEach((clique, k) => {
      if (clique.above < 0) return;
      const { strides } = strideOf(scopes[k].slice(0, -1), cards);
      clique.map = Int32Array.from(walked(scopes[clique.above], cards, (v) => strides.get(v) || 0));
    });
    this.offsets = stateOffsets(cards);
    /** Potentials of each class, clique after clique. @type {Float64Array[]} */
    this.potentials = [];
    this.prior = new Float64Array(cards[0]);
    for (let c = 0; c < cards[0]; c += 1) {
      const potential = new Float64Array(entries);
      this.cliques.forEach((clique, k) => {
        for (const node of own[k]) {
          const { start, strides } = nodes[node];
          const first = start + c * (strides.get(0) || 0);
          walked(scopes[k], cards, (v) => strides.get(v) || 0).forEach((at, e) => { potential[clique.start + e] += tables[first + at]; });
        }
      });
      this.potentials.push(potential);
      for (const node of program.prior) this.prior[c] += tables[nodes[node].start + c * (nodes[node].strides.get(0) || 0)];
    }
    this.belief = new Float64Array(entries);
    this.messages = new Float64Array(messages);
    this.shares = new Float64Array(messages);
  }

  /** `ln P(c, known)`. @param {number} c @param {(Float64Array | undefined)[]} known logarithms of likelihoods */
  collect(c, known) {
    const { belief, messages } = this;
    belief.set(this.potentials[c]);
    let score = this.prior[c];
    for (const { own, r, start, size, above, message, rows, map } of this.cliques) {
      const likelihood = known[own];
      if (likelihood) for (let e = 0; e < size; e += 1) belief[start + e] += likelihood[e % r];
      for (let h = 0; h < rows; h += 1) messages[message + h] = logSumExp(belief, start + h * r, r);
      if (above < 0) {
        score += messages[message];
      } else {
        const to = this.cliques[above].start;
        for (let e = 0; e < map.length; e += 1) belief[to + e] += messages[message + map[e]];
      }
    }
    return score;
  }

  /** After `collect`: writes `P(state | c, known)` of every feature. @param {Float64Array} out */
  distribute(out) {
    const { belief, messages, shares } = this;
    out.fill(0);
    for (let k = this.cliques.length - 1; k >= 0; k -= 1) {
      const { own, r, start, above, message, rows, map } = this.cliques[k];
      if (above < 0) {
        shares[message] = 1;
      } else {
        shares.fill(0, message, message + rows);
        const from = this.cliques[above].start;
        for (let e = 0; e < map.length; e += 1) shares[message + map[e]] += belief[from + e];
      }
      // the belief of a clique becomes its probability, which the cliques below read
      for (let h = 0; h < rows; h += 1) {
        const share = shares[message + h];
        const total = messages[message + h];
        for (let s = 0; s < r; s += 1) {
          const e = start + h * r + s;
          belief[e] = share > 0 ? share * Math.exp(belief[e] - total) : 0;
          out[this.offsets[own] + s] += belief[e];
        }
      }
    }
  }
}

/** Where the table of each node starts, and how far it moves with each variable. @param {Int32Array} parents @param {number[]} cards */
function nodesOf(parents, cards) {
  let start = 0;
  let at = 0;
  return cards.map((_, i) => {
    const family = [...parents.subarray(at + 1, at + 1 + parents[at]), i];
    at += family.length;
    const { strides, size } = strideOf(family, cards);
    const node = { start, strides };
    start += size;
    return node;
  });
}

/** A position for every joint state of the variables, the last one fastest. @param {number[]} vars @param {number[]} cards @param {(v: number) => number} stride */
function walked(vars, cards, stride) {
  let at = [0];
  for (const v of vars) {
    const step = stride(v);
    at = at.flatMap((a) => Array.from({ length: cards[v] }, (_, s) => a + s * step));
  }
  return at;
}

/** Networks over the same variables, averaged. */
export class DiscreteModel {
  /** @param {DiscreteProgram} program */
  constructor(program) {
    this.cards = program.cards;
    this.k = program.cards[0];
    this.temperature = program.temperature;
    this.offsets = stateOffsets(program.cards);
    this.members = program.members.map((member) => new JunctionTree(member, program.cards));
    const states = this.offsets[program.cards.length];
    this.ofMembers = this.members.map(() => new Float64Array(states));
    /** @type {{ logs: Float64Array, givenClass: Float64Array[] } | null} */
    this.nothing = null;
  }

  /** Logarithms of the likelihoods by column, those of the class left out. @param {Finding[]} known */
  logLikelihoods(known) {
    /** @type {(Float64Array | undefined)[]} */
    const logs = new Array(this.cards.length).fill(undefined);
    for (const finding of known) if (finding.column > 0 && "states" in finding) logs[finding.column] = Float64Array.from(finding.states, Math.log);
    return logs;
  }

  /** @param {ArrayLike<number>} logs */
  averaged(logs) {
    return logSumExp(logs) - Math.log(logs.length);
  }

  /** `ln P(c, known)`. @param {(Float64Array | undefined)[]} known */
  jointScores(known) {
    return Float64Array.from({ length: this.k }, (_, c) => this.averaged(this.members.map((m) => m.collect(c, known))));
  }

  /** `ln P(c, known)`, and for each class `P(state | c, known)` of all variables. @param {(Float64Array | undefined)[]} known */
  columns(known) {
    const logs = new Float64Array(this.k);
    const states = this.offsets[this.cards.length];
    const givenClass = Array.from({ length: this.k }, (_, c) => {
      const share = new Float64Array(this.members.length);
      this.members.forEach((member, m) => {
        share[m] = member.collect(c, known);
        if (share[m] > -Infinity) member.distribute(this.ofMembers[m]);
      });
      logs[c] = this.averaged(share);
      const mean = new Float64Array(states);
      if (logs[c] === -Infinity) return mean;
      toProbabilities(share);
      this.ofMembers.forEach((own, m) => {
        if (share[m] > 0) for (let s = 0; s < states; s += 1) mean[s] += share[m] * own[s];
      });
      return mean;
    });
    return { logs, givenClass };
  }

  /** Scores of the classes, what is known of the class left out. @param {Finding[]} known */
  classScores(known) {
    const joint = this.jointScores(this.logLikelihoods(known));
    return { calibrated: joint.map((s) => s / this.temperature), joint };
  }

  /** @param {Finding[]} known @param {number} about @returns {Beliefs} */
  beliefs(known, about) {
    const { cards, k, offsets } = this;
    const findings = this.logLikelihoods(known);
    const ofClass = likelihoodOf(known, 0);
    const { logs, givenClass } = this.columns(findings);
    const logEvidence = logSumExp(withLikelihood(logs, ofClass));
    if (logEvidence === -Infinity) throw impossible();
    const classes = withLikelihood(logs.map((s) => s / this.temperature), ofClass);
    toProbabilities(classes);
    const columns = cards.map((r, v) => {
      if (v === 0) return null;
      const joint = new Array(r * k);
      for (let s = 0; s < r; s += 1) for (let c = 0; c < k; c += 1) joint[s * k + c] = classes[c] * givenClass[c][offsets[v] + s];
      return { joint };
    });
    const scale = classes.map((p, c) => Math.log(p) - logs[c]);
    const pairs = about > 0 ? this.pairsWith(about, findings, scale) : null;
    const next = columns.map((column, v) => {
      if (!column || v === about || !isOpen(known, v)) return null;
      return pairs ? informationOf(pairs[v], cards[v]) : informationOf(column.joint, k);
    });
    const conflict = known.length > 1 ? this.logAlone(known, findings) - logEvidence : null;
    return { classes: Array.from(classes), logEvidence, conflict, columns, next };
  }

  /** `P(about = s, x_v = t | known)` for every variable v, one row a possible state s. @param {number} about @param {(Float64Array | undefined)[]} findings @param {Float64Array} scale */
  pairsWith(about, findings, scale) {
    const { cards, k, offsets } = this;
    /** @type {number[][]} */
    const pairs = cards.map(() => []);
    for (let s = 0; s < cards[about]; s += 1) {
      const before = findings[about];
      if (before && before[s] === -Infinity) continue;
      const seen = findings.slice();
      seen[about] = Float64Array.from({ length: cards[about] }, (_, t) => (t === s ? (before ? before[s] : 0) : -Infinity));
      const { logs, givenClass } = this.columns(seen);
      const weights = logs.map((l, c) => (l === -Infinity || scale[c] === -Infinity ? 0 : Math.exp(l + scale[c])));
      cards.forEach((r, v) => {
        for (let t = 0; t < r; t += 1) {
          let sum = 0;
          for (let c = 0; c < k; c += 1) sum += weights[c] * givenClass[c][offsets[v] + t];
          pairs[v].push(sum);
        }
      });
    }
    return pairs;
  }

  /** `Σ ln P(each finding alone)`. @param {Finding[]} known @param {(Float64Array | undefined)[]} findings */
  logAlone(known, findings) {
    this.nothing ||= this.columns([]);
    const { logs, givenClass } = this.nothing;
    let total = 0;
    for (const finding of known) {
      if (!("states" in finding)) continue;
      const v = finding.column;
      let p = 0;
      finding.states.forEach((l, s) => {
        for (let c = 0; c < this.k; c += 1) {
          if (v === 0 ? s === c : true) p += l * Math.exp(logs[c]) * (v === 0 ? 1 : givenClass[c][this.offsets[v] + s]);
        }
      });
      if (p > 1e-250 || v === 0) {
        total += Math.log(p);
      } else {
        // so improbable that its probability has lost digits: the messages keep them
        const alone = new Array(this.cards.length).fill(undefined);
        alone[v] = findings[v];
        total += logSumExp(this.jointScores(alone));
      }
    }
    return total;
  }
}
