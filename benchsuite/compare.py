#!/usr/bin/env python3
"""Does `lopsided compare` say what it should? Generated data whose answer is known, then real sets.

    LOPSIDED_DATA=../shared/data python3 benchsuite/compare.py --program target/release/lopsided --out page.md

1. The graph of `lopsided demo` for several seeds: its classes show in the direction of links only ("pays"), a copy with every link in both
   directions and the same graph with shuffled classes ("does not pay").
2. Real sets with default options: graphs and tables of the folder LOPSIDED_DATA, where it is set.

Seconds of the clock are shared with whatever else runs; processor seconds are those of all threads together.
"""
import argparse
import csv
import json
import os
import platform
import random
import tempfile
from collections import Counter
from pathlib import Path

from common import TARGET, measured

GRAPHS, TABLES = ["cora", "citeseer", "twitch_pt"], ["spambase", "protein_casp"]


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))[1:]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


class Compare:
    def __init__(self, program, threads):
        self.program, self.threads = program, threads

    def __call__(self, *words):
        seconds, processor, memory, out = measured([self.program, "compare", *words, "--json", "--quiet"], self.threads)
        return json.loads(out) | {"clock": seconds, "processor": processor, "mb": memory}


def generated(compare, work, seeds, options):
    """The three cases for each seed: what was found."""
    found = {"demo": [], "both directions": [], "random classes": []}
    for seed in range(seeds):
        measured([compare.program, "demo", "--out", work, "--seed", seed, "--quiet"], compare.threads)
        links, classes = rows_of(work / "edges.csv"), rows_of(work / "classes.csv")
        both = write(work / "both.csv", ["source", "target"], [*links, *((t, s) for s, t in links)])
        codes = [code for _, code in classes]
        random.Random(seed).shuffle(codes)
        shuffled = write(work / "shuffled.csv", ["node", "label"], zip((node for node, _ in classes), codes))
        cases = [(work / "edges.csv", work / "classes.csv"), (both, work / "classes.csv"), (work / "edges.csv", shuffled)]
        for name, (edges, labels) in zip(found, cases):
            found[name].append(compare(edges, "--labels", labels, "--seed", seed, *options))
            print(seed, name, found[name][-1]["verdict"], flush=True)
    return found


def real(compare, data, work, names):
    for name in names:
        folder = data / name
        if not folder.is_dir():
            continue
        edges = next(iter(folder.glob("edges.csv*")), None)
        nodes = [("--nodes", path) for path in folder.glob("nodes.csv*")]
        given = [edges, "--labels", folder / "labels.csv", *(nodes[0] if nodes else ())] if edges else [next(folder.glob("data.csv*"))]
        found = compare(*given, "--report", work / "page.html")
        print(name, found["verdict"], f"{found['processor']:.0f} s", flush=True)
        yield name, found


def best(found, family):
    own = [method for method in found["methods"] if method["family"] == family]
    return max(own, key=lambda method: (method["chosen"], method["mean"]))["name"]


def spread(values):
    return f"{min(values):.3f} to {max(values):.3f}"


def page(found, sets, asked, command):
    lines = ["# Does `compare` say what it should?", ""]
    lines += [f"`{command}`, {platform.machine()}, {asked.threads} threads, optimised build without link-time optimisation, beside other work on the", "same cores: seconds of the clock are upper bounds.", ""]
    options = " ".join(asked.options)
    lines += [f"The graph of `lopsided demo` (3000 nodes, 4 classes on a circle) by seeds 0 to {asked.seeds - 1}, `compare {options}`:", ""]
    lines += ["| case | verdicts | with asymmetry | without | guessing | difference | processor seconds |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, runs in found.items():
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in Counter(run["verdict"] for run in runs).items())
        mean = lambda key: spread([run[key]["mean"] for run in runs])
        cells = [name, verdicts, mean("asymmetric"), mean("symmetric"), mean("guess"), mean("difference"), spread([run["processor"] for run in runs])]
        lines.append(f"| {' | '.join(cells)} |")
    if not sets:
        return "\n".join(lines) + "\n"
    lines += ["", "Real sets, no options but files. `chosen` is the method that a family sent most often; the interval is one of 95 %.", ""]
    lines += ["| set | measure | samples | with asymmetry (chosen) | without (chosen) | guessing | difference | verdict | seconds | processor seconds | MB |"]
    lines += ["| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, run in sets:
        difference = run["difference"]
        cells = [
            name, run["measure"], str(run["samples"]), f"{run['asymmetric']['mean']:.3f} ({best(run, 'asymmetric')})",
            f"{run['symmetric']['mean']:.3f} ({best(run, 'symmetric')})", f"{run['guess']['mean']:.3f}",
            f"{difference['mean']:+.3f} [{difference['low']:+.3f}, {difference['high']:+.3f}]", run["verdict"],
            f"{run['clock']:.0f}", f"{run['processor']:.0f}", f"{run['mb']:.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for name, run in sets:
        asymmetry = ", ".join(f"{key} {value:.3f}" for key, value in run["asymmetry"].items())
        lines += ["", f"{name}: {asymmetry}. {run['sentence']}", "", f"| method on {name} | {run['measure']} | chosen | seconds |", "| --- | --- | --- | --- |"]
        lines += [f"| {m['name']} | {m['mean']:.3f} ± {m['deviation']:.3f} | {m['chosen']} | {m['seconds']:.1f} |" for m in run["methods"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=TARGET / "lopsided")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--samples", type=int, default=500, help="labelled nodes of the generated graphs that take part")
    parser.add_argument("--only", nargs="*", default=GRAPHS + TABLES)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    asked.options = ["--samples", str(asked.samples), "--repeats", "1"]
    compare, data = Compare(asked.program.resolve(), asked.threads), os.environ.get("LOPSIDED_DATA")
    with tempfile.TemporaryDirectory() as folder:
        found = generated(compare, Path(folder), asked.seeds, asked.options)
        sets = list(real(compare, Path(data), Path(folder), asked.only)) if data else []
    text = page(found, sets, asked, f"python3 benchsuite/compare.py --seeds {asked.seeds}")
    print(text) if asked.out is None else asked.out.write_text(text)


if __name__ == "__main__":
    main()
