#!/usr/bin/env python3
"""What `auto` gives on both sides of every number of samples at which it changes its way, beside each route it could have taken.

    benchsuite/thresholds.py [--sizes 499,500,501] [--machines ls-svm,ask-ls] [--penalties 1,100] [--routes dense,minres]
                             [--program FILE] [--threads 2] [--out FILE.md]

The decision values of 500 other rows of a generated table (10 columns, 3 classes) are compared: the column "off" is the largest
difference from those of `auto`, relative to the largest of these. Without --program a release build is made. Needs numpy.
"""
import argparse
import json
import platform
import sys
from pathlib import Path

from common import WORK, TooSlow, asked, measured, numpy, publish, with_program

np = numpy()
TESTED = 500


def table(samples):
    """Files of rows to learn from and of rows to be tested on; the rows of a smaller table are the first of a larger one."""
    rng = np.random.default_rng(7)
    one, other = rng.normal(size=(2, 10, 3))
    x = rng.normal(size=(TESTED + samples, 10))
    labels = (np.tanh(x @ one) + np.sin(2 * x @ other)).argmax(1)
    header = ",".join([f"x{i}" for i in range(10)] + ["label"])
    files = WORK / f"thresholds-{samples}.csv", WORK / "thresholds-test.csv"
    for file, part in zip(files, (slice(TESTED, None), slice(0, TESTED))):
        np.savetxt(file, np.c_[x, labels][part], delimiter=",", fmt=["%.17g"] * 10 + ["%d"], header=header, comments="")
    return files


def decisions(program, machine, files, options, route, penalty):
    """Decision values, report and processor seconds of a machine by a route."""
    model = WORK / "thresholds.model"
    command = [program, "fit", machine, files[0], "--target", "label", "--route", route, "--penalty", penalty, "--model", model, "--json", "--quiet"]
    if machine == "ask-ls":
        command += ["--merge", "average"]
    _, cpu, _, out = measured(command, options.threads, options.limit, codes=(0, 1))
    command = [program, "predict", model, files[1], "--target", "label", "--scores", "--json", "--quiet"]
    said = json.loads(measured(command, options.threads)[3])
    return np.array(said["scores"], dtype=float), json.loads(out), cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=lambda t: [int(v) for v in t.split(",")], default=[499, 500, 501, 4999, 5000, 5001])
    parser.add_argument("--machines", type=lambda t: t.split(","), default=["ls-svm", "ask-ls"])
    parser.add_argument("--penalties", type=lambda t: [float(v) for v in t.split(",")], default=[1.0, 100.0])
    parser.add_argument("--routes", type=lambda t: t.split(","), default=["dense", "krylov", "minres"])
    parser.add_argument("--limit", type=float, default=600, help="seconds that one fit may take")
    options = with_program(parser)
    program = options.program
    lines = ["# `auto` across thresholds", "", f"`benchsuite/thresholds.py {asked()}`, {platform.machine()}, {options.threads} threads.", "",
             "| machine | samples | penalty | route asked for | route taken | iterations | residual | condition | off | processor seconds |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for machine in options.machines:
        for samples in options.sizes:
            files = table(samples)
            for penalty in options.penalties:
                usual = None
                for route in ["auto", *options.routes]:
                    start = f"| {machine} | {samples} | {penalty:g} | {route} |"
                    try:
                        found, report, cpu = decisions(program, machine, files, options, route, penalty)
                    except TooSlow:
                        lines.append(f"{start} more than {options.limit:.0f} s | | | | | |")
                        continue
                    usual = found if usual is None else usual
                    off = np.abs(found - usual).max() / np.abs(usual).max()
                    params = report["params"]
                    solved = "" if report["converged"] else ", not converged"
                    lines.append(f"{start} {params['route']}{solved} | {params.get('iterations', '')} | {params['residual']:.1e} | "
                                 f"{report.get('condition') or float('inf'):.1e} | {off:.1e} | {cpu:.1f} |")
                    print(lines[-1], file=sys.stderr)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
