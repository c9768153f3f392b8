"""Spectra and regret as pictures."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._docs import documented
from ._exceptions import not_fitted_error

#: Colours that people with any kind of colour vision can tell apart (Okabe and Ito), and markers for the rest.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = "osD^vPX*"


def pyplot() -> Any:
    """matplotlib's pyplot, which nothing else imports."""
    try:
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib: install it with `pip install matplotlib`") from error
    return matplotlib.pyplot


@documented
class SpectrumDisplay:
    """Singular values or eigenvalues of a fitted estimator.

    Parameters
    ----------
    values : ndarray of shape (n_components,)
        The values, descending.
    name : str, default="singular value"
        What they are.

    Attributes
    ----------
    ax_
    figure_
    line_ : matplotlib Line2D
        The values.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> from lopsided.plotting import SpectrumDisplay
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> display = SpectrumDisplay.from_estimator(KernelSVD(rank=5).fit(X))
    """

    _arguments = {"estimator": "estimator drawn"}

    def __init__(self, values: Any, *, name: str = "singular value") -> None:
        self.values = np.asarray(values)
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> SpectrumDisplay:
        """Draw the spectrum of an estimator."""
        if hasattr(estimator, "singular_values_"):
            return cls(estimator.singular_values_).plot(ax, **kwargs)
        values = attribute(estimator, "eigenvalues_", "a spectrum")
        return cls(values, name="eigenvalue").plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> SpectrumDisplay:
        """Draw the values, on a logarithmic scale where they spread over more than two powers of ten."""
        self.ax_, self.figure_ = axes(ax)
        style = {"color": COLORS[0], "marker": "o", "markersize": 4, **kwargs}
        (self.line_,) = self.ax_.plot(np.arange(len(self.values)), self.values, **style)
        if len(self.values) and 0 < self.values.min() < self.values.max() / 100:
            self.ax_.set_yscale("log")
        else:
            self.ax_.set_ylim(bottom=0)
        self.ax_.set(xlabel="component", ylabel=self.name)
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        return self


@documented
class RegretDisplay:
    """Regret of an online learner after some of its trials, with the bound of the theory.

    Parameters
    ----------
    points : list of dict
        What `regret(curve=True)` returns.
    name : str, default="learner"
        Name of the learner.

    Attributes
    ----------
    ax_
    figure_
    lines_ : list of matplotlib Line2D
        Regret, and the bound where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import OnlineKernelPCA
    >>> from lopsided.plotting import RegretDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> display = RegretDisplay.from_estimator(OnlineKernelPCA(horizon=100).fit(X))
    """

    _arguments = {"estimator": "estimator drawn"}

    def __init__(self, points: list[dict[str, Any]], *, name: str = "learner") -> None:
        self.points = points
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> RegretDisplay:
        """Draw the regret of an online learner."""
        regret = attribute(estimator, "regret", "a regret")
        points = regret(curve=True)
        return cls(points, name=estimator.report_["spec"]["name"]).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> RegretDisplay:
        """Draw regret and bound against the trials."""
        self.ax_, self.figure_ = axes(ax)
        trials = [point["trials"] for point in self.points]
        style = {"color": COLORS[0], "marker": "o", "markersize": 4, "label": "regret", **kwargs}
        self.lines_ = self.ax_.plot(trials, [point["regret"] for point in self.points], **style)
        known = [(point["trials"], point["bound"]) for point in self.points if point["bound"] is not None]
        if known:
            self.lines_ += self.ax_.plot(*zip(*known), color=COLORS[1], linestyle="--", label="bound")
        self.ax_.axhline(0.0, color="gray", linewidth=0.8)
        self.ax_.set(xlabel="trials", ylabel="regret (sum of losses above the best matrix)", title=self.name)
        self.ax_.legend(frameon=False)
        return self


def attribute(estimator: Any, name: str, what: str) -> Any:
    """An attribute of a fitted estimator."""
    if hasattr(estimator, name):
        return getattr(estimator, name)
    if hasattr(estimator, "_fitted"):
        estimator._fitted()
    raise not_fitted_error()(f"{type(estimator).__name__} has no `{name}`: {what} is needed")


def axes(ax: Any) -> tuple[Any, Any]:
    """The given axes or new ones, with their figure."""
    if ax is None:
        _, ax = pyplot().subplots(layout="constrained")
    return ax, ax.figure
