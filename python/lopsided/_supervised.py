"""Estimators that predict classes or values."""
from __future__ import annotations

from typing import Any

import numpy as np

from ._base import Estimator
from ._graphs import DirectedGraph, is_graph
from ._inputs import Given, cast, check_length, column, samples, weights_of
from ._kernels import kernel_matrix


class Supervised(Estimator):
    """Fitting to samples or to the nodes of a graph with a target, predicting of new ones."""

    kernel: Any

    def _fit_target(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        given = self._graph_given(X) if is_graph(X) else self._sample_given(X)
        count = len(self.nodes_) if is_graph(X) else self._n_samples
        y = _of_nodes(y, self.nodes_) if isinstance(y, dict) and is_graph(X) else column(y)
        check_length(len(y), count, "y")
        self._set_target(given, y)
        given.weights = weights_of(sample_weight, count)
        self._fit_core(given)
        return self

    def _set_target(self, given: Given, y: np.ndarray) -> None:
        raise NotImplementedError

    def _graph_given(self, graph: Any) -> Given:
        links = DirectedGraph.of(graph)
        self.nodes_ = links.nodes
        self.n_features_in_ = len(links.nodes)
        return Given(links=links.core())

    def _sample_given(self, X: Any) -> Given:
        parts, (self._n_samples, _), dtype = self._check_samples(X, reset=True, least=2)
        if callable(self.kernel):
            self._samples = X
            return Given(x=kernel_matrix(self.kernel, X, X))
        return Given(single=dtype == np.float32, x=parts)

    def _wanted(self, X: Any, Z: Any = None) -> Given:
        """New samples, or nodes with or without their links."""
        model = self._fitted()
        if model.nodes() is not None:
            return _nodes_given(X, model.single)
        if hasattr(self, "_samples"):
            self._check_samples(X, reset=False)
            rows, cols = kernel_matrix(self.kernel, X, self._samples), kernel_matrix(self.kernel, self._samples, X)
            return Given(x=rows, z=np.ascontiguousarray(cols.T))
        given = self._new(X)
        if Z is not None:
            given.z = cast(samples(np.asarray(Z).T, "Z")[0], np.float32 if model.single else np.float64)
        return given


class Classifier(Supervised):
    """A classifier over a model of the core."""

    _estimator_type = "classifier"

    def _set_target(self, given: Given, y: np.ndarray) -> None:
        known = _known(y)
        _refuse_values(y[known])
        self.classes_, codes = np.unique(_plain(y[known]), return_inverse=True)
        all_codes = np.full(len(y), -1, dtype=np.int64)
        all_codes[known] = codes
        given.classes = [_name(c) for c in self.classes_], all_codes

    def _restore(self) -> None:
        self.classes_ = _values_of(self._model.classes())

    def _decision(self, X: Any, Z: Any = None) -> np.ndarray:
        return self._fitted().decision(self._wanted(X, Z))

    def _scores(self, decision: np.ndarray) -> np.ndarray:
        """A column for each class; of two classes one vector, positive for the second."""
        return (decision[:, 1] - decision[:, 0]) / 2 if decision.shape[1] == 2 else decision

    def predict(self, X: Any, *, Z: Any = None) -> np.ndarray:
        """Classes of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), graph or list of nodes
            New samples; for a precomputed kernel rows k(new, known). For a model of a graph, nodes that it knows, or a
            graph whose nodes are placed by their links.
        Z : array-like of shape (n_known, n_samples), default=None
            Columns k(known, new) of a precomputed kernel that is not symmetric.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        decision = self._decision(X, Z)
        return self.classes_[np.argmax(decision, axis=1)]

    def decision_function(self, X: Any, *, Z: Any = None) -> np.ndarray:
        """Decision values of samples.

        Parameters
        ----------
        X, Z
            See `predict`.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one value, positive for the second class.
        """
        return self._scores(self._decision(X, Z))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples that are predicted correctly.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), default=None
            What each sample counts.

        Returns
        -------
        score : float
        """
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))


class Probabilities:
    """For classifiers whose model has class probabilities."""

    def predict_proba(self, X: Any, *, Z: Any = None) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X, Z
            See `predict`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        found = self._fitted().probabilities(self._wanted(X, Z))  # type: ignore[attr-defined]
        if found is None:
            raise AttributeError(f"this {type(self).__name__} has no probabilities")
        return found


class Regressor(Supervised):
    """A regressor over a model of the core."""

    _estimator_type = "regressor"

    def _set_target(self, given: Given, y: np.ndarray) -> None:
        values = np.array([np.nan if v is None else v for v in y], dtype=np.float64) if y.dtype == object else y
        values = np.ascontiguousarray(values, dtype=np.float64)
        if given.links is None:
            _refuse_not_finite(values)
        given.values = values

    def predict(self, X: Any, *, Z: Any = None) -> np.ndarray:
        """Values of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), graph or list of nodes
            New samples; for a precomputed kernel rows k(new, known). For a model of a graph, nodes that it knows, or a
            graph whose nodes are placed by their links.
        Z : array-like of shape (n_known, n_samples), default=None
            Columns k(known, new) of a precomputed kernel that is not symmetric.

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        found = self._fitted().decision(self._wanted(X, Z))
        return found if found.shape[1] > 1 else found[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination R².

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            True values.
        sample_weight : array-like of shape (n_samples,), default=None
            What each sample counts.

        Returns
        -------
        score : float
        """
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        rest = np.sum(weights * (y - self.predict(X)) ** 2)
        total = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        if total == 0:
            return 1.0 if rest == 0 else 0.0
        return float(1 - rest / total)


def _nodes_given(X: Any, single: bool) -> Given:
    """Nodes by name, or a graph with their links."""
    if is_graph(X):
        links = DirectedGraph.of(X).core()
        return Given(single=single, links=links, row_ids=links[0])
    names = np.asarray(X, dtype=object)
    return Given(single=single, row_ids=[str(name) for name in names.ravel()])


def _of_nodes(y: dict[Any, Any], nodes: list[Any]) -> np.ndarray:
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


def _name(label: Any) -> str:
    return str(int(label)) if isinstance(label, (float, np.floating)) and float(label).is_integer() else str(label)


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
