"""The comparators of the third paper that the book makes itself: blankets, and the search inside them."""

import sys

import numpy as np
import pytest

from pages import ROOT

pytest.importorskip("sklearn")
sys.path.append(str(ROOT / "experiments" / "book"))
import neighbourhoods  # noqa: E402

ROWS = 1000
# Nodes in an order of the graph: a collider at 3, a chain 3 -> 4 -> 5, a fork at 6.
ARCS = [(0, 3, 0.8), (1, 3, -0.6), (3, 4, 0.9), (4, 5, 0.7), (2, 6, 0.5), (6, 7, 0.8), (6, 8, -0.7)]
NODES = 9


def gram():
    """Sums of products of standardised rows with the correlations of the population."""
    weights = np.zeros((NODES, NODES))
    for i, j, w in ARCS:
        weights[i, j] = w
    a = np.linalg.inv(np.eye(NODES) - weights)
    covariance = a.T @ a
    scale = np.sqrt(np.diag(covariance))
    return (ROWS - 1) * covariance / np.outer(scale, scale)


def moral():
    found = np.zeros((NODES, NODES), bool)
    for i, j in [(i, j) for i, j, _ in ARCS] + [(0, 1)]:
        found[i, j] = found[j, i] = True
    return found


def score(g, arcs):
    total = -np.log(ROWS) * arcs.sum()
    for j in range(NODES):
        p = np.flatnonzero(arcs[:, j])
        if len(p):
            total += g[p, j] @ np.linalg.solve(g[np.ix_(p, p)], g[p, j])
    return total


def is_acyclic(arcs):
    return not neighbourhoods.reached(arcs).diagonal().any()


@pytest.mark.parametrize("method", ["gs", "iamb", "tc", "tc-bw"])
def test_with_the_correlations_of_the_population_neighbours_are_those_of_the_moral_graph(method):
    assert (neighbourhoods.neighbourhoods(method, gram(), ROWS, 0.05) == moral()).all()


def test_sparse_regressions_find_every_arc():
    near = neighbourhoods.neighbourhoods("l1mb", gram(), ROWS, 0.05)
    assert all(near[i, j] for i, j, _ in ARCS)
    assert (near == near.T).all() and not near.diagonal().any()


@pytest.mark.parametrize("seed", range(5))
def test_no_single_arc_improves_what_the_search_finds(seed):
    rows = np.random.default_rng([seed, 1]).normal(size=(200, NODES)) @ np.linalg.cholesky(gram() / (ROWS - 1)).T
    g = rows.T @ rows
    near = moral()
    found = neighbourhoods.search(g, near, ROWS, np.random.default_rng(seed))
    assert is_acyclic(found) and not (found & ~near).any()
    best = score(g, found)
    for i, j in np.argwhere(near):
        toggled = found.copy()
        toggled[i, j] = not toggled[i, j]
        turned = toggled.copy()
        turned[j, i] = found[i, j]
        for other in (toggled, turned):
            if not (other & other.T).any() and is_acyclic(other):
                assert score(g, other) <= best + 1e-5


def test_the_search_is_the_same_for_the_same_seed():
    g, near = gram(), moral()
    first, again = (neighbourhoods.search(g, near, ROWS, np.random.default_rng(3)) for _ in range(2))
    assert (first == again).all()
