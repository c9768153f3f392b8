"""The program, and random problems that several families share."""
import csv
import json
import os
import subprocess
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(os.environ.get("LOPSIDED_BIN", ROOT / "target" / "debug" / "lopsided")).resolve()
EPS = np.finfo(np.float64).eps
EPS32 = np.finfo(np.float32).eps


def run(*words):
    """Exit code, the JSON object on stdout (None without one) and stderr."""
    result = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    try:
        told = json.loads(result.stdout)
    except json.JSONDecodeError:
        told = None
    return result.returncode, told, result.stderr


def told(*words):
    """The JSON object of a command that has to succeed."""
    code, found, errors = run(*words, "--json", "--quiet")
    assert code == 0 and found is not None, f"{' '.join(map(str, words))}: exit code {code}\n{errors}"
    return found


def quietly(function, *args, **kwargs):
    """Calls without Python's warnings: what they say is in the reports, which are checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def orthonormal(rng, rows, columns, without_ones=False):
    """Random orthonormal columns, on request orthogonal to the vector of ones."""
    a = rng.standard_normal((rows, columns))
    if without_ones:
        a -= a.mean(axis=0)
    return np.linalg.qr(a)[0]


def with_spectrum(rng, n, m, sigma, **kwargs):
    """A matrix with these singular values."""
    sigma = np.asarray(sigma, dtype=float)
    return (orthonormal(rng, n, len(sigma), **kwargs) * sigma) @ orthonormal(rng, m, len(sigma), **kwargs).T


def clusters(rng, rows, width, classes):
    """Gaussian clusters that overlap, every class with three samples at least."""
    y = np.concatenate([np.repeat(np.arange(classes), 3), rng.integers(classes, size=rows - 3 * classes)])
    rng.shuffle(y)
    return 1.5 * rng.standard_normal((classes, width))[y] + rng.standard_normal((rows, width)), y


def sparse_rows(rng, rows, width, per_row=6):
    """Non-negative sparse samples, none of them empty."""
    columns = np.concatenate([rng.choice(width, size=min(per_row, width), replace=False) for _ in range(rows)])
    indptr = np.arange(rows + 1) * min(per_row, width)
    return sp.csr_matrix((rng.random(len(columns)) + 0.1, columns, indptr), shape=(rows, width))


def links(rng, nodes, count):
    """Different random links without loops, as rows (source, target); every node has one at least."""
    ring = np.stack([np.arange(nodes), np.roll(np.arange(nodes), -1)], axis=1)
    some = rng.integers(nodes, size=(count, 2))
    found = np.unique(np.concatenate([ring, some[some[:, 0] != some[:, 1]]]), axis=0)
    return found[np.lexsort((found[:, 1], found[:, 0]))]


def write_links(path, pairs):
    path.write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in pairs))


def write_table(path, x, y=None):
    """Samples and, if given, their target in the column `label`."""
    names = [f"x{j}" for j in range(x.shape[1])] + ([] if y is None else ["label"])
    with path.open("w") as out:
        out.write(",".join(names) + "\n")
        for i, row in enumerate(x):
            values = [repr(float(value)) for value in row] + ([] if y is None else [_text(y[i])])
            out.write(",".join(values) + "\n")


def write_column(path, names, values, heading="node,label"):
    path.write_text(heading + "\n" + "".join(f"{name},{_text(value)}\n" for name, value in zip(names, values)))


def read_scores(path):
    """Decision values of `predict --scores`, rows by id and columns by the names of the classes; values of regressions."""
    with path.open() as lines:
        names, *rows = csv.reader(lines)
    rows.sort(key=lambda row: int(row[0]))
    columns = sorted(range(2, len(names)), key=lambda j: names[j]) if len(names) > 2 else [1]
    return np.array([[float(row[j]) for j in columns] for row in rows])


def _text(value):
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
