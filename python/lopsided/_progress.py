"""Progress of a fit."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def listener(estimator: Any, verbose: int) -> Callable[..., None] | None:
    """What hears how far a fit is: lines on stderr with `verbose`, nothing without."""
    if not verbose:
        return None
    name = type(estimator).__name__

    def tell(stage: str, done: int, total: int, residual: float | None) -> None:
        amount = f" {done}/{total}" if total else f" {done}" if done else ""
        rest = "" if residual is None else f", residual {residual:.1e}"
        print(f"[{name}] {stage}{amount}{rest}", file=sys.stderr)

    return tell
