#!/usr/bin/env python3
"""The discrete family on the paper's own folds, next to the accuracies of Peharz et al. (ICML 2013).

    python3 experiments/discrete_folds.py --data FOLDER [--rules ml,mcl,mm,ml-bn-svm] [--sets car,breast,adult]

Maximum likelihood must agree to both decimals; the other rules, whose grids the paper does not print, must lie within
the printed 95 % interval. FOLDER holds <set>-<fold>-train.arff and <set>-<fold>-test.arff (optionally .gz) of car, breast and adult. The program is
built with cargo and called once per fold; nothing but the standard library is needed. Exit code 1 if a value differs.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Printed accuracy in % and half-width of its 95 % interval: (set, graph, rule).
PRINTED = {
    ("car", "nb", "ml"): (85.64, 1.59), ("car", "tan", "ml"): (94.24, 1.50),
    ("breast", "nb", "ml"): (97.63, 1.01), ("breast", "tan", "ml"): (95.56, 2.06),
    ("adult", "nb", "ml"): (83.37, 0.71), ("adult", "tan", "ml"): (85.70, 0.66),
    ("car", "nb", "mcl"): (93.43, 1.76), ("car", "tan", "mcl"): (98.08, 0.75),
    ("breast", "nb", "mcl"): (95.56, 1.45), ("breast", "tan", "mcl"): (95.56, 1.45),
    ("adult", "nb", "mcl"): (86.90, 0.64), ("adult", "tan", "mcl"): (86.65, 0.64),
    ("car", "nb", "mm"): (93.78, 1.63), ("car", "tan", "mm"): (97.79, 0.79),
    ("breast", "nb", "mm"): (95.85, 2.22), ("breast", "tan", "mm"): (96.59, 0.50),
    ("adult", "nb", "mm"): (86.92, 0.64), ("adult", "tan", "mm"): (86.54, 0.65),
    ("car", "nb", "ml-bn-svm"): (92.73, 1.14), ("car", "tan", "ml-bn-svm"): (98.08, 1.07),
    ("breast", "nb", "ml-bn-svm"): (97.04, 1.45), ("breast", "tan", "ml-bn-svm"): (96.00, 2.31),
    ("adult", "nb", "ml-bn-svm"): (86.94, 0.64), ("adult", "tan", "ml-bn-svm"): (86.76, 0.64),
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


def build():
    subprocess.run(["cargo", "build", "--release", "--workspace", "--bin", "hingenet", "--quiet"], cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "hingenet"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the fold files")
    parser.add_argument("--rules", default="ml", help="comma list of ml, mcl, mm, ml-bn-svm")
    parser.add_argument("--sets", default="car,breast,adult")
    parser.add_argument("--graphs", default="nb,tan")
    parser.add_argument("--program", type=pathlib.Path, help="a built program; else it is built with cargo")
    options = parser.parse_args()
    program = options.program or build()
    wrong = 0
    print("| set | model | printed | here | |\n|---|---|---:|---:|---|")
    for (name, graph, rule), (printed, interval) in PRINTED.items():
        wanted = (rule, options.rules), (name, options.sets), (graph, options.graphs)
        if any(value not in values.split(",") for value, values in wanted):
            continue
        folds = [accuracy(program, options.data, name, f, f"{graph}:{rule}") for f in range(1, FOLDS[name] + 1)]
        here = 100 * sum(folds) / len(folds)
        agrees = abs(round(here, 2) - printed) < (0.005 if rule == "ml" else interval + 0.005)
        wrong += not agrees
        print(f"| {name} | {graph}:{rule} | {printed:.2f} ± {interval:.2f} | {here:.2f} | {'' if agrees else 'differs'} |", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
