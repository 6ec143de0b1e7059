#!/usr/bin/env python3
"""Tables larger than memory: time and peak memory of fits that read Parquet in pieces, beside reading alone and peers.

Every line is one process, so that its peak memory is its own: ``pyarrow`` reads the file whole and does nothing else,
``pyarrow in batches`` the same without keeping it, ``partial_fit`` is GaussianNB of scikit-learn fed batch by batch with the
numeric columns; with ``--peers`` also naive Bayes of Spark and of Dask-ML, and LightGBM on Dask, two workers each, on the
numeric columns, where they are installed (memory with their children is not told). The others are ``hingenet fit``. Then
come fits with so little memory that the files of ``--linear`` are all read in pieces, which shows whether time grows as the
rows do, and a pool of many rows beside one of 20 000 of them. At the end the figures stand as tables for docs/scale.md.
Ratios of lines in one run are what counts; machines differ.

A hundred million rows are a run of their own, which needs 9 GB on disk for the file and up to 6 GB for coded rows:

    scale.py --rows 100000000 --linear '' --pool 0 --models 'nb:ml;tan:ml' --folder FOLDER
"""
import argparse
import csv
import importlib.util
import itertools
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
GROUP = 100_000
# a table of more rows is not read whole by others
MOST_WHOLE = 20_000_000
POOL_NUMBERS, POOL_CATEGORIES, POOL_PART, POOL_TEST = 14, 6, 20_000, 20_000

PARSER = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
PARSER.add_argument("--rows", default="100000,1000000,10000000", help="numbers of rows, separated by commas")
PARSER.add_argument("--models", default="nb:ml;tan:ml;kdb2:ml;aode:ml;sgbn:or,lambda1=1000", help="names of models, `;` between them")
PARSER.add_argument("--peers", action="store_true", help="also measure Spark, Dask-ML and LightGBM")
PARSER.add_argument("--memory", default="1G", help="what --max-memory is given")
PARSER.add_argument("--linear", default="1000000,10000000", help="numbers of rows that are read in pieces to compare the time of a row; empty for none")
PARSER.add_argument("--linear-memory", default="170M", help="what --max-memory is given for them")
PARSER.add_argument("--pool", type=int, default=1_000_000, help="rows of the pool; 0 for none")
PARSER.add_argument("--folder", help="where the files are written and kept; a temporary folder if not given")

READ = "import sys, pyarrow.parquet as pq; print(pq.read_table(sys.argv[1]).num_rows)"
READ_BATCHES = "import sys, pyarrow.parquet as pq; print(sum(len(b) for b in pq.ParquetFile(sys.argv[1]).iter_batches(65536)))"
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
        # kept by the workers, since each selection of columns would be read in partitions of its own
        rows = dd.read_parquet(sys.argv[1], split_row_groups=True).persist()
        X = rows[[name for name in rows.columns if name.startswith("x")]]
        y = rows["class"].map({"a": 0, "b": 1, "c": 2}, meta=("class", "int64"))
        DaskLGBMClassifier(client=client, n_estimators=100, verbosity=-1).fit(X, y)
"""
DASK_ML = """
import sys
import dask.dataframe as dd
from dask.distributed import Client, LocalCluster
from dask_ml.naive_bayes import GaussianNB

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        # kept by the workers, since each selection of columns would be read in partitions of its own
        rows = dd.read_parquet(sys.argv[1], split_row_groups=True).persist()
        X = rows[[name for name in rows.columns if name.startswith("x")]].to_dask_array(lengths=True)
        y = rows["class"].map({"a": 0, "b": 1, "c": 2}, meta=("class", "int64")).astype("int64").to_dask_array(lengths=True)
        GaussianNB().fit(X, y)
"""
MEASURE = """
import os, sys, time
start = time.perf_counter()
process = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, usage = os.wait4(process, 0)
print([status, time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss])
"""
PEERS = {
    "spark naive bayes": ("pyspark", SPARK),
    "dask-ml naive bayes": ("dask_ml", DASK_ML),
    "lightgbm on dask": ("lightgbm", LIGHTGBM),
}


def groups(rows, start=0, numbers=NUMBERS, categories=CATEGORIES):
    """Numbers that lean on the class and on each other, categories cut from them; in groups of 100 000 rows."""
    import pyarrow as pa

    for first in range(start, start + rows, GROUP):
        rng = np.random.default_rng(first)
        y = rng.integers(3, size=GROUP)
        x = rng.normal(size=(GROUP, numbers)) + 0.3 * y[:, None]
        x[:, 1:] += 0.5 * x[:, :-1]
        columns = {f"x{j}": np.round(x[:, j], 4) for j in range(numbers)}
        for j in range(categories):
            codes = np.digitize(x[:, j] + rng.normal(size=GROUP), [-1.0, 0.0, 1.0, 2.0]).astype(np.int8)
            columns[f"c{j}"] = pa.DictionaryArray.from_arrays(pa.array(codes), ["none", "few", "some", "many", "most"])
        columns["class"] = pa.DictionaryArray.from_arrays(pa.array(y.astype(np.int8)), ["a", "b", "c"])
        yield pa.table(columns).slice(0, start + rows - first)


def write(path, rows, **shape):
    """A table of so many rows, if it is not there."""
    import pyarrow.parquet as pq

    if path.exists():
        return path
    made = path.with_suffix(".part")
    tables = groups(rows, **shape)
    first = next(tables)
    with pq.ParquetWriter(made, first.schema) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table)
    return made.rename(path)


def measured(words):
    """Seconds and peak memory of a process; ``None`` if it fails."""
    # a process begins with the peak of the one that starts it, so a small one does
    starter = [sys.executable, "-S", "-E", "-c", MEASURE, *map(str, words)]
    status, seconds, processor, peak = json.loads(subprocess.run(starter, check=True, stdout=subprocess.PIPE).stdout)
    return None if status else {"seconds": round(seconds, 2), "processor": round(processor, 2), "peak_mb": round(peak / 1024)}


def fit(data, model, memory, out):
    """Command of a fit."""
    return [PROGRAM, "fit", data, "--target", "class", "--model", model, "-o", out, "--quiet", "--max-memory", memory]


def others(data, rows, peers, folder):
    """What is measured beside us: name and command."""
    if rows <= MOST_WHOLE:
        yield "pyarrow", [sys.executable, "-c", READ, data]
    yield "pyarrow in batches", [sys.executable, "-c", READ_BATCHES, data]
    yield "partial_fit", [sys.executable, "-c", PARTIAL_FIT, data]
    for name, (package, code) in PEERS.items() if peers else ():
        if importlib.util.find_spec(package) is None:
            print(f"{name}: {package} is not installed", file=sys.stderr)
            continue
        script = folder / f"{package}_peer.py"
        script.write_text(code)
        yield name, [sys.executable, script, data]


class Figures:
    """What was measured, told as it comes and at the end as tables."""

    def __init__(self):
        self.tables = {}

    def add(self, table, row, column, words, **more):
        found = measured(words)
        if found is None:  # a fit that needs more than it is allowed says so itself
            print(f"{row} failed on {column} rows", file=sys.stderr)
            return None
        self.tables.setdefault(table, {}).setdefault(row, {})[column] = found
        print(json.dumps({"table": table, "what": row, "rows": column, **found, **more}), flush=True)
        return found

    def markdown(self):
        for table, rows in self.tables.items():
            columns = list(dict.fromkeys(column for cells in rows.values() for column in cells))
            yield f"\n{table}\n\n| | " + " | ".join(f"{column:,} rows" for column in columns) + " |"
            yield "|---|" + "---:|" * len(columns)
            for row, cells in rows.items():
                text = [f"{c['seconds']:.1f} s, {c['peak_mb']} MB" if (c := cells.get(column)) else "" for column in columns]
                yield f"| `{row}` | " + " | ".join(text) + " |"


def sizes(text):
    return [int(rows) for rows in text.split(",") if rows]


def compare(arguments, figures, folder, own):
    """Fits beside others."""
    for rows in sizes(arguments.rows):
        data = write(folder / f"rows-{rows}.parquet", rows)
        for name, words in others(data, rows, arguments.peers, own):
            figures.add(f"--max-memory {arguments.memory}", name, rows, words)
        for model in arguments.models.split(";"):
            figures.add(f"--max-memory {arguments.memory}", model, rows, fit(data, model, arguments.memory, own / "model.hgn"))


def linear(arguments, figures, folder, own):
    """Whether the time of a row stays, where all is read in pieces."""
    memory = arguments.linear_memory
    for model in arguments.models.split(";") if arguments.linear else ():
        per_row = []
        for rows in sizes(arguments.linear):
            data = write(folder / f"rows-{rows}.parquet", rows)
            found = figures.add(f"--max-memory {memory}, all in pieces", model, rows, fit(data, model, memory, own / "model.hgn"))
            if found is None:
                break
            per_row.append(found["seconds"] / rows)
        ratios = [round(each / per_row[0], 2) for each in per_row]
        print(json.dumps({"what": model, "time of a row, to that of the first": ratios}), flush=True)


def pool(arguments, figures, folder, own):
    """A pool of many rows beside one of some of them, both tested on others."""
    shape = {"numbers": POOL_NUMBERS, "categories": POOL_CATEGORIES}
    test = write(folder / "pool-test.parquet", POOL_TEST, start=10**12, **shape)
    for rows in sorted({min(POOL_PART, arguments.pool), arguments.pool}):
        data = write(folder / f"pool-{rows}.parquet", rows, **shape)
        model, answers = own / f"pool-{rows}.hgn", own / f"pool-{rows}.csv"
        figures.add("pool, a fit", "pool", rows, fit(data, "pool", "4G", model))
        figures.add("pool, prediction", "pool", rows, [PROGRAM, "predict", model, test, "-o", answers, "--quiet"])
        right = accuracy(answers, test)
        print(json.dumps({"what": "accuracy of the pool", "rows": rows, "accuracy": right}), flush=True)


def accuracy(answers, test):
    """Share of right classes."""
    import pyarrow.parquet as pq

    want = pq.read_table(test, columns=["class"])["class"].to_pylist()
    with answers.open() as file:
        found = [row["prediction"] for row in csv.DictReader(file)]
    return sum(a == b for a, b in zip(found, want, strict=True)) / len(want)


def main():
    arguments = PARSER.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as own:
        own = pathlib.Path(own)
        folder = pathlib.Path(arguments.folder or own)
        folder.mkdir(parents=True, exist_ok=True)
        compare(arguments, figures, folder, own)
        linear(arguments, figures, folder, own)
        if arguments.pool:
            pool(arguments, figures, folder, own)
    print("\n".join(figures.markdown()))


if __name__ == "__main__":
    main()
