"""Explanations."""

import pickle

import numpy as np
import polars as pl
import pytest
from estimators import FOREST, KINDS, SEARCH, SLB, name_of
from sklearn.base import clone

from hingenet import BayesNetClassifier, BeeswarmDisplay, HingenetClassifier


@pytest.fixture
def complete(cancer):
    X, y = cancer
    return np.nan_to_num(X), y


ADDITIVE = [BayesNetClassifier("nb", "ml"), BayesNetClassifier("tan", "ml"), SLB, FOREST, SEARCH]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", ADDITIVE, ids=name_of)
def test_terms_of_a_complete_row_add_up_to_the_scores(estimator, complete):
    X, y = complete[0][:200, :6], complete[1][:200]
    model = clone(estimator).fit(X, y)
    explanation = model.explain(X[:5], kind="terms")
    assert explanation.additive.all()
    scores = explanation.base + explanation.contributions().sum(axis=1)
    np.testing.assert_allclose(scores, explanation.scores, rtol=0, atol=1e-9)
    log_odds = explanation.scores[:, 1] - explanation.scores[:, 0]
    np.testing.assert_allclose(log_odds, model.decision_function(X[:5]), rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_every_classifier_explains_rows_with_missing_cells(estimator, cancer):
    X, y = cancer[0][:200, :6], cancer[1][:200]
    X[3] = [np.nan, *X[5, 1:]]
    model = clone(estimator).fit(X, y)
    explanation = model.explain(X[:8], kind="terms")
    assert len(explanation.scores) == 8 and np.isfinite(explanation.terms).all()
    assert not np.isnan(X[explanation.row, explanation.feature]).any()  # missing cells explain nothing
    frame = explanation.to_frame()
    assert set(frame["class"]) == {0, 1} and frame["row"].max() == 7


def test_missing_cells_are_explained_by_leaving_one_out(cancer):
    X, y = cancer
    model = BayesNetClassifier("tan", "ml").fit(X, y)
    row = X[:1]
    assert np.isnan(row).any()
    explanation = model.explain(row, kind="terms")
    if not explanation.additive[0]:
        feature = explanation.feature[0]
        without = row.copy()
        without[0, feature] = np.nan
        change = model.decision_function(row) - model.decision_function(without)
        term = explanation.terms[0, 1] - explanation.terms[0, 0]
        np.testing.assert_allclose(term, change[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_terms_as_a_tidy_frame(complete, backend):
    X, y = complete
    explanation = BayesNetClassifier("nb", "ml").fit(X, y).explain(X[:2], kind="terms")
    frame = pl.DataFrame(explanation.to_frame(backend))
    assert frame.columns == ["row", "feature", "given", "class", "contribution", "against_mean"]
    assert frame.height == 2 * X.shape[1] * 2
    total = frame.filter(pl.col("class") == 1).group_by("row").agg(pl.col("contribution").sum()).sort("row")
    np.testing.assert_allclose(
        total["contribution"], explanation.scores[:, 1] - explanation.base[:, 1], rtol=0, atol=1e-9
    )


def log_odds(model, X):
    log_proba = model.predict_log_proba(X)
    others = [np.logaddexp.reduce(np.delete(log_proba, c, axis=1), axis=1) for c in range(log_proba.shape[1])]
    return log_proba - np.column_stack(others)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_shapley_values_lead_from_nothing_known_to_the_row(estimator, cancer):
    X, y = cancer[0][:200, :6], cancer[1][:200]
    X[3] = [np.nan, *X[5, 1:]]
    X = np.column_stack([X, np.full(200, 4.0)])
    model = clone(estimator).fit(X, y)
    explanation = model.explain(X[:8], max_evals=64)
    known = ~np.isnan(X[:8])
    np.testing.assert_array_equal(explanation.known, known)
    assert (explanation.values[~known] == 0).all()
    assert np.abs(explanation.values[:, 6]).max() <= 1e-9  # never varies
    total = explanation.base + explanation.values.sum(axis=1)
    np.testing.assert_allclose(total, explanation.total, rtol=0, atol=1e-9)
    np.testing.assert_allclose(explanation.total, log_odds(model, X[:8]), rtol=0, atol=1e-6)
    nothing = np.full((1, 7), np.nan)
    np.testing.assert_allclose(explanation.base, log_odds(model, nothing).repeat(8, axis=0), rtol=0, atol=1e-9)
    frame = explanation.to_frame()
    assert len(frame) == 2 * known.sum() and set(frame["class"]) == {0, 1}


def test_values_of_naive_bayes_are_exact_and_those_of_a_large_tree_have_an_error(complete):
    X, y = complete
    values = BayesNetClassifier("nb", "ml").fit(X, y).explain(X[:3])
    assert (values.standard_error == 0).all()
    tree = BayesNetClassifier("tan", "ml").fit(X, y)
    values = tree.explain(X[:3])
    assert values.standard_error.max() > 0
    np.testing.assert_array_equal(values.values, tree.explain(X[:3]).values)
    with pytest.raises(ValueError, match="'shapley' or 'terms'"):
        tree.explain(X[:1], kind="lime")


def test_importances_are_those_of_training_rows_and_need_none_in_files(complete, tmp_path):
    X, y = complete
    X = np.column_stack([X[:90, :5], np.ones(90)])
    model = BayesNetClassifier("nb", "ml").fit(X, y[:90])
    stripped = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match="no training rows are kept"):
        stripped.feature_importances_  # noqa: B018
    mean, spread = model.explain(X).importances()
    np.testing.assert_allclose(model.feature_importances_, mean)
    assert mean[5] == 0 and (mean[:5] >= 0).all() and spread.shape == (6,)
    assert "_some_rows" not in vars(model)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).feature_importances_, mean)
    model.save(tmp_path / "model.hgn")
    assert not hasattr(stripped, "feature_importances_")


def test_importances_of_frames(pets):
    X, y = pets
    model = HingenetClassifier(fast=True).fit(X, y)
    assert model.feature_importances_.shape == (X.shape[1],)


def test_the_swarm_has_a_dot_for_each_known_cell(cancer):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    X, y = cancer
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    _, ax = plt.subplots()
    swarm = BeeswarmDisplay.from_estimator(model, X[:40], max_features=4, ax=ax)
    assert swarm.label == 1 and swarm.values.shape == (40, 4)
    sizes = np.abs(np.nan_to_num(swarm.values)).mean(axis=0)
    assert (np.diff(sizes) <= 0).all()
    dots = [len(c.get_offsets()) for c in ax.collections]
    assert dots == (~np.isnan(swarm.values)).sum(axis=0).tolist()
    assert 0 <= swarm.levels.min() and swarm.levels.max() <= 1
    plt.close("all")
