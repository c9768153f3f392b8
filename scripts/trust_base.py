"""What all attacks of trust.py share: counts, runs of the program and how they are judged."""
import os
import shutil
import struct
import subprocess
import sys
import threading
import time

PATIENCE = 60.0


class Part:
    """Counts of one kind of attack."""

    def __init__(self, name, until, folder):
        self.name, self.until, self.folder = name, until, folder
        self.tried, self.failed, self.worst, self.where = 0, [], 0.0, ""
        # How many there are to try, where that is known.
        self.known = None
        self.lock = threading.Lock()

    def open(self):
        return time.monotonic() < self.until

    def count(self, seconds, words, failure=None):
        with self.lock:
            self.tried += 1
            if seconds > self.worst:
                self.worst, self.where = seconds, words.split(" --")[0]
            if failure:
                self.failed.append(f"{words}: {failure}")
                print(f"FAILED {self.name}: {words}: {failure}", file=sys.stderr)


class Program:
    def __init__(self, path):
        self.path = str(path)

    def start(self, words, folder, limit=4_000_000):
        """Starts the program in `folder` with an address space of so many kilobytes."""
        shell = f"ulimit -v {limit}; exec {self.path} {words}" if limit else f"exec {self.path} {words}"
        return subprocess.Popen(["bash", "-c", shell], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def check(self, part, words, folder, limit=4_000_000, seconds=PATIENCE):
        """Runs a command and judges how it ended; returns its exit code."""
        begin = time.monotonic()
        child = self.start(words, folder, limit)
        try:
            _, talk = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            part.count(time.monotonic() - begin, words, f"no end within {seconds:.0f} s")
            return None
        part.count(time.monotonic() - begin, words, judged(child.returncode, talk.decode(errors="replace")))
        return child.returncode


def judged(code, talk):
    """What is wrong with an end, or None."""
    if "panicked" in talk:
        return "panic: " + talk.strip().splitlines()[0][:200]
    if code not in (0, 1, 2):
        return f"exit code {code}: {talk.strip()[:200]}"
    if code == 2 and sum(line.startswith("error:") for line in talk.splitlines()) != 1:
        return f"no single sentence: {talk.strip()[:200]}"
    return None


def npy(rows, cols, values, descr="<f8"):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"
    header = header + " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}d", *values)


def attempt(part, name, files, work):
    """A folder with files for one attack, kept if it fails; nothing temporary may stay behind."""
    folder = part.folder / name
    folder.mkdir()
    for file, data in files.items():
        (folder / file).write_bytes(data)
    before = len(part.failed)
    work(folder)
    left = [file for file in os.listdir(folder) if file.startswith(".")]
    if left:
        part.count(0.0, str(folder), f"left {left}")
    if len(part.failed) == before:
        shutil.rmtree(folder)
