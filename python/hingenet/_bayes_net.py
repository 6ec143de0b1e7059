"""Discrete Bayesian-network classifiers."""

from __future__ import annotations

from typing import Any

from ._base import EngineClassifier
from ._docs import documented
from ._network import GenerativeMixin, NetworkMixin
from ._params import option, parameter
from ._partial import PartialFitMixin
from ._spec import Arcs


@documented
class BayesNetClassifier(PartialFitMixin, NetworkMixin, GenerativeMixin, EngineClassifier):
    """Bayesian network over the class and discretised features.

    Numbers are cut into intervals (Fayyad and Irani), categories stay as they are; a structure over
    class and features is chosen, and its conditional probability tables are learnt: by likelihood, or
    with a margin. Missing cells are summed out exactly when predicting, and filled in by expectation
    when fitting. Options that are None take the engine's default; ``lambda_``, ``gamma``, ``scale``
    and ``kappa`` are then chosen by inner cross-validation (see ``fit_report_["chosen"]``).

    {parameters}

    {classes}
    {fit}

    References
    ----------
    Peharz, Tschiatschek, Pernkopf: The Most Generative Maximum Margin Bayesian Networks, ICML 2013.

    {iris}
    >>> from hingenet import BayesNetClassifier
    >>> model = BayesNetClassifier(structure="tan", learning="ml-bn-svm").fit(X, y)
    >>> model.predict([[5.1, 3.5, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.9
    True
    """

    _families = ("nb", "tan", "kdb1", "kdb2", "kdb3", "kdb4", "dag", "aode")

    structure: str = parameter(
        "str",
        '``"nb"`` (naive Bayes), ``"tan"`` (tree-augmented), ``"kdb1"`` to ``"kdb4"`` (k-trees), ``"dag"`` (given by '
        '`edges`), ``"aode"`` (average of one-dependence networks, with ``"ml"`` and ``"ml-bn-svm"``; it has no single '
        "``network_``).",
        default="tan",
        kw_only=False,
    )
    learning: str = parameter(
        "str",
        'How the parameters are learnt: ``"ml"`` (maximum likelihood), ``"mcl"`` (maximum conditional likelihood), '
        '``"mm"`` (maximum margin), ``"bn-svm"`` (support vector machine on the terms of the network), ``"ml-bn-svm"`` '
        "(the most likely network with the required margins).",
        default="ml-bn-svm",
        kw_only=False,
    )
    alpha: float | None = option("alpha", default=None)
    root: str | None = option("root", default=None)
    edges: Any = option(
        "edges",
        default=None,
        kind="list of (str, str), networkx.DiGraph or path-like",
        about='Arcs of ``"dag"`` by column name, the target (by the name of `y`, or "class") being a node too: pairs '
        "(from, to), a graph, or a CSV file with the columns ``from`` and ``to``.",
        type=Arcs,
    )
    lambda_: float | None = option("lambda", default=None)
    gamma: float | None = option("gamma", default=None)
    scale: float | None = option("scale", default=None)
    kappa: float | None = option("kappa", default=None)
    ridge: float | None = option("ridge", default=None)
    norm: str | None = option("norm", default=None)
    form: str | None = option("form", default=None)
    smooth: bool | None = option("smooth", default=None)
    solver: str | None = option("solver", default=None)
    gap: float | None = option("gap", default=None)
    tables: str | None = option("tables", default=None)
    iterations: int | None = option("iterations", default=None)
    early_stopping: bool | None = option("early_stopping", default=None)

    def _name(self) -> str:
        return f"{self.structure}:{self.learning}"

    @classmethod
    def _params_of(cls, name: str, options: dict[str, str]) -> dict[str, Any]:
        structure, learning = name.split(":")
        return {"structure": structure, "learning": learning, **super()._params_of(name, options)}
