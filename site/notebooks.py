"""Notebooks as pages: run in an empty folder by a fresh kernel, with what they show beside what they do.

Notebooks are committed without outputs; an error in one ends the build of the site.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator

import nbformat
from nbclient import NotebookClient

# Seconds that one cell may take.
PATIENCE = 120


class Notebook:
    """A notebook that was run: its page in Markdown, its pictures by name, and HTML that stands for marks in the page.

    Its first cell has a title and a paragraph that says what it is about.
    """

    def __init__(self, path: str, name: str) -> None:
        self.name = name
        self.heading = ""
        self.pictures: dict[str, bytes] = {}
        self.html: dict[str, str] = {}
        cells = run(path).cells
        self.title, self.about, *_ = cells[0].source.removeprefix("# ").split("\n\n")
        self.page = "\n\n".join(block for cell in cells for block in self._blocks(cell))
        self.page += f'\n\n<a href="{name}.ipynb" download>This page as a notebook</a>\n'

    def _blocks(self, cell: nbformat.NotebookNode) -> Iterator[str]:
        if cell.cell_type == "markdown":
            self.heading = next((line.lstrip("# ") for line in cell.source.splitlines() if line.startswith("#")), self.heading)
            yield cell.source
        elif cell.source:
            yield fenced("python", cell.source)
            for output in cell.outputs:
                yield self._shown(output)

    def _shown(self, output: nbformat.NotebookNode) -> str:
        if output.output_type == "stream":
            return fenced("text", output.text)
        data = output.data
        if "text/html" in data:
            return self._raw(f'<div class="shown">{data["text/html"]}</div>')
        if "image/svg+xml" in data:
            return self._picture("svg", data["image/svg+xml"].encode())
        if "image/png" in data:
            return self._picture("png", base64.b64decode(data["image/png"]))
        return fenced("text", data["text/plain"])

    def _raw(self, html: str) -> str:
        """A mark for HTML that Markdown must not touch."""
        mark = f"<!-- shown {len(self.html)} -->"
        self.html[mark] = html
        return mark

    def _picture(self, kind: str, content: bytes) -> str:
        name = f"{self.name}-{len(self.pictures) + 1}.{kind}"
        self.pictures[name] = content
        return f"![Figure: {self.heading}]({name})"


def run(path: str) -> nbformat.NotebookNode:
    """The notebook with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        quiet = ["--log-level=ERROR"]
        return NotebookClient(notebook, timeout=PATIENCE, resources=resources, coalesce_streams=True, extra_arguments=quiet).execute()


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip(chr(10))}\n```"
