"""BlogCatalog in Table 1 of KSVD: nodes have several labels; which way of scoring them has the paper's figures.

Features of both sides of rank 1000 (plain SVD of P, KSVD with the RBF kernel of ten times the rule's bandwidth), one-vs-rest LS-SVM with penalty 1, 80 : 20. The scores of a
node are made labels in several ways: as many of the highest as the node has labels (usual for this graph, it needs the number), those above 0, the highest alone, right where
it is one of the node's labels; also on the nodes that were learned from, and as the share of right answers over all nodes and classes.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/several_labels.py --sets blogcatalog
"""

import argparse
import csv
import os
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from readings import readings
from reconstruction import kernel, links_in_rows, triplets


def labels_of(folder, n):
    """A row of 0 and 1 for each node."""
    with open(folder / "labels.csv", newline="") as file:
        pairs = list(csv.reader(file))[1:]
    names = {name: at for at, name in enumerate(sorted({name for _, name in pairs}))}
    out = np.zeros((n, len(names)), dtype=bool)
    for node, name in pairs:
        out[int(node), names[name]] = True
    return out


def f1(found, truth):
    """Micro-F1 and macro-F1 of labels that were found."""
    right, wrong, missed = ((a & b).sum(0) for a, b in ((found, truth), (found, ~truth), (~found, truth)))
    each = 2 * right / np.maximum(2 * right + wrong + missed, 1)
    return 2 * right.sum() / (2 * right + wrong + missed).sum(), each.mean()


def highest(scores, counts):
    ranks = (-scores).argsort(1).argsort(1)
    return ranks < counts[:, None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["blogcatalog"])
    parser.add_argument("--rank", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=3)
    args = parser.parse_args()
    print("| set | links | method | nodes | as many as there are | above 0 | the highest is right | right answers |\n" + "| --- " * 8 + "|")
    for name in args.sets:
        folder = Path(os.environ["LOPSIDED_DATA"]) / name
        given = sp.csr_matrix(next(iter(readings(folder)))[1])
        n = given.shape[0]
        y = labels_of(folder, n)
        truth = (given - sp.diags(given.diagonal())).sign().tocsr()
        for word, p in (("as stored", given), ("both directions", links_in_rows(truth.maximum(truth.T).tocsr()))):
            a = p.toarray().astype(np.float32)
            for method in ("SVD", "KSVD RBF x 10"):
                u, _, vt = triplets(a if method == "SVD" else kernel(p, a, 10), args.rank)
                x = np.c_[u, vt.T, np.ones(n)].astype(float)
                ridge = np.diag(np.r_[np.ones(x.shape[1] - 1), 1e-9])
                rows = {"test": [], "learned from": []}
                for seed in range(args.splits):
                    order = np.random.default_rng(seed).permutation(n)
                    train, test = order[: n * 4 // 5], order[n * 4 // 5 :]
                    w = scipy.linalg.solve(x[train].T @ x[train] + ridge, x[train].T @ np.where(y[train], 1.0, -1.0), assume_a="pos")
                    for part, nodes in (("test", test), ("learned from", train)):
                        scores, known = x[nodes] @ w, y[nodes]
                        many, above = f1(highest(scores, known.sum(1)), known), f1(scores > 0, known)
                        first = known[np.arange(len(nodes)), scores.argmax(1)].mean()
                        rows[part].append([*many, *above, first, ((scores > 0) == known).mean()])
                for part, found in rows.items():
                    m = np.mean(found, axis=0)
                    print(f"| {name} | {word} | {method} | {part} | {m[0]:.3f} / {m[1]:.3f} | {m[2]:.3f} / {m[3]:.3f} | {m[4]:.3f} | {m[5]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
