"""The kernel SVD."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import KERNEL, SOLVER, Transformer
from ._docs import documented
from ._inputs import Given, cast, samples
from ._kernels import kernel_matrix
from ._matrix import KernelMatrix

SIDES = ("rows", "columns", "both")


class Embedding(Transformer):
    """Features of two sides."""

    _attributes: tuple[str, ...] = ("singular_values_", "row_vectors_", "col_vectors_", "n_features_in_", "report_")

    def _check_side(self) -> None:
        if self.side not in SIDES:
            raise ValueError(f"`side` is {self.side!r} but must be 'rows', 'columns' or 'both'")

    def _restore(self) -> None:
        self.singular_values_ = self._model.array("sigma")
        self.row_vectors_ = self._model.array("u")
        self.col_vectors_ = self._model.array("v")

    def _trained(self) -> np.ndarray:
        """Features of the training samples, of the sides that `transform` returns."""
        names = {"rows": ["rows"], "columns": ["cols"], "both": ["rows", "cols"]}[self.side]
        return np.hstack([self._model.array(name) for name in names])

    @property
    def _n_features_out(self) -> int:
        return len(self.singular_values_) * (2 if self.side == "both" else 1)


@documented
class KernelSVD(Embedding):
    """Two sets of nonlinear features, one for rows and one for columns, from an asymmetric kernel.

    With G[i, j] = k(x_i, z_j) it finds the leading triplets G V = U S, G' U = V S. New rows project as
    k(x, Z) V / S, new columns as k(X, z)' U / S, so that a training sample lands on its own row of U or V.

    Parameters
    ----------
    compat : {"none", "pinv", "pca", "random", "gram"}, default=None
        Compares the rows of X with its columns, made comparable that way ("none": as they are, for a square X).
        None compares the rows of X with those of Z, or with each other.

    See Also
    --------
    GraphEmbedding : The same for the nodes of a directed graph.
    KernelBiclustering : Clusters of rows and columns from these features.

    Notes
    -----
    A contiguous float64 or float32 array is used where it lies and is part of the model: changing it afterwards changes
    what `transform` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> rng = np.random.default_rng(0)
    >>> X, Z = rng.standard_normal((40, 3)), rng.standard_normal((30, 3))
    >>> svd = KernelSVD(rank=4, kernel="rbf").fit(X, Z=Z)
    >>> svd.transform(X).shape, svd.transform_columns(Z).shape
    ((40, 4), (30, 4))
    >>> bool(np.allclose(svd.transform(X), svd.row_vectors_))
    True
    """

    _paper = "KSVD"
    _core_name = "embed"
    _core_settings = (*KERNEL, *SOLVER, "compat", "compat_width")

    def __init__(
        self, rank=None, *, kernel="sne", gamma=None, gamma_factor=None, degree=None, coef0=None, epsilon=None,
        compat=None, compat_width=None, center=False, scaling="none", solver="auto", tol=None, sampler=None,
        rows_sample=None, cols_sample=None, side="rows", device=None, precision=None, random_state=None, verbose=0,
    ):
        self._take(locals())

    def fit(self, X: Any, y: Any = None, *, Z: Any = None) -> KernelSVD:
        """Find the singular triplets of the kernel matrix.

        Parameters
        ----------
        X
        y
        Z : {array-like, sparse matrix} of shape (n_columns, n_features), default=None
            Column samples; None takes those of X.
        """
        self._check_side()
        given_matrix = self._takes_values
        if self.compat is not None and (Z is not None or given_matrix):
            reason = "with Z" if Z is not None else "for a kernel that is given"
            raise ValueError(f"`compat` is {self.compat!r} but must be None {reason}")
        if isinstance(X, KernelMatrix):
            X.refuse_unless_precomputed(self._kernel_name)
            X = X.rows
        if Z is None:
            given = self._given(X)
        elif callable(self.kernel):
            rows, self._samples = self._objects(X, reset=True), self._objects(Z, reset=True)
            given = Given(x=kernel_matrix(self.kernel, rows, self._samples))
        else:
            rows, _, dtype = self._check_samples(X, reset=True)
            given = Given(single=dtype == np.float32, x=rows, z=cast(samples(Z, "Z")[0], dtype))
        self._rows = X if callable(self.kernel) else None
        self._fit_core(given)
        self._restore()
        return self

    def fit_transform(self, X: Any, y: Any = None, *, Z: Any = None) -> Any:
        """Find the triplets and return the features of X."""
        self.fit(X, Z=Z)
        return self._wrapped(self._trained(), X) if Z is None or self.side == "rows" else self.transform(X)

    def transform(self, X: Any) -> Any:
        """Features of samples as rows, as columns or both, as `side` says.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or `KernelMatrix`
            Samples; for a precomputed kernel rows of G, and for more than rows a `KernelMatrix`.
        """
        self._fitted()
        parts = []
        if self.side != "columns":
            parts.append(self._model.transform(self._on_device(self._new(X.rows if isinstance(X, KernelMatrix) else X))))
        if self.side != "rows":
            if self._takes_values and not callable(self.kernel) and not isinstance(X, KernelMatrix):
                raise ValueError(f"`side` is {self.side!r}, so X must be a KernelMatrix, which has the columns as well")
            parts.append(self.transform_columns(X.columns.T if isinstance(X, KernelMatrix) else X))
        return self._wrapped(np.hstack(parts), X)

    def transform_columns(self, Z: Any) -> np.ndarray:
        """Features of column samples.

        Parameters
        ----------
        Z : {array-like, sparse matrix} of shape (n_columns, n_features)
            New columns; for a precomputed kernel each is a column k(X, z) of G, with `compat` a raw column of the matrix.
        """
        model = self._fitted()
        if callable(self.kernel):
            parts = np.ascontiguousarray(kernel_matrix(self.kernel, self._rows, Z).T)
        else:
            parts = cast(samples(Z, "Z")[0], np.float32 if model.single else np.float64)
        return model.transform(self._on_device(Given(single=model.single, x=parts)), columns=True)
