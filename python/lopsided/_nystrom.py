"""Kernel ridge regression and kernel principal components, exact or by landmarks."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Transformer
from ._machines import KERNEL_PARAMETERS, LANDMARKS, Machine
from ._supervised import Regressor


class NystromRidge(Machine, Regressor):
    """Kernel ridge regression on landmarks.

    Minimises sum_i w_i (f(x_i) - y_i)^2 + alpha |f|^2 over functions of the span of the landmarks. The mean of the targets
    is taken off before and added to predictions, so that alpha does not shrink it.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the norm, as in scikit-learn's `KernelRidge`; the penalty of the program `lopsided` is 1/alpha.
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default=None
        Coefficient of distance or scalar product: "scale" is 1/(n_features var(X)), "auto" and None are 1/n_features,
        "median" is 1/median distance.
    degree, coef0 : float, default=3, 1
        Degree and constant of the kernel "poly".
    approach : {"lla", "gsa", "ncr", "exact"}, default="lla"
        Linear machine on the features of the landmarks, its coefficients carried over to all samples, the best function of
        the landmarks' span, or no landmarks at all.
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
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    landmark_indices_ : ndarray of int
        Rows of X that are the landmarks, where they were given.
    report_ : dict
        Kernel with its gamma, approach, number of landmarks, warnings.

    See Also
    --------
    KernelRidge : Without landmarks.
    NystromFeatures : The features alone, for any linear machine.

    References
    ----------
    .. [1] W. Li, M. Liu, D. Zhang, "Geometric Interpretation of Running Nyström-Based Kernel Machines and Error
       Analysis", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (500, 1))
    >>> model = NystromRidge(alpha=1e-3, gamma=1.0, n_landmarks=30).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 1e-2)
    True
    """

    _core_name = "krr"
    _files = ("krr",)
    _core_settings: tuple[str, ...] = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS)

    def __init__(
        self, alpha=1.0, *, kernel="rbf", gamma=None, degree=3, coef0=1, approach="lla", n_landmarks=None,
        sampler="uniform", landmarks=None, nystrom=None, truncate=None, random_state=None, verbose=0,
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.approach = approach
        self.n_landmarks = n_landmarks
        self.sampler = sampler
        self.landmarks = landmarks
        self.nystrom = nystrom
        self.truncate = truncate
        self.random_state = random_state
        self.verbose = verbose

    def _settings_for(self, x: Any) -> dict[str, Any]:
        alpha = float(self.alpha)
        if not 0.0 < alpha < np.inf:
            raise ValueError(f"`alpha` is {self.alpha} but must be a number above 0")
        return super()._settings_for(x) | {"penalty": 1.0 / alpha}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn a function of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; a square matrix of kernel values for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Values to learn.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of the squared errors.

        Returns
        -------
        self : object
        """
        return self._fit_target(X, y, sample_weight)


class KernelRidge(NystromRidge):
    """Kernel ridge regression with all samples, the baseline of `NystromRidge`.

    Minimises sum_i w_i (f(x_i) - y_i)^2 + alpha |f|^2. The mean of the targets is taken off before and added to predictions;
    for targets of mean 0 predictions are those of scikit-learn's `KernelRidge`.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the norm.
    kernel : {"rbf", "laplacian", "poly", "linear", "precomputed"}, default="rbf"
        A symmetric kernel; "precomputed" if X is the matrix of kernel values.
    gamma : float, {"scale", "auto", "median"} or None, default=None
        See `NystromRidge`.
    degree, coef0 : float, default=3, 1
        Degree and constant of the kernel "poly".
    verbose : int, default=0
        Tell on stderr how far the fit is.

    Attributes
    ----------
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    report_ : dict
        Kernel with its gamma, warnings.

    See Also
    --------
    NystromRidge : By landmarks, for many samples.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelRidge
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRidge(alpha=1e-6, gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.05]])[0] - np.sin(1.05)) < 1e-4)
    True
    """

    _core_settings = ("kernel", *KERNEL_PARAMETERS)
    _exact = True

    def __init__(self, alpha=1.0, *, kernel="rbf", gamma=None, degree=3, coef0=1, verbose=0):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.verbose = verbose


class LandmarkTransformer(Machine, Transformer):
    """What components and features of landmarks share."""

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit and place the same samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : None
            For the sake of scikit-learn's interface.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        return self.fit(X).transform(X)  # type: ignore[attr-defined]

    def transform(self, X: Any) -> Any:
        """Features of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples; for a precomputed kernel rows of kernel values with the training samples.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
        """
        return self._wrapped(self._fitted().transform(self._new(X)), X)

    @property
    def _n_features_out(self) -> int:
        return len(self._model.array("variances"))
