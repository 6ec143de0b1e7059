"""What the benchmarks share: data from fixed seeds, the product's timing programs, ratios."""
import argparse
import json
import os
import pathlib
import subprocess
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


def discrete(n, d, r, k, seed=1, n_test=20_000):
    """Rows of a random tree-augmented naive Bayes model: (X, y, X_test, y_test), states as u8."""
    g = np.random.default_rng(seed)
    total = n + n_test
    y = g.choice(k, size=total, p=g.dirichlet(np.full(k, 5.0))).astype(np.uint8)
    X = np.empty((total, d), np.uint8)
    for j in range(d):
        parent = None if j == 0 else int(g.integers(max(0, j - 3), j))
        rows = 1 if parent is None else r
        logits = 1.2 * g.normal(size=(rows, 1, r)) + 0.35 * g.normal(size=(1, k, r)) + 0.35 * g.normal(size=(rows, k, r))
        cdf = np.cumsum(np.exp(logits) / np.exp(logits).sum(-1, keepdims=True), -1)
        cdf[..., -1] = 1.0
        h = np.zeros(total, np.int64) if parent is None else X[:, parent].astype(np.int64)
        X[:, j] = (g.random(total)[:, None] > cdf[h, y]).sum(1).astype(np.uint8)
    return X[:n], y[:n], X[n:], y[n:]


def write_codes(folder, X, y, X_test, y_test, states, classes):
    """The form the product's timing programs read: columns one after the other, one byte a cell (255 missing)."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in (("x", X), ("xt", X_test)):
        np.ascontiguousarray(array.T.astype(np.uint8)).tofile(folder / f"{name}.u8")
    for name, array in (("y", y), ("yt", y_test)):
        array.astype(np.uint8).tofile(folder / f"{name}.u8")
    meta = {"rows": len(y), "test_rows": len(y_test), "states": [int(s) for s in states], "classes": int(classes)}
    (folder / "meta.json").write_text(json.dumps(meta))


def write_numbers(folder, meta, **arrays):
    """Numbers for the timing programs: `meta.json`, and each array column after column as `<name>.f64`."""
    folder = pathlib.Path(folder)
    for name, array in arrays.items():
        np.ascontiguousarray(array.T, np.float64).tofile(folder / f"{name}.f64")
    (folder / "meta.json").write_text(json.dumps(meta))


def product(bench, folder, threads, program=None):
    """Runs a timing program of the product (built already, if given) on the data in `folder`; one JSON line per job."""
    command = ["cargo", "bench", "--quiet", "--workspace", "--profile", "release", "--bench", bench, "--"] if program is None else [program]
    command += ["--data", str(folder)]
    environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
    out = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def best_of(repeats, work, clock=time.perf_counter):
    """Least time of `repeats` runs by a clock, and the last result."""
    times = []
    for _ in range(repeats):
        start = clock()
        result = work()
        times.append(clock() - start)
    return np.min(times, axis=0), result


def both_clocks():
    """Wall-clock and processor seconds, for :func:`best_of`."""
    return np.array([time.perf_counter(), time.process_time()])


def parser(about, columns, rows):
    """Options of the benchmarks of densities."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--columns", type=int, default=columns)
    parser.add_argument("--rows", type=int, default=rows)
    parser.add_argument("--program", help="the built timing program `density`, instead of cargo bench")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def chain(n, d, seed):
    """Normal columns, each leaning on the one before."""
    X = np.random.default_rng(seed).normal(size=(n, d))
    for j in range(1, d):
        X[:, j] += 0.5 * X[:, j - 1]
    return X


def arguments(about, **defaults):
    """Whole numbers that a benchmark is told, `threads` among them; to be called before the peers are imported."""
    parser = argparse.ArgumentParser(description=about)
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    limit_threads(args.threads)
    return args


def limit_threads(threads):
    """To be called before the peers are imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        os.environ[name] = str(threads)


def print_table(rows, unit, scale, quality="accuracy", form=".4f"):
    """`rows`: (job, program, seconds, accuracy, note); ratios against the product's row of the same job."""
    ours = {job: seconds for job, program, seconds, _, _ in rows if program == "hingenet"}
    print(f"| job | program | {unit} | times the product's | {quality} | note |\n|---|---|---:|---:|---:|---|")
    for job, program, seconds, accuracy, note in rows:
        ratio = seconds / ours[job] if job in ours else float("nan")
        print(f"| {job} | {program} | {seconds * scale:.3f} | {ratio:.1f} | {accuracy:{form}} | {note} |")
