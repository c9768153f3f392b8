"""The Python of the cookbook runs as it is printed."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_cookbook_runs(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    text = (ROOT / "docs" / "cookbook.md").read_text()
    tasks = re.findall(r"^## (\d+)\. ", text, flags=re.M)
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert tasks == [str(task + 1) for task in range(15)] and len(blocks) == 16
    assert len(re.findall(r"```sh\n", text)) == 16
    subprocess.run([sys.executable, ROOT / "docs" / "make_data.py", tmp_path], check=True, capture_output=True)
    setting = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, cwd=tmp_path, env=setting, timeout=300)
    assert result.returncode == 0, result.stderr
