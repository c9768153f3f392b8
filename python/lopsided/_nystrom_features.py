"""Features of landmarks and kernel principal components."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._inputs import Given
from ._machines import KERNEL_PARAMETERS, LANDMARKS
from ._nystrom import LandmarkTransformer


class NystromPCA(LandmarkTransformer):
    """Kernel principal components by landmarks.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; 16, or fewer where there are fewer samples.
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default=None
        Coefficient of distance or scalar product: "scale" is 1/(n_features var(X)), "auto" and None are 1/n_features,
        "median" is 1/median distance.
    degree, coef0 : float, default=3, 1
        Degree and constant of the kernel "poly".
    center : bool, default=True
        Centre the samples in feature space.
    approach : {"lla", "gsa", "ncr", "exact"}, default="lla"
        See `NystromRidge`.
    n_landmarks : int, default=None
        Number of landmarks; 1000, or all samples where there are fewer.
    sampler : str, default="uniform"
        How they are chosen, a name of `lopsided.samplers()`.
    landmarks : array-like of int, or {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
        Landmarks of your own: row numbers of X, or points.
    nystrom : {"standard", "one-shot", "double", "multi-scale"}, default=None
        How landmarks become an orthonormal basis; "standard".
    truncate : int, default=None
        Most basis vectors; all.
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the (centred, approximate) kernel matrix, descending.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    landmark_indices_ : ndarray of int
        Rows of X that are the landmarks, where they were given.
    report_ : dict
        Kernel with its gamma, approach, number of landmarks.

    See Also
    --------
    KernelPCA : Without landmarks.
    KernelSVD : For two sets of samples or an asymmetric kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> NystromPCA(2, n_landmarks=50, sampler="rpcholesky").fit_transform(X).shape
    (200, 2)
    """

    _core_name = "kpca"
    _files = ("kpca",)
    _core_settings: tuple[str, ...] = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS, "n_components", "center")

    def __init__(
        self, n_components=None, *, kernel="rbf", gamma=None, degree=3, coef0=1, center=True, approach="lla",
        n_landmarks=None, sampler="uniform", landmarks=None, nystrom=None, truncate=None, random_state=None, verbose=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center
        self.approach = approach
        self.n_landmarks = n_landmarks
        self.sampler = sampler
        self.landmarks = landmarks
        self.nystrom = nystrom
        self.truncate = truncate
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; a square matrix of kernel values for a precomputed kernel.
        y : None
            For the sake of scikit-learn's interface.

        Returns
        -------
        self : object
        """
        x, _, dtype = self._check_samples(X, reset=True, least=2)
        self._fit_core(Given(single=dtype == np.float32, x=x))
        self._restore()
        return self

    def _restore(self) -> None:
        super()._restore()
        self.eigenvalues_ = self._model.array("variances") * self.report_["n_train"]


class KernelPCA(NystromPCA):
    """Kernel principal components with all samples, the baseline of `NystromPCA`.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; 16, or fewer where there are fewer samples.
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default=None
        See `NystromPCA`.
    degree, coef0 : float, default=3, 1
        Degree and constant of the kernel "poly".
    center : bool, default=True
        Centre the samples in feature space, as scikit-learn's `KernelPCA` does.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver; None is 0.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, descending.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    report_ : dict
        Kernel with its gamma.

    See Also
    --------
    NystromPCA : By landmarks, for many samples.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelPCA
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> KernelPCA(2, gamma=0.5).fit(X).eigenvalues_.shape
    (2,)
    """

    _core_settings = ("kernel", *KERNEL_PARAMETERS, "n_components", "center")
    _exact = True

    def __init__(
        self, n_components=None, *, kernel="rbf", gamma=None, degree=3, coef0=1, center=True, random_state=None, verbose=0
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center
        self.random_state = random_state
        self.verbose = verbose


class NystromFeatures(LandmarkTransformer):
    """Features of landmarks, whose scalar products stand for a symmetric kernel.

    With landmarks L and A such that A' k(L, L) A = I, a sample has the features k(x, L) A. Linear machines on them are kernel
    machines on the span of the landmarks.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default=None
        Coefficient of distance or scalar product: "scale" is 1/(n_features var(X)), "auto" and None are 1/n_features,
        "median" is 1/median distance.
    degree, coef0 : float, default=3, 1
        Degree and constant of the kernel "poly".
    n_landmarks : int, default=None
        Number of landmarks; 1000, or all samples where there are fewer.
    sampler : str, default="uniform"
        How they are chosen, a name of `lopsided.samplers()`.
    landmarks : array-like of int, or {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
        Landmarks of your own: row numbers of X, or points.
    nystrom : {"standard", "one-shot", "double", "multi-scale"}, default=None
        How landmarks become an orthonormal basis; "standard".
    truncate : int, default=None
        Most features; as many as there are independent landmarks.
    random_state : int, RandomState instance or None, default=None
        Seed; None is 0, so that equal calls give equal results.
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    landmark_indices_ : ndarray of int
        Rows of X that are the landmarks, where they are rows.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    report_ : dict
        Kernel with its gamma, sampler, number of landmarks and features.

    See Also
    --------
    NystromRidge : Regression on these features.
    NystromSVC : Classification on these features.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromFeatures
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> own = NystromFeatures(gamma=0.5, landmarks=[0, 7, 11, 42]).fit(X)
    >>> F = own.transform(X)
    >>> K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(2))
    >>> bool(np.allclose((F @ F.T)[7], K[7]))  # exact where one of the two is a landmark
    True
    """

    _core_name = "features"
    _files = ("kpca",)
    _core_settings = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS[1:])

    def __init__(
        self, kernel="rbf", *, gamma=None, degree=3, coef0=1, n_landmarks=None, sampler="uniform", landmarks=None,
        nystrom=None, truncate=None, random_state=None, verbose=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_landmarks = n_landmarks
        self.sampler = sampler
        self.landmarks = landmarks
        self.nystrom = nystrom
        self.truncate = truncate
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Any:
        """Choose landmarks and find the basis of their span.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; a square matrix of kernel values for a precomputed kernel.
        y : None
            For the sake of scikit-learn's interface.

        Returns
        -------
        self : object
        """
        x, _, dtype = self._check_samples(X, reset=True)
        self._fit_core(Given(single=dtype == np.float32, x=x))
        self._restore()
        return self

    def _restore(self) -> None:
        super()._restore()
        rows = self.report_["params"].get("landmark-rows")
        if rows is not None:
            self.landmark_indices_ = np.asarray(rows)
