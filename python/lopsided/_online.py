"""Online learning of pairs."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._docs import documented
from ._inputs import cast, check_length, column, r_squared, samples
from ._learners import BOUNDS, KERNELS, STEPS, OnlineLearner
from ._machines import count_of, width_of
from ._verdicts import warn_of_mean


@documented
class OnlinePairRegressor(OnlineLearner):
    """Learns values of pairs, one pair after the other, as tr(W' phi(x) psi(z)') with a matrix W of bounded norm.

    See Also
    --------
    OnlineKernelPCA : Online principal components.

    Notes
    -----
    Without Z a sample is paired with itself. Everything is computed in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import OnlinePairRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, Z = rng.standard_normal((300, 3)), rng.standard_normal((300, 2))
    >>> y = X[:, 0] * Z[:, 1]
    >>> learner = OnlinePairRegressor(step=0.1, radius=2.0).fit(X, y, Z=Z)
    >>> bool(abs(learner.predict([[1.0, 0, 0]], Z=[[0, 1.0]])[0] - 1) < 0.1)
    True
    >>> regret = learner.regret()
    >>> regret["regret"] < regret["bound"]
    True
    """

    _paper = "KMU"
    _estimator_type = "regressor"
    _arguments = {"X": "X pairs", "y": "y pairs", "Z": "Z pairs", "predict.returns": "values"}
    _core_settings = ("loss", "radius", "power", "dimension", *KERNELS, *STEPS, *BOUNDS)

    def __init__(
        self, learner="gd-trace", *, loss=None, radius=None, kernel="linear", gamma=None, degree=None, coef0=None,
        right_kernel=None, right_gamma=None, right_degree=None, right_coef0=None, power=None, dimension=None, steps=None,
        step=None, horizon=None, expected_loss=None, expected_rank=None, normalize=False, budget=None, removal="merge",
        keep_trials=2000, verbose=0,
    ):
        self._take(locals())

    def fit(self, X: Any, y: Any, *, Z: Any = None) -> OnlinePairRegressor:
        """Forget everything and learn from the pairs, in order."""
        self._model = None
        return self.partial_fit(X, y, Z=Z)

    def partial_fit(self, X: Any, y: Any, *, Z: Any = None) -> OnlinePairRegressor:
        """Learn from more pairs, in order."""
        if y is None:
            raise ValueError("This OnlinePairRegressor estimator requires y to be passed, but the target y is None.")
        fresh = getattr(self, "_model", None) is None
        x, z = self._pairs(X, Z, reset=fresh)
        values = np.ascontiguousarray(column(y), dtype=np.float64)
        check_length(len(values), count_of(x), "y")
        if not np.isfinite(values).all():
            kind = "NaN" if np.isnan(values).any() else "infinity or a value too large for dtype('float64')"
            raise ValueError(f"Input y contains {kind}.")
        if fresh:
            self._start(width_of(x), None if z is None else width_of(z))
            self._paired = z is not None
        return self._learn(x, z, values)

    def _pairs(self, X: Any, Z: Any, *, reset: bool) -> tuple[Any, Any]:
        x = cast(self._check_samples(X, reset=reset)[0], np.float64)
        if not reset and (Z is None) == getattr(self, "_paired", Z is not None):
            raise ValueError("Z must be " + ("given, as it was before" if Z is None else "left out, as it was before"))
        if Z is None:
            return x, None
        z = cast(samples(Z, "Z")[0], np.float64)
        check_length(count_of(z), count_of(x), "Z")
        return x, z

    def predict(self, X: Any, *, Z: Any = None) -> np.ndarray:
        """Values of pairs."""
        model = self._fitted()
        return model.predict(*self._pairs(X, Z, reset=False))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, Z: Any = None) -> float:
        """Coefficient of determination R²."""
        explained = r_squared(y, self.predict(X, Z=Z), sample_weight)
        warn_of_mean(y, explained)
        return explained

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A matrix of bounded norm is no universal regressor.
        tags.regressor_tags.poor_score = True
        return tags
