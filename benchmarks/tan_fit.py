#!/usr/bin/env python3
"""Fit naive Bayes and TAN by maximum likelihood on 1 million coded rows: product, pyAgrum, NumPy, scikit-learn."""
import tempfile

import common

ARGS = common.arguments(__doc__, rows=1_000_000, threads=2, repeats=3)

import numpy as np  # noqa: E402  (threads are limited first)

D, R, K = 30, 4, 3


def numpy_tan(X, y, X_test, y_test):
    """What a careful user writes: pair tables by bincount, maximum spanning tree, smoothed tables."""

    def fit():
        classes = y.astype(np.int64)
        columns = [X[:, j].astype(np.int64) for j in range(D)]
        weight = np.zeros((D, D))
        for i in range(D):
            base = (classes * R + columns[i]) * R
            for j in range(i + 1, D):
                p = np.bincount(base + columns[j], minlength=K * R * R).reshape(K, R, R) / len(y) + 1e-15
                pi, pj, pk = p.sum(2, keepdims=True), p.sum(1, keepdims=True), p.sum((1, 2), keepdims=True)
                weight[i, j] = weight[j, i] = (p * np.log(p * pk / (pi * pj))).sum()
        parent, best = [-1] * D, {j: (weight[0, j], 0) for j in range(1, D)}
        while best:
            j = max(best, key=lambda q: best[q][0])
            parent[j] = best.pop(j)[1]
            for q in best:
                best[q] = max(best[q], (weight[j, q], j))
        tables = []
        for j in range(D):
            h = classes * R + (columns[parent[j]] if parent[j] >= 0 else 0)
            t = np.bincount(h * R + columns[j], minlength=K * R * R).reshape(K, R, R) + 1.0 / (K * R * R)
            tables.append(np.log(t / t.sum(2, keepdims=True)))
        counts = np.bincount(classes, minlength=K) + 1.0 / K
        return parent, tables, np.log(counts / counts.sum())

    seconds, (parent, tables, prior) = common.best_of(ARGS.repeats, fit)
    score = np.tile(prior, (len(y_test), 1))
    for j in range(D):
        up = X_test[:, parent[j]] if parent[j] >= 0 else np.zeros(len(y_test), np.uint8)
        score += tables[j][:, up, X_test[:, j]].T
    return seconds, float((score.argmax(1) == y_test).mean()), ""


def pyagrum_tan(X, y, X_test, y_test):
    import pandas
    import pyagrum as gum
    import pyagrum.skbn as skbn

    gum.setNumberOfThreads(ARGS.threads)
    frame = pandas.DataFrame({f"x{j}": X[:, j].astype(np.int64) for j in range(D)})
    test = pandas.DataFrame({f"x{j}": X_test[:2000, j].astype(np.int64) for j in range(D)})
    target = pandas.Series(y.astype(np.int64), name="y")

    def fit():
        model = skbn.createBNClassifier(
            learningMethod="TAN", prior="Smoothing", priorWeight=1.0, discretizationThreshold=25)
        model.fit(X=frame, y=target)
        return model

    seconds, model = common.best_of(1, fit)
    accuracy = float((np.asarray(model.predict(test)).astype(int) == y_test[:2000]).mean())
    return seconds, accuracy, "one run; accuracy on 2000 rows"


def categorical_nb(X, y, X_test, y_test):
    from sklearn.naive_bayes import CategoricalNB

    model = CategoricalNB(alpha=1.0, min_categories=R)
    seconds, _ = common.best_of(ARGS.repeats, lambda: model.fit(X, y))
    return seconds, float((model.predict(X_test) == y_test).mean()), ""


PEERS = [("tan", "NumPy bincount", numpy_tan), ("tan", "pyAgrum", pyagrum_tan), ("nb", "scikit-learn CategoricalNB", categorical_nb)]


def main():
    data = common.discrete(ARGS.rows, D, R, K)
    with tempfile.TemporaryDirectory() as folder:
        common.write_codes(folder, *data, states=[R] * D, classes=K)
        rows = [(r["job"], "hingenet", r["seconds"], r["accuracy"], "") for r in common.product("tan_fit", folder, ARGS.threads)]
    for job, name, peer in PEERS:
        try:
            rows.append((job, name, *peer(*data)))
        except ImportError as missing:
            print(f"(left out: {name}: {missing})")
    print(f"{ARGS.rows} rows x {D} columns of {R} states, {K} classes, {ARGS.threads} threads")
    common.print_table(sorted(rows, key=lambda r: (r[0], r[2])), "ms", 1e3)


if __name__ == "__main__":
    main()
