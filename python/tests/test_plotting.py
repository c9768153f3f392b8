"""Pictures: what they show, and what they say when they cannot."""
import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lopsided import GraphEmbedding, KernelBiclustering, KernelPCA, KernelSVD, OnlinePairRegressor
from lopsided.plotting import BiclusterDisplay, EmbeddingDisplay, RegretDisplay, SpectrumDisplay

matplotlib.use("Agg")

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 3))
LINKS = np.unique(RNG.integers(20, size=(80, 2)), axis=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_spectra_show_the_values():
    svd = KernelSVD(rank=6, kernel="rbf").fit(X)
    display = SpectrumDisplay.from_estimator(svd, color="black")
    assert np.array_equal(display.line_.get_ydata(), svd.singular_values_) and display.line_.get_color() == "black"
    assert display.ax_.figure is display.figure_ and display.ax_.get_ylabel() == "singular value"
    _, ax = plt.subplots()
    pca = SpectrumDisplay.from_estimator(KernelPCA(3).fit(X), ax=ax)
    assert pca.ax_ is ax and ax.get_ylabel() == "eigenvalue"
    assert SpectrumDisplay([1.0, 1e-6]).plot().ax_.get_yscale() == "log"


def test_embeddings_have_a_panel_for_each_side():
    model = GraphEmbedding(rank=3).fit(LINKS)
    display = EmbeddingDisplay.from_estimator(model, components=(0, 2))
    assert [panel.get_title() for panel in display.ax_] == ["nodes as targets", "nodes as sources"]
    turned = EmbeddingDisplay.from_estimator(GraphEmbedding(rank=2, links="out").fit(LINKS))
    assert turned.titles == ("nodes as sources", "nodes as targets")
    for panel, vectors in zip(display.ax_, (model.row_vectors_, model.col_vectors_)):
        assert np.allclose(panel.collections[0].get_offsets(), vectors[:, [0, 2]])
    with pytest.raises(ValueError, match="`components` is"):
        EmbeddingDisplay.from_estimator(model, components=(0, 3))


def test_classes_differ_in_colour_and_marker():
    svd = KernelSVD(rank=2, kernel="rbf").fit(X, Z=X[:40])
    y = np.where(X[:, 0] > 0, "right", "left")
    display = EmbeddingDisplay.from_estimator(svd, labels=(y, y[:40]))
    assert [text.get_text() for text in display.ax_[1].get_legend().get_texts()] == ["left", "right"]
    left, right = display.ax_[0].collections
    assert len(left.get_offsets()) == (y == "left").sum()
    assert not np.array_equal(left.get_facecolor(), right.get_facecolor())
    assert left.get_paths()[0].vertices.shape != right.get_paths()[0].vertices.shape


def test_biclusters_are_blocks():
    matrix = np.kron(np.eye(2), np.ones((8, 6)))[RNG.permutation(16)][:, RNG.permutation(12)]
    display = BiclusterDisplay(matrix, matrix[:, 0] > 0, matrix[0] > 0).plot()
    shown = display.image_.get_array()
    assert abs(np.diff(shown, axis=0)).sum() == 12 and abs(np.diff(shown, axis=1)).sum() == 16
    model = KernelBiclustering(2, rank=4).fit(matrix)
    assert BiclusterDisplay.from_estimator(model, matrix).image_.get_array().shape == (16, 12)
    assert BiclusterDisplay(matrix - 0.5, np.ones(16), np.ones(12)).plot().image_.get_cmap().name == "PuOr"
    with pytest.raises(ValueError, match=r"the matrix is of shape \(12, 16\)"):
        BiclusterDisplay.from_estimator(model, matrix.T)


def test_regret_is_drawn_with_its_bound():
    learner = OnlinePairRegressor(horizon=60, normalize=True).fit(X, X[:, 0], Z=X[:, :2])
    display = RegretDisplay.from_estimator(learner)
    regret, bound = display.lines_
    assert regret.get_xdata()[-1] == 60 and regret.get_ydata()[-1] <= bound.get_ydata()[-1]
    assert display.ax_.get_title() == "gd-trace" and display.ax_.get_xlabel() == "trials"


def test_what_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        SpectrumDisplay.from_estimator(KernelSVD())
    with pytest.raises(NotFittedError):
        RegretDisplay.from_estimator(OnlinePairRegressor())


def test_without_matplotlib_a_sentence_says_so():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from lopsided.plotting import SpectrumDisplay\n"
        "try: SpectrumDisplay([1.0]).plot()\n"
        "except ImportError as error: print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "pictures need matplotlib: install it with `pip install matplotlib`\n"
