"""Bayesian-network classifiers trained with a margin that stay generative.

Estimators follow scikit-learn; missing cells (NaN, None) are welcome everywhere.
"""

from ._bayes_net import BayesNetClassifier
from ._density import LogDensityClassifier, LogDensityTransformer
from ._discretizer import MDLDiscretizer
from ._display import BeeswarmDisplay, CurveDisplay, MissingCurveDisplay, TermDisplay, TradeOffDisplay
from ._engine import HingenetError, __version__
from ._explanation import Explanation, ShapleyValues
from ._gaussian import FisherVectorTransformer, GaussianNetwork, GaussianNetworkClassifier
from ._imputer import NetworkImputer
from ._input import DataWarning, HingenetWarning
from ._io import load
from ._network import Network
from ._pool import HingenetClassifier

__all__ = [
    "BayesNetClassifier",
    "BeeswarmDisplay",
    "CurveDisplay",
    "DataWarning",
    "Explanation",
    "FisherVectorTransformer",
    "GaussianNetwork",
    "GaussianNetworkClassifier",
    "HingenetClassifier",
    "HingenetError",
    "HingenetWarning",
    "LogDensityClassifier",
    "LogDensityTransformer",
    "MDLDiscretizer",
    "MissingCurveDisplay",
    "Network",
    "NetworkImputer",
    "ShapleyValues",
    "TermDisplay",
    "TradeOffDisplay",
    "__version__",
    "load",
]
