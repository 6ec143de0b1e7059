#!/usr/bin/env python3
"""What missing cells in training cost: the product's completion against dropping rows and against filling in modes.

    python3 experiments/missing_training_discrete.py --data FOLDER [--cache FOLDER] [--program PROGRAM]

Of the training rows of 5 folds each cell is blanked with probability 10, 30 or 50 %; test rows stay complete. `learnt` gives
the blanked rows to the product, `dropped` the rows that are still complete, `mode` the most frequent category of the column or
its median. A set is FOLDER/NAME.csv with the target in the last column. Finished cells are cached.
"""
import argparse
import collections
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile


ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ("car", "vote", "heart", "australian", "diabetes", "breast", "german", "iris")
MODELS = ("nb:ml", "tan:ml", "nb:ml-bn-svm", "tan:ml-bn-svm")
RATES = (0.1, 0.3, 0.5)
WAYS = ("learnt", "dropped", "mode")
FOLDS = 5


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def complete_rows(folder, name):
    with open(folder / f"{name}.csv", newline="") as lines:
        header, *rows = csv.reader(lines)
    return header, [row for row in rows if all(row)]


def folds(rows):
    """Fold of each row: the shuffled rows of each class are dealt in turn."""
    order = list(range(len(rows)))
    random.Random(5).shuffle(order)
    order.sort(key=lambda m: rows[m][-1])
    fold = [0] * len(rows)
    for at, m in enumerate(order):
        fold[m] = at % FOLDS
    return fold


def prepared(train, rate, way, numeric, seed):
    """Training rows with cells blanked, treated in one of the ways."""
    chance = random.Random(seed)
    blanked = [["" if chance.random() < rate else cell for cell in row[:-1]] + row[-1:] for row in train]
    if way == "learnt":
        return blanked
    if way == "dropped":
        return [row for row in blanked if all(row)]
    fill = []
    for i in range(len(train[0]) - 1):
        seen = [row[i] for row in blanked if row[i]]
        if not seen:
            fill.append("0")
        elif numeric[i]:
            fill.append(repr(statistics.median(map(float, seen))))
        else:
            fill.append(collections.Counter(sorted(seen)).most_common(1)[0][0])
    return [[cell or fill[i] for i, cell in enumerate(row[:-1])] + row[-1:] for row in blanked]


def accuracy(program, header, train, test, model, numeric):
    """Share of test rows classified right; the share of the largest class where too few rows are left to learn from."""
    classes = collections.Counter(row[-1] for row in train)
    if len(classes) < 2 or len(train) < 10:
        guess = classes.most_common(1)[0][0] if classes else collections.Counter(row[-1] for row in test).most_common(1)[0][0]
        return sum(row[-1] == guess for row in test) / len(test)
    # Rows of a class that dropping has lost cannot be right.
    known = [row for row in test if row[-1] in classes]
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / name for name in ("train.csv", "test.csv")]
        for path, rows in zip(paths, (train, known)):
            with open(path, "w", newline="") as file:
                csv.writer(file).writerows([header, *rows])
        names = [name for name, number in zip(header, numeric) if number]
        others = [name for name, number in zip(header[:-1], numeric) if not number]
        command = [program, "evaluate", paths[0], "--target", header[-1], "--test", paths[1], "--model", model, "--quiet", "--json", "-"]
        command += ["--numeric", ",".join(names)] if names else []
        command += ["--categorical", ",".join(others)] if others else []
        out = subprocess.run([str(c) for c in command], capture_output=True)
        if out.returncode:
            sys.exit(out.stderr.decode())
    return json.loads(out.stdout)["results"][0]["accuracy"]["mean"] * len(known) / len(test)


def run(program, folder, name, model, rate, way):
    header, rows = complete_rows(folder, name)
    numeric = [all(is_number(row[i]) for row in rows) for i in range(len(header) - 1)]
    fold = folds(rows)
    results = []
    for f in range(FOLDS):
        train = [row for row, own in zip(rows, fold) if own != f]
        test = [row for row, own in zip(rows, fold) if own == f]
        results.append(accuracy(program, header, prepared(train, rate, way, numeric, f), test, model, numeric))
    return sum(results) / FOLDS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the data sets")
    parser.add_argument("--cache", type=pathlib.Path, default=ROOT / "target" / "experiments" / "missing_training")
    parser.add_argument("--program", type=pathlib.Path, help="a built program; else it is built with cargo")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    options = parser.parse_args()
    program = options.program or build()
    options.cache.mkdir(parents=True, exist_ok=True)
    sets, models = options.sets.split(","), options.models.split(",")
    print("| model | blanked | " + " | ".join(WAYS) + " |\n|---|---:|" + "---:|" * len(WAYS))
    for model in models:
        for rate in RATES:
            means = []
            for way in WAYS:
                values = []
                for name in sets:
                    path = options.cache / f"{name}-{model.replace(':', '-')}-{rate}-{way}.json"
                    if not path.exists():
                        path.write_text(json.dumps(run(program, options.data, name, model, rate, way)))
                    values.append(json.loads(path.read_text()))
                means.append(100 * sum(values) / len(values))
            print(f"| {model} | {rate:.0%} | " + " | ".join(f"{m:.2f}" for m in means) + " |", flush=True)


def build():
    subprocess.run(["cargo", "build", "--release", "--workspace", "--bin", "hingenet", "--quiet"], cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "hingenet"


if __name__ == "__main__":
    main()
