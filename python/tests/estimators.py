"""Every estimator of the package, once with defaults and where it matters with other settings."""

from hingenet import BayesNetClassifier, MDLDiscretizer

CLASSIFIERS = [
    BayesNetClassifier(),
    BayesNetClassifier("nb", "ml"),
    BayesNetClassifier("kdb2", "ml", alpha=0.5),
    BayesNetClassifier("aode", "ml"),
    BayesNetClassifier("nb", "mcl", iterations=20),
    BayesNetClassifier("nb", "mm", lambda_=0.1, kappa=0.5),
    BayesNetClassifier("nb", "bn-svm", lambda_=1.0, norm="l2"),
    BayesNetClassifier("nb", "ml-bn-svm", lambda_=1.0, gamma=2.0, smooth=True),
]
# Without the one that searches its options, for tests on many rows.
QUICK = CLASSIFIERS[1:]
OTHERS = [MDLDiscretizer()]
