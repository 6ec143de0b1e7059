"""Model files: whichever estimator a file belongs to."""

from __future__ import annotations

import os

from . import _engine
from ._base import EngineClassifier
from ._bayes_net import BayesNetClassifier
from ._density import LogDensityClassifier
from ._gaussian import GaussianNetworkClassifier
from ._pool import HingenetClassifier

_CLASSIFIERS = (BayesNetClassifier, LogDensityClassifier, GaussianNetworkClassifier, HingenetClassifier)
# Estimators by the first part of the model name.
_ESTIMATORS: dict[str, type[EngineClassifier]] = {
    family: estimator for estimator in _CLASSIFIERS for family in estimator._families
}


def load(path: str | os.PathLike) -> EngineClassifier:
    """Read a model file (``.hgn``) written by Python or by the program ``hingenet``.

    A file is data: whatever it holds, nothing in it is executed. Class labels that are all whole numbers
    or booleans come back as such, others as texts.

    Parameters
    ----------
    path : path-like
        File to read.

    Returns
    -------
    estimator : estimator
        The fitted estimator.
    """
    model = _engine.Model.load(os.fspath(path))
    name = model.spec.split(",")[0]
    estimator = _ESTIMATORS.get(name.split(":")[0])
    if estimator is None:
        raise _engine.HingenetError(f"there is no estimator for the model `{name}`")
    return estimator._from_model(model)
