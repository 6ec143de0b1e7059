#!/usr/bin/env python3
"""Predict rows with 30 % of the cells missing (digits in 4 levels): TAN exactly marginalised, against pyAgrum's exact
inference and XGBoost's native handling of missing values."""
import tempfile

import common

ARGS = common.arguments(__doc__, threads=2, repeats=5)

import numpy as np  # noqa: E402  (threads are limited first)


def digits():
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    X = np.digitize(X, [0.5, 5.5, 11.5])
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=7, stratify=y)
    states = X.max(0) + 1
    return X, y, np.minimum(X_test, states - 1), y_test, states


def xgboost(X, y, blanked, y_test):
    from xgboost import XGBClassifier

    model = XGBClassifier(n_estimators=100, n_jobs=ARGS.threads, tree_method="hist", random_state=0).fit(X.astype(float), y)
    seconds, guess = common.best_of(ARGS.repeats, lambda: model.predict(blanked))
    return seconds / len(y_test), float((guess == y_test).mean()), ""


def pyagrum(X, y, blanked, y_test):
    import pandas
    import pyagrum as gum
    import pyagrum.skbn as skbn

    gum.setNumberOfThreads(ARGS.threads)
    names = [f"x{j}" for j in range(X.shape[1])]
    model = skbn.createBNClassifier(learningMethod="TAN", prior="Smoothing", priorWeight=1.0, discretizationThreshold=25)
    model.fit(X=pandas.DataFrame(X, columns=names), y=pandas.Series(y, name="y"))
    rows = 40
    engine = gum.LazyPropagation(model.bn_)

    def predict():
        guesses = []
        for row in blanked[:rows]:
            engine.setEvidence({n: str(int(v)) for n, v in zip(names, row) if not np.isnan(v)})
            engine.makeInference()
            guesses.append(int(engine.posterior("y").argmax()[0][0]["y"]))
        return np.array(guesses)

    seconds, guess = common.best_of(1, predict)
    return seconds / rows, float((guess == y_test[:rows]).mean()), f"{rows} rows"


def main():
    X, y, X_test, y_test, states = digits()
    # The test rows are repeated so that one timed batch lasts long enough to be measured.
    X_test, y_test = np.tile(X_test, (20, 1)), np.tile(y_test, 20)
    mask = np.random.default_rng(9).random(X_test.shape) < 0.3
    coded, blanked = X_test.astype(np.uint8), X_test.astype(float)
    coded[mask], blanked[mask] = 255, np.nan
    with tempfile.TemporaryDirectory() as folder:
        common.write_codes(folder, X, y, coded, y_test, states=states, classes=10)
        ours = common.product("missing_predict", folder, ARGS.threads)
    rows = [(r["job"], "hingenet", r["seconds"], r["accuracy"], "") for r in ours]
    for name, peer in (("XGBoost", xgboost), ("pyAgrum", pyagrum)):
        try:
            rows.append(("tan", name, *peer(X, y, blanked, y_test)))
        except ImportError as missing:
            print(f"(left out: {name}: {missing})")
    print(f"digits, 64 columns, {len(y_test)} test rows, 30 % of the cells missing, {ARGS.threads} threads")
    common.print_table(rows, "microseconds per row", 1e6)


if __name__ == "__main__":
    main()
