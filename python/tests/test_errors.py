"""What a user does wrong, and what is said about it."""
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from common import clusters
from lopsided import AsKLSClassifier, DirectedGraph, GraphEmbedding, KernelBiclustering, KernelSVD

X, y = clusters(40)


@pytest.mark.parametrize(
    ("error", "sentence", "work"),
    [
        (ValueError, "X contains NaN at row 2, column 1", lambda: KernelSVD().fit(with_nan())),
        (ValueError, "no kernel `gausian`", lambda: KernelSVD(kernel="gausian").fit(X)),
        (ValueError, r"did you mean `laplacian`\?", lambda: KernelSVD(kernel="laplacien").fit(X)),
        (ValueError, r"`rank` is 64 but must be between 1 and min\(n, m\) = 40", lambda: KernelSVD(64).fit(X)),
        (ValueError, "`rank` is two but must be a whole number", lambda: KernelSVD("two").fit(X)),
        (ValueError, "`gamma` is -1 but must be", lambda: KernelSVD(kernel="rbf", gamma=-1).fit(X)),
        (ValueError, "the kernel `linear` has no gamma", lambda: KernelSVD(kernel="linear", gamma=1.0).fit(X)),
        (ValueError, "`compat_width` is 3 but must be left out", lambda: KernelSVD(compat_width=3).fit(X)),
        (ValueError, "the width of the column samples is 3 but must be 4", lambda: KernelSVD().fit(X, Z=X[:, :3])),
        (ValueError, "X has 3 features, but KernelSVD is expecting 4", lambda: KernelSVD().fit(X).transform(X[:, :3])),
        (ValueError, "Reshape your data", lambda: KernelSVD().fit(X[0])),
        (ValueError, "inconsistent numbers of samples", lambda: AsKLSClassifier().fit(X, y[:-1])),
        (ValueError, "of one class only", lambda: AsKLSClassifier().fit(X, np.zeros(40))),
        (ValueError, "`row_clusters` is 41 but", lambda: KernelBiclustering(41).fit(X)),
        (ValueError, "no merge `stick`", lambda: AsKLSClassifier(merge="stick").fit(X, y)),
        (ValueError, "the graph has no links", lambda: GraphEmbedding().fit([])),
        (ValueError, "a link is", lambda: DirectedGraph.of([("a", "b", 1.0, 2.0)])),
        (ValueError, "must be square", lambda: DirectedGraph.of(np.ones((4, 5)))),
        (ValueError, "`random_state` is -1", lambda: KernelSVD(random_state=-1).fit(X)),
        (NotFittedError, "not fitted yet", lambda: KernelSVD().transform(X)),
        (NotFittedError, "not fitted yet", lambda: AsKLSClassifier().predict(X)),
        (FileNotFoundError, "no such file", lambda: KernelSVD.load("/nowhere/model")),
        (np.linalg.LinAlgError, "singular", lambda: singular().fit(np.eye(6), [0, 0, 0, 1, 1, 1])),
    ],
)
def test_the_expected_exception_carries_our_sentence(error, sentence, work):
    with pytest.raises(error, match=sentence):
        work()


def with_nan():
    bad = X.copy()
    bad[2, 1] = np.nan
    return bad


def singular():
    return AsKLSClassifier(1.0, kernel="precomputed", merge="average", on_singular="error")


def test_more_memory_than_there_is_raises_a_memory_error():
    from lopsided import _core
    from lopsided._inputs import Given

    with pytest.raises(MemoryError, match="needs"):
        _core.fit("embed", '{"kernel": "rbf", "memory": 1000}', Given(x=X))


def test_a_tolerance_that_is_not_reached_warns():
    G = np.random.default_rng(0).standard_normal((400, 300))
    with pytest.warns(ConvergenceWarning):
        KernelSVD(10, kernel="precomputed", solver="nystrom", rows_sample=20, cols_sample=20).fit(G)
