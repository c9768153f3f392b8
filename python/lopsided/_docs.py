"""Docstrings said once: what the library knows of its settings, and words that several classes share.

A class writes in its docstring only what is its own. `documented` completes the sections `Parameters` and `Attributes` of
the class, and `Parameters` and `Returns` of its methods, before anybody reads them.
"""
from __future__ import annotations

import functools
import inspect
import json
import re
import textwrap
from typing import Any

from . import _core


def entries(text: str) -> dict[str, tuple[str, str]]:
    """Type and line of each name, from the way they are written in a docstring."""
    parts = (part.partition("\n") for part in re.split(r"\n(?=\S)", text.strip()))
    return {
        first.split(" : ")[0]: (first.split(" : ")[1], " ".join(line.strip() for line in rest.splitlines())) for first, _, rest in parts
    }


#: Parameters that only Python has, or has in other words than the library.
PARAMETERS = entries("""
C : float
    Weight of the losses.
alpha : float
    Weight of the norm in the ridge regression that `inverse_transform` is learned by.
class_weight : dict, "balanced" or None
    What the weights of the samples of a class are multiplied by.
device : {"auto", "cpu", "cuda"} or "cuda:1" and so on
    Where products with kernel matrices of dense samples are computed: the processor, the first NVIDIA card, or another. None:
    auto, a card where there is one and the problem is large enough.
fit_inverse_transform : bool
    Learn `inverse_transform` as well.
gamma : float, array-like of shape (n_features,), "scale", "median" or "ksvd"
    Coefficient of the distance; an array has one for each column. None: scale, or median for tables that are
    learned or clustered.
graph : graph
    The graph, where X shall be some of its nodes: so nodes are divided by scikit-learn's cross-validation and
    searches while the graph stays whole.
kernel : str or callable
    A name of `lopsided.kernels()`, "precomputed" if X is the matrix of kernel values, or a function K(X, Z) or k(x,
    z) of arrays, strings or any objects, which is called for all pairs, in blocks: the slow path.
kernel_params : dict
    Parameters of the kernels of nodes: "beta" of "katz", "alpha" of "ppr", "decay" of "shortest-path".
keep_trials : int
    Up to this many trials are kept for `regret`.
landmarks : array-like of int, or {array-like, sparse matrix} of shape (n_landmarks, n_features)
    Landmarks of your own: row numbers of X, or points.
precision : {"f64", "f32", "fast"}
    Precision of the computation; "fast" is "f32" with products of about 4e-4 on a card. None: that of X.
random_state : int, RandomState instance or None
    Seed; None is 0, so that equal calls give equal results.
side : {"rows", "columns", "both"}
    What `transform` returns: features of the row side, of the column side, or both beside each other.
single : bool
    Compute in single precision.
verbose : int
    Tell on stderr how far the fit is.
""")

#: Attributes of fitted estimators and pictures.
ATTRIBUTES = entries("""
ax_ : matplotlib Axes
    Axes with the picture.
classes_ : ndarray of shape (n_classes,)
    Classes, sorted; read from a file, whole numbers, truth values or texts.
cumulative_loss_ : float
    Sum of the losses.
eigenvalues_ : ndarray of shape (n_components,)
    Eigenvalues of the (centred, approximate) kernel matrix, descending.
feature_names_in_ : ndarray of str
    Columns of X where it was a frame with names.
figure_ : matplotlib Figure
    Figure with the axes.
landmark_indices_ : ndarray of int
    Rows of X that are the landmarks, where they are rows.
losses_ : ndarray of shape (n_trials_,)
    Loss of each trial before it was learned from; NaN where a file does not tell.
n_features_in_ : int
    Width of X, or the number of nodes.
n_iter_ : int
    Trials so far.
n_trials_ : int
    Trials so far.
nodes_ : list
    Nodes of the graph, in the order of all results.
report_ : dict
    Settings with those found from the data, how the fit went, and warnings.
col_vectors_ : ndarray of shape (n_columns, rank)
    Right singular vectors V.
row_vectors_ : ndarray of shape (n_rows, rank)
    Left singular vectors U.
singular_values_ : ndarray of shape (rank,)
    Singular values of the kernel matrix, descending.
""")

#: Arguments and results of methods: `name`, or `name which` where several have it.
ARGUMENTS = entries("""
features nodes : {array-like, sparse matrix} of shape (n_nodes, n_features), frame or dict, default=None
    Features of the nodes of a graph beside their links, in the order of the nodes, or by name: a frame with nodes as index, a
    dict.
features new : {array-like, sparse matrix}, frame or dict, default=None
    Features of nodes that the model does not know, where it has learned from features.
**kwargs : dict
    For matplotlib's function that draws.
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Samples; for a precomputed kernel the matrix of their kernel values with the training samples.
Z : {array-like, sparse matrix} of shape (n_columns, n_features)
    Column samples.
ax : matplotlib Axes, default=None
    Where to draw; new axes.
display : display
    The picture.
features : ndarray of shape (n_samples, n_features_out)
Z columns : array-like of shape (n_known, n_samples), default=None
    Columns k(known, new) of a precomputed kernel that is not symmetric.
X new : {array-like, sparse matrix} of shape (n_samples, n_features), `KernelMatrix`, graph or list of nodes
    New samples; for a precomputed kernel rows k(new, known). For a model of a graph, nodes that it knows, or a
    graph whose nodes are placed by their links.
path : str or path-like
    The file; it is written whole or not at all.
sample_weight : float or array-like of shape (n_samples,), default=None
    What each sample counts.
score : float
self : object
y : None
    For the sake of scikit-learn's interface.
X learned : {array-like, sparse matrix} of shape (n_samples, n_features), `KernelMatrix`, graph or list of nodes
    Samples, a square matrix of kernel values, or a graph: `DirectedGraph`, networkx, igraph, a frame of links, an adjacency frame,
    a list of links between names, with `features` all that `DirectedGraph.of` takes; with the parameter `graph` some of its nodes.
y classes : array-like of shape (n_samples,) or dict
    Classes, of any type that can be sorted; for a graph one for each node, None, NaN or NA where unknown, or a dict or an
    indexed series of nodes and classes.
y values : array-like of shape (n_samples,) or dict
    Values; for a graph one for each node, NaN, NA or None where unknown, or a dict or an indexed series
    of nodes and values.
y targets : array-like of shape (n_samples,) or (n_samples, n_targets)
    Values to learn, of one target or of several.
y truth : array-like of shape (n_samples,)
    True classes or values.
X pairs : {array-like, sparse matrix} of shape (n_samples, n_features)
    Left samples.
Z pairs : {array-like, sparse matrix} of shape (n_samples, n_right_features), default=None
    Right samples, a row for each row of X; None pairs every sample with itself.
y pairs : array-like of shape (n_samples,)
    Values of the pairs.
classes : ndarray of shape (n_samples,)
values : ndarray of shape (n_samples,), or (n_samples, n_targets) of several targets
estimator : object
    A fitted estimator. Its parameters are those that the file tells, and the defaults elsewhere.
estimator drawn : estimator
    One that was fitted and has what is drawn.
samples : ndarray of shape (n_samples, n_features)
""")

#: Papers that a class names in `_paper`, by the keys of docs/references.md.
PAPERS = {
    "KSVD": """Q. Tao, F. Tonin, A. Lambert, Y. Chen, P. Patrinos, J. Suykens, "Learning in Feature Spaces via Coupled
   Covariances: Asymmetric Kernel SVD and Nyström method", ICML 2024.""",
    "AsKLS": """M. He, F. He, L. Shi, X. Huang, J. Suykens, "Learning with Asymmetric Kernels: Least Squares and Feature
   Interpretation", IEEE TPAMI 45(8), 2023.""",
    "NKM": """W. Li, M. Liu, D. Zhang, "Geometric Interpretation of Running Nyström-Based Kernel Machines and Error
   Analysis", 2022.""",
    "KMU": """M. Warmuth, W. Kotłowski, S. Zhou, "Kernelization of matrix updates, when and how?", Theoretical Computer
   Science 558, 2014.""",
}

#: What methods return.
RETURNS = {
    "fit": "self", "partial_fit": "self", "fit_stream": "self", "transform": "features", "fit_transform": "features",
    "transform_columns": "features", "score": "score", "load": "estimator", "from_estimator": "display", "plot": "self",
    "inverse_transform": "samples",
}  # fmt: skip

_WIDTH = 120


def documented(cls: Any) -> Any:
    """Completes the docstrings of a class and of its methods."""
    words = {"Attributes": ATTRIBUTES.get, "Parameters": functools.partial(_parameter, cls)}
    text = inspect.cleandoc(cls.__doc__ or "")
    if hasattr(cls, "_core_settings"):
        names = [] if cls.__init__ is object.__init__ else [*_signature(cls)][1:]
        text = _with_sections(text, {"Parameters": names, "Attributes": getattr(cls, "_attributes", ())})
    if hasattr(cls, "_paper"):
        text = _replaced(text, "References", f".. [1] {PAPERS[cls._paper]}")
    cls.__doc__ = _completed(text, words)
    for method in vars(cls).values():
        function = getattr(method, "__func__", method)
        if inspect.isfunction(function) and function.__doc__ and not function.__name__.startswith("_"):
            function.__doc__ = _of_method(cls, function)
    return cls


def _of_method(cls: Any, function: Any) -> str:
    """The docstring of a method; a class says in `_arguments` which of several words it means."""
    text, name = inspect.cleandoc(function.__doc__), function.__name__
    meant = getattr(cls, "_arguments", {})
    names = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")]
    names = [meant.get(f"{name}.{p}", meant.get(p, "**kwargs" if p == "kwargs" else p)) for p in names]
    results = [meant[f"{name}.returns"]] if f"{name}.returns" in meant else [RETURNS[name]] if name in RETURNS else []
    if all(p in ARGUMENTS for p in names):
        text = _with_sections(text, {"Parameters": names})
    text = _with_sections(text, {"Returns": results})
    return _completed(text, {"Parameters": ARGUMENTS.get, "Returns": ARGUMENTS.get})


def _with_sections(text: str, names: dict[str, Any]) -> str:
    """The docstring with names in its sections that are not there yet; those that are keep what is written."""
    for title, wanted in names.items():
        if not wanted or (title == "Returns" and f"\n{title}\n---" in text):
            continue
        written = _written(text, title)
        if title == "Parameters" and written and any(" : " not in name and name not in wanted for name in written):
            continue
        told = {name.strip(): entry for key, entry in written.items() for name in key.split(" : ")[0].split(",")}
        order = [*wanted, *(name for name in told if name not in wanted and title == "Attributes")]
        body = "\n".join(dict.fromkeys(told.get(name.split()[0] if title == "Parameters" else name, name) for name in order))
        text = _replaced(text, title, body)
    return text


def _written(text: str, title: str) -> dict[str, str]:
    """Entries of a section by their first line."""
    found = re.search(rf"(?m)^{title}\n-+\n((?:.|\n)*?)(?=\n\n\w[\w ]*\n-+\n|\Z)", text)
    return {entry.splitlines()[0]: entry for entry in re.split(r"\n(?=\S)", found[1].strip("\n")) if entry} if found else {}


def _replaced(text: str, title: str, body: str) -> str:
    """A section in place of the one of that name, or where it belongs."""
    section = f"{title}\n{'-' * len(title)}\n{body}\n\n"
    if f"\n{title}\n---" in text:
        return re.sub(rf"(?m)^{title}\n-+\n(?:.|\n)*?(?=^\w[\w ]*\n-+\n|\Z)", lambda _: section, text, count=1)
    order = ["Parameters", "Attributes", "Returns", "See Also", "Notes", "References", "Examples"]
    later = "|".join(order[order.index(title) + 1 :])
    place = re.search(rf"(?m)^({later})\n-+$", text)
    at = place.start() if place else len(text)
    return f"{text[:at].rstrip()}\n\n{section}{text[at:]}"


def _completed(text: str, words: dict[str, Any]) -> str:
    """The docstring with those entries of its sections filled in that are a name alone."""
    for title, known in words.items():
        written = _written(text, title)
        if written:
            text = _replaced(text, title, "\n".join(dict.fromkeys(_entry(entry, known) for entry in written.values())))
    return text.rstrip() + "\n"


def _entry(entry: str, words: Any) -> str:
    """`name` or `name which`, with a description of its own or the usual one."""
    first, _, own = entry.partition("\n")
    known = None if " : " in first else words(first)
    if known is None:
        return entry
    kind, line = known
    filled = own or textwrap.fill(line, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return f"{first.split()[0]} : {kind}" + (f"\n{filled}" if filled else "")


def _parameter(cls: Any, name: str) -> tuple[str, str] | None:
    """Type and line of a parameter: ours, else what the library says of its setting."""
    default = _signature(cls)[name].default
    setting = _settings(cls).get(getattr(cls, "_renamed", {}).get(name, name).replace("_", "-"))
    own = {**PARAMETERS, **getattr(cls, "_words", {})}
    if name in own:
        kind, line = own[name]
    elif setting is None:
        return None
    else:
        kind, line = setting["allowed"].replace("true or false", "bool"), f"{setting['about']}."
    kind = re.sub(r"`lopsided list (\w+)`", r"`lopsided.\1()`", kind)
    line = line[0].upper() + line[1:] if line[0].isascii() else line
    if default is None and setting is not None and name not in own:
        line += f" None: {setting['default']}."
    return f"{kind}, default={default!r}".replace("'", '"'), line


@functools.cache
def _signature(cls: Any) -> Any:
    return inspect.signature(cls.__init__).parameters


@functools.cache
def _settings(cls: Any) -> dict[str, Any]:
    """The library's descriptions of the settings of an estimator; its own come before those it shares."""
    name = cls._core_name if isinstance(cls._core_name, str) else cls._files[0]
    return {setting["name"]: setting for setting in reversed(_described().get(name, []))}


@functools.cache
def _described() -> dict[str, Any]:
    return json.loads(_core.described())
