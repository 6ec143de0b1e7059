"""Writes docs/reproduction from lines of results: the summary and one page for each paper."""
import pathlib
import statistics

import catalogue
import page_peharz
import page_tenzer
import page_zhou
import pieces
from markdown import COUNTED, Book, counts, hours, table
from pieces import Lines

PAPERS = {
    "peharz": (page_peharz, "Peharz et al. 2013"), "tenzer": (page_tenzer, "Tenzer et al. 2020"), "zhou": (page_zhou, "Zhou et al. 2015"),
}  # fmt: skip
CORES = 2


def write(lines: Lines, folder: pathlib.Path, program: tuple[str, ...]) -> None:
    book = Book(folder, program)
    for module, _ in PAPERS.values():
        module.write(book, lines)
    book.page("index.md", index(lines))


def times(lines: Lines) -> tuple[list[list[str]], float]:
    """Pieces, time taken and time expected of each part, and the hours of all of it on two cores."""
    everything = list(catalogue.every().values())
    parts: dict[str, list] = {}
    for piece in everything:
        parts.setdefault("/".join(piece.name.split("/")[:2]), []).append(piece)
    rows, total = [], 0.0
    for part, found in parts.items():
        took = [lines.seconds(p.name) for p in found if p.name in lines.done]
        guesses = [pieces.estimate(p, everything, lines) for p in found if p.name not in lines.done]
        expected = sum(guesses)
        total += sum(took) + expected
        more = hours(expected) + ("" if took else ", a guess") if guesses else "–"
        middle = f"{statistics.median(took):.1f} s" if took else "–"
        rows.append([f"`{part}`", str(len(found)), str(len(took)), middle, hours(sum(took)) if took else "–", more])
    return rows, total / 3600 / CORES


def index(lines: Lines) -> str:
    rows, all_cells = [], []
    for name, (module, title) in PAPERS.items():
        found = module.cells(lines)
        all_cells += found
        rows.append([f"[{title}]({name}.md)", *counts(found)])
    rows.append(["all", *counts(all_cells)])
    said = [[title, *claim] for module, title in PAPERS.values() for claim in module.claims(lines)]
    parts, total = times(lines)
    return f"""# Reproduction

Hingenet stands on three papers. These pages put every table and figure of theirs beside what the product gives, cell by cell, and say why where the two differ. They are made by one
program, [experiments/book](../../experiments/README.md), from lines of results that are part of the repository (`experiments/results`); the tests make them again and compare. [Equations](../equations.md) leads
from each numbered equation to its code.

{table(["paper", *COUNTED], rows)}
A cell is *inside* when the printed mean and ours differ by no more than both 95 % intervals together; *outside* cells stand one by one, with what is known of the cause, on the page of the
paper; *not comparable* are cells whose data are not public or whose making the paper leaves open, in brackets how many of them have a number of ours beside the printed one; *not yet run* are cells that could be compared and have no
result yet. The other programs in the tables (support vector
machines, logistic regression, forests, nearest neighbours) are those of scikit-learn, run on the same rows.

## What the papers say

{table(["paper", "claim", "here"], said, 3)}
## Made again

The data sets are not part of the repository: most are public, each page lists where its sets come from. With a folder of them

<!-- not run: it takes hours, and data sets that are not part of the repository -->
```sh
python3 experiments/book run --data FOLDER --jobs 2 --minutes 60
python3 experiments/book pages
```

runs the pieces that have no line yet, as many as end in time, and writes these pages. Processor time by part; what has not been run is estimated from pieces of its kind. The whole, from nothing, takes about {total:.1f} hours on
{CORES} cores.

{table(["part", "pieces", "run", "median of a piece", "taken", "still expected"], parts)}
## Beyond the papers

[The pool](../pool.md#accuracy-with-missing-features) against tuned opponents on 30 public data sets with missing features, and the coverage of [prediction sets](../prediction-sets.md#measured) on 24 sets, were not in any of the
papers. Their tables are made by `experiments/missing_study.py` and `experiments/prediction_sets.py`.

## What the tests hold

With every change, on any machine: that these pages are what the lines give; golden vectors computed by independent programs (`crates/hingenet/tests/golden.rs`), the theorems of the papers as property tests beside the code,
a proven duality gap of every margin fit, and the numbers of every example on this site.
"""
