#!/usr/bin/env python3
"""What the choice of a penalty costs: a default fit beside the fit that is given the penalty so chosen.

    LOPSIDED_DATA=../shared/data benchsuite/search_cost.py [--tables pima,spambase:1500] [--graphs cora] [--machines krr,svm]
                                  [--rounds 3] [--program FILE] [--threads 2] [--out FILE.md]

`spambase:1500` means 1500 of its rows, drawn with one seed. Processor seconds are those of the whole command, files included, the
least of all rounds. Without --program a release build is made. Needs numpy.
"""
import argparse
import csv
import gzip
import json
import os
import platform
import sys
from pathlib import Path

from common import WORK, asked, measured, numpy, publish, with_program

np = numpy()


def table(name):
    """The file of a table's rows, or of some of them."""
    name, _, count = name.partition(":")
    source = next(iter(sorted((Path(os.environ["LOPSIDED_DATA"]) / name).glob("data.csv*"))))
    with (gzip.open(source, "rt", newline="") if source.suffix == ".gz" else open(source, newline="")) as file:
        header, *rows = csv.reader(file)
    order = np.random.default_rng(0).permutation(len(rows))[: int(count) if count else None]
    out = WORK / f"search-{name}-{len(order)}.csv"
    with open(out, "w", newline="") as file:
        csv.writer(file).writerows([header, *(rows[i] for i in order)])
    return [out], len(order)


def graph(name):
    """The words that name a graph's links and labels."""
    folder = Path(os.environ["LOPSIDED_DATA"]) / name
    labels = folder / "labels.csv"
    return [next(iter(sorted(folder.glob("edges.csv*")))), "--labels", labels], sum(1 for _ in open(labels)) - 1


def fitted(options, machine, words, penalty=None):
    """The report of a fit and its processor seconds, the least of all rounds."""
    command = [options.program, "fit", machine, *words, "--model", WORK / "search.model", "--json", "--quiet"]
    command += [] if penalty is None else ["--penalty", penalty]
    command += ["--task", "classes"] if machine == "krr" else []
    rounds = [measured(command, options.threads, codes=(0, 1)) for _ in range(options.rounds)]
    return json.loads(rounds[0][3]), min(cpu for _, cpu, _, _ in rounds)


def main():
    words = lambda text: [word for word in text.split(",") if word]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=words, default=words("pima,sonar,spambase:1500,phishing:1500,usps:1500,spambase,phishing:5000"))
    parser.add_argument("--graphs", type=words, default=["cora"])
    parser.add_argument("--machines", type=words, default=words("krr,ls-svm,svm,logistic,ask-ls,kernel-svd"))
    parser.add_argument("--rounds", type=int, default=3)
    options = with_program(parser)
    lines = ["# What the choice of a penalty costs", "", f"`benchsuite/search_cost.py {asked()}`, {platform.machine()}, {options.threads} threads, "
             f"the least of {options.rounds} rounds.", "",
             "| data | samples | machine | chosen penalty | processor seconds of the default fit | of the fit with that penalty | ratio |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, of in [(name, table) for name in options.tables] + [(name, graph) for name in options.graphs]:
        data, samples = of(name)
        for machine in options.machines:
            if of is graph and machine == "krr":
                continue  # its kernels are those of positions
            report, default = fitted(options, machine, data)
            penalty = report["params"]["penalty"]
            _, single = fitted(options, machine, data, penalty)
            lines.append(f"| {name.partition(':')[0]} | {samples} | {machine} | {penalty:.3g} | {default:.2f} | {single:.2f} | {default / single:.1f} |")
            print(lines[-1], file=sys.stderr, flush=True)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
