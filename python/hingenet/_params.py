"""Constructor parameters, declared once.

A class body says ``alpha: float | None = option("alpha", default=None)``; signature, attributes and the section
*Parameters* of the docstring come from that line, and what an option of the engine means comes from the engine's own
declaration.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from . import _engine
from ._spec import Options

# Line of a docstring in whose place the parameters are listed.
PLACE = "    {parameters}\n"
# Widest line of a docstring.
WIDTH = 105

TYPES: dict[str, type] = {"number": float, "whole": int, "flag": bool, "word": str, "text": str}


@dataclass(frozen=True)
class Parameter:
    """What the line of a parameter says."""

    default: Any
    kind: str | None
    about: str | None
    kw_only: bool
    key: str | None
    type: type | None


def parameter(kind: str, about: str, *, default: Any, kw_only: bool = True) -> Any:
    """A parameter of the estimator itself."""
    return Parameter(default, kind, about, kw_only, None, None)


def option(
    key: str, *, default: Any, kind: str | None = None, about: str | None = None, type: type | None = None
) -> Any:
    """A parameter that is an option of the engine, where None is the engine's default."""
    return Parameter(default, kind, about, True, key, type)


@cache
def declared() -> list[dict[str, Any]]:
    """The models of the engine with their options."""
    return json.loads(_engine.models())


def declarations(families: tuple[str, ...], key: str) -> dict[str, dict[str, Any]]:
    """The option `key` of every model of some families that has it, by the name of the model."""
    models = (m for m in declared() if m["name"].split(":")[0] in families)
    return {m["name"]: o for m in models for o in m["options"] if o["key"] == key}


@dataclass_transform(field_specifiers=(parameter, option))
class Declared:
    """A class whose constructor parameters are the declared ones, its own first."""

    _families: ClassVar[tuple[str, ...]] = ()
    _own: ClassVar[dict[str, Parameter]] = {}
    _parameters: ClassVar[dict[str, Parameter]] = {}
    _options: ClassVar[Options] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._own = {name: p for name, p in vars(cls).items() if isinstance(p, Parameter)}
        for name in cls._own:
            delattr(cls, name)
        bases = [base._own for base in cls.__mro__ if issubclass(base, Declared)]
        cls._parameters = {name: p for own in reversed(bases) for name, p in own.items()}
        order = [name for own in bases for name in own]
        cls._parameters = {name: cls._parameters[name] for name in dict.fromkeys(order)}
        if not cls._families:
            return
        cls._options = {
            name: (p.key, p.type or TYPES[_widest(cls._families, p.key)["kind"]])
            for name, p in cls._parameters.items()
            if p.key is not None
        }
        cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if cls.__doc__ and PLACE in cls.__doc__:
            entries = "".join(_entry(cls._families, name, p) for name, p in cls._parameters.items())
            cls.__doc__ = cls.__doc__.replace(PLACE, f"    Parameters\n    ----------\n{entries}")


def _constructor(cls: type) -> Any:
    parameters: dict[str, Parameter] = cls._parameters  # type: ignore[attr-defined]
    keyword, either = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    listed = [
        inspect.Parameter(name, keyword if p.kw_only else either, default=p.default)
        for name, p in sorted(parameters.items(), key=lambda item: item[1].kw_only)
    ]
    signature = inspect.Signature([inspect.Parameter("self", either), *listed])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name in parameters:
            setattr(self, name, bound.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__, __init__.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return __init__


def _widest(families: tuple[str, ...], key: str) -> dict[str, Any]:
    """The declaration that allows most, where models differ."""
    found = declarations(families, key)
    if not found:
        raise TypeError(f"no model of {', '.join(families)} has the option {key!r}")
    return max(found.values(), key=lambda o: (len(o["words"] or []), len(o["about"])))


def _entry(families: tuple[str, ...], name: str, p: Parameter) -> str:
    """The lines of a parameter in a docstring."""
    kind, about = p.kind, p.about
    if p.key is not None:
        o = _widest(families, p.key)
        words = "{" + ", ".join(f'"{word}"' for word in o["words"] or []) + "}"
        kind = kind or (words if o["words"] else TYPES[o["kind"]].__name__)
        about = about or _sentence(families, p.key, o)
    default = f'"{p.default}"' if isinstance(p.default, str) else repr(p.default)
    indent = " " * 8
    text = textwrap.fill(
        about or "", WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    return f"    {name} : {kind}, default={default}\n{text}\n"


def _sentence(families: tuple[str, ...], key: str, o: dict[str, Any]) -> str:
    """What an option does, of which models, and what None means, as the engine declares it."""
    otherwise = o["otherwise"] if o["default"] is None else repr(o["default"]).replace("'", '"')
    about = o["about"][0].upper() + o["about"][1:]
    values = f": {o['values']}" if o["kind"] == "text" else ""
    return f"{about}{_models(families, key)}{values}. Where None: {otherwise}."


def _models(families: tuple[str, ...], key: str) -> str:
    """The models with an option, in short, unless all have it."""
    names = [m["name"] for m in declared() if m["name"].split(":")[0] in families]
    having = list(declarations(families, key))
    if having == names:
        return ""
    for part in (-1, 0):
        short = list(dict.fromkeys(name.split(":")[part] for name in having))
        if [name for name in names if name.split(":")[part] in short] == having:
            having = short
            break
    return " (" + ", ".join(f'``"{name}"``' for name in having) + ")"


class Run(Declared):
    """Parameters of every estimator that fits."""

    random_state: int | np.random.RandomState | None = parameter(
        "int, RandomState instance or None",
        "Seed of random choices; None is 0, so that a fit is always reproducible.",
        default=None,
    )
    n_jobs: int | None = parameter(
        "int", "Number of threads; -1 uses all processors. Results do not depend on it.", default=None
    )
    verbose: int = parameter("int", "Whether to print progress.", default=0)
