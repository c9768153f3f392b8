"""Exceptions and warnings: scikit-learn's where it is installed, ours of the same name elsewhere."""
from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).parent)


class _NotFittedError(ValueError, AttributeError):
    pass


class _ConvergenceWarning(UserWarning):
    pass


class _DataConversionWarning(UserWarning):
    pass


def _of_sklearn(name: str, ours: type) -> Any:
    try:
        from sklearn import exceptions
    except ImportError:
        return ours
    return getattr(exceptions, name)


def not_fitted_error() -> Any:
    """The exception for estimators that were not fitted."""
    return _of_sklearn("NotFittedError", _NotFittedError)


def convergence_warning() -> Any:
    """The warning for solvers that did not reach their tolerance."""
    return _of_sklearn("ConvergenceWarning", _ConvergenceWarning)


def data_conversion_warning() -> Any:
    """The warning for targets of an unexpected shape."""
    return _of_sklearn("DataConversionWarning", _DataConversionWarning)


def warn(sentence: str, category: Any = UserWarning) -> None:
    """A warning that points to the line of the caller: the first one outside of this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)
