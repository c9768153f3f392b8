"""The kernel SVD."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import KERNEL, SOLVER, Transformer
from ._inputs import Given, cast, samples
from ._kernels import kernel_matrix


class KernelSVD(Transformer):
    """Two sets of nonlinear features, one for rows and one for columns, from an asymmetric kernel.

    With G[i, j] = k(x_i, z_j) it finds the leading triplets G V = U S, G' U = V S. New rows project as
    k(x, Z) V / S, new columns as k(X, z)' U / S, so that a training sample lands on its own row of U or V.

    Parameters
    ----------
    rank : int, default=None
        Number of components; 16, or fewer where there are fewer samples.
    kernel : str or callable, default="sne"
        A name of `lopsided.kernels()`, "precomputed" if X is G itself, or a function K(X, Z) or k(x, z), which is
        evaluated for all pairs in Python: the slow path.
    gamma : float, {"scale", "median", "ksvd"}, default=None
        Coefficient of the distance; "scale" for kernels that need one.
    gamma_factor : float, default=None
        Multiplies the bandwidth: gamma is divided by its square.
    degree, coef0, epsilon : float, default=None
        Degree and constant of the kernel "poly", what the kernel "kl" adds to every bin.
    compat : {"none", "pinv", "pca", "random", "gram"}, default=None
        Compares the rows of X with its columns, made comparable that way ("none": as they are, for a square X).
        None compares the rows of X with those of Z, or with each other.
    compat_width : int, default=None
        Number of coordinates that rows and columns share; chosen by size.
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
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    singular_values_ : ndarray of shape (rank,)
        Singular values of G, descending.
    row_vectors_ : ndarray of shape (n_samples, rank)
        Left singular vectors U.
    col_vectors_ : ndarray of shape (n_columns, rank)
        Right singular vectors V.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    report_ : dict
        Kernel with its gamma, solver, residuals, warnings.

    See Also
    --------
    GraphEmbedding : The same for the nodes of a directed graph.
    KernelBiclustering : Clusters of rows and columns from these features.

    Notes
    -----
    A contiguous float64 or float32 array is used where it lies and is part of the model: changing it afterwards changes
    what `transform` returns.

    References
    ----------
    .. [1] Q. Tao, F. Tonin, A. Lambert, Y. Chen, P. Patrinos, J. Suykens, "Learning in Feature Spaces via Coupled
       Covariances: Asymmetric Kernel SVD and Nyström method", ICML 2024.

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

    _core_name = "embed"
    _core_settings = (*KERNEL, *SOLVER, "compat", "compat_width")

    def __init__(
        self, rank=None, *, kernel="sne", gamma=None, gamma_factor=None, degree=None, coef0=None, epsilon=None,
        compat=None, compat_width=None, center=False, scaling="none", solver="auto", tol=None, sampler=None,
        rows_sample=None, cols_sample=None, random_state=None, verbose=0,
    ):
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
        self.scaling = scaling
        self.solver = solver
        self.tol = tol
        self.sampler = sampler
        self.rows_sample = rows_sample
        self.cols_sample = cols_sample
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, Z: Any = None) -> KernelSVD:
        """Find the singular triplets of the kernel matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Row samples.
        y : None
            For the sake of scikit-learn's interface.
        Z : {array-like, sparse matrix} of shape (n_columns, n_features), default=None
            Column samples; None takes those of X.

        Returns
        -------
        self : KernelSVD
        """
        rows, _, dtype = self._check_samples(X, reset=True)
        given_matrix = callable(self.kernel) or self.kernel == "precomputed"
        if self.compat is not None and (Z is not None or given_matrix):
            reason = "with Z" if Z is not None else "for a kernel that is given"
            raise ValueError(f"`compat` is {self.compat!r} but must be None {reason}")
        if callable(self.kernel):
            self._samples = X, X if Z is None else Z
            given = Given(x=kernel_matrix(self.kernel, *self._samples))
        else:
            cols = None if Z is None else cast(samples(Z, "Z")[0], dtype)
            given = Given(single=dtype == np.float32, x=rows, z=cols)
        self._fit_core(given)
        self._restore()
        return self

    def _restore(self) -> None:
        self.singular_values_ = self._model.array("sigma")
        self.row_vectors_ = self._model.array("u")
        self.col_vectors_ = self._model.array("v")

    def fit_transform(self, X: Any, y: Any = None, *, Z: Any = None) -> Any:
        """Find the triplets and return the features of the row samples.

        Parameters
        ----------
        X, y, Z
            See `fit`.

        Returns
        -------
        features : ndarray of shape (n_samples, rank)
        """
        return self._wrapped(self.fit(X, Z=Z)._model.array("rows"), X)

    def transform(self, X: Any) -> Any:
        """Features of row samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New rows; for a precomputed kernel rows of G.

        Returns
        -------
        features : ndarray of shape (n_samples, rank)
        """
        given = self._new(X)
        if callable(self.kernel):
            given = Given(x=kernel_matrix(self.kernel, X, self._samples[1]))
        return self._wrapped(self._model.transform(given), X)

    def transform_columns(self, Z: Any) -> np.ndarray:
        """Features of column samples.

        Parameters
        ----------
        Z : {array-like, sparse matrix} of shape (n_columns, n_features)
            New columns; for a precomputed kernel each is a column k(X, z) of G, with `compat` a raw column of the matrix.

        Returns
        -------
        features : ndarray of shape (n_columns, rank)
        """
        model = self._fitted()
        parts, _, _ = samples(Z, "Z")
        if callable(self.kernel):
            parts = np.ascontiguousarray(kernel_matrix(self.kernel, self._samples[0], Z).T)
        parts = cast(parts, np.float32 if model.single else np.float64)
        return model.transform(Given(single=model.single, x=parts), columns=True)

    @property
    def _n_features_out(self) -> int:
        return len(self.singular_values_)
