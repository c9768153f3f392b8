"""The examples run and print what they find."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


def test_there_are_five_of_them_in_cells():
    assert len(EXAMPLES) == 5
    assert all(path.read_text().count("\n# %% ") >= 4 for path in EXAMPLES)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path, tmp_path):
    setting = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run([sys.executable, path], capture_output=True, text=True, cwd=tmp_path, env=setting, timeout=120)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) >= 4
    assert "Error" not in result.stderr
