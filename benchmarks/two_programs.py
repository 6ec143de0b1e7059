#!/usr/bin/env python3
"""Two builds of the program on the same tasks, side by side: reading, fitting, predicting, networks, evaluation.

    python3 benchmarks/two_programs.py OLD NEW [--turns 5] [--only 'fit*']

Both take turns on one thread; of each the least processor time of all turns counts, so that other work on the machine disturbs
little. Data come from the generators of NEW, so that both read the same files. Models have the options that choose nothing by
search, unless the search itself is the task: what is searched may have changed on purpose. Each program reads the model files that it wrote.
"""
import argparse
import fnmatch
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

# Name: (generator, rows).
TABLES = {
    "waveform": ("waveform", 5000), "many": ("waveform", 200_000), "test": ("waveform", 20_000), "mixed": ("mixed", 3000),
    "forest": ("forest", 1000), "gbn": ("gbn", 400),
}  # fmt: skip
# Model: (training table, table of predictions).
MODELS = {
    "majority": ("many", "test"), "nb:ml": ("many", "test"), "tan:ml": ("many", "test"), "kdb2:ml": ("waveform", "test"),
    "aode:ml": ("waveform", "test"), "tan:mcl": ("waveform", "test"), "tan:mm,lambda=1": ("waveform", "test"),
    "nb:bn-svm,lambda=1": ("waveform", "test"), "tan:ml-bn-svm,lambda=4,gamma=5": ("waveform", "test"),
    "aode:ml-bn-svm,lambda=4,gamma=5": ("mixed", "mixed"), "nb:ml-bn-svm": ("mixed", "mixed"),
    "slb,fraction=0.1,class_weights=none,c=1": ("forest", "forest"), "slb": ("forest", "forest"), "lu,class_weights=none,c=1": ("mixed", "mixed"),
    "kde-nb": ("waveform", "test"), "kde-tan": ("forest", "forest"), "sgbn:or,lambda1=20": ("gbn", "gbn"), "sgbn:search": ("gbn", "gbn"),
    "sgbn:mm,lambda1=20,nu=0.3": ("gbn", "gbn"), "fisher:or,lambda1=20,c=1": ("gbn", "gbn"), "pool": ("mixed", "mixed"), "pool,fast=true": ("waveform", "waveform"),
}  # fmt: skip
OTHER = {
    "network, order search": ["network", "gbn.csv", "--target", "class", "-o", "net.json"],
    "evaluate tan:ml, missing cells": ["evaluate", "mixed.csv", "--target", "class", "--model", "tan:ml", "--missing", "0,0.3,0.6"],
}  # fmt: skip


def seconds(program: str, arguments: list[str], folder: str) -> float | None:
    """Processor time of a call; none if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, *arguments, "--quiet", "--threads", "1"], cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return None if done.returncode else after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tasks() -> dict[str, list[str]]:
    """Arguments by name; `{}` stands for the number of the program."""
    found = {}
    for k, (model, (train, test)) in enumerate(MODELS.items()):
        file = f"{{}}-{k}.hgn"
        found[f"fit {model}"] = ["fit", f"{train}.csv", "--target", "class", "--model", model, "-o", file]
        found[f"predict {model}"] = ["predict", file, f"{test}.csv", "--proba", "-o", "{}.csv"]
    return found | OTHER


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--only", default="*", help="tasks by name; models must be fitted before they predict")
    options = parser.parse_args()
    programs = [str(pathlib.Path(p).resolve()) for p in options.programs]
    with tempfile.TemporaryDirectory() as folder:
        for name, (generator, rows) in TABLES.items():
            subprocess.run([programs[1], "generate", generator, "-n", str(rows), "-o", os.path.join(folder, f"{name}.csv"), "--quiet"], check=True)
        ratios = []
        print("| task | old, s | new, s | new / old |\n|---|---:|---:|---:|")
        for name, arguments in tasks().items():
            if not fnmatch.fnmatch(name, options.only):
                continue
            turns = [[seconds(p, [a.format(k) for a in arguments], folder) for k, p in enumerate(programs)] for _ in range(options.turns)]
            old, new = (None if None in times else min(times) for times in zip(*turns, strict=True))
            if old is None or new is None:
                print(f"| {name} | {'failed' if old is None else f'{old:.2f}'} | {'failed' if new is None else f'{new:.2f}'} | |")
                continue
            ratios.append(new / old)
            print(f"| {name} | {old:.2f} | {new:.2f} | {new / old:.2f} |", flush=True)
        print(f"\nmedian ratio {statistics.median(ratios):.2f}, largest {max(ratios):.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
