#!/usr/bin/env python3
"""Exact kernel machines (no landmarks) on generated tables, beside scikit-learn's.

    benchsuite/exact.py [--sizes 5000,10000] [--classes 2,5] [--penalty 10] [--peers 10000] [--limit 900]
                        [--program FILE] [--threads 2] [--out FILE.md]

Tables have 10 normal columns; a class is the largest of as many noisy functions. Each machine learns from so many rows by the
RBF kernel (ask-ls: SNE) with the bandwidth that lopsided takes by itself, and is scored on 2000 others. lopsided's time is that of the whole
command, files included; scikit-learn's starts with NumPy arrays and ends with the fit. `--peers` is the largest size that
scikit-learn is asked for. Without --program a release build is made. Needs numpy and scikit-learn.
"""
import argparse
import json
import platform
import sys
from pathlib import Path

from common import WORK, TooSlow, asked, measured, numpy, publish, with_program

np = numpy()
TESTED = 2000
PEER = """
import json, sys, time
import numpy as np
kind, train, test, gamma, penalty = sys.argv[1:4] + [float(v) for v in sys.argv[4:]]
train, test = np.load(train), np.load(test)
mean, deviation = train[:, :-1].mean(0), train[:, :-1].std(0)
x, z, y = (train[:, :-1] - mean) / deviation, (test[:, :-1] - mean) / deviation, train[:, -1].astype(int)
start = time.process_time()
if kind == "svc":
    from sklearn.svm import SVC
    found = SVC(C=penalty, gamma=gamma, cache_size=1000).fit(x, y)
else:
    from sklearn.kernel_ridge import KernelRidge
    targets = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    found = KernelRidge(alpha=1 / penalty, kernel="rbf", gamma=gamma).fit(x, targets)
spent = time.process_time() - start
said = found.predict(z)
said = said if kind == "svc" else said.argmax(1)
print(json.dumps({"accuracy": float((said == test[:, -1]).mean()), "cpu": spent}))
"""


def table(samples, classes):
    """Rows to learn from and rows to be tested on, as .npy and .csv."""
    name = WORK / f"exact-{samples}-{classes}"
    if not Path(f"{name}-test.csv").exists():
        rng = np.random.default_rng(1)
        x = rng.normal(size=(samples + TESTED, 10))
        one, other = rng.normal(size=(2, 10, classes))
        labels = (np.tanh(x @ one) + np.sin(2 * x @ other) + 0.3 * rng.normal(size=(len(x), classes))).argmax(1)
        rows = np.c_[x, labels]
        header = ",".join([f"x{i}" for i in range(10)] + ["label"])
        for part, of in (("train", rows[:samples]), ("test", rows[samples:])):
            np.save(f"{name}-{part}.npy", of)
            np.savetxt(f"{name}-{part}.csv", of, delimiter=",", fmt=["%.17g"] * 10 + ["%d"], header=header, comments="")
    return name


def ours(program, machine, name, options):
    """Seconds, processor seconds, peak MB, route with its iterations, residual, accuracy and gamma of a machine."""
    model = WORK / "exact.model"
    command = [program, "fit", machine, f"{name}-train.csv", "--target", "label", "--model", model, "--json", "--quiet"]
    if machine == "krr":
        command += ["--approach", "exact", "--task", "classes"]
    if options.penalty:
        command += ["--penalty", options.penalty]
    seconds, cpu, memory, out = measured(command, options.threads, options.limit, codes=(0, 1))
    report = json.loads(out)
    params = report["params"]
    route = params.get("route") or params.get("solver", "dense")
    steps = params.get("iterations") or params.get("steps")
    command = [program, "predict", model, f"{name}-test.csv", "--target", "label", "--json", "--quiet"]
    accuracy = json.loads(measured(command, options.threads)[3])["accuracy"]
    residual = params.get("residual")
    said = f"{route}, {steps} iterations" if steps else route
    return {"seconds": seconds, "cpu": cpu, "memory": memory, "route": said, "gamma": params.get("gamma"), "accuracy": accuracy,
            "residual": f"{residual:.1e}" if residual is not None else "", "converged": report["converged"],
            "penalty": params.get("penalty")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    number_list = lambda text: [int(v) for v in text.split(",")]
    parser.add_argument("--sizes", type=number_list, default=[5000, 10000])
    parser.add_argument("--classes", type=number_list, default=[2, 5])
    parser.add_argument("--machines", type=lambda text: text.split(","), default=["ls-svm", "ask-ls", "krr"])
    parser.add_argument("--penalty", type=float, help="default: what each machine chooses by itself; scikit-learn then takes 10")
    parser.add_argument("--peers", type=int, default=10000)
    parser.add_argument("--limit", type=float, default=900, help="seconds that one command may take")
    options = with_program(parser)
    program = options.program
    lines = ["# Exact kernel machines", "", f"`benchsuite/exact.py {asked()}`, {platform.machine()}, {options.threads} threads. Time is that of the clock and "
             "of the processor; lopsided's includes files and, without --penalty, the choice of the penalty.", "",
             "| machine | samples | classes | penalty | route | seconds | processor seconds | MB | residual | accuracy |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for samples in options.sizes:
        for classes in options.classes:
            name, gamma = table(samples, classes), None
            for machine in options.machines:
                try:
                    found = ours(program, machine, name, options)
                except TooSlow:
                    lines.append(f"| lopsided {machine} | {samples} | {classes} | | | more than {options.limit:.0f} | | | | |")
                    continue
                gamma = found["gamma"] if machine != "ask-ls" else gamma
                solved = "" if found["converged"] else ", not converged"
                lines.append(f"| lopsided {machine} | {samples} | {classes} | {found['penalty']:.3g} | {found['route']}{solved} | {found['seconds']:.1f} | "
                             f"{found['cpu']:.1f} | {found['memory']:.0f} | {found['residual']} | {found['accuracy']:.3f} |")
                print(lines[-1], file=sys.stderr)
            for kind, label in (("svc", "scikit-learn SVC"), ("ridge", "scikit-learn KernelRidge")):
                if samples > options.peers or gamma is None:
                    continue
                penalty = options.penalty or 10.0
                command = [sys.executable, "-c", PEER, kind, f"{name}-train.npy", f"{name}-test.npy", gamma, penalty]
                seconds, _, memory, out = measured(command, options.threads)
                said = json.loads(out)
                lines.append(f"| {label} | {samples} | {classes} | {penalty:.3g} | | {seconds:.1f} | {said['cpu']:.1f} | {memory:.0f} | | "
                             f"{said['accuracy']:.3f} |")
                print(lines[-1], file=sys.stderr)
    publish(lines, options.out)


if __name__ == "__main__":
    main()
