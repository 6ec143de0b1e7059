"""The pool: the classifier to try first."""

from __future__ import annotations

import os

import numpy as np

from ._base import EngineClassifier
from ._docs import documented
from ._engine import Model
from ._params import option, parameter


@documented
class HingenetClassifier(EngineClassifier):
    """Pool of four classifiers that each know what to do with missing cells: the default choice.

    The class posteriors of a kernel density, an average of one-dependence networks, a shrunk Gaussian and
    a kernel machine with a margin are multiplied, with exponents that were learnt on blanked copies of the
    training rows and depend on the share of missing cells. The fitted model keeps training rows,
    or prototypes of them with ``rows="none"``.

    {parameters}

    {classes}
    fit_report_ : dict
        Facts of the fit: rows, missing cells, warnings.
    telling_gaps_ : list of str
        Columns whose gaps tell the class; empty if gaps do not.
    {fitted}

    {iris}
    >>> from hingenet import HingenetClassifier
    >>> model = HingenetClassifier(fast=True).fit(X, y)
    >>> model.predict([[5.1, np.nan, 1.4, np.nan]])
    array([0])
    >>> float(model.score(X, y)) > 0.95
    True
    """

    _families = ("pool",)

    fast: bool | None = option("fast", default=None)
    consistent: bool | None = option("consistent", default=None)
    draws: int | None = option("draws", default=None)
    rows: str | None = option("rows", default=None)
    group: int | None = option("group", default=None)
    averaged: str | None = option("a", default=None)
    gaussian: str | None = option("g", default=None)
    mask: str | os.PathLike | None = option("mask", default=None, kind='path-like or {"mcar", "block"}')

    gaps: str = parameter(
        '{"as-in-training", "unknown"}',
        "What a missing cell of a row to predict or explain means, where the fit found that gaps tell the class: it is missing "
        "for the reasons for which cells of its column were missing in training, or it is not known and nothing follows from "
        "that. May be set after the fit.",
        default="as-in-training",
    )

    def _set_model(self, model: Model, labels: np.ndarray) -> None:
        super()._set_model(model, labels)
        telling = model.telling_gaps()
        self.telling_gaps_ = telling[0] if telling else []

    def _reader(self) -> Model:
        if self.gaps not in ("as-in-training", "unknown"):
            raise ValueError(f"gaps = {self.gaps!r}: expected 'as-in-training' or 'unknown'")
        return self._model.reading_gaps(self.gaps == "as-in-training")

    def _name(self) -> str:
        return "pool"
