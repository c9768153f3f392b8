"""NMI of row clusters (KSVD Table 2): what components and weights the plain SVD, KPCA and KSVD need for the paper's figures.

Rows of the matrix have unit length. KPCA is that of the RBF kernel on landmarks (Nyström with 1500 rows), KSVD the RBF kernel of rows
against columns aligned by principal components; both are centred, with gamma by the median distance. Features: the first components of the
rows, as they are or times the root of the singular values, and then as they are or of unit length. Mean of three starts of k-means.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/row_clusters.py --sets pubmed acm
"""

import argparse
import os
from pathlib import Path

import numpy as np
from scipy.io import mmread
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from coherence import kernel, unit
from hope import labels_of

PAPER = {"pubmed": (0.31, 0.29, 0.33), "acm": (0.58, 0.59, 0.68)}


def kpca(a, factor, landmarks=1500):
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(a), min(landmarks, len(a)), replace=False)
    gamma = 1 / np.median(2 - 2 * np.sum(a[rng.choice(len(a), 20_000)] * a[rng.choice(len(a), 20_000)], 1)) / factor**2
    columns = np.exp(-gamma * np.maximum(2 - 2 * a @ a[chosen].T, 0))
    values, v = np.linalg.eigh(columns[chosen])
    kept = values > 1e-10 * values[-1]
    features = columns @ (v[:, kept] / np.sqrt(values[kept]))
    u, s, _ = np.linalg.svd(features - features.mean(0), full_matrices=False)
    return u, s**2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=["pubmed"])
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    print("| set | components | weight | unit length | SVD | KPCA | KSVD | paper |\n" + "| --- " * 8 + "|")
    for name in args.sets:
        folder = Path(os.environ["LOPSIDED_DATA"]) / name
        a = unit(mmread(next(folder.glob("features.mtx*"))).toarray())
        y = labels_of(folder, len(a))
        factors = [np.linalg.svd(a, full_matrices=False)[:2], kpca(a, 1.0), np.linalg.svd(kernel(a, "", 1.0, True), full_matrices=False)[:2]]
        for rank in (3, 6, 10, 20, 40, 80):
            for power, long in ((0.0, False), (0.0, True), (0.5, False), (0.5, True), (1.0, False)):
                found = []
                for u, s in factors:
                    f = u[:, :rank] * s[:rank] ** power
                    f = (f if not long else unit(f))[y >= 0]
                    runs = [KMeans(y.max() + 1, n_init=3, random_state=k).fit_predict(f) for k in range(args.seeds)]
                    found.append(np.mean([normalized_mutual_info_score(y[y >= 0], run) for run in runs]))
                words = " | ".join(f"{v:.3f}" for v in found)
                print(f"| {name} | {rank} | σ^{power:g} | {'yes' if long else 'no'} | {words} | {PAPER.get(name, '')} |", flush=True)


if __name__ == "__main__":
    main()
