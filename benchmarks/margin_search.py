#!/usr/bin/env python3
"""Search for lambda, gamma and alpha of ML-BN-SVM on large tables, beside another program and a searched RBF machine.

    python3 benchmarks/margin_search.py --data FOLDER [--program PROGRAM] [--before PROGRAM] [--jobs letter,usps] [--peers]

Processor seconds of `evaluate` (search, fit, calibration, prediction) on one thread, and accuracy on held-out rows: letter
and USPS with a third of the rows held out, 100 000 generated waveform rows, adult with a third held out, car by five
folds. `--before` times an older program in the same run. `--peers` lets scikit-learn's GridSearchCV try 25 points of an
RBF machine on the same rows and folds (letter, USPS, adult), point by point; it is stopped once it has taken longer than the product needed for
everything, and the table says how many points it had finished.
"""
import argparse
import csv
import gzip
import json
import os
import pathlib
import random
import resource
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOBS = {
    "letter": "nb:ml-bn-svm", "usps": "tan:ml-bn-svm", "waveform": "tan:ml-bn-svm", "adult": "tan:ml-bn-svm",
    "car": "tan:ml-bn-svm",
}
FOLDS = 5
# One point of an RBF machine on the rows of the others takes minutes, or the whole search seconds.
PEERS = ("letter", "usps", "adult")


def rows_of(folder, name):
    if name == "waveform":
        return waveform(120_000)
    path = folder / f"{name}.csv"
    opener, path = (open, path) if path.exists() else (gzip.open, folder / f"{name}.csv.gz")
    with opener(path, "rt", newline="") as lines:
        header, *rows = csv.reader(lines)
    return header, [row for row in rows if all(row)]


def waveform(n):
    """Breiman's waves: each class mixes two of three triangles, with noise."""
    draw = random.Random(7)
    triangles = [[max(6 - abs(i - peak), 0) for i in range(21)] for peak in (6, 14, 10)]
    pairs = ((0, 1), (0, 2), (1, 2))

    def row():
        label, share = draw.randrange(3), draw.random()
        a, b = (triangles[t] for t in pairs[label])
        return [f"{share * a[i] + (1 - share) * b[i] + draw.gauss(0, 1):.2f}" for i in range(21)] + [str(label)]

    return [f"x{i}" for i in range(21)] + ["class"], [row() for _ in range(n)]


def split(name, rows):
    """Training and test rows; None where folds are used."""
    if name == "car":
        return rows, None
    random.Random(1).shuffle(rows)
    cut = 100_000 if name == "waveform" else 2 * len(rows) // 3
    return rows[:cut], rows[cut:]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def numeric_columns(header, rows):
    def number(text):
        try:
            float(text)
            return True
        except ValueError:
            return False

    return [name for i, name in enumerate(header[:-1]) if all(number(row[i]) for row in rows)]


def evaluate(program, work, target, model, numbers, has_test):
    command = [program, "evaluate", "train.csv", "--target", target, "--model", model, "--quiet", "--json", "-"]
    command += ["--test", "test.csv"] if has_test else ["--folds", "5"]
    command += ["--numeric", ",".join(numbers)] if numbers else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    out = subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True, text=True).stdout
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    result = json.loads(out)["results"][0]
    return seconds, result["accuracy"]["mean"], result.get("chosen")


def rbf_search(header, train, numbers, budget):
    """Processor seconds of the points finished until the budget is spent, and their number of 25."""
    import numpy as np
    from sklearn.compose import ColumnTransformer
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVC

    place = {name: i for i, name in enumerate(header)}
    kinds = [i for name, i in place.items() if name in numbers]
    others = [i for i in range(len(header) - 1) if i not in kinds]
    X = np.array([row[:-1] for row in train], dtype=object)
    X[:, kinds] = X[:, kinds].astype(float)
    y = np.array([row[-1] for row in train])
    columns = [("numbers", StandardScaler(), kinds), ("words", OneHotEncoder(handle_unknown="ignore"), others)]
    columns = ColumnTransformer([c for c in columns if c[2]])
    spent, done = 0.0, 0
    # Small C and middle widths are the cheapest points: the bound is a fair one.
    for c in (1, 10, 0.1, 100, 1000):
        for gamma in (0.01, 0.1, 0.001, 1, 0.0001):
            start = time.process_time()
            machine = make_pipeline(columns, SVC(C=c, gamma=gamma, cache_size=500))
            GridSearchCV(machine, {"svc__C": [c]}, cv=FOLDS, refit=False).fit(X, y)
            spent += time.process_time() - start
            done += 1
            if spent > budget:
                return spent, done
    return spent, done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of data sets")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/hingenet")
    parser.add_argument("--before", type=pathlib.Path, help="an older program to time in the same run")
    parser.add_argument("--jobs", default=",".join(JOBS), help="comma list")
    parser.add_argument("--peers", action="store_true", help="also time GridSearchCV of an RBF machine")
    options = parser.parse_args()
    print("| rows | model | program | processor s | times the product's | accuracy | |\n|---|---|---|---:|---:|---:|---|", flush=True)
    for name in options.jobs.split(","):
        header, rows = rows_of(options.data, name)
        numbers = numeric_columns(header, rows)
        train, test = split(name, rows)
        with tempfile.TemporaryDirectory() as work:
            write(f"{work}/train.csv", header, train)
            if test is not None:
                write(f"{work}/test.csv", header, test)

            def timed(program):
                return evaluate(program.resolve(), work, header[-1], JOBS[name], numbers, test is not None)

            ours, accuracy, chosen = timed(options.program)
            line = f"| {name} | {JOBS[name]} |"
            print(f"{line} hingenet | {ours:.1f} | 1.0 | {100 * accuracy:.2f} | {chosen} |", flush=True)
            if options.before:
                seconds, accuracy, chosen = timed(options.before)
                print(f"{line} before | {seconds:.1f} | {seconds / ours:.1f} | {100 * accuracy:.2f} | {chosen} |", flush=True)
        if options.peers and name in PEERS:
            seconds, done = rbf_search(header, train, numbers, ours)
            print(f"| {name} | RBF machine | GridSearchCV | {seconds:.1f} | {seconds / ours:.1f} | | {done} of 25 points |", flush=True)


if __name__ == "__main__":
    main()
