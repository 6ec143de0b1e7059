"""Pictures in the style of scikit-learn: classes with ``from_estimator`` and ``plot``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state

from ._base import EngineClassifier
from ._frames import is_frame


_KEEP = "__hingenet_keep__"  # a name no column has


def blank(X: Any, rate: float, random_state: Any = None) -> Any:
    """A copy of `X` in which each cell is missing with probability `rate`."""
    rng = check_random_state(random_state)
    if not is_frame(X):
        X = np.array(X, dtype=object if np.asarray(X).dtype.kind in "OUS" else np.float64)
        X[rng.random_sample(X.shape) < rate] = np.nan
        return X
    frame = nw.from_native(X, eager_only=True)
    gone = rng.random_sample(frame.shape) < rate
    if frame.implementation.is_pandas_like():
        return X.mask(gone)
    columns = []
    for j in range(frame.shape[1]):
        column = frame[:, j]
        keep = nw.new_series(_KEEP, ~gone[:, j], nw.Boolean, backend=frame.implementation)
        both = column.to_frame().with_columns(keep)
        columns.append(both.select(nw.when(nw.col(_KEEP)).then(nw.col(column.name)))[column.name])
    return frame.with_columns(*columns).to_native()


class MissingCurveDisplay:
    """Score of a fitted classifier when more and more cells are missing.

    Parameters
    ----------
    rates : ndarray of shape (n_rates,)
        Share of missing cells.
    scores : ndarray of shape (n_rates, n_repeats)
        Scores of the blanked copies.
    estimator_name : str
        Name for the legend.
    score_name : str
        Name of the vertical axis.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import BayesNetClassifier, MissingCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesNetClassifier("nb", "ml").fit(X, y)
    >>> curve = MissingCurveDisplay.from_estimator(model, X, y, rates=[0.0, 0.5], plot=False)
    >>> curve.scores.shape
    (2, 5)
    """

    def __init__(self, rates: np.ndarray, scores: np.ndarray, *, estimator_name: str, score_name: str):
        self.rates = rates
        self.scores = scores
        self.estimator_name = estimator_name
        self.score_name = score_name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        rates: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        n_repeats: int = 5,
        scoring: Any = None,
        random_state: Any = 0,
        plot: bool = True,
        ax: Any = None,
    ) -> Self:
        """Score a fitted estimator on blanked copies of `X`.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier that takes missing cells.
        X : array-like or data frame of shape (n_samples, n_features)
            Test rows.
        y : array-like of shape (n_samples,)
            Their labels.
        rates : sequence of float
            Shares of cells to blank.
        n_repeats : int, default=5
            Blanked copies per rate.
        scoring : str or callable, default=None
            As in scikit-learn; None is the estimator's own score.
        random_state : int or RandomState instance, default=0
            Seed of the blanks.
        plot : bool, default=True
            Whether to draw at once.
        ax : matplotlib axes, default=None
            Where to draw.

        Returns
        -------
        display : MissingCurveDisplay
            The curve.
        """
        scorer = check_scoring(estimator, scoring)
        rng = check_random_state(random_state)
        scores = [[scorer(estimator, blank(X, rate, rng), y) for _ in range(n_repeats)] for rate in rates]
        name = scoring if isinstance(scoring, str) else "score"
        display = cls(
            np.array(rates), np.array(scores), estimator_name=type(estimator).__name__, score_name=name
        )
        return display.plot(ax) if plot else display

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw mean and range; keyword arguments go to matplotlib's ``plot``."""
        import matplotlib.pyplot as plt

        ax = plt.gca() if ax is None else ax
        (line,) = ax.plot(self.rates, self.scores.mean(axis=1), **{"label": self.estimator_name, **kwargs})
        ax.fill_between(
            self.rates, self.scores.min(axis=1), self.scores.max(axis=1), color=line.get_color(), alpha=0.2
        )
        ax.set(xlabel="share of missing cells", ylabel=self.score_name)
        ax.legend()
        self.ax_, self.figure_, self.line_ = ax, ax.figure, line
        return self


class TermDisplay:
    """The largest terms behind one decision.

    Parameters
    ----------
    labels : list of str
        Names of the terms, largest first.
    values : ndarray of shape (n_terms,)
        Contribution to the class against the mean of all classes.
    label : object
        The class explained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import BayesNetClassifier, TermDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesNetClassifier("nb", "ml").fit(X, y)
    >>> terms = TermDisplay.from_estimator(model, X.iloc[[0]], plot=False)
    >>> int(terms.label), len(terms.labels)
    (0, 4)
    """

    def __init__(self, labels: list[str], values: np.ndarray, *, label: Any):
        self.labels = labels
        self.values = values
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: EngineClassifier,
        X: Any,
        *,
        label: Any = None,
        max_terms: int = 12,
        plot: bool = True,
        ax: Any = None,
    ) -> Self:
        """Explain the first row of `X`.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of this package.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; the first one is explained.
        label : object, default=None
            Class to explain; None is the predicted one.
        max_terms : int, default=12
            Number of terms shown.
        plot : bool, default=True
            Whether to draw at once.
        ax : matplotlib axes, default=None
            Where to draw.

        Returns
        -------
        display : TermDisplay
            The terms.
        """
        row = X[:1]
        label = estimator.predict(row)[0] if label is None else label
        explanation = estimator.explain(row)
        column = int(np.flatnonzero(explanation.classes == label)[0])
        values = (explanation.terms - explanation.terms.mean(axis=1, keepdims=True))[:, column]
        order = np.argsort(-np.abs(values), kind="stable")[:max_terms]
        names = explanation.feature_names

        def text(term: int) -> str:
            given = ", ".join(str(names[i]) for i in explanation.given[term])
            name = str(names[explanation.feature[term]])
            return f"{name} | {given}" if given else name

        display = cls([text(term) for term in order], values[order], label=label)
        return display.plot(ax) if plot else display

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the terms as bars; keyword arguments go to matplotlib's ``barh``."""
        import matplotlib.pyplot as plt

        ax = plt.gca() if ax is None else ax
        colours = np.where(self.values >= 0, "#0072b2", "#d55e00")
        ax.barh(self.labels[::-1], self.values[::-1], **{"color": colours[::-1], **kwargs})
        ax.axvline(0.0, color="#333333", linewidth=0.8)
        ax.set_xlabel(f"for {self.label} against the mean of the classes (log)")
        self.ax_, self.figure_ = ax, ax.figure
        return self
