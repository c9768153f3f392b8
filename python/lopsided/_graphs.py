"""Directed graphs: links between named nodes, from networkx, igraph, adjacency matrices and arrays of links."""
from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._inputs import is_sparse


@dataclass(frozen=True)
class DirectedGraph:
    """Links between nodes, as graph estimators take them.

    Parameters
    ----------
    nodes : list
        Names of the nodes, in the order of all results.
    sources, targets : ndarray of int
        Positions in `nodes` where each link begins and ends.
    weights : ndarray of float
        Weight of each link.

    Examples
    --------
    >>> from lopsided import DirectedGraph
    >>> graph = DirectedGraph.of([("home", "news"), ("news", "shop"), ("home", "shop")])
    >>> graph.nodes
    ['home', 'news', 'shop']
    """

    nodes: list[Any]
    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray

    @staticmethod
    def of(graph: Any, nodes: Iterable[Hashable] | None = None) -> DirectedGraph:
        """The links of a graph.

        Parameters
        ----------
        graph : networkx graph, igraph graph, sparse matrix, square array, list or array of links
            A link is (source, target) or (source, target, weight); in a matrix A it is A[source, target] != 0. An array
            of two or three columns is a list of links. Links of an undirected graph count in both directions.
        nodes : iterable, default=None
            Nodes that the graph has even without links.

        Returns
        -------
        graph : DirectedGraph
        """
        if isinstance(graph, DirectedGraph):
            return graph
        if is_graph(graph):
            names, links, directed = _of_networkx(graph) if hasattr(graph, "nodes") else _of_igraph(graph)
            links = links if directed else links + [(t, s, w) for s, t, w in links if s != t]
            return _named(names, links)
        if is_sparse(graph) or (isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] not in (2, 3)):
            return _of_matrix(graph)
        return _of_links(graph, nodes)

    def __deepcopy__(self, memo: Any) -> DirectedGraph:
        return self  # nothing in it changes, and clones of an estimator may share it

    def core(self) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """What `_core` takes."""
        return [str(node) for node in self.nodes], self.sources, self.targets, self.weights


def is_graph(X: Any) -> bool:
    """Whether X is a graph of ours, of networkx or of igraph."""
    if isinstance(X, DirectedGraph):
        return True
    return hasattr(X, "is_directed") and (hasattr(X, "adj") or hasattr(X, "get_edgelist"))


def nodes_of(X: Any) -> list[str]:
    """Names of nodes: a list, an array, a series, or a frame or array of one column."""
    names = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=object)
    if names.ndim > 1 and names.shape[1] != 1:
        raise ValueError(f"X has shape {names.shape} but must be nodes, one in each row")
    return [name_of(node) for node in names.ravel().tolist()]


def name_of(label: Any) -> str:
    """A label or node as the core writes it: 3.0 is 3."""
    return str(int(label)) if isinstance(label, (float, np.floating)) and float(label).is_integer() else str(label)


def _of_networkx(graph: Any) -> tuple[list[Any], list[tuple[Any, Any, float]], bool]:
    links = [(s, t, float(w)) for s, t, w in graph.edges(data="weight", default=1.0)]
    return list(graph.nodes), links, graph.is_directed()


def _of_igraph(graph: Any) -> tuple[list[Any], list[tuple[Any, Any, float]], bool]:
    names = graph.vs["name"] if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    weights = graph.es["weight"] if "weight" in graph.es.attributes() else [1.0] * graph.ecount()
    links = [(names[s], names[t], float(w)) for (s, t), w in zip(graph.get_edgelist(), weights)]
    return list(names), links, graph.is_directed()


def _named(names: list[Any], links: list[tuple[Any, Any, float]]) -> DirectedGraph:
    place = {name: i for i, name in enumerate(names)}
    sources = np.fromiter((place[s] for s, _, _ in links), dtype=np.uint32, count=len(links))
    targets = np.fromiter((place[t] for _, t, _ in links), dtype=np.uint32, count=len(links))
    weights = np.fromiter((w for _, _, w in links), dtype=np.float64, count=len(links))
    return DirectedGraph(names, sources, targets, weights)


def _of_matrix(matrix: Any) -> DirectedGraph:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the adjacency matrix is {matrix.shape[0]} x {matrix.shape[1]} but must be square")
    if is_sparse(matrix):
        entries = matrix.tocoo()
        sources, targets, weights = entries.row, entries.col, entries.data
    else:
        sources, targets = np.nonzero(matrix)
        weights = np.asarray(matrix)[sources, targets]
    parts = sources.astype(np.uint32), targets.astype(np.uint32), np.ascontiguousarray(weights, dtype=np.float64)
    return DirectedGraph(list(range(matrix.shape[0])), *parts)


def _of_links(links: Any, extra: Iterable[Hashable] | None) -> DirectedGraph:
    array = links if isinstance(links, np.ndarray) else None
    if array is None:
        links = [tuple(link) for link in links]
        if any(len(link) not in (2, 3) for link in links):
            raise ValueError("a link is (source, target) or (source, target, weight)")
    count = len(links)
    if count == 0:
        raise ValueError("the graph has no links")
    if array is not None:
        ends = array[:, :2]
        weights = array[:, 2] if array.shape[1] == 3 else np.ones(count)
    else:
        ends = np.empty((count, 2), dtype=object)
        ends[:] = [link[:2] for link in links]
        weights = np.array([link[2] if len(link) == 3 else 1.0 for link in links])
    nodes, places = _places(ends, list(extra or []))
    sources, targets = (np.ascontiguousarray(places[:, side], dtype=np.uint32) for side in (0, 1))
    return DirectedGraph(nodes, sources, targets, np.ascontiguousarray(weights, dtype=np.float64))


def _places(ends: np.ndarray, extra: list[Any]) -> tuple[list[Any], np.ndarray]:
    """Whole numbers in their order, gaps filled unless most would be gaps; other names as they first appear."""
    flat = [*ends.ravel().tolist(), *extra]
    if all(isinstance(node, int) or (isinstance(node, float) and node.is_integer()) for node in flat):
        numbers, places = np.unique(np.asarray(flat, dtype=np.int64), return_inverse=True)
        if numbers[0] < 0:
            raise ValueError(f"node id {numbers[0]} is negative; whole-number ids start at 0")
        span = int(numbers[-1] - numbers[0]) + 1
        if span <= 2 * len(numbers):
            places = numbers[places] - numbers[0]
            numbers = np.arange(numbers[0], numbers[-1] + 1)
        return numbers.tolist(), places[: ends.size].reshape(ends.shape)
    order: dict[Any, int] = {}
    places = np.array([order.setdefault(node, len(order)) for node in flat])
    return list(order), places[: ends.size].reshape(ends.shape)
