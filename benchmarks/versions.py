#!/usr/bin/env python3
"""Speed, size and accuracy from version to version: measures the installed package, keeps the numbers, draws all of them.

Machines differ, so what is compared between versions is a ratio: seconds of the product over those of an estimator of
scikit-learn that works on the same rows in the same run, on one thread. Needs the package with pandas and its pictures:
``pip install pandas "hingenet[plot]"``.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import tempfile

import common

common.limit_threads(1)

import numpy as np  # noqa: E402  (threads are limited first)

FOLDER = pathlib.Path(__file__).resolve().parent
RECORDS, PAGE, PICTURE = (FOLDER / f"versions.{kind}" for kind in ("jsonl", "md", "svg"))

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--commit", help="commit that the installed package was built from; the one checked out if not given")
PARSER.add_argument("--repeats", type=int, default=5)
PARSER.add_argument("--draw", action="store_true", help="measure nothing, make page and picture anew")


def categories():
    """100 000 rows of 30 categories that depend on each other as a tree."""
    return common.discrete(100_000, 30, 4, 3)


def numbers(n=2000, d=20, n_test=20_000):
    """2000 rows of 20 normal columns, each leaning on the one before; two classes that differ in their means."""
    y = np.random.default_rng(2).integers(2, size=n + n_test)
    X = common.chain(n + n_test, d, seed=3) + 0.5 * y[:, None]
    return X[:n], y[:n], X[n:], y[n:]


def few_numbers():
    """500 such rows of normal columns."""
    X, y, X_test, y_test = numbers()
    return X[:500], y[:500], X_test[:2000], y_test[:2000]


def as_categories(X):
    """Codes as the frame that an estimator of the product takes for categories; numbers as they are."""
    import pandas

    return pandas.DataFrame(X).astype("category") if X.dtype == np.uint8 else X


def jobs():
    """By name: rows, estimator of the product, estimator of scikit-learn. All settings are given, so nothing is searched."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import SVC

    from hingenet import BayesNetClassifier, GaussianNetworkClassifier, HingenetClassifier, LogDensityClassifier

    margin = BayesNetClassifier("tan", "ml-bn-svm", lambda_=1.0, gamma=1.0, n_jobs=1)
    logistic = make_pipeline(OneHotEncoder(), LogisticRegression(max_iter=200))
    return {
        "nb:ml": (categories, BayesNetClassifier("nb", "ml", n_jobs=1), CategoricalNB()),
        "tan:ml": (categories, BayesNetClassifier("tan", "ml", n_jobs=1), CategoricalNB()),
        "tan:ml-bn-svm": (categories, margin, logistic),
        "kde-tan": (numbers, LogDensityClassifier("kde-tan", n_jobs=1), SVC()),
        "sgbn:search": (numbers, GaussianNetworkClassifier("search", n_jobs=1), SVC()),
        "pool": (few_numbers, HingenetClassifier(n_jobs=1), HistGradientBoostingClassifier()),
    }


def timed(model, X, y, X_test, y_test, repeats):
    """Least seconds of a fit and of a prediction, and the accuracy."""
    fit, _ = common.best_of(repeats, lambda: model.fit(X, y))
    predict, labels = common.best_of(repeats, lambda: model.predict(X_test))
    return {"fit": fit, "predict": predict, "accuracy": float((labels == y_test).mean())}


def size(model):
    """Bytes of the model file."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(pathlib.Path(folder) / "model.hgn")
        return (pathlib.Path(folder) / "model.hgn").stat().st_size


def measured(commit, repeats):
    import sklearn

    import hingenet

    results = {}
    for name, (data, product, peer) in jobs().items():
        X, y, X_test, y_test = data()
        results[name] = {
            "data": data.__doc__,
            "product": timed(product, as_categories(X), y, as_categories(X_test), y_test, repeats),
            "bytes": size(product),
            "peer": type(peer[-1] if hasattr(peer, "steps") else peer).__name__,
            "peer_result": timed(peer, X, y, X_test, y_test, repeats),
        }
        print(name, json.dumps(results[name]))
    machine = {"machine": platform.machine(), "system": platform.system(), "processors": os.cpu_count()}
    software = {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__}
    return {"version": hingenet.__version__, "commit": commit, **machine, **software, "jobs": results}


def records():
    """What was measured, the last time for each version."""
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    return list({record["version"]: record for record in map(json.loads, lines)}.values())


def ratio(job, work):
    return job["product"][work] / job["peer_result"][work]


def page(kept):
    """The page with all versions."""
    text = "# Versions\n\nMade by `benchmarks/versions.py`, which [releasing](../docs/releasing.md) runs for each version. "
    text += "The unit of time is what an\nestimator of scikit-learn needs for the same rows in the same run, on one thread: 0.5 is twice as fast. Below 1 is better.\n\n"
    text += "![Times of fit and prediction from version to version](versions.svg)\n"
    for name in dict.fromkeys(name for record in kept for name in record["jobs"]):
        told = [(record, record["jobs"][name]) for record in kept if name in record["jobs"]]
        text += f"\n## {name}\n\n{told[-1][1]['data']} Beside {told[-1][1]['peer']}.\n\n"
        text += "| version | fit | prediction | accuracy | accuracy of the other | model |\n|---|---:|---:|---:|---:|---:|\n"
        for record, job in told:
            accuracy, other = job["product"]["accuracy"], job["peer_result"]["accuracy"]
            text += f"| {record['version']} | {ratio(job, 'fit'):.3g} | {ratio(job, 'predict'):.3g} "
            text += f"| {accuracy:.4f} | {other:.4f} | {job['bytes'] / 1000:.1f} kB |\n"
    return text


def draw(kept):
    """The picture with all versions: a panel for each job."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hingenet", "font.size": 8})
    names = list(dict.fromkeys(name for record in kept for name in record["jobs"]))
    versions = [record["version"] for record in kept]
    figure, panels = plt.subplots(2, -(-len(names) // 2), figsize=(9, 4.5), sharex=True, sharey=True, layout="constrained")
    for name, panel in zip(names, panels.flat, strict=False):
        for work, mark in (("fit", "o-"), ("predict", "s--")):
            told = [(v, ratio(r["jobs"][name], work)) for v, r in zip(versions, kept, strict=True) if name in r["jobs"]]
            panel.plot(*zip(*told, strict=True), mark, label={"predict": "prediction"}.get(work, work))
        panel.axhline(1.0, color="#999999", linewidth=0.8)
        panel.set(yscale="log", title=f"{name}\nbeside {kept[-1]['jobs'].get(name, {}).get('peer', '')}")
    panels.flat[0].yaxis.set_major_formatter("{x:g}")
    panels.flat[0].legend()
    figure.supylabel("time of scikit-learn = 1")
    figure.savefig(PICTURE, metadata={"Date": None})


def main():
    args = PARSER.parse_args()
    if not args.draw:
        commit = args.commit or subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=FOLDER, text=True).strip()
        with RECORDS.open("a") as file:
            file.write(json.dumps(measured(commit, args.repeats)) + "\n")
    kept = records()
    PAGE.write_text(page(kept))
    draw(kept)


if __name__ == "__main__":
    main()
