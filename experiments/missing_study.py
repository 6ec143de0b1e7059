#!/usr/bin/env python3
"""The pool against tuned opponents where features are missing: accuracy, log-loss, Brier score and calibration on public data sets.

    python3 experiments/missing_study.py opponents --data FOLDER --results DIR [--study complete]
    python3 experiments/missing_study.py product   --data FOLDER --results DIR [--program hingenet] [--models pool;tan:ml]
    python3 experiments/missing_study.py table     --results DIR [--sets new]

| study | training rows | test rows |
|---|---|---|
| `complete` | complete | cells blanked independently with probability 0, 0.3, 0.6, 0.9, or a contiguous third of the columns of each row (`block`); two mask seeds |
| `training-10`, `-30`, `-50` | so many % of the cells blanked | complete, and 30 % of the cells blanked |
| `telling` | a cell above the median of its column is missing with probability 0.5, else 0.1 | the same |
| `own` | as they are, with the gaps of the table | the same |

Five stratified folds. Every finished (study, set, fold, method) is one line of DIR/missing_study.jsonl and is not done again; several
processes may work on one DIR. Folds run in order over all sets, cheap sets first, so a table over fewer folds is always complete.
Probabilities are kept in DIR/probabilities, from which the ensemble of machine and boosting is made.
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
import warnings

import numpy as np

import missing_data as md
from missing_scores import FIGURES, figures

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDS = 5
MODELS = ["pool"]
TERMS = ["P", "A", "G", "K"]
NAMES = {
    "logistic-mean": "logistic + mean imputation", "logistic-gauss": "logistic + Gaussian imputation",
    "lightgbm": "LightGBM", "lightgbm-20-80": "LightGBM, copies 20-80 % blanked", "lightgbm-10-95": "LightGBM, copies 10-95 % blanked",
    "svm-gauss": "RBF SVM + Gaussian imputation", "svm-5nn": "RBF SVM + 5-NN imputation",
    "forest": "random forest with indicators", "rectified": "network on values and mask", "xgboost": "XGBoost", "catboost": "CatBoost",
    "generative": "generative forest", "ensemble": "SVM (5-NN) x LightGBM",
}
# Methods of each group of opponents.
GROUPS = {
    "svm": ["svm-5nn", "svm-gauss"], "logistic": ["logistic-mean", "logistic-gauss"], "lightgbm": ["lightgbm-20-80", "lightgbm-10-95"],
    "generative": ["generative"], "xgboost": ["xgboost"], "forest": ["forest"], "rectified": ["rectified"], "catboost": ["catboost"], "ensemble": ["ensemble"],
}
STUDIES = {
    "complete": md.MASKS, "training-10": ["0", "30"], "training-30": ["0", "30"], "training-50": ["0", "30"], "telling": ["telling"], "own": ["own"],
}
NOTHING_BLANKED = ("telling", "own")
FILE = "missing_study.jsonl"


def methods_of(group, study):
    """Blanked copies are of no use where tests are not blanked."""
    return ["lightgbm"] if group == "lightgbm" and study in NOTHING_BLANKED else GROUPS[group]


def opponents_of(study):
    return [m for group in GROUPS for m in methods_of(group, study)]


def rates_of(study):
    """Rates of blanked cells that the opponents make themselves ready for."""
    return (0.0,) if study in NOTHING_BLANKED else tuple(int(kind) / 100 for kind in STUDIES[study] if kind.isdigit())


def sets_of(study):
    return md.OWN_GAPS if study == "own" else md.SETS + md.NEW


class Rows:
    """Training rows and tests ({key: rows}) of one fold; a key is `kind/seed`, all tests are the same rows."""

    def __init__(self, options, name, fold):
        study = options.study
        data = md.load(options.data, name, complete=study != "own")
        inside, outside = md.folds(data, FOLDS)[fold]
        self.train, test = data.rows(inside), data.rows(outside)
        self.y = test.y
        if study in NOTHING_BLANKED:
            if study == "telling":
                self.train, test = (rows.blanked(md.telling_mask(rows, data, name, fold, p)) for rows, p in ((self.train, 0), (test, 1)))
            self.tests = {f"{study}/0": test}
            return
        if study != "complete":
            rate = study.split("-")[1]
            self.train = self.train.blanked(md.missing_mask(name + "/train", fold, rate, 0, self.train.n, data.d))
        kinds = [(kind, s) for kind in STUDIES[study] for s in range(1 if kind == "0" else options.mask_seeds)]
        self.tests = {f"{kind}/{s}": test.blanked(md.missing_mask(name, fold, kind, s, test.n, data.d)) for kind, s in kinds}


def finished(folder):
    """{(study, set, fold, method): record} of the results."""
    done = {}
    for line in (folder / FILE).read_text().splitlines() if (folder / FILE).exists() else []:
        try:
            one = json.loads(line)
        except json.JSONDecodeError:  # the last line of an interrupted run
            continue
        done[one["study"], one["set"], one["fold"], one["method"]] = one
    return done


def kept(options, name, fold, method):
    """Where probabilities are kept."""
    return options.results / "probabilities" / f"{options.study}-{name}-{fold}-{method}.npz"


def record(options, name, fold, method, y, answers, **more):
    """Writes one line: every figure of every test."""
    kept(options, name, fold, method).parent.mkdir(exist_ok=True)
    np.savez_compressed(kept(options, name, fold, method), **{key: p.astype(np.float32) for key, (p, _) in answers.items()})
    of_tests = {key: figures(p, y, decided) for key, (p, decided) in answers.items()}
    put(options, name, fold, method, {figure: {key: round(f[figure], 5) for key, f in of_tests.items()} for figure in FIGURES}, **more)


def put(options, name, fold, method, found, **more):
    line = {"study": options.study, "set": name, "fold": fold, "method": method, **found, **more}
    with open(options.results / FILE, "a") as out:
        out.write(json.dumps(line) + "\n")


def work(options, kinds):
    """(fold, kind, set) in the order of the study, while there is time; each is given to one process only."""
    end = time.monotonic() + 60 * options.minutes
    wanted = wanted_sets(options)
    (options.results / "claims").mkdir(exist_ok=True)
    for fold in range(options.folds):
        for name in [n for n in md.CHEAP_FIRST if n in wanted]:
            for kind in kinds:
                if time.monotonic() > end:
                    return
                claim = f"{options.study}-{name}-{fold}-{kind.replace('/', '_')}"
                with open(options.results / "claims" / claim, "w") as claim:
                    try:
                        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        continue
                    yield fold, kind, name


def wanted_sets(options):
    named = {"all": sets_of(options.study), "new": md.NEW, "published": md.SETS}
    return named.get(options.sets) or options.sets.split(",")


def run_opponents(options):
    import missing_opponents as opponents

    warnings.filterwarnings("ignore", category=UserWarning)  # few rows of a class in an inner fold
    warnings.filterwarnings("ignore", message=".*converge.*|.*Maximum iterations.*")
    for fold, group, name in work(options, options.groups.split(",")):
        done = finished(options.results)
        methods = methods_of(group, options.study)
        if all((options.study, name, fold, m) in done for m in methods):
            continue
        rows = Rows(options, name, fold)
        start = time.process_time()
        if group == "ensemble":
            answers, chosen = ensemble(options, name, fold), {}
        else:
            answers, chosen = opponents.GROUPS[group](rows.train, rows.tests, rates_of(options.study))
        seconds = round(time.process_time() - start, 2)
        for method, of_tests in answers.items():
            record(options, name, fold, method, rows.y, of_tests, cpu_seconds=seconds, chosen=chosen.get(method))
        print(f"fold {fold} {group} {name}: {seconds:.1f} s", flush=True)


def ensemble(options, name, fold):
    """Geometric mean of the calibrated probabilities of the machine and those of boosting, once both are there."""
    parts = [kept(options, name, fold, m) for m in ("svm-5nn", methods_of("lightgbm", options.study)[-1])]
    if not all(part.exists() for part in parts):
        return {}
    machine, boosted = (np.load(part) for part in parts)
    means = {key: np.sqrt(np.maximum(machine[key] * boosted[key].astype(float), 1e-300)) for key in machine.files}
    return {"ensemble": {key: (p / p.sum(1, keepdims=True), None) for key, p in means.items()}}


def run_product(options):
    program = options.program or ROOT / "target" / "release" / "hingenet"
    for fold, model, name in work(options, options.models.split(";")):
        if (options.study, name, fold, model + options.label) not in finished(options.results):
            with tempfile.TemporaryDirectory() as folder:
                product_fold(program, pathlib.Path(folder), Rows(options, name, fold), model, (options, name, fold))


def product_fold(program, folder, rows, model, place):
    """Fits on a CSV file of the training rows, predicts all test rows in one file, writes one record (and the accuracy of each term)."""
    options, name, fold = place
    tests = list(rows.tests.values())
    together = md.Data([np.concatenate(c) for c in zip(*(t.columns for t in tests))], tests[0].levels, np.concatenate([t.y for t in tests]))
    md.write_csv(folder / "train.csv", rows.train)
    md.write_csv(folder / "test.csv", together)
    categories = ",".join(f"x{j}" for j, levels in enumerate(rows.train.levels) if levels)
    typed = ["--categorical", categories] if categories else []
    start = time.perf_counter()
    run([program, "fit", folder / "train.csv", "--target", "class", "--model", model, "-o", folder / "model.hgn", "--quiet", *typed])
    fitted = time.perf_counter()
    terms = ["--terms"] if model.split(",")[0] == "pool" else []
    run([program, "predict", folder / "model.hgn", folder / "test.csv", "--proba", "-o", folder / "out.csv", "--quiet", *typed, *terms])
    seconds = {"fit_seconds": round(fitted - start, 2), "predict_seconds": round(time.perf_counter() - fitted, 2)}
    with open(folder / "out.csv", newline="") as out:
        answers = list(csv.DictReader(out))
    classes = range(rows.train.y.max() + 1)
    p = np.array([[float(a.get(f"p_c{c}", 0.0)) for c in classes] for a in answers])
    found = {key: (part, None) for key, part in zip(rows.tests, np.split(p, len(tests)))}
    for term in [t for t in TERMS if f"prediction_{t}" in answers[0]]:
        right = np.array([a[f"prediction_{term}"] == f"c{c}" for a, c in zip(answers, together.y)])
        accuracy = {key: round(float(part.mean()), 5) for key, part in zip(rows.tests, np.split(right, len(tests)))}
        put(options, name, fold, f"{model}/{term}{options.label}", {"accuracy": accuracy})
    record(options, name, fold, model + options.label, rows.y, found, **seconds)
    print(f"fold {fold} {model} {name}: {seconds}", flush=True)


def run(command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")


class Means:
    """{method: {set: {figure: {kind: mean over folds and mask seeds}}}} over the (set, fold) that all methods have finished."""

    def __init__(self, options):
        self.kinds, self.subject = STUDIES[options.study], options.subject
        done = {key[1:]: one for key, one in finished(options.results).items() if key[0] == options.study and key[2] < options.folds}
        wanted, opponents = wanted_sets(options), [m for m in opponents_of(options.study) if m not in options.without.split(",")]
        needed = [*opponents, self.subject]
        pairs = sorted({key[:2] for key in done if key[0] in wanted})
        self.pairs = [pair for pair in pairs if all((*pair, m) in done for m in needed)]
        self.sets = [name for name in md.SETS + md.NEW + md.OWN_GAPS[:1] if any(name == pair[0] for pair in self.pairs)]
        terms = [f"{self.subject}/{t}" for t in TERMS]
        others = sorted({m for _, _, m in done} - {*opponents_of(options.study), self.subject, *terms})
        self.opponents, everything = opponents, [*opponents, *terms, *others, self.subject]
        self.methods = [m for m in everything if self.pairs and all((*pair, m) in done for pair in self.pairs)]
        self.of = {m: {s: self.one(done, m, s) for s in self.sets} for m in self.methods}

    def one(self, done, method, name):
        lines = [done[*pair, method] for pair in self.pairs if pair[0] == name]
        return {figure: {kind: mean(v for line in lines for key, v in line[figure].items() if key.split("/")[0] == kind) for kind in self.kinds}
                for figure in FIGURES if all(figure in line for line in lines)}

    def values(self, method, figure, kind):
        """Of all sets; accuracy in %."""
        return np.array([(100 if figure == "accuracy" else 1) * self.of[method][s][figure][kind] for s in self.sets])

    def over_kinds(self, method, figure="accuracy"):
        """Mean over the kinds of tests, of all sets."""
        return np.mean([self.values(method, figure, kind) for kind in self.kinds], axis=0)

    def difference(self, other, kind, figure="accuracy"):
        """Subject less other: mean, standard error, sets above and below 0.05 points."""
        delta = self.values(self.subject, figure, kind) - self.values(other, figure, kind)
        error = delta.std(ddof=1) / np.sqrt(len(delta)) if len(delta) > 1 else float("nan")
        return delta.mean(), error, int((delta > 0.05).sum()), int((delta < -0.05).sum())


def mean(values):
    return float(np.mean(list(values)))


def print_tables(options):
    means = Means(options)
    folds = [sum(name == s for name, _ in means.pairs) for s in means.sets]
    if not folds:
        sys.exit("no set is finished by all methods")
    span = f"{min(folds)}" if min(folds) == max(folds) else f"{min(folds)} to {max(folds)}"
    print(f"{len(means.sets)} sets, {span} of {FOLDS} folds: {', '.join(means.sets)}.")
    parts = {"figures": print_figures, "differences": print_differences, "sentences": print_sentences, "losses": print_losses, "sets": print_sets}
    for part in options.show.split(","):
        parts[part](means)


def print_figures(means):
    """A table for each figure, over the kinds of tests; one table of all figures where there is one kind only."""
    titles = {"accuracy": "Mean accuracy in %", "log_loss": "Mean log-loss", "brier": "Mean Brier score", "calibration": "Mean calibration error"}
    together = len(means.kinds) == 1
    cells = {(figure, kind): title.removeprefix("Mean ") if together else per_cent(kind) for figure, title in titles.items() for kind in means.kinds}
    for title, columns in [("Means", list(cells))] if together else [(title, [(figure, kind) for kind in means.kinds]) for figure, title in titles.items()]:
        print(f"\n{title}:\n\n{heading('method', [cells[c] for c in columns], '---:')}")
        for method in [m for m in means.methods if all(figure in means.of[m][s] for s in means.sets for figure, _ in columns)]:
            found = [means.values(method, *c).mean() for c in columns]
            print(row(NAMES.get(method, method), [f"{v:.2f}" if figure == "accuracy" else f"{v:.3f}" for v, (figure, _) in zip(found, columns)]))


def per_cent(kind):
    return f"{kind} %" if kind.isdigit() else kind


def heading(first, others, align):
    others = list(others)
    return f"| {first} | {' | '.join(others)} |\n|---|{(align + '|') * len(others)}"


def row(first, cells):
    return f"| {first} | {' | '.join(cells)} |"


def print_differences(means):
    print(f"\n`{means.subject}` less the others in accuracy, mean ± one standard error over the sets, sets won-lost:\n\n{heading('less', map(per_cent, means.kinds), '---')}")
    for method in [m for m in means.methods if m != means.subject]:
        print(row(NAMES.get(method, method), ["%+.2f ± %.2f, %d-%d" % means.difference(method, kind) for kind in means.kinds]))


def print_sentences(means):
    """What the tables carry: better than a method if ahead by two standard errors, else on par, else behind."""
    print("\nWhat follows:\n")
    for kind in means.kinds:
        for figure, sign, words in (("accuracy", 1, ("more accurate than", "less accurate than")), ("log_loss", -1, ("better in log-loss than", "worse in log-loss than"))):
            best = max(means.opponents, key=lambda m: sign * means.values(m, figure, kind).mean())
            delta, error, won, lost = means.difference(best, kind, figure)
            word = words[0] if sign * delta > 2 * error else words[1] if sign * delta < -2 * error else "on par with"
            where = f"{kind} % of the features missing" if kind.isdigit() else {"block": "a third of the columns missing in a block"}.get(kind, kind)
            unit = f"{delta:+.2f} ± {error:.2f} points, {won} sets won, {lost} lost" if figure == "accuracy" else f"log-loss {delta:+.3f} ± {error:.3f}"
            print(f"- {where}: `{means.subject}` is {word} the best single opponent ({NAMES[best]}): {unit}.")


def print_losses(means):
    """Sets on which an opponent, or a term alone, is more than a point better in the mean over all kinds of tests."""
    subject = means.over_kinds(means.subject)
    for title, others in (("opponent", means.opponents), ("term", [m for m in means.methods if m.startswith(means.subject + "/")])):
        found = {m: means.over_kinds(m) for m in others}
        behind = [(s, max(found, key=lambda m: found[m][i]), i) for i, s in enumerate(means.sets) if found]
        lines = [f"{s} {subject[i] - found[m][i]:+.1f} ({NAMES.get(m, m)})" for s, m, i in behind if subject[i] < found[m][i] - 1]
        print(f"\nMore than a point behind the best {title} of the set in the mean over the tests: {'; '.join(lines) or 'none'}.")


def print_sets(means):
    print(f"\n{heading('set | rate', means.methods, '---:').replace('|---|', '|---|---|')}")
    for name in means.sets:
        for kind in means.kinds:
            print(row(f"{name} | {kind}", [f"{100 * means.of[m][name]['accuracy'][kind]:.1f}" for m in means.methods]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["opponents", "product", "table"])
    parser.add_argument("--study", choices=list(STUDIES), default="complete")
    parser.add_argument("--data", type=pathlib.Path, help="folder of data sets")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="folder of result lines")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing new after so many minutes")
    parser.add_argument("--sets", default="all", help="comma list, or: all, new (those without a part in the making), published (the thirty)")
    parser.add_argument("--groups", default=",".join(GROUPS), help="groups of opponents")
    parser.add_argument("--folds", type=int, default=FOLDS, help="only the first so many of the five folds")
    parser.add_argument("--mask-seeds", type=int, default=2)
    parser.add_argument("--program", type=pathlib.Path, help="the hingenet program")
    parser.add_argument("--models", default=";".join(MODELS), help="model names, separated by semicolons")
    parser.add_argument("--label", default="", help="added to the names of the models in the results")
    parser.add_argument("--subject", default="pool", help="the method that is compared with the others")
    parser.add_argument("--without", default="", help="table: opponents that need not have finished")
    parser.add_argument("--show", default="figures,differences,sentences,losses", help="table: parts, also: sets")
    md.main(parser, {"opponents": run_opponents, "product": run_product, "table": print_tables})


if __name__ == "__main__":
    main()
