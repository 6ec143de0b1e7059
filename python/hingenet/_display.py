"""Pictures in the style of scikit-learn: classes with ``from_estimator`` and ``plot``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, dataclass_transform

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state

from ._base import EngineClassifier
from ._density import LogDensityClassifier
from ._docs import documented
from ._frames import cells_of, is_frame

_FOR, _AGAINST = "#0072b2", "#d55e00"
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


class _Display:
    """A picture that keeps its numbers; ``plot`` draws it and sets ``ax_`` and ``figure_``."""

    def _axes(self, ax: Any) -> Any:
        import matplotlib.pyplot as plt

        self.ax_ = plt.gca() if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_

    def _drawn(self, plot: bool, ax: Any) -> Self:
        return self.plot(ax) if plot else self


@dataclass_transform()
def _picture(cls: Any) -> Any:
    """A display whose fields are the numbers it keeps."""
    return documented(dataclass(eq=False, repr=False)(cls))


@_picture
class MissingCurveDisplay(_Display):
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

    {iris}
    >>> from hingenet import BayesNetClassifier, MissingCurveDisplay
    >>> model = BayesNetClassifier("nb", "ml").fit(X, y)
    >>> curve = MissingCurveDisplay.from_estimator(model, X, y, rates=[0.0, 0.5], plot=False)
    >>> curve.scores.shape
    (2, 5)
    """

    rates: np.ndarray
    scores: np.ndarray
    _: KW_ONLY
    estimator_name: str
    score_name: str

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
        """Score a fitted estimator, of this package or another that takes missing cells, on blanked copies of `X`.

        {classifier}
        {test}
        rates : sequence of float
            Shares of cells to blank.
        n_repeats : int, default=5
            Blanked copies per rate.
        scoring : str or callable, default=None
            As in scikit-learn; None is the estimator's own score.
        random_state : int or RandomState instance, default=0
            Seed of the blanks.
        {drawing}
        """
        scorer = check_scoring(estimator, scoring)
        rng = check_random_state(random_state)
        scores = [[scorer(estimator, blank(X, rate, rng), y) for _ in range(n_repeats)] for rate in rates]
        name = scoring if isinstance(scoring, str) else "score"
        display = cls(
            np.array(rates), np.array(scores), estimator_name=type(estimator).__name__, score_name=name
        )
        return display._drawn(plot, ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw mean and range; keyword arguments go to matplotlib's ``plot``."""
        ax = self._axes(ax)
        (line,) = ax.plot(self.rates, self.scores.mean(axis=1), **{"label": self.estimator_name, **kwargs})
        ax.fill_between(
            self.rates, self.scores.min(axis=1), self.scores.max(axis=1), color=line.get_color(), alpha=0.2
        )
        ax.set(xlabel="share of missing cells", ylabel=self.score_name)
        ax.legend()
        self.line_ = line
        return self


@_picture
class TradeOffDisplay(_Display):
    """Likelihood against accuracy as an option of a generative classifier grows.

    A network of maximum likelihood describes the rows best; the larger the weight of the margin, the more
    likelihood it gives up for decisions. The curve shows what each value costs and brings.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Values of the option.
    log_likelihoods, accuracies : ndarray of shape (n_values, n_folds)
        Mean ``log P(class, features)`` of a test row, and accuracy, of each fold.
    estimator_name : str
        Name for the legend.
    param_name : str
        Name of the option.

    {iris}
    >>> from hingenet import BayesNetClassifier, TradeOffDisplay
    >>> model = BayesNetClassifier("nb", "ml-bn-svm", gamma=1.0)
    >>> curve = TradeOffDisplay.from_estimator(model, X, y, values=[0.0, 1.0], cv=3, plot=False)
    >>> curve.log_likelihoods.shape
    (2, 3)
    """

    values: np.ndarray
    log_likelihoods: np.ndarray
    accuracies: np.ndarray
    _: KW_ONLY
    estimator_name: str
    param_name: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        param_name: str = "lambda_",
        values: Sequence[float] = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
        cv: Any = 5,
        plot: bool = True,
        ax: Any = None,
    ) -> Self:
        """Fit the estimator with every value in every fold.

        Parameters
        ----------
        estimator : estimator
            A classifier with ``log_likelihood(X, y)``, for example ``BayesNetClassifier(gamma=1.0)``. Options
            left None are chosen anew in every fit.
        {test}
        param_name : str, default="lambda_"
            Option to change.
        values : sequence of float
            Its values.
        cv : int, splitter or iterable, default=5
            Folds, as in scikit-learn.
        {drawing}
        """
        y = np.asarray(y)
        splits = list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))

        def point(value: float, train: np.ndarray, test: np.ndarray) -> tuple[float, float]:
            model = clone(estimator).set_params(**{param_name: value})
            model.fit(_safe_indexing(X, train), y[train])
            rows = _safe_indexing(X, test)
            return float(model.log_likelihood(rows, y[test]).mean()), float(model.score(rows, y[test]))

        points = np.array([[point(value, *split) for split in splits] for value in values])
        name = type(estimator).__name__
        display = cls(
            np.array(values), points[:, :, 0], points[:, :, 1], estimator_name=name, param_name=param_name
        )
        return display._drawn(plot, ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the means with their values; keyword arguments go to matplotlib's ``plot``."""
        ax = self._axes(ax)
        x, y = self.log_likelihoods.mean(axis=1), self.accuracies.mean(axis=1)
        (self.line_,) = ax.plot(x, y, **{"marker": "o", "label": self.estimator_name, **kwargs})
        for value, *place in zip(self.values, x, y, strict=True):
            ax.annotate(f"{value:g}", place, xytext=(4, 4), textcoords="offset points", fontsize=8)
        ax.set(
            xlabel="mean log-likelihood of a test row",
            ylabel="accuracy",
            title=f"numbers are {self.param_name.rstrip('_')}",
        )
        ax.legend()
        return self


@_picture
class TermDisplay(_Display):
    """The largest terms behind one decision.

    Parameters
    ----------
    labels : list of str
        Names of the terms, largest first.
    values : ndarray of shape (n_terms,)
        Contribution to the class against the mean of all classes.
    label : object
        The class explained.

    {iris_frame}
    >>> from hingenet import BayesNetClassifier, TermDisplay
    >>> model = BayesNetClassifier("nb", "ml").fit(X, y)
    >>> terms = TermDisplay.from_estimator(model, X.iloc[[0]], plot=False)
    >>> int(terms.label), len(terms.labels)
    (0, 4)
    """

    labels: list[str]
    values: np.ndarray
    _: KW_ONLY
    label: Any

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

        {classifier}
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; the first one is explained.
        label : object, default=None
            Class to explain; None is the predicted one.
        max_terms : int, default=12
            Number of terms shown.
        {drawing}
        """
        row = X[:1]
        label = estimator.predict(row)[0] if label is None else label
        explanation = estimator.explain(row, kind="terms")
        values = explanation.against_mean()[:, _column(estimator, label)]
        order = np.argsort(-np.abs(values), kind="stable")[:max_terms]
        display = cls([explanation.term_name(term) for term in order], values[order], label=label)
        return display._drawn(plot, ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the terms as bars; keyword arguments go to matplotlib's ``barh``."""
        ax = self._axes(ax)
        colours = np.where(self.values >= 0, _FOR, _AGAINST)
        ax.barh(self.labels[::-1], self.values[::-1], **{"color": colours[::-1], **kwargs})
        ax.axvline(0.0, color="#333333", linewidth=0.8)
        ax.set_xlabel(f"for {self.label} against the mean of the classes (log)")
        return self


@_picture
class BeeswarmDisplay(_Display):
    """What each feature adds to the log-odds of a class, a dot for each row.

    Parameters
    ----------
    features : list of str
        Names of the features, those with the largest mean absolute value first.
    values : ndarray of shape (n_samples, n_features)
        Shapley values of these features; NaN where a cell is missing.
    levels : ndarray of shape (n_samples, n_features)
        How large each cell is among those of its column, from 0 to 1: the colour of the dots.
    label : object
        The class explained.

    {iris_frame}
    >>> from hingenet import BayesNetClassifier, BeeswarmDisplay
    >>> model = BayesNetClassifier("nb", "ml").fit(X, y)
    >>> swarm = BeeswarmDisplay.from_estimator(model, X, label=2, plot=False)
    >>> swarm.values.shape
    (150, 4)
    """

    features: list[str]
    values: np.ndarray
    levels: np.ndarray
    _: KW_ONLY
    label: Any

    @classmethod
    def from_estimator(
        cls,
        estimator: EngineClassifier,
        X: Any,
        *,
        label: Any = None,
        max_features: int = 15,
        max_evals: int = 512,
        plot: bool = True,
        ax: Any = None,
    ) -> Self:
        """Explain the rows of `X`.

        {classifier}
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        label : object, default=None
            Class to explain; None is the last one.
        max_features : int, default=15
            Number of features shown.
        max_evals : int, default=512
            How often the model may be asked for a row, about.
        {drawing}
        """
        label = estimator.classes_[-1] if label is None else label
        explanation = estimator.explain(X, max_evals=max_evals)
        values = np.where(explanation.known, explanation.values[:, :, _column(estimator, label)], np.nan)
        order = np.argsort(-np.abs(np.nan_to_num(values)).mean(axis=0), kind="stable")[:max_features]
        cells = estimator._features(X)
        levels = np.column_stack([_levels(cells, j) for j in order])
        names = [str(explanation.feature_names[j]) for j in order]
        return cls(names, values[:, order], levels, label=label)._drawn(plot, ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the dots; keyword arguments go to matplotlib's ``scatter``."""
        ax = self._axes(ax)
        rows = np.arange(len(self.features))
        for row, values, levels in zip(rows, self.values.T, self.levels.T, strict=True):
            known = ~np.isnan(values)
            x = values[known]
            place = {"c": levels[known], "cmap": "coolwarm", "vmin": 0.0, "vmax": 1.0, "s": 8.0}
            ax.scatter(x, row + _swarm(x), **{**place, **kwargs})
        ax.axvline(0.0, color="#333333", linewidth=0.8)
        ax.set_yticks(rows, self.features)
        ax.invert_yaxis()
        ax.set_xlabel(f"adds to the log-odds of {self.label} (red: large values, blue: small ones)")
        return self


def _levels(cells: Any, j: int) -> np.ndarray:
    """How large each cell of a column is, from 0 to 1: ranks of numbers, positions of categories."""
    column = cells[:, j] if isinstance(cells, np.ndarray) else cells_of(cells[j])
    _, ranks = np.unique(column, return_inverse=True)
    return ranks / max(ranks.max(), 1)


def _swarm(x: np.ndarray) -> np.ndarray:
    """Offsets that move dots with nearly equal values apart, within 0.4 of their row."""
    width = np.ptp(x) if len(x) else 0.0
    bins = np.zeros(len(x), dtype=int) if width == 0.0 else ((x - x.min()) / width * 60).astype(int)
    _, where, counts = np.unique(bins, return_inverse=True, return_counts=True)
    seen = np.zeros(len(counts), dtype=int)
    place = np.empty(len(x))
    for i, b in enumerate(where):
        seen[b] += 1
        place[i] = (seen[b] // 2) * (1 if seen[b] % 2 else -1)
    return place * 0.8 / max(counts.max(initial=1), 10)


@_picture
class CurveDisplay(_Display):
    """What one feature adds to the class scores of a density model, along its values.

    Parameters
    ----------
    feature : str
        Name of the feature.
    values : ndarray of shape (n_values,)
        Values of the feature.
    scores : ndarray of shape (n_values, n_classes)
        Contribution to each class score, against the mean of all classes.
    classes : ndarray of shape (n_classes,)
        Class labels.

    {iris_frame}
    >>> from hingenet import CurveDisplay, LogDensityClassifier
    >>> model = LogDensityClassifier("kde-nb").fit(X, y)
    >>> curve = CurveDisplay.from_estimator(model, "petal width (cm)", plot=False)
    >>> curve.scores.shape[1]
    3
    """

    feature: str
    values: np.ndarray
    scores: np.ndarray
    _: KW_ONLY
    classes: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: LogDensityClassifier, feature: str | int, *, plot: bool = True, ax: Any = None
    ) -> Self:
        """Take the curves of a fitted classifier.

        Parameters
        ----------
        estimator : LogDensityClassifier
            A fitted classifier.
        feature : str or int
            Name of the feature, or its number among the features in use.
        {drawing}
        """
        curves = estimator.curves()
        name = list(curves)[feature] if isinstance(feature, (int, np.integer)) else feature
        if name not in curves:
            raise ValueError(f"there is no curve of {name!r}; the features in use are {', '.join(curves)}")
        values, scores = curves[name]
        centred = scores - scores.mean(axis=1, keepdims=True)
        return cls(name, values, centred, classes=estimator.classes_)._drawn(plot, ax)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a line for each class; keyword arguments go to matplotlib's ``plot``."""
        ax = self._axes(ax)
        self.lines_ = [
            ax.plot(self.values, self.scores[:, c], **{"label": str(label), **kwargs})[0]
            for c, label in enumerate(self.classes)
        ]
        ax.axhline(0.0, color="#333333", linewidth=0.8)
        ax.set(xlabel=self.feature, ylabel="for the class against the mean of the classes (log)")
        ax.legend()
        return self


def _column(estimator: EngineClassifier, label: Any) -> int:
    found = np.flatnonzero(estimator.classes_ == label)
    if len(found) == 0:
        raise ValueError(f"{label!r} is none of the classes {estimator.classes_.tolist()}")
    return int(found[0])
