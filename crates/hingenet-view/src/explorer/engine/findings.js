// @ts-check
// What is known, as all evaluators read it.

/** @typedef {import("../types.d.ts").Finding} Known */

/** Likelihood over the states of a column, if there is one. @param {Known[]} known @param {number} column */
export function likelihoodOf(known, column) {
  const finding = known.find((f) => f.column === column);
  return finding && "states" in finding ? finding.states : undefined;
}

/** The only state that is left; -1 if there are several. @param {ArrayLike<number>} likelihood */
export function onlyState(likelihood) {
  let seen = -1;
  for (let s = 0; s < likelihood.length; s += 1) {
    if (likelihood[s] > 0) {
      if (seen >= 0) return -1;
      seen = s;
    }
  }
  return seen;
}

/** Whether the value of a column is not settled. @param {Known[]} known @param {number} column */
export function isOpen(known, column) {
  const finding = known.find((f) => f.column === column);
  return !finding || ("states" in finding && onlyState(finding.states) < 0);
}

/** Features of which a likelihood leaves several states. @param {Known[]} known @returns {{ column: number, states: number[] }[]} */
export function unsureOf(known) {
  return known.flatMap((f) => (f.column > 0 && "states" in f && onlyState(f.states) < 0 ? [f] : [])).sort((a, b) => a.column - b.column);
}

/** `Σ ln likelihood` of the settled features. @param {Known[]} known */
export function settledFactor(known) {
  let log = 0;
  for (const f of known) if (f.column > 0 && "states" in f && onlyState(f.states) >= 0) log += Math.log(f.states[onlyState(f.states)]);
  return log;
}

/** Most combinations of states that likelihoods leave open. */
const MOST_COMBINATIONS = 4096;

/** Each combination of the states of positive likelihood, the first column fastest, with the logarithm of its likelihood. @param {{ column: number, states: number[] }[]} unsure */
export function combinationsOf(unsure) {
  /** @type {{ states: Map<number, number>, log: number }[]} */
  let all = [{ states: new Map(), log: 0 }];
  for (const { column, states } of unsure) {
    const left = states.flatMap((l, s) => (l > 0 ? [s] : []));
    if (all.length * left.length > MOST_COMBINATIONS) throw new Error("likelihoods leave too many combinations of states open: give some of these columns a value");
    all = left.flatMap((s) => all.map((c) => ({ states: new Map(c.states).set(column, s), log: c.log + Math.log(states[s]) })));
  }
  return all;
}
