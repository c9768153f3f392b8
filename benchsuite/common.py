"""What the scripts of this folder share."""
import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
WORK = ROOT / "benchsuite" / "work"


def rows_of(path):
    """The rows of a table below its header, plain or gzipped."""
    with (gzip.open(path, "rt") if path.suffix == ".gz" else open(path, newline="")) as file:
        return list(csv.reader(file))[1:]


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def numpy():
    """NumPy, or one sentence about how to get it."""
    try:
        import numpy as found
    except ImportError:
        sys.exit("numpy is missing: python3 -m pip install numpy")
    return found


def options(description, **numbers):
    """The options of a script: whole numbers with these defaults, and `--out FILE` for the table."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--out", type=Path, help="also write the table to this file")
    return parser.parse_args()


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


class TooSlow(Exception):
    """A process took longer than it may."""


def measured(command, threads, limit=None, codes=(0,), stdin=None):
    """Seconds, processor seconds, peak MB and output of a process; one that takes longer than `limit` seconds is ended.

    `stdin` is a file.
    """
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")}
    start = time.perf_counter()
    with open(stdin or os.devnull) as source, subprocess.Popen(
            [str(word) for word in command], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **limits}) as process:
        end = threading.Timer(limit, process.kill) if limit else None
        if end:
            end.start()
        out, error = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if end:
        end.cancel()
        if process.returncode < 0 and seconds >= limit:
            raise TooSlow
    if process.returncode not in codes:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{error[-2000:]}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


class Program:
    """The program at `path`, whose commands may take `limit` seconds."""

    def __init__(self, path, limit):
        self.path, self.limit = path, limit

    def json(self, *words):
        """What the program prints, and its seconds; None where it fails or takes too long."""
        start = time.perf_counter()
        try:
            done = subprocess.run([self.path, *map(str, words), "--json", "--quiet"], capture_output=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            return None, self.limit
        seconds = time.perf_counter() - start
        if done.returncode > 1:
            print("   ", " ".join(map(str, words)), done.stderr.decode().strip()[:200], flush=True)
            return None, seconds
        return json.loads(done.stdout), seconds


def with_program(parser):
    """The options of a script that measures the program: the parsed ones, with the program, built if none was named."""
    parser.add_argument("--program", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    ready(options.program)
    options.program = (options.program or TARGET / "lopsided").resolve()
    return options


def ready(built):
    """Builds the program unless it is there already, and makes the folder for files."""
    if built:
        WORK.mkdir(exist_ok=True)
    else:
        build()


def earlier(path, key, kinds):
    """Rows of a table that an earlier run wrote, by one of its columns; `kinds` turns the text of others into what it was."""
    if not path.exists():
        sys.exit(f"{path} is not there: --keep needs the folder of an earlier run as --out")
    found = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row[key], []).append({**row, **{name: kind(row[name]) for name, kind in kinds.items()}})
    return found


def asked():
    """The options of this run, less the files of this machine."""
    words = sys.argv[1:]
    files = {"--program", "--out"}
    return " ".join(word for at, word in enumerate(words) if word not in files and (at == 0 or words[at - 1] not in files))


def publish(lines, out):
    """Prints a table and writes it to the file `out`, if there is one."""
    table = "\n".join(lines) + "\n"
    print(table, end="")
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(table)
