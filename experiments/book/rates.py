"""Two problems whose class densities are known, for the rates of Theorem 5 of Tenzer et al. (2020).

Both have six features and two classes of equal share. In `forest` the density of each class is that of a tree, so that the
log-likelihood ratio is a sum of univariate and bivariate log-densities by Lemma 1, and the kernel tree can find it too. In
`loop` the classes are normal and their precisions have the entries of a ring: the ratio is still such a sum, but no tree
has it. The error of the Bayes rule and what a rule errs beyond it come from the known posterior, without the noise of labels.
"""
import dataclasses
from collections.abc import Callable

import numpy as np

FEATURES = 6
CLASSES = ("minus", "plus")
# Partial correlation along a ring, and the means, which differ in sign between the classes.
RING = 0.4
SHIFT = 0.25 * np.array([1, -1, 1, -1, 1, -1])
RINGS = ([0, 1, 2, 3, 4, 5], [0, 2, 4, 1, 5, 3])
PARENTS = ([None, 0, 1, 2, 3, 4], [None, 0, 0, 1, 1, 2])
NOISE = 0.8


@dataclasses.dataclass(frozen=True)
class Problem:
    """Rows of a class, and the logarithm of the density of a class at rows."""

    draw: Callable[[int, int, np.random.Generator], np.ndarray]
    log_density: Callable[[int, np.ndarray], np.ndarray]

    def rows(self, each: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Equally many rows of both classes, and their class."""
        return np.vstack([self.draw(c, each, random) for c in range(2)]), np.repeat([0, 1], each)

    def posterior(self, x: np.ndarray) -> np.ndarray:
        """Probability of the second class."""
        return 1 / (1 + np.exp(self.log_density(0, x) - self.log_density(1, x)))

    def bayes_error(self, each: int, random: np.random.Generator) -> dict[str, float]:
        """Error of the Bayes rule by Monte Carlo, and its standard error."""
        x, _ = self.rows(each, random)
        eta = self.posterior(x)
        wrong = np.minimum(eta, 1 - eta)
        return {"error": round(float(wrong.mean()), 7), "standard_error": round(float(wrong.std() / np.sqrt(len(wrong))), 7)}


def excess(eta: np.ndarray, answers: np.ndarray) -> float:
    """What answers err beyond the Bayes rule: |2 eta - 1| where they differ from it."""
    return float(np.mean(np.abs(2 * eta - 1) * (answers != (eta > 0.5))))


def ring_covariance(c: int) -> np.ndarray:
    """Unit variances; the second class has a ring of another order whose first link is negative, so that no signs undo it."""
    precision = np.eye(FEATURES)
    order = RINGS[c]
    for k, (a, b) in enumerate(zip(order, [*order[1:], order[0]])):
        precision[a, b] = precision[b, a] = RING if (c, k) == (1, 0) else -RING
    covariance = np.linalg.inv(precision)
    scale = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scale, scale)


def draw_loop(c: int, n: int, random: np.random.Generator) -> np.ndarray:
    mean = SHIFT if c else -SHIFT
    return mean + random.standard_normal((n, FEATURES)) @ np.linalg.cholesky(ring_covariance(c)).T


def log_loop(c: int, x: np.ndarray) -> np.ndarray:
    factor = np.linalg.cholesky(ring_covariance(c))
    z = np.linalg.solve(factor, (x - (SHIFT if c else -SHIFT)).T)
    return -0.5 * (z**2).sum(0) - np.log(np.diag(factor)).sum()


def child_mean(c: int, parent: np.ndarray) -> np.ndarray:
    """A wave in the one class, a hill in the other: both depart from the normal."""
    return 1.2 * np.sin(1.5 * parent) if c else 1.2 * np.exp(-(parent**2)) - 0.4


def draw_forest(c: int, n: int, random: np.random.Generator) -> np.ndarray:
    x = random.standard_normal((n, FEATURES))
    if c:
        # two humps
        x[:, 0] = 0.6 * x[:, 0] + 0.8 * random.choice([-1, 1], n)
    for j, parent in enumerate(PARENTS[c]):
        if parent is not None:
            x[:, j] = child_mean(c, x[:, parent]) + NOISE * x[:, j]
    return x


def log_forest(c: int, x: np.ndarray) -> np.ndarray:
    """Without the constant that all normal densities here share."""
    root = x[:, 0]
    total = np.logaddexp(-0.5 * ((root - 0.8) / 0.6) ** 2, -0.5 * ((root + 0.8) / 0.6) ** 2) - np.log(2 * 0.6) if c else -0.5 * root**2
    for j, parent in enumerate(PARENTS[c]):
        if parent is not None:
            total = total - 0.5 * ((x[:, j] - child_mean(c, x[:, parent])) / NOISE) ** 2
    return total


PROBLEMS = {"forest": Problem(draw_forest, log_forest), "loop": Problem(draw_loop, log_loop)}
