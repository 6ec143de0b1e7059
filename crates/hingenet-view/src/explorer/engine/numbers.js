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
