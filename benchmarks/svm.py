#!/usr/bin/env python3
"""Linear SVM with hinge loss to a given relative gap: product, LIBLINEAR (LinearSVC), LIBSVM (SVC, linear kernel).

The gap is (primal - optimum) / optimum of the problem each program solves (LIBLINEAR penalises the intercept). A peer is
run with ever smaller tolerances until it reaches the gap; the time of that run counts.
"""
import argparse
import tempfile
import time

import common

PARSER = argparse.ArgumentParser(description=__doc__)
PARSER.add_argument("--shapes", default="5000x100,1000x420,800x60,200x3000")
PARSER.add_argument("--gaps", default="1e-3,1e-6")
PARSER.add_argument("--limit", type=float, default=120.0, help="seconds after which a peer is given up")
PARSER.add_argument("--program", help="the built timing program `density`, instead of cargo bench")
PARSER.add_argument("--threads", type=int, default=1)
ARGS = PARSER.parse_args()
common.limit_threads(ARGS.threads)

import numpy as np  # noqa: E402  (threads are limited first)

GAPS = [float(g) for g in ARGS.gaps.split(",")]


def data(n, p):
    """Correlated columns, two informative ones, noisy labels."""
    g = np.random.default_rng(n + p)
    X = g.normal(size=(n, p)) + g.normal(size=(n, 1)) * 0.7
    X = (X - X.mean(0)) / X.std(0, ddof=1)
    y = np.where(X[:, 0] - X[:, 1] + g.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def primal(X, y, w, b, penalised):
    hinge = np.maximum(0, 1 - y * (X @ w + b)).sum()
    return 0.5 * (w @ w + (b * b if penalised else 0.0)) + hinge


def optimum(X, y, penalised):
    """By cvxpy and Clarabel, to about ten digits."""
    import cvxpy as cp

    w, b, slack = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    size = cp.sum_squares(w) + (cp.square(b) if penalised else 0)
    problem = cp.Problem(cp.Minimize(0.5 * size + cp.sum(slack)), [cp.multiply(y, X @ w + b) >= 1 - slack])
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-11, tol_gap_abs=1e-11, tol_feas=1e-11)
    return min(problem.value, primal(X, y, w.value, b.value, penalised))


def peer(make, X, y, best, penalised, gap):
    spent = time.perf_counter()
    for tolerance in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
        model = make(tolerance)
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        reached = primal(X, y, model.coef_.ravel(), float(model.intercept_[0]), penalised) / best - 1
        if reached <= gap:
            return seconds, reached, f"tolerance {tolerance:.0e}"
        if time.perf_counter() - spent > ARGS.limit:
            break
    return float("nan"), reached, f"not reached: {reached:.0e} after {seconds:.0f} s"


def main():
    import warnings

    from sklearn.svm import SVC, LinearSVC

    warnings.simplefilter("ignore")
    makers = {
        "LIBLINEAR": (lambda t: LinearSVC(loss="hinge", tol=t, max_iter=1_000_000, random_state=0), True),
        "LIBSVM": (lambda t: SVC(kernel="linear", tol=t, cache_size=1000), False),
    }
    rows = []
    for shape in ARGS.shapes.split(","):
        n, p = (int(v) for v in shape.split("x"))
        X, y = data(n, p)
        with tempfile.TemporaryDirectory() as folder:
            common.write_numbers(folder, {"job": "svm", "rows": n, "gaps": GAPS}, x=X, y=y[:, None])
            ours = common.product("density", folder, ARGS.threads, ARGS.program)
        bests = {penalised: optimum(X, y, penalised) for penalised in (True, False)}
        for gap, result in zip(GAPS, ours):
            job = f"{shape}, gap {gap:.0e}"
            rows.append((job, "hingenet", result["seconds"], result["primal"] / bests[False] - 1, "certified gap {:.0e}".format(result["gap"])))
            for name, (make, penalised) in makers.items():
                rows.append((job, name, *peer(make, X, y, bests[penalised], penalised, gap)))
    common.print_table(rows, "ms", 1e3, "gap reached", ".0e")


if __name__ == "__main__":
    main()
