"""Sparse Gaussian networks: as a classifier, as Fisher vectors, and without classes."""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _engine
from ._base import EngineClassifier, EngineEstimator, tell
from ._docs import documented
from ._input import check_numbers, check_weights, feature_names, run_options, seed_of, threads_of
from ._network import GenerativeMixin, Network
from ._params import Declared, Run, option, parameter
from ._partial import PartialFitMixin


class _Structure(Declared):
    """Parameters of the class networks."""

    lambda1: float | None = option("lambda1", default=None)
    fused: float | None = option("fused", default=None)
    penalty: float | None = option("penalty", default=None)
    rounds: int | None = option("rounds", default=None)
    start: str | None = option("start", default=None)
    k: int | None = option("k", default=None)
    slack: float | None = option("slack", default=None)
    nu: float | None = option("nu", default=None)
    variance: str | None = option("variance", default=None)


class _ClassNetworks:
    """An estimator with a Gaussian network for each class."""

    @property
    def networks_(self) -> dict[Any, Network]:
        """dict : the network of each class label; strengths are weights on standardised values."""
        networks = Network._all(self._fitted())
        return {label: networks[c] for label, c in zip(self.classes_, self._columns, strict=True)}

    @property
    def network_(self) -> Network:
        """Network : the arcs of any class, each with the weight of the class where it is strongest."""
        strongest: dict[tuple[str, str], float] = {}
        for network in self.networks_.values():
            for edge, strength in zip(network.edges, network.strengths, strict=True):
                strongest[edge] = max(strongest.get(edge, 0.0), float(strength), key=abs)
        return Network(
            title=f"{self._model.spec}, all classes",
            nodes=network.nodes,
            edges=list(strongest),
            strengths=np.array(list(strongest.values()), dtype=np.float64),
            strength_name=network.strength_name,
        )


@documented
class GaussianNetworkClassifier(PartialFitMixin, _ClassNetworks, GenerativeMixin, _Structure, EngineClassifier):
    """A sparse Gaussian Bayesian network for each class, made discriminative.

    Numbers are standardised (categories become indicators); every class gets a directed network whose arcs
    are linear regressions. Rows are decided by the likelihoods of the networks, or by a kernel machine on
    their Fisher vectors. Missing cells are integrated out exactly when predicting, and filled in by
    expectation when fitting. Options that are None take the engine's default, or are chosen by inner
    cross-validation (`lambda1`, `k`, `nu`, `C`; see ``fit_report_["chosen"]``).

    {parameters}

    {classes}
    {networks}
    {fit}

    {zhou}

    {iris}
    >>> from hingenet import GaussianNetworkClassifier
    >>> model = GaussianNetworkClassifier("search").fit(X, y)
    >>> model.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.95
    True
    """

    _min_features = 2
    _families = ("sgbn", "fisher")

    learning: str = parameter(
        "str",
        '``"or"`` (order-constrained lasso), ``"h"`` (block descent, depends on the order of the columns), '
        '``"search"`` (search over orders), ``"kl"`` (weights moved to improve the Fisher kernel), ``"mm"`` (weights '
        "moved to a large margin).",
        default="mm",
        kw_only=False,
    )
    classifier: str = parameter(
        '{"network", "fisher-svm"}',
        "What decides: the likelihoods, or a kernel machine on the Fisher vectors.",
        default="network",
        kw_only=False,
    )
    solver: str | None = option("solver", default=None)
    priors: str | None = option(
        "priors",
        default=None,
        about='Class priors of the likelihoods; None is ``"equal"``, or ``"empirical"`` (by the weighted rows) where '
        "`class_weight` is given.",
    )
    C: float | None = option("c", default=None)
    components: int | None = option("components", default=None)
    information: str | None = option("information", default=None)
    small_classes: str | None = option("small_classes", default="allow")

    def _name(self) -> str:
        kinds = {"network": "sgbn", "fisher-svm": "fisher"}
        if self.classifier not in kinds:
            raise ValueError(f"classifier = {self.classifier!r}: expected one of {', '.join(kinds)}")
        name = f"{kinds[self.classifier]}:{self.learning}"
        weighted = self.classifier == "network" and self.priors is None and self.class_weight is not None
        return f"{name},priors=empirical" if weighted else name

    @classmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        kind, learning = name.split(":")
        classifier = "network" if kind == "sgbn" else "fisher-svm"
        return {"learning": learning, "classifier": classifier, **super()._params_of(name, options)}


@documented
class FisherVectorTransformer(_ClassNetworks, TransformerMixin, _Structure, EngineEstimator):
    """Fisher vectors of sparse Gaussian class networks, as features for other estimators.

    The Fisher vector of a row is the gradient of its log-likelihood in every arc weight and intercept of
    every class network, on standardised values: how the row would like each network to change. A row with
    missing cells gets the gradient of the likelihood of what is there.

    {parameters}

    {classes}
    {networks}
    {fitted}

    {zhou}

    {iris}
    >>> from hingenet import FisherVectorTransformer
    >>> FisherVectorTransformer("search").fit(X, y).transform(X).shape
    (150, 48)
    """

    _min_features = 2
    _families = ("sgbn",)

    learning: str = parameter(
        "str", "How the networks are learnt, as in :class:`GaussianNetworkClassifier`.", default="or", kw_only=False
    )

    def _name(self) -> str:
        return f"sgbn:{self.learning},small_classes=allow"

    def transform(self, X: Any) -> np.ndarray:
        """Fisher vector of every row.

        {rows}

        Returns
        -------
        vectors : ndarray of shape (n_samples, n_classes * n_nodes ** 2)
            Columns as in ``get_feature_names_out()``.
        """
        features = self._features(X)
        return _engine.fisher_vectors(self._model, features, threads=threads_of(self.n_jobs))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Names of the columns: ``from->to | class`` for an arc, ``node | class`` for an intercept.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Must be the names of training, if given.

        {names}
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = [f"{name} | {self._labels[c]}" for c, name in _engine.fisher_names(self._model)]
        return np.array(names, dtype=object)


@documented
class GaussianNetwork(OneToOneFeatureMixin, TransformerMixin, Run, BaseEstimator):
    """Sparse directed Gaussian network of all rows, without classes.

    Every feature is a linear regression on its parents; which arcs there are is learnt. The precision matrix
    of the network is sparse, as that of :class:`sklearn.covariance.GraphicalLasso`, and the arcs have
    directions where the data determine them. Missing cells (NaN) are filled in by expectation when fitting
    and integrated out when scoring; as a step of a pipeline it completes rows (:meth:`transform`).

    {parameters}

    Attributes
    ----------
    weights_ : ndarray of shape (n_features, n_features)
        Regression weights in the units of the columns; ``weights_[i, j]`` is that of the arc from i to j.
    standardized_weights_ : ndarray of shape (n_features, n_features)
        The same on standardised columns: comparable between arcs.
    intercept_, noise_variance_ : ndarray of shape (n_features,)
        Intercept and noise variance of each regression.
    location_ : ndarray of shape (n_features,)
        Mean of the network.
    covariance_, precision_ : ndarray of shape (n_features, n_features)
        Covariance matrix of the network and its inverse.
    undirected_edges_ : list of (int, int)
        Arcs whose direction the data do not determine.
    bic_ : float or None
        Score of ``"search"``.
    network_ : Network
        The graph with its strengths and pictures.
    {fitted}

    {zhou}

    Examples
    --------
    >>> import numpy as np
    >>> from hingenet import GaussianNetwork
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> b = rng.normal(size=500)
    >>> X = np.column_stack([a, b, a + b + rng.normal(size=500)])
    >>> GaussianNetwork().fit(X).network_.edges
    [('x0', 'x2'), ('x1', 'x2')]
    """

    _families = ("sgbn",)

    method: str = parameter(
        '{"search", "or", "or-printed", "h", "h-whole", "pc", "gs", "iamb", "fast-iamb", "inter-iamb", "tc", '
        '"tc-bw", "l1mb"}',
        "Search over orders by BIC; order-constrained lasso, also as printed in the paper; block descent (which "
        "depends on the order of the columns), also of the whole network at once; independence tests; lasso "
        "neighbourhoods.",
        default="search",
        kw_only=False,
    )
    alpha: float | None = parameter(
        "float", 'Level of the independence tests of ``"pc"`` to ``"tc-bw"``; None is 0.05.', default=None
    )
    lambda1: float | None = parameter(
        "float",
        'Penalty of an arc of ``"or"``, ``"h"`` and their variants; None is 0.6 times the number of rows.',
        default=None,
    )
    start: str = parameter(
        '{"lasso", "l1mb"}',
        'Where ``"or"`` begins: at lasso regressions, or at those of ``"l1mb"``.',
        default="lasso",
    )
    penalty: float | None = parameter(
        "float", 'Penalty of an arc of ``"search"`` in units of log n; None is 2.', default=None
    )
    rounds: int | None = parameter("int", 'Restarts of ``"search"``; None is 100.', default=None)

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the network.

        {numbers}
        y : None
            Not used.
        {weights}

        {self}
        """
        X = check_numbers(self, X, reset=True, ensure_min_samples=2, ensure_min_features=2)
        network, facts = _engine.fit_network(
            X,
            feature_names(self),
            str(self.method),
            weights=check_weights(sample_weight, X),
            lambda1=self.lambda1,
            start=str(self.start),
            alpha=self.alpha,
            penalty=self.penalty,
            rounds=self.rounds,
            **run_options(self),
        )
        self.weights_ = network.weights
        self.standardized_weights_ = facts["weights"]
        self.intercept_, self.noise_variance_ = network.intercept, network.variance
        self.location_, self.covariance_ = network.joint()
        self.precision_ = network.precision()
        self.undirected_edges_ = facts["undirected"]
        self.bic_ = facts["score"]
        self.fit_report_ = {"solver": json.loads(facts["solver"])}
        tell([], self.fit_report_["solver"])
        return self

    def _network(self) -> _engine.GaussianNetwork:
        check_is_fitted(self)
        return _engine.GaussianNetwork(self.weights_, self.intercept_, self.noise_variance_)

    @property
    def network_(self) -> Network:
        """Network : the graph with its strengths and pictures."""
        check_is_fitted(self)
        names = feature_names(self)
        arcs = [(i, j) for j, i in zip(*np.nonzero(self.standardized_weights_.T), strict=True)]
        return Network(
            title=f"Gaussian network of {len(names)} features",
            nodes=names,
            edges=[(names[i], names[j]) for i, j in arcs],
            strengths=np.array([self.standardized_weights_[i, j] for i, j in arcs], dtype=np.float64),
            strength_name="weight on standardised values; orange is negative",
        )

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of the observed cells of each row.

        {numbers}

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Natural logarithms, in the units of the columns.
        """
        network = self._network()
        return network.log_densities(check_numbers(self, X, reset=False), threads=threads_of(self.n_jobs))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of the rows.

        {numbers}
        y : None
            Not used.

        Returns
        -------
        score : float
            Mean of ``score_samples``.
        """
        return float(np.mean(self.score_samples(X)))

    def impute(self, X: Any) -> np.ndarray:
        """The rows with missing cells replaced by their means given the observed ones.

        {numbers}

        {complete}
        """
        network = self._network()
        return network.completed(check_numbers(self, X, reset=False), threads=threads_of(self.n_jobs))

    def transform(self, X: Any) -> np.ndarray:
        """The same as :meth:`impute`, for pipelines.

        {numbers}

        {complete}
        """
        return self.impute(X)

    def sample(
        self, n_samples: int = 1, *, random_state: int | np.random.RandomState | None = None
    ) -> np.ndarray:
        """Draw rows from the network.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=None
            Seed; None is 0.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The rows.
        """
        return self._network().sample(n_samples, seed_of(random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
