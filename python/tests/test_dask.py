"""Tables spread over many machines: the same models as in memory, whatever happens to machines and partitions."""

import os
import pickle
import signal
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone

import hingenet

pytest.importorskip("dask.dataframe", reason="dask is not installed")
import dask
import dask.array as da
import dask.dataframe as dd
from dask.distributed import Client, LocalCluster

import hingenet.dask
from hingenet.pieces import PieceFit, merge
from pages import ROOT, blocks

N = 256
# What must have the bytes of a fit in memory.
EXACT = {
    "nb": ("BayesNetClassifier", {"structure": "nb", "learning": "ml"}),
    "tan": ("BayesNetClassifier", {"structure": "tan", "learning": "ml"}),
    "kdb2": ("BayesNetClassifier", {"structure": "kdb2", "learning": "ml"}),
    "aode": ("BayesNetClassifier", {"structure": "aode", "learning": "ml"}),
    "sgbn:or": ("GaussianNetworkClassifier", {"learning": "or", "lambda1": 20.0}),
    "sgbn:search": ("GaussianNetworkClassifier", {"learning": "search", "rounds": 3}),
}
TAN = EXACT["tan"][1]


@pytest.fixture(scope="module")
def cluster():
    """Two processes."""
    with LocalCluster(n_workers=2, processes=True, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(autouse=True)
def one_thread():
    """Where no client is given, tasks run here one after the other."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    kind = rng.integers(3, size=N)
    width = rng.normal(kind).round(2)
    width[::9] = np.nan
    return pd.DataFrame(
        {
            "width": width,
            "height": rng.normal(kind - width, 2.0).round(1),
            "colour": [None if m % 7 == 0 else ["red", "green", "blue"][k] for m, k in enumerate(rng.permutation(kind))],
            "size": pd.Categorical(np.where(kind == 1, "large", "small"), ["small", "large"], ordered=True),
            "age": pd.array([None if m % 11 == 0 else int(k) for m, k in enumerate(rng.integers(9, size=N))], dtype="Int64"),
            "kind": np.array(["cat", "dog", "fish"])[kind],
        }
    )


def features(table):
    return table.drop(columns="kind")


def in_memory(name, params, table, **weights):
    return getattr(hingenet, name)(**params).fit(features(table), table["kind"], **weights)


def file_of(model):
    """The bytes of the model file."""
    return model._model.to_bytes()


def partitions(frames):
    """A table with these partitions."""
    return dd.from_map(_itself, frames, meta=frames[0].iloc[:0], enforce_metadata=False)


def _itself(frame):
    return frame


def tan(table, y="kind", **rest):
    return hingenet.dask.BayesNetClassifier(**TAN).fit(table, y, **rest)


@pytest.mark.parametrize("model", EXACT)
def test_the_model_file_does_not_depend_on_the_partitions(model, table, client):
    name, params = EXACT[model]
    complete = table.fillna({"width": 0.0, "colour": "none", "age": 4})
    for rows, numbers in ((complete, (1, 2, 7, 32)), (table, (7,))):
        wanted = in_memory(name, params, rows)
        shuffled = rows.sample(frac=1, random_state=5)
        for n in numbers:
            spread = dd.from_pandas(shuffled, npartitions=n, sort=False)
            fitted = getattr(hingenet.dask, name)(**params, client=client).fit(spread, "kind")
            assert spread.npartitions == n and file_of(fitted) == file_of(wanted), n
            assert fitted.classes_.tolist() == ["cat", "dog", "fish"]
            assert fitted.classes_.dtype == wanted.classes_.dtype


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("HingenetClassifier", {"fast": True}),
        ("LogDensityClassifier", {"variant": "kde-nb"}),
        ("LogDensityClassifier", {"variant": "kde-nb", "class_weight": "balanced"}),
        ("LogDensityClassifier", {"variant": "kde-nb", "class_weight": {"cat": 1.5, "dog": 2.0, "fish": 1.0}}),
        ("BayesNetClassifier", {**TAN, "class_weight": {"dog": 3}}),
    ],
)
def test_every_classifier_fits_and_predicts(name, params, table):
    table = table.iloc[::2]
    spread = dd.from_pandas(table, npartitions=5, sort=False)
    wanted = in_memory(name, params, table)
    fitted = getattr(hingenet.dask, name)(**params).fit(spread.drop(columns="kind"), spread["kind"])
    assert file_of(fitted) == file_of(wanted)
    answers = fitted.predict(spread.drop(columns="kind"))
    assert isinstance(answers, dd.Series) and answers.name == "kind"
    assert answers.compute().tolist() == wanted.predict(features(table)).tolist()


class Deadly:
    """A partition that kills the process that reads it, the second time it is read."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, frame):
        for time in range(100):
            try:
                os.close(os.open(self.folder / f"read-{time}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            if time == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return frame


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
@pytest.mark.parametrize("model", EXACT)
def test_a_worker_that_is_killed_while_it_works_is_only_work_done_again(model, table, client, tmp_path):
    name, params = EXACT[model]
    pieces = [dask.delayed(table.iloc[i::7]) for i in range(7)]
    pieces[3] = dask.delayed(Deadly(tmp_path))(pieces[3])
    spread = dd.from_delayed(pieces, meta=table.iloc[:0], verify_meta=False)
    fitted = getattr(hingenet.dask, name)(**params, client=client).fit(spread, "kind")
    assert file_of(fitted) == file_of(in_memory(name, params, table))
    assert len(list(tmp_path.iterdir())) > 2, "nobody was killed"


@pytest.mark.parametrize(
    ("structure", "learning", "options"),
    [
        ("nb", "ml-bn-svm", {"lambda_": 1.0, "gamma": 1.0}),
        ("tan", "ml-bn-svm", {"lambda_": 16.0, "gamma": 5.0}),
        ("tan", "mcl", {}),
        ("nb", "bn-svm", {"lambda_": 0.1}),
    ],
)
def test_margins_do_not_depend_on_the_partitions(structure, learning, options, table):
    """All distinct rows are kept: the program is the same, and so are the bits; in memory its optimum is the same."""
    params = {"structure": structure, "learning": learning, **options}
    complete = table.fillna({"width": 0.0, "colour": "none", "age": 4})
    shuffled = complete.sample(frac=1, random_state=5)
    fitted = []
    for n in (1, 2, 7, 32):
        spread = dd.from_pandas(shuffled, npartitions=n, sort=False)
        fitted.append(hingenet.dask.BayesNetClassifier(**params).fit(spread, "kind"))
    assert len({file_of(model) for model in fitted}) == 1
    solver = fitted[0].fit_report_["solver"]
    wanted = in_memory("BayesNetClassifier", params, complete).fit_report_["solver"]
    assert solver["converged"] and solver["objective"] == pytest.approx(wanted["objective"], rel=2e-6)


def test_arrays_in_any_blocks(cancer):
    X, y = cancer
    wanted = hingenet.BayesNetClassifier(**TAN).fit(X, y)
    blocks, labels = da.from_array(X, chunks=(100, 7)), da.from_array(y, chunks=100)
    fitted = hingenet.dask.BayesNetClassifier(**TAN).fit(blocks, labels)
    assert file_of(fitted) == file_of(wanted)
    assert (fitted.classes_ == wanted.classes_).all() and fitted.classes_.dtype == wanted.classes_.dtype
    assert not hasattr(fitted, "feature_names_in_") and fitted.n_features_in_ == X.shape[1]
    for method in ("predict", "predict_proba", "predict_log_proba"):
        answers = getattr(fitted, method)(blocks)
        assert isinstance(answers, da.Array) and answers.chunks[0] == blocks.chunks[0]
        wanted_answers = getattr(wanted, method)(X)
        assert answers.shape == wanted_answers.shape and answers.dtype == wanted_answers.dtype
        assert np.array_equal(answers.compute(), wanted_answers)
    few = blocks[blocks[:, 0] > 15]  # nobody knows how many rows
    assert len(fitted.predict(few).compute()) == (X[:, 0] > 15).sum()


def test_predictions_are_lazy_and_keep_the_index(table):
    fitted = tan(dd.from_pandas(table, npartitions=3))
    local = fitted.to_local()
    assert type(local) is hingenet.BayesNetClassifier
    frames = [features(table).iloc[:50], features(table).iloc[:0], features(table).iloc[50:]]
    read = []

    def reading(frame):
        read.append(len(frame))
        return frame

    spread = partitions(frames).map_partitions(reading, meta=frames[0].iloc[:0])
    classes, proba = fitted.predict(spread), fitted.predict_proba(spread)
    assert not read
    pd.testing.assert_series_equal(
        classes.compute(), pd.Series(local.predict(features(table)), name="kind"), check_dtype=False
    )
    proba = proba.compute()
    assert proba.columns.tolist() == ["cat", "dog", "fish"] and read
    assert np.array_equal(proba.to_numpy(), local.predict_proba(features(table)))
    assert classes.dtype == classes.compute().dtype
    # rows in memory are answered at once
    assert fitted.predict(features(table)).tolist() == local.predict(features(table)).tolist()


def test_the_model_is_sent_once(table):
    fitted = tan(dd.from_pandas(table, npartitions=3))
    answers = fitted.predict_proba(dd.from_pandas(features(table), npartitions=32))
    tasks = dict(answers.__dask_graph__()).values()
    assert len(tasks) > 32 and sum(file_of(fitted) in pickle.dumps(task) for task in tasks) == 1


@pytest.mark.parametrize("kind", ["int", "float", "bool", "text", "category", "object"])
def test_labels_are_those_of_a_fit_in_memory(kind, table):
    X, codes = features(table), np.arange(N) % 2 + (0 if kind == "bool" else 9)
    y = {
        "int": pd.Series(codes, dtype="int8"),
        "float": pd.Series(codes / 1.0),
        "bool": pd.Series(codes > 0),
        "text": pd.Series(codes.astype(str)),
        "category": pd.Series(pd.Categorical(codes, [10, 9, 8, 1, 0])),
        "object": pd.Series(codes.astype(str), dtype=object),
    }[kind].rename("no class" if kind == "int" else "width" if kind == "float" else None)
    wanted = hingenet.BayesNetClassifier("nb", "ml").fit(X, y)
    with dask.config.set({"dataframe.convert-string": False}):
        spread, labels = (dd.from_pandas(part, npartitions=3) for part in (X, y))
    fitted = hingenet.dask.BayesNetClassifier("nb", "ml").fit(spread, labels)
    assert file_of(fitted) == file_of(wanted)
    assert fitted.classes_.dtype == wanted.classes_.dtype and (fitted.classes_ == wanted.classes_).all()
    assert np.array_equal(fitted.predict(spread).compute().to_numpy(), wanted.predict(X))


def test_what_only_one_partition_has(table):
    """A category, a class, no row at all, a column without any cell."""
    rows = table.assign(colour=table["colour"].astype(object))
    rows.loc[0, "colour"] = "violet"
    rows = rows.sort_values("kind", ignore_index=True)
    frames = [rows.iloc[:90], rows.iloc[:0], rows.iloc[90:160].assign(width=None, colour=None), rows.iloc[160:]]
    whole = pd.concat([frames[0], frames[2], frames[3]]).astype({"width": float})
    wanted = in_memory("BayesNetClassifier", TAN, whole)
    for order in (frames, frames[::-1], [frames[2], frames[0], frames[1], frames[3]]):
        assert file_of(tan(partitions(order))) == file_of(wanted)
    assert "violet" in dict(wanted._model.features)["colour"]


def test_whole_weights(table):
    times = pd.Series(np.arange(N) % 3, name="times")
    weighed = table.assign(times=times)
    weighed.loc[3, ["colour", "times"]] = ["black", 0]  # a category of a row that does not count
    wanted = in_memory("BayesNetClassifier", TAN, weighed.drop(columns="times"), sample_weight=weighed["times"])
    spread = dd.from_pandas(weighed, npartitions=4)
    assert file_of(tan(spread, sample_weight="times")) == file_of(wanted)
    apart = tan(spread.drop(columns="times"), sample_weight=spread["times"])
    assert file_of(apart) == file_of(wanted)
    with pytest.raises(hingenet.HingenetError, match=r"partition \d: .*not a whole number"):
        tan(spread.assign(times=spread["times"] + 0.5), sample_weight="times")


def test_partitions_that_do_not_fit_together_say_which_column(table):
    first, second = table.iloc[:120], table.iloc[120:]
    texts = second.assign(width="wide")
    for frames in ([first, texts], [texts, first]):
        with pytest.raises(hingenet.HingenetError, match="`width` holds numbers in one piece .* texts in another") as caught:
            tan(partitions(frames))
        assert "--" not in str(caught.value)
    with pytest.raises(ValueError, match=r"partition 1: [^$]*age"):
        tan(partitions([first, second.drop(columns="age")]))
    with pytest.raises(ValueError, match=r"partition 1: [^$]*more"):
        tan(partitions([first, second.assign(more=1)]))
    with pytest.raises(hingenet.HingenetError, match="partition 1: .*`height`.*infinity"):
        tan(partitions([first, second.assign(height=np.inf)]))
    with pytest.raises(hingenet.HingenetError, match="partition 1: column 'age' has the type"):
        tan(partitions([first, second.assign(age=pd.Timestamp(0))]))
    with pytest.raises(hingenet.HingenetError, match="partition 1: Input y contains None"):
        tan(partitions([first, second.assign(kind=None)]))
    with pytest.raises(hingenet.HingenetError, match="labels of some partitions are numbers"):
        tan(partitions([first, second.assign(kind=1)]))
    with pytest.raises(hingenet.HingenetError, match="one class only"):
        tan(partitions([first.assign(kind="cat"), second.assign(kind="cat")]))
    with pytest.raises(ValueError, match="(?i)no rows|0 sample"):
        tan(partitions([first.iloc[:0], second.iloc[:0]]))


def test_a_damaged_file_is_an_error_that_names_the_partition(table, client, tmp_path):
    dd.from_pandas(table, npartitions=3).to_parquet(tmp_path)
    spread = dd.read_parquet(tmp_path)
    damaged = sorted(tmp_path.glob("*.parquet"))[1]
    content = bytearray(damaged.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    damaged.write_bytes(content)
    with pytest.raises(hingenet.HingenetError, match="partition 1 cannot be computed: "):
        hingenet.dask.BayesNetClassifier(**TAN, client=client).fit(spread, "kind")


def test_what_cannot_be_done_in_pieces_is_refused(table):
    spread = dd.from_pandas(table, npartitions=2)

    def refused(**params):
        return hingenet.dask.BayesNetClassifier(**TAN, **params).fit(spread, "kind")

    for params in ({"calibrate_sets": 0.2}, {"max_time": 5}, {"max_memory": 1e9}):
        with pytest.raises(ValueError, match=next(iter(params))):
            refused(**params)
    with pytest.raises(ValueError, match="balanced"):
        refused(class_weight="balanced")
    with pytest.raises(ValueError, match="at least|minimum"):
        hingenet.dask.GaussianNetworkClassifier("or").fit(spread[["width", "kind"]], "kind")
    with pytest.raises(TypeError, match="not DataFrame; hingenet has"):
        tan(table)
    with pytest.raises(TypeError, match="y is a dask collection"):
        tan(spread, table["kind"])
    with pytest.raises(ValueError, match="no column 'species'"):
        tan(spread, "species")
    with pytest.raises(ValueError, match="2 partitions and y has 5"):
        tan(spread.drop(columns="kind"), dd.from_pandas(table["kind"], npartitions=5))
    fitted = tan(spread)
    first = hingenet.dask.BayesNetClassifier(**TAN)
    for ask in (fitted.explain, lambda X: fitted.score(X, spread["kind"]), lambda X: first.partial_fit(X, spread["kind"])):
        with pytest.raises(TypeError, match="rows in memory"):
            ask(spread.drop(columns="kind"))
    assert fitted.score(features(table), table["kind"]) == fitted.to_local().score(features(table), table["kind"])


@pytest.mark.parametrize("name", hingenet.dask.__all__)
def test_parameters_are_those_of_the_local_classifier_and_the_client(name, client):
    spread, local = getattr(hingenet.dask, name), getattr(hingenet, name)
    assert spread().get_params() == {**local().get_params(), "client": None}
    assert "client : distributed.Client" in spread.__doc__ and "{" not in spread.__doc__.split("Parameters")[0]
    given = spread(random_state=3, client=client)
    assert pickle.loads(pickle.dumps(given)).get_params() == {**given.get_params(), "client": None}


def test_a_worker_that_dies_for_good_leaves_the_others_to_it(table, cluster, client):
    nanny = next(iter(cluster.workers.values()))
    nanny.auto_restart = False
    os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    spread = dd.from_pandas(table, npartitions=7)
    fitted = hingenet.dask.BayesNetClassifier(**TAN, client=client).fit(spread, "kind")
    assert file_of(fitted) == file_of(in_memory("BayesNetClassifier", TAN, table))


def test_pieces_of_arrow_as_other_schedulers_have_them(table):
    model = hingenet.BayesNetClassifier(**TAN)
    names = [name for name in table.columns if name != "kind"]
    fit = PieceFit(model, names, ["fish", "cat", "dog", "cat"], target="kind")
    arrow = pa.Table.from_pandas(table)
    while task := fit.task():
        task = pickle.loads(pickle.dumps(task))
        pieces = [task(arrow.slice(start, 100), "kind") for start in (100, 0, 200, N)]
        fit.advance(merge([merge(pieces[2:]), *pieces[:2]]))
    assert file_of(model) == file_of(in_memory("BayesNetClassifier", TAN, table))
    assert fit.task() is None and model.feature_names_in_.tolist() == names


def test_statistics_that_do_not_belong_together_are_refused(table):
    fit = PieceFit(hingenet.BayesNetClassifier(**TAN), list(features(table)), ["cat", "dog", "fish"])
    task = fit.task()
    first = task(table, "kind")
    with pytest.raises(ValueError, match="label 'bird', which is not among the classes"):
        task(table.assign(kind="bird"), "kind")
    with pytest.raises(ValueError, match="no column 'species'"):
        task(table, "species")
    with pytest.raises(ValueError, match="weighted"):
        task(table, "kind", np.ones(N))
    with pytest.raises(hingenet.HingenetError, match="no rows"):
        fit.advance(merge([]))
    with pytest.raises(hingenet.HingenetError):
        merge([first, first[:-9]])
    fit.advance(first)
    with pytest.raises(hingenet.HingenetError):
        merge([first, fit.task()(table, "kind")])
    with pytest.raises(hingenet.HingenetError, match="another round"):
        fit.advance(first)
    assert clone(hingenet.dask.BayesNetClassifier(**TAN)).client is None


def spark_rows(rows, folder):
    from pyspark.sql import SparkSession

    rows.to_parquet(folder / "rows.parquet", index=False)
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers take any python3 of the path else
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    return session.read.parquet(str(folder / "rows.parquet")).repartition(3)


def ray_rows(rows, folder):
    import ray

    ray.init(num_cpus=2, include_dashboard=False)
    return ray.data.from_arrow([pa.Table.from_pandas(rows.iloc[i::3], preserve_index=False) for i in range(3)])


@pytest.mark.parametrize(("package", "scheduler", "made"), [("pyspark", "Spark", spark_rows), ("ray", "Ray", ray_rows)])
def test_the_recipes_for_other_schedulers(package, scheduler, made, table, tmp_path):
    pytest.importorskip(package, reason=f"{package} is not installed, so its recipe is not run")
    rows = table[["width", "height", "colour", "kind"]].rename(columns={"kind": "class"})
    page = [block for block in blocks(ROOT / "docs/scale.md") if block.language == "python"]
    recipe = [b.code for b in page if "def statistics" in b.code or b.reason == f"needs {scheduler}"]
    variables = {"BayesNetClassifier": hingenet.BayesNetClassifier, "rows": made(rows, tmp_path)}
    exec("\n".join(recipe), variables)
    wanted = hingenet.BayesNetClassifier("tan", "ml").fit(rows.drop(columns="class"), rows["class"])
    assert len(recipe) == 2 and file_of(variables["model"]) == file_of(wanted)
