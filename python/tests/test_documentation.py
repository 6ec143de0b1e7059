"""Examples in docstrings and in the guide run and give what they show."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import hingenet

MODULES = [f"hingenet.{m.name}" for m in pkgutil.iter_modules(hingenet.__path__) if m.name != "_engine"]
PAGES = sorted(p for p in (Path(__file__).parents[2] / "docs").glob("*.md") if ">>>" in p.read_text())


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module):
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_guide(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0 and result.attempted > 0
