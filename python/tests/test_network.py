"""The network behind a classifier: graph, files for other programs, samples, likelihoods."""

import itertools

import matplotlib

matplotlib.use("Agg")

import networkx
import numpy as np
import pandas as pd
import pyagrum
import pytest
from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.covariance import empirical_covariance
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from hingenet import (
    BayesNetClassifier,
    GaussianNetwork,
    GaussianNetworkClassifier,
    HingenetClassifier,
    LogDensityClassifier,
)


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
    arcs = {("rain", "wind"), ("rain", "sky"), ("wind", "walk"), ("rain", "walk")}
    models = [
        BayesNetClassifier("dag", "ml", edges=edges).fit(X, y)
        for edges in (tmp_path / "arcs.csv", sorted(arcs), networkx.DiGraph(sorted(arcs)))
    ]
    for model in models:
        assert set(model.network_.edges) == arcs
        np.testing.assert_array_equal(model.predict_proba(X), models[0].predict_proba(X))


def test_names_of_given_arcs_may_hold_any_character(weather):
    X, y = weather
    X = X.rename(columns={"wind": "wind, 10 m; north->south", "sky": "ciel é=%41"})
    edges = [("rain", name) for name in X.columns]
    model = BayesNetClassifier("dag", "ml", edges=edges).fit(X, y)
    assert set(model.network_.edges) == set(edges)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("edges", [[], [("rain",)], [("rain", "wind"), ("wind", "rain")], [("rain", "snow")]])
def test_arcs_that_make_no_graph_are_errors(weather, edges):
    with pytest.raises(ValueError):
        BayesNetClassifier("dag", "ml", edges=edges).fit(*weather)


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


ARCS = [("rain", "sky"), ("rain", "wind"), ("wind", "walk"), ("sky", "walk"), ("rain", "walk")]


@pytest.fixture(params=["nb", "tan", "kdb2", "dag"])
def any_structure(request, weather):
    options = {"edges": ARCS} if request.param == "dag" else {}
    return BayesNetClassifier(request.param, "ml", **options).fit(*weather)


def test_queries_agree_with_pyagrum(any_structure, tmp_path):
    """Any column, given values, exclusions and likelihoods of any others."""
    model = any_structure
    model.network_.to_xmlbif(tmp_path / "net.bifxml")
    other = pyagrum.loadBN(str(tmp_path / "net.bifxml"))
    states = {name: list(other.variable(name).labels()) for name in other.names()}
    rng = np.random.default_rng(5)
    for _ in range(60):
        inference = pyagrum.LazyPropagation(other)
        question = {"given": {}, "exclude": {}, "likelihood": {}}
        for name, labels in states.items():
            kind = rng.choice(["nothing", "given", "exclude", "likelihood"])
            weights = rng.random(len(labels)) + 0.01
            if kind == "given":
                question[kind][name] = labels[rng.integers(len(labels))]
                weights = np.array([float(label == question[kind][name]) for label in labels])
            elif kind == "exclude":
                question[kind][name] = [labels[rng.integers(len(labels))]]
                weights = np.array([float(label not in question[kind][name]) for label in labels])
            elif kind == "likelihood":
                question[kind][name] = dict(zip(labels, weights, strict=True))
            if kind != "nothing":
                inference.addEvidence(name, weights.tolist())
        answer = model.query(**question)
        for name, posterior in answer["posterior"].items():
            found = [posterior[label] for label in states[name]]
            np.testing.assert_allclose(found, inference.posterior(name).toarray(), rtol=0, atol=1e-9)
        assert answer["log_evidence"] == pytest.approx(np.log(inference.evidenceProbability()), abs=1e-9)


def test_queries_of_every_kind_of_classifier(weather):
    X, y = weather
    with pytest.raises(ValueError, match="no such column"):
        BayesNetClassifier("nb", "ml").fit(X, y).query({"cloud": 1})
    numbers = load_iris(as_frame=True)
    gaussian = GaussianNetworkClassifier().fit(numbers.data, numbers.target)
    row = numbers.data.iloc[[70]]
    name = row.columns[0]
    answer = gaussian.query(row.drop(columns=name).iloc[0].to_dict())
    blank = row.assign(**{name: np.nan})
    np.testing.assert_allclose(list(answer["posterior"]["target"].values()), gaussian.predict_proba(blank)[0], atol=1e-9)
    assert answer["posterior"][name]["quantiles"][0] < answer["posterior"][name]["mean"]
    densities = LogDensityClassifier().fit(numbers.data, numbers.target)
    assert list(densities.query(row.iloc[0].to_dict())["posterior"]) == ["target"]
    one = numbers.data[name][numbers.target == 2]
    found = densities.query({"target": "2"}, targets=[name])["posterior"][name]
    assert found["mean"] == pytest.approx(one.mean(), abs=0.1) and found["sd"] == pytest.approx(one.std(), rel=0.3)
    only_class = HingenetClassifier(fast=True).fit(numbers.data, numbers.target)
    with pytest.raises(ValueError, match="only"):
        only_class.query(targets=[name])


def test_missing_cells_are_completed(weather):
    X, y = weather
    gaps = X.mask(np.random.default_rng(2).random(X.shape) < 0.3)
    model = BayesNetClassifier("tan", "ml").fit(X, y)
    full, spread = model.impute(gaps, return_spread=True)
    assert not full.isna().any(axis=None)
    known = gaps.notna().to_numpy()
    np.testing.assert_array_equal(full.to_numpy()[known], gaps.to_numpy()[known])
    np.testing.assert_array_equal(spread.isna().to_numpy(), known)
    right = (full.to_numpy() == X.to_numpy())[~known].mean()
    # the modes of the columns are right less often
    modes = (X.mode().iloc[0].to_numpy() == X.to_numpy())[~known].mean()
    assert right > modes
    numbers = load_iris()
    rows = numbers.data.copy()
    rows[np.random.default_rng(3).random(rows.shape) < 0.2] = np.nan
    filled = GaussianNetworkClassifier().fit(numbers.data, numbers.target).impute(rows)
    lost = np.isnan(rows)
    error = np.abs(filled - numbers.data)[lost].mean()
    assert isinstance(filled, np.ndarray) and error < 0.5 * np.abs(numbers.data - np.nanmean(rows, axis=0))[lost].mean()


def test_pgmpy_reads_the_network_and_agrees_to_the_last_digits(any_structure, tmp_path):
    """Every column given what is known of the others."""
    model = any_structure
    model.network_.to_bif(tmp_path / "net.bif")
    other = VariableElimination(BIFReader(str(tmp_path / "net.bif")).get_model())
    rows = every_row()
    for row, proba in zip(rows.to_dict("records"), model.predict_proba(rows), strict=True):
        evidence = {name: value for name, value in row.items() if value is not None}
        posterior = model.query(evidence)["posterior"]
        np.testing.assert_allclose(list(posterior["rain"].values()), proba, rtol=0, atol=1e-12)
        for name, states in posterior.items():
            answer = other.query([name], evidence=evidence, show_progress=False)
            found = [answer.get_value(**{name: label}) for label in states]
            np.testing.assert_allclose(found, list(states.values()), rtol=0, atol=1e-12)


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
    assert not hasattr(model, "network_")
    with pytest.raises(AttributeError, match="network.*\nhint: "):
        model.network_
    assert hasattr(BayesNetClassifier("tan", "ml").fit(*weather), "network_")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_class_networks_of_a_gaussian_classifier(iris):
    X, y = iris
    model = GaussianNetworkClassifier("search").fit(X, y)
    assert list(model.networks_) == [0, 1, 2]
    for network in model.networks_.values():
        assert network.nodes == list(X.columns)
        assert networkx.is_directed_acyclic_graph(network.to_networkx())
        assert network._repr_svg_().startswith("<svg") and network.plot().get_title() == network.title
    union = model.network_
    assert set(union.edges) == {edge for n in model.networks_.values() for edge in n.edges}
    assert union.plot() is not None and "petal" in union.to_svg()
    with pytest.raises(ValueError, match="only discrete networks"):
        union.to_bif()
    assert not hasattr(GaussianNetworkClassifier(), "networks_")


def test_likelihood_and_samples_of_a_gaussian_classifier(iris):
    X, y = iris
    model = GaussianNetworkClassifier("search", priors="empirical").fit(X, y)
    joint = np.transpose([model.log_likelihood(X, np.full(len(y), c)) for c in model.classes_])
    np.testing.assert_allclose(logsumexp(joint, axis=1), model.score_samples(X), atol=1e-9)
    rows = model.sample(3000, random_state=1)
    assert list(rows.columns) == [*X.columns, "target"]
    np.testing.assert_allclose(rows[X.columns].mean(), X.mean(), atol=0.1)
    assert model.score(rows[X.columns], rows["target"].astype(int)) > 0.9


def test_pairs_of_a_density_classifier_are_its_network(iris):
    X, y = iris
    network = LogDensityClassifier("kde-tan").fit(X, y).network_
    assert network.nodes == list(X.columns) and 3 <= len(network.edges) <= 6 and not network.directed
    assert not network.to_networkx().is_directed() and network.plot() is not None
    assert network._repr_svg_().startswith("<svg") and network.to_networkx().number_of_nodes() == 4


def chain(n=600, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    c = a + b + 0.5 * rng.normal(size=n)
    return np.column_stack([100.0 + 7.0 * a, b, 0.01 * c, 3.0 * c + rng.normal(size=n)])


@pytest.mark.parametrize("method", ["search", "or", "h", "pc", "tc-bw", "l1mb"])
def test_a_network_without_classes_is_a_normal_distribution(method):
    X = chain()
    model = GaussianNetwork(method).fit(X)
    np.testing.assert_allclose(model.covariance_ @ model.precision_, np.eye(4), atol=1e-6)
    np.testing.assert_allclose(model.location_, X.mean(axis=0), rtol=0.02, atol=0.05)
    from scipy.stats import multivariate_normal

    normal = multivariate_normal(model.location_, model.covariance_)
    np.testing.assert_allclose(model.score_samples(X), normal.logpdf(X), atol=1e-6)
    part = multivariate_normal(model.location_[1:3], model.covariance_[1:3, 1:3])
    half = X.copy()
    half[:, [0, 3]] = np.nan
    np.testing.assert_allclose(model.score_samples(half), part.logpdf(X[:, 1:3]), atol=1e-6)
    np.testing.assert_allclose(model.score(X), model.score_samples(X).mean())
    drawn = model.sample(20_000, random_state=3)
    scale = np.sqrt(np.diag(model.covariance_))
    np.testing.assert_allclose(
        empirical_covariance(drawn / scale), model.covariance_ / np.outer(scale, scale), atol=0.05
    )
    np.testing.assert_array_equal(drawn, model.sample(20_000, random_state=3))


def test_a_network_without_classes_finds_the_arcs_the_data_determine():
    model = GaussianNetwork().fit(pd.DataFrame(chain(), columns=["a", "b", "c", "d"]))
    assert set(model.network_.edges) >= {("a", "c"), ("b", "c")}
    assert ("a", "b") not in model.network_.edges and model.undirected_edges_ == []
    assert model.weights_[0, 2] != 0 and model.weights_[2, 0] == 0
    assert model.network_.plot().get_title() == model.network_.title and "<svg" in model.network_.to_svg()
    assert model.bic_ > 0 and not hasattr(GaussianNetwork(), "network_")


def test_missing_cells_are_learnt_around_and_filled_in():
    X = chain()
    holes = X.copy()
    holes[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    model = GaussianNetwork(rounds=10).fit(holes)
    scale = np.outer(X.std(axis=0), X.std(axis=0))
    np.testing.assert_allclose(model.covariance_ / scale, np.cov(X.T) / scale, atol=0.1)
    filled = model.impute(holes)
    seen = ~np.isnan(holes)
    np.testing.assert_array_equal(filled[seen], X[seen])
    gone = np.abs(filled - X)[~seen[:, 3], 3]
    assert np.mean(gone) < 0.5 * np.std(X[:, 3])


@pytest.mark.parametrize("method", ["pc", "gs", "iamb", "fast-iamb", "inter-iamb", "tc", "tc-bw"])
def test_independence_tests_direct_colliders_and_leave_other_edges_open(method):
    rng = np.random.default_rng(1)
    a, b, e = rng.normal(size=(3, 500))
    c = a + b + 0.5 * rng.normal(size=500)
    model = GaussianNetwork(method, alpha=0.001).fit(np.column_stack([a, b, c, e, e + rng.normal(size=500)]))
    assert set(model.network_.edges) >= {("x0", "x2"), ("x1", "x2")} and len(model.network_.edges) == 3
    assert model.undirected_edges_ == [(3, 4)] and model.bic_ is None


def test_weights_of_rows_equal_repetition_in_a_network_without_classes():
    X = chain(200)
    weight = np.random.default_rng(0).integers(0, 3, size=200)
    one = GaussianNetwork(rounds=3).fit(X, sample_weight=weight)
    other = GaussianNetwork(rounds=3).fit(np.repeat(X, weight, axis=0)[::-1])
    np.testing.assert_array_equal(one.weights_, other.weights_)


def test_a_network_imputes_inside_a_pipeline(cancer):
    X, y = cancer
    frame = pd.DataFrame(X[:, :5], columns=list("abcde"))
    imputer = GaussianNetwork().set_output(transform="pandas").fit(frame)
    filled = imputer.transform(frame)
    assert list(filled.columns) == list(imputer.get_feature_names_out()) == list("abcde")
    assert not filled.isna().any().any()
    np.testing.assert_array_equal(filled[frame.notna()], frame)
    np.testing.assert_array_equal(filled, imputer.impute(frame))
    pipeline = make_pipeline(GaussianNetwork(), LogisticRegression(max_iter=5000))
    assert pipeline.fit(X[:, :5], y).score(X[:, :5], y) > 0.85
