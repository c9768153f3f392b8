"""What a polish adds to the asymmetric Nystrom method at half the bandwidth (KSVD Tables 4 and 6), pubmed among the graphs.

The SNE matrix of a graph is D (a b' + C) with sparse C, so that products with all of it are cheap at any size. The vectors of the landmarks are extended as in the paper;
a polish is an orthonormal basis, a product with G and a Rayleigh-Ritz step, here repeated. Beside it a random start of the same width with as
many products, which is the randomised solver. eta is the paper's: 1 - |cosine| of each vector with its own partner, weighted by the singular value; `span` is the
same with the length of the projection on all found vectors in place of the cosine, so that nearly equal values may mix.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/polish.py --sets cora pubmed --landmarks 500 2000 --width 224
"""

import argparse
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

PASSES = (0, 1, 2, 4, 8)


class Sne:
    """Rows of P against its columns, gamma by the rule of the paper times 1/factor^2."""

    def __init__(self, folder, factor):
        path = next(p for p in (folder / "edges.csv", folder / "edges.csv.gz") if p.exists())
        links = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
        n = len((folder / "labels.csv").read_text().split()) - 1
        a = sp.csr_matrix((np.ones(len(links)), (links[:, 1], links[:, 0])), shape=(n, n)).sign() + sp.eye(n)
        p = (sp.diags(1 / np.asarray(a.sum(1)).ravel()) @ a).tocsr()
        gamma = 1 / (n * (p.power(2).mean() - p.mean() ** 2)) / factor**2
        self.b = np.exp(-gamma * np.asarray(p.power(2).sum(0)).ravel())
        c = (p @ p).tocsr()
        c.data = np.expm1(2 * gamma * c.data)
        self.c = c @ sp.diags(self.b)
        self.d = 1 / (self.b.sum() + np.asarray(self.c.sum(1)).ravel())
        self.n = n

    def times(self, v):
        return self.d[:, None] * ((self.b @ v)[None, :] + self.c @ v)

    def transposed(self, u):
        u = self.d[:, None] * u
        return self.b[:, None] * u.sum(0)[None, :] + self.c.T @ u

    def columns(self, cols):
        return self.d[:, None] * (self.b[cols][None, :] + self.c[:, cols].toarray())

    def rows(self, rows):
        return self.d[rows, None] * (self.b[None, :] + self.c[rows].toarray())

    def exact(self, rank):
        column = lambda f: lambda v: f(v.reshape(-1, 1)).ravel()
        g = LinearOperator((self.n, self.n), matvec=column(self.times), rmatvec=column(self.transposed), dtype=float)
        u, sigma, vt = svds(g, k=2 * rank, ncv=8 * rank, tol=1e-8, v0=np.random.default_rng(0).standard_normal(self.n))
        order = np.argsort(-sigma)[:rank]
        return u[:, order], sigma[order], vt[order].T


def unit(m):
    return m / np.maximum(np.linalg.norm(m, axis=0), 1e-300)


def etas(exact, found):
    (u, sigma, v), (a, b) = exact, found
    rank = len(sigma)
    own = sum((sigma * (1 - np.abs((x * y[:, :rank]).sum(0)))).mean() for x, y in ((u, a), (v, b)))
    span = sum((sigma * (1 - np.minimum(np.linalg.norm(np.linalg.qr(y)[0].T @ x, axis=0), 1))).mean() for x, y in ((u, a[:, :rank]), (v, b[:, :rank])))
    return own, span


def ritz(g, u):
    """Rayleigh-Ritz in the span of u: u, sigma, v with G'u = v sigma."""
    q = np.linalg.qr(u)[0]
    v, sigma, wt = np.linalg.svd(g.transposed(q), full_matrices=False)
    return q @ wt.T, sigma, v


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["cora", "pubmed"])
    parser.add_argument("--landmarks", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--width", type=int, default=224)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--factor", type=float, default=0.5)
    args = parser.parse_args()
    print("| set | start | landmarks | passes | η | span |\n" + "| --- " * 6 + "|")
    for name in args.sets:
        g = Sne(Path(os.environ["LOPSIDED_DATA"]) / name, args.factor)
        exact = g.exact(args.rank)
        live = np.median([1 / (m[:, 1:] ** 4).sum(0) for m in (exact[0], exact[2])])
        print(f"<!-- {name}: σ1 {exact[1][0]:.5f}, σ2 {exact[1][1]:.5f}, σ{args.rank} {exact[1][-1]:.5f}, a vector lives on {live:.0f} nodes -->", flush=True)
        for count in [*(min(c, g.n) for c in args.landmarks), 0]:
            rng = np.random.default_rng(0)
            if count:
                rows, cols = (np.sort(rng.choice(g.n, count, replace=False)) for _ in range(2))
                block = g.columns(cols)[rows]
                su, ss, sv = np.linalg.svd(block, full_matrices=False)
                width = min(args.width, count // 4)
                u, v = unit(g.columns(cols) @ (sv[:width].T / ss[:width])), unit(g.rows(rows).T @ (su[:, :width] / ss[:width]))
            else:
                u = g.times(rng.standard_normal((g.n, args.width)))
                v = None
            for done in range(max(PASSES) + 1):
                if done:
                    u, _, v = ritz(g, u)
                if done in PASSES and v is not None:
                    own, span = etas(exact, (u, v))
                    print(f"| {name} | {'Nyström' if count else 'random'} | {count or '-'} | {done} | {own:.3f} | {span:.3f} |", flush=True)
                u = g.times(v) if v is not None and done else u


if __name__ == "__main__":
    main()
