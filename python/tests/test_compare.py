"""Whether asymmetry pays, from Python."""
import json

import numpy as np
import pytest

import lopsided
from common import clusters, program
from lopsided import DirectedGraph, compare

QUICK = {"repeats": 1, "folds": 4, "inner": 2}


def circle(nodes=120, seed=0):
    """People who follow the next of three groups, and the groups by name."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(nodes) % 3)
    step = (group[None] - group[:, None]) % 3
    chance = 0.12 * np.array([1.0, 1.9, 0.1])[step]
    links = np.argwhere((rng.random((nodes, nodes)) < chance) & ~np.eye(nodes, dtype=bool))
    return DirectedGraph.of(links, nodes=range(nodes)), {node: "abc"[group[int(node)]] for node in range(nodes)}


def learned(found, X, y):
    """The machine that the next command fits."""
    names = {name: getattr(lopsided, name) for name in lopsided.__all__}
    sklearn = pytest.importorskip("sklearn")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    assert sklearn
    return eval(found.next_command, names | {"make_pipeline": make_pipeline, "StandardScaler": StandardScaler, "X": X, "y": y})


def test_direction_pays_on_a_circle_and_the_next_command_runs():
    graph, groups = circle()
    found = compare(graph, groups, **QUICK)
    assert found.verdict == "pays" and found.difference["low"] > 0 and found.measure == "accuracy"
    assert "Asymmetry pays" in str(found) and "<table>" in found._repr_html_()
    assert {"name", "mean", "deviation", "seconds", "family"} <= set(found.methods[0]) and len(found.methods) == 10
    assert hasattr(learned(found, graph, groups), "predict")


def test_both_ways_and_random_labels_do_not_pay():
    graph, groups = circle(seed=1)
    both = DirectedGraph(
        graph.nodes, np.concatenate([graph.sources, graph.targets]), np.concatenate([graph.targets, graph.sources]),
        np.ones(2 * len(graph.weights)),
    )
    found = compare(both, groups, **QUICK)
    assert found.verdict == "does not pay" and found.asymmetry["reciprocated"] == 1
    values = list(groups.values())
    shuffled = dict(zip(groups, np.random.default_rng(3).permutation(values)))
    assert compare(graph, shuffled, **QUICK).verdict == "does not pay"


def test_rows_of_a_table_by_classes_and_by_values():
    X, y = clusters(90)
    found = compare(X, y, **QUICK)
    assert len(found.methods) == 6 and found.asymmetry["sne"] > 0
    assert learned(found, X, y).score(X, y) > 0.5
    found = compare(X, X[:, 0] + 0.1 * X[:, 1] ** 2, **QUICK)
    assert found.measure == "R²"
    assert learned(found, X, X[:, 0]).score(X, X[:, 0]) > 0.5


def test_the_program_says_the_same(tmp_path):
    graph, groups = circle()
    groups = {f"p{node}": name for node, name in groups.items()}
    ends = [(f"p{graph.nodes[s]}", f"p{graph.nodes[t]}") for s, t in zip(graph.sources, graph.targets)]
    (tmp_path / "e.csv").write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in ends))
    (tmp_path / "c.csv").write_text("node,label\n" + "".join(f"{n},{c}\n" for n, c in sorted(groups.items(), key=lambda item: item[1])))
    same = DirectedGraph.of(ends)
    found = compare(same, groups, **QUICK, random_state=4)
    words = ["--repeats", 1, "--folds", 4, "--inner", 2, "--seed", 4, "--json"]
    other = json.loads(program("compare", tmp_path / "e.csv", "--labels", tmp_path / "c.csv", *words))
    assert [m["scores"] for m in other["methods"]] == [m["scores"] for m in found.details["methods"]]
    assert other["verdict"] == found.verdict and other["difference"] == found.difference


def test_wrong_settings_are_said():
    graph, groups = circle()
    with pytest.raises(ValueError, match="`folds` is 1"):
        compare(graph, groups, folds=1)
    with pytest.raises(ValueError, match="`task` is words"):
        compare(graph, groups, task="words")
