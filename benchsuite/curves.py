"""The curves of scaling.py: what grows, the data for each size, our command, and the powers that theory allows.

A curve's `words` writes files into a folder and gives the words of one `lopsided` command; the time is that of the whole
process, reading and writing included.
"""
import os
from dataclasses import dataclass
from typing import Callable

from common import numpy

np = numpy()
CLUSTERS = 8


@dataclass
class Curve:
    name: str
    about: str
    grows: str
    sizes: list
    quick: list
    words: Callable
    # Powers of the size by which time and memory may grow, and why.
    time: float
    memory: float
    why: str


# Data

def points(folder, rows, width=20, name="x.npy", seed=0):
    """Samples around a few centres; every number of rows has the same ones."""
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(9).standard_normal((CLUSTERS, width))
    labels = rng.integers(CLUSTERS, size=rows)
    np.save(folder / name, 1.5 * centers[labels] + rng.standard_normal((rows, width)))
    return labels


def labelled(folder, labels):
    """Labels of rows as a file."""
    (folder / "y.csv").write_text("row,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels.tolist())))


def classes(folder, rows, width=20):
    labelled(folder, points(folder, rows, width) % 2)


def values(folder, rows, width=20):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, width))
    np.save(folder / "x.npy", x)
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * rng.standard_normal(rows)
    np.save(folder / "y.npy", y)
    labelled(folder, y)


def graph(folder, nodes, degree=10, leaving=None, seed=0):
    """Links from each of a few groups to the next, all of them or so many of each node, the others within the group.

    As many lead into every node as out of it: nodes that few links lead to would stand out in the SNE kernel, and larger graphs would
    have more of them.
    """
    rng = np.random.default_rng(seed)
    own, members = np.arange(nodes), nodes // CLUSTERS
    sources = np.repeat(own, degree)
    drawn = [rng.permutation(members)[own // CLUSTERS % members] for _ in range(degree)]
    further = np.arange(degree) < (degree if leaving is None else leaving)
    targets = (np.stack(drawn, axis=1) * CLUSTERS + (own[:, None] + further) % CLUSTERS).ravel()
    text = "".join(f"{s},{t}\n" for s, t in zip(sources.tolist(), targets.tolist()))
    (folder / "edges.csv").write_text("source,target\n" + text)
    lines = "".join(f"{i},{i % CLUSTERS}\n" for i in range(nodes))
    (folder / "labels.csv").write_text("node,label\n" + lines)


def histograms(folder, rows, bins=30):
    rng = np.random.default_rng(2)
    centers = np.random.default_rng(9).dirichlet(np.ones(bins), CLUSTERS)
    for name in ("x.npy", "z.npy"):
        np.save(folder / name, np.array([rng.multinomial(200, centers[c]) for c in rng.integers(CLUSTERS, size=rows)]) / 200.0)


def stream(folder, trials, width=5):
    rng = np.random.default_rng(3)
    x, z = rng.standard_normal((trials, width)), rng.standard_normal((trials, width))
    names = [f"x{i}" for i in range(width)] + [f"y{i}" for i in range(width)] + ["label"]
    table = np.column_stack([x, z, np.tanh(x[:, 0] * z[:, 0])])
    np.savetxt(folder / "stream.csv", table, fmt="%.6g", delimiter=",", header=",".join(names), comments="")


def vectors(folder, trials, width=5):
    x = np.random.default_rng(3).standard_normal((trials, width))
    np.savetxt(folder / "stream.csv", x, fmt="%.6g", delimiter=",", header=",".join(f"x{i}" for i in range(width)), comments="")


def counts(folder, rows, columns):
    """A matrix with blocks of larger entries."""
    rng = np.random.default_rng(4)
    same = rng.integers(4, size=rows)[:, None] == rng.integers(4, size=columns)[None]
    np.save(folder / "a.npy", rng.random((rows, columns)) + same)


# Commands

def embed(*more, leaving=None):
    def words(folder, size):
        graph(folder, size, leaving=leaving)
        return ["embed", folder / "edges.csv", "--rank", CLUSTERS, *more, "--rows-out", folder / "rows.npy"]
    return words


def embed_samples(*more, columns=None, width=20):
    """Rows against as many columns, or a fixed number of them."""
    def words(folder, size):
        points(folder, size, width)
        points(folder, columns or size, width, "z.npy", seed=1)
        return samples_words(folder, *more)
    return words


def samples_words(folder, *more, gamma=0.02, rank=CLUSTERS):
    fixed = ["--kernel", "rbf", "--gamma", gamma, "--rank", rank, "--tol", 1e-4, "--rows-out", folder / "rows.npy"]
    return ["embed", folder / "x.npy", "--cols", folder / "z.npy", *fixed, *more]


def embed_wide(folder, width):
    points(folder, 2000, width)
    points(folder, 2000, width, "z.npy", seed=1)
    return samples_words(folder, "--operator", "tiles", gamma=0.4 / width)


def embed_rank(folder, rank):
    rng = np.random.default_rng(5)
    np.save(folder / "x.npy", rng.standard_normal((3000, 20)))
    np.save(folder / "z.npy", rng.standard_normal((3000, 20)))
    return samples_words(folder, rank=rank)


def embed_links(folder, links):
    graph(folder, 20_000, links // 20_000)
    return ["embed", folder / "edges.csv", "--rank", CLUSTERS, "--rows-out", folder / "rows.npy"]


def fit(estimator, data, *more, **settings):
    def words(folder, size):
        data(folder, size, **settings)
        return fit_words(folder, estimator, *more)
    return words


def fit_words(folder, estimator, *more, gamma=0.02):
    given = [] if estimator == "kpca" else ["--labels", folder / "y.csv"]
    return ["fit", estimator, folder / "x.npy", *given, "--gamma", gamma, *more, "--model", folder / "model"]


def fit_graph(folder, nodes):
    graph(folder, nodes)
    more = ["--rank", CLUSTERS, "--model", folder / "model"]
    return ["fit", "kernel-svd", folder / "edges.csv", "--labels", folder / "labels.csv", *more]


def fit_landmarks(estimator, data, rows, *more):
    def words(folder, count):
        data(folder, rows)
        return fit_words(folder, estimator, *more, "--landmarks", count)
    return words


def fit_wide(estimator, data, rows, *more):
    def words(folder, width):
        data(folder, rows, width)
        return fit_words(folder, estimator, *more, gamma=0.4 / width)
    return words


def fit_stream(folder, rows):
    values(folder, rows)
    fixed = ["--gamma", 0.02, "--task", "values", "--stream", "--landmarks", 200, "--model", folder / "model"]
    return ["fit", "krr", folder / "x.npy", "--labels", folder / "y.npy", *fixed]


def online(learner, data, *more):
    def words(folder, trials):
        data(folder, trials)
        fixed = ["--kernel", "rbf", "--gamma", 0.3, "--steps", "fixed", "--step", 0.3, "--out", folder / "out.csv"]
        return ["online", learner, "-", "--format", "csv", *fixed, *more]
    return words


def bicluster(folder, rows):
    counts(folder, rows, 200)
    return ["bicluster", folder / "a.npy", "--row-clusters", 4, "--kernel", "rbf", "--rank", 4, "--row-labels-out", folder / "rows.csv"]


def kl(folder, rows):
    histograms(folder, rows)
    fixed = ["--kernel", "kl", "--gamma", 0.5, "--rank", CLUSTERS, "--tol", 1e-4, "--rows-out", folder / "rows.npy"]
    return ["embed", folder / "x.npy", "--cols", folder / "z.npy", *fixed]


def threads(folder, count):
    return [*embed_samples("--operator", "tiles")(folder, 8000), "--threads", count]


def spread(first, last, steps):
    """Whole numbers from first to last at equal ratios."""
    return [round(value) for value in np.geomspace(first, last, steps)]


CORES = [count for count in (1, 2, 4, 8, 16, 32, 64) if count <= (os.cpu_count() or 1)]
LINEAR, SQUARE, CUBE = spread(1000, 1_000_000, 7), spread(1000, 32_000, 6), spread(500, 8000, 5)
FEW, FEWER, FEWEST = spread(2000, 32_000, 5), spread(500, 4000, 4), spread(250, 2000, 4)
LANDMARKS, QUICK_LANDMARKS = spread(100, 3200, 6), spread(100, 800, 4)
LLA = ["--approach", "lla", "--landmarks", 200]
VALUES, CLASSES = ["--task", "values", "--kernel", "rbf"], ["--task", "classes", "--kernel", "rbf"]

CURVES = [
    Curve("graph-nodes", "kernel SVD of a graph, SNE", "nodes, 10 links each", LINEAR, FEW, embed(), 1, 1, "pairs that share a neighbour grow like the nodes"),
    Curve("graph-links", "kernel SVD of a graph of 20 000 nodes, SNE", "links", spread(40_000, 1_280_000, 6), spread(40_000, 320_000, 4), embed_links, 2, 2,
          "pairs that share a neighbour grow like the square of the degree"),
    Curve("graph-katz", "kernel SVD of a graph, Katz", "nodes, 10 links each", LINEAR, FEW, embed("--kernel", "katz"), 1, 1, "products with the links"),
    Curve("graph-ppr", "kernel SVD of a graph, PageRank", "nodes, 10 links each", LINEAR, FEW, embed("--kernel", "ppr", leaving=1), 1, 1, "products with the links"),
    Curve("graph-predictor", "fit kernel-svd on a graph", "nodes, 10 links each", LINEAR, FEW, fit_graph, 1, 1, "as the embedding"),
    Curve("samples-tiles", "kernel SVD of samples in tiles, RBF", "rows and columns", SQUARE, FEWER, embed_samples("--operator", "tiles"), 2, 1,
          "n·m kernel values a pass, never stored"),
    Curve("samples-stored", "kernel SVD of samples, stored", "rows and columns", spread(1000, 16_000, 5), FEWER, embed_samples("--operator", "dense"), 2, 2, "n·m kernel values, stored"),
    Curve("samples-rows", "kernel SVD of samples in tiles against 2000 columns", "rows", spread(1000, 256_000, 6), FEW, embed_samples("--operator", "tiles", columns=2000), 1, 1,
          "n·m kernel values a pass"),
    Curve("samples-width", "kernel SVD of 2000 x 2000 samples in tiles", "width", spread(16, 2048, 6), spread(16, 512, 5), embed_wide, 1, 1, "a kernel value takes the width"),
    Curve("samples-rank", "kernel SVD of 3000 x 3000 samples", "rank", spread(8, 256, 6), spread(8, 64, 4), embed_rank, 2, 1, "products n·m·r, orthogonality n·r²"),
    Curve("samples-threads", "kernel SVD of 8000 x 8000 samples in tiles", "threads", CORES, CORES, threads, -1, 1, "all of it in parallel"),
    Curve("kl", "kernel SVD of histograms, KL", "rows and columns", spread(1000, 16_000, 5), FEWER, kl, 2, 2, "n·m kernel values, stored where they fit"),
    Curve("nystrom-rows", "Nyström, 200 landmarks a side, 2000 columns", "rows", LINEAR, FEW,
          embed_samples("--solver", "nystrom", "--rows-sample", 200, "--cols-sample", 200, columns=2000), 1, 1, "k(x, Z) for landmarks, and ten probes of all columns"),
    Curve("nystrom-landmarks", "Nyström of 4000 x 4000 samples", "landmarks a side", LANDMARKS[:5], QUICK_LANDMARKS,
          lambda folder, count: embed_samples("--solver", "nystrom", "--rows-sample", count, "--cols-sample", count)(folder, 4000), 3, 2, "the SVD of the block"),
    Curve("ask-ls", "AsK-LS, dense", "samples", CUBE, FEWEST, fit("ask-ls", classes, "--task", "classes", "--kernel", "sne", "--route", "dense", "--merge", "average"), 3, 2,
          "one factorisation"),
    Curve("ask-ls-stacked", "AsK-LS, stacking of 10 parts", "samples", CUBE[:4], FEWEST, fit("ask-ls", classes, "--task", "classes", "--kernel", "sne"), 3, 2, "ten factorisations"),
    Curve("ask-ls-minres", "AsK-LS by MINRES", "samples", spread(500, 16_000, 6), FEWER,
          fit("ask-ls", classes, "--task", "classes", "--kernel", "sne", "--route", "minres", "--merge", "average"), 2, 2, "products with K, stored where it fits"),
    Curve("ls-svm", "LS-SVM, dense", "samples", CUBE, FEWEST, fit("ls-svm", classes, *CLASSES, "--route", "dense"), 3, 2, "one factorisation"),
    Curve("svm", "C-SVM", "samples", spread(1000, 32_000, 6), FEWER, fit("svm", classes, *CLASSES), 3, 2, "between n² and n³"),
    Curve("svm-width", "C-SVM of 4000 samples", "width", spread(16, 1024, 5), spread(16, 256, 4), fit_wide("svm", classes, 4000, *CLASSES), 1, 1, "a kernel value takes the width"),
    Curve("nu-svm", "ν-SVM", "samples", spread(1000, 16_000, 5), FEWER, fit("nu-svm", classes, *CLASSES, "--nu", 0.1), 3, 2, "between n² and n³"),
    Curve("logistic", "kernel logistic regression", "samples", spread(500, 8000, 5), FEWEST, fit("logistic", classes, *CLASSES), 3, 2, "Newton steps with K"),
    Curve("svm-lla", "C-SVM, 200 landmarks", "samples", LINEAR, FEW, fit("svm", classes, *CLASSES, *LLA), 1, 1, "passes over n·m features"),
    Curve("svm-gsa", "C-SVM, 200 landmarks, GSA", "samples", LINEAR, FEW, fit("svm", classes, *CLASSES, "--approach", "gsa", "--landmarks", 200), 1, 1, "passes over n·m features"),
    Curve("logistic-lla", "logistic regression, 200 landmarks", "samples", LINEAR, FEW, fit("logistic", classes, *CLASSES, *LLA), 1, 1, "passes over n·m features"),
    Curve("krr", "ridge regression, exact", "samples", spread(500, 8000, 5), FEWEST, fit("krr", values, *VALUES, "--approach", "exact"), 3, 2, "one factorisation"),
    *(Curve(f"krr-{approach}", f"ridge regression, 200 landmarks, {approach.upper()}", "samples", LINEAR, FEW,
            fit("krr", values, *VALUES, "--approach", approach, "--landmarks", 200), 1, 1, "n·m² operations") for approach in ("lla", "gsa", "ncr")),
    Curve("krr-landmarks", "ridge regression of 20 000 samples, LLA", "landmarks", LANDMARKS, QUICK_LANDMARKS, fit_landmarks("krr", values, 20_000, *VALUES, "--approach", "lla"), 3, 2,
          "n·m² + m³ operations"),
    Curve("krr-rpcholesky", "ridge regression of 20 000 samples, LLA, landmarks by pivoted Cholesky", "landmarks", LANDMARKS, QUICK_LANDMARKS,
          fit_landmarks("krr", values, 20_000, *VALUES, "--approach", "lla", "--sampler", "rpcholesky"), 3, 2, "n·m² + m³ operations"),
    Curve("krr-width", "ridge regression of 20 000 samples, 200 landmarks", "width", spread(16, 1024, 5), spread(16, 256, 4), fit_wide("krr", values, 20_000, *VALUES, *LLA), 1, 1,
          "a kernel value takes the width"),
    Curve("krr-stream", "ridge regression read in passes, 200 landmarks", "samples", spread(10_000, 3_000_000, 6), spread(10_000, 300_000, 4), fit_stream, 1, 1,
          "n·m² operations; of the samples the labels alone are held"),
    Curve("kpca", "kernel PCA, exact", "samples", spread(1000, 16_000, 5), FEWER, fit("kpca", points, "--kernel", "rbf", "--rank", 5, "--approach", "exact"), 2, 2, "products with K, stored"),
    Curve("kpca-lla", "kernel PCA, 200 landmarks", "samples", LINEAR, FEW, fit("kpca", points, "--kernel", "rbf", "--rank", 5, *LLA), 1, 1, "n·m² operations"),
    Curve("online", "online gd-trace, all samples kept", "trials", spread(250, 4000, 5), spread(125, 1000, 4), online("gd-trace", stream, "--radius", 5), 3, 2,
          "a trial takes samples stored times dimension of their span"),
    Curve("online-budget", "online gd-trace, 100 samples kept", "trials", spread(1000, 32_000, 6), spread(1000, 8000, 4),
          online("gd-trace", stream, "--radius", 5, "--budget", 100), 1, 0, "every trial costs the same"),
    Curve("online-eg", "online eg-plus, all samples kept", "trials", spread(125, 1000, 4), spread(64, 256, 3), online("eg-plus", vectors, "--normalize"), 4, 2,
          "a decomposition of the span in every trial"),
    Curve("bicluster", "biclusters of a matrix with 200 columns", "rows", spread(1000, 256_000, 6), FEW, bicluster, 1, 1, "n·m kernel values, k-means"),
]
