"""Does the map of a page keep who is near whom? And what does the page cost?

    LOPSIDED_DATA=../shared/data python3 benchsuite/maps.py --program target/release/lopsided --out maps.md

`embed edges.csv --report page.html` with default options. The places of the nodes are read from the page itself. `in the map` is
the accuracy of a vote of the 5 nearest nodes in the drawn plane, `in all components` that of the same vote by all components of
both sides, each side of unit length, `two components` that of the first two of both sides: mean over 5
stratified folds of all nodes with a class. Seconds are those of the command with the page less those without, on the
clock and of all processors together.
"""

import argparse
import csv
import gzip
import json
import os
import platform
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

SETS = ["cora", "citeseer", "amazon_computers", "pubmed"]
NEIGHBOURS = 5


def found(folder, name):
    """The file, plain or gzipped."""
    return next(path for path in (folder / name, folder / f"{name}.gz") if path.exists())


def timed(words):
    """What a command says, with its seconds on the clock and of all processors."""

    def processors():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    start, before = time.perf_counter(), processors()
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(ran.stdout), np.array([time.perf_counter() - start, processors() - before])


def drawn(page):
    """Names, class names and places in the plane of the first figure of a page."""
    text = page.read_text(encoding="utf-8")
    data = json.loads(text.split('id="cloud-0">')[1].split("</script>")[0])
    labels = [data["classes"][code] for code in data["codes"]]
    return data["names"], labels, np.array(data["places"][0], dtype=float).reshape(-1, 2)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


def vote(features, labels):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_score(KNeighborsClassifier(NEIGHBOURS), features, labels, cv=folds).mean()


def measured(program, folder, work):
    edges, labels = found(folder, "edges.csv"), found(folder, "labels.csv")
    nodes = work / "nodes.txt"
    # Nodes with a class that no link names are there as well.
    with (gzip.open(labels, "rt") if labels.suffix == ".gz" else open(labels, newline="")) as file:
        nodes.write_text("\n".join(row[0] for row in list(csv.reader(file))[1:]) + "\n")
    command = [program, "embed", edges, "--labels", labels, "--nodes", nodes, "--json", "--quiet"]
    files = ["--rows-out", work / "u.npy", "--cols-out", work / "v.npy"]
    _, plain = timed([*command, *files])
    page = work / "page.html"
    _, with_page = timed([*command, *files, "--report", page])
    names, classes, places = drawn(page)
    u, v = np.load(work / "u.npy"), np.load(work / "v.npy")
    assert len(u) == len(names), "the page shows a sample"
    known = np.array([name != "without label" for name in classes])
    y = np.array(classes)[known]
    accuracy = [vote(features[known], y) for features in (np.hstack([unit(u), unit(v)]), places, np.hstack([u[:, :2], v[:, :2]]))]
    return accuracy, with_page - plain, page.stat().st_size, len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/lopsided")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    data = Path(os.environ["LOPSIDED_DATA"])
    lines = [
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}; `benchsuite/maps.py` says what is measured.",
        "",
        "| set | nodes | in all components | in the map | share kept | two components | page, MB | page, s | of all processors, s |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in args.sets:
        with tempfile.TemporaryDirectory() as work:
            (every, plane, two), seconds, size, nodes = measured(args.program, data / name, Path(work))
        clock, processors = seconds
        lines.append(
            f"| {name} | {nodes} | {every:.3f} | {plane:.3f} | {plane / every:.2f} | {two:.3f} | {size / 1e6:.2f} | {clock:.1f} | {processors:.1f} |"
        )
        print(lines[-1], flush=True)
    text = "\n".join(["# Maps of graphs", "", *lines]) + "\n"
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
