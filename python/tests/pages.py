"""The pages of the documentation and what their code blocks do when they are run.

The blocks of a page run in their order, in one folder that has the files of ``hingenet demo``, and with one set of Python
variables. What must hold of a block depends on its language:

- ``sh`` and ``r`` run without error, each block in a process of its own; ``python`` runs; ``pycon`` shows what Python answers.
- ``text`` right behind ``sh``, ``r`` or ``python`` is what that prints, ``...`` standing for anything. Elsewhere it is a formula or
  a drawing.
- ``json`` can be read. ``rust`` stands in README.md, whose example the tests of the crate run, or in an example of the crate.

A block that cannot run has the reason above it: ``<!-- not run: needs another program -->``. A block of any other kind, or of
none, is an error.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target" / "release" / "hingenet"

OUTSIDE = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md", "experiments/README.md"]
PAGES = [page for page in (*sorted((ROOT / "docs").rglob("*.md")), *(ROOT / name for name in OUTSIDE))]

FENCE = re.compile(
    r"(?:^ *<!-- not run: (?P<reason>[^\n]+?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass
class Block:
    language: str
    code: str
    line: int
    reason: str | None = None
    """Why it is not run."""
    shows: str | None = None
    """What it prints, by the block behind it."""

    @property
    def runs(self) -> bool:
        return self.reason is None and self.language in ("sh", "r", "python", "pycon")


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end = None
    for match in FENCE.finditer(text):
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        follows = end is not None and not text[end : match.start()].strip()
        if match["language"] == "text" and follows and found[-1].language in ("sh", "r", "python"):
            found[-1].shows = code
        else:
            line = text.count("\n", 0, match.start("language")) + 1
            found.append(Block(match["language"], code, line, match["reason"]))
        end = match.end()
    return found


def demo(folder: Path) -> None:
    """The data of `hingenet demo`; that it writes them is a test of the program."""

    def run(*arguments: str) -> None:
        subprocess.run([PROGRAM, "--quiet", *arguments], cwd=folder, check=True)

    run("generate", "waveform", "-n", "3000", "-o", "waveform.csv")
    run("generate", "mixed", "-n", "3000", "-o", "mixed.csv")
    run("generate", "mixed", "-n", "12", "--seed", "1", "-o", "later.csv")
    rows = (folder / "later.csv").read_text().splitlines()
    (folder / "new.csv").write_text("".join(",".join(row.split(",")[1:-1]) + "\n" for row in rows))
    (folder / "later.csv").unlink()
    run("fit", "mixed.csv", "--target", "class", "--model", "tan:ml", "-o", "mixed.hgn")


# `hingenet` of the blocks: the files of the demo are there, and the explorer ends once it listens.
WRAPPER = """#!/bin/sh
case $1 in
  demo) exit ;;
  explore) shift; timeout --signal=INT 1 "$PROGRAM" explore --no-open "$@"; [ $? -eq 124 ]; exit ;;
esac
exec "$PROGRAM" "$@"
"""


@dataclass
class Reader:
    """Who follows a page step by step."""

    folder: Path
    variables: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def follow(self, page: Path) -> Iterator[str]:
        """What went wrong."""
        for block in blocks(page):
            problem = None if block.reason else getattr(self, f"_{block.language}", self._other)(block)
            if problem:
                yield f"{page.relative_to(ROOT)}, line {block.line} ({block.language}): {problem}"

    def _sh(self, block: Block) -> str | None:
        return self._command(block, "bash", "-euo", "pipefail", "-c", block.code)

    def _r(self, block: Block) -> str | None:
        return self._command(block, "Rscript", "--vanilla", "-e", block.code)

    def _command(self, block: Block, *command: str) -> str | None:
        tools = self.folder / ".tools"
        if not tools.exists():
            tools.mkdir()
            (tools / "hingenet").write_text(WRAPPER)
            (tools / "hingenet").chmod(0o755)
        path = os.pathsep.join([str(tools), os.environ["PATH"]])
        run = subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | {"PATH": path, "PROGRAM": str(PROGRAM)},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            return f"exit code {run.returncode}\n{run.stdout}{run.stderr}"
        return compared(block.shows, run.stdout)

    def _python(self, block: Block) -> str | None:
        if ">>>" in block.code:
            return "this is `pycon`"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.code, f"line {block.line}", "exec"), self.variables)
        return compared(block.shows, printed.getvalue())

    def _pycon(self, block: Block) -> str | None:
        test = doctest.DocTestParser().get_doctest(block.code, self.variables, "block", None, block.line)
        if not test.examples:
            return "nothing to run"
        test.globs = self.variables
        told: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append, clear_globs=False)
        return "".join(told) or None

    def _json(self, block: Block) -> str | None:
        json.loads(block.code)
        return None

    def _text(self, block: Block) -> str | None:
        return None

    def _rust(self, block: Block) -> str | None:
        sources = [ROOT / "README.md", *(ROOT / "crates/hingenet/examples").glob("*.rs")]
        known = any(block.code in source.read_text(encoding="utf-8") for source in sources)
        return None if known else "not the example of README.md, nor one of the crate"

    def _other(self, block: Block) -> str:
        return "name the language, or say why the block is not run"


# A number with all its digits: the last ones depend on the order in which processors add.
ALL_DIGITS = re.compile(r"-?\d+\.\d{12,}(?:e-?\d+)?")


def compared(wanted: str | None, got: str) -> str | None:
    """How what was printed differs from what the page shows; numbers with all digits are equal to ten of them."""
    if wanted is None:
        return None

    def rounded(text: str) -> str:
        return ALL_DIGITS.sub(lambda number: f"{float(number[0]):.10g}", text)

    got = re.sub(r"[ \t]+$", "", got, flags=re.MULTILINE)
    if doctest.OutputChecker().check_output(rounded(wanted), rounded(got), doctest.ELLIPSIS):
        return None
    return f"the page shows\n{wanted}\nand there was\n{got}"
