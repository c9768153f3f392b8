"""What online estimators share: trials, their losses, regret, checkpoints."""
from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _core
from ._base import Estimator, recipe
from ._docs import documented, entries
from ._machines import dense, parameters_of
from ._progress import progress

KERNELS = ("kernel", "gamma", "degree", "coef0", "right_kernel", "right_gamma", "right_degree", "right_coef0")
STEPS = ("steps", "step", "horizon", "expected_loss", "expected_rank")
BOUNDS = ("normalize", "budget", "removal")


WORDS = entries("""
learner : str
    "gd-trace", "gd-spectral" or "gd-frobenius" (gradient descent in a ball of that norm) or "p-norm" (perceptron)
    for pairs; "gd-symmetric", "eg-plus" or "meg" for single samples.
loss : {"squared", "absolute", "logistic", "hinge", "gain"}
    The learner's usual loss, "squared" for gradient descent; "logistic" and "hinge" take labels 1 and -1.
radius : float
    Bound of the norm of W; 1, and none for losses of labels with automatic steps.
kernel : {"linear", "poly", "rbf", "laplacian"}
    Kernel of the rows of X, whose features are phi.
gamma : float
    Coefficient of distance or scalar product; 1/n_features.
degree : float
    Degree of the kernel "poly"; 3.
coef0 : float
    Constant of the kernel "poly"; 1.
right_kernel : str
    Kernel of the rows of Z; that of X, with the same numbers.
right_gamma : float
    Its gamma.
right_degree : float
    Its degree.
right_coef0 : float
    Its constant.
power : float
    p of the learner "p-norm"; 4.
dimension : int
    Number of features of the kernel, for the learner "meg".
steps : {"auto", "fixed", "decreasing", "tuned"}
    Sizes of the steps: by the sizes of what was seen, `step`, `step`/sqrt(t) in trial t, or what the theorem wants.
    "tuned" with `horizon`, "decreasing" with `step`, else "auto".
step : float
    Size of the steps; 1.
horizon : int
    Number of trials that tuned steps are made for.
expected_loss : float
    Loss of the best matrix that tuned steps of exponentiated gradients are made for.
expected_rank : int
    Rank of the best matrix that tuned steps of exponentiated gradients are made for.
normalize : bool
    Scale every sample to unit length in feature space.
budget : int
    Most samples that are stored on each side.
removal : {"merge", "drop"}
    How a sample goes when the budget is full.
""")


@documented
class OnlineLearner(Estimator):
    """An estimator over a learner of the core."""

    _words = WORDS
    _attributes = ("n_trials_", "n_iter_", "losses_", "cumulative_loss_", *Estimator._attributes)
    _trials: list[Any] | None = None

    def _learner_settings(self, width: int, right_width: int | None) -> str:
        values = {name: getattr(self, name, None) for name in self._core_settings}
        for side, of in (("", width), ("right_", right_width or width)):
            kernel = values.get(f"{side}kernel")
            known = parameters_of(kernel) if kernel is not None else ()
            for name in ("gamma", "degree", "coef0"):
                if known is not None and name not in known:
                    values.pop(f"{side}{name}", None)
            if known and "gamma" in known and values.get(f"{side}gamma") is None:
                values[f"{side}gamma"] = 1.0 / of
        return recipe({self._renamed.get(name, name): value for name, value in values.items()})

    def _start(self, width: int, right_width: int | None = None) -> None:
        name = getattr(self, "learner", self._core_name)
        try:
            self._model = _core.Learner(name, self._learner_settings(width, right_width))
        except ValueError as error:
            raise ValueError(self._in_our_words(str(error))) from None
        self._trials = []

    def _learn(self, x: Any, z: Any, y: np.ndarray) -> Any:
        """All trials in order; an interrupt leaves what was learned so far."""
        before = self._model.trials
        try:
            with progress(self) as listener:
                self._model.learn(x, z, y, listener)
        finally:
            done = self._model.trials - before
            self._keep((x, z, y), done)
            self._restore()
        return self

    def _keep(self, trials: tuple[Any, Any, np.ndarray], count: int) -> None:
        if self._model.trials > self.keep_trials:
            self._trials = None
        if self._trials is not None:
            self._trials.append(tuple(_first(part, count) for part in trials))

    def _restore(self) -> None:
        self.report_ = json.loads(self._model.report())
        self.n_trials_ = self.n_iter_ = self._model.trials
        self.losses_ = self._model.losses()

    @property
    def cumulative_loss_(self) -> float:
        """Sum of the losses of all trials."""
        self._fitted()
        return self.report_["account"]["cumulative_loss"]

    def regret(self, *, curve: bool = False) -> Any:
        """Compare the losses with those of the best fixed matrix in hindsight.

        Parameters
        ----------
        curve : bool, default=False
            Also after 1, 2, 3, 4, 6, 8, 12, … trials.

        Returns
        -------
        regret : dict or list of dict
            With `trials`, `loss` of the learner, `comparator`, the loss of the best fixed matrix, `gap`, by which
            another one may be better, `regret`, the difference of the losses, and `bound`, what the theory allows, None
            where it says nothing; `bound_note` then says why, and how to get one.
        """
        model = self._fitted()
        points = [_regret_point(point) for point in json.loads(model.regret(*self._kept(), curve))]
        return points if curve else points[-1]

    def _kept(self) -> tuple[Any, Any, Any]:
        if self._trials is None:
            raise ValueError(
                f"the {self.n_trials_} trials are not known any more: `keep_trials` is {self.keep_trials}, and files have "
                "none"
            )
        x, z, y = (_joined([trial[i] for trial in self._trials]) for i in range(3))
        return x, z, y

    def report(self, path: Any, *, labels: Any = None) -> None:
        """Write a page with the regret and its bound: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path-like
            Where to write.
        labels : None
            Left out: there are no samples to colour.
        """
        if labels is not None:
            raise ValueError("`labels` colours the samples of an embedding: leave it out for an online learner")
        self._fitted().page(path, type(self).__name__, self._kept())

    def _account(self) -> dict[str, Any]:
        account = self.report_["account"]
        return {"trials": account["trials"], "cumulative loss": account["cumulative_loss"], "rank": account["rank"]}

    @classmethod
    def load(cls, path: Any) -> Any:
        """Read a checkpoint written by `save` or by the program `lopsided online`.

        Returns
        -------
        estimator : object
            A learner that goes on where the checkpoint was made. It has the defaults as parameters; what it learns with is
            in `report_`.
        """
        out = cls()
        out._model = _core.Learner.load(path)
        out._trials = None
        out._restore()
        out._check_file()
        return out

    def _check_file(self) -> None:
        """Refuses checkpoints of other learners."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        model = state.get("_model")
        self.__dict__.update(state)
        if isinstance(model, bytes):
            self._model = _core.Learner.from_bytes(model)


def _first(part: Any, count: int) -> Any:
    """A copy of the first samples: whoever passes them may write to their memory afterwards."""
    if isinstance(part, tuple):
        end = part[1][count]
        return part[0], part[1][: count + 1].copy(), part[2][:end].copy(), part[3][:end].copy()
    return None if part is None else part[:count].copy()


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1 or parts[0] is None:
        return parts[0]
    return np.concatenate([dense(part) for part in parts])


def _regret_point(point: dict[str, Any]) -> dict[str, Any]:
    names = {"cumulative_loss": "loss", "comparator_loss": "comparator"}
    return {names.get(name, name): value for name, value in point.items()}
