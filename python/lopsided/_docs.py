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

#: Parameters that only Python has, or has in other words than the library: type, then a line.
PARAMETERS: dict[str, tuple[str, str]] = {
    "C": ("float", "Weight of the losses."),
    "alpha": ("float", "Weight of the norm in the ridge regression that `inverse_transform` is learned by."),
    "class_weight": ('dict, "balanced" or None', "What the weights of the samples of a class are multiplied by."),
    "fit_inverse_transform": ("bool", "Learn `inverse_transform` as well."),
    "gamma": (
        'float, array-like of shape (n_features,), "scale", "median" or "ksvd"',
        "Coefficient of the distance; an array has one for each column. None: scale, or median for tables that are learned or "
        "clustered.",
    ),
    "graph": (
        "graph",
        "The graph, where X shall be some of its nodes: so nodes are divided by scikit-learn's cross-validation and searches "
        "while the graph stays whole.",
    ),
    "kernel": (
        "str or callable",
        'A name of `lopsided.kernels()`, "precomputed" if X is the matrix of kernel values, or a function K(X, Z) or k(x, z) of '
        "arrays, strings or any objects, which is called for all pairs, in blocks: the slow path.",
    ),
    "kernel_params": ("dict", 'Parameters of the kernels of nodes: "beta" of "katz", "alpha" of "ppr", "decay" of "shortest-path".'),
    "keep_trials": ("int", "Up to this many trials are kept for `regret`."),
    "landmarks": (
        "array-like of int, or {array-like, sparse matrix} of shape (n_landmarks, n_features)",
        "Landmarks of your own: row numbers of X, or points.",
    ),
    "random_state": ("int, RandomState instance or None", "Seed; None is 0, so that equal calls give equal results."),
    "side": (
        '{"rows", "columns", "both"}',
        "What `transform` returns: features of the row side, of the column side, or both beside each other.",
    ),
    "single": ("bool", "Compute in single precision."),
    "verbose": ("int", "Tell on stderr how far the fit is."),
}

#: Attributes of fitted estimators and pictures.
ATTRIBUTES: dict[str, tuple[str, str]] = {
    "ax_": ("matplotlib Axes", "Axes with the picture."),
    "classes_": ("ndarray of shape (n_classes,)", "Classes, sorted; read from a file, whole numbers, truth values or texts."),
    "cumulative_loss_": ("float", "Sum of the losses."),
    "eigenvalues_": ("ndarray of shape (n_components,)", "Eigenvalues of the (centred, approximate) kernel matrix, descending."),
    "feature_names_in_": ("ndarray of str", "Columns of X where it was a frame with names."),
    "figure_": ("matplotlib Figure", "Figure with the axes."),
    "landmark_indices_": ("ndarray of int", "Rows of X that are the landmarks, where they are rows."),
    "losses_": ("ndarray of shape (n_trials_,)", "Loss of each trial before it was learned from; NaN where a file does not tell."),
    "n_features_in_": ("int", "Width of X, or the number of nodes."),
    "n_iter_": ("int", "Trials so far."),
    "n_trials_": ("int", "Trials so far."),
    "nodes_": ("list", "Nodes of the graph, in the order of all results."),
    "report_": ("dict", "Settings with those found from the data, how the fit went, and warnings."),
    "col_vectors_": ("ndarray of shape (n_columns, rank)", "Right singular vectors V."),
    "row_vectors_": ("ndarray of shape (n_rows, rank)", "Left singular vectors U."),
    "singular_values_": ("ndarray of shape (rank,)", "Singular values of the kernel matrix, descending."),
}

#: Arguments and results of methods.
ARGUMENTS: dict[str, tuple[str, str]] = {
    "**kwargs": ("dict", "For matplotlib's function that draws."),
    "X": (
        "{array-like, sparse matrix} of shape (n_samples, n_features)",
        "Samples; for a precomputed kernel the matrix of their kernel values with the training samples.",
    ),
    "Z": ("{array-like, sparse matrix} of shape (n_columns, n_features)", "Column samples."),
    "ax": ("matplotlib Axes, default=None", "Where to draw; new axes."),
    "display": ("display", "The picture."),
    "features": ("ndarray of shape (n_samples, n_features_out)", ""),
    "Z columns": (
        "array-like of shape (n_known, n_samples), default=None",
        "Columns k(known, new) of a precomputed kernel that is not symmetric.",
    ),
    "X new": (
        "{array-like, sparse matrix} of shape (n_samples, n_features), `KernelMatrix`, graph or list of nodes",
        "New samples; for a precomputed kernel rows k(new, known). For a model of a graph, nodes that it knows, or a graph whose "
        "nodes are placed by their links.",
    ),
    "path": ("str or path-like", "The file, which appears whole or not at all."),
    "sample_weight": ("float or array-like of shape (n_samples,), default=None", "What each sample counts."),
    "score": ("float", ""),
    "self": ("object", ""),
    "y": ("None", "For the sake of scikit-learn's interface."),
}

_HEADING = re.compile(r"^(\w[\w ]*)\n-+$", re.M)
_WIDTH = 120


def documented(cls: Any) -> Any:
    """Completes the docstrings of a class and of its methods."""
    shared = {"Attributes": ATTRIBUTES.get, "Parameters": functools.partial(_parameter, cls)}
    order = {"Parameters": _names(cls) if hasattr(cls, "_core_settings") else []}
    cls.__doc__ = _completed(cls.__doc__, shared, order)
    for method in vars(cls).values():
        function = getattr(method, "__func__", method)
        if inspect.isfunction(function) and function.__doc__ and not function.__name__.startswith("_"):
            function.__doc__ = _completed(function.__doc__, {"Parameters": ARGUMENTS.get, "Returns": ARGUMENTS.get}, {})
    return cls


def _completed(text: str | None, words: dict[str, Any], order: dict[str, list[str]]) -> str:
    """The docstring with those entries of its sections filled in that are a name alone or are missing."""
    text = inspect.cleandoc(text or "")
    if order.get("Parameters") and "\nParameters\n---" not in text:
        text = text.replace("\nAttributes\n---", "\nParameters\n----------\n\nAttributes\n---", 1)
    starts = [*_HEADING.finditer(text)]
    out = text[: starts[0].start()] if starts else text
    for heading, after in zip(starts, [*starts[1:], None]):
        body = text[heading.end() : after.start() if after else len(text)].strip("\n")
        if heading[1] in words:
            body = _section(body, words[heading[1]], order.get(heading[1], []))
        out += f"{heading[0]}\n{body}\n\n"
    return out.rstrip() + "\n"


def _section(body: str, words: Any, order: list[str]) -> str:
    written = {entry.splitlines()[0].split(" : ")[0]: entry for entry in re.split(r"\n(?=\S)", body) if entry.strip()}
    told = {name.strip(): entry for names, entry in written.items() for name in names.split(",")}
    entries = [told.get(name, name) for name in order] or [*written.values()]
    return "\n".join(dict.fromkeys(_entry(entry, words) for entry in entries))


def _entry(entry: str, words: Any) -> str:
    """`name` or `name which`, with a description of its own or the usual one."""
    first, _, own = entry.partition("\n")
    if " : " in first or words(first) is None:
        return entry
    kind, line = words(first)
    filled = own or textwrap.fill(line, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4)
    return f"{first.split()[0]} : {kind}" + (f"\n{filled}" if filled else "")


def _names(cls: Any) -> list[str]:
    return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


def _parameter(cls: Any, name: str) -> tuple[str, str] | None:
    """Type and line of a parameter: ours, else what the library says of its setting."""
    default = inspect.signature(cls.__init__).parameters[name].default
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


def _settings(cls: Any) -> dict[str, Any]:
    """The library's descriptions of the settings of an estimator; its own come before those it shares."""
    name = cls._core_name if isinstance(cls._core_name, str) else cls._files[0]
    return {setting["name"]: setting for setting in reversed(_described().get(name, []))}


@functools.cache
def _described() -> dict[str, Any]:
    return json.loads(_core.described())
