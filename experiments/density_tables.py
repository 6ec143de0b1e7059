#!/usr/bin/env python3
"""Tables 1, 2 and 3 of Tenzer et al. (JMLR 2020): balanced errors of the density family beside the printed ones.

    python3 experiments/density_tables.py run   --data FOLDER --cache CACHE --program hingenet [--methods ...] [--sets ...]
    python3 experiments/density_tables.py synthetic --cache CACHE --program hingenet [--replicates 20] [--sizes 200,600]
    python3 experiments/density_tables.py print --cache CACHE --printed density_tables.csv

Table 1: stratified 5-fold cross-validation, the same folds for every method, rows with missing cells removed. Threshold
and class weights of the density methods are chosen inside the training part by the product; the RBF machine chooses C,
width and class weights by inner 3-fold cross-validation of the balanced accuracy. Every (set, repeat, fold, method) is
one line of the cache, so a run can be stopped and goes on where it was; repeat 0 of all sets comes first. Next to the
plain decisions the table gives those at the class prior (`P(+|x)` against the share of + in training), which is what
the balanced error asks of methods that give probabilities. `--methods` names the product's models and svm-rbf, rf, 5nn,
ebm. The product is called as a program; scikit-learn and interpret are needed for the others.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

# Printed name: (file, columns left out, repeats).
SETS = {
    "Spectf": ("spectf", [], 10), "WI prog": ("wpbc", [], 10), "Sonar": ("sonar", [], 1), "Liver": ("liver", [], 10),
    "Ionosphere": ("ionosphere", ["v1", "v2"], 10), "Blood": ("blood", [], 10), "WI diag": ("wdbc", [], 10),
    "Pima": ("diabetes", [], 10), "Hill-valley without noise": ("hill-valley", [], 1),
    "Hill-valley with noise": ("hill-valley-noise", [], 1), "Ozone": ("ozone", [], 1),
    "Ringnorm": ("ringnorm", [], 1), "Pulsar stars": ("pulsar", [], 1),
}
OURS = ["slb", "slb-all", "lu", "kde-nb", "kde-tan"]
OTHERS = ["svm-rbf", "rf", "5nn", "ebm"]
PRINTED_NAMES = {"slb": "SLB", "slb-all": "SLB-", "lu": "LU", "kde-nb": "NB", "kde-tan": "TAN", "svm-rbf": "SVM-RBF",
                 "rf": "RF", "5nn": "5NN"}
FOLDS = 5


def read_set(folder, name):
    import pandas

    file, dropped, _ = SETS[name]
    path = next(p for p in (folder / f"{file}.csv", folder / f"{file}.csv.gz") if p.exists())
    frame = pandas.read_csv(path).drop(columns=dropped).dropna().reset_index(drop=True)
    return frame, frame["class"].astype(str)


def balanced_error(truth, predicted):
    classes = sorted(set(truth))
    rates = [statistics.mean(p != c for t, p in zip(truth, predicted) if t == c) for c in classes]
    return 100 * statistics.mean(rates)


def product(program, model, train, test, folder):
    """Predictions and probabilities of the second class of a model of the product."""
    train.to_csv(folder / "train.csv", index=False)
    test.drop(columns="class").to_csv(folder / "test.csv", index=False)
    quiet = ["--quiet", "--threads", "1"]
    fit = [program, "fit", "train.csv", "--target", "class", "--model", model, "-o", "model.hgn", *quiet]
    subprocess.run(fit, cwd=folder, check=True, capture_output=True)
    predict = [program, "predict", "model.hgn", "test.csv", "--proba", "-o", "out.csv", *quiet]
    subprocess.run(predict, cwd=folder, check=True, capture_output=True)
    with open(folder / "out.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    second = [key for key in rows[0] if key.startswith("p_")][-1]
    return [row["prediction"] for row in rows], [float(row[second]) for row in rows]


def peer(method, X, y, X_test):
    """Predictions and probabilities of the second class (None for the RBF machine)."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    d = X.shape[1]
    if method == "svm-rbf":
        grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.1 / d, 1 / d, 10 / d], "svc__class_weight": [None, "balanced"]}
        inner = StratifiedKFold(3, shuffle=True, random_state=0)
        model = GridSearchCV(make_pipeline(StandardScaler(), SVC(cache_size=500)), grid, cv=inner, scoring="balanced_accuracy")
    elif method == "rf":
        model = RandomForestClassifier(500, random_state=0)
    elif method == "5nn":
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
    else:
        from interpret.glassbox import ExplainableBoostingClassifier

        # The defaults (14 bags, 3 d pairs) take minutes a fit.
        model = ExplainableBoostingClassifier(random_state=0, n_jobs=1, outer_bags=4, interactions=10)
    model.fit(X, y)
    probabilities = None if method == "svm-rbf" else model.predict_proba(X_test)[:, 1].tolist()
    return [str(label) for label in np.asarray(model.predict(X_test))], probabilities


def job(method, program, train, test):
    start = time.perf_counter()
    y = train["class"].astype(str)
    if method in OTHERS:
        features = train.columns.drop("class")
        predicted, probabilities = peer(method, train[features].to_numpy(float), y.to_numpy(), test[features].to_numpy(float))
    else:
        with tempfile.TemporaryDirectory() as folder:
            predicted, probabilities = product(program, method, train, test, pathlib.Path(folder))
    truth = test["class"].astype(str).tolist()
    record = {"error": balanced_error(truth, predicted), "seconds": round(time.perf_counter() - start, 2)}
    if probabilities is not None:
        first, second = sorted(set(y))
        prior = (y == second).mean()
        record["error_at_prior"] = balanced_error(truth, [second if p > prior else first for p in probabilities])
    return record


def key(record):
    return (record["set"], record["repeat"], record["fold"], record["method"])


def read_cache(folder, name):
    """Lines of all files `name*.jsonl` of the folder: several runs may share it, each with a file of its own."""
    lines = [line for path in sorted(folder.glob(f"{name}*.jsonl")) for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def run(args):
    from sklearn.model_selection import StratifiedKFold

    args.cache.mkdir(parents=True, exist_ok=True)
    done = {key(r) for r in read_cache(args.cache, "table1")}
    for repeat in range(args.repeats):
        for name in args.sets or SETS:
            if repeat >= SETS[name][2]:
                continue
            frame, labels = read_set(args.data, name)
            splits = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(frame, labels)
            for fold, (train, test) in enumerate(splits):
                for method in args.methods:
                    place = {"set": name, "repeat": repeat, "fold": fold, "method": method}
                    if key(place) in done:
                        continue
                    record = job(method, args.program, frame.iloc[train], frame.iloc[test])
                    with open(args.cache / f"table1-{args.tag}.jsonl", "a") as out:
                        out.write(json.dumps(place | record) + "\n")
                    print(place | record, flush=True)


def cells():
    """Cells with normal marginals of Tables 2 and 3: (table, setting, generator options)."""
    for balance in ("balanced", "imbalanced"):
        yield 2, f"forest;normal;{balance}", "forest", balance
    for shared, generator in (("none", "bn-one-order"), ("third-shared", "bn-one-order-shared")):
        for balance in ("balanced", "imbalanced"):
            yield 3, f"bn;normal;{shared};{balance}", generator, balance


def synthetic(args):
    import pandas

    args.cache.mkdir(parents=True, exist_ok=True)
    done = {key(r) for r in read_cache(args.cache, "synthetic")}
    for replicate in range(args.replicates):
        for n in args.sizes:
            for _, setting, generator, balance in cells():
                methods = [m for m in args.methods if key({"set": setting, "repeat": n, "fold": replicate, "method": m}) not in done]
                if not methods:
                    continue
                # Enough rows of both classes for training and 500 + 500 test rows, all from the same two networks.
                command = [args.program, "generate", generator, "-n", "3000", "--seed", str(1000 + replicate), "--quiet"]
                text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                frame = pandas.read_csv(__import__("io").StringIO(text))
                minus, plus = (frame[frame["class"] == c] for c in sorted(frame["class"].unique()))
                n_plus = round(n * (0.75 if balance == "imbalanced" else 0.5))
                train = pandas.concat([plus[:n_plus], minus[: n - n_plus]])
                test = pandas.concat([plus[-500:], minus[-500:]])
                for method in methods:
                    place = {"set": setting, "repeat": n, "fold": replicate, "method": method}
                    record = job(method, args.program, train, test)
                    with open(args.cache / f"synthetic-{args.tag}.jsonl", "a") as out:
                        out.write(json.dumps(place | record) + "\n")
                    print(place | record, flush=True)


def printed_values(path, table):
    with open(path, newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if int(row["table"]) == table]
    return {(row["setting"], int(row["n"]), row["method"]): (row["error"], row["sd"]) for row in rows}


def mean_sd(values):
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def print_table1(args):
    printed = {(s, m): v for (s, _, m), v in printed_values(args.printed, 1).items()}
    records = read_cache(args.cache, "table1")
    print("Balanced error in %, mean (sd over folds), [printed]; at the prior in a second line where it exists; * repeats")
    print("| set | " + " | ".join(OURS + OTHERS) + " |\n|---|" + "---|" * len(OURS + OTHERS))
    for name in SETS:
        line = []
        for method in OURS + OTHERS:
            mine = [r for r in records if r["set"] == name and r["method"] == method]
            whole = [k for k in {r["repeat"] for r in mine} if sum(r["repeat"] == k for r in mine) == FOLDS]
            mine = [r for r in mine if r["repeat"] in whole]
            text = "-"
            if mine:
                text = "{:.1f} ({:.1f})".format(*mean_sd([r["error"] for r in mine]))
                if "error_at_prior" in mine[0]:
                    text += " / {:.1f}".format(statistics.mean(r["error_at_prior"] for r in mine))
                text += f" *{len(whole)}"
            if (name, PRINTED_NAMES.get(method)) in printed:
                text += " [{} ± {}]".format(*printed[name, PRINTED_NAMES[method]])
            line.append(text)
        print(f"| {name} | " + " | ".join(line) + " |")
    near = 0
    for name in SETS:
        mine = [r["error"] for r in records if r["set"] == name and r["method"] == "slb"]
        if len(mine) >= FOLDS and (name, "SLB") in printed:
            near += statistics.mean(mine) <= float(printed[name, "SLB"][0]) + 3
    print(f"\nSLB within 3 points of the printed value or better: {near} of {len(SETS)} sets")


def print_synthetic(args):
    records = read_cache(args.cache, "synthetic")
    for table in (2, 3):
        printed = printed_values(args.printed, table)
        print(f"\nTable {table}: balanced error in %, mean (sd), [printed], * replicates")
        print("| cell | n | " + " | ".join(OURS) + " |\n|---|---|" + "---|" * len(OURS))
        for _, setting, _, _ in (c for c in cells() if c[0] == table):
            for n in sorted({r["repeat"] for r in records if r["set"] == setting}):
                line = []
                for method in OURS:
                    mine = [r["error"] for r in records if (r["set"], r["repeat"], r["method"]) == (setting, n, method)]
                    text = "{:.1f} ({:.1f}) *{}".format(*mean_sd(mine), len(mine)) if mine else "-"
                    names = (PRINTED_NAMES[method], "BN" if method == "kde-nb" else "")
                    old = next((printed[setting, n, m] for m in names if (setting, n, m) in printed), None)
                    line.append(text + (" [{} ± {}]".format(*old) if old else ""))
                print(f"| {setting} | {n} | " + " | ".join(line) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "synthetic", "print"])
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="hingenet")
    parser.add_argument("--printed", type=pathlib.Path)
    parser.add_argument("--methods", type=lambda s: s.split(","), default=OURS + OTHERS)
    parser.add_argument("--sets", type=lambda s: s.split(","))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--sizes", type=lambda s: [int(n) for n in s.split(",")], default=[200, 600, 1000])
    parser.add_argument("--tag", default="all", help="part of the name of the cache file this run writes")
    args = parser.parse_args()
    if args.action == "run":
        run(args)
    elif args.action == "synthetic":
        synthetic(args)
    else:
        print_table1(args)
        print_synthetic(args)


if __name__ == "__main__":
    main()
