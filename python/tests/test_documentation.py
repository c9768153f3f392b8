"""Examples in docstrings run, and types fit."""
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import lopsided

MODULES = ["lopsided", *(f"lopsided.{module.name}" for module in pkgutil.iter_modules(lopsided.__path__) if module.name != "_core")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_mypy_accepts_the_package():
    config = Path(__file__).resolve().parents[1] / "pyproject.toml"
    words = [sys.executable, "-m", "mypy", "--config-file", config, "-p", "lopsided"]
    result = subprocess.run(words, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def test_every_function_of_the_core_has_a_type():
    stub = (Path(lopsided.__file__).parent / "_core.pyi").read_text()
    missing = [name for name in dir(lopsided._core) if not name.startswith("_") and name not in stub]
    assert not missing
