"""The examples and notebooks run and print what they find."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import lopsided
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.ipynb"))


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


def code_of(path):
    """The code cells of a notebook, in order, as one program."""
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    return "\n\n".join("".join(cell["source"]) for cell in cells)


def test_notebooks_are_five_small_and_clean():
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text())
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert notebook["nbformat"] == 4 and path.stat().st_size < 20_000
        assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code), path
        assert all(set(cell) >= {"id", "metadata", "source"} for cell in notebook["cells"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    setting = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run([sys.executable, "-c", code_of(path)], capture_output=True, text=True, cwd=tmp_path, env=setting, timeout=180)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
    if path.stem.startswith("5"):
        assert "Asymmetry pays" in result.stdout and "not shown to be better than guessing" in result.stdout
