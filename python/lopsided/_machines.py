"""What kernel machines share: their kernel, and landmarks if they have any."""
from __future__ import annotations

import functools
from typing import Any

import numpy as np

from . import _core
from ._base import Estimator
from ._inputs import Given, is_list, is_sparse, samples

KERNEL_PARAMETERS = ("gamma", "degree", "coef0")
LANDMARKS = ("approach", "sampler", "n_landmarks", "nystrom", "truncate")


@functools.cache
def parameters_of(kernel: str) -> tuple[str, ...] | None:
    """Parameters of a kernel by its name; None for a name that is unknown."""
    return next((tuple(params) for name, _, params in _core.registry("kernels") if name == kernel), None)


class Machine(Estimator):
    """A machine of the core with a symmetric kernel."""

    _renamed = {"n_landmarks": "landmarks", "n_components": "rank", "C": "penalty"}
    _attributes: tuple[str, ...] = ("n_features_in_", "feature_names_in_", "landmark_indices_", "report_")
    #: Whether there are no landmarks.
    _exact = False
    #: Names in model files.
    _files: tuple[str, ...] = ()
    _ready: dict[str, Any]
    _words = {
        "gamma": (
            'float, array-like of shape (n_features,), {"scale", "auto", "median"} or None',
            'Coefficient of distance or scalar product: "scale" is 1/(n_features var(X)), "auto" and None are 1/n_features, '
            '"median" is 1/median distance. An array has a coefficient for each column.',
        ),
    }

    def _fit_core(self, given: Given) -> dict[str, Any]:
        rows, points = self._landmarks_given(given.x)
        self._ready = self._settings_for(given.x)
        if rows is not None or points is not None:
            self._ready = self._ready | {"landmarks": None, "sampler": None, "landmark_rows": rows, "landmark_points": points}
        try:
            report = super()._fit_core(given)
        finally:
            del self._ready
        self.__dict__.pop("landmark_indices_", None)
        if rows is not None:
            self.landmark_indices_ = rows
        return report

    def _restore(self) -> None:
        if self._model.name not in self._files:
            raise ValueError(f"the file has a model of `{self._model.name}`, which is no {type(self).__name__}")
        super()._restore()

    def _settings(self, graph: bool = False) -> dict[str, Any]:
        return self._ready

    def _settings_for(self, x: Any) -> dict[str, Any]:
        """Settings of the core; like scikit-learn's machines, those that the kernel does not have are left out."""
        values = {name: getattr(self, name) for name in self._core_settings}
        known = parameters_of(self._kernel_name)
        for name in KERNEL_PARAMETERS:
            if known is None or name not in known:
                values.pop(name, None)
        if "gamma" in values:
            values["gamma"] = gamma_of(self.gamma, self._kernel_name, x)
        values["kernel"] = self._kernel_name
        if self._exact:
            values["approach"] = "exact"
        if values.get("approach") == "exact":
            values = {name: value for name, value in values.items() if name not in LANDMARKS[1:]}
        return {self._renamed.get(name, name): value for name, value in values.items()}

    def _landmarks_given(self, x: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Landmarks of the user's own, as row numbers or as points."""
        given = getattr(self, "landmarks", None)
        if given is None or getattr(self, "approach", None) == "exact":
            return None, None
        if not is_sparse(given) and np.ndim(given) == 1:
            rows = np.asarray(given)
            most = count_of(x) - 1
            if rows.dtype.kind not in "iu" or len(rows) == 0 or rows.min() < 0 or rows.max() > most:
                raise ValueError(f"`landmarks` must be row numbers from 0 to {most}, or points of shape (n, n_features)")
            return rows, None
        points, shape, _ = samples(given, "landmarks")
        if self._takes_values:
            raise ValueError("`landmarks` must be row numbers for a precomputed kernel, which is known only at samples")
        if shape[1] != width_of(x):
            raise ValueError(f"`landmarks` has {shape[1]} features but X has {width_of(x)}")
        return None, dense(points)


def gamma_of(gamma: Any, kernel: str, x: Any) -> Any:
    """gamma with the rules of scikit-learn: None and "auto" are 1/n_features, "scale" is 1/(n_features var(X))."""
    if is_list(gamma):
        return 1.0  # the columns are scaled
    if gamma is None or (isinstance(gamma, str) and gamma == "auto"):
        return 1.0 / width_of(x)
    # The core knows the rule for kernels of distances only.
    if isinstance(gamma, str) and gamma == "scale" and kernel == "poly":
        values, entries = (x[3], width_of(x) * count_of(x)) if isinstance(x, tuple) else (x, x.size)
        variance = float(np.square(values).sum() / entries - (values.sum() / entries) ** 2)
        return 1.0 / (width_of(x) * variance) if variance > 0 else 1.0
    return gamma


def count_of(parts: Any) -> int:
    """Number of samples as the core takes them."""
    return len(parts[1]) - 1 if isinstance(parts, tuple) else parts.shape[0]


def width_of(parts: Any) -> int:
    """Number of their features."""
    return parts[0] if isinstance(parts, tuple) else parts.shape[1]


def dense(points: Any) -> np.ndarray:
    """Samples as an array."""
    if not isinstance(points, tuple):
        return points
    width, indptr, indices, values = points
    out = np.zeros((len(indptr) - 1, width), dtype=values.dtype)
    out[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), indices] = values
    return out
