#!/usr/bin/env python3
"""Whether a penalty chosen on 3000 labelled nodes is the one that all of them would choose.

    LOPSIDED_DATA=../shared/data benchsuite/searched.py [--sets pubmed] [--most 3000] [--limit 60] [--program FILE] [--out FILE.md]

The test nodes (those of `features.py`) are put aside and never looked at. A third of the others is held out; `ls-svm` with links of either direction learns
from the rest, and from 3000 of it with the same share of each class, with each penalty. The column "lost" is how much less the penalty that
is best by 3000 nodes reaches, when all learn, than the penalty that is best by all. Without --program a release build is made. Needs numpy and scikit-learn.
"""
import argparse
import json
import os
import platform
import sys
from pathlib import Path

from common import WORK, TooSlow, asked, measured, numpy, publish, with_program
from features import Nodes

np = numpy()
PENALTIES = [0.1, 1, 10, 100]


def parts(nodes, most):
    """Nodes to learn from, some of them, and nodes that are held out; none of them a test node."""
    order, y = np.random.default_rng(0).permutation(nodes.train), nodes.y
    held, rest = order[: len(order) // 3], order[len(order) // 3:]
    classes = [rest[y[rest] == c] for c in np.unique(y)]
    some = np.concatenate([of[: max(12, -(-len(of) * most // len(rest)))] for of in classes])
    return rest, some, held


def score(options, graph, learn, held, penalty):
    """Accuracy on the held-out nodes of what the others teach."""
    edges, ids, y = graph.edges, graph.ids, graph.y
    for name, nodes in (("learn", learn), ("held", held)):
        (WORK / f"searched-{name}.csv").write_text("node,label\n" + "".join(f"{ids[i]},{y[i]}\n" for i in nodes))
    (WORK / "searched-ids.txt").write_text("\n".join(str(ids[i]) for i in held))
    (WORK / "searched-nodes.txt").write_text("\n".join(map(str, ids)))
    words = ["--labels", WORK / "searched-learn.csv", "--nodes", WORK / "searched-nodes.txt", "--links", "either", "--penalty", penalty]
    model = WORK / "searched.model"
    measured([options.program, "fit", "ls-svm", edges, *words, "--model", model, "--quiet", "--json"], options.threads, options.limit, codes=(0, 1))
    words = ["--ids", WORK / "searched-ids.txt", "--labels", WORK / "searched-held.csv", "--quiet", "--json"]
    return json.loads(measured([options.program, "predict", model, edges, *words], options.threads)[3])["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=lambda text: text.split(","), default=["pubmed", "amazon_computers"])
    parser.add_argument("--most", type=int, default=3000)
    parser.add_argument("--limit", type=float, default=60, help="seconds that one fit may take")
    options = with_program(parser)
    heads = [f"{p:g}" for p in PENALTIES]
    lines = ["# Penalties chosen on a part of the labelled nodes", "", f"`benchsuite/searched.py {asked()}`, {platform.machine()}, {options.threads} threads. "
             "Accuracy on held-out training nodes by penalty; – took too long.", "",
             f"| set | nodes that teach | {' | '.join(heads)} | best | lost |", "| --- " * (len(heads) + 4) + "|"]
    for name in options.sets:
        graph = Nodes(Path(os.environ["LOPSIDED_DATA"]) / name, WORK, 0)
        rest, some, held = parts(graph, options.most)
        found = {}
        for kind, nodes in (("some", some), ("all", rest)):
            found[kind] = []
            for penalty in PENALTIES:
                try:
                    found[kind].append(score(options, graph, nodes, held, penalty))
                except TooSlow:
                    found[kind].append(np.nan)
            best = int(np.nanargmax(found[kind]))
            lost = f"{np.nanmax(found[kind]) - found[kind][int(np.nanargmax(found['some']))]:.4f}" if kind == "all" else ""
            cells = " | ".join("–" if np.isnan(v) else f"{v:.4f}" for v in found[kind])
            lines.append(f"| {name} | {len(nodes)} | {cells} | {heads[best]} | {lost} |")
            print(lines[-1], file=sys.stderr, flush=True)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
