#!/usr/bin/env python3
"""Time and peak memory of the release program against the size of its problem, for every estimator.

    benchsuite/scaling.py [--quick] [--only CURVE … [--keep]] [--limit SECONDS] [--threads N] [--program FILE] [--out FOLDER]

Each curve has the power by which time and memory may grow; the fitted one is the slope through the larger half of the sizes in
logarithmic scales. Time is processor time, which other programs on the machine change little; against the number of threads it is
what passes by. Start-up flattens curves, so that small sizes say little. Data are generated. Writes scaling.csv, scaling.md
and scaling.svg; ends with 1 if something grows faster than its theory. Needs NumPy.
"""
import argparse
import csv
import json
import os
import platform
import shutil
import sys
from pathlib import Path

from common import TARGET, WORK, TooSlow, build, earlier, measured, numpy

np = numpy()
# How much larger than theory a fitted power may be: caches, start-up and other programs bend curves by as much.
SLACK = 0.25
# Below so many seconds a point is measured three times, and the shortest counts.
SHORT = 1.0
COLOURS = {"time": "#0072b2", "peak_mb": "#d55e00"}
COLUMNS = ["curve", "grows", "size", "seconds", "processor_seconds", "peak_mb", "turns"]


def point(curve, size, options):
    """A row of the table; raises TooSlow beyond the limit."""
    folder = WORK / "scaling"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = curve.words(folder, size)
    stdin = folder / "stream.csv" if "-" in words else None
    count = words[words.index("--threads") + 1] if "--threads" in words else options.threads
    # Exit code 1 says that a tolerance was not reached, which costs no less.
    run = lambda: measured([options.program, *words, "--json", "--quiet"], count, limit=options.limit, codes=(0, 1), stdin=stdin)
    found = [run()]
    while found[0][0] < SHORT and len(found) < 3:
        found.append(run())
    # The program's own account: what the system tells of a child may be the memory of this process.
    peak = min(json.loads(out)["peak_bytes"] for *_, out in found) / 1e6
    seconds, processor = (min(turn[at] for turn in found) for at in (0, 1))
    return dict(zip(COLUMNS, (curve.name, curve.grows, size, seconds, processor, peak, len(found))))


def sizes(curve, options):
    return curve.quick if options.quick else curve.sizes


def measure(curve, options):
    """Rows of a curve, up to the first point that takes too long."""
    rows = []
    for size in sizes(curve, options):
        try:
            rows.append(point(curve, size, options))
        except TooSlow:
            break
        print(f"{curve.name}: {size} {of(rows[-1], 'time'):.3f} s {rows[-1]['peak_mb']:.0f} MB", file=sys.stderr, flush=True)
    return rows


def upper_half(rows):
    return rows[(len(rows) - 1) // 2:] if len(rows) > 2 else rows


def of(row, key):
    """The time that counts, or another column."""
    if key == "time":
        key = "seconds" if row["grows"] == "threads" else "processor_seconds"
    return row[key]


def power(rows, key):
    """The slope through the larger half in logarithmic scales; NaN below two points."""
    rows = upper_half(rows)
    if len(rows) < 2:
        return float("nan")
    return float(np.polyfit(np.log([row["size"] for row in rows]), np.log([of(row, key) for row in rows]), 1)[0])


def verdict(curve, time, memory):
    if np.isnan(time):
        return "too few points"
    faster = [what for what, found, allowed in (("time", time, curve.time), ("memory", memory, curve.memory)) if found > allowed + SLACK]
    return f"**{' and '.join(faster)} grows faster than its theory**" if faster else "within theory"


def line(curve, rows, options):
    wanted = sizes(curve, options)
    cut = "" if len(rows) == len(wanted) else f"{wanted[len(rows)]} {curve.grows.split(',')[0]} took longer than {options.limit:g} s"
    time, memory = power(rows, "time"), power(rows, "peak_mb")
    span = f"{rows[0]['size']} … {rows[-1]['size']}" if rows else "none"
    last = " | ".join(f"{of(rows[-1], key):.{digits}f}" if rows else "none" for key, digits in (("time", 2), ("peak_mb", 0)))
    remark = verdict(curve, time, memory) + (f"; {cut}" if cut else "")
    return (f"| {curve.name} | {curve.about} | {curve.grows} | {span} | {last} | {time:.2f} | {curve.time} "
            f"| {memory:.2f} | {curve.memory} | {curve.why} | {remark} |")


def table(lines, options):
    head = [
        f"`benchsuite/scaling.py{' --quick' if options.quick else ''}`, {platform.machine()}, {os.cpu_count()} cores, {options.threads} threads, "
        f"at most {options.limit:g} s a point. Powers are fitted over the larger half of the sizes.\n",
        "| curve | job | grows | sizes | processor s at the last | MB at the last | power of time | theory | power of memory | theory | why | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join(head + lines) + "\n"


# The picture

WIDTH, HEIGHT, ACROSS = 190, 130, 6


def panel(curve, rows, key, left, top):
    """One curve in logarithmic scales, with the slope of its theory through the last point."""
    allowed = curve.time if key == "time" else curve.memory
    x, y = np.log10([row["size"] for row in rows]), np.log10([of(row, key) for row in rows])
    low, high = np.floor(y.min() - 0.05), max(np.ceil(y.max() + 0.05), np.floor(y.min() - 0.05) + 1)
    across = lambda v: left + 34 + (WIDTH - 50) * (v - x[0]) / max(x[-1] - x[0], 1e-9)
    down = lambda v: top + HEIGHT - 22 - (HEIGHT - 58) * (np.clip(v, low, high) - low) / (high - low)
    path = lambda xs, ys: " ".join(f"{across(a):.1f},{down(b):.1f}" for a, b in zip(xs, ys))
    # The theory's line begins at the first size, or where it enters the frame.
    room = (y[-1] - (low if allowed > 0 else high)) / allowed if allowed else np.inf
    ends = np.array([max(x[0], x[-1] - room), x[-1]])
    grows = curve.grows.split(",")[0]
    unit = "s" if key == "time" else "MB"
    fitted = power(rows, key)
    out = [f'<text x="{left + 4}" y="{top + 14}" font-weight="bold">{curve.name}<tspan font-weight="normal" fill="#555">, {grows}</tspan></text>',
           f'<text x="{left + 4}" y="{top + 28}" fill="{COLOURS[key]}">{unit}: {fitted:.2f}, theory {allowed}</text>',
           f'<polyline points="{path(ends, y[-1] + allowed * (ends - x[-1]))}" fill="none" stroke="#999" stroke-dasharray="3 3"/>',
           f'<polyline points="{path(x, y)}" fill="none" stroke="{COLOURS[key]}" stroke-width="1.5"/>']
    out += [f'<circle cx="{across(a):.1f}" cy="{down(b):.1f}" r="2.2" fill="{COLOURS[key]}"/>' for a, b in zip(x, y)]
    for v in (low, high):
        out.append(f'<text x="{left + 31}" y="{down(v) + 4:.1f}" text-anchor="end" fill="#555">{10.0 ** v:g}</text>')
    for at, anchor in ((0, "start"), (-1, "end")):
        out.append(f'<text x="{across(x[at]):.1f}" y="{top + HEIGHT - 8}" text-anchor="{anchor}" fill="#555">{rows[at]["size"]}</text>')
    out.append(f'<rect x="{left + 34}" y="{down(high):.1f}" width="{WIDTH - 50}" height="{HEIGHT - 58}" fill="none" stroke="#ccc"/>')
    return out


def picture(curves):
    """Time and memory of each curve side by side."""
    known = [(curve, rows, key) for curve, rows in curves if len(rows) > 1 for key in COLOURS]
    height = 40 + HEIGHT * -(-len(known) // ACROSS)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH * ACROSS + 10}" height="{height}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="10" y="20" font-size="14">Processor seconds and peak MB against size, both logarithmic; dashed: the power that theory allows</text>']
    for at, (curve, rows, key) in enumerate(known):
        out += panel(curve, rows, key, 5 + WIDTH * (at % ACROSS), 30 + HEIGHT * (at // ACROSS))
    return "\n".join([*out, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, under five minutes")
    parser.add_argument("--only", nargs="+", metavar="CURVE", help="these curves, or those whose names begin so")
    parser.add_argument("--keep", action="store_true", help="with --only: take the other curves from the run in the folder, made with the same limit")
    parser.add_argument("--limit", type=float, default=60, help="seconds after which a point, and its curve, is given up")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--program", type=Path, help="a built program to measure in place of a new release build")
    parser.add_argument("--out", type=Path, default=WORK / "scaling-run")
    options = parser.parse_args()
    WORK.mkdir(exist_ok=True)
    if not options.program:
        build()
        options.program = TARGET / "lopsided"
    from curves import CURVES

    numbers = {"size": int, **dict.fromkeys(COLUMNS[3:], float)}
    kept = earlier(options.out / "scaling.csv", "curve", numbers) if options.keep else {}
    curves, lines = [], []
    for curve in CURVES:
        wanted = not options.only or any(curve.name.startswith(name) for name in options.only)
        if not wanted and curve.name not in kept:
            continue
        rows = measure(curve, options) if wanted else kept[curve.name]
        curves.append((curve, rows))
        lines.append(line(curve, rows, options))
        print(lines[-1], flush=True)
    if not curves:
        sys.exit(f"no such curve; there are {', '.join(curve.name for curve in CURVES)}")
    shutil.rmtree(WORK / "scaling", ignore_errors=True)
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "scaling.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(row for _, rows in curves for row in rows)
    (options.out / "scaling.md").write_text(table(lines, options))
    (options.out / "scaling.svg").write_text(picture(curves))
    sys.exit(1 if any("grows faster" in text for text in lines) else 0)


if __name__ == "__main__":
    main()
