"""Precomputed kernels that are not symmetric."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._kernels import takes_values


class KernelMatrix:
    """The values of a kernel in both directions, cut on both sides by scikit-learn's cross-validation and searches.

    Of an array K scikit-learn passes on the rows k(new, known) alone; a kernel that is not symmetric needs the columns
    k(known, new) as well. Estimators with `kernel="precomputed"` take this as X wherever they take an array.

    Parameters
    ----------
    rows : array-like of shape (n_samples, n_known)
        k(x_i, known_j).
    columns : array-like of shape (n_known, n_samples), default=None
        k(known_j, x_i); of a square matrix of samples that are all known, the matrix itself.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsKLSClassifier, KernelMatrix
    >>> from sklearn.model_selection import cross_val_score
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1, 2], 40)
    >>> K = 1.0 * (y[:, None] == (y + 1) % 3) + 0.3 * rng.standard_normal((120, 120))  # class c looks at class c + 2
    >>> scores = cross_val_score(AsKLSClassifier(kernel="precomputed"), KernelMatrix(K), y)
    >>> bool(scores.mean() > 0.9)
    True
    """

    def __init__(self, rows: Any, columns: Any = None) -> None:
        self.rows = np.asarray(rows)
        if self.rows.ndim != 2:
            raise ValueError(f"a kernel matrix has two dimensions, but rows has {self.rows.ndim}")
        if columns is None and self.rows.shape[0] != self.rows.shape[1]:
            raise ValueError(f"rows is of shape {self.rows.shape}: `columns` may be left out for a square matrix only")
        self.columns = self.rows if columns is None else np.asarray(columns)
        if self.columns.shape != self.rows.shape[::-1]:
            raise ValueError(f"columns is of shape {self.columns.shape} but must be of shape {self.rows.shape[::-1]}")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of those they are compared with."""
        return self.rows.shape[0], self.rows.shape[1]

    def __len__(self) -> int:
        return self.rows.shape[0]

    def __getitem__(self, which: Any) -> KernelMatrix:
        return KernelMatrix(self.rows[which], self.columns.T[which].T)

    def refuse_unless_precomputed(self, kernel: str) -> None:
        """Kernels that are computed need samples."""
        if not takes_values(kernel):
            raise ValueError(f"X is a KernelMatrix, so `kernel` must be 'precomputed' but is {kernel!r}")


def is_symmetric(parts: Any) -> bool:
    """Whether a square array equals its transpose but for rounding."""
    if isinstance(parts, tuple) or parts.shape[0] != parts.shape[1]:
        return True
    return bool(np.allclose(parts, parts.T, rtol=1e-5, atol=1e-8 * float(np.abs(parts).max(initial=0.0))))
