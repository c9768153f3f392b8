"""Node features together with links, and walks of several steps.

    LOPSIDED_DATA=../shared/data python3 benchsuite/features.py --program target/release/lopsided --out features.md

Nodes with a class are split 80 : 20 by one seed, stratified; every command has its default options. Links alone and both are
`fit ESTIMATOR edges.csv`, without and with `--features`; features alone is the same with `--feature-weight 1`, and `fit svm` of the matrix
of features. The second part embeds the links with walks of 1 to 8 steps and classifies the nodes by logistic regression on
both sides of the embedding: `held out` is a fifth of the training nodes, by which a number of steps may be chosen, `test` the
nodes that no choice sees.
"""

import argparse
import os
import platform
import tempfile
from pathlib import Path

import numpy as np
from common import Program, rows_of, write
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STEPS = [1, 2, 4, 8]
#: The default, RBF on rows and columns of unit length, and the matrix of the walk itself.
KERNELS = ["rbf", "precomputed"]
RANKS = [10, 30, 100]


def found(folder, name):
    """The file, plain or gzipped."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.exists()), None)


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

    def score(self, program, estimator, *options, table=False):
        """Test accuracy, seconds of the fit, and the weight of the features."""
        data = [self.features] if table else [self.edges, "--nodes", self.work / "nodes.txt"]
        fit, seconds = program.json("fit", estimator, *data, "--labels", self.learn, *options, "--model", self.work / "m")
        if fit is None:
            return None, seconds, ""
        answer, _ = program.json("predict", self.work / "m", data[0], "--ids", self.work / "test.txt", "--labels", self.truth)
        return answer and answer["accuracy"], seconds, fit.get("params", {}).get("feature-weight", "")

    def embedded(self, program, steps, rank, kernel, seed):
        """Held-out and test accuracy on both sides of an embedding of the links."""
        out = [self.work / "u.csv", self.work / "v.csv"]
        words = ["embed", self.edges, "--nodes", self.work / "nodes.txt", "--walk", steps, "--rank", rank, "--kernel", kernel]
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


def together(nodes, name, program, estimator):
    """A line of the first table, and whether both together win."""
    features = ["--features", nodes.features]
    links = nodes.score(program, estimator)
    own = nodes.score(program, estimator, *features, "--feature-weight", 1)
    svm = nodes.score(program, "svm", table=True)
    both = nodes.score(program, estimator, *features)
    alone = [score for score, _, _ in (links, own, svm) if score is not None]
    better = both[0] is not None and all(both[0] > score for score in alone)
    cells = [name, estimator, *[shown(found[0]) for found in (links, own, svm, both)], str(both[2]), "yes" if better else "no"]
    times = " / ".join(f"{found[1]:.0f}" for found in (links, own, svm, both))
    return f"| {' | '.join(cells)} | {times} |", better


def curve(nodes, name, program, rank, kernel, seed):
    scores = [nodes.embedded(program, steps, rank, kernel, seed) for steps in STEPS]
    cells = [f"{shown(held)} / {shown(test)} ({seconds:.0f} s)" for held, test, seconds in scores]
    return f"| {name} | {kernel} | {rank} | {' | '.join(cells)} |"


def page(args, lines, curves):
    machine = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}"
    won = sum(better for _, better in lines)
    return [
        "# Node features together with links, and walks of several steps", "",
        f"`python3 benchsuite/features.py --estimators {' '.join(args.estimators)} --seed {args.seed} --limit {args.limit:g}` on {machine}.", "",
        *__doc__.splitlines()[4:], "",
        f"Accuracy on test nodes; both together are above each alone in {won} of {len(lines)} lines. – did not end within the limit.", "",
        "| set | estimator | links | features | features, svm | both | weight of features | best | seconds of the fits |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |", *[line for line, _ in lines], "",
        "Accuracy by the steps of the walk, held out / test (seconds of the embedding).", "",
        f"| set | kernel | rank | {' | '.join(f'{k} steps' if k > 1 else '1 step' for k in STEPS)} |",
        f"| --- | --- | --- |{' --- |' * len(STEPS)}", *curves, "",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/lopsided")
    parser.add_argument("--data", type=Path, default=os.environ.get("LOPSIDED_DATA"))
    parser.add_argument("--only", nargs="*", help="sets of the first part; all that have links, labels and features")
    parser.add_argument("--walks", nargs="*", default=["cora", "citeseer", "pubmed"], help="sets of the second part")
    parser.add_argument("--estimators", nargs="+", default=["ls-svm"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=900, help="seconds that a command may take")
    parser.add_argument("--out", type=Path, help="a page with both tables")
    args = parser.parse_args()
    if args.data is None:
        parser.error("--data or LOPSIDED_DATA names the folder of the sets")
    program = Program(args.program, args.limit)
    folders = sorted(path for path in Path(args.data).iterdir() if path.is_dir() and found(path, "edges.csv"))
    sets = [path for path in folders if found(path, "features.mtx") and (args.only is None or path.name in args.only)]
    lines, curves = [], []

    def said(line):
        print(line, flush=True)
        if args.out:
            args.out.write_text("\n".join(page(args, lines, curves)))

    with tempfile.TemporaryDirectory() as work:
        for folder in sorted(sets, key=lambda path: found(path, "features.mtx").stat().st_size):
            nodes = Nodes(folder, Path(work), args.seed)
            for estimator in args.estimators:
                lines.append(together(nodes, folder.name, program, estimator))
                said(lines[-1][0])
        for folder in (path for path in folders if path.name in args.walks):
            nodes = Nodes(folder, Path(work), args.seed)
            for kernel, rank in ((kernel, rank) for kernel in KERNELS for rank in RANKS):
                curves.append(curve(nodes, folder.name, program, rank, kernel, args.seed))
                said(curves[-1])


if __name__ == "__main__":
    main()
