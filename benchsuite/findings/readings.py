"""Which matrix G can have the times of KSVD Tables 4 and 6: data matrices and weights of eta tried one by one.

The paper's TSVD runs ARPACK to machine precision on a stored matrix. A product with G reads all of it, so that the memory of the paper's machine (i7-8700K, two channels of
DDR4-2666: 41.6 GB/s at best) bounds the number of products in the printed time: 596 on cora, 269 on citeseer, 123 on pubmed. Here the products are counted that
ARPACK needs, and the landmarks and the random vectors that eta <= 0.1 and 0.01 need, for every way to make the data matrix of a graph and for every weight. SNE is
D (1 b' + C) with a sparse C for any sparse data matrix, so that products are cheap at any size.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/readings.py --sets cora citeseer pubmed
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from polish import unit
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

FACTORS = {"cora": (1.0, 0.5), "citeseer": (1.0, 0.5), "pubmed": (0.5, 1.0)}
PRINTED = {"cora": 0.841, "citeseer": 0.568, "pubmed": 9.223}
BANDWIDTH = 41.6e9
GOALS = (0.1, 0.01)


def rows_to_one(a):
    return sp.diags(1 / np.maximum(np.asarray(a.sum(1)).ravel(), 1e-300)) @ a


def readings(folder):
    """Data matrices with the rows as X and the columns as Z, and the matrix whose variance the bandwidth is made of."""
    path = next(p for p in (folder / "edges.csv", folder / "edges.csv.gz") if p.exists())
    links = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    n = len((folder / "labels.csv").read_text().split()) - 1
    a = sp.csr_matrix((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n)).sign()
    loops, both = sp.eye(n), (a + a.T).sign()
    root = sp.diags(1 / np.sqrt(np.asarray((both + loops).sum(1)).ravel()))
    for name, p in (
        ("in-links to 1, self loops (here)", rows_to_one(a.T + loops)),
        ("out-links to 1, self loops", rows_to_one(a + loops)),
        ("out-links to 1", rows_to_one(a)),
        ("both directions to 1, self loops", rows_to_one(both + loops)),
        ("both directions, by both degrees", root @ (both + loops) @ root),
        ("0 and 1", a),
        ("0 and 1, self loops", a + loops),
    ):
        yield name, p, p
    yield "0 and 1, bandwidth of out-links to 1", a, rows_to_one(a)
    yield "0 and 1, bandwidth of in-links to 1 with self loops", a, rows_to_one(a.T + loops)


class Sne:
    def __init__(self, p, gamma):
        p = sp.csr_matrix(p)
        self.n = p.shape[0]
        z = np.asarray(p.power(2).sum(0)).ravel()
        self.b = np.exp(-gamma * z)
        c = (p @ p).tocsr()
        c.data = np.expm1(np.minimum(2 * gamma * c.data, 700))
        self.c = (c @ sp.diags(self.b)).tocsr()
        self.ct, self.cc = self.c.T.tocsr(), self.c.tocsc()
        self.d = 1 / (self.b.sum() + np.asarray(self.c.sum(1)).ravel())
        self.products = 0

    def times(self, v):
        self.products += 1
        return (self.d * (self.b @ v + self.c @ v).T).T

    def transposed(self, u):
        self.products += 1
        u = (self.d * u.T).T
        return (np.outer(self.b, u.sum(0)) if u.ndim > 1 else self.b * u.sum()) + self.ct @ u

    def columns(self, cols):
        return self.d[:, None] * (self.b[cols] + self.cc[:, cols].toarray())

    def rows(self, rows):
        return self.d[rows, None] * (self.b + self.c[rows].toarray())

    def arpack(self, rank, ncv, tol, most):
        """Products that ARPACK needs on G'G as SciPy's svds does, or more than `most`; with the triplets where they came."""
        self.products = 0
        square = LinearOperator((self.n, self.n), matvec=lambda v: self.transposed(self.times(v.ravel())), dtype=float)
        start = np.random.default_rng(0).standard_normal(self.n)
        try:
            values, v = eigsh(square, k=rank, ncv=ncv, tol=tol, v0=start, maxiter=max(1, most // (2 * (ncv - rank))))
        except ArpackNoConvergence as end:
            return self.products, None, len(end.eigenvalues)
        order = np.argsort(-values)
        v, sigma = v[:, order], np.sqrt(np.maximum(values[order], 0))
        products = self.products
        return products, (unit(self.times(v)), sigma, v), rank


def lost(exact, found):
    (u, _, v), (a, b) = exact, found
    r = u.shape[1]
    return sum(1 - np.minimum(np.abs((x * y[:, :r]).sum(0)), 1) for x, y in ((u, a), (v, b)))


def weights(sigma, n):
    """Weights that the text allows; a rank of r divides the sum in any case."""
    return {"σ": sigma, "σ/σ1": sigma / sigma[0], "σ/Σσ, no 1/r": sigma / sigma.sum() * len(sigma), "1": np.ones_like(sigma), "σ/n": sigma / n}


def nystrom(g, m, rank, seed):
    rng = np.random.default_rng(seed)
    rows, cols = (np.sort(rng.choice(g.n, m, replace=False)) for _ in range(2))
    block = g.columns(cols)
    u, sigma, vt = np.linalg.svd(block[rows], full_matrices=False)
    u, sigma, v = u[:, :rank], np.maximum(sigma[:rank], 1e-300), vt[:rank].T
    return unit(block @ (v / sigma)), unit(g.rows(rows).T @ (u / sigma))


def randomized(g, block, rank, seed):
    q = np.linalg.qr(g.times(np.random.default_rng(seed).standard_normal((g.n, block))))[0]
    v, _, wt = np.linalg.svd(g.transposed(q), full_matrices=False)
    return (q @ wt.T)[:, :rank], v[:, :rank]


def needed(g, exact, solve, sizes):
    """For every weight the first size at which each goal is met."""
    found = {name: [None] * len(GOALS) for name in weights(exact[1], g.n)}
    least = {name: np.inf for name in found}
    for size in sizes:
        miss = lost(exact, solve(size))
        for name, w in weights(exact[1], g.n).items():
            eta = float((w * miss).mean())
            least[name] = min(least[name], eta)
            for at, goal in enumerate(GOALS):
                if found[name][at] is None and eta <= goal:
                    found[name][at] = size
    text = lambda name: ", ".join(str(s) if s else f"- ({least[name]:.2g})" for s in found[name])
    return {name: text(name) for name in found}


def growing(first, last):
    sizes = [first]
    while sizes[-1] * 2**0.5 < last:
        sizes.append(round(sizes[-1] * 2**0.5))
    return sizes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["cora", "citeseer", "pubmed"])
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--landmarks", type=int, default=2600)
    parser.add_argument("--vectors", type=int, default=700)
    parser.add_argument("--products", type=int, default=20000, help="most products of ARPACK")
    parser.add_argument("--only", nargs="+", help="data matrices by a part of their names")
    args = parser.parse_args()
    r = args.rank
    for name in args.sets:
        for label, p, of in readings(Path(os.environ["LOPSIDED_DATA"]) / name):
            if args.only and not any(part in label for part in args.only):
                continue
            n = p.shape[0]
            variance = of.power(2).mean() - of.mean() ** 2
            for factor in FACTORS.get(name, (1.0, 0.5)):
                start = time.time()
                g = Sne(p, 1 / (n * variance) / factor**2)
                strict, _, done = g.arpack(r, 2 * r + 1, 0, args.products)
                strict = f"{strict}" if done == r else f"> {strict}, {done} found"
                allowed = f"{PRINTED[name] * BANDWIDTH / (8 * n * n):.0f}" if name in PRINTED else "-"
                _, exact, _ = g.arpack(r, 8 * r, 1e-10, 10 * args.products)
                print(f"\n{name}, {label}, k = {factor}: variance {variance:.2g}, γ {factor * np.sqrt(n * variance):.3f}; ARPACK {strict} products, the paper's time allows {allowed}", flush=True)
                if exact is None:
                    continue
                s = exact[1]
                live = np.median([1 / (m[:, 1:] ** 4).sum(0) for m in (exact[0], exact[2])])
                print(f"σ1 {s[0]:.4g}, σ2 {s[1]:.4g}, σ3 {s[2]:.4g}, σ10 {s[9]:.4g}, σ{r} {s[-1]:.4g}; a vector lives on {live:.0f} nodes", flush=True)
                marks = needed(g, exact, lambda m: nystrom(g, m, r, 0), growing(r, min(n, args.landmarks)))
                vectors = needed(g, exact, lambda b: randomized(g, b, r, 0), growing(r + 10, min(n, args.vectors)))
                print("| weight | landmarks to η ≤ 0.1, 0.01 | random vectors to η ≤ 0.1, 0.01 |\n| --- | --- | --- |")
                for weight in marks:
                    print(f"| {weight} | {marks[weight]} | {vectors[weight]} |")
                print(f"<!-- {time.time() - start:.0f} s -->", flush=True)


if __name__ == "__main__":
    main()
