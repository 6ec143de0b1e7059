"""What all classifiers share: checking the input, calling the engine, files and explanations."""

from __future__ import annotations

import json
import os
import warnings
from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _engine
from ._explanation import Explanation
from ._frames import array_columns, frame_columns, is_frame, some_columns
from ._labels import labels_of, texts_of


class HingenetWarning(UserWarning):
    """A stated rule was applied to unusual data."""


def check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray | list:
    """Features for the engine: a float64 matrix, or a list of columns; sets or checks names and counts."""
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        _require_rows(X)
        return frame_columns(X)
    X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    if X.dtype.kind in "OUS":
        return array_columns(X)
    return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")


def _require_rows(X: Any) -> None:
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) (shape={tuple(X.shape)})"
            " while a minimum of 1 is required."
        )


def check_labels(estimator: BaseEstimator, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels in order, and the code of each row."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    check_consistent_length(X, y)
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    if y.dtype.kind == "O" and any(label is None for label in y):
        raise ValueError("Input y contains None; remove rows without a class, or fill them in")
    check_classification_targets(y)
    labels, codes = np.unique(y, return_inverse=True)
    return labels, codes.reshape(-1).astype(np.int64)


def feature_names(estimator: BaseEstimator) -> list[str]:
    """Names of the features in model files: those of the frame, or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else list(names)


def seed_of(random_state: Any) -> int:
    """Seed of the engine; None is 0, so that a fit is always reproducible."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: int | None) -> int:
    """Number of threads; results do not depend on it."""
    return 1 if n_jobs is None else effective_n_jobs(n_jobs)


def print_progress(stage: str, done: int, total: int) -> None:
    """Shows progress on one line per piece of news."""
    print(f"[hingenet] {stage} {done}/{total}" if total else f"[hingenet] {stage} {done}", flush=True)


class EngineClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """A classifier of the engine; a subclass says which model it is."""

    @abstractmethod
    def _spec(self) -> str:
        """Model name with options, for example ``tan:ml,alpha=1``."""

    @classmethod
    @abstractmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        """Constructor parameters of a model of a file."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Features. NaN (and None) is a missing cell. Text, boolean and categorical columns of a frame
            are categories; numbers are numbers.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A weight of 2 means the same as the row twice.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        target = getattr(y, "name", None)
        spec = self._spec()
        features = check_features(self, X, reset=True)
        labels, codes = check_labels(self, X, y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, codes, dtype=np.float64, ensure_non_negative=True
            )
        weights = self._row_weights(labels, codes, sample_weight)
        if isinstance(features, list) and weights is not None and weights.any() and not weights.all():
            # so that a category that only rows of weight zero have is as unknown as without them
            keep = weights > 0
            features, codes, weights = some_columns(X, keep), codes[keep], weights[keep]
        names = feature_names(self)
        target = target if isinstance(target, str) and target not in names else _free_name("class", names)
        model = _engine.fit(
            spec,
            features,
            names,
            codes,
            texts_of(labels.tolist()),
            target,
            weights=weights,
            seed=seed_of(self.random_state),
            threads=threads_of(self.n_jobs),
            progress=print_progress if self.verbose else None,
        )
        self._set_model(model, labels)
        self._tell()
        return self

    def _row_weights(
        self, labels: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None
    ) -> np.ndarray | None:
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return sample_weight
        by_class = compute_class_weight(
            class_weight, classes=labels, y=labels[codes], sample_weight=sample_weight
        )
        return by_class[codes] * (1.0 if sample_weight is None else sample_weight)

    def _set_model(self, model: _engine.Model, labels: np.ndarray) -> None:
        self._model = model
        self.classes_ = labels
        position = {text: c for c, text in enumerate(model.classes)}
        # engine column of each class label, and label of each engine column
        self._columns = np.array([position[text] for text in texts_of(labels.tolist())])
        self._labels = labels[np.argsort(self._columns)]
        self.fit_report_ = json.loads(model.facts())

    def _tell(self) -> None:
        texts = self.fit_report_["warnings"]
        solver = self.fit_report_["solver"]
        if solver is not None and not solver["converged"] and not any("converge" in t for t in texts):
            texts = [*texts, f"{solver['method']} did not converge in {solver['iterations']} iterations"]
        for text in texts:
            category = ConvergenceWarning if "converge" in text else HingenetWarning
            warnings.warn(text, category, stacklevel=3)

    def _features(self, X: Any) -> np.ndarray | list:
        """Features of rows to predict; a plain float64 matrix is passed on after a short look."""
        if (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype == np.float64
            and X.shape[1] == getattr(self, "n_features_in_", -1)
            and X.shape[0] > 0
            and X.flags.aligned
            and "feature_names_in_" not in self.__dict__
            and "_model" in self.__dict__
        ):
            return X
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _proba(self, X: Any, log: bool = True) -> np.ndarray:
        """(Log) probabilities in the engine's order of the classes."""
        features = self._features(X)
        proba, unseen = self._model.proba(features, log=log, threads=threads_of(self.n_jobs))
        for column, cells, first in unseen:
            text = f"column {column!r}: {cells} cells with categories unseen in training (first {first!r}) count as missing"
            warnings.warn(text, HingenetWarning, stacklevel=3)
        return proba

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        best = self._proba(X).argmax(axis=1)
        return self._labels[best]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of each class given the observed cells.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._proba(X)[:, self._columns]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class given the observed cells.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._proba(X, log=False)[:, self._columns]

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of the second class (two classes), or log probabilities (more).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Larger is more probable.
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba

    def explain(self, X: Any) -> Explanation:
        """The terms behind the decisions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        explanation : Explanation
            Arrays, and a tidy frame by ``to_frame()``.
        """
        features = self._features(X)
        parts = self._model.explain(features, threads=threads_of(self.n_jobs))
        return Explanation(
            classes=self.classes_,
            feature_names=np.array(feature_names(self), dtype=object),
            additive=parts["additive"],
            base=parts["base"][:, self._columns],
            scores=parts["scores"][:, self._columns],
            row=parts["row"],
            feature=parts["feature"],
            given=[tuple(features) for features in parts["given"]],
            terms=parts["terms"][:, self._columns],
        )

    def save(self, path: str | os.PathLike) -> None:
        """Write the model file (``.hgn``), which the program ``hingenet`` reads too.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    @classmethod
    def _from_model(cls, model: _engine.Model) -> Self:
        name, *options = model.spec.split(",")
        estimator = cls(**cls._params_of(name, dict(option.split("=", 1) for option in options)))
        names = [name for name, _ in model.features]
        estimator.n_features_in_ = len(names)
        if names != feature_names(estimator):
            estimator.feature_names_in_ = np.array(names, dtype=object)
        labels = labels_of(model.classes)
        estimator._set_model(model, np.unique(labels))
        return estimator

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _free_name(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def spec_text(name: str, options: dict[str, Any]) -> str:
    """Model name with the options that are not None, as text that reads back as the same values."""
    given = [f"{key}={_option_text(value)}" for key, value in options.items() if value is not None]
    return ",".join([name, *given])


def _option_text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def params_of(options: dict[str, str], types: dict[str, type]) -> dict[str, Any]:
    """Constructor parameters of the options of a model name; `types` are those of the parameters."""
    read = {float: float, int: int, str: str, bool: lambda text: text == "true"}
    known = {name: types[name] for name in types if name.rstrip("_") in options}
    return {name: read[kind](options[name.rstrip("_")]) for name, kind in known.items()}
