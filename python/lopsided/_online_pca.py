"""Online principal components."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Transformer
from ._docs import documented
from ._inputs import cast
from ._learners import BOUNDS, KERNELS, STEPS, OnlineLearner
from ._machines import count_of, width_of


@documented
class OnlineKernelPCA(OnlineLearner, Transformer):
    """Principal components in feature space, learned from one sample after the other.

    A density matrix W ~ exp(sum of steps phi(x) phi(x)'), whose eigenvalues are capped at 1/n_components, plays against the
    best projection onto n_components directions: in each trial it gains the part of the sample that it captures.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    normalize : bool, default=True
        Scale every sample to unit length in feature space; without it no sample may be longer than 1.

    See Also
    --------
    NystromPCA : From all samples at once.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import OnlineKernelPCA
    >>> X = np.random.default_rng(0).standard_normal((200, 5)) * [3, 1, 0.1, 0.1, 0.1]
    >>> learner = OnlineKernelPCA(2, kernel="linear", steps="fixed", step=1.0)
    >>> for part in np.array_split(X, 4):
    ...     learner = learner.partial_fit(part)
    >>> learner.n_trials_, learner.transform(X).shape
    (200, (200, 2))
    >>> usual, novel = learner.score_samples([[3, 1, 0, 0, 0], [0, 0, 0, 0, 1]])
    >>> bool(usual > 0.95 and novel < 0.05)
    True
    """

    _paper = "KMU"
    _core_name = "online-kpca"
    _core_settings = ("n_components", "dimension", *KERNELS[:4], *STEPS, *BOUNDS)
    _renamed = {"n_components": "components"}

    def __init__(
        self, n_components=1, *, kernel="rbf", gamma=None, degree=None, coef0=None, dimension=None, steps=None, step=None,
        horizon=None, expected_loss=None, expected_rank=None, normalize=True, budget=None, removal="merge",
        keep_trials=2000, verbose=0,
    ):
        self._take(locals())

    def fit(self, X: Any, y: Any = None) -> OnlineKernelPCA:
        """Forget everything and learn from the samples, in order."""
        self._model = None
        return self.partial_fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> OnlineKernelPCA:
        """Learn from more samples, in order."""
        fresh = getattr(self, "_model", None) is None
        x = cast(self._check_samples(X, reset=fresh)[0], np.float64)
        if fresh:
            self._start(width_of(x))
        return self._learn(x, None, np.zeros(count_of(x)))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from the samples and place them."""
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Coordinates of samples along the leading eigenvectors of the learned matrix.

        Returns
        -------
        features : ndarray of shape (n_samples, n_components)
            Zero along components that no sample has opened yet.
        """
        model = self._fitted()
        parts, _, dtype = self._check_samples(X, reset=False)
        return self._wrapped(model.project(cast(parts, np.float64), self._n_features_out).astype(dtype, copy=False), X)

    def score_samples(self, X: Any) -> np.ndarray:
        """The part of each sample that the learned matrix captures, between 0 and 1; low for novel samples.

        Returns
        -------
        parts : ndarray of shape (n_samples,)
        """
        model = self._fitted()
        return model.predict(cast(self._check_samples(X, reset=False)[0], np.float64), None)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(np.mean(self.score_samples(X)))

    def _check_file(self) -> None:
        name = self.report_["spec"]["name"]
        if name != "online-kpca":
            raise ValueError(f"the file is a checkpoint of the learner `{name}` and not of `online-kpca`")
        self.n_components = self._n_features_out

    @property
    def _n_features_out(self) -> int:
        return int(dict(self.report_["spec"]["params"]).get("components", 1))
