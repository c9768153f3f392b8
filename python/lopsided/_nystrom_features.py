"""Features of landmarks and kernel principal components."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._docs import documented
from ._machines import KERNEL_PARAMETERS, LANDMARKS
from ._nystrom import LandmarkTransformer


@documented
class NystromPCA(LandmarkTransformer):
    """Kernel principal components by landmarks.

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
    _words = LandmarkTransformer._words | {"n_components": ("int", "Number of components; 16, or fewer where there are fewer samples.")}
    _attributes = ("eigenvalues_", *LandmarkTransformer._attributes)
    _fewest = 2
    _files = ("kpca",)
    _core_settings: tuple[str, ...] = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS, "n_components", "center")

    def __init__(
        self, n_components=None, *, kernel="rbf", gamma=None, degree=3, coef0=1, center=True, approach="lla",
        n_landmarks=None, sampler="uniform", landmarks=None, nystrom=None, truncate=None,
        fit_inverse_transform=False, alpha=1e-3, random_state=None, verbose=0,
    ):
        self._take(locals())

    def _restore(self) -> None:
        super()._restore()
        self.eigenvalues_ = self._model.array("variances") * self.report_["n_train"]


@documented
class KernelPCA(NystromPCA):
    """Kernel principal components with all samples, the baseline of `NystromPCA`.

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
        self, n_components=None, *, kernel="rbf", gamma=None, degree=3, coef0=1, center=True, fit_inverse_transform=False,
        alpha=1e-3, device=None, precision=None, random_state=None, verbose=0,
    ):
        self._take(locals())


@documented
class NystromFeatures(LandmarkTransformer):
    """Features of landmarks, whose scalar products stand for a symmetric kernel.

    With landmarks L and A such that A' k(L, L) A = I, a sample has the features k(x, L) A. Linear machines on them are kernel
    machines on the span of the landmarks.

    Parameters
    ----------
    truncate : int, default=None
        Most features; as many as there are independent landmarks.

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
        nystrom=None, truncate=None,
        fit_inverse_transform=False, alpha=1e-3, random_state=None, verbose=0,
    ):
        self._take(locals())

    def _restore(self) -> None:
        super()._restore()
        rows = self.report_["params"].get("landmark-rows")
        if rows is not None:
            self.landmark_indices_ = np.asarray(rows)
