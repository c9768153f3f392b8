"""Progress of a fit: scikit-learn's callbacks where they were set, lines on stderr with `verbose`."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Listener = Callable[[str, int, int, "float | None"], None]


class Callbacks:
    """scikit-learn's callbacks, in versions that have them."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set callbacks of scikit-learn, such as its ProgressBar, to be told how far a fit is.

        Parameters
        ----------
        *callbacks : callback instances
            None removes those that were set.

        Returns
        -------
        self : object
        """
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin.set_callbacks(self, *callbacks)

    def _init_callback_context(self, **settings: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(self, **settings)


@contextmanager
def progress(estimator: Any) -> Iterator[Listener | None]:
    """What hears how far the fit inside is; None where nobody wants to know."""
    listeners: list[Listener] = [_printer(estimator)] if getattr(estimator, "verbose", 0) else []
    if not hasattr(estimator, "_skl_callbacks"):
        yield listeners[0] if listeners else None
        return
    from sklearn.callback._callback_support import callback_management_context

    with callback_management_context(estimator):
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator)
        listeners.append(_caller(estimator, context))

        def tell(*news: Any) -> None:
            for listener in listeners:
                listener(*news)

        yield tell
        context.call_on_fit_task_end(estimator=estimator)


def _printer(estimator: Any) -> Listener:
    name = type(estimator).__name__

    def tell(stage: str, done: int, total: int, residual: float | None) -> None:
        amount = f" {done}/{total}" if total else f" {done}" if done else ""
        rest = "" if residual is None else f", residual {residual:.1e}"
        print(f"[{name}] {stage}{amount}{rest}", file=sys.stderr)

    return tell


def _caller(estimator: Any, context: Any) -> Listener:
    """A task of the callbacks for each report."""

    def tell(stage: str, done: int, total: int, residual: float | None) -> None:
        step = context.subcontext(task_name=stage)
        step.call_on_fit_task_begin(estimator=estimator)
        step.call_on_fit_task_end(estimator=estimator)

    return tell
