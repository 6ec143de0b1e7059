#!/usr/bin/env python3
"""Exp-II of Zhou et al. (2015): recovery of nine benchmark graphs, beside Tables 4-6 and beside other programs.

    python3 experiments/gaussian_recovery.py --data FOLDER --cache FOLDER --program hingenet [--simulations 50] [--table]

FOLDER holds <network>.csv (from,to) and <network>_nodes.csv. Every simulation is standardised, its columns are permuted,
and it is written to a CSV file that `hingenet network --truth` reads; gaussian_peers.py runs the other programs on the
same numbers. Finished simulations are kept in product.jsonl of the cache folder; --table only prints.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from gaussian_peers import PEERS, SEED
from gaussian_simulations import Cache, NETWORKS, class_of, read_network, simulate, write_rows

LAMBDA1 = "600"
METHODS = {"or": ["--method", "or", "--lambda1", LAMBDA1], "h": ["--method", "h", "--lambda1", LAMBDA1], "search": []}

# OR-SGBN in the paper: total errors (Table 4), false positives (Table 5), errors of the equivalence class (Table 6).
# Mildew's total is a misprint (a copy of Hailfinder's).
PRINTED = {
    "factors": (54.82, 17.70, 63.40), "alarm": (44.40, 23.14, 51.02), "barley": (99.26, 48.70, 105.50),
    "carpo": (25.58, 14.56, 33.74), "chain": (7.04, 3.52, 7.42), "hailfinder": (57.04, 28.66, 63.76),
    "insurance": (59.04, 31.20, 68.26), "mildew": (None, 33.86, 67.24), "water": (93.08, 46.74, 94.52),
}
# Chain has 6 arcs whose directions no method can tell, Carpo and Mildew are not reproducible from what is printed.
EXEMPT = {"chain", "carpo", "mildew"}
FACTOR = 1.15


def run_product(cache, options, name):
    nodes, arcs = read_network(options.data, name)
    for number in range(options.simulations):
        todo = [m for m in METHODS if not cache.get(name, m, number)]
        if not todo:
            continue
        rows, columns = simulate(name, len(nodes), arcs, number, SEED)
        with tempfile.TemporaryDirectory() as folder:
            data, truth = pathlib.Path(folder) / "rows.csv", pathlib.Path(folder) / "truth.csv"
            names = [nodes[k] for k in columns]
            write_rows(data, rows, names)
            truth.write_text("from,to\n" + "".join(f"{nodes[i]},{nodes[j]}\n" for i, j in arcs))
            for method in todo:
                command = [options.program, "network", data, "--truth", truth, "--quiet", "-o", "-", "--threads", "1", "--numeric",
                           ",".join(names)]
                start = time.perf_counter()
                out = subprocess.run([str(c) for c in command + METHODS[method]], check=True, capture_output=True).stdout
                network = json.loads(out)["networks"][0]
                cache.put((name, method, number), seconds=time.perf_counter() - start, **network["errors"])


def mean(rows, key):
    return statistics.mean(r[key] for r in rows)


def error(rows, key):
    return statistics.stdev(r[key] for r in rows) / len(rows) ** 0.5 if len(rows) > 1 else float("nan")


def collect(cache, name, method):
    rows = [row for key, row in cache.done.items() if key[0] == name and key[1] == method]
    over = [r for r in rows if r.get("over")]
    return [r for r in rows if not r.get("over")], len(over)


def print_paper_table(product):
    print(f"OR-SGBN (lambda1 = {LAMBDA1}) beside the paper: total errors, false positives, errors of the class (Tables 4-6)\n")
    print("| network | simulations | total, printed | total, here | false positive, printed | here | class, printed | here | H-SGBN total | target |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    for name in NETWORKS:
        rows, _ = collect(product, name, "or")
        h, _ = collect(product, name, "h")
        if not rows:
            continue
        total, wrong, pdag = PRINTED[name]
        here = mean(rows, "total")
        verdict = "exempt" if name in EXEMPT else "met" if here <= FACTOR * total else "missed"
        text = "misprint" if total is None else f"{total:.2f}"
        print(f"| {name} | {len(rows)} | {text} | {here:.2f} | {wrong:.2f} | {mean(rows, 'false_positive'):.2f} | {pdag:.2f} | "
              f"{mean(rows, 'pdag_paper'):.2f} | {mean(h, 'total'):.2f} | {verdict} |")


def pairs(product, name, rows):
    """On how many of the peer's own simulations the order search errs less, as much, more."""
    both = [(product.get(name, "search", r["key"][2])["class_total"], r["class_total"])
            for r in rows if product.get(name, "search", r["key"][2])]
    return f" (less, equal, more on {sum(a < b for a, b in both)}, {sum(a == b for a, b in both)}, {sum(a > b for a, b in both)})"


def print_peer_table(data, product, peers):
    names = [p for p in PEERS if any(key[1] == p for key in peers.done)]
    print("\nErrors of the equivalence class (reversed 2; wrong, missing, undirected 1), mean ± standard error (simulations)\n")
    print("| network | undirected in the truth | search | OR-SGBN | H-SGBN | " + " | ".join(names) + " | search against the best peer |")
    print("|---|---:|" + "---:|" * (3 + len(names)) + "---|")
    better = worse = 0
    for name in NETWORKS:
        nodes, arcs = read_network(data, name)
        marks = class_of(arcs)
        undirected = sum((j, i) in marks for i, j in marks) // 2
        cells, ours = [], None
        for method in METHODS:
            rows, _ = collect(product, name, method)
            if rows and method == "search":
                ours = mean(rows, "class_total")
            cells.append(f"{mean(rows, 'class_total'):.1f} ± {error(rows, 'class_total'):.1f} ({len(rows)})" if rows else "–")
        cells = [cells[2], cells[0], cells[1]]
        best = paired = None
        for peer in names:
            rows, over = collect(peers, name, peer)
            if rows:
                value = mean(rows, "class_total")
                if best is None or value < best:
                    best, paired = value, pairs(product, name, rows)
                note = f", {over} over the limit" if over else ""
                cells.append(f"{value:.1f} ± {error(rows, 'class_total'):.1f} ({len(rows)}{note})")
            else:
                cells.append("over the limit" if over else "–")
        verdict = "–"
        if ours is not None and best is not None:
            verdict = "better" if ours < best - 1e-9 else "equal" if ours < best + 1e-9 else "worse"
            better += verdict == "better"
            worse += verdict == "worse"
            verdict += paired
        print(f"| {name} | {undirected} | " + " | ".join(cells) + f" | {verdict} |")
    print(f"\nOrder search: better than the best peer on {better} networks, worse on {worse}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the network files")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for finished results")
    parser.add_argument("--program", type=pathlib.Path, default="hingenet")
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--table", action="store_true", help="print what is finished, run nothing")
    options = parser.parse_args()
    product, peers = Cache(options.cache / "product.jsonl"), Cache(options.cache / "peers.jsonl")
    if not options.table:
        for name in NETWORKS:
            run_product(product, options, name)
            print(name, "done", flush=True)
    print_paper_table(product)
    print_peer_table(options.data, product, peers)


if __name__ == "__main__":
    main()
