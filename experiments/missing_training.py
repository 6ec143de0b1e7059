#!/usr/bin/env python3
"""Training rows with missing cells: the pool as it is, against dropping rows, mean imputation and 5-NN imputation before the same pool.

    python3 experiments/missing_training.py run   --data FOLDER --results DIR [--program hingenet] [--sets a,b] [--folds 3]
    python3 experiments/missing_training.py table --results DIR

Training cells are blanked independently at 10, 30 and 50 %; test rows are complete (`0`) or have 30 % blanks (`30`). Only what happens to the
training rows differs between the methods (with fewer than 10 complete rows left, dropping rows gives the majority class). Results are cached in DIR and not computed again.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import missing_data as md
from missing_opponents import Encoder, NearestNeighbours

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ["heart", "wdbc", "ionosphere", "german", "vote", "glass", "diabetes", "soybean-large", "crx", "breast"]
RATES = ["10", "30", "50"]
METHODS = ["as it is", "drop rows", "mean", "5-NN"]


def imputed(data, mask, method):
    """The training rows with their gaps filled: a number by a mean, a category by the most frequent of the rows used."""
    everything = np.arange(data.n)
    columns = [np.where(mask[:, j], filler(c, mask[:, j], levels), c) for j, (c, levels) in enumerate(zip(data.columns, data.levels))]
    filled = md.Data(columns, data.levels, data.y)
    if method == "mean":
        return filled
    encoder = Encoder(filled, everything)
    x, missing = encoder.encode(filled, everything), encoder.columns(mask)
    centred = np.where(missing, np.nan, x)
    source = np.where(missing, np.nanmean(np.where(np.isnan(centred).all(0), 0.0, centred), axis=0), x)
    guess = NearestNeighbours(source).fill(x, missing)
    first = 0
    for j, (width, levels) in enumerate(zip(encoder.widths, data.levels)):
        block = guess[:, first : first + width]
        first += width
        if levels:
            columns[j] = np.where(mask[:, j], block.argmax(1), data.columns[j])
        else:
            mean, sd = encoder.scale[j]
            columns[j] = np.where(mask[:, j], block[:, 0] * sd + mean, data.columns[j])
    return md.Data(columns, data.levels, data.y)


def filler(column, missing, levels):
    seen = column[~missing]
    if not len(seen):
        return 0
    return np.bincount(seen, minlength=levels).argmax() if levels else seen.mean()


def train_rows(data, mask, method):
    """Rows and mask that the pool is trained on; `None` if too few are left."""
    if method == "as it is":
        return data, mask
    if method == "drop rows":
        complete = np.flatnonzero(~mask.any(1))
        part = data.rows(complete)
        return (part, None) if part.n >= 10 and len(np.unique(part.y)) > 1 else None
    return imputed(data, mask, method), None


def accuracy(program, folder, train, test, tests):
    data, mask = train
    md.write_csv(folder / "train.csv", data, mask)
    md.write_csv(folder / "test.csv", md.Data([np.tile(c, len(tests)) for c in test.columns], test.levels, np.tile(test.y, len(tests))), np.vstack(tests))
    categorical = ",".join(f"x{j}" for j, levels in enumerate(data.levels) if levels)
    typed = ["--categorical", categorical] if categorical else []
    run([program, "fit", folder / "train.csv", "--target", "class", "--model", "pool", "-o", folder / "m.hgn", "--quiet", *typed])
    run([program, "predict", folder / "m.hgn", folder / "test.csv", "-o", folder / "out.csv", "--quiet", *typed])
    guess = [line.split(",")[1] for line in (folder / "out.csv").read_text().splitlines()[1:]]
    right = np.array([g == f"c{c}" for g, c in zip(guess, np.tile(test.y, len(tests)))])
    return [float(part.mean()) for part in np.split(right, len(tests))]


def run(command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")


def finished(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {(r["set"], r["fold"], r["rate"], r["method"]): r for r in map(json.loads, lines)}


def run_all(options):
    path = options.results / "missing_training.jsonl"
    program = options.program or ROOT / "target" / "release" / "hingenet"
    for fold in range(options.folds):
        for name in options.sets.split(","):
            data = md.load(options.data, name)
            inside, outside = md.folds(data, 5)[fold]
            train, test = data.rows(inside), data.rows(outside)
            tests = [md.missing_mask(name, fold, kind, 0, test.n, test.d) for kind in ("0", "30")]
            for rate in RATES:
                mask = md.missing_mask(name + "/train", fold, rate, 0, train.n, train.d)
                for method in METHODS:
                    if (name, fold, rate, method) in finished(path):
                        continue
                    rows = train_rows(train, mask, method)
                    with tempfile.TemporaryDirectory() as folder:
                        majority = float((test.y == np.bincount(train.y).argmax()).mean())
                        found = [majority] * 2 if rows is None else accuracy(program, pathlib.Path(folder), rows, test, tests)
                    line = {"set": name, "fold": fold, "rate": rate, "method": method, "accuracy": found,
                            "rows": 0 if rows is None else rows[0].n}
                    with open(path, "a") as out:
                        out.write(json.dumps(line) + "\n")
                    print(line, flush=True)


def print_table(options):
    done = finished(options.results / "missing_training.jsonl")
    for at, title in enumerate(("complete test rows", "30 % of the test cells missing")):
        print(f"\n## Accuracy in %, {title}\n\n| set | folds | {' | '.join(f'{m}, {r} %' for r in RATES for m in METHODS)} |")
        print(f"|---|---:|{'---:|' * (len(RATES) * len(METHODS))}")
        rows = []
        for name in SETS:
            folds = [f for f in range(5) if all((name, f, r, m) in done for r in RATES for m in METHODS)]
            if folds:
                rows.append([100 * np.mean([done[name, f, r, m]["accuracy"][at] for f in folds]) for r in RATES for m in METHODS])
                print(f"| {name} | {len(folds)} | {' | '.join(f'{v:.1f}' for v in rows[-1])} |")
        if rows:
            print(f"| mean | | {' | '.join(f'{v:.2f}' for v in np.mean(rows, axis=0))} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["run", "table"])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--folds", type=int, default=3)
    md.main(parser, {"run": run_all, "table": print_table})


if __name__ == "__main__":
    main()
