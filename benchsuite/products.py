#!/usr/bin/env python3
"""G·V for the RBF kernel, evaluated in the product, beside scikit-learn's `rbf_kernel(X, Z) @ V`.

    benchsuite/products.py [--rounds N] [--example FILE] [--out FILE.md]

One thread each, round by round in turn, on the same numbers. Seconds are processor time, which a second program on the same
machine does not change much. Accuracy is checked first. scikit-learn must be installed.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"

from common import TARGET, WORK, numpy, publish, ready

np = numpy()

# Name, rows of X, rows of Z (None: Z = X), width, columns of V.
JOBS = [
    ("A", 5000, 20_000, 500, 20),
    ("B", 6000, 50_000, 10, 20),
    ("C", 6000, 20_000, 64, 128),
    ("A, Z = X", 8000, None, 500, 20),
    ("B, Z = X", 16_000, None, 10, 20),
]
# Rows that KeOps multiplies.
ROWS = 100


def used(pid):
    """Processor seconds of all threads of a process."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) * 1e-9


class Ours:
    """The example that multiplies once for every line it is sent."""

    def __init__(self, example, gamma, x, z, v):
        files = {name: WORK / f"product-{name}.npy" for name in "xzv"}
        for name, array in zip("xzv", (x, z, v)):
            if array is not None:
                np.save(files[name], array)
        out = WORK / "product-out.npy"
        second = files["z"] if z is not None else "-"
        command = [example, "rbf", repr(gamma), files["x"], second, files["v"], out]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.seconds()
        self.result = np.load(out)

    def seconds(self):
        before = used(self.child.pid)
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        self.child.stdout.readline()
        return used(self.child.pid) - before

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def compare(example, job, rounds):
    """A line of the table."""
    from sklearn.metrics.pairwise import rbf_kernel

    name, n, m, d, r = job
    rng = np.random.default_rng(1)
    x, z = rng.standard_normal((n, d)), None if m is None else rng.standard_normal((m, d))
    v = rng.standard_normal((m or n, r))
    gamma = 0.5 / d
    ours = Ours(example, gamma, x, z, v)
    peer = rbf_kernel(x, z, gamma=gamma) @ v
    error = np.abs(ours.result - peer).max() / np.abs(peer).max()
    if not error < 1e-12:
        sys.exit(f"{name}: the products differ by {error:.1e}")
    pairs = []
    for _ in range(rounds):
        own = ours.seconds()
        start = time.process_time()
        rbf_kernel(x, z, gamma=gamma) @ v
        pairs.append((own, time.process_time() - start))
    ours.close()
    ratios = sorted(other / own for own, other in pairs)
    each = statistics.median(own for own, _ in pairs) / (n * (m or n)) * 1e9
    keops = keops_nanoseconds(x[:ROWS], x if z is None else z, v, gamma)
    return (
        f"| {name} | {n} x {m or n} | {d} | {r} | {each:.2f} | {each / floor(m is None, d, r):.2f} | {statistics.median(ratios):.2f} "
        f"| {ratios[0]:.2f}-{ratios[-1]:.2f} | {f'{keops / each:.0f}' if keops else 'not installed'} | {error:.1e} |"
    )


def floor(symmetric, width, columns):
    """Nanoseconds an entry must take: the products at 52 GFLOP/s and the exponential at 1.77 per nanosecond; a half of G serves both."""
    entry = 2 * width / 52 + 1 / 1.77
    return (entry / 2 if symmetric else entry) + 2 * columns / 52


def keops_nanoseconds(x, z, v, gamma):
    """Processor time of KeOps for an entry; `None` without KeOps."""
    try:
        from pykeops.numpy import LazyTensor
    except ImportError:
        return None
    product = lambda: (-gamma * ((LazyTensor(x[:, None]) - LazyTensor(z[None])) ** 2).sum(-1)).exp() @ v
    product()  # compiles
    start = time.process_time()
    product()
    return (time.process_time() - start) / (len(x) * len(z)) * 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="times each side is measured")
    parser.add_argument("--example", type=Path, help="a built example `product_speed` to measure in place of a new one")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    ready(options.example)
    lines = [
        "`benchsuite/products.py`, f64, one thread each\n",
        "| job | G | width | vectors | ns an entry | over the floor | scikit-learn / lopsided | range | KeOps / lopsided | largest difference |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for job in JOBS:
        lines.append(compare(options.example or TARGET / "examples" / "product_speed", job, options.rounds))
        print(lines[-1], file=sys.stderr)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
