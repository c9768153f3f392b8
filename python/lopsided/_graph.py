"""Embeddings of the nodes of directed graphs."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import GRAPH, KERNEL, SOLVER, Transformer
from ._graphs import DirectedGraph
from ._inputs import Given


class GraphEmbedding(Transformer):
    """Two features sets for the nodes of a directed graph: one by the links that arrive, one by those that leave.

    The kernel SVD of the rows and the columns of the graph's matrix. Row i holds the links that arrive at node i, divided
    by their sum; with `links="out"` those that leave it.

    Parameters
    ----------
    rank : int, default=None
        Number of components; 16, or fewer for fewer nodes.
    kernel : str, default="rbf"
        A name of `lopsided.kernels()`.
    gamma : float, {"scale", "median", "ksvd"}, default=None
        Coefficient of the distance; "scale".
    gamma_factor : float, default=None
        Multiplies the bandwidth: gamma is divided by its square; 3 unless a gamma is given.
    degree, coef0, epsilon : float, default=None
        Degree and constant of the kernel "poly", what the kernel "kl" adds to every bin.
    kernel_params : dict, default=None
        Parameters of the kernels of nodes: "beta" of "katz", "alpha" of "ppr", "decay" of "shortest-path".
    links : {"in", "out"}, default="in"
        Links that make up a node's row.
    self_loops : bool, default=None
        Link every node to itself; yes, except for the kernel "katz".
    normalize : {"row", "unit", "none"}, default=None
        Divide each row by its sum, and with "unit" bring rows and columns to unit length; "unit" for kernels of distances, "row"
        for the others, "none" for the kernel "katz".
    max_degree : int, default=None
        Keep at most so many links in and out of any node.
    center : bool, default=False
        Centre both feature maps.
    scaling : {"none", "sqrt", "full"}, default="none"
        Power of the singular values that scales the features.
    solver : str, default="auto"
        A name of `lopsided.solvers()`.
    tol : float, default=None
        Largest residual of a triplet, relative to its own singular value, that counts as converged; 1e-6.
    sampler : str, default=None
        How a Nyström solver chooses landmarks, a name of `lopsided.samplers()`.
    rows_sample, cols_sample : int, default=None
        Landmarks of a Nyström solver among rows and columns; they grow until the tolerance is reached.
    single : bool, default=False
        Compute in single precision.
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    nodes_ : list
        Nodes, in the order of all results.
    singular_values_ : ndarray of shape (rank,)
        Singular values of the kernel matrix, descending.
    row_vectors_, col_vectors_ : ndarray of shape (n_nodes, rank)
        Singular vectors of both sides.
    n_features_in_ : int
        Number of nodes.
    report_ : dict
        Kernel with its gamma, solver, residuals, warnings.

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
    _core_settings = (*KERNEL, *SOLVER, *GRAPH)

    def __init__(
        self, rank=None, *, kernel="rbf", gamma=None, gamma_factor=None, degree=None, coef0=None, epsilon=None,
        kernel_params=None, links="in", self_loops=None, normalize=None, max_degree=None, center=False,
        scaling="none", solver="auto", tol=None, sampler=None, rows_sample=None, cols_sample=None, single=False,
        random_state=None, verbose=0,
    ):
        self.rank = rank
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_factor = gamma_factor
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.kernel_params = kernel_params
        self.links = links
        self.self_loops = self_loops
        self.normalize = normalize
        self.max_degree = max_degree
        self.center = center
        self.scaling = scaling
        self.solver = solver
        self.tol = tol
        self.sampler = sampler
        self.rows_sample = rows_sample
        self.cols_sample = cols_sample
        self.single = single
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, nodes: Any = None) -> GraphEmbedding:
        """Embed the nodes of a graph.

        Parameters
        ----------
        X : graph
            Of networkx or igraph, a square adjacency matrix, or links as `DirectedGraph.of` takes them.
        y : None
            For the sake of scikit-learn's interface.
        nodes : iterable, default=None
            Nodes that a list of links shall have even without links.

        Returns
        -------
        self : GraphEmbedding
        """
        graph = DirectedGraph.of(X, nodes)
        self.nodes_ = graph.nodes
        self._fit_core(Given(single=bool(self.single), links=graph.core()))
        self._restore()
        return self

    def _restore(self) -> None:
        if not hasattr(self, "nodes_"):
            self.nodes_ = self._model.nodes() or []
        self.n_features_in_ = len(self.nodes_)
        self.singular_values_ = self._model.array("sigma")
        self.row_vectors_ = self._model.array("u")
        self.col_vectors_ = self._model.array("v")

    def fit_transform(self, X: Any, y: Any = None, *, nodes: Any = None) -> Any:
        """Embed the nodes of a graph and return the features of the row side.

        Parameters
        ----------
        X, y, nodes
            See `fit`.

        Returns
        -------
        features : ndarray of shape (n_nodes, rank)
        """
        return self._wrapped(self.fit(X, nodes=nodes)._model.array("rows"), None)

    def transform(self, X: Any) -> Any:
        """Features of the row side of the nodes of a graph, placed by their links with nodes that the model knows.

        Parameters
        ----------
        X : graph
            As for `fit`; links with other nodes are left out.

        Returns
        -------
        features : ndarray of shape (n_nodes, rank)
            In the order of the nodes of X, `DirectedGraph.of(X).nodes`.
        """
        return self._wrapped(self._placed(X, columns=False), None)

    def transform_columns(self, Z: Any) -> np.ndarray:
        """Features of the column side of the nodes of a graph.

        Parameters
        ----------
        Z : graph
            See `transform`.

        Returns
        -------
        features : ndarray of shape (n_nodes, rank)
        """
        return self._placed(Z, columns=True)

    def _placed(self, graph: Any, *, columns: bool) -> np.ndarray:
        model = self._fitted()
        links = DirectedGraph.of(graph).core()
        return model.transform(Given(single=model.single, links=links, row_ids=links[0]), columns=columns)

    @property
    def _n_features_out(self) -> int:
        return len(self.singular_values_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
