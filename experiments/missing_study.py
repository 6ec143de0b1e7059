#!/usr/bin/env python3
"""Accuracy with features missing at prediction time: the pool against tuned opponents on 30 public data sets.

    python3 experiments/missing_study.py opponents --data FOLDER --results DIR
    python3 experiments/missing_study.py product   --data FOLDER --results DIR [--program hingenet] [--models pool,tan:ml]
    python3 experiments/missing_study.py table     --results DIR

Models see complete training rows only. Five stratified folds; test cells are blanked independently with probability 0, 0.3, 0.6, 0.9,
or a contiguous third of the columns of each row (`block`); two mask seeds. Every finished (set, fold, method) is one line of a
JSON-lines file in DIR and is not done again; several processes may work on one DIR. Folds run in order over all sets, so a table over
fewer folds is always complete.
"""
import argparse
import csv
import fcntl
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import missing_data as md

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDS = 5
MODELS = ["pool", "tan:ml", "nb:ml", "tan:ml-bn-svm"]
TERMS = ["P", "A", "G", "K"]
OPPONENTS = ["svm-5nn", "svm-gauss", "lightgbm-20-80", "lightgbm-10-95", "logistic-mean", "logistic-gauss"]
NAMES = {
    "logistic-mean": "logistic + mean imputation", "logistic-gauss": "logistic + Gaussian imputation",
    "lightgbm-20-80": "LightGBM, copies 20-80 % blanked", "lightgbm-10-95": "LightGBM, copies 10-95 % blanked",
    "svm-gauss": "RBF SVM + Gaussian imputation", "svm-5nn": "RBF SVM + 5-NN imputation",
}


def finished(folder):
    """{(set, fold, method): record} of all result files."""
    done = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            try:
                record = json.loads(line)
            except json.JSONDecodeError:  # the last line of an interrupted run
                continue
            done[record["set"], record["fold"], record["method"]] = record
    return done


def test_masks(name, fold, test, d, seeds):
    """(key, test rows, mask) of every mask; key is `kind/seed`."""
    kinds = [(kind, s) for kind in md.MASKS for s in range(1 if kind == "0" else seeds)]
    return [(f"{kind}/{s}", test, md.missing_mask(name, fold, kind, s, len(test), d)) for kind, s in kinds]


def record(file, name, fold, method, accuracy, **more):
    line = {"set": name, "fold": fold, "method": method, "accuracy": accuracy, **more}
    with open(file, "a") as out:
        out.write(json.dumps(line) + "\n")


def work(options, kinds):
    """(fold, kind, set) in the order of the study, while there is time; each is given to one process only."""
    end = time.monotonic() + 60 * options.minutes
    wanted = options.sets.split(",") if options.sets else md.CHEAP_FIRST
    (options.results / "claims").mkdir(exist_ok=True)
    for fold in range(options.folds):
        for kind in kinds:
            for name in [n for n in md.CHEAP_FIRST if n in wanted]:
                if time.monotonic() > end:
                    return
                with open(options.results / "claims" / f"{name}-{fold}-{kind.replace('/', '_')}", "w") as claim:
                    try:
                        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        continue
                    yield fold, kind, name


def run_opponents(options):
    import missing_opponents as opponents

    file = options.results / "opponents.jsonl"
    methods = {"svm": ["svm-5nn", "svm-gauss"], "logistic": ["logistic-mean", "logistic-gauss"], "lightgbm": ["lightgbm-20-80", "lightgbm-10-95"]}
    for fold, group, name in work(options, options.groups.split(",")):
        done = finished(options.results)
        if all((name, fold, m) in done for m in methods[group]):
            continue
        data = md.load(options.data, name)
        train, test = md.folds(data, FOLDS)[fold]
        start = time.process_time()
        predicted, chosen = opponents.GROUPS[group](data, train, test_masks(name, fold, test, data.d, options.mask_seeds))
        seconds = time.process_time() - start
        for method, answers in predicted.items():
            accuracy = {key: float((p == data.y[test]).mean()) for key, p in answers.items()}
            record(file, name, fold, method, accuracy, cpu_seconds=round(seconds, 2), chosen=chosen)
        print(f"fold {fold} {group} {name}: {seconds:.1f} s", flush=True)


def run_product(options):
    program = options.program or ROOT / "target" / "release" / "hingenet"
    for fold, model, name in work(options, options.models.split(";")):
        if (name, fold, model + options.label) in finished(options.results):
            continue
        data = md.load(options.data, name)
        train, test = md.folds(data, FOLDS)[fold]
        tests = test_masks(name, fold, test, data.d, options.mask_seeds)
        with tempfile.TemporaryDirectory() as folder:
            place = (options.results / "product.jsonl", name, fold, options.label)
            product_fold(program, pathlib.Path(folder), data, train, tests, model, place)


def product_fold(program, folder, data, train, tests, model, place):
    """Fits on a CSV file of the training rows, predicts all blanked test rows in one file, writes one record (and one per term)."""
    md.write_csv(folder / "train.csv", data.rows(train))
    rows = np.concatenate([rows for _, rows, _ in tests])
    md.write_csv(folder / "test.csv", data.rows(rows), np.vstack([mask for _, _, mask in tests]))
    start = time.perf_counter()
    run([program, "fit", folder / "train.csv", "--target", "class", "--model", model, "-o", folder / "model.hgn", "--quiet"])
    fitted = time.perf_counter()
    terms = ["--terms"] if model.split(",")[0] == "pool" else []
    run([program, "predict", folder / "model.hgn", folder / "test.csv", "-o", folder / "out.csv", "--quiet", *terms])
    seconds = {"fit_seconds": round(fitted - start, 2), "predict_seconds": round(time.perf_counter() - fitted, 2)}
    with open(folder / "out.csv", newline="") as out:
        answers = list(csv.DictReader(out))
    file, name, fold, label = place
    truth = [f"c{c}" for c in data.y[rows]]
    for column, method in [("prediction", model + label)] + [(f"prediction_{t}", f"{model}/{t}{label}") for t in TERMS]:
        if column in answers[0]:
            right = np.array([a[column] == t for a, t in zip(answers, truth)])
            parts = np.split(right, len(tests))
            record(file, name, fold, method, {key: float(part.mean()) for (key, _, _), part in zip(tests, parts)}, **seconds)
    print(f"fold {fold} {model} {name}: {seconds}", flush=True)


def run(command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")


def accuracies(done, folds):
    """{method: {set: {mask kind: accuracy in %}}}: mean over folds and mask seeds; and the folds behind each."""
    out, counts = {}, {}
    for (name, fold, method), one in done.items():
        if fold >= folds:
            continue
        cell = out.setdefault(method, {}).setdefault(name, {kind: [] for kind in md.MASKS})
        for key, value in one["accuracy"].items():
            cell[key.split("/")[0]].append(100 * value)
        counts.setdefault(method, {})[name] = counts.get(method, {}).get(name, 0) + 1
    means = {m: {s: {k: float(np.mean(v)) for k, v in cell.items() if v} for s, cell in sets.items()} for m, sets in out.items()}
    return means, counts


def print_tables(options):
    done = finished(options.results)
    methods = OPPONENTS + [m for m in sorted({m for _, _, m in done}) if m not in OPPONENTS]
    folds = options.folds
    if options.common:  # only (set, fold) that every opponent and the subject have finished
        needed = OPPONENTS + [options.subject]
        complete = {(s, f) for s, f, _ in done if all((s, f, m) in done for m in needed)}
        done = {key: value for key, value in done.items() if key[:2] in complete}
    means, counts = accuracies(done, folds)
    groups = [("all sets", md.SETS), ("fresh sets", md.FRESH), ("confirmation sets", md.CONFIRMATION), ("development sets", md.DEVELOPMENT)]
    for title, sets in groups:
        common = [s for s in sets if all(s in means.get(m, {}) for m in OPPONENTS + [options.subject])]
        if not common:
            continue
        print(f"\n## Mean accuracy in %, {title} ({len(common)} of {len(sets)})\n")
        print(f"| method | folds | {' | '.join(md.MASKS)} |\n|---|---|{'---:|' * len(md.MASKS)}")
        for method in methods:
            if all(s in means.get(method, {}) for s in common):
                cells = [np.mean([means[method][s][k] for s in common]) for k in md.MASKS]
                used = [counts[method][s] for s in common]
                span = f"{min(used)}" if min(used) == max(used) else f"{min(used)}-{max(used)}"
                print(f"| {NAMES.get(method, method)} | {span} | {' | '.join(f'{c:.2f}' for c in cells)} |")
        same = [m for m in methods if all(counts.get(m, {}).get(s) == counts[options.subject][s] for s in common)]
        print_differences(options.subject, means, same, common)
    print_sets(options.subject, means, counts)
    print_sentences(options.subject, means)


def difference(means, subject, other, sets, kind):
    delta = np.array([means[subject][s][kind] - means[other][s][kind] for s in sets])
    error = delta.std(ddof=1) / np.sqrt(len(delta)) if len(delta) > 1 else float("nan")
    return delta.mean(), error, int((delta > 0.05).sum()), int((delta < -0.05).sum())


def best_single(means, sets):
    """The best of the opponents, chosen per set and mask on the test rows."""
    return {s: {k: max(means[m][s][k] for m in OPPONENTS) for k in md.MASKS} for s in sets}


def print_differences(subject, means, methods, sets):
    print(f"\n| {subject} minus | {' | '.join(md.MASKS)} |\n|---|{'---|' * len(md.MASKS)}")
    means = dict(means, best=best_single(means, sets))
    for method in [m for m in methods if m != subject] + ["best"]:
        if all(s in means.get(method, {}) for s in sets):
            cells = ["%+.2f ± %.2f, %d-%d" % difference(means, subject, method, sets, k) for k in md.MASKS]
            name = "best opponent per set and rate, chosen on the test rows" if method == "best" else NAMES.get(method, method)
            print(f"| {name} | {' | '.join(cells)} |")


def print_sets(subject, means, counts):
    methods = [m for m in OPPONENTS + ["tan:ml", *(f"{subject}/{t}" for t in TERMS), subject] if m in means]
    print(f"\n## Per set\n\n| set | folds | rate | {' | '.join(methods)} |\n|---|---:|---:|{'---:|' * len(methods)}")
    for name in md.SETS:
        if name in means.get(subject, {}):
            for kind in md.MASKS:
                cells = [f"{means[m][name][kind]:.1f}" if name in means[m] else "" for m in methods]
                print(f"| {name} | {counts[subject][name]} | {kind} | {' | '.join(cells)} |")


def print_sentences(subject, means):
    """What the table carries: better than a method if ahead by two standard errors, else on par, else behind."""
    sets = [s for s in md.SETS if all(s in means.get(m, {}) for m in OPPONENTS + [subject])]
    if len(sets) < 2:
        return
    print(f"\n## What follows ({len(sets)} sets)\n")
    for kind in md.MASKS:
        average = {m: np.mean([means[m][s][kind] for s in sets]) for m in OPPONENTS}
        best = max(average, key=average.get)
        delta, error, won, lost = difference(means, subject, best, sets, kind)
        word = "more accurate than" if delta > 2 * error else "less accurate than" if delta < -2 * error else "on par with"
        where = "a third of the columns missing in a block" if kind == "block" else f"{kind} % of the features missing"
        print(f"- {where}: `{subject}` is {word} the best single opponent ({NAMES[best]}): {delta:+.2f} ± {error:.2f} points, {won} sets won, {lost} lost.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["opponents", "product", "table"])
    parser.add_argument("--data", type=pathlib.Path, help="folder of data sets")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder of result lines")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing new after so many minutes")
    parser.add_argument("--sets", help="comma list")
    parser.add_argument("--groups", default="svm,logistic,lightgbm", help="opponents")
    parser.add_argument("--folds", type=int, default=FOLDS, help="only the first so many of the five folds")
    parser.add_argument("--mask-seeds", type=int, default=2)
    parser.add_argument("--program", type=pathlib.Path, help="the hingenet program")
    parser.add_argument("--models", default=";".join(MODELS), help="model names, separated by semicolons")
    parser.add_argument("--label", default="", help="added to the names of the models in the results")
    parser.add_argument("--subject", default="pool", help="the method that is compared with the others")
    parser.add_argument("--common", action="store_true", help="table of those (set, fold) only that all opponents have finished")
    md.main(parser, {"opponents": run_opponents, "product": run_product, "table": print_tables})


if __name__ == "__main__":
    main()
