#!/usr/bin/env python3
"""Structure recovery by other programs on the simulated networks of Exp-II: PC, GES, BOSS, GRaSP (causal-learn), DAGMA.

    python3 experiments/gaussian_peers.py --data FOLDER --cache FOLDER [--peers pc,boss] [--networks alarm] [--simulations 10] [--table]

FOLDER holds <network>.csv (from,to) and <network>_nodes.csv. Each run is a process of its own with a limit of 120 s of
processor time; a peer that meets the limit in its first two simulations of a network is marked so and left out there.
Results go to peers.jsonl in the cache folder. `--table` runs nothing and prints what is there beside the product's results on the
same simulations, which `experiments/book` keeps.
"""
import argparse
import json
import multiprocessing
import pathlib
import resource
import statistics
import sys
import time
import warnings

import numpy as np

from gaussian_simulations import Cache, NETWORKS, SEED, class_of, counts, dag_counts, read_network, simulate

LIMIT = 120
RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "zhou.jsonl"


def marks_of(graph):
    """causal-learn: graph[j, i] = 1 and graph[i, j] = -1 is i -> j; two tails, or two heads of a conflict, are undirected."""
    m = len(graph)
    directed = {(i, j) for i in range(m) for j in range(m) if graph[j, i] == 1 and graph[i, j] == -1}
    both = {(i, j) for i in range(m) for j in range(m) if i != j and graph[i, j] != 0 and graph[i, j] == graph[j, i]}
    return directed | both


def pc(rows):
    from causallearn.search.ConstraintBased.PC import pc as run
    return marks_of(run(rows, alpha=0.01, show_progress=False).G.graph), None


def ges(rows):
    from causallearn.search.ScoreBased.GES import ges as run
    return marks_of(run(rows)["G"].graph), None


def ges_2(rows):
    from causallearn.search.ScoreBased.GES import ges as run
    return marks_of(run(rows, lambda_value=1.0)["G"].graph), None


def boss(rows, parameters=None):
    from causallearn.search.PermutationBased.BOSS import boss as run
    return marks_of(run(rows, verbose=False, parameters=parameters).graph), None


def grasp(rows, parameters=None):
    from causallearn.search.PermutationBased.GRaSP import grasp as run
    return marks_of(run(rows, verbose=False, parameters=parameters).graph), None


def dagma(rows):
    from dagma.linear import DagmaLinear
    weights = DagmaLinear(loss_type="l2").fit(rows, lambda1=0.02, w_threshold=0.3)
    arcs = [(int(i), int(j)) for i, j in np.argwhere(weights != 0)]
    return class_of(arcs), arcs


# Package defaults; the names with -c2 have the penalty of the product's order search (2 log n for an arc).
PEERS = {
    "pc": pc,
    "boss": boss,
    "grasp": grasp,
    "dagma": dagma,
    "boss-c2": lambda rows: boss(rows, {"lambda_value": 1.0}),
    "grasp-c2": lambda rows: grasp(rows, {"lambda_value": 1.0}),
    "ges": ges,
    "ges-c2": ges_2,
}


def load_peers():
    """Imports once, so that the processes of the runs need not."""
    import causallearn.search.ConstraintBased.PC  # noqa: F401
    import causallearn.search.PermutationBased.BOSS  # noqa: F401
    import causallearn.search.PermutationBased.GRaSP  # noqa: F401
    import causallearn.search.ScoreBased.GES  # noqa: F401
    import dagma.linear  # noqa: F401


def work(peer, rows, pipe):
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))
    start = time.process_time()
    marks, arcs = PEERS[peer](rows)
    pipe.send((sorted(marks), arcs, time.process_time() - start))


def run_limited(peer, rows):
    """Result and seconds of processor time, or None over the limit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(peer, rows, sender))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return None
    finally:
        process.join()


def run_one(cache, folder, name, peer, number):
    key = (name, peer, number)
    if cache.get(*key) or all((cache.get(name, peer, k) or {}).get("over") for k in (0, 1)):
        return
    nodes, arcs = read_network(folder, name)
    rows, columns = simulate(name, len(nodes), arcs, number, SEED)
    result = run_limited(peer, rows)
    if result is None:
        cache.put(key, over=True, seconds=LIMIT)
        print(*key, "over the limit", flush=True)
        return
    marks, found, seconds = result
    back = lambda pairs: {(int(columns[i]), int(columns[j])) for i, j in pairs}
    values = counts(arcs, back(marks), len(nodes))
    if found is not None:
        values |= {f"dag_{key}": value for key, value in dag_counts(arcs, back(found)).items()}
    cache.put(key, seconds=seconds, **values)
    print(*key, values["class_total"], f"{seconds:.1f} s", flush=True)


def of_product(name, method):
    """Errors of the class of a method of the product on the simulations that the book has run."""
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    blocks = [row["result"] for row in lines if row["piece"].startswith(f"zhou/recovery/{name}/")]
    return [v for block in blocks if method in block for v in block[method]["class_total"] if v is not None]


def print_table(cache):
    peers = [p for p in PEERS if any(key[1] == p for key in cache.done)]
    print("Errors of the equivalence class (reversed 2; wrong, missing, undirected 1), mean (simulations)\n")
    print("| network | " + " | ".join(["search", "or", "h", *peers]) + " |\n|---|" + "---:|" * (3 + len(peers)))
    for name in NETWORKS:
        found = [of_product(name, method) for method in ("search", "or", "h")]
        found += [[row["class_total"] for key, row in cache.done.items() if key[:2] == (name, p) and not row.get("over")] for p in peers]
        print(f"| {name} | " + " | ".join(f"{statistics.mean(v):.1f} ({len(v)})" if v else "–" for v in found) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the network files")
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for finished results")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--simulations", type=int, default=10)
    parser.add_argument("--table", action="store_true", help="print what is finished, run nothing")
    options = parser.parse_args()
    cache = Cache(options.cache / "peers.jsonl")
    if options.table:
        return print_table(cache)
    networks, peers = options.networks.split(","), options.peers.split(",")
    if unknown := set(peers) - set(PEERS):
        sys.exit(f"unknown peers {sorted(unknown)}")
    load_peers()
    # Two simulations of everything first: the table is complete early and becomes more exact.
    for block in (range(2), range(2, 5), range(5, options.simulations)):
        for peer in peers:
            for name in networks:
                for number in block:
                    if number < options.simulations:
                        run_one(cache, options.data, name, peer, number)


if __name__ == "__main__":
    main()
