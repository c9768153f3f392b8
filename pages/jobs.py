"""The jobs whose pages are looked at: small generated inputs, and public data sets where LOPSIDED_DATA names their folder."""
from __future__ import annotations

import csv
import os
import random
from dataclasses import dataclass
from pathlib import Path

#: Names of nodes and classes that would be markup or script if anything let them.
HOSTILE = ["</script><script>alert('a')</script>", "<img src=x onerror=alert(1)>", "a & b", "quote \" ' `", "line\u2028end"]


@dataclass(frozen=True)
class Job:
    words: tuple[str, ...]
    #: Jobs that must have run before.
    after: tuple[str, ...] = ()


def job(line: str, *after: str) -> Job:
    return Job(tuple(line.split()), after)


GENERATED = {
    "embed-graph": job("embed edges.csv --labels classes.csv --rank 8"),
    "embed-table": job("embed table.csv --target class --compat pca --rank 4 --kernel rbf --gamma median"),
    "bicluster": job("bicluster matrix.csv --row-clusters 3 --kernel rbf"),
    "fit-graph": job("fit kernel-svd edges.csv --labels classes.csv --rank 8 --cv 3 --model graph.model"),
    "fit-ask-ls": job("fit ask-ls table.csv --target class --model ask.model"),
    "fit-values": job("fit krr values.csv --target y --model values.model"),
    "fit-probable": job("fit svm table.csv --target class --kernel rbf --probability --model svm.model"),
    "fit-kpca": job("fit kpca table.csv --target class --rank 4 --model kpca.model"),
    "predict": job("predict svm.model table.csv", "fit-probable"),
    "predict-values": job("predict values.model values.csv --out found.csv", "fit-values"),
    "links": job("links edges.csv --trials 2 --rank 8"),
    "online": job("online gd-trace stream.csv --radius 3 --horizon 200 --out predictions.csv"),
    "reproduce": job("reproduce ksvd-7 --generate 300,200,8 --quick --rank 5 --landmarks 40"),
}
PUBLIC = {
    "cora": job("embed {data}/cora/edges.csv --labels {data}/cora/labels.csv"),
    "cora-fit": job("fit ls-svm {data}/cora/edges.csv --labels {data}/cora/labels.csv --model cora.model"),
    "cora-links": job("links {data}/cora/edges.csv --trials 1"),
    "acm": job("bicluster {data}/acm/features.mtx.gz --row-clusters 3 --labels {data}/acm/labels.csv"),
    "spambase": job("fit svm {data}/spambase/data.csv.gz --approach lla --landmarks 200 --probability --model spam.model"),
    "protein": job("fit krr {data}/protein_casp/data.csv.gz --approach gsa --landmarks 200 --model protein.model"),
}
ALL = GENERATED | (PUBLIC if os.environ.get("LOPSIDED_DATA") else {})


def write_inputs(folder: Path) -> None:
    """A graph of three classes around a circle, tables of classes and of values, a matrix of blocks, a stream of pairs."""
    rng = random.Random(7)
    nodes = [*HOSTILE, *(f"node {i}" for i in range(len(HOSTILE), 90))]
    names = [HOSTILE[0], "second", "third"]

    def write(name: str, rows) -> None:
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)

    links = {(i, rng.choice([j for j in range(90) if j % 3 == (i + 1) % 3])) for i in range(90) for _ in range(6)}
    write("edges.csv", [("source", "target"), *((nodes[i], nodes[j]) for i, j in sorted(links))])
    write("classes.csv", [("node", "label"), *((nodes[i], names[i % 3]) for i in range(90) if i != 9)])
    heads = [f"x{k}" for k in range(5)]
    points = [[rng.gauss(2.0 if k == i % 3 else 0.0, 1.0) for k in range(5)] for i in range(120)]
    write("table.csv", [(*heads, "class"), *((*p, names[i % 3]) for i, p in enumerate(points))])
    write("values.csv", [(*heads, "y"), *((*p, p[0] * p[1] + rng.gauss(0, 0.1)) for p in points)])
    block = [[3.0 * (i % 3 == j % 3) + rng.gauss(0, 0.5) for j in range(24)] for i in range(60)]
    write("matrix.csv", [[f"c{j}" for j in range(24)], *block])
    pairs = [[rng.uniform(-1, 1) for _ in range(4)] for _ in range(200)]
    write("stream.csv", [("x1", "x2", "y1", "y2", "label"), *((*p, p[0] * p[3]) for p in pairs)])
