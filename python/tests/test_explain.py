"""Explanations."""

import numpy as np
import polars as pl
import pytest
from estimators import FOREST, KINDS, SEARCH, SLB, name_of
from sklearn.base import clone

from hingenet import BayesNetClassifier


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
    explanation = model.explain(X[:5])
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
    explanation = model.explain(X[:8])
    assert len(explanation.scores) == 8 and np.isfinite(explanation.terms).all()
    assert not np.isnan(X[explanation.row, explanation.feature]).any()  # missing cells explain nothing
    frame = explanation.to_frame()
    assert set(frame["class"]) == {0, 1} and frame["row"].max() == 7


def test_missing_cells_are_explained_by_leaving_one_out(cancer):
    X, y = cancer
    model = BayesNetClassifier("tan", "ml").fit(X, y)
    row = X[:1]
    assert np.isnan(row).any()
    explanation = model.explain(row)
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
    explanation = BayesNetClassifier("nb", "ml").fit(X, y).explain(X[:2])
    frame = pl.DataFrame(explanation.to_frame(backend))
    assert frame.columns == ["row", "feature", "given", "class", "contribution", "against_mean"]
    assert frame.height == 2 * X.shape[1] * 2
    total = frame.filter(pl.col("class") == 1).group_by("row").agg(pl.col("contribution").sum()).sort("row")
    np.testing.assert_allclose(
        total["contribution"], explanation.scores[:, 1] - explanation.base[:, 1], rtol=0, atol=1e-9
    )
