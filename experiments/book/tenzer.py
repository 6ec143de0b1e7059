"""Pieces of Tenzer, Moscovich, Dorn, Nadler, Spiegelman: Beyond Trees: Classification with Sparse Pairwise Dependencies (JMLR 2020).

Table 1: rows with missing cells removed, stratified five-fold cross-validation, the same folds for every method; one piece is
one method on one repeat of the folds. Tables 2 and 3 and Figures 1 to 12: 20 generated features, new networks in every
replicate, 500 + 500 test rows; one piece is one replicate of one setting with all sizes of training tables, by the product
or by the others. Errors are balanced: the mean over the classes of the share of wrong rows. Rates of Theorem 5: error beyond
that of the Bayes rule on two problems whose densities are known (`rates.py`); one piece is one replicate of one problem, the few
rows or the many.
"""
import io
import pathlib
import tempfile
from collections.abc import Callable

import numpy as np
import pandas
from sklearn.model_selection import StratifiedKFold

import opponents
import program
import rates
from pieces import Context, Piece
from tables import complete, read

RECIPE = 1
# Of the machines on log densities, and of what is run together with them: C is chosen by inner folds.
MACHINE_RECIPE = 2
FOLDS = 5

# Printed name: (file, columns left out, repeats, rough work of a fit).
SETS = {
    "Blood": ("blood", [], 5, 1), "Climate Model Simulation Crashes": ("climate-crashes", [], 5, 2),
    "Hill-valley without noise": ("hill-valley", [], 1, 60), "Hill-valley with noise": ("hill-valley-noise", [], 1, 60),
    "Ionosphere": ("ionosphere", ["v1", "v2"], 5, 3), "Liver": ("liver", [], 5, 1), "Ozone": ("ozone", [], 1, 60),
    "Parkinson": ("parkinson", [], 5, 1), "Pima": ("diabetes", [], 5, 1), "Pulsar stars": ("pulsar", [], 1, 20),
    "Ringnorm": ("ringnorm", [], 1, 20), "Sonar": ("sonar", [], 5, 4), "Spectf": ("spectf", [], 5, 1),
    "Vertebral": ("vertebral", [], 5, 1), "WI diag": ("wdbc", [], 5, 4), "WI prog": ("wpbc", [], 5, 2),
}  # fmt: skip
# What the paper says of its own method: densities of the rows themselves, no class weights, C = 1, shares of pairs by
# misclassification. Its pieces have the name that was enough while 1 was the default of C.
AS_THE_PAPER = "slb,features=resubstitution,class_weights=none,criterion=error"
MODELS = {AS_THE_PAPER: AS_THE_PAPER + ",c=1"}
PRODUCT = ["slb", AS_THE_PAPER, "slb-all", "lu", "kde-nb", "kde-tan"]
OTHERS = ["rf-50", "rf-500", "svm-default", "svm-rbf", "5nn"]
MACHINES = ("slb", "slb-all", "lu")
# All pairs of a hundred columns take an hour a fold; Table 1 has no such column.
TABLE_1 = [m for m in PRODUCT if m != "slb-all"] + OTHERS

SIZES = [200, 400, 600, 800, 1000]
REPLICATES = 100
TEST_ROWS = 500
# Setting: (generator, recipe of its rows). A generator that changes gets a new recipe, and its lines alone are made again.
SETTINGS = {
    "forest;normal": ("forest", 1), "forest;complex": ("forest-complex", 1),
    "bn;normal;none": ("bn", 1), "bn;normal;third-shared": ("bn-shared", 1),
    "bn;complex;none": ("bn-complex", 1), "bn;complex;third-shared": ("bn-complex-shared", 1),
}  # fmt: skip
BALANCES = {"balanced": 0.5, "imbalanced": 0.75}

# Rows of both classes together, in two groups: (sizes, replicates).
RATE_GROUPS = {"few": ([100, 200, 400, 800, 1600], 20), "many": ([3200, 6400, 12800], 10)}
RATE_METHODS = ["slb", AS_THE_PAPER, "lu", "kde-nb", "kde-tan"]
RATE_TEST_ROWS, BAYES_ROWS = 20_000, 2_000_000


def balanced_error(truth, answers) -> float:
    truth, answers = np.asarray(truth, str), np.asarray(answers, str)
    return round(float(np.mean([100 * np.mean(answers[truth == c] != c) for c in np.unique(truth)])), 3)


def answers_of(context: Context, method: str, train: pandas.DataFrame, test: pandas.DataFrame):
    """Answers of a method to the test rows; the target is last."""
    target = train.columns[-1]
    if method in OTHERS:
        x, y = train.drop(columns=target).to_numpy(float), train[target].to_numpy(str)
        fitted = opponents.numeric_machine(method, x, y, scoring="accuracy")
        return fitted.predict(test.drop(columns=target).to_numpy(float))
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        train.to_csv(folder / "train.csv", index=False)
        test.drop(columns=target).to_csv(folder / "test.csv", index=False)
        features = ",".join(train.columns[:-1])
        program.fit(context, folder, "train.csv", target, MODELS.get(method, method), "--numeric", features)
        return program.predict(context, folder, "test.csv")


def table_1(context: Context, name: str, repeat: int, method: str) -> dict:
    file, dropped, *_ = SETS[name]
    frame = complete(read(context.data, file).drop(columns=dropped))
    labels = frame[frame.columns[-1]]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(frame, labels)
    errors = [balanced_error(labels.iloc[b], answers_of(context, method, frame.iloc[a], frame.iloc[b])) for a, b in folds]
    return {"errors": errors}


def replicate(context: Context, generator: str, balance: str, number: int, methods: list[str]) -> dict:
    """Errors of each method by the number of training rows."""
    # enough rows of both classes for training and test, all from the same two networks
    text = program.call(context, "generate", generator, "-n", 3000, "--seed", 1000 + number)
    frame = pandas.read_csv(io.StringIO(text), dtype=str)
    minus, plus = (frame[frame["class"] == c] for c in sorted(frame["class"].unique()))
    test = pandas.concat([plus[-TEST_ROWS:], minus[-TEST_ROWS:]])
    errors: dict[str, list] = {method: [] for method in methods}
    for n in SIZES:
        of_plus = round(n * BALANCES[balance])
        train = pandas.concat([plus[:of_plus], minus[: n - of_plus]])
        for method in methods:
            errors[method].append(balanced_error(test["class"], answers_of(context, method, train, test)))
    return {"errors": errors}


def rate(problem: str, number: int, sizes: list[int]) -> Callable[[Context], dict]:
    """Error of each method beyond the Bayes rule, by the number of training rows, on one test table; C = 1 as in the paper."""

    def run(context: Context) -> dict:
        known = rates.PROBLEMS[problem]
        columns = [f"x{j + 1}" for j in range(rates.FEATURES)]

        def table(each, *seed):
            x, y = known.rows(each, np.random.default_rng([number, *seed]))
            return pandas.DataFrame(x, columns=columns).assign(**{"class": np.array(rates.CLASSES)[y]})

        test = table(RATE_TEST_ROWS // 2, 1)
        eta = known.posterior(test[columns].to_numpy())
        found: dict[str, list] = {method: [] for method in RATE_METHODS}
        for n in sizes:
            train = table(n // 2, 2, n)
            for method in RATE_METHODS:
                model = f"{method},c=1" if method in MACHINES else method
                answers = np.asarray(answers_of(context, model, train, test)) == rates.CLASSES[1]
                found[method].append(round(100 * rates.excess(eta, answers), 4))
        return {"excess": found}

    return run


def bayes(problem: str) -> Callable[[Context], dict]:
    """Error of the Bayes rule."""
    return lambda _: rates.PROBLEMS[problem].bayes_error(BAYES_ROWS // 2, np.random.default_rng(0))


def pieces() -> list[Piece]:
    found = []
    for name, (file, _, repeats, work) in SETS.items():
        for repeat in range(repeats):
            for method in TABLE_1:
                run = lambda c, n=name, r=repeat, m=method: table_1(c, n, r, m)  # noqa: E731
                rank = 0 if repeat == 0 else 3
                recipe = MACHINE_RECIPE if method in MACHINES else RECIPE
                found.append(Piece(f"tenzer/table-1/{file}/{repeat}/{method}", recipe, work, run, seed=repeat, rank=rank))
    for setting, (generator, recipe) in SETTINGS.items():
        for balance in BALANCES:
            for number in range(REPLICATES):
                for group, methods in (("product", PRODUCT), ("others", OTHERS)):
                    run = lambda c, g=generator, b=balance, k=number, m=methods: replicate(c, g, b, k, m)  # noqa: E731
                    piece = f"tenzer/generated/{setting};{balance}/{number}/{group}"
                    # a few replicates of every setting before many of one
                    of_group = recipe + (MACHINE_RECIPE - RECIPE if group == "product" else 0)
                    found.append(Piece(piece, of_group, 18, run, seed=1000 + number, rank=1 + number // 5))
    for problem in rates.PROBLEMS:
        found.append(Piece(f"tenzer/rates/{problem}/bayes", RECIPE, 2, bayes(problem)))
        for group, (sizes, replicates) in RATE_GROUPS.items():
            for number in range(replicates):
                work = sum(sizes) / 800
                found.append(Piece(f"tenzer/rates/{problem}/{number}/{group}", RECIPE, work, rate(problem, number, sizes), seed=number, rank=1 + number // 5))
    return found
