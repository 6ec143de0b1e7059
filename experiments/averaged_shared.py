#!/usr/bin/env python3
"""Averaged one-dependence networks: members trained with the margin one by one (the product's `aode:ml-bn-svm`) against one
set of pairwise tables that all members share, trained with the margin of the average.

    python3 experiments/averaged_shared.py --data FOLDER --program hingenet [--cache FILE] [--sets car,vote]

Shared tables: for every class and pair of features one joint table; member i has its conditionals from the tables of i, so a
table serves two members. Objective: mean negative log-likelihood of the members plus lambda times the soft hinge of the log
margin of the *averaged* probability, by L-BFGS from the maximum-likelihood tables (the problem is not convex). Both choose
lambda in 0, 0.25, 1, 4 and gamma in 1, 5 by 3 inner folds, ties to the smaller. Categorical sets, 3 stratified folds, test
cells blanked with probability 0, 30, 60, 90 %, the same cells for all; both are exact with missing cells. Needs torch,
scikit-learn and pandas.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
import pandas
import torch
from sklearn.model_selection import StratifiedKFold

SETS = ("car", "vote", "breast", "flare", "mofn-3-7-10", "lymphography", "corral")
RATES = (0, 30, 60, 90)
GRID = [(0.0, 1.0)] + [(lam, gamma) for lam in (0.25, 1.0, 4.0) for gamma in (1.0, 5.0)]
SHARPNESS = 10.0
NEVER = -1e9
MODELS = ("aode:ml", "aode:ml-bn-svm", "shared tables")


class SharedTables:
    """log P(c), log P(x_i | c) and log P(x_i, x_j | c) for i < j, as free numbers that are normalised when used."""

    def __init__(self, codes, classes, states, n_classes):
        n, d = codes.shape
        self.states, self.width = states, max(states)
        exists = torch.zeros(d, d, self.width, self.width, dtype=torch.bool)
        for i in range(d):
            for j in range(d):
                exists[i, j, : states[i], : states[j]] = True
        self.exists = exists
        self.root_exists = torch.tensor([[a < r for a in range(self.width)] for r in states])
        pairs = torch.zeros(n_classes, d, d, self.width, self.width, dtype=torch.float64)
        at = (classes[:, None, None], torch.arange(d)[None, :, None], torch.arange(d)[None, None, :],
              codes[:, :, None], codes[:, None, :])
        pairs.index_put_(at, torch.ones((), dtype=torch.float64), accumulate=True)
        # One pseudo row for each class, spread evenly.
        cells = torch.tensor(states, dtype=torch.float64)
        pairs += exists / (cells[:, None, None, None] * cells[None, :, None, None]) / n_classes
        self.counts = pairs
        self.root_counts = pairs.diagonal(dim1=1, dim2=2).diagonal(dim1=1, dim2=2)  # [K, d, width]
        self.root_counts = torch.where(self.root_exists, self.root_counts, 0.0) + 1e-9 * self.root_exists
        self.class_counts = torch.bincount(classes, minlength=n_classes).double() + 1 / n_classes
        self.upper = torch.triu(torch.ones(d, d, dtype=torch.bool), 1)[:, :, None, None]
        start = lambda x: x.clamp_min(1e-300).log()  # noqa: E731
        self.free = [start(self.class_counts), start(self.root_counts), start(pairs)]

    def tables(self, free):
        prior = free[0].log_softmax(0)
        root = torch.where(self.root_exists, free[1], NEVER).log_softmax(-1)
        pair = torch.where(self.upper, free[2], free[2].permute(0, 2, 1, 4, 3))
        pair = torch.where(self.exists, pair, NEVER)
        return prior, root, pair - pair.logsumexp(-1, keepdim=True)

    def scores(self, tables, codes):
        """log of the averaged joint probability of complete rows, [n, K]."""
        prior, root, given = tables
        d = codes.shape[1]
        i = torch.arange(d)
        member = root[:, i, codes]                                                # [K, n, d]
        links = given[:, i[:, None], i[None, :], codes[:, :, None], codes[:, None, :]]  # [K, n, d, d]
        links = torch.where(torch.eye(d, dtype=torch.bool), 0.0, links)
        return (prior[:, None] + (member + links.sum(-1)).logsumexp(-1)).T - np.log(d)

    def scores_with_gaps(self, tables, codes):
        """The same where -1 stands for a missing cell: left out as a child, summed over as the root."""
        prior, root, given = tables
        seen, d = codes >= 0, codes.shape[1]
        filled = codes.clamp_min(0)
        members = []
        for i in range(d):
            term = root[:, None, i, :].expand(-1, len(codes), -1).clone()         # [K, n, width]
            for j in range(d):
                if j != i:
                    term += torch.where(seen[:, j, None], given[:, i, j, :, filled[:, j]].permute(0, 2, 1), 0.0)
            at_root = term.gather(2, filled[None, :, i, None].expand(len(prior), -1, 1))[..., 0]
            members.append(torch.where(seen[:, i], at_root, term.logsumexp(-1)))
        return (prior[:, None] + torch.stack(members).logsumexp(0)).T - np.log(d)

    def fit(self, codes, classes, lam, gamma):
        if lam > 0:
            free = [x.clone().requires_grad_(True) for x in self.free]
            solver = torch.optim.LBFGS(free, max_iter=100, history_size=20, line_search_fn="strong_wolfe")

            def objective():
                solver.zero_grad()
                value = self.objective(free, codes, classes, lam, gamma)
                value.backward()
                return value

            solver.step(objective)
            self.free = [x.detach() for x in free]
        return self

    def objective(self, free, codes, classes, lam, gamma):
        prior, root, given = tables = self.tables(free)
        d = codes.shape[1]
        apart = ~torch.eye(d, dtype=torch.bool)[:, :, None, None]
        likely = (self.class_counts * prior).sum() + torch.where(self.root_exists, self.root_counts * root, 0.0).sum() / d
        likely = likely + torch.where(self.exists & apart, self.counts * given, 0.0).sum() / d
        scores = self.scores(tables, codes)
        own = scores.gather(1, classes[:, None])
        wrong = torch.zeros_like(scores).scatter(1, classes[:, None], NEVER)
        t = (SHARPNESS * (gamma + scores - own + wrong)).logsumexp(1) / SHARPNESS
        return -likely + lam * soft_hinge(t).sum()


def soft_hinge(z):
    """The hinge with an arc of radius 1 at its kink."""
    start, end = 1 - 2**0.5, 1 - 0.5**0.5
    x = (z - start).clamp(0, end - start)
    return torch.where(z < end, 1 - (1 - x * x).sqrt(), z)


def shared(codes, classes, states, n_classes):
    """Tables with lambda and gamma by inner folds."""
    codes, classes = torch.tensor(codes), torch.tensor(classes)
    hits = np.zeros(len(GRID))
    for inner, held in StratifiedKFold(3, shuffle=True, random_state=0).split(codes, classes):
        for k, (lam, gamma) in enumerate(GRID):
            model = SharedTables(codes[inner], classes[inner], states, n_classes).fit(codes[inner], classes[inner], lam, gamma)
            with torch.no_grad():
                hits[k] += (model.scores(model.tables(model.free), codes[held]).argmax(1) == classes[held]).sum().item()
    best = GRID[int(np.argmax(hits))]
    return SharedTables(codes, classes, states, n_classes).fit(codes, classes, *best), best


def product(program, model, train, tests):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        train.to_csv(folder / "train.csv", index=False)
        features = ",".join(train.columns.drop("class"))
        quiet = ["--quiet", "--threads", "1"]
        run = lambda *a: subprocess.run([str(program), *a, *quiet], cwd=folder, check=True, capture_output=True)  # noqa: E731
        run("fit", "train.csv", "--target", "class", "--categorical", features, "--model", model, "-o", "m.hgn")
        found = []
        for test in tests:
            test.to_csv(folder / "test.csv", index=False)
            run("predict", "m.hgn", "test.csv", "-o", "out.csv")
            found.append(pandas.read_csv(folder / "out.csv", dtype=str, keep_default_na=False)["prediction"].to_numpy())
        return found


def one_fold(program, frame, train, test, fold):
    features = frame.columns.drop("class")
    labels = sorted(frame["class"].unique())
    columns = [sorted(frame[f].unique()) for f in features]
    codes = np.stack([frame[f].map(dict(zip(c, range(len(c))))).to_numpy() for f, c in zip(features, columns)], axis=1)
    classes = frame["class"].map(dict(zip(labels, range(len(labels))))).to_numpy()
    random = np.random.default_rng(fold)
    order = random.random((len(test), len(features)))
    masks = [order < rate / 100 for rate in RATES]
    truth = frame["class"].to_numpy()[test]
    blanked = [frame.iloc[test][features].mask(mask) for mask in masks]
    result = {m: [100 * float(np.mean(p == truth)) for p in product(program, m, frame.iloc[train], blanked)] for m in MODELS[:2]}
    model, chosen = shared(codes[train], classes[train], [len(c) for c in columns], len(labels))
    with torch.no_grad():
        tables = model.tables(model.free)
        guess = [model.scores_with_gaps(tables, torch.tensor(np.where(m, -1, codes[test]))).argmax(1).numpy() for m in masks]
    result[MODELS[2]] = [100 * float(np.mean(g == classes[test])) for g in guess]
    return result | {"chosen": chosen}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("target/experiments/averaged_shared.json"))
    parser.add_argument("--sets", default=",".join(SETS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.cache.parent.mkdir(parents=True, exist_ok=True)
    done = json.loads(options.cache.read_text()) if options.cache.exists() else {}
    for name in options.sets.split(","):
        frame = pandas.read_csv(options.data / f"{name}.csv", dtype=str).dropna().reset_index(drop=True)
        frame = frame.rename(columns={frame.columns[-1]: "class"})
        frame = frame[frame.groupby("class")["class"].transform("size") >= 6].reset_index(drop=True)
        for fold, (train, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=1).split(frame, frame["class"])):
            if f"{name} {fold}" not in done:
                done[f"{name} {fold}"] = one_fold(options.program.resolve(), frame, train, test, fold)
                options.cache.write_text(json.dumps(done))
                print(name, fold, done[f"{name} {fold}"], flush=True)
    print("| set | " + " | ".join(MODELS) + " |\n|---|" + "---:|" * len(MODELS))
    rows = {name: [np.mean([v[m] for k, v in done.items() if k.split()[0] == name], axis=0) for m in MODELS]
            for name in dict.fromkeys(k.split()[0] for k in done)}
    for name, cells in [*rows.items(), ("mean", np.mean(list(rows.values()), axis=0))]:
        print(f"| {name} | " + " | ".join(" / ".join(f"{x:.1f}" for x in cell) for cell in cells) + " |")


if __name__ == "__main__":
    main()
