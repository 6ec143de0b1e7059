#!/usr/bin/env python3
"""Problem (10) of ML-BN-SVM, naive Bayes, 10 features of 3 states, 3 classes: product to a proven relative gap of 1e-6
against CVXPY + Clarabel. The note gives the objective, recomputed for the peer on columns pushed to log-sum-exp <= 0."""
import json
import pathlib
import tempfile

import common

ARGS = common.arguments(__doc__, threads=2, repeats=3)

import numpy as np  # noqa: E402  (threads are limited first)

D, R, K = 10, 3, 3
JOBS = [(1000, 1.0, 1.0), (5000, 1.0, 1.0), (1000, 10.0, 5.0), (5000, 10.0, 5.0)]


def cells(X, classes):
    """Positions in w = [class | (feature, class, state)] that each row has when it is of the given class."""
    features = K + (np.arange(D)[None] * K + classes[:, None]) * R + X
    return np.concatenate([classes[:, None], features], 1)


def program(X, y):
    """Smoothed counts n and the matrix of margins, one line for each row and wrong class."""
    import scipy.sparse as sp

    n, own = len(y), cells(X, y)
    size = K + D * K * R
    counts = np.bincount(own.ravel(), minlength=size).astype(float)
    counts[:K] += 1 / K
    counts[K:] += 1 / (K * R)
    wrong = np.stack([np.delete(np.arange(K), c) for c in range(K)])[y]
    blocks = []
    for q in range(K - 1):
        line = np.repeat(np.arange(n) * (K - 1) + q, D + 1)
        for sign, columns in ((1.0, own), (-1.0, cells(X, wrong[:, q]))):
            blocks.append((np.full(line.size, sign), line, columns.ravel()))
    values, lines, columns = (np.concatenate(part) for part in zip(*blocks))
    return counts, sp.csr_matrix((values, (lines, columns)), shape=(n * (K - 1), size))


def clarabel(X, y, margin_weight, margin):
    import cvxpy as cp
    import scipy.sparse as sp

    counts, A = program(X, y)

    def solve():
        w, slack = cp.Variable(len(counts)), cp.Variable(len(y), nonneg=True)
        spread = sp.kron(sp.eye(len(y)), np.ones((K - 1, 1)), format="csr")
        tables = cp.reshape(w[K:], (D * K, R), order="C")
        limits = [A @ w + spread @ slack >= margin, cp.log_sum_exp(w[:K]) <= 0, cp.log_sum_exp(tables, axis=1) <= 0]
        cp.Problem(cp.Minimize(-counts @ w + margin_weight * cp.sum(slack)), limits).solve(solver="CLARABEL")
        return w.value

    seconds, w = common.best_of(ARGS.repeats, solve)
    rows = [w[:K]] + list(w[K:].reshape(-1, R))
    w = np.concatenate([r - max(0.0, np.logaddexp.reduce(r)) for r in rows])
    least = (A @ w).reshape(len(y), -1).min(1)
    return seconds, w, -counts @ w + margin_weight * np.maximum(0, margin - least).sum()


def accuracy(w, X, y):
    scores = np.stack([w[cells(X, np.full(len(y), c))].sum(1) for c in range(K)], 1)
    return float((scores.argmax(1) == y).mean())


def main():
    rows = []
    for n, margin_weight, margin in JOBS:
        X, y, X_test, y_test = common.discrete(n, D, R, K, seed=11)
        job = f"n = {n}, lambda = {margin_weight:g}, gamma = {margin:g}"
        with tempfile.TemporaryDirectory() as folder:
            common.write_codes(folder, X, y, X_test, y_test, states=[R] * D, classes=K)
            meta = pathlib.Path(folder) / "meta.json"
            meta.write_text(json.dumps(json.loads(meta.read_text()) | {"lambda": margin_weight, "gamma": margin}))
            for r in common.product("margin", folder, ARGS.threads):
                rows.append((job, "hingenet", r["seconds"], r["accuracy"], f"objective {r['objective']:.4f}, gap {r['gap']:.0e}"))
        X, y = X.astype(np.int64), y.astype(np.int64)
        try:
            seconds, w, objective = clarabel(X, y, margin_weight, margin)
        except ImportError as missing:
            print(f"(left out: CVXPY: {missing})")
            continue
        guess = accuracy(w, X_test.astype(np.int64), y_test)
        rows.append((job, "CVXPY + Clarabel", seconds, guess, f"objective {objective:.4f}"))
    print(f"naive Bayes, {D} features, {ARGS.threads} threads")
    common.print_table(rows, "milliseconds", 1e3)


if __name__ == "__main__":
    main()
