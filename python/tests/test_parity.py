"""The same data and seed give the same bytes through the program and through Python."""
import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

from common import clusters, links, program
from lopsided import AsKLSClassifier, AsKLSRegressor, GraphEmbedding, KernelBiclustering, KernelSVD, LSSVMClassifier

X, y = clusters(80)
Z = X[:50] + 0.1


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "z.npy", Z)
    (tmp_path / "y.csv").write_text("node,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(y)))
    np.savetxt(tmp_path / "links.csv", links(), fmt="%d", delimiter=",")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "params"),
    [
        ("--kernel rbf", {"kernel": "rbf"}),
        ("--kernel sne --center", {"kernel": "sne", "center": True}),
        ("--kernel poly --degree 2 --gamma 0.5", {"kernel": "poly", "degree": 2, "gamma": 0.5}),
        ("--kernel laplacian --solver randomized", {"kernel": "laplacian", "solver": "randomized"}),
        ("--kernel rbf --solver nystrom --sampler norms", {"kernel": "rbf", "solver": "nystrom", "sampler": "norms"}),
        ("--kernel rbf --gamma median --scaling sqrt", {"kernel": "rbf", "gamma": "median", "scaling": "sqrt"}),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_model_files_of_two_sample_sets_are_equal(folder, options, params, order):
    program("embed", folder / "x.npy", "--cols", folder / "z.npy", *options.split(), "--rank", 4, "--seed", 5, "--model", folder / "cli")
    model = KernelSVD(4, random_state=5, **params).fit(np.asarray(X, order=order), Z=np.asarray(Z, order=order))
    model.save(folder / "python")
    assert (folder / "cli").read_bytes() == (folder / "python").read_bytes()


@pytest.mark.parametrize(("options", "params"), [("", {}), ("--links out --kernel katz", {"links": "out", "kernel": "katz"})])
def test_model_files_of_graphs_are_equal(folder, options, params):
    program("embed", folder / "links.csv", "--format", "edges", *options.split(), "--rank", 5, "--model", folder / "cli")
    GraphEmbedding(5, **params).fit(links()).save(folder / "python")
    assert (folder / "cli").read_bytes() == (folder / "python").read_bytes()


@pytest.mark.parametrize(
    ("name", "options", "machine"),
    [
        ("ask-ls", "--penalty 10", AsKLSClassifier(10.0)),
        ("ask-ls", "--merge average --kernel rbf", AsKLSClassifier(merge="average", kernel="rbf")),
        ("ls-svm", "--kernel rbf --gamma-factor 2", LSSVMClassifier(gamma_factor=2.0)),
        ("ask-ls", "--task values", AsKLSRegressor()),
    ],
)
def test_model_files_of_machines_are_equal_and_read_by_both(folder, name, options, machine):
    program("fit", name, folder / "x.npy", "--labels", folder / "y.csv", *options.split(), "--scale", "none", "--model", folder / "cli")
    machine.fit(X, y).save(folder / "python")
    assert (folder / "cli").read_bytes() == (folder / "python").read_bytes()
    program("predict", folder / "python", folder / "z.npy", "--out", folder / "p.csv")
    with open(folder / "p.csv") as lines:
        theirs = [float(row[1]) for row in list(csv.reader(lines))[1:]]
    again = type(machine).load(folder / "cli")
    np.testing.assert_array_equal(again.predict(Z), theirs)
    np.testing.assert_array_equal(machine.predict(Z), theirs)


def test_models_of_the_program_place_new_rows_in_python(folder):
    program("embed", folder / "x.npy", "--cols", folder / "z.npy", "--kernel", "rbf", "--rank", 3, "--model", folder / "m")
    program("transform", folder / "m", "--rows", folder / "z.npy", "--out", folder / "out.npy")
    model = KernelSVD.load(folder / "m")
    assert model.kernel == "rbf" and model.gamma > 0
    np.testing.assert_array_equal(model.transform(Z), np.load(folder / "out.npy"))


def test_clusters_are_equal(folder):
    out = json.loads(program("bicluster", folder / "x.npy", "--row-clusters", 3, "--col-clusters", 2, "--kernel", "rbf", "--json"))
    model = KernelBiclustering(3, 2).fit(X)
    assert out["row_clusters"] == model.row_labels_.tolist() and out["col_clusters"] == model.column_labels_.tolist()


def test_a_large_graph_gives_the_same_bytes(tmp_path):
    data = Path(os.environ.get("LOPSIDED_DATA", "")) / "cora"
    found = sorted(data.glob("edges*")) if data.is_dir() else []
    if not found:
        pytest.skip("LOPSIDED_DATA does not have cora")
    program("embed", found[0], "--rank", 16, "--model", tmp_path / "cli")
    GraphEmbedding.load(tmp_path / "cli")
    edges = np.loadtxt(found[0], delimiter=",", skiprows=1, usecols=(0, 1), dtype=int)
    GraphEmbedding(16).fit(edges).save(tmp_path / "python")
    assert (tmp_path / "cli").read_bytes() == (tmp_path / "python").read_bytes()
