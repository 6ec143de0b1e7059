"""Python and the program `hingenet` share files and give the same bits."""

import csv
import os
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn.base import clone

import hingenet
from hingenet import BayesNetClassifier, GaussianNetworkClassifier, HingenetClassifier, LogDensityClassifier

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


# One model of each family, as the command line names it, and its estimator.
MODELS = {
    "tan:ml": BayesNetClassifier("tan", "ml"),
    "kde-forest": LogDensityClassifier("kde-forest"),
    "slb,class_weights=none,fraction=0.2": LogDensityClassifier("slb", fraction=0.2, balance="none"),
    "sgbn:search": GaussianNetworkClassifier("search"),
    "fisher:or,c=0.5,lambda1=10": GaussianNetworkClassifier("or", "fisher-svm", lambda1=10.0, C=0.5),
    "pool,fast=true": HingenetClassifier(fast=True),
}
each_model = pytest.mark.parametrize("name,estimator", MODELS.items(), ids=list(MODELS))
pytestmark = [pytestmark, pytest.mark.filterwarnings("ignore::UserWarning")]


def assert_the_program_agrees(run, tmp_path, model, X):
    """The program gives the rows the labels and probabilities of the estimator."""
    run("predict", "model.hgn", "rows.csv", "--proba", "-o", "out.csv")
    label, proba = predictions(tmp_path / "out.csv", model.classes_)
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_array_equal(proba, model.predict_proba(X))


@each_model
def test_fit_in_python_and_predict_on_the_command_line(name, estimator, files, run, tmp_path):
    X, y = files
    model = clone(estimator).fit(X, y)
    model.save(tmp_path / "model.hgn")
    assert_the_program_agrees(run, tmp_path, model, X)


@each_model
def test_fit_on_the_command_line_and_predict_in_python(name, estimator, files, run, tmp_path):
    X, y = files
    run("fit", "data.csv", "--target", "kind", "--model", name, "-o", "model.hgn")
    model = hingenet.load(tmp_path / "model.hgn")
    assert type(model) is type(estimator) and model.score(X, y) > 0.9
    assert model.get_params() == estimator.get_params()
    assert_the_program_agrees(run, tmp_path, model, X)


@each_model
def test_both_fit_the_same_model(name, estimator, files, run, tmp_path):
    X, y = files
    X = X.drop(columns="size")  # a file declares no order of categories
    run("fit", "data.csv", "--target", "kind", "--model", name, "--ignore", "size", "-o", "model.hgn")
    one, other = hingenet.load(tmp_path / "model.hgn"), clone(estimator).fit(X, y)
    np.testing.assert_array_equal(one.predict_log_proba(X), other.predict_log_proba(X))


def test_a_matrix_read_in_place_gives_the_bits_of_a_file(run, tmp_path):
    """Without a frame, columns or categories: the way in that copies nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).round(3)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.where(np.nan_to_num(X[:, 0]) + rng.normal(size=200) > 0, "a", "b")
    many = np.resize(X, (2500, 3))  # more than one block of rows
    names = ["x0", "x1", "x2"]
    pd.DataFrame(X, columns=names).assign(**{"class": y}).to_csv(tmp_path / "data.csv", index=False)
    for name, estimator in list(MODELS.items())[:4]:
        run("fit", "data.csv", "--target", "class", "--model", name, "-o", "model.hgn")
        file = hingenet.load(tmp_path / "model.hgn")
        matrix = clone(estimator).fit(X, y)
        np.testing.assert_array_equal(file.predict_log_proba(X), matrix.predict_log_proba(X))
        columns = [np.ascontiguousarray(column) for column in many.T]
        np.testing.assert_array_equal(file._model.proba(columns)[0], file._model.proba(many)[0])


def test_a_graph_of_python_is_one_of_the_command_line(files, run, tmp_path):
    X, y = files
    edges = [("kind", name) for name in X.columns] + [("size", "weight")]
    BayesNetClassifier("dag", "ml", edges=edges).fit(X, y).save(tmp_path / "one.hgn")
    arcs = ";".join(f"{a}->{b}" for a, b in edges)
    run("fit", "data.csv", "--target", "kind", "--model", f"dag:ml,edges={arcs}", "-o", "other.hgn")
    one, other = (hingenet.load(tmp_path / name) for name in ("one.hgn", "other.hgn"))
    assert one.edges == other.edges == edges
    assert set(one.network_.edges) == set(other.network_.edges) == set(edges)


@pytest.mark.parametrize("model", ["tan:ml", "nb:mcl", "sgbn:or,lambda1=100"])
def test_parquet_that_does_not_fit_is_learnt_from_on_any_number_of_threads(model, tmp_path, run):
    """Columns are decoded on all threads while rows are counted: with one thread nobody may wait for the other."""
    import pyarrow.csv
    import pyarrow.parquet

    run("generate", "waveform", "-n", "14000", "-o", "rows.csv")
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(tmp_path / "rows.csv"), tmp_path / "rows.parquet", row_group_size=3000)
    files = []
    for data, *limits in (("rows.csv",), *(("rows.parquet", "--max-memory", "2M", "--threads", n) for n in "128")):
        run("fit", data, "--target", "class", "--model", model, "-o", "model.hgn", *limits)
        files.append((tmp_path / "model.hgn").read_bytes())
    first = 1 if model.endswith("mcl") else 0  # margins are trained otherwise where rows come past
    assert len(set(files[first:])) == 1


def test_typed_files_that_do_not_fit_give_what_they_give_in_memory(tmp_path, run):
    """Numbers as keys of a list, without, and with for the first pages only; gaps that are NaN; parts of a table; streams."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, n = np.random.default_rng(4), 60_000
    y = rng.integers(3, size=n)
    x = np.round(rng.normal(size=(n, 6)) + 0.4 * y[:, None], 1) + 0.0
    x[rng.random(n) < 0.1, 5] = np.nan
    table = pa.table(
        {
            **{f"x{j}": x[:, j] for j in range(5)},
            "gap": x[:, 5],
            "single": x[:, 0].astype(np.float32),
            "number": rng.integers(20, size=n) - y,
            "word": np.array(["few", "some", "many"])[(y + (rng.random(n) < 0.4)) % 3],
            "class": np.array(["a", "b", "c"])[y],
        }
    )
    (tmp_path / "parts").mkdir()
    pq.write_table(table, tmp_path / "keys.parquet", row_group_size=7000)
    pq.write_table(table, tmp_path / "plain.parquet", row_group_size=25_000, use_dictionary=False)
    pq.write_table(table, tmp_path / "full.parquet", dictionary_pagesize_limit=256, data_page_size=2000)
    pq.write_table(table, tmp_path / "second.parquet", row_group_size=9999, data_page_version="2.0")
    pq.write_table(table[:20_000], tmp_path / "parts" / "1.parquet", row_group_size=3001)
    pq.write_table(table[20_000:], tmp_path / "parts" / "2.parquet", use_dictionary=["word", "x1"])
    for name, writer in (("file.arrow", pa.ipc.new_file), ("stream.arrows", pa.ipc.new_stream)):
        with writer(tmp_path / name, table.schema) as sink:
            sink.write_table(table, max_chunksize=5000)
    bounded = ("--max-memory", "3M", "--threads", "2")
    forms = [f"{name}.parquet" for name in ("keys", "plain", "full", "second")]
    forms += ["parts", "parts/?.parquet", "file.arrow", "stream.arrows"]
    for model, ignored in (
        ("tan:ml", "gap"),
        ("nb:ml", "x0,x1,x2,x3,x4,single"),
        ("sgbn:or,lambda1=100", "gap,word,single"),
    ):
        task = ("--target", "class", "--model", model, "--ignore", ignored, "-o", "model.hgn")
        run("fit", "keys.parquet", *task)
        whole = (tmp_path / "model.hgn").read_bytes()
        for data in forms:
            run("fit", data, *task, *bounded)
            assert (tmp_path / "model.hgn").read_bytes() == whole, (model, data)
    answers = set()
    for data in forms:
        run("predict", "model.hgn", data, "-o", "answers.csv", "--proba", *bounded)
        answers.add((tmp_path / "answers.csv").read_bytes())
        run("evaluate", data, "--target", "class", "--model", "nb:ml", "--ignore", "gap", *bounded)
        run("network", data, "--target", "class", "--ignore", "gap,word,single", "--method", "or", "--lambda1", "100", *bounded)
    assert len(answers) == 1


def test_a_terminal_sees_how_far_a_fit_is(tmp_path):
    """The bar is drawn by a thread of its own, which asks how long the rest takes while the fit says how far it is."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are of Unix")
    subprocess.run([PROGRAM, "generate", "forest", "-n", "600", "-o", "rows.csv"], cwd=tmp_path, check=True)
    ours, its = pty.openpty()
    fit = [PROGRAM, "fit", "rows.csv", "--target", "class", "--model", "slb", "-o", "model.hgn"]
    with subprocess.Popen(fit, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=its) as process:
        os.close(its)
        seen = b""
        try:
            while chunk := os.read(ours, 65536):
                seen += chunk
        except OSError:  # Linux ends a pseudo-terminal in this way
            pass
        os.close(ours)
        assert process.wait(timeout=60) == 0
    text = seen.decode()
    assert "search, fold 1 of 5" in text, text[-2000:]
