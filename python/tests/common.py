"""What the tests share."""
import os
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("LOPSIDED_BIN", ROOT / "target" / "debug" / "lopsided")).resolve()


def program(*words):
    """What the program prints."""
    result = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def clusters(rows, classes=3, width=4, seed=0):
    """Gaussian clusters that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    return 2 * rng.standard_normal((classes, width))[y] + rng.standard_normal((rows, width)), y


def links(nodes=60, count=300, seed=0):
    """A random directed graph as an array of links."""
    rng = np.random.default_rng(seed)
    return np.unique(rng.integers(nodes, size=(count, 2)), axis=0)
