#!/usr/bin/env python3
"""Exp-I of Zhou et al. (2015), Table 3: does the learnt network depend on the order of the columns?

    python3 experiments/gaussian_permutations.py --program hingenet [--permutations 100] [--lambda1 15] [--seed 1]

Rows of the generator `gbn` (a stand-in for the imaging data, which are not public), one network a class. The columns are
permuted, the weights put back in the first order and averaged; the table has their Euclidean distance to, and correlation
with, the weights without permutation. OR-SGBN must have distance below 1e-5 and correlation above 0.999999; exit code 1
if not.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PRINTED = {("or", 0): (0.08, 0.9996), ("or", 1): (0.18, 0.9981), ("h", 0): (1.91, 0.6828), ("h", 1): (2.06, 0.6396)}
NAMES = {"or": "OR-SGBN", "h": "H-SGBN", "search": "order search"}


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def weights(options, path, names, method):
    """Weight matrices of both classes, in the order of `names`."""
    arguments = ["--lambda1", options.lambda1] if method != "search" else ["--rounds", 20]
    out = run(options.program, "network", path, "--target", "class", "--method", method, *arguments, "--cutoff", 0,
              "--quiet", "--threads", 1, "-o", "-")
    place = {name: i for i, name in enumerate(names)}
    matrices = []
    for network in json.loads(out)["networks"]:
        theta = np.zeros((len(names), len(names)))
        for arc in network["arcs"]:
            theta[place[arc["from"]], place[arc["to"]]] = arc["weight"]
        matrices.append(theta)
    return matrices


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, default="hingenet")
    parser.add_argument("--permutations", type=int, default=100)
    parser.add_argument("--lambda1", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lines = run(options.program, "generate", "gbn", "--seed", options.seed, "--quiet").splitlines()
    cells = np.array([line.split(",") for line in lines])
    names = list(cells[0, :-1])
    random = np.random.default_rng(options.seed)
    failed = False
    print("| method | class | distance | correlation | largest difference | paper: distance | paper: correlation |")
    print("|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"

        def fit(method, order):
            table = np.column_stack([cells[:, order], cells[:, -1]])
            path.write_text("\n".join(",".join(row) for row in table) + "\n")
            return weights(options, path, names, method)

        for method in NAMES:
            first = fit(method, np.arange(len(names)))
            again = [fit(method, random.permutation(len(names))) for _ in range(options.permutations)]
            for c in range(2):
                mean = np.mean([theta[c] for theta in again], axis=0)
                distance = np.linalg.norm(mean - first[c])
                correlation = np.corrcoef(mean.ravel(), first[c].ravel())[0, 1]
                largest = max(np.abs(theta[c] - first[c]).max() for theta in again)
                failed |= method == "or" and not (distance < 1e-5 and correlation > 0.999999)
                printed = PRINTED.get((method, c))
                paper = f"{printed[0]} | {printed[1]}" if printed else "– | –"
                print(f"| {NAMES[method]} | {c + 1} | {distance:.2g} | {correlation:.7f} | {largest:.2g} | {paper} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
