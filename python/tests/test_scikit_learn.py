"""scikit-learn's own checks, none excused, and life inside its tools."""

import numpy as np
import pytest
from estimators import CLASSIFIERS, OTHERS, QUICK
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hingenet
from hingenet import BayesNetClassifier, MDLDiscretizer

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks(CLASSIFIERS + OTHERS)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_every_exported_estimator_is_checked():
    exported = {getattr(hingenet, name) for name in hingenet.__all__}
    estimators = {e for e in exported if isinstance(e, type) and hasattr(e, "get_params")}
    assert estimators == {type(e) for e in CLASSIFIERS + OTHERS}


@pytest.mark.parametrize("estimator", QUICK, ids=str)
def test_weights_equal_repetition_bit_by_bit_in_any_order(estimator, cancer):
    X, y = cancer
    X, y = X[:200], y[:200]
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X[order], y[order])
    np.testing.assert_array_equal(weighted.predict_log_proba(X), repeated.predict_log_proba(X))


@pytest.mark.parametrize("estimator", QUICK, ids=str)
def test_results_do_not_depend_on_the_number_of_threads(estimator, cancer):
    X, y = cancer[0][:120], cancer[1][:120]
    one, two = (clone(estimator).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("estimator", QUICK, ids=str)
def test_classifiers_are_good_with_missing_cells(estimator, cancer):
    X, y = cancer[0][:240], cancer[1][:240]
    assert cross_val_score(estimator, X, y, cv=2).mean() > 0.88


def test_grid_search_chooses_a_structure(cancer):
    X, y = cancer
    search = GridSearchCV(BayesNetClassifier(learning="ml"), {"structure": ["nb", "tan"], "alpha": [0.5, 5.0]}, cv=2)
    search.fit(X[:150], y[:150])
    assert search.best_params_["structure"] in {"nb", "tan"} and search.score(X, y) > 0.85


def test_pipelines_and_calibration(cancer):
    X, y = cancer
    pipeline = make_pipeline(StandardScaler(), MDLDiscretizer(), BayesNetClassifier("nb", "ml"))
    assert pipeline.fit(X, y).score(X, y) > 0.9
    calibrated = CalibratedClassifierCV(BayesNetClassifier("nb", "ml"), cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.9


def test_balanced_classes_count_the_same(cancer):
    X, y = cancer
    plain, balanced = (BayesNetClassifier("nb", "ml", class_weight=w).fit(X, y) for w in (None, "balanced"))
    nothing = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(plain.predict_proba(nothing)[0, 1], y.mean(), atol=0.01)
    np.testing.assert_allclose(balanced.predict_proba(nothing)[0], [0.5, 0.5], atol=1e-9)


def test_transformer_output_can_be_a_frame(pets):
    X, y = pets
    out = MDLDiscretizer().set_output(transform="pandas").fit_transform(X[["weight", "legs"]], y)
    assert list(out.columns) == ["weight", "legs"] and np.isnan(out["legs"][3])


def test_html_representation():
    assert "BayesNetClassifier" in BayesNetClassifier()._repr_html_()
