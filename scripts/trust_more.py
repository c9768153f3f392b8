"""Attacks of trust.py that need more than one run of the program each: readers in one process, faults of the disk, fits that are
killed and resumed, numbers of threads, load, and the commands of the documentation in little memory."""
import glob
import json
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

from trust_base import judged, npy

ROOT = Path(__file__).resolve().parents[1]
SEEDS = random.Random()


def harness(folder):
    """The test program that reads mutated files without being started anew for each."""
    built = glob.glob(str(Path(folder) / "deps" / "readers-*"))
    built = [path for path in built if os.access(path, os.X_OK) and "." not in Path(path).name]
    return max(built, key=os.path.getmtime, default=None)


def in_process(part, program, test, rounds):
    """Runs a test of the readers with fresh seeds until the time is over; a failure names its seed."""
    binary = harness(Path(program.path).parent)
    if binary is None:
        print(f"{part.name}: `cargo test --workspace --no-run` builds the test program; skipped", file=sys.stderr)
        return
    while part.open():
        seed = SEEDS.randrange(10**9)
        begin = time.monotonic()
        shell = f"ulimit -v 8000000; LOPSIDED_ROUNDS={rounds} LOPSIDED_SEED={seed} exec {shlex.quote(binary)} {test} --test-threads 1"
        done = subprocess.run(["bash", "-c", shell], cwd=part.folder, capture_output=True, text=True, timeout=1800)
        lines = [line for line in done.stdout.splitlines() + done.stderr.splitlines() if "panicked" in line or "panics" in line]
        failure = None if done.returncode == 0 and "1 passed" in done.stdout else f"{done.returncode}: {lines or done.stderr[-300:]}"
        part.count((time.monotonic() - begin) / rounds, f"{test}, seed {seed}", failure)
        part.tried += rounds - 1


def readers(part, program, rng, _):
    SEEDS.seed(rng.random())
    in_process(part, program, "damaged_files", 12_000)


def changed(part, program, rng, _):
    SEEDS.seed(rng.random())
    in_process(part, program, "changed_models", 4_000)


def data(folder, rng):
    """A table, a graph with classes, pairs and sparse rows."""
    value = lambda: f"{rng.gauss(0, 1):.4f}"
    rows = [[value() for _ in range(4)] for _ in range(240)]
    (folder / "t.csv").write_text("a,b,c,d,kind\n" + "".join(",".join(r) + f",{'xyz'[(float(r[0]) > 0) + (float(r[1]) > 0.5)]}\n" for r in rows))
    (folder / "e.csv").write_text("source,target\n" + "".join(f"n{rng.randrange(80)},n{rng.randrange(80)}\n" for _ in range(400)))
    (folder / "c.csv").write_text("id,label\n" + "".join(f"n{i},{'uv'[i % 2]}\n" for i in range(80)))
    (folder / "p.csv").write_text("x1,x2,label\n" + "".join(f"{value()},{value()},{rng.choice([-1, 1])}\n" for _ in range(200)))
    line = lambda: f"{rng.choice([1, -1])} " + " ".join(f"{j}:{rng.randrange(1, 5)}" for j in sorted(rng.sample(range(1, 90), 6)))
    (folder / "s.svm").write_text("".join(line() + "\n" for _ in range(5000)))


def quietly(program, words, folder):
    return subprocess.run([program.path, *shlex.split(words)], cwd=folder, capture_output=True, text=True)


# Commands that write, and the files they write.
WRITING = [
    ("embed e.csv --rank 8 --rows-out out.npy", "out.npy"), ("embed e.csv --rank 8 --rows-out out.csv", "out.csv"),
    ("embed e.csv --rank 8 --rows-out out.parquet", "out.parquet"), ("embed e.csv --rank 8 --model out.model", "out.model"),
    ("embed e.csv --labels c.csv --report out.html", "out.html"), ("fit svm t.csv --penalty 1 --model out.model", "out.model"),
    ("fit krr t.csv --target a --drop kind --penalty 1 --model out.model", "out.model"),
    ("fit svm t.csv --cv 3 --grid penalty=1,2 --cv-out out.csv --model m.model", "out.csv"),
    ("predict k.model t.csv --out out.csv", "out.csv"), ("transform e.model --rows e.csv --out out.npy", "out.npy"),
    ("export k.model --onnx out.onnx", "out.onnx"), ("bicluster t.csv --target none --drop kind --row-clusters 3 --row-labels-out out.csv", "out.csv"),
    ("online gd-trace p.csv --out out.csv --checkpoint out.state", "out.csv"), ("online gd-trace p.csv --regret-out out.csv", "out.csv"),
    ("fit svm t.csv --cv 3 --model out.model --checkpoint out.state --checkpoint-every 0", "out.model"),
]


def prepared(folder, rng, program):
    data(folder, rng)
    quietly(program, "fit svm t.csv --penalty 1 --kernel rbf --model k.model", folder)
    quietly(program, "embed e.csv --rank 8 --model e.model", folder)


def mounted(folder, size):
    """A small file system in memory, where one may be made."""
    folder.mkdir(exist_ok=True)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True).returncode == 0


def faults(part, program, rng, _):
    """Full disks, writing errors, folders that cannot be written, links, outputs that are inputs."""
    prepared(part.folder, rng, program)
    inputs = [file for file in os.listdir(part.folder)]

    def attack(name, words, out, before="", kept=True, after=lambda folder: None):
        folder = part.folder / "here"
        folder.mkdir()
        try:
            for file in inputs:
                shutil.copy(part.folder / file, folder / file)
            old = b"what was there before"
            if kept:
                (folder / out).write_bytes(old)
            begin = time.monotonic()
            done = subprocess.run(["bash", "-c", f"{before} exec {program.path} {words}"], cwd=folder, capture_output=True, text=True)
            failure = judged(done.returncode, done.stderr)
            # What `online` writes grows, and the table of a search is whole before the model is written; all else is as it was.
            grows = "--cv-out" in words or (words.startswith("online") and "regret" not in words)
            if not failure and done.returncode == 2 and kept and not grows and (folder / out).read_bytes() != old:
                failure = "the old file is gone"
            left = [file for file in os.listdir(folder) if file.startswith(".")]
            if not failure and left:
                failure = f"left {left}"
            part.count(time.monotonic() - begin, f"{name}: {words}", failure or after(folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    for words, out in WRITING:
        for blocks in (0, 1, 4):
            attack(f"no file above {blocks} kB", words, out, before=f"trap '' XFSZ; ulimit -f {blocks};")
        attack("full device", words.replace(out, "/dev/full") if out.endswith((".model", ".html", ".onnx")) else words, out)
        attack("output through a link", words, "real", before=f"ln -sf real {out};", kept=False)
        source = words.split()[2] if words.startswith(("fit", "online")) else words.split()[1]
        same = "\n".join((part.folder / source).read_text(errors="replace").splitlines()[:1])
        for spelling in (source, f"./{source}", f"../here/{source}"):
            check = lambda folder: None if (folder / source).read_text(errors="replace").startswith(same) else "the input is gone"
            attack("output is the input", words.replace(f" {out}", f" {spelling}"), "unused", kept=False, after=check)
    small = part.folder / "small"
    if mounted(small, "64k"):
        try:
            for words, out in WRITING:
                for filled in (64, 60, 40):
                    if filled < 64:
                        (small / "filler").write_bytes(b"x" * 1024 * filled)
                    else:
                        fill(small / "filler")
                    target = words.replace(out, f"small/{out}")
                    begin = time.monotonic()
                    done = subprocess.run([program.path, *shlex.split(target)], cwd=part.folder, capture_output=True, text=True)
                    left = [file for file in os.listdir(small) if file.startswith(".")]
                    part.count(time.monotonic() - begin, f"disk of 64 kB with {filled} kB full: {target}",
                               judged(done.returncode, done.stderr) or (f"left {left}" if left else None))
                    for file in os.listdir(small):
                        (small / file).unlink()
            subprocess.run(["mount", "-o", "remount,ro", str(small)], capture_output=True)
            for words, out in WRITING:
                done = quietly(program, words.replace(out, f"small/{out}"), part.folder)
                failure = judged(done.returncode, done.stderr) or (None if done.returncode == 2 else "a folder that cannot be written was")
                part.count(0.0, f"read-only folder: {words}", failure)
        finally:
            subprocess.run(["umount", str(small)], capture_output=True)
    else:
        print("faults: no file system may be mounted here: full and read-only ones are not tried", file=sys.stderr)


def fill(path):
    """A file that takes all the room there is."""
    try:
        with open(path, "wb", buffering=0) as file:
            while file.write(b"x" * 1024):
                pass
    except OSError:
        pass


FITS = [
    "embed t.csv --cols t.csv --target none --drop kind --kernel rbf --gamma 9 --rank 40 --solver lanczos --tol 1e-11 --model {0}",
    "embed t.csv --target kind --compat learned --kernel rbf --gamma median --rank 3 --epochs 30 --model {0}",
    "embed s.svm --stream --solver nystrom --rows-sample 80 --cols-sample 60 --rank 6 --rows-out {0}.npy",
    "fit krr s.svm --stream --landmarks 120 --penalty 1 --solver cg --model {0}",
    "fit krr s.svm --stream --landmarks 120 --penalty 1 --solver direct --model {0}",
    "fit svm t.csv --cv 4 --model {0}", "fit krr t.csv --target a --drop kind --model {0}", "fit ask-ls t.csv --cv 3 --penalty 1 --model {0}",
    "fit kernel-svd t.csv --cv 3 --rank 5 --model {0}", "fit ls-svm e.csv --labels c.csv --model {0}", "fit logistic t.csv --cv 3 --model {0}",
    "fit ls-svm t.csv --route minres --penalty 100 --model {0}", "fit svm t.csv --penalty 1000 --kernel rbf --gamma 3 --model {0}",
]


def resumes(part, program, rng, _):
    """Fits killed at random moments and resumed end with the bytes of a fit that was left alone."""
    data(part.folder, rng)
    whole = {}
    while part.open():
        words = rng.choice(FITS)
        file = words.split("{0}")[1]
        if words not in whole:
            begin = time.monotonic()
            done = quietly(program, words.format("whole") + " -q", part.folder)
            if done.returncode not in (0, 1):
                part.count(0.0, words, f"exit code {done.returncode}: {done.stderr[:200]}")
                return
            whole[words] = ((part.folder / f"whole{file}").read_bytes(), time.monotonic() - begin)
        expected, length = whole[words]
        run = words.format("cut") + " --checkpoint state --checkpoint-every 0 --resume -q"
        out = part.folder / f"cut{file}"
        for _ in range(rng.randrange(1, 6)):
            child = program.start(run, part.folder, 0)
            time.sleep(rng.random() * length)
            child.kill()
            child.communicate()
            part.tried += 1
            if out.exists():
                break
        program.check(part, run, part.folder, 0, 600.0)
        same = out.exists() and out.read_bytes() == expected
        left = [name for name in os.listdir(part.folder) if name.startswith(".") or name == "state"]
        if not same or left:
            part.count(0.0, run, f"other bytes than uninterrupted, or left {left}")
        out.unlink(missing_ok=True)


def configurations(program, folder):
    """Every estimator, kernel, solver and learner with what it writes, as words and file."""
    listed = lambda family: json.loads(quietly(program, f"list {family} --json", folder).stdout)[family]
    names = lambda family: [entry["name"] for entry in listed(family)]
    for entry in listed("estimators"):
        if entry["command"] == "fit":
            for given in ("t.csv --target kind", "e.csv --labels c.csv"):
                yield f"fit {entry['name']} {given} --model m", "m"
        for sampler in names("samplers"):
            if "landmarks" in entry["params"]:
                yield f"fit {entry['name']} t.csv --sampler {sampler} --landmarks 40 --model m", "m"
    for kernel in names("kernels"):
        for operator in ("auto", "dense", "tiles"):
            for solver in names("solvers"):
                for given in ("e.csv", "t.csv --cols t.csv --target none --drop kind"):
                    yield f"embed {given} --kernel {kernel} --operator {operator} --solver {solver} --rank 4 --model m", "m"
    for learner in names("learners"):
        yield f"online {learner} p.csv --out o.csv", "o.csv"
        yield f"online {learner} p.csv --kernel rbf --gamma 1 --budget 30 --out o.csv", "o.csv"
    yield "bicluster t.csv --target none --drop kind --row-clusters 3 --model m", "m"
    yield "embed s.svm --stream --solver nystrom --rows-sample 80 --cols-sample 60 --rank 6 --rows-out o.npy", "o.npy"
    for solver in ("cg", "direct"):
        yield f"fit krr s.svm --stream --landmarks 80 --penalty 1 --solver {solver} --model m", "m"
    yield "embed t.csv --target kind --compat learned --kernel rbf --gamma median --rank 3 --epochs 6 --model m", "m"
    yield "predict k.model t.csv --scores --out o.csv", "o.csv"
    yield "transform e.model --rows e.csv --out o.npy", "o.npy"
    yield "export k.model --onnx o.onnx", "o.onnx"
    yield "links e.csv --trials 2 --rank 6 --json", None


def threads(part, program, rng, workers):
    """The same bits with 1, 2, 3, 4 and 8 threads."""
    prepared(part.folder, rng, program)
    inputs = os.listdir(part.folder)
    cases = list(configurations(program, part.folder))
    part.known = len(cases)
    rng.shuffle(cases)

    def one(k):
        if not part.open() or k >= len(cases):
            return
        words, out = cases[k]
        folder = part.folder / f"{k}"
        folder.mkdir()
        for file in inputs:
            os.link(part.folder / file, folder / file)
        found, begin = {}, time.monotonic()
        for count in (1, 2, 3, 4, 8):
            done = quietly(program, f"{words} --threads {count} -q", folder)
            failure = judged(done.returncode, done.stderr)
            if failure:
                break
            told = re.sub(r'"(seconds|peak_bytes)":[^,}]*', "", done.stdout)
            written = (folder / out).read_bytes() if out and (folder / out).exists() else told.encode()
            found[count] = (done.returncode, done.stderr if done.returncode == 2 else "", written)
        different = [count for count in found if found[count] != found[1]]
        if not failure and different:
            failure = f"other bits with {different} threads than with 1"
        part.count((time.monotonic() - begin) / 5, words, failure)
        shutil.rmtree(folder)

    workers(one, len(cases))


def load(part, program, rng, _):
    """Eight processes at once that write one file, and Python with many threads and processes."""
    data(part.folder, rng)
    expected = set()
    for seed in range(8):
        quietly(program, f"embed e.csv --rank 4 --seed {seed} --model one{seed}", part.folder)
        expected.add((part.folder / f"one{seed}").read_bytes())
    rounds = 0
    while part.open() and rounds < 30:
        rounds += 1
        begin = time.monotonic()
        children = [program.start(f"embed e.csv --rank 4 --seed {seed} --model shared -q", part.folder, 0) for seed in range(8)]
        ends = [(child.communicate()[1].decode(), child.returncode) for child in children]
        failure = next((judged(code, talk) for talk, code in ends if judged(code, talk)), None)
        if not failure and (part.folder / "shared").read_bytes() not in expected:
            failure = "the file is none of those that were written"
        left = [file for file in os.listdir(part.folder) if file.startswith(".")]
        part.count(time.monotonic() - begin, "eight processes write one model", failure or (f"left {left}" if left else None))
    python = ROOT / ".venv" / "bin" / "python"
    script = ROOT / "scripts" / "trust_python.py"
    for way in ("threads", "fork", "spawn", "loky", "interrupts", "memory"):
        if not python.exists():
            print("load: the Python package is not built (`make venv`): Python is not tried", file=sys.stderr)
            return
        begin = time.monotonic()
        try:
            done = subprocess.run([python, script, way], cwd=part.folder, capture_output=True, text=True, timeout=300)
            words = done.stderr.strip().splitlines()[-1:] if done.returncode else []
            part.count(time.monotonic() - begin, f"Python: {way}", f"exit code {done.returncode}: {words}" if done.returncode else None)
        except subprocess.TimeoutExpired:
            part.count(300.0, f"Python: {way}", "no end within 300 s")


def guide(part, program, rng, _):
    """The commands of the documentation under 1 GB of address space, on data of a few hundred rows."""
    folder = part.folder
    n = 400
    value = lambda: f"{rng.gauss(0, 1):.3f}"
    table = lambda names, target: ",".join(names) + ("," + target if target else "") + "\n"

    def rows(path, width, target, count=n, words="xyz"):
        names = [f"c{j}" for j in range(width)]
        text = table(names, target)
        for _ in range(count):
            row = [value() for _ in range(width)]
            text += ",".join(row) + (f",{words[(float(row[0]) > 0) + (float(row[1]) > 0.5)]}" if target else "") + "\n"
        (folder / path).write_text(text)

    for path in ("edges.csv", "other-edges.csv"):
        # Every node has a link, so that the classes of all fit both.
        ring = "".join(f"{i},{(i + 1) % n}\n" for i in range(n))
        (folder / path).write_text("source,target\n" + ring + "".join(f"{rng.randrange(n)},{rng.randrange(n)}\n" for _ in range(3 * n)))
    (folder / "new-edges.csv").write_text("source,target\nnew,1\nnew,5\n2,new\n")
    (folder / "classes.csv").write_text("id,label\n" + "".join(f"{i},{'abc'[i % 3]}\n" for i in range(n)))
    (folder / "people.csv").write_text("id,group,age\n" + "".join(f"{i},{i % 3},{i * 7 % 11}\n" for i in range(n)))
    (folder / "new-people.csv").write_text("id,group,age\nnew,1,4\n")
    for path, ids in (("train.txt", range(0, n, 2)), ("test.txt", range(1, n, 2)), ("unknown.txt", range(1, n, 2))):
        (folder / path).write_text("".join(f"{i}\n" for i in ids))
    rows("digits.csv", 64, "label", words="123")
    rows("counts.csv", 30, None)
    rows("flowers.csv", 4, "species", count=90)
    (folder / "houses.csv").write_text("size,rooms,price,rent\n" + "".join(f"{value()},{value()},{value()},{value()}\n" for _ in range(600)))
    (folder / "pairs.csv").write_text("x1,x2,y1,label\n" + "".join(f"{value()},{value()},{value()},{value()}\n" for _ in range(n)))
    passengers = "survived,age,ticket,deck\n" + "".join(f"{'yes' if i % 3 else 'no'},{value() if i % 7 else ''},{i},{'abc'[i % 3]}\n" for i in range(n))
    (folder / "passengers.csv").write_text(passengers)
    (folder / "others.csv").write_text("deck,age,ticket\n" + "".join(f"{'abc'[i % 3]},{value()},{i}\n" for i in range(50)))
    cells = sorted({(rng.randrange(1, 301), rng.randrange(1, 201)) for _ in range(6000)})
    (folder / "counts.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n300 200 {len(cells)}\n" + "".join(f"{i} {j} {1 + (i + j) % 5}\n" for i, j in cells))
    many = 2500
    (folder / "rows.npy").write_bytes(npy(many, 8, [rng.gauss(0, 1) for _ in range(8 * many)]))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({many},), }}\n".encode()
    (folder / "prices.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{many}d", *[rng.gauss(0, 1) for _ in range(many)]))
    little = f'lopsided() {{ ( ulimit -v 1048576; exec {program.path} "$@" ); }}\n'

    def run(words, where):
        begin = time.monotonic()
        done = subprocess.run(["bash", "-c", little + words], cwd=where, capture_output=True, text=True)
        failure = judged(done.returncode, done.stderr)
        if not failure and done.returncode == 2 and "allowed" not in done.stderr and "memory" not in done.stderr:
            failure = f"refused without a plan: {done.stderr[:300]}"
        part.count(time.monotonic() - begin, words.replace("\n", "; "), failure)

    for page in ("README.md", "docs/usage.md"):
        for block in blocks(page):
            for line in block.replace("\\\n", " ").splitlines():
                line = line.split(" #")[0].strip()
                # The parts of a fit need one another, and a table that has as many pieces.
                if line.startswith("lopsided ") and not line.startswith(("lopsided part", "lopsided merge")) and " reproduce " not in line:
                    run(line, folder)
    # These build upon each other, block by block, from data of their own.
    for page in ("GUIDE.md", "docs/cookbook.md"):
        where = folder / Path(page).stem
        where.mkdir()
        (where / "docs").symlink_to(ROOT / "docs")
        (where / "here").write_text(str(where))
        for block in blocks(page):
            run(f"trap 'pwd > {where}/here' EXIT; cd \"$(cat here)\"; set -e\n{block}", where)


def blocks(page):
    """Commands that a document prints; models are written before they are read there."""
    return re.findall(r"```sh\n(.*?)\n```", (ROOT / page).read_text(), re.S)


PARTS = {"readers": readers, "changed": changed, "faults": faults, "resumes": resumes, "threads": threads, "load": load, "guide": guide}
