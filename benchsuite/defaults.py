"""The first answer: every estimator and task with no options, beside itself tuned and beside what a scikit-learn user types.

    LOPSIDED_DATA=../shared/data python3 benchsuite/defaults.py --program target/release/lopsided --results r.json --out page.md

Rows of tables (three splits), and nodes with a class (one), are split 80 : 20, stratified where there are classes; `tuned` is the same
program with `--cv 3`, which sees the training part only, and it is left out for graphs of more than 5000 nodes (`--largest`). Peers:
StandardScaler + SVC or logistic regression on tables, StandardScaler + Ridge for values, TruncatedSVD of the links + SVC on graphs,
TruncatedSVD for embeddings and held-out links, k-means on tf-idf for documents and on the rows of a generated matrix.

The estimator that speaks for a set is fixed beforehand: `ls-svm` for classes, of rows and of nodes, `krr` for values; all others are
shown beside it. Generated sets: a graph whose groups link to the next one on a cycle, bilinear pairs, a matrix of blocks, and four
tables of values (Friedman's three functions with noise, and a linear one).

`--results` keeps what was measured, line by line, so that a run may be cut into pieces: pieces with the same file add up, and the page
is made of all of them.
"""

import argparse
import csv
import gzip
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from common import Program
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3, make_regression
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import normalized_mutual_info_score, r2_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

CLASSIFIERS = ["ls-svm", "ask-ls", "svm", "logistic", "kernel-svd"]
REGRESSORS = ["krr", "ask-ls", "kernel-svd"]
#: Who speaks for a set, whatever the others reach.
SPEAKERS = {"classes": "ls-svm", "values": "krr", "nodes": "ls-svm"}


def edges_of(folder):
    """The edge list of a folder, gzipped or not; None for a set that is no graph."""
    return next(iter(sorted(folder.glob("edges.csv*"))), None)


def table_of(folder):
    return next(iter(sorted(folder.glob("data.csv*"))), None)


def opened(path):
    return gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="")


def graph_of(folder):
    edges = np.loadtxt(edges_of(folder), delimiter=",", skiprows=1, dtype=int, usecols=(0, 1))
    with open(folder / "labels.csv", newline="") as file:
        labels = dict(list(csv.reader(file))[1:])
    n = max(edges.max() + 1, max(map(int, labels)) + 1)
    links = sp.csr_matrix((np.ones(len(edges)), edges.T), shape=(n, n))
    return links, np.array(list(map(int, labels))), np.array(list(labels.values()))


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def nodes(folder, program, work, seed):
    """Accuracy on test nodes, by estimator: default, tuned."""
    links, ids, y = graph_of(folder)
    counts = Counter(y)
    kept = [i for i in range(len(y)) if counts[y[i]] >= 5]
    train, test = train_test_split(kept, test_size=0.2, random_state=seed, stratify=y[kept])
    learn = write(work / "learn.csv", ["node", "label"], zip(ids[train], y[train]))
    truth = write(work / "truth.csv", ["node", "label"], zip(ids[test], y[test]))
    (work / "test.txt").write_text("\n".join(map(str, ids[test])))
    (work / "nodes.txt").write_text("\n".join(map(str, ids)))

    def score(name, *options):
        words = ["--labels", learn, "--nodes", work / "nodes.txt", "--model", work / "m", *options]
        fit, seconds = program.json("fit", name, edges_of(folder), *words)
        if fit is None:
            return None, seconds
        found, _ = program.json("predict", work / "m", edges_of(folder), "--ids", work / "test.txt", "--labels", truth)
        return found and found.get("accuracy", found.get("micro_f1")), seconds

    both = sp.hstack([links, links.T]).tocsr()
    features = TruncatedSVD(100, random_state=0).fit_transform(both)
    peer = SVC().fit(features[ids[train]], y[train]).score(features[ids[test]], y[test])
    majority = max(np.mean(y[test] == c) for c in set(y))
    return score, "nodes", CLASSIFIERS, {"majority": majority, "TruncatedSVD + SVC": peer}


def table(folder, program, work, seed, most):
    with opened(table_of(folder)) as file:
        rows = list(csv.reader(file))
    header, rows = rows[0], [row for row in rows[1:] if all(word.strip().lower() not in ("", "nan", "?") for word in row)]
    rows = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))[:most]]
    x, y = np.array([r[:-1] for r in rows], dtype=float), np.array([r[-1] for r in rows])
    values = len(set(y)) > 20
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed, stratify=None if values else y)
    learn, new = (write(work / f"{n}.csv", header, [rows[i] for i in part]) for n, part in (("learn", train), ("test", test)))

    def score(name, *options):
        fit, seconds = program.json("fit", name, learn, "--model", work / "m", *options)
        found, _ = program.json("predict", work / "m", new) if fit else (None, 0)
        if found is None:
            return None, seconds
        if not values:
            return found.get("accuracy", found.get("micro_f1")), seconds
        return 1 - found["rmse"] ** 2 / np.var(y[test].astype(float)), seconds

    scaled = lambda machine: make_pipeline(StandardScaler(), machine).fit(x[train], z[train])
    if values:
        z = y.astype(float)
        return score, "values", REGRESSORS, {"majority": 0.0, "Ridge": r2_score(z[test], scaled(RidgeCV(np.logspace(-3, 3, 7))).predict(x[test]))}
    z = y
    peers = {"SVC": SVC(), "LogisticRegression": LogisticRegression(max_iter=2000)}
    found = {name: scaled(machine).score(x[test], z[test]) for name, machine in peers.items()}
    return score, "classes", CLASSIFIERS, {"majority": max(np.mean(y[test] == c) for c in set(y)), **found}


def embedding(folder, program, work, seed):
    """Accuracy of logistic regression on both sides of a default embedding, beside TruncatedSVD of the same rank."""
    links, ids, y = graph_of(folder)
    found, seconds = program.json("embed", edges_of(folder), "--rows-out", work / "u.npy", "--cols-out", work / "v.npy")
    if found is None:
        return None
    with opened(edges_of(folder)) as file:
        seen = list(dict.fromkeys(word for row in list(csv.reader(file))[1:] for word in row[:2]))
    numbers = sorted(map(int, seen))
    u, v = np.load(work / "u.npy"), np.load(work / "v.npy")
    order = numbers if len(u) == len(numbers) else range(len(u))
    place = {node: at for at, node in enumerate(order)}
    kept = np.array([i in place for i in ids])
    at, y = np.array([place[i] for i in ids[kept]]), y[kept]
    rank = found["rank"]
    peer = TruncatedSVD(2 * rank, random_state=0).fit_transform(sp.hstack([links, links.T]).tocsr())[ids[kept]]
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed, stratify=y)

    def accuracy(features):
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)).fit(features[train], y[train]).score(features[test], y[test])

    return accuracy(np.hstack([u, v])[at]), accuracy(peer), rank, seconds


def links(folder, program, seed):
    found, seconds = program.json("links", edges_of(folder), "--trials", 1, "--seed", seed)
    graph, _, _ = graph_of(folder)
    rng = np.random.default_rng(seed)
    pairs = np.array(graph.nonzero()).T
    held = rng.permutation(len(pairs))[: len(pairs) // 10]
    kept = graph.copy()
    kept[tuple(pairs[held].T)] = 0
    kept.eliminate_zeros()
    svd = TruncatedSVD(64, random_state=0)
    u, v = svd.fit_transform(kept), svd.components_.T
    none = rng.integers(graph.shape[0], size=(len(held), 2))
    none = none[np.asarray(graph[none[:, 0], none[:, 1]]).ravel() == 0]
    both = np.vstack([pairs[held], none])
    truth = np.r_[np.ones(len(held)), np.zeros(len(none))]
    ours = found and found["chosen"]["auroc"]["mean"]
    return ours, roc_auc_score(truth, (u[both[:, 0]] * v[both[:, 1]]).sum(1)), seconds


def biclusters(folder, program):
    matrix = next(folder.glob("features.mtx*"))
    with (gzip.open if matrix.suffix == ".gz" else open)(matrix) as file:
        a = sp.csr_matrix(scipy.io.mmread(file))
    with open(folder / "labels.csv", newline="") as file:
        y = np.array([row[1] for row in list(csv.reader(file))[1:]])
    k = len(set(y))
    ours = []
    for seed in range(3):
        found, seconds = program.json("bicluster", matrix, "--row-clusters", k, "--labels", folder / "labels.csv", "--seed", seed)
        ours.append(found["nmi"] if found else np.nan)
    tfidf = TfidfTransformer().fit_transform(abs(a))
    peer = [normalized_mutual_info_score(y, MiniBatchKMeans(k, random_state=s, n_init=3).fit_predict(tfidf)) for s in range(3)]
    return ours, peer, seconds


def cyclic(work):
    """A folder with a graph of four groups, each of which links to the next one."""
    rng, n = np.random.default_rng(0), 1000
    group = rng.permutation(n) % 4
    follows = (group[None, :] - group[:, None]) % 4 == 1
    source, target = np.nonzero((rng.random((n, n)) < 0.06) & follows)
    return generated(work, "cyclic graph (generated)", group, edges=np.c_[source, target])


def blocks(work):
    """A folder with a matrix of counts whose rows and columns fall into four groups each."""
    rng = np.random.default_rng(0)
    group = rng.permutation(400) % 4
    rate = 0.1 + 0.25 * (group[:, None] == np.arange(240)[None, :] % 4)
    return generated(work, "block matrix (generated)", group, matrix=rng.poisson(rate))


def curves(work):
    """Folders with tables of values: Friedman's three functions, and a linear one where Ridge is right."""
    tables = {
        "friedman1 (generated)": make_friedman1(500, noise=1.0, random_state=0),
        "friedman2 (generated)": make_friedman2(500, noise=100.0, random_state=0),
        "friedman3 (generated)": make_friedman3(500, noise=0.1, random_state=0),
        "linear (generated)": make_regression(500, 10, n_informative=5, noise=50.0, random_state=0),
    }
    for name, (x, y) in tables.items():
        folder = work / name
        folder.mkdir(exist_ok=True)
        header = [*(f"x{j}" for j in range(x.shape[1])), "target"]
        write(folder / "data.csv", header, [[f"{value:.9g}" for value in row] for row in np.c_[x, y]])
        yield folder


def generated(work, name, group, edges=None, matrix=None):
    folder = work / name
    folder.mkdir(exist_ok=True)
    write(folder / "labels.csv", ["node", "label"], enumerate(group.tolist()))
    if edges is not None:
        write(folder / "edges.csv", ["source", "target"], edges.tolist())
    if matrix is not None:
        scipy.io.mmwrite(folder / "features.mtx", sp.coo_matrix(matrix))
    return folder


def pairs(program, work):
    """R² of the second half of a stream of exactly bilinear labels, predicted before they are learned."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((6, 5))
    x, z = rng.standard_normal((2000, 6)), rng.standard_normal((2000, 5))
    y = np.einsum("ij,jk,ik->i", x, w, z)
    header = [f"x{j}" for j in range(6)] + [f"y{j}" for j in range(5)] + ["label"]
    stream = write(work / "pairs.csv", header, np.c_[x, z, y].tolist())
    found, seconds = program.json("online", "gd-trace", stream, "--out", work / "p.csv")
    if found is None:
        return None
    with open(work / "p.csv", newline="") as file:
        predicted = np.array([float(row["prediction"]) for row in csv.DictReader(file)])
    return r2_score(y[1000:], predicted[1000:])


def mean(values):
    """None where one is missing."""
    return None if any(value is None for value in values) else float(np.mean(values))


def shown(value):
    return "–" if value is None else f"{value:.3f}"


class Results:
    """Lines that were measured, kept in a file so that a run may be cut into pieces."""

    def __init__(self, path):
        self.path = path
        self.lines = json.loads(path.read_text()) if path and path.exists() else []

    def has(self, name, task):
        return any(line["set"] == name and line["task"] == task for line in self.lines)

    def add(self, **line):
        self.lines.append(line)
        print(row(line), flush=True)
        if self.path:
            self.path.write_text(json.dumps(self.lines, indent=0))


def row(line):
    peers = ", ".join(f"{name} {value:.3f}" for name, value in line["peers"].items())
    cells = [line["set"], line["estimator"], shown(line["default"]), f"{line['seconds']:.1f}", shown(line["tuned"]),
             f"{line['tuning']:.1f}", shown(line["majority"]), peers]
    return f"| {' | '.join(cells)} |"


def learned(folder, kind, program, work, args, results):
    """All estimators of a set: default and tuned, over the splits."""
    seeds = range(args.seed, args.seed + (args.splits if kind == "tables" else 1))
    rows, others = [], []
    large = kind == "nodes" and sum(1 for _ in opened(folder / "labels.csv")) > args.largest
    for seed in seeds:
        task = nodes(folder, program, work, seed) if kind == "nodes" else table(folder, program, work, seed, args.most)
        score, answer, names, peers = task
        others.append(peers)
        tuned = (lambda name: (None, 0)) if args.no_tuned or large else (lambda name: score(name, "--cv", 3))
        rows.append([(*score(name), *tuned(name)) for name in names])
    peers = {name: float(np.mean([peer[name] for peer in others])) for name in others[0]}
    majority = peers.pop("majority")
    for at, name in enumerate(names):
        plain, seconds, tuned, tuning = (mean([row[at][k] for row in rows]) for k in range(4))
        results.add(set=folder.name, task=kind, answer=answer, estimator=name, default=plain, seconds=seconds, tuned=tuned, tuning=tuning,
                    majority=majority, peers=peers)


def other_tasks(folder, program, work, args, results):
    def add(task, estimator, default, seconds, majority, peers):
        results.add(set=folder.name, task=task, answer=task, estimator=estimator, default=default, seconds=seconds, tuned=None,
                    tuning=0.0, majority=majority, peers=peers)

    def open_task(task, fits):
        return fits and task in args.tasks and not results.has(folder.name, task)

    if open_task("embedding", edges_of(folder)):
        found = embedding(folder, program, work, args.seed)
        if found:
            add("embedding", f"embed, rank {found[2]}", found[0], found[3], None, {"TruncatedSVD": found[1]})
    if open_task("links", edges_of(folder)):
        ours, peer, seconds = links(folder, program, args.seed)
        add("links", "links, AUROC", ours, seconds, 0.5, {"TruncatedSVD": peer})
    if open_task("biclusters", list(folder.glob("features.mtx*"))):
        ours, peer, seconds = biclusters(folder, program)
        add("biclusters", f"bicluster, NMI ± {np.std(ours):.3f}", float(np.mean(ours)), seconds, 0.0,
            {"k-means on tf-idf": float(np.mean(peer))})


def spoken(lines):
    """The lines of the estimators that speak for their sets."""
    return [line for line in lines if SPEAKERS.get(line["answer"], line["estimator"]) == line["estimator"]]


def summary(lines):
    """What the tables show, counted over the speakers; and over every line that has what is asked."""
    speakers = spoken(lines)

    def counted(title, chosen, asked, good):
        asked = [line for line in chosen if line["default"] is not None and asked(line)]
        bad = [f"{line['set']} ({line['estimator']})" for line in asked if not good(line)]
        return f"- {title}: {len(asked) - len(bad)} of {len(asked)}" + (f"; not {', '.join(bad)}" if bad else "")

    def has_tuned(line):
        return line["tuned"] is not None

    def near(line):
        return line["default"] >= line["tuned"] - 0.03

    def above(line):
        return not (line["default"] <= line["majority"] + 0.005 and line["tuned"] >= line["majority"] + 0.1)

    def chance(line):
        return line["default"] > line["majority"] - 0.01

    def ahead(line):
        return line["default"] >= max(line["peers"].values()) - 0.0005

    found = [
        counted("within 0.03 of itself cross-validated", speakers, has_tuned, near),
        counted("the same of every estimator", lines, has_tuned, near),
        counted("not at the majority class (mean) where the tuned one is 0.1 above it", lines, has_tuned, above),
        counted("not below the majority class, the mean or chance by more than 0.01", lines, lambda line: line["majority"] is not None, chance),
    ]
    tasks = {"classes": "classes of rows", "values": "values of rows", "nodes": "classes of nodes", "embedding": "embeddings",
             "links": "held-out links", "biclusters": "biclusters"}
    for answer, title in tasks.items():
        found.append(counted(f"at or above the best scikit-learn line, {title}", speakers,
                             lambda line, answer=answer: line["answer"] == answer and line["peers"], ahead))
    missing = [f"{line['set']} ({line['estimator']})" for line in lines if line["default"] is None]
    return found + ([f"- did not end within the limit, or failed: {', '.join(missing)}"] if missing else [])


def page(args, lines):
    title = "| set | estimator | default | seconds | tuned | seconds | majority | peers |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    out = ["# No options: default, tuned, and what a scikit-learn user types", "", *__doc__.splitlines()[4:], "",
           f"At most {args.most} rows of a table, {args.limit:g} seconds a command. – was not run, or did not end.", "", "## Counted", "",
           *summary(lines), ""]
    for task, heading in [("tables", "Tables (accuracy, R² for values)"), ("nodes", "Nodes (accuracy)"), ("embedding", "Embeddings (accuracy)"),
                          ("links", "Held-out links (AUROC)"), ("biclusters", "Biclusters (NMI)"), ("pairs", "Pairs (R²)")]:
        chosen = [line for line in lines if line["task"] == task]
        if chosen:
            out += [f"## {heading}", "", title, *map(row, chosen), ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="target/release/lopsided")
    parser.add_argument("--sets", nargs="*", help="all sets of the folder, and the generated ones")
    parser.add_argument("--tasks", nargs="*", default=["nodes", "tables", "embedding", "links", "biclusters", "pairs"])
    parser.add_argument("--most", type=int, default=1500, help="rows of a table that are used")
    parser.add_argument("--largest", type=int, default=5000, help="nodes of a graph up to which the tuned self is run")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--splits", type=int, default=3, help="splits of a table, with seeds from --seed on; a graph has one")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one command")
    parser.add_argument("--no-tuned", action="store_true")
    parser.add_argument("--results", type=Path, help="file of what was measured, which pieces of a run share")
    parser.add_argument("--out", type=Path, help="a page of everything that was measured")
    args = parser.parse_args()
    program = Program(os.path.abspath(args.program), args.limit)
    results = Results(args.results)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        folders = [f for f in sorted(Path(os.environ["LOPSIDED_DATA"]).iterdir()) if f.is_dir()] + [cyclic(work), blocks(work), *curves(work)]
        for folder in (f for f in folders if not args.sets or f.name in args.sets):
            kind = "nodes" if edges_of(folder) else "tables" if table_of(folder) else ""
            if kind in args.tasks and not results.has(folder.name, kind):
                learned(folder, kind, program, work, args, results)
            other_tasks(folder, program, work, args, results)
        if "pairs" in args.tasks and not args.sets and not results.has("bilinear pairs (generated)", "pairs"):
            results.add(set="bilinear pairs (generated)", task="pairs", answer="pairs", estimator="online gd-trace", default=pairs(program, work),
                        seconds=0.0, tuned=None, tuning=0.0, majority=0.0, peers={})
    if args.out:
        args.out.write_text(page(args, results.lines))
    print("\n".join(summary(results.lines)))


if __name__ == "__main__":
    main()
