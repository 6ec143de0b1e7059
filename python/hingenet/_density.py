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
from ._docs import documented
from ._input import threads_of
from ._labels import texts_of
from ._network import NetworkMixin
from ._params import Declared, option, parameter
from ._spec import escaped


class _Smoothing(Declared):
    """Parameters of kernel densities."""

    bandwidth: str | None = option("bandwidth", default=None)
    floor: float | None = option("floor", default=None)


@documented
class LogDensityClassifier(NetworkMixin, _Smoothing, EngineClassifier):
    """Class scores that add up log densities of features and of dependent pairs of features.

    Every class gets kernel densities of single features and of pairs; a linear machine with a margin weighs
    their logarithms (SLB), or they are multiplied along a tree (kernel naive Bayes, TAN and forest). The
    fitted model is a set of curves and surfaces: see :class:`hingenet.CurveDisplay`. Missing cells drop out
    of the machine's terms and are summed out of trees. Options that are None take the engine's default.

    {parameters}

    {classes}
    network_ : Network
        The pairs in use.
    {fit}

    {tenzer}

    {iris}
    >>> from hingenet import LogDensityClassifier
    >>> model = LogDensityClassifier("kde-tan").fit(X, y)
    >>> model.predict([[5.1, 3.5, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.95
    True
    """

    _families = ("slb", "slb-all", "lu", "kde-nb", "kde-tan", "kde-forest")

    variant: str = parameter(
        "str",
        '``"slb"`` (features and the most dependent pairs), ``"slb-all"`` (all pairs), ``"lu"`` (no pairs), '
        '``"kde-nb"`` (kernel naive Bayes), ``"kde-tan"`` (a tree for each class), ``"kde-forest"`` (the same with the '
        "edges that held-out rows support).",
        default="slb",
        kw_only=False,
    )
    fraction: float | None = option("fraction", default=None)
    threshold: str | None = option("threshold", default=None)
    criterion: str | None = option("criterion", default=None)
    C: float | None = option("c", default=None)
    balance: str | None = parameter(
        '{"none", "balanced"}',
        "Whether small classes count as much as large ones, where `class_weight` is None; None is chosen by inner "
        'cross-validation for machines, and ``"none"`` for trees.',
        default=None,
    )
    training_features: str | None = option("features", default=None)
    norm: str | None = option("norm", default=None)
    augment: str | None = option("augment", default=None)
    multiclass: str | None = option("multiclass", default=None)
    anchor: str | None = option("anchor", default=None)
    small_classes: str | None = option("small_classes", default="allow")
    class_weight: dict | str | None = parameter(
        'dict, "balanced" or None',
        "Weights of the classes in the machine, or factors of the class priors of trees. The densities of the classes "
        "do not depend on them.",
        default=None,
    )

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


@documented
class LogDensityTransformer(TransformerMixin, _Smoothing, EngineEstimator):
    """Log densities of features and dependent pairs in every class, as features for other estimators.

    The columns are, class by class, ``log p(x_i | class)`` of every feature and ``log p(x_i, x_j | class)``
    of the kept pairs: what the machine of SLB is trained on. A row of the training table is measured without
    itself, because a kernel on top of a row would make it look too typical; so a classifier behind this
    transformer learns from the same kind of values as it will see. A missing cell leaves of a pair the other
    cell's log density, and of nothing 0.

    {parameters}

    {classes}
    {fitted}

    {tenzer}

    {iris_frame}
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from hingenet import LogDensityTransformer
    >>> LogDensityTransformer().fit(X, y).get_feature_names_out()[0]
    'log p(sepal length (cm) | 0)'
    >>> model = make_pipeline(LogDensityTransformer(), LogisticRegression(max_iter=1000)).fit(X, y)
    >>> float(model.score(X, y)) > 0.9
    True
    """

    _families = ("slb", "lu")

    pairs: bool = parameter("bool", "Whether pairs of features are used, or single features only.", default=True)
    fraction: float | None = parameter(
        "float",
        "Share of the (class, pair) combinations that is kept, the most dependent ones; None is chosen by inner "
        "cross-validation of a linear machine.",
        default=0.1,
    )
    leave_one_out: bool = parameter(
        "bool", "Whether rows of the training table are measured without themselves.", default=True
    )

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

        {training}
        """
        self._densities, labels = self._fit(_engine.LogDensities.fit, X, y, sample_weight)
        self._set_model(self._densities.model, labels)
        self._tell()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Log densities of every row.

        {rows}

        {columns}
        """
        features = self._features(X)
        return self._densities.transform(features, threads=threads_of(self.n_jobs))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the columns, such as ``log p(height, weight | child)``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features, where the transformer was not fitted to a frame with names.

        {names}
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
