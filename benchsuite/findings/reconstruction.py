"""Which norm the l2 of the graph reconstruction is (KSVD Table 1), of all entries or the largest singular value, and which nodes are "closest".

Every node gets as many links as it has, to the closest nodes (the rows and columns of P against each other: the plain SVD, and KSVD with the RBF kernel of ten
times the rule's bandwidth). The error has entries 0, 1 and -1; l1 is its largest column sum in any case, as the paper's figures (an l1 below l2) show. Closest are
nodes with the largest entries of U S^p V' (product), with v_j nearest to u_i (sides), or with the nearest pair of features (pairs: of u and v together). "none" is the
error of a reconstruction without any link, by which the others can be judged: its l1 is the largest number of links in a column.

Beyond 6000 nodes the triplets come from eight steps of subspace iteration in single precision. `--both` takes the links in both directions, as an
undirected graph that is stored in one of them should be read.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/reconstruction.py --sets cora citeseer
"""

import argparse
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from readings import readings
from scipy.sparse.linalg import svds


def links_of(scores, truth):
    np.fill_diagonal(scores, -np.inf)
    rows, cols = [], []
    for i in range(len(scores)):
        k = truth.indptr[i + 1] - truth.indptr[i]
        if k:
            best = np.argpartition(-scores[i], k - 1)[:k]
            rows += [i] * k
            cols += list(best)
    return sp.csr_matrix((np.ones(len(rows)), (rows, cols)), shape=truth.shape)


def closeness(way, u, v):
    """The larger, the closer, for the rows of u and v that are already scaled."""
    if way == "product":
        return u @ v.T
    x, z = (u, v) if way == "sides" else (np.c_[u, v], np.c_[u, v])
    return 2 * x @ z.T - (z**2).sum(1)


def triplets(g, rank):
    if len(g) <= 6000:
        u, s, vt = np.linalg.svd(g)
        return u[:, :rank], s[:rank], vt[:rank]
    v = np.random.default_rng(0).standard_normal((len(g), rank + 30)).astype(g.dtype)
    for _ in range(8):
        u = np.linalg.qr(g @ v)[0]
        v, r = np.linalg.qr(g.T @ u)
    left, s, right = np.linalg.svd(r.T)
    return (u @ left)[:, :rank], s[:rank], (v @ right.T)[:, :rank].T


def links_in_rows(truth):
    """In-links with loops, divided by their number."""
    p = (truth + sp.eye(truth.shape[0])).tocsr()
    return sp.diags(1 / np.asarray(p.sum(1)).ravel()) @ p


def kernel(p, a, wide):
    """RBF of rows against columns, with `wide` times the bandwidth of the rule."""
    gamma = 1 / (len(a) * a.var()) / wide**2
    return np.exp(-gamma * ((a**2).sum(1)[:, None] + (a**2).sum(0) - 2 * (p @ p).toarray().astype(a.dtype)))


def tell(name, method, way, power, error):
    l1, spectral = abs(error).sum(0).max(), svds(error.astype(float), k=1, return_singular_vectors=False)[0]
    print(f"| {name} | {method} | {way} | {power} | {l1:.0f} | {sp.linalg.norm(error):.1f} | {spectral:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--rank", type=int, default=1000)
    parser.add_argument("--both", action="store_true", help="links in both directions")
    parser.add_argument("--out", action="store_true", help="rows are out-links")
    parser.add_argument("--closest", nargs="+", default=["product"], choices=["product", "sides", "pairs"])
    parser.add_argument("--powers", nargs="+", type=float, default=[0, 0.5, 1])
    parser.add_argument("--methods", nargs="+", default=["SVD", "KSVD RBF x 10"], help="a number at the end is the factor of the bandwidth")
    args = parser.parse_args()
    print("| set | method | closest | p | l1 | all entries | largest singular value |\n" + "| --- " * 7 + "|")
    for name in args.sets:
        p = sp.csr_matrix(next(iter(readings(Path(os.environ["LOPSIDED_DATA"]) / name)))[1])
        n = p.shape[0]
        truth = p.copy()
        truth.setdiag(0)
        truth.eliminate_zeros()
        truth = truth.sign().tocsr()
        if args.both:
            truth = truth.maximum(truth.T).tocsr()
            p = links_in_rows(truth)
        if args.out:
            truth = truth.T.tocsr()
            p = links_in_rows(truth)
        a = p.toarray().astype(float if n <= 6000 else np.float32)
        tell(name, "none", "", "", truth)
        for method in args.methods:
            g = a if method == "SVD" else kernel(p, a, float(method.split()[-1]))
            u, s, vt = triplets(g, args.rank)
            for power in args.powers:
                scales = (s**power, 1) if args.closest == ["product"] else (s ** (power / 2), s ** (power / 2))
                for way in args.closest:
                    tell(name, method, way, f"{power:g}", truth - links_of(closeness(way, u * scales[0], vt.T * scales[1]), truth))


if __name__ == "__main__":
    main()
