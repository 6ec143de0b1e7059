"""Generative forests: a random forest whose leaves carry a density of the features, so that missing features are summed out exactly.

Correia, Peharz, de Campos: Joints in Random Forests, NeurIPS 2020. A leaf v has its share of the rows w_v, its class shares and a fully
factorised density on its cell A_v of feature space: Gaussians truncated to the cell for numbers, smoothed frequencies of the categories
that reach it. A tree is then one joint density,

    p_t(c, x_o) = sum_v w_v P_v(c) prod_{j in o} p_v(x_j) [x_j in A_v],

with the decisions of the tree itself where nothing is missing. The forest is the mean of the trees' posteriors (`mean`), or the posterior
of the mixture of their densities (`joint`, GeF+ in the paper). Own script; trees of scikit-learn (Gini, bootstrap, sqrt(d) features a split).
"""
import numpy as np
from scipy.special import ndtr

TREES = 100
# Rows of prior knowledge in a leaf: class shares of the training rows, unit variance (numbers are standardised), each category once.
PRIOR_ROWS = 1.0
SMALLEST_MASS = 1e-9
NEVER = -1e4


class GenerativeForest:
    """`widths[j]` columns belong to feature j: one column with a standardised number, or an indicator for each category."""

    def __init__(self, widths, least=1, trees=TREES):
        self.widths, self.least, self.trees = widths, least, trees

    def fit(self, x, y):
        """`x` may have missing cells (NaN): the trees grow on medians, the densities are those of the cells that are there."""
        from sklearn.ensemble import RandomForestClassifier

        self.medians = np.nan_to_num([np.median(c[~np.isnan(c)]) if (~np.isnan(c)).any() else 0.0 for c in x.T])
        filled = np.where(np.isnan(x), self.medians, x)
        forest = RandomForestClassifier(self.trees, min_samples_leaf=self.least, max_features="sqrt", random_state=0).fit(filled, y)
        shares = np.bincount(y) / len(y)
        self.leaves = [Leaves(e.tree_, x, y, e.tree_.apply(filled.astype(np.float32)), drawn, self.widths, shares)
                       for e, drawn in zip(forest.estimators_, forest.estimators_samples_)]
        return self

    def predict(self, x):
        """{"joint": ..., "mean": ...}: class probabilities of every row; NaN is missing."""
        known = ~np.isnan(x)
        values = np.where(known, x, 0.0)
        terms = np.hstack([known, values, values**2])
        mean, joint, largest = 0.0, 0.0, np.full(len(x), -np.inf)
        for leaves in self.leaves:
            top, weighed = leaves.weighed_classes(x, known, terms)
            mean = mean + weighed / weighed.sum(1, keepdims=True)
            new = np.maximum(largest, top)
            joint = joint * np.exp(largest - new)[:, None] + weighed * np.exp(top - new)[:, None]
            largest = new
        return {"joint": joint / joint.sum(1, keepdims=True), "mean": mean / len(self.leaves)}


class Leaves:
    """The leaves of one tree: their cells, class shares, and log densities as linear functions of (known, x, x^2)."""

    def __init__(self, tree, x, y, reached, drawn, widths, shares):
        self.tree = tree
        nodes = np.flatnonzero(tree.children_left < 0)
        leaf = np.searchsorted(nodes, reached[drawn])
        x, y = x[drawn], y[drawn]
        known = ~np.isnan(x)
        values = np.where(known, x, 0.0)
        add = np.zeros((len(nodes), len(drawn)))
        add[leaf, np.arange(len(drawn))] = 1.0
        count, total, squares = add @ known, add @ values, add @ values**2
        size = np.bincount(leaf, minlength=len(nodes))
        by_class = np.zeros((len(nodes), len(shares)))
        np.add.at(by_class, (leaf, y), 1.0)
        self.nodes = nodes
        self.log_weight = np.log(size / size.sum())
        self.classes = (by_class + PRIOR_ROWS * shares) / (size[:, None] + PRIOR_ROWS)
        low, high = self.cells(x.shape[1])
        self.terms = np.vstack(log_densities(count, total, squares, low, high, widths))

    def cells(self, d):
        """Bounds of the cells: low < x <= high."""
        low, high = np.full((self.tree.node_count, d), -np.inf), np.full((self.tree.node_count, d), np.inf)
        for node in np.flatnonzero(self.tree.children_left >= 0):
            left, right, j = self.tree.children_left[node], self.tree.children_right[node], self.tree.feature[node]
            for child in (left, right):
                low[child], high[child] = low[node], high[node]
            high[left, j] = low[right, j] = self.tree.threshold[node]
        return low[self.nodes], high[self.nodes]

    def reach(self, x, known):
        """Which leaves a row can reach: both sides of a split whose feature is missing."""
        reach = np.zeros((self.tree.node_count, len(x)), bool)
        reach[0] = True
        for node in np.flatnonzero(self.tree.children_left >= 0):
            j, threshold = self.tree.feature[node], self.tree.threshold[node]
            reach[self.tree.children_left[node]] = reach[node] & (~known[:, j] | (x[:, j].astype(np.float32) <= threshold))
            reach[self.tree.children_right[node]] = reach[node] & (~known[:, j] | (x[:, j].astype(np.float32) > threshold))
        return reach[self.nodes].T

    def weighed_classes(self, x, known, terms):
        """Largest log density of a leaf, and sum_v w_v P_v(c) p_v(x_o) divided by it."""
        log_density = np.where(self.reach(x, known), terms @ self.terms + self.log_weight, -np.inf)
        top = log_density.max(1)
        return top, np.exp(log_density - top[:, None]) @ self.classes


def log_densities(count, total, squares, low, high, widths):
    """Coefficients of known, x and x^2, one column a leaf."""
    constant, linear, quadratic = (np.zeros(count.shape) for _ in range(3))
    first = 0
    for width in widths:
        columns = slice(first, first + width)
        first += width
        if width == 1:
            n, mean = count[:, columns], total[:, columns] / np.maximum(count[:, columns], 1)
            spread = np.maximum(squares[:, columns] - n * mean**2, 0.0)
            variance = (spread + PRIOR_ROWS) / (n + PRIOR_ROWS)
            sd = np.sqrt(variance)
            mass = ndtr((high[:, columns] - mean) / sd) - ndtr((low[:, columns] - mean) / sd)
            constant[:, columns] = -0.5 * mean**2 / variance - np.log(sd) - np.log(np.maximum(mass, SMALLEST_MASS)) - 0.5 * np.log(2 * np.pi)
            linear[:, columns], quadratic[:, columns] = mean / variance, -0.5 / variance
        else:
            must, may = low[:, columns] >= 0, high[:, columns] >= 1
            others = must.sum(1, keepdims=True) - must
            allowed = may & (others == 0)
            n = total[:, columns].sum(1, keepdims=True)
            share = (total[:, columns] + PRIOR_ROWS) / (n + PRIOR_ROWS * np.maximum(allowed.sum(1, keepdims=True), 1))
            linear[:, columns] = np.where(allowed, np.log(share), NEVER)
    return constant.T, linear.T, quadratic.T
