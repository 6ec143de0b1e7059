"""The ways to choose pairs and bandwidths are parameters of the estimator, and each classifies."""

import numpy as np
import pytest
from hingenet import LogDensityClassifier
from sklearn.datasets import load_breast_cancer

X, Y = load_breast_cancer(return_X_y=True)
X, LEARN = X[:, :6], np.arange(len(Y)) % 2 == 0

SETTINGS = [
    {"criterion": "error", "training_features": "resubstitution", "balance": "none"},
    *({"threshold": rule} for rule in ("bonferroni:0.05", "benjamini_hochberg:0.05", "top:5", "hsic:0.01")),
    *({"fraction": 0.2, "bandwidth": rule} for rule in ("silverman", "scott", "lscv", "diagonal")),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_choice_classifies_rows_it_has_not_seen(settings):
    model = LogDensityClassifier("slb", **settings).fit(X[LEARN], Y[LEARN])
    # the larger class has 63 % of the rows
    assert model.score(X[~LEARN], Y[~LEARN]) > 0.87
