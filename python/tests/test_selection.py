"""Model selection for two-sided data: nodes of a graph, matrices cut on both sides, both sides in a pipeline."""
import warnings

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from lopsided import (
    AsKLSClassifier,
    AsKLSRegressor,
    DirectedGraph,
    GraphEmbedding,
    KernelMatrix,
    KernelSVD,
    KernelSVDClassifier,
    LSSVMClassifier,
)


def circle(count=120, groups=4, seed=0):
    """Groups of nodes that link in a circle, under names."""
    rng = np.random.default_rng(seed)
    group = np.arange(count) % groups
    chance = np.where((group[None] - group[:, None]) % groups == 1, 0.3, 0.02)
    ends = np.argwhere((rng.random((count, count)) < chance) & ~np.eye(count, dtype=bool))
    names = np.array([f"n{i}" for i in range(count)])
    return DirectedGraph.of([(str(names[s]), str(names[t])) for s, t in ends], nodes=map(str, names)), names, group


GRAPH, NAMES, GROUP = circle()


@pytest.mark.parametrize("machine", [AsKLSClassifier(0.5, merge="average"), LSSVMClassifier(1.0), KernelSVDClassifier(8)])
def test_folds_of_nodes_are_the_fits_with_hidden_labels(machine):
    machine = machine.set_params(graph=GRAPH)
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(machine, NAMES, GROUP, cv=folds)
    for (train, test), score in zip(folds.split(NAMES), scores):
        by_hand = clone(machine).set_params(graph=None).fit(GRAPH, dict(zip(NAMES[train].tolist(), GROUP[train].tolist())))
        assert score == np.mean(by_hand.predict(NAMES[test]) == GROUP[test])
    if isinstance(machine, KernelSVDClassifier):  # one function alone cannot tell who links from who is linked
        assert scores.mean() > 0.7


def test_a_grid_over_nodes_takes_any_form_of_nodes():
    import pandas as pd

    forms = [NAMES, NAMES[:, None], NAMES.tolist(), pd.Series(NAMES), pd.DataFrame({"node": NAMES})]
    grid = {"gamma_factor": [2.0, 5.0]}
    found = [
        GridSearchCV(AsKLSClassifier(0.5, graph=GRAPH, merge="average"), grid, cv=3).fit(nodes, GROUP).cv_results_["mean_test_score"]
        for nodes in forms
    ]
    for scores in found:
        np.testing.assert_array_equal(scores, found[0])
    numbers = nx.DiGraph([(i, (i + 1) % 30) for i in range(30)])
    machine = AsKLSRegressor(0.5, graph=numbers, merge="average").fit(np.arange(20), np.sin(np.arange(20)))
    assert machine.predict([20.0, 21]).shape == (2,)


@pytest.mark.parametrize(
    ("sentence", "work"),
    [
        ("'elsewhere', which is no node", lambda: AsKLSClassifier(graph=GRAPH).fit(["n1", "elsewhere"], [0, 1])),
        ("a node twice", lambda: AsKLSClassifier(graph=GRAPH).fit(["n1", "n1"], [0, 1])),
        ("`graph` is one as well", lambda: AsKLSClassifier(graph=GRAPH).fit(GRAPH, GROUP)),
        ("must be nodes, one in each row", lambda: AsKLSClassifier(graph=GRAPH).fit(np.ones((4, 2)), [0, 1, 0, 1])),
        ("which is no node", lambda: GraphEmbedding(2, graph=GRAPH).fit(NAMES).transform(["elsewhere"])),
        ("`side` is 'left'", lambda: GraphEmbedding(2, side="left").fit(GRAPH)),
        ("must be a KernelMatrix", lambda: KernelSVD(2, kernel="precomputed", side="both").fit(np.eye(9)).transform(np.eye(9))),
        ("`kernel` must be 'precomputed'", lambda: AsKLSClassifier().fit(KernelMatrix(np.eye(9)), [0] * 5 + [1] * 4)),
        ("square matrix only", lambda: KernelMatrix(np.ones((3, 4)))),
        ("must be of shape", lambda: KernelMatrix(np.ones((3, 4)), np.ones((3, 4)))),
    ],
)
def test_wrong_nodes_and_matrices_are_named(sentence, work):
    with pytest.raises(ValueError, match=sentence):
        work()


def asymmetric(count=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 3
    return 1.0 * (y[:, None] == (y + 1) % 3) + 0.3 * rng.standard_normal((count, count)), y


@pytest.mark.parametrize("merge", ["stack", "average", "source", "target"])
def test_a_matrix_is_cut_on_both_sides(merge):
    K, y = asymmetric()
    machine = AsKLSClassifier(0.02, kernel="precomputed", merge=merge)
    folds = KFold(3, shuffle=True, random_state=1)
    scores = cross_val_score(machine, KernelMatrix(K), y, cv=folds)
    for (train, test), score in zip(folds.split(K), scores):
        by_hand = clone(machine).fit(K[np.ix_(train, train)], y[train])
        found = by_hand.predict(K[np.ix_(test, train)], Z=K[np.ix_(train, test)])
        assert score == np.mean(found == y[test])
    assert merge != "stack" or scores.mean() > 0.8


def test_rows_alone_of_a_matrix_that_is_not_symmetric_are_warned_about():
    K, y = asymmetric()
    with pytest.warns(UserWarning, match="KernelMatrix") as told:
        AsKLSClassifier(0.02, kernel="precomputed").fit(K, y).predict(K[:4])
    assert told[-1].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AsKLSClassifier(0.02, kernel="precomputed", merge="source").fit(K, y).predict(K[:4])
        AsKLSClassifier(0.005, kernel="precomputed").fit(K + K.T, y).predict((K + K.T)[:4])


def test_both_sides_stand_beside_each_other():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    for kernel in ("sne", lambda A, B: np.exp(A @ np.triu(np.ones((3, 3))) @ B.T)):
        models = {side: KernelSVD(4, kernel=kernel, side=side).fit(X) for side in ("rows", "columns", "both")}
        np.testing.assert_allclose(
            models["both"].transform(X[:7]),
            np.hstack([models["rows"].transform(X[:7]), models["rows"].transform_columns(X[:7])]),
        )
        np.testing.assert_allclose(models["both"].transform(X), models["both"].fit_transform(X), atol=1e-6)
        assert models["both"].get_feature_names_out().shape == (8,)
        np.testing.assert_allclose(models["columns"].transform(X[:7]), models["rows"].transform_columns(X[:7]))
    K, y = asymmetric()
    pipeline = make_pipeline(KernelSVD(6, kernel="precomputed", side="both"), LogisticRegression())
    assert cross_val_score(pipeline, KernelMatrix(K), y, cv=3).mean() > 0.8


def test_an_embedding_in_a_pipeline_gives_the_features_of_the_nodes_asked_for():
    model = GraphEmbedding(5, graph=GRAPH, side="both").fit(NAMES[:10])
    whole = GraphEmbedding(5).fit(GRAPH)
    expected = np.hstack([whole.row_vectors_, whole.col_vectors_])[[whole.nodes_.index(name) for name in NAMES[:10]]]
    np.testing.assert_array_equal(model.transform(NAMES[:10]), expected)
    np.testing.assert_array_equal(model.fit_transform(NAMES[:10]), expected)
    pipeline = make_pipeline(GraphEmbedding(6, graph=GRAPH, side="both", scaling="sqrt"), LogisticRegression(C=100))
    assert cross_val_score(pipeline, NAMES, GROUP, cv=3).mean() > 0.9
    assert clone(model).graph is GRAPH
