"""Pages of the reference that are made when the site is built, from what the product declares about itself."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from pathlib import Path

import hingenet
import hingenet.dask
import hingenet.pieces
import manual
from hingenet import _engine

ROOT = Path(__file__).parents[1]


def pages(site: str) -> dict[str, str]:
    """Markdown by address; `site` is where the site is published."""
    return {
        "reference/models.md": models(),
        "reference/command-line.md": manual.markdown(),
        "reference/rust.md": rust(site),
        "reference/python.md": names(),
        **python(),
    }


def models() -> str:
    """Every model with its options; models with the same options share a table."""
    declared = json.loads(_engine.models())
    text = """# Models and their options

`--model NAME,key=value,...` names a model and sets options; `hingenet models NAME` prints the same list. In Python an option is a parameter of
the [estimator](python.md) (`lambda_` for `lambda`, `C` for `c`). What is not given has the default of the table; many options are then chosen
by inner cross-validation.

| model | what it is |
|---|---|
"""
    text += "".join(f"| [`{m['name']}`](#{anchor(m['name'])}) | {m['about']} |\n" for m in declared)
    for _, alike in itertools.groupby(sorted(declared, key=first_alike(declared)), key=first_alike(declared)):
        group = list(alike)
        text += "\n## " + ", ".join(f"`{m['name']}`" for m in group) + " { #" + anchor(group[0]["name"]) + " }\n\n"
        text += "".join(f'<span id="{anchor(m["name"])}"></span>' for m in group[1:]) + "\n\n"
        text += options(group[0]["options"])
    return text


def first_alike(declared: list[dict]):
    """Place of the first model with the same options."""
    places: dict[str, int] = {}
    for place, model in enumerate(declared):
        places.setdefault(json.dumps(model["options"]), place)
    return lambda model: places[json.dumps(model["options"])]


def options(declared: list[dict]) -> str:
    if not declared:
        return "No options.\n"
    rows = "".join(
        f"| `{o['key']}` | {cell(o['about'])} | {cell(o['values'])} | {cell(default(o))} |\n" for o in declared
    )
    return f"| option | what it does | values | default |\n|---|---|---|---|\n{rows}"


def default(option: dict) -> str:
    value = option["default"]
    if value is None:
        return option["otherwise"] or "none"
    shown = str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{shown}; {option['otherwise']}" if option["otherwise"] else shown


def anchor(name: str) -> str:
    return re.sub(r"\W+", "-", name)


def cell(text: str) -> str:
    return text.replace("|", "\\|")


# Everything that has a page, by its name below `hingenet`.
PUBLIC = {name: getattr(hingenet, name) for name in hingenet.__all__ if name != "__version__"}
for module in (hingenet.dask, hingenet.pieces):
    PUBLIC |= {f"{module.__name__.removeprefix('hingenet.')}.{name}": getattr(module, name) for name in module.__all__}


def names() -> str:
    """A list of the public names of the package."""
    text = """# Python reference

Made from the docstrings of the package; the [guide](../python.md) has examples. Importing `hingenet` gives

| name | what it is |
|---|---|
"""
    for name, thing in PUBLIC.items():
        about = inspect.getdoc(thing).split("\n\n")[0].replace("\n", " ")
        text += f"| [`{name}`](python/{name}.md) | {cell(about)} |\n"
    return text


def python() -> dict[str, str]:
    """A page of each public name, by its docstrings."""
    pages = {}
    for name, thing in PUBLIC.items():
        listed = methods(thing)
        options = f"members: {listed}" if listed else "{ members: false, inherited_members: false }"
        text = f"---\ntitle: {name}\n---\n\n::: hingenet.{name}\n    options:\n      {options}\n"
        pages[f"reference/python/{name}.md"] = text
    return pages


def methods(thing: object) -> list[str]:
    """The public methods and properties that a class has of ours; its fields are in its docstring."""
    ours = [c for c in inspect.getmro(thing) if c.__module__.startswith("hingenet.")] if inspect.isclass(thing) else []
    members = {name: member for c in reversed(ours) for name, member in vars(c).items() if not name.startswith("_")}
    return sorted(name for name, member in members.items() if hasattr(type(member), "__get__"))


def rust(site: str) -> str:
    """The examples of the crate, and the way to its documentation."""
    text = f"""# Hingenet in Rust

The crate `hingenet` is what programs name; the crates behind it are internal ([architecture](../architecture.md)).
Its types and functions are in the [Rust reference]({site}rust/hingenet/index.html), which `cargo doc --open` makes too. The examples are run by
`cargo run --release --example NAME`.

"""
    for path in sorted((ROOT / "crates/hingenet/examples").glob("*.rs")):
        head, code = path.read_text(encoding="utf-8").split("\n\n", 1)
        about = head.removeprefix("//! ").split("\n//!")[0]
        text += f"## `{path.stem}`\n\n{about}\n\n```rust\n{code}```\n\n"
    return text
