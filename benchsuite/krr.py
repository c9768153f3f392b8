#!/usr/bin/env python3
"""Kernel ridge regression of a file that is never held, against the exact machine on a part of it.

    benchsuite/krr.py [--rows 1000000] [--landmarks 2000] [--part 8000] [--out FILE.md]

Rows of 20 normal numbers and a smooth target with noise, written to .npy files once. Penalty and bandwidth are chosen by
cross-validation on a quarter as many rows as the part has; the test error of all rows with landmarks must be at most 2 % above that of the exact machine, in 3 GB.
Needs numpy (python3 -m pip install numpy).
"""
import os
import platform
import sys

from common import WORK, build, numpy, options, publish, report

np = numpy()
WIDTH, NOISE, TEST = 20, 0.3, 20_000


def target(x):
    """A smooth function of all columns."""
    return np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * np.tanh(x[:, 3:].sum(1) / 2)


def data(name, rows, seed):
    """Samples and targets with noise as files."""
    x_path, y_path = WORK / f"krr-{name}-{rows}.npy", WORK / f"krr-{name}-{rows}.csv"
    if not (x_path.exists() and y_path.exists()):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((rows, WIDTH))
        y = target(x) + NOISE * rng.standard_normal(rows)
        np.save(x_path, x)
        y_path.write_text("row,label\n" + "".join(f"{i},{float(v)!r}\n" for i, v in enumerate(y)))
    return x_path, y_path


def main():
    chosen = options(__doc__, rows=1_000_000, landmarks=2000, part=8000)
    build()
    all_rows, part, test = data("all", chosen.rows, 0), data("part", chosen.part, 1), data("test", TEST, 2)
    values = ["--labels", None, "--task", "values", "--kernel", "rbf"]

    def fit(files, model, *more):
        words = [word if word is not None else files[1] for word in values]
        found = report("fit", "krr", files[0], *words, *more, "--model", WORK / model)
        error = report("predict", WORK / model, test[0], "--labels", test[1], "--out", WORK / "krr.predictions")["rmse"]
        return found, error

    small = data("small", chosen.part // 4, 3)
    grid = ["gamma=0.003,0.01,0.03", "penalty=0.1,1,10"]
    tuned = fit(small, "krr-tuned", "--approach", "exact", "--cv", "5", "--grid", *grid)[0]["params"]
    settings = ["--gamma", tuned["gamma"], "--penalty", tuned["penalty"]]
    exact, exact_error = fit(part, "krr-exact", "--approach", "exact", *settings)
    streamed, error = fit(all_rows, "krr-all", "--stream", "--landmarks", chosen.landmarks, *settings)
    lines = [
        f"`benchsuite/krr.py --rows {chosen.rows} --landmarks {chosen.landmarks} --part {chosen.part}`, "
        f"{platform.machine()}, {os.cpu_count()} cores, gamma {tuned['gamma']}, penalty {tuned['penalty']}, noise {NOISE}\n",
        "| machine | rows | seconds | peak MB | test RMSE |", "| --- | --- | --- | --- | --- |",
        f"| exact | {chosen.part} | {exact['seconds']:.1f} | {exact['peak_bytes'] / 1e6:.0f} | {exact_error:.4f} |",
        f"| {chosen.landmarks} landmarks, streamed | {chosen.rows} | {streamed['seconds']:.1f} "
        f"| {streamed['peak_bytes'] / 1e6:.0f} | {error:.4f} |",
    ]
    publish(lines, chosen.out)
    sys.exit(0 if error <= 1.02 * exact_error and streamed["peak_bytes"] < 3e9 else 1)


if __name__ == "__main__":
    main()
