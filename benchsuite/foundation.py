#!/usr/bin/env python3
"""Sizes the first release promises, measured: time, peak memory and residual of `lopsided embed`.

    benchsuite/foundation.py [--quick] [--out FILE.md]

Graphs of a million nodes and dense samples are generated; pubmed is read from LOPSIDED_DATA where that is set.
"""
import argparse
import os
import platform
import random
import struct
import subprocess
import sys
from array import array
from pathlib import Path

from common import TARGET, WORK, build, publish, report


def gaussian_npy(path, rows, width, seed):
    """A .npy file of standard normal numbers, written once."""
    if path.exists():
        return path
    rng = random.Random(seed)
    data = array("d", (rng.gauss(0, 1) for _ in range(rows * width)))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {width}), }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data.tobytes())
    return path


def graph_csv(path, nodes, links, shape):
    """An edge list from the library's own generator, written once."""
    if not path.exists():
        subprocess.run([TARGET / "examples" / "generate_graph", str(nodes), str(links), str(shape), path], check=True)
    return path


def jobs(quick):
    """Name, arguments of `embed`, and the memory the job must stay below."""
    data = os.environ.get("LOPSIDED_DATA")
    if data and (Path(data) / "pubmed").is_dir():
        edges = next((Path(data) / "pubmed").glob("edges.csv*"))
        yield "pubmed, SNE, rank 20", [edges, *"--gamma ksvd --gamma-factor 0.5 --rank 20 --tol 1e-6".split()], 250e6
    else:
        print("pubmed: skipped, LOPSIDED_DATA is not set", file=sys.stderr)
    scale = 10 if quick else 1
    nodes, links = 1_000_000 // scale, 5_000_000 // scale
    graph = graph_csv(WORK / f"graph-{nodes}.csv", nodes, links, 1000)
    yield f"graph, {nodes} nodes, {links} links, SNE, rank 16", [graph, "--rank", "16"], 6e9
    n = 50_000 // scale
    x, z = (gaussian_npy(WORK / f"{name}-{n}.npy", n, 10, seed) for name, seed in [("x", 1), ("z", 2)])
    tiles = ["--kernel", "rbf", "--rank", "20", "--operator", "tiles"]
    yield f"dense RBF, n = m = {n}, d = 10, rank 20", [x, "--cols", z, *tiles], 1.5e9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    build()
    lines = [
        f"`benchsuite/foundation.py`, {platform.machine()}, {os.cpu_count()} cores\n",
        "| job | operator | seconds | peak MB | allowed MB | residual | products |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    within = True
    for name, arguments, allowed in jobs(options.quick):
        r = report("embed", *arguments, codes=(0, 1))
        within &= r["peak_bytes"] <= allowed and r["converged"]
        lines.append(
            f"| {name} | {r['operator']} | {r['seconds']:.1f} | {r['peak_bytes'] / 1e6:.0f} | {allowed / 1e6:.0f} "
            f"| {r['residual']:.1e} | {r['operator_products']} |"
        )
        print(lines[-1], file=sys.stderr)
    publish(lines, options.out)
    sys.exit(0 if within else 1)


if __name__ == "__main__":
    main()
