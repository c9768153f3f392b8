"""Why the asymmetric Nystrom method does not reach the accuracy at half the bandwidth (KSVD Tables 4 and 6).

The SNE matrix of a graph is a rank-one part plus entries where two nodes are near. At bandwidth 1 the rank-one part is nearly all, and one
pair of vectors is enough for eta. At 0.5 the singular values 2, 3, ... are large and nearly equal and their vectors live on a few nodes,
so that a landmark block with a share p of the rows and of the columns holds a share p^2 of what they are made of.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/bandwidth.py --sets cora citeseer --rank 20 --seeds 3
"""

import argparse
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


def sne(folder, factor):
    path = next(p for p in (folder / "edges.csv", folder / "edges.csv.gz") if p.exists())
    links = np.loadtxt(path, delimiter=",", skiprows=1, dtype=np.int64)
    n = len((folder / "labels.csv").read_text().split()) - 1
    a = sp.csr_matrix((np.ones(len(links)), (links[:, 1], links[:, 0])), shape=(n, n)) + sp.eye(n)
    p = (sp.diags(1 / np.asarray(a.sum(1)).ravel()) @ a).tocsr()
    gamma = 1 / (n * (p.power(2).mean() - p.mean() ** 2)) / factor**2
    z = np.asarray(p.power(2).sum(0)).ravel()
    g = -gamma * (z[None, :] - 2 * (p @ p).toarray())
    g = np.exp(g - g.max(1, keepdims=True))
    return g / g.sum(1, keepdims=True)


def eta(exact, found):
    """The paper's measure: 1 - |cosine| of each vector, weighted by the singular value, the mean over pairs, both sides."""
    (u, sigma, v), (a, _, b) = exact, found
    lost = [1 - np.abs((m * k).sum(0)) for m, k in ((u, a), (v, b))]
    return float((sigma * (lost[0] + lost[1])).mean())


def unit(m):
    return m / np.maximum(np.linalg.norm(m, axis=0), 1e-300)


def nystrom(g, rows, cols, rank):
    u, sigma, vt = np.linalg.svd(g[np.ix_(rows, cols)], full_matrices=False)
    u, sigma, v = u[:, :rank], np.maximum(sigma[:rank], 1e-300), vt[:rank].T
    return unit(g[:, cols] @ (v / sigma)), sigma, unit(g[rows].T @ (u / sigma))


def draw(n, count, weight, rng):
    return np.sort(rng.choice(n, count, replace=False, p=weight / weight.sum()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    spectra, errors = [], []
    for name in args.sets:
        for factor in (1.0, 0.5):
            g = sne(Path(os.environ["LOPSIDED_DATA"]) / name, factor)
            n, r = len(g), args.rank
            u, sigma, vt = np.linalg.svd(g)
            exact = (u[:, :r], sigma[:r], vt[:r].T)
            live = np.median([1 / (m[:, 1:r] ** 4).sum(0) for m in (exact[0], exact[2])])
            half = int((np.cumsum(sigma[1:] ** 2) < 0.9 * (sigma[1:] ** 2).sum()).sum()) + 1
            spectra.append([name, factor, n, *(f"{sigma[k]:.3g}" for k in (0, 1, r - 1, 2 * r, 5 * r)), half, f"{live:.0f}"])
            for share in SHARES:
                found = []
                for seed in range(args.seeds):
                    rng, count = np.random.default_rng(seed), int(share * n)
                    pairs = [draw(n, count, np.ones(n), rng) for _ in range(2)]
                    norms = [draw(n, count, (g**2).sum(axis), rng) for axis in (1, 0)]
                    found.append([eta(exact, nystrom(g, *side, r)) for side in (pairs, norms)])
                cells = (f"{v:.3f}" for v in np.mean(found, 0))
                errors.append([name, factor, f"{share:g}", int(share * n), *cells])
    print(f"| set | bandwidth | n | σ1 | σ2 | σ{args.rank} | σ{2 * args.rank + 1} | σ{5 * args.rank + 1} | pairs with 90 % of the rest | nodes a vector lives on |")
    print("| --- " * 10 + "|")
    for row in spectra:
        print("|", " | ".join(map(str, row)), "|")
    print("\n| set | bandwidth | share | landmarks | η, drawn by chance | η, drawn by squared length |\n" + "| --- " * 6 + "|")
    for row in errors:
        print("|", " | ".join(map(str, row)), "|")


if __name__ == "__main__":
    main()
