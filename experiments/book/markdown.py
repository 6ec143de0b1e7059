"""Parts of pages that all papers have: tables, charts drawn by the product, lists of cells that differ."""
import json
import pathlib
import subprocess

from compare import STATES, Cell, counted


class Book:
    """Where pages go, and the program that draws their charts."""

    def __init__(self, folder: pathlib.Path, program: tuple[str, ...]):
        self.folder, self.program = folder, program
        (folder / "figures").mkdir(parents=True, exist_ok=True)

    def page(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text.rstrip() + "\n", encoding="utf-8")

    def chart(self, name: str, label: str, x: dict, y: dict, series: list[dict], **more) -> str:
        """A chart of the product as a picture on the page; a word in its place where there is nothing to draw."""
        if not any(s["points"] for s in series):
            return "*Not yet run.*\n"
        drawing = {"label": label, "x": x, "y": y, "series": [s for s in series if s["points"]], **more}
        path = self.folder / "figures" / f"{name}.svg"
        command = [*self.program, "chart", "-", "-o", str(path), "--quiet"]
        subprocess.run(command, input=json.dumps(drawing), text=True, check=True)
        return f"![{label}](figures/{name}.svg)\n"


    def network(self, name: str, label: str, report: dict, show: str) -> str:
        """Networks as the product draws them, as a picture on the page."""
        path = self.folder / "figures" / f"{name}.svg"
        command = [*self.program, "chart", "-", "--show", show, "-o", str(path), "--quiet"]
        subprocess.run(command, input=json.dumps(report), text=True, check=True)
        return f"![{label}](figures/{name}.svg)\n"


def table(header: list[str], rows: list[list[str]], text_columns: int = 1) -> str:
    """Numbers to the right, names to the left."""
    line = lambda cells: "| " + " | ".join(cells) + " |\n"  # noqa: E731
    rule = "|" + "---|" * text_columns + "---:|" * (len(header) - text_columns) + "\n"
    return line(header) + rule + "".join(map(line, rows))


def hours(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def counts(cells: list[Cell]) -> list[str]:
    """All, compared, inside, share, outside, not comparable (and how many of these have a number of ours), not yet run."""
    found = counted(cells)
    inside, outside, other, waiting = (found[state] for state in STATES)
    compared = inside + outside
    share = f"{100 * inside / compared:.1f} %" if compared else "–"
    beside = sum(cell.state == "not comparable" and cell.ours is not None for cell in cells)
    return [str(len(cells)), str(compared), str(inside), share, str(outside), f"{other} ({beside})", str(waiting)]


def of_all(count: int, ran: int, everything: int, what: str = "") -> str:
    """How many of all, and how many of these have not been run."""
    return " ".join(filter(None, [f"{count} of {everything}", what])) + (f" ({everything - ran} not run)" if ran < everything else "")


COUNTED = ["cells", "compared", "inside both intervals", "share", "outside", "not comparable (run)", "not yet run"]


def differing(cells: list[Cell], digits: int = 2) -> str:
    """Cells outside, one by one, and why cells cannot be compared."""
    outside = [c for c in cells if c.state == "outside"]
    text = ""
    if outside:
        rows = [[c.table, c.row, c.column, c.printed.text(digits), c.ours.text(digits), c.cause] for c in outside]
        text += "Outside (†), with what is known of the cause:\n\n"
        text += left(["table", "row", "column", "printed", "ours", "cause"], rows) + "\n"
    causes: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.state == "not comparable":
            causes.setdefault(cell.cause, []).append(cell)
    if causes:
        rows = [[where(found), str(len(found)), cause] for cause, found in causes.items()]
        text += "Not comparable (‡):\n\n" + left(["where", "cells", "cause"], rows)
    return text


def left(header: list[str], rows: list[list[str]]) -> str:
    return table(header, rows, len(header))


def where(cells: list[Cell]) -> str:
    """The rows of some cells, or their columns where these are fewer."""
    rows, columns = (list(dict.fromkeys(getattr(c, key) for c in cells)) for key in ("row", "column"))
    tables = ", ".join(dict.fromkeys(c.table for c in cells))
    names = rows if len(rows) <= len(columns) else columns
    return f"{tables}: " + (", ".join(names) if len(names) < 9 else "all rows")
