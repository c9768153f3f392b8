#!/usr/bin/env python3
"""What cross-validation of AsK-LS costs: 5 parts and 30 penalties in one command, beside fits with each penalty.

    benchsuite/folds.py [--samples 2000] [--penalties 30] [--rounds 3] [--program FILE] [--threads 2] [--out FILE.md]

A generated table of 10 columns and 3 classes. Nothing of a part is seen by what is learned for it, the weights of stacking included;
"alone" is what a fit for every part and penalty would cost: parts · penalties · 4/5 of the time of a fit. Processor seconds of the whole
command, the least of all rounds. Without --program a release build is made. Needs numpy.
"""
import argparse
import json
import platform
import sys

from common import WORK, asked, measured, numpy, publish, with_program

np = numpy()
PARTS = 5


def table(samples):
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 10, 3))
    x = rng.normal(size=(samples, 10))
    file = WORK / f"folds-{samples}.csv"
    rows = np.c_[x, (np.tanh(x @ one) + np.sin(2 * x @ other)).argmax(1)]
    np.savetxt(file, rows, delimiter=",", header=",".join([f"x{i}" for i in range(10)] + ["label"]), comments="", fmt=["%.17g"] * 10 + ["%d"])
    return file


def seconds(options, file, merge, words):
    """The least processor seconds of a fit, and its report."""
    command = [options.program, "fit", "ask-ls", file, "--target", "label", "--merge", merge, *words, "--model", WORK / "folds.model", "--json", "--quiet"]
    rounds = [measured(command, options.threads) for _ in range(options.rounds)]
    return min(cpu for _, cpu, _, _ in rounds), json.loads(rounds[0][3])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=lambda text: [int(v) for v in text.split(",")], default=[500, 2000, 5000])
    parser.add_argument("--penalties", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = with_program(parser)
    values = [f"{v:.4g}" for v in np.logspace(-2, 2, options.penalties)]
    lines = ["# What cross-validation of AsK-LS costs", "", f"`benchsuite/folds.py {asked()}`, {platform.machine()}, {options.threads} threads. {PARTS} parts.", "",
             f"| samples | merge | a fit, s | 1 penalty, s | {len(values)} penalties, s | in fits | alone, s | alone / {len(values)} penalties | chosen |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for samples in options.samples:
        file = table(samples)
        for merge in ("average", "stack"):
            fit = np.mean([seconds(options, file, merge, ["--penalty", v])[0] for v in (values[0], values[-1])])
            single, _ = seconds(options, file, merge, ["--cv", PARTS, "--grid", "penalty=1"])
            path, report = seconds(options, file, merge, ["--cv", PARTS, "--grid", "penalty=" + ",".join(values)])
            alone = PARTS * len(values) * 0.8 * fit
            lines.append(f"| {samples} | {merge} | {fit:.2f} | {single:.2f} | {path:.2f} | {path / fit:.1f} | {alone:.1f} | {alone / path:.1f} | "
                         f"{report['params']['penalty']:.3g} |")
            print(lines[-1], file=sys.stderr, flush=True)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
