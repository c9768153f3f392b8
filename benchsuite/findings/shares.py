"""How many landmarks the asymmetric Nystrom method needs at half the bandwidth (KSVD Tables 4 and 6), up to all nodes.

Block and extension are multiplied in the sparse form of SNE (`readings.py`), so that any share of the nodes can be landmarks. A vector counts as found as
far as it lies in the span of all exact vectors of its singular value (equal to 1e-6), as in `reproduce`; weights are the singular values of G. The last column is what
chance predicts: a vector that lives on q nodes, both sides together, is found where all of them are drawn, which has the probability share^q, so that
eta = 2 (1 - share^q) (sum of the other singular values)/r, if the first vector is right.

Only for graphs whose values do not repeat: of equal values ARPACK finds some copies, and even all nodes as landmarks then seem wrong (cora, citeseer: `reproduce ksvd-6` tells their landmarks).

    LOPSIDED_DATA=DIR python3 benchsuite/findings/shares.py --sets pubmed --factor 0.5
"""

import argparse
import os
from pathlib import Path

import numpy as np
from polish import unit
from readings import Sne, readings
from scipy.sparse.linalg import LinearOperator, eigsh

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 1.0)


def leading(times, transposed, size, rank):
    square = LinearOperator((size, size), matvec=lambda v: transposed(times(v.ravel())), dtype=float)
    values, v = eigsh(square, k=rank, ncv=min(size, 6 * rank), tol=1e-10, v0=np.random.default_rng(0).standard_normal(size))
    order = np.argsort(-values)
    v, sigma = v[:, order], np.sqrt(np.maximum(values[order], 1e-300))
    return times(v) / sigma, sigma, v


def nystrom(g, rows, cols, rank):
    """Triplets of the block of landmarks, extended to all rows and columns."""
    c, b, d = g.c[rows][:, cols], g.b[cols], g.d[rows]
    ct = c.T.tocsr()
    times = lambda v: (d * (b @ v + c @ v).T).T
    transposed = lambda u: (lambda w: (np.outer(b, w.sum(0)) if w.ndim > 1 else b * w.sum()) + ct @ w)((d * u.T).T)
    u, sigma, v = leading(times, transposed, len(cols), rank)
    left = (g.d * (b @ v + g.c[:, cols] @ v).T).T
    w = (d * u.T).T
    right = np.outer(g.b, w.sum(0)) + g.c[rows].T @ w
    return unit(left), unit(right)


def eta(exact, found, rank):
    """The paper's measure with the span of equal values, and how many of the pairs are found (both cosines above 0.9)."""
    u, sigma, v = exact
    same = np.abs(sigma[:rank, None] - sigma) <= 1e-6 * sigma[:rank, None]
    cosines = [np.minimum(np.sqrt(((y.T @ x) ** 2 * same).sum(1)), 1) for x, y in ((u, found[0]), (v, found[1]))]
    return float((sigma[:rank] * (2 - cosines[0] - cosines[1])).mean()), int((np.minimum(*cosines) > 0.9).sum())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["pubmed"])
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--factor", type=float, default=0.5)
    parser.add_argument("--seeds", type=int, default=5)
    args = parser.parse_args()
    r = args.rank
    print("| set | share | landmarks | η, mean | η, least | pairs found of " + str(r) + " | η by chance |\n" + "| --- " * 7 + "|")
    for name in args.sets:
        _, p, of = next(iter(readings(Path(os.environ["LOPSIDED_DATA"]) / name)))
        g = Sne(p, 1 / (p.shape[0] * (of.power(2).mean() - of.mean() ** 2)) / args.factor**2)
        exact = leading(g.times, g.transposed, g.n, 3 * r)
        sigma = exact[1]
        live = np.median(sum(1 / (m[:, 1:r] ** 4).sum(0) for m in (exact[0], exact[2])))
        print(f"<!-- {name}: σ1 {sigma[0]:.4g}, σ2 {sigma[1]:.4g}, σ{r} {sigma[r - 1]:.4g}, σ{3 * r} {sigma[-1]:.4g}; a pair of vectors lives on {live:.1f} nodes, both sides together -->", flush=True)
        for share in SHARES:
            count = round(share * g.n)
            found = []
            for seed in range(args.seeds if share < 1 else 1):
                rng = np.random.default_rng(seed)
                rows, cols = (np.sort(rng.choice(g.n, count, replace=False)) for _ in range(2))
                found.append(eta(exact, nystrom(g, rows, cols, r), r))
            etas, pairs = np.array(found).T
            chance = 2 * (1 - share**live) * sigma[1:r].sum() / r
            print(f"| {name} | {share:g} | {count} | {etas.mean():.3g} | {etas.min():.3g} | {pairs.mean():.1f} | {chance:.3g} |", flush=True)


if __name__ == "__main__":
    main()
