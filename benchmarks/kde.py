#!/usr/bin/env python3
"""Log densities of all pairs of columns and plug-in bandwidth matrices: product, scipy, KDEpy (FFT), R ks if there is an R."""
import itertools
import shutil
import subprocess
import tempfile
import time

import common

PARSER = common.parser(__doc__, columns=20, rows=1000)
PARSER.add_argument("--peer-pairs", type=int, default=20, help="pairs the peers are timed on")
ARGS = PARSER.parse_args()
common.limit_threads(ARGS.threads)

import numpy as np  # noqa: E402  (threads are limited first)

ALL = list(itertools.combinations(range(ARGS.columns), 2))
SOME = ALL[: ARGS.peer_pairs]


def timed(work):
    """Seconds for all pairs, from the time of some of them, and the log densities of the first pair."""
    start = time.perf_counter()
    results = [work(i, j) for i, j in SOME]
    return (time.perf_counter() - start) * len(ALL) / len(SOME), results[0]


def scipy_kde(X, Q):
    from scipy.stats import gaussian_kde

    return timed(lambda i, j: gaussian_kde(X[:, [i, j]].T).logpdf(Q[:, [i, j]].T))


def scipy_plain(X, Q):
    from scipy.stats import gaussian_kde

    return timed(lambda i, j: np.log(gaussian_kde(X[:, [i, j]].T).evaluate(Q[:, [i, j]].T)))


def kdepy_fft(X, Q):
    from KDEpy import FFTKDE
    from scipy.interpolate import RegularGridInterpolator

    def work(i, j):
        # The estimator has one scalar bandwidth, so the columns are whitened first.
        pair = X[:, [i, j]]
        root = np.linalg.cholesky(np.cov(pair.T) * ARGS.rows ** (-1 / 3))
        white, query = np.linalg.solve(root, pair.T).T, np.linalg.solve(root, Q[:, [i, j]].T).T
        grid, density = FFTKDE(bw=1.0).fit(white).evaluate((256, 256))
        axes = np.unique(grid[:, 0]), np.unique(grid[:, 1])
        look = RegularGridInterpolator(axes, density.reshape(256, 256), bounds_error=False, fill_value=0.0)
        return np.log(np.maximum(look(query), 1e-300)) - np.log(np.diag(root)).sum()

    return timed(work)


def r_ks(X):
    """Seconds of one two-stage plug-in matrix."""
    if not shutil.which("Rscript"):
        raise ImportError("no Rscript on this machine")
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(f"{folder}/x.txt", X[:, :2])
        code = f"library(ks); x <- as.matrix(read.table('{folder}/x.txt')); cat(system.time(for (k in 1:3) Hpi(x))[3] / 3)"
        return float(subprocess.run(["Rscript", "-e", code], check=True, capture_output=True, text=True).stdout)


def main():
    X, Q = (common.chain(ARGS.rows, ARGS.columns, seed) for seed in (1, 2))
    with tempfile.TemporaryDirectory() as folder:
        common.write_numbers(folder, {"job": "kde", "rows": ARGS.rows}, x=X, xt=Q)
        densities, matrices = common.product("density", folder, ARGS.threads, ARGS.program)
        first = np.fromfile(f"{folder}/out.f64")[: ARGS.rows]
    from scipy.stats import gaussian_kde

    exact = gaussian_kde(X[:, :2].T).logpdf(Q[:, :2].T)
    job = f"log densities of {len(ALL)} pairs, {ARGS.rows} + {ARGS.rows} rows"
    rows = [(job, "hingenet", densities["seconds"], np.abs(first - exact).max(), "exact")]
    peers = [("scipy logpdf", scipy_kde, "exact"), ("scipy evaluate and log", scipy_plain, "exact, underflows"),
             ("KDEpy FFT", kdepy_fft, "grid 256 x 256, interpolated")]
    for name, peer, note in peers:
        try:
            seconds, values = peer(X, Q)
            rows.append((job, name, seconds, np.abs(values - exact).max(), f"{note}; {len(SOME)} pairs timed"))
        except ImportError as missing:
            print(f"(left out: {name}: {missing})")
    job = f"one plug-in matrix, {ARGS.rows} rows"
    rows.append((job, "hingenet", matrices["seconds"], float("nan"), "one thread"))
    try:
        rows.append((job, "R ks Hpi", r_ks(X), float("nan"), ""))
    except ImportError as missing:
        print(f"(left out: R ks: {missing})")
    common.print_table(rows, "s", 1.0, "largest difference of logs", ".0e")


if __name__ == "__main__":
    main()
