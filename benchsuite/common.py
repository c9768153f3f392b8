"""What the scripts of this folder share."""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
WORK = ROOT / "benchsuite" / "work"


def numpy():
    """NumPy, or one sentence about how to get it."""
    try:
        import numpy as found
    except ImportError:
        sys.exit("numpy is missing: python3 -m pip install numpy")
    return found


def build():
    """The release build and the folder for files. The same for all scripts: with other targets cargo would compile everything anew."""
    WORK.mkdir(exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "--workspace", "--bins", "--examples"], cwd=ROOT, check=True)


def program(*words, codes=(0,)):
    """What `lopsided` prints; ends with its error unless the exit code is one of `codes`."""
    command = [str(word) for word in (TARGET / "lopsided", *words)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode not in codes:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result.stdout


def report(*words, codes=(0,)):
    """The JSON of one run."""
    return json.loads(program(*words, "--json", "--quiet", codes=codes))


def publish(lines, out):
    """Prints a table and writes it to the file `out`, if there is one."""
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(table)
