"""What all supervised estimators share: from checked rows to a model of the engine, and back to labels."""

from __future__ import annotations

import json
import os
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _engine
from ._docs import documented
from ._explanation import Explanation, ShapleyValues
from ._explore import ExplorerPage
from ._frames import cells_of, is_frame, some_columns
from ._input import (
    Labelled,
    DataWarning,
    HingenetWarning,
    check_features,
    check_labels,
    check_weights,
    feature_names,
    free_name,
    print_progress,
    run_options,
    seed_of,
    threads_of,
)
from ._labels import labels_of, texts_of
from ._params import Run, parameter
from ._partial import codes_among
from ._query import QueryMixin
from ._spec import params_of, spec_of, split_spec


# Evaluations of the model for the Shapley values of one row, and for those of each of many.
MAX_EVALS, FEW_EVALS = 2048, 512
# Training rows that importances are taken over.
SOME_ROWS = 100


@documented
class EngineEstimator(Run, BaseEstimator, metaclass=ABCMeta):
    """An estimator that holds a fitted model of the engine; a subclass says which model it is."""

    _min_features: ClassVar[int] = 1

    @abstractmethod
    def _name(self) -> str:
        """Model name without options, for example ``tan:ml``."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        {training}
        """
        self._set_model(*self._fit(_engine.fit, X, y, sample_weight))
        self._tell()
        return self

    def _keep_some(self, features: Any) -> None:
        """Holds back what a classifier needs of its training rows."""

    def _fit(
        self, fit: Callable[..., Any], X: Any, y: Any, sample_weight: Any, classes: ArrayLike | None = None
    ) -> tuple[Any, np.ndarray]:
        """What ``fit`` of the engine makes of checked rows, and the class labels."""
        features = check_features(self, X, reset=True, min_features=self._min_features)
        labels, codes = check_labels(self, X, y)
        if classes is not None:
            known = np.unique(np.asarray(classes))
            labels, codes = known, codes_among(known, labels, codes)
        weights = self._row_weights(labels, codes, check_weights(sample_weight, codes))
        if weights is not None and weights.any():
            features, codes, weights = rows_that_count(X, features, codes, weights)
        self._keep_some(features)
        names = feature_names(self)
        target = target_name(getattr(y, "name", None), names)
        rows = Labelled(features, names, codes, texts_of(labels.tolist()), target, weights)
        if is_frame(X):
            for text in _engine.doubts(rows):
                warnings.warn(text, DataWarning, stacklevel=3)
        spec = spec_of(self, self._name() + self._class_option(labels, codes), self._options)
        return fit(spec, rows, **run_options(self)), labels

    def _class_option(self, labels: np.ndarray, codes: np.ndarray) -> str:
        """Option of the model that depends on the classes."""
        return ""

    def _row_weights(
        self, labels: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None
    ) -> np.ndarray | None:
        class_weight = getattr(self, "class_weight", None)
        if class_weight is None:
            return sample_weight
        counts = np.ones(len(codes), dtype=bool) if sample_weight is None else sample_weight > 0
        # rows of weight zero are as if they were not there, and so are classes that have no others
        occurs = np.bincount(codes[counts], minlength=len(labels)) > 0
        if class_weight != "balanced":
            occurs[:] = True
        by_class = np.zeros(len(labels))
        by_class[occurs] = compute_class_weight(
            class_weight,
            classes=labels[occurs],
            y=labels[codes[occurs[codes]]],
            sample_weight=None if sample_weight is None else sample_weight[occurs[codes]],
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
        tell(self.fit_report_["warnings"], self.fit_report_["solver"])

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

    def _fitted(self) -> _engine.Model:
        check_is_fitted(self)
        return self._model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags


def rows_that_count(
    X: Any, features: Any, codes: np.ndarray, weights: np.ndarray | None
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """The rows of a frame that have a weight, so that a category that only others have is as unknown as without them."""
    if not isinstance(features, list) or weights is None or weights.all():
        return features, codes, weights
    keep = weights > 0
    return some_columns(X, keep), codes[keep], weights[keep]


def target_name(name: Any, features: list[str]) -> str:
    """What the target is called in the model: as given, unless it is no text or a feature has the name."""
    return name if isinstance(name, str) and name not in features else free_name("class", features)


def tell(texts: list[str], solver: dict[str, Any] | None) -> None:
    """Warnings of a fit as warnings of Python; a solver that did not converge is one too."""
    if solver is not None and not solver["converged"] and not any("converge" in t for t in texts):
        texts = [*texts, f"{solver['method']} did not converge in {solver['iterations']} iterations"]
    for text in texts:
        category = ConvergenceWarning if "converge" in text else HingenetWarning
        warnings.warn(text, category, stacklevel=4)


def tell_unseen(unseen: list[tuple[str, int, str]]) -> None:
    """Warns of categories that training has not seen."""
    for column, cells, first in unseen:
        text = f"column {column!r}: {cells} cells with categories unseen in training (first {first!r}) count as missing"
        warnings.warn(text, HingenetWarning, stacklevel=4)


@documented
class EngineClassifier(QueryMixin, ClassifierMixin, EngineEstimator):
    """A classifier of the engine."""

    class_weight: dict | str | None = parameter(
        'dict, "balanced" or None', "Factors of the weights of the rows of each class.", default=None
    )

    calibrate_sets: float | None = parameter(
        "float or None",
        "Share of the training rows, such as 0.25, to hold back from the fit for ``predict_set`` (5000 rows at most).",
        default=None,
    )

    max_time: float | None = parameter(
        "float or None",
        "Seconds that a fit may take. Rules with margins end with the best so far: 60 % of the time are for the search "
        "for options, of which the inner fold under way is finished, and the result depends on the speed of the machine. "
        "Other models raise ``TimeoutError``.",
        default=None,
    )

    max_memory: float | None = parameter(
        "float or None",
        "Bytes, such as ``4e9``, that one step of the fit may take; a fit that would take more is refused before it does. "
        "``None``: three quarters of the memory of the machine.",
        default=None,
    )

    absent_columns: str = parameter(
        '{"error", "missing"}',
        "What to do with a frame to predict that lacks columns of training: refuse it, as scikit-learn asks, or find columns "
        "by name and count the others as missing, with a warning.",
        default="error",
    )

    def _reader(self) -> _engine.Model:
        """The model as it is to read the rows."""
        return self._model

    def _proba(self, X: Any, log: bool = True) -> np.ndarray:
        """(Log) probabilities in the engine's order of the classes."""
        features = self._features(X)
        proba, unseen = self._reader().proba(features, log=log, threads=threads_of(self.n_jobs))
        tell_unseen(unseen)
        return proba

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row.

        {rows}

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.
        """
        best = self._proba(X).argmax(axis=1)
        return self._labels[best]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of each class given the observed cells.

        {rows}

        {proba}
        """
        return self._proba(X)[:, self._columns]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class given the observed cells.

        {rows}

        {proba}
        """
        return self._proba(X, log=False)[:, self._columns]

    def predict_set(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Classes among which the true one is with a probability asked for (split conformal prediction).

        If rows are exchangeable with those held back and cells are missing at random, the set of a row holds its class with
        probability ``coverage`` or more, at every share of missing cells. A set may be empty: the row is stranger than that share
        of rows. The model must have been fitted with ``calibrate_sets``.

        {rows}
        coverage : float, default=0.9
            Probability, above 0 and below 1.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes)
            Whether each class, in the order of ``classes_``, belongs to the set.
        """
        features = self._features(X)
        belongs, unseen = self._reader().sets(features, coverage, threads=threads_of(self.n_jobs))
        tell_unseen(unseen)
        return belongs[:, self._columns]

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of the second class (two classes), or log probabilities (more).

        {rows}

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Larger is more probable.
        """
        log_proba = self.predict_log_proba(X)
        return log_proba[:, 1] - log_proba[:, 0] if log_proba.shape[1] == 2 else log_proba

    def explain(
        self, X: Any, kind: str = "shapley", *, max_evals: int = MAX_EVALS
    ) -> ShapleyValues | Explanation:
        """The reasons for the decisions.

        {rows}
        kind : {"shapley", "terms"}, default="shapley"
            Shapley values add up for every model and every row. Terms are those of the class scores: they add up for complete rows
            of additive models, else each is what the log-odds lose without that feature.
        max_evals : int, default=2048
            How often the model may be asked for the Shapley values of a row, about: all subsets of the known features if there are
            no more than twice as many, else random orders of them (seeded by ``random_state``), which have a standard error.

        Returns
        -------
        explanation : ShapleyValues or Explanation
            Arrays, and a tidy frame by ``to_frame()``.
        """
        if kind not in ("shapley", "terms"):
            raise ValueError(f"kind is 'shapley' or 'terms', not {kind!r}")
        features = self._features(X)
        return self._shapley(features, max_evals) if kind == "shapley" else self._terms(features)

    def _shapley(self, features: Any, max_evals: int) -> ShapleyValues:
        # a generator is not asked: explaining twice gives the same
        seed = seed_of(self.random_state) if isinstance(self.random_state, (int, np.integer)) else 0
        parts = self._reader().shapley(features, max_evals, seed=seed, threads=threads_of(self.n_jobs))
        known = parts.pop("known")
        by_class = {name: values[..., self._columns] for name, values in parts.items()}
        names = np.array(feature_names(self), dtype=object)
        return ShapleyValues(classes=self.classes_, feature_names=names, known=known, **by_class)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean absolute Shapley value of each feature (nats of log-odds of the class a row is given).

        Over at most 100 training rows, drawn by a fixed seed, and with fewer evaluations than ``explain`` takes. The rows are held
        in memory until the importances are first asked for, and never written: a model that was read from a file or a pickle has none
        unless they had been asked for before; ``explain(X).importances()`` gives those of any rows.
        """
        check_is_fitted(self)
        if "_importances" not in self.__dict__:
            if "_some_rows" not in self.__dict__:
                raise AttributeError("no training rows are kept; explain(X).importances() takes any rows")
            values = self._shapley(self.__dict__.pop("_some_rows"), FEW_EVALS)
            self._importances = values.importances()[0]
        return self._importances

    def _keep_some(self, features: Any) -> None:
        """Holds a few rows back for importances, which are only computed when they are asked for."""
        self.__dict__.pop("_importances", None)
        n_rows = len(features) if isinstance(features, np.ndarray) else len(cells_of(features[0]))
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(n_rows, min(n_rows, SOME_ROWS), replace=False, shuffle=False))
        if isinstance(features, np.ndarray):
            self._some_rows = features[rows]
        else:
            self._some_rows = [c[rows] if isinstance(c, np.ndarray) else (c[0][rows], *c[1:]) for c in features]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_some_rows"}

    def _terms(self, features: Any) -> Explanation:
        parts = self._reader().terms(features, threads=threads_of(self.n_jobs))
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

    def explore(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        coordinates: Mapping[str, Sequence[float]] | None = None,
        shuffles: int = 50,
        height: int = 900,
    ) -> ExplorerPage:
        """The page of the model with its explorer: a click says what is known, and everything that follows moves.

        A notebook shows it; elsewhere open its ``url`` in a browser, or ``save`` it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), default=None
            Rows to pick from in the page, which takes the first 1000; missing cells are allowed.
        y : array-like of shape (n_samples,), default=None
            Their classes, all of them seen in training.
        coordinates : mapping from column to (x, y) or (x, y, z), default=None
            Where every column is, for example the brain regions of an atlas; the page then has a view of them, or three.
        shuffles : int, default=50
            For a Gaussian model, given ``y``: how often classes are shuffled (and rows halved) to see which differences between the
            networks of the classes are more than chance, and with which support. 0 leaves that out.
        height : int, default=900
            Height in a notebook, in pixels.

        Returns
        -------
        page : ExplorerPage
            With ``url``, ``save(path)`` and ``close()``, which a ``with`` block calls.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hingenet import BayesNetClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = BayesNetClassifier("tan", "ml").fit(X, y)
        >>> with model.explore(X, y) as page:
        ...     page.url.startswith("http://127.0.0.1:")
        True
        """
        model = self._fitted()
        if X is None and y is not None:
            raise ValueError("y has the classes of the rows of X; give X too")
        features = None if X is None else self._features(X)
        codes = None if y is None else self._codes(X, y)
        threads, progress = threads_of(self.n_jobs), print_progress if self.verbose else None
        page = _engine.ExplorerPage(model, features, codes, self._places(coordinates), shuffles, threads, progress)
        return ExplorerPage(model.spec, page, threads, height)

    def _places(self, coordinates: Mapping[str, Sequence[float]] | None) -> list[tuple[float, float, float | None]]:
        """Coordinates of the columns in their order."""
        if coordinates is None:
            return []
        names = [name for name, _ in self._model.features]
        absent = [name for name in names if name not in coordinates]
        if absent:
            raise ValueError(f"coordinates lack the columns {', '.join(absent)}")
        places = [tuple(float(c) for c in coordinates[name]) for name in names]
        if any(len(place) not in (2, 3) or not np.isfinite(place).all() for place in places):
            raise ValueError("coordinates are two or three finite numbers for each column")
        return [(place + (None,))[:3] for place in places]

    def _codes(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Classes of rows as the engine numbers them."""
        check_consistent_length(X, y)
        position = {text: c for c, text in enumerate(self._model.classes)}
        labels, places = np.unique(np.asarray(y), return_inverse=True)
        unknown = [text for text in texts_of(labels.tolist()) if text not in position]
        if unknown:
            raise ValueError(f"y has classes that training has not seen: {', '.join(unknown)}")
        codes = np.array([position[text] for text in texts_of(labels.tolist())], dtype=np.int64)
        return codes[places]

    def save(self, path: str | os.PathLike) -> None:
        """Write the model file (``.hgn``), which the program ``hingenet`` reads too.

        Parameters
        ----------
        path : path-like
            File to write. An old one is replaced whole or not at all and keeps its mode; links are followed.
        """
        self._fitted().save(os.fspath(path))

    @classmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        """Constructor parameters that the name of a model and its options stand for."""
        return params_of(options, cls._options)

    @classmethod
    def _from_model(cls, model: _engine.Model) -> Self:
        name, options = split_spec(model.spec)
        estimator = cls(**cls._params_of(name, options))
        names = [name for name, _ in model.features]
        estimator.n_features_in_ = len(names)
        if names != feature_names(estimator):
            estimator.feature_names_in_ = np.array(names, dtype=object)
        estimator._set_model(model, np.unique(labels_of(model.classes)))
        return estimator
