#!/usr/bin/env python3
"""What the figures of `lopsided reproduce nkm-1 --out FOLDER` say about the findings of [NKM].

    benchsuite/nkm1.py FOLDER [--out FILE.md]

For each set and machine: how many samplers have an error that falls from the smallest to the largest share of landmarks, and at
each share how many samplers have a smaller error with GSA than with LLA.
"""
import argparse
import csv
from collections import defaultdict
from pathlib import Path

from common import publish


def errors(path):
    """machine -> sampler -> approach -> share -> error."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    with open(path) as file:
        for row in csv.DictReader(file):
            if row["sampler"] and row["error"]:
                found[row["machine"]][row["sampler"]][row["approach"]][float(row["ratio"])] = float(row["error"])
    return found


def line(name, machine, samplers):
    """One row of the table."""
    shares = sorted({share for by in samplers.values() for share in by["lla"]})
    falls = {a: sum(by[a][max(by[a])] < by[a][min(by[a])] for by in samplers.values() if by[a]) for a in ("lla", "gsa")}
    nearer = [sum(by["gsa"].get(s, 9e99) < by["lla"].get(s, 0.0) for by in samplers.values()) for s in shares]
    counts = " ".join(f"{100 * s:.0f}%: {n}" for s, n in zip(shares, nearer))
    return f"| {name} | {machine} | {len(samplers)} | {falls['lla']}, {falls['gsa']} | {counts} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    options = parser.parse_args()
    lines = ["| set | machine | samplers | error falls: LLA, GSA | GSA nearer than LLA, by share of landmarks |", "| --- | --- | --- | --- | --- |"]
    for path in sorted(options.folder.glob("*-lines.csv")):
        lines += [line(path.name.removesuffix("-lines.csv"), machine, samplers) for machine, samplers in errors(path).items()]
    publish(lines, options.out)


if __name__ == "__main__":
    main()
