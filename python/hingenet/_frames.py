"""Data frames and arrays as columns for the engine: numbers with NaN, or codes with category names."""

from __future__ import annotations

import importlib.util
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from ._labels import text_of

# Numbers (NaN missing), or codes (-1 missing) with the text of each code, and whether these are all categories in their
# declared order; else the engine takes those that occur, in its own order.
Column = np.ndarray | tuple[np.ndarray, list[str], bool] | int


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a data frame (pandas, polars, pyarrow and others)."""
    return not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X)


def frame_columns(X: Any) -> list[Column]:
    """The columns of a data frame."""
    frame = nw.from_native(X, eager_only=True)
    known: dict[Any, list[Any]] = {}
    return [_series_column(frame[:, j], name, known) for j, name in enumerate(frame.columns)]


def missing_column(n_rows: int) -> Column:
    """A column of which every cell is missing."""
    return np.full(n_rows, np.nan)


def known_columns(X: Any, names: list[str]) -> tuple[list[Column], list[str]]:
    """The named columns of a data frame in this order, numbers of rows in place of those it lacks, and the names of these."""
    frame = nw.from_native(X, eager_only=True)
    unknown = [name for name in frame.columns if name not in set(names)]
    if unknown:
        raise ValueError(f"The feature names should be among those of training; unknown: {', '.join(map(str, unknown))}")
    present = [name for name in names if name in set(frame.columns)]
    columns = dict(zip(present, frame_columns(frame.select(present).to_native()), strict=True)) if present else {}
    absent = [name for name in names if name not in columns]
    return [columns[name] if name in columns else len(frame) for name in names], absent


def array_columns(X: np.ndarray) -> list[Column]:
    """The columns of an array of objects or texts."""
    if X.dtype.kind == "O":
        return [_object_column(X[:, j], f"x{j}") for j in range(X.shape[1])]
    return [_text_column(X[:, j].astype(str)) for j in range(X.shape[1])]


def cells_of(column: Column) -> np.ndarray:
    """The numbers or codes of a column."""
    if isinstance(column, int):
        return missing_column(column)
    return column if isinstance(column, np.ndarray) else column[0]


def some_columns(X: Any, keep: np.ndarray) -> list[Column]:
    """The columns of the rows that are to be kept."""
    if is_frame(X):
        return frame_columns(nw.from_native(X, eager_only=True).filter(keep.tolist()).to_native())
    return array_columns(np.asarray(X)[keep])


def new_frame(columns: dict[str, list[Any]], backend: str | None) -> Any:
    """A data frame of the named kind; None is pandas, or what is installed."""
    if backend is None:
        kinds = ("pandas", "polars", "pyarrow")
        backend = next((kind for kind in kinds if importlib.util.find_spec(kind) is not None), kinds[0])
    return nw.from_dict(columns, backend=backend).to_native()


def frame_like(X: Any, columns: dict[str, list[Any]], backend: str | None) -> Any:
    """A data frame of the named kind; None is that of ``X``, with its index if it has one."""
    if backend is not None or not is_frame(X):
        return new_frame(columns, backend)
    frame = new_frame(columns, str(nw.from_native(X).implementation))
    if nw.dependencies.is_pandas_like_dataframe(X):
        frame.index = X.index
        frame.columns = X.columns
    return frame


def label_codes(y: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Codes (-1 missing) and values of a series of texts or categories, as a frame hashes or has them; else None."""
    if not nw.dependencies.is_into_series(y):
        return None
    series = nw.from_native(y, series_only=True)
    if series.dtype not in (nw.String, nw.Categorical, nw.Enum):
        return None
    if series.implementation.is_pandas_like() and series.dtype != nw.String:
        return np.asarray(y.cat.codes), np.asarray(y.cat.categories)
    codes, texts, _ = _category_column(series, {})
    return codes, np.array(texts, dtype=object)


def _series_column(series: nw.Series, name: Any, known: dict[Any, list[Any]]) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return _numbers(series)
    if series.null_count() == len(series) and dtype not in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
        return missing_column(len(series))
    if dtype in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
        return _category_column(series, known)
    if dtype == nw.Object:
        return _object_column(np.asarray(series.to_numpy(), dtype=object), name)
    raise TypeError(
        f"column {name!r} has the type {dtype}, which is neither numbers nor categories\n"
        "hint: turn it into numbers (for example days since a date) or texts, or leave it out"
    )


def _numbers(series: nw.Series) -> np.ndarray:
    """Numbers as float64 with NaN for null."""
    values = series.cast(nw.Float64)
    if values.null_count() > 0:
        values = values.fill_null(float("nan"))
    return np.ascontiguousarray(values.to_numpy(), dtype=np.float64)


def _category_column(series: nw.Series, known: dict[Any, list[Any]]) -> Column:
    """Categories: codes that the frame already has are taken as they are, other values are hashed once."""
    has_codes = series.dtype in (nw.Categorical, nw.Enum)
    declared = series.dtype == nw.Enum or (has_codes and nw.is_ordered_categorical(series))
    native = series.to_native()
    if series.implementation.is_pandas_like():
        codes, values = (native.cat.codes.to_numpy(), native.cat.categories) if has_codes else native.factorize()
        return _coded(np.asarray(codes), list(values), declared)
    if series.implementation.is_polars() and series.dtype != nw.Boolean:
        return _physical_column(series if has_codes else series.cast(nw.Categorical), declared, known)
    values = [value for value in series.unique().to_list() if value is not None]
    if declared:
        values = series.cat.get_categories().to_list()
    if not values:
        return np.full(len(series), -1, dtype=np.int64), [], False
    names = [str(value).lower() if isinstance(value, bool) else str(value) for value in values]
    codes = series.cast(nw.String).replace_strict([*names, None], [*range(len(names)), -1], return_dtype=nw.Int64)
    return _coded(codes.to_numpy(), values, declared)


def _physical_column(series: nw.Series, declared: bool, known: dict[Any, list[Any]]) -> Column:
    """Categories of polars by the numbers it stores; ``known`` has the texts of numbers that columns share."""
    native = series.to_native()
    codes = native.to_physical()
    if declared:
        texts = native.dtype.categories.to_list()
    else:
        most = codes.max()
        texts = known.get(native.dtype, [])
        if most is not None and (most >= len(texts) or None in texts[: most + 1]):
            distinct = native.drop_nulls().unique()
            texts = texts + [None] * (most + 1 - len(texts))
            for place, text in zip(distinct.to_physical().to_list(), distinct.to_list(), strict=True):
                texts[place] = text
            if hasattr(nw.dependencies.get_polars(), "Categories"):  # else every column has numbers of its own
                known[native.dtype] = texts
        texts = ["" if text is None else text for text in texts]
    words = nw.from_native(codes, series_only=True).cast(nw.UInt32)
    # The largest word is -1 as a signed number.
    words = words.fill_null(2**32 - 1) if codes.null_count() > 0 else words
    signed = words.to_numpy().view(np.int32)
    return _coded(signed.astype(np.int8) if len(texts) <= 128 else signed, texts, declared)


def _coded(codes: np.ndarray, values: list[Any], declared: bool = False) -> Column:
    """Codes with the texts of their values."""
    return np.ascontiguousarray(codes), [text_of(value) for value in values], declared


def _object_column(cells: np.ndarray, name: Any) -> Column:
    """Numbers, unless there is a text; None and NaN are missing."""
    missing = np.array([cell is None or cell is _na() or cell != cell for cell in cells], dtype=bool)
    if any(isinstance(cell, (str, bytes, bool, np.bool_)) for cell in cells[~missing]):
        position: dict[Any, int] = {}
        codes = np.full(len(cells), -1, dtype=np.int64)
        for m in np.flatnonzero(~missing):
            codes[m] = position.setdefault(text_of(cells[m]), len(position))
        return _coded(codes, list(position))
    numbers = np.full(len(cells), np.nan)
    numbers[~missing] = cells[~missing].astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r}: Input X contains infinity; NaN is a missing cell")
    return numbers


def _text_column(cells: np.ndarray) -> Column:
    """Texts as in a file: numbers if every cell is a finite number or missing, else categories."""
    values, codes = np.unique(cells, return_inverse=True)
    codes = codes.reshape(-1).astype(np.int64)
    missing = np.isin(values, ["", "?", "NA", "NaN", "nan", "null", "None"])
    try:
        numbers = np.array([np.nan if gone else float(v) for v, gone in zip(values, missing, strict=True)])
        if not np.isinf(numbers).any():
            return numbers[codes]
    except ValueError:
        pass
    place = np.where(missing, -1, np.cumsum(~missing) - 1)
    return _coded(place[codes], list(values[~missing]))


def _na() -> Any:
    """The missing mark of pandas, if pandas is loaded."""
    pandas = nw.dependencies.get_pandas()
    return pandas.NA if pandas is not None else None
