"""Paragraphs of the documentation that several classes share.

A docstring names one as ``{name}`` on a line of its own; :func:`documented` puts the text there.
"""

from __future__ import annotations

import re
import textwrap
from typing import TypeVar

Class = TypeVar("Class", bound=type)

_SHARED = {
    # attributes
    "classes": """\
Attributes
----------
classes_ : ndarray of shape (n_classes,)
    Class labels.""",
    "networks": """\
networks_ : dict
    The network of each class label.
network_ : Network
    The arcs of any class.""",
    "fit": """\
fit_report_ : dict
    Facts of the fit: rows, missing cells, options chosen, how the solver ended, warnings.""",
    "fitted": """\
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Names of the features, when `X` is a data frame with text names.""",
    "axes": """\
Attributes
----------
classes : ndarray of shape (n_classes,)
    Class labels, in the order of the last axis of the arrays.
feature_names : ndarray of shape (n_features,)
    Names of the features.""",
    # arguments of methods
    "training": """\
Parameters
----------
X : array-like or data frame of shape (n_samples, n_features)
    Features. NaN (and None) is a missing cell. Text, boolean and categorical columns of a frame
    are categories; numbers are numbers.
y : array-like of shape (n_samples,)
    Class labels.
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the rows. A weight of 2 means the same as the row twice.

Returns
-------
self : object
    The fitted estimator.""",
    "rows": """\
Parameters
----------
X : array-like or data frame of shape (n_samples, n_features)
    Rows; missing cells are allowed.""",
    "lazy_rows": """\
Parameters
----------
X : dask DataFrame, dask Array, or rows in memory, of shape (n_samples, n_features)
    Rows; missing cells are allowed.""",
    "numbers": """\
Parameters
----------
X : array-like of shape (n_samples, n_features)
    Numbers; NaN is a missing cell.""",
    "weights": """\
sample_weight : array-like of shape (n_samples,), default=None
    Weights of the rows. A weight of 2 means the same as the row twice.""",
    "self": """\
Returns
-------
self : object
    The fitted estimator.""",
    "proba": """\
Returns
-------
proba : ndarray of shape (n_samples, n_classes)
    Columns in the order of ``classes_``.""",
    "lazy_proba": """\
Returns
-------
proba : dask DataFrame with the index of `X` and a column for each class, dask Array, or ndarray
    Columns in the order of ``classes_``.""",
    "complete": """\
Returns
-------
X : ndarray of shape (n_samples, n_features)
    Complete rows.""",
    "columns": """\
Returns
-------
X_new : ndarray of shape (n_samples, n_columns)
    Columns as in ``get_feature_names_out()``.""",
    "names": """\
Returns
-------
names : ndarray of str objects
    One name for each column.""",
    "log_likelihood": """\
Returns
-------
log_likelihood : ndarray of shape (n_samples,)
    Natural logarithms.""",
    "classifier": """\
Parameters
----------
estimator : estimator
    A fitted classifier.""",
    "test": """\
X : array-like or data frame of shape (n_samples, n_features)
    Rows.
y : array-like of shape (n_samples,)
    Their labels.""",
    "drawing": """\
plot : bool, default=True
    Whether to draw at once.
ax : matplotlib axes, default=None
    Where to draw.

Returns
-------
display : object
    The picture with its numbers.""",
    # examples
    "iris": """\
Examples
--------
>>> import numpy as np
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)""",
    "iris_frame": """\
Examples
--------
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True, as_frame=True)""",
    # papers
    "tenzer": """\
References
----------
Tenzer, Moscovich, Dorn, Nadler, Spiegelman: Beyond Trees: Classification with Sparse Pairwise
Dependencies, JMLR 2020.""",
    "zhou": """\
References
----------
Zhou, Wang, Liu, Ogunbona, Shen: Learning Discriminative Bayesian Networks from High-dimensional
Continuous Neuroimaging Data, 2015.""",
}

_SHARED["fit"] += "\n" + _SHARED["fitted"]

_PLACE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def documented(cls: Class) -> Class:
    """The class, with the shared paragraphs in its docstring and in those of its methods."""
    for item in (cls, *vars(cls).values()):
        item = getattr(item, "__func__", item)
        # what a decorator wraps has a docstring of its own
        for part in (item, getattr(item, "__wrapped__", None)):
            text = getattr(part, "__doc__", None)
            if isinstance(text, str) and _PLACE.search(text):
                part.__doc__ = _PLACE.sub(lambda m: textwrap.indent(_SHARED[m[2]], m[1]), text)
    return cls
