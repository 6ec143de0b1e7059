#!/usr/bin/env python3
"""The pool against opponents with their own ways with gaps, on tables whose own gaps are kept in training and test.

    python3 experiments/own_gaps.py run   --data FOLDER --results DIR [--program hingenet] [--methods pool,forest] [--minutes N]
    python3 experiments/own_gaps.py table --results DIR

Five stratified folds; settings are chosen by log-loss on three inner folds of the training rows. Accuracy, log-loss, Brier score and
calibration error of every finished (set, fold, method) are one line of DIR/own_gaps.jsonl, which is not done again; folds run in order
over all sets. Opponents: a random forest on medians and indicators of gaps, logistic regression on the same, XGBoost and CatBoost with
their own handling, and a network of rectified units on values and mask, trained on blanked copies too.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np

import missing_data as md

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ["hepatitis", "cleve", "vote", "crx", "breast", "soybean-large", "ozone", "mushroom", "adult"]
MOST_ROWS = 3000
FOLDS = 5
LEAST = 1e-6
BINS = 10


class Gapped:
    """Numbers with NaN, codes of categories with -1, class codes, and the cells as text."""

    def __init__(self, folder, name):
        self.header, rows = md.read_table(folder, name)
        labels = [r[-1] for r in rows]
        rows = [r for r in rows if labels.count(r[-1]) >= md.SMALLEST_CLASS]
        if len(rows) > MOST_ROWS:
            keep = np.random.default_rng(md.seed(name, "subsample")).permutation(len(rows))[:MOST_ROWS]
            rows = [rows[i] for i in np.sort(keep)]
        self.rows, self.y = rows, np.unique([r[-1] for r in rows], return_inverse=True)[1]
        columns = list(zip(*rows))[:-1]
        self.numeric = [all(c == "" or md.is_number(c) for c in column) for column in columns]
        self.columns = [numbers(c) if is_numeric else codes(c) for c, is_numeric in zip(columns, self.numeric)]

    def encoded(self, train):
        """One column a number, one a category; all NaN where the cell is missing. Numbers are standardised on the training rows."""
        parts = []
        for column, is_numeric in zip(self.columns, self.numeric):
            if is_numeric:
                seen = column[train][~np.isnan(column[train])]
                mean, sd = (seen.mean(), seen.std() or 1.0) if len(seen) else (0.0, 1.0)
                parts.append((column - mean)[:, None] / sd)
            else:
                one = (column[:, None] == np.arange(max(column.max() + 1, 1))).astype(float)
                one[column < 0] = np.nan
                parts.append(one)
        return np.hstack(parts), [p.shape[1] for p in parts]


def numbers(cells):
    return np.array([float(c) if c else np.nan for c in cells])


def codes(cells):
    names = sorted(set(cells) - {""})
    return np.array([names.index(c) if c else -1 for c in cells])


def with_indicators(x, widths, train):
    """Gaps filled by medians of the training rows, and a column for every feature that says where they were."""
    first = np.cumsum([0, *widths[:-1]])
    gaps = np.isnan(x[:, first])
    medians = [np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in x[train].T]
    return np.hstack([np.where(np.isnan(x), medians, x), gaps[:, gaps[train].any(0)].astype(float)])


def forest(least):
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(500, min_samples_leaf=least, random_state=0)


def logistic(c):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=c, max_iter=500)


def xgboost(depth):
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=200, max_depth=depth, learning_rate=0.05, n_jobs=1, random_state=0)


def catboost(depth):
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=300, depth=depth, thread_count=1, random_seed=0, verbose=False, allow_writing_files=False)


class Rectified:
    """Values (0 where missing) and mask into a layer of rectified units; two copies of the rows with 20-80 % of the features blanked."""

    def __init__(self, penalty, widths):
        self.penalty, self.widths = penalty, widths

    def fit(self, x, y):
        from sklearn.neural_network import MLPClassifier

        random = np.random.default_rng(0)
        copies = [x]
        for _ in range(2):
            mask = random.random((len(x), len(self.widths))) < random.uniform(0.2, 0.8, size=(len(x), 1))
            copies.append(np.where(np.repeat(mask, self.widths, axis=1), np.nan, x))
        self.model = MLPClassifier((64,), alpha=self.penalty, max_iter=300, early_stopping=len(x) > 200, random_state=0)
        self.model.fit(self.inputs(np.vstack(copies)), np.tile(y, 3))
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, x):
        return self.model.predict_proba(self.inputs(x))

    @staticmethod
    def inputs(x):
        return np.hstack([np.nan_to_num(x), np.isnan(x).astype(float)])


# Constructor, settings, and whether it is given medians and indicators in place of NaN.
OPPONENTS = {
    "forest": (forest, (1, 3, 10), True),
    "logistic": (logistic, (0.01, 0.1, 1.0, 10.0), True),
    "xgboost": (xgboost, (2, 4, 6), False),
    "catboost": (catboost, (4, 6), False),
    "rectified": (Rectified, (0.001, 0.1, 1.0), False),
}


def opponent(method, data, train, test):
    """Probabilities of the test rows, and the setting that was chosen."""
    make, settings, indicators = OPPONENTS[method]
    x, widths = data.encoded(train)
    x = with_indicators(x, widths, train) if indicators else x
    build = (lambda setting: make(setting, widths)) if make is Rectified else make
    n_classes = data.y.max() + 1

    def probabilities(setting, inside, outside):
        present, y = np.unique(data.y[inside], return_inverse=True)
        found = np.zeros((len(outside), n_classes))
        found[:, present] = build(setting).fit(x[inside], y).predict_proba(x[outside])
        return found

    folds = [(train[a], train[b]) for a, b in md.folds(md.Data([], [], data.y[train]), 3)]
    loss = {s: np.mean([log_loss(probabilities(s, a, b), data.y[b]) for a, b in folds]) for s in settings}
    best = min(loss, key=loss.get)
    return probabilities(best, train, test), best


def pool(program, data, train, test):
    typed = [name for name, is_numeric in zip(data.header, data.numeric) if not is_numeric]
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("train.csv", "test.csv", "m.hgn", "out.csv")]
        for path, rows in zip(paths, (train, test)):
            with open(path, "w", newline="") as file:
                csv.writer(file).writerows([[*data.header[:-1], "class"], *([*data.rows[i][:-1], f"c{data.y[i]}"] for i in rows)])
        hints = ["--quiet", *(["--categorical", ",".join(typed)] if typed else [])]
        subprocess.run([program, "fit", paths[0], "--target", "class", "-o", paths[2], *hints], check=True)
        subprocess.run([program, "predict", paths[2], paths[1], "--proba", "-o", paths[3], *hints], check=True)
        with open(paths[3], newline="") as file:
            answers = list(csv.DictReader(file))
    found = [[float(a.get(f"p_c{c}", 0.0)) for c in range(data.y.max() + 1)] for a in answers]
    return np.array(found), None


def log_loss(p, y):
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], LEAST)).mean())


def figures(p, y):
    """Accuracy, log-loss, Brier score, and expected calibration error of the class decided for (ten bins)."""
    right, sure = p.argmax(1) == y, p.max(1)
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = sum(abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    brier = ((p - np.eye(p.shape[1])[y]) ** 2).sum(1).mean()
    return {"accuracy": float(right.mean()), "log_loss": log_loss(p, y), "brier": float(brier), "calibration": float(error)}


def finished(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {(r["set"], r["fold"], r["method"]): r for r in map(json.loads, lines)}


def run(options):
    path, end = options.results / "own_gaps.jsonl", time.monotonic() + 60 * options.minutes
    program = options.program or ROOT / "target" / "release" / "hingenet"
    for fold in range(options.folds):
        for name in options.sets.split(","):
            data = None
            for method in options.methods.split(","):
                if (name, fold, method) in finished(path):
                    continue
                if time.monotonic() > end:
                    return
                data = data or Gapped(options.data, name)
                train, test = md.folds(md.Data([], [], data.y), FOLDS)[fold]
                start = time.monotonic()
                p, chosen = pool(program, data, train, test) if method == "pool" else opponent(method, data, train, test)
                seconds = round(time.monotonic() - start, 1)
                line = {"set": name, "fold": fold, "method": method, **figures(p, data.y[test]), "chosen": chosen, "seconds": seconds}
                with open(path, "a") as out:
                    out.write(json.dumps(line) + "\n")
                print(line, flush=True)


def table(options):
    done = finished(options.results / "own_gaps.jsonl")
    methods = ["pool", *OPPONENTS]
    common = sorted({k[:2] for k in done if all((*k[:2], m) in done for m in methods)})
    print(f"{len(common)} sets and folds that all have finished: {', '.join(f'{s}/{f}' for s, f in common)}\n")
    print("| method | accuracy, % | log-loss | Brier | calibration |\n|---|---:|---:|---:|---:|")
    for method in methods if common else []:
        mean = {k: np.mean([done[s, f, method][k] for s, f in common]) for k in ("accuracy", "log_loss", "brier", "calibration")}
        print(f"| {method} | {100 * mean['accuracy']:.2f} | {mean['log_loss']:.4f} | {mean['brier']:.4f} | {mean['calibration']:.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["run", "table"])
    parser.add_argument("--data", type=pathlib.Path, help="folder of data sets")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder of result lines")
    parser.add_argument("--program", type=pathlib.Path, help="the hingenet program")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--methods", default=",".join(["pool", *OPPONENTS]))
    parser.add_argument("--folds", type=int, default=FOLDS, help="only the first so many of the five folds")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing new after so many minutes")
    md.main(parser, {"run": run, "table": table})


if __name__ == "__main__":
    main()
