// @ts-check
// Sums in log space, and what one variable tells about another: as `numeric/log.rs` has them.

/** `ln Σ exp(v)` of `count` values from `start` on. @param {ArrayLike<number>} v */
export function logSumExp(v, start = 0, count = v.length) {
  let top = -Infinity;
  for (let i = start; i < start + count; i += 1) if (v[i] > top) top = v[i];
  if (top === -Infinity || top === Infinity) return top;
  let sum = 0;
  for (let i = start; i < start + count; i += 1) sum += Math.exp(v[i] - top);
  return top + Math.log(sum);
}

/** Log weights become probabilities; returns the old `ln Σ exp`. @param {Float64Array} v */
export function toProbabilities(v) {
  const total = logSumExp(v);
  if (Number.isFinite(total)) for (let i = 0; i < v.length; i += 1) v[i] -= total;
  for (let i = 0; i < v.length; i += 1) v[i] = Math.exp(v[i]);
  return total;
}

/** Scores with the logarithms of a likelihood. @param {ArrayLike<number>} scores @param {ArrayLike<number> | undefined} likelihood */
export function withLikelihood(scores, likelihood) {
  return Float64Array.from(scores, (s, i) => s + Math.log(likelihood ? likelihood[i] : 1));
}

/** Mutual information (nats) of row and column of a table of weights with `k` columns. @param {ArrayLike<number>} table @param {number} k */
export function informationOf(table, k) {
  const column = new Float64Array(k);
  let total = 0;
  for (let i = 0; i < table.length; i += 1) {
    column[i % k] += table[i];
    total += table[i];
  }
  let nats = 0;
  for (let start = 0; start < table.length; start += k) {
    let row = 0;
    for (let c = 0; c < k; c += 1) row += table[start + c];
    for (let c = 0; c < k; c += 1) {
      const v = table[start + c];
      if (v > 0) nats += (v / total) * (Math.log(v) + Math.log(total) - Math.log(row) - Math.log(column[c]));
    }
  }
  return Math.max(nats, 0);
}

/** What no model allows. */
export function impossible() {
  return new Error("what is given is impossible in this model");
}

/** A part of a mixture: class (or another label), weight, mean, deviation. @typedef {number[]} NormalPart */
/** @typedef {{ weight: number, mean: number[], sd: number[], correlation: number }} PairPart */

/** Deviations from the means between which a number is integrated. */
const CUT_AT = [-8, -3, -1, 0, 1, 3, 8];
const MOST_STEPS = 64;
const ALL_STEPS = 2048;
/** Steps of a double integral to each side, and their length in deviations. */
const PAIR_SIDE = 16;
const PAIR_STEP = 0.5;

/** What a number drawn from a mixture tells about its label (nats), by Simpson's rule between points at which parts have their mass. @param {NormalPart[]} normals @param {number} labels */
export function informationOfNormals(normals, labels) {
  const parts = normals.filter((n) => n[1] > 0);
  const prior = new Float64Array(labels);
  for (const [label, weight] of parts) prior[label] += weight;
  let entropy = 0;
  for (const p of prior) if (p > 0) entropy -= p * Math.log(p);
  if (parts.some((n) => n[3] === 0)) return parts.every((n) => n[2] === parts[0][2] && n[3] === 0) ? 0 : entropy;
  const groups = Array.from({ length: labels }, (_, l) => parts.filter((n) => n[0] === l).map(([, weight, mean, sd]) => [mean, sd, Math.log(weight) - Math.log(sd) - 0.5 * Math.log(2 * Math.PI)]));
  const terms = groups.map((group) => new Float64Array(group.length));
  const logs = new Float64Array(labels);
  /** @param {number} x */
  const integrand = (x) => {
    groups.forEach((group, l) => {
      group.forEach(([mean, sd, log], i) => {
        const z = (x - mean) / sd;
        terms[l][i] = log - 0.5 * z * z;
      });
      logs[l] = logSumExp(terms[l]);
    });
    const all = logSumExp(logs);
    let sum = 0;
    for (let l = 0; l < labels; l += 1) if (Number.isFinite(logs[l])) sum += Math.exp(logs[l]) * (logs[l] - all - Math.log(prior[l]));
    return sum;
  };
  const cuts = [...new Set(parts.flatMap(([, , mean, sd]) => CUT_AT.map((z) => mean + z * sd)))].sort((a, b) => a - b);
  const steps = Math.floor(Math.min(Math.max(Math.floor(ALL_STEPS / cuts.length), 4), MOST_STEPS) / 2) * 2;
  let total = 0;
  for (let piece = 0; piece + 1 < cuts.length; piece += 1) {
    const h = (cuts[piece + 1] - cuts[piece]) / steps;
    let sum = 0;
    for (let i = 0; i <= steps; i += 1) sum += (i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2) * integrand(cuts[piece] + i * h);
    total += (sum * h) / 3;
  }
  return Math.max(Math.min(total, entropy), 0);
}

/** What one number of a mixture of pairs tells about the other (nats), by the trapezoid rule along the deviations of each part. @param {PairPart[]} all */
export function informationOfPairs(all) {
  const parts = all.filter((p) => p.weight > 0);
  if (parts.some((p) => p.sd.includes(0))) return 0;
  const rest = parts.map((p) => Math.sqrt(Math.max(1 - p.correlation * p.correlation, 1e-12)));
  const logs = parts.map((p, i) => [Math.log(p.weight) - Math.log(p.sd[0]), Math.log(p.weight) - Math.log(p.sd[1]), Math.log(p.weight) - Math.log(p.sd[0]) - Math.log(p.sd[1]) - Math.log(rest[i])]);
  const terms = new Float64Array(parts.length);
  /** @param {number} e @param {number} x */
  const alone = (e, x) => {
    parts.forEach((p, i) => {
      const z = (x - p.mean[e]) / p.sd[e];
      terms[i] = logs[i][e] - 0.5 * z * z;
    });
    return logSumExp(terms);
  };
  /** @param {number} x @param {number} y */
  const both = (x, y) => {
    parts.forEach((p, i) => {
      const z = (x - p.mean[0]) / p.sd[0];
      const v = ((y - p.mean[1]) / p.sd[1] - p.correlation * z) / rest[i];
      terms[i] = logs[i][2] - 0.5 * (z * z + v * v);
    });
    return logSumExp(terms);
  };
  let nats = 0;
  parts.forEach((p, i) => {
    for (let a = -PAIR_SIDE; a <= PAIR_SIDE; a += 1) {
      const z = a * PAIR_STEP;
      const x = p.mean[0] + p.sd[0] * z;
      const ofX = alone(0, x);
      for (let b = -PAIR_SIDE; b <= PAIR_SIDE; b += 1) {
        const v = b * PAIR_STEP;
        const y = p.mean[1] + p.sd[1] * (p.correlation * z + rest[i] * v);
        const mass = ((p.weight * PAIR_STEP * PAIR_STEP) / (2 * Math.PI)) * Math.exp(-0.5 * (z * z + v * v));
        nats += mass * (both(x, y) - ofX - alone(1, y));
      }
    }
  });
  return Math.max(nats, 0);
}
