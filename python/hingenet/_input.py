"""What comes in: features, labels, weights, seeds, threads and progress, checked as scikit-learn asks."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_array,
    check_consistent_length,
    column_or_1d,
    validate_data,
)
from sklearn.utils.multiclass import check_classification_targets

from . import _engine
from ._frames import array_columns, frame_columns, is_frame, known_columns, label_codes


class HingenetWarning(UserWarning):
    """A stated rule was applied to unusual data."""


class DataWarning(HingenetWarning):
    """Something looks wrong with the columns or the classes of a data frame to learn from; nothing was changed."""


class Labelled(NamedTuple):
    """Rows to learn from, as the engine takes them."""

    features: np.ndarray | list
    names: list[str]
    codes: np.ndarray
    classes: list[str]
    target: str
    weights: np.ndarray | None


def check_features(
    estimator: BaseEstimator, X: Any, *, reset: bool, min_features: int = 1
) -> np.ndarray | list:
    """Features for the engine: a float64 matrix, or a list of columns; sets or checks names and counts."""
    if is_frame(X):
        names = getattr(estimator, "feature_names_in_", None)
        if not reset and names is not None and _takes_absent_columns(estimator):
            _require_size(X, 0)
            columns, absent = known_columns(X, list(names))
            if absent:
                text = f"{len(absent)} of {len(names)} columns are absent and count as missing: {', '.join(absent)}"
                warnings.warn(text, HingenetWarning, stacklevel=5)
            return columns
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        _require_size(X, min_features)
        return frame_columns(X)
    X = validate_data(
        estimator, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_features=min_features
    )
    if X.dtype.kind in "OUS":
        return array_columns(X)
    return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")


def _takes_absent_columns(estimator: Any) -> bool:
    choice = getattr(estimator, "absent_columns", "error")
    if choice not in ("error", "missing"):
        raise ValueError(f"absent_columns = {choice!r}: expected 'error' or 'missing'")
    return choice == "missing"


def check_numbers(estimator: BaseEstimator, X: Any, *, reset: bool, **least: int) -> np.ndarray:
    """A C-ordered float64 matrix; NaN is a missing cell. A matrix that is one already is not copied."""
    return validate_data(
        estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan", **least
    )


def _require_size(X: Any, min_features: int) -> None:
    rows, columns = X.shape
    if rows < 1 or columns < min_features:
        raise ValueError(
            f"Found array with {rows} sample(s) and {columns} feature(s) (shape={(rows, columns)}) while a"
            f" minimum of 1 sample(s) and {min_features} feature(s) is required."
        )


def check_labels(estimator: BaseEstimator, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels in order, and the code of each row."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    check_consistent_length(X, y)
    labels, codes = _coded_labels(y) or _distinct(column_or_1d(y, warn=True))
    check_classification_targets(labels)
    return labels, codes


def _coded_labels(y: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Labels of a series of texts or categories by the codes that its frame gives them; None if it is another."""
    coded = label_codes(y)
    if coded is None or not len(y):
        return None
    codes, values = coded
    if (codes < 0).any():
        raise _no_label()
    occurs = np.bincount(codes, minlength=len(values)) > 0
    labels, order = np.unique(values[occurs], return_inverse=True)
    place = np.zeros(len(values), dtype=np.int64)
    place[occurs] = order.reshape(-1)
    return labels, place[codes]


def _distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values in order and the place of each row's value among them, without sorting the rows."""
    assert_all_finite(y, input_name="y")
    if y.dtype.kind == "i" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < len(y):
            shifted = y.astype(np.int64, copy=False) - low
            occurs = np.bincount(shifted, minlength=high - low + 1) > 0
            return (np.flatnonzero(occurs) + low).astype(y.dtype), (np.cumsum(occurs) - 1)[shifted]
    pandas = nw.dependencies.get_pandas()
    if y.dtype.kind == "O" and pandas is not None:
        codes, values = pandas.factorize(y)
        if (codes < 0).any():
            raise _no_label()
        labels, place = np.unique(np.asarray(values, dtype=object), return_inverse=True)
        return labels, place.reshape(-1).astype(np.int64)[codes]
    if y.dtype.kind == "O" and any(label is None for label in y):
        raise _no_label()
    if y.dtype.kind == "U" and y.dtype.itemsize:
        words = np.ascontiguousarray(y.astype(y.dtype.newbyteorder("="), copy=False))
        first, codes = _engine.distinct_rows(words.view(np.uint32).reshape(len(y), -1))
        labels, place = np.unique(y[first], return_inverse=True)
        return labels, place.reshape(-1).astype(np.int64)[codes]
    labels, codes = np.unique(y, return_inverse=True)
    return labels, codes.reshape(-1).astype(np.int64)


def _no_label() -> ValueError:
    return ValueError("Input y contains None; remove rows without a class, or fill them in")


def check_weights(sample_weight: ArrayLike | None, X: Any) -> np.ndarray | None:
    """Weights as float64, finite and not negative; None stays None."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)


def feature_names(estimator: BaseEstimator) -> list[str]:
    """Names of the features in model files: those of the frame, or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else list(names)


def free_name(name: str, taken: list[str]) -> str:
    """`name`, with underscores as long as it is taken."""
    while name in taken:
        name += "_"
    return name


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


def run_options(estimator: Any) -> dict[str, Any]:
    """Seed, threads and progress of a fit, from the constructor parameters all estimators have, and the time, the memory and
    the rows to hold back of classifiers."""
    limits = {name: getattr(estimator, name, None) for name in ("max_time", "calibrate_sets", "max_memory")}
    return {
        "seed": seed_of(estimator.random_state),
        "threads": threads_of(estimator.n_jobs),
        "progress": print_progress if estimator.verbose else None,
        **{name: float(limit) for name, limit in limits.items() if limit is not None},
    }


def print_progress(stage: str, done: int, total: int) -> None:
    """Shows progress on one line per piece of news."""
    print(f"[hingenet] {stage} {done}/{total}" if total else f"[hingenet] {stage} {done}", flush=True)
