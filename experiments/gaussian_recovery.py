#!/usr/bin/env python3
"""Exp-II of Zhou et al. (2015): recovery of nine benchmark graphs, beside Tables 4-6 and beside other programs.

    python3 experiments/gaussian_recovery.py --data FOLDER --cache FOLDER --program hingenet [--simulations 50] [--methods pc,gs] [--table]

FOLDER holds <network>.csv (from,to) and <network>_nodes.csv. Every simulation is standardised, its columns are permuted,
and it is written to a CSV file that `hingenet network --truth` reads; gaussian_peers.py runs the other programs on the
same numbers. Finished simulations are kept in product.jsonl of the cache folder; --table only prints. --summary FILE writes
the means and standard errors of all methods, one line for each graph and method.
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
ALPHA = "0.05"
METHODS = {"or": ["--method", "or", "--lambda1", LAMBDA1], "h": ["--method", "h", "--lambda1", LAMBDA1], "search": []}
TESTS = ["pc", "gs", "iamb", "fast-iamb", "inter-iamb", "tc", "tc-bw"]
# The comparators of the paper's second experiment, and the variants of its own methods.
COMPARATORS = {name: ["--method", name, "--alpha", ALPHA] for name in TESTS} | {
    "l1mb": ["--method", "l1mb"],
    "or-l1mb": ["--method", "or", "--lambda1", LAMBDA1, "--start", "l1mb"],
    "or-printed": ["--method", "or-printed", "--lambda1", LAMBDA1],
    "h-whole": ["--method", "h-whole", "--lambda1", LAMBDA1],
}
ALL = METHODS | COMPARATORS

# OR-SGBN in the paper: total errors (Table 4), false positives (Table 5), errors of the equivalence class (Table 6).
# Mildew's total is a misprint (a copy of Hailfinder's).
PRINTED = {
    "factors": (54.82, 17.70, 63.40), "alarm": (44.40, 23.14, 51.02), "barley": (99.26, 48.70, 105.50),
    "carpo": (25.58, 14.56, 33.74), "chain": (7.04, 3.52, 7.42), "hailfinder": (57.04, 28.66, 63.76),
    "insurance": (59.04, 31.20, 68.26), "mildew": (None, 33.86, 67.24), "water": (93.08, 46.74, 94.52),
}
# The comparators in the paper, in the same order. Of its four columns called IAMB three are equal; what IAMB1 is, is not told.
PRINTED_COMPARATORS = {
    "gs": {
        "chain": (4.88, 2.44, 5.54), "factors": (104.50, 50.74, 109.54), "insurance": (74.64, 42.16, 81.68), "water": (94.04, 65.02, 97.46),
        "mildew": (60.74, 46.46, 61.32), "alarm": (59.30, 37.72, 64.08), "barley": (114.70, 72.30, 122.26), "hailfinder": (94.94, 62.04, 106.08), "carpo": (131.72, 76.30, 135.34),
    },
    "iamb": {
        "chain": (4.70, 2.36, 5.30), "factors": (103.14, 50.28, 109.22), "insurance": (78.78, 48.08, 86.60), "water": (102.70, 74.22, 106.14),
        "mildew": (68.46, 52.48, 69.30), "alarm": (61.76, 40.96, 66.82), "barley": (123.80, 82.96, 131.24), "hailfinder": (103.10, 66.40, 113.44), "carpo": (132.76, 77.18, 136.74),
    },
    "tc": {
        "chain": (4.42, 2.22, 5.16), "factors": (103.02, 49.74, 108.84), "insurance": (76.30, 44.06, 83.70), "water": (97.16, 68.06, 100.38),
        "mildew": (63.80, 49.82, 64.48), "alarm": (60.60, 39.24, 65.34), "barley": (122.78, 80.76, 130.04), "hailfinder": (99.02, 65.42, 110.04), "carpo": (133.16, 77.38, 136.92),
    },
    "tc-bw": {
        "chain": (5.50, 2.76, 6.12), "factors": (102.90, 49.40, 108.96), "insurance": (73.74, 41.72, 81.44), "water": (90.24, 63.70, 93.80),
        "mildew": (59.66, 45.46, 60.34), "alarm": (57.76, 36.86, 62.54), "barley": (114.38, 72.60, 121.38), "hailfinder": (96.18, 63.16, 107.56), "carpo": (131.18, 75.14, 134.78),
    },
    "l1mb": {
        "chain": (5.32, 2.66, 5.96), "factors": (101.48, 47.66, 107.20), "insurance": (74.78, 42.80, 81.58), "water": (92.86, 64.52, 96.34),
        "mildew": (60.86, 46.22, 61.68), "alarm": (56.58, 36.04, 61.74), "barley": (113.24, 71.70, 120.54), "hailfinder": (91.50, 60.00, 103.72), "carpo": (125.74, 71.96, 129.02),
    },
}
# Chain has 6 arcs whose directions no method can tell, Carpo and Mildew are not reproducible from what is printed.
EXEMPT = {"chain", "carpo", "mildew"}
FACTOR = 1.15


def run_product(cache, options, name):
    nodes, arcs = read_network(options.data, name)
    for number in range(options.simulations):
        todo = [m for m in options.methods if not cache.get(name, m, number)]
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
                run = subprocess.run([str(c) for c in command + ALL[method]], capture_output=True, text=True)
                if run.returncode:
                    # Algorithm 3 as printed may end with a cycle, and H-SGBN of the whole network may never be without one
                    cache.put((name, method, number), over=True, error=run.stderr.strip().splitlines()[0])
                    continue
                network = json.loads(run.stdout)["networks"][0]
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


def print_comparators(product):
    for table, key in enumerate(("total", "false_positive", "pdag_paper")):
        methods = [m for m in COMPARATORS if any(k[1] == m for k in product.done)]
        print(f"\nTable {4 + table}, {key}: here, in brackets printed (tests at alpha = {ALPHA}, lambda1 = {LAMBDA1})\n")
        print("| network | simulations | " + " | ".join(methods) + " |\n|---|---:|" + "---:|" * len(methods))
        for name in NETWORKS:
            cells, counts = [], set()
            for method in methods:
                rows, failed = collect(product, name, method)
                counts.add(len(rows) + failed)
                printed = PRINTED_COMPARATORS.get(method, {}).get(name, (None,) * 3)[table]
                cell = f"{mean(rows, key):.1f}" if rows else "–"
                cells.append(cell + (f" ({printed:.1f})" if printed else "") + (f", {failed} without a result" if failed else ""))
            print(f"| {name} | {max(counts)} | " + " | ".join(cells) + " |")


def write_summary(product, path):
    keys = ["total", "false_positive", "missing", "skeleton", "pdag_paper", "class_total", "pdag_shd"]
    with open(path, "w") as out:
        for name in NETWORKS:
            for method in ALL:
                rows, failed = collect(product, name, method)
                if rows or failed:
                    means = {key: [round(mean(rows, key), 3), round(error(rows, key), 3)] for key in keys if len(rows) > 1}
                    out.write(json.dumps({"network": name, "method": method, "simulations": len(rows), "without_result": failed, **means}) + "\n")


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
    parser.add_argument("--methods", type=lambda text: text.split(","), default=list(ALL))
    parser.add_argument("--summary", type=pathlib.Path, help="file for means and standard errors")
    parser.add_argument("--table", action="store_true", help="print what is finished, run nothing")
    options = parser.parse_args()
    product, peers = Cache(options.cache / "product.jsonl"), Cache(options.cache / "peers.jsonl")
    if not options.table:
        for name in NETWORKS:
            run_product(product, options, name)
            print(name, "done", flush=True)
    print_paper_table(product)
    print_comparators(product)
    if options.summary:
        write_summary(product, options.summary)
    print_peer_table(options.data, product, peers)


if __name__ == "__main__":
    main()
