"""Embeddings of the nodes of directed graphs."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import GRAPH, KERNEL, SOLVER
from ._docs import documented
from ._graphs import DirectedGraph, nodes_of
from ._inputs import Given
from ._kernel_svd import Embedding


@documented
class GraphEmbedding(Embedding):
    """Two features sets for the nodes of a directed graph: one by the links that arrive, one by those that leave.

    The kernel SVD of the rows and the columns of the graph's matrix. Row i holds the links that arrive at node i, divided
    by their sum; with `links="out"` those that leave it.

    Parameters
    ----------
    rank : int, default=None
        Number of components; 16, or fewer for fewer nodes.
    gamma_factor : float, default=None
        Multiplies the bandwidth: gamma is divided by its square; 3 unless a gamma is given.

    See Also
    --------
    KernelSVD : The same for samples.
    AsKLSClassifier : Classes of nodes.

    Examples
    --------
    >>> from lopsided import GraphEmbedding
    >>> links = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("d", "b")]
    >>> model = GraphEmbedding(rank=2).fit(links)
    >>> model.nodes_, model.transform(links).shape, model.transform_columns(links).shape
    (['a', 'b', 'c', 'd'], (4, 2), (4, 2))
    """

    _core_name = "embed"
    _attributes = ("nodes_", *Embedding._attributes)
    _core_settings = (*KERNEL, *SOLVER, *GRAPH)

    def __init__(
        self, rank=None, *, kernel="rbf", gamma=None, gamma_factor=None, degree=None, coef0=None, epsilon=None,
        kernel_params=None, links="in", self_loops=None, normalize=None, max_degree=None, center=False,
        scaling="none", solver="auto", tol=None, sampler=None, rows_sample=None, cols_sample=None, graph=None,
        side="rows", single=False, random_state=None, verbose=0,
    ):
        self._take(locals())

    def fit(self, X: Any, y: Any = None, *, nodes: Any = None) -> GraphEmbedding:
        """Embed the nodes of a graph.

        Parameters
        ----------
        X : graph or list of nodes
            Of networkx or igraph, a square adjacency matrix, or links as `DirectedGraph.of` takes them; with the parameter
            `graph` some of its nodes.
        y
        nodes : iterable, default=None
            Nodes that a list of links shall have even without links.
        """
        self._check_side()
        graph = DirectedGraph.of(X if self.graph is None else self.graph, nodes)
        self.nodes_ = graph.nodes
        self._fit_core(Given(single=bool(self.single), links=graph.core()))
        self._restore()
        return self

    def _restore(self) -> None:
        if not hasattr(self, "nodes_"):
            self.nodes_ = self._model.nodes() or []
        self.n_features_in_ = len(self.nodes_)
        super()._restore()

    def fit_transform(self, X: Any, y: Any = None, *, nodes: Any = None) -> Any:
        """Embed the nodes of a graph and return their features."""
        self.fit(X, nodes=nodes)
        return self._wrapped(self._trained(), None) if self.graph is None else self.transform(X)

    def transform(self, X: Any) -> Any:
        """Features of the nodes of a graph, placed by their links with nodes that the model knows.

        Parameters
        ----------
        X : graph or list of nodes
            As for `fit`; links with other nodes are left out.

        Returns
        -------
        features : ndarray of shape (n_nodes, n_features_out)
            In the order of the nodes of X, `DirectedGraph.of(X).nodes`.
        """
        self._fitted()
        if self.graph is not None:
            return self._wrapped(self._trained()[self._places(nodes_of(X))], None)
        sides = {"rows": [False], "columns": [True], "both": [False, True]}[self.side]
        return self._wrapped(np.hstack([self._placed(X, columns=columns) for columns in sides]), None)

    def transform_columns(self, Z: Any) -> np.ndarray:
        """Features of the column side of the nodes of a graph.

        Returns
        -------
        features : ndarray of shape (n_nodes, rank)
        """
        return self._placed(Z, columns=True)

    def _places(self, nodes: list[str]) -> list[int]:
        """Where the model has these nodes."""
        places = {str(node): place for place, node in enumerate(self.nodes_)}
        unknown = [node for node in nodes if node not in places]
        if unknown:
            raise ValueError(f"X has {unknown[0]!r}, which is no node of the graph")
        return [places[node] for node in nodes]

    def _placed(self, graph: Any, *, columns: bool) -> np.ndarray:
        model = self._fitted()
        links = DirectedGraph.of(graph).core()
        return model.transform(Given(single=model.single, links=links, row_ids=links[0]), columns=columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
