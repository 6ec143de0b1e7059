#!/usr/bin/env python3
"""Floor R and training features of SLB by nested cross-validation, on sets that had no part in choosing the defaults.

    python3 experiments/density_settings.py --data FOLDER --cache CACHE --program hingenet [--sets ...]

For every outer fold (stratified, 5) each candidate gets an inner balanced error from 3 folds of the training rows, and an
outer one from the test rows. The table gives, for each set, the mean inner error of every candidate, how often it was
chosen, and the outer errors of the nested choice and of the default. One line of the cache is one outer fold.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

SETS = {"glass2": [], "heart": [], "cleve": [], "australian": [], "waveform-21": ["2"], "glaucoma": []}
CANDIDATES = [(r, f) for f in ("leave_one_out", "resubstitution") for r in (2, 4, 8)]
DEFAULT = (4, "leave_one_out")
MOST_ROWS = 700


def read_set(folder, name):
    """Complete rows of two classes, at most 700 of them, drawn with a fixed seed."""
    import pandas

    path = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    frame = pandas.read_csv(path, dtype={"class": str}).dropna()
    frame = frame[~frame["class"].isin(SETS[name])]
    return frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)


def evaluate(program, folder, extra):
    command = [program, "evaluate", "train.csv", "--target", "class", "--quiet", "--threads", "1", "--json", "-", *extra]
    for r, features in CANDIDATES:
        command += ["--model", f"slb,floor={r},features={features}"]
    out = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return [100 * result["balanced_error"]["mean"] for result in json.loads(out)["results"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="hingenet")
    parser.add_argument("--sets", type=lambda s: s.split(","), default=list(SETS))
    args = parser.parse_args()
    from sklearn.model_selection import StratifiedKFold

    args.cache.mkdir(parents=True, exist_ok=True)
    file = args.cache / "settings.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for name in args.sets:
        frame = read_set(args.data, name)
        splits = StratifiedKFold(5, shuffle=True, random_state=0).split(frame, frame["class"])
        for fold, (train, test) in enumerate(splits):
            if any((r["set"], r["fold"]) == (name, fold) for r in records):
                continue
            with tempfile.TemporaryDirectory() as folder:
                frame.iloc[train].to_csv(f"{folder}/train.csv", index=False)
                frame.iloc[test].to_csv(f"{folder}/test.csv", index=False)
                inner = evaluate(args.program, folder, ["--folds", "3"])
                outer = evaluate(args.program, folder, ["--test", "test.csv"])
            records.append({"set": name, "fold": fold, "inner": inner, "outer": outer})
            with open(file, "a") as out:
                out.write(json.dumps(records[-1]) + "\n")
    print("| set | " + " | ".join(f"R={r} {f.split('_')[0]}" for r, f in CANDIDATES) + " | nested | default |")
    print("|---|" + "---|" * (len(CANDIDATES) + 2))
    for name in args.sets:
        mine = [r for r in records if r["set"] == name]
        if not mine:
            continue
        chosen = [min(range(len(CANDIDATES)), key=lambda c: r["inner"][c]) for r in mine]
        cells = [f"{statistics.mean(r['inner'][c] for r in mine):.1f} ({chosen.count(c)})" for c in range(len(CANDIDATES))]
        nested = statistics.mean(r["outer"][c] for r, c in zip(mine, chosen))
        default = statistics.mean(r["outer"][CANDIDATES.index(DEFAULT)] for r in mine)
        print(f"| {name} | " + " | ".join(cells) + f" | {nested:.1f} | {default:.1f} |")


if __name__ == "__main__":
    main()
