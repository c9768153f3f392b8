#!/usr/bin/env python3
"""Compiles the kernels of this folder into kernels.zip, which the library holds.

    pip install nvidia-cuda-nvrtc-cu12==12.4.127      # no card, no driver and no toolkit needed
    python3 build.py [--check] [--libraries FOLDER]

Every kernel is compiled twice: to machine code of compute capability 9.0 (name.sm_90a), which uses what only that chip
has, and to PTX of 8.0 (name.ptx), which the driver translates for any later chip. kernels.zip also holds the checksum of
the sources, this file among them, which a test of the library compares. --check compiles nothing and says whether
kernels.zip belongs to the sources; with the same compiler the archive comes out the same byte for byte.
"""
from __future__ import annotations

import argparse
import ctypes
import glob
import re
import sys
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARCHIVE = HERE / "kernels.zip"
#: In the order of their checksum.
SOURCES = ["build.py", "double.cu", "hopper.cu", "portable.cu", "tools.cu", "values.cu"]
VALUES = {"exponential": 0, "inverse": 1, "power": 2}
LARGEST = 3
COLUMNS = [8, 16, 24, 32, 64, 128]
#: Steps of 16 coordinates that hopper.cu multiplies at once.
STEPS = [1, 2, 4]
COLUMNS_DOUBLE = [16, 32, 64, 128]


def checksum() -> str:
    crc = 0
    for name in SOURCES:
        crc = zlib.crc32((HERE / name).read_bytes(), crc)
    return f"{crc:08x}"


def operands(first: int, count: int) -> str:
    return ", ".join(f"%{i}" for i in range(first, first + count))


def wgmma(columns: int) -> str:
    """The two instructions of hopper.cu: 64 x 128 scores from shared memory, 64 x columns with values from registers."""

    def function(name: str, n: int, left: str, left_argument: str, left_count: int, flags: str) -> str:
        sums = n // 2
        outputs = ", ".join(f'"+f"(d[{i}])' for i in range(sums))
        a = f"%{sums}" if left_count == 1 else "{" + operands(sums, 4) + "}"
        b, keep = sums + left_count, sums + left_count + 1
        text = (
            f"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{keep}, 0;\\nwgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16 "
            f"{{{operands(0, sums)}}}, {a}, %{b}, p, {flags};\\n}}\\n"
        )
        return (
            f"__device__ __forceinline__ void {name}(float* d, {left_argument}, unsigned long long b, int keep) {{\n"
            f'    asm volatile("{text}" : {outputs} : {left}, "l"(b), "r"(keep));\n}}\n'
        )

    scores = function("wgmma_scores", 128, '"l"(a)', "unsigned long long a", 1, "1, 1, 0, 0")
    values = ", ".join(f'"r"(a[{i}])' for i in range(4))
    return scores + function("wgmma_product", columns, values, "const unsigned* a", 4, "1, 1, 0")


def jobs() -> list[tuple[str, str, list[str]]]:
    """Name, source and options of each compilation."""
    text = {name: (HERE / name).read_text() for name in SOURCES}
    out = []

    def add(name: str, source: str, target: str, **macros: object) -> None:
        options = [f"-D{key}={value}" for key, value in macros.items()]
        arch = "sm_90a" if target == "sm_90a" else "compute_80"
        out.append((f"{name}.{target}", source, [f"--gpu-architecture={arch}", "--std=c++17", *options]))

    for precision in ("float", "double"):
        for target in ("sm_90a", "ptx"):
            add(f"tools-{precision}", text["tools.cu"], target, FLOAT=precision)
    for parts in (1, 2):
        wanted = [(f"{name}-{columns}", value, columns) for name, value in VALUES.items() for columns in COLUMNS]
        for name, value, columns in [*wanted, ("largest", LARGEST, 8)]:
            macros = {"VALUE": value, "PARTS": parts, "COLUMNS": columns}
            source = text["values.cu"] + wgmma(columns) + text["hopper.cu"]
            for steps in STEPS:
                # Three groups have too few registers for many columns, and too little memory for wide samples.
                for groups in [3] * (columns <= 32) + [2] * (columns > 32 or steps == max(STEPS)):
                    add(f"half{parts}-{name}-{steps}-{groups}", source, "sm_90a", GROUPS=groups, STEPS=steps, **macros)
            add(f"half{parts}-{name}", text["values.cu"] + text["portable.cu"], "ptx", **macros)
    wanted = [(f"{name}-{columns}", value, columns) for name, value in VALUES.items() for columns in COLUMNS_DOUBLE]
    for name, value, columns in [*wanted, ("largest", LARGEST, 16)]:
        for target in ("sm_90a", "ptx"):
            add(f"double-{name}", text["values.cu"] + text["double.cu"], target, VALUE=value, COLUMNS=columns, DOUBLE=1)
    return out


def compiler(folder: str | None) -> ctypes.CDLL:
    folders = [folder] if folder else [f"{path}/nvidia/*/lib" for path in sys.path if path]
    found = [name for path in folders for name in glob.glob(f"{path}/libnvrtc.so.*")]
    if not found:
        raise SystemExit("no libnvrtc found: pip install nvidia-cuda-nvrtc-cu12, or give its folder with --libraries")
    return ctypes.CDLL(found[0])


def compiled(nvrtc: ctypes.CDLL, job: tuple[str, str, list[str]]) -> tuple[str, bytes, str]:
    name, source, options = job
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    machine = name.endswith(".sm_90a")
    options = [*options, "--ptxas-options=-v"] if machine else options
    arguments = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), (name + ".cu").encode(), 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), arguments)

    def text(which: str) -> bytes:
        getattr(nvrtc, f"nvrtcGet{which}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{which}")(program, buffer)
        return buffer.raw

    log = text("ProgramLog").rstrip(b"\0").decode()
    if failed:
        raise SystemExit(f"{name}: {log}")
    out = text("CUBIN") if machine else text("PTX").rstrip(b"\0")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return name, out, log


def used(log: str) -> str:
    """What the assembler says of the largest kernel."""
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", log)]
    spilled = [int(n) for n in re.findall(r"(\d+) bytes spill stores", log)]
    serial = ", wgmma serialised" if "serializ" in log else ""
    return f"{max(registers, default=0)} registers, {max(spilled, default=0)} bytes spilled{serial}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="say whether kernels.zip belongs to the sources")
    parser.add_argument("--libraries", help="folder of libnvrtc")
    parser.add_argument("--only", default="", help="print what kernels whose names hold this use, and write nothing")
    arguments = parser.parse_args()
    if arguments.check:
        with zipfile.ZipFile(ARCHIVE) as archive:
            raise SystemExit(0 if archive.read("sources").decode() == checksum() else "kernels.zip is older than its sources")
    nvrtc = compiler(arguments.libraries)
    chosen = [job for job in jobs() if arguments.only in job[0]]
    with ThreadPoolExecutor(2) as pool:
        results = sorted(pool.map(lambda job: compiled(nvrtc, job), chosen))
    for name, out, log in results:
        print(f"{name:34} {len(out):7} bytes  {used(log) if name.endswith('.sm_90a') else ''}")
    if arguments.only:
        return
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, out in [("sources", checksum().encode()), *((name, out) for name, out, _ in results)]:
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, out)
    print(f"kernels.zip: {ARCHIVE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
