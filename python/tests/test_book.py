"""The pages of the reproduction are what the results in the repository give."""

import subprocess
import sys

import pytest

from pages import PROGRAM, ROOT

FOLDER = ROOT / "docs" / "reproduction"


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_pages_are_what_the_lines_give(tmp_path):
    if not PROGRAM.exists():
        pytest.skip("cargo build --release --workspace has not run")
    command = [sys.executable, ROOT / "experiments" / "book", "pages", "--output", tmp_path, "--program", PROGRAM]
    subprocess.run([str(word) for word in command], check=True)
    made, committed = files(tmp_path), files(FOLDER)
    assert made.keys() == committed.keys()
    stale = [name for name, content in made.items() if content != committed[name]]
    assert not stale, "python3 experiments/book pages writes them anew"
