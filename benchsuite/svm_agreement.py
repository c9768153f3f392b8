#!/usr/bin/env python3
"""Support vector machines beside scikit-learn's: decision values, predictions, seconds.

    benchsuite/svm_agreement.py [--tol 1e-6] [--usps-rows 2000]

Needs numpy and scikit-learn (`python3 -m venv env && env/bin/pip install numpy scikit-learn`). Data are generated; usps is read
from LOPSIDED_DATA where that is set. The program is $LOPSIDED_BIN or target/debug/lopsided. Exits with 1 where the decision values
differ by more than 1e-3 or fewer than 99.5 % of the predictions are the same.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC, NuSVC
except ImportError as missing:
    sys.exit(f"{missing.name} is missing: python3 -m venv env && env/bin/pip install numpy scikit-learn")

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("LOPSIDED_BIN", ROOT / "target" / "debug" / "lopsided")


def clusters(rows, width, classes, seed, shares=None):
    """Gaussian clusters that overlap; half to learn from, half to test on."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, size=2 * rows, p=shares)
    centers = 1.2 * rng.standard_normal((classes, width))
    x = centers[y] + rng.standard_normal((2 * rows, width))
    return x[:rows], y[:rows], x[rows:], y[rows:]


def usps(rows):
    """The first rows of usps, and its test part; nothing without LOPSIDED_DATA."""
    folder = Path(os.environ.get("LOPSIDED_DATA", "")) / "usps"
    if not (folder / "data.csv.gz").exists():
        print("usps: skipped, LOPSIDED_DATA does not have it", file=sys.stderr)
        return None
    train, test = (np.loadtxt(folder / name, delimiter=",", skiprows=1) for name in ("data.csv.gz", "test.csv.gz"))
    return train[:rows, :-1], train[:rows, -1].astype(int), test[:, :-1], test[:, -1].astype(int)


def write(path, x, y):
    header = ",".join(f"x{j}" for j in range(x.shape[1])) + ",label"
    lines = (",".join(map(repr, map(float, row))) + f",{label}" for row, label in zip(x, y))
    path.write_text(header + "\n" + "\n".join(lines) + "\n")


def ours(folder, options, data, weights):
    """Seconds of the fit as the program says, predictions and decision values."""
    x, y, tx, ty = data
    write(folder / "train.csv", x, y)
    write(folder / "test.csv", tx, ty)
    extra = []
    if weights is not None:
        (folder / "weights.txt").write_text("\n".join(map(repr, map(float, weights))) + "\n")
        extra = ["--weights", folder / "weights.txt"]
    model, out = folder / "m.model", folder / "p.csv"
    fit = [PROGRAM, "fit", *options, folder / "train.csv", "--target", "label", *extra, "--model", model, "--json"]
    report = json.loads(subprocess.run(fit, check=True, capture_output=True).stdout)
    predict = [PROGRAM, "predict", model, folder / "test.csv", "--scores", "--out", out, "--quiet"]
    subprocess.run(predict, check=True, capture_output=True)
    with out.open() as lines:
        rows = list(csv.reader(lines))[1:]
    return report["seconds"], np.array([int(r[1]) for r in rows]), np.array([[float(v) for v in r[2:]] for r in rows])


def theirs(machine, data, weights):
    x, y, tx, _ = data
    start = time.perf_counter()
    machine.fit(x, y, **({} if weights is None else {"sample_weight": weights}))
    seconds = time.perf_counter() - start
    return seconds, machine.predict(tx), machine.decision_function(tx)


def difference(own, other, classes):
    """Largest difference of the decision values, over the samples on whose votes both agree."""
    if classes == 2:
        return np.abs(own[:, 1] - other).max(), 0
    gaps = np.abs(own - other).max(axis=1)
    split = gaps > 0.3
    return gaps[~split].max(), int(split.sum())


def jobs(tol, usps_rows):
    two, four = clusters(800, 5, 2, 1), clusters(1000, 6, 4, 2)
    rare = clusters(800, 4, 2, 3, [0.9, 0.1])
    weights = np.random.default_rng(4).uniform(0.1, 3.0, 800)
    rbf = {"kernel": "rbf", "gamma": 0.2, "tol": tol, "cache_size": 1000}
    kernel = ["--kernel", "rbf", "--gamma", "0.2", "--tol", str(tol)]
    ovo, ovr = ["--multi-class", "ovo"], ["--multi-class", "ovr"]
    yield "svm, 2 classes, C 1", ["svm", *kernel], SVC(**rbf), two, None
    yield "svm, 2 classes, C 100", ["svm", "--penalty", "100", *kernel], SVC(C=100, **rbf), two, None
    yield "svm, linear", ["svm", "--kernel", "linear", "--tol", str(tol)], SVC(kernel="linear", tol=tol), two, None
    balanced = ["--class-weight", "balanced"]
    yield "svm, balanced", ["svm", *balanced, *kernel], SVC(class_weight="balanced", **rbf), rare, None
    yield "svm, sample weights", ["svm", *kernel], SVC(**rbf), two, weights
    yield "svm, 4 classes, ovo", ["svm", *ovo, *kernel], SVC(break_ties=True, **rbf), four, None
    yield "svm, 4 classes, ovr", ["svm", *ovr, *kernel], OneVsRestClassifier(SVC(**rbf)), four, None
    yield "nu-svm, 2 classes, ν 0.3", ["nu-svm", "--nu", "0.3", *kernel], NuSVC(nu=0.3, **rbf), two, None
    yield "nu-svm, sample weights", ["nu-svm", "--nu", "0.3", *kernel], NuSVC(nu=0.3, **rbf), two, weights
    yield "nu-svm, 4 classes, ovo", ["nu-svm", "--nu", "0.4", *ovo, *kernel], NuSVC(nu=0.4, break_ties=True, **rbf), four, None
    linear = ["logistic", "--kernel", "linear", "--tol", "1e-9"]
    yield "logistic, linear, 2 classes", linear, LogisticRegression(tol=1e-9, max_iter=10000), two, None
    yield "logistic, linear, 4 classes", linear, LogisticRegression(tol=1e-9, max_iter=10000), four, None
    digits = usps(usps_rows)
    if digits is not None:
        rbf, kernel = {**rbf, "gamma": 0.01}, [*kernel[:3], "0.01", *kernel[4:]]
        name = f"usps, {len(digits[0])} rows"
        yield f"svm, {name}, C 10, ovo", ["svm", "--penalty", "10", *ovo, *kernel], SVC(C=10, break_ties=True, **rbf), digits, None
        yield f"nu-svm, {name}, ν 0.1, ovo", ["nu-svm", "--nu", "0.1", *ovo, *kernel], NuSVC(nu=0.1, break_ties=True, **rbf), digits, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--usps-rows", type=int, default=7291)
    args = parser.parse_args()
    print("| machine | largest difference | other votes | same predictions | seconds, ours | scikit-learn |")
    print("| --- | --- | --- | --- | --- | --- |")
    failed = False
    for name, options, machine, data, weights in jobs(args.tol, args.usps_rows):
        with tempfile.TemporaryDirectory() as folder:
            seconds, words, values = ours(Path(folder), options, data, weights)
        their_seconds, their_words, their_values = theirs(machine, data, weights)
        classes = len(np.unique(data[1]))
        if options[0] == "logistic":
            # Ours are −f/2 and f/2 for two classes, and fixed up to a constant for more.
            centered = their_values - their_values.mean(axis=1, keepdims=True) if classes > 2 else their_values
            values = values - values.mean(axis=1, keepdims=True) if classes > 2 else 2 * values
            their_values = centered
        largest, split = difference(values, their_values, classes)
        same = float(np.mean(words == their_words))
        failed |= largest > 1e-3 or same < 0.995
        row = f"{largest:.1e} | {split} | {100 * same:.2f} % | {seconds:.2f} | {their_seconds:.2f}"
        print(f"| {name} | {row} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
