"""Explanations."""

import numpy as np
import polars as pl
import pytest

from hingenet import BayesNetClassifier


@pytest.fixture
def complete(cancer):
    X, y = cancer
    return np.nan_to_num(X), y


def test_terms_of_a_complete_row_add_up_to_the_log_odds(complete):
    X, y = complete
    for structure in ("nb", "tan"):
        model = BayesNetClassifier(structure, "ml").fit(X, y)
        explanation = model.explain(X[:5])
        assert explanation.additive.all()
        scores = explanation.base + explanation.contributions().sum(axis=1)
        np.testing.assert_allclose(scores, explanation.scores, rtol=0, atol=1e-9)
        log_odds = explanation.scores[:, 1] - explanation.scores[:, 0]
        np.testing.assert_allclose(log_odds, model.decision_function(X[:5]), rtol=0, atol=1e-9)


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
