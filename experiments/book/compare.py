"""Cells of printed tables beside ours: inside both 95 % intervals, outside, not comparable, not yet run."""
import collections
import csv
import dataclasses
import fnmatch
import math
import pathlib
import statistics

PRINTED = pathlib.Path(__file__).parent / "printed"
STATES = ("inside", "outside", "not comparable", "not yet run")


@dataclasses.dataclass(frozen=True)
class Measure:
    """A mean and half the width of its 95 % interval; None where there is none."""

    mean: float
    half: float | None = None

    def text(self, digits: int) -> str:
        return f"{self.mean:.{digits}f}" + (f" ± {self.half:.{digits}f}" if self.half is not None else "")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A printed number and ours."""

    table: str
    row: str
    column: str
    printed: Measure
    ours: Measure | None
    state: str
    cause: str = ""

    def text(self, digits: int = 2) -> str:
        mark = {"outside": " **†**", "not comparable": " ‡"}.get(self.state, "")
        return f"{self.ours.text(digits) if self.ours else '–'} [{self.printed.text(digits)}]{mark}"


def read(name: str) -> list[dict[str, str]]:
    with open(PRINTED / f"{name}.csv", newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def judged(paper: str, table: str, row: str, column: str, printed: Measure, ours: Measure | None, absent: str = "") -> Cell:
    """The cell with its state; `absent` says why the row can never be run."""
    found = next(
        (c for c in read("causes") if c["paper"] == paper and all(fnmatch.fnmatch(v, c[k]) for k, v in (("table", table), ("row", row), ("column", column)))),
        None,
    )
    if absent:
        return Cell(table, row, column, printed, None, "not comparable", absent)
    if found and found["state"] == "not comparable":
        return Cell(table, row, column, printed, ours, "not comparable", found["cause"])
    if ours is None:
        return Cell(table, row, column, printed, None, "not yet run")
    if agree(printed, ours):
        return Cell(table, row, column, printed, ours, "inside")
    return Cell(table, row, column, printed, ours, "outside", found["cause"] if found else "no cause is known")


def agree(printed: Measure, ours: Measure) -> bool:
    """Whether the means differ by no more than both intervals; printed numbers are rounded."""
    return abs(printed.mean - ours.mean) <= (printed.half or 0) + (ours.half or 0) + 0.005


def counted(cells: list[Cell]) -> collections.Counter:
    return collections.Counter(cell.state for cell in cells)


# Quantiles of Student's distribution for 95 % on both sides, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 19: 2.093, 29: 2.045, 49: 2.010, 99: 1.984}


def student(freedom: int) -> float:
    """The quantile of the next smaller tabled number, so rather too wide than too narrow."""
    return STUDENT[max(k for k in STUDENT if k <= freedom)]


def of_folds(values: list[float]) -> Measure:
    """Mean over folds or replicates with its interval."""
    if len(values) < 2:
        return Measure(values[0])
    return Measure(statistics.mean(values), student(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values)))


def of_repeats(repeats: list[list[float]]) -> Measure:
    """Mean over repeats of a cross-validation; its interval is that of one, as printed: folds of other repeats are not new rows."""
    each = [of_folds(folds) for folds in repeats]
    return Measure(statistics.mean(m.mean for m in each), statistics.mean(m.half for m in each))


def of_rows(right: int, rows: int) -> Measure:
    """Accuracy in % of one test table with half the width of the interval of Clopper and Pearson."""
    from scipy.stats import beta

    low = beta.ppf(0.025, right, rows - right + 1) if right else 0.0
    high = beta.ppf(0.975, right + 1, rows - right) if right < rows else 1.0
    return Measure(100 * right / rows, 50 * float(high - low))
