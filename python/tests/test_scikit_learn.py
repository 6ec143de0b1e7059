"""scikit-learn's own checks, none excused, and life inside its tools."""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn
from estimators import (
    DEFAULTS,
    FISHER,
    KINDS,
    NB,
    OTHERS,
    POOL,
    SEARCH,
    SLB,
    TRANSFORMERS,
    VARIANTS,
    name_of,
)
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hingenet
from hingenet import FisherVectorTransformer, LogDensityClassifier, LogDensityTransformer, MDLDiscretizer
from hingenet._io import _ESTIMATORS
from hingenet._params import TYPES, Declared, declarations, declared
from hingenet._spec import Arcs

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::hingenet.HingenetWarning"),
]


@parametrize_with_checks(DEFAULTS + KINDS + VARIANTS + OTHERS)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_every_exported_estimator_is_checked():
    exported = {getattr(hingenet, name) for name in hingenet.__all__}
    estimators = {e for e in exported if isinstance(e, type) and hasattr(e, "get_params")}
    assert estimators == {type(e) for e in DEFAULTS + OTHERS}


def test_every_option_of_the_engine_is_a_parameter():
    for model in declared():
        name = model["name"]
        estimator = _ESTIMATORS.get(name.split(":")[0])
        if estimator is None:
            assert name == "majority"  # scikit-learn has a DummyClassifier
            continue
        known = {key for key, _ in estimator._options.values()}
        known.add("tau")  # weight of rows without a class, which scikit-learn refuses
        if estimator is LogDensityClassifier:
            known.add("class_weights")
        assert {option["key"] for option in model["options"]} <= known, name


@pytest.mark.parametrize("estimator", DEFAULTS + OTHERS, ids=name_of)
def test_parameters_and_their_documentation_are_those_of_the_engine(estimator):
    cls = type(estimator)
    signature = inspect.signature(cls)
    if not issubclass(cls, Declared):
        assert list(signature.parameters) in ([], ["estimator"])  # no options of the engine
        return
    assert list(signature.parameters) == [*cls._parameters]
    entries = cls.__doc__.split("Parameters\n    ----------\n")[1].split("\n\n")[0]
    for name, parameter in cls._parameters.items():
        assert signature.parameters[name].default == parameter.default
        assert f"    {name} : " in entries
    for name, (key, kind) in cls._options.items():
        found = declarations(cls._families, key)
        assert found, f"no model has the option of {name}"
        assert kind in (TYPES[next(iter(found.values()))["kind"]], Arcs)
        if cls._parameters[name].about is None:
            text = " ".join(entries.split())
            assert any(o["about"][1:] in text for o in found.values()), name


@pytest.fixture
def small(cancer):
    """Rows and columns that every classifier fits in a moment."""
    X, y = cancer
    return X[:160, :6], y[:160]


@pytest.mark.parametrize("estimator", KINDS + VARIANTS, ids=name_of)
def test_weights_equal_repetition_bit_by_bit_in_any_order(estimator, small):
    X, y = small
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    repeated = clone(estimator).fit(X[order], y[order])
    np.testing.assert_array_equal(weighted.predict_log_proba(X), repeated.predict_log_proba(X))


@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=name_of)
def test_weights_equal_repetition_of_transformed_rows(estimator, small):
    X, y = small
    weight = np.random.default_rng(0).integers(0, 4, size=len(y))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    weighted = clone(estimator).fit(X, y, sample_weight=weight).transform(X)
    repeated = clone(estimator).fit(X[order], y[order]).transform(X)
    np.testing.assert_array_equal(weighted, repeated)


@pytest.mark.parametrize("estimator", KINDS + VARIANTS, ids=name_of)
def test_results_do_not_depend_on_the_number_of_threads(estimator, small):
    X, y = small
    one, two = (clone(estimator).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("estimator", KINDS + VARIANTS, ids=name_of)
def test_classifiers_are_good_with_missing_cells(estimator, small):
    X, y = small
    assert cross_val_score(estimator, X, y, cv=2).mean() > 0.75  # the majority is 0.53


GRIDS = {
    NB: {"structure": ["nb", "tan"], "alpha": [0.5, 5.0]},
    SLB: {"variant": ["slb", "lu"], "bandwidth": ["plugin", "normal"]},
    SEARCH: {"penalty": [1.0, 4.0], "variance": ["ml", "pooled"]},
    POOL: {"draws": [2, 10]},
}


@pytest.mark.parametrize("estimator,grid", GRIDS.items(), ids=lambda v: name_of(v) if hasattr(v, "fit") else "")
def test_grid_search_chooses_an_option(estimator, grid, small):
    X, y = small
    if "variant" in grid:
        estimator = clone(estimator).set_params(fraction=None)
    search = GridSearchCV(estimator, grid, cv=2).fit(X, y)
    assert set(search.best_params_) == set(grid) and search.score(X, y) > 0.85


@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_pipelines_and_calibration(estimator, small):
    X, y = small
    assert make_pipeline(StandardScaler(), clone(estimator)).fit(X, y).score(X, y) > 0.85
    calibrated = CalibratedClassifierCV(clone(estimator), cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.85
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=name_of)
def test_transformers_in_front_of_other_classifiers(transformer):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(clone(transformer), StandardScaler(), LogisticRegression(max_iter=2000))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.88


@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_sample_weights_are_routed(estimator, small):
    X, y = small
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        weight = np.where(np.arange(len(y)) % 2 == 0, 1.0, 2.0)
        scores = cross_validate(weighted, X, y, cv=2, params={"sample_weight": weight}, error_score="raise")
    assert len(scores["test_score"]) == 2


@pytest.mark.parametrize("estimator", [NB, SEARCH, FISHER, POOL], ids=name_of)
def test_class_weights_are_weights_of_rows(estimator, small):
    X, y = small
    by_class = clone(estimator).set_params(class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    if "priors" in by_class.get_params() and by_class.classifier == "network":
        estimator = clone(estimator).set_params(priors="empirical")
    by_row = clone(estimator).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))


@pytest.mark.parametrize("estimator", [LogDensityClassifier("kde-nb"), LogDensityClassifier("lu")], ids=name_of)
def test_class_weights_of_densities_move_the_decision_only(estimator, small, tmp_path):
    X, y = small
    labels = np.array(["yes; a:b", "no"])[y]
    shares = []
    for weight in (0.01, 1.0, 100.0):
        model = clone(estimator).set_params(class_weight={"no": weight}).fit(X, labels)
        shares.append((model.predict(X) == "no").mean())
    assert shares[0] < shares[1] < shares[2]
    model.save(tmp_path / "model.hgn")
    assert hingenet.load(tmp_path / "model.hgn").balance == "no:100.0;yes%3B a%3Ab:1.0"
    if model.variant == "kde-nb":
        scores = model.explain(X, kind="terms").scores
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        np.testing.assert_allclose(shares / shares.sum(axis=1, keepdims=True), model.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("estimator", [NB, POOL], ids=name_of)
def test_balanced_classes_count_the_same(estimator, cancer):
    X, y = cancer[0][:200, :8], cancer[1][:200]
    plain, balanced = (clone(estimator).set_params(class_weight=w).fit(X, y) for w in (None, "balanced"))
    nothing = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(plain.predict_proba(nothing)[0, 1], y.mean(), atol=0.01)
    np.testing.assert_allclose(balanced.predict_proba(nothing)[0], [0.5, 0.5], atol=1e-2)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=name_of)
def test_transformer_output_can_be_a_frame(transformer, kind, pets):
    X, y = pets
    X = X[["weight", "legs", "age"]].astype(float)
    plain = clone(transformer).fit(X, y)
    out = clone(transformer).set_output(transform=kind).fit_transform(X, y)
    assert list(out.columns) == list(plain.get_feature_names_out())
    np.testing.assert_array_equal(out.to_numpy(), plain.transform(X))
    if kind == "pandas":
        assert isinstance(out, pd.DataFrame) and list(out.index) == list(X.index)


def test_log_densities_are_named_by_class_and_features(pets):
    X, y = pets
    names = LogDensityTransformer(pairs=False).fit(X, y).get_feature_names_out()
    assert "log p(weight | dog)" in names and "log p(colour | cat)" in names
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=["a", "b", "c"])
    names = LogDensityTransformer(fraction=1.0).fit(X, np.arange(90) % 2).get_feature_names_out()
    assert len(names) == 2 * (3 + 3) and names[5] == "log p(b, c | 0)"


def test_training_rows_are_measured_without_themselves():
    """Leave one out: what a fit without the row says of its own class; other classes do not change."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    options = {"pairs": False, "bandwidth": "normal", "floor": 50.0}
    own = LogDensityTransformer(**options).fit(X, y)
    all_rows = LogDensityTransformer(**options, leave_one_out=False).fit(X, y)
    left_out, resubstituted = own.transform(X), all_rows.transform(X)
    np.testing.assert_array_equal(left_out, LogDensityTransformer(**options).fit_transform(X, y))
    own_class = np.repeat(np.eye(2, dtype=bool)[y], 2, axis=1)
    assert (left_out[own_class] < resubstituted[own_class]).all()
    np.testing.assert_allclose(left_out[~own_class], resubstituted[~own_class], atol=1e-2)
    new = rng.normal(size=(20, 2))
    np.testing.assert_allclose(own.transform(new), all_rows.transform(new), atol=1e-2)


def test_counts_of_few_values_leave_no_row_out():
    """One row less in the count of its own class would tell the class."""
    X, y = np.repeat([[0.0], [1.0], [2.0], [5.0]], [4, 3, 2, 1], axis=0), np.arange(10) % 2
    own = LogDensityTransformer(pairs=False).fit(X, np.zeros(10, dtype=int) + (np.arange(10) > 6)).transform(X)
    # seven rows of the first class with the values 0 and 1, four values in all, one virtual row for each
    np.testing.assert_allclose(np.exp(own[0, 0]), (4 + 1) / (7 + 4))
    np.testing.assert_allclose(np.exp(own[9, 0]), 1 / (7 + 4))


def test_log_densities_are_densities():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([100.0 * rng.normal(size=200), rng.integers(2, size=200)]), np.arange(200) % 2
    transformer = LogDensityTransformer(pairs=False, floor=30.0).fit(X, y)
    grid = np.linspace(-900, 900, 4001)
    p = np.exp(transformer.transform(np.column_stack([grid, np.full(4001, np.nan)])))
    np.testing.assert_allclose(p[:, [0, 2]].sum(axis=0) * (grid[1] - grid[0]), 1.0, atol=0.02)
    np.testing.assert_array_equal(p[:, [1, 3]], 1.0)  # nothing is known of the missing cell
    both = np.exp(transformer.transform([[np.nan, 0.0], [np.nan, 1.0]]))
    np.testing.assert_allclose(both[:, [1, 3]].sum(axis=0), 1.0, atol=1e-9)


def test_fisher_vectors_are_gradients_that_vanish_at_the_optimum():
    """Least squares on the parents: the mean gradient of present arcs and intercepts is zero."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    transformer = FisherVectorTransformer("search").fit(X, y)
    vectors = transformer.transform(X)
    names = list(transformer.get_feature_names_out())
    assert vectors.shape == (150, 3 * 16) == (len(X), len(names))
    for label, network in transformer.networks_.items():
        mean = vectors[y == label].mean(axis=0)
        for name in [f"{a}->{b}" for a, b in network.edges] + network.nodes:
            assert abs(mean[names.index(f"{name} | {label}")]) < 1e-6
    assert np.isfinite(transformer.transform(X.mask(X > 4))).all()


@pytest.mark.parametrize("estimator", DEFAULTS + OTHERS, ids=name_of)
def test_html_representation(estimator):
    assert type(estimator).__name__ in estimator._repr_html_()


def test_the_discretizer_keeps_missing_cells(pets):
    X, y = pets
    out = MDLDiscretizer().set_output(transform="pandas").fit_transform(X[["weight", "legs"]], y)
    assert list(out.columns) == ["weight", "legs"] and np.isnan(out["legs"][3])
