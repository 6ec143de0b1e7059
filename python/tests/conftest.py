"""Data that many tests share."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # or scikit-learn skips some of its checks; read when scipy is loaded

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer


@pytest.fixture(scope="session")
def cancer():
    """Breast cancer with one cell in five missing."""
    X, y = load_breast_cancer(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    return X, y


@pytest.fixture
def pets():
    """A frame with every kind of column, and missing cells in each."""
    n = 60
    rng = np.random.default_rng(1)
    kind = np.array(["cat", "dog", "fish"])[rng.integers(3, size=n)]
    legs = np.where(kind == "fish", 0.0, 4.0)
    legs[3] = np.nan
    colour = [None if m % 10 == 0 else "grey" if k == "cat" else "brown" for m, k in enumerate(kind)]
    frame = pd.DataFrame(
        {
            "legs": legs,
            "weight": rng.normal(np.where(kind == "dog", 20.0, 3.0)),
            "colour": colour,
            "size": pd.Categorical(np.where(kind == "dog", "large", "small"), ["small", "large"], ordered=True),
            "swims": pd.array([None if m == 5 else k == "fish" for m, k in enumerate(kind)], dtype="boolean"),
            "age": pd.array([None if m == 7 else int(a) for m, a in enumerate(rng.integers(9, size=n))], dtype="Int64"),
        }
    )
    return frame, pd.Series(kind, name="kind")
