#!/usr/bin/env python3
"""AsK-LS for all classes at once against a plain NumPy transcription of [AsKLS] Eq. (6), one system per class.

    benchsuite/ask_ls.py [--samples 2000] [--classes 7] [--repeats 3] [--out FILE.md]

Both read the same asymmetric kernel matrix from a .npy file, alternately, and their functions are compared first.
Needs numpy (python3 -m pip install numpy).
"""
import os
import platform
import statistics
import sys
import time

from common import WORK, build, numpy, options, program, publish, report

np = numpy()
PENALTY = 1.0


def problem(samples, classes):
    """An SNE kernel matrix and labels, written once per size."""
    rng = np.random.default_rng(0)
    labels = rng.integers(classes, size=samples)
    x = rng.normal(size=(samples, 10)) + 2 * rng.normal(size=(classes, 10))[labels]
    squares = (x**2).sum(1)
    k = np.exp(-(squares[:, None] + squares[None, :] - 2 * x @ x.T) / 20)
    k /= k.sum(1, keepdims=True)
    np.save(WORK / "kernel.npy", k)
    lines = [f"{i},{label}\n" for i, label in enumerate(labels)]
    (WORK / "kernel-labels.csv").write_text("row,label\n" + "".join(lines))
    return labels


def transcription(labels, classes):
    """Seconds, f_s and f_t of the training samples; the labels stay in the matrix, as the paper prints it."""
    start = time.perf_counter()
    k = np.load(WORK / "kernel.npy")
    n = len(k)
    source, target = np.empty((n, classes)), np.empty((n, classes))
    for c in range(classes):
        y = np.where(labels == c, 1.0, -1.0)
        h = y[:, None] * k * y[None, :]
        eye, zero = np.eye(n) / PENALTY, np.zeros(n)
        m = np.zeros((2 * n + 2, 2 * n + 2))
        m[0, 2:n + 2], m[1, n + 2:] = y, y
        m[2:n + 2, 0], m[n + 2:, 1] = y, y
        m[2:n + 2, 2:n + 2], m[2:n + 2, n + 2:] = eye, h
        m[n + 2:, 2:n + 2], m[n + 2:, n + 2:] = h.T, eye
        solution = np.linalg.solve(m, np.concatenate([zero[:2], np.ones(2 * n)]))
        b_s, b_t, alpha, beta = solution[0], solution[1], solution[2:n + 2], solution[n + 2:]
        source[:, c], target[:, c] = k @ (beta * y) + b_s, k.T @ (alpha * y) + b_t
    return time.perf_counter() - start, source, target


def lopsided(labels):
    """Seconds of `fit` for all of `labels`, reading and writing files included, and what it reports."""
    options = ["--kernel", "precomputed", "--merge", "average", "--penalty", PENALTY, "--model", WORK / "ask-ls.model"]
    start = time.perf_counter()
    found = report("fit", "ask-ls", WORK / "kernel.npy", "--labels", WORK / labels, *options)
    return time.perf_counter() - start, found


def path(values):
    """Seconds for cross-validating all penalties at once, and one after the other."""
    words = ["fit", "ask-ls", WORK / "kernel.npy", "--labels", WORK / "kernel-labels.csv", "--kernel", "precomputed", "--cv", 5,
             "--merge", "average", "--model", WORK / "ask-ls.model"]
    start = time.perf_counter()
    report(*words, "--grid", "penalty=" + ",".join(map(str, values)))
    together = time.perf_counter() - start
    for value in values:
        report(*words, "--grid", f"penalty={value}")
    return together, time.perf_counter() - start - together


def scores(classes):
    """(f_s + f_t)/2 of the training samples by `predict`."""
    text = program("predict", WORK / "ask-ls.model", WORK / "kernel.npy", "--scores", "--quiet")
    header, *lines = (line.split(",") for line in text.splitlines())
    order = [header.index(f"score_{c}") for c in range(classes)]
    return np.array([[float(line[at]) for at in order] for line in lines])


def main():
    chosen = options(__doc__, samples=2000, classes=7, repeats=3)
    build()
    labels = problem(chosen.samples, chosen.classes)
    two = "".join(f"{i},{int(label == 0)}\n" for i, label in enumerate(labels))
    (WORK / "kernel-one.csv").write_text("row,label\n" + two)
    theirs, ours, one = [], [], []
    for _ in range(chosen.repeats):
        seconds, source, target = transcription(labels, chosen.classes)
        theirs.append(seconds)
        one.append(lopsided("kernel-one.csv")[0])
        seconds, found = lopsided("kernel-labels.csv")
        ours.append(seconds)
    difference = np.abs(scores(chosen.classes) - (source + target) / 2).max()
    ratio = statistics.median(t / o for t, o in zip(theirs, ours))
    together, apart = path([round(1.3 ** k, 4) for k in range(-15, 15)])
    lines = [
        f"`benchsuite/ask_ls.py --samples {chosen.samples} --classes {chosen.classes}`, {platform.machine()}, "
        f"{os.cpu_count()} cores, NumPy {np.__version__}, route {found['params']['route']}\n",
        "| what | value |", "| --- | --- |",
        f"| NumPy, one system per class, median seconds | {statistics.median(theirs):.2f} |",
        f"| lopsided fit ask-ls, median seconds | {statistics.median(ours):.2f} |",
        f"| ratio, median | {ratio:.1f} |",
        f"| all classes against one, median | {statistics.median(o / s for o, s in zip(ours, one)):.2f} |",
        f"| largest difference of the functions | {difference:.1e} |",
        f"| 30 penalties by cross-validation in one command, in 30 commands, seconds | {together:.2f}, {apart:.2f} |",
        f"| ratio | {apart / together:.1f} |",
        f"| condition number | {found['condition']:.1e} |",
    ]
    publish(lines, chosen.out)
    sys.exit(0 if difference < 1e-6 else 1)


if __name__ == "__main__":
    main()
