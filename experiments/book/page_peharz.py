"""The page of Peharz et al. (2013), from lines of results alone."""
import math
import statistics

import compare
import peharz
from compare import Cell, Measure, judged
from markdown import COUNTED, Book, counts, differing, table
from pieces import Lines

RULE = {"ML": "ml", "MCL": "mcl", "MM": "mm", "ML-BN-SVM": "ml-bn-svm"}
MACHINE = {"LinearSVM": "svm-linear", "SVM": "svm-rbf"}
COLUMNS = ["ML", "MCL", "MM", "ML-BN-SVM", "LinearSVM", "SVM"]
NAMES = {"LinearSVM": "linear SVM", "SVM": "RBF SVM"}
SETS = {row["name"]: row for row in compare.read("sets") if row["paper"] == "peharz"}
# Likelihood of maximum likelihood over that of a rule, in % (training rows, test rows), as printed.
RATIOS = {"ml-bn-svm": (91.09, 89.84), "mcl": (67.23, 61.47), "mm": (39.99, 39.10)}
NOT_UCI = ("usps",)
# Shares of blanked cells for the three groups of win counts, whose captions are lost.
GROUP_RATES = {1: 0, 2: 5, 3: 9}


def result(lines: Lines, name: str, method: str) -> dict | None:
    return lines.result(f"peharz/table/{name}/{method}")


def accuracies(found: dict, rate: int = 0) -> list[float]:
    """Accuracy of each fold in %, with `rate` tenths of the cells blanked."""
    return [100 * right[rate] / rows for right, rows in zip(found["right"], found["rows"])]


def accuracy(found: dict | None, rate: int = 0) -> Measure | None:
    if found is None:
        return None
    if len(found["rows"]) == 1:
        return compare.of_rows(found["right"][0][rate], found["rows"][0])
    return compare.of_folds(accuracies(found, rate))


def cells(lines: Lines) -> list[Cell]:
    """All cells of both tables; the machines have the same numbers in both and are counted with the first."""
    found = []
    for row in compare.read("peharz"):
        graph, name, column = row["structure"].lower(), row["dataset"], row["method"]
        if column in MACHINE and graph == "nb":
            continue
        file = name.lower() if SETS[name]["file"] else None
        method = MACHINE.get(column) or f"{graph}:{RULE[column]}"
        ours = accuracy(result(lines, file, method)) if file else None
        printed = Measure(float(row["accuracy"]), float(row["ci"]))
        where = "machines" if column in MACHINE else graph
        absent = "" if file else SETS[name]["remark"]
        found.append(judged("peharz", where, name if name.startswith("TIMIT") else name.lower(), column, printed, ours, absent))
    return found


def big_table(all_cells: list[Cell], graph: str) -> str:
    by_place = {(c.table, c.row, c.column): c for c in all_cells}
    rows = []
    for name in SETS:
        row = name if name.startswith("TIMIT") else name.lower()
        line = [by_place["machines" if column in MACHINE else graph, row, column] for column in COLUMNS]
        rows.append([row, *(cell.text() for cell in line)])
    means = ["mean of the sets that ran"]
    for column in COLUMNS:
        both = [c for c in all_cells if c.column == column and c.table in (graph, "machines") and c.ours]
        means.append(f"{statistics.mean(c.ours.mean for c in both):.2f} [{statistics.mean(c.printed.mean for c in both):.2f}]" if both else "–")
    return table(["set", *(NAMES.get(c, c) for c in COLUMNS)], [*rows, means])


def is_better(a: dict, b: dict, rate: int) -> tuple[bool, bool]:
    """Whether the first is better, and whether by more than chance: paired folds, or test rows of one split."""
    ours, theirs = accuracies(a, rate), accuracies(b, rate)
    gap = statistics.mean(ours) - statistics.mean(theirs)
    if len(ours) > 1:
        differences = [x - y for x, y in zip(ours, theirs)]
        reach = compare.student(len(ours) - 1) * statistics.stdev(differences) / math.sqrt(len(ours))
    else:
        n, p, q = a["rows"][0], ours[0] / 100, theirs[0] / 100
        reach = 196 * math.sqrt((p * (1 - p) + q * (1 - q)) / n)
    return gap > 1e-9, gap > max(reach, 1e-9)


def wins(lines: Lines) -> str:
    text = ""
    printed = compare.read("peharz_wins")
    for group, rate in GROUP_RATES.items():
        opponents = list(dict.fromkeys(row["opponent"] for row in printed))
        rows = []
        for graph in ("nb", "tan"):
            cells = [f"`{graph}:ml-bn-svm`"]
            for opponent in opponents:
                said = next((r for r in printed if (int(r["group"]), r["structure"], r["opponent"]) == (group, graph, opponent)), None)
                if said is None:
                    cells.append("–")
                    continue
                pairs = [(result(lines, n, f"{graph}:ml-bn-svm"), result(lines, n, opponent)) for n in peharz.SIZES]
                verdicts = [is_better(a, b, rate) for a, b in pairs if a and b]
                better, clearly = (sum(v[k] for v in verdicts) for k in range(2))
                cells.append(f"{better}/{clearly} of {len(verdicts)} [{said['better']}/{said['significant']}]")
            rows.append(cells)
        share = "no cell blanked" if rate == 0 else f"{10 * rate} % of the test cells blanked"
        text += f"Group {group} (ours: {share}):\n\n" + table(["", *(f"`{o}`" for o in opponents)], rows) + "\n"
    return text


def ratio(lines: Lines, model: str, part: str) -> tuple[float, int] | None:
    """Likelihood of maximum likelihood over that of a model in %, mean over sets, and the number of sets."""
    base = model.split(":")[0] + ":ml"
    pairs = [(result(lines, n, base), result(lines, n, model)) for n in peharz.SIZES]
    values = [100 * statistics.mean(a[part]) / statistics.mean(b[part]) for a, b in pairs if a and b and all(map(math.isfinite, b[part]))]
    return (statistics.mean(values), len(values)) if values else None


def likelihoods(lines: Lines) -> str:
    rows = []
    for model in [m for m in peharz.MODELS + peharz.VARIANTS if not m.endswith(":ml")]:
        rule = model.split(":")[1].split(",")[0]
        train, test = (ratio(lines, model, part) for part in ("train", "test"))
        show = lambda found: f"{found[0]:.1f}" if found else "–"  # noqa: E731
        rows.append([f"`{model}`", str(test[1] if test else 0), show(train), f"{RATIOS[rule][0]:.2f}", show(test), f"{RATIOS[rule][1]:.2f}"])
    return table(["model", f"sets, of {len(SETS)}", "training rows, %", "printed", "test rows, %", "printed"], rows)


def scatter(lines: Lines, part: str) -> list[dict]:
    """Likelihood of a row by each rule against that by maximum likelihood, a point for each set and graph."""
    series = []
    for rule in ("mcl", "mm", "ml-bn-svm"):
        points = []
        for graph in ("nb", "tan"):
            for name in peharz.SIZES:
                a, b = result(lines, name, f"{graph}:ml"), result(lines, name, f"{graph}:{rule}")
                # beyond the picture are a few sets of very many columns
                if a and b and min(statistics.mean(b[part]), statistics.mean(a[part])) > -100:
                    points.append([round(statistics.mean(a[part]), 4), round(statistics.mean(b[part]), 4)])
        series.append({"name": rule, "points": points, "scatter": True})
    return series


def gap_curves(lines: Lines) -> tuple[list[dict], list[str]]:
    """Mean accuracy over the UCI sets with 0 to 90 % of the cells blanked, over sets that every method has."""
    methods = {f"tan:{rule}": f"tan:{rule}" for rule in peharz.RULES} | {"logistic": "logistic, 5-NN", "svm-rbf": "RBF SVM, 5-NN"}
    sets = [n for n in peharz.SIZES if n not in NOT_UCI and all(result(lines, n, m) for m in methods)]
    series = []
    for method, name in methods.items():
        found = [result(lines, n, method) for n in sets]
        means = [statistics.mean(statistics.mean(accuracies(f, k)) for f in found) for k in range(len(peharz.RATES))] if sets else []
        series.append({"name": name, "points": [[10 * k, round(v, 4)] for k, v in enumerate(means)]})
    return series, sets


def figure_1(book: Book, lines: Lines) -> str:
    found = lines.result("peharz/figure-1/car/nb:ml-bn-svm")
    if not found:
        return "*Not yet run.*\n"
    ticks = [[k, "0" if v == 0 else f"{v:g}"] for k, v in enumerate(peharz.LAMBDAS) if k % 2 == 0]
    x = {"label": "lambda", "ticks": ticks}
    parts = (
        ("log_likelihood", "log-likelihood of a test row, nats", 1), ("accuracy", "accuracy, %", 100), ("slack", "slack of a training row", 1),
    )  # fmt: skip
    text = ""
    for key, label, factor in parts:
        points = [[k, round(factor * v, 5)] for k, v in enumerate(found[key])]
        text += book.chart(f"peharz-1-{key.replace('_', '-')}", f"Figure 1: {label} along lambda, naive Bayes on car", x, {"label": label}, [{"name": "nb:ml-bn-svm", "points": points}])
    return text


def figure_2(book: Book, lines: Lines) -> str:
    text = ""
    for graph in ("nb", "tan"):
        series = []
        for model in (m for m in peharz.FIGURE_2_MODELS if m.startswith(graph)):
            found = lines.result(f"peharz/figure-2/vehicle/{model}")
            values = found["accuracy"] if found else []
            series.append({"name": model, "points": [[10 * k, round(100 * v, 4)] for k, v in enumerate(values)]})
        label = f"Figure 2: accuracy on vehicle with cells blanked, {graph}"
        text += book.chart(f"peharz-2-{graph}", label, {"label": "cells blanked, %"}, {"label": "accuracy, %"}, series)
    return text


def semi_supervised(lines: Lines) -> str:
    rows = []
    for name in peharz.SEMI_SETS:
        for model in peharz.SEMI_MODELS:
            found = lines.result(f"peharz/semi/{name}/{model}")
            if found:
                line = [name, f"`{model}`"]
                for share in peharz.SEMI_SHARES:
                    line += [f"{100 * sum(found[part][str(share)]) / sum(found['rows']):.2f}" for part in ("labelled", "both")]
                rows.append(line)
    header = ["set", "model"] + [f"{100 * s:.0f} % of the classes known{more}" for s in peharz.SEMI_SHARES for more in ("", ", the other rows too")]
    return table(header, rows, 2) if rows else "*Not yet run.*\n"


def better_than_margin(lines: Lines) -> str:
    """The sentence about ML-BN-SVM and MM on trees."""
    printed = {(r["dataset"], r["method"]): float(r["accuracy"]) for r in compare.read("peharz") if r["structure"] == "TAN"}
    theirs = [(printed[n, "ML-BN-SVM"], printed[n, "MM"]) for n in SETS]
    pairs = [(result(lines, n, "tan:ml-bn-svm"), result(lines, n, "tan:mm")) for n in peharz.SIZES]
    ours = [(statistics.mean(accuracies(a)), statistics.mean(accuracies(b))) for a, b in pairs if a and b]

    def words(found):
        return f"{sum(a > b for a, b in found)} better, {sum(a == b for a, b in found)} equal, {sum(a < b for a, b in found)} worse, {len(found)} of {len(SETS)} sets"

    return f"printed table: {words(theirs)}; ours: {words(ours)}"


def claims(lines: Lines) -> list[list[str]]:
    """What the paper says in words, and what we find."""
    found = cells(lines)
    ml = [c for c in found if c.column == "ML" and c.row in peharz.OWN_FOLDS and c.ours]
    same = sum(f"{c.ours.mean:.2f}" == f"{c.printed.mean:.2f}" for c in ml)
    kept = [ratio(lines, f"{graph}:ml-bn-svm", "test") for graph in ("nb", "tan")]
    keeps = " and ".join(f"{k[0]:.1f} %" for k in kept if k) or "not yet run"
    usps = {g: accuracy(result(lines, "usps", f"{g}:ml-bn-svm")) for g in ("nb", "tan")}
    return [
        ["accuracy of maximum likelihood on the paper's own folds (car, breast, adult)", f"equal to both decimals in {same} of {len(ml)} cells"],
        ["“ML-BN-SVM is better than MM on 17 of 27 sets” (TAN)", better_than_margin(lines)],
        ["ML-BN-SVM stays generative: 89.84 % of the likelihood of test rows", f"{keeps} (nb, tan)"],
        ["USPS: 95.98 by TAN, 95.08 by naive Bayes, ML-BN-SVM", ", ".join(f"{g} {m.mean:.2f}" for g, m in usps.items() if m) or "not yet run"],
    ]


def write(book: Book, lines: Lines) -> None:
    found = cells(lines)
    series, sets = gap_curves(lines)
    places = [[row["name"], f"`{row['file']}`" if row["file"] else "not public", row["remark"]] for row in SETS.values()]
    likelihood = {"label": "log-likelihood of a row by maximum likelihood, nats"}, {"label": "by the other rule, nats"}
    book.page(
        "peharz.md",
        f"""# Peharz, Tschiatschek, Pernkopf (ICML 2013)

*The Most Generative Maximum Margin Bayesian Networks.* Every table and figure of the paper beside what the product gives; made by
[experiments/book](../../experiments/README.md) from the lines in `experiments/results/peharz.jsonl`. [All three papers](index.md).

{table(COUNTED, [counts(found)], 0)}
A cell is inside when the printed mean and ours differ by no more than both 95 % intervals together. Sets of at most 5000 rows: five folds, the
interval from Student's distribution; larger ones: two thirds for training, the interval of Clopper and Pearson, as in the paper. The folds
of car, breast and adult are the paper's own; the others are ours, since the paper's are not known. Numeric columns are cut on the training rows of each fold. Rows with empty
cells are left out but for vote and mushroom, where an empty cell is a value (the printed accuracies and intervals fit all rows). Lambda and gamma are chosen by inner folds. The machines
see the same intervals and categories as indicators, C and width are chosen among the printed powers of two.

## What the paper says

{table(["claim", "here"], claims(lines), 2)}
## Tree-augmented networks

Accuracy in %, ours [printed]; † outside, ‡ not comparable.

{big_table(found, "tan")}
## Naive Bayes

{big_table(found, "nb")}
The machines are those of the table above.

## Cells that differ

{differing(found)}
## Wins of ML-BN-SVM

Sets on which ML-BN-SVM is better / better by more than chance, ours [printed, of at most 35]. The captions of the three printed groups are lost in our copy of the text; they are probably
shares of missing features. By more than chance: the 95 % interval of the paired differences of folds, or of the difference of two shares of test rows, leaves out 0; the paper's test is not
known.

{wins(lines)}
## Figure 1: car, naive Bayes, along lambda

Means over the paper's five folds, gamma = {peharz.FIGURE_1_GAMMA}. As in the paper the likelihood falls, the accuracy rises and the slack falls as lambda grows.

{figure_1(book, lines)}
## Figure 2: vehicle with missing features

Five folds with 20 masks each, 100 runs; gamma by inner folds. The paper does not say which graph it shows.

{figure_2(book, lines)}
## Figure 3: likelihood

Each point is one set and one graph; below the diagonal a rule describes the rows worse than maximum likelihood does. On training rows no point can lie above it.

{book.chart("peharz-3-train", "Figure 3: log-likelihood of training rows by each rule against maximum likelihood", *likelihood, scatter(lines, "train"), diagonal=True)}
{book.chart("peharz-3-test", "Figure 3: log-likelihood of test rows by each rule against maximum likelihood", *likelihood, scatter(lines, "test"), diagonal=True)}
Likelihood of maximum likelihood over that of the rule (both negative, so 100 % is as good), mean over sets. `form=tables` keeps normalised tables throughout, which is nearer to the
methods that the paper cites; `early_stopping` chooses the number of iterations by inner folds.

{likelihoods(lines)}
## Figure 4: missing features

TAN, mean accuracy over {len(sets)} UCI sets on the same folds and the same blanked cells; the machines get five-nearest-neighbour imputation. {"Sets: " + ", ".join(sets) + "." if sets else ""}

{book.chart("peharz-4", "Figure 4: mean accuracy on UCI sets with cells blanked", {"label": "cells blanked, %"}, {"label": "accuracy, %"}, series)}
## Rows without a class

Not in the paper: accuracy in % when a share of the training classes is known, from those rows alone and with the others too (`fit --semi-supervised`, weight by inner folds).

{semi_supervised(lines)}
## The sets

{table(["set", "data", "remark"], places, 3)}""",
    )
