"""Every estimator of the package, once with defaults and where it matters with other settings."""

from hingenet import (
    BayesNetClassifier,
    FisherVectorTransformer,
    GaussianNetwork,
    GaussianNetworkClassifier,
    HingenetClassifier,
    LogDensityClassifier,
    LogDensityTransformer,
    MDLDiscretizer,
    NetworkImputer,
)

# One quick classifier of each kind, for what must hold everywhere.
NB = BayesNetClassifier("nb", "ml")
SLB = LogDensityClassifier("slb", fraction=0.1, balance="none")
FOREST = LogDensityClassifier("kde-forest")
SEARCH = GaussianNetworkClassifier("search")
FISHER = GaussianNetworkClassifier("or", "fisher-svm", lambda1=20.0, C=1e-3)
POOL = HingenetClassifier(fast=True)
KINDS = [NB, SLB, FOREST, SEARCH, FISHER, POOL]

# Other settings, all without a search of options.
VARIANTS = [
    BayesNetClassifier("kdb2", "ml", alpha=0.5),
    BayesNetClassifier("aode", "ml"),
    BayesNetClassifier("tan", "ml", class_weight="balanced"),
    HingenetClassifier(fast=True, class_weight="balanced"),
    BayesNetClassifier("nb", "mcl", iterations=20),
    BayesNetClassifier("nb", "mm", scale=0.1, kappa=0.5),
    BayesNetClassifier("nb", "bn-svm", lambda_=1.0, norm="l2"),
    BayesNetClassifier("nb", "ml-bn-svm", lambda_=1.0, gamma=2.0, smooth=True),
    LogDensityClassifier("lu", bandwidth="normal", balance="balanced", C=0.5),
    LogDensityClassifier("slb", fraction=0.1, balance="none", augment="raw_and_products", multiclass="crammer_singer"),
    LogDensityClassifier("lu", bandwidth="normal", balance="none", anchor="nb"),
    LogDensityClassifier("kde-nb", floor=6.0),
    LogDensityClassifier("kde-tan", bandwidth="normal"),
    GaussianNetworkClassifier("or", lambda1=20.0, variance="pooled", priors="empirical"),
    GaussianNetworkClassifier("h", lambda1=20.0),
    GaussianNetworkClassifier("mm", start="search", rounds=5, k=20, nu=0.3),
]
SLOW_VARIANTS = [
    LogDensityClassifier("slb-all", bandwidth="normal", balance="none"),
    GaussianNetworkClassifier("kl", lambda1=20.0, k=10),
    GaussianNetworkClassifier("search", "fisher-svm", components=50, C=1e-3),
]
DEFAULTS = [BayesNetClassifier(), LogDensityClassifier(), GaussianNetworkClassifier(), HingenetClassifier()]
TRANSFORMERS = [
    MDLDiscretizer(),
    LogDensityTransformer(),
    FisherVectorTransformer(),
    NetworkImputer(),
    NetworkImputer(GaussianNetworkClassifier("search")),
]
OTHERS = [*TRANSFORMERS, GaussianNetwork(), LogDensityTransformer(pairs=False, leave_one_out=False)]


def name_of(estimator):
    """The estimator in a line, for names of tests."""
    return str(estimator).replace("\n", "").replace(" ", "")
