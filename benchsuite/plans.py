#!/usr/bin/env python3
"""The seconds and bytes of `--dry-run` against those of the run, on a grid of generated problems.

usage: plans.py [--program FILE] [--out FILE.md] [--only WORD]

Both are processor seconds of one thread, so that other work on the machine does not count; what reading and planning take is
subtracted from the run. A row is off where the plan is not within a factor of 2, or 0.1 s, of the truth. Bytes are the peak of
the process; they are off beyond a factor of 1.5, or 32 MB.
"""
import argparse
import json
import sys
from pathlib import Path

import common

np = common.numpy()

#: Seconds below which nobody plans.
LITTLE = 0.1
#: Megabytes that nobody plans: the program itself.
SMALL = 32


def graph(folder, nodes, degree, seed=0):
    """A directed graph with hubs, in four communities, and its classes."""
    path, labels = folder / f"graph-{nodes}-{degree}.csv", folder / f"classes-{nodes}.csv"
    if not path.exists():
        rng = np.random.default_rng(seed)
        count = nodes * degree
        source = rng.integers(nodes, size=count)
        target = (nodes * rng.random(count) ** 2).astype(int) // 4 * 4 + (source + (rng.random(count) < 0.8)) % 4
        np.savetxt(path, np.unique(np.c_[source, target % nodes], axis=0), fmt="%d", delimiter=",", header="source,target", comments="")
        np.savetxt(labels, np.c_[np.arange(nodes), np.arange(nodes) % 4], fmt="%d", delimiter=",", header="node,label", comments="")
    return path, labels


def table(folder, rows, columns, classes=3, seed=0):
    """Clusters that overlap, with classes and values."""
    path, labels, values = (folder / f"{kind}-{rows}-{columns}.npy" for kind in ("table", "classes", "values"))
    if not path.exists():
        rng = np.random.default_rng(seed)
        y = rng.integers(classes, size=rows)
        x = rng.standard_normal((classes, columns))[y] + rng.standard_normal((rows, columns))
        np.save(path, x)
        np.save(labels, y)
        np.save(values, np.sin(x[:, 0]) + 0.1 * rng.standard_normal(rows))
    return path, labels, values


def problems(folder):
    """Names and words of all runs, without what they write."""
    small, small_classes = graph(folder, 2000, 5)
    large, large_classes = graph(folder, 10000, 8)
    for name, edges, classes in (("2000 nodes", small, small_classes), ("10000 nodes", large, large_classes)):
        for rank in (16, 100):
            yield f"embed, {name}, rank {rank}", ["embed", edges, "--rank", rank]
        yield f"embed sne, {name}", ["embed", edges, "--kernel", "sne", "--rank", 32]
        yield f"embed precomputed, {name}", ["embed", edges, "--kernel", "precomputed", "--rank", 32]
        yield f"fit kernel-svd, {name}", ["fit", "kernel-svd", edges, "--labels", classes, "--rank", 50]
    yield "fit ask-ls, 2000 nodes", ["fit", "ask-ls", small, "--labels", small_classes, "--penalty", 1]
    yield "fit ls-svm, 2000 nodes", ["fit", "ls-svm", small, "--labels", small_classes, "--penalty", 1]
    for rows, columns in ((1000, 20), (3000, 20), (3000, 200)):
        x, _, _ = table(folder, rows, columns)
        yield f"embed, {rows} x {columns} against itself", ["embed", x, "--cols", x, "--kernel", "rbf", "--rank", 16]
        yield f"embed laplacian, {rows} x {columns}", ["embed", x, "--cols", x, "--kernel", "laplacian", "--rank", 16]
    for rows in (1000, 2500):
        x, classes, values = table(folder, rows, 20)
        for given in (["--penalty", 1], []):
            kind = f"{rows} x 20" + (", search" if not given else "")
            for machine in ("svm", "logistic", "ls-svm"):
                yield f"fit {machine}, {kind}", ["fit", machine, x, "--labels", classes, *given]
            yield f"fit krr, {kind}", ["fit", "krr", x, "--labels", values, "--task", "values", *given]
    x, classes, values = table(folder, 10000, 20)
    for given in (["--penalty", 1], []):
        kind = "10000 x 20, 300 landmarks" + (", search" if not given else "")
        for machine in ("svm", "logistic"):
            yield f"fit {machine} lla, {kind}", ["fit", machine, x, "--labels", classes, "--approach", "lla", "--landmarks", 300, *given]
        yield f"fit krr ncr, {kind}", ["fit", "krr", x, "--labels", values, "--task", "values", "--landmarks", 300, "--approach", "ncr", *given]


def row(program, words, folder):
    """Planned and true seconds, planned and true megabytes."""
    command = [program, *words, "--threads", 1, "--quiet"]
    model = ["--model", folder / "out.model"] if words[0] == "fit" else []
    _, planning, _, plan = common.measured([*command, *model, "--dry-run", "--json"], 1)
    _, running, peak, _ = common.measured([*command, *model], 1, limit=300, codes=(0, 1))
    plan = json.loads(plan)
    return plan["seconds"], max(running - planning, 0.01), plan["bytes"] / 2**20, peak


def within(plan, truth, factor, little):
    return truth / factor <= plan <= factor * truth or abs(plan - truth) <= little


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--program", type=Path, help="the release build by default")
    options.add_argument("--out", type=Path)
    options.add_argument("--only", default="")
    given = options.parse_args()
    if given.program is None:
        common.build()
    program = given.program or common.TARGET / "lopsided"
    common.WORK.mkdir(exist_ok=True)
    lines = ["| run | plan, s | truth, s | plan / truth | plan, MB | truth, MB | plan / truth |", "| --- | --- | --- | --- | --- | --- | --- |"]
    good, held, count = 0, 0, 0
    for name, words in problems(common.WORK):
        if given.only not in name:
            continue
        plan, truth, planned, peak = row(program, words, common.WORK)
        near, fits = within(plan, truth, 2, LITTLE), within(planned, peak, 1.5, SMALL)
        good, held, count = good + near, held + fits, count + 1
        seconds = f"{plan:.2f} | {truth:.2f} | {plan / truth:.2f}{'' if near else ' (off)'}"
        megabytes = f"{planned:.0f} | {peak:.0f} | {planned / peak:.2f}{'' if fits else ' (off)'}"
        lines.append(f"| {name} | {seconds} | {megabytes} |")
        print(lines[-1], file=sys.stderr, flush=True)
    lines += ["", f"Of {count} runs {good} took the planned seconds within a factor of 2 or {LITTLE} s, and {held} the planned bytes within a factor of "
              f"1.5 or {SMALL} MB; one thread, `python3 benchsuite/plans.py`."]
    common.publish(lines, given.out)


if __name__ == "__main__":
    sys.exit(main())
