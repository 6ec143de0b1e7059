"""The page of a model: in a notebook, as a file, and served to this machine."""

import html
import json
import re
import urllib.error
import urllib.request

import numpy as np
import pandas as pd
import pytest

import hingenet
from hingenet import BayesNetClassifier, GaussianNetworkClassifier, HingenetClassifier, HingenetError

HOSTILE = '"><script>alert(1)</script>'


def given(page):
    """What the explorer of a page is given."""
    return json.loads(re.search(r'id="explorer-given">(.*?)</script>', page, re.DOTALL)[1])


def fetch(url, question=None):
    """The page, or the answer to a question."""
    address, token = url.split("/?token=")
    if question is None:
        return urllib.request.urlopen(url, timeout=60).read().decode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/ask", json.dumps(question).encode(), headers)
    return json.loads(urllib.request.urlopen(request, timeout=60).read())


@pytest.fixture
def hostile():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({HOSTILE: rng.choice(["a", "b"], 200), "x": rng.normal(size=200)})
    return X, pd.Series(np.where(X[HOSTILE] == "a", HOSTILE, "no"), name="class")


def test_a_network_asks_itself_in_a_frame_without_an_origin(hostile):
    X, y = hostile
    page = BayesNetClassifier("tan", "ml").fit(X, y).explore(X, y, height=321)
    frame = page._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in frame and 'height="321"' in frame
    assert frame.count("<") == 2, "names of the data stay inside the attribute"
    text = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
    assert text.index('<base href="about:srcdoc">') < text.index("Content-Security-Policy")
    facts = given(text)
    assert facts["program"] is not None and facts["server"] is None
    assert [column["name"] for column in facts["facts"]["columns"]] == ["class", HOSTILE, "x"]
    assert "<script>alert" not in text and page._server is None


def test_rows_come_with_their_classes(pets, tmp_path):
    X, y = pets
    model = BayesNetClassifier("nb", "ml").fit(X, y)
    model.explore(X, y).save(tmp_path / "page.html")
    facts = given((tmp_path / "page.html").read_text())
    classes = facts["facts"]["columns"][0]["states"]
    assert [classes[code] for code in facts["rows"]["columns"][0]] == [str(label) for label in y]
    assert facts["rows"]["total"] == len(y)
    with pytest.raises(ValueError, match="give X too"):
        model.explore(y=y)
    with pytest.raises(ValueError, match="not seen: dragon"):
        model.explore(X, ["dragon"] * len(y))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.explore(X, y[:-1])


def test_a_pool_is_served_until_it_is_closed(cancer, tmp_path):
    X, y = cancer
    model = HingenetClassifier(fast=True).fit(X[:200], y[:200])
    with model.explore(X[:5]) as page:
        with pytest.raises(HingenetError, match="without Python"):
            page.save(tmp_path / "page.html")
        frame = page._repr_html_()
        assert f'src="{html.escape(page.url)}"' in frame
        assert 'sandbox="allow-scripts allow-downloads allow-same-origin"' in frame
        url = page.url
        assert given(fetch(url))["server"]["token"] == url.split("token=")[1]
        answer = fetch(url, {"beliefs": {"known": [], "about": 0}})
        unknown = model.predict_proba(np.full((1, X.shape[1]), np.nan))[0]
        np.testing.assert_allclose(answer["classes"], unknown, rtol=1e-12)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetch(url[:-1] + ("0" if url[-1] != "0" else "1"))
    with pytest.raises(urllib.error.URLError, match="refused"):
        fetch(url)
    page.close()
    assert page.url != url, "a page that was closed can be opened again"
    page.close()


def test_a_model_that_was_read_can_be_explored(pets, tmp_path):
    X, y = pets
    BayesNetClassifier("tan", "ml").fit(X, y).save(tmp_path / "model.hgn")
    with hingenet.load(tmp_path / "model.hgn").explore(X) as page:
        answer = fetch(page.url, {"classes": {"sets": [[]]}})
        assert sum(answer[0]["classes"]) == pytest.approx(1.0)
        assert fetch(page.url, {"beliefs": {"known": [{"column": 99}], "about": 0}})["error"]


def test_class_networks_come_with_their_differences_and_places(tmp_path):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 60)
    x = rng.normal(size=120)
    X = pd.DataFrame({"a": x, "b": np.where(y, -x, x) + 0.3 * rng.normal(size=120), "c": rng.normal(size=120)})
    model = GaussianNetworkClassifier("search").fit(X, y)
    places = {"b": (0, 1, 2), "a": (3, 4, 5), "c": (6, 7, 8)}
    model.explore(X, y, coordinates=places, shuffles=20).save(tmp_path / "page.html")
    facts = given((tmp_path / "page.html").read_text())
    (found,) = facts["differences"]["found"]
    assert {found["from"], found["to"]} == {"a", "b"} and found["support"] > 0.9
    assert facts["coordinates"] == [[3, 4, 5], [0, 1, 2], [6, 7, 8]]
    model.explore(X, y, shuffles=0).save(tmp_path / "page.html")
    assert given((tmp_path / "page.html").read_text())["differences"] is None
    with pytest.raises(ValueError, match="lack the columns b, c"):
        model.explore(coordinates={"a": (0, 0)})
    with pytest.raises(ValueError, match="two or three finite numbers"):
        model.explore(coordinates={name: (0, np.nan) for name in "abc"})
