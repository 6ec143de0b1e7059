"""Discrete Bayesian-network classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import spec_text
from ._network import NetworkClassifier


class BayesNetClassifier(NetworkClassifier):
    """Bayesian network over the class and discretised features.

    Numbers are cut into intervals (Fayyad and Irani), categories stay as they are; a structure over
    class and features is chosen, and its conditional probability tables are learnt. Missing cells are
    summed out exactly when predicting, and filled in by expectation when fitting.

    Parameters
    ----------
    structure : str, default="tan"
        ``"nb"`` (naive Bayes), ``"tan"`` (tree-augmented), ``"kdb1"`` to ``"kdb4"`` (k-trees).
    learning : str, default="ml"
        How the parameters are learnt: ``"ml"`` (maximum likelihood).
    alpha : float, default=None
        Virtual rows spread evenly over each probability table; None is 1, and 0 makes impossible what was
        never seen.
    root : {"first", "min_params"}, default=None
        Root of the tree of ``"tan"``: the first feature (also for None), or the one that gives the fewest
        parameters.
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

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import BayesNetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesNetClassifier(structure="tan").fit(X, y)
    >>> model.predict([[5.1, 3.5, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.9
    True
    """

    def __init__(
        self,
        structure: str = "tan",
        learning: str = "ml",
        *,
        alpha: float | None = None,
        root: str | None = None,
        class_weight: dict | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.structure = structure
        self.learning = learning
        self.alpha = alpha
        self.root = root
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _spec(self) -> str:
        return spec_text(f"{self.structure}:{self.learning}", alpha=self.alpha, root=self.root)

    @classmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        structure, learning = name.split(":")
        numbers = {key: float(value) for key, value in options.items() if key != "root"}
        return {"structure": structure, "learning": learning, "root": options.get("root"), **numbers}
