"""Least squares support vector machines with asymmetric and symmetrised kernels."""
from __future__ import annotations

from typing import Any

from ._base import GRAPH, KERNEL
from ._docs import documented
from ._supervised import Classifier, Probabilities, Regressor

COUPLED = ("penalty", "on_singular", "tikhonov", "route")


@documented
class AsKLSClassifier(Probabilities, Classifier):
    """Least squares support vector machine with an asymmetric kernel.

    Two functions, of a sample as source and of it as target, are found together by one linear system for all classes and
    merged. A graph is learned transductively: the kernel matrix holds all nodes, the system those with a class. Above the
    penalty `report_["params"]["largest_definite_penalty"]` the system is indefinite.

    See Also
    --------
    LSSVMClassifier : The same with a symmetric or symmetrised kernel.
    AsKLSRegressor : The same for values.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsKLSClassifier
    >>> X = np.random.default_rng(0).standard_normal((80, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> AsKLSClassifier(penalty=10).fit(X, y).score(X, y) > 0.9
    True
    """

    _paper = "AsKLS"
    _core_name = "ask-ls"
    _core_settings = (*KERNEL, *COUPLED, "merge", *GRAPH)

    def __init__(
        self, penalty="auto", *, merge="stack", kernel=None, gamma=None, gamma_factor=None, degree=None, coef0=None,
        epsilon=None, kernel_params=None, class_weight=None, on_singular="tikhonov", tikhonov=None, route="auto", graph=None,
        links=None, self_loops=None, normalize=None, max_degree=None, walk=None, feature_weight=None, random_state=None, verbose=0,
    ):
        self._take(locals())


@documented
class AsKLSRegressor(Regressor):
    """Least squares regression with an asymmetric kernel: the machine of `AsKLSClassifier` for values.

    See Also
    --------
    AsKLSClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsKLSRegressor
    >>> X = np.linspace(0, 3, 60)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> AsKLSRegressor(penalty=100, kernel="rbf").fit(X, y).score(X, y) > 0.99
    True
    """

    _core_name = "ask-ls"
    _core_settings = AsKLSClassifier._core_settings

    def __init__(
        self, penalty="auto", *, merge="stack", kernel=None, gamma=None, gamma_factor=None, degree=None, coef0=None,
        epsilon=None, kernel_params=None, on_singular="tikhonov", tikhonov=None, route="auto", graph=None,
        links=None, self_loops=None, normalize=None, max_degree=None, walk=None, feature_weight=None, random_state=None, verbose=0,
    ):
        self._take(locals())


@documented
class LSSVMClassifier(Classifier):
    """Least squares support vector machine with a symmetric kernel, or a symmetrised one.

    See Also
    --------
    AsKLSClassifier : The same with an asymmetric kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import LSSVMClassifier
    >>> X = np.random.default_rng(0).standard_normal((80, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 1, "out", "in")
    >>> LSSVMClassifier(penalty=10).fit(X, y).score(X, y) > 0.9
    True
    """

    _core_name = "ls-svm"
    _core_settings = (*KERNEL, *COUPLED, "symmetrize", *GRAPH)

    def __init__(
        self, penalty="auto", *, symmetrize="average", kernel=None, gamma=None, gamma_factor=None, degree=None, coef0=None,
        epsilon=None, kernel_params=None, class_weight=None, on_singular="tikhonov", tikhonov=None, route="auto", graph=None,
        links=None, self_loops=None, normalize=None, max_degree=None, walk=None, feature_weight=None, random_state=None, verbose=0,
    ):
        self._take(locals())
