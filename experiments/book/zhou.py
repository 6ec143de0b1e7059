"""Pieces of Zhou, Wang, Liu, Ogunbona, Shen: Learning Discriminative Bayesian Networks from High-dimensional Continuous
Neuroimaging Data (2015).

The first experiment (Table 3: order of the columns), the second (Tables 4 to 6: recovery of nine graphs) and the third
(classification; Figures 2 and 3). The images are not public: rows of `generate gbn` stand in for them, with the numbers of
subjects of the MRI and of the PET data, and three public tables.
"""
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import pandas

import opponents
import program
from pieces import ROOT, Context, Piece
from tables import find

sys.path.insert(0, str(ROOT / "experiments"))
from gaussian_simulations import NETWORKS, SEED, read_network, simulate, write_rows  # noqa: E402

RECIPE = 1
PERMUTATIONS, TABLE_3_LAMBDA = 100, 15
SIMULATIONS, BLOCK = 50, 10
LAMBDA1, ALPHA = 600, 0.05

TESTS = ["pc", "gs", "iamb", "fast-iamb", "inter-iamb", "tc", "tc-bw"]
METHODS = {
    "networks": {"or": ["--method", "or", "--lambda1", LAMBDA1], "h": ["--method", "h", "--lambda1", LAMBDA1], "search": []},
    "comparators": {name: ["--method", name, "--alpha", ALPHA] for name in TESTS} | {"l1mb": ["--method", "l1mb"]},
    "variants": {
        "or-l1mb": ["--method", "or", "--lambda1", LAMBDA1, "--start", "l1mb"],
        "or-printed": ["--method", "or-printed", "--lambda1", LAMBDA1],
        "h-whole": ["--method", "h-whole", "--lambda1", LAMBDA1],
    },
}
# What the tables count: all errors, wrong arcs, errors of the class as Table 6 seems to count them; and errors of the class
# with a reversed arc as two, by which gaussian_peers.py compares other programs.
COUNTS = ["total", "false_positive", "pdag_paper", "class_total"]

# Rows of the two classes, training rows: the paper's MRI and PET data.
STANDINS = {"mri": ((50, 70), 80), "pet": ((51, 52), 60)}
PENALTIES = [10, 15, 20, 30, 40, 60]
RULES = ["or", "h", "kl", "mm"]
CLASSIFIERS = {"network": "sgbn", "fisher": "fisher", "fisher-100": "fisher"}
SPLITS = 30
DRAWS = 10
TABLES = ["glaucoma-40", "glaucoma", "alzheimer-biomarkers-40", "alzheimer-biomarkers", "autism-anatomy-40", "autism-anatomy"]
REAL = [f"{family}:{rule}" for family in ("sgbn", "fisher") for rule in RULES] + ["sgbn:search"]
BASELINES = ["svm-linear", "svm-rbf", "logistic"]


def weights(context: Context, folder: pathlib.Path, names: list[str], method: str) -> list[np.ndarray]:
    """Weight matrices of both classes, in the order of `names`."""
    options = ["--rounds", 20] if method == "search" else ["--lambda1", TABLE_3_LAMBDA]
    out = program.call(context, "network", "rows.csv", "--target", "class", "--method", method, *options, "--cutoff", 0, "-o", "-", folder=folder)
    place = {name: i for i, name in enumerate(names)}
    matrices = []
    for network in json.loads(out)["networks"]:
        theta = np.zeros((len(names), len(names)))
        for arc in network["arcs"]:
            theta[place[arc["from"]], place[arc["to"]]] = arc["weight"]
        matrices.append(theta)
    return matrices


def table_3(context: Context, method: str) -> dict:
    """Distance and correlation of the averaged weights of permuted columns to those without permutation, by class."""
    rows = program.generate(context, "gbn", 120, 1).astype(str)
    names = list(rows.columns[:-1])
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)

        def fit(order):
            rows[[names[k] for k in order] + ["class"]].to_csv(folder / "rows.csv", index=False)
            return weights(context, folder, names, method)

        first = fit(range(len(names)))
        again = [fit(random.permutation(len(names))) for _ in range(PERMUTATIONS)]
    result: dict[str, list] = {"distance": [], "correlation": []}
    for c, theta in enumerate(first):
        mean = np.mean([fitted[c] for fitted in again], axis=0)
        result["distance"].append(float(f"{np.linalg.norm(mean - theta):.4g}"))
        result["correlation"].append(round(float(np.corrcoef(mean.ravel(), theta.ravel())[0, 1]), 7))
    return result


def recovery(context: Context, name: str, block: int, group: str) -> dict:
    """Counts of each method on ten simulations; a simulation without a result is null."""
    nodes, arcs = read_network(context.data / "networks", name)
    found: dict[str, dict] = {method: {count: [] for count in COUNTS} for method in METHODS[group]}
    for number in range(BLOCK * block, BLOCK * (block + 1)):
        rows, columns = simulate(name, len(nodes), arcs, number, SEED)
        names = [nodes[k] for k in columns]
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            write_rows(folder / "rows.csv", rows, names)
            (folder / "truth.csv").write_text("from,to\n" + "".join(f"{nodes[i]},{nodes[j]}\n" for i, j in arcs))
            for method, options in METHODS[group].items():
                command = ["network", "rows.csv", "--truth", "truth.csv", "-o", "-", "--numeric", ",".join(names), *options]
                try:
                    errors = json.loads(program.call(context, *command, folder=folder))["networks"][0]["errors"]
                except program.Failed:
                    # Algorithm 3 as printed may end with a cycle, and H-SGBN of the whole network may never be without one
                    errors = dict.fromkeys(COUNTS)
                for count in COUNTS:
                    found[method][count].append(errors[count])
    return found


def stand_in(context: Context, name: str, number: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Training and test rows of a split; splits are spread over ten draws, since those of one draw overlap."""
    sizes, training = STANDINS[name]
    rows = program.generate(context, "gbn", 400, 1 + number % DRAWS)
    frame = pandas.concat([rows[rows["class"] == c].head(size) for c, size in enumerate(sizes)], ignore_index=True)
    order = np.random.default_rng([number, 77]).permutation(len(frame))
    return frame.iloc[order[:training]], frame.iloc[order[training:]]


def evaluated(context: Context, folder: pathlib.Path, models: list[str]) -> list[dict]:
    command = ["evaluate", "train.csv", "--target", "class", "--test", "test.csv", "--json", "-"]
    for model in models:
        command += ["--model", model]
    return json.loads(program.call(context, *command, folder=folder))["results"]


def model_of(classifier: str, rule: str, penalty: float) -> str:
    """The options of the paper's experiment."""
    options = [f"lambda1={penalty}", *{"kl": ["k=100", "c=1"], "mm": ["k=100", "nu=0.3"]}.get(rule, [])]
    if classifier != "network" and "c=1" not in options:
        options.append("c=1")
    if classifier == "fisher-100":
        options.append("components=100")
    return ",".join([f"{CLASSIFIERS[classifier]}:{rule}", *options])


def figures_2_3(context: Context, name: str, number: int) -> dict:
    """Accuracy of every rule and classifier along lambda1, and the arcs of the networks in both classes together."""
    train, test = stand_in(context, name, number)
    points = [(c, r, p) for c in CLASSIFIERS for r in RULES for p in PENALTIES]
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        results = evaluated(context, folder, [model_of(*point) for point in points])
        arcs = {}
        for rule in ("or", "h"):
            counts = []
            for penalty in PENALTIES:
                out = program.call(context, "network", "train.csv", "--target", "class", "--method", rule, "--lambda1", penalty, "-o", "-", folder=folder)
                counts.append(sum(len(network["arcs"]) for network in json.loads(out)["networks"]))
            arcs[rule] = counts
    accuracy: dict = {c: {r: [] for r in RULES} for c in CLASSIFIERS}
    for (classifier, rule, _), result in zip(points, results):
        accuracy[classifier][rule].append(round(result["accuracy"]["mean"], 5))
    return {"accuracy": accuracy, "arcs": arcs, "baselines": baselines(train, test)}


def baselines(train: pandas.DataFrame, test: pandas.DataFrame) -> dict[str, float]:
    x, y = train.drop(columns="class").to_numpy(float), train["class"].to_numpy(str)
    truth = test["class"].to_numpy(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = {kind: opponents.numeric_machine(kind, x, y, scoring="accuracy") for kind in BASELINES}
        found = {kind: np.mean(f.predict(test.drop(columns="class").to_numpy(float)) == truth) for kind, f in fitted.items()}
    values, counts = np.unique(y, return_counts=True)
    found["majority"] = np.mean(truth == values[np.argmax(counts)])
    return {kind: round(float(value), 5) for kind, value in found.items()}


def real_table(context: Context, name: str, number: int) -> dict:
    """Accuracies on one split of a public table, two thirds for training; lambda1 is searched once, by the models without a
    discriminative step, since the others would choose the same."""
    frame = pandas.read_csv(find(context.data, name.removesuffix("-40")))
    labels = frame.pop("class").astype(str)
    # categories as indicators for every method alike
    frame = pandas.get_dummies(frame, drop_first=True).astype(float)
    order = np.random.default_rng([number, 77]).permutation(len(frame))
    a, b = order[: 2 * len(frame) // 3], order[2 * len(frame) // 3 :]
    if name.endswith("-40"):
        y = (labels == sorted(set(labels))[0]).to_numpy().astype(float)
        x = frame.to_numpy()[a]
        with np.errstate(invalid="ignore", divide="ignore"):
            r = np.abs(np.nan_to_num([np.corrcoef(x[:, j], y[a])[0, 1] for j in range(x.shape[1])]))
        frame = frame.iloc[:, np.sort(np.argsort(-r, kind="stable")[:40])]
    frame = frame.assign(**{"class": labels})
    train, test = frame.iloc[a], frame.iloc[b]
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / "test.csv", index=False)
        found = dict(zip(("sgbn:or", "sgbn:h"), evaluated(context, folder, ["sgbn:or", "sgbn:h"])))
        penalty = {name: result["chosen"][0]["lambda1"] for name, result in found.items()}
        rest = [model for model in REAL if model not in found]
        source = {model: penalty["sgbn:h" if model.endswith(":h") else "sgbn:or"] for model in rest}
        full = [model if model.endswith(":search") else f"{model},lambda1={source[model]!r}" for model in rest]
        found |= zip(rest, evaluated(context, folder, full))
    accuracy = {model: round(found[model]["accuracy"]["mean"], 5) for model in REAL}
    return {"accuracy": accuracy | baselines(train, test)}


def pieces() -> list[Piece]:
    found = [Piece(f"zhou/table-3/gbn/{m}", RECIPE, 5, lambda c, m=m: table_3(c, m), seed=1) for m in ("or", "h", "search")]
    for name in NETWORKS:
        for block in range(SIMULATIONS // BLOCK):
            for group in METHODS:
                run = lambda c, n=name, b=block, g=group: recovery(c, n, b, g)  # noqa: E731
                found.append(Piece(f"zhou/recovery/{name}/{block}/{group}", RECIPE, 20, run, seed=SEED, rank=int(block > 0)))
    for name in STANDINS:
        for number in range(SPLITS):
            run = lambda c, n=name, k=number: figures_2_3(c, n, k)  # noqa: E731
            found.append(Piece(f"zhou/figures-2-3/{name}/{number}/all", RECIPE, 10, run, seed=number, rank=int(number >= DRAWS)))
    for name in TABLES:
        for number in range(SPLITS):
            run = lambda c, n=name, k=number: real_table(c, n, k)  # noqa: E731
            found.append(Piece(f"zhou/tables/{name}/{number}/all", RECIPE, 20, run, seed=number, rank=2 + number // 10))
    return found
