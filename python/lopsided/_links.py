"""Prediction of links."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._docs import documented
from ._graph import GraphEmbedding
from ._graphs import DirectedGraph, name_of
from ._inputs import Given

#: Components where none are asked for, as in `lopsided links`.
RANK = 64
#: Part of the links that the choice of a score holds out, as there.
INNER_SHARE = 0.1


@documented
class LinkPredictor(GraphEmbedding):
    """Scores of links that a directed graph may have, from the two features sets of its nodes.

    A link from s to t has the score U M V', of t as the end of links and of s as their beginning. With M = Sigma^power it is large
    where those who link to t are those whom s links to, which finds links within groups; with M = U' A V, A the links of the
    graph, where those near to s link to those near to t, which finds links between groups as well.

    Parameters
    ----------
    rank : int, default=None
        Number of components; 64, or fewer for fewer nodes.
    power : float or "links", default=None
        Power of the singular values, or M = U' A V; 1 or "links", by a tenth of the links that is held out, unless given.

    Attributes
    ----------
    power_ : float or "links"
        What the scores are made with.

    See Also
    --------
    GraphEmbedding : The features.
    hold_out_links : Links to test with.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import LinkPredictor, hold_out_links
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(120) % 3
    >>> ends = rng.integers(120, size=(4000, 2))
    >>> links = np.unique(ends[group[ends[:, 1]] == group[ends[:, 0]]], axis=0)  # within three groups
    >>> graph, pairs, is_link = hold_out_links(links, random_state=0)
    >>> LinkPredictor(3).fit(graph).score(pairs, is_link) > 0.8
    True
    """

    def __init__(
        self, rank=None, *, power=None, kernel="rbf", gamma=None, gamma_factor=None, degree=None, coef0=None, epsilon=None,
        kernel_params=None, links="in", self_loops=None, normalize=None, max_degree=None, walk=None, center=False, solver="auto",
        tol=None, sampler=None, rows_sample=None, cols_sample=None, single=False, random_state=None, verbose=0,
    ):
        self._take(locals())

    #: What an embedding has besides.
    scaling, graph, side, feature_weight = "none", None, "rows", None

    def _settings(self, graph: bool = False) -> dict[str, Any]:
        settings = super()._settings(graph)
        return settings if settings["rank"] is not None else settings | {"rank": min(RANK, len(self.nodes_))}

    def fit(self, X: Any, y: Any = None, *, nodes: Any = None, features: Any = None) -> LinkPredictor:
        """Find the features of the nodes, and which scores tell links best."""
        graph = DirectedGraph.of(X, nodes)
        super().fit(graph, features=features)
        ends = (graph.sources, graph.targets)
        rows, cols = ends if self.links == "out" else ends[::-1]
        self._between = self.row_vectors_[rows].T @ (graph.weights[:, None] * self.col_vectors_[cols])
        self.power_ = self.power if self.power is not None else self._chosen(graph)
        return self

    def _chosen(self, graph: DirectedGraph) -> Any:
        """The score that finds links best which are held out once more; 1 where there are too few of them."""
        try:
            kept, pairs, is_link = hold_out_links(graph, share=INNER_SHARE, random_state=self.random_state or 0)
        except ValueError:
            return 1.0
        inner = type(self)(**{**self.get_params(), "power": 1.0}).fit(kept)
        by_kernel = inner.score(pairs, is_link)
        inner.power_ = "links"
        return "links" if inner.score(pairs, is_link) > by_kernel else 1.0

    def decision_function(self, pairs: Any) -> np.ndarray:
        """Scores of links.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2)
            Source and target of each.

        Returns
        -------
        scores : ndarray of shape (n_pairs,)
            Larger for likelier links.
        """
        self._fitted()
        ends = np.asarray(pairs, dtype=object)
        if ends.ndim != 2 or ends.shape[1] != 2:
            raise ValueError(f"`pairs` is of shape {ends.shape} but must be (n_pairs, 2): source and target")
        sources, targets = (self._places([name_of(node) for node in ends[:, side].tolist()]) for side in (0, 1))
        rows, cols = (sources, targets) if self.links == "out" else (targets, sources)
        power = getattr(self, "power_", 1.0)  # a model from a file has lost its links
        scaled = self.row_vectors_ @ self._between if power == "links" else self.row_vectors_ * self.singular_values_**power
        return np.einsum("ij,ij->i", scaled[rows], self.col_vectors_[cols])

    def score(self, pairs: Any, y: Any) -> float:
        """Share of pairs of a link and one that is none which the scores put in the right order (AUROC).

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2)
            Source and target of each.
        y : array-like of bool
            Whether each is a link.
        """
        scores, truth = self.decision_function(pairs), np.asarray(y, dtype=bool)
        if truth.all() or not truth.any():
            raise ValueError("`y` must have links and others")
        values, ranks = np.unique(scores, return_inverse=True)
        below = np.cumsum(counts := np.bincount(ranks, minlength=len(values))) - counts
        mean_rank = (below + (counts + 1) / 2)[ranks]
        links = int(truth.sum())
        return float((mean_rank[truth].sum() - links * (links + 1) / 2) / (links * (len(truth) - links)))


def hold_out_links(graph: Any, *, share: float = 0.2, random_state: int = 0) -> tuple[DirectedGraph, np.ndarray, np.ndarray]:
    """Take links out of a graph, to see how well they are predicted: the split of `lopsided links`.

    Parameters
    ----------
    graph : graph
        As `DirectedGraph.of` takes it.
    share : float, default=0.2
        Part of the links that is taken out.
    random_state : int, default=0
        Seed.

    Returns
    -------
    graph : DirectedGraph
        What is left to learn from; no node is lost.
    pairs : ndarray of shape (n_pairs, 2)
        Links taken out, and as many pairs of nodes that are not linked.
    is_link : ndarray of bool
        Which are links.

    Examples
    --------
    >>> from lopsided import hold_out_links
    >>> graph, pairs, is_link = hold_out_links([(i, (i + 1) % 10) for i in range(10)])
    >>> len(graph.weights), len(pairs), int(is_link.sum())
    (8, 4, 2)
    """
    whole = DirectedGraph.of(graph)
    kept, links, absent = _core.held_out(Given(links=whole.core()), float(share), int(random_state))
    nodes = np.empty(len(whole.nodes), dtype=object)
    nodes[:] = whole.nodes
    pairs = np.concatenate([np.column_stack([nodes[ends] for ends in part]) for part in (links, absent)])
    return DirectedGraph(whole.nodes, *kept), pairs, np.arange(len(pairs)) < len(links[0])
