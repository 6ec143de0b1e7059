"""Pictures."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest

from hingenet import (
    BayesNetClassifier,
    CurveDisplay,
    GaussianNetworkClassifier,
    LogDensityClassifier,
    MissingCurveDisplay,
    TermDisplay,
    TradeOffDisplay,
)
from hingenet._display import blank


@pytest.fixture
def ax():
    yield plt.subplots()[1]
    plt.close("all")


def test_more_missing_cells_make_a_worse_score(cancer, ax):
    X, y = cancer
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    display = MissingCurveDisplay.from_estimator(model, X, y, rates=[0.0, 0.5, 1.0], n_repeats=2, ax=ax)
    mean = display.scores.mean(axis=1)
    assert mean[0] == model.score(X, y) and mean[0] >= mean[1] > mean[2] == max(y.mean(), 1 - y.mean())
    assert ax.get_xlabel() == "share of missing cells" and display.line_ in ax.lines


def test_blanks_fall_on_frames_and_arrays_alike(pets):
    X, y = pets
    X = X.set_index(np.arange(len(X))[::-1])
    for frame in (X, pl.from_pandas(X.reset_index(drop=True))):
        half = blank(frame, 0.5, 0)
        assert type(half) is type(frame) and list(half.columns) == list(frame.columns)
        count = int(half.null_count().sum_horizontal()[0]) if isinstance(half, pl.DataFrame) else half.isna().sum().sum()
        assert 0.4 < count / X.size < 0.65
        assert BayesNetClassifier("nb", "ml").fit(half, y).score(frame, y) > 0.7
    assert (blank(X, 0.0, 0).isna() == X.isna()).all().all()
    assert np.isnan(blank(np.ones((3, 2)), 1.0)).all()


def test_terms_are_the_largest_of_the_explanation(cancer, ax):
    X, y = cancer
    X = np.nan_to_num(X)
    model = BayesNetClassifier("tan", "ml").fit(X, y)
    display = TermDisplay.from_estimator(model, X[:1], max_terms=3, ax=ax)
    terms = model.explain(X[:1], kind="terms").to_frame()
    terms = terms[terms["class"] == model.predict(X[:1])[0]]["against_mean"].abs()
    np.testing.assert_allclose(np.abs(display.values), np.sort(terms)[::-1][:3])
    assert len(ax.patches) == 3
    with pytest.raises(ValueError, match="none of the classes"):
        TermDisplay.from_estimator(model, X[:1], label="maybe", ax=ax)


def test_the_margin_is_paid_for_with_likelihood(cancer, ax):
    X, y = np.nan_to_num(cancer[0][:200, :8]), cancer[1][:200]
    model = BayesNetClassifier("nb", "ml-bn-svm", gamma=5.0)
    display = TradeOffDisplay.from_estimator(model, X, y, values=[0.0, 10.0], cv=3, ax=ax)
    likelihood = display.log_likelihoods.mean(axis=1)
    assert likelihood[0] > likelihood[1] and display.accuracies.shape == (2, 3)
    plain = BayesNetClassifier("nb", "ml")
    same = TradeOffDisplay.from_estimator(plain, X, y, param_name="alpha", values=[1.0], cv=3, plot=False)
    np.testing.assert_allclose(same.log_likelihoods[0], display.log_likelihoods[0], atol=1e-6)
    assert ax.get_ylabel() == "accuracy" and [text.get_text() for text in ax.texts] == ["0", "10"]


def test_trade_offs_take_frames_and_other_generative_classifiers(pets):
    X, y = pets
    for frame in (X[["weight", "age"]].astype(float), pl.from_pandas(X[["weight", "age"]].astype(float))):
        display = TradeOffDisplay.from_estimator(
            GaussianNetworkClassifier("search"), frame, y, param_name="penalty", values=[2.0], cv=2, plot=False
        )
        assert np.isfinite(display.log_likelihoods).all() and display.accuracies.mean() > 0.5


def test_curves_are_the_terms_of_a_density_model(cancer, ax):
    X, y = np.nan_to_num(cancer[0][:, :4]), cancer[1]
    model = LogDensityClassifier("kde-nb").fit(X, y)
    display = CurveDisplay.from_estimator(model, "x1", ax=ax)
    assert display.scores.shape == (len(display.values), 2) and len(ax.lines) == 3
    assert (np.diff(display.values) >= 0).all()
    explanation = model.explain(X[:50], kind="terms")
    own = explanation.feature == 1
    at = np.interp(X[explanation.row[own], 1], display.values, display.scores[:, 1])
    told = explanation.against_mean()[own, 1]
    factor = told @ at / (at @ at)  # the curve is that of the scores before their calibration
    np.testing.assert_allclose(told, factor * at, atol=0.1 * max(factor, 1.0))
    with pytest.raises(ValueError, match="no curve of 'x9'"):
        CurveDisplay.from_estimator(model, "x9", ax=ax)
    assert CurveDisplay.from_estimator(model, 1, plot=False).feature == "x1"
