#!/usr/bin/env python3
"""What Python costs over the program: the embedding of a graph, the import, the memory of a large array.

usage: python_overhead.py [GRAPH] [--program FILE] [--out FILE]

GRAPH is a list of links, by default pubmed of the folder LOPSIDED_DATA. The package must be installed for this Python, in the
same profile as the program. The program reads the file and embeds; its reading is measured by a dry run and taken off.
"""
import argparse
import gzip
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import TARGET, numpy, publish

ROUNDS = 5
PEAK = "next(int(l.split()[1]) / 1e6 for l in open('/proc/self/status') if l.startswith('VmHWM'))"
LARGE = f"""
import numpy as np
from lopsided import KernelSVD
X = np.empty((1_250_000, 100))
np.random.default_rng(0).standard_normal(out=X)
Z = X[:3].copy()
KernelSVD(1, kernel="rbf").fit(Z)
before = {PEAK}
model = KernelSVD(1, kernel="rbf", gamma=0.01).fit(X, Z=Z)
print(before, {PEAK})
"""


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", nargs="?", type=Path, default=Path(os.environ.get("LOPSIDED_DATA", "")) / "pubmed/edges.csv.gz")
    parser.add_argument("--program", type=Path, default=TARGET / "lopsided")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def seconds_of_program(args, *words):
    command = [args.program, "embed", args.graph, "--rank", "16", "--json", "--quiet", *words]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def seconds_of_python(links):
    from lopsided import GraphEmbedding

    start = time.perf_counter()
    GraphEmbedding(16).fit(links)
    return time.perf_counter() - start


def main():
    args, np = options(), numpy()
    with gzip.open(args.graph, "rt") if args.graph.suffix == ".gz" else open(args.graph) as lines:
        links = np.loadtxt(lines, delimiter=",", skiprows=1, usecols=(0, 1), dtype=int)
    seconds_of_python(links)
    program, reading, python = [], [], []
    for _ in range(ROUNDS):  # by turns, so that both meet the same machine
        program.append(seconds_of_program(args))
        reading.append(seconds_of_program(args, "--dry-run"))
        python.append(seconds_of_python(links))
    work = statistics.median(program) - statistics.median(reading)
    ours = statistics.median(python)
    code = "import numpy, time; s = time.perf_counter(); import lopsided; print(time.perf_counter() - s)"
    imports = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(ROUNDS)]
    before, after = map(float, subprocess.run([sys.executable, "-c", LARGE], capture_output=True, check=True).stdout.split())
    publish(
        [
            "| quantity | value |",
            "| --- | --- |",
            f"| program without reading, median of {ROUNDS} | {work:.3f} s (whole {statistics.median(program):.3f} s) |",
            f"| GraphEmbedding.fit, median of {ROUNDS} | {ours:.3f} s |",
            f"| overhead | {1000 * (ours - work):+.0f} ms, {100 * (ours / work - 1):+.1f} % |",
            f"| import of lopsided | {min(imports):.3f} s |",
            f"| peak memory before and after fitting a 1.0 GB array | {before:.2f} GB, {after:.2f} GB |",
        ],
        args.out,
    )


if __name__ == "__main__":
    main()
