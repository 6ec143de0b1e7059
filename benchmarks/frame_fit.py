#!/usr/bin/env python3
"""From a data frame to a TAN: 1 million rows of 30 categorical columns, pandas and polars, beside scikit-learn.

Times `BayesNetClassifier("tan", "ml").fit(frame, y)` as a user calls it, the engine alone on columns that are ready for
it, scikit-learn's CategoricalNB from the same frame (it needs an encoder) and on codes that are ready for it. The
package must be installed; all in one process, one thread unless said.
"""

import common

ARGS = common.arguments(__doc__, rows=1_000_000, threads=1, repeats=5)

import hingenet  # noqa: E402  (threads are limited first)
import numpy as np  # noqa: E402
from hingenet import _engine  # noqa: E402
from hingenet._frames import frame_columns  # noqa: E402
from hingenet._input import Labelled  # noqa: E402
from sklearn.naive_bayes import CategoricalNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OrdinalEncoder  # noqa: E402

D, R, K = 30, 4, 3
NAMES = ["north", "east", "south", "west"]


def frames(X):
    import pandas

    yield "pandas", pandas.DataFrame({f"x{j}": pandas.Categorical.from_codes(X[:, j], NAMES) for j in range(D)})
    try:
        import polars
    except ImportError as missing:
        print(f"(left out: {missing})")
        return
    names = np.array(NAMES)
    yield "polars", polars.DataFrame({f"x{j}": polars.Series(names[X[:, j]]).cast(polars.Categorical) for j in range(D)})


def main():
    X, y, X_test, y_test = common.discrete(ARGS.rows, D, R, K)
    labels = np.array(["low", "middle", "high"])[y]
    rows = []
    peer = CategoricalNB(min_categories=R)
    seconds, _ = common.best_of(2, lambda: peer.fit(X, y))
    rows.append(("fit", "scikit-learn CategoricalNB on codes", seconds, float((peer.predict(X_test) == y_test).mean()), ""))
    for kind, frame in frames(X):
        whole = make_pipeline(OrdinalEncoder(), CategoricalNB(min_categories=R))
        seconds, _ = common.best_of(1, lambda whole=whole, frame=frame: whole.fit(frame, y))
        rows.append(("fit", f"scikit-learn OrdinalEncoder and CategoricalNB, {kind}", seconds, float("nan"), ""))
        model = hingenet.BayesNetClassifier("tan", "ml", n_jobs=ARGS.threads)
        ready, names = frame_columns(frame), [f"x{j}" for j in range(D)]
        for what, target in (("numbers as classes", y.astype(np.int64)), ("texts as classes", labels)):
            seconds, _ = common.best_of(ARGS.repeats, lambda target=target: model.fit(frame, target))
            rows.append(("fit", f"hingenet, {kind}, {what}", seconds, float("nan"), ""))
        codes, texts = y.astype(np.int64), [str(c) for c in range(K)]
        engine, _ = common.best_of(
            ARGS.repeats,
            lambda ready=ready: _engine.fit("tan:ml", Labelled(ready, names, codes, texts, "class", None), threads=ARGS.threads),
        )
        rows.append(("fit", f"hingenet, engine alone ({kind} columns)", engine, float("nan"), ""))
    least = min(seconds for _, program, seconds, _, _ in rows if "engine" in program)
    print(f"{ARGS.rows} rows x {D} columns of {R} categories, {K} classes, {ARGS.threads} thread(s)")
    print("| program | ms | times the engine's |\n|---|---:|---:|")
    for _, program, seconds, _, _ in rows:
        print(f"| {program} | {1e3 * seconds:.0f} | {seconds / least:.1f} |")


if __name__ == "__main__":
    main()
