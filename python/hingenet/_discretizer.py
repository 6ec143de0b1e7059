"""Fayyad and Irani's discretisation as a transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._docs import documented
from ._input import check_labels, check_numbers, check_weights


@documented
class MDLDiscretizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Cut numbers into intervals by class entropy and minimum description length.

    Every column is cut where the entropy of the classes falls most, as long as the gain pays for the
    description of the cut. Columns without an accepted cut become constant 0. Missing cells stay missing.

    Attributes
    ----------
    cuts_ : list of ndarray
        Cut points of each column, ascending; a value equal to a cut lies below it.
    {fitted}

    References
    ----------
    Fayyad, Irani: Multi-interval discretization of continuous-valued attributes for classification
    learning, IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import MDLDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> discretizer = MDLDiscretizer().fit(X, y)
    >>> [len(cuts) for cuts in discretizer.cuts_]
    [2, 2, 2, 2]
    >>> discretizer.transform([[5.1, 3.5, 1.4, float("nan")]])
    array([[ 0.,  2.,  0., nan]])
    """

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the cut points.

        {numbers}
        y : array-like of shape (n_samples,)
            Class labels.
        {weights}

        {self}
        """
        X = check_numbers(self, X, reset=True)
        labels, codes = check_labels(self, X, y)
        weights = check_weights(sample_weight, X)
        if weights is not None and not weights.any():
            raise ValueError("all sample weights are zero")
        self.cuts_ = [np.array(c) for c in _engine.mdl_cuts(X, codes, len(labels), weights)]
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Number of the interval of each cell.

        {numbers}

        Returns
        -------
        codes : ndarray of shape (n_samples, n_features)
            0 for the lowest interval; NaN where the cell is missing.
        """
        check_is_fitted(self)
        X = check_numbers(self, X, reset=False)
        codes = np.empty(X.shape)
        for j, cuts in enumerate(self.cuts_):
            codes[:, j] = np.searchsorted(cuts, X[:, j], side="left")
        codes[np.isnan(X)] = np.nan
        return codes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
