"""Clusters of the rows and the columns of a matrix."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import KERNEL, SOLVER, Estimator
from ._inputs import Given

CLUSTERS = ("row_clusters", "col_clusters", "unit_rows", "unit_features", "restarts", "col_features", "compat",
            "compat_width")


class KernelBiclustering(Estimator):
    """Clusters of the rows and of the columns of a matrix at once.

    The rows of X are compared with its columns, made comparable by a compatibility matrix; k-means clusters the left
    singular vectors of the kernel matrix into clusters of rows, the right ones into clusters of columns.

    Parameters
    ----------
    row_clusters : int, default=2
        Clusters of the rows.
    col_clusters : int, default=None
        Clusters of the columns; as many as of the rows.
    rank : int, default=None
        Features of each side; 20, more for more clusters, fewer for a smaller matrix.
    kernel : str, default="rbf"
        A name of `lopsided.kernels()`, or "precomputed" if X is G itself.
    gamma : float, {"scale", "median", "ksvd"}, default=None
        Coefficient of the distance; "median".
    gamma_factor : float, default=None
        Multiplies the bandwidth: gamma is divided by its square.
    degree, coef0, epsilon : float, default=None
        Degree and constant of the kernel "poly", what the kernel "kl" adds to every bin.
    compat : {"pinv", "pca", "random", "gram", "none"}, default=None
        How rows and columns become comparable; "pca".
    compat_width : int, default=None
        Number of coordinates that rows and columns share; chosen by size.
    center : bool, optional
        Centre both feature maps. Default: True, except for the kernel "precomputed".
    unit_rows : bool, default=True
        Scale the rows of X to unit length first.
    unit_features : bool, default=False
        Scale each sample's features to unit length before clustering.
    restarts : int, default=10
        Starts of k-means.
    col_features : {"auto", "same", "own"}, default="auto"
        By which features the columns are clustered: those of the rows' decomposition, those of one for columns of unit length with twice as
        many components times the roots of the singular values, or whichever of both gives clusters of higher coherence.
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
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of int
        Cluster of each row and of each column.
    rows_, columns_ : ndarray of bool
        Members of each bicluster: a cluster of rows with a cluster of columns.
    singular_values_ : ndarray of shape (rank,)
        Singular values of the kernel matrix, descending.
    n_features_in_ : int
        Number of columns.
    report_ : dict
        Kernel with its gamma, solver, residuals, warnings.

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
    _core_settings = (*KERNEL, *SOLVER, *CLUSTERS)

    def __init__(
        self, row_clusters=2, col_clusters=None, *, rank=None, kernel="rbf", gamma=None, gamma_factor=None, degree=None,
        coef0=None, epsilon=None, compat=None, compat_width=None, center=None, unit_rows=True, unit_features=False,
        restarts=10, col_features="auto", scaling="none", solver="auto", tol=None, sampler=None, rows_sample=None, cols_sample=None,
        random_state=None, verbose=0,
    ):
        self.row_clusters = row_clusters
        self.col_clusters = col_clusters
        self.rank = rank
        self.kernel = kernel
        self.gamma = gamma
        self.gamma_factor = gamma_factor
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.compat = compat
        self.compat_width = compat_width
        self.center = center
        self.unit_rows = unit_rows
        self.unit_features = unit_features
        self.restarts = restarts
        self.col_features = col_features
        self.scaling = scaling
        self.solver = solver
        self.tol = tol
        self.sampler = sampler
        self.rows_sample = rows_sample
        self.cols_sample = cols_sample
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> KernelBiclustering:
        """Cluster the rows and columns of a matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_columns)
            The matrix.
        y : None
            For the sake of scikit-learn's interface.

        Returns
        -------
        self : KernelBiclustering
        """
        parts, shape, dtype = self._check_samples(X, reset=True, least=2)
        if shape[1] < 2:
            raise ValueError(f"Found array with {shape[1]} feature(s) (shape={shape}) while a minimum of 2 is required.")
        self._fit_core(Given(single=dtype == np.float32, x=parts))
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
