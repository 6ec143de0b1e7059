"""Data sets: reading them, splitting them, blanking cells. A set is FOLDER/NAME.csv or NAME.csv.gz with the target last."""
import dataclasses
import gzip
import pathlib
import re
import zlib

import numpy as np
import pandas


@dataclasses.dataclass
class Split:
    """Training and test rows as text; an empty cell is missing."""

    train: pandas.DataFrame
    test: pandas.DataFrame
    target: str
    numeric: list[str]
    """Columns that hold numbers in the whole set."""
    source: pathlib.Path | None = None
    """File of the training rows, where it says more than the rows do (all states of a column)."""

    @property
    def features(self) -> list[str]:
        return [column for column in self.train.columns if column != self.target]


def find(folder: pathlib.Path, name: str) -> pathlib.Path | None:
    return next((path for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if path.exists()), None)


def read(folder: pathlib.Path, name: str) -> pandas.DataFrame:
    """All cells as text."""
    path = find(folder, name)
    if path is None:
        raise FileNotFoundError(f"{folder}: no {name}.csv")
    return pandas.read_csv(path, dtype=str, keep_default_na=False)


def complete(frame: pandas.DataFrame) -> pandas.DataFrame:
    return frame[(frame != "").all(axis=1)].reset_index(drop=True)


def numeric_columns(frame: pandas.DataFrame, target: str) -> list[str]:
    def is_number(column: str) -> bool:
        return pandas.to_numeric(frame[column].replace("", "nan"), errors="coerce").notna().where(frame[column] != "", True).all()

    return [column for column in frame.columns if column != target and is_number(column)]


def read_arff(path: pathlib.Path) -> pandas.DataFrame:
    """Rows of a file of nominal attributes."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        text = lines.read()
    head, rows = re.split(r"(?im)^@data\s*$", text, maxsplit=1)
    names = [m[1].strip("'\"") for m in re.finditer(r"(?im)^@attribute\s+('[^']*'|\"[^\"]*\"|[^\s{]+)", head)]
    cells = [[cell.strip().strip("'\"") for cell in row.split(",")] for row in rows.splitlines() if row.strip()]
    return pandas.DataFrame(cells, columns=names, dtype=str)


def number_of(*words) -> int:
    """A number that depends on the words alone."""
    return zlib.crc32("/".join(map(str, words)).encode())


def blanked(frame: pandas.DataFrame, target: str, rate: float, seed: tuple) -> pandas.DataFrame:
    """The rows with each cell but the target emptied with probability `rate`."""
    features = frame.columns != target
    mask = np.random.default_rng(number_of(*seed, rate)).random(frame.shape) < rate
    return frame.mask(mask & features[None, :], "")
