"""The page of Zhou et al. (2015), from lines of results alone."""
import statistics

import compare
import zhou
from compare import Cell, Measure, judged
from markdown import COUNTED, Book, counts, differing, table
from pieces import Lines

# Printed column: the method of ours beside it.
COLUMNS = {
    "OR-SGBN": "or", "L1MB": "l1mb", "GS": "gs", "TC-bw": "tc-bw", "TC": "tc", "IAMB": "iamb", "IAMB1": None, "IAMB2": None, "IAMB3": None,
}  # fmt: skip
# Methods of ours without a printed column.
MORE = {"h": "H-SGBN", "search": "order search", "pc": "PC", "fast-iamb": "fast-IAMB", "inter-iamb": "inter-IAMB", "or-l1mb": "OR-SGBN from L1MB",
        "or-printed": "Algorithm 3 as printed", "h-whole": "H-SGBN, whole network"}  # fmt: skip
COUNT_OF_TABLE = dict(zip(("4", "5", "6"), zhou.COUNTS))
TITLES = {"4": "all errors", "5": "false positives", "6": "errors of the equivalence class"}
GROUP = {method: group for group, methods in zhou.METHODS.items() for method in methods}


def simulations(lines: Lines, name: str, method: str, count: str) -> list[float]:
    blocks = range(zhou.SIMULATIONS // zhou.BLOCK)
    results = (lines.result(f"zhou/recovery/{name}/{b}/{GROUP[method]}") for b in blocks)
    return [v for found in results if found for v in found[method][count] if v is not None]


def recovered(lines: Lines, name: str, method: str, count: str) -> Measure | None:
    found = simulations(lines, name, method, count)
    return compare.of_folds(found) if len(found) > 1 else None


def cells(lines: Lines) -> list[Cell]:
    """The paper prints no intervals: its means of 50 simulations are given those of ours, as far as both have as many."""
    found = []
    for row in compare.read("zhou"):
        number, name, column = row["table"], row["network"], row["method"]
        value = float(row["value"])
        if number.startswith("3"):
            result = lines.result(f"zhou/table-3/gbn/{'or' if column.startswith('OR') else 'h'}")
            ours = Measure(result[number.split("-")[1]][int(name[-1]) - 1]) if result else None
            found.append(judged("zhou", "3", f"{number[2:]}, {name}", column, Measure(value), ours))
            continue
        method = COLUMNS[column]
        values = simulations(lines, name.lower(), method, COUNT_OF_TABLE[number]) if method else []
        ours = compare.of_folds(values) if len(values) > 1 else None
        half = None if ours is None else ours.half * (len(values) / zhou.SIMULATIONS) ** 0.5
        found.append(judged("zhou", number, name, column, Measure(value, half), ours))
    return found


def table_3(lines: Lines, found: list[Cell]) -> str:
    digits = {"distance": "{:.2g}", "correlation": "{:.7f}"}
    rows = []
    for cell in (c for c in found if c.table == "3"):
        kind = cell.row.split(",")[0]
        ours = digits[kind].format(cell.ours.mean) if cell.ours else "–"
        rows.append([cell.column, kind, f"class {cell.row[-1]}", ours, f"{cell.printed.mean:g}"])
    return table(["method", "measure", "class", "ours", "printed"], rows, 3)


def table_4_6(lines: Lines, number: str, found: list[Cell]) -> str:
    by_place = {(c.row, c.column): c for c in found if c.table == number}
    shown = [c for c, method in COLUMNS.items() if method]
    rows = []
    for name in zhou.NETWORKS:
        runs = len(simulations(lines, name, "or", "total"))
        line = [name, str(runs)]
        for column in shown:
            cell = by_place[name.title(), column]
            mark = {"outside": " **†**", "not comparable": " ‡"}.get(cell.state, "")
            line.append(f"{cell.ours.text(1) if cell.ours else '–'} [{cell.printed.mean:.1f}]{mark}")
        rows.append(line)
    return table(["graph", "simulations", *shown], rows)


def without_print(lines: Lines) -> str:
    rows = []
    for name in zhou.NETWORKS:
        line = [name]
        for method in MORE:
            found = recovered(lines, name, method, "total")
            values = len(simulations(lines, name, method, "total"))
            line.append(f"{found.text(1)} ({values})" if found else "–")
        rows.append(line)
    return table(["graph", *MORE.values()], rows)


def splits(lines: Lines, name: str) -> list[dict]:
    results = (lines.result(f"zhou/figures-2-3/{name}/{k}/all") for k in range(zhou.SPLITS))
    return [found for found in results if found]


def means(found: list[dict], classifier: str, rule: str) -> list[Measure]:
    columns = zip(*(f["accuracy"][classifier][rule] for f in found))
    return [compare.of_folds([100 * v for v in column]) for column in columns] if len(found) > 1 else []


def figures(book: Book, lines: Lines) -> str:
    text = ""
    for name in zhou.STANDINS:
        found = splits(lines, name)
        for classifier in zhou.CLASSIFIERS:
            label = f"Accuracy along lambda1, {name}-shaped rows, {classifier}"
            series = [{"name": r, "points": [[p, round(m.mean, 4)] for p, m in zip(zhou.PENALTIES, means(found, classifier, r))]} for r in zhou.RULES]
            text += f"### Figure 2: {name}, {classifier}\n\n" + book.chart(f"zhou-2-{name}-{classifier}", label, {"label": "lambda1"}, {"label": "accuracy, %"}, series) + "\n"
        series = []
        for rule in zhou.RULES:
            # KL and MM keep the graph of OR
            arcs = [statistics.mean(column) for column in zip(*(f["arcs"]["h" if rule == "h" else "or"] for f in found))]
            series.append({"name": rule, "points": [[round(a, 2), round(m.mean, 4)] for a, m in zip(arcs, means(found, "network", rule))]})
        label = f"Accuracy of the network classifier along the number of arcs, {name}-shaped rows"
        text += f"### Figure 3: {name}\n\n" + book.chart(f"zhou-3-{name}", label, {"label": "arcs in both classes"}, {"label": "accuracy, %"}, series) + "\n"
    return text


def classification(lines: Lines) -> str:
    rows = []
    for name in zhou.STANDINS:
        found = splits(lines, name)
        for classifier in zhou.CLASSIFIERS:
            for penalty in (20, 40):
                at = zhou.PENALTIES.index(penalty)
                values = [means(found, classifier, rule) for rule in zhou.RULES]
                rows.append([name, classifier, str(penalty), str(len(found)), *(v[at].text(1) if v else "–" for v in values)])
    return table(["rows like", "classifier", "lambda1", "splits", *(r.upper() for r in zhou.RULES)], rows, 2)


def baselines(lines: Lines) -> str:
    rows = []
    for name in zhou.STANDINS:
        found = splits(lines, name)
        kinds = [*zhou.BASELINES, "majority"]
        rows.append([name, *(compare.of_folds([100 * f["baselines"][k] for f in found]).text(1) if len(found) > 1 else "–" for k in kinds)])
    return table(["rows like", "linear SVM", "RBF SVM", "logistic regression", "majority"], rows)


def real_tables(lines: Lines) -> str:
    rows = []
    for model in [*zhou.REAL, *zhou.BASELINES, "majority"]:
        line = [f"`{model}`" if ":" in model else model]
        for name in zhou.TABLES:
            results = (lines.result(f"zhou/tables/{name}/{k}/all") for k in range(zhou.SPLITS))
            values = [100 * found["accuracy"][model] for found in results if found]
            line.append(f"{compare.of_folds(values).text(1)} ({len(values)})" if len(values) > 1 else "–")
        rows.append(line)
    return table(["model", *zhou.TABLES], rows)


def gain(lines: Lines, rule: str, name: str) -> str:
    found = splits(lines, name)
    if len(found) < 2:
        return "not yet run"
    at = zhou.PENALTIES.index(40)
    gains = [100 * (f["accuracy"]["network"][rule][at] - f["accuracy"]["network"]["or"][at]) for f in found]
    return compare.of_folds(gains).text(1)


def claims(lines: Lines) -> list[list[str]]:
    fewer = 0
    graphs = 0
    rivals = [m for m in COLUMNS.values() if m and m != "or"]
    for name in zhou.NETWORKS:
        ours = recovered(lines, name, "or", "total")
        others = [recovered(lines, name, m, "total") for m in rivals]
        if ours and all(others):
            graphs += 1
            fewer += all(ours.mean < o.mean for o in others)
    order = lines.result("zhou/table-3/gbn/or")
    return [
        ["OR-SGBN does not depend on the order of the columns", f"largest distance {max(order['distance']):.2g}" if order else "not yet run"],
        ["OR-SGBN errs less than all comparators on all graphs but the chain and water", f"**not confirmed**: on {fewer} of {graphs} graphs that ran" if graphs else "not yet run"],
        ["KL and MM gain 10 to 20 points over OR as network classifiers “on most occasions”",
         "points gained at lambda1 = 40: " + "; ".join(f"{name}: KL {gain(lines, 'kl', name)}, MM {gain(lines, 'mm', name)}" for name in zhou.STANDINS)],
    ]  # fmt: skip


def write(book: Book, lines: Lines) -> None:
    found = cells(lines)
    tables = "".join(f"### Table {n}: {TITLES[n]}\n\n{table_4_6(lines, n, found)}\n" for n in TITLES)
    graphs = [[name, f"`networks/{name}`"] for name in zhou.NETWORKS]
    book.page(
        "zhou.md",
        f"""# Zhou, Wang, Liu, Ogunbona, Shen (2015)

*Learning Discriminative Bayesian Networks from High-dimensional Continuous Neuroimaging Data.* Made by [experiments/book](../../experiments/README.md)
from the lines in `experiments/results/zhou.jsonl`. [All three papers](index.md).

{table(COUNTED, [counts(found)], 0)}
The paper prints means of 50 simulations without intervals; they are given the 95 % intervals that 50 of our simulations have. A cell is inside when the two means differ by no more than both together.

## What the paper says

{table(["claim", "here"], claims(lines), 2)}
## Table 3: order of the columns

Distance and correlation of the weights averaged over {zhou.PERMUTATIONS} permutations of the columns to those without permutation (`generate gbn`, lambda1 = {zhou.TABLE_3_LAMBDA}; the images are not public).

{table_3(lines, found)}
## Tables 4 to 6: recovery of graphs

Random weights, 1000 rows, standardised, columns permuted; lambda1 = {zhou.LAMBDA1}, tests at {zhou.ALPHA}; ours [printed]; † outside, ‡ not comparable. A reversed arc is one
false positive and one missing arc. Table 6 counts the pairs in which the true graph and the class of the estimate differ: of four ways of counting the one that fits the printed values.

{tables}
All errors of methods without a printed column (simulations with a result):

{without_print(lines)}
## Cells that differ

{differing(found)}
The tests, the blankets and the rules for directions are those of the cited papers; with the correlations of the population they find the true class, so a slip here is not a likely reason for the far fewer errors. The
printed errors of all comparators lie close together, and near those of L1MB here on some graphs, which climbs by score inside neighbourhoods: the paper may have used the blankets only to narrow such a search.

## The third experiment

Generated rows in place of the images: 50 and 70 rows of the classes, 80 for training (like the MRI data), 51 and 52, 60 for training (like the PET data). Test accuracy in % with the 95 % interval over splits,
which are spread over ten draws.

{classification(lines)}
{baselines(lines)}
Public tables of the same shape, two thirds for training (splits that ran in brackets); `-40`: 40 columns chosen by correlation inside the training part:

{real_tables(lines)}
## Figures 2 and 3

{figures(book, lines)}
## What is not shown

The fourth experiment and Figure 5 (networks of brain regions and the weights that KL and MM change) need the images, which are not public. `hingenet network` draws such networks for any table:
see [networks of brain regions](../how-to/neuroimaging.md).

## The graphs

{table(["graph", "data"], graphs, 2)}""",
    )
