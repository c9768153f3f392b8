"""Node features together with links, and walks of several steps.

    LOPSIDED_DATA=../shared/data python3 benchsuite/features.py --program target/release/lopsided --out features.md

Nodes with a class are split 80 : 20 by one seed, stratified; every command has its default options. Links alone and both together
are `fit ESTIMATOR edges.csv`, without and with `--features`; features alone is the same estimator, and `svm`, on the matrix of features. The second
part embeds the links with walks of 1 to 5 steps and classifies the nodes by logistic regression on both sides of the embedding: `held out` is a fifth of
the training nodes, by which a number of steps may be chosen, `test` the nodes that no choice sees.
"""

import argparse
import csv
import gzip
import json
import os
import platform
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STEPS = [1, 2, 3, 5]
RANKS = [10, 30, 100]


def found(folder, name):
    """The file, plain or gzipped."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.exists()), None)


def rows_of(path):
    with (gzip.open(path, "rt") if path.suffix == ".gz" else open(path, newline="")) as file:
        return list(csv.reader(file))[1:]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


class Program:
    def __init__(self, path, limit):
        self.path, self.limit = path, limit

    def json(self, *words):
        """What the program prints, and its seconds; None where it fails or takes too long."""
        start = time.perf_counter()
        try:
            done = subprocess.run([self.path, *map(str, words), "--json", "--quiet"], capture_output=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            return None, self.limit
        if done.returncode > 1:
            print("   ", " ".join(map(str, words)), done.stderr.decode().strip()[:300], flush=True)
            return None, time.perf_counter() - start
        return json.loads(done.stdout), time.perf_counter() - start


class Nodes:
    """A graph with classes, split once."""

    def __init__(self, folder, work, seed):
        self.edges, self.features, self.work = found(folder, "edges.csv"), found(folder, "features.mtx"), work
        labels = dict(row[:2] for row in rows_of(found(folder, "labels.csv")))
        self.ids, self.y = np.array(list(labels)), np.array(list(labels.values()))
        self.train, self.test = train_test_split(np.arange(len(self.y)), test_size=0.2, random_state=seed, stratify=self.y)
        self.learn, self.truth = (
            write(work / f"{name}.csv", ["node", "label"], zip(self.ids[part], self.y[part]))
            for name, part in (("learn", self.train), ("truth", self.test))
        )
        (work / "test.txt").write_text("\n".join(self.ids[self.test]))
        (work / "nodes.txt").write_text("\n".join(self.ids))

    def score(self, program, estimator, links, features):
        """Test accuracy, seconds of the fit, and what was chosen."""
        data = [self.edges, "--nodes", self.work / "nodes.txt"] if links else [self.features]
        extra = ["--features", self.features] if links and features else []
        fit, seconds = program.json("fit", estimator, *data, "--labels", self.learn, *extra, "--model", self.work / "m")
        if fit is None:
            return None, seconds, ""
        answer, _ = program.json("predict", self.work / "m", data[0], "--ids", self.work / "test.txt", "--labels", self.truth)
        return answer and answer["accuracy"], seconds, fit.get("params", {}).get("feature-weight", "")

    def embedded(self, program, steps, rank, seed):
        """Held-out and test accuracy on both sides of an embedding of the links."""
        out = [self.work / "u.csv", self.work / "v.csv"]
        words = ["embed", self.edges, "--nodes", self.work / "nodes.txt", "--walk", steps, "--rank", rank]
        made, seconds = program.json(*words, "--rows-out", out[0], "--cols-out", out[1])
        if made is None:
            return None, None, seconds
        sides = [{row[0]: row[1:] for row in rows_of(path)} for path in out]
        values = np.array([[*sides[0][i], *sides[1][i]] for i in self.ids], dtype=float)
        known, held = train_test_split(self.train, test_size=0.2, random_state=seed, stratify=self.y[self.train])

        def accuracy(train, test):
            machine = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
            return machine.fit(values[train], self.y[train]).score(values[test], self.y[test])

        return accuracy(known, held), accuracy(self.train, self.test), seconds


def shown(score, digits=3):
    return "–" if score is None else f"{score:.{digits}f}"


def together(sets, program, estimators, work, seed):
    """Lines of the first table, and how often both together win."""
    lines, won, counted = [], 0, 0
    for folder in sets:
        nodes = Nodes(folder, work, seed)
        for estimator in estimators:
            links, t_links, _ = nodes.score(program, estimator, True, False)
            own, t_own, _ = nodes.score(program, estimator, False, True)
            svm, t_svm, _ = (own, t_own, "") if estimator == "svm" else nodes.score(program, "svm", False, True)
            both, t_both, weight = nodes.score(program, estimator, True, True)
            alone = [score for score in (links, own, svm) if score is not None]
            better = both is not None and all(both > score for score in alone)
            won, counted = won + better, counted + 1
            cells = [folder.name, estimator, shown(links), shown(own), shown(svm), shown(both), str(weight), "yes" if better else "no"]
            times = " / ".join(f"{t:.0f}" for t in (t_links, t_own, t_svm, t_both))
            lines.append(f"| {' | '.join(cells)} | {times} |")
            print(lines[-1], flush=True)
    return lines, won, counted


def walks(sets, program, work, seed):
    lines = []
    for folder in sets:
        nodes = Nodes(folder, work, seed)
        for rank in RANKS:
            scores = [nodes.embedded(program, steps, rank, seed) for steps in STEPS]
            cells = [f"{shown(held)} / {shown(test)} ({seconds:.0f} s)" for held, test, seconds in scores]
            lines.append(f"| {folder.name} | {rank} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/lopsided")
    parser.add_argument("--data", type=Path, default=os.environ.get("LOPSIDED_DATA"))
    parser.add_argument("--only", nargs="*", help="sets of the first part; all that have links, labels and features")
    parser.add_argument("--walks", nargs="*", default=["cora", "citeseer", "pubmed"], help="sets of the second part")
    parser.add_argument("--estimators", nargs="+", default=["ask-ls"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=900, help="seconds that a command may take")
    parser.add_argument("--out", type=Path, help="a page with both tables")
    args = parser.parse_args()
    if args.data is None:
        parser.error("--data or LOPSIDED_DATA names the folder of the sets")
    program = Program(args.program, args.limit)
    folders = sorted(path for path in Path(args.data).iterdir() if path.is_dir() and found(path, "edges.csv"))
    sets = [path for path in folders if found(path, "features.mtx") and (args.only is None or path.name in args.only)]
    with tempfile.TemporaryDirectory() as work:
        lines, won, counted = together(sets, program, args.estimators, Path(work), args.seed)
        curves = walks([path for path in folders if path.name in args.walks], program, Path(work), args.seed)
    if args.out:
        machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
        page = [
            "# Node features together with links, and walks of several steps", "",
            f"`python3 benchsuite/features.py --estimators {' '.join(args.estimators)} --seed {args.seed}` on {machine}.",
            *[line for line in __doc__.splitlines()[4:]], "",
            f"Accuracy on test nodes; both together are above each alone in {won} of {counted} lines.", "",
            "| set | estimator | links | features | features, svm | both | weight of features | best | seconds of the fits |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- |", *lines, "",
            "Accuracy by the steps of the walk, held out / test (seconds of the embedding).", "",
            f"| set | rank | {' | '.join(f'{k} steps' if k > 1 else '1 step' for k in STEPS)} |",
            f"| --- | --- |{' --- |' * len(STEPS)}", *curves, "",
        ]
        args.out.write_text("\n".join(page))


if __name__ == "__main__":
    main()
