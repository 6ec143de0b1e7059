"""Asking a fitted model: what follows from what is known, and what to measure next."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from . import _engine
from ._labels import text_of


class QueryMixin:
    """A classifier that can be asked with any part of its columns known."""

    def query(
        self,
        given: Mapping[str, Any] | None = None,
        *,
        exclude: Mapping[str, Any] | None = None,
        likelihood: Mapping[str, Mapping[Any, float]] | None = None,
        targets: Iterable[str] | None = None,
        about: str | None = None,
        costs: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """What follows from what is known of some columns; the target is a column too.

        Discrete networks answer exactly for every column, Gaussian networks exactly for numbers, density models by stated rules; the
        pool answers for the class only. The class has the probabilities of ``predict_proba``.

        Parameters
        ----------
        given : dict, default=None
            Values by column name.
        exclude : dict, default=None
            A value, or a list of values, that a column does not have.
        likelihood : dict, default=None
            By column, how probable what was seen is with each value; values that are not named are excluded.
        targets : list of str, default=None
            Columns to tell about; None is the target and every column whose value is not known.
        about : str, default=None
            Column that the next measurement should tell about; None is the target.
        costs : dict, default=None
            What measuring a column costs, 1 where nothing is said.

        Returns
        -------
        answer : dict
            ``posterior`` (by column the probability of each value, or ``mean``, ``sd`` and the 5, 50 and 95 % ``quantiles`` of a
            number), ``log_evidence``, ``conflict`` (above 0 what is known fits together worse than if it were independent),
            ``most_probable`` (values by column) and ``next`` (columns with the expected information in ``nats``, best first).

        Examples
        --------
        >>> import pandas as pd
        >>> from hingenet import BayesNetClassifier
        >>> X = pd.DataFrame({"sky": ["grey", "blue", "blue", "grey"] * 25, "wind": ["weak", "weak", "strong", "strong"] * 25})
        >>> y = pd.Series(["wet", "dry", "dry", "wet"] * 25, name="rain")
        >>> model = BayesNetClassifier("tan", "ml").fit(X, y)
        >>> answer = model.query({"rain": "wet"})
        >>> answer["posterior"]["sky"]["grey"] > 0.99
        True
        >>> model.query()["next"][0]["column"]
        'sky'
        """
        known = facts(given, exclude, likelihood)
        costly = [(column, float(cost)) for column, cost in (costs or {}).items()]
        return json.loads(_engine.query(self._fitted(), known, list(targets or []), about, costly))


def facts(
    given: Mapping[str, Any] | None,
    exclude: Mapping[str, Any] | None,
    likelihood: Mapping[str, Mapping[Any, float]] | None,
) -> list[tuple[str, str, list[tuple[str, float]]]]:
    """What is known of columns, as the engine takes it."""
    known = [(column, "value", [(text_of(value), 1.0)]) for column, value in (given or {}).items()]
    for column, values in (exclude or {}).items():
        values = values if isinstance(values, (list, tuple, set, frozenset)) else [values]
        known.append((column, "not", [(text, 1.0) for text in sorted(map(text_of, values))]))
    for column, weights in (likelihood or {}).items():
        pairs = [(text_of(value), float(weight)) for value, weight in weights.items()]
        known.append((column, "likelihood", pairs))
    return known
