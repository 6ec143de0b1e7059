// @ts-check
// What is believed of a column, read in the ways the page shows it.
/** @typedef {import("../types.d.ts").Belief} Belief */

/** Points of a curve. */
const CURVE = 80;

/** Sums over the classes: a number a state or a point. @param {number[]} joint @param {number} k */
export function overClasses(joint, k) {
  return Array.from({ length: joint.length / k }, (_, s) => sumOf(joint.slice(s * k, s * k + k)));
}

/** @param {number[]} numbers */
export function sumOf(numbers) {
  return numbers.reduce((a, b) => a + b, 0);
}

/** `P(state | class)`, a list for each class; zeros where a class is impossible. @param {number[]} joint @param {number} k */
export function withinClasses(joint, k) {
  return Array.from({ length: k }, (_, c) => {
    const own = joint.filter((_, at) => at % k === c);
    const total = sumOf(own);
    return own.map((p) => (total > 0 ? p / total : 0));
  });
}

/**
 * The density of a number at points between two ends, of one class or of all.
 * @param {Belief} belief @param {number} k @param {[number, number]} range @param {number | null} only @returns {[number, number][]}
 */
export function curveOf(belief, k, range, only) {
  if (belief.at) return gridCurve(belief.at, belief.joint, k, only);
  if (!belief.normals) return [];
  const parts = belief.normals.filter(([c]) => only === null || c === only);
  const share = sumOf(parts.map(([, w]) => w));
  const [low, high] = range;
  return Array.from({ length: CURVE + 1 }, (_, i) => {
    const x = low + ((high - low) * i) / CURVE;
    const height = sumOf(parts.map(([, w, mean, sd]) => (sd > 0 ? (w * Math.exp(-0.5 * ((x - mean) / sd) ** 2)) / (sd * Math.sqrt(2 * Math.PI)) : 0)));
    return [x, only === null || share === 0 ? height : height / share];
  });
}

/** @param {number[]} at @param {number[]} joint @param {number} k @param {number | null} only @returns {[number, number][]} */
function gridCurve(at, joint, k, only) {
  const mass = only === null ? overClasses(joint, k) : withinClasses(joint, k)[only];
  const n = at.length;
  const width = (/** @type {number} */ i) => 0.5 * (at[Math.min(i + 1, n - 1)] - at[Math.max(i - 1, 0)]);
  return at.map((x, i) => [x, width(i) > 0 ? mass[i] / width(i) : 0]);
}

/** Mean and standard deviation of a number. @param {Belief} belief @param {number} k */
export function momentsOf(belief, k) {
  /** @type {[number, number, number][]} */
  const parts = belief.at
    ? overClasses(belief.joint, k).map((p, i) => [p, belief.at[i], 0])
    : (belief.normals || []).map(([, w, mean, sd]) => [w, mean, sd]);
  const mean = sumOf(parts.map(([w, m]) => w * m));
  const variance = sumOf(parts.map(([w, m, sd]) => w * (sd * sd + (m - mean) ** 2)));
  return { mean, sd: Math.sqrt(Math.max(variance, 0)) };
}

/** Ends between which a number is shown. @param {Belief | null} belief @param {[number, number] | undefined} range @returns {[number, number]} */
export function endsOf(belief, range) {
  let [low, high] = range || [Infinity, -Infinity];
  if (belief && belief.at) [low, high] = [Math.min(low, belief.at[0]), Math.max(high, belief.at[belief.at.length - 1])];
  for (const [, weight, mean, sd] of (belief && belief.normals) || []) {
    if (weight > 1e-6) [low, high] = [Math.min(low, mean - 3 * sd), Math.max(high, mean + 3 * sd)];
  }
  if (!(low <= high)) return [0, 1];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/** How far a distribution moved: half the area between both (total variation). @param {Belief} before @param {Belief} now @param {number} k @param {[number, number]} ends */
export function movedBy(before, now, k, ends) {
  if (before.normals && now.normals) {
    const [a, b] = [before, now].map((belief) => curveOf(belief, k, ends, null));
    const step = (ends[1] - ends[0]) / (a.length - 1);
    return Math.min(1, 0.5 * step * sumOf(a.map(([, y], i) => Math.abs(y - b[i][1]))));
  }
  if (!before.joint || !now.joint || before.joint.length !== now.joint.length) return 0;
  const [p, q] = [overClasses(before.joint, k), overClasses(now.joint, k)];
  return 0.5 * sumOf(p.map((v, i) => Math.abs(v - q[i])));
}
