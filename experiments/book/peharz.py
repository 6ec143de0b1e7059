"""Pieces of Peharz, Tschiatschek, Pernkopf: The Most Generative Maximum Margin Bayesian Networks (ICML 2013).

Sets of at most 5000 rows: five stratified folds, more: two thirds for training, once, as the paper says. Intervals are cut on
training rows. Car, breast and adult have the paper's own folds and states. Each method is fitted once for each fold and then
tested on the same rows with 0 to 90 % of the cells blanked, so that the tables, the win counts and the Figures 3 and 4 speak
of the same fits.
"""
import json
import pathlib
import random
import tempfile

import numpy as np
import pandas
from sklearn.model_selection import StratifiedKFold

import opponents
import program
from pieces import Context, Piece
from tables import Split, blanked, complete, number_of, numeric_columns, read, read_arff

RECIPE = 1
# Of sets that are split once.
ONE_SPLIT_RECIPE = 2
# Run again since the gap to which ML-BN-SVM solves problems that are too large for dense steps became that of the search.
LARGE = ("usps",)
FOLDS = 5
MOST_ROWS = 5000
RATES = [k / 10 for k in range(10)]

# Sets by name: (rows, columns, classes), for estimates of time.
SIZES = {
    "abalone": (4177, 8, 3), "adult": (32561, 14, 2), "australian": (690, 14, 2), "breast": (683, 9, 2), "car": (1728, 6, 4),
    "chess": (3196, 36, 2), "cleve": (297, 13, 2), "corral": (128, 6, 2), "crx": (653, 15, 2), "diabetes": (768, 8, 2),
    "flare": (1066, 10, 2), "german": (1000, 20, 2), "glass": (214, 9, 6), "glass2": (163, 9, 2), "heart": (270, 13, 2),
    "hepatitis": (80, 19, 2), "iris": (150, 4, 3), "letter": (20000, 16, 26), "lymphography": (148, 18, 4),
    "mofn-3-7-10": (1324, 10, 2), "mushroom": (8124, 22, 2), "nursery": (12960, 8, 5), "satimage": (4435, 36, 6),
    "segment": (2310, 19, 7), "shuttle": (58000, 9, 7), "soybean-large": (562, 35, 15), "spambase": (4601, 57, 2),
    "usps": (11000, 256, 10), "vehicle": (846, 18, 4), "vote": (435, 16, 2), "waveform-21": (5000, 21, 3),
}
OWN_FOLDS = {"car": 5, "breast": 5, "adult": 1}
# The training file of UCI: with all 6435 rows the paper would have split once, and its intervals are those of folds.
FIRST_ROWS = {"satimage": 4435}
# Here an empty cell is a value: the sizes that fit the printed intervals and accuracies are those with all rows.
GAP_IS_A_VALUE = ("mushroom", "vote")

RULES = ("ml", "mcl", "mm", "ml-bn-svm")
MODELS = [f"{graph}:{rule}" for graph in ("nb", "tan") for rule in RULES]
MACHINES = ["svm-linear", "svm-rbf", "logistic"]
# Nearer to the cited methods: tables that stay normalised throughout; the number of iterations by inner folds.
VARIANTS = [
    f"{graph}:{rule}{options}"
    for graph in ("nb", "tan")
    for rule, options in (
        ("mcl", ",form=tables"), ("mcl", ",early_stopping=true"), ("mcl", ",form=tables,early_stopping=true"),
        ("mm", ",form=tables"), ("mm", ",early_stopping=true"), ("mm", ",form=tables,early_stopping=true"),
    )
]

# Figure 1 has lambda 0 and the powers of two of the printed grid.
LAMBDAS = [0.0, *(2.0**k for k in range(-2, 11))]
FIGURE_1_GAMMA = 1
FIGURE_2_RATES = [k / 10 for k in range(11)]
FIGURE_2_MODELS = [f"{graph}:{rule}" for graph in ("nb", "tan") for rule in ("ml", "ml-bn-svm,lambda=1", "ml-bn-svm,lambda=16", "ml-bn-svm,lambda=256")]
FIGURE_2_MASKS = 20
SEMI_SETS = ["car", "chess", "mushroom", "satimage", "segment", "vehicle", "waveform-21"]
SEMI_MODELS = ["nb:ml", "tan:ml", "nb:ml-bn-svm", "tan:ml-bn-svm"]
SEMI_SHARES = [0.05, 0.2]


def rows_of(context: Context, name: str) -> pandas.DataFrame:
    frame = read(context.data, name).iloc[: FIRST_ROWS.get(name)]
    return frame.replace("", "none") if name in GAP_IS_A_VALUE else complete(frame)


def splits(context: Context, name: str) -> list[Split]:
    """The folds of a set, or its one split."""
    if name in OWN_FOLDS:
        return [own_fold(context.data / "folds", name, k + 1) for k in range(OWN_FOLDS[name])]
    frame = rows_of(context, name)
    target = frame.columns[-1]
    numeric = numeric_columns(frame, target)
    labels = frame[target]
    if len(frame) > MOST_ROWS:
        order = list(range(len(frame)))
        random.Random(1).shuffle(order)
        pairs = [(order[: 2 * len(frame) // 3], order[2 * len(frame) // 3 :])]
    else:
        import warnings

        with warnings.catch_warnings():
            # a class of fewer rows than folds is not in every one
            warnings.simplefilter("ignore")
            pairs = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(frame, labels))
    return [Split(frame.iloc[a].reset_index(drop=True), frame.iloc[b].reset_index(drop=True), target, numeric) for a, b in pairs]


def own_fold(folder: pathlib.Path, name: str, number: int) -> Split:
    def path(part):
        return next(p for p in (folder / f"{name}-{number}-{part}.arff{end}" for end in ("", ".gz")) if p.exists())

    train, test = read_arff(path("train")), read_arff(path("test"))
    return Split(train, test, train.columns[-1], [], path("train").resolve())


def write(path: pathlib.Path, frame: pandas.DataFrame) -> str:
    frame.to_csv(path, index=False)
    return path.name


def fit_on(context: Context, folder: pathlib.Path, split: Split, model: str, *more) -> dict:
    train = split.source or write(folder / "train.csv", split.train)
    kinds = ["--numeric", ",".join(split.numeric)] if split.numeric else []
    others = [f for f in split.features if f not in split.numeric]
    kinds += ["--categorical", ",".join(others)] if others and split.source is None else []
    program.fit(context, folder, train, split.target, model, *kinds, *more)
    return program.facts(context, folder)


def with_gaps(split: Split, name: str, fold: int) -> pandas.DataFrame:
    """The test rows with 0, 10, ... 90 % of their cells blanked, below each other."""
    return pandas.concat([blanked(split.test, split.target, rate, (name, fold)) for rate in RATES], ignore_index=True)


def right_at_rates(answers, split: Split) -> list[int]:
    truth = split.test[split.target].to_numpy()
    return [int((part == truth).sum()) for part in np.split(np.asarray(answers), len(RATES))]


def network(context: Context, name: str, model: str) -> dict:
    """Right answers by fold and rate, likelihood of training and test rows, what the search chose."""
    result = {"rows": [], "right": [], "train": [], "test": [], "chosen": []}
    for fold, split in enumerate(splits(context, name)):
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            options = ",alpha=1" if name in OWN_FOLDS and "ml-bn-svm" in model else ""
            facts = fit_on(context, folder, split, model + options)
            answers = program.predict(context, folder, write(folder / "gaps.csv", with_gaps(split, name, fold)))
            result["rows"].append(len(split.test))
            result["right"].append(right_at_rates(answers, split))
            result["chosen"].append(facts["chosen"])
            for part in ("train", "test"):
                path = write(folder / "rows.csv", getattr(split, part))
                result[part].append(round(program.log_likelihood(context, folder, path), 5))
    return result


def machine(context: Context, name: str, kind: str) -> dict:
    """The same of a machine on indicators of the states that naive Bayes has, gaps filled in by five neighbours."""
    result = {"rows": [], "right": [], "chosen": []}
    for fold, split in enumerate(splits(context, name)):
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            fit_on(context, folder, split, "nb:ml")
            states = opponents.States(program.states(context, folder), split.features)
        train, y = states.codes(split.train), split.train[split.target].to_numpy(str)
        fitted, chosen = opponents.discrete_machine(kind, states.indicators(train), y)
        test = states.imputed(states.codes(with_gaps(split, name, fold)), train)
        result["rows"].append(len(split.test))
        result["right"].append(right_at_rates(fitted.predict(states.indicators(test)), split))
        result["chosen"].append(chosen)
    return result


def figure_1(context: Context) -> dict:
    """Along lambda: accuracy and likelihood of test rows, slack of a training row, means over the paper's folds of car."""
    sums: dict[str, np.ndarray] = {}
    found = splits(context, "car")
    for split in found:
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            values = ",".join(f"{v:g}" for v in LAMBDAS)
            out = program.call(
                context, "evaluate", split.source, "--target", split.target, "--test", write(folder / "test.csv", split.test),
                "--model", f"nb:ml-bn-svm,alpha=1,gamma={FIGURE_1_GAMMA}", "--sweep", f"lambda={values}", "--json", "-", folder=folder,
            )  # fmt: skip
        points = json.loads(out)["sweep"]
        for key in ("accuracy", "log_likelihood", "slack"):
            sums[key] = sums.get(key, 0) + np.array([p[key] for p in points])
    return {key: [round(float(v), 6) for v in total / len(found)] for key, total in sums.items()}


def figure_2(context: Context, model: str) -> dict:
    """Share of right answers by rate: 20 masks of each of the five folds of vehicle."""
    right, rows, chosen = np.zeros(len(FIGURE_2_RATES)), 0, []
    for fold, split in enumerate(splits(context, "vehicle")):
        runs = [(rate, mask) for rate in FIGURE_2_RATES for mask in range(FIGURE_2_MASKS)]
        frames = [blanked(split.test, split.target, rate, ("figure 2", fold, mask)) for rate, mask in runs]
        with tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(work)
            chosen.append(fit_on(context, folder, split, model)["chosen"])
            answers = program.predict(context, folder, write(folder / "gaps.csv", pandas.concat(frames, ignore_index=True)))
        hits = np.asarray(answers).reshape(len(FIGURE_2_RATES), FIGURE_2_MASKS, -1) == split.test[split.target].to_numpy()
        right += hits.sum(axis=(1, 2))
        rows += hits.shape[1] * hits.shape[2]
    return {"accuracy": [round(float(v), 5) for v in right / rows], "runs": FOLDS * FIGURE_2_MASKS, "chosen": chosen}


def semi_supervised(context: Context, name: str, model: str) -> dict:
    """Right answers with a share of the training classes known: from those rows alone, and with the others too."""
    result: dict = {"rows": [], "labelled": {str(s): [] for s in SEMI_SHARES}, "both": {str(s): [] for s in SEMI_SHARES}, "tau": []}
    for fold, split in enumerate(splits(context, name)[:FOLDS]):
        result["rows"].append(len(split.test))
        for share in SEMI_SHARES:
            random = np.random.default_rng(number_of("semi", name, fold))
            known = np.zeros(len(split.train), bool)
            for c in split.train[split.target].unique():
                rows = random.permutation(np.flatnonzero(split.train[split.target] == c))
                known[rows[: max(2, round(share * len(rows)))]] = True
            gaps = split.train.copy()
            gaps.loc[~known, split.target] = ""
            parts = {"labelled": (split.train[known], ()), "both": (gaps, ("--semi-supervised",))}
            for part, (train, more) in parts.items():
                with tempfile.TemporaryDirectory() as work:
                    folder = pathlib.Path(work)
                    facts = fit_on(context, folder, Split(train, split.test, split.target, split.numeric), model, *more)
                    answers = np.asarray(program.predict(context, folder, write(folder / "rows.csv", split.test)))
                    result[part][str(share)].append(int((answers == split.test[split.target].to_numpy()).sum()))
                    if part == "both":
                        result["tau"].append(facts["chosen"].get("tau"))
    return result


def cost(name: str) -> float:
    rows, columns, classes = SIZES[name]
    return rows * (columns + 4) * classes / 1e4


def recipe(name: str, model: str = "") -> int:
    base = ONE_SPLIT_RECIPE if SIZES[name][0] > MOST_ROWS and name not in OWN_FOLDS else RECIPE
    return base + (name in LARGE and model.endswith(":ml-bn-svm"))


def pieces() -> list[Piece]:
    found = []
    for name in SIZES:
        for model in MODELS + VARIANTS:
            rank = 0 if model in MODELS else 1
            found.append(Piece(f"peharz/table/{name}/{model}", recipe(name, model), cost(name), lambda c, n=name, m=model: network(c, n, m), rank=rank))
        for kind in MACHINES:
            found.append(Piece(f"peharz/table/{name}/{kind}", recipe(name), cost(name), lambda c, n=name, k=kind: machine(c, n, k), rank=1))
    found.append(Piece("peharz/figure-1/car/nb:ml-bn-svm", RECIPE, 1, figure_1))
    for model in FIGURE_2_MODELS:
        found.append(Piece(f"peharz/figure-2/vehicle/{model}", RECIPE, 1, lambda c, m=model: figure_2(c, m)))
    for name in SEMI_SETS:
        for model in SEMI_MODELS:
            found.append(Piece(f"peharz/semi/{name}/{model}", recipe(name), cost(name), lambda c, n=name, m=model: semi_supervised(c, n, m), rank=1))
    return found
