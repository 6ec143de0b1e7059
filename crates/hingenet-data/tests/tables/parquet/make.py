"""Writes the Parquet files of this folder with pyarrow 26.0.1: what the reader meets in the wild."""

import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent


def write(name, columns, schema=None, **options):
    pq.write_table(pa.table(columns, schema), HERE / f"{name}.parquet", **options)


def decimals(*texts):
    return [text and decimal.Decimal(text) for text in texts]


TYPES = {
    "id": pa.array([1, None, 2**53 + 1], pa.int64()),
    "x": pa.array([0.5, float("nan"), -2.0], pa.float64()),
    "f": pa.array([0.1, None, 2.0], pa.float32()),
    "flag": pa.array([True, None, False]),
    "text": pa.array(["b", None, "a"]),
    "large": pa.array(["NA", None, ""], pa.large_string()),
    "view": pa.array(["2", None, "10"], pa.string_view()),
    "tag": pa.array(["v", None, "u"]).dictionary_encode(),
    "price": pa.array(decimals("1.50", None, "-0.25"), pa.decimal128(6, 2)),
}
write("types", TYPES)
write("plain", TYPES, use_dictionary=False, data_page_version="2.0", compression="zstd")
write("old", TYPES, version="1.0", store_schema=False, compression="gzip", row_group_size=2)
write("empty", {name: cells.slice(0, 0) for name, cells in TYPES.items()})
write(
    "more_types",
    {
        "i8": pa.array([-1, None, 100], pa.int8()),
        "u32": pa.array([2**32 - 1, None, 0], pa.uint32()),
        "u64": pa.array([2**64 - 1, None, 0], pa.uint64()),
        "half": pa.array([0.5, None, -2.0], pa.float16()),
        "small": pa.array(decimals("-1.5", None, "2.5"), pa.decimal128(3, 1)),
        "huge": pa.array(decimals("-" + "9" * 50 + ".5", None, "0.5"), pa.decimal256(60, 1)),
        "nothing": pa.nulls(3),
    },
    store_decimal_as_integer=True,
)
write("day", {"day": pa.array([1, 2], pa.date32()), "x": [1.0, 2.0]})
write("time", {"time": pa.array([1, 2], pa.timestamp("s")), "x": [1.0, 2.0]})
write("span", {"span": pa.array([1, 2], pa.duration("s")), "x": [1.0, 2.0]})
write("list", {"list": pa.array([[1, 2], [3]]), "x": [1.0, 2.0]})
write("required", {"x": [3, 1]}, pa.schema([pa.field("x", pa.int32(), nullable=False)]))
write("infinite", {"x": [1.0, float("inf")]})
