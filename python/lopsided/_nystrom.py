"""Kernel ridge regression and kernel principal components, exact or by landmarks."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._base import Transformer, recipe
from ._docs import documented
from ._inputs import Given, column, is_sparse, numbers_of, seed_of
from ._machines import KERNEL_PARAMETERS, LANDMARKS, Machine, parameters_of
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

    See Also
    --------
    KernelRidge : Without landmarks.
    NystromFeatures : The features alone, for any linear machine.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import NystromRidge
    >>> X = np.random.default_rng(0).uniform(-3, 3, (500, 1))
    >>> model = NystromRidge(alpha=1e-3, gamma=1.0, n_landmarks=30).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 1e-2)
    True
    """

    _inverted = {"penalty": "alpha"}
    _paper = "NKM"
    _core_name = "krr"
    _arguments = {**Regressor._arguments, "fit.y": "y targets"}
    _files = ("krr",)
    _core_settings: tuple[str, ...] = ("kernel", *KERNEL_PARAMETERS, *LANDMARKS)

    def __init__(
        self, alpha=1.0, *, kernel="rbf", gamma=None, degree=3, coef0=1, approach="lla", n_landmarks=None,
        sampler="uniform", landmarks=None, nystrom=None, truncate=None, random_state=None, verbose=0,
    ):
        self._take(locals())

    def _settings_for(self, x: Any) -> dict[str, Any]:
        return super()._settings_for(x) | {"penalty": self._penalty()}

    def _penalty(self) -> float:
        alpha = float(self.alpha)
        if not 0.0 < alpha < np.inf:
            raise ValueError(f"`alpha` is {self.alpha} but must be a number above 0")
        return 1.0 / alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, features: Any = None) -> Any:
        """Learn values of samples."""
        self.__dict__.pop("estimators_", None)
        values = y if y is None else np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        if values is None or values.ndim != 2:
            return super().fit(X, y, sample_weight, features=features)
        if self._only_plans:
            return super().fit(X, values[:, 0], sample_weight)
        self.estimators_ = [type(self)(**self.get_params()).fit(X, target, sample_weight) for target in values.T]
        self.__dict__ |= {**self.estimators_[0].__dict__, "estimators_": self.estimators_}
        return self

    def fit_stream(self, path: Any, y: Any = None) -> Any:
        """Learn from a file that is read in passes and never held, by landmarks that are drawn uniformly.

        Parameters
        ----------
        path : str or path-like
            A NumPy (.npy), Parquet or svmlight (.svm, .libsvm, .svmlight) file of samples, or a folder of Parquet files.
        y : array-like of shape (n_samples,), default=None
            Values to learn; None takes the last column of Parquet files, or the labels of an svmlight file.
        """
        self.__dict__.pop("estimators_", None)
        given = Given()
        if y is not None:
            self._set_target(given, column(y))
        values = {name: getattr(self, name) for name in ("kernel", *KERNEL_PARAMETERS, "n_landmarks")}
        known = parameters_of(self._kernel_name) or ()
        settings = {
            self._renamed.get(name, name): value
            for name, value in values.items()
            if name in ("kernel", "n_landmarks") or name in known
        }
        settings |= {"penalty": self._penalty(), "scale": "none", "task": "values"}
        words, seed = recipe(settings), seed_of(getattr(self, "random_state", None))
        self._learned(lambda listener: _core.fit_stream((self._core_name, words), path, given, seed, listener))
        return self

    def predict(self, X: Any, *, Z: Any = None, features: Any = None) -> np.ndarray:
        """Values of samples."""
        if not hasattr(self, "estimators_"):
            return super().predict(X, Z=Z, features=features)
        return np.column_stack([one.predict(X, Z=Z) for one in self.estimators_])

    def save(self, path: Any) -> None:
        """Write the model file that the program `lopsided` and the Rust library read; of several targets each has its own."""
        if hasattr(self, "estimators_"):
            raise ValueError(f"a file has one target and this model {len(self.estimators_)}: save each of `estimators_`")
        super().save(path)

    def _take_params(self) -> None:
        super()._take_params()
        self.alpha = 1.0 / float(self.get_recipe().get("penalty", 1.0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@documented
class KernelRidge(NystromRidge):
    """Kernel ridge regression with all samples, the baseline of `NystromRidge`.

    Minimises sum_i w_i (f(x_i) - y_i)^2 + alpha |f|^2. The mean of the targets is taken off before and added to predictions;
    for targets of mean 0 predictions are those of scikit-learn's `KernelRidge`.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the norm.

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
        """Choose landmarks, where there are any, and find the features."""
        self._fit_core(self._given(X, least=self._fewest))
        self._restore()
        self._learn_inverse(X)
        return self

    def _learn_inverse(self, X: Any) -> None:
        """As in scikit-learn: ridge regression from the features to the samples."""
        self.__dict__.pop("_inverse", None)
        if not self.fit_inverse_transform:
            return
        if self._takes_values or is_sparse(X):
            raise ValueError("`fit_inverse_transform` needs dense samples, not kernel values or a sparse matrix")
        kernel, gamma = ("linear", None) if self.kernel == "linear" else ("rbf", "median")
        features = self._fitted().transform(self._new(X))
        self._inverse = NystromRidge(self.alpha, kernel=kernel, gamma=gamma).fit(features, numbers_of(X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples that have about these features: pre-images, learned by ridge regression as in scikit-learn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Features.

        Returns
        -------
        samples : ndarray of shape (n_samples, n_features)
        """
        self._fitted()
        if not hasattr(self, "_inverse"):
            raise ValueError("`fit_inverse_transform` is False: with True `fit` learns the way back as well")
        return self._inverse.predict(X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit and place the same samples."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Features of samples."""
        return self._wrapped(self._fitted().transform(self._new(X)), X)

    @property
    def _n_features_out(self) -> int:
        return len(self._model.array("variances"))
