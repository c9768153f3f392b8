#!/usr/bin/env python3
"""Does `lopsided compare` say what it should? Generated data whose answer is known, then real sets.

    LOPSIDED_DATA=../shared/data python3 benchsuite/compare.py --program target/release/lopsided --out page.md

1. The graph of `lopsided demo`: its classes show in the direction of links only ("pays"); a copy with every link in both directions and
   the same graph with shuffled classes ("does not pay"). Then the same by the same rule with fewer nodes (`--nodes`), for several seeds.
2. Real sets: graphs and tables of the folder LOPSIDED_DATA, where it is set; cora with no options, the others with `--repeats 1`.

`--results FILE` keeps what was measured, so that a run may be cut into pieces; `--only` names the sets, `--seeds 0` leaves the generated graphs out.
Seconds of the clock are shared with whatever else runs; processor seconds are those of all threads together.
"""
import argparse
import json
import os
import platform
import random
import tempfile
from collections import Counter
from pathlib import Path

from common import TARGET, measured, rows_of, write

GRAPHS, TABLES = ["cora", "citeseer", "twitch_pt"], ["spambase", "protein_casp"]


class Compare:
    """Runs the program; what was measured before is taken from the file."""

    def __init__(self, program, threads, results):
        self.program, self.threads, self.results = program, threads, results
        self.known = json.loads(results.read_text()) if results and results.exists() else {}

    def __call__(self, key, *words):
        if key not in self.known:
            seconds, processor, memory, out = measured([self.program, "compare", *words, "--json", "--quiet"], self.threads)
            self.known[key] = json.loads(out) | {"clock": seconds, "processor": processor, "mb": memory}
            if self.results:
                self.results.write_text(json.dumps(self.known))
            print(key, self.known[key]["verdict"], f"{processor:.0f} s", flush=True)
        return self.known[key]


def circle(work, nodes, seed, classes=4, degree=20, contrast=0.9):
    """A graph by the rule of the demo: which direction a link has depends on the classes of its ends, whether there is one does not."""
    rng = random.Random(seed)
    codes = [node % classes for node in range(nodes)]
    rng.shuffle(codes)
    forward = {1: (1 + contrast) / 2, classes - 1: (1 - contrast) / 2}
    ends = [(i, j) for i in range(nodes) for j in range(i + 1, nodes) if rng.random() < 2 * degree / (nodes - 1)]
    links = [(i, j) if rng.random() < forward.get((codes[j] - codes[i]) % classes, 0.5) else (j, i) for i, j in ends]
    write(work / "edges.csv", ["source", "target"], links)
    write(work / "classes.csv", ["node", "label"], enumerate(codes))


def generated(compare, work, seeds, options, nodes=None):
    """The three cases for each seed: what was found."""
    found = {"direction tells": [], "both directions": [], "random classes": []}
    for seed in range(seeds):
        if nodes is None:
            measured([compare.program, "demo", "--out", work, "--seed", seed, "--quiet"], compare.threads)
        else:
            circle(work, nodes, seed)
        links, classes = rows_of(work / "edges.csv"), rows_of(work / "classes.csv")
        both = write(work / "both.csv", ["source", "target"], [*links, *((t, s) for s, t in links)])
        codes = [code for _, code in classes]
        random.Random(seed).shuffle(codes)
        shuffled = write(work / "shuffled.csv", ["node", "label"], zip((node for node, _ in classes), codes))
        cases = [(work / "edges.csv", work / "classes.csv"), (both, work / "classes.csv"), (work / "edges.csv", shuffled)]
        for name, (edges, labels) in zip(found, cases):
            found[name].append(compare(f"{nodes or 'demo'} {name} {seed}", edges, "--labels", labels, "--seed", seed, *options))
    return found


def real(compare, data, work, names):
    for name in names:
        folder = data / name
        if not folder.is_dir():
            continue
        edges = next(iter(folder.glob("edges.csv*")), None)
        nodes = [("--nodes", path) for path in folder.glob("nodes.csv*")]
        given = [edges, "--labels", folder / "labels.csv", *(nodes[0] if nodes else ())] if edges else [next(folder.glob("data.csv*"))]
        yield name, compare(name, *given, "--report", work / "page.html", *([] if name == "cora" else ["--repeats", 1]))


def best(found, family):
    own = [method for method in found["methods"] if method["family"] == family]
    return max(own, key=lambda method: (method["chosen"], method["mean"]))["name"]


def spread(values):
    return f"{min(values):.3f} to {max(values):.3f}"


def page(found, sets, asked, command):
    lines = ["# Does `compare` say what it should?", ""]
    lines += [f"`{command}`, {platform.machine()}, {asked.threads} threads, optimised build, beside other work on the", "same cores: seconds of the clock are upper bounds.", ""]
    options = " ".join(asked.options)
    lines += [f"Graphs whose 4 classes lie on a circle, `compare {options}`: that of `lopsided demo` (3000 nodes) with seed 0, and {asked.nodes} nodes by the same rule with seeds 0 to {asked.seeds - 1}.", ""]
    lines += ["| nodes | case | verdicts | with asymmetry | without | guessing | difference | processor seconds |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for (nodes, name), runs in ((case, runs) for case, runs in found.items() if runs):
        verdicts = ", ".join(f"{verdict} {count}" for verdict, count in Counter(run["verdict"] for run in runs).items())
        mean = lambda key: spread([run[key]["mean"] for run in runs])
        cells = [str(nodes), name, verdicts, mean("asymmetric"), mean("symmetric"), mean("guess"), mean("difference"), spread([run["processor"] for run in runs])]
        lines.append(f"| {' | '.join(cells)} |")
    if not sets:
        return "\n".join(lines) + "\n"
    lines += ["", "Real sets; cora with no options (10 test parts), the others with `--repeats 1` (5). `chosen` is the method that a family sent most often; the interval is one of 95 %. Of more than 1500 labelled samples 1500 take part.", ""]
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
        lines += ["", f"{name}: {asymmetry}.", "", f"| method on {name} | {run['measure']} | chosen | seconds |", "| --- | --- | --- | --- |"]
        lines += [f"| {m['name']} | {m['mean']:.3f} ± {m['deviation']:.3f} | {m['chosen']} | {m['seconds']:.1f} |" for m in run["methods"]]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=TARGET / "lopsided")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=600, help="nodes of the smaller generated graphs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--samples", type=int, default=500, help="labelled nodes of the generated graphs that take part")
    parser.add_argument("--only", nargs="*", default=GRAPHS + TABLES)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    asked.options = ["--samples", str(asked.samples), "--repeats", "1"]
    compare, data = Compare(asked.program.resolve(), asked.threads, asked.results), os.environ.get("LOPSIDED_DATA")
    with tempfile.TemporaryDirectory() as folder:
        found = {(3000, name): runs for name, runs in generated(compare, Path(folder), min(asked.seeds, 1), asked.options).items()}
        found |= {(asked.nodes, name): runs for name, runs in generated(compare, Path(folder), asked.seeds, asked.options, asked.nodes).items()}
        sets = list(real(compare, Path(data), Path(folder), asked.only)) if data else []
    text = page(found, sets, asked, f"python3 benchsuite/compare.py --seeds {asked.seeds}")
    print(text) if asked.out is None else asked.out.write_text(text)


if __name__ == "__main__":
    main()
