"""Pickles and model files."""

import copy
import pickle

import numpy as np
import pytest
from estimators import QUICK
from sklearn.base import clone

import hingenet
from hingenet import BayesNetClassifier, HingenetError


@pytest.mark.parametrize("estimator", QUICK, ids=str)
def test_a_fitted_model_survives_pickles_copies_and_files(estimator, cancer, tmp_path):
    X, y = cancer
    model = clone(estimator).fit(X[:150], y[:150])
    model.save(tmp_path / "model.hgn")
    file = hingenet.load(tmp_path / "model.hgn")
    assert type(file) is type(model) and file.get_params() == model.get_params()
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), file):
        np.testing.assert_array_equal(other.predict_log_proba(X), model.predict_log_proba(X))
        np.testing.assert_array_equal(other.classes_, model.classes_)
        assert other.predict(X).dtype == model.predict(X).dtype


def test_names_and_text_labels_survive_files(pets, tmp_path):
    X, y = pets
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    model.save(tmp_path / "model.hgn")
    file = hingenet.load(str(tmp_path / "model.hgn"))
    assert list(file.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(file.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        file.predict(X.rename(columns={"legs": "feet"}))


def test_number_texts_keep_their_class(cancer, tmp_path):
    """Engine (by value) and numpy (by text) order these labels differently."""
    X, y = cancer
    labels = np.array(["10", "9"])[y]
    model = BayesNetClassifier("nb", "ml").fit(X, labels)
    assert model.score(X, labels) > 0.9
    proba = model.predict_proba(X)
    np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    model.save(tmp_path / "model.hgn")
    assert hingenet.load(tmp_path / "model.hgn").score(X, labels.astype(int)) > 0.9


def test_damaged_and_absent_files_are_told(cancer, tmp_path):
    X, y = cancer
    path = tmp_path / "model.hgn"
    BayesNetClassifier("nb", "ml").fit(X, y).save(path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(HingenetError, match="damaged.*\nhint: "):
        hingenet.load(path)
    with pytest.raises(FileNotFoundError):
        hingenet.load(tmp_path / "absent.hgn")
    with pytest.raises(OSError):
        BayesNetClassifier("nb", "ml").fit(X, y).save(tmp_path / "no folder" / "model.hgn")
