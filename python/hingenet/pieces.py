"""Fits to tables that come in pieces, for any scheduler: the rounds of :mod:`hingenet.dask`, Spark and Ray.

A fit asks for one round after the other. A round is a task that is carried out on every piece, anywhere and in any order; what it
gathers are bytes, and bytes are merged in any order too. Everything in them is a whole number, so the model does not depend on how
the rows were dealt, nor on what was done twice because a machine was lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from . import _engine
from ._base import EngineClassifier, rows_that_count, target_name
from ._density import LogDensityClassifier
from ._input import (
    Labelled,
    check_features,
    check_labels,
    check_weights,
    feature_names,
    free_name,
    run_options,
    threads_of,
)
from ._labels import texts_of
from ._partial import codes_among
from ._spec import spec_of

__all__ = ["PieceFit", "Task", "merge"]

# Parameters that need all rows at one place, or one clock.
_REFUSED = ("calibrate_sets", "max_time", "max_memory")


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be gathered from every piece in one round: a pure function of the piece, which pickles.

    Call it with a piece of the table to get bytes for :func:`merge`.
    """

    _columns: EngineClassifier
    """An estimator without a model, which knows the columns."""
    _labels: np.ndarray
    _target: str
    _weights: str | None
    """What the weights are called, if rows or classes have some."""
    _weighted: bool
    _work: bytes = b""

    def __call__(self, X: Any, y: ArrayLike | str, sample_weight: ArrayLike | str | None = None) -> bytes:
        """Carry the task out.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            A piece of the table. It may lack classes, categories and even rows.
        y : array-like of shape (n_samples,), or str
            Class labels, or the name of their column in `X`.
        sample_weight : array-like of shape (n_samples,), str or None, default=None
            Weights of the rows, which are whole numbers, or the name of their column in `X`.

        Returns
        -------
        gathered : bytes
            Statistics; without rows none.
        """
        X, y, sample_weight = _split(X, y, sample_weight)
        if (sample_weight is None) is self._weighted:
            raise ValueError("sample_weight is for all pieces or for none, and PieceFit is told by `weighted`")
        if len(X) == 0 and len(y) == 0:
            return b""
        features = check_features(self._columns, X, reset=False)
        codes = codes_among(self._labels, *check_labels(self._columns, X, y))
        weights = self._columns._row_weights(self._labels, codes, check_weights(sample_weight, codes))
        features, codes, weights = rows_that_count(X, features, codes, weights)
        names, classes = feature_names(self._columns), texts_of(self._labels.tolist())
        rows = Labelled(features, names, codes, classes, self._target, weights)
        return _engine.gather(self._work, rows, self._weights, threads_of(self._columns.n_jobs))


def _split(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Features, labels and weights of a piece, of which the latter may be columns of the first."""
    named = [name for name in (y, sample_weight) if isinstance(name, str)]
    if not named:
        return X, y, sample_weight
    frame = nw.from_native(X, eager_only=True)
    absent = [name for name in named if name not in frame.columns]
    if absent:
        raise ValueError(f"there is no column {absent[0]!r}")
    y, sample_weight = (frame[c].to_native() if isinstance(c, str) else c for c in (y, sample_weight))
    return frame.drop(named).to_native(), y, sample_weight


def merge(gathered: Iterable[bytes]) -> bytes:
    """Merge what a task gathered from several pieces.

    Parameters
    ----------
    gathered : iterable of bytes
        Statistics of one round, in any order; those that were merged already can be merged with others.

    Returns
    -------
    gathered : bytes
        The statistics of all of them.
    """
    some = [part for part in gathered if part]
    return _engine.merge(some) if some else b""


class PieceFit:
    """A fit of a classifier to a table that comes in pieces.

    Naive Bayes, trees, k-trees, given graphs and averages of one-dependence networks by maximum likelihood are those of the whole
    table, bit by bit, and so are Gaussian networks without a margin if no cell is missing. Discrete rules with margins learn from the
    distinct coded rows; other models from at most 20 000 distinct rows, chosen by their content, and warn if there are more. The pool has its
    network and Gaussians, and density models their densities, from all rows all the same.

    Parameters
    ----------
    estimator : classifier of hingenet
        It is fitted when the last round is done.
    features : list of str, or int
        Names of the features, or the number of columns of arrays.
    labels : array-like
        All class labels there are; repetitions do not matter.
    target : str or None, default=None
        Name of the target in the model; None is ``"class"``.
    weighted : bool, default=False
        Whether rows have weights.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import BayesNetClassifier
    >>> from hingenet.pieces import PieceFit, merge
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesNetClassifier("tan", "ml")
    >>> fit = PieceFit(model, 4, [0, 1, 2])
    >>> while task := fit.task():
    ...     fit.advance(merge(task(X[i::3], y[i::3]) for i in range(3)))
    >>> float(model.score(X, y)) > 0.9
    True
    """

    def __init__(
        self,
        estimator: EngineClassifier,
        features: Sequence[str] | int,
        labels: ArrayLike,
        *,
        target: str | None = None,
        weighted: bool = False,
    ) -> None:
        _refuse(estimator)
        self._estimator, self._features = estimator, features
        columns = clone(estimator).set_params(absent_columns="error")
        _set_columns(columns, features)
        labels, _ = check_labels(estimator, labels, labels)
        names = feature_names(columns)
        target = target_name(target, names)
        has_weights = weighted or (estimator.class_weight is not None and _weighs_rows(estimator))
        weights = free_name("weight", [*names, target]) if has_weights else None
        self._task = Task(columns, labels, target, weights, weighted)
        name = estimator._name() + estimator._class_option(labels, np.arange(len(labels)))
        self._run = run_options(estimator)
        seed = self._run.pop("seed")
        self._fit = _engine.PieceFit(spec_of(estimator, name, estimator._options), target, weights, seed)
        self._done = False

    def task(self) -> Task | None:
        """The task of this round, for every piece.

        Returns
        -------
        task : Task or None
            None when the estimator is fitted.
        """
        return None if self._done else replace(self._task, _work=self._fit.task())

    def advance(self, gathered: bytes) -> None:
        """Go on to the next round, or finish the fit.

        Parameters
        ----------
        gathered : bytes
            What the task of this round gathered from all pieces, merged.
        """
        if not gathered:
            raise _engine.HingenetError("there are no rows\nhint: give at least two rows of different classes")
        model = self._fit.advance(gathered, **self._run)
        if model is None:
            return
        self._done = True
        _set_columns(self._estimator, self._features)
        self._estimator._set_model(model, self._task._labels)
        self._estimator._tell()


def _refuse(estimator: EngineClassifier) -> None:
    """Refuses what cannot be had from pieces."""
    given = [name for name in _REFUSED if getattr(estimator, name) is not None]
    if given:
        raise ValueError(f"{given[0]} needs the whole table at one place; leave it out for a table in pieces")
    if isinstance(estimator.class_weight, str) and _weighs_rows(estimator):
        raise ValueError(
            "class_weight = 'balanced' makes weights that are no whole numbers, and sums of them would depend on the pieces; "
            "give a dict with a whole number for each class"
        )


def _weighs_rows(estimator: EngineClassifier) -> bool:
    """Whether class weights are factors of the weights of rows."""
    return not isinstance(estimator, LogDensityClassifier)


def _set_columns(estimator: EngineClassifier, features: Sequence[str] | int) -> None:
    """What a fit to the whole table would know about its columns."""
    estimator.__dict__.pop("feature_names_in_", None)
    if isinstance(features, (int, np.integer)):
        estimator.n_features_in_ = int(features)
    else:
        estimator.feature_names_in_ = np.array(features, dtype=object)
        estimator.n_features_in_ = len(features)
    if estimator.n_features_in_ < estimator._min_features:
        raise ValueError(
            f"Found array with {estimator.n_features_in_} feature(s) while a minimum of {estimator._min_features} is required."
        )
