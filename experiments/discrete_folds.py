#!/usr/bin/env python3
"""Maximum likelihood on the paper's own folds: the accuracies of Peharz et al. (ICML 2013), to both decimals.

    python3 experiments/discrete_folds.py --data FOLDER

FOLDER holds <set>-<fold>-train.arff and <set>-<fold>-test.arff (optionally .gz) of car, breast and adult. The program is
built with cargo and called once per fold; nothing but the standard library is needed. Exit code 1 if a value differs.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Printed accuracy in % (mean over folds), alpha = 1.
PRINTED = {
    ("car", "nb:ml"): 85.64,
    ("car", "tan:ml"): 94.24,
    ("breast", "nb:ml"): 97.63,
    ("breast", "tan:ml"): 95.56,
    ("adult", "nb:ml"): 83.37,
    ("adult", "tan:ml"): 85.70,
}
FOLDS = {"car": 5, "breast": 5, "adult": 1}


def fold_file(folder, name, fold, part):
    for suffix in (".arff", ".arff.gz"):
        path = folder / f"{name}-{fold}-{part}{suffix}"
        if path.exists():
            return path
    sys.exit(f"{folder}: no {name}-{fold}-{part}.arff")


def last_attribute(path):
    import gzip

    opener = gzip.open if path.suffix == ".gz" else open
    name = None
    with opener(path, "rt") as lines:
        for line in lines:
            word = line.strip().lower()
            if word.startswith("@attribute"):
                name = line.split(None, 1)[1].split("{")[0].strip().strip("'\"")
            if word.startswith("@data"):
                break
    return name


def accuracy(program, folder, name, fold, model):
    train, test = (fold_file(folder, name, fold, part) for part in ("train", "test"))
    command = [program, "evaluate", train, "--target", last_attribute(train), "--test", test,
               "--model", f"{model},alpha=1", "--quiet", "--json", "-"]
    result = json.loads(subprocess.run([str(c) for c in command], check=True, capture_output=True).stdout)
    return result["results"][0]["accuracy"]["mean"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the fold files")
    folder = parser.parse_args().data
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    program = ROOT / "target" / "release" / "hingenet"
    wrong = 0
    print("| set | model | printed | here |\n|---|---|---:|---:|")
    for (name, model), printed in PRINTED.items():
        folds = [accuracy(program, folder, name, f, model) for f in range(1, FOLDS[name] + 1)]
        here = 100 * sum(folds) / len(folds)
        agrees = abs(round(here, 2) - printed) < 0.005
        wrong += not agrees
        print(f"| {name} | {model} | {printed:.2f} | {here:.2f}{'' if agrees else ' (differs)'} |")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
