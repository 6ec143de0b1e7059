"""Bad input and interrupts."""

import _thread
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from estimators import FISHER, KINDS, POOL, TRANSFORMERS, name_of
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hingenet import (
    BayesNetClassifier,
    FisherVectorTransformer,
    GaussianNetwork,
    GaussianNetworkClassifier,
    HingenetClassifier,
    HingenetError,
    LogDensityClassifier,
    LogDensityTransformer,
    load,
)


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
each_kind = pytest.mark.parametrize("estimator", KINDS, ids=name_of)
each_transformer = pytest.mark.parametrize("estimator", TRANSFORMERS, ids=name_of)


@pytest.fixture
def small(cancer):
    return cancer[0][:160, :5], cancer[1][:160]


@pytest.fixture
def fitted(cancer):
    return BayesNetClassifier("nb", "ml").fit(*cancer)


@each_kind
def test_unfitted_use_is_an_error(estimator, cancer, tmp_path):
    X, _ = cancer
    model = clone(estimator)
    for use in (model.predict, model.predict_proba, model.decision_function, model.explain):
        with pytest.raises(NotFittedError):
            use(X)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model.hgn")


@each_transformer
def test_unfitted_transformers_are_errors(estimator, cancer):
    with pytest.raises(NotFittedError):
        clone(estimator).transform(cancer[0])
    with pytest.raises(NotFittedError):
        clone(estimator).get_feature_names_out()


def test_an_unfitted_network_is_an_error(cancer):
    model = GaussianNetwork()
    for use in (model.score, model.score_samples, model.impute):
        with pytest.raises(NotFittedError):
            use(cancer[0])
    with pytest.raises(NotFittedError):
        model.sample()


@pytest.mark.parametrize("estimator", KINDS + TRANSFORMERS, ids=name_of)
def test_wrong_columns_are_errors(estimator, small):
    X, y = small
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = clone(estimator).fit(frame, y)
    use = model.predict if hasattr(model, "predict") else model.transform
    with pytest.raises(ValueError, match="feature names should match.*\n.*unseen at fit time:\n- A"):
        use(frame.rename(columns={"a": "A"}))
    with pytest.raises(ValueError, match="same order"):
        use(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        use(frame.drop(columns="a"))
    unnamed = clone(estimator).fit(X, y)
    use = unnamed.predict if hasattr(unnamed, "predict") else unnamed.transform
    with pytest.raises(ValueError, match="4 features, but .* expecting 5 features"):
        use(X[:, :4])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
@pytest.mark.parametrize("estimator", KINDS + TRANSFORMERS, ids=name_of)
def test_infinity_is_an_error(estimator, small, bad):
    X, y = small
    model = clone(estimator).fit(X, y)
    X = X.copy()
    X[1, 2] = bad
    use = model.predict if hasattr(model, "predict") else model.transform
    for order in ("C", "F"):
        with pytest.raises(ValueError, match="infinity"):
            clone(estimator).fit(np.asarray(X, order=order), y)
        with pytest.raises(ValueError, match="infinity"):
            use(np.asarray(X, order=order))


@each_kind
def test_one_feature_works_or_is_told(estimator, small):
    X, y = small
    try:
        model = clone(estimator).fit(X[:, :1], y)
    except ValueError as error:
        assert "1 feature(s)" in str(error)
    else:
        assert model.score(X[:, :1], y) > 0.5
    with pytest.raises(ValueError, match="feature"):
        clone(estimator).fit(pd.DataFrame(index=range(len(y))), y)


@each_kind
def test_columns_that_say_nothing_are_borne(estimator, small):
    """Constant, equal and all-missing columns."""
    X, y = small
    X = np.column_stack([X, np.full(len(y), 3.0), X[:, 0], np.full(len(y), np.nan)])
    model = clone(estimator).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all() and model.score(X, y) > 0.8


@each_kind
def test_labels_must_be_known_and_of_two_classes(estimator, small):
    X, y = small
    with pytest.raises(HingenetError, match="one class only.*\nhint: "):
        clone(estimator).fit(X, np.zeros_like(y))
    with pytest.raises(ValueError, match="NaN"):
        clone(estimator).fit(X, np.where(y == 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="None"):
        clone(estimator).fit(X, np.where(y == 0, None, "a"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(estimator).fit(X, y[1:])


def test_a_fit_can_be_timed(cancer):
    X, y = cancer
    with pytest.warns(UserWarning, match="the time limit ended the search"):
        model = BayesNetClassifier("tan", max_time=0).fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all() and np.isfinite(model.fit_report_["solver"]["gap"])
    with pytest.raises(TimeoutError, match="not done within 0 s\nhint: allow more time \\(`max_time`\\)"):
        clone(FISHER).set_params(max_time=0).fit(X, y)
    with pytest.raises(ValueError, match="max_time = -1: expected a number of seconds"):
        BayesNetClassifier("tan", max_time=-1).fit(X, y)


def test_a_fit_can_be_bounded_in_memory(cancer):
    X, y = cancer
    with pytest.raises(HingenetError, match="more than the 1.0 MB allowed\nhint: .*allow more \\(`max_memory`\\)"):
        clone(FISHER).set_params(max_memory=1e6).fit(X, y)
    with pytest.raises(ValueError, match="max_memory = -1: expected a number of bytes, 0 or more"):
        BayesNetClassifier("nb", "ml", max_memory=-1).fit(X, y)
    assert BayesNetClassifier("nb", "ml", max_memory=1e9).fit(X, y).score(X, y) > 0.9


def test_bad_options_name_what_is_allowed(cancer):
    with pytest.raises(ValueError, match="model = forest:ml-bn-svm: expected .*did you mean `aode:ml-bn-svm`"):
        BayesNetClassifier("forest").fit(*cancer)
    with pytest.raises(ValueError, match="alpha"):
        BayesNetClassifier(alpha=-1.0).fit(*cancer)
    with pytest.raises(ValueError, match="alpha"):
        BayesNetClassifier(alpha="much").fit(*cancer)
    with pytest.raises(ValueError, match="expected .*did you mean `kde-nb`"):
        LogDensityClassifier("kde").fit(*cancer)
    with pytest.raises(ValueError, match="`kde-nb` = fraction: expected one of bandwidth, floor"):
        LogDensityClassifier("kde-nb", fraction=0.5).fit(*cancer)
    with pytest.raises(ValueError, match="expected one of network, fisher-svm"):
        GaussianNetworkClassifier(classifier="svm").fit(*cancer)
    with pytest.raises(ValueError, match="lambda1"):
        GaussianNetworkClassifier("or", lambda1=0.0).fit(*cancer)
    with pytest.raises(ValueError, match="draws"):
        HingenetClassifier(draws=0).fit(*cancer)
    with pytest.raises(ValueError, match="expected one of search, or, or-printed, h"):
        GaussianNetwork("glasso").fit(cancer[0])
    with pytest.raises(ValueError, match="penalty"):
        GaussianNetwork(penalty=-1.0).fit(cancer[0])
    with pytest.raises(ValueError, match="alpha"):
        GaussianNetwork("pc", alpha=1.0).fit(cancer[0])
    with pytest.raises(ValueError, match="alpha.*makes no tests"):
        GaussianNetwork(alpha=0.05).fit(cancer[0])
    with pytest.raises(ValueError, match="expected one of lasso, l1mb"):
        GaussianNetwork("or", start="zero").fit(cancer[0])


@pytest.mark.parametrize("estimator", KINDS + TRANSFORMERS + [GaussianNetwork()], ids=name_of)
def test_bad_weights_are_errors(estimator, small):
    X, y = small
    with pytest.raises(ValueError, match="[Nn]egative"):
        clone(estimator).fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="zero"):
        clone(estimator).fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="sample_weight"):
        clone(estimator).fit(X, y, sample_weight=np.ones(len(y) - 1))


LONG = [
    BayesNetClassifier("tan", "ml-bn-svm"),
    LogDensityClassifier("slb"),
    LogDensityClassifier("kde-tan"),
    GaussianNetworkClassifier("mm"),
    GaussianNetworkClassifier("or", "fisher-svm"),
    GaussianNetworkClassifier("search", rounds=10_000),
    HingenetClassifier(),
    LogDensityTransformer(fraction=1.0),
    FisherVectorTransformer("mm"),
    GaussianNetwork(rounds=10_000),
]


@pytest.mark.parametrize("estimator", LONG, ids=name_of)
def test_interrupt_stops_a_long_fit_within_a_second(estimator):
    rng = np.random.default_rng(0)
    # pure noise with eight classes: all of these take many seconds
    X, y = rng.normal(size=(5_000, 60)), rng.integers(0, 8, size=5_000)
    if isinstance(estimator, BayesNetClassifier):
        X = np.array(["a", "b", "c"])[rng.integers(0, 3, size=X.shape)]
    if isinstance(estimator, GaussianNetwork):
        # in noise the search for an order soon has nothing left to gain, here every column depends on every other
        X = X @ rng.normal(size=(60, 60))
    assert seconds_to_stop(lambda: clone(estimator).fit(X, y)) < 1.0


def seconds_to_stop(work):
    """Interrupts `work` after half a second; the time it then takes to end."""
    pressed = []

    def press():
        pressed.append(time.process_time())
        _thread.interrupt_main()

    timer = threading.Timer(0.5, press)
    # whoever starts the tests in the background may have switched Ctrl-C off
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            while True:  # a fast machine may be done before
                work()
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    # time of this process on one thread, because other programs may have taken the processor
    return time.process_time() - pressed[0]


@pytest.mark.parametrize("estimator", [LogDensityClassifier("kde-tan"), FISHER, POOL], ids=name_of)
@pytest.mark.parametrize("as_frame", [False, True])
def test_interrupt_stops_a_long_prediction_within_a_second(estimator, as_frame):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_000, 30)), rng.integers(0, 4, size=1_000)
    model = clone(estimator).fit(X + y[:, None], y)
    rows = rng.normal(size=(200_000, 30))
    rows[rng.random(rows.shape) < 0.5] = np.nan
    rows = pd.DataFrame(rows) if as_frame else rows
    assert seconds_to_stop(lambda: model.predict(rows)) < 1.0


def test_remedies_name_what_python_has(tmp_path):
    path = tmp_path / "model.hgn"
    path.write_bytes(b"no model, but long enough to look at")
    with pytest.raises(HingenetError, match="not a Hingenet model\nhint: give a file written by `save`"):
        load(path)


@each_kind
@pytest.mark.parametrize("weight", [1e30, 1e308, 1e-320])
def test_weights_that_no_fit_can_hold_are_told_with_their_row(estimator, small, weight):
    X, y = small
    weights = np.ones(len(y))
    weights[2] = weight
    with pytest.raises(HingenetError, match="row 3: the weight is.*\nhint: "):
        clone(estimator).fit(X, y, sample_weight=weights)
