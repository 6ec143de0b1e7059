"""Pieces of Zhou, Wang, Liu, Ogunbona, Shen: Learning Discriminative Bayesian Networks from High-dimensional Continuous
Neuroimaging Data (2015).

The first experiment (Table 3: order of the columns), the second (Tables 4 to 6: recovery of nine graphs) and the third
(classification; Figures 2 and 3). The images are not public: rows of `generate gbn` stand in for them, with the numbers of
subjects of the MRI and of the PET data, and three public tables. The fourth (networks of brain regions) is run on one of these (`regions.py`).
"""
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import pandas

import neighbourhoods
import opponents
import program
import regions
from pieces import ROOT, Context, Piece
from tables import find

sys.path.insert(0, str(ROOT / "experiments"))
from gaussian_simulations import NETWORKS, SEED, class_of, read_network, simulate, write_rows  # noqa: E402

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

# The comparators as public code has them (`neighbourhoods`), and OR-SGBN that takes no arc which its start lacks, with the
# penalty of these that comes nearest to the printed Tables 4 and 5.
READING = [*neighbourhoods.METHODS, "or-inside", "or"]
LAMBDA1_INSIDE = 400

# Rows of the two classes, training rows: the paper's MRI and PET data.
STANDINS = {"mri": ((50, 70), 80), "pet": ((51, 52), 60)}
PENALTIES = [10, 15, 20, 30, 40, 60]
RULES = ["or", "h", "kl", "mm"]
CLASSIFIERS = {"network": "sgbn", "fisher": "fisher", "fisher-100": "fisher"}
SPLITS = 30
DRAWS = 10
# What KL-SGBN may move, and its weight of slacks; more than there are is all.
MOVED, SLACKS = [10, 30, 100, 5000], [1e-6, 1]
STUDIED = ["few", "many"]
TABLES = ["glaucoma-40", "glaucoma", "alzheimer-biomarkers-40", "alzheimer-biomarkers", "autism-anatomy-40", "autism-anatomy"]
REAL = [f"{family}:{rule}" for family in ("sgbn", "fisher") for rule in RULES] + ["sgbn:search"]
BASELINES = ["svm-linear", "svm-rbf", "logistic"]


def weights(context: Context, folder: pathlib.Path, names: list[str], method: str) -> list[np.ndarray]:
    """Weight matrices of both classes, in the order of `names`."""
    options = ["--rounds", 20] if method == "search" else ["--lambda1", TABLE_3_LAMBDA]
    out = program.call(context, "network", "rows.csv", "--target", "class", "--method", method, *options, "--cutoff", 0, "--shuffles", 0, "-o", "-", folder=folder)
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


def arcs_of(network: dict, names: list[str]) -> set[tuple[int, int]]:
    place = {name: i for i, name in enumerate(names)}
    return {(place[arc["from"]], place[arc["to"]]) for arc in network["arcs"]}


def turned(marks) -> set[tuple[int, int]]:
    return {(j, i) for i, j in marks}


def reading(context: Context, name: str, block: int) -> dict:
    """Counts of a reading of the second experiment on ten simulations.

    The arcs of the comparators count as they are (`straight`) and turned round, as if the matrix that the search gives had
    been compared with the transposed one of the truth. `class_turned` takes classes of matrices read in that other way.
    """
    nodes, arcs = read_network(context.data / "networks", name)
    kinds = ["total", "false_positive", "class_straight", "class_turned", "straight"]
    found: dict[str, dict] = {method: {kind: [] for kind in kinds} for method in READING}
    for number in range(BLOCK * block, BLOCK * (block + 1)):
        rows, columns = simulate(name, len(nodes), arcs, number, SEED)
        place = {int(node): k for k, node in enumerate(columns)}
        truth = {(place[i], place[j]) for i, j in arcs}
        gram = rows.T @ rows
        random = np.random.default_rng([SEED, number])
        for method in neighbourhoods.METHODS:
            near = neighbourhoods.neighbourhoods(method, gram, len(rows), ALPHA)
            dag = {(int(i), int(j)) for i, j in np.argwhere(neighbourhoods.search(gram, near, len(rows), random))}
            other = turned(dag)
            values = [len(other ^ truth), len(other - truth), len(class_of(other) ^ truth), len(turned(class_of(dag)) ^ truth), len(dag ^ truth)]
            for kind, value in zip(kinds, values):
                found[method][kind].append(value)
        names = [nodes[k] for k in columns]
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            write_rows(folder / "rows.csv", rows, names)
            start = neighbourhoods.supports(gram, len(rows))
            barred = [f"{names[i]},{names[j]},forbidden\n" for j, support in enumerate(start) for i in range(len(names)) if i != j and i not in support]
            (folder / "arcs.csv").write_text("from,to,rule\n" + "".join(barred))
            for method, options in (("or-inside", ["--lambda1", LAMBDA1_INSIDE, "--arcs", "arcs.csv"]), ("or", ["--lambda1", LAMBDA1])):
                command = ["network", "rows.csv", "-o", "-", "--numeric", ",".join(names), "--method", "or", *options]
                dag = arcs_of(json.loads(program.call(context, *command, folder=folder))["networks"][0], names)
                total = len(dag ^ truth)
                values = [total, len(dag - truth), len(class_of(dag) ^ truth), len(turned(class_of(turned(dag))) ^ truth), total]
                for kind, value in zip(kinds, values):
                    found[method][kind].append(value)
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
                out = program.call(context, "network", "train.csv", "--target", "class", "--method", rule, "--lambda1", penalty, "--shuffles", 0, "-o", "-", folder=folder)
                counts.append(sum(len(network["arcs"]) for network in json.loads(out)["networks"]))
            arcs[rule] = counts
    accuracy: dict = {c: {r: [] for r in RULES} for c in CLASSIFIERS}
    for (classifier, rule, _), result in zip(points, results):
        accuracy[classifier][rule].append(round(result["accuracy"]["mean"], 5))
    return {"accuracy": accuracy, "arcs": arcs, "baselines": baselines(train, test)}


def many_weights(rows: int, seed: int) -> pandas.DataFrame:
    """Rows of two classes over the same 80 arcs of 40 nodes, all weights of which differ a little."""
    random = np.random.default_rng([seed, 5])
    nodes = 40
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, min(i + 13, nodes))]
    arcs = [pairs[k] for k in random.permutation(len(pairs))[:80]]
    common = random.choice([-1.0, 1.0], len(arcs)) * random.uniform(0.3, 0.7, len(arcs))
    weights = np.zeros((2, nodes, nodes))
    for c in range(2):
        for (i, j), weight in zip(arcs, common + 0.2 * random.normal(size=len(arcs))):
            weights[c, i, j] = weight
    label = (random.random(rows) >= 50 / 120).astype(int)
    x = random.normal(size=(rows, nodes))
    for j in range(nodes):
        x[:, j] += np.einsum("ai,ai->a", x, weights[label, :, j])
    frame = pandas.DataFrame(x[:, random.permutation(nodes)], columns=[f"x{j + 1:02}" for j in range(nodes)])
    return frame.assign(**{"class": label})


def moved_model(penalty: float, k: int, c: float) -> str:
    return f"sgbn:kl,lambda1={penalty},k={k},c={c}"


def kl_study(context: Context, kind: str, number: int) -> dict:
    """Accuracy of KL-SGBN on training and test rows by the number of weights that may move, and what it minimises."""
    if kind == "few":
        train, test = stand_in(context, "mri", number)
    else:
        rows = many_weights(400, 1 + number % DRAWS)
        sizes, training = STANDINS["mri"]
        frame = pandas.concat([rows[rows["class"] == c].head(size) for c, size in enumerate(sizes)], ignore_index=True)
        order = np.random.default_rng([number, 77]).permutation(len(frame))
        train, test = frame.iloc[order[:training]], frame.iloc[order[training:]]
    found: dict = {}
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        train.to_csv(folder / "train.csv", index=False)
        for penalty in (20, 40):
            models = [f"sgbn:or,lambda1={penalty}", f"sgbn:mm,lambda1={penalty},k=100,nu=0.3"]
            models += [moved_model(penalty, k, c) for c in SLACKS for k in MOVED]
            for part, frame in (("test", test), ("train", train)):
                frame.to_csv(folder / "test.csv", index=False)
                for model, result in zip(models, evaluated(context, folder, models)):
                    found.setdefault(model, {})[part] = round(result["accuracy"]["mean"], 5)
            for k in MOVED:
                program.fit(context, folder, folder / "train.csv", "class", moved_model(penalty, k, 1))
                solver = program.facts(context, folder)["solver"]
                found[moved_model(penalty, k, 1)]["objective"] = float(f"{solver['objective']:.5g}")
    return found


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
    for name in NETWORKS:
        for block in range(SIMULATIONS // BLOCK):
            run = lambda c, n=name, b=block: reading(c, n, b)  # noqa: E731
            found.append(Piece(f"zhou/reading/{name}/{block}/all", RECIPE, 15, run, seed=SEED, rank=int(block > 0)))
    for kind in STUDIED:
        for number in range(SPLITS):
            run = lambda c, s=kind, k=number: kl_study(c, s, k)  # noqa: E731
            found.append(Piece(f"zhou/kl/{kind}/{number}/all", RECIPE, 2, run, seed=number, rank=int(number >= DRAWS)))
    for name in STANDINS:
        for number in range(SPLITS):
            run = lambda c, n=name, k=number: figures_2_3(c, n, k)  # noqa: E731
            found.append(Piece(f"zhou/figures-2-3/{name}/{number}/all", RECIPE, 10, run, seed=number, rank=int(number >= DRAWS)))
    found.append(Piece("zhou/regions/autism-anatomy/all", RECIPE, 60, regions.fourth, rank=1))
    for name in TABLES:
        for number in range(SPLITS):
            run = lambda c, n=name, k=number: real_table(c, n, k)  # noqa: E731
            found.append(Piece(f"zhou/tables/{name}/{number}/all", RECIPE, 20, run, seed=number, rank=2 + number // 10))
    return found
