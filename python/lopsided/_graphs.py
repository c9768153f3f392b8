"""Directed graphs: links between named nodes, from networkx, igraph, adjacency matrices, frames, arrays and lists of links."""
from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._inputs import cast, is_sparse, samples
from ._kernels import takes_values


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
        graph : networkx graph, igraph graph, frame, sparse matrix, square array, list or array of links
            A link is (source, target) or (source, target, weight); in a matrix A it is A[source, target] != 0. A frame of
            pandas, polars or pyarrow has a link in each row, in columns called source and target (or from and to, and so on) and
            perhaps weight, or in its two or three columns; a frame whose index and columns are the same nodes is a
            matrix. An array of two or three columns is a list of links. Links of an undirected graph count in both
            directions.
        nodes : iterable, default=None
            Nodes that the graph has even without links; of a matrix the names of its rows.

        Returns
        -------
        graph : DirectedGraph
        """
        extra = None if nodes is None else list(nodes)
        if isinstance(graph, DirectedGraph):
            return graph
        if _is_library_graph(graph):
            names, links, directed = _of_networkx(graph) if hasattr(graph, "nodes") else _of_igraph(graph)
            links = links if directed else links + [(t, s, w) for s, t, w in links if s != t]
            return _named([*names, *(node for node in extra or [] if node not in set(names))], links)
        if is_adjacency(graph):
            return _of_matrix(np.asarray(graph.to_numpy()), list(graph.index))
        if is_frame(graph):
            return _of_links(_links_of_frame(graph), extra)
        if is_sparse(graph) or (isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] not in (2, 3)):
            return _of_matrix(graph, extra)
        return _of_links(graph, extra)

    def __deepcopy__(self, memo: Any) -> DirectedGraph:
        return self  # nothing in it changes, and clones of an estimator may share it

    def core(self) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """What `_core` takes."""
        return [name_of(node) for node in self.nodes], self.sources, self.targets, self.weights


#: Names of columns with the ends of links, as the readers of files have them.
LINK_NAMES = [
    ("source", "target"), ("source", "destination"), ("src", "dst"), ("src", "dest"), ("from", "to"), ("from_node", "to_node"),
    ("fromnodeid", "tonodeid"), ("u", "v"), ("i", "j"), ("citing", "cited"), ("tail", "head"), ("start", "end"),
    ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"), ("id_1", "id_2"), ("numeric_id_1", "numeric_id_2"),
    ("source_id", "target_id"),
]


def is_graph(X: Any, kernel: Any = None) -> bool:
    """Whether X is a graph and cannot be samples: of ours, of networkx, of igraph, a frame of links, an adjacency frame or a
    list of links between names. A square frame is a matrix of kernel values for the kernel "precomputed"."""
    if isinstance(X, DirectedGraph) or _is_library_graph(X):
        return True
    if is_frame(X):
        names = [str(name).lower() for name in _names(X)]
        links = len(names) in (2, 3) and tuple(names[:2]) in LINK_NAMES and names[2:] in ([], ["weight"])
        return links or (is_adjacency(X) and not takes_values(kernel))
    if not isinstance(X, (list, tuple)) or callable(kernel) or not X:
        return False
    return all(isinstance(link, tuple) and len(link) in (2, 3) and isinstance(link[0], str) and isinstance(link[1], str) for link in X)


def _is_library_graph(X: Any) -> bool:
    return hasattr(X, "is_directed") and (hasattr(X, "adj") or hasattr(X, "get_edgelist"))


def is_frame(X: Any) -> bool:
    """Whether X is a table of pandas, polars or pyarrow."""
    return hasattr(X, "columns") and not callable(X.columns) and hasattr(X, "shape") and len(X.shape) == 2


def is_adjacency(X: Any) -> bool:
    """Whether X is a square frame whose index and columns are the same nodes."""
    square = is_frame(X) and hasattr(X, "index") and X.shape[0] == X.shape[1] > 0
    return square and list(X.index) == list(X.columns)


def _names(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", frame.columns))  # pyarrow has both


def _column(frame: Any, name: Any) -> list[Any]:
    values = frame[name]
    return values.to_pylist() if hasattr(values, "to_pylist") else list(values)


def _ends(frame: Any) -> tuple[Any, Any] | None:
    """The two columns of a frame that are called like the ends of links."""
    by_name = {str(name).lower(): name for name in _names(frame)}
    return next(((by_name[s], by_name[t]) for s, t in LINK_NAMES if s in by_name and t in by_name), None)


def _links_of_frame(frame: Any) -> list[tuple[Any, ...]]:
    names = _names(frame)
    ends = _ends(frame)
    if ends is None and len(names) not in (2, 3):
        raise ValueError(
            f"a frame of links has columns source and target, or two or three columns, but there are {len(names)}: "
            f"{', '.join(map(str, names[:5]))}; a frame of an adjacency matrix has the same nodes as index and as columns"
        )
    rest = names[2:] if ends is None else [name for name in names if str(name).lower() == "weight"]
    columns = [_column(frame, name) for name in (ends or names[:2])] + [_column(frame, name) for name in rest[:1]]
    return list(zip(*columns))


def is_unknown(value: Any) -> bool:
    """None, NaN, and the NA of pandas: what is not known."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def targets_by_node(y: Any) -> dict[Any, Any] | None:
    """Targets that come with the names of their nodes: a dict, or a series with an index of its own."""
    if isinstance(y, dict):
        return y
    index = getattr(y, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return dict(zip(index, y))


def node_features(features: Any, nodes: list[Any], single: bool = False) -> tuple[list[str], Any] | None:
    """Features of nodes as the core takes them: names, rows.

    A frame with an index of its own and a dict name their nodes; the rows of everything else are in the order of `nodes`.
    """
    if features is None:
        return None
    names: list[Any] = nodes
    if isinstance(features, dict):
        names, features = list(features), np.array(list(features.values()))
    elif hasattr(features, "index") and not callable(features.index) and type(features.index).__name__ != "RangeIndex":
        names = list(features.index)
    parts, (count, _), _ = samples(features, "features")
    if count != len(names):
        raise ValueError(f"features has {count} rows for {len(names)} nodes")
    return [name_of(name) for name in names], cast(parts, np.float32 if single else np.float64)


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


def _of_matrix(matrix: Any, names: list[Any] | None) -> DirectedGraph:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the adjacency matrix is {matrix.shape[0]} x {matrix.shape[1]} but must be square")
    if is_sparse(matrix):
        entries = matrix.tocoo()
        sources, targets, weights = entries.row, entries.col, entries.data
    else:
        sources, targets = np.nonzero(matrix)
        weights = np.asarray(matrix)[sources, targets]
    parts = sources.astype(np.uint32), targets.astype(np.uint32), np.ascontiguousarray(weights, dtype=np.float64)
    if names is not None and len(names) != matrix.shape[0]:
        raise ValueError(f"`nodes` has {len(names)} names for the {matrix.shape[0]} rows of the adjacency matrix")
    return DirectedGraph(names or list(range(matrix.shape[0])), *parts)


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
    missing = [at for at, node in enumerate(ends.ravel().tolist()) if is_unknown(node)]
    if missing:
        raise ValueError(f"link {missing[0] // 2} has no {'target' if missing[0] % 2 else 'source'}")
    nodes, places = _places(ends, list(extra or []))
    sources, targets = (np.ascontiguousarray(places[:, side], dtype=np.uint32) for side in (0, 1))
    return DirectedGraph(nodes, sources, targets, np.ascontiguousarray(weights, dtype=np.float64))


def _places(ends: np.ndarray, extra: list[Any]) -> tuple[list[Any], np.ndarray]:
    """Whole numbers in their order, other names as they first appear; only nodes that occur exist."""
    flat = [*ends.ravel().tolist(), *extra]
    if all(_is_whole(node) for node in flat):
        numbers, places = np.unique(np.asarray(flat, dtype=np.int64), return_inverse=True)
        if numbers[0] < 0:
            raise ValueError(f"node id {numbers[0]} is negative; whole-number ids start at 0")
        return numbers.tolist(), places.ravel()[: ends.size].reshape(ends.shape)
    order: dict[Any, int] = {}
    places = np.array([order.setdefault(node, len(order)) for node in flat])
    return list(order), places[: ends.size].reshape(ends.shape)


def _is_whole(node: Any) -> bool:
    if isinstance(node, (float, np.floating)):
        return float(node).is_integer()
    return isinstance(node, (int, np.integer)) and not isinstance(node, bool)
