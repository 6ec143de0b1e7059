"""What the way through Python costs in memory."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from estimators import name_of
from sklearn.base import clone

from hingenet import GaussianNetwork, GaussianNetworkClassifier, LogDensityClassifier


IN_PLACE = [
    LogDensityClassifier("kde-nb", bandwidth="normal"),
    GaussianNetworkClassifier("search", rounds=1),
    GaussianNetwork(rounds=1),
]


@pytest.mark.parametrize("estimator", IN_PLACE, ids=name_of)
def test_python_makes_no_copy_of_a_matrix(estimator):
    """Memory that numpy takes; that of the engine is looked at below."""
    X = np.random.default_rng(0).normal(size=(1_000, 40))
    y = (X[:, 0] > 0).astype(int)
    tracemalloc.start()
    try:
        model = clone(estimator).fit(X, y)
        (model.predict if hasattr(model, "predict") else model.score_samples)(X)
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert taken < X.nbytes / 2, f"{taken} of {X.nbytes} bytes"


PEAK = """
import numpy as np
from hingenet import GaussianNetworkClassifier, LogDensityClassifier

def memory(field):
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

model = {{"density": LogDensityClassifier("kde-nb", bandwidth="normal"), "gaussian": GaussianNetworkClassifier("search", rounds=1)}}["{family}"]
X = np.random.default_rng(0).normal(size=({rows}, 20))
F = np.asfortranarray(X)
y = (X[:, 0] > 0).astype(int)
model.fit(X[:200], y[:200])
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = memory("VmRSS")
{call}
print((memory("VmHWM") - before) / X.nbytes)
"""


def peak(family, call, rows):
    """Growth of the peak memory of a process, in sizes of the matrix."""
    script = PEAK.format(family=family, call=call, rows=rows)
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(out.stdout)


linux = pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak is told by Linux")


@linux
@pytest.mark.parametrize("family", ["density", "gaussian"])
def test_the_engine_predicts_rows_where_they_lie(family):
    """Probabilities of two classes are a tenth of 20 columns; a copy would be more than one."""
    assert peak(family, "model.predict_proba(X)", 200_000) < 0.5


@linux
def test_the_engine_fits_rows_where_they_lie():
    """A Fortran-ordered matrix has to be copied: the fit then needs the memory of one matrix more."""
    in_place, copied = (peak("gaussian", f"model.fit({x}, y)", 100_000) for x in "XF")
    assert copied - in_place > 0.6, f"{in_place:.2f} and {copied:.2f} times the matrix"
