"""Rows that are learnt later count as if they had been there from the start."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from hingenet import BayesNetClassifier, GaussianNetworkClassifier, HingenetClassifier, load

X, y = load_iris(return_X_y=True)
X = X + 0.01 * np.arange(len(X))[:, None] % 0.07  # more distinct values
ORDER = np.random.default_rng(1).permutation(len(X))
MODELS = [
    BayesNetClassifier("nb", "ml"),
    BayesNetClassifier("tan", "ml"),
    BayesNetClassifier("kdb2", "ml"),
    BayesNetClassifier("aode", "ml"),
    GaussianNetworkClassifier("search"),
    GaussianNetworkClassifier("or", lambda1=5.0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m._name()}")
def test_calls_in_any_order_give_the_same_model(model, tmp_path):
    first, rest = ORDER[:100], ORDER[100:]

    def learnt(*parts):
        found = clone(model).partial_fit(X[first], y[first])
        for part in parts:
            found.partial_fit(X[part], y[part])
        return found

    one, other = learnt(rest[:20], rest[20:]), learnt(rest[30:], rest[:30])
    assert one._model.to_bytes() == other._model.to_bytes()
    assert one.fit_report_["rows"] == len(X)
    assert not np.array_equal(one.predict_proba(X), learnt().predict_proba(X))
    one.save(tmp_path / "model.hgn")
    again = load(tmp_path / "model.hgn")
    again.partial_fit(X[first], y[first])
    assert again.fit_report_["rows"] == len(X) + 100


def test_the_first_call_is_a_fit():
    fitted, partly = (BayesNetClassifier("tan", "ml") for _ in range(2))
    fitted.fit(X, y)
    partly.partial_fit(X, y)
    np.testing.assert_array_equal(fitted.predict_proba(X), partly.predict_proba(X))


def test_classes_can_come_later():
    two = y < 2
    model = BayesNetClassifier("nb", "ml").partial_fit(X[two], y[two], classes=[0, 1, 2])
    model.partial_fit(X[~two], y[~two])
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict(X[~two]) == 2).mean() > 0.5
    with pytest.raises(ValueError, match="label 7"):
        model.partial_fit(X[:3], [7, 0, 1])


def test_models_that_need_rows_have_no_partial_fit():
    for model in (BayesNetClassifier(), GaussianNetworkClassifier("or"), GaussianNetworkClassifier("mm"), HingenetClassifier()):
        assert not hasattr(model, "partial_fit")
    gaps = X.copy()
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="keeps no statistics"):
        BayesNetClassifier("tan", "ml").partial_fit(gaps, y)
    with pytest.raises(ValueError, match="missing"):
        BayesNetClassifier("tan", "ml").partial_fit(X, y).partial_fit(gaps, y)
