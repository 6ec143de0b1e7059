"""Networks: graphs with strengths, files, pictures, sampling and likelihoods."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._base import EngineClassifier, seed_of, threads_of
from ._labels import texts_of


@dataclass(frozen=True)
class Network:
    """A directed graph over the class and the features. Notebooks show it as a picture.

    Attributes
    ----------
    title : str
        What the network is.
    nodes : list of str
        Names of the nodes; the class comes first.
    edges : list of (str, str)
        Arcs from parent to child.
    strengths : ndarray of shape (n_edges,)
        Strength of each arc; 0 for the arcs of the class.
    strength_name : str or None
        What the strengths measure; None if all arcs are alike.
    """

    title: str
    nodes: list[str]
    edges: list[tuple[str, str]]
    strengths: np.ndarray
    strength_name: str | None
    _model: _engine.Model = field(repr=False, compare=False)

    @classmethod
    def _of(cls, model: _engine.Model) -> Network:
        picture = json.loads(_engine.picture(model))
        names = [node["name"] for node in picture["nodes"]]
        return cls(
            title=picture["title"],
            nodes=names,
            edges=[(names[arc["from"]], names[arc["to"]]) for arc in picture["arcs"]],
            strengths=np.array([arc["strength"] for arc in picture["arcs"]]),
            strength_name=picture["strength"],
            _model=model,
        )

    def to_networkx(self) -> Any:
        """The graph as a ``networkx.DiGraph`` with the edge attribute ``strength``."""
        import networkx

        graph = networkx.DiGraph(title=self.title)
        graph.add_nodes_from(self.nodes)
        for (parent, child), strength in zip(self.edges, self.strengths, strict=True):
            graph.add_edge(parent, child, strength=float(strength))
        return graph

    def to_bif(self, path: str | os.PathLike | None = None) -> str:
        """The network in the Bayesian Interchange Format (other programs read it); also written to `path`."""
        return _written(_engine.bif(self._model), path)

    def to_xmlbif(self, path: str | os.PathLike | None = None) -> str:
        """The network in XMLBIF; also written to `path`."""
        return _written(_engine.xmlbif(self._model), path)

    def to_svg(self, path: str | os.PathLike | None = None) -> str:
        """The network as an SVG picture; also written to `path`."""
        return _written(_engine.svg(self._model), path)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def plot(self, ax: Any = None) -> Any:
        """Draw the network with matplotlib (and networkx); returns the axes."""
        import matplotlib.pyplot as plt
        import networkx

        ax = plt.gca() if ax is None else ax
        graph = self.to_networkx()
        for layer, nodes in enumerate(networkx.topological_generations(graph)):
            for node in nodes:
                graph.nodes[node]["layer"] = -layer
        places = networkx.multipartite_layout(graph, subset_key="layer", align="horizontal")
        widest = self.strengths.max(initial=0.0) or 1.0
        networkx.draw_networkx(
            graph,
            places,
            ax=ax,
            width=[0.5 + 2.5 * s / widest for s in self.strengths],
            node_color=["#cfe2f3" if node == self.nodes[0] else "#eeeeee" for node in graph],
            edge_color=["#999999" if parent == self.nodes[0] else "#333333" for parent, _ in graph.edges],
            font_size=8,
        )
        ax.set_title(self.title)
        ax.set_axis_off()
        return ax


class NetworkClassifier(EngineClassifier):
    """A classifier that is a Bayesian network: it can be drawn, sampled and asked for likelihoods."""

    @property
    def network_(self) -> Network:
        """Network : the graph with its strengths, files and pictures."""
        check_is_fitted(self)
        return Network._of(self._model)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of the observed cells of each row, the class summed out.

        Numbers count by the interval they lie in.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            Natural logarithms.
        """
        return _engine.log_likelihood(self._model_checked(), self._features(X), threads=threads_of(self.n_jobs))

    def log_likelihood(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Log-likelihood of class and observed cells of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows; missing cells are allowed.
        y : array-like of shape (n_samples,)
            Class labels, all of them seen in training.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            Natural logarithms.
        """
        model, features = self._model_checked(), self._features(X)
        position = {text: c for c, text in enumerate(model.classes)}
        labels, places = np.unique(np.asarray(y), return_inverse=True)
        unknown = [text for text in texts_of(labels.tolist()) if text not in position]
        if unknown:
            raise ValueError(f"y has classes that training has not seen: {', '.join(unknown)}")
        codes = np.array([position[text] for text in texts_of(labels.tolist())], dtype=np.int64)
        return _engine.log_likelihood(model, features, codes[places], threads=threads_of(self.n_jobs))

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        backend: str = "pandas",
    ) -> Any:
        """Draw rows from the network.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        given : dict, default=None
            Known cells by column name; the others are drawn given these.
        random_state : int, RandomState instance or None, default=None
            Seed; None is 0.
        backend : str, default="pandas"
            Kind of frame: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.

        Returns
        -------
        rows : data frame
            The features and the class (last), all as texts: of a number the network knows the interval.
        """
        evidence = [(column, str(value)) for column, value in (given or {}).items()]
        drawn = _engine.sample(self._model_checked(), n_samples, seed_of(random_state), evidence)
        columns = {
            name: values.tolist() if states is None else [states[code] for code in values]
            for name, values, states in drawn
        }
        return nw.from_dict(columns, backend=backend).to_native()

    def _model_checked(self) -> _engine.Model:
        check_is_fitted(self)
        return self._model


def _written(text: str, path: str | os.PathLike | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
