"""Whether asymmetry pays: methods with and without it on the same splits."""
from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from . import _core
from ._ask_ls import AsKLSClassifier, AsKLSRegressor
from ._inputs import Given, column, seed_of
from ._progress import progress

#: Classes of this package by the names of the estimators; with a symmetric kernel AsK-LS is the LS-SVM.
CLASSIFIERS = {"kernel-svd": "KernelSVDClassifier", "ask-ls": "AsKLSClassifier", "ls-svm": "LSSVMClassifier"}
REGRESSORS = {"kernel-svd": "KernelSVDRegressor", "ask-ls": "AsKLSRegressor", "ls-svm": "AsKLSRegressor"}
#: Kernels that compare samples by their distance, for which the columns of a table are scaled.
BY_DISTANCE = ("rbf", "sne", "t")
#: More different whole numbers than this are values.
MANY = 20


@dataclass(frozen=True)
class Comparison:
    """What `compare` found.

    Parameters
    ----------
    verdict : {"pays", "does not pay", "undecided"}
        The answer.
    sentence : str
        The answer and its reason.
    difference : dict
        "mean", "low" and "high": the best with asymmetry less the best without, and its 95 % interval.
    methods : list of dict
        "name", "family", "mean", "deviation", "seconds", "chosen", "settings" and more of each method, such that
        ``pandas.DataFrame(result.methods)`` is a table.
    asymmetry : dict
        Measures of how asymmetric the data are.
    measure : {"accuracy", "R²"}
        What the scores are.
    next_command : str
        What to run next, with names of this package, and `X` and `y`.
    details : dict
        Everything, with the fields of ``lopsided compare --json``.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import compare
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> result = compare(X, X[:, 0] > 0, repeats=1)
    >>> result.verdict
    'does not pay'
    """

    verdict: str
    sentence: str
    difference: dict[str, float]
    methods: list[dict[str, Any]]
    asymmetry: dict[str, float]
    measure: str
    next_command: str
    details: dict[str, Any] = field(repr=False)

    def _rows(self) -> list[tuple[str, str, str]]:
        score = "{mean:.4f} ± {deviation:.4f}".format
        return [(method["name"], score(**{k: method[k] for k in ("mean", "deviation")}), method["about"]) for method in self.methods]

    def __str__(self) -> str:
        lines = [f"{name:20}  {score}  {about}" for name, score, about in self._rows()]
        return "\n".join([f"{'method':20}  {self.measure}", *lines, "", self.sentence, "", f"next: {self.next_command}"])

    def _repr_html_(self) -> str:
        cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        head = f"<tr><th>method</th><th>{escape(self.measure)}</th><th>what it is</th></tr>"
        return f"<p>{escape(self.sentence)}</p><table>{head}{cells}</table><p>next: <code>{escape(self.next_command)}</code></p>"


def compare(
    X: Any, y: Any, *, task: str | None = None, folds: int = 5, repeats: int = 2, inner: int = 3, margin: float = 0.01,
    samples: int = 1500, random_state: Any = None, verbose: int = 0,
) -> Comparison:
    """Say whether asymmetry pays on these data, as ``lopsided compare`` does.

    Methods that see the direction of links (of a table: asymmetric kernels) are compared with methods that do not, on
    the same splits. All choose their settings inside the training part, and so does each family its method.

    Parameters
    ----------
    X : graph, or array-like of shape (n_samples, n_features)
        A graph as `DirectedGraph.of` takes it, or the rows of a table.
    y : array-like or dict
        Classes or values of the nodes, in their order or by name (None where unknown), or of the rows.
    task : {"classes", "values"}, default=None
        What y is; None: values for fractions and for more than 20 different whole numbers.
    folds, repeats : int, default=5, 2
        Test parts, and how often the samples are dealt into them.
    inner : int, default=3
        Parts of a training part, by which settings are chosen.
    margin : float, default=0.01
        A gain below this counts as none.
    samples : int, default=1500
        Samples that take part at most.
    random_state : int, default=None
        Seed.
    verbose : int, default=0
        Tell on stderr how far it is.

    Returns
    -------
    result : Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import DirectedGraph, compare
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(90) % 3
    >>> ends = rng.integers(90, size=(1500, 2))
    >>> links = np.unique(ends[(group[ends[:, 0]] + 1) % 3 == group[ends[:, 1]]], axis=0)  # to the next group only
    >>> graph = DirectedGraph.of(links, nodes=range(90))
    >>> result = compare(graph, {node: group[node] for node in graph.nodes}, repeats=1)
    >>> result.verdict
    'pays'
    """
    values = _is_values(y) if task is None else task == "values"
    if task not in (None, "classes", "values"):
        raise ValueError(f"`task` is {task} but must be classes, values or None")
    reader: Any = _Values() if values else _Classes()
    reader.verbose = verbose
    reader._fit_target(X, y)
    settings = {"folds": folds, "repeats": repeats, "inner": inner, "margin": margin, "samples": samples}
    with progress(reader) as listener:
        found = json.loads(_core.compare(json.dumps(settings), reader.given, seed_of(random_state), listener))
    next_step = found.pop("next")
    graph = reader.given.links is not None
    command = f"compare(X, y, repeats={4 * repeats})" if next_step is None else _expression(next_step, values, graph)
    found["next_command"] = command
    names = ("verdict", "sentence", "difference", "methods", "asymmetry", "measure", "next_command")
    return Comparison(**{name: found[name] for name in names}, details=found)


class _Reader:
    """Keeps what a fit would learn from."""

    given: Given

    def _fit_core(self, given: Given) -> dict[str, Any]:
        self.given = given
        return {}


class _Classes(_Reader, AsKLSClassifier):  # type: ignore[misc]
    pass


class _Values(_Reader, AsKLSRegressor):  # type: ignore[misc]
    pass


def _is_values(y: Any) -> bool:
    known = [value for value in (y.values() if isinstance(y, dict) else column(y).tolist()) if value is not None]
    if not known or not all(isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in known):
        return False
    numbers = np.asarray(known, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    return bool((numbers != np.round(numbers)).any() or len(np.unique(numbers)) > MANY)


def _expression(step: dict[str, Any], values: bool, graph: bool) -> str:
    """The estimator with its settings, as one would type it."""
    settings = {name.replace("-", "_"): value for name, value in step["settings"].items()}
    name = (REGRESSORS if values else CLASSIFIERS)[step["estimator"]]
    scaled = settings.pop("scale", None) == "standard" or (not graph and settings.get("kernel") in BY_DISTANCE)
    of_nodes = {key: settings.pop(key) for key in ("alpha", "beta") if key in settings}
    if of_nodes:
        settings["kernel_params"] = of_nodes
    whole = {k: int(v) if isinstance(v, float) and v.is_integer() else v for k, v in settings.items()}
    machine = f"{name}({', '.join(f'{key}={value!r}' for key, value in whole.items())})"
    return f"make_pipeline(StandardScaler(), {machine}).fit(X, y)" if scaled and not graph else f"{machine}.fit(X, y)"
