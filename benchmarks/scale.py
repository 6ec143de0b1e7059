#!/usr/bin/env python3
"""Tables larger than memory: time and peak memory of fits that read Parquet in pieces, beside reading alone and peers.

Every line is one process, so that its peak memory is its own: ``pyarrow`` reads the file and does nothing else,
``partial_fit`` is GaussianNB of scikit-learn fed batch by batch with the numeric columns, the others are ``hingenet fit``.
Ratios of lines in one run are what counts; machines differ.
"""
import argparse
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
PARSER.add_argument("--models", default="nb:ml,tan:ml,kdb2:ml,aode:ml,sgbn:or,lambda1=1000", help="`;` between models that have options")
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


def main():
    arguments = PARSER.parse_args()
    models = arguments.models.replace(";", ",").split(",")
    # options belong to the model before them
    names = []
    for word in models:
        if "=" in word and names:
            names[-1] += "," + word
        else:
            names.append(word)
    with tempfile.TemporaryDirectory() as own:
        folder = pathlib.Path(arguments.folder or own)
        folder.mkdir(parents=True, exist_ok=True)
        for rows in map(int, arguments.rows.split(",")):
            data = folder / f"rows-{rows}.parquet"
            if not data.exists():
                write(data, rows)
            lines = {"pyarrow": [sys.executable, "-c", READ, data], "partial_fit": [sys.executable, "-c", PARTIAL_FIT, data]}
            for name in names:
                output = pathlib.Path(own) / "model.hgn"
                lines[name] = [PROGRAM, "fit", data, "--target", "class", "--model", name, "-o", output, "--quiet", "--max-memory", arguments.memory]
            for name, words in lines.items():
                print(json.dumps({"rows": rows, "what": name, **measured(words)}), flush=True)


if __name__ == "__main__":
    main()
