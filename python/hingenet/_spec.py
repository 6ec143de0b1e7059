"""Model names with options, as the engine, the command line and model files write them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

# Constructor parameter -> (option of the engine, type)
Options = Mapping[str, tuple[str, type]]


def spec_of(estimator: Any, name: str, options: Options) -> str:
    """Model name with the options that are not None: ``tan:ml,alpha=1.0``."""
    given = ((key, getattr(estimator, parameter)) for parameter, (key, _) in options.items())
    return ",".join([name, *(f"{key}={_text(value)}" for key, value in given if value is not None)])


def params_of(options: Mapping[str, str], known: Options) -> dict[str, Any]:
    """Constructor parameters of the options of a model name."""
    return {p: _value(options[key], kind) for p, (key, kind) in known.items() if key in options}


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options of a model name."""
    name, *options = spec.split(",")
    return name, dict(option.split("=", 1) for option in options)


class Arcs:
    """Type of a parameter that holds arcs: a path, pairs of names, or a graph of networkx."""


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(value).lower()
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    pairs = getattr(value, "edges", value)
    return _arcs_text(pairs) if isinstance(pairs, Iterable) else str(value)


def _arcs_text(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Arcs as ``a->b;a->c``."""
    arcs = [tuple(pair) for pair in pairs]
    if not arcs or any(len(pair) != 2 for pair in arcs):
        raise ValueError(f"edges are pairs (from, to), at least one; got {arcs!r:.80}")
    return ";".join("->".join(escaped(str(end)) for end in pair) for pair in arcs)


def escaped(name: str) -> str:
    """A name in which characters that mean something else in options are written as ``%2C``."""
    return quote(name, safe=" _.()[]+*/")


def _value(text: str, kind: type) -> Any:
    if kind is bool:
        return text == "true"
    if kind is Arcs:
        if "->" not in text:
            return text
        return [tuple(unquote(end.strip()) for end in arc.split("->")) for arc in text.split(";") if arc.strip()]
    return kind(text)
