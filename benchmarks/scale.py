#!/usr/bin/env python3
"""Tables larger than memory: time and peak memory of fits that read Parquet in pieces, beside reading alone and peers.

Every line is one process, so that its peak memory is its own (with its children, for those that have some): ``pyarrow`` reads the
file and does nothing else, ``partial_fit`` is GaussianNB of scikit-learn fed batch by batch with the numeric columns; with
``--peers`` also naive Bayes of Spark and LightGBM on Dask, two workers each, on the numeric columns, where they are installed.
The others are ``hingenet fit``. Ratios of lines in one run are what counts; machines differ.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "target" / "release" / "hingenet"
NUMBERS, CATEGORIES = 20, 10

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--rows", default="100000,1000000,10000000", help="numbers of rows, separated by commas")
PARSER.add_argument("--models", default="nb:ml;tan:ml;kdb2:ml;aode:ml;sgbn:or,lambda1=1000", help="names of models, `;` between them")
PARSER.add_argument("--peers", action="store_true", help="also measure Spark and LightGBM")
PARSER.add_argument("--memory", default="1G", help="what --max-memory is given")
PARSER.add_argument("--folder", help="where the files are written and kept; a temporary folder if not given")

READ = "import sys, pyarrow.parquet as pq; print(pq.read_table(sys.argv[1]).num_rows)"
PARTIAL_FIT = """
import sys
import numpy as np
import pyarrow.parquet as pq
from sklearn.naive_bayes import GaussianNB

model = GaussianNB()
for batch in pq.ParquetFile(sys.argv[1]).iter_batches(65536):
    names = [name for name in batch.schema.names if name.startswith("x")]
    X = np.column_stack([batch.column(name).to_numpy() for name in names])
    model.partial_fit(X, np.asarray(batch.column("class").to_pylist()), classes=["a", "b", "c"])
"""

SPARK = """
import sys
from pyspark.ml.classification import NaiveBayes
from pyspark.ml.feature import StringIndexer, VectorAssembler
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", "8g")
rows = builder.getOrCreate().read.parquet(sys.argv[1])
rows = StringIndexer(inputCol="class", outputCol="label").fit(rows).transform(rows)
rows = VectorAssembler(inputCols=[name for name in rows.columns if name.startswith("x")], outputCol="features").transform(rows)
NaiveBayes(modelType="gaussian").fit(rows)
"""
LIGHTGBM = """
import sys
import dask.dataframe as dd
from dask.distributed import Client, LocalCluster
from lightgbm import DaskLGBMClassifier

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        rows = dd.read_parquet(sys.argv[1], split_row_groups=True)
        X = rows[[name for name in rows.columns if name.startswith("x")]]
        y = rows["class"].map({"a": 0, "b": 1, "c": 2}, meta=("class", "int64"))
        DaskLGBMClassifier(client=client, n_estimators=100, verbosity=-1).fit(X, y)
"""
PEERS = {"spark naive bayes": ("pyspark", SPARK), "lightgbm on dask": ("lightgbm", LIGHTGBM)}


def write(path, rows):
    """Numbers that lean on the class and on each other, categories cut from them; in groups of 100 000 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for start in range(0, rows, 100_000):
        rng = np.random.default_rng(start)
        n = min(100_000, rows - start)
        y = rng.integers(3, size=n)
        x = rng.normal(size=(n, NUMBERS)) + 0.3 * y[:, None]
        x[:, 1:] += 0.5 * x[:, :-1]
        columns = {f"x{j}": np.round(x[:, j], 4) for j in range(NUMBERS)}
        for j in range(CATEGORIES):
            codes = np.digitize(x[:, j] + rng.normal(size=n), [-1.0, 0.0, 1.0, 2.0]).astype(np.int8)
            columns[f"c{j}"] = pa.DictionaryArray.from_arrays(pa.array(codes), ["none", "few", "some", "many", "most"])
        columns["class"] = pa.DictionaryArray.from_arrays(pa.array(y.astype(np.int8)), ["a", "b", "c"])
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def measured(words):
    """Seconds and peak memory of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{' '.join(map(str, words))} failed")
    return {"seconds": round(seconds, 2), "processor": round(usage.ru_utime + usage.ru_stime, 2), "peak_mb": round(usage.ru_maxrss / 1024)}


def lines(data, arguments, folder):
    """What is measured on a file: name and command."""
    yield "pyarrow", [sys.executable, "-c", READ, data]
    yield "partial_fit", [sys.executable, "-c", PARTIAL_FIT, data]
    for name in arguments.models.split(";"):
        options = ["--target", "class", "--model", name, "-o", folder / "model.hgn", "--quiet", "--max-memory", arguments.memory]
        yield name, [PROGRAM, "fit", data, *options]
    for name, (package, code) in PEERS.items() if arguments.peers else ():
        if importlib.util.find_spec(package) is None:
            print(f"{name}: {package} is not installed", file=sys.stderr)
            continue
        script = folder / f"{package}_peer.py"
        script.write_text(code)
        yield name, [sys.executable, script, data]


def main():
    arguments = PARSER.parse_args()
    with tempfile.TemporaryDirectory() as own:
        folder = pathlib.Path(arguments.folder or own)
        folder.mkdir(parents=True, exist_ok=True)
        for rows in map(int, arguments.rows.split(",")):
            data = folder / f"rows-{rows}.parquet"
            if not data.exists():
                write(data, rows)
            for name, words in lines(data, arguments, pathlib.Path(own)):
                print(json.dumps({"rows": rows, "what": name, **measured(words)}), flush=True)


if __name__ == "__main__":
    main()
