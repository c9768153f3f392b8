"""Directed graphs in every form."""
import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from common import links
from lopsided import AsKLSClassifier, AsKLSRegressor, DirectedGraph, GraphEmbedding, LSSVMClassifier

LINKS = links()
NODES = 60


def networkx_graph():
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_edges_from(LINKS.tolist())
    return graph


def forms():
    adjacency = np.zeros((NODES, NODES))
    adjacency[LINKS[:, 0], LINKS[:, 1]] = 1
    return {
        "networkx": networkx_graph(),
        "igraph": igraph.Graph(n=NODES, edges=LINKS.tolist(), directed=True),
        "csr": sp.csr_array(adjacency),
        "dense": adjacency,
        "weights": np.column_stack([LINKS, np.ones(len(LINKS))]),
        "pairs": [tuple(link) for link in LINKS.tolist()],
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_gives_the_same_embedding(form):
    expected, found = GraphEmbedding(4).fit(LINKS), GraphEmbedding(4).fit(forms()[form])
    assert found.nodes_ == expected.nodes_
    np.testing.assert_array_equal(found.row_vectors_, expected.row_vectors_)


def test_the_nodes_of_the_graph_land_on_themselves():
    model = GraphEmbedding(4).fit(LINKS)
    np.testing.assert_allclose(model.transform(LINKS), model.row_vectors_, atol=1e-8)
    np.testing.assert_allclose(model.transform_columns(LINKS), model.col_vectors_, atol=1e-8)


def test_links_of_undirected_graphs_count_twice_and_names_stay():
    graph = DirectedGraph.of(nx.Graph([("a", "b"), ("b", "c")]))
    assert graph.nodes == ["a", "b", "c"] and len(graph.sources) == 4


def test_only_nodes_that_occur_exist_as_in_the_program():
    model = GraphEmbedding(2).fit([(3, 4), (4, 7), (7, 3)])
    assert model.nodes_ == [3, 4, 7]
    assert GraphEmbedding(2).fit([(0, 900), (900, 5)]).nodes_ == [0, 5, 900]


@pytest.mark.parametrize("machine", [AsKLSClassifier(kernel="sne"), LSSVMClassifier(kernel="sne")])
def test_nodes_are_classified_by_their_links(machine):
    classes = {node: "even" if node % 2 == 0 else "odd" for node in range(0, NODES, 2)} | {1: "odd", 3: "odd", 5: "odd"}
    graph = networkx_graph()
    machine.fit(graph, classes)
    assert set(machine.predict([7, 9])) <= {"even", "odd"}
    as_array = [classes.get(node) for node in range(NODES)]
    again = type(machine)(kernel="sne").fit(graph, np.array(as_array, dtype=object))
    np.testing.assert_array_equal(again.decision_function(list(range(NODES))), machine.decision_function(graph))


def test_new_nodes_are_predicted_from_their_links():
    graph = networkx_graph()
    values = {node: float(node % 5) for node in range(NODES)}
    machine = AsKLSRegressor().fit(graph, values)
    larger = graph.copy()
    larger.add_edges_from([(100, 3), (4, 100)])
    assert np.isfinite(machine.predict(larger)).all() and len(machine.predict(larger)) == NODES + 1
    with pytest.raises(ValueError, match="`node` is nobody but must be one that the model knows"):
        machine.predict(["nobody"])
    with pytest.raises(ValueError, match="which is no node"):
        machine.fit(graph, {"nobody": 1.0})
