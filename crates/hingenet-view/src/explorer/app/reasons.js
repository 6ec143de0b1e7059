// @ts-check
// Why the model decides as it does: what each known column adds to the log-odds, and the smallest change that would turn the
// decision. Both ask the engine for class probabilities only, so they are the same for every model.
import { intervalOf, isSettled, oneOf, settledState } from "./evidence.js";
import { sumOf } from "./distribution.js";
/** @typedef {import("../types.d.ts").Finding} Finding */
/** @typedef {import("../types.d.ts").Engine} Engine */
/** @typedef {import("../types.d.ts").Column} Column */
/** @typedef {{ finding: Finding, value: number, error: number | null }} Reason */

/** Known columns up to which all their subsets are asked. */
const EXACT = 10;
/** Questions asked when there are more. */
const QUESTIONS = 2000;
/** Values of a number that are tried as a change. */
const TRIED = 24;
/** Pairs of changes that are tried. */
const PAIRS = 4000;

/** The most probable class, the first of equal ones. @param {number[]} classes */
export function decided(classes) {
  return classes.indexOf(Math.max(...classes));
}

/** `ln P / (1 - P)`, finite also where a probability is 0 or 1. @param {number[]} classes @param {number} c */
export function logOdds(classes, c) {
  const others = sumOf(classes.filter((_, k) => k !== c));
  return Math.log(Math.max(classes[c], 1e-300)) - Math.log(Math.max(others, 1e-300));
}

/**
 * What each known feature adds to the log-odds of a class: its Shapley value, the mean over all orders in which the features
 * could become known. With many of them the mean over some orders and their opposites, with its standard error.
 * @param {Engine} engine @param {Finding[]} known @param {number} c
 * @returns {Promise<{ base: number, total: number, reasons: Reason[] }>}
 */
export async function reasonsFor(engine, known, c) {
  const always = known.filter((f) => f.column === 0);
  const players = known.filter((f) => f.column > 0);
  const worths = async (/** @type {boolean[][]} */ subsets) => {
    const sets = subsets.map((subset) => [...always, ...players.filter((_, k) => subset[k])]);
    return (await engine.classes(sets)).map((answer) => logOdds(answer.classes, c));
  };
  const n = players.length;
  const values = n <= EXACT ? await overSubsets(n, worths) : await overOrders(n, worths);
  const reasons = players.map((finding, k) => ({ finding, value: values.values[k], error: values.errors ? values.errors[k] : null }));
  reasons.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return { base: values.base, total: values.total, reasons };
}

/** @param {number} n @param {(subsets: boolean[][]) => Promise<number[]>} worths */
async function overSubsets(n, worths) {
  const subsets = Array.from({ length: 2 ** n }, (_, bits) => Array.from({ length: n }, (_, k) => ((bits >> k) & 1) === 1));
  const worth = await worths(subsets);
  // |S|! (n - |S| - 1)! / n!
  const weight = [1 / n];
  for (let size = 1; size < n; size++) weight.push((weight[size - 1] * size) / (n - size));
  const values = Array.from({ length: n }, () => 0);
  for (let bits = 0; bits < worth.length; bits++) {
    const size = subsets[bits].filter(Boolean).length;
    for (let k = 0; k < n; k++) if (!subsets[bits][k]) values[k] += weight[size] * (worth[bits | (1 << k)] - worth[bits]);
  }
  return { values, errors: null, base: worth[0], total: worth[worth.length - 1] };
}

/** @param {number} n @param {(subsets: boolean[][]) => Promise<number[]>} worths */
async function overOrders(n, worths) {
  const pairs = Math.max(2, Math.floor(QUESTIONS / (2 * n)));
  const random = randomNumbers(20130613);
  const orders = Array.from({ length: pairs }, () => shuffled(n, random)).flatMap((order) => [order, order.slice().reverse()]);
  const subsets = orders.flatMap((order) => order.slice(0, -1).map((_, k) => {
    const inside = Array.from({ length: n }, () => false);
    order.slice(0, k + 1).forEach((player) => { inside[player] = true; });
    return inside;
  }));
  const worth = await worths([Array.from({ length: n }, () => false), Array.from({ length: n }, () => true), ...subsets]);
  const [base, total] = worth;
  const drawn = Array.from({ length: pairs }, () => Array.from({ length: n }, () => 0));
  orders.forEach((order, o) => {
    let before = base;
    order.forEach((player, k) => {
      const after = k === n - 1 ? total : worth[2 + o * (n - 1) + k];
      drawn[o >> 1][player] += 0.5 * (after - before);
      before = after;
    });
  });
  const mean = (/** @type {number} */ k) => sumOf(drawn.map((d) => d[k])) / pairs;
  const values = Array.from({ length: n }, (_, k) => mean(k));
  const error = (/** @type {number} */ k) => Math.sqrt(sumOf(drawn.map((d) => (d[k] - values[k]) ** 2)) / (pairs - 1) / pairs);
  return { values, errors: values.map((_, k) => error(k)), base, total };
}

/** @param {number} n @param {() => number} random */
function shuffled(n, random) {
  const order = Array.from({ length: n }, (_, k) => k);
  for (let k = n - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [order[k], order[other]] = [order[other], order[k]];
  }
  return order;
}

/** The same numbers for the same seed (mulberry32). @param {number} seed */
function randomNumbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * The fewest known values whose change turns the decision. One and, where there are not too many, two changes are searched
 * completely; beyond that the best change is taken at each step, and `isSmallest` is false.
 * @param {Engine} engine @param {Column[]} columns @param {Finding[]} known @param {(column: number) => [number, number]} ends
 * @returns {Promise<{ changes: Finding[], classes: number[], isSmallest: boolean } | null>}
 */
export async function smallestChange(engine, columns, known, ends) {
  const movable = known.filter((f) => f.column > 0 && isSettled(f));
  if (movable.length === 0) return null;
  const [{ classes }] = await engine.classes([known]);
  const from = decided(classes);
  const all = movable.flatMap((f) => alternatives(columns[f.column], f, ends(f.column)));
  const one = await best(engine, known, all.map((f) => [f]), from);
  if (one.turned) return { ...one.turned, isSmallest: true };
  const pairs = movable.length > 1 && all.length * all.length <= 2 * PAIRS;
  if (pairs) {
    const twos = all.flatMap((a, i) => all.slice(i + 1).filter((b) => b.column !== a.column).map((b) => [a, b]));
    const two = await best(engine, known, twos, from);
    if (two.turned) return { ...two.turned, isSmallest: true };
  }
  let changes = one.nearest;
  while (changes.length > 0 && changes.length < movable.length) {
    const free = all.filter((f) => changes.every((c) => c.column !== f.column));
    const next = await best(engine, known, free.map((f) => [...changes, f]), from);
    if (next.turned) return { ...next.turned, isSmallest: pairs && next.turned.changes.length === 3 };
    if (next.nearest.length === 0) break;
    changes = next.nearest;
  }
  return null;
}

/** Other values of a column: its other states, or values along its range, the nearest first. @param {Column} column @param {Finding} finding @param {[number, number]} ends @returns {Finding[]} */
function alternatives(column, finding, ends) {
  if ("value" in finding) {
    const [low, high] = ends;
    const values = Array.from({ length: TRIED }, (_, k) => Number((low + ((high - low) * (k + 0.5)) / TRIED).toPrecision(3)));
    values.sort((a, b) => Math.abs(a - finding.value) - Math.abs(b - finding.value));
    return values.filter((v) => v !== finding.value).map((value) => ({ column: finding.column, value }));
  }
  const n = finding.states.length, own = settledState(finding);
  return oneOf(n, own).flatMap((is, k) => (is ? [] : [{ column: finding.column, states: oneOf(n, k) }]));
}

/**
 * The first of the changes that turn the decision in each column is the nearest one; among these the one with the clearest
 * answer. Else the change that comes nearest to turning it.
 * @param {Engine} engine @param {Finding[]} known @param {Finding[][]} sets @param {number} from
 */
async function best(engine, known, sets, from) {
  const changed = (/** @type {Finding[]} */ changes) => {
    const by = new Map(changes.map((f) => [f.column, f]));
    return known.map((f) => by.get(f.column) || f);
  };
  const answers = await engine.classes(sets.map(changed));
  /** @type {{ changes: Finding[], classes: number[] } | null} */
  let turned = null;
  /** @type {Finding[]} */
  let nearest = [];
  let least = Infinity;
  const seen = new Set();
  sets.forEach((changes, k) => {
    const { classes } = answers[k];
    const where = changes.map((f) => f.column).join();
    const odds = logOdds(classes, from);
    if (decided(classes) !== from && !seen.has(where)) {
      seen.add(where);
      if (!turned || Math.max(...classes) > Math.max(...turned.classes)) turned = { changes, classes };
    }
    if (odds < least) [least, nearest] = [odds, changes];
  });
  return { turned: /** @type {{ changes: Finding[], classes: number[] } | null} */ (turned), nearest };
}

/** Cells of a row as findings. @param {Column[]} columns @param {(number | null)[]} cells @returns {Finding[]} */
export function findingsOf(columns, cells) {
  return cells.flatMap((cell, column) => {
    const states = columns[column].states;
    if (cell === null || column === 0) return [];
    return [states ? { column, states: oneOf(states.length, cell) } : { column, value: cell }];
  });
}

/**
 * A cell of text as the code of its state or as a number; null where it is missing or unknown.
 * @param {import("../types.d.ts").Facts} facts @param {number} c @param {string} text @returns {number | null}
 */
export function cellOf(facts, c, text) {
  const column = facts.columns[c], bare = text.trim();
  if (facts.missing.includes(bare)) return null;
  if (column.states && !column.cuts) {
    const state = column.states.indexOf(bare);
    return state < 0 ? null : state;
  }
  const number = Number(bare);
  if (!Number.isFinite(number)) return null;
  return column.cuts ? intervalOf(column.cuts, number) : number;
}
