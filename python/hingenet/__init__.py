"""Bayesian-network classifiers trained with a margin that stay generative.

Estimators follow scikit-learn; missing cells (NaN, None) are welcome everywhere.
"""

from ._base import HingenetWarning
from ._bayes_net import BayesNetClassifier
from ._discretizer import MDLDiscretizer
from ._display import MissingCurveDisplay, TermDisplay
from ._engine import HingenetError, __version__
from ._explanation import Explanation
from ._io import load
from ._network import Network

__all__ = [
    "BayesNetClassifier",
    "Explanation",
    "HingenetError",
    "HingenetWarning",
    "MDLDiscretizer",
    "MissingCurveDisplay",
    "Network",
    "TermDisplay",
    "__version__",
    "load",
]
