"""Examples in docstrings and in the guide run and give what they show."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hingenet

MODULES = [f"hingenet.{m.name}" for m in pkgutil.iter_modules(hingenet.__path__) if m.name != "_engine"]
PAGES = sorted(p for p in (Path(__file__).parents[2] / "docs").glob("*.md") if ">>>" in p.read_text())


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_shared_paragraphs_stand_in_the_docstrings():
    for cls in (getattr(hingenet, name) for name in hingenet.__all__):
        for item in (cls, *(getattr(cls, name, None) for name in dir(cls) if not name.startswith("__"))):
            assert not re.search(r"^ *\{\w+\}$", getattr(item, "__doc__", None) or "", re.MULTILINE), item
    assert "Rows; missing cells are allowed." in hingenet.HingenetClassifier.predict.__doc__
    assert "n_features_in_ : int" in hingenet.HingenetClassifier.__doc__


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_guide(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0 and result.attempted > 0
