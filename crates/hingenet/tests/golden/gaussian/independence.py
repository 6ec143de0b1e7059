#!/usr/bin/env python3
"""Reference results of the learners by independence tests, written without the product: `independence.py > independence.json`.

The steps are those of the R package bnlearn (gs, iamb, fast.iamb, inter.iamb, pc.stable with test = "zf"), on columns in decreasing
order of their summed absolute correlations, and of Pellet and Elisseeff (2008) for total conditioning: p values, inverses of correlation
matrices and sets of names throughout. `independence.R` asks bnlearn itself. Needs numpy.
"""
import itertools
import json
import math

import numpy as np

# Marks of 88 students in five examinations (Mardia, Kent, Bibby 1979), and what bnlearn finds in them with test = "zf", alpha = 0.05.
MARKS = """77 82 67 67 81,63 78 80 70 81,75 73 71 66 81,55 72 63 70 68,63 63 65 70 63,53 61 72 64 73,51 67 65 65 68,59 70 68 62 56,
62 60 58 62 70,64 72 60 62 45,52 64 60 63 54,55 67 59 62 44,50 50 64 55 63,65 63 58 56 37,31 55 60 57 73,60 64 56 54 40,44 69 53 53 53,
42 69 61 55 45,62 46 61 57 45,31 49 62 63 62,44 61 52 62 46,49 41 61 49 64,12 58 61 63 67,49 53 49 62 47,54 49 56 47 53,54 53 46 59 44,
44 56 55 61 36,18 44 50 57 81,46 52 65 50 35,32 45 49 57 64,30 69 50 52 45,46 49 53 59 37,40 27 54 61 61,31 42 48 54 68,36 59 51 45 51,
56 40 56 54 35,46 56 57 49 32,45 42 55 56 40,42 60 54 49 33,40 63 53 54 25,23 55 59 53 44,48 48 49 51 37,41 63 49 46 34,46 52 53 41 40,
46 61 46 38 41,40 57 51 52 31,49 49 45 48 39,22 58 53 56 41,35 60 47 54 33,48 56 49 42 32,31 57 50 54 34,17 53 57 43 51,49 57 47 39 26,
59 50 47 15 46,37 56 49 28 45,40 43 48 21 61,35 35 41 51 50,38 44 54 47 24,43 43 38 34 49,39 46 46 32 43,62 44 36 22 42,48 38 41 44 33,
34 42 50 47 29,18 51 40 56 30,35 36 46 48 29,59 53 37 22 19,41 41 43 30 33,31 52 37 27 40,17 51 52 35 31,34 30 50 47 36,46 40 47 29 17,
10 46 36 47 39,46 37 45 15 30,30 34 43 46 18,13 51 50 25 31,49 50 38 23 9,18 32 31 45 40,8 42 48 26 40,23 38 36 48 15,30 24 43 33 25,
3 9 51 47 40,7 51 43 17 22,15 40 43 23 18,15 38 39 28 17,5 30 44 36 18,12 30 32 35 21,5 26 15 20 20,0 40 21 9 14"""
BNLEARN = {method: [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [2, 3], [2, 4], [3, 2], [3, 4], [4, 2], [4, 3]]
           for method in ("gs", "iamb", "inter-iamb")}


class Questions:
    def __init__(self, correlation, rows, alpha):
        self.r, self.n, self.alpha = np.array(correlation), rows, alpha
        self.nodes = list(range(len(correlation)))

    def p(self, x, y, given):
        places = [x, y, *sorted(given)]
        inverse = np.linalg.inv(self.r[np.ix_(places, places)])
        partial = -inverse[0, 1] / math.sqrt(inverse[0, 0] * inverse[1, 1])
        freedom = self.n - len(given) - 3
        if freedom < 1:
            return 1.0
        return math.erfc(abs(math.sqrt(freedom) * math.atanh(partial)) / math.sqrt(2))

    def separator(self, x, y, pool, fixed=(), sizes=None):
        """The first subset that separates, and the largest p value up to there."""
        largest = 0.0
        for size in sizes if sizes is not None else range(len(pool) + 1):
            for subset in itertools.combinations(pool, size):
                value = self.p(x, y, set(fixed) | set(subset))
                largest = max(largest, value)
                if value > self.alpha:
                    return set(fixed) | set(subset), value
        return None, largest


def blanket(ask, method, x):
    mb, seen = [], []

    def shrink(keep, restart):
        k = 0
        while k < len(mb):
            if mb[k] != keep and ask.p(x, mb[k], set(mb) - {mb[k]}) > ask.alpha:
                del mb[k]
                k = 0 if restart else k
            else:
                k += 1

    while True:
        p = {y: ask.p(x, y, mb) for y in ask.nodes if y != x and y not in mb}
        dependent = [y for y in p if p[y] <= ask.alpha]
        if not dependent:
            break
        if method == "gs":
            mb.append(dependent[0])
        elif method == "fast-iamb":
            mb.extend(sorted(dependent, key=p.get))
        else:
            mb.append(min(dependent, key=p.get))
        if method in ("fast-iamb", "inter-iamb"):
            shrink(mb[-1] if method == "inter-iamb" else None, False)
            if set(mb) in seen:
                break
            seen.append(set(mb))
    if method == "gs":
        shrink(None, True)
    elif method == "iamb" and mb:
        shrink(mb[-1], False)
    return mb


def by_blankets(ask, method):
    grown = [blanket(ask, method, x) for x in ask.nodes]
    mb = [[y for y in grown[x] if x in grown[y]] for x in ask.nodes]
    smaller = lambda a, b: a if len(a) <= len(b) else b

    def neighbours(x):
        def keeps(y):
            pool = smaller([v for v in mb[x] if v != y], [v for v in mb[y] if v != x])
            return ask.separator(x, y, pool)[0] is None
        return {y for y in mb[x] if keeps(y)}

    near = [neighbours(x) for x in ask.nodes]
    edges = {(x, y) for x in ask.nodes for y in near[x] if x in near[y]}
    found = []
    for x in ask.nodes:
        for y, z in itertools.combinations(sorted(v for v, w in edges if w == x), 2):
            if (y, z) not in edges:
                pool = smaller([v for v in mb[y] if v not in (x, z)], [v for v in mb[z] if v not in (x, y)])
                separator, largest = ask.separator(y, z, pool, fixed=[x])
                if separator is None:
                    found.append((largest, y, z, x))
    return edges, found


def pc(ask, _):
    near = {x: [y for y in ask.nodes if y != x] for x in ask.nodes}
    separators = {}
    for size in range(len(ask.nodes) - 1):
        frozen = {x: list(near[x]) for x in near}
        for x, y in itertools.combinations(ask.nodes, 2):
            if y not in frozen[x]:
                continue
            for a, b in ((x, y), (y, x)):
                separator, value = ask.separator(a, b, [v for v in frozen[a] if v != b], sizes=[size])
                if separator is not None:
                    separators[x, y] = separator, value
                    near[x].remove(y)
                    near[y].remove(x)
                    break
    edges = {(x, y) for x in near for y in near[x]}
    found = [(value, y, z, x) for (y, z), (separator, value) in separators.items()
             for x in near[y] if x in near[z] and x not in separator]
    return edges, found


def total(ask, method):
    m, everything = len(ask.nodes), set(ask.nodes)
    if method == "tc":
        chosen = [{y for y in ask.nodes if y != x and ask.p(x, y, everything - {x, y}) <= ask.alpha} for x in ask.nodes]
    else:
        chosen = []
        for x in ask.nodes:
            left = everything - {x}
            while left:
                p = {y: ask.p(x, y, left - {y}) for y in left}
                worst = max(p, key=p.get)
                if p[worst] <= ask.alpha:
                    break
                left.discard(worst)
            chosen.append(left)
    near = [{y for y in chosen[x] if x in chosen[y]} for x in ask.nodes]
    spouses, found = set(), []
    for x, y in itertools.combinations(range(m), 2):
        triangle = sorted(near[x] & near[y])
        if y not in near[x] or not triangle:
            continue
        base = min(near[x] - {y} - set(triangle), near[y] - {x} - set(triangle), key=len)
        for size in range(len(triangle) + 1):
            for kept in itertools.combinations(triangle, size):
                out = [v for v in triangle if v not in kept]
                reached, stack = set(), list(out)
                while stack:
                    for v in near[stack.pop()] - set(triangle) - {x, y} - reached:
                        reached.add(v)
                        stack.append(v)
                value = ask.p(x, y, base | set(kept))
                if value <= ask.alpha:
                    doubtful = sorted(base & reached)
                    if not doubtful:
                        continue
                    separator, value = ask.separator(x, y, doubtful, fixed=(base - reached) | set(kept), sizes=range(len(doubtful)))
                    if separator is None:
                        continue
                spouses |= {(x, y), (y, x)}
                found += [(value, x, y, v) for v in out]
                break
            else:
                continue
            break
    edges = {(x, y) for x in ask.nodes for y in near[x]} - spouses
    return edges, [c for c in found if (c[1], c[3]) in edges and (c[2], c[3]) in edges]


def has_cycle(marks):
    directed = {(a, b) for a, b in marks if (b, a) not in marks}
    nodes = {v for pair in directed for v in pair}
    while nodes:
        sinks = {v for v in nodes if not any((v, u) in directed for u in nodes)}
        if not sinks:
            return True
        nodes -= sinks
    return False


def orient(edges, found):
    """Colliders from the smallest p value on, unless they contradict earlier ones; then Meek's rules."""
    marks = set(edges)
    for _, y, z, x in sorted(found):
        if (y, x) in marks and (z, x) in marks:
            tried = marks - {(x, y), (x, z)}
            if not has_cycle(tried):
                marks = tried
    adjacent = lambda a, b: (a, b) in edges
    nodes = sorted({v for pair in edges for v in pair})

    def compelled(a, b):
        into = lambda u, v: (u, v) in marks and (v, u) not in marks
        line = lambda u, v: (u, v) in marks and (v, u) in marks
        if any(into(c, a) and c != b and not adjacent(c, b) for c in nodes):
            return True
        if any(into(a, c) and into(c, b) for c in nodes):
            return True
        via = [c for c in nodes if line(a, c) and into(c, b)]
        return any(not adjacent(c, d) for c, d in itertools.combinations(via, 2))

    changed = True
    while changed:
        changed = False
        # where colliders contradict each other the rules do too, and the order of the edges decides
        for pair in sorted(edge for edge in edges if edge[0] < edge[1]):
            for a, b in (pair, pair[::-1]):
                if {(a, b), (b, a)} <= marks and compelled(a, b) and not has_cycle(marks - {(b, a)}):
                    marks.discard((b, a))
                    changed = True
    return marks


METHODS = {"pc": pc, "gs": by_blankets, "iamb": by_blankets, "fast-iamb": by_blankets, "inter-iamb": by_blankets, "tc": total, "tc-bw": total}


def learn(correlation, rows, alpha, method):
    correlation = np.array(correlation)
    order = sorted(range(len(correlation)), key=lambda j: -np.abs(correlation[j]).sum())
    ask = Questions(correlation[np.ix_(order, order)], rows, alpha)
    marks = orient(*METHODS[method](ask, method))
    return sorted([order[a], order[b]] for a, b in marks)


def sample(seed, m, n, parents):
    """Correlations of n rows of a random DAG with about so many parents a node, columns in random order."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, m))
    for j in range(1, m):
        for i in random.permutation(j)[: random.integers(0, parents + 1)]:
            x[:, j] += random.choice([-1, 1]) * random.uniform(0.4, 1.0) * x[:, i]
    return np.corrcoef(x[:, random.permutation(m)], rowvar=False).round(12).tolist()


def main():
    marks = np.array([[float(v) for v in row.split()] for row in MARKS.replace("\n", "").split(",")])
    tables = [("marks", np.corrcoef(marks, rowvar=False).round(12).tolist(), len(marks), 0.05)]
    for seed, m, n, parents, alpha in [(1, 6, 200, 2, 0.05), (2, 9, 400, 2, 0.01), (3, 11, 150, 3, 0.05), (4, 12, 60, 2, 0.1), (5, 14, 1000, 3, 0.05),
                                        (6, 13, 120, 5, 0.05)]:
        tables.append((f"random {seed}", sample(seed, m, n, parents), n, alpha))
    cases = []
    for name, correlation, n, alpha in tables:
        marks = {method: learn(correlation, n, alpha, method) for method in METHODS}
        if name == "marks":
            assert all(marks[method] == BNLEARN[method] for method in BNLEARN), "bnlearn finds something else"
        cases.append({"name": name, "rows": n, "alpha": alpha, "correlation": correlation, "marks": marks})
    about = "Partially directed graphs by Fisher z tests: [i, j] is a mark from i to j, an undirected edge has both. Made by independence.py."
    lines = ",\n".join(json.dumps(case) for case in cases)
    print(f'{{"about": {json.dumps(about)},\n"tolerance": "exact",\n"cases": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
