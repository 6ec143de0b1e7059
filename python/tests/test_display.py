"""Pictures."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest

from hingenet import BayesNetClassifier, MissingCurveDisplay, TermDisplay
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
    terms = model.explain(X[:1]).to_frame()
    terms = terms[terms["class"] == model.predict(X[:1])[0]]["against_mean"].abs()
    np.testing.assert_allclose(np.abs(display.values), np.sort(terms)[::-1][:3])
    assert len(ax.patches) == 3
