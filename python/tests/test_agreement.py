"""The exact kernel machines beside scikit-learn's: decision values, predictions, components."""
import csv
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, NuSVC

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("LOPSIDED_BIN", ROOT / "target" / "debug" / "lopsided")
TOL = 1e-6
RBF = {"kernel": "rbf", "gamma": 0.2, "tol": TOL}
KERNEL = f"--kernel rbf --gamma 0.2 --tol {TOL}"


def run(*words):
    """What the program prints."""
    result = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def write(path, x, y):
    header = ",".join(f"x{j}" for j in range(x.shape[1])) + ",label"
    lines = (",".join(map(repr, map(float, row))) + f",{label}" for row, label in zip(x, y))
    path.write_text(header + "\n" + "\n".join(lines) + "\n")


def numbers(path, first):
    """The columns of a csv file from `first` on, without its header."""
    with path.open() as lines:
        return np.array([[float(value) for value in row[first:]] for row in list(csv.reader(lines))[1:]])


def clusters(rows, width, classes, seed, shares=None):
    """Gaussian clusters that overlap; half to learn from, half to test on."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, size=2 * rows, p=shares)
    centers = 1.2 * rng.standard_normal((classes, width))
    x = centers[y] + rng.standard_normal((2 * rows, width))
    return x[:rows], y[:rows], x[rows:], y[rows:]


def usps():
    folder = Path(os.environ.get("LOPSIDED_DATA", "")) / "usps"
    if not (folder / "data.csv.gz").exists():
        pytest.skip("LOPSIDED_DATA does not have usps")
    train, test = (np.loadtxt(folder / name, delimiter=",", skiprows=1) for name in ("data.csv.gz", "test.csv.gz"))
    return train[:, :-1], train[:, -1].astype(int), test[:, :-1], test[:, -1].astype(int)


def classified(folder, options, data, weights=None):
    """Predictions and decision values of the program."""
    x, y, tx, ty = data
    write(folder / "train.csv", x, y)
    write(folder / "test.csv", tx, ty)
    if weights is not None:
        (folder / "weights.txt").write_text("\n".join(map(repr, map(float, weights))) + "\n")
        options = [*options, "--weights", folder / "weights.txt"]
    model, out = folder / "m.model", folder / "p.csv"
    penalty = () if "--penalty" in options or options[0] == "nu-svm" else ("--penalty", 1)
    plain = ("--scale", "none", *penalty)  # scikit-learn's defaults
    run("fit", options[0], folder / "train.csv", "--target", "label", *options[1:], *plain, "--model", model, "--quiet")
    run("predict", model, folder / "test.csv", "--scores", "--out", out, "--quiet")
    return numbers(out, 1)[:, 0].astype(int), numbers(out, 2)


def agree(folder, options, machine, data, weights=None):
    """Decision values to 1e-3 where the votes of all pairs are the same, and 99.5 % of the predictions."""
    words, values = classified(folder, options.split(), data, weights)
    x, y, tx, _ = data
    machine.fit(x, y, **({} if weights is None else {"sample_weight": weights}))
    theirs = machine.decision_function(tx)
    gaps = np.abs(values[:, 1] - theirs) if theirs.ndim == 1 else np.abs(values - theirs).max(axis=1)
    same_votes = gaps < 0.3
    assert same_votes.mean() >= 0.995
    assert gaps[same_votes].max() < 1e-3
    assert np.mean(words == machine.predict(tx)) >= 0.995


TWO, FOUR, RARE = clusters(800, 5, 2, 1), clusters(1000, 6, 4, 2), clusters(800, 4, 2, 3, [0.9, 0.1])
WEIGHTS = np.random.default_rng(4).uniform(0.1, 3.0, 800)


@pytest.mark.parametrize(
    "options, machine, data, weights",
    [
        (f"svm {KERNEL}", SVC(**RBF), TWO, None),
        (f"svm --penalty 100 {KERNEL}", SVC(C=100, **RBF), TWO, None),
        (f"svm --kernel linear --tol {TOL}", SVC(kernel="linear", tol=TOL), TWO, None),
        (f"svm --class-weight balanced {KERNEL}", SVC(class_weight="balanced", **RBF), RARE, None),
        (f"svm {KERNEL}", SVC(**RBF), TWO, WEIGHTS),
        (f"svm --multi-class ovo {KERNEL}", SVC(break_ties=True, **RBF), FOUR, None),
        (f"svm --multi-class ovr {KERNEL}", OneVsRestClassifier(SVC(**RBF)), FOUR, None),
        (f"nu-svm --nu 0.3 {KERNEL}", NuSVC(nu=0.3, **RBF), TWO, None),
        (f"nu-svm --nu 0.3 {KERNEL}", NuSVC(nu=0.3, **RBF), TWO, WEIGHTS),
        (f"nu-svm --nu 0.4 --multi-class ovo {KERNEL}", NuSVC(nu=0.4, break_ties=True, **RBF), FOUR, None),
    ],
)
def test_support_vector_machines(tmp_path, options, machine, data, weights):
    agree(tmp_path, options, machine, data, weights)


@pytest.mark.parametrize(
    "options, machine",
    [
        ("svm --penalty 10", SVC(C=10, gamma=0.01, tol=TOL, cache_size=1000)),
        ("nu-svm --nu 0.1", NuSVC(nu=0.1, gamma=0.01, tol=TOL, cache_size=1000)),
    ],
)
def test_support_vector_machines_on_usps(tmp_path, options, machine):
    agree(tmp_path, f"{options} --multi-class ovo --kernel rbf --gamma 0.01 --tol {TOL}", machine, usps())


@pytest.mark.parametrize("data", [TWO, FOUR])
def test_logistic_regression(tmp_path, data):
    words, values = classified(tmp_path, "logistic --kernel linear --tol 1e-9".split(), data)
    x, y, tx, _ = data
    machine = LogisticRegression(tol=1e-9, max_iter=10000).fit(x, y)
    assert np.mean(words == machine.predict(tx)) >= 0.995
    shares = np.exp(values - values.max(axis=1, keepdims=True))
    assert np.abs(shares / shares.sum(axis=1, keepdims=True) - machine.predict_proba(tx)).max() < 1e-4


def test_kernel_ridge(tmp_path):
    rng = np.random.default_rng(5)
    x, tx = rng.standard_normal((600, 4)), rng.standard_normal((200, 4))
    y = np.sin(x[:, 0]) + x[:, 1] * x[:, 2]
    write(tmp_path / "train.csv", x, y)
    write(tmp_path / "test.csv", tx, np.zeros(200))
    model, out = tmp_path / "m.model", tmp_path / "p.csv"
    options = "--target label --approach exact --kernel rbf --gamma 0.2 --penalty 10".split()
    run("fit", "krr", tmp_path / "train.csv", *options, "--scale", "none", "--model", model, "--quiet")
    run("predict", model, tmp_path / "test.csv", "--out", out, "--quiet")
    # Ours takes the mean of the targets off.
    machine = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.2).fit(x, y - y.mean())
    assert np.abs(numbers(out, 1)[:, 0] - machine.predict(tx) - y.mean()).max() < 1e-8


def test_kernel_principal_components(tmp_path):
    x, y, tx, ty = clusters(500, 5, 3, 6)
    write(tmp_path / "train.csv", x, y)
    write(tmp_path / "test.csv", tx, ty)
    model, out = tmp_path / "m.model", tmp_path / "p.npy"
    options = "--target label --approach exact --kernel rbf --gamma 0.2 --rank 4".split()
    run("fit", "kpca", tmp_path / "train.csv", *options, "--model", model, "--quiet")
    run("transform", model, "--rows", tmp_path / "test.csv", "--target", "label", "--out", out, "--quiet")
    theirs = KernelPCA(4, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(x).transform(tx)
    ours = np.load(out)
    ours = ours * np.sign((ours * theirs).sum(axis=0))
    assert np.abs(ours - theirs).max() < 1e-6
