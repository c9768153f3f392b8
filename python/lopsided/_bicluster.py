"""Clusters of the rows and the columns of a matrix."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import KERNEL, SOLVER, Estimator
from ._docs import documented
from ._inputs import Given
from ._kernels import kernel_matrix, sequence

CLUSTERS = ("row_clusters", "col_clusters", "unit_rows", "unit_features", "restarts", "col_features", "compat",
            "compat_width")


@documented
class KernelBiclustering(Estimator):
    """Clusters of the rows and of the columns of a matrix at once.

    The rows of X are compared with its columns, made comparable by a compatibility matrix; k-means clusters the left
    singular vectors of the kernel matrix into clusters of rows, the right ones into clusters of columns.

    Parameters
    ----------
    center : bool, optional
        Centre both feature maps. Default: True, except for the kernel "precomputed".

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of each row and of each column.
    rows_, columns_ : ndarray of bool
        Members of each bicluster: a cluster of rows with a cluster of columns.

    See Also
    --------
    KernelSVD : The features that are clustered.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelBiclustering
    >>> X = np.kron(np.eye(2), np.ones((10, 6))) + 0.1 * np.random.default_rng(0).random((20, 12))
    >>> model = KernelBiclustering(row_clusters=2, rank=2, center=True).fit(X)
    >>> len(set(model.row_labels_[:10])), len(set(model.column_labels_[6:]))
    (1, 1)
    """

    _core_name = "bicluster"
    _attributes = ("singular_values_", "n_features_in_", "report_")
    _core_settings = (*KERNEL, *SOLVER, *CLUSTERS)

    def __init__(
        self, row_clusters=2, col_clusters=None, *, rank=None, kernel="rbf", gamma=None, gamma_factor=None, degree=None,
        coef0=None, epsilon=None, compat=None, compat_width=None, center=None, unit_rows=True, unit_features=False,
        restarts=10, col_features="auto", scaling="none", solver="auto", tol=None, sampler=None, rows_sample=None, cols_sample=None,
        random_state=None, verbose=0,
    ):
        self._take(locals())

    def fit(self, X: Any, y: Any = None) -> KernelBiclustering:
        """Cluster the rows and columns of a matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            The matrix.
        y
        """
        parts, shape, dtype = self._check_samples(X, reset=True, least=2)
        if shape[1] < 2:
            raise ValueError(f"Found array with {shape[1]} feature(s) (shape={shape}) while a minimum of 2 is required.")
        given = Given(single=dtype == np.float32, x=parts)
        if callable(self.kernel):
            rows = sequence(X)
            given = Given(x=kernel_matrix(self.kernel, rows, rows.T))
        self._fit_core(given)
        self._restore()
        return self

    def _restore(self) -> None:
        self.singular_values_ = self._model.array("sigma")
        self.row_labels_ = self._model.array("row_clusters").astype(np.int32)
        self.column_labels_ = self._model.array("col_clusters").astype(np.int32)
        pairs = [(r, c) for r in np.unique(self.row_labels_) for c in np.unique(self.column_labels_)]
        self.rows_ = np.array([self.row_labels_ == r for r, _ in pairs])
        self.columns_ = np.array([self.column_labels_ == c for _, c in pairs])

    @property
    def biclusters_(self) -> tuple[np.ndarray, np.ndarray]:
        """Members among rows and among columns, as scikit-learn has them."""
        return self.rows_, self.columns_

    def get_indices(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of a bicluster.

        Parameters
        ----------
        i : int
            Which.

        Returns
        -------
        rows, columns : ndarray of int
        """
        return np.nonzero(self.rows_[i])[0], np.nonzero(self.columns_[i])[0]
