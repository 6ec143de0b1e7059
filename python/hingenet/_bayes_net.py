"""Discrete Bayesian-network classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import EngineClassifier
from ._network import GenerativeMixin, NetworkMixin
from ._spec import Arcs


class BayesNetClassifier(NetworkMixin, GenerativeMixin, EngineClassifier):
    """Bayesian network over the class and discretised features.

    Numbers are cut into intervals (Fayyad and Irani), categories stay as they are; a structure over
    class and features is chosen, and its conditional probability tables are learnt: by likelihood, or
    with a margin. Missing cells are summed out exactly when predicting, and filled in by expectation
    when fitting. Options that are None take the engine's default; ``lambda_``, ``gamma`` and ``kappa``
    are then chosen by inner cross-validation (see ``fit_report_["chosen"]``).

    Parameters
    ----------
    structure : str, default="tan"
        ``"nb"`` (naive Bayes), ``"tan"`` (tree-augmented), ``"kdb1"`` to ``"kdb4"`` (k-trees), ``"dag"``
        (given by `edges`), ``"aode"`` (average of one-dependence networks, with ``"ml"`` and
        ``"ml-bn-svm"``; it has no single ``network_``).
    learning : str, default="ml-bn-svm"
        How the parameters are learnt: ``"ml"`` (maximum likelihood), ``"mcl"`` (maximum conditional
        likelihood), ``"mm"`` (maximum margin), ``"bn-svm"`` (support vector machine on the terms of the
        network), ``"ml-bn-svm"`` (the most likely network with the required margins).
    alpha : float, default=None
        Virtual rows spread evenly over each probability table; None is 1, and 0 makes impossible what was
        never seen.
    root : {"first", "min_params"}, default=None
        Root of the tree of ``"tan"``: the first feature (also for None), or the one that gives the fewest
        parameters.
    edges : list of (str, str), networkx.DiGraph or path-like, default=None
        Arcs of ``"dag"`` by column name, the target (by the name of `y`, or "class") being a node too: pairs
        (from, to), a graph, or a CSV file with the columns ``from`` and ``to``.
    lambda_ : float, default=None
        Weight of the margin (``"ml-bn-svm"``, ``"bn-svm"``), or scale of the margins (``"mm"``).
    gamma : float, default=None
        Log margin that every row should have (``"ml-bn-svm"``).
    kappa : float, default=None
        Rounding of the cap on the margins (``"mm"``).
    ridge : float, default=None
        Weight of the squared distance from the maximum-likelihood parameters (``"mcl"``).
    norm : {"l2", "l1"}, default=None
        Norm of the weights (``"bn-svm"``).
    form : {"exact", "tables"}, default=None
        Free weights normalised at the end, or normalised tables throughout (``"mcl"``, ``"mm"``).
    smooth : bool, default=None
        Smooth margin loss (None too), or the plain hinge (``"ml-bn-svm"``).
    solver : str, default=None
        Method of ``"ml-bn-svm"``: ``"auto"``, ``"newton"``, ``"interior"``, ``"lbfgs"``, ``"projected"``,
        ``"conic"``.
    tables : {"shared", "own"}, default=None
        Whether the networks of ``"aode"`` with ``"ml-bn-svm"`` share one table for each pair of features (None
        too), or learn alone, with a certificate.
    iterations : int, default=None
        Iterations of the solver (``"mcl"``, ``"mm"``).
    early_stopping : bool, default=None
        Choose the number of iterations by inner cross-validation (``"mm"``).
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of the rows of each class.
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
    fit_report_ : dict
        Facts of the fit: rows, missing cells, options chosen, how the solver ended, warnings.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when `X` is a data frame with text names.

    References
    ----------
    Peharz, Tschiatschek, Pernkopf: The Most Generative Maximum Margin Bayesian Networks, ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import BayesNetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesNetClassifier(structure="tan", learning="ml-bn-svm").fit(X, y)
    >>> model.predict([[5.1, 3.5, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.9
    True
    """

    _options = {
        "alpha": ("alpha", float),
        "root": ("root", str),
        "edges": ("edges", Arcs),
        "lambda_": ("lambda", float),
        "gamma": ("gamma", float),
        "kappa": ("kappa", float),
        "ridge": ("ridge", float),
        "norm": ("norm", str),
        "form": ("form", str),
        "smooth": ("smooth", bool),
        "solver": ("solver", str),
        "tables": ("tables", str),
        "iterations": ("iterations", int),
        "early_stopping": ("early_stopping", bool),
    }

    def __init__(
        self,
        structure: str = "tan",
        learning: str = "ml-bn-svm",
        *,
        alpha: float | None = None,
        root: str | None = None,
        edges: Any = None,
        lambda_: float | None = None,
        gamma: float | None = None,
        kappa: float | None = None,
        ridge: float | None = None,
        norm: str | None = None,
        form: str | None = None,
        smooth: bool | None = None,
        solver: str | None = None,
        tables: str | None = None,
        iterations: int | None = None,
        early_stopping: bool | None = None,
        class_weight: dict | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.structure = structure
        self.learning = learning
        self.alpha = alpha
        self.root = root
        self.edges = edges
        self.lambda_ = lambda_
        self.gamma = gamma
        self.kappa = kappa
        self.ridge = ridge
        self.norm = norm
        self.form = form
        self.smooth = smooth
        self.solver = solver
        self.tables = tables
        self.iterations = iterations
        self.early_stopping = early_stopping
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _name(self) -> str:
        return f"{self.structure}:{self.learning}"

    @classmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        structure, learning = name.split(":")
        return {"structure": structure, "learning": learning, **super()._params_of(name, options)}
