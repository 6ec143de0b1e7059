"""Every estimator of the package, once with defaults and where it matters with other settings."""

from hingenet import BayesNetClassifier, MDLDiscretizer

CLASSIFIERS = [
    BayesNetClassifier(),
    BayesNetClassifier(structure="nb"),
    BayesNetClassifier(structure="kdb2"),
]
OTHERS = [MDLDiscretizer()]
