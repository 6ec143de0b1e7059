"""The missing-feature studies: their tables are those of the result lines in the repository, and their opponents do what they say."""

import re
import subprocess
import sys

import numpy as np
import pytest

from pages import ROOT

EXPERIMENTS = ROOT / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import generative_forest  # noqa: E402
import missing_data as md  # noqa: E402
import missing_opponents as opponents  # noqa: E402
import missing_scores as scores  # noqa: E402

TABLE = re.compile(r"<!-- missing_study\.py table (.*?)-->\n(.*?)<!-- end of table -->", re.DOTALL)
PAGE = ROOT / "docs" / "pool.md"


@pytest.mark.parametrize("arguments, printed", TABLE.findall(PAGE.read_text()))
def test_the_tables_of_the_page_are_those_of_the_lines(arguments, printed):
    command = [sys.executable, EXPERIMENTS / "missing_study.py", "table", "--results", EXPERIMENTS / "results", *arguments.split()]
    found = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    assert printed.strip() == found.strip(), f"write the output of missing_study.py table {arguments} into {PAGE.name}"


def test_the_page_has_a_table_of_the_study():
    assert TABLE.findall(PAGE.read_text())


def table_of_categories(n=300, seed=1):
    """Two categories of three levels and a number; the class leans on all."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    codes = [(y + random.integers(0, 3, n) * (random.random(n) < 0.5)) % 3 for _ in range(2)]
    number = y + random.normal(size=n)
    return md.Data([*codes, number], [3, 3, 0], y)


def joint(forest, x):
    """sum_t p_t(c, x_o) of every row, not normalised over the classes."""
    total = 0.0
    known = ~np.isnan(x)
    values = np.where(known, x, 0.0)
    for leaves in forest.leaves:
        top, weighed = leaves.weighed_classes(x, known, np.hstack([known, values, values**2]))
        total = total + np.exp(top)[:, None] * weighed
    return total


def test_a_generative_forest_sums_a_missing_category_out_exactly():
    data = table_of_categories()
    encoder = opponents.Encoder(data, np.arange(data.n))
    x = encoder.all(data)
    forest = generative_forest.GenerativeForest(encoder.widths, 5, trees=7).fit(x, data.y)
    x = x[:40].copy()
    x[:, :3] = np.nan
    parts = 0.0
    for level in range(3):
        filled = x.copy()
        filled[:, :3] = np.eye(3)[level]
        parts = parts + joint(forest, filled)
    np.testing.assert_allclose(joint(forest, x), parts, rtol=1e-10)
    p = forest.predict(x)
    np.testing.assert_allclose(p["joint"], parts / parts.sum(1, keepdims=True), rtol=1e-10)
    np.testing.assert_allclose(p["mean"].sum(1), 1)


def test_the_density_of_a_generative_forest_integrates_to_one():
    data = table_of_categories()
    encoder = opponents.Encoder(data, np.arange(data.n))
    forest = generative_forest.GenerativeForest(encoder.widths, 20, trees=3).fit(encoder.all(data), data.y)
    grid = np.linspace(-8, 8, 4001)
    x = np.full((len(grid), 7), np.nan)
    x[:, 6] = grid
    assert abs((joint(forest, x).sum(1) * (grid[1] - grid[0])).sum() / 3 - 1) < 2e-3


def test_one_tree_decides_as_a_tree_does_where_nothing_is_missing():
    from sklearn.ensemble import RandomForestClassifier

    data = table_of_categories()
    encoder = opponents.Encoder(data, np.arange(data.n))
    x = encoder.all(data)
    forest = generative_forest.GenerativeForest(encoder.widths, 10, trees=1).fit(x, data.y)
    tree = RandomForestClassifier(1, min_samples_leaf=10, max_features="sqrt", random_state=0).fit(x, data.y)
    p = forest.predict(x)
    np.testing.assert_allclose(p["joint"], p["mean"])
    sure = np.abs(tree.predict_proba(x)[:, 0] - 0.5) > 0.05
    assert sure.sum() > 200 and (p["mean"].argmax(1) == tree.predict(x))[sure].all()


def test_imputation_by_neighbours_looks_at_what_both_rows_know(monkeypatch):
    monkeypatch.setattr(opponents, "NEIGHBOURS", 2)
    neighbours = opponents.NearestNeighbours(np.array([[0.0, 1.0], [0.1, np.nan], [5.0, 9.0], [5.1, 9.0]]))
    filled = neighbours.fill(np.array([[0.0, np.nan], [np.nan, np.nan]]), np.array([[False, True], [True, True]]))
    np.testing.assert_allclose(filled, [[0.0, 1.0], [2.55, 19 / 3]])


def test_the_scores_are_those_of_their_definitions():
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.0, 1.0]])
    found = scores.figures(p, np.array([0, 1, 1, 0]))
    assert found["accuracy"] == 0.5
    np.testing.assert_allclose(found["log_loss"], -(np.log([0.9, 0.4, 0.8]).sum() + np.log(1e-6)) / 4)
    np.testing.assert_allclose(found["brier"], (0.02 + 0.72 + 0.08 + 2) / 4)
    np.testing.assert_allclose(found["calibration"], (abs(0.5 - 0.95) * 2 + 0.6 + 0.2) / 4)
    assert scores.figures(p, np.array([0, 1, 1, 0]), np.array([0, 1, 1, 0]))["accuracy"] == 1.0


def test_gaps_not_at_random_are_more_where_numbers_are_large():
    random = np.random.default_rng(0)
    data = md.Data([random.normal(size=4000), random.integers(0, 4, 4000)], [0, 4], random.integers(0, 2, 4000))
    mask = md.telling_mask(data, data, "some", 0, 0)
    high = np.column_stack([data.columns[0] > np.median(data.columns[0]), data.columns[1] >= 2])
    assert abs(mask[high].mean() - 0.5) < 0.03 and abs(mask[~high].mean() - 0.1) < 0.02
    assert (data.blanked(mask).gaps() == mask).all()
