"""Coherence of term clusters (KSVD Table 2): what moves it, with the paper's number of column clusters.

The co-occurrence matrix A'A gives the pointwise mutual information of terms; a cluster's coherence is the mean inside minus the mean
to the other terms. Features are right singular vectors, clustered by k-means. NMI of the row clusters stands beside it.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/coherence.py --set acm --col-clusters 18 --seeds 3
"""

import argparse
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.io import mmread
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score


def unit(m):
    return m / np.maximum(np.linalg.norm(m, axis=1, keepdims=True), 1e-300)


def pmi(a):
    c = np.asarray((a.T @ a).todense())
    total = c.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(c * total.sum() / np.outer(total, total))
    return np.where(np.isfinite(value), value, 0.0)


def coherence(value, labels):
    groups = np.eye(labels.max() + 1)[labels]
    groups = groups[:, groups.sum(0) > 0]
    size, m = groups.sum(0), len(labels)
    inside = np.einsum("ik,ij,jk->k", groups, value, groups, optimize=True)
    outside = groups.T @ value.sum(1) - inside
    return float(np.sum(size * (inside / size**2 - outside / np.maximum(size * (m - size), 1))) / m)


def triplets(g, rank):
    values, v = np.linalg.eigh(g.T @ g)
    v, sigma = v[:, ::-1][:, :rank], np.sqrt(np.maximum(values[::-1][:rank], 1e-300))
    return g @ v / sigma, sigma, v


def kernel(a, columns, factor, centred, seed=0):
    """RBF of the rows against the columns aligned by principal components; gamma by the median distance."""
    values, v = np.linalg.eigh(a.T @ a)
    z = (v * np.sqrt(np.maximum(values, 0))) @ v.T
    x, z = (a, unit(z)) if columns == "unit" else (a, z)
    d = np.maximum((x**2).sum(1)[:, None] + (z**2).sum(1) - 2 * x @ z.T, 0)
    some = np.random.default_rng(seed).choice(d.size, 200_000)
    g = np.exp(-d / np.median(d.ravel()[some]) / factor**2)
    return g - g.mean(0) - g.mean(1)[:, None] + g.mean() if centred else g


# Components, power of the singular values, features of unit length; the first is the present way.
SETTINGS = [(20, 0.0, False), (20, 0.0, True), (40, 0.5, False), (40, 0.5, True)]


def weightings(raw):
    yield "as they are", unit(raw.toarray().astype(float))
    yield "tf-idf", TfidfTransformer().fit_transform(raw).toarray()


def ways(raw):
    for weights, a in weightings(raw):
        yield weights, "SVD", triplets(a, 40)
        yield weights, "KSVD RBF", triplets(kernel(a, "plain", 1, True), 40)
        yield weights, "KSVD RBF, unit columns", triplets(kernel(a, "unit", 1, True), 40)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="acm")
    parser.add_argument("--col-clusters", type=int, default=18)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    folder = Path(os.environ["LOPSIDED_DATA"]) / args.set
    raw = sp.csr_matrix(mmread(folder / "features.mtx.gz"))
    classes = np.loadtxt(folder / "labels.csv", delimiter=",", skiprows=1, dtype=str)
    nodes, truth = classes[:, 0].astype(int), classes[:, 1]
    value = pmi(raw)
    print("| entries | features | components | power of Σ | unit length | coherence | NMI of the rows |\n" + "| --- " * 7 + "|")
    for weights, name, (u, sigma, v) in ways(raw):
        for rank, power, length in SETTINGS:
            sides = [m[:, :rank] * sigma[:rank] ** power for m in (u, v)]
            sides = [unit(m) for m in sides] if length else sides
            clusters = (len(set(truth)), args.col_clusters)
            found = []
            for seed in range(args.seeds):
                means = [KMeans(k, n_init=5, random_state=seed) for k in clusters]
                rows, cols = (m.fit_predict(side) for m, side in zip(means, sides))
                found.append((coherence(value, cols), normalized_mutual_info_score(truth, rows[nodes])))
            cells = [f"{m:.3f} ± {s:.3f}" for m, s in zip(np.mean(found, 0), np.std(found, 0))]
            shown = [weights, name, str(rank), f"{power:g}", "yes" if length else "no", *cells]
            print("|", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
