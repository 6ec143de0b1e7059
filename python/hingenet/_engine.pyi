"""The compiled engine; private, the estimators are its public face."""

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.float64] | Sequence[NDArray[np.float64] | tuple[NDArray[np.int64], list[str]]]
Progress = Callable[[str, int, int], None]

Fitted = TypeVar("Fitted", covariant=True)

__version__: str

class HingenetError(ValueError): ...

class Model:
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def load(path: str) -> Model: ...
    def save(self, path: str) -> None: ...
    @property
    def spec(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def features(self) -> list[tuple[str, list[str] | None]]: ...
    def facts(self) -> str: ...
    def proba(
        self, features: Features, log: bool = True, threads: int = 1
    ) -> tuple[NDArray[np.float64], list[tuple[str, int, str]]]: ...
    def sets(
        self, features: Features, coverage: float, threads: int = 1
    ) -> tuple[NDArray[np.bool_], list[tuple[str, int, str]]]: ...
    def terms(self, features: Features, threads: int = 1) -> dict[str, Any]: ...
    def shapley(
        self, features: Features, evaluations: int, seed: int = 0, threads: int = 1
    ) -> dict[str, NDArray[Any]]: ...

class Fit(Protocol[Fitted]):
    def __call__(
        self,
        spec: str,
        features: Features,
        names: list[str],
        y: NDArray[np.int64],
        classes: list[str],
        target: str,
        weights: NDArray[np.float64] | None = None,
        seed: int = 0,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> Fitted: ...

def fit(
    spec: str,
    features: Features,
    names: list[str],
    y: NDArray[np.int64],
    classes: list[str],
    target: str,
    weights: NDArray[np.float64] | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
    max_time: float | None = None,
    calibrate_sets: float | None = None,
    max_memory: float | None = None,
) -> Model: ...

def doubts(
    features: Features,
    names: list[str],
    y: NDArray[np.int64],
    classes: list[str],
    target: str,
    weights: NDArray[np.float64] | None = None,
) -> list[str]: ...
def models() -> str: ...
def run_program(words: Sequence[str]) -> int: ...
def read_header(path: str) -> str: ...
def mdl_cuts(
    x: NDArray[np.float64], y: NDArray[np.int64], n_classes: int, weights: NDArray[np.float64] | None = None
) -> list[list[float]]: ...
def distinct_rows(words: NDArray[np.uint32]) -> tuple[list[int], NDArray[np.int64]]: ...
def write_text(path: str | os.PathLike, text: str) -> None: ...
def bif(model: Model) -> str: ...
def xmlbif(model: Model) -> str: ...
def pictures(model: Model) -> str: ...
def svg(picture: str) -> str: ...
Fact = tuple[str, str, list[tuple[str, float]]]

def sample(
    model: Model, n: int, seed: int, facts: list[Fact]
) -> list[tuple[str, NDArray[Any], list[str] | None]]: ...
def impute(
    model: Model, features: Features, threads: int
) -> tuple[
    list[tuple[str, NDArray[Any], list[str] | None]], list[tuple[str, NDArray[Any], list[str] | None]]
]: ...
def query(
    model: Model,
    facts: list[Fact],
    targets: list[str],
    about: str | None,
    costs: list[tuple[str, float]],
) -> str: ...
class ExplorerPage:
    def __init__(
        self,
        model: Model,
        features: Features | None = None,
        y: NDArray[np.int64] | None = None,
        coordinates: Sequence[tuple[float, float, float | None]] = (),
        shuffles: int = 0,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None: ...
    def text(self) -> str | None: ...
    def serve(self, threads: int = 1) -> PageServer: ...

class PageServer:
    @property
    def url(self) -> str: ...
    def close(self) -> None: ...

def log_likelihood(
    model: Model, features: Features, y: NDArray[np.int64] | None = None, threads: int = 1
) -> NDArray[np.float64]: ...
def curves(model: Model) -> list[tuple[int, NDArray[np.float64], NDArray[np.float64]]]: ...
def fisher_vectors(model: Model, features: Features, threads: int = 1) -> NDArray[np.float64]: ...
def fisher_names(model: Model) -> list[tuple[int, str]]: ...

class LogDensities:
    fit: ClassVar[Fit[LogDensities]]
    @property
    def model(self) -> Model: ...
    def columns(self) -> list[tuple[int, int, int | None]]: ...
    def transform(self, features: Features, threads: int = 1) -> NDArray[np.float64]: ...

class GaussianNetwork:
    def __init__(
        self, weights: NDArray[np.float64], intercept: NDArray[np.float64], variance: NDArray[np.float64]
    ) -> None: ...
    @property
    def weights(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> NDArray[np.float64]: ...
    @property
    def variance(self) -> NDArray[np.float64]: ...
    def joint(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def precision(self) -> NDArray[np.float64]: ...
    def log_densities(self, x: NDArray[np.float64], threads: int = 1) -> NDArray[np.float64]: ...
    def completed(self, x: NDArray[np.float64], threads: int = 1) -> NDArray[np.float64]: ...
    def sample(self, n: int, seed: int) -> NDArray[np.float64]: ...

def fit_network(
    x: NDArray[np.float64],
    names: list[str],
    method: str,
    weights: NDArray[np.float64] | None = None,
    lambda1: float | None = None,
    penalty: float | None = None,
    rounds: int | None = None,
    seed: int = 0,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[GaussianNetwork, dict[str, Any]]: ...
