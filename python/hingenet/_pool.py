"""The pool: the classifier to try first."""

from __future__ import annotations

import os

import numpy as np

from ._base import EngineClassifier


class HingenetClassifier(EngineClassifier):
    """Pool of four classifiers that each know what to do with missing cells: the default choice.

    The class posteriors of a kernel density, an average of one-dependence networks, a shrunk Gaussian and
    a kernel machine with a margin are multiplied, with exponents that were learnt on blanked copies of the
    training rows and depend on the share of missing cells. The fitted model keeps training rows.

    Parameters
    ----------
    fast : bool, default=None
        Fewer rows and candidates in every search: faster, slightly less accurate. None is False.
    consistent : bool, default=None
        One joint kernel density for all patterns of missing cells. None is False.
    draws : int, default=None
        Completions of a row with missing cells in the kernel machine; None is 10.
    averaged : str, default=None
        Model in the place of the averaged network, its options behind ``+``: ``"tan:ml-bn-svm+lambda=4"``.
    gaussian : str, default=None
        Model in the place of the shrunk Gaussians: ``"sgbn:search"``.
    mask : path-like or {"mcar", "block"}, default=None
        Gaps on which the exponents are learnt: single cells (also for None), neighbouring columns, or those
        of a data file.
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
        Facts of the fit: rows, missing cells, warnings.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when `X` is a data frame with text names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from hingenet import HingenetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HingenetClassifier(fast=True).fit(X, y)
    >>> model.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.95
    True
    """

    _options = {
        "fast": ("fast", bool),
        "consistent": ("consistent", bool),
        "draws": ("draws", int),
        "averaged": ("a", str),
        "gaussian": ("g", str),
        "mask": ("mask", str),
    }

    def __init__(
        self,
        *,
        fast: bool | None = None,
        consistent: bool | None = None,
        draws: int | None = None,
        averaged: str | None = None,
        gaussian: str | None = None,
        mask: str | os.PathLike | None = None,
        class_weight: dict | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.fast = fast
        self.consistent = consistent
        self.draws = draws
        self.averaged = averaged
        self.gaussian = gaussian
        self.mask = mask
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _name(self) -> str:
        return "pool"
