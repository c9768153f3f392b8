"""Online learning of pairs."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._inputs import cast, check_length, column, samples, weights_of
from ._learners import BOUNDS, KERNELS, STEPS, OnlineLearner
from ._machines import count_of, width_of


class OnlinePairRegressor(OnlineLearner):
    """Learns values of pairs, one pair after the other, as tr(W' phi(x) psi(z)') with a matrix W of bounded norm.

    Parameters
    ----------
    learner : str, default="gd-trace"
        "gd-trace", "gd-spectral" or "gd-frobenius" (gradient descent in a ball of that norm) or "p-norm" (perceptron) for
        pairs; "gd-symmetric", "eg-plus" or "meg" for single samples.
    loss : {"squared", "absolute", "logistic", "hinge", "gain"}, default=None
        The learner's usual loss, "squared" for gradient descent; "logistic" and "hinge" take labels 1 and -1.
    radius : float, default=None
        Bound of the norm of W; 1, and none for losses of labels with automatic steps.
    kernel : {"linear", "poly", "rbf", "laplacian"}, default="linear"
        Kernel of the rows of X, whose features are phi.
    gamma : float, default=None
        Coefficient of distance or scalar product; 1/n_features.
    degree, coef0 : float, default=None
        Degree and constant of the kernel "poly"; 3 and 1.
    right_kernel : str, default=None
        Kernel of the rows of Z; that of X, with the same numbers.
    right_gamma, right_degree, right_coef0 : float, default=None
        Its parameters.
    power : float, default=None
        p of the learner "p-norm"; 4.
    dimension : int, default=None
        Number of features of the kernel, for the learner "meg".
    steps : {"auto", "fixed", "decreasing", "tuned"}, default=None
        Sizes of the steps: by the sizes of what was seen, `step`, `step`/sqrt(t) in trial t, or what the theorem wants.
        "tuned" with `horizon`, "decreasing" with `step`, else "auto".
    step : float, default=None
        Size of the steps; 1.
    horizon : int, default=None
        Number of trials that tuned steps are made for.
    expected_loss, expected_rank : float and int, default=None
        What tuned steps of exponentiated gradients are made for.
    normalize : bool, default=False
        Scale every sample to unit length in feature space.
    budget : int, default=None
        Most samples that are stored on each side.
    removal : {"merge", "drop"}, default="merge"
        How a sample goes when the budget is full.
    keep_trials : int, default=2000
        Up to so many trials are kept for `regret`.
    verbose : int, default=0
        Tell on stderr how far learning is.

    Attributes
    ----------
    n_trials_, n_iter_ : int
        Trials so far.
    losses_ : ndarray of shape (n_trials_,)
        Loss of each trial before it was learned from; NaN for trials of a file that does not tell.
    cumulative_loss_ : float
        Their sum.
    n_features_in_ : int
        Width of X.
    feature_names_in_ : ndarray of str
        Columns of X where it was a frame with names.
    report_ : dict
        `spec`, the learner with its settings, and `account`, its counts and sums.

    See Also
    --------
    OnlineKernelPCA : Online principal components.

    Notes
    -----
    Without Z a sample is paired with itself. Everything is computed in float64.

    References
    ----------
    .. [1] M. Warmuth, W. Kotłowski, S. Zhou, "Kernelization of matrix updates, when and how?", Theoretical Computer
       Science 558, 2014.

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

    _estimator_type = "regressor"
    _core_settings = ("loss", "radius", "power", "dimension", *KERNELS, *STEPS, *BOUNDS)

    def __init__(
        self, learner="gd-trace", *, loss=None, radius=None, kernel="linear", gamma=None, degree=None, coef0=None,
        right_kernel=None, right_gamma=None, right_degree=None, right_coef0=None, power=None, dimension=None, steps=None,
        step=None, horizon=None, expected_loss=None, expected_rank=None, normalize=False, budget=None, removal="merge",
        keep_trials=2000, verbose=0,
    ):
        self.learner = learner
        self.loss = loss
        self.radius = radius
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.right_kernel = right_kernel
        self.right_gamma = right_gamma
        self.right_degree = right_degree
        self.right_coef0 = right_coef0
        self.power = power
        self.dimension = dimension
        self.steps = steps
        self.step = step
        self.horizon = horizon
        self.expected_loss = expected_loss
        self.expected_rank = expected_rank
        self.normalize = normalize
        self.budget = budget
        self.removal = removal
        self.keep_trials = keep_trials
        self.verbose = verbose

    def fit(self, X: Any, y: Any, *, Z: Any = None) -> OnlinePairRegressor:
        """Forget everything and learn from the pairs, in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Left samples.
        y : array-like of shape (n_samples,)
            Values of the pairs.
        Z : {array-like, sparse matrix} of shape (n_samples, n_right_features), default=None
            Right samples, a row for each row of X; None pairs every sample with itself.

        Returns
        -------
        self : OnlinePairRegressor
        """
        self._model = None
        return self.partial_fit(X, y, Z=Z)

    def partial_fit(self, X: Any, y: Any, *, Z: Any = None) -> OnlinePairRegressor:
        """Learn from more pairs, in order.

        Parameters
        ----------
        X, y, Z
            See `fit`.

        Returns
        -------
        self : OnlinePairRegressor
        """
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
        """Values of pairs.

        Parameters
        ----------
        X, Z
            See `fit`.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        model = self._fitted()
        return model.predict(*self._pairs(X, Z, reset=False))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, Z: Any = None) -> float:
        """Coefficient of determination R².

        Parameters
        ----------
        X, y, Z
            See `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            What each pair counts.

        Returns
        -------
        score : float
        """
        y = np.asarray(y, dtype=np.float64)
        weights = weights_of(sample_weight, len(y))
        rest = np.average((y - self.predict(X, Z=Z)) ** 2, weights=weights)
        total = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
        if total == 0:
            return 1.0 if rest == 0 else 0.0
        return float(1 - rest / total)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A matrix of bounded norm is no universal regressor.
        tags.regressor_tags.poor_score = True
        return tags
