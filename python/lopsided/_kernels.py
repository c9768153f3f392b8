"""Kernels that are no names of the library: the matrix of values itself, and functions written in Python, which are
evaluated once, in blocks of rows. The slow path.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._core import is_precomputed
from ._inputs import is_sparse

#: Rows that are evaluated at once.
BLOCK = 1024


def takes_values(kernel: Any) -> bool:
    """Whether X is the matrix of kernel values."""
    return isinstance(kernel, str) and is_precomputed(kernel)


def kernel_matrix(kernel: Callable[..., Any], X: Any, Z: Any) -> np.ndarray:
    """G[i, j] = k(x_i, z_j) by a function of two sample sets, K(X, Z), or of two samples, k(x, z)."""
    X, Z = sequence(X), sequence(Z)
    rows = _of_sets if _takes_sets(kernel, X, Z) else _of_pairs
    out = np.empty((X.shape[0], Z.shape[0]))
    for start in range(0, X.shape[0], BLOCK):
        out[start : start + BLOCK] = rows(kernel, X[start : start + BLOCK], Z)
    return out


def sequence(X: Any) -> Any:
    """Samples that can be sliced: rows of numbers, or a vector of strings or objects."""
    if is_sparse(X):
        return X.tocsr()
    if hasattr(X, "to_numpy"):
        return np.asarray(X.to_numpy())
    if isinstance(X, np.ndarray) or not isinstance(X, (list, tuple)):
        return np.asarray(X)
    if all(isinstance(x, (list, tuple, np.ndarray)) and len(x) == len(X[0]) for x in X):
        rows = np.asarray(X)
        if rows.dtype.kind in "fiub":
            return rows
    things = np.empty(len(X), dtype=object)
    for i, thing in enumerate(X):
        things[i] = thing
    return things


def is_of_objects(things: Any) -> bool:
    """Whether samples are something else than rows of numbers."""
    return not is_sparse(things) and things.ndim == 1 and things.dtype.kind in "OUS"


def _takes_sets(kernel: Callable[..., Any], X: Any, Z: Any) -> bool:
    """Whether the kernel turns 2 and 3 samples into a 2 x 3 matrix; one of samples fails or gives something else."""
    few, more = X[: min(2, X.shape[0])], Z[: min(3, Z.shape[0])]
    try:
        return np.shape(kernel(few, more)) == (few.shape[0], more.shape[0])
    except Exception:
        return False


def _of_sets(kernel: Callable[..., Any], X: Any, Z: Any) -> np.ndarray:
    values = np.asarray(kernel(X, Z), dtype=np.float64)
    if values.shape != (X.shape[0], Z.shape[0]):
        raise ValueError(f"the kernel returned an array of shape {values.shape} but must return {(X.shape[0], Z.shape[0])}")
    return values


def _of_pairs(kernel: Callable[..., Any], X: Any, Z: Any) -> np.ndarray:
    values = [[float(kernel(x, z)) for z in Z] for x in X]
    return np.asarray(values, dtype=np.float64).reshape(X.shape[0], Z.shape[0])
