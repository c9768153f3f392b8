"""Kernel ridge regression and kernel principal components, exact or by landmarks."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Transformer
from ._docs import documented
from ._machines import KERNEL_PARAMETERS, LANDMARKS, Machine
from ._supervised import Regressor


@documented
class NystromRidge(Machine, Regressor):
    """Kernel ridge regression on landmarks.

    Minimises sum_i w_i (f(x_i) - y_i)^2 + alpha |f|^2 over functions of the span of the landmarks. The mean of the targets
    is taken off before and added to predictions, so that alpha does not shrink it.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the norm, as in scikit-learn's `KernelRidge`; the penalty of the program `lopsided` is 1/alpha.

    Attributes
    ----------
    n_features_in_
    feature_names_in_
    landmark_indices_
    report_

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
        self._take(locals())

    def _settings_for(self, x: Any) -> dict[str, Any]:
        alpha = float(self.alpha)
        if not 0.0 < alpha < np.inf:
            raise ValueError(f"`alpha` is {self.alpha} but must be a number above 0")
        return super()._settings_for(x) | {"penalty": 1.0 / alpha}


@documented
class KernelRidge(NystromRidge):
    """Kernel ridge regression with all samples, the baseline of `NystromRidge`.

    Minimises sum_i w_i (f(x_i) - y_i)^2 + alpha |f|^2. The mean of the targets is taken off before and added to predictions;
    for targets of mean 0 predictions are those of scikit-learn's `KernelRidge`.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the norm.

    Attributes
    ----------
    n_features_in_
    feature_names_in_
    report_

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
        self._take(locals())


@documented
class LandmarkTransformer(Machine, Transformer):
    """What components and features of landmarks share."""

    _fewest = 1

    def fit(self, X: Any, y: Any = None) -> Any:
        """Choose landmarks, where there are any, and find the features.

        Parameters
        ----------
        X
        y

        Returns
        -------
        self
        """
        self._fit_core(self._given(X, least=self._fewest))
        self._restore()
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit and place the same samples.

        Parameters
        ----------
        X
        y

        Returns
        -------
        features
        """
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Features of samples.

        Parameters
        ----------
        X

        Returns
        -------
        features
        """
        return self._wrapped(self._fitted().transform(self._new(X)), X)

    @property
    def _n_features_out(self) -> int:
        return len(self._model.array("variances"))
