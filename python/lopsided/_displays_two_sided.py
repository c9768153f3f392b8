"""Pictures of rows and columns."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._displays import COLORS, MARKERS, attribute, axes, pyplot
from ._docs import documented
from ._inputs import is_sparse


@documented
class EmbeddingDisplay:
    """The two embeddings of rows and columns, or of nodes as sources and as targets, side by side.

    Parameters
    ----------
    rows, cols : ndarray of shape (n, n_components)
        The embeddings.
    titles : tuple of str, default=("rows", "columns")
        Titles of the panels.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes of shape (2,)
        The panels.
    figure_

    Examples
    --------
    >>> from lopsided import GraphEmbedding
    >>> from lopsided.plotting import EmbeddingDisplay
    >>> links = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("d", "b")]
    >>> display = EmbeddingDisplay.from_estimator(GraphEmbedding(rank=2).fit(links))
    """

    def __init__(self, rows: Any, cols: Any, *, titles: tuple[str, str] = ("rows", "columns")) -> None:
        self.rows, self.cols = np.asarray(rows), np.asarray(cols)
        self.titles = titles

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, components: tuple[int, int] = (0, 1), labels: Any = None, ax: Any = None, **kwargs: Any
    ) -> EmbeddingDisplay:
        """Draw the embeddings of a `KernelSVD` or a `GraphEmbedding`.

        Parameters
        ----------
        estimator : estimator
            One with `row_vectors_` and `col_vectors_`.
        components, labels, ax, **kwargs
            See `plot`.
        """
        rows = attribute(estimator, "row_vectors_", "an embedding of rows and columns")
        titles = ("rows", "columns")
        if hasattr(estimator, "nodes_"):  # a row holds the links that arrive at a node, unless asked otherwise
            titles = ("nodes as targets", "nodes as sources")
            titles = titles[::-1] if estimator.links == "out" else titles
        return cls(rows, estimator.col_vectors_, titles=titles).plot(ax, components=components, labels=labels, **kwargs)

    def plot(
        self, ax: Any = None, *, components: tuple[int, int] = (0, 1), labels: Any = None, **kwargs: Any
    ) -> EmbeddingDisplay:
        """Draw the two panels.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, default=None
            Where to draw; new axes.
        components : tuple of int, default=(0, 1)
            Components on the two axes, counted from 0.
        labels : array-like or pair of array-likes, default=None
            Classes that are told apart by colour and marker: of rows and columns alike, or of each.
        **kwargs
        """
        width = self.rows.shape[1]
        if not all(0 <= c < width for c in components):
            raise ValueError(f"`components` is {components} but must be two numbers from 0 to {width - 1}")
        both = labels if isinstance(labels, tuple) else (labels, labels)
        classes = np.unique(np.concatenate([np.asarray(part) for part in both])) if labels is not None else None
        self.ax_ = np.asarray(ax) if ax is not None else _panels()
        self.figure_ = self.ax_[0].figure
        for panel, points, part, title in zip(self.ax_, (self.rows, self.cols), both, self.titles):
            _scatter(panel, points[:, components], part, classes, kwargs)
            panel.set(title=title, xlabel=f"component {components[0]}", ylabel=f"component {components[1]}")
        if classes is not None:
            self.ax_[1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
        return self


@documented
class BiclusterDisplay:
    """A matrix with its rows and columns in the order of their clusters.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        The matrix as it was.
    row_labels, column_labels : ndarray of int
        Clusters of its rows and columns.

    Attributes
    ----------
    ax_
    figure_
    image_ : matplotlib AxesImage
        The matrix in the new order.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelBiclustering
    >>> from lopsided.plotting import BiclusterDisplay
    >>> X = np.kron(np.eye(2), np.ones((10, 6)))
    >>> display = BiclusterDisplay.from_estimator(KernelBiclustering(2, rank=4).fit(X), X)
    """

    def __init__(self, matrix: Any, row_labels: Any, column_labels: Any) -> None:
        self.matrix = np.asarray(matrix.todense() if is_sparse(matrix) else matrix)
        self.row_labels, self.column_labels = np.asarray(row_labels), np.asarray(column_labels)
        if self.matrix.shape != (len(self.row_labels), len(self.column_labels)):
            clusters = (len(self.row_labels), len(self.column_labels))
            raise ValueError(f"the matrix is of shape {self.matrix.shape} but the clusters are of shape {clusters}")

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, ax: Any = None, **kwargs: Any) -> BiclusterDisplay:
        """Draw the clusters of a `KernelBiclustering`.

        Parameters
        ----------
        estimator : estimator
            One with `row_labels_` and `column_labels_`.
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            The matrix it was fitted to.
        ax
        **kwargs
        """
        labels = attribute(estimator, "row_labels_", "clusters of rows and columns")
        return cls(X, labels, estimator.column_labels_).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> BiclusterDisplay:
        """Draw the matrix, with lines between clusters."""
        self.ax_, self.figure_ = axes(ax)
        rows, cols = (np.argsort(labels, kind="stable") for labels in (self.row_labels, self.column_labels))
        ordered = self.matrix[np.ix_(rows, cols)]
        self.image_ = self.ax_.imshow(ordered, **{**_shades(ordered), **kwargs})
        for labels, draw in ((self.row_labels, self.ax_.axhline), (self.column_labels, self.ax_.axvline)):
            for border in np.cumsum(np.unique(labels, return_counts=True)[1])[:-1]:
                draw(border - 0.5, color="white", linewidth=2)
                draw(border - 0.5, color="black", linewidth=0.8)
        self.figure_.colorbar(self.image_, ax=self.ax_, label="entry")
        self.ax_.set(xlabel="columns, by cluster", ylabel="rows, by cluster", xticks=[], yticks=[])
        return self


def _panels() -> np.ndarray:
    return pyplot().subplots(1, 2, figsize=(9, 4), layout="constrained")[1]


def _scatter(panel: Any, points: np.ndarray, labels: Any, classes: Any, style: dict[str, Any]) -> None:
    style = {"s": 14, **style}
    if classes is None:
        panel.scatter(*points.T, **{"color": COLORS[0], **style})
        return
    for i, name in enumerate(classes):
        some = points[np.asarray(labels) == name]
        kind = {"color": COLORS[i % len(COLORS)], "marker": MARKERS[i % len(MARKERS)], "label": str(name)}
        panel.scatter(*some.T, **{**kind, **style})


def _shades(matrix: np.ndarray) -> dict[str, Any]:
    """Colours around zero where entries have both signs."""
    style = {"aspect": "auto", "interpolation": "nearest"}
    if matrix.min() < 0 < matrix.max():
        most = np.abs(matrix).max()
        return {**style, "cmap": "PuOr", "vmin": -most, "vmax": most}
    return {**style, "cmap": "cividis"}
