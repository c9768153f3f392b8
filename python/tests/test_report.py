"""Pages and short accounts of fitted estimators."""
import json

import lopsided
import numpy as np
import pytest

HOSTILE = "</script><script>alert(1)</script>"


def written(model, path, **kwargs):
    model.report(path, **kwargs)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and page.count("<script>") == 1
    return page


@pytest.fixture
def rows():
    return np.random.default_rng(3).standard_normal((60, 4))


def test_an_embedding_has_a_map_with_the_colours_of_labels(rows, tmp_path):
    model = lopsided.KernelSVD(rank=4).fit(rows)
    page = written(model, tmp_path / "svd.html", labels=[HOSTILE, "b", None] * 20)
    assert 'class="map"' in page and "Singular values of G" in page and "without label" in page
    assert "alert(1)<" not in page
    with pytest.raises(ValueError, match="number of labels"):
        model.report(tmp_path / "svd.html", labels=["a"])


def test_nodes_are_found_by_name(tmp_path):
    links = [(HOSTILE, "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", HOSTILE), ("b", "e"), ("c", "e")]
    page = written(lopsided.GraphEmbedding(rank=2).fit(links), tmp_path / "graph.html")
    data = json.loads(page.split('id="cloud-0">')[1].split("</script>")[0])
    assert HOSTILE in data["names"]


def test_machines_clusters_and_components_have_pages(rows, tmp_path):
    y = (rows[:, 0] > 0).astype(int)
    for model, words in [
        (lopsided.AsKLSClassifier().fit(rows, y), "What was tried"),
        (lopsided.KernelBiclustering(2).fit(rows), "The kernel matrix G"),
        (lopsided.KernelPCA(2).fit(rows), "Variance of each component"),
    ]:
        assert words in written(model, tmp_path / "page.html")


def test_an_online_learner_shows_its_regret(rows, tmp_path):
    learner = lopsided.OnlinePairRegressor(step=0.1).fit(rows, rows[:, 0])
    assert "After so many trials" in written(learner, tmp_path / "online.html")


def test_only_fitted_estimators_have_one(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        lopsided.KernelSVD().report(tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()


def test_a_notebook_sees_how_the_fit_went(rows):
    model = lopsided.KernelSVD(rank=3)
    before = model._repr_mimebundle_()
    after = model.fit(rows)._repr_mimebundle_()
    assert before["text/plain"] == after["text/plain"]
    assert "<th" in after["text/html"] and "converged" in after["text/html"]
    assert "converged" not in before.get("text/html", "")
