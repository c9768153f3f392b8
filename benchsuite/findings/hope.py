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
from readings import readings


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--rank", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=5)
    args = parser.parse_args()
    print("| set | matrix | decay | features as they are | times √σ |\n" + "| --- " * 5 + "|")
    for name in args.sets:
        folder = Path(os.environ["LOPSIDED_DATA"]) / name
        p = np.asarray(next(iter(readings(folder)))[1].todense())
        links = (p > 0).astype(float) - np.eye(len(p))
        y = labels_of(folder, len(p))
        for word, m in (("0 and 1", links), ("in-links to 1, self loops", p), ("both directions, 0 and 1", np.maximum(links, links.T))):
            radius = abs(np.linalg.eigvals(m)).max()
            for decay, b in (("0.01", 0.01), ("0.5 of 1/ρ", 0.5 / radius), ("0.9 of 1/ρ", 0.9 / radius)):
                u, s, vt = np.linalg.svd(np.linalg.solve(np.eye(len(m)) - b * m, b * m))
                both = np.hstack([u[:, : args.rank], vt[: args.rank].T])
                root = np.sqrt(np.r_[s[: args.rank], s[: args.rank]])
                plain, scaled = (micro_f1(f, y, args.splits) for f in (both, both * root))
                print(f"| {name} | {word} | {decay} | {plain[0]:.3f} ± {plain[1]:.3f} | {scaled[0]:.3f} ± {scaled[1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
