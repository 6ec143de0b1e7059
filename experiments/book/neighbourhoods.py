"""The comparators of Zhou et al. (2015) as public code of their time may have made them: a hill climb inside neighbourhoods.

Schmidt, Niculescu-Mizil, Murphy (Learning Graphical Model Structure Using L1-Regularization Paths, AAAI 2007) publish a search
over DAGs (DAGlearn) that takes any matrix of candidate parents. What it does is written anew here, since the paper does not
say how the neighbourhoods became DAGs: from a random DAG the single arc that raises

    - RSS_j(pa_j) - |pa_j| log n,   summed over the nodes j

most is put in, taken out or turned round, until none does; then from another random DAG, until 2500 families have been
scored. The noise has variance one in that score, whatever the column: on standardised columns it is not that of a DAG of normal
variables, and DAGs of one equivalence class differ in it. Ties are broken at random (there: by rounding).
"""
import statistics

import numpy as np
from sklearn.linear_model import lars_path_gram

EVALUATIONS = 2500
# Differences that count as none: gains are of the size of the number of rows.
TIE = 1e-6
METHODS = ["l1mb", "gs", "tc-bw", "tc", "iamb"]


def neighbourhoods(method: str, gram: np.ndarray, rows: int, alpha: float) -> np.ndarray:
    """Which nodes are neighbours: those of which one has the other in its blanket."""
    limit = statistics.NormalDist().inv_cdf(1 - alpha / 2)
    find = {
        "l1mb": lambda target: _sparse(gram, rows, target),
        "gs": lambda target: _grow_shrink(gram, rows, limit, target, strongest=False),
        "iamb": lambda target: _grow_shrink(gram, rows, limit, target, strongest=True),
        "tc": lambda target: _total(gram, rows, limit, target),
        "tc-bw": lambda target: _eliminated(gram, rows, limit, target),
    }[method]
    near = np.zeros(gram.shape, bool)
    for target in range(len(gram)):
        near[target, find(target)] = True
    return near | near.T


def supports(gram: np.ndarray, rows: int) -> list[list[int]]:
    """The columns by which L1MB explains each."""
    return [_sparse(gram, rows, target) for target in range(len(gram))]


def _sparse(gram: np.ndarray, rows: int, target: int) -> list[int]:
    """The support on the lasso path with the best score."""
    others = np.delete(np.arange(len(gram)), target)
    inner, to = gram[np.ix_(others, others)], gram[others, target]
    _, _, path = lars_path_gram(Xy=to, Gram=inner, n_samples=rows, method="lasso")
    best, least = [], 0.0
    for support in dict.fromkeys(tuple(np.flatnonzero(weights)) for weights in path.T):
        chosen = list(support)
        gain = to[chosen] @ np.linalg.solve(inner[np.ix_(chosen, chosen)], to[chosen]) if chosen else 0.0
        if gain - len(chosen) * np.log(rows) > least:
            best, least = list(others[chosen]), gain - len(chosen) * np.log(rows)
    return best


def _strengths(gram: np.ndarray, rows: int, target: int, held: list[int]) -> np.ndarray:
    """|z| of the partial correlation of every node with the target given those that are held."""
    variance, covariance = np.diag(gram).copy(), gram[:, target].copy()
    if held:
        a = np.linalg.solve(gram[np.ix_(held, held)], gram[held])
        variance -= np.einsum("ij,ij->j", gram[held], a)
        covariance -= gram[:, held] @ a[:, target]
    r = np.clip(covariance / np.sqrt(np.maximum(variance * variance[target], 1e-18)), -1 + 1e-12, 1 - 1e-12)
    return np.abs(np.arctanh(r)) * np.sqrt(max(rows - len(held) - 3, 0))


def _grow_shrink(gram: np.ndarray, rows: int, limit: float, target: int, strongest: bool) -> list[int]:
    """Grows by the most dependent node (IAMB) or by the first dependent one of those most correlated (GS), then shrinks."""
    members: list[int] = []
    first = np.argsort(-_strengths(gram, rows, target, []), kind="stable")
    while True:
        z = _strengths(gram, rows, target, members)
        z[[target, *members]] = 0.0
        dependent = [v for v in first if z[v] > limit]
        if not dependent:
            break
        members.append(int(max(dependent, key=z.__getitem__) if strongest else dependent[0]))
    k = 0
    while k < len(members):
        rest = members[:k] + members[k + 1 :]
        if _strengths(gram, rows, target, rest)[members[k]] > limit:
            k += 1
        else:
            members, k = rest, 0
    return members


def _partial(precision: np.ndarray, target: int, held: int, rows: int) -> np.ndarray:
    r = precision[target] / np.sqrt(np.diag(precision) * precision[target, target])
    return np.abs(np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))) * np.sqrt(rows - held - 3)


def _total(gram: np.ndarray, rows: int, limit: float, target: int) -> list[int]:
    """Nodes that depend on the target given all others."""
    z = _partial(np.linalg.inv(gram), target, len(gram) - 2, rows)
    return [v for v in range(len(gram)) if v != target and z[v] > limit]


def _eliminated(gram: np.ndarray, rows: int, limit: float, target: int) -> list[int]:
    """What backward elimination leaves of the regression on all others."""
    precision = np.linalg.inv(gram)
    left = [v for v in range(len(gram)) if v != target]
    while left:
        z = _partial(precision, target, len(left) - 1, rows)
        weakest = min(left, key=z.__getitem__)
        if z[weakest] > limit:
            break
        left.remove(weakest)
        row = precision[weakest].copy()
        precision -= np.outer(row, row) / row[weakest]
        # what has left is never looked at again, and its variance must stay above zero
        precision[weakest, weakest] = 1.0
    return left


class Climb:
    """Adjacency `arcs[i, j]` of a DAG that climbs, with the gain of toggling each arc."""

    def __init__(self, gram: np.ndarray, near: np.ndarray, penalty: float, arcs: np.ndarray):
        self.gram, self.near, self.penalty, self.arcs = gram, near, penalty, arcs
        self.gain = np.zeros(gram.shape)
        self.fresh = np.ones(len(gram), bool)
        self.known = np.zeros((2, *gram.shape), bool)
        self.evaluations = len(gram)
        for j in range(len(gram)):
            self._renew(j)

    def score(self) -> float:
        families = ((j, np.flatnonzero(self.arcs[:, j])) for j in range(len(self.gram)))
        explained = sum(self.gram[p, j] @ np.linalg.solve(self.gram[np.ix_(p, p)], self.gram[p, j]) for j, p in families if len(p))
        return explained - self.penalty * self.arcs.sum()

    def _renew(self, j: int) -> None:
        """Gains of the arcs into j."""
        held = np.flatnonzero(self.arcs[:, j])
        variance, covariance = np.diag(self.gram).copy(), self.gram[:, j].copy()
        if len(held):
            inverse = np.linalg.inv(self.gram[np.ix_(held, held)])
            a = inverse @ self.gram[held]
            variance -= np.einsum("ij,ij->j", self.gram[held], a)
            covariance -= self.gram[:, held] @ a[:, j]
        self.gain[:, j] = covariance**2 / np.maximum(variance, 1e-9) - self.penalty
        if len(held):
            self.gain[held, j] = self.penalty - a[:, j] ** 2 / np.diag(inverse)

    def step(self, random: np.random.Generator) -> bool:
        """Makes the best move, if it gains anything."""
        before = reached(self.arcs)
        addable = self.near & ~self.arcs & ~self.arcs.T & ~before.T
        # i -> j can be turned unless another path leads from i to j
        turnable = self.arcs & self.near.T & ~((self.arcs.astype(np.float32) @ before) > 0)
        into = np.broadcast_to(self.fresh, self.arcs.shape)
        scored = [self.arcs & into, addable & (into | ~self.known[0]), turnable & (into | into.T | ~self.known[1])]
        self.evaluations += int(sum(moves.sum() for moves in scored))
        self.known, self.fresh = np.stack([addable, turnable]), np.zeros(len(self.arcs), bool)
        gains = np.stack([np.where(addable | self.arcs, self.gain, -np.inf), np.where(turnable, self.gain + self.gain.T, -np.inf)])
        best = gains.max()
        if best <= TIE:
            return False
        turns, i, j = np.argwhere(gains > best - TIE)[random.integers((gains > best - TIE).sum())]
        self.arcs[i, j] = not self.arcs[i, j]
        if turns:
            self.arcs[j, i] = True
        for node in (i, j) if turns else (j,):
            self.fresh[node] = True
            self._renew(node)
        return True


def reached(arcs: np.ndarray) -> np.ndarray:
    """Whether a path leads from i to j."""
    paths = arcs.astype(np.float32)
    steps = 1
    while steps < len(arcs):
        paths = ((paths + paths @ paths) > 0).astype(np.float32)
        steps *= 2
    return paths > 0


def random_start(near: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Random candidates put in until one drawn would close a cycle."""
    m = len(near)
    arcs, tries = np.zeros((m, m), bool), 0
    while tries <= m * m:
        i, j = random.integers(m, size=2)
        if i == j or arcs[i, j] or arcs[j, i]:
            tries += 1
        elif reached(arcs)[j, i]:
            break
        elif near[i, j]:
            arcs[i, j] = True
    return arcs


def search(gram: np.ndarray, near: np.ndarray, rows: int, random: np.random.Generator) -> np.ndarray:
    """The best DAG of the climbs that `EVALUATIONS` scores of families allow."""
    left, best, found = EVALUATIONS, -np.inf, np.zeros(near.shape, bool)
    while left > 0:
        climb = Climb(gram, near, float(np.log(rows)), random_start(near, random))
        while climb.evaluations < left and climb.step(random):
            pass
        left -= climb.evaluations
        if climb.score() > best + TIE:
            best, found = climb.score(), climb.arcs
    return found
