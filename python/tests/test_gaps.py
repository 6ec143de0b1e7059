"""Gaps that tell the class: the parameter of the pool that says what a missing cell means."""

import numpy as np
import pandas as pd
import pytest

from hingenet import HingenetClassifier


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    frame = pd.DataFrame({"test": random.normal(size=400) + 0.5 * y, "other": random.normal(size=400) + 0.5 * y})
    frame.loc[random.random(400) < np.where(y == 1, 0.6, 0.1), "test"] = np.nan
    return frame, y


@pytest.fixture(scope="module")
def model(table):
    return HingenetClassifier(fast=True, absent_columns="missing").fit(*table)


def test_gaps_count_as_they_are_said_to(table, model):
    rows, y = table
    assert model.telling_gaps_ == ["test"]
    told = model.predict_proba(rows)
    unknown = model.set_params(gaps="unknown").predict_proba(rows)
    model.set_params(gaps="as-in-training")
    gap = rows["test"].isna().to_numpy()
    assert (told[gap, 1] > unknown[gap, 1]).all()
    assert np.array_equal(told, model.predict_proba(rows))
    assert model.score(rows, y) > (unknown.argmax(axis=1) == y).mean()


def test_a_column_that_is_not_there_is_no_gap(table, model):
    rows = table[0][["other"]]
    with pytest.warns(UserWarning, match="absent"):
        found = model.predict_proba(rows)
    unknown = model.set_params(gaps="unknown").predict_proba(rows.assign(test=np.nan)[["test", "other"]])
    model.set_params(gaps="as-in-training")
    assert np.array_equal(found, unknown)


def test_a_gap_has_its_part_in_an_explanation(table, model):
    rows = table[0][table[0]["test"].isna()].iloc[:3]
    values = model.explain(rows)
    assert values.known[:, 0].all()
    assert (values.values[:, 0, 1] > 0).all()


def test_other_words_are_refused(table, model):
    with pytest.raises(ValueError, match="as-in-training"):
        model.set_params(gaps="never").predict(table[0])
    model.set_params(gaps="as-in-training")
    random_gaps = HingenetClassifier(fast=True).fit(table[0].fillna(0.0), table[1])
    assert random_gaps.telling_gaps_ == []
