#!/usr/bin/env python3
"""The exponents towards which the pool draws the weights of its terms, learnt from small samples of tables.

    for n in 30 60 120; do cargo run --release --example pool_terms -- $n 6 --posteriors LINES.jsonl FILE.csv...; done
    python3 experiments/pool_prior.py LINES.jsonl [--without TABLE]

Prints `A` and `S` of `W_fk(n) = max(0, A_fk + S_fk ln(n/60))` (terms P, A, G, K by shares 0, 0.3, 0.6, 0.9 of missing cells) that have the
least mean log-loss on rows the samples have not seen, with a small ridge; with `--without`, the loss on that table of exponents learnt
from the others. The tables of the constants in `weights.rs`: iris, glass, heart, lymphography, vehicle, vertebral, sonar, vote,
soybean-large, german.
"""
import argparse
import json
import pathlib

import numpy as np

KNOTS = np.array([0.0, 0.3, 0.6, 0.9])
FLOOR = -12.0
# No term calls a class less likely than this where the sample has none of its rows.
ABSENT = -29.9
ROWS = 120
RIDGE = 0.02
START = 0.2


def normalised(scores):
    top = scores.max(-1, keepdims=True)
    return scores - top - np.log(np.exp(scores - top).sum(-1, keepdims=True))


def hats(missing):
    """Coefficients of the weights at the knots, row by row."""
    x = np.clip(missing, 0, KNOTS[-1])
    k = np.clip(np.searchsorted(KNOTS[1:3], x, side="right"), 0, 2)
    share = (x - KNOTS[k]) / 0.3
    out = np.zeros((len(x), len(KNOTS)))
    out[np.arange(len(x)), k], out[np.arange(len(x)), k + 1] = 1 - share, share
    return out


class Tests:
    """Rows of one sample at one rate: floored posteriors of the terms (row, term, class), over the classes that the sample has."""

    def __init__(self, line):
        self.table, self.folds = pathlib.Path(line["file"]).stem, np.log(line["rows"] / 60)
        posteriors = np.array(line["posteriors"]).reshape(len(line["class"]), len(line["terms"]), line["classes"])
        present = (posteriors[:, 0] > ABSENT).any(0)
        kept = np.flatnonzero(present[line["class"]])[:ROWS]
        self.terms = normalised(np.maximum(normalised(posteriors[kept][:, :, present]), FLOOR))
        self.y = np.cumsum(present)[np.array(line["class"])[kept]] - 1
        self.hats = hats(np.array(line["missing"])[kept])

    def loss(self, weights):
        """Mean log-loss, and its gradient by the weights (term, knot)."""
        pooled = normalised(np.einsum("nf,nfk->nk", self.hats @ weights.T, self.terms))
        at = np.arange(len(self.y))
        excess = np.einsum("nk,nfk->nf", np.exp(pooled), self.terms) - self.terms[at, :, self.y]
        return -pooled[at, self.y].mean(), excess.T @ self.hats / len(at)


def learnt(tests):
    """(A, S) of least mean loss, with a ridge on S, on what differs between neighbouring knots, and on A from 0.2."""
    from scipy.optimize import minimize

    def objective(x):
        a, s = x.reshape(2, 4, 4)
        value, of_a, of_s = 0.0, np.zeros((4, 4)), np.zeros((4, 4))
        for test in tests:
            weights = a + test.folds * s
            loss, gradient = test.loss(np.maximum(weights, 0))
            gradient = gradient * (weights > 0)
            value, of_a, of_s = value + loss / len(tests), of_a + gradient / len(tests), of_s + test.folds * gradient / len(tests)
        rise_a, rise_s = np.diff(a, axis=1), np.diff(s, axis=1)
        value += RIDGE * ((s**2).sum() + (rise_a**2).sum() + (rise_s**2).sum() + 0.5 * ((a - START) ** 2).sum())
        of_a, of_s = of_a + RIDGE * (a - START), of_s + 2 * RIDGE * s
        for gradient, rise in ((of_a, rise_a), (of_s, rise_s)):
            gradient[:, 1:] += 2 * RIDGE * rise
            gradient[:, :-1] -= 2 * RIDGE * rise
        return value, np.r_[of_a.ravel(), of_s.ravel()]

    start = np.r_[np.full(16, START), np.zeros(16)]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * 16 + [(None, None)] * 16)
    return found.x.reshape(2, 4, 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", type=pathlib.Path)
    parser.add_argument("--without", help="a table that has no part in the learning, and its loss")
    options = parser.parse_args()
    with open(options.lines) as lines:
        tests = [Tests(json.loads(line)) for line in lines]
    tests = [t for t in tests if len(t.y)]
    a, s = learnt([t for t in tests if t.table != options.without])
    print(f"A =\n{a.round(3)}\nS =\n{s.round(3)}")
    if options.without:
        held = [t for t in tests if t.table == options.without]
        print(f"{options.without}: log-loss {np.mean([t.loss(np.maximum(a + t.folds * s, 0))[0] for t in held]):.4f}")


if __name__ == "__main__":
    main()
