"""Networks: graphs with strengths, files, pictures, sampling and likelihoods."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _engine
from ._docs import documented
from ._frames import frame_like, is_frame, new_frame
from ._input import seed_of, threads_of
from ._query import facts


@dataclass(frozen=True)
class Network:
    """A graph over the features and, in discrete networks, the class. Notebooks show it as a picture.

    Attributes
    ----------
    title : str
        What the network is.
    nodes : list of str
        Names of the nodes.
    edges : list of (str, str)
        Arcs from parent to child.
    strengths : ndarray of shape (n_edges,)
        Strength of each arc; 0 for the arcs of the class.
    strength_name : str or None
        What the strengths measure; None if all arcs are alike.
    class_node : str or None
        The node of the class, if it is one of the nodes.
    directed : bool
        Whether the edges have a direction; those of density models are pairs.
    """

    title: str
    nodes: list[str]
    edges: list[tuple[str, str]]
    strengths: np.ndarray
    strength_name: str | None
    class_node: str | None = None
    directed: bool = True
    _model: _engine.Model | None = field(default=None, repr=False, compare=False)

    @classmethod
    def _all(cls, model: _engine.Model) -> list[Network]:
        """The networks of a model: one, or one for each class of a Gaussian model."""
        return [cls._of(picture, model) for picture in json.loads(_engine.pictures(model))]

    @classmethod
    def _of(cls, picture: dict[str, Any], model: _engine.Model) -> Network:
        names = [node["name"] for node in picture["nodes"]]
        return cls(
            title=picture["title"],
            nodes=names,
            edges=[(names[arc["from"]], names[arc["to"]]) for arc in picture["arcs"]],
            strengths=np.array([arc["strength"] for arc in picture["arcs"]], dtype=np.float64),
            strength_name=picture["strength"],
            class_node=next((node["name"] for node in picture["nodes"] if node["is_class"]), None),
            directed=picture["is_directed"],
            _model=model,
        )

    def to_networkx(self) -> Any:
        """The graph as a ``networkx.DiGraph`` (``Graph`` for pairs) with the edge attribute ``strength``."""
        import networkx

        graph = (networkx.DiGraph if self.directed else networkx.Graph)(title=self.title)
        graph.add_nodes_from(self.nodes)
        for (parent, child), strength in zip(self.edges, self.strengths, strict=True):
            graph.add_edge(parent, child, strength=float(strength))
        return graph

    def to_bif(self, path: str | os.PathLike | None = None) -> str:
        """A discrete network in the Bayesian Interchange Format (other programs read it); also written to `path`."""
        return _written(_engine.bif(self._discrete()), path)

    def to_xmlbif(self, path: str | os.PathLike | None = None) -> str:
        """A discrete network in XMLBIF; also written to `path`."""
        return _written(_engine.xmlbif(self._discrete()), path)

    def to_svg(self, path: str | os.PathLike | None = None) -> str:
        """The network as an SVG picture; also written to `path`."""
        place = {name: k for k, name in enumerate(self.nodes)}
        arcs = [
            {"from": place[parent], "to": place[child], "strength": float(strength)}
            for (parent, child), strength in zip(self.edges, self.strengths, strict=True)
        ]
        nodes = [{"name": name, "is_class": name == self.class_node, "note": ""} for name in self.nodes]
        picture = {
            "title": self.title,
            "nodes": nodes,
            "arcs": arcs,
            "strength": self.strength_name,
            "is_directed": self.directed,
        }
        return _written(_engine.svg(json.dumps(picture)), path)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _discrete(self) -> _engine.Model:
        if self._model is None or self.class_node is None:
            raise ValueError("only discrete networks have probability tables to write")
        return self._model

    def plot(self, ax: Any = None) -> Any:
        """Draw the network with matplotlib (and networkx); returns the axes."""
        import matplotlib.pyplot as plt
        import networkx

        ax = plt.gca() if ax is None else ax
        graph = self.to_networkx()
        for layer, nodes in enumerate(networkx.topological_generations(_acyclic(graph))):
            for node in nodes:
                graph.nodes[node]["layer"] = -layer
        places = networkx.multipartite_layout(graph, subset_key="layer", align="horizontal")
        strengths = np.array([graph.edges[edge]["strength"] for edge in graph.edges])
        widest = np.abs(strengths).max(initial=0.0) or 1.0
        networkx.draw_networkx(
            graph,
            places,
            ax=ax,
            width=[0.5 + 2.5 * abs(s) / widest for s in strengths],
            node_color=["#cfe2f3" if node == self.class_node else "#eeeeee" for node in graph],
            edge_color=[
                "#999999" if parent == self.class_node else "#d55e00" if s < 0 else "#333333"
                for (parent, _), s in zip(graph.edges, strengths, strict=True)
            ],
            font_size=8,
        )
        ax.set_title(self.title)
        ax.set_axis_off()
        return ax


def _acyclic(graph: Any) -> Any:
    """The graph itself, or its edges in node order: pairs, and networks of several classes at once, have cycles."""
    import networkx

    if graph.is_directed() and networkx.is_directed_acyclic_graph(graph):
        return graph
    place = {node: k for k, node in enumerate(graph)}
    forward = networkx.DiGraph()
    forward.add_nodes_from(graph)
    forward.add_edges_from(sorted(edge, key=place.get) for edge in graph.edges)
    return forward


class NetworkMixin:
    """A classifier with a graph."""

    @property
    def network_(self) -> Network:
        """Network : the graph with its strengths, files and pictures; models that average several have none."""
        try:
            return Network._all(self._fitted())[0]
        except _engine.HingenetError as error:
            # so that hasattr says no
            raise AttributeError(str(error)) from error


@documented
class GenerativeMixin:
    """A classifier that is a model of the rows: it can be sampled and asked for likelihoods."""

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of the observed cells of each row, the class summed out.

        Discrete networks count a number by the interval it lies in; the others give densities.

        {rows}

        {log_likelihood}
        """
        return _engine.log_likelihood(self._fitted(), self._features(X), threads=threads_of(self.n_jobs))

    def log_likelihood(self, X: Any, y: ArrayLike) -> np.ndarray:
        """Log-likelihood of class and observed cells of each row.

        {rows}
        y : array-like of shape (n_samples,)
            Class labels, all of them seen in training.

        {log_likelihood}
        """
        model, features = self._fitted(), self._features(X)
        return _engine.log_likelihood(model, features, self._codes(X, y), threads=threads_of(self.n_jobs))

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: dict[str, Any] | None = None,
        exclude: dict[str, Any] | None = None,
        likelihood: dict[str, dict[Any, float]] | None = None,
        random_state: int | np.random.RandomState | None = None,
        backend: str | None = None,
    ) -> Any:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        given : dict, default=None
            Known cells by column name; the others are drawn given these.
        exclude, likelihood : dict, default=None
            Values that columns do not have, and unsure evidence, as in ``query``.
        random_state : int, RandomState instance or None, default=None
            Seed; None is 0.
        backend : str, default=None
            Kind of frame: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; None is the first that is installed.

        Returns
        -------
        rows : data frame
            The features and the class (last). Discrete networks know of a number the interval only: it is drawn uniformly from
            the part of it that training has seen.
        """
        known = facts(given, exclude, likelihood)
        drawn = _engine.sample(self._fitted(), n_samples, seed_of(random_state), known)
        return new_frame(_cells(drawn), backend)

    def impute(self, X: Any, *, return_spread: bool = False, backend: str | None = None) -> Any:
        """Complete missing cells by what the known ones of their row say, the class unknown.

        A number gets its mean, a category the most probable one. Discrete networks know of a number its interval only and take it as
        uniform inside; Gaussian networks complete numbers exactly.

        {rows}
        return_spread : bool, default=False
            Whether to return also how sure each completion is.
        backend : str, default=None
            Kind of frame: ``"pandas"``, ``"polars"`` or ``"pyarrow"``; None is that of `X`.

        Returns
        -------
        completed : data frame, or ndarray if `X` is none and all columns are numbers
            The features without missing cells.
        spread : the same
            Standard deviation of a number, probability of a category; NaN where a cell was known. Only with `return_spread`.
        """
        features = self._features(X)
        both = _engine.impute(self._fitted(), features, threads_of(self.n_jobs))
        if not is_frame(X) and all(states is None for _, _, states in both[0]):
            tables = [np.column_stack([values for _, values, _ in columns]) for columns in both]
        else:
            tables = [frame_like(X, _cells(columns), backend) for columns in both]
        return tuple(tables) if return_spread else tables[0]


def _cells(columns: list[tuple[str, np.ndarray, list[str] | None]]) -> dict[str, list[Any]]:
    """Numbers and names of categories, by column."""
    return {
        name: values.tolist() if states is None else [states[code] if code >= 0 else None for code in values]
        for name, values, states in columns
    }


def _written(text: str, path: str | os.PathLike | None) -> str:
    if path is not None:
        _engine.write_text(path, text)
    return text
