"""Pickles and model files."""

import copy
import pickle

import numpy as np
import pytest
from estimators import KINDS, TRANSFORMERS, VARIANTS, name_of
from sklearn.base import clone

import hingenet
from hingenet import BayesNetClassifier, GaussianNetwork, HingenetError


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", KINDS + VARIANTS, ids=name_of)
def test_a_fitted_model_survives_pickles_copies_and_files(estimator, cancer, tmp_path):
    X, y = cancer[0][:150, :6], cancer[1][:150]
    model = clone(estimator).fit(X, y)
    model.save(tmp_path / "model.hgn")
    file = hingenet.load(tmp_path / "model.hgn")
    wanted = model.get_params()
    if estimator.get_params().get("class_weight") == "balanced":
        wanted["class_weight"] = None  # weights of rows are no option of the model
    assert type(file) is type(model) and file.get_params() == wanted
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), file):
        np.testing.assert_array_equal(other.predict_log_proba(X), model.predict_log_proba(X))
        np.testing.assert_array_equal(other.classes_, model.classes_)
        assert other.predict(X).dtype == model.predict(X).dtype


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=name_of)
def test_transformers_survive_pickles_and_copies(estimator, cancer):
    X, y = cancer[0][:150, :6], cancer[1][:150]
    model = clone(estimator).fit(X[:100], y[:100])
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.transform(X), model.transform(X))


def test_a_network_without_classes_survives_pickles(cancer):
    X = cancer[0][:150, :6]
    model = GaussianNetwork(rounds=3).fit(X)
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(other.score_samples(X), model.score_samples(X))
    assert other.network_.edges == model.network_.edges


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_names_and_text_labels_survive_files(estimator, pets, tmp_path):
    X, y = pets
    model = clone(estimator).fit(X, y)
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


def test_links_and_modes_stay_and_read_only_files_are_refused(cancer, tmp_path):
    model = BayesNetClassifier("nb", "ml").fit(*cancer)
    path, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(path)
    for write in (model.save, model.network_.to_bif, model.network_.to_svg):
        write(link)
        path.chmod(0o600)
        write(link)
        assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o444)
        before = path.read_bytes()
        with pytest.raises(PermissionError, match="read-only"):
            write(link)
        assert path.read_bytes() == before
        path.unlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link"]


def test_a_pool_without_rows_has_no_cell_in_its_file_and_says_so(cancer, tmp_path):
    X, y = cancer[0][:150, :6], cancer[1][:150]
    for rows, found in (("all", True), ("none", False)):
        model = hingenet.HingenetClassifier(fast=True, rows=rows, group=6).fit(X, y)
        model.save(tmp_path / "model.hgn")
        content = (tmp_path / "model.hgn").read_bytes()
        assert all((np.float64(cell).tobytes() in content) == found for cell in X[::10, 5])
        file = hingenet.load(tmp_path / "model.hgn")
        assert (file.rows, file.group) == (rows, 6)
        np.testing.assert_array_equal(file.predict_log_proba(X), model.predict_log_proba(X))
    with pytest.raises(ValueError, match="different rows"):
        hingenet.HingenetClassifier(rows="none", group=100).fit(X, y)
