#!/usr/bin/env python3
"""Products and a kernel SVD on an NVIDIA card, beside torch's tiles on the same card and beside the processor.

    benchsuite/device.py [--example FILE] [--out FILE.md] [--size N] [--svd N] [--cpu N] [--large N] [--kpca N]

Needs the example `device` of the library (`cargo build --release -p lopsided --features cuda --example device`), a card, and
torch for the comparison. G·V of the RBF kernel with N row and N column samples, gamma = 1/(2 d): milliseconds of the card by
its own events, medians of five after a warm-up, with the error against double precision beside each; ours without and with
the way of V to the card and of the result back. torch multiplies tiles of 8192 x 8192, with the exponential compiled, in
single precision; its V and its result lie on the card.
"""
import argparse
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHAPES = [(10, 20), (10, 128), (64, 20), (64, 128), (500, 20), (500, 128)]
TILE = 8192


def told(example, *words):
    """What the example prints."""
    command = [str(word) for word in (example, *words)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout.strip()


def torch_seconds(size, d, r):
    """Median seconds of torch's tiles, and the error of 64 rows; None without torch."""
    try:
        import torch
    except ImportError:
        return None
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("highest")
    x, z = (torch.randn(size, d, device="cuda", dtype=torch.float64).float() for _ in range(2))
    v = torch.randn(size, r, device="cuda", dtype=torch.float64).float()
    gamma = 0.5 / d
    a, b = (gamma * (s * s).sum(1) for s in (x, z))
    values = torch.compile(lambda s, a, b: torch.exp(2 * gamma * s - a[:, None] - b[None, :]))

    def product():
        out = torch.zeros(size, r, device="cuda")
        for i in range(0, size, TILE):
            for j in range(0, size, TILE):
                s = x[i:i + TILE] @ z[j:j + TILE].T
                out[i:i + TILE] += values(s, a[i:i + TILE], b[j:j + TILE]) @ v[j:j + TILE]
        return out

    out, seconds = product(), []
    for _ in range(3):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        out = product()
        end.record()
        torch.cuda.synchronize()
        seconds.append(start.elapsed_time(end) / 1000)
    rows = torch.arange(0, size, max(1, size // 64), device="cuda")[:64]
    wide = torch.cdist(x[rows].double(), z.double()).pow(2).mul(-gamma).exp() @ v.double()
    return statistics.median(seconds), ((out[rows].double() - wide).norm() / wide.norm()).item()


def torch_components(size, d, rank):
    """Seconds of the leading eigenvalues of the centred RBF kernel by torch's tiles and a randomised range finder with two power
    steps, which is what `torch.svd_lowrank` does with a stored matrix; the first and the last eigenvalue. None without torch."""
    try:
        import torch
    except ImportError:
        return None
    torch.manual_seed(1)
    x = torch.randn(size, d, device="cuda")
    gamma = 0.5 / d
    a = gamma * (x * x).sum(1)
    values = torch.compile(lambda s, a, b: torch.exp(2 * gamma * s - a[:, None] - b[None, :]))

    def product(v):
        v, out = v - v.mean(0), torch.zeros(size, v.shape[1], device="cuda")
        for i in range(0, size, TILE):
            for j in range(0, size, TILE):
                out[i:i + TILE] += values(x[i:i + TILE] @ x[j:j + TILE].T, a[i:i + TILE], a[j:j + TILE]) @ v[j:j + TILE]
        return out - out.mean(0)

    def found():
        q = torch.linalg.qr(product(torch.randn(size, rank + 6, device="cuda"))).Q
        for _ in range(4):  # two steps with K and with its transpose, which is K
            q = torch.linalg.qr(product(q)).Q
        return torch.linalg.svdvals(product(q))[:rank]

    found()
    torch.cuda.synchronize()
    start = time.perf_counter()
    sigma = found()
    torch.cuda.synchronize()
    return time.perf_counter() - start, sigma[0].item(), sigma[-1].item()


def products(example, size):
    lines = ["| | " + " | ".join(f"d {d}, r {r}" for d, r in SHAPES) + " |", "| --- " * (len(SHAPES) + 1) + "|"]
    pattern = re.compile(r"card ([\d.]+) ms, call ([\d.]+) ms, error ([\d.e+-]+)")
    best = {}
    for precision in ("f32", "fast", "f64"):
        found = [pattern.search(told(example, "gv", size, d, r, precision)).groups() for d, r in SHAPES]
        lines.append(f"| {precision}, ms of the card | " + " | ".join(f"{float(card):.1f}" for card, _, _ in found) + " |")
        lines.append(f"| {precision}, ms of the call | " + " | ".join(f"{float(call):.1f}" for _, call, _ in found) + " |")
        lines.append(f"| {precision}, error | " + " | ".join(error for _, _, error in found) + " |")
        best[precision] = [float(card) for card, _, _ in found]
        print("\n".join(lines[-3:]), flush=True)
    peers = [torch_seconds(size, d, r) for d, r in SHAPES]
    if all(peers):
        lines.append("| torch f32, ms of the card | " + " | ".join(f"{1e3 * s:.1f}" for s, _ in peers) + " |")
        lines.append("| torch f32, error | " + " | ".join(f"{e:.1e}" for _, e in peers) + " |")
        ratios = [1e3 * s / own for (s, _), own in zip(peers, best["f32"])]
        lines.append("| torch f32 / f32 | " + " | ".join(f"{ratio:.1f}" for ratio in ratios) + " |")
        print("\n".join(lines[-3:]), flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--example", type=Path, default=ROOT / "target" / "release" / "examples" / "device")
    parser.add_argument("--out", type=Path, help="also write the tables to this file")
    parser.add_argument("--size", type=int, default=200_000, help="samples of each side of the products; 0 leaves them out")
    parser.add_argument("--svd", type=int, default=200_000, help="samples of the SVD on the card; 0 leaves it out")
    parser.add_argument("--cpu", type=int, default=50_000, help="samples of the SVD on card and processor; 0 leaves it out")
    parser.add_argument("--large", type=int, default=1_000_000, help="samples of the RBF SVD on the card; 0 leaves it out")
    parser.add_argument("--kpca", type=int, default=200_000, help="samples of the components on the card; 0 leaves them out")
    given = parser.parse_args()
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    card = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    lines = [f"Card: {card}. Date: {time.strftime('%Y-%m-%d')}.", ""]
    if given.size:
        lines += [f"G·V, {given.size} x {given.size}, RBF:", "", *products(given.example, given.size), ""]
    def tell(line):
        lines.append("    " + line)
        print(lines[-1], flush=True)

    for size, device in [(given.svd, "cuda"), (given.cpu, "cuda"), (given.cpu, "cpu")]:
        if size:
            tell(told(given.example, "svd", size, 64, 50, "f32", device))
    if given.large:
        tell(told(given.example, "svd", given.large, 10, 20, "f32", "cuda", "rbf"))
    if given.kpca:
        tell(told(given.example, "kpca", given.kpca, 64, 50, "f32", "cuda"))
        tell(told(given.example, "kpca", given.kpca, 64, 50, "f64", "cuda"))
        peer = torch_components(given.kpca, 64, 50)
        if peer:
            seconds, first, last = peer
            tell(f"torch n={given.kpca} d=64 rank=50 f32: {seconds:.2f} s, eigenvalues {first:.4f} to {last:.4f}")
    if given.out:
        given.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
