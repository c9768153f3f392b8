#!/usr/bin/env python3
"""Leading singular triplets of a dense SNE kernel matrix from samples, beside NumPy and SciPy's PROPACK.

    benchsuite/triplets.py [--samples N] [--width D] [--rounds N] [--out FILE.md]

One thread each, in turn; both build the matrix and find 20 triplets. Seconds are processor time. SciPy must be installed.
"""
import argparse
import os
import resource
import statistics
import sys
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[name] = "1"

from common import WORK, numpy, publish, ready, report

np = numpy()
RANK = 20


def clusters(n, width):
    """Samples around 60 centres, and one over the median of their squared distances."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, width))[rng.integers(0, 60, n)] + 0.8 * rng.standard_normal((n, width))
    some = rng.integers(0, n, (2, 4000))
    return x, 1 / np.median(((x[some[0]] - x[some[1]]) ** 2).sum(1))


def peer(x, gamma, tol):
    """Singular values by PROPACK, and processor seconds."""
    from scipy.sparse.linalg import svds

    start = time.process_time()
    sizes = (x * x).sum(1)
    g = x @ x.T
    g *= 2 * gamma
    g -= gamma * sizes[:, None]
    g -= gamma * sizes[None, :]
    np.exp(g, out=g)
    g /= g.sum(1)[:, None]
    sigma = svds(g, k=RANK, solver="propack", tol=tol, return_singular_vectors=True)[1]
    return np.sort(sigma)[::-1], time.process_time() - start


def ours(file, gamma, tol):
    """The report of one run, and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["embed", file, "--cols", file, "--kernel", "sne", "--gamma", repr(float(gamma)), "--rank", RANK, "--tol", tol]
    result = report(*words, "--threads", 1)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3, help="times each side is measured")
    parser.add_argument("--no-build", action="store_true", help="measure the program that is there")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    ready(options.no_build)
    x, gamma = clusters(options.samples, options.width)
    file = WORK / "triplets-x.npy"
    np.save(file, x)
    lines = [
        f"`benchsuite/triplets.py`, SNE, {options.samples} samples of width {options.width}, rank {RANK}, f64, one thread\n",
        "| tolerance | operator | residual | products | seconds | PROPACK / lopsided | range | peak MB |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for tol in (1e-10, 1e-5):
        ratios, seconds = [], []
        for _ in range(options.rounds):
            found, own = ours(file, gamma, tol)
            sigma, other = peer(x, gamma, tol)
            if not (found["converged"] and np.allclose(found["singular_values"], sigma, rtol=0, atol=10 * tol * sigma[0])):
                sys.exit(f"tolerance {tol}: the singular values differ, or did not converge")
            ratios.append(other / own)
            seconds.append(own)
        lines.append(
            f"| {tol} | {found['operator']} | {found['residual']:.1e} | {found['operator_products']} | {statistics.median(seconds):.1f} "
            f"| {statistics.median(ratios):.2f} | {min(ratios):.2f}-{max(ratios):.2f} | {found['peak_bytes'] / 1e6:.0f} |"
        )
        print(lines[-1], file=sys.stderr)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
