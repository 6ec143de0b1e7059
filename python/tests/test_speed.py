"""What the way through Python costs."""

import time

import numpy as np

from hingenet import BayesNetClassifier


def test_one_row_costs_less_than_100_microseconds_beyond_the_engine(cancer):
    X, y = cancer
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    row = np.ascontiguousarray(X[:1])

    def best(call, repeats=30, times=30):
        def once():
            start = time.perf_counter()
            for _ in range(times):
                call()
            return (time.perf_counter() - start) / times

        return min(once() for _ in range(repeats))

    whole, engine = best(lambda: model.predict(row)), best(lambda: model._model.proba(row))
    assert whole - engine < 100e-6, f"{whole * 1e6:.0f} us, engine {engine * 1e6:.0f} us"
