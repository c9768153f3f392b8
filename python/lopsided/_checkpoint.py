"""Fits that can be taken up again."""
from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ._core import Checkpoint


@contextmanager
def checkpoint(path: str | os.PathLike[str], *, resume: bool = False, every: float = 10.0) -> Iterator[None]:
    """Leave the state of the fits inside in a file, to go on from it after an interruption.

    The fits inside (of this thread) write their states to the file now and then. If the process is interrupted or
    killed, the same block with ``resume=True``, the same settings and the same data goes on from there and ends with the
    same bits as if it had never been interrupted. When the block ends without an exception the file is removed, so that
    whatever keeps the models, such as ``save``, belongs inside.

    Parameters
    ----------
    path : str or path-like
        The file. No other process may write it meanwhile.
    resume : bool, default=False
        Go on from the file; where there is none yet, begin anew. A file that is damaged, or that belongs to other
        settings, other data or another version, is refused. Without `resume` an old file is written over.
    every : float, default=10.0
        Seconds between two states at least.

    Examples
    --------
    >>> import numpy as np
    >>> import lopsided
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> with lopsided.checkpoint("fit.state", resume=True):
    ...     model = lopsided.KernelSVD(rank=2, kernel="rbf").fit(X, Z=X)
    """
    state = Checkpoint(os.fspath(path), resume, every)
    state.enter()
    done = False
    try:
        yield
        done = True
    finally:
        state.leave(done)
