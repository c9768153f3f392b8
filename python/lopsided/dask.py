"""Landmark machines on a Dask cluster: the same estimators, learned from rows that no machine holds, with the same bits.

    import lopsided.dask as ld
    model = ld.NystromRidge(n_landmarks=2000).fit(X, y)    # dask arrays, dataframes, or a list of files
    model.predict(X)                                       # a lazy dask array of the same chunks

A pass is a graph of pure functions: each takes a chunk of rows and the state of the fit and gives the sums of the chunk, sums merge
pairwise in an order that the numbers of the chunks alone decide, and the last task makes the next state or the model. Nothing is
scattered and there are no actors: a worker that is lost takes nothing along that cannot be computed again. Rows stay on the workers;
what travels are sums, a few megabytes each.

This module needs `pip install lopsided[dask]`, and only whoever imports it loads Dask.
"""
# mypy: disable-error-code="override, misc, assignment"
from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

try:
    import dask
    import dask.array as da
except ImportError as error:  # pragma: no cover
    raise ImportError("lopsided.dask needs Dask: pip install 'lopsided[dask]'") from error

import numpy as np

from . import _core
from . import _nystrom as _ridge
from . import _nystrom_classes as _classes
from . import _nystrom_features as _features
from ._base import Estimator, recipe
from ._inputs import feature_names, samples, seed_of
from ._machines import KERNEL_PARAMETERS, parameters_of

__all__ = ["NystromFeatures", "NystromLogistic", "NystromPCA", "NystromRidge", "NystromSVC"]

#: Rows that are summed up as one piece; chunks are made of whole pieces.
PIECE = 8192


class Distributed(Estimator):
    """What estimators on a cluster share: the passes."""

    _local: type
    _more: dict[str, Any] = {}
    _own_settings: tuple[str, ...] = ()

    def _fit(self, X: Any, y: Any = None) -> Any:
        table = _Files.of(X, y) if _is_files(X) else _Chunks.of(X, y, int(self.piece), self._kind)
        self.n_features_in_ = table.width
        names = getattr(table, "names", None)
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        settings, seed = self._job(table.width), seed_of(self.random_state)
        self._learned(lambda listener: self._passes(recipe(settings), seed, table, listener))
        self._restore()
        return self

    def _passes(self, settings: str, seed: int, table: Any, listener: Any) -> Any:
        """The model that comes out of the last pass; `listener` hears how many there were."""
        state: Any = _core.shards_begin(self._core_name, settings, seed, table.single)
        self.n_passes_ = 0
        while isinstance(state, bytes):
            self.n_passes_ += 1
            if listener is not None:
                listener(f"pass {self.n_passes_} over {table.rows} rows", self.n_passes_, 0, None)
            state = _computed(table.passed(state, self.n_passes_), type(self).__name__)
        return _core.Model.from_bytes(state.model)

    #: What the targets are: None, "classes" or "values".
    _kind: str | None = None

    def _job(self, width: int) -> dict[str, Any]:
        """The settings of the core."""
        known = parameters_of(self._kernel_name) or ()
        own = {name: getattr(self, name) for name in (*KERNEL_PARAMETERS, *self._own_settings)}
        own = {name: value for name, value in own.items() if name not in KERNEL_PARAMETERS or name in known}
        if "gamma" in own and (own["gamma"] is None or own["gamma"] == "auto"):
            own["gamma"] = 1.0 / width
        if own.get("gamma") == "scale" and self.kernel == "poly":
            raise ValueError("`gamma` is 'scale' but must be a number or None for the kernel 'poly' on a cluster")
        own |= {"kernel": self.kernel, "n_landmarks": self.n_landmarks, "piece": self.piece} | self._more
        scale = {} if self._kind is None else {"scale": "none"}
        return {self._renamed.get(name, name): value for name, value in own.items()} | scale

    def to_local(self) -> Any:
        """The fitted model as the ordinary estimator of `lopsided`.

        Returns
        -------
        estimator : object
            With the parameters that both have.
        """
        self._fitted()
        out = self._local()
        for name in out._parameter_names():
            if name in self.__dict__ or name in vars(type(self)):
                setattr(out, name, getattr(self, name))
        for name, value in self.__dict__.items():
            if name.endswith("_") or name == "_model":
                out.__dict__[name] = value
        return out

    def _lazily(self, method: str, X: Any, shape: Any, dtype: Any) -> Any:
        """A method of the ordinary estimator on every chunk of a dask array; at once for anything else."""
        X = _array(X)
        local = self.to_local()
        if not isinstance(X, da.Array):
            return getattr(local, method)(X)
        X = X.rechunk({1: -1})
        local.__dict__.pop("feature_names_in_", None)  # chunks have none
        one = dask.delayed(local, pure=True)
        called = functools.partial(_called, method)
        chunks = {"chunks": (X.chunks[0], (shape,))} if shape else {"drop_axis": 1}
        return X.map_blocks(called, model=one, dtype=dtype, meta=np.empty((0,) * (2 if shape else 1), dtype=dtype), **chunks)


def _called(method: str, chunk: Any, model: Any = None) -> Any:
    _sized()
    return getattr(model, method)(np.asarray(chunk))


class _Model:
    """The bytes of a model that came out."""

    def __init__(self, model: bytes):
        self.model = model


def _computed(task: Any, who: str) -> Any:
    """The result of the last task of a pass, on the cluster if there is one."""
    try:
        return task.compute()
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            raise RuntimeError(
                f"{who}: workers were ended again and again while they summed up a chunk, as a rule because their memory did not "
                "suffice: take smaller chunks, fewer landmarks or workers with more memory"
            ) from error
        raise


def _sized() -> int:
    """As many threads as this worker has, for all work in its process; 0 outside of a worker: as there are."""
    try:
        from distributed import get_worker

        return int(get_worker().state.nthreads)
    except (ImportError, ValueError):
        return 0


def _part(state: bytes, table: tuple[int, int], number: int, first: int, rows: int, kind: Any, x: Any, y: Any) -> bytes:
    """The sums of a chunk."""
    x = np.asarray(x) if not hasattr(x, "tocsr") else x
    if len(x.shape) != 2 or x.shape[0] != rows or (y is not None and len(y) != rows):
        found = x.shape[0] if len(x.shape) == 2 and x.shape[0] != rows else None if y is None else len(y)
        raise ValueError(f"chunk {number} of {'X' if found == x.shape[0] else 'y'} has {found} rows where {rows} are announced")
    try:
        parts, _, _ = samples(x)
        return _core.shards_part(state, (*table, first), parts, _targets(y, kind), threads=_sized())
    except ValueError as error:
        raise type(error)(f"chunk {number}: {error}") from None


def _targets(y: Any, kind: Any) -> tuple[Any, Any, Any]:
    """Classes, values or several values."""
    if y is None or kind is None:
        return None, None, None
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if kind == "values":
        values = np.require(y, np.float64, ["C", "A"])
        if not np.isfinite(values).all():
            raise ValueError("Input y contains NaN or infinity.")
        return (None, values, None) if y.ndim == 1 else (None, None, values)
    if y.dtype.kind == "f":
        if not (np.floor(y) == y).all():
            raise ValueError("Unknown label type: continuous. Classes are whole numbers or words.")
        y = y.astype(np.int64)
    names, codes = np.unique(y, return_inverse=True)
    return ([str(name) for name in names.tolist()], codes.astype(np.int64).ravel()), None, None


def _part_of_files(state: bytes, files: Any, first: int, end: int) -> bytes:
    return _core.shards_part_of_files(state, files, first, end, threads=_sized())


def _merged(parts: Sequence[bytes]) -> bytes:
    return _core.shards_merge(list(parts), threads=_sized())


def _finished(parts: Sequence[bytes]) -> Any:
    state, model = _core.shards_finish(list(parts), threads=_sized())
    return state if model is None else _Model(bytes(model.to_bytes()))


def _tree(parts: list[Any], name: str) -> Any:
    """Sums merge in pairs by their numbers, and the last pair becomes the next state or the model."""
    level = 0
    while len(parts) > 2:
        level += 1
        pairs = [parts[at : at + 2] for at in range(0, len(parts), 2)]
        parts = [
            pair[0] if len(pair) == 1 else dask.delayed(_merged, pure=True)(pair, dask_key_name=f"{name}-merge-{level}-{at}")
            for at, pair in enumerate(pairs)
        ]
    return dask.delayed(_finished, pure=True)(parts, dask_key_name=f"{name}-finish")


def _name(state: bytes, token: str, number: int) -> str:
    """The same for the same work."""
    return f"lopsided-pass-{number}-{hashlib.sha256(state + token.encode()).hexdigest()[:16]}"


class _Chunks:
    """Rows of a dask array in chunks of whole pieces, with their targets."""

    def __init__(self, X: Any, y: Any, kind: Any, names: Any):
        self.x, self.y, self.kind, self.names = X, y, kind, names
        self.rows, self.width = (int(size) for size in X.shape)
        self.single = X.dtype == np.float32
        self.token = dask.base.tokenize(X, y, kind)

    @classmethod
    def of(cls, X: Any, y: Any, piece: int, kind: str | None) -> _Chunks:
        names = feature_names(X) if not isinstance(X, da.Array) else None
        X = _array(X)
        if not isinstance(X, da.Array):
            X = da.from_array(np.asarray(X), chunks=(_rows_of(len(X), piece), -1))
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X has shape {X.shape}.")
        X = _known(X, "X").rechunk({1: -1})
        chunks = _whole_pieces(X.chunks[0], piece)
        if kind is None:
            return cls(X.rechunk({0: chunks}), None, None, names)
        if y is None:
            raise ValueError("This estimator requires y to be passed, but the target y is None.")
        y = _array(y)
        y = _known(y, "y") if isinstance(y, da.Array) else da.from_array(np.asarray(y), chunks=X.chunks[0][0])
        if len(y) != len(X):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: y has {len(y)}, X has {len(X)}")
        y = y.rechunk({0: chunks} if y.ndim == 1 else {0: chunks, 1: -1})
        return cls(X.rechunk({0: chunks}), y, kind, names)

    def passed(self, state: bytes, number: int) -> Any:
        """The task that ends a pass."""
        name = _name(state, self.token, number)
        shared = dask.delayed(state, name=f"{name}-state")
        rows, starts = self.x.chunks[0], np.cumsum((0, *self.x.chunks[0]))
        xs = self.x.to_delayed().ravel()
        ys = [None] * len(xs) if self.y is None else self.y.to_delayed().ravel()
        table, part = (self.rows, self.width), dask.delayed(_part, pure=True)
        parts = [
            part(shared, table, at, int(starts[at]), int(rows[at]), self.kind, x, y, dask_key_name=f"{name}-sums-{at}")
            for at, (x, y) in enumerate(zip(xs, ys, strict=True))
        ]
        return _tree(parts, name)


class _Files:
    """Rows of files that every worker can read: they never pass the scheduler."""

    single = False

    def __init__(self, files: Any):
        self.files = files
        self.rows, self.width = _core.shards_table(files)

    @classmethod
    def of(cls, X: Any, y: Any) -> _Files:
        paths = [os.fspath(path) for path in ([X] if isinstance(X, (str, os.PathLike)) else X)]
        column = y if isinstance(y, str) and not os.path.exists(y) else None
        labels = [] if y is None or column else [os.fspath(path) for path in ([y] if isinstance(y, (str, os.PathLike)) else y)]
        return cls((paths, labels, column))

    def passed(self, state: bytes, number: int) -> Any:
        name, piece = _name(state, repr(self.files), number), _piece_of(state)
        rows = _rows_of(self.rows, piece)
        shared, part = dask.delayed(state, name=f"{name}-state"), dask.delayed(_part_of_files, pure=True)
        ranges = [(first, min(first + rows, self.rows)) for first in range(0, self.rows, rows)]
        parts = [part(shared, self.files, *ends, dask_key_name=f"{name}-sums-{at}") for at, ends in enumerate(ranges)]
        return _tree(parts, name)


def _piece_of(state: bytes) -> int:
    """The size of pieces that a state says; its header is JSON."""
    length = int.from_bytes(state[:8], "little")
    meta = json.loads(json.loads(state[8 : 8 + length])["__metadata__"]["lopsided"])
    return int(meta["given"].get("piece", PIECE))


def _is_files(X: Any) -> bool:
    if isinstance(X, (str, os.PathLike)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(path, (str, os.PathLike)) for path in X)


def _array(X: Any) -> Any:
    """Dataframes and series of Dask as arrays; anything else as it is."""
    return X.to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X


def _known(X: Any, what: str) -> Any:
    """The same with chunks of known sizes, none of them empty."""
    if any(np.isnan(rows) for rows in X.chunks[0]):
        X = X.compute_chunk_sizes()
    for at, rows in enumerate(X.chunks[0]):
        if rows == 0:
            raise ValueError(f"chunk {at} of {what} has no rows: leave it out, or join the chunks")
    return X


def _rows_of(rows: int, piece: int) -> int:
    """Rows of a chunk of so many: a power of two of pieces, so that its sums are one node of the tree; at most 64 chunks."""
    wanted = max(1, rows // (64 * piece))
    return piece << (wanted - 1).bit_length()


def _whole_pieces(chunks: Sequence[int], piece: int) -> tuple[int, ...]:
    """The chunks themselves where all but the last end at a piece; else others about as large."""
    rows = int(sum(chunks))
    if all(end % piece == 0 for end in np.cumsum(chunks)[:-1]):
        return tuple(int(size) for size in chunks)
    usual = piece << max(0, int(max(chunks) // piece).bit_length() - 1)
    return tuple(min(usual, rows - first) for first in range(0, rows, usual))


class NystromRidge(Distributed, _ridge.NystromRidge):
    """Kernel ridge regression on landmarks, on a Dask cluster: see `lopsided.NystromRidge`.

    Parameters
    ----------
    piece : int, default=8192
        Rows that are summed up as one piece: the model depends on it, and on nothing else of how rows are shared out.
    """

    _local = _ridge.NystromRidge
    _kind = "values"
    _more = {"task": "values"}

    def __init__(
        self, alpha=1.0, *, kernel="rbf", gamma=None, degree=3, coef0=1, n_landmarks=None, piece=PIECE, random_state=None,
        verbose=0,
    ):
        self._take(locals())

    def _job(self, width: int) -> dict[str, Any]:
        return super()._job(width) | {"penalty": self._penalty()}

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn values; y may have several columns. With a list of files, y is a list of files, or the name of the column."""
        return self._fit(X, y)

    def predict(self, X: Any) -> Any:
        """Values of samples: a lazy dask array for one, else an array."""
        several = self._model.array("weights").shape[1]
        return self._lazily("predict", X, several if several > 1 else None, np.float64)


class _Classifier(Distributed, _classes.ClassMachine):
    _kind = "classes"

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn classes. With a list of files, y is a list of files, or the name of the column."""
        return self._fit(X, y)

    def _restore(self) -> None:
        C = self.C
        super()._restore()
        self.C = C

    def predict(self, X: Any) -> Any:
        """Classes of samples: a lazy dask array for one, else an array."""
        return self._lazily("predict", X, None, self.classes_.dtype)

    def decision_function(self, X: Any) -> Any:
        """Decision values of samples, likewise."""
        return self._lazily("decision_function", X, len(self.classes_) if len(self.classes_) > 2 else None, np.float64)


class NystromLogistic(_Classifier, _classes.NystromLogistic):
    """Kernel logistic regression on landmarks, on a Dask cluster: see `lopsided.NystromLogistic`.

    Parameters
    ----------
    piece : int, default=8192
        Rows that are summed up as one piece.
    """

    _local = _classes.NystromLogistic
    _own_settings = ("C", "tol")

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=0.0, n_landmarks=None, tol=1e-6, piece=PIECE,
        random_state=None, verbose=0,
    ):
        self._take(locals())

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, a column each."""
        return self._lazily("predict_proba", X, len(self.classes_), np.float64)


class NystromSVC(_Classifier, _classes.NystromSVC):
    """Support vector classification with the squared hinge on landmarks, one class against the rest, on a Dask cluster.

    Parameters
    ----------
    tol : float, default=1e-5
        Length of the gradient, relative to the one at zero, that counts as converged.
    piece : int, default=8192
        Rows that are summed up as one piece.
    """

    _local = _classes.NystromSVC
    _own_settings = ("C", "tol")
    _more = {"loss": "squared-hinge"}
    _core_name = "svm"
    nu = None
    loss = "squared_hinge"
    multi_class = "ovr"
    approach = "lla"
    probability = False

    def __init__(
        self, C=1.0, *, kernel="rbf", gamma="scale", degree=3, coef0=0.0, n_landmarks=None, tol=1e-5, piece=PIECE,
        random_state=None, verbose=0,
    ):
        self._take(locals())


class _Transformer(Distributed, _ridge.LandmarkTransformer):
    fit_inverse_transform = False

    def fit(self, X: Any, y: Any = None) -> Any:
        """Choose landmarks and find the features; of y only the name of a column counts, which is left out of files."""
        return self._fit(X, y if _is_files(X) else None)

    def transform(self, X: Any) -> Any:
        """Features of samples: a lazy dask array for one, else an array."""
        return self._lazily("transform", X, self._n_features_out, np.float32 if self._model.single else np.float64)


class NystromPCA(_Transformer, _features.NystromPCA):
    """Kernel principal components by landmarks, on a Dask cluster: see `lopsided.NystromPCA`.

    Parameters
    ----------
    piece : int, default=8192
        Rows that are summed up as one piece.
    """

    _local = _features.NystromPCA
    _own_settings = ("n_components", "center")

    def __init__(
        self, n_components=None, *, kernel="rbf", gamma=None, degree=3, coef0=1, center=True, n_landmarks=None, piece=PIECE,
        random_state=None, verbose=0,
    ):
        self._take(locals())


class NystromFeatures(_Transformer, _features.NystromFeatures):
    """Features of landmarks, on a Dask cluster: see `lopsided.NystromFeatures`.

    Parameters
    ----------
    piece : int, default=8192
        Rows that are summed up as one piece.
    """

    _local = _features.NystromFeatures

    def __init__(
        self, kernel="rbf", *, gamma=None, degree=3, coef0=1, n_landmarks=None, piece=PIECE, random_state=None, verbose=0,
    ):
        self._take(locals())
