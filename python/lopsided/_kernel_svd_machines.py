"""Classes and values from the features of the kernel SVD."""
from __future__ import annotations

from typing import Any

from ._base import GRAPH, KERNEL, SOLVER
from ._docs import documented
from ._supervised import Classifier, Regressor, Supervised


@documented
class _Machine(Supervised):
    """Both machines; samples count the same."""

    _core_name = "kernel-svd"
    _core_settings = (*KERNEL, *(name for name in SOLVER if name != "center"), "penalty", "compat", "compat_width", *GRAPH)
    _arguments = {**Supervised._arguments, "fit.y": "y classes"}

    def __init__(
        self, rank=None, *, penalty=None, kernel=None, gamma=None, gamma_factor=None, degree=None, coef0=None, epsilon=None,
        kernel_params=None, compat=None, compat_width=None, scaling=None, solver=None, tol=None, sampler=None,
        rows_sample=None, cols_sample=None, graph=None, links=None, self_loops=None, normalize=None, max_degree=None, walk=None,
        feature_weight=None, random_state=None, verbose=0,
    ):
        self._take(locals())

    def fit(self, X: Any, y: Any, *, features: Any = None) -> Any:  # type: ignore[override]
        """Find the features and learn from them."""
        return self._fit_target(X, y, features=features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for kind in (tags.classifier_tags, tags.regressor_tags):
            if kind is not None:
                kind.poor_score = True  # a table of two columns has two features
        return tags


@documented
class KernelSVDClassifier(_Machine, Classifier):  # type: ignore[misc]
    """Classes from the features of the kernel SVD: a linear least squares machine on both sides.

    The rows of a table are compared with each other, with 1000 of them where there are more, and with `compat` with its columns;
    the nodes of a graph as sources with themselves as targets, or by all their links where held-out labels prefer that.

    See Also
    --------
    KernelSVD : The features alone.
    AsKLSClassifier : A machine with an asymmetric kernel, without features.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVDClassifier
    >>> X = np.random.default_rng(0).standard_normal((80, 4))
    >>> y = np.where(X[:, 0] > 0, "right", "left")
    >>> KernelSVDClassifier().fit(X, y).score(X, y) > 0.8
    True
    """


@documented
class KernelSVDRegressor(_Machine, Regressor):  # type: ignore[misc]
    """Values from the features of the kernel SVD: the machine of `KernelSVDClassifier` for values.

    See Also
    --------
    KernelSVDClassifier : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVDRegressor
    >>> X = np.random.default_rng(0).standard_normal((80, 4))
    >>> KernelSVDRegressor(rank=3).fit(X, X[:, 0]).predict(X).shape
    (80,)
    """
