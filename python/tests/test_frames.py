"""Data frames: types, missing cells, names."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimators import KINDS, name_of
from sklearn.base import clone

from hingenet import BayesNetClassifier, DataWarning, HingenetWarning


pytestmark = pytest.mark.filterwarnings("ignore::hingenet.DataWarning")


@pytest.fixture
def model(pets):
    return BayesNetClassifier("nb", "ml").fit(*pets)


def test_every_kind_of_column_is_understood(model, pets):
    X, y = pets
    assert model.score(X, y) > 0.9
    features = dict(model._model.features)
    assert features["legs"] is features["weight"] is features["age"] is None
    assert features["colour"] == ["brown", "grey"]
    assert features["size"] == ["small", "large"]  # the declared order
    assert features["swims"] == ["False", "True"]
    assert model._model.target == "kind"
    assert list(model.feature_names_in_) == list(X.columns)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_pandas_and_polars_give_the_same_bits(estimator, pets):
    X, y = pets
    model = clone(estimator).fit(X, y)
    frame = pl.from_pandas(X.astype({"size": str})).with_columns(pl.col("size").cast(pl.Enum(["small", "large"])))
    assert frame["age"].null_count() == frame["swims"].null_count() == 1
    other = clone(estimator).fit(frame, pl.Series("kind", y.tolist()))
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.predict_log_proba(X), other.predict_log_proba(frame))
    np.testing.assert_array_equal(model.predict_log_proba(frame), other.predict_log_proba(X))


@pytest.mark.parametrize("dtype", ["object", "category", "string", "string[pyarrow]"])
def test_texts_of_any_type_are_the_same_categories(dtype, model, pets):
    X, y = pets
    other = X.assign(colour=X["colour"].astype(dtype))
    assert other["colour"].isna().sum() == X["colour"].isna().sum() > 0
    np.testing.assert_array_equal(
        BayesNetClassifier("nb", "ml").fit(other, y).predict_proba(X), model.predict_proba(other)
    )


def test_object_arrays_may_mix_numbers_texts_and_none(pets):
    X, y = pets
    cells = X[["weight", "colour"]].to_numpy(dtype=object)
    cells[2, 0] = None
    model = BayesNetClassifier("nb", "ml").fit(cells, y)
    assert [kind for _, kind in model._model.features] == [None, ["brown", "grey"]]
    frame = pd.DataFrame({"x0": cells[:, 0].astype(float), "x1": cells[:, 1]})
    same = BayesNetClassifier("nb", "ml").fit(frame, y)
    np.testing.assert_array_equal(model.predict_proba(cells), same.predict_proba(frame))


def test_text_arrays_are_read_like_a_file():
    X = np.array([["1", "a"], ["2.5", "b"], ["?", ""], ["3", "a"]])
    model = BayesNetClassifier("nb", "ml").fit(X, [0, 1, 0, 1])
    assert [kind for _, kind in model._model.features] == [None, ["a", "b"]]


def test_an_unseen_category_counts_as_missing_and_is_told(model, pets):
    X, _ = pets
    new = X.iloc[[1]].assign(colour="green")
    none = X.iloc[[1]].assign(colour=pd.Series([None], dtype=object, index=[X.index[1]]))
    with pytest.warns(HingenetWarning, match="'colour': 1 cells .* 'green'"):
        np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(none))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("estimator", KINDS, ids=name_of)
def test_a_missing_cell_in_any_column_is_borne(estimator, pets):
    X, y = pets
    model = clone(estimator).fit(X, y)
    for column in X.columns:
        rows = X.assign(**{column: X[column].mask(np.ones(len(X), dtype=bool))})
        assert rows[column].isna().all()
        assert np.isfinite(model.predict_log_proba(rows)).all()


def test_column_types_that_are_no_features_are_refused(pets):
    X, y = pets
    with pytest.raises(TypeError, match="'born' has the type .*\nhint: "):
        BayesNetClassifier().fit(X.assign(born=pd.Timestamp("2020-01-01")), y)


def test_label_types_come_back(pets):
    X, y = pets
    for labels in (y, (y == "dog"), (y == "dog").astype(int) + 5, y.astype("category"), pl.Series(y.tolist())):
        model = BayesNetClassifier("nb", "ml").fit(X, labels)
        values = np.asarray(labels)
        assert model.predict(X).dtype == model.classes_.dtype
        assert set(model.predict(X)) <= set(values)
        assert model.score(X, values) > 0.9


@pytest.mark.parametrize(
    "kind", ["<U", ">U", "object", "str", "category", "polars", "polars category", "pyarrow"]
)
def test_text_labels_of_any_type_are_the_same_classes(kind, pets):
    X, _ = pets
    texts = ["cat" if m % 3 else "dög" if m % 2 else "d" for m in range(len(X))]
    array = np.array(texts)
    labels = {
        "<U": lambda: array,
        ">U": lambda: array.astype(array.dtype.newbyteorder(">")),
        "object": lambda: array.astype(object),
        "str": lambda: pd.Series(texts, dtype="str"),
        "category": lambda: pd.Series(pd.Categorical(texts, ["none", "dög", "d", "cat"])),
        "polars": lambda: pl.Series(texts),
        "polars category": lambda: pl.Series(texts, dtype=pl.Categorical),
        "pyarrow": lambda: pl.Series(texts).to_arrow(),
    }[kind]()
    model = BayesNetClassifier("nb", "ml").fit(X, labels)
    assert model.classes_.tolist() == ["cat", "d", "dög"]
    expected = BayesNetClassifier("nb", "ml").fit(X, texts)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("kind", [pd.Series, pl.Series])
def test_a_missing_label_in_a_series_is_refused(kind, pets):
    X, y = pets
    with pytest.raises(ValueError, match="None"):
        BayesNetClassifier("nb", "ml").fit(X, kind([None, *y.tolist()[1:]]))


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_a_category_of_rows_without_weight_is_unknown(kind, pets):
    X, y = pets
    X = X[["weight", "colour"]].assign(colour=X["colour"].mask(X.index == 4, "green"))
    weight = np.ones(len(y))
    weight[4] = 0.0
    frame = {"pandas": X, "polars": pl.from_pandas(X), "objects": X.to_numpy(dtype=object)}[kind]
    weighted = BayesNetClassifier("nb", "ml").fit(frame, y, sample_weight=weight)
    without = BayesNetClassifier("nb", "ml").fit(X.drop(index=4), y.drop(index=4))
    assert weighted._model.features[1][1] == without._model.features[1][1] == ["brown", "grey"]
    np.testing.assert_array_equal(
        weighted.predict_proba(frame[:3]), without.predict_proba(X[:3])
    )


def _texts(n: int = 200) -> dict[str, list]:
    """Two columns of texts, one with missing cells."""
    rng = np.random.default_rng(3)
    colour = rng.choice(["red", "green", "blue"], n).tolist()
    size = [None if rng.random() < 0.2 else str(rng.integers(8, 12)) for _ in range(n)]
    return {"colour": colour, "size": size}


def _probabilities(X, y) -> np.ndarray:
    return BayesNetClassifier("nb", "ml").fit(X, y).predict_proba(X)


def test_codes_of_a_frame_mean_what_their_texts_mean():
    texts = _texts()
    y = np.array([int(c == "red") for c in texts["colour"]])
    expected = _probabilities(pd.DataFrame(texts), y)
    # A category that no row has is none, whatever its place among the codes.
    unused = pd.DataFrame({
        "colour": pd.Categorical(texts["colour"], ["violet", "red", "green", "blue"]),
        "size": pd.Categorical(texts["size"], ["7", "11", "10", "9", "8"]),
    })
    categories = pl.DataFrame(texts).with_columns(pl.all().cast(pl.Categorical))
    other_columns_share_the_numbers = categories.with_columns(other=pl.Series(["z", "y"] * 100).cast(pl.Categorical))
    for X in (unused, pl.DataFrame(texts), categories, other_columns_share_the_numbers.drop("other")):
        np.testing.assert_array_equal(_probabilities(X, y), expected)
    enum = pl.DataFrame(texts).with_columns(
        pl.col("colour").cast(pl.Enum(["blue", "green", "red"])), pl.col("size").cast(pl.Enum(["8", "9", "10", "11"]))
    )
    np.testing.assert_array_equal(_probabilities(enum, y), expected)


def test_more_categories_than_a_byte_has():
    n = 3000
    texts = [f"c{m % 300}" for m in range(n)]
    y = np.arange(n) % 300 % 2
    expected = _probabilities(pd.DataFrame({"a": texts}), y)
    np.testing.assert_array_equal(_probabilities(pd.DataFrame({"a": pd.Categorical(texts)}), y), expected)


@pytest.mark.parametrize("labels", [[3, 7], [-100, 100], ["no", "yes"], [False, True], [0.0, 1.0]])
def test_labels_of_every_kind(labels):
    texts = _texts()
    place = np.array([int(c == "red") for c in texts["colour"]])
    X = pd.DataFrame(texts)
    plain = np.array(labels)[place]
    kinds = [plain, pd.Series(plain), pd.Series(plain).astype("category")]
    narrow = {"i": np.int8, "U": object}.get(plain.dtype.kind, plain.dtype)
    kinds.append(plain.astype(narrow))
    for y in kinds:
        model = BayesNetClassifier("nb", "ml").fit(X, y)
        assert model.classes_.tolist() == labels
        np.testing.assert_array_equal(model.predict(X), plain)


def test_absent_columns_are_refused_unless_they_may_count_as_missing(pets):
    X, y = pets
    part = X[["weight", "legs"]]
    strict = BayesNetClassifier("nb", "ml").fit(X, y)
    with pytest.raises(ValueError, match="feature names"):
        strict.predict(part)
    model = BayesNetClassifier("nb", "ml", absent_columns="missing").fit(X, y)
    blank = X.assign(colour=None, size=None, swims=None, age=np.nan)
    with pytest.warns(HingenetWarning, match="4 of 6 columns are absent and count as missing: colour, size, swims, age"):
        found = model.predict_proba(part)
    np.testing.assert_array_equal(found, strict.predict_proba(blank))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(X[X.columns[::-1]]), strict.predict_proba(X))
    with pytest.raises(ValueError, match="unknown: wings"):
        model.predict(part.assign(wings=1))
    with pytest.raises(ValueError, match="absent_columns = 'ignore': expected 'error' or 'missing'"):
        model.set_params(absent_columns="ignore").predict(X)


def test_columns_without_a_type_are_all_missing(pets, model):
    X, y = pets
    nothing = X.assign(legs=np.nan, colour=None)
    wanted = model.predict_proba(nothing)
    frame = pl.from_pandas(X.astype({"size": str}))
    typeless = frame.with_columns(legs=pl.lit(None), colour=pl.lit(None))
    assert typeless["legs"].dtype == typeless["colour"].dtype == pl.Null
    np.testing.assert_array_equal(model.predict_proba(typeless), wanted)
    np.testing.assert_array_equal(model.predict_proba(typeless.to_arrow()), wanted)
    np.testing.assert_array_equal(
        BayesNetClassifier("nb", "ml").fit(typeless, y).predict(typeless),
        BayesNetClassifier("nb", "ml").fit(nothing, y).predict(nothing),
    )


def test_booleans_and_zero_or_one_are_the_same(pets, model):
    X, y = pets
    as_numbers = X.assign(swims=X["swims"].astype("Float64"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(as_numbers), model.predict_proba(X))
    other = BayesNetClassifier("nb", "ml").fit(as_numbers, y)
    np.testing.assert_array_equal(other.predict_proba(X), other.predict_proba(as_numbers))


def test_data_that_look_wrong_are_told_for_frames_and_not_for_arrays(pets):
    X, y = pets
    odd = X.assign(number=np.arange(len(X)), same=1.0)
    with pytest.warns(DataWarning, match="same.*leave") as told:
        BayesNetClassifier("nb", "ml").fit(odd, y)
    texts = [str(warning.message) for warning in told]
    assert any("number" in text for text in texts) and not any("--" in text for text in texts), texts
    assert issubclass(DataWarning, HingenetWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        BayesNetClassifier("nb", "ml").fit(odd[["weight", "number", "same"]].to_numpy(), y)
