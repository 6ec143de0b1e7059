"""What the Gaussian experiments share: benchmark graphs, simulated rows, equivalence classes, error counts, a result cache."""
import csv
import json
import pathlib
import zlib

import numpy as np

# Of all simulations.
SEED = 11000
# From few to many nodes, so that a first impression comes early.
NETWORKS = ["chain", "factors", "insurance", "water", "mildew", "alarm", "barley", "hailfinder", "carpo"]


def read_network(folder, name):
    """Node names in index order and the arcs as pairs of indices."""
    with open(folder / f"{name}_nodes.csv", newline="") as lines:
        nodes = [row["node"] for row in csv.DictReader(lines)]
    index = {node: i for i, node in enumerate(nodes)}
    with open(folder / f"{name}.csv", newline="") as lines:
        arcs = [(index[row["from"]], index[row["to"]]) for row in csv.DictReader(lines)]
    return nodes, arcs


def topological_order(m, arcs):
    parents = [{i for i, j in arcs if j == node} for node in range(m)]
    order, placed = [], set()
    while len(order) < m:
        order += [node for node in range(m) if node not in placed and parents[node] <= placed]
        placed = set(order)
    return order


def simulate(name, m, arcs, number, seed, n=1000):
    """Standardised rows of simulation `number` with the columns in random order, and that order.

    Weights ±U(0.5, 1), unit noise. Column k holds node `columns[k]`. Product and peers see the same numbers.
    """
    random = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
    weights = np.zeros((m, m))
    for i, j in arcs:
        weights[i, j] = random.uniform(0.5, 1.0) * random.choice([-1.0, 1.0])
    rows = random.normal(size=(n, m))
    for node in topological_order(m, arcs):
        rows[:, node] += rows @ weights[:, node]
    rows = (rows - rows.mean(0)) / rows.std(0, ddof=1)
    columns = random.permutation(m)
    return np.ascontiguousarray(rows[:, columns]), columns


def write_rows(path, rows, names):
    """Every number with all its digits."""
    with open(path, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(names)
        writer.writerows([[repr(float(x)) for x in row] for row in rows])


def class_of(arcs):
    """Marks of the equivalence class of a DAG: both (i, j) and (j, i) for an undirected edge.

    v-structures, then Meek's rules 1 to 3 (rule 4 is needed with background knowledge only).
    """
    dag = set(arcs)
    adjacent = dag | {(j, i) for i, j in dag}
    marks = set(adjacent)
    parents = {}
    for i, j in dag:
        parents.setdefault(j, []).append(i)
    for j, list_ in parents.items():
        for a in list_:
            if any((a, b) not in adjacent and a != b for b in list_):
                marks.discard((j, a))
    directed = lambda i, j: (i, j) in marks and (j, i) not in marks
    nodes = {i for pair in dag for i in pair}
    neighbours = {i: [j for j in nodes if (i, j) in adjacent] for i in nodes}

    def compelled(a, b):
        if any(directed(c, a) and c != b and (c, b) not in adjacent for c in neighbours[a]):
            return True
        if any(directed(a, c) and directed(c, b) for c in neighbours[a]):
            return True
        via = [c for c in neighbours[a] if (a, c) in marks and (c, a) in marks and directed(c, b)]
        return any((c, d) not in adjacent for c in via for d in via if c < d)

    changed = True
    while changed:
        changed = False
        for a, b in sorted(marks):
            if (b, a) in marks and (a, b) in marks and compelled(a, b):
                marks.discard((b, a))
                changed = True
    return marks


def pair(marks, i, j):
    return (i, j) in marks, (j, i) in marks


def class_total(truth, marks, m):
    """Errors of a class against the true DAG: reversed 2; extra, missing, undirected 1."""
    total = 0
    for i in range(m):
        for j in range(i):
            t, e = pair(truth, i, j), pair(marks, i, j)
            if t != e:
                total += 2 if any(t) and any(e) and all(x != y for x, y in zip(t, e)) else 1
    return total


def counts(true_arcs, marks, m):
    """The counts of Tables 4-6 and of equivalence classes for an estimated class given by its marks."""
    truth, true_class = set(true_arcs), class_of(true_arcs)
    pairs = [(i, j) for i in range(m) for j in range(i)]
    return {
        "class_total": class_total(truth, marks, m),
        "pdag_paper": len(truth ^ marks),
        "pdag_entry": len(true_class ^ marks),
        "pdag_shd": sum(pair(true_class, i, j) != pair(marks, i, j) for i, j in pairs),
        "skeleton": sum(any(pair(truth, i, j)) != any(pair(marks, i, j)) for i, j in pairs),
    }


def dag_counts(true_arcs, arcs):
    """Tables 4 and 5: a reversed arc is one false positive and one missing arc."""
    truth, found = set(true_arcs), set(arcs)
    return {"false_positive": len(found - truth), "missing": len(truth - found), "total": len(found ^ truth)}


class Cache:
    """Finished pieces of work, one JSON object a line, so that a stopped run goes on where it was."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.done = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                row = json.loads(line)
                self.done[tuple(row["key"])] = row

    def get(self, *key):
        return self.done.get(key)

    def put(self, key, **values):
        row = {"key": list(key), **values}
        self.done[tuple(key)] = row
        with open(self.path, "a") as out:
            out.write(json.dumps(row) + "\n")
        return row
