"""From arrays, frames and sparse matrices to what the core takes."""
from __future__ import annotations

import numbers
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._exceptions import data_conversion_warning, warn


@dataclass
class Given:
    """What `_core` reads: samples, targets, names, links."""

    single: bool = False
    x: Any = None
    z: Any = None
    classes: tuple[list[str], np.ndarray] | None = None
    values: np.ndarray | None = None
    weights: np.ndarray | None = None
    row_ids: list[str] | None = None
    col_ids: list[str] | None = None
    links: tuple[list[str], np.ndarray, np.ndarray, np.ndarray] | None = None
    features: tuple[list[str], Any] | None = None
    columns: list[tuple[str, list[str | None] | None]] | None = None
    device: str | None = None
    fast: bool = False

    def count(self) -> int:
        """Number of samples."""
        return len(self.x[1]) - 1 if isinstance(self.x, tuple) else self.x.shape[0]


def is_list(value: Any) -> bool:
    """Whether a setting has several numbers."""
    return value is not None and not isinstance(value, str) and np.ndim(value) > 0


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy."""
    return "scipy.sparse" in sys.modules and sys.modules["scipy.sparse"].issparse(X)


def feature_names(X: Any) -> np.ndarray | None:
    """The columns of a frame, if all of them are strings."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # pyarrow has both
    if names is None or callable(names):
        return None
    names = np.asarray(list(names), dtype=object)
    kinds = {type(name).__name__ for name in names}
    if len(kinds) > 1 and "str" in kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted(kinds)} as feature name / column name types. If you want feature names to be stored and "
            "validated, you must convert them all to strings, by using X.columns = X.columns.astype(str) for "
            "example. Otherwise you can remove feature / column names from your input data, or convert them all to "
            "a non-string data type."
        )
    return names if kinds == {"str"} else None


def _to_array(X: Any) -> np.ndarray:
    """X as an array of NumPy; arrays of other libraries come by DLPack, from a GPU by copying."""
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if hasattr(X, "itercolumns") and hasattr(X, "column_names"):  # pyarrow
        return np.column_stack([column.to_numpy() for column in X.columns])
    if hasattr(X, "to_numpy"):
        return np.asarray(X.to_numpy())
    if not hasattr(X, "__dlpack__"):
        return np.asarray(X)
    try:
        return np.from_dlpack(X)
    except (BufferError, RuntimeError, TypeError, ValueError):
        moved = X.cpu() if hasattr(X, "cpu") else X.get() if hasattr(X, "get") else X
        return np.asarray(moved)


def numbers_of(X: Any, what: str = "X") -> np.ndarray:
    """X as floats: float64 and float32 arrays as they are, everything else as float64."""
    array = _to_array(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} is {array.dtype}")
    if array.dtype.kind in "US":
        raise ValueError(f"{what} has strings, dtype {array.dtype}; numbers are expected")
    if array.dtype not in (np.float64, np.float32):
        array = array.astype(np.float64)
    return array


def _contiguous(array: np.ndarray) -> np.ndarray:
    fits = array.flags.aligned and (array.flags.c_contiguous or array.flags.f_contiguous)
    return array if fits else np.require(array, requirements=["C", "A"])  # arrays from a network may be unaligned


def _sparse_parts(X: Any) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is {X.dtype}")
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    values = rows.data if rows.data.dtype in (np.float64, np.float32) else rows.data.astype(np.float64)
    return rows.shape[1], rows.indptr.astype(np.int64, copy=False), rows.indices.astype(np.uint32), values


def samples(X: Any, what: str = "X", least: int = 1) -> tuple[Any, tuple[int, int], np.dtype]:
    """Samples as the core takes them, their shape and their dtype."""
    out: Any
    if is_sparse(X):
        out = _sparse_parts(X)
        shape, dtype = X.shape, out[3].dtype
    else:
        array = numbers_of(X, what)
        if array.ndim != 2:
            advice = "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or " \
                     "array.reshape(1, -1) if it contains a single sample."
            raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: {what} has shape {array.shape}. {advice}")
        out = _contiguous(array)
        shape, dtype = array.shape, array.dtype
    for count, noun in ((shape[0], "sample"), (shape[1], "feature")):
        minimum = least if noun == "sample" else 1
        if count < minimum:
            raise ValueError(f"Found array with {count} {noun}(s) (shape={tuple(shape)}) while a minimum of {minimum} is required.")
    return out, (shape[0], shape[1]), dtype


def cast(parts: Any, dtype: Any) -> Any:
    """Samples in another precision; the same object if they have it already."""
    if isinstance(parts, tuple):
        return (*parts[:3], parts[3].astype(dtype, copy=False))
    return parts.astype(dtype, copy=False)


def seed_of(random_state: Any) -> int:
    """A seed of the core: None is 0, so that equal calls give equal results."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise ValueError(f"`random_state` is {random_state} but must be at least 0")
        return int(random_state)
    if hasattr(random_state, "randint"):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if hasattr(random_state, "integers"):
        return int(random_state.integers(np.iinfo(np.int32).max))
    raise ValueError(f"{random_state!r} cannot be used to seed a numpy.random.RandomState instance")


def column(y: Any) -> np.ndarray:
    """Targets as a vector; a single column is taken with the warning of scikit-learn."""
    y = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            data_conversion_warning(),
        )
        return y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    return y


def r_squared(y: Any, found: np.ndarray, sample_weight: Any) -> float:
    """Coefficient of determination, the mean of several targets; 1 or 0 for a constant target."""
    y = np.asarray(y, dtype=np.float64)
    weights = weights_of(sample_weight, len(y))
    rest = np.atleast_1d(np.average((y - found) ** 2, weights=weights, axis=0))
    total = np.atleast_1d(np.average((y - np.average(y, weights=weights, axis=0)) ** 2, weights=weights, axis=0))
    constant = total == 0
    scores = np.where(constant, np.where(rest == 0, 1.0, 0.0), 1 - rest / np.where(constant, 1.0, total))
    return float(scores.mean())


def check_length(count: int, expected: int, what: str) -> None:
    """Refuses targets or weights that are not one for each sample."""
    if count != expected:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {what} has {count}, X has {expected}")


def weights_of(sample_weight: Any, count: int) -> np.ndarray | None:
    """Weights as float64, one for each sample."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(np.asarray(sample_weight), dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(count, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    check_length(len(weights), count, "sample_weight")
    return weights
