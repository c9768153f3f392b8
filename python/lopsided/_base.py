"""What all estimators share: settings, fitting, checks of inputs, persistence."""
from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from . import _core
from ._exceptions import convergence_warning, not_fitted_error
from ._inputs import Given, cast, feature_names, samples, seed_of
from ._progress import Callbacks, progress
from ._sklearn import Output, Parameters, Tags
from ._tables import is_table, table_given

KERNEL = ("kernel", "gamma", "gamma_factor", "degree", "coef0", "epsilon")
#: Settings of the matrix of a graph, which means nothing without one.
GRAPH = ("links", "self_loops", "normalize", "max_degree")
SOLVER = ("rank", "solver", "tol", "center", "scaling", "sampler", "rows_sample", "cols_sample")


def plain(value: Any) -> Any:
    """A setting as the core reads it: numbers, words, flags and lists of numbers."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (bool, int, float)) else str(value)


def recipe(settings: dict[str, Any]) -> str:
    """Settings by the core's names, as JSON; what is not given is left to the core."""
    return json.dumps({name.replace("_", "-"): plain(value) for name, value in settings.items() if value is not None})


class Estimator(Parameters, Tags, Callbacks):
    """A thin class over a model of the core.

    A subclass names its estimator in the core and those of its parameters that the core takes as settings.
    """

    _core_name = ""
    _core_settings: tuple[str, ...] = ()

    def _settings(self, graph: bool = False) -> dict[str, Any]:
        """Names and values for the core; a kernel of the user's has become a precomputed matrix."""
        settings = {name: getattr(self, name) for name in self._core_settings if graph or name not in GRAPH}
        settings |= getattr(self, "kernel_params", None) or {}
        return settings | {"kernel": "precomputed"} if callable(settings.get("kernel")) else settings

    def _fit_core(self, given: Given) -> dict[str, Any]:
        """Fits, keeps the model, warns; the report of the fit."""
        settings, seed = self._settings(given.links is not None), seed_of(getattr(self, "random_state", None))
        with progress(self) as listener:
            self._model = _core.fit(self._core_name, recipe(settings), given, seed, listener)
        self.report_: dict[str, Any] = json.loads(self._model.report())
        for sentence in self.report_.get("warnings", []):
            warnings.warn(sentence, UserWarning, stacklevel=4)
        if not self.report_.get("converged", True):
            warnings.warn("the tolerance was not reached; see `report_`", convergence_warning(), stacklevel=4)
        return self.report_

    def _check_samples(self, X: Any, *, reset: bool, least: int = 1) -> tuple[Any, tuple[int, int], np.dtype]:
        """X as the core takes it, with as many features, and those names, as in `fit`."""
        self._check_names(X, reset=reset)
        parts, shape, dtype = samples(X, least=least)
        if reset:
            self.n_features_in_ = shape[1]
        elif shape[1] != getattr(self, "n_features_in_", shape[1]):  # the core checks models from files
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input."
            )
        return parts, shape, dtype

    def _check_names(self, X: Any, *, reset: bool) -> None:
        names, known = feature_names(X), getattr(self, "feature_names_in_", None)
        if reset:
            if names is not None:
                self.feature_names_in_ = names
            elif known is not None:
                del self.feature_names_in_
            return
        who = type(self).__name__
        if names is None and known is not None:
            warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=5)
        if names is not None and known is None:
            warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=5)
        if names is not None and known is not None and list(names) != list(known):
            raise ValueError(_names_differ(list(names), list(known)))

    def _new(self, X: Any) -> Given:
        """New samples in the precision of the model."""
        model = self._fitted()
        known = model.columns()
        if known is not None and is_table(X, known):
            given = table_given(X, known, model.single)
            for sentence in model.review(given):
                warnings.warn(sentence, UserWarning, stacklevel=4)
            return given
        parts, _, _ = self._check_samples(X, reset=False)
        return Given(single=model.single, x=cast(parts, np.float32 if model.single else np.float64))

    def _fitted(self) -> Any:
        if getattr(self, "_model", None) is None:
            raise not_fitted_error()(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        return self._model

    def get_recipe(self) -> dict[str, Any]:
        """Settings of the fitted model by their names in the core: what `lopsided fit --recipe` takes.

        Returns
        -------
        recipe : dict
            Those found from the data are among them.
        """
        return json.loads(self._fitted().recipe())

    def save(self, path: Any) -> None:
        """Write the model file that the program `lopsided` and the Rust library read.

        Parameters
        ----------
        path : str or path-like
            Where to; the file appears whole or not at all.
        """
        self._fitted().save(path)

    @classmethod
    def load(cls, path: Any) -> Any:
        """Read a model file written by `save`, by the program `lopsided` or in Rust.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        estimator : object
            A fitted estimator. Its parameters are those that the file tells, and the defaults elsewhere.
        """
        out = cls()
        out._model = _core.Model.load(path)
        out.report_ = json.loads(out._model.report())
        out._restore()
        out._take_params()
        return out

    def _take_params(self) -> None:
        """Sets the parameters that the model tells."""
        told = dict(self.report_.get("params", {}))
        kernel = self.report_.get("kernel")
        if isinstance(kernel, dict):
            told |= {"kernel": kernel["name"], **kernel["params"]}
            told |= {"scaling": self.report_["scaling"], "center": self.report_["centered"]}
        known = self._parameter_names()
        for name, value in told.items():
            if name.replace("-", "_") in known:
                setattr(self, name.replace("-", "_"), value)

    def _restore(self) -> None:
        """Sets the attributes that follow from the model."""

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if state.get("_model") is not None:
            state["_model"] = self._model.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.get("_model")
        self.__dict__.update(state)
        if isinstance(model, bytes):
            self._model = _core.Model.from_bytes(model)


class Transformer(Estimator, Output):
    """An estimator whose features have names."""

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features that `transform` returns.

        Parameters
        ----------
        input_features : None
            For the sake of scikit-learn's interface.

        Returns
        -------
        names : ndarray of str
        """
        self._fitted()
        return np.asarray([f"{type(self).__name__.lower()}{i}" for i in range(self._n_features_out)], dtype=object)

    @property
    def _n_features_out(self) -> int:
        raise NotImplementedError


def _names_differ(names: list[str], known: list[str]) -> str:
    def listed(some: list[str]) -> str:
        return "".join(f"- {name}\n" for name in some[:5]) + ("- ...\n" if len(some) > 5 else "")

    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    if unseen:
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message
