"""The examples run and print what they find."""
import os
import re
import subprocess
import sys
from pathlib import Path

import lopsided
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


#: The first day of a data scientist, in this order: a score that is printed, and what the best of them exceeds.
FIRST_DAY = {
    "nodes_by_grid_search": (r"without a known class: ([\d.]+) correct", 0.9),
    "table_with_gaps": (r"rent: R² ([\d.]+)", 0.8),
    "asymmetric_gram": (r"both directions: ([\d.]+) correct", 0.8),
    "biclustering": (r"index ([\d.]+) of documents", 0.9),
    "stream": (r"R² of new rows: ([\d.]+)", 0.9),
    "export": (r"onnxruntime: ([\d.]+)", 0.85),
}


def test_those_of_the_first_day_are_there_and_all_are_in_cells():
    assert set(FIRST_DAY) <= {path.stem for path in EXAMPLES}
    assert all(path.read_text().count("\n# %% ") >= 4 for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    if path.stem == "export":
        pytest.importorskip("onnxruntime")
        if not hasattr(lopsided.NystromSVC, "export_onnx"):
            pytest.skip("this build has no export")
    setting = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path, env=setting, timeout=120)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) >= 4
    assert "Error" not in result.stderr
    if path.stem in FIRST_DAY:
        pattern, least = FIRST_DAY[path.stem]
        assert max(map(float, re.findall(pattern, result.stdout))) > least
