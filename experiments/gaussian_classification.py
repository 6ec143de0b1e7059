#!/usr/bin/env python3
"""Exp-III of Zhou et al. (2015): class networks made discriminative, beside support vector machines and logistic regression.

    python3 experiments/gaussian_classification.py --data FOLDER --cache FOLDER --program hingenet [--sets standin] [--splits 30] [--table]

Sets: `standin` (generated in place of the imaging data, 50 and 70 rows of the classes, 80 training and 40 test rows; splits of
one draw overlap, so `standin-10` spreads them over ten draws) and, from FOLDER, alzheimer-biomarkers, glaucoma and
autism-anatomy (two thirds training): with 40 columns chosen by correlation inside the training part, and with all columns. The splits are the same for all methods. Finished results are kept in the cache
folder; --table only prints.
"""
import argparse
import io
import json
import pathlib
import statistics
import subprocess
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

from gaussian_simulations import Cache

SETS = ["standin", "standin-10", "glaucoma-40", "glaucoma", "alzheimer-biomarkers-40", "alzheimer-biomarkers", "autism-anatomy-40", "autism-anatomy"]
# The stand-in as the paper's data: one lambda1 for a fuller and one for a sparser graph. Real tables: chosen inside.
STANDIN = [f"{family}:{rule},lambda1={l}{options}" for l in (20, 40)
           for family, options in (("sgbn", ""), ("fisher", ",components=0"), ("fisher", ",components=100"))
           for rule in ("or", "h", "kl", "mm")]
REAL = [f"{family}:{rule}" for family in ("sgbn", "fisher") for rule in ("or", "h", "kl", "mm")] + ["sgbn:search", "fisher:search,information=diagonal"]
BASELINES = ["linear SVM", "RBF SVM", "logistic regression", "majority"]


def options_of(model):
    """Options of the paper's experiment; `components=0` stands for all."""
    name, _, rest = model.partition(",")
    options = [o for o in rest.split(",") if o and o != "components=0"]
    if "lambda1" in rest:
        rule = name.split(":")[1]
        options += {"kl": ["k=100", "c=1"], "mm": ["k=100", "nu=0.3"]}.get(rule, [])
        if name.startswith("fisher") and "c=1" not in options:
            options.append("c=1")
    return ",".join([name, *options])


def load(options, name, number):
    if name.startswith("standin"):
        seed = 1 + number % 10 if name == "standin-10" else 1
        command = [str(options.program), "generate", "gbn", "-n", "400", "--seed", str(seed), "--quiet"]
        rows = pd.read_csv(io.BytesIO(subprocess.run(command, check=True, capture_output=True).stdout))
        frame = pd.concat([rows[rows["class"] == c].head(size) for c, size in ((0, 50), (1, 70))], ignore_index=True)
    else:
        base = name.removesuffix("-40")
        path = next(p for p in (options.data / f"{base}.csv", options.data / f"{base}.csv.gz") if p.exists())
        frame = pd.read_csv(path)
    labels = frame.pop("class").astype(str)
    # categories as indicators for every method alike
    frame = pd.get_dummies(frame, drop_first=True).astype(float)
    return frame, labels


def split(frame, labels, name, number):
    random = np.random.default_rng([number, 77])
    order = random.permutation(len(frame))
    train = 80 if name.startswith("standin") else 2 * len(frame) // 3
    train, test = order[:train], order[train:]
    if name.endswith("-40"):
        y = (labels == sorted(set(labels))[0]).to_numpy().astype(float)
        x = frame.to_numpy()[train]
        with np.errstate(invalid="ignore", divide="ignore"):
            r = np.abs(np.nan_to_num([np.corrcoef(x[:, j], y[train])[0, 1] for j in range(x.shape[1])]))
        frame = frame.iloc[:, np.sort(np.argsort(-r, kind="stable")[:40])]
    return frame, train, test


def write(path, frame, labels, rows):
    part = frame.iloc[rows].copy()
    part["class"] = labels.iloc[rows].to_numpy()
    part.to_csv(path, index=False)


def evaluate(options, models, train, test):
    command = [options.program, "evaluate", train, "--target", "class", "--test", test, "--quiet", "--threads", "1", "--json", "-"]
    for model in models:
        command += ["--model", model]
    out = subprocess.run([str(c) for c in command], check=True, capture_output=True).stdout
    return json.loads(out)["results"] if models else []


def product(options, models, train, test):
    """Accuracy and fitting time of each model. Where lambda1 is open it is searched once, by the models without a
    discriminative step: the others would choose the same value. Their times are without this search."""
    first = ["sgbn:or", "sgbn:h"] if any("lambda1" not in m for m in models) else []
    found = dict(zip(first, evaluate(options, first, train, test)))

    def full(model):
        name = model.split(",")[0]
        if "lambda1" in model or name.endswith(":search"):
            return options_of(model)
        source = "sgbn:h" if name.endswith(":h") else "sgbn:or"
        return f"{options_of(model)},lambda1={found[source]['chosen'][0]['lambda1']!r}"

    rest = [m for m in models if m not in found]
    found |= zip(rest, evaluate(options, [full(m) for m in rest], train, test))
    return [(found[m]["accuracy"]["mean"], found[m]["fit_seconds"]) for m in models]


def baseline(name, frame, labels, train, test):
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    x, y = frame.to_numpy(), labels.to_numpy()
    if name == "majority":
        values, counts = np.unique(y[train], return_counts=True)
        return float(np.mean(y[test] == values[np.argmax(counts)])), 0.0
    grid = 10.0 ** np.arange(-3, 3)
    estimator, parameters = {
        # Only C >= 10 on all columns of autism-anatomy meets the limit (a minute a fit without it), and is not chosen there.
        "linear SVM": (SVC(kernel="linear", max_iter=500_000), {"svc__C": grid}),
        "RBF SVM": (SVC(), {"svc__C": 10.0 ** np.arange(-1, 4), "svc__gamma": ["scale", 0.1, 0.01, 0.001]}),
        "logistic regression": (LogisticRegression(max_iter=5000), {"logisticregression__C": grid}),
    }[name]
    search = GridSearchCV(make_pipeline(StandardScaler(), estimator), parameters, cv=5)
    start = time.perf_counter()
    search.fit(x[train], y[train])
    return float(search.score(x[test], y[test])), time.perf_counter() - start


def run_set(cache, options, name):
    models = STANDIN if name.startswith("standin") else REAL
    for number in range(options.splits):
        todo = [m for m in models if not cache.get(name, m, number)]
        others = [m for m in BASELINES if not cache.get(name, m, number)]
        if not todo and not others:
            continue
        frame, labels = load(options, name, number)
        part, train, test = split(frame, labels, name, number)
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f for f in ("train.csv", "test.csv")]
            for path, rows in zip(paths, (train, test)):
                write(path, part, labels, rows)
            for model, (accuracy, seconds) in zip(todo, product(options, todo, *paths) if todo else []):
                cache.put((name, model, number), accuracy=accuracy, seconds=seconds)
        for model in others:
            accuracy, seconds = baseline(model, part, labels, train, test)
            cache.put((name, model, number), accuracy=accuracy, seconds=seconds)
        print(name, number, flush=True)


def print_tables(cache):
    for name in SETS:
        keys = [key for key in cache.done if key[0] == name]
        if not keys:
            continue
        print(f"\n{name}: mean test accuracy in % ± standard error of the splits\n\n| model | splits | accuracy | fit, s |\n|---|---:|---:|---:|")
        for model in dict.fromkeys(key[1] for key in keys):
            rows = [cache.done[key] for key in keys if key[1] == model]
            values = [100 * r["accuracy"] for r in rows]
            error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
            print(f"| {model} | {len(values)} | {statistics.mean(values):.1f} ± {error:.1f} | {statistics.mean(r['seconds'] for r in rows):.2f} |")
    for name in ("standin", "standin-10"):
        of = lambda rule, n: cache.get(name, f"sgbn:{rule},lambda1=40", n)
        gain = [100 * (of("mm", n)["accuracy"] - of("or", n)["accuracy"]) for n in range(1000) if of("mm", n) and of("or", n)]
        if len(gain) > 1:
            mean, error = statistics.mean(gain), statistics.stdev(gain) / len(gain) ** 0.5
            print(f"\nMM-SGBN above OR-SGBN on the sparse stand-in ({name}, lambda1 = 40, {len(gain)} splits): {mean:.1f} ± {error:.1f} points "
                  f"({'met' if mean >= 4 else 'missed'}: at least 4).")


def print_summary(cache):
    """All real tables beside each other."""
    sets = [name for name in SETS if not name.startswith("standin") and cache.get(name, BASELINES[0], 0)]
    values = lambda name, model: [100 * row["accuracy"] for key, row in cache.done.items() if key[:2] == (name, model)]
    cell = lambda v: f"{statistics.mean(v):.1f} ± {statistics.stdev(v) / len(v) ** 0.5:.1f} ({len(v)})" if len(v) > 1 else "–"
    print(f"\nMean test accuracy in % ± standard error (splits)\n\n| model | {' | '.join(sets)} |\n|---{'|---:' * len(sets)}|")
    for model in REAL + BASELINES:
        print(f"| {model} | {' | '.join(cell(values(name, model)) for name in sets)} |")


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the data sets")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for finished results")
    parser.add_argument("--program", type=pathlib.Path, default="hingenet")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--table", action="store_true", help="print what is finished, run nothing")
    options = parser.parse_args()
    cache = Cache(options.cache / "classification.jsonl")
    if not options.table:
        for name in options.sets.split(","):
            run_set(cache, options, name)
    print_tables(cache)
    print_summary(cache)


if __name__ == "__main__":
    main()
