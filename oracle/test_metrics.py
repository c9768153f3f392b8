"""Scores that the program prints, and its clusters."""
import numpy as np
import pytest
from common import clusters, quietly, read_scores, told, write_column, write_table
from references import kernels, triplets
from references import metrics as ref
from sklearn.cluster import KMeans

from lopsided import KernelBiclustering


@pytest.mark.quick
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_scores_of_classes(check, rng, tmp_path, classes):
    x, y = clusters(rng, 70, 3, classes)
    new, truth = clusters(rng, 40, 3, classes)
    write_table(tmp_path / "x.csv", x, [f"c{v}" for v in y])
    write_table(tmp_path / "new.csv", new, [f"c{v}" for v in truth])
    told("fit", "svm", tmp_path / "x.csv", "--target", "label", "--kernel", "rbf", "--gamma", 0.3, "--model", tmp_path / "m")
    for labels in (truth, np.where(truth == classes - 1, 0, truth)):
        write_column(tmp_path / "y.csv", range(40), [f"c{v}" for v in labels], "row,label")
        found = told("predict", tmp_path / "m", tmp_path / "new.csv", "--labels", tmp_path / "y.csv", "--scores", "--out", tmp_path / "p.csv")
        predicted = [line.split(",")[1] for line in (tmp_path / "p.csv").read_text().split()[1:]]
        names = [f"c{v}" for v in labels]
        check("accuracy", abs(found["accuracy"] - ref.accuracy(names, predicted)), 1e-12)
        check("micro-F1", abs(found["micro_f1"] - ref.micro_f1(names, predicted)), 1e-12)
        check("macro-F1", abs(found["macro_f1"] - ref.macro_f1(names, predicted)), 1e-12)
        if classes == 2 and len(set(labels)) == 2:
            decisions = read_scores(tmp_path / "p.csv")
            check("AUROC", abs(found["auroc"] - ref.auroc(labels == 1, decisions[:, 1])), 1e-12)


@pytest.mark.quick
def test_score_of_values(check, rng, tmp_path):
    x, new = rng.standard_normal((40, 3)), rng.standard_normal((25, 3))
    write_table(tmp_path / "x.csv", x, np.sin(x[:, 0]))
    truth = np.sin(new[:, 0]) + 0.1 * rng.standard_normal(25)
    write_table(tmp_path / "new.csv", new, truth)
    told("fit", "krr", tmp_path / "x.csv", "--target", "label", "--kernel", "rbf", "--gamma", 0.3, "--model", tmp_path / "m")
    found = told("predict", tmp_path / "m", tmp_path / "new.csv", "--target", "label", "--out", tmp_path / "p.csv")
    check("RMSE", abs(found["rmse"] - ref.rmse(truth, read_scores(tmp_path / "p.csv")[:, 0])), 1e-10)


@pytest.mark.quick
def test_scores_of_clusters(check, rng, tmp_path):
    n, m, k, l = 60, 40, 3, 4
    rows, cols = rng.integers(k, size=n), rng.integers(l, size=m)
    a = rng.poisson(0.3 + 2.0 * (rows[:, None] == cols[None] % k)).astype(float)
    a[a.sum(axis=1) == 0, 0] = 1
    np.save(tmp_path / "a.npy", a)
    write_column(tmp_path / "y.csv", range(n), [f"c{v}" for v in rows], "row,label")
    found = told("bicluster", tmp_path / "a.npy", "--row-clusters", k, "--col-clusters", l, "--labels", tmp_path / "y.csv",
                 "--no-unit-rows")
    ours, theirs = np.array(found["row_clusters"]), np.array(found["col_clusters"])
    check("NMI", abs(found["nmi"] - ref.nmi(rows, ours)), 1e-10)
    check("ARI", abs(found["ari"] - ref.adjusted_rand(rows, ours)), 1e-10)
    check("coherence", abs(found["coherence"] - ref.coherence(a, theirs)), 1e-10)


@pytest.mark.quick
def test_biclustering(check, rng):
    """The features are those of the aligned kernel SVD; the clusters are a fixed point of k-means and near the best known."""
    n, m, k, rank = 60, 50, 3, 5
    a = rng.random((n, m)) + 2 * (np.arange(n)[:, None] % k == np.arange(m)[None] % k)
    unit = a / np.linalg.norm(a, axis=1, keepdims=True)
    rows, cols = kernels.compatible(unit, "pca")
    low, high = kernels.gamma_by_median(rows, cols)
    model = quietly(KernelBiclustering(k, rank=rank, solver="exact", col_features="same").fit, a)
    gamma = model.report_["kernel"]["params"]["gamma"]
    check("gamma is the median rule", max(low / gamma - 1, gamma / high - 1), 1e-6)
    g = kernels.kernel("rbf", rows, cols, gamma=gamma)
    u, s, v = triplets.svd(g - g.mean(0) - g.mean(1)[:, None] + g.mean(), rank)
    check.near("singular values", model.singular_values_, s, 1e-8)
    for side, features, labels in (("rows", u, model.row_labels_), ("columns", v, model.column_labels_)):
        centres = np.stack([features[labels == c].mean(axis=0) for c in range(k)])
        nearest = kernels.squared_distances(features, centres).argmin(axis=1)
        check(f"{side} in the cluster with the nearest centre", np.mean(nearest != labels), 0.0)
        inertia = np.square(features - centres[labels]).sum()
        check(f"{side}: sum of squares against scikit-learn's", inertia / KMeans(k, n_init=10, random_state=0).fit(features).inertia_ - 1, 0.1)
