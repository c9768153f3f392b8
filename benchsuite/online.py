#!/usr/bin/env python3
"""Projected gradient descent with the trace norm, factored (`lopsided online gd-trace`) against the plain
transcription of [KMU] in NumPy: the SVD of X C Y' by Lemma 4.1 from T x T kernel matrices in every trial.

    benchsuite/online.py [--trials 100 200 400] [--width 10] [--long 10000] [--binary target/release/lopsided]

Then time and memory of longer streams: 5000 trials without a budget, 3000 and as many as `--long` says with one.

Needs NumPy, for instance:  python3 -m venv venv && venv/bin/pip install numpy && venv/bin/python benchsuite/online.py
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

# One thread, like the program it is compared with.
for name in ["OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"]:
    os.environ.setdefault(name, "1")
try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is missing: python3 -m venv venv && venv/bin/pip install numpy")

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
GAMMA, STEP, RADIUS = 0.05, 0.3, 2.0


def stream(trials, width, seed=1):
    """Pairs of vectors and labels that a matrix between the Gaussian features can learn."""
    rng = np.random.default_rng(seed)
    x, z = rng.standard_normal((trials, width)), rng.standard_normal((trials, width))
    return x, z, np.tanh(x[:, 0] * z[:, 0]) + 0.1 * rng.standard_normal(trials)


def kernel(a, b):
    """The Gaussian kernel matrix."""
    squares = (a**2).sum(1)[:, None] + (b**2).sum(1)[None, :] - 2 * a @ b.T
    return np.exp(-GAMMA * np.maximum(squares, 0))


def root(gram):
    """The symmetric square root."""
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def threshold(sigma):
    """Soft threshold to a sum of at most RADIUS."""
    if sigma.sum() <= RADIUS:
        return sigma
    sums = np.cumsum(sigma) - RADIUS
    counts = np.arange(1, len(sigma) + 1)
    last = np.nonzero(sigma > sums / counts)[0][-1]
    return np.maximum(sigma - sums[last] / counts[last], 0)


def transcription(x, z, y):
    """Predictions of W = X C Z' with C of size t x t, decomposed anew in every trial."""
    predictions, c = [], np.zeros((0, 0))
    for t in range(len(y)):
        kx, kz = kernel(x[: t + 1], x[: t + 1]), kernel(z[: t + 1], z[: t + 1])
        predicted = kx[t, :t] @ c @ kz[:t, t]
        predictions.append(predicted)
        c = np.pad(c, ((0, 1), (0, 1)))
        c[t, t] = -STEP * 2 * (predicted - y[t])
        rx, rz = root(kx), root(kz)
        u, sigma, vt = np.linalg.svd(rx @ c @ rz)
        kept = sigma > 1e-10 * sigma[0]
        u, sigma, vt = u[:, kept], sigma[kept], vt[kept]
        left, right = c @ rz @ vt.T / sigma, c.T @ rx @ u / sigma
        c = (left * threshold(sigma)) @ right.T
    return np.array(predictions)


def written(x, z, y, path):
    """The stream as a file."""
    names = [f"x{i}" for i in range(x.shape[1])] + [f"y{i}" for i in range(z.shape[1])] + ["label"]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([repr(float(v)) for v in (*a, *b, c)] for a, b, c in zip(x, z, y))


def learned(binary, path, out, options):
    """What the program says, and its seconds, reading and writing included."""
    options = f"--kernel rbf --steps fixed {options} --json".split()
    command = [binary, "online", "gd-trace", "-", "--format", "csv", "--out", out, *options]
    start = time.perf_counter()
    with open(path) as source:
        answer = subprocess.run(command, stdin=source, capture_output=True, check=True, text=True)
    return json.loads(answer.stdout), time.perf_counter() - start


def factored(binary, x, z, y, folder):
    """Predictions, seconds and rank of the program."""
    path, out = folder / "stream.csv", folder / "out.csv"
    written(x, z, y, path)
    report, seconds = learned(binary, path, out, f"--gamma {GAMMA} --step {STEP} --radius {RADIUS}")
    predictions = np.array([float(row["prediction"]) for row in csv.DictReader(open(out))])
    return predictions, seconds, report["rank"]


def long_streams(binary, most, folder):
    """A line for each longer stream."""
    print("\n| trials | width | options | seconds | milliseconds a trial | peak MB | rank | samples stored |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    free = ["--gamma 0.05 --radius 5 --step 0.3", "--gamma 0.05 --radius 40 --step 1"]
    bounded = "--gamma 0.5 --radius 5 --step 0.3 --budget 500"
    for trials, width, options in [*((5000, 10, o) for o in free), (3000, 3, bounded), (most, 3, bounded)]:
        written(*stream(trials, width), folder / "stream.csv")
        r, seconds = learned(binary, folder / "stream.csv", folder / "out.csv", options)
        each, peak = 1e3 * seconds / trials, r["peak_bytes"] / 1e6
        print(f"| {trials} | {width} | {options} | {seconds:.1f} | {each:.2f} | {peak:.0f} | {r['rank']} | {r['stored']} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, nargs="+", default=[100, 200, 400])
    parser.add_argument("--width", type=int, default=10)
    parser.add_argument("--long", type=int, default=10000)
    parser.add_argument("--binary", default=TARGET / "release" / "lopsided")
    args = parser.parse_args()
    print("| trials | rank | largest difference | NumPy, T x T | lopsided | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for trials in args.trials:
        x, z, y = stream(trials, args.width)
        start = time.perf_counter()
        plain = transcription(x, z, y)
        slow = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder:
            fast_predictions, fast, rank = factored(args.binary, x, z, y, Path(folder))
        difference = np.abs(plain - fast_predictions).max()
        print(f"| {trials} | {rank} | {difference:.1e} | {slow:.2f} s | {fast:.2f} s | {slow / fast:.0f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        long_streams(args.binary, args.long, Path(folder))


if __name__ == "__main__":
    main()
