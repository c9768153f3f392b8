"""Table 5 of KSVD: which reading of the ablation has the paper's figures.

Polynomial features of degree 2 and their SVD against the SVD of (xᵀz + 1)² of rows against columns, at most as many components as the
table has columns; a linear classifier (logistic regression) or ridge regression on U, ten splits 80 : 20 as in the paper. Readings: how the
columns are scaled before, which map makes rows and columns comparable (aligned PCA or pseudo-inverse), the rank, and whether U is
scaled to deviation 1 or by its singular values.

    LOPSIDED_DATA=DIR python3 benchsuite/findings/ablation.py
"""

import argparse
import itertools
import os
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import root_mean_squared_error, roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import PolynomialFeatures

PAPER = {
    "pima": (0.6296, 0.7607),
    "ionosphere": (0.7292, 0.8374),
    "liver_ilpd": (0.7032, 0.7100),
    "cholesterol": (49.0867, 49.1592),
    "protein_casp": (5.9517, 5.4583),
}
SCALES = {
    "as they are": lambda a: a,
    "standard": lambda a: (a - a.mean(0)) / np.where(a.std(0) > 0, a.std(0), 1),
    "0 to 1": lambda a: (a - a.min(0)) / np.where(np.ptp(a, 0) > 0, np.ptp(a, 0), 1),
    "unit rows": lambda a: a / np.maximum(np.linalg.norm(a, axis=1, keepdims=True), 1e-300),
}


def table(folder, most):
    file = next(folder.glob("data.csv*"))
    cells = np.genfromtxt(file, delimiter=",", skip_header=1, dtype=str)
    cells = cells[np.random.default_rng(0).permutation(len(cells))[:most]]
    a, y = cells[:, :-1].astype(float), cells[:, -1]
    a, y = a[np.isfinite(a).all(1)], y[np.isfinite(a).all(1)]
    values = folder.name in ("cholesterol", "protein_casp")
    return a, (y.astype(float) if values else np.unique(y, return_inverse=True)[1]), values


def features(a, method, rank):
    """U and the singular values, of φ(A) or of the kernel of rows against columns."""
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    if method == "nonlinear + SVD":
        g = PolynomialFeatures(2).fit_transform(a)
    else:
        # Column j becomes row j of V S Vᵀ (a1) or of V Vᵀ (a0), in the coordinates of the rows.
        z = (vt.T * (s if method == "KSVD a1" else s > 1e-10 * s[0])) @ vt
        g = (a @ z + 1.0) ** 2
    u, s, _ = np.linalg.svd(g, full_matrices=False)
    return u[:, :rank], s[:rank]


def score(f, y, values, splits):
    found = []
    for seed in range(splits):
        x, xt, t, tt = train_test_split(f, y, test_size=0.2, random_state=seed, stratify=None if values else y)
        if values:
            machine = GridSearchCV(Ridge(), {"alpha": [1e-5, 1e-3, 1e-2, 0.1, 1.0]}, cv=5).fit(x, t)
            found.append(root_mean_squared_error(tt, machine.predict(xt)))
        else:
            machine = GridSearchCV(LogisticRegression(max_iter=2000), {"C": [1.0, 100.0, 1e4]}, cv=5, scoring="roc_auc").fit(x, t)
            found.append(roc_auc_score(tt, machine.decision_function(xt)))
    return np.mean(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="+", default=list(PAPER))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--most", type=int, default=3000)
    args = parser.parse_args()
    print("| set | columns | rank | U | nonlinear + SVD | KSVD a1 | KSVD a0 | paper |\n" + "| --- " * 8 + "|")
    for name in args.sets:
        a, y, values = table(Path(os.environ["LOPSIDED_DATA"]) / name, args.most)
        for (word, scale), rank in itertools.product(SCALES.items(), (4, a.shape[1])):
            found = {}
            for method in ("nonlinear + SVD", "KSVD a1", "KSVD a0"):
                u, s = features(scale(a), method, rank)
                for way, f in (("deviation 1", u * np.sqrt(len(u))), ("times σ/σ₁", u * np.sqrt(len(u)) * s / s[0])):
                    found[method, way] = score(f, y, values, args.splits)
            for way in ("deviation 1", "times σ/σ₁"):
                cells = " | ".join(f"{found[method, way]:.4g}" for method in ("nonlinear + SVD", "KSVD a1", "KSVD a0"))
                print(f"| {name} | {word} | {rank} | {way} | {cells} | {PAPER[name][0]} / {PAPER[name][1]} |", flush=True)


if __name__ == "__main__":
    main()
