"""What makes an estimator one of scikit-learn's, without importing scikit-learn before it is needed."""
from __future__ import annotations

import html
import inspect
import sys
from typing import Any

from ._kernels import takes_values


class Parameters:
    """Constructor arguments as parameters."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator by name.

        Parameters
        ----------
        deep : bool, default=True
            For the sake of scikit-learn's interface; no parameter is itself an estimator.

        Returns
        -------
        params : dict
        """
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Any:
        """Set parameters of this estimator.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self : object
        """
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {known}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        out, account = {"text/plain": repr(self)}, self._account_html()
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return {**out, "text/html": f"<pre>{html.escape(repr(self))}</pre>{account}"} if account else out
        return {**out, "text/html": estimator_html_repr(self) + account}

    def _account(self) -> dict[str, Any]:
        """What a notebook shows of a fitted model beside its parameters."""
        return {}

    def _account_html(self) -> str:
        """A fitted model in a few lines; nothing before."""
        if getattr(self, "_model", None) is None:
            return ""
        row = '<tr><th style="text-align:left">{}</th><td style="text-align:left">{}</td></tr>'
        lines = (row.format(html.escape(str(name)), html.escape(str(value))) for name, value in self._account().items())
        return f"<table>{''.join(lines)}</table>"


class Tags:
    """Tags and metadata routing."""

    _estimator_type: str | None = None

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        kind = self._estimator_type
        precomputed = takes_values(getattr(self, "kernel", None))
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=kind in ("classifier", "regressor")),
            transformer_tags=TransformerTags(preserves_dtype=["float64", "float32"]) if hasattr(self, "transform") else None,
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=True, pairwise=precomputed),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None

    def _fit_metadata(self) -> list[str]:
        parameters = inspect.signature(type(self).fit).parameters.values()  # type: ignore[attr-defined]
        return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY or p.name == "sample_weight"]

    def get_metadata_routing(self) -> Any:
        """What of `Z` and `sample_weight` meta-estimators of scikit-learn pass on.

        Returns
        -------
        routing : MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest

        routing = MetadataRequest(owner=self)
        for name in self._fit_metadata():
            routing.fit.add_request(param=name, alias=getattr(self, "_fit_request", {}).get(name))
        return routing

    def set_fit_request(self, **requests: bool | None) -> Any:
        """Say what of `Z` and `sample_weight` meta-estimators of scikit-learn shall pass to `fit`.

        Parameters
        ----------
        **requests : bool or None
            True or False by name.

        Returns
        -------
        self : object
        """
        unknown = set(requests) - set(self._fit_metadata())
        if unknown:
            raise TypeError(f"Unexpected args: {unknown} in fit. Accepted arguments are: {set(self._fit_metadata())}")
        self._fit_request = {**getattr(self, "_fit_request", {}), **requests}
        return self


class Output:
    """Frames as outputs of `transform`."""

    _sklearn_auto_wrap_output_keys = {"transform"}

    def set_output(self, *, transform: str | None = None) -> Any:
        """Say what `transform` returns; scikit-learn must be installed.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            Arrays or frames; None leaves it as it is.

        Returns
        -------
        self : object
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def _wrapped(self, values: Any, X: Any) -> Any:
        if "sklearn" not in sys.modules and not hasattr(self, "_sklearn_output_config"):
            return values
        from sklearn.utils._set_output import _wrap_data_with_container

        return _wrap_data_with_container("transform", values, X, self)
