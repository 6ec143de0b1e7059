#!/usr/bin/env python3
"""HSIC of all pairs of columns: product, exact blocked matrix products in NumPy, hyppo."""
import itertools
import tempfile
import time

import common

PARSER = common.parser(__doc__, columns=60, rows=10_000)
PARSER.add_argument("--hyppo-rows", type=int, default=500)
PARSER.add_argument("--hyppo-pairs", type=int, default=20, help="pairs that hyppo is timed on")
ARGS = PARSER.parse_args()
common.limit_threads(ARGS.threads)

import numpy as np  # noqa: E402  (threads are limited first)


def squared_widths(X):
    """Median of the squared distances of each column (kernel exp(-r^2 / median))."""
    if len(X) <= 2000:
        upper = np.triu_indices(len(X), 1)
        return np.array([np.median(((c[:, None] - c[None, :]) ** 2)[upper]) for c in X.T])
    # Bisection on the number of pairs within a distance: exact to rounding, no n x n matrix.
    out, pairs = [], len(X) * (len(X) - 1) // 2
    for c in np.sort(X, axis=0).T:
        low, high = 0.0, c[-1] - c[0]
        for _ in range(60):
            middle = 0.5 * (low + high)
            count = (np.searchsorted(c, c + middle, side="right") - np.arange(1, len(c) + 1)).sum()
            low, high = (middle, high) if count < (pairs + 1) / 2 else (low, middle)
        out.append(high * high)
    return np.array(out)


def blocked(X, widths, block=500):
    """V-statistics of all pairs, exact: centred kernel matrices, block of rows by block of rows, one product each."""
    n, d = X.shape
    means = np.empty((d, n))
    for j in range(d):
        for a in range(0, n, block):
            means[j, a:a + block] = np.exp(-((X[a:a + block, j, None] - X[None, :, j]) ** 2) / widths[j]).mean(1)
    total = np.zeros((d, d))
    rows = np.empty((d, block * n))
    for a in range(0, n, block):
        for j in range(d):
            K = np.exp(-((X[a:a + block, j, None] - X[None, :, j]) ** 2) / widths[j])
            K += means[j].mean() - means[j, a:a + block, None] - means[j][None, :]
            rows[j, : K.size] = K.ravel()
        part = rows[:, : min(block, n - a) * n]
        total += part @ part.T
    return total[np.triu_indices(d, 1)] / n**2


def ours(X):
    with tempfile.TemporaryDirectory() as folder:
        common.write_numbers(folder, {"job": "hsic", "rows": len(X)}, x=X)
        seconds = common.product("density", folder, ARGS.threads, ARGS.program)[0]["seconds"]
        return seconds, np.fromfile(f"{folder}/out.f64")


def main():
    rows = []
    X = common.chain(ARGS.rows, ARGS.columns, 1)
    widths = squared_widths(X)
    start = time.perf_counter()
    exact = blocked(X, widths)
    exact_seconds = time.perf_counter() - start
    seconds, values = ours(X)
    job = f"{ARGS.columns} columns, {ARGS.rows} rows"
    rows.append((job, "hingenet", seconds, np.abs(values / exact - 1).max(), "with the widths"))
    rows.append((job, "NumPy, blocked products", exact_seconds, 0.0, "widths given"))
    X = common.chain(ARGS.hyppo_rows, ARGS.columns, 1)
    exact = blocked(X, squared_widths(X))
    seconds, values = ours(X)
    job = f"{ARGS.columns} columns, {ARGS.hyppo_rows} rows"
    rows.append((job, "hingenet", seconds, np.abs(values / exact - 1).max(), "all pairs"))
    try:
        from hyppo.independence import Hsic

        some = list(itertools.combinations(range(ARGS.columns), 2))[: ARGS.hyppo_pairs]
        start = time.perf_counter()
        for i, j in some:
            Hsic().statistic(X[:, [i]], X[:, [j]])
        all_pairs = ARGS.columns * (ARGS.columns - 1) / 2
        scaled = (time.perf_counter() - start) * all_pairs / len(some)
        rows.append((job, "hyppo", scaled, float("nan"), f"{len(some)} pairs timed, statistic only, another scaling"))
    except ImportError as missing:
        print(f"(left out: hyppo: {missing})")
    common.print_table(rows, "s", 1.0, "largest relative error", ".0e")


if __name__ == "__main__":
    main()
