"""Python and the program `hingenet` share files and give the same bits."""

import csv
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hingenet
from hingenet import BayesNetClassifier

PROGRAM = Path(__file__).parents[2] / "target" / "release" / "hingenet"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="cargo build --release --workspace has not run")


@pytest.fixture
def run(tmp_path):
    def run(*arguments):
        subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=tmp_path, check=True, capture_output=True)

    return run


@pytest.fixture
def files(pets, tmp_path):
    X, y = pets
    X.to_csv(tmp_path / "rows.csv", index=False)
    pd.concat([X, y], axis=1).to_csv(tmp_path / "data.csv", index=False)
    return X, y


def predictions(path, classes):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    proba = [[float(row[f"p_{label}"]) for label in classes] for row in rows]
    return np.array([row["prediction"] for row in rows]), np.array(proba)


def test_fit_in_python_and_predict_on_the_command_line(files, run, tmp_path):
    X, y = files
    model = BayesNetClassifier("tan", "ml").fit(X, y)
    model.save(tmp_path / "model.hgn")
    run("predict", "model.hgn", "rows.csv", "--proba", "-o", "out.csv")
    label, proba = predictions(tmp_path / "out.csv", model.classes_)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_array_equal(proba, model.predict_proba(X))


def test_fit_on_the_command_line_and_predict_in_python(files, run, tmp_path):
    X, y = files
    run("fit", "data.csv", "--target", "kind", "--model", "tan:ml", "-o", "model.hgn")
    run("predict", "model.hgn", "rows.csv", "--proba", "-o", "out.csv")
    model = hingenet.load(tmp_path / "model.hgn")
    assert isinstance(model, BayesNetClassifier) and model.score(X, y) > 0.9
    label, proba = predictions(tmp_path / "out.csv", model.classes_)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_array_equal(proba, model.predict_proba(X))


def test_both_fit_the_same_model(files, run, tmp_path):
    X, y = files
    X = X.drop(columns="size")  # a file declares no order of categories
    run("fit", "data.csv", "--target", "kind", "--model", "tan:ml", "--ignore", "size", "-o", "model.hgn")
    one, other = hingenet.load(tmp_path / "model.hgn"), BayesNetClassifier("tan", "ml").fit(X, y)
    np.testing.assert_array_equal(one.predict_log_proba(X), other.predict_log_proba(X))
