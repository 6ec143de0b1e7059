"""The network behind a classifier: graph, files for other programs, samples, likelihoods."""

import itertools

import matplotlib

matplotlib.use("Agg")

import networkx
import numpy as np
import pandas as pd
import pyagrum
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError

from hingenet import BayesNetClassifier


@pytest.fixture
def weather():
    """Categories only, so that every program sees the same states."""
    rng = np.random.default_rng(3)
    n = 400
    rain = rng.random(n) < 0.3
    wind = rng.random(n) < np.where(rain, 0.6, 0.2)
    sky = np.where(rain, "grey", np.where(rng.random(n) < 0.5, "blue", "white"))
    X = pd.DataFrame({"wind": np.where(wind, "strong", "weak"), "sky": sky, "walk": np.where(rain & wind, "no", "yes")})
    return X, pd.Series(np.where(rng.random(n) < 0.1, ~rain, rain), name="rain").map({True: "wet", False: "dry"})


def test_a_given_graph(weather, tmp_path):
    X, y = weather
    (tmp_path / "arcs.csv").write_text("from,to\nrain,wind\nrain,sky\nwind,walk\nrain,walk\n")
    model = BayesNetClassifier("dag", "ml", edges=tmp_path / "arcs.csv").fit(X, y)
    assert set(model.network_.edges) == {("rain", "wind"), ("rain", "sky"), ("wind", "walk"), ("rain", "walk")}


@pytest.fixture
def model(weather):
    return BayesNetClassifier("tan", "ml").fit(*weather)


def every_row():
    cells = itertools.product(["strong", "weak", None], ["blue", "grey", "white", None], ["no", "yes", None])
    return pd.DataFrame(list(cells), columns=["wind", "sky", "walk"], dtype=object)


def test_the_graph_is_a_tree_under_the_class(model):
    network = model.network_
    assert network.nodes == ["rain", "wind", "sky", "walk"]
    assert {child for parent, child in network.edges if parent == "rain"} == {"wind", "sky", "walk"}
    assert len(network.edges) == 5 and len(network.strengths) == 5
    graph = network.to_networkx()
    assert networkx.is_directed_acyclic_graph(graph) and graph.edges["rain", "wind"]["strength"] == 0.0
    assert not hasattr(BayesNetClassifier(), "network_")
    with pytest.raises(NotFittedError):
        BayesNetClassifier().sample(3)


def test_pictures(model, tmp_path):
    network = model.network_
    assert network._repr_svg_().startswith("<svg") and "walk" in network.to_svg(tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text() == network.to_svg()
    assert network.plot().get_title() == network.title


@pytest.mark.parametrize("kind,tolerance", [("bif", 1e-6), ("bifxml", 1e-12)])
def test_pyagrum_reads_the_network_and_agrees(model, tmp_path, kind, tolerance):
    """pyAgrum reads the numbers of BIF in single precision, those of XMLBIF in double precision."""
    path = tmp_path / f"net.{kind}"
    (model.network_.to_bif if kind == "bif" else model.network_.to_xmlbif)(path)
    other = pyagrum.loadBN(str(path))
    rows = every_row()
    expected = model.predict_proba(rows)
    for row, proba in zip(rows.to_dict("records"), expected, strict=True):
        inference = pyagrum.LazyPropagation(other)
        inference.setEvidence({name: value for name, value in row.items() if value is not None})
        np.testing.assert_allclose(inference.posterior("rain").toarray(), proba, rtol=0, atol=tolerance)


def test_pgmpy_reads_the_network_and_agrees_to_the_last_digits(model, tmp_path):
    """Where pgmpy is installed; it is too large to ask everyone for it."""
    readwrite = pytest.importorskip("pgmpy.readwrite")
    inference = pytest.importorskip("pgmpy.inference")
    model.network_.to_bif(tmp_path / "net.bif")
    other = inference.VariableElimination(readwrite.BIFReader(str(tmp_path / "net.bif")).get_model())
    rows = every_row()
    for row, proba in zip(rows.to_dict("records"), model.predict_proba(rows), strict=True):
        evidence = {name: value for name, value in row.items() if value is not None}
        answer = other.query(["rain"], evidence=evidence, show_progress=False)
        found = [answer.get_value(rain=label) for label in model.classes_]
        np.testing.assert_allclose(found, proba, rtol=0, atol=1e-12)


def test_likelihoods_are_those_of_a_probability_distribution(model):
    complete = every_row().dropna()
    np.testing.assert_allclose(logsumexp(model.score_samples(complete)), 0.0, atol=1e-12)
    joint = [model.log_likelihood(complete, np.full(len(complete), label)) for label in model.classes_]
    np.testing.assert_allclose(logsumexp(joint, axis=0), model.score_samples(complete), atol=1e-12)
    posterior = np.transpose(joint) - model.score_samples(complete)[:, None]
    np.testing.assert_allclose(posterior, model.predict_log_proba(complete), atol=1e-12)
    with pytest.raises(ValueError, match="not seen: snow"):
        model.log_likelihood(complete, ["snow"] * len(complete))


def test_samples_follow_the_network(model):
    rows = model.sample(20_000, random_state=1)
    assert list(rows.columns) == ["wind", "sky", "walk", "rain"]
    pd.testing.assert_frame_equal(rows, model.sample(20_000, random_state=1))
    expected = model.predict_proba(every_row().iloc[[-1]])[0]
    found = rows["rain"].value_counts(normalize=True)[list(model.classes_)]
    np.testing.assert_allclose(found, expected, atol=0.02)
    wet = model.sample(500, given={"rain": "wet", "sky": "grey"}, backend="polars")
    assert set(wet["rain"]) == {"wet"} and set(wet["sky"]) == {"grey"}
    with pytest.raises(ValueError, match="its values are: "):
        model.sample(1, given={"sky": "green"})


def test_an_average_of_networks_is_no_network(weather):
    model = BayesNetClassifier("aode", "ml").fit(*weather)
    with pytest.raises(ValueError, match="network.*\nhint: "):
        model.network_
