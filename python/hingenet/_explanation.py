"""Why rows got their classes: what each known feature adds to the log-odds, or the terms of the class scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._docs import documented
from ._frames import new_frame


@documented
@dataclass(frozen=True)
class ShapleyValues:
    """What each known feature adds to the log-odds of each class, for some rows.

    The log-odds of a class are ``log P / (1 - P)``. A value is the Shapley value of a feature, where what a set of features is worth is
    the log-odds that the model itself gives to the row with these features known and all others missing: no other data are needed.
    ``base + values.sum(axis=1)`` is ``total``. Columns that never vary get 0.

    {axes}
    base, total : ndarray of shape (n_samples, n_classes)
        Log-odds of each class when nothing is known, and for the row.
    values : ndarray of shape (n_samples, n_features, n_classes)
        What each feature adds; 0 where it is not known.
    standard_error : ndarray of shape (n_samples, n_features, n_classes)
        Standard errors of the values; 0 where they are exact.
    known : ndarray of shape (n_samples, n_features)
        False where a cell is missing, unless its gap tells the class.
    """

    classes: np.ndarray
    feature_names: np.ndarray
    base: np.ndarray
    total: np.ndarray
    values: np.ndarray
    standard_error: np.ndarray
    known: np.ndarray

    def decided(self) -> np.ndarray:
        """Values for the class each row was given, of shape (n_samples, n_features)."""
        best = self.total.argmax(axis=1)
        return self.values[np.arange(len(best)), :, best]

    def importances(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation over the rows of the absolute values for the class each row was given, of each feature.

        A missing cell counts as 0: it moved nothing.
        """
        sizes = np.abs(self.decided())
        return sizes.mean(axis=0), sizes.std(axis=0)

    def to_frame(self, backend: str | None = None) -> Any:
        """The values of the known cells as a tidy frame: row, feature, class, value, standard_error.

        ``backend`` is ``"pandas"``, ``"polars"`` or ``"pyarrow"``; None is the first that is installed.
        """
        row, feature = np.nonzero(self.known)
        n_classes = len(self.classes)
        columns = {
            "row": np.repeat(row, n_classes),
            "feature": np.repeat(np.asarray(self.feature_names, dtype=str)[feature], n_classes),
            "class": np.tile(self.classes, len(row)),
            "value": self.values[row, feature].ravel(),
            "standard_error": self.standard_error[row, feature].ravel(),
        }
        return new_frame({name: values.tolist() for name, values in columns.items()}, backend)


@documented
@dataclass(frozen=True)
class Explanation:
    """Terms of the class scores of some rows.

    {axes}
    additive : ndarray of shape (n_samples,)
        True where ``base`` plus the terms of the row is exactly ``scores``. False where a term is the
        change of the log-odds when that feature alone is treated as missing.
    base, scores : ndarray of shape (n_samples, n_classes)
        Score of each class before any term, and in total: the softmax of ``scores`` is the probability.
    row, feature : ndarray of shape (n_terms,)
        Row and feature each term belongs to; of each row the terms that matter most for its class first.
    given : list of tuple of int
        Other features each term depends on.
    terms : ndarray of shape (n_terms, n_classes)
        Contribution of each term to the score of each class.
    """

    classes: np.ndarray
    feature_names: np.ndarray
    additive: np.ndarray
    base: np.ndarray
    scores: np.ndarray
    row: np.ndarray
    feature: np.ndarray
    given: list[tuple[int, ...]]
    terms: np.ndarray

    def contributions(self) -> np.ndarray:
        """Terms summed by feature, of shape (n_samples, n_features, n_classes)."""
        out = np.zeros((len(self.base), len(self.feature_names), len(self.classes)))
        np.add.at(out, (self.row, self.feature), self.terms)
        return out

    def against_mean(self) -> np.ndarray:
        """Terms less their mean over all classes, of shape (n_terms, n_classes): what ranks them."""
        return self.terms - self.terms.mean(axis=1, keepdims=True)

    def term_name(self, term: int) -> str:
        """Name of a term: its feature and, after a bar, the features it depends on."""
        given = ", ".join(str(self.feature_names[i]) for i in self.given[term])
        name = str(self.feature_names[self.feature[term]])
        return f"{name} | {given}" if given else name

    def to_frame(self, backend: str | None = None) -> Any:
        """The terms as a tidy frame: row, feature, given, class, contribution, against_mean.

        ``against_mean`` is the contribution to the class less the mean over all classes: what ranks
        the terms. ``backend`` is ``"pandas"``, ``"polars"`` or ``"pyarrow"``; None is the first that is installed.
        """
        n_classes = len(self.classes)
        names = self.feature_names
        given = [", ".join(str(names[i]) for i in features) for features in self.given]
        columns = {
            "row": np.repeat(self.row, n_classes),
            "feature": np.repeat(np.asarray(names, dtype=str)[self.feature], n_classes),
            "given": np.repeat(np.asarray(given, dtype=str), n_classes),
            "class": np.tile(self.classes, len(self.terms)),
            "contribution": self.terms.ravel(),
            "against_mean": self.against_mean().ravel(),
        }
        return new_frame({name: values.tolist() for name, values in columns.items()}, backend)
