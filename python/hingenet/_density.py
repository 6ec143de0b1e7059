"""Log densities of features and pairs of features: as a classifier, and as features for other estimators."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _engine
from ._base import EngineClassifier, EngineEstimator
from ._input import threads_of
from ._labels import texts_of
from ._network import NetworkMixin
from ._spec import escaped


class LogDensityClassifier(NetworkMixin, EngineClassifier):
    """Class scores that add up log densities of features and of dependent pairs of features.

    Every class gets kernel densities of single features and of pairs; a linear machine with a margin weighs
    their logarithms (SLB), or they are multiplied along a tree (kernel naive Bayes, TAN and forest). The
    fitted model is a set of curves and surfaces: see :class:`hingenet.CurveDisplay`. Missing cells drop out
    of the machine's terms and are summed out of trees. Options that are None take the engine's default.

    Parameters
    ----------
    variant : str, default="slb"
        ``"slb"`` (features and the most dependent pairs), ``"slb-all"`` (all pairs), ``"lu"`` (no pairs),
        ``"kde-nb"`` (kernel naive Bayes), ``"kde-tan"`` (a tree for each class), ``"kde-forest"`` (the same
        with the edges that held-out rows support).
    bandwidth : {"plugin", "normal"}, default=None
        Smoothing: two-stage plug-in (also for None), or the normal-scale rule, which is faster.
    floor : float, default=None
        Log densities end where one training point lies this many bandwidths away; None is 4 for machines
        and 8 for trees.
    fraction : float, default=None
        Share of the (class, pair) combinations that ``"slb"`` keeps; None is chosen by inner
        cross-validation.
    C : float, default=None
        Weight of the margin shortfalls of the machine; None is 1.
    balance : {"none", "balanced"}, default=None
        Whether small classes count as much as large ones, where `class_weight` is None; None is chosen by
        inner cross-validation for machines, and ``"none"`` for trees.
    training_features : str, default=None
        Where the log densities of the training rows come from: ``"leave_one_out"`` (also for None),
        ``"resubstitution"`` (the paper's), ``"split"``, ``"cross_fit"``.
    penalty : {"l2", "l1", "group"}, default=None
        Norm of the machine's weights; None is ``"l2"``. ``"l1"`` makes single terms zero, ``"group"`` all terms
        of a column or a pair together.
    augment : {"none", "raw", "raw_and_products"}, default=None
        Also the standardised numbers, or these and the products of kept pairs, as terms of the machine; None is
        ``"none"``.
    multiclass : {"one_vs_rest", "crammer_singer"}, default=None
        More than two classes: a machine for each against the rest (also for None), or one machine of all.
    anchor : {"none", "nb", "tan"}, default=None
        Penalise the distance of the machine's weights from those of kernel naive Bayes or kernel TAN, which a
        small `C` gives back; None is ``"none"``.
    small_classes : {"allow", "refuse", "pairs"}, default="allow"
        Whether classes with fewer than four rows are fitted, with a warning, or are an error; ``"pairs"`` also
        gives classes with fewer than 20 rows densities of pairs.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the machine, or factors of the class priors of trees. The densities of the
        classes do not depend on them.
    random_state : int, RandomState instance or None, default=None
        Seed of random choices; None is 0, so that a fit is always reproducible.
    n_jobs : int, default=None
        Number of threads; -1 uses all processors. Results do not depend on it.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : Network
        The pairs in use.
    fit_report_ : dict
        Facts of the fit: rows, missing cells, options chosen, how the solver ended, warnings.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when `X` is a data frame with text names.

    References
    ----------
    Tenzer, Moscovich, Dorn, Nadler, Spiegelman: Beyond Trees: Classification with Sparse Pairwise
    Dependencies, JMLR 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import LogDensityClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogDensityClassifier("kde-tan").fit(X, y)
    >>> model.predict([[5.1, 3.5, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.95
    True
    """

    _options = {
        "bandwidth": ("bandwidth", str),
        "floor": ("floor", float),
        "fraction": ("fraction", float),
        "C": ("c", float),
        "training_features": ("features", str),
        "penalty": ("penalty", str),
        "augment": ("augment", str),
        "multiclass": ("multiclass", str),
        "anchor": ("anchor", str),
        "small_classes": ("small_classes", str),
    }

    def __init__(
        self,
        variant: str = "slb",
        *,
        bandwidth: str | None = None,
        floor: float | None = None,
        fraction: float | None = None,
        C: float | None = None,
        balance: str | None = None,
        training_features: str | None = None,
        penalty: str | None = None,
        augment: str | None = None,
        multiclass: str | None = None,
        anchor: str | None = None,
        small_classes: str | None = "allow",
        class_weight: dict | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.variant = variant
        self.bandwidth = bandwidth
        self.floor = floor
        self.fraction = fraction
        self.C = C
        self.balance = balance
        self.training_features = training_features
        self.penalty = penalty
        self.augment = augment
        self.multiclass = multiclass
        self.anchor = anchor
        self.small_classes = small_classes
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _name(self) -> str:
        return str(self.variant)

    @classmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        given = {"variant": name, "balance": options.get("class_weights")}
        return {**given, **super()._params_of(name, options)}

    def _class_option(self, labels: np.ndarray, codes: np.ndarray) -> str:
        if self.class_weight is None:
            return "" if self.balance is None else f",class_weights={self.balance}"
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return ",class_weights=balanced"
        weights = compute_class_weight(self.class_weight, classes=labels, y=labels[codes])
        names = texts_of(labels.tolist())
        given = (f"{escaped(name)}:{float(weight)!r}" for name, weight in zip(names, weights, strict=True))
        return f",class_weights={';'.join(given)}"

    def _row_weights(self, labels: np.ndarray, codes: np.ndarray, sample_weight: Any) -> Any:
        return sample_weight

    def curves(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """What each feature adds to the class scores along its values.

        Returns
        -------
        curves : dict
            For each feature in use the values, and the contributions of shape (n_values, n_classes), each
            measured from its mean over the training rows. Values of a category are codes.
        """
        names = [name for name, _ in self._fitted().features]
        curves = _engine.curves(self._model)
        return {names[j]: (values, scores[:, self._columns]) for j, values, scores in curves}


class LogDensityTransformer(TransformerMixin, EngineEstimator):
    """Log densities of features and dependent pairs in every class, as features for other estimators.

    The columns are, class by class, ``log p(x_i | class)`` of every feature and ``log p(x_i, x_j | class)``
    of the kept pairs: what the machine of SLB is trained on. A row of the training table is measured without
    itself, because a kernel on top of a row would make it look too typical; so a classifier behind this
    transformer learns from the same kind of values as it will see. A missing cell leaves of a pair the other
    cell's log density, and of nothing 0.

    Parameters
    ----------
    pairs : bool, default=True
        Whether pairs of features are used, or single features only.
    fraction : float, default=0.1
        Share of the (class, pair) combinations that is kept, the most dependent ones; None is chosen by
        inner cross-validation of a linear machine.
    leave_one_out : bool, default=True
        Whether rows of the training table are measured without themselves.
    bandwidth : {"plugin", "normal"}, default=None
        Smoothing: two-stage plug-in (also for None), or the normal-scale rule, which is faster.
    floor : float, default=None
        Log densities end where one training point lies this many bandwidths away; None is 4.
    random_state : int, RandomState instance or None, default=None
        Seed of random choices; None is 0, so that a fit is always reproducible.
    n_jobs : int, default=None
        Number of threads; -1 uses all processors. Results do not depend on it.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when `X` is a data frame with text names.

    References
    ----------
    Tenzer, Moscovich, Dorn, Nadler, Spiegelman: Beyond Trees: Classification with Sparse Pairwise
    Dependencies, JMLR 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from hingenet import LogDensityTransformer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> LogDensityTransformer().fit(X, y).get_feature_names_out()[0]
    'log p(sepal length (cm) | 0)'
    >>> model = make_pipeline(LogDensityTransformer(), LogisticRegression(max_iter=1000)).fit(X, y)
    >>> float(model.score(X, y)) > 0.9
    True
    """

    _options = {
        "bandwidth": ("bandwidth", str),
        "floor": ("floor", float),
    }

    def __init__(
        self,
        *,
        pairs: bool = True,
        fraction: float | None = 0.1,
        leave_one_out: bool = True,
        bandwidth: str | None = None,
        floor: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.pairs = pairs
        self.fraction = fraction
        self.leave_one_out = leave_one_out
        self.bandwidth = bandwidth
        self.floor = floor
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _name(self) -> str:
        name = "slb" if self.pairs else "lu"
        if self.pairs and self.fraction is not None:
            # the machine itself is not used: the fewer it has to choose, the better
            name += f",fraction={float(self.fraction)!r},class_weights=none"
        elif not self.pairs:
            name += ",class_weights=none"
        name += ",small_classes=allow"
        return name if self.leave_one_out else f"{name},features=resubstitution"

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the densities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Features; NaN (and None) is a missing cell.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A weight of 2 means the same as the row twice.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._densities, labels = self._fit(_engine.LogDensities.fit, X, y, sample_weight)
        self._set_model(self._densities.model, labels)
        self._tell()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Log densities of every row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        log_densities : ndarray of shape (n_samples, n_log_densities)
            Columns as in ``get_feature_names_out()``.
        """
        features = self._features(X)
        return self._densities.transform(features, threads=threads_of(self.n_jobs))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the columns, such as ``log p(height, weight | child)``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where the transformer was not fitted to a frame with names.

        Returns
        -------
        names : ndarray of str objects
            One name for each column.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array(
            [
                f"log p({names[i]}{'' if j is None else f', {names[j]}'} | {self._labels[c]})"
                for c, i, j in self._densities.columns()
            ],
            dtype=object,
        )
