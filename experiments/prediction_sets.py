"""Coverage and size of prediction sets when features are missing at prediction.

Five folds of every set; a quarter of the training rows calibrates the sets (`fit --calibrate-sets`), and 0, 30 and 60 % of the test
cells are blanked at random. For each model and rate: share of test rows whose set has their class (mean over sets, its standard
error, the lowest and highest set), classes in a set as a share of all, empty sets, accuracy.

    python prediction_sets.py --data FOLDER [--program hingenet] [--models tan:ml,pool]
"""
import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np

import missing_data as md

COVERAGE = 0.9
RATES = ["0", "30", "60"]
SETS = [name for name in md.CHEAP_FIRST if name not in ("digits", "chess", "letter", "spambase", "adult", "satimage")]


def run(program, *words):
    subprocess.run([program, "-q", *map(str, words)], check=True)


def judge(path, classes):
    """Share of rows whose set has their class, mean size of the sets, share of empty ones, accuracy."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    sets = [row["set"].split("|") if row["set"] else [] for row in rows]
    names = [f"c{c}" for c in classes]
    return [
        np.mean([name in chosen for name, chosen in zip(names, sets)]),
        np.mean([len(chosen) for chosen in sets]),
        np.mean([not chosen for chosen in sets]),
        np.mean([row["prediction"] == name for name, row in zip(names, rows)]),
    ]


def one_fold(options, model, name, data, fold, train, test):
    """Figures of each rate."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        md.write_csv(folder / "train.csv", data.rows(train))
        run(options.program, "fit", folder / "train.csv", "--target", "class", "--model", model, "--calibrate-sets",
            "--seed", fold, "-o", folder / "model.hgn")
        figures = []
        for rate in RATES:
            mask = md.missing_mask(name, fold, rate, 0, len(test), data.d)
            md.write_csv(folder / "test.csv", data.rows(test), mask)
            run(options.program, "predict", folder / "model.hgn", folder / "test.csv", "--coverage", COVERAGE,
                "-o", folder / "out.csv")
            figures.append(judge(folder / "out.csv", data.y[test]))
        return figures


def one_set(options, model, name):
    """Figures of a set, from the cache where they are there: rate by (coverage, size, empty, accuracy)."""
    cache = options.results / f"{model.replace(':', '-')}-{name}.json"
    if not cache.exists():
        data = md.load(options.data, name)
        folds = [one_fold(options, model, name, data, f, *parts) for f, parts in enumerate(md.folds(data))]
        figures = np.mean(folds, axis=0)
        figures[:, 1] /= len(set(data.y))
        cache.write_text(json.dumps(figures.tolist()))
    return json.loads(cache.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="hingenet")
    parser.add_argument("--models", default="tan:ml,pool")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("results/prediction_sets"))
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    print(f"| model | missing | coverage over {len(SETS)} sets | lowest, highest set | classes in a set | empty | accuracy |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for model in options.models.split(","):
        figures = 100 * np.array([one_set(options, model, name) for name in SETS])
        for r, rate in enumerate(RATES):
            coverage, size, empty, accuracy = figures[:, r].T
            error = coverage.std(ddof=1) / len(SETS) ** 0.5
            print(f"| `{model}` | {rate} % | {coverage.mean():.1f} ± {error:.1f} % | {coverage.min():.1f}, {coverage.max():.1f} % |"
                  f" {size.mean():.0f} % | {empty.mean():.1f} % | {accuracy.mean():.1f} % |")


if __name__ == "__main__":
    main()
