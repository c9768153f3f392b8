"""Why the streamed kernel SVD is behind KPCA on generated topic tables, and what changes that.

A small twin of `lopsided reproduce ksvd-7`: landmarks on both sides, rank 50, a linear LS-SVM on the features of the rows. Varied are the
map to common coordinates (`signs q`, as now: S'x and A'(A S)/|A| with random signs S; `exact`: without S, so that rows stay sparse and a
landmark column is A'(A e_j)/|A|; `pca q`: x V_q and the rows of V_q S_q), how landmark columns are drawn, and unit length.

    python3 benchsuite/findings/large.py --rows 30000 --cols 200000 --seeds 3
"""

import argparse

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.metrics import roc_auc_score

FACTORS, PENALTIES = (1.0, 2.0), (1.0, 1e2, 1e4, 1e6)


def unit(m):
    length = np.sqrt(np.asarray(m.power(2).sum(1)).ravel()) if sp.issparse(m) else np.linalg.norm(m, axis=1)
    return sp.diags(1 / np.maximum(length, 1e-300)).tocsr() @ m


def topic_table(rows, cols, entries, rng, topics=20, contrast=0.5):
    """Rows of unit length and their classes, as `TopicTable` makes them."""
    topic = rng.integers(topics, size=rows)
    row = np.repeat(np.arange(rows), rng.integers(1, 2 * entries, size=rows))
    col = (rng.random(len(row)) ** 3 * cols).astype(int)
    moved = col - col % topics + topic[row]
    moved -= topics * (moved >= cols)
    col = np.where(rng.random(len(row)) < contrast, moved, col)
    a = sp.csr_matrix((np.ones(len(row)), (row, col)), shape=(rows, cols)).sign()
    return unit(a), (topic % 2) ^ (rng.random(rows) < 0.1)


def generated(**defaults):
    """The options of a script, whole numbers with these defaults, and for each seed its stream and a table."""
    parser = argparse.ArgumentParser()
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    for seed in range(args.seeds):
        rng = np.random.default_rng(seed)
        yield args, seed, rng, *topic_table(args.rows, args.cols, args.entries, rng)


def rbf(x, z, factor):
    """exp(-d^2 / (factor^2 width var(x))), the rule of `ksvd`."""
    square = lambda m: np.asarray(m.power(2).sum(1)).ravel() if sp.issparse(m) else (m * m).sum(1)
    dot = (x @ z.T).toarray() if sp.issparse(x) else x @ z.T
    gamma = 1.0 / (x.shape[1] * (square(x).sum() / np.prod(x.shape) - x.mean() ** 2)) / factor**2
    return gamma, lambda g: np.exp(-g * np.maximum(square(x)[:, None] + square(z)[None, :] - 2 * dot, 0))


def nystrom(x, landmarks, z, rank, factor):
    """Features of the rows x from the block of the landmarks against z."""
    g = rbf(x, z, factor)[1](rbf(x[landmarks], z, factor)[0])
    _, sigma, vt = np.linalg.svd(g[landmarks], full_matrices=False)
    u = g @ (vt[:rank] / sigma[:rank, None]).T
    return u / np.linalg.norm(u, axis=0)


def hold_out(u, y, seed):
    """Validation and test AUROC; the penalty is chosen on the validation rows."""
    part = np.random.default_rng(seed).random(len(y))
    test, valid = part < 0.2, (part >= 0.2) & (part < 0.3)
    u, target = u * np.sqrt(len(u)), 2.0 * y - 1

    def scored(train, rows, penalty):
        x, ridge = np.c_[u[train], np.ones(train.sum())], np.r_[np.full(u.shape[1], len(u) / penalty), 0.0]
        w = np.linalg.solve(x.T @ x + np.diag(ridge), x.T @ target[train])
        return roc_auc_score(y[rows], u[rows] @ w[:-1])

    best = max(PENALTIES, key=lambda p: scored(part >= 0.3, valid, p))
    return scored(part >= 0.3, valid, best), scored(part >= 0.2, test, best)


def columns(a, rng, count, way):
    """Landmark columns: by chance (`uniform`), or in proportion to the sum or the square of the sum of their entries."""
    total = np.asarray(a.sum(0)).ravel() ** {"uniform": 0, "sum": 1, "square": 2}[way]
    return rng.choice(a.shape[1], min(count, int((total > 0).sum())), replace=False, p=total / total.sum())


# Map, its coordinates (0: all), draw of the landmark columns, unit length of rows and columns.
WAYS = [("signs", 300, "uniform", False), ("signs", 300, "square", False), ("signs", 300, "square", True)]
WAYS += [("signs", 1000, "uniform", False), ("exact", 0, "uniform", False), ("exact", 0, "sum", False)]
WAYS += [("exact", 0, "square", False), ("exact", 0, "square", True), ("pca", 50, "uniform", False)]
WAYS += [("pca", 50, "uniform", True), ("pca", 50, "square", True)]


def images(a, kind, width, cols, rng, directions):
    """Rows and chosen columns in common coordinates."""
    v, s, norm = directions
    if kind == "pca":
        return a @ v, (v * s)[cols]
    x = a @ (rng.choice([-1.0, 1.0], size=(a.shape[1], width)) / np.sqrt(width)) if kind == "signs" else a
    return x, a[:, cols].T.tocsr() @ x / norm


def main():
    found = {}
    for args, seed, rng, a, y in generated(rows=10000, cols=10000, entries=15, landmarks=1000, rank=50, seeds=3):
        _, s, vt = svds(a, k=50, v0=rng.standard_normal(min(a.shape)))
        rows = rng.choice(args.rows, min(args.landmarks, args.rows), replace=False)

        def note(name, x, z):
            tried = [hold_out(nystrom(x, rows, z, args.rank, f), y, seed) for f in FACTORS]
            found.setdefault(name, []).append(max(tried)[1])

        note("KPCA | as it is | - | -", a, a[rows])
        note("KPCA | pca 50 | - | yes", unit(a @ vt.T), unit(a[rows] @ vt.T))
        for kind, width, way, scaled in WAYS:
            cols = columns(a, rng, args.landmarks, way)
            x, z = images(a, kind, width, cols, rng, (vt.T, s, s.max()))
            x, z = (unit(x), unit(z)) if scaled else (x, z)
            note(f"KSVD | {f'{kind} {width}' if width else kind} | {way} | {'yes' if scaled else 'no'}", x, z)
    print("| method | map | columns drawn by | unit | test AUROC |\n| --- | --- | --- | --- | --- |")
    for name, values in found.items():
        print(f"| {name} | {np.mean(values):.3f} ± {np.std(values):.3f} |")


if __name__ == "__main__":
    main()
