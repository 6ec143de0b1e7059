// @ts-check
// What is known, as the user says it: states that are set, excluded or weighed, and numbers. Every change can be taken back.
/** @typedef {import("../types.d.ts").Finding} Finding */
/** @typedef {import("../types.d.ts").Column} Column */

/** @param {number} n @param {number} at */
export function oneOf(n, at) {
  return Array.from({ length: n }, (_, k) => (k === at ? 1 : 0));
}

/** A state as a reader likes it: intervals by their ends. @param {Column} column @param {number} state */
export function stateLabel({ states = [], cuts }, state) {
  if (!cuts) return states[state];
  if (cuts.length === 0) return "any";
  if (state === 0) return `≤ ${shortNumber(cuts[0])}`;
  if (state === cuts.length) return `> ${shortNumber(cuts[state - 1])}`;
  return `${shortNumber(cuts[state - 1])}…${shortNumber(cuts[state])}`;
}

/** The state that a finding settles on, or -1. @param {Finding | undefined} finding */
export function settledState(finding) {
  if (!finding || !("states" in finding)) return -1;
  const left = finding.states.flatMap((l, k) => (l > 0 ? [k] : []));
  return left.length === 1 ? left[0] : -1;
}

/** Whether nothing more can be learnt of a column. @param {Finding | undefined} finding */
export function isSettled(finding) {
  return finding !== undefined && ("value" in finding || settledState(finding) >= 0);
}

/** The interval a number falls into: a cut belongs to the one below it. @param {number[]} cuts @param {number} x */
export function intervalOf(cuts, x) {
  let state = 0;
  while (state < cuts.length && x > cuts[state]) state++;
  return state;
}

export class Evidence {
  /** @param {Column[]} columns */
  constructor(columns) {
    this.columns = columns;
    /** @type {Map<number, Finding>} */
    this.known = new Map();
    /** @type {Map<number, Finding>[]} */
    this.history = [];
  }

  findings() {
    return Array.from(this.known.values());
  }

  /** @param {number} column */
  of(column) {
    return this.known.get(column);
  }

  /** Replaces everything known, which can be undone. @param {Map<number, Finding>} known */
  replace(known) {
    this.history.push(this.known);
    this.known = known;
  }

  /** @param {number} column @param {Finding | null} finding */
  set(column, finding) {
    const known = new Map(this.known);
    if (finding) known.set(column, finding);
    else known.delete(column);
    this.replace(known);
  }

  /** Sets a state, or takes it back if it is set. @param {number} column @param {number} state */
  toggle(column, state) {
    const n = (this.columns[column].states || []).length;
    this.set(column, settledState(this.of(column)) === state ? null : { column, states: oneOf(n, state) });
  }

  /** Excludes a state, or allows it again; false if none would be left. @param {number} column @param {number} state */
  exclude(column, state) {
    const before = this.of(column);
    const states = before && "states" in before ? before.states.slice() : (this.columns[column].states || []).map(() => 1);
    states[state] = states[state] > 0 ? 0 : 1;
    if (states.every((l) => l === 0)) return false;
    this.set(column, states.every((l) => l === 1) ? null : { column, states });
    return true;
  }

  undo() {
    const before = this.history.pop();
    if (before) this.known = before;
    return before !== undefined;
  }

  /** What is known as text for a link: names and values, so that it survives another order of columns. */
  link() {
    const entry = (/** @type {Finding} */ f) => {
      const { name, states = [] } = this.columns[f.column];
      if ("value" in f) return [name, f.value];
      const state = settledState(f);
      return [name, state >= 0 && f.states[state] === 1 ? states[state] : f.states];
    };
    return encodeURIComponent(JSON.stringify(this.findings().map(entry)));
  }

  /** Reads such a text; what does not fit this model is left out. @param {string} text */
  restore(text) {
    /** @type {unknown} */
    let entries;
    try {
      entries = JSON.parse(decodeURIComponent(text));
    } catch {
      return false;
    }
    if (!Array.isArray(entries)) return false;
    const known = new Map();
    for (const entry of entries) {
      const finding = Array.isArray(entry) ? this.read(entry[0], entry[1]) : null;
      if (finding) known.set(finding.column, finding);
    }
    this.replace(known);
    return true;
  }

  /** @param {unknown} name @param {unknown} value @returns {Finding | null} */
  read(name, value) {
    const column = this.columns.findIndex((c) => c.name === name);
    if (column < 0) return null;
    const states = this.columns[column].states;
    if (!states) return typeof value === "number" && Number.isFinite(value) ? { column, value } : null;
    if (Array.isArray(value)) {
      const fits = value.length === states.length && value.every((l) => Number.isFinite(l) && l >= 0) && value.some((l) => l > 0);
      return fits ? { column, states: value.map(Number) } : null;
    }
    const state = states.indexOf(String(value));
    return state < 0 ? null : { column, states: oneOf(states.length, state) };
  }

  /** A finding in words. @param {Finding} finding */
  words(finding) {
    const column = this.columns[finding.column];
    const is = (/** @type {number} */ state) => (column.cuts ? `${column.name} ${stateLabel(column, state)}` : `${column.name} = ${stateLabel(column, state)}`);
    if ("value" in finding) return `${column.name} = ${shortNumber(finding.value)}`;
    const state = settledState(finding);
    if (state >= 0) return is(state);
    const names = finding.states.map((_, k) => stateLabel(column, k));
    if (finding.states.every((l) => l === 0 || l === 1)) return `${column.name} ≠ ${names.filter((_, k) => finding.states[k] === 0).join(", ")}`;
    return `${column.name} ~ ${finding.states.map((l, k) => `${names[k]}: ${shortNumber(l)}`).join("; ")}`;
  }
}

/** A number with as many digits as matter to a reader. @param {number} x */
export function shortNumber(x) {
  const size = Math.abs(x);
  const text = size > 0 && (size >= 1e6 || size < 1e-3) ? x.toExponential(2) : String(Number(x.toPrecision(4)));
  return text.replaceAll("-", "−");
}
