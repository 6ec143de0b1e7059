#!/usr/bin/env python3
"""Learn a sparse Gaussian network: OR-SGBN and order search of the product, PC (causal-learn) and DAGMA, on the same rows.

Ratios are of processor time on both sides, least of several runs, so that a busy machine disturbs them little. Limits in
seconds are checked on the product's wall-clock time and mean something on a quiet machine only.
"""
import argparse
import json
import pathlib
import tempfile
import time

import common

PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
PARSER.add_argument("--threads", type=int, default=1)
PARSER.add_argument("--repeats", type=int, default=10)
PARSER.add_argument("--program", help="the timing program, if it is built already")
PARSER.add_argument("--large", action="store_true", help="also 200 and 1000 nodes (product only)")
ARGS = PARSER.parse_args()
common.limit_threads(ARGS.threads)

import numpy as np  # noqa: E402  (threads are limited first)

# Nodes, rows, lambda1 of OR-SGBN, jobs of the product, most seconds allowed for each.
SIZES = [(40, 1000, 600.0, {"or": None, "search": 0.3}, True), (100, 1000, 600.0, {"or": 0.5}, False)]
LARGE = [(200, 500, 300.0, {"search": 60.0}, False), (1000, 500, 300.0, {"or": 60.0}, False)]
# How many times faster than the peer OR-SGBN has to be.
WANTED = {"PC": 30, "DAGMA": 90}


def rows_of(m, n, seed=1):
    """A random DAG with two parents a node (mean degree 4), weights ±U(0.5, 1), unit noise; standardised."""
    random = np.random.default_rng(seed)
    order = random.permutation(m)
    X = random.normal(size=(n, m))
    for k, j in enumerate(order):
        for i in random.choice(order[:k], size=min(k, 2), replace=False) if k else []:
            X[:, j] += random.uniform(0.5, 1) * random.choice([-1, 1]) * X[:, i]
    return (X - X.mean(0)) / X.std(0, ddof=1)


def pc(X):
    from causallearn.search.ConstraintBased.PC import pc as run
    return int((run(X, alpha=0.01, show_progress=False).G.graph != 0).sum()) // 2


def dagma(X):
    from dagma.linear import DagmaLinear
    return int((DagmaLinear(loss_type="l2").fit(X, lambda1=0.02) != 0).sum())


def main():
    print("| nodes | rows | program | wall-clock, s | processor, s | times OR-SGBN's | arcs | target |\n|---:|---:|---|---:|---:|---:|---:|---|")
    for m, n, lambda1, jobs, with_peers in SIZES + (LARGE if ARGS.large else []):
        X = rows_of(m, n)
        with tempfile.TemporaryDirectory() as folder:
            X.astype("<f8").tofile(pathlib.Path(folder) / "x.f64")
            meta = {"rows": n, "nodes": m, "jobs": list(jobs), "lambda1": lambda1, "repeats": ARGS.repeats if m <= 100 else 1}
            (pathlib.Path(folder) / "meta.json").write_text(json.dumps(meta))
            results = common.product("dag_learn", folder, ARGS.threads, ARGS.program)
        ours = next((r["processor"] or r["seconds"] for r in results if r["job"] == "or"), None)
        for r in results:
            limit = jobs[r["job"]]
            verdict = "" if limit is None else f"{'met' if r['seconds'] <= limit else 'missed'}: at most {limit} s"
            name = "OR-SGBN" if r["job"] == "or" else "order search, 100 rounds"
            used = r["processor"] or r["seconds"]
            ratio = used / ours if ours else float("nan")
            print(f"| {m} | {n} | hingenet, {name} | {r['seconds']:.4f} | {used:.4f} | {ratio:.1f} | {len(r['arcs'])} | {verdict} |", flush=True)
        for name, peer in (("PC", pc), ("DAGMA", dagma)) if with_peers else ():
            try:
                seconds, arcs = common.best_of(1 if name == "DAGMA" else 3, lambda: peer(X), time.process_time)
            except ImportError as missing:
                print(f"(left out: {name}: {missing})")
                continue
            ratio = seconds / ours
            verdict = f"{'met' if ratio >= WANTED[name] else 'missed'}: at least {WANTED[name]} times"
            print(f"| {m} | {n} | {name} | – | {seconds:.3f} | {ratio:.0f} | {arcs} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
