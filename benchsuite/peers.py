#!/usr/bin/env python3
"""What others do for the same jobs, each in a process of its own.

    peers.py JOB FOLDER [KEY=VALUE …]

Prints one JSON line: the seconds from opening the data to the result, imports not included, and what `jobs.py` compares.
"""
import csv
import gzip
import json
import sys
import time
from pathlib import Path

import numpy as np


def edges(path):
    """A list of links, and how many nodes there are."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        rows = csv.reader(file)
        next(rows)
        links = np.array([(int(a), int(b)) for a, b in rows])
    return links, int(links.max()) + 1


def sne_of_graph(path, gamma):
    """The whole SNE kernel matrix of a graph's nodes, rows of in-links with self loops against columns."""
    p = links_of(path)
    squares = p.multiply(p)
    g = (p @ p).toarray()
    g *= 2
    g -= np.asarray(squares.sum(1))
    g -= np.asarray(squares.sum(0))
    g *= gamma
    np.exp(g, out=g)
    g /= g.sum(1, keepdims=True)
    return g


def sne(x, gamma):
    """The whole SNE kernel matrix of samples against themselves."""
    squares = (x**2).sum(1)
    g = np.empty((len(x), len(x)))
    # In pieces: OpenBLAS 0.3 breaks down in the whole x @ x.T of 20 000 samples on two threads.
    for start in range(0, len(x), 4000):
        np.matmul(x[start:start + 4000], x.T, out=g[start:start + 4000])
    g *= 2
    g -= squares[:, None]
    g -= squares[None, :]
    g *= gamma
    np.exp(g, out=g)
    g /= g.sum(1, keepdims=True)
    return g


def graph_svds(folder, path, gamma, rank, tol):
    from scipy.sparse.linalg import svds

    g = sne_of_graph(path, float(gamma))
    rng = np.random.default_rng(0)
    u, sigma, vt = svds(g, k=int(rank), tol=float(tol), v0=rng.standard_normal(g.shape[0]))
    return {"sigma": np.sort(sigma)[::-1].tolist()}


def graph_randomized(folder, path, gamma, rank, passes):
    from sklearn.utils.extmath import randomized_svd

    g = sne_of_graph(path, float(gamma))
    u, sigma, vt = randomized_svd(g, int(rank), n_iter=int(passes), random_state=0)
    np.save(folder / "peer-u.npy", u)
    np.save(folder / "peer-v.npy", vt.T)
    return {"sigma": sigma.tolist()}


def dense_svds(folder, gamma, rank, tol, solver):
    from scipy.sparse.linalg import svds

    g = sne(np.load(folder / "x.npy"), float(gamma))
    sigma = svds(g, k=int(rank), tol=float(tol), solver=solver, return_singular_vectors=True, rng=0)[1]
    return {"sigma": np.sort(sigma)[::-1].tolist()}


def dense_fbpca(folder, gamma, rank, passes):
    import fbpca

    np.random.seed(0)
    sigma = fbpca.pca(sne(np.load(folder / "x.npy"), float(gamma)), k=int(rank), raw=True, n_iter=int(passes))[1]
    return {"sigma": sigma.tolist()}


def links_of(path):
    """The links of a graph, self loops added, each node's in-links with sum 1."""
    from scipy import sparse

    links, n = edges(path)
    p = sparse.coo_matrix((np.ones(len(links)), (links[:, 1], links[:, 0])), shape=(n, n)).tocsr()
    p = (p + sparse.identity(n)).tocsr()
    return (sparse.diags(1 / np.asarray(p.sum(1)).ravel()) @ p).tocsr()


def graph_network(folder, path, rank):
    from sknetwork.embedding import SVD

    machine = SVD(int(rank), regularization=0, normalized=False, factor_singular=0)
    machine.fit(links_of(path))
    return {"sigma": machine.singular_values_.tolist()}


def graph_lobpcg(folder, path, rank):
    return links_svds(path, rank, "lobpcg")


def graph_arpack(folder, path, rank):
    return links_svds(path, rank, "arpack")


def links_svds(path, rank, solver):
    from scipy.sparse.linalg import svds

    sigma = svds(links_of(path), k=int(rank), solver=solver, tol=1e-6, rng=0)[1]
    return {"sigma": np.sort(sigma)[::-1].tolist()}


def krr_landmarks(folder, gamma, penalty, landmarks):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    features = Nystroem(kernel="rbf", gamma=float(gamma), n_components=int(landmarks), random_state=0)
    model = make_pipeline(features, Ridge(alpha=1 / float(penalty)))
    model.fit(np.load(folder / "x.npy"), np.load(folder / "y.npy"))
    return lambda: {"rmse": rmse(model.predict(np.load(folder / "test-x.npy")), np.load(folder / "test-y.npy"))}


def krr_exact(folder, gamma, penalty):
    from sklearn.kernel_ridge import KernelRidge

    y = np.load(folder / "y.npy")
    model = KernelRidge(kernel="rbf", gamma=float(gamma), alpha=1 / float(penalty))
    model.fit(np.load(folder / "x.npy"), y - y.mean())
    return lambda: {
        "rmse": rmse(model.predict(np.load(folder / "test-x.npy")) + y.mean(), np.load(folder / "test-y.npy"))
    }


def rmse(found, true):
    return float(np.sqrt(np.mean((found - true) ** 2)))


def svc_fit(folder, gamma, penalty, machine="SVC"):
    import pickle

    from sklearn import svm

    settings = {"C": float(penalty)} if machine == "SVC" else {"nu": float(penalty)}
    model = getattr(svm, machine)(kernel="rbf", gamma=float(gamma), cache_size=2000, **settings)
    model.fit(np.load(folder / "x.npy"), np.load(folder / "y.npy"))
    (folder / "peer.pickle").write_bytes(pickle.dumps(model))
    test = np.load(folder / "test-x.npy"), np.load(folder / "test-y.npy")
    return lambda: {"accuracy": float(np.mean(model.predict(test[0]) == test[1]))}


def svc_predict(folder):
    import pickle

    model = pickle.loads((folder / "peer.pickle").read_bytes())
    found = model.predict(np.load(folder / "test-x.npy"))
    return lambda: {"accuracy": float(np.mean(found == np.load(folder / "test-y.npy")))}


def kpca(folder, gamma, rank, solver):
    from sklearn.decomposition import KernelPCA

    machine = KernelPCA(int(rank), kernel="rbf", gamma=float(gamma), eigen_solver=solver, random_state=0)
    machine.fit(np.load(folder / "x.npy"))
    return {"values": machine.eigenvalues_.tolist()}


def ask_ls(folder, path, penalty, folds, tikhonov):
    """Stacking as the paper describes it: one system of size 2n + 2 per class and part, AᵀA + λI where it is singular."""
    links, n = edges(path)
    labels = np.loadtxt(folder / "labels.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]
    train, test = np.load(folder / "train.npy"), np.load(folder / "test.npy")
    k = np.zeros((n, n))
    k[links[:, 1], links[:, 0]] = 1
    k += np.eye(n)
    k /= k.sum(1, keepdims=True)
    classes = labels.max() + 1
    parts = np.array_split(np.random.default_rng(0).permutation(train), int(folds))
    total = np.zeros((len(test), classes))
    for c in range(classes):
        held, own = np.zeros((len(train), 2)), np.zeros((len(test), 2))
        place = {node: at for at, node in enumerate(train)}
        for part in parts:
            rest = np.setdiff1d(train, part)
            y = np.where(labels[rest] == c, 1.0, -1.0)
            alpha, beta, b_s, b_t = solved(k[np.ix_(rest, rest)], y, float(penalty), float(tikhonov))
            rows = [place[node] for node in part]
            held[rows, 0] = k[np.ix_(part, rest)] @ (beta * y) + b_s
            held[rows, 1] = k[np.ix_(rest, part)].T @ (alpha * y) + b_t
            own[:, 0] += (k[np.ix_(test, rest)] @ (beta * y) + b_s) / len(parts)
            own[:, 1] += (k[np.ix_(rest, test)].T @ (alpha * y) + b_t) / len(parts)
        weights = logistic(held, np.where(labels[train] == c, 1.0, 0.0))
        total[:, c] = own @ weights[:2] + weights[2]
    return {"accuracy": float(np.mean(total.argmax(1) == labels[test]))}


def solved(k, y, penalty, tikhonov):
    """[AsKLS] Eq. (6), the labels in the matrix."""
    n = len(k)
    h = y[:, None] * k * y[None, :]
    m = np.zeros((2 * n + 2, 2 * n + 2))
    m[0, 2:n + 2], m[1, n + 2:], m[2:n + 2, 0], m[n + 2:, 1] = y, y, y, y
    m[2:n + 2, 2:n + 2], m[n + 2:, n + 2:] = np.eye(n) / penalty, np.eye(n) / penalty
    m[2:n + 2, n + 2:], m[n + 2:, 2:n + 2] = h, h.T
    rhs = np.concatenate([[0, 0], np.ones(2 * n)])
    w = np.linalg.solve(m.T @ m + tikhonov * np.eye(len(m)), m.T @ rhs)
    return w[2:n + 2], w[n + 2:], w[0], w[1]


def logistic(x, y, steps=20):
    """Newton's iteration with a little ridge."""
    x = np.column_stack([x, np.ones(len(x))])
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        p = 1 / (1 + np.exp(-x @ w))
        w -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(3), x.T @ (p - y) + 1e-6 * w)
    return w


def ask_ls_penalties(folder, penalties):
    """lopsided itself, one command for each penalty."""
    from common import report

    scores = []
    for penalty in penalties.split(","):
        words = ["--kernel", "precomputed", "--merge", "average", "--cv", 5, "--grid", f"penalty={penalty}"]
        files = [folder / "kernel.npy", "--labels", folder / "labels.csv", "--model", folder / "peer-model"]
        scores.append(report("fit", "ask-ls", *files, *words)["cv"]["mean"])
    return {"scores": scores}


def online_transcription(folder, trials, width):
    import online

    table = np.loadtxt(folder / "stream.csv", delimiter=",", skiprows=1)
    x, z, y = table[:, :int(width)], table[:, int(width):-1], table[:, -1]
    return {"predictions": online.transcription(x, z, y).tolist()}


def coclustering(folder, path, clusters):
    from scipy.io import mmread
    from sklearn.cluster import SpectralCoclustering

    opener = gzip.open if path.endswith(".gz") else open
    with opener(path) as file:
        a = mmread(file).tocsr()
    model = SpectralCoclustering(int(clusters), random_state=0).fit(a)
    return lambda: {"nmi": nmi(folder, model.row_labels_)}


def nmi(folder, found):
    from sklearn.metrics import normalized_mutual_info_score

    labels = np.loadtxt(folder / "labels.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]
    return float(normalized_mutual_info_score(labels, found))


JOBS = [graph_svds, graph_randomized, graph_network, graph_lobpcg, graph_arpack, dense_svds, dense_fbpca, krr_landmarks, krr_exact, svc_fit, svc_predict, kpca, ask_ls, ask_ls_penalties, online_transcription, coclustering]


def main():
    job = {job.__name__: job for job in JOBS}[sys.argv[1]]
    settings = dict(word.split("=", 1) for word in sys.argv[3:])
    import_everything()
    start = time.perf_counter()
    found = job(Path(sys.argv[2]), **settings)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, **(found() if callable(found) else found)}))


def import_everything():
    """Imports take their time once, not in the job."""
    import online
    import scipy.io
    import scipy.sparse.linalg
    import sklearn.cluster
    import sklearn.decomposition
    import sklearn.kernel_approximation
    import sklearn.kernel_ridge
    import sklearn.svm
    import sknetwork.embedding


if __name__ == "__main__":
    main()
