"""How landmark columns of the streamed kernel SVD are drawn: by chance or by their sums, weighted by how likely they are or not.

Exact coordinates as in `large.py` (rows as they are, columns A'A_j/|A|). Column j is drawn with a weight (1 - mix) s_j^p / sum s^p + mix / M, one after another
without replacement; given the threshold of the draw it is in with probability 1 - exp(-w tau), and `weighted` divides its kernel values by the root of
that, so that the block estimates the whole matrix.

    python3 benchsuite/findings/columns.py --rows 30000 --cols 200000 --seeds 1
"""

import numpy as np
from large import generated, hold_out, rbf
from scipy.sparse.linalg import svds


def nystrom(x, landmarks, z, factor, weights, rank=50):
    g = rbf(x, z, factor)[1](rbf(x[landmarks], z, factor)[0])
    _, sigma, vt = np.linalg.svd(g[landmarks] * weights, full_matrices=False)
    u = g @ (weights[:, None] * (vt[:rank] / sigma[:rank, None]).T)
    return u / np.linalg.norm(u, axis=0)


def main():
    found = {}
    for args, seed, rng, a, y in generated(rows=10000, cols=10000, entries=15, landmarks=1000, seeds=1):
        norm = svds(a, k=1, return_singular_vectors=False)[0]
        rows = rng.choice(args.rows, args.landmarks, replace=False)

        def note(name, z, weights):
            tried = [hold_out(nystrom(a, rows, z, factor, weights), y, seed) for factor in (2.0, 5.0)]
            found.setdefault(name, []).append(max(tried)[1])

        note("KPCA | - | - | -", a[rows], np.ones(args.landmarks))
        sums = np.asarray(a.sum(0)).ravel()
        for power in (1, 2):
            for mix in (0.0, 0.1, 0.5):
                w = np.maximum((1 - mix) * sums**power / (sums**power).sum() + mix / len(sums), 1e-300)
                keys = rng.exponential(size=len(w)) / w
                order = np.argsort(keys)[: args.landmarks + 1]
                cols = np.sort(order[:-1])
                z = (a[:, cols].T.tocsr() @ a) / norm
                note(f"KSVD | {power} | {mix:g} | yes", z, 1 / np.sqrt(-np.expm1(-w[cols] * keys[order[-1]])))
                note(f"KSVD | {power} | {mix:g} | no", z, np.ones(len(cols)))
    print("| method | power of the sums | by chance | weighted | test AUROC |\n" + "| --- " * 5 + "|")
    for name, values in found.items():
        print(f"| {name} | {np.mean(values):.3f} |")


if __name__ == "__main__":
    main()
