"""How probabilities are judged: accuracy, log-loss, Brier score and calibration error."""
import numpy as np

# Least probability that a log-loss believes: a method that is sure and wrong pays 13.8 nats, not infinity.
LEAST = 1e-6
BINS = 10
FIGURES = ("accuracy", "log_loss", "brier", "calibration")


def log_loss(p, y):
    return float(-np.log(np.maximum(p[np.arange(len(y)), y], LEAST)).mean())


def figures(p, y, decided=None):
    """Figures of class probabilities, and of other decisions than the most probable class if they are given. Calibration is the expected
    error of the probability of the class decided for, in ten bins.
    """
    decided = p.argmax(1) if decided is None else decided
    right, sure = decided == y, p[np.arange(len(y)), decided]
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    error = sum(abs(right[bins == b].mean() - sure[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins))
    brier = ((p - np.eye(p.shape[1])[y]) ** 2).sum(1).mean()
    return {"accuracy": float(right.mean()), "log_loss": log_loss(p, y), "brier": float(brier), "calibration": float(error)}
