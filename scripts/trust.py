#!/usr/bin/env python3
"""Attacks the program: mutated inputs and models, hostile options, limits, faults, kills, interrupts, extreme numbers, threads, load.

    scripts/trust.py [--minutes 30] [--only PART ...] [--seed N] [--program target/debug/lopsided] [--out docs/trust.md]

Every run must end in time with exit code 0, 1 or 2 (130 when interrupted), say what is wrong in one sentence, panic
nowhere and leave no temporary file. The table says what was tried, what failed and the worst; failures are printed with the command and
their files are kept. Minutes are shared among the parts; a part ends early when it has tried all it knows.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import trust_more
from trust_base import Part, Program, attempt, npy

ROOT = Path(__file__).resolve().parents[1]
# Shares of the time.
SHARES = {"inputs": 0.08, "models": 0.08, "options": 0.04, "extremes": 0.16, "limits": 0.05, "kills": 0.06, "interrupts": 0.12, "readers": 0.06,
          "changed": 0.05, "faults": 0.03, "resumes": 0.07, "threads": 0.11, "load": 0.04, "guide": 0.05}
# What a whole run must have tried; shorter runs are told apart by it.
WANTED = {"inputs and readers": (("inputs", "readers"), 100_000), "models and changed": (("models", "changed"), 30_000),
          "kills and resumes": (("kills", "resumes"), 200), "interrupts": (("interrupts",), 250), "extremes": (("extremes",), 4000)}


def samples(folder, rng, program):
    """Small files of every format, with the words of a command that reads each."""
    value = lambda: round(rng.uniform(-2, 2), 3)
    table = "a,b,c,kind\n" + "".join(f"{value()},{value()},{value()},{rng.choice('xyz')}\n" for _ in range(24))
    edges = "source,target\n" + "".join(f"n{rng.randrange(20)},n{rng.randrange(20)}\n" for _ in range(80))
    svm = "".join(f"{rng.choice([1, -1])} 1:{value()} 3:{value()} 7:{value()}\n" for _ in range(24))
    cells = sorted({(rng.randrange(1, 21), rng.randrange(1, 21)) for _ in range(80)})
    mtx = f"%%MatrixMarket matrix coordinate real general\n20 20 {len(cells)}\n" + "".join(f"{i} {j} {value()}\n" for i, j in cells)
    array = npy(20, 20, [value() for _ in range(400)])
    embed = "embed {} --rank 2 --gamma 0.5 --kernel rbf --rows-out out.npy"
    files = {
        "t.csv": (table.encode(), "fit svm {} --penalty 1 --model out.model"),
        "words.csv": (table.replace(",x\n", ",x,red\n").replace(",y\n", ",y,blue\n").replace(",z\n", ",z,NA\n")
                      .replace("kind\n", "kind,colour\n").encode(), "fit krr {} --target a --impute median --model out.model"),
        "e.csv": (edges.encode(), "embed {} --rank 2 --rows-out out.csv"),
        "s.svm": (svm.encode(), "fit ls-svm {} --penalty 1 --model out.model"),
        "m.mtx": (mtx.encode(), embed),
        "a.npy": (array, embed),
        "p.csv": (b"x1,y1,label\n" + b"".join(b"%f,%f,%f\n" % (value(), value(), value()) for _ in range(30)),
                  "online gd-trace {} --out out.csv"),
    }
    for name, (data, _) in files.items():
        (folder / name).write_bytes(data)
    with zipfile.ZipFile(folder / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", array)
    files["a.npz"] = ((folder / "a.npz").read_bytes(), embed)
    made = subprocess.run([program.path, "embed", "e.csv", "--rank", "3", "--rows-out", "r.parquet"], cwd=folder, capture_output=True)
    if made.returncode in (0, 1) and (folder / "r.parquet").exists():
        files["r.parquet"] = ((folder / "r.parquet").read_bytes(), "fit kpca {} --drop id --target none --kernel rbf --model out.model")
    try:
        import pyarrow
        from pyarrow import feather
        columns = pyarrow.table({name: [value() for _ in range(24)] for name in "abc"})
        for codec in ("uncompressed", "lz4", "zstd"):
            feather.write_feather(columns, folder / f"{codec}.arrow", compression=codec)
            files[f"{codec}.arrow"] = ((folder / f"{codec}.arrow").read_bytes(), "fit krr {} --penalty 1 --model out.model")
    except ImportError:
        print("pyarrow is missing: Arrow files are not attacked", file=sys.stderr)
    return files


NASTY = [b"0", b"-1", b"1e309", b"nan", b"inf", b"18446744073709551615", b"99999999999", b",", b"\"", b"\n", b"\0", b"\xff\xfe", b""]


def mutated(data, rng):
    """The bytes with a few mistakes."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        at = rng.randrange(len(data) + 1) if data else 0
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = data[at : at + rng.randrange(1, 64)]
        elif kind == 3:
            data[at : at + rng.randrange(0, 9)] = rng.choice(NASTY)
        elif kind == 4:
            data[at : at + 8] = struct.pack("<Q", rng.choice([0, 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1]))
        elif kind == 5:
            data[at : at + 4] = struct.pack("<I", rng.choice([0, 1, 2**16, 2**31 - 1, 2**32 - 1]))
        else:
            del data[at : at + rng.randrange(1, 32)]
    return bytes(data)


def inputs(part, program, rng, workers):
    files = samples(part.folder, rng, program)
    names = list(files)

    def one(k):
        if not part.open():
            return
        own = random.Random(f"{part.name}{k}{SEED}")
        name = names[k % len(names)]
        data, words = files[name]
        data = mutated(data, own)
        if own.random() < 0.1:
            name, data = name + ".gz", gzip.compress(data)
            data = mutated(data, own) if own.random() < 0.5 else data
        attempt(part, f"{k}", {name: data}, lambda folder: program.check(part, words.format(name), folder))

    workers(one)


def split_model(data):
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["lopsided"]), data[8 + length :]


def joined_model(header, meta, rest):
    header["__metadata__"]["lopsided"] = json.dumps(meta)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + rest


def leaves(value, place=()):
    if isinstance(value, (dict, list)) and value:
        for key, inner in value.items() if isinstance(value, dict) else list(enumerate(value))[:3]:
            yield from leaves(inner, place + (key,))
        if place:
            yield place
    else:
        yield place


WRONG = [0, -1, 1, 2**31, 2**32, 10**9, 10**15, 2**63, 1e300, -1e300, 1e-320, None, True, "", "nan", "x" * 300, [], {}, [1, 2], {"a": 1}]

MODELS = [
    ("embed e.csv --rank 3", "transform m --rows e.csv --out out.npy"),
    ("embed m.mtx --rank 3 --kernel rbf --gamma 0.5 --center", "transform m --rows m.mtx --out out.npy"),
    ("embed t.csv --compat pca --rank 2 --kernel rbf", "transform m --cols x.npy --out out.npy"),
    ("bicluster a.npy --row-clusters 2", "transform m --rows a.npy --out out.npy"),
    ("fit svm t.csv --probability --penalty 1", "predict m t.csv"),
    ("fit svm t.csv --landmarks 8 --approach lla --penalty 1", "predict m t.csv"),
    ("fit krr words.csv --target a --impute median --penalty 1", "predict m words.csv"),
    ("fit ask-ls t.csv --penalty 0.5", "predict m t.csv --scores"),
    ("fit ls-svm s.svm --penalty 1", "predict m s.svm"),
    ("fit kernel-svd t.csv --rank 2 --penalty 1", "predict m t.csv"),
    ("fit kpca t.csv --rank 2 --kernel rbf", "transform m --rows t.csv --out out.npy"),
    ("online gd-trace p.csv --checkpoint-every 10", "online gd-trace p.csv --checkpoint m --resume --out p.out"),
]


def models(part, program, rng, workers):
    files = {name: data for name, (data, _) in samples(part.folder, rng, program).items()}
    made = []
    for words, use in MODELS:
        option = "--checkpoint" if words.startswith("online") else "--model"
        ended = subprocess.run(f"{program.path} {words} {option} m", shell=True, cwd=part.folder, capture_output=True)
        if ended.returncode > 1:
            print(f"no model by {words}: {ended.stderr.decode()}", file=sys.stderr)
            continue
        made.append(((part.folder / "m").read_bytes(), use))
    cases = []
    for at, (data, _) in enumerate(made):
        header, meta, _ = split_model(data)
        cases += [(at, "meta", place, wrong) for place in leaves(meta) for wrong in WRONG]
        arrays = [name for name in header if name != "__metadata__"]
        cases += [(at, "array", name, wrong) for name in arrays for wrong in ("gone", "shape", "nan", "inf", "zero", "dtype")]
    rng.shuffle(cases)

    def changed(case, own):
        if case is None:
            at = own.randrange(len(made))
            return at, mutated(made[at][0], own)
        at, kind, place, wrong = case
        header, meta, rest = split_model(made[at][0])
        if kind == "meta":
            holder = meta
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = wrong
            return at, joined_model(header, meta, rest)
        entry = header[place]
        start, end = entry["data_offsets"]
        if wrong == "gone":
            del header[place]
        elif wrong == "shape":
            entry["shape"] = entry["shape"][::-1] + [1]
        elif wrong == "dtype":
            entry["dtype"] = "F32" if entry["dtype"] == "F64" else "F64"
        else:
            number = {"nan": float("nan"), "inf": float("inf"), "zero": 0.0}[wrong]
            word = struct.pack("<d", number) if entry["dtype"] == "F64" else struct.pack("<f", number)
            rest = rest[:start] + word * ((end - start) // len(word)) + b"\0" * ((end - start) % len(word)) + rest[end:]
        return at, joined_model(header, meta, rest)

    def one(k):
        if not part.open():
            return
        own = random.Random(f"{part.name}{k}{SEED}")
        at, data = changed(cases[k] if k < len(cases) else None, own)
        use = made[at][1]

        def work(folder):
            program.check(part, "inspect m", folder)
            program.check(part, use, folder)

        attempt(part, f"{k}", {**files, "x.npy": npy(2, 24, [0.5] * 48), "m": data}, work)

    workers(one)


VALUES = ["0", "-1", "1", "2", "1000000", "1000000000", "18446744073709551615", "1e300", "1e-320", "nan", "inf", "auto", "x", "''"]


def options(part, program, rng, workers):
    files = {name: data for name, (data, _) in samples(part.folder, rng, program).items()}
    commands = ["embed m.mtx --kernel rbf", "fit svm t.csv --model out", "fit krr t.csv --target a --model out", "fit kpca t.csv --model out",
                "fit ask-ls t.csv --model out", "bicluster a.npy --row-clusters 2", "links e.csv", "online gd-trace p.csv"]
    known = {}
    for words in commands:
        command = words.split()[0]
        text = subprocess.run([program.path, command, "--help"], capture_output=True, text=True).stdout
        known[command] = sorted({word for line in text.splitlines() for word in line.split()[:3] if word.startswith("--")})
    cases = [f"{words} {option} {value}" for words in commands for option in known[words.split()[0]] for value in VALUES
             if option.strip(",") not in ("--help", "--stream")]
    rng.shuffle(cases)

    def one(k):
        if part.open() and k < len(cases):
            attempt(part, f"{k}", files, lambda folder: program.check(part, cases[k], folder))

    workers(one, len(cases))


KERNELS = ["linear", "poly", "rbf --gamma 1", "laplacian --gamma 1", "sne --gamma 1", "t", "rbf --gamma scale", "rbf --gamma median"]
FITS = ["fit svm", "fit nu-svm", "fit ls-svm", "fit ask-ls", "fit krr", "fit kpca", "fit kernel-svd", "fit logistic", "embed"]


def extremes(part, program, rng, workers):
    shapes = {}
    for exponent in (-320, -160, -30, 0, 30, 100, 160, 300):
        shapes[f"e{exponent}"] = [[rng.uniform(-1, 1) * 10.0**exponent for _ in range(3)] for _ in range(20)]
    shapes["constant"] = [[1.0] * 3] * 20
    shapes["twice"] = [[float(i // 2), 1.0, float(i % 2)] for i in range(20)]
    shapes["one-row"], shapes["one-column"] = [[1.0, 2.0, 3.0]], [[float(i)] for i in range(20)]
    shapes["mixed"] = [[1e300 * (i % 2), 1e-300 * i, float(i)] for i in range(20)]
    shapes["rank-1"] = [[i * 1.0, i * 2.0, i * 3.0] for i in range(20)]
    files = {}
    for name, rows in shapes.items():
        head = ",".join("abc"[: len(rows[0])]) + ",kind\n"
        files[f"{name}.csv"] = (head + "".join(",".join(map(repr, row)) + f",{'xy'[i % 2]}\n" for i, row in enumerate(rows))).encode()
    files["one-class.csv"] = files["e0.csv"].replace(b",x\n", b",y\n")
    listed = lambda family: [entry["name"] for entry in json.loads(subprocess.run([program.path, "list", family, "--json"], capture_output=True).stdout)[family]]
    cases = [(fit, kernel, name, precision, scale) for fit in FITS for kernel in KERNELS for name in files
             for precision in ("f64", "f32") for scale in ("", "--scale standard", "--penalty 1e300")]
    cases += [("embed", kernel, name, "f64", f"--operator {operator} --solver {solver}") for kernel in KERNELS for name in files
              for operator in ("dense", "tiles") for solver in listed("solvers")]
    cases += [(f"fit {estimator}", "rbf --gamma scale", name, precision, "") for estimator in listed("estimators") if estimator not in ("embed", "bicluster")
              for name in files for precision in ("f64", "f32")]
    rng.shuffle(cases)

    def one(k):
        if not part.open() or k >= len(cases):
            return
        fit, kernel, name, precision, more = cases[k]
        words = f"{fit} {name} --kernel {kernel} --precision {precision} --model m {more}"
        words += " --compat pca --rank 1" if fit == "embed" else ""

        def work(folder):
            if program.check(part, words, folder) in (0, 1):
                header, _, rest = split_model((folder / "m").read_bytes())
                # Where nothing is filled NaN stands for that.
                numbers = {array: entry for array, entry in header.items() if array not in ("__metadata__", "prepare.fill")}
                bad = [array for array, entry in numbers.items() if entry["dtype"] in ("F64", "F32") and not finite(entry, rest)]
                if bad:
                    part.count(0.0, words, f"numbers that are none in {bad}")

        attempt(part, f"{k}", {name: files[name]}, work)

    workers(one, len(cases))


def finite(entry, rest):
    start, end = entry["data_offsets"]
    letter, size = ("d", 8) if entry["dtype"] == "F64" else ("f", 4)
    values = struct.unpack(f"<{(end - start) // size}{letter}", rest[start:end])
    return all(value - value == 0.0 for value in values)


def limits(part, program, rng, _):
    """Under limits of the address space every command succeeds or is refused."""
    rows = [[rng.gauss(0, 1) for _ in range(5)] for _ in range(6000)]
    text = "a,b,c,d,e,kind\n" + "".join(",".join(f"{v:.4f}" for v in row) + f",{'xy'[row[0] > 0]}\n" for row in rows)
    (part.folder / "big.csv").write_text(text)
    (part.folder / "edges.csv").write_text("source,target\n" + "".join(f"{rng.randrange(4000)},{rng.randrange(4000)}\n" for _ in range(30000)))
    commands = ["embed big.csv --cols big.csv --target none --kernel rbf --gamma 1 --solver exact --rank 5", "embed edges.csv --rank 50",
                "fit krr big.csv --target a --approach lla --landmarks 5000 --penalty 1 --model m", "fit krr big.csv --target a --approach exact --penalty 1 --model m",
                "fit svm big.csv --penalty 1 --model m", "fit ls-svm big.csv --penalty 1 --model m", "fit ask-ls big.csv --penalty 0.5 --model m",
                "fit kpca big.csv --rank 5 --kernel rbf --model m", "fit features big.csv --landmarks 3000 --model m", "links edges.csv --trials 1",
                "bicluster big.csv --target none --drop kind --row-clusters 3"]
    for limit in (262_144, 1_048_576, 3_145_728):
        for words in commands:
            if part.open():
                program.check(part, words, part.folder, limit, 300.0)


def kills(part, program, rng, _):
    """Killed at random moments, `online` goes on to the same bytes; other commands leave the old file or the new one."""
    trials = "".join(f"{rng.gauss(0, 1):.4f},{rng.gauss(0, 1):.4f},{rng.gauss(0, 1):.4f}\n" for _ in range(3000))
    (part.folder / "s.csv").write_text("x1,y1,label\n" + trials)
    words = "online gd-trace s.csv --kernel rbf --gamma 1 --budget 60 --out {0}.csv --checkpoint {0}.state --checkpoint-every 50 --resume -q"
    begin = time.monotonic()
    if program.check(part, words.format("whole"), part.folder, 0, 300.0) != 0:
        return
    length = time.monotonic() - begin
    expected = (part.folder / "whole.csv").read_bytes()
    while part.open():
        for file in ("cut.csv", "cut.state"):
            (part.folder / file).unlink(missing_ok=True)
        for _ in range(rng.randrange(1, 5)):
            child = program.start(words.format("cut"), part.folder, 0)
            time.sleep(rng.random() * length)
            child.kill()
            child.communicate()
        code = program.check(part, words.format("cut"), part.folder, 0, 300.0)
        same = (part.folder / "cut.csv").exists() and (part.folder / "cut.csv").read_bytes() == expected
        left = [file for file in os.listdir(part.folder) if file.startswith(".") and file.endswith(".tmp")]
        if code == 0 and (not same or left):
            part.count(0.0, words.format("cut"), f"other bytes than uninterrupted, or left {left}")


def interrupts(part, program, rng, _):
    """An interrupt at any moment ends the program within a second with 130 and leaves nothing."""
    rows = "".join(",".join(f"{rng.gauss(0, 1):.4f}" for _ in range(20)) + f",{rng.choice('xy')}\n" for _ in range(9000))
    (part.folder / "big.csv").write_text(",".join(f"c{i}" for i in range(20)) + ",kind\n" + rows)
    commands = ["embed big.csv --cols big.csv --target none --drop kind --kernel rbf --gamma 0.1 --solver exact --rank 5 --rows-out out.npy",
                "bicluster big.csv --target none --drop kind --row-clusters 5 --compat pinv --model out.model",
                "embed big.csv --cols big.csv --target none --drop kind --kernel rbf --gamma 0.1 --solver nystrom --rows-sample 3000 --cols-sample 3000 --rank 50 --rows-out out.npy",
                "fit svm big.csv --approach lla --landmarks 3000 --model out.model", "fit krr big.csv --target c0 --landmarks 4000 --approach gsa --penalty 1 --model out.model",
                "fit krr big.csv --target c0 --approach exact --penalty 1 --model out.model", "fit ask-ls big.csv --model out.model", "fit svm big.csv --model out.model",
                "fit kpca big.csv --rank 100 --kernel rbf --model out.model"]
    while part.open():
        words, way = rng.choice(commands), rng.choice([signal.SIGINT, signal.SIGTERM])
        child = program.start(words, part.folder, 0)
        time.sleep(rng.choice([0.002, 0.01, 0.05, 0.2, 1.0, 3.0]) * rng.random() * 2)
        if child.poll() is not None:
            child.communicate()
            continue
        begin = time.monotonic()
        child.send_signal(way)
        _, talk = child.communicate()
        seconds = time.monotonic() - begin
        # Before the program itself is there, its shell is what ends.
        early = child.returncode == -way and not talk
        left = [file for file in os.listdir(part.folder) if file not in ("big.csv",)]
        failure = None
        if child.returncode != 130 and not early and child.returncode not in (0, 1):
            failure = f"exit code {child.returncode}: {talk.decode()[:200]}"
        elif seconds > 1.0:
            failure = f"{seconds:.2f} s"
        elif any(file.startswith(".") for file in left):
            failure = f"left {left}"
        elif "out.model" in left and subprocess.run([program.path, "inspect", "out.model"], cwd=part.folder, capture_output=True).returncode != 0:
            # The interrupt may come when the model is there already; half of one may not.
            failure = "half a model"
        part.count(seconds, words, failure)
        for file in left:
            (part.folder / file).unlink()


PARTS = {"inputs": inputs, "models": models, "options": options, "extremes": extremes, "limits": limits, "kills": kills, "interrupts": interrupts}
PARTS |= trust_more.PARTS


def page(parts, minutes, version):
    lines = ["# Trust", "", "What happens to the program under attack: `make trust`, which is `scripts/trust.py`. Every run has to end in time with a result or with one",
             "sentence, panic nowhere and leave nothing behind; interrupts have to end it within a second.", "",
             f"{version}, seed {SEED}, {minutes:g} minutes, {os.cpu_count()} cores, {time.strftime('%Y-%m-%d')}.", "",
             "| attack | tried | failed | longest run | by |", "| --- | ---: | ---: | ---: | --- |"]
    lines += [f"| {p.name} | {p.tried} | {len(p.failed)} | {p.worst:.2f} s | `{p.where}` |" for p in parts]
    tried = {p.name: p.tried for p in parts}
    lines += ["", *(f"- {p.name}: {p.tried} of {p.known} configurations, each with 1, 2, 3, 4 and 8 threads" for p in parts if p.known)]
    for what, (names, wanted) in WANTED.items():
        if all(name in tried for name in names):
            count = sum(tried[name] for name in names)
            lines += [f"- {what}: {count}" + (f", of {wanted} wanted in a whole run" if count < wanted else "")]
    lines += ["", "`readers` and `changed` mutate files and models inside one process (`tests/readers.rs`), where thousands are tried in a second; a",
              "coverage-guided fuzzer (cargo-fuzz) is not used, as it needs a nightly compiler and this project builds with the stable one."]
    failures = [f"- {p.name}: {failure}" for p in parts for failure in p.failed[:20]]
    return "\n".join(lines + ([""] + failures if failures else [])) + "\n"


def main():
    global SEED
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--program", type=Path, default=ROOT / "target" / "debug" / "lopsided")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    SEED, program = args.seed, Program(args.program.resolve())
    print(f"seed {SEED}", file=sys.stderr)
    version = subprocess.run([program.path, "--version"], capture_output=True, text=True).stdout.strip()
    total, parts = sum(SHARES[name] for name in args.only), []
    top = tempfile.mkdtemp(prefix="trust-")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in args.only:
            folder = Path(top) / name
            folder.mkdir()
            part = Part(name, time.monotonic() + 60 * args.minutes * SHARES[name] / total, folder)

            def workers(one, most=10**9):
                numbers = iter(range(most))
                lock = threading.Lock()

                def work():
                    while part.open():
                        with lock:
                            k = next(numbers, None)
                        if k is None:
                            return
                        one(k)

                for done in [pool.submit(work) for _ in range(os.cpu_count())]:
                    done.result()

            PARTS[name](part, program, random.Random(f"{name}{SEED}"), workers)
            parts.append(part)
            print(f"{name:12} tried {part.tried:7}  failed {len(part.failed):4}  worst {part.worst:.2f} s", file=sys.stderr)
        failed = any(part.failed for part in parts)
        if failed:
            print(f"files of failures are kept in {top}", file=sys.stderr)
        else:
            shutil.rmtree(top)
    text = page(parts, args.minutes, version)
    print(text)
    if args.out:
        args.out.write_text(text)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
