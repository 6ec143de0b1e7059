"""Prediction sets."""

import numpy as np
import pytest
from estimators import KINDS, name_of
from sklearn.base import clone

from hingenet import BayesNetClassifier, GaussianNetworkClassifier, HingenetError, load

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_every_model_has_sets_of_its_classes(estimator, cancer, tmp_path):
    X, y = cancer
    X, y = X[:, :8], np.array(["malignant", "benign"])[y]
    model = clone(estimator).set_params(calibrate_sets=0.3).fit(X[:400], y[:400])
    sets = model.predict_set(X[400:], coverage=0.8)
    assert sets.shape == (169, 2) and sets.dtype == bool
    held = sets[np.arange(169), np.searchsorted(model.classes_, y[400:])].mean()
    assert 0.65 < held < 0.95, held
    assert (model.predict_set(X[400:], coverage=0.95) >= sets).all(), "more coverage, larger sets"
    model.save(tmp_path / "model.hgn")
    np.testing.assert_array_equal(load(tmp_path / "model.hgn").predict_set(X[400:], coverage=0.8), sets)


def test_coverage_holds_at_every_share_of_missing_cells():
    rng = np.random.default_rng(0)
    held = {rate: [] for rate in (0.0, 0.3, 0.6)}
    for repeat in range(40):
        y = rng.integers(3, size=700)
        X = rng.normal(size=(700, 6)) + y[:, None] * np.array([0.6, 0.5, 0.4, 0.3, 0.2, 0.0])
        # no two rows are equally strange to a Gaussian, so that the coverage is not only held, but met
        model = GaussianNetworkClassifier("or", lambda1=10.0, calibrate_sets=0.4, random_state=repeat)
        model.fit(X[:200], y[:200])
        for rate, shares in held.items():
            blanked = np.where(rng.random((500, 6)) < rate, np.nan, X[200:])
            shares.append(model.predict_set(blanked)[np.arange(500), y[200:]].mean())
    means = {rate: np.mean(shares) for rate, shares in held.items()}
    assert all(abs(mean - 0.9) < 0.02 for mean in means.values()), means


def test_a_model_without_calibration_says_how_to_get_it(cancer):
    X, y = cancer
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    with pytest.raises(HingenetError, match="without rows to calibrate.*\nhint: fit it again with calibrate_sets"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="calibrate_sets = 1.5: expected a share of the rows above 0 and below 1"):
        BayesNetClassifier("nb", "ml", calibrate_sets=1.5).fit(X, y)
    model = BayesNetClassifier("nb", "ml", calibrate_sets=0.1).fit(X, y)
    with pytest.raises(ValueError, match="coverage = 0.99: expected at most 0.98"):
        model.predict_set(X, coverage=0.99)
