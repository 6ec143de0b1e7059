"""Bayesian-network classifiers trained with a margin that stay generative.

Estimators follow scikit-learn; missing cells (NaN, None) are welcome everywhere.
"""

from importlib import import_module

from ._engine import HingenetError, __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._bayes_net import BayesNetClassifier
    from ._density import LogDensityClassifier, LogDensityTransformer
    from ._discretizer import MDLDiscretizer
    from ._display import BeeswarmDisplay, CurveDisplay, MissingCurveDisplay, TermDisplay, TradeOffDisplay
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

# Where the names live. They are loaded when first asked for: the program `hingenet` starts without scikit-learn.
_HOMES = {
    "_bayes_net": "BayesNetClassifier",
    "_density": "LogDensityClassifier LogDensityTransformer",
    "_discretizer": "MDLDiscretizer",
    "_display": "BeeswarmDisplay CurveDisplay MissingCurveDisplay TermDisplay TradeOffDisplay",
    "_explanation": "Explanation ShapleyValues",
    "_gaussian": "FisherVectorTransformer GaussianNetwork GaussianNetworkClassifier",
    "_imputer": "NetworkImputer",
    "_input": "DataWarning HingenetWarning",
    "_io": "load",
    "_network": "Network",
    "_pool": "HingenetClassifier",
}

if not TYPE_CHECKING:  # or every name would do

    def __getattr__(name):
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f".{home}", __name__), name)
        return value


def __dir__():
    return sorted({*globals(), *__all__})
