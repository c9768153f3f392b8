"""What all estimators share: settings, fitting, checks of inputs, persistence."""
from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._docs import documented
from ._exceptions import convergence_warning, not_fitted_error, warn
from ._inputs import Given, cast, feature_names, is_list, samples, seed_of
from ._kernels import is_of_objects, kernel_matrix, sequence, takes_values
from ._progress import Callbacks, progress
from ._sklearn import Output, Parameters, Tags
from ._tables import is_table, table_given

KERNEL = ("kernel", "gamma", "gamma_factor", "degree", "coef0", "epsilon")
#: Settings of the matrix of a graph, which means nothing without one.
GRAPH = ("links", "self_loops", "normalize", "max_degree", "walk", "feature_weight")
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


class _Planned(Exception):
    """Carries a plan out of a fit that goes no further."""


@documented
class Estimator(Parameters, Tags, Callbacks):
    """A thin class over a model of the core.

    A subclass names its estimator in the core and those of its parameters that the core takes as settings.
    """

    _core_name = ""
    _core_settings: tuple[str, ...] = ()
    #: Names that the core has for parameters.
    _renamed: dict[str, str] = {}
    #: Settings of the core of which a parameter is the inverse, by the name of the setting.
    _inverted: dict[str, str] = {}
    #: What fits set, and which words of `_docs` its methods mean.
    _attributes: tuple[str, ...] = ("n_features_in_", "feature_names_in_", "report_")
    _arguments: dict[str, str] = {}
    _model: Any
    _only_plans = False

    if TYPE_CHECKING:  # parameters are attributes

        def __getattr__(self, name: str) -> Any: ...

    def _take(self, arguments: dict[str, Any]) -> None:
        """Keeps the arguments of the constructor as they are."""
        for name in self._parameter_names():
            setattr(self, name, arguments[name])

    @property
    def _kernel_name(self) -> str:
        """A kernel of the user's becomes a precomputed matrix."""
        return "precomputed" if callable(self.kernel) else self.kernel

    @property
    def _takes_values(self) -> bool:
        """Whether X is the matrix of kernel values."""
        return takes_values(self._kernel_name)

    def _settings(self, graph: bool = False) -> dict[str, Any]:
        """Names and values for the core."""
        settings = {name: getattr(self, name) for name in self._core_settings if graph or name not in GRAPH}
        settings |= getattr(self, "kernel_params", None) or {}
        if is_list(settings.get("gamma")):
            settings["gamma"] = 1.0  # the columns are scaled
        return settings | {"kernel": self._kernel_name} if "kernel" in settings else settings

    def _in_our_words(self, sentence: str) -> str:
        """A sentence of the core with the names that parameters have here."""
        ours = {core: name for name, core in self._renamed.items() if name in self._parameter_names()}

        def said(found: re.Match[str]) -> str:
            much, core = found.groups(default="")
            if core in self._inverted:
                much, core = {"smaller": "larger", "larger": "smaller"}.get(much.strip(), ""), self._inverted[core]
                return f"{much} `{core}`".strip()
            return f"{much}`{ours.get(core, core)}`"

        return re.sub(r"((?:smaller|larger) )?`([\w-]+)`", said, sentence)

    def _on_device(self, given: Given) -> Given:
        """The same with where products are computed, as the parameters `device` and `precision` say, where there are any."""
        device, precision = (getattr(self, name, None) for name in ("device", "precision"))
        return replace(given, device=None if device is None else str(device), fast=precision == "fast")

    def _fit_core(self, given: Given) -> dict[str, Any]:
        """Fits, keeps the model, warns; the report of the fit."""
        settings, seed = self._settings(given.links is not None), seed_of(getattr(self, "random_state", None))
        given = self._on_device(given)
        if self._only_plans:
            raise _Planned(json.loads(_core.plan(self._core_name, recipe(settings), given, seed)))
        return self._learned(lambda listener: _core.fit(self._core_name, recipe(settings), given, seed, listener))

    def _learned(self, learn: Callable[[Any], Any]) -> dict[str, Any]:
        """Keeps the model that comes out, warns; the report of the fit."""
        try:
            with progress(self) as listener:
                self._model = learn(listener)
        except ValueError as error:
            raise type(error)(self._in_our_words(str(error))) from None
        self._model = self._model.with_feature_names(_listed(getattr(self, "feature_names_in_", None)))
        self.report_: dict[str, Any] = json.loads(self._model.report())
        for sentence in self.report_.get("warnings", []):
            warn(self._in_our_words(sentence))
        if not self.report_.get("converged", True):
            warn("the tolerance was not reached; see `report_`", convergence_warning())
        return self.report_

    def plan(self, X: Any, y: Any = None, **kwargs: Any) -> dict[str, Any]:
        """What `fit` would do and cost, without doing it.

        Returns
        -------
        plan : dict
            With `n` and `m`, the size of the kernel matrix, `kernel`, `gamma`, `operator` and `solver`, the way it is taken, `why`,
            `bytes` and `seconds`, roughly, and `memory`, the bytes that may be used.
        """
        other = type(self)(**self.get_params())
        other._only_plans = True
        try:
            other.fit(X, y, **kwargs)
        except _Planned as planned:
            return planned.args[0]
        raise ValueError(f"{type(self).__name__} has no plan: it learns as samples come")

    def _given(self, X: Any, least: int = 1) -> Given:
        """Training samples; of a kernel of the user's, its values at all pairs of them."""
        self.__dict__.pop("_samples", None)
        if callable(getattr(self, "kernel", None)):
            self._samples = self._objects(X, reset=True, least=least)
            return Given(x=kernel_matrix(self.kernel, self._samples, self._samples))
        parts, _, dtype = self._check_samples(X, reset=True, least=least)
        return Given(single=dtype == np.float32, x=parts)

    def _objects(self, X: Any, *, reset: bool, least: int = 1) -> Any:
        """What a kernel of the user's takes: samples as ever, or any objects."""
        things = sequence(X)
        if not is_of_objects(things):
            self._check_samples(X, reset=reset, least=least)
        elif reset:
            self.__dict__.pop("n_features_in_", None)
        return things

    def _check_samples(self, X: Any, *, reset: bool, least: int = 1) -> tuple[Any, tuple[int, int], np.dtype]:
        """X as the core takes it, with as many features, and those names, as in `fit`."""
        self._check_names(X, reset=reset)
        parts, shape, dtype = samples(X, least=least)
        dtype = self._precision(dtype)
        parts = cast(parts, dtype)
        parts = self._by_bandwidths(parts, shape[1])
        if reset:
            self.n_features_in_ = shape[1]
        elif shape[1] != getattr(self, "n_features_in_", shape[1]):  # the core checks models from files
            raise ValueError(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input."
            )
        return parts, shape, dtype

    def _precision(self, dtype: Any) -> np.dtype:
        """The precision of samples of this one, as the parameter `precision` says, where there is one."""
        precision = getattr(self, "precision", None)
        if precision not in (None, "f64", "f32", "fast"):
            raise ValueError(f"`precision` is {precision!r} but must be 'f64', 'f32' or 'fast'")
        return np.dtype(dtype if precision is None else np.float64 if precision == "f64" else np.float32)

    def _by_bandwidths(self, parts: Any, width: int) -> Any:
        """Columns times what `gamma` says of each: k(x, z) with one gamma of 1 is then the kernel of all of them."""
        gammas = getattr(self, "gamma", None)
        if not is_list(gammas):
            return parts
        factors = np.asarray(gammas, dtype=np.float64)
        if factors.shape != (width,) or not (np.isfinite(factors) & (factors >= 0)).all():
            raise ValueError(f"`gamma` is of shape {factors.shape} but must be {width} numbers of at least 0, one for each column")
        if self._kernel_name != "laplacian":  # whose distances are absolute values
            factors = np.sqrt(factors)
        if isinstance(parts, tuple):
            return (*parts[:3], (parts[3] * factors[parts[2]]).astype(parts[3].dtype))
        return (parts * factors).astype(parts.dtype)

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
            warn(f"X does not have valid feature names, but {who} was fitted with feature names")
        if names is not None and known is None:
            warn(f"X has feature names, but {who} was fitted without feature names")
        if names is not None and known is not None and list(names) != list(known):
            raise ValueError(_names_differ(list(names), list(known)))

    def _new(self, X: Any) -> Given:
        """New samples in the precision of the model."""
        model = self._fitted()
        if hasattr(self, "_samples"):
            return Given(x=kernel_matrix(self.kernel, self._objects(X, reset=False), self._samples))
        known = model.columns()
        if known is not None and is_table(X, known):
            given = table_given(X, known, model.single)
            for sentence in model.review(given):
                warn(sentence)
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

    def report(self, path: Any, *, labels: Any = None) -> None:
        """Write a page that shows the model: one HTML file that needs no network, as `lopsided ... --report` writes it.

        Parameters
        ----------
        path : str or path-like
            Where to write.
        labels : array-like of shape (n_samples,), default=None
            Classes that colour the samples of an embedding; None in it where one is unknown.
        """
        given = None if labels is None else [None if label is None else str(label) for label in labels]
        seed = seed_of(getattr(self, "random_state", None))
        self._fitted().page(path, type(self).__name__, given, seed)

    def _account(self) -> dict[str, Any]:
        known = getattr(self, "report_", {})
        names = {"n_train": "samples learned from", "chosen": "chosen", "condition": "condition number", "operator": "operator"}
        lines = {text: known[name] for name, text in names.items() if known.get(name) is not None}
        lines |= {"converged": "yes" if known["converged"] else "no"} if "converged" in known else {}
        return lines | {f"warning {i}": text for i, text in enumerate(known.get("warnings", []), 1)}

    def save(self, path: Any) -> None:
        """Write the model file that the program `lopsided` and the Rust library read."""
        if is_list(getattr(self, "gamma", None)):
            raise ValueError("a model with a `gamma` for each column has no file: scale the columns by its root instead, or pickle")
        self._fitted().save(path)

    @classmethod
    def load(cls, path: Any) -> Any:
        """Read a model file written by `save`, by the program `lopsided` or in Rust.

        Returns
        -------
        estimator : object
            A fitted estimator. Its parameters are those that the file tells, and the defaults elsewhere.
        """
        out = cls()
        out._model = _core.Model.load(path)
        out.report_ = json.loads(out._model.report())
        names = out._model.feature_names()
        if names is not None:
            out.feature_names_in_, out.n_features_in_ = np.asarray(names, dtype=object), len(names)
        out._restore()
        out._take_params()
        return out

    def _take_params(self) -> None:
        """Sets the parameters that the model tells, so that a clone learns in the same way."""
        ours = {core: name for name, core in self._renamed.items() if name in self._parameter_names()}
        for core, value in self.get_recipe().items():
            name = ours.get(core, core.replace("-", "_"))
            if name in self._parameter_names():
                whole = isinstance(value, float) and value.is_integer() and not isinstance(getattr(self, name), float)
                setattr(self, name, int(value) if whole else value)

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


@documented
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


def _listed(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


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
