#!/usr/bin/env python3
"""How far the differences between classes that `hingenet network` reports can be trusted.

    python3 experiments/class_differences.py known [--program PROGRAM] [--seeds 12]
    python3 experiments/class_differences.py shuffled --data FOLDER [--program PROGRAM] [--draws 50] [--sets glaucoma]

`known`: pairs of networks with 16 known differences (`generate gbn`), 100 to 1000 rows a class. Share of false ones among
the reported and share of the known that are found (a pair of nodes counts, whatever the direction); beside it the
networks learnt apart, whose changed pairs are cut at the size of the change that has the same share of false ones.
`shuffled`: real tables with their labels shuffled; differences reported and arcs gained or lost by networks learnt apart.
"""
import argparse
import csv
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Columns that are taken of a set, by the beginning of their names and at most so many.
SETS = {"alzheimer-biomarkers": ("", 999), "glaucoma": ("", 999), "autism-anatomy": ("lh_", 40)}


def learnt(program, rows, *options):
    command = [program, "network", rows, "--target", "class", "-o", "-", "--quiet", *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def pair(arc):
    return frozenset((arc["from"], arc["to"]))


def changed(report):
    """Pairs of the networks learnt apart with the size of their change, the largest first."""
    size = {}
    for arc in report["comparisons"][0]["arcs"]:
        if arc["change"] != "kept" or arc["first"] * arc["second"] < 0:
            size[pair(arc)] = max(size.get(pair(arc), 0), abs(arc["second"] - arc["first"]))
    return sorted(size, key=lambda p: (-size[p], sorted(p)))


def known(options):
    print("| rows a class | reported | false % | found % | learnt apart: changed | false % | found % | found % at the false % of the reported |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for n in (100, 200, 500, 1000):
        reported, right, apart, apart_right, total, lists = 0, 0, 0, 0, 0, []
        for seed in range(options.seeds):
            with tempfile.TemporaryDirectory() as folder:
                rows, truth = f"{folder}/rows.csv", f"{folder}/truth.csv"
                # the first class has 50 of 120 rows
                subprocess.run([options.program, "generate", "gbn", "-n", str(n * 12 // 5), "--seed", str(seed), "-o", rows,
                                "--truth", truth, "--quiet"], check=True)
                with open(truth) as lines:
                    true = {pair(arc) for arc in csv.DictReader(lines) if arc["weight_first"] != arc["weight_second"]}
                report = learnt(options.program, rows)
            found = {pair(arc) for arc in report["differences"]}
            pairs = changed(report)
            reported, right, total = reported + len(found), right + len(found & true), total + len(true)
            apart, apart_right = apart + len(pairs), apart_right + len(true & set(pairs))
            lists.append([p in true for p in pairs])
        share = 1 - right / max(reported, 1)
        at_share = found_at(lists, share)
        print(f"| {n} | {reported} | {100 * share:.1f} | {100 * right / total:.1f} | {apart} | {100 - 100 * apart_right / apart:.1f} "
              f"| {100 * apart_right / total:.1f} | {100 * at_share / total:.1f} |", flush=True)


def found_at(lists, share):
    """Most right pairs that some number of the largest changes of every list has with at most that share of false ones."""
    best = 0
    for k in range(1, max(map(len, lists)) + 1):
        taken = sum(min(k, len(flags)) for flags in lists)
        right = sum(sum(flags[:k]) for flags in lists)
        if 1 - right / taken <= share:
            best = max(best, right)
    return best


def table(folder, name):
    path = folder / f"{name}.csv"
    opener, path = (open, path) if path.exists() else (gzip.open, folder / f"{name}.csv.gz")
    with opener(path, "rt", newline="") as lines:
        header, *rows = csv.reader(lines)
    start, most = SETS[name]
    kept = [k for k, column in enumerate(header[:-1]) if column.startswith(start)][:most] + [len(header) - 1]
    return [header[k] for k in kept[:-1]] + ["class"], [[row[k] for k in kept] for row in rows]


def shuffled(options):
    print("| set | labels | draws | differences reported, mean | most | gained or lost by networks learnt apart, mean |")
    print("|---|---|---:|---:|---:|---:|")
    for name in options.sets.split(","):
        header, rows = table(options.data, name)
        for labels, draws in (("real", 1), ("shuffled", options.draws)):
            counts, apart = [], []
            for draw in range(draws):
                classes = [row[-1] for row in rows]
                if labels == "shuffled":
                    random.Random(draw).shuffle(classes)
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "rows.csv"
                    with open(path, "w", newline="") as out:
                        csv.writer(out).writerows([header, *([*row[:-1], c] for row, c in zip(rows, classes))])
                    report = learnt(options.program, str(path))
                counts.append(len(report["differences"]))
                apart.append(sum(arc["change"] in ("gained", "lost") for arc in report["comparisons"][0]["arcs"]))
            print(f"| {name} | {labels} | {draws} | {sum(counts) / draws:.2f} | {max(counts)} | {sum(apart) / draws:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("known", "shuffled"))
    parser.add_argument("--program", default=str(ROOT / "target/release/hingenet"))
    parser.add_argument("--data", type=pathlib.Path, help="folder of data sets (shuffled)")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    known(options) if options.part == "known" else shuffled(options)


if __name__ == "__main__":
    main()
