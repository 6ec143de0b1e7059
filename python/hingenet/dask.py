"""Classifiers of tables that are spread over many machines by Dask.

A fit takes some rounds over the partitions (:mod:`hingenet.pieces`). What is gathered from a partition is a pure function of it, and
what was gathered is merged along a fixed tree: no worker is asked to keep anything, so work of a worker that is lost is done again
by another, and rows are never brought together. Predictions are lazy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import _get_feature_names, check_is_fitted

try:
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    from dask import delayed
    from dask.base import is_dask_collection
except ImportError as error:
    raise ImportError("hingenet.dask needs Dask with its data frames: pip install 'hingenet[dask]'") from error

try:
    from distributed import KilledWorker as _KilledWorker
except ImportError:  # tasks of other schedulers are in this process

    class _KilledWorker(Exception):  # type: ignore[no-redef]
        """Does not happen."""


from . import _bayes_net, _density, _gaussian, _pool
from ._base import EngineClassifier
from ._docs import documented
from ._engine import HingenetError
from ._input import check_labels
from ._params import Declared, parameter
from .pieces import PieceFit, Task, merge

__all__ = ["BayesNetClassifier", "GaussianNetworkClassifier", "HingenetClassifier", "LogDensityClassifier"]

# What was gathered is merged so many at a time.
_MERGED = 8


@documented
class _Distributed(Declared):
    """A classifier that learns from partitions."""

    _local: ClassVar[type[EngineClassifier]]

    client: Any = parameter(
        "distributed.Client or None",
        "Where the work is done; None is the scheduler that Dask would take.",
        default=None,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model, in some rounds over the partitions.

        Every round computes the partitions anew; ``X.persist()`` keeps them in the memory of the workers.

        Parameters
        ----------
        X : dask DataFrame or dask Array of shape (n_samples, n_features)
            Features. NaN (and None) is a missing cell. Text, boolean and categorical columns of a frame are categories; numbers
            are numbers. A partition may be empty, and need not have all categories.
        y : dask Series, dask Array or str
            Class labels, in the partitions of `X`, or the name of their column in `X`.
        sample_weight : dask Series, dask Array, str or None, default=None
            Weights of the rows, which are whole numbers, or the name of their column in `X`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        table = _Partitions(X, y, sample_weight)
        labels = self._gathered(_united, table.each(_labels_of, y=table.labels()), table)
        local = self._unfitted()
        fit = PieceFit(
            local, table.features, labels, target=table.target, weighted=sample_weight is not None
        )
        while task := fit.task():
            # sent once, and not once for each partition
            task = delayed(task, pure=True, traverse=False)
            fit.advance(self._gathered(merge, table.each(_gathered, task), table))
        self.__dict__.update(_fitted(local))
        return self

    def _gathered(self, join: Callable[[list[Any]], Any], parts: list[Any], table: _Partitions) -> Any:
        """What one round gathers. Of an error that is not ours the partition is looked for."""
        try:
            return self._computed(_tree(join, parts))
        except (HingenetError, _KilledWorker):
            raise
        except Exception:
            for place, rows in enumerate(table.rows()):
                try:
                    self._computed(rows)
                except Exception as error:
                    raise HingenetError(f"partition {place} cannot be computed: {error}") from error
            raise

    def _computed(self, value: Any) -> Any:
        return value.compute() if self.client is None else self.client.compute(value).result()

    def _unfitted(self) -> EngineClassifier:
        params = self.get_params(deep=False)
        return self._local(**{name: value for name, value in params.items() if name != "client"})

    def to_local(self) -> EngineClassifier:
        """The same classifier for rows in memory.

        Returns
        -------
        estimator : estimator
            A fitted estimator of :mod:`hingenet`, which ``save`` writes.
        """
        check_is_fitted(self)
        local = self._unfitted()
        local.__dict__.update(_fitted(self))
        return local

    def predict(self, X: Any) -> Any:
        """Most probable class of each row, lazily.

        {lazy_rows}

        Returns
        -------
        y : dask Series with the index of `X`, dask Array, or ndarray
            Class labels.
        """
        return self._answered("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class given the observed cells, lazily.

        {lazy_rows}

        {lazy_proba}
        """
        return self._answered("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Log probability of each class given the observed cells, lazily.

        {lazy_rows}

        {lazy_proba}
        """
        return self._answered("predict_log_proba", X)

    def _answered(self, method: str, X: Any) -> Any:
        local = self.to_local()
        if not is_dask_collection(X):
            return getattr(local, method)(X)
        # one object of the graph, which a worker asks for once
        model = delayed(local, pure=True, traverse=False)
        if isinstance(X, dd.DataFrame):
            return X.map_partitions(_answer, model, method, meta=_answer(X._meta, local, method))
        if not isinstance(X, da.Array):
            raise TypeError(f"X is a dask DataFrame or Array, not {type(X).__name__}")
        meta = _answer(np.empty((0, local.n_features_in_)), local, method)
        shape = {"drop_axis": 1} if meta.ndim == 1 else {"chunks": (X.chunks[0], (meta.shape[1],))}
        return _rows_whole(X).map_blocks(_answer, model, method, dtype=meta.dtype, meta=meta, **shape)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows in memory whose class is predicted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            Accuracy.
        """
        self._require_memory(X)
        return super().score(X, y, sample_weight)  # type: ignore[misc]

    def _fit(self, fit: Any, X: Any, *rest: Any, **named: Any) -> Any:
        self._require_memory(X)
        return super()._fit(fit, X, *rest, **named)  # type: ignore[misc]

    def _features(self, X: Any) -> Any:
        self._require_memory(X)
        return super()._features(X)  # type: ignore[misc]

    def _require_memory(self, X: Any) -> None:
        if is_dask_collection(X):
            raise TypeError("this takes rows in memory; give some of them by X.head() or X.compute()")

    def __getstate__(self) -> dict[str, Any]:
        # a connection is of one process
        return {**super().__getstate__(), "client": None}  # type: ignore[misc]


class _Partitions:
    """The partitions of a table, with class and weights."""

    def __init__(self, X: Any, y: Any, sample_weight: Any) -> None:
        if not isinstance(X, (dd.DataFrame, da.Array)):
            raise TypeError(f"X is a dask DataFrame or Array, not {type(X).__name__}; hingenet has estimators of rows in memory")
        self._X, self._y = X, y
        named = [name for name in (y, sample_weight) if isinstance(name, str)]
        self.features = _features_of(X, named)
        self.target = y if isinstance(y, str) else y.name if isinstance(y, dd.Series) else None
        self._parts = [_blocks(_rows_whole(X), "X")]
        for values, what in ((y, "y"), (sample_weight, "sample_weight")):
            one_for_all = values is None or isinstance(values, str)
            parts = [values] * len(self._parts[0]) if one_for_all else _blocks(values, what)
            if len(parts) != len(self._parts[0]):
                raise ValueError(
                    f"X has {len(self._parts[0])} partitions and {what} has {len(parts)}; take both from one table, "
                    "or name a column of X"
                )
            self._parts.append(parts)

    def labels(self) -> list[Any]:
        """The labels of every partition."""
        return _blocks(self._X[self._y], "y") if isinstance(self._y, str) else self._parts[1]

    def rows(self) -> list[Any]:
        """The number of rows of every partition, yet to be counted."""
        return [delayed(len)(part) for part in self._parts[0]]

    def each(self, work: Callable[..., Any], *about: Any, y: list[Any] | None = None) -> list[Any]:
        """Work on every partition, or on its labels alone, yet to be done."""
        pieces = zip(y, strict=True) if y is not None else zip(*self._parts, strict=True)
        lazy = delayed(work, pure=True, traverse=False)
        return [lazy(*about, place, *piece) for place, piece in enumerate(pieces)]


def _features_of(X: Any, named: list[str]) -> list[str] | int:
    """Names of the features, or how many there are."""
    if isinstance(X, da.Array):
        if named:
            raise TypeError(f"an array has no column {named[0]!r}; give a dask Array")
        if X.ndim != 2 or np.isnan(X.shape[1]):
            raise ValueError("X has rows and a known number of columns")
        return X.shape[1]
    absent = [name for name in named if name not in X.columns]
    if absent:
        raise ValueError(f"X has no column {absent[0]!r}")
    features = X._meta.drop(columns=named)
    names = _get_feature_names(features)
    return features.shape[1] if names is None else list(names)


def _rows_whole(X: Any) -> Any:
    """The same with every row in one block."""
    return X.rechunk({1: -1}) if isinstance(X, da.Array) and X.numblocks[1] > 1 else X


def _blocks(values: Any, what: str) -> list[Any]:
    """The partitions of a collection."""
    if isinstance(values, da.Array):
        return values.to_delayed().ravel().tolist()
    if not isinstance(values, (dd.DataFrame, dd.Series)):
        raise TypeError(f"{what} is a dask collection or the name of a column of X, not {type(values).__name__}")
    return list(values.to_delayed())


def _tree(join: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    """All parts joined some at a time, always the same ones; yet to be done."""
    lazy = delayed(join, pure=True)
    while len(parts) > 1:
        parts = [lazy(parts[i : i + _MERGED]) for i in range(0, len(parts), _MERGED)]
    return parts[0]


@contextmanager
def _partition(place: int) -> Iterator[None]:
    """Errors say in which partition."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise HingenetError(f"partition {place}: {error}") from error


def _gathered(task: Task, place: int, X: Any, y: Any, sample_weight: Any) -> bytes:
    with _partition(place):
        return task(X, y, sample_weight)


def _labels_of(place: int, y: Any) -> np.ndarray:
    """The labels of a partition."""
    with _partition(place):
        return check_labels(None, y, y)[0] if len(y) else np.asarray(y)[:0]


def _united(labels: list[np.ndarray]) -> np.ndarray:
    """The labels of several partitions. An empty one has no say in what they are."""
    some = [part for part in labels if len(part)] or labels[:1]
    try:
        return np.unique(np.concatenate(some))
    except TypeError as error:
        raise HingenetError("the labels of some partitions are numbers and those of others texts") from error


def _fitted(estimator: Any) -> dict[str, Any]:
    """What a fit has set."""
    params = estimator.get_params(deep=False)
    return {name: value for name, value in vars(estimator).items() if name not in params}


def _answer(X: Any, model: EngineClassifier, method: str) -> Any:
    """What a model answers for a partition, as an array if it is one, else with its index."""
    none = model.classes_[:0] if method == "predict" else np.empty((0, len(model.classes_)))
    values = getattr(model, method)(X) if len(X) else none
    if isinstance(X, np.ndarray):
        return values
    if method != "predict":
        return pd.DataFrame(values, index=X.index, columns=model.classes_.tolist())
    return pd.Series(values, index=X.index, dtype=pd.Series(model.classes_).dtype, name=model._model.target)


@documented
class HingenetClassifier(_Distributed, _pool.HingenetClassifier):
    """The pool of :class:`hingenet.HingenetClassifier` for tables that are spread over many machines.

    Of more than 20 000 distinct rows, its kernel terms and the weights of its terms come from so many, chosen by their content, and its
    network and Gaussians from all rows; a warning tells it.

    {parameters}

    {classes}
    {fit}

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from hingenet.dask import HingenetClassifier
    >>> X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    >>> model = HingenetClassifier(fast=True).fit(X, y)
    >>> model.predict(X)[:3].compute()
    array([0, 0, 0])
    """

    _local = _pool.HingenetClassifier


@documented
class BayesNetClassifier(_Distributed, _bayes_net.BayesNetClassifier):
    """The networks of :class:`hingenet.BayesNetClassifier` for tables that are spread over many machines.

    By maximum likelihood the model is that of the whole table in memory, bit by bit, however its rows are dealt. Rules with margins
    learn from the distinct coded rows, up to 2 097 152 of them.

    {parameters}

    {classes}
    {fit}

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> from sklearn.datasets import load_iris
    >>> from hingenet.dask import BayesNetClassifier
    >>> table = dd.from_pandas(load_iris(as_frame=True).frame, npartitions=3)
    >>> model = BayesNetClassifier("tan", "ml").fit(table, "target")
    >>> model.predict(table.drop(columns="target")).head(3).tolist()
    [0, 0, 0]
    """

    _local = _bayes_net.BayesNetClassifier


@documented
class GaussianNetworkClassifier(_Distributed, _gaussian.GaussianNetworkClassifier):
    """The networks of :class:`hingenet.GaussianNetworkClassifier` for tables that are spread over many machines.

    Networks that no margin moves (``"or"``, ``"h"``, ``"search"``) and whose likelihoods decide are those of the whole table in memory,
    bit by bit, if no cell is missing. Others learn from at most 20 000 distinct rows, chosen by their content, and warn if there are more.

    {parameters}

    {classes}
    {networks}
    {fit}
    """

    _local = _gaussian.GaussianNetworkClassifier


@documented
class LogDensityClassifier(_Distributed, _density.LogDensityClassifier):
    """The densities of :class:`hingenet.LogDensityClassifier` for tables that are spread over many machines.

    Of more than 20 000 distinct rows, pairs, bandwidths and weights come from so many, chosen by their content, and the densities from bins
    of all rows; a warning tells it.

    {parameters}

    {classes}
    network_ : Network
        The pairs in use.
    {fit}
    """

    _local = _density.LogDensityClassifier
