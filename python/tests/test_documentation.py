"""Examples in docstrings and on the pages of the documentation run and give what they show."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import shutil
import sys

import pytest

import hingenet

from pages import PAGES, PROGRAM, ROOT, Reader, blocks, demo

MODULES = [f"hingenet.{m.name}" for m in pkgutil.iter_modules(hingenet.__path__) if m.name != "_engine"]
# Every block that is not run, and why.
NOT_RUN = [
    "docs/how-to/from-r.md: needs the package reticulate",
    "docs/reproduction/index.md: it takes hours, and data sets that are not part of the repository",
    "docs/scale.md: needs Spark",
    "docs/scale.md: needs Ray",
    "docs/start.md: it installs",
    "docs/start.md: it installs",
    "docs/start.md: it installs",
    "CONTRIBUTING.md: it takes hours",
    "benchmarks/README.md: it takes hours, and programs of others",
    "experiments/README.md: it takes hours, and data sets that are not part of the repository",
]


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


@pytest.fixture(scope="session")
def files_of_the_demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    demo(folder)
    return folder


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_every_block_of_a_page_runs(page, request, tmp_path, monkeypatch):
    has_program = PROGRAM.exists() and sys.platform == "linux"
    languages = {block.language for block in blocks(page) if block.runs}
    if not has_program and languages & {"sh", "r"}:
        pytest.skip("cargo build --release --workspace has not run, or the shell is another")
    if "r" in languages and not shutil.which("Rscript") and os.environ.get("CI") != "true":
        pytest.skip("Rscript is not installed, so what the page says about R is not tested")
    if has_program:
        shutil.copytree(request.getfixturevalue("files_of_the_demo"), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    assert not list(Reader(tmp_path).follow(page))


def test_blocks_that_are_not_run_say_why():
    reasons = [f"{p.relative_to(ROOT)}: {block.reason}" for p in PAGES for block in blocks(p) if block.reason]
    assert reasons == NOT_RUN


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs/gallery").glob("*.ipynb")), ids=lambda p: p.name)
def test_notebooks_are_committed_without_what_they_showed(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    assert all(cell.get("outputs", []) == [] and cell.get("execution_count") is None for cell in cells)
