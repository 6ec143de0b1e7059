#!/usr/bin/env python3
"""Exp-III of Zhou et al. (2015): class networks made discriminative, beside support vector machines and logistic regression.

    python3 experiments/gaussian_classification.py --data FOLDER --cache FOLDER --program hingenet [--sets gbn] [--splits 30] [--table]

Sets: `gbn` (the generated stand-in for the imaging data, 80 training and 40 test rows) and, from FOLDER,
alzheimer-biomarkers, glaucoma and autism-anatomy (two thirds training): with 40 columns chosen by correlation inside the
training part, and with all columns. The splits are the same for all methods. Finished results are kept in the cache
folder; --table only prints.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import warnings

import numpy as np
import pandas as pd

from gaussian_simulations import Cache

SETS = ["gbn", "glaucoma-40", "glaucoma", "alzheimer-biomarkers-40", "alzheimer-biomarkers", "autism-anatomy-40", "autism-anatomy"]
# The stand-in as the paper's data: one lambda1 for a fuller and one for a sparser graph. Real tables: chosen inside.
STANDIN = [f"{family}:{rule},lambda1={l}{options}" for l in (20, 40)
           for family, options in (("sgbn", ""), ("fisher", ",components=0"), ("fisher", ",components=100"))
           for rule in ("or", "h", "kl", "mm")]
REAL = [f"{family}:{rule}" for family in ("sgbn", "fisher") for rule in ("or", "h", "kl", "mm")] + ["sgbn:search", "fisher:search"]
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


def load(options, name):
    if name == "gbn":
        out = subprocess.run([str(options.program), "generate", "gbn", "--seed", "1", "--quiet"], check=True, capture_output=True).stdout
        import io
        frame = pd.read_csv(io.BytesIO(out))
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
    train = 80 if name == "gbn" else 2 * len(frame) // 3
    train, test = order[:train], order[train:train + 40 if name == "gbn" else None]
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


def product(options, model, train, test):
    command = [options.program, "evaluate", train, "--target", "class", "--test", test, "--model", options_of(model),
               "--quiet", "--threads", "1", "--json", "-"]
    out = subprocess.run([str(c) for c in command], check=True, capture_output=True).stdout
    result = json.loads(out)["results"][0]
    return result["accuracy"]["mean"], result["fit_seconds"]


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
        "linear SVM": (SVC(kernel="linear"), {"svc__C": grid}),
        "RBF SVM": (SVC(), {"svc__C": 10.0 ** np.arange(-1, 4), "svc__gamma": ["scale", 0.1, 0.01, 0.001]}),
        "logistic regression": (LogisticRegression(max_iter=5000), {"logisticregression__C": grid}),
    }[name]
    search = GridSearchCV(make_pipeline(StandardScaler(), estimator), parameters, cv=5)
    import time
    start = time.perf_counter()
    search.fit(x[train], y[train])
    return float(search.score(x[test], y[test])), time.perf_counter() - start


def run_set(cache, options, name):
    frame, labels = load(options, name)
    models = (STANDIN if name == "gbn" else REAL) + BASELINES
    for number in range(options.splits):
        part, train, test = split(frame, labels, name, number)
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f for f in ("train.csv", "test.csv")]
            for path, rows in zip(paths, (train, test)):
                write(path, part, labels, rows)
            for model in models:
                if cache.get(name, model, number):
                    continue
                work = baseline(model, part, labels, train, test) if model in BASELINES else product(options, model, *paths)
                cache.put((name, model, number), accuracy=work[0], seconds=work[1])
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
    gain = [100 * (cache.get("gbn", "sgbn:mm,lambda1=40", n)["accuracy"] - cache.get("gbn", "sgbn:or,lambda1=40", n)["accuracy"])
            for n in range(1000) if cache.get("gbn", "sgbn:mm,lambda1=40", n) and cache.get("gbn", "sgbn:or,lambda1=40", n)]
    if gain:
        mean = statistics.mean(gain)
        print(f"\nMM-SGBN above OR-SGBN on the sparse stand-in (lambda1 = 40): {mean:.1f} points ({'met' if mean >= 4 else 'missed'}: at least 4).")


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


if __name__ == "__main__":
    main()
