"""Graphs as people have them: frames, lists and series, features beside links, unknown targets."""
import math
import subprocess

import numpy as np
import pytest
from common import PROGRAM

from lopsided import AsKLSClassifier, AsKLSRegressor, DirectedGraph, GraphEmbedding, LSSVMClassifier

PAIRS = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "d"), ("d", "b"), ("e", "a")]
WEIGHTS = [1.0, 2.0, 1.0, 0.5, 1.0, 3.0]


def triples():
    return [(s, t, w) for (s, t), w in zip(PAIRS, WEIGHTS)]


def same(one, other):
    def links(graph):
        return sorted((graph.nodes[s], graph.nodes[t], w) for s, t, w in zip(graph.sources, graph.targets, graph.weights))

    assert links(one) == links(other)
    assert sorted(map(str, one.nodes)) == sorted(map(str, other.nodes))


def cyclic(n=150, classes=3, seed=0):
    """Classes on a cycle by links, and words that hint at them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    follows = (y[None, :] - y[:, None]) % classes == 1
    links = np.argwhere(rng.random((n, n)) < np.where(follows, 0.06, 0.01))
    words = (rng.random((n, 12)) < np.where(np.arange(12)[None, :] % classes == y[:, None], 0.35, 0.15)).astype(float)
    return links, words, y


def test_every_form_of_links_is_the_same_graph():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow, sparse = pytest.importorskip("pyarrow"), pytest.importorskip("scipy.sparse")
    networkx = pytest.importorskip("networkx")
    expected = DirectedGraph.of(triples())
    columns = {"source": [p[0] for p in PAIRS], "target": [p[1] for p in PAIRS], "weight": WEIGHTS}
    turned = pandas.DataFrame({"when": 0, **{name: columns[name] for name in ("weight", "target", "source")}})
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(triples())
    names = sorted(expected.nodes)
    matrix = np.zeros((5, 5))
    for s, t, w in triples():
        matrix[names.index(s), names.index(t)] = w
    adjacency = pandas.DataFrame(matrix, index=names, columns=names)
    for form in (
        pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns), turned, graph, adjacency,
        pandas.DataFrame(columns).rename(columns={"source": "p", "target": "q", "weight": "r"}),
    ):
        same(DirectedGraph.of(form), expected)
    for form in (matrix, sparse.csr_matrix(matrix)):
        same(DirectedGraph.of(form, nodes=pandas.Series(names)), expected)
    plain = DirectedGraph.of(PAIRS)
    same(DirectedGraph.of(pandas.DataFrame(columns)[["source", "target"]]), plain)
    assert DirectedGraph.of(PAIRS, nodes=pandas.Series(["z"])).nodes[-1] == "z"


def test_only_nodes_that_occur_exist():
    assert DirectedGraph.of([(3, 4), (4, 7)]).nodes == [3, 4, 7]
    assert DirectedGraph.of(np.array([[3, 4], [4, 7]]), nodes=[5]).nodes == [3, 4, 5, 7]
    assert DirectedGraph.of([(np.int64(10), np.int64(2))]).nodes == [2, 10]


def test_frames_that_are_no_graph_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="source and target"):
        DirectedGraph.of(pandas.DataFrame(np.ones((3, 5)), columns=list("pqrst")))
    with pytest.raises(ValueError, match="link 1 has no target"):
        DirectedGraph.of(pandas.DataFrame({"source": ["a", "b"], "target": ["b", None]}))
    with pytest.raises(ValueError, match="`nodes` has 2 names for the 5 rows"):
        DirectedGraph.of(np.ones((5, 5)), nodes=["a", "b"])


@pytest.mark.parametrize("machine", [AsKLSClassifier, LSSVMClassifier])
def test_unknown_targets_may_be_none_nan_or_na(machine):
    pandas = pytest.importorskip("pandas")
    links, _, y = cyclic()
    graph = DirectedGraph.of(links, nodes=range(150))
    hidden = np.arange(150) % 3 == 0
    decisions = []
    for unknown in (None, math.nan, np.nan, pandas.NA):
        targets = np.array([unknown if h else c for h, c in zip(hidden, y)], dtype=object)
        decisions.append(machine().fit(graph, targets).decision_function(graph.nodes))
    series = pandas.Series([pandas.NA if h else c for h, c in zip(hidden, y)], dtype="Int64")
    decisions.append(machine().fit(graph, series).decision_function(graph.nodes))
    decisions.append(machine().fit(graph, np.where(hidden, np.nan, y)).decision_function(graph.nodes))
    named = pandas.Series(y[~hidden], index=np.flatnonzero(~hidden))[::-1]
    decisions.append(machine().fit(graph, named).decision_function(graph.nodes))
    for decision in decisions[1:]:
        np.testing.assert_array_equal(decision, decisions[0])
    with pytest.raises(ValueError, match="which is no node"):
        machine().fit(graph, {999: 1, 0: 0, 1: 1})


def test_features_and_links_are_no_worse_than_each_alone():
    links, words, y = cyclic(300)
    graph, test = DirectedGraph.of(links, nodes=range(300)), np.arange(300) % 4 == 0
    targets = np.array([None if t else c for t, c in zip(test, y)], dtype=object)
    nodes = np.flatnonzero(test)
    both = AsKLSClassifier().fit(graph, targets, features=words)
    alone = AsKLSClassifier().fit(graph, targets)
    own = LSSVMClassifier().fit(words[~test], y[~test])
    scores = [np.mean(m.predict(nodes) == y[test]) for m in (both, alone)] + [own.score(words[test], y[test])]
    assert scores[0] >= max(scores[1:]), scores
    assert "feature-weight " in both.report_["chosen"]


@pytest.mark.parametrize("kind", ["array", "sparse", "frame", "dict", "shuffled"])
def test_features_come_in_any_form(kind):
    pandas, sparse = pytest.importorskip("pandas"), pytest.importorskip("scipy.sparse")
    links, words, y = cyclic()
    graph = DirectedGraph.of(links, nodes=range(150))
    order = np.random.default_rng(1).permutation(150)
    features = {
        "array": words, "sparse": sparse.csc_matrix(words), "frame": pandas.DataFrame(words),
        "dict": dict(enumerate(words)), "shuffled": pandas.DataFrame(words[order], index=order),
    }[kind]
    machine = LSSVMClassifier(feature_weight=0.4, penalty=1.0)
    expected = machine.fit(graph, y, features=words).decision_function(graph.nodes)
    np.testing.assert_allclose(machine.fit(graph, y, features=features).decision_function(graph.nodes), expected, atol=1e-10)
    assert machine.report_["params"]["feature-weight"] == 0.4


def test_new_nodes_bring_links_and_features(tmp_path):
    links, words, y = cyclic()
    graph = DirectedGraph.of(links, nodes=range(150))
    machine = AsKLSClassifier().fit(graph, y, features=words)
    more = DirectedGraph.of([(150, 3), (7, 150)])
    found = machine.predict(more, features={150: words[9]})
    assert found.shape == (3,)
    with pytest.raises(ValueError, match="missing for 1 of 3 nodes, `150` the first"):
        machine.predict(more)
    with pytest.raises(ValueError, match="features has 2 rows for 3 nodes"):
        machine.predict(more, features=words[:2])
    machine.save(tmp_path / "m")
    again = AsKLSClassifier.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(more, features={150: words[9]}), found)
    with pytest.raises(ValueError, match="missing for 100 of 150 nodes, `50` the first"):
        AsKLSClassifier().fit(graph, y, features={i: words[i] for i in range(50)})
    values = AsKLSRegressor().fit(graph, y.astype(float), features=words).predict([0, 1])
    assert values.shape == (2,)


@pytest.mark.parametrize("single", [False, True])
def test_embeddings_see_features_and_walks(single):
    links, words, _ = cyclic()
    graph = DirectedGraph.of(links, nodes=range(150))
    model = GraphEmbedding(rank=5, walk=2, feature_weight=0.3, single=single).fit(graph, features=words)
    np.testing.assert_allclose(model.transform(graph, features=words), model.row_vectors_, atol=1e-3 if single else 1e-6)
    np.testing.assert_allclose(model.transform_columns(graph), model.col_vectors_, atol=1e-3 if single else 1e-6)
    assert model.get_recipe()["walk"] == 2
    for other in (GraphEmbedding(rank=5), GraphEmbedding(rank=5, walk=3)):
        assert not np.allclose(other.fit(graph).singular_values_, model.singular_values_)
    with pytest.raises(ValueError, match="`walk` is 0"):
        GraphEmbedding(rank=5, walk=0).fit(graph)
    with pytest.raises(ValueError, match="`feature_weight` is 2"):
        GraphEmbedding(rank=5, feature_weight=2).fit(graph, features=words)


@pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not there")
def test_the_program_learns_the_same(tmp_path):
    links, words, y = cyclic()
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in links))
    (tmp_path / "f.csv").write_text("".join(f"{i}," + ",".join(map(str, row)) + "\n" for i, row in enumerate(words)))
    (tmp_path / "l.csv").write_text("node,label\n" + "".join(f"{i},{c}\n" for i, c in enumerate(y) if i % 3))
    command = [PROGRAM, "fit", "ask-ls", "e.csv", "--labels", "l.csv", "--features", "f.csv", "--walk", "2", "--model", "m", "--quiet"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode in (0, 1)
    targets = {i: c for i, c in enumerate(y) if i % 3}
    machine = AsKLSClassifier(walk=2).fit(DirectedGraph.of(links, nodes=range(150)), targets, features=words)
    there = AsKLSClassifier.load(tmp_path / "m")
    np.testing.assert_allclose(there.decision_function(range(150)), machine.decision_function(range(150)), atol=1e-8)
