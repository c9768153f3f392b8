"""HOPE in Table 1 of KSVD: which matrix, decay and scaling have the paper's figures.

Katz proximity S = (I - b M)^-1 b M of a graph's links M, 0 and 1 or divided by row sums (with self loops), with the decay b as a share of
1/rho(M) or as the number 0.01 that programs of HOPE have by default; features of both sides of rank 1000, as they are or times the root of the singular
values; micro-F1 of the paper's protocol (one-vs-rest LS-SVM with penalty 1, 80 : 20, several splits).

    LOPSIDED_DATA=DIR python3 benchsuite/findings/hope.py --sets cora citeseer
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from readings import readings


#: More nodes than this are not decomposed completely.
LARGE = 6000


def labels_of(folder, n):
    with open(folder / "labels.csv", newline="") as file:
        known = {int(node): label for node, label in list(csv.reader(file))[1:]}
    names = {label: code for code, label in enumerate(sorted(set(known.values())))}
    return np.array([names[known[i]] if i in known else -1 for i in range(n)])


def micro_f1(features, y, splits, penalty=1.0):
    """Mean and deviation over splits of one-vs-rest LS-SVM with a linear kernel."""
    known, found = np.flatnonzero(y >= 0), []
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(known)
        cut = len(order) * 4 // 5
        train, test = order[:cut], order[cut:]
        x = np.c_[features, np.ones(len(features))]
        targets = np.where(y[train, None] == np.arange(y.max() + 1), 1.0, -1.0)
        # The bias is not penalised: a ridge of next to nothing for it.
        ridge = np.diag(np.r_[np.full(features.shape[1], 1 / penalty), 1e-9])
        w = scipy.linalg.solve(x[train].T @ x[train] + ridge, x[train].T @ targets, assume_a="pos")
        found.append(((x[test] @ w).argmax(1) == y[test]).mean())
    return np.mean(found), np.std(found)


def radius_of(m):
    """The spectral radius, of a large matrix by the growth of powers: only its size matters here."""
    if m.shape[0] <= LARGE:
        return abs(np.linalg.eigvals(m.toarray())).max()
    x, steps = np.ones(m.shape[0]), []
    for _ in range(400):
        x = m @ x
        steps.append(np.linalg.norm(x))
        x /= steps[-1]
    return np.exp(np.mean(np.log(steps[200:])))


def proximity_triplets(m, b, rank):
    """Leading triplets of (I - b M)^-1 b M, complete for a small matrix, otherwise by eight steps of subspace iteration."""
    n = m.shape[0]
    eye = sp.eye(n, format="csc")
    if n <= LARGE:
        u, s, vt = np.linalg.svd(np.linalg.solve((eye - b * m).toarray(), (b * m).toarray()))
        return u[:, :rank], s[:rank], vt[:rank].T
    lu = sp.linalg.splu((eye - b * m).tocsc())
    v = np.linalg.qr(np.random.default_rng(0).standard_normal((n, rank + 30)))[0]
    for _ in range(8):
        u = np.linalg.qr(lu.solve(b * (m @ v)))[0]
        v, r = np.linalg.qr(b * (m.T @ lu.solve(u, trans="T")))
    left, s, right = np.linalg.svd(r.T)
    return (u @ left)[:, :rank], s[:rank], (v @ right.T)[:, :rank]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--rank", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--matrices", nargs="+", help="only those of which one of these words is a part")
    parser.add_argument("--decays", nargs="+", default=["0.01", "0.5", "0.9"], help="0.01 as it is, others as shares of 1/ρ")
    args = parser.parse_args()
    print("| set | matrix | decay | features as they are | times √σ |\n" + "| --- " * 5 + "|")
    for name in args.sets:
        folder = Path(os.environ["LOPSIDED_DATA"]) / name
        p = sp.csr_matrix(next(iter(readings(folder)))[1])
        links = (p > 0).astype(float) - sp.eye(p.shape[0])
        y = labels_of(folder, p.shape[0])
        for word, m in (("0 and 1", links), ("in-links to 1, self loops", p), ("both directions, 0 and 1", links.maximum(links.T))):
            if args.matrices and not any(part in word for part in args.matrices):
                continue
            radius = radius_of(sp.csr_matrix(m))
            for decay in args.decays:
                decay, b = ("0.01", 0.01) if decay == "0.01" else (f"{decay} of 1/ρ", float(decay) / radius)
                u, s, v = proximity_triplets(sp.csr_matrix(m), b, args.rank)
                both = np.hstack([u, v])
                root = np.sqrt(np.r_[s, s])
                plain, scaled = (micro_f1(f, y, args.splits) for f in (both, both * root))
                print(f"| {name} | {word} | {decay} | {plain[0]:.3f} ± {plain[1]:.3f} | {scaled[0]:.3f} ± {scaled[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
