"""Why KPCA with a learned matrix is ahead of KSVD with one on some tables (KSVD Table 3): the number of anchors.

A row's features are functions of its kernel values with the other side. That side has as many samples as the table has columns (M) in
KSVD, and as many as there are rows (N) in KPCA. Here the KPCA of the rows is taken with fewer and fewer rows on the other side, drawn
by chance: where M of them lose what KPCA is ahead by, the number is the reason; where they do not, what the columns are is.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/compat.py --trials 10 --rank 4
"""

import argparse
import os
from pathlib import Path

import numpy as np
from sklearn.linear_model import RidgeClassifierCV

SETS = ["heart_statlog", "ionosphere", "liver_ilpd", "monks1", "pima", "sonar"]


def load(folder):
    table = np.genfromtxt(folder / "data.csv", delimiter=",", skip_header=1, dtype=str)
    x = np.array([[float(v) if v not in ("", "nan") else np.nan for v in row[:-1]] for row in table])
    return np.where(np.isnan(x), np.nanmean(x, 0), x), np.unique(table[:, -1], return_inverse=True)[1]


def features(train, test, anchors, rank):
    """Left singular vectors of the centred RBF matrix, and the same for new rows; gamma by the median distance."""
    def distances(x):
        return np.maximum((x**2).sum(1)[:, None] + (anchors**2).sum(1) - 2 * x @ anchors.T, 0)

    d = distances(train)
    gamma = 1.0 / np.median(d)
    g = np.exp(-gamma * d)
    means, total = g.mean(0), g.mean()
    centred = [k - means - k.mean(1)[:, None] + total for k in (g, np.exp(-gamma * distances(test)))]
    _, sigma, vt = np.linalg.svd(centred[0], full_matrices=False)
    rank = min(rank, int((sigma > 1e-10 * sigma[0]).sum()))
    scale = np.sqrt(len(train)) / sigma[:rank]
    return [k @ vt[:rank].T * scale for k in centred]


def accuracy(train, test, y_train, y_test):
    machine = RidgeClassifierCV(alphas=np.logspace(-3, 3, 13)).fit(train, y_train)
    return machine.score(test, y_test)


def aligned_columns(a):
    """a1: the rows of V S V'."""
    _, s, vt = np.linalg.svd(a, full_matrices=False)
    return (vt.T * s) @ vt


def one_trial(x, y, rank, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    cut = int(0.8 * len(x))
    train, test = order[:cut], order[cut:]
    mean, deviation = x[train].mean(0), x[train].std(0)
    x = (x - mean) / np.where(deviation > 0, deviation, 1)
    columns = x.shape[1]
    picked = rng.permutation(train)
    sides = [x[train], *(x[picked[: k * columns]] for k in (4, 2, 1)), aligned_columns(x[train])]
    unit = sides[-1] * np.median(np.linalg.norm(x[train], axis=1)) / np.linalg.norm(sides[-1], axis=1, keepdims=True)
    found = [accuracy(*features(x[train], x[test], z, rank), y[train], y[test]) for z in [*sides, unit]]
    more = features(x[train], x[test], np.vstack([unit, -unit]), rank)
    return [*found, accuracy(*more, y[train], y[test])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--rank", type=int, default=4)
    args = parser.parse_args()
    names = ["KPCA, N anchors", "4M", "2M", "M", "KSVD a1 (M columns)", "columns as long as rows", "and their negatives"]
    print("| set | M |", " | ".join(names), "|\n" + "| --- " * (len(names) + 2) + "|")
    for name in args.sets:
        x, y = load(Path(os.environ["LOPSIDED_DATA"]) / name)
        found = np.mean([one_trial(x, y, args.rank, seed) for seed in range(args.trials)], 0)
        print(f"| {name} | {x.shape[1]} |", " | ".join(f"{v:.3f}" for v in found), "|", flush=True)


if __name__ == "__main__":
    main()
