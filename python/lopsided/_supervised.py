"""Estimators that predict classes or values."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Estimator
from ._docs import documented
from ._exceptions import warn
from ._graphs import DirectedGraph, is_graph, is_unknown, name_of, node_features, nodes_of, targets_by_node
from ._inputs import Given, cast, check_length, column, r_squared, samples, weights_of
from ._kernels import kernel_matrix, takes_values
from ._matrix import KernelMatrix, is_symmetric
from ._verdicts import warn_of_mean, warn_of_one_class, warn_of_wrong_order


class Supervised(Estimator):
    """Fitting to samples or to the nodes of a graph with a target, predicting of new ones."""

    _arguments = {
        "fit.X": "X learned", "score.X": "X new", "score.y": "y truth",
        **{f"{method}.X": "X new" for method in ("predict", "decision_function", "predict_proba")},
        **{f"{method}.Z": "Z columns" for method in ("predict", "decision_function", "predict_proba")},
        "fit.features": "features nodes", "features": "features new",
    }  # fmt: skip

    def _fit_target(self, X: Any, y: Any, sample_weight: Any = None, features: Any = None) -> Any:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        graph = getattr(self, "graph", None)
        if is_graph(X, self._kernel_name) or (features is not None and graph is None):
            given, y, weights = self._of_graph(X, y, sample_weight)
        elif graph is not None:
            given, y, weights = self._of_nodes(X, y, sample_weight)
        else:
            given, y = self._samples_given(X), self._column(y)
            check_length(len(y), given.count(), "y")
            weights = weights_of(sample_weight, len(y))
        self._set_target(given, y)
        given.features = node_features(features, getattr(self, "nodes_", []))
        given.weights = self._weighted(y, weights)
        if given.weights is not None and not given.weights.any():
            raise ValueError("`sample_weight` is zero for every sample but must be above zero for one at least")
        self._fit_core(given)
        return self

    def _column(self, y: Any) -> np.ndarray:
        return column(y)

    def _set_target(self, given: Given, y: np.ndarray) -> None:
        raise NotImplementedError

    def _weighted(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Weights of the samples, those of their classes included."""
        return weights

    def _of_graph(self, X: Any, y: Any, sample_weight: Any) -> tuple[Given, np.ndarray, Any]:
        """All nodes of a graph, with targets of some."""
        if getattr(self, "graph", None) is not None:
            raise ValueError("X is a graph and `graph` is one as well: give nodes as X, or leave `graph` out")
        given = self._graph_given(X)
        named = targets_by_node(y)
        y = column(y) if named is None else _targets_of_nodes(named, self.nodes_)
        check_length(len(y), len(self.nodes_), "y")
        if any(map(is_unknown, y.tolist())):
            y = np.array([None if is_unknown(value) else value for value in y.tolist()], dtype=object)
        return given, y, weights_of(sample_weight, len(y))

    def _of_nodes(self, X: Any, y: Any, sample_weight: Any) -> tuple[Given, np.ndarray, Any]:
        """Some nodes of the parameter `graph`, each with its target; the others are known without."""
        given, nodes, y = self._graph_given(self.graph), nodes_of(X), column(y)
        check_length(len(y), len(nodes), "y")
        weights = weights_of(sample_weight, len(nodes))
        places = {str(node): place for place, node in enumerate(self.nodes_)}
        unknown = [node for node in nodes if node not in places]
        if unknown:
            raise ValueError(f"X has {unknown[0]!r}, which is no node of the graph")
        if len(set(nodes)) < len(nodes):
            raise ValueError("X has a node twice; a node has one target, and `sample_weight` says what it counts")
        at = [places[node] for node in nodes]
        all_y = np.full(len(places), None, dtype=object)
        all_y[at] = y.astype(object)
        if weights is None:
            return given, all_y, None
        all_weights = np.ones(len(places))
        all_weights[at] = weights
        return given, all_y, all_weights

    def export_onnx(self, path: Any) -> None:
        """Write the model as an ONNX file, for `onnxruntime` and other runtimes.

        For kernels "rbf", "linear", "poly" and "laplacian" on dense arrays; anything else is refused. The input "X" has the
        columns of the array that was fitted, double or float as it was. Classifiers give "label" (text) and "scores", with
        "probabilities" where the model has them, regressors "values".

        Parameters
        ----------
        path : str or path-like
            Where to; the file appears whole or not at all.
        """
        self._fitted().export_onnx(path)

    def _graph_given(self, graph: Any) -> Given:
        links = DirectedGraph.of(graph)
        self.nodes_ = links.nodes
        self.n_features_in_ = len(links.nodes)
        return Given(links=links.core())

    def _samples_given(self, X: Any) -> Given:
        if isinstance(X, KernelMatrix):
            X.refuse_unless_precomputed(self._kernel_name)
            X = X.rows
        given = self._given(X, least=2)
        self._needs_columns = self._has_two_functions() and not is_symmetric(given.x)
        return given

    def _has_two_functions(self) -> bool:
        """Whether new samples of a given matrix are seen from both sides."""
        return takes_values(self.kernel) and self._core_name in ("ask-ls", "ls-svm") and self.get_params().get("merge") != "source"

    def _wanted(self, X: Any, Z: Any = None, features: Any = None) -> Given:
        """New samples, or nodes with or without their links."""
        model = self._fitted()
        if model.nodes() is not None:
            return _nodes_given(X, model.single, features)
        if isinstance(X, KernelMatrix):
            X, Z = X.rows, X.columns
        given = self._new(X)
        if hasattr(self, "_samples"):
            given.z = np.ascontiguousarray(kernel_matrix(self.kernel, self._samples, X).T)
        elif Z is None and getattr(self, "_needs_columns", False):
            warn(
                "the kernel matrix of `fit` is not symmetric, and X has rows k(new, known) alone, which are taken for columns as "
                "well: pass `Z`, or a KernelMatrix as X"
            )
        elif Z is not None:
            given.z = cast(samples(np.asarray(Z).T, "Z")[0], np.float32 if model.single else np.float64)
        return given

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if getattr(self, "graph", None) is not None:  # X are nodes
            tags.input_tags.two_d_array, tags.input_tags.pairwise = False, False
        return tags


@documented
class Classifier(Supervised):
    """A classifier over a model of the core."""

    _estimator_type = "classifier"
    _attributes: tuple[str, ...] = ("classes_", "n_features_in_", "nodes_", "report_")
    _arguments = {**Supervised._arguments, "fit.y": "y classes", "predict.returns": "classes"}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, features: Any = None) -> Any:
        """Learn classes of samples or nodes."""
        return self._fit_target(X, y, sample_weight, features)

    def _settings(self, graph: bool = False) -> dict[str, Any]:
        settings, given = super()._settings(graph), getattr(self, "class_weight", None)
        if given is None or isinstance(given, dict):
            return settings
        if not isinstance(given, str) or given != "balanced":
            raise ValueError(f"`class_weight` is {given!r} but must be 'balanced', a dict or None")
        return settings | {"class_weight": "balanced"}

    def _weighted(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
        """Names of classes in a dict may be of any type: they become weights of the samples."""
        given = getattr(self, "class_weight", None)
        if not isinstance(given, dict):
            return weights
        factors = np.array([float(given.get(label, 1.0)) for label in y.tolist()])
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError(f"`class_weight` is {given} but must have finite weights above 0")
        return factors if weights is None else factors * weights

    def _set_target(self, given: Given, y: np.ndarray) -> None:
        known = _known(y)
        _refuse_values(y[known])
        self.classes_, codes = np.unique(_plain(y[known]), return_inverse=True)
        all_codes = np.full(len(y), -1, dtype=np.int64)
        all_codes[known] = codes
        given.classes = [name_of(c) for c in self.classes_], all_codes

    def _restore(self) -> None:
        super()._restore()
        self.classes_ = _values_of(self._model.classes())

    def _decision(self, X: Any, Z: Any = None, features: Any = None) -> np.ndarray:
        return self._fitted().decision(self._wanted(X, Z, features))

    def _scores(self, decision: np.ndarray) -> np.ndarray:
        """A column for each class; of two classes one vector, positive for the second."""
        return (decision[:, 1] - decision[:, 0]) / 2 if decision.shape[1] == 2 else decision

    def predict(self, X: Any, *, Z: Any = None, features: Any = None) -> np.ndarray:
        """Classes of samples."""
        return self._named(self._decision(X, Z, features))

    def _named(self, decision: np.ndarray) -> np.ndarray:
        """The classes with the largest decision values."""
        found = self.classes_[np.argmax(decision, axis=1)]
        warn_of_one_class(found, self.classes_)
        return found

    def decision_function(self, X: Any, *, Z: Any = None, features: Any = None) -> np.ndarray:
        """Decision values of samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one value, positive for the second class.
        """
        return self._scores(self._decision(X, Z, features))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples that are predicted correctly."""
        decision, truth = self._decision(X), np.asarray(y)
        if len(self.classes_) == 2 and np.isin(truth, self.classes_).all():
            warn_of_wrong_order(truth == self.classes_[1], self._scores(decision))
        return float(np.average(self._named(decision) == truth, weights=sample_weight))


@documented
class Probabilities(Supervised):
    """For classifiers whose model has class probabilities."""

    def predict_proba(self, X: Any, *, Z: Any = None, features: Any = None) -> np.ndarray:
        """Probabilities of the classes.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        found = self._fitted().probabilities(self._wanted(X, Z, features))
        if found is None:
            raise AttributeError(f"this {type(self).__name__} has no probabilities")
        return found


@documented
class Regressor(Supervised):
    """A regressor over a model of the core."""

    _estimator_type = "regressor"
    _attributes: tuple[str, ...] = ("n_features_in_", "nodes_", "report_")
    _arguments = {**Supervised._arguments, "fit.y": "y values", "predict.returns": "values"}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, features: Any = None) -> Any:
        """Learn values of samples or nodes."""
        return self._fit_target(X, y, sample_weight, features)

    def _set_target(self, given: Given, y: np.ndarray) -> None:
        values = np.array([np.nan if v is None else v for v in y], dtype=np.float64) if y.dtype == object else y
        values = np.ascontiguousarray(values, dtype=np.float64)
        if given.links is None:
            _refuse_not_finite(values)
        given.values = values

    def predict(self, X: Any, *, Z: Any = None, features: Any = None) -> np.ndarray:
        """Values of samples."""
        found = self._fitted().decision(self._wanted(X, Z, features))
        return found if found.shape[1] > 1 else found[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination R²."""
        explained = r_squared(y, self.predict(X), sample_weight)
        warn_of_mean(y, explained)
        return explained


def _nodes_given(X: Any, single: bool, features: Any = None) -> Given:
    """Nodes by name, or a graph with their links; features are in the order of either."""
    if is_graph(X):
        links = DirectedGraph.of(X)
        core = links.core()
        return Given(single=single, links=core, row_ids=core[0], features=node_features(features, links.nodes, single))
    names = nodes_of(X)
    return Given(single=single, row_ids=names, features=node_features(features, names, single))


def _targets_of_nodes(y: dict[Any, Any], nodes: list[Any]) -> np.ndarray:
    unknown = [node for node in y if node not in set(nodes)]
    if unknown:
        raise ValueError(f"y has a target of {unknown[0]!r}, which is no node of the graph")
    return np.array([y.get(node) for node in nodes], dtype=object)


def _known(y: np.ndarray) -> np.ndarray:
    """Targets that are known: None is unknown."""
    return np.array([value is not None for value in y]) if y.dtype == object else np.ones(len(y), dtype=bool)


def _plain(y: np.ndarray) -> np.ndarray:
    """Objects of one kind as an array of that kind."""
    return np.array(y.tolist()) if y.dtype == object and len({type(value) for value in y}) == 1 else y


def _values_of(names: list[str]) -> np.ndarray:
    """Class names as the values they may have been: whole numbers, truth values, else texts."""
    if set(names) == {"False", "True"}:
        return np.array([name == "True" for name in names])
    try:
        return np.array([int(name) for name in names])
    except ValueError:
        return np.array(names)


def _refuse_not_finite(y: np.ndarray) -> None:
    if np.isnan(y).any():
        raise ValueError("Input y contains NaN.")
    if not np.isfinite(y).all():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")


def _refuse_values(y: np.ndarray) -> None:
    if y.dtype.kind != "f":
        return
    _refuse_not_finite(y)
    if (y != np.floor(y)).any():
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete classes on "
            "a regression target with continuous values."
        )
