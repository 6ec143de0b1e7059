#!/usr/bin/env python3
"""Settings of SLB by nested cross-validation, on sets that had no part in choosing the defaults.

    python3 experiments/density_settings.py floor --data FOLDER --cache CACHE --program hingenet [--sets ...]
    python3 experiments/density_settings.py machine --data FOLDER --cache CACHE --program hingenet [--sets ...]

`floor`: floor R and training features. For every outer fold (stratified, 5) each candidate gets an inner balanced error from
3 folds of the training rows, and an outer one from the test rows. The table gives, for each set, the outer error of every
candidate, how often it was chosen, and the outer errors of the nested choice and of the default.

`machine`: C of the machine. Every candidate makes its own search inside; the table gives the
outer errors. The sets are small or made small, half of them with a rare class, as most of the paper's are.

One line of the cache is one outer fold.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

# Classes left out.
FLOOR_SETS = {"glass2": [], "heart": [], "cleve": [], "australian": [], "waveform-21": ["2"], "glaucoma": []}
MOST_ROWS = 700

# File, classes, rows of each class (all if there are fewer), columns drawn.
MACHINE_SETS = {
    "glass2": ("glass2", None, None, None), "heart": ("heart", None, None, None), "hepatitis": ("hepatitis", None, None, None),
    "cleve": ("cleve", None, None, None), "german": ("german", None, (240, 60), None), "breast": ("breast", None, (200, 60), None),
    "waveform-21": ("waveform-21", ["0", "1"], (260, 40), None), "satimage": ("satimage", ["very_damp_grey_soil", "damp_grey_soil"], (200, 50), 18),
    "letter": ("letter", ["F", "E"], (70, 30), None), "glass": ("glass", ["building_non_float", "building_float"], None, None),
    "segment": ("segment", ["foliage", "window"], (80, 30), None), "vehicle": ("vehicle", ["van"], (240, 50), None),
    "glaucoma": ("glaucoma", None, None, 20), "spambase": ("spambase", None, (200, 60), 20), "alzheimer": ("alzheimer-biomarkers", None, None, 20),
}  # fmt: skip

FLOORS = [(r, f) for f in ("leave_one_out", "resubstitution") for r in (2, 4, 8)]
STUDIES = {
    "floor": {f"R={r} {f.split('_')[0]}": f"slb,floor={r},features={f},c=1" for r, f in FLOORS},
    "machine": {"c = 1": "slb,c=1", "c = 0.1": "slb,c=0.1", "c = 0.01": "slb,c=0.01", "c chosen (default)": "slb"},
}
FLOOR_DEFAULT = "R=4 leave"


def read(folder, name):
    import pandas

    path = next(p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.exists())
    return pandas.read_csv(path, dtype={"class": str}).dropna()


def floor_set(folder, name):
    """Complete rows of two classes, at most 700 of them, drawn with a fixed seed."""
    frame = read(folder, name)
    frame = frame[~frame["class"].isin(FLOOR_SETS[name])]
    return frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)


def machine_set(folder, name):
    """The numeric columns of two classes, the more frequent first; one class alone is taken against all others."""
    import numpy as np
    import pandas

    file, classes, sizes, columns = MACHINE_SETS[name]
    frame = read(folder, file)
    label, values = frame.pop("class"), frame.select_dtypes("number")
    if columns is not None and values.shape[1] > columns:
        values = values.iloc[:, np.sort(np.random.default_rng(0).permutation(values.shape[1])[:columns])]
    frame = values.loc[:, values.nunique() > 1].assign(**{"class": label})
    if classes is not None and len(classes) == 1:
        frame["class"] = frame["class"].where(frame["class"] == classes[0], "other")
    elif classes is not None:
        frame = frame[frame["class"].isin(classes)]
    counts = frame["class"].value_counts()
    parts = []
    for k, c in enumerate(counts.index[:2]):
        of_class = frame[frame["class"] == c]
        parts.append(of_class.sample(min(sizes[k], len(of_class)) if sizes else len(of_class), random_state=0))
    return pandas.concat(parts).sample(frac=1, random_state=0).reset_index(drop=True)


def evaluate(program, folder, models, extra):
    command = [program, "evaluate", "train.csv", "--target", "class", "--quiet", "--threads", "1", "--json", "-", *extra]
    for model in models:
        command += ["--model", model]
    out = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return [100 * result["balanced_error"]["mean"] for result in json.loads(out)["results"]]


def table(study, names, records):
    """One row for each set, and the means."""
    labels = list(STUDIES[study])
    default = labels.index(FLOOR_DEFAULT) if study == "floor" else None
    rows = {}
    for name in names:
        mine = [r for r in records if r["set"] == name]
        if not mine:
            continue
        rows[name] = [statistics.mean(r["outer"][c] for r in mine) for c in range(len(labels))]
        if study == "floor":
            chosen = [min(range(len(labels)), key=lambda c: r["inner"][c]) for r in mine]
            rows[name] += [statistics.mean(r["outer"][c] for r, c in zip(mine, chosen)), rows[name][default]]
    if rows:
        rows["mean"] = [statistics.mean(column) for column in zip(*rows.values())]
    print("| set | " + " | ".join(labels + (["nested", "default"] if study == "floor" else [])) + " |")
    print("|---|" + "---:|" * len(next(iter(rows.values()), labels)))
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="hingenet")
    parser.add_argument("--sets", type=lambda s: s.split(","))
    args = parser.parse_args()
    from sklearn.model_selection import StratifiedKFold

    sets, make = (FLOOR_SETS, floor_set) if args.study == "floor" else (MACHINE_SETS, machine_set)
    names, models = args.sets or list(sets), list(STUDIES[args.study].values())
    args.cache.mkdir(parents=True, exist_ok=True)
    file = args.cache / f"{args.study}.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    for name in names:
        frame = make(args.data, name)
        splits = StratifiedKFold(5, shuffle=True, random_state=0).split(frame, frame["class"])
        for fold, (train, test) in enumerate(splits):
            if any((r["set"], r["fold"]) == (name, fold) for r in records):
                continue
            with tempfile.TemporaryDirectory() as folder:
                frame.iloc[train].to_csv(f"{folder}/train.csv", index=False)
                frame.iloc[test].to_csv(f"{folder}/test.csv", index=False)
                inner = evaluate(args.program, folder, models, ["--folds", "3"]) if args.study == "floor" else None
                outer = evaluate(args.program, folder, models, ["--test", "test.csv"])
            records.append({"set": name, "fold": fold, "inner": inner, "outer": outer})
            with open(file, "a") as out:
                out.write(json.dumps(records[-1]) + "\n")
    table(args.study, names, records)


if __name__ == "__main__":
    main()
