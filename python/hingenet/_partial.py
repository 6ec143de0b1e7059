"""Learning more rows later: models by maximum likelihood keep their statistics and add those of new rows."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from . import _engine
from ._docs import documented
from ._input import check_labels, threads_of
from ._labels import texts_of


def _keeps_statistics(estimator: Any) -> bool:
    """Whether the model is one that is made of counts or moments alone, and has them if it is fitted."""
    if estimator.class_weight is not None or estimator.calibrate_sets is not None:
        return False
    if estimator.__sklearn_is_fitted__():
        return estimator._model.keeps_statistics
    name = estimator._name().split(",")[0]
    if name.startswith("sgbn:"):
        return name == "sgbn:search" or (name in ("sgbn:or", "sgbn:h") and estimator.lambda1 is not None)
    return name.endswith(":ml")


@documented
class PartialFitMixin:
    """Adds ``partial_fit`` to classifiers whose model can keep its statistics."""

    @available_if(_keeps_statistics)
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Fit, or learn more rows.

        Intervals, categories, columns and classes are those of the first call, which should see rows of every kind; later calls add to
        the counts (or moments), and the graph of a TAN or an average is learnt again from all of them. What comes out is what a fit to all
        rows gives, had it had these intervals, whatever the order of the calls. No row is kept, and no cell may be missing. After ``fit``
        the graph stays too, and averages and Gaussian networks cannot learn more.

        There for ``learning="ml"``, and for Gaussian networks by ``"search"``, or by ``"or"`` and ``"h"`` with ``lambda1`` given, without
        `class_weight` and `calibrate_sets`.

        {rows}
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like, optional
            All class labels, in the first call; those that occur in it if not given.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if not self.__sklearn_is_fitted__():
            fit = partial(_engine.fit, keep_statistics=True)
            self._set_model(*self._fit(fit, X, y, None, classes=classes))
        else:
            features = self._features(X)
            codes = codes_among(self.classes_, *check_labels(self, X, y))
            threads = threads_of(self.n_jobs)
            more = self._model.fit_like(features, codes, texts_of(self.classes_.tolist()), threads=threads)
            self._set_model(self._model.merge(more, threads=threads), self.classes_)
        self._tell()
        return self


def codes_among(classes: np.ndarray, labels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The codes of rows among all classes."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label not in places]
    if unknown:
        raise ValueError(f"y has the label {unknown[0]!r}, which is not among the classes that were known first: name all of them there")
    return np.array([places[label] for label in labels.tolist()], dtype=np.int64)[codes]
