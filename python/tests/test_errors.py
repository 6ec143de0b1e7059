"""Bad input and interrupts."""

import _thread
import threading
import time

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hingenet import BayesNetClassifier, HingenetError, MDLDiscretizer


@pytest.fixture
def fitted(cancer):
    return BayesNetClassifier("nb", "ml").fit(*cancer)


def test_unfitted_use_is_an_error(cancer, tmp_path):
    X, _ = cancer
    model = BayesNetClassifier()
    for use in (model.predict, model.predict_proba, model.decision_function, model.explain):
        with pytest.raises(NotFittedError):
            use(X)
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "model.hgn")
    with pytest.raises(NotFittedError):
        MDLDiscretizer().transform(X)


def test_a_wrong_number_of_columns_is_an_error(fitted, cancer):
    with pytest.raises(ValueError, match="29 features, but .* expecting 30 features"):
        fitted.predict(cancer[0][:, :29])


def test_renamed_and_reordered_columns_are_errors(pets):
    X, y = pets
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    with pytest.raises(ValueError, match="feature names should match.*\n.*unseen at fit time:\n- feet"):
        model.predict(X.rename(columns={"legs": "feet"}))
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[X.columns[::-1]])


@pytest.mark.parametrize("bad", [np.inf, -np.inf])
def test_infinity_is_an_error(fitted, cancer, bad):
    X, y = cancer
    X = X.copy()
    X[1, 2] = bad
    with pytest.raises(ValueError, match="infinity"):
        BayesNetClassifier().fit(X, y)
    with pytest.raises(ValueError, match="infinity"):
        fitted.predict(X)


def test_labels_must_be_known_and_of_two_classes(cancer):
    X, y = cancer
    with pytest.raises(HingenetError, match="one class only.*\nhint: "):
        BayesNetClassifier().fit(X, np.zeros_like(y))
    with pytest.raises(ValueError, match="NaN"):
        BayesNetClassifier().fit(X, np.where(y == 0, np.nan, 1.0))
    with pytest.raises(ValueError, match="None"):
        BayesNetClassifier().fit(X, np.where(y == 0, None, "a"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        BayesNetClassifier().fit(X, y[1:])


def test_bad_options_name_what_is_allowed(cancer):
    with pytest.raises(ValueError, match="model = forest:ml-bn-svm: expected one of .*tan:ml"):
        BayesNetClassifier("forest").fit(*cancer)
    with pytest.raises(ValueError, match="alpha"):
        BayesNetClassifier(alpha=-1.0).fit(*cancer)
    with pytest.raises(ValueError, match="alpha"):
        BayesNetClassifier(alpha="much").fit(*cancer)


def test_negative_weights_are_an_error(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="[Nn]egative"):
        BayesNetClassifier().fit(X, y, sample_weight=-np.ones(len(y)))


def test_interrupt_stops_a_long_fit_within_a_second():
    rng = np.random.default_rng(0)
    # pure noise with eight classes: choosing lambda and gamma takes minutes
    X, y = rng.integers(0, 3, size=(5_000, 60)).astype(float), rng.integers(0, 8, size=5_000)

    pressed = []

    def press():
        pressed.append(time.process_time())
        _thread.interrupt_main()

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        BayesNetClassifier("tan", "ml-bn-svm").fit(X, y)
    # time of this process on one thread, because other programs may have taken the processor
    assert time.process_time() - pressed[0] < 1.0
