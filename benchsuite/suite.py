#!/usr/bin/env python3
"""lopsided and its peers, alternately, on the same data with the same number of threads.

    benchsuite/suite.py [--full] [--only JOB … [--keep]] [--rounds N] [--threads N] [--out FOLDER]

Accuracy is compared first: where it does not agree, no ratio is given. Writes raw.csv, summary.md and ratios.svg. Peers come
from requirements.txt (`make bench` installs them into an environment of their own); falkon is not among them, as the package index
has no release of it.
"""
import argparse
import csv
import json
import multiprocessing
import os
import platform
import statistics
import sys
from pathlib import Path

from common import TARGET, WORK, build, earlier, measured

HERE = Path(__file__).resolve().parent
THREADS = os.cpu_count()


def program_words(words, stdin=None):
    """One of our commands: seconds of the whole process, peak MB, its report."""
    seconds, _, peak, out = measured([TARGET / "lopsided", *words, "--json", "--quiet"], THREADS, stdin=stdin)
    return seconds, peak, json.loads(out)


def peer(name, folder, settings):
    """One of the others: seconds from opening the data, peak MB, what it found."""
    words = [f"{key}={value}" for key, value in settings.items()]
    _, _, peak, out = measured([sys.executable, HERE / "peers.py", name, folder, *words], THREADS)
    found = json.loads(out)
    return found["seconds"], peak, found


def ours_found(report):
    """What is compared, out of a report."""
    sigma = report.get("singular_values") or report.get("sigma") or []
    values = [report["n_train"] * v for v in report.get("variances") or []]
    return {"sigma": sigma, "values": values, "nmi": report.get("nmi"), **report}


def in_child(function, *words):
    """What the function returns, called in a process of its own: a child's peak memory is at least what its parent held."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send(function(*words)))
    child.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        sys.exit(1)  # the child has said why
    finally:
        child.join()


def run(job, rounds):
    """Rows of the raw table."""
    folder = WORK / "jobs" / job.name
    folder.mkdir(parents=True, exist_ok=True)
    settings = in_child(job.data, folder)
    rows = []
    for turn in range(rounds):
        seconds, peak, report = program_words(job.ours(folder, settings), job.stdin and folder / job.stdin)
        found = ours_found(report) if job.then is None else job.then(folder, settings)
        rows.append({"job": job.name, "who": "lopsided", "turn": turn, "seconds": seconds, "peak_mb": peak, "agrees": True, "note": ""})
        for name, more, label in job.peers:
            try:
                seconds, peak, theirs = peer(name, folder, {**settings, **more})
                agrees, note = job.agree(found, theirs)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                seconds, peak, agrees, note = float("nan"), float("nan"), False, "the peer failed"
            rows.append({"job": job.name, "who": label, "turn": turn, "seconds": seconds, "peak_mb": peak, "agrees": agrees, "note": note})
    return rows


def summary(job, rows):
    """A line for each peer."""
    own = [row for row in rows if row["who"] == "lopsided"]
    for _, _, label in job.peers:
        theirs = [row for row in rows if row["who"] == label]
        ratios = sorted(t["seconds"] / o["seconds"] for t, o in zip(theirs, own))
        middle = lambda key, of: statistics.median(row[key] for row in of)
        yield {
            "job": job.about, "peer": label, "goal": job.goal, "agrees": all(row["agrees"] for row in theirs),
            "ratio": statistics.median(ratios), "spread": (ratios[0], ratios[-1]), "ours": middle("seconds", own),
            "theirs": middle("seconds", theirs), "rounds": len(own), "memory": (middle("peak_mb", own), middle("peak_mb", theirs)), "note": theirs[0]["note"],
        }


def shown(ratio):
    """Two digits at least."""
    return f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"


def line(s):
    spread = f"[{shown(s['spread'][0])}–{shown(s['spread'][1])}, {s['rounds']}]"
    ratio = f"{shown(s['ratio'])} {spread}" if s["agrees"] else "results differ"
    memory = f"{s['memory'][0]:.0f} / {s['memory'][1]:.0f}"
    return f"| {s['job']} | {s['peer']} | {s['ours']:.2f} | {s['theirs']:.2f} | {ratio} | {s['goal']} | {memory} | {s['note']} |"


def table(lines, skipped):
    """The summary as Markdown."""
    wanted = (HERE / "requirements.txt").read_text().split()
    versions = ", ".join(line.replace("==", " ") for line in wanted)
    head = [
        f"`benchsuite/suite.py`, {processor()}, {THREADS} threads, Python {platform.python_version()}, {versions}.",
        "Ours is the time of the whole process; a peer's begins at opening the data, without its imports.\n",
        "| job | peer | ours, s | peer, s | ratio, median [spread, rounds] | goal | peak MB, ours / peer | agreement |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join(head + [line(s) for s in lines] + [f"\n{text}" for text in skipped]) + "\n"


def processor():
    """What the system calls its processor."""
    try:
        info = Path("/proc/cpuinfo").read_text()
        return next(line.split(":", 1)[1].strip() for line in info.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def picture(lines):
    """Ratios as bars on a logarithmic axis."""
    import math

    known = [s for s in lines if s["agrees"]]
    height = 30 * len(known) + 50
    scale = 400 / max(1.0, max((math.log10(max(s["ratio"], 1)) for s in known), default=1.0))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="1120" height="{height}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>', '<text x="10" y="20">How many times as fast as the peer, logarithmic</text>']
    for at, s in enumerate(known):
        y, width = 35 + 30 * at, max(2.0, scale * math.log10(max(s["ratio"], 1)))
        colour = "#0072b2" if s["ratio"] >= 1 else "#d55e00"
        out += [f'<text x="640" y="{y + 14}" text-anchor="end">{s["job"][:80]} · {s["peer"]}</text>'.replace("&", "&amp;"),
                f'<rect x="650" y="{y}" width="{width:.0f}" height="20" fill="{colour}"/>',
                f'<text x="{655 + width:.0f}" y="{y + 14}">{shown(s["ratio"])}</text>']
    return "\n".join([*out, "</svg>\n"])


def main():
    global THREADS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the long jobs as well")
    parser.add_argument("--only", nargs="+", metavar="JOB")
    parser.add_argument("--keep", action="store_true", help="with --only: take the other jobs from the run in the folder")
    parser.add_argument("--rounds", type=int, help="of every job; each has its own number by default")
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--out", type=Path, default=WORK / "suite")
    options = parser.parse_args()
    THREADS = options.threads
    build()
    from jobs import JOBS

    kinds = {"turn": int, "seconds": float, "peak_mb": float, "agrees": "True".__eq__}
    kept = earlier(options.out / "raw.csv", "job", kinds) if options.keep else {}
    rows, lines, skipped = [], [], []
    for job in JOBS:
        wanted = job.name in options.only if options.only else options.full or not job.full
        if not wanted and job.name not in kept:
            continue
        if job.missing():
            skipped.append(f"{job.name}: skipped, LOPSIDED_DATA has no {', '.join(job.missing())}")
            continue
        found = run(job, options.rounds or job.rounds) if wanted else kept[job.name]
        rows += found
        for text in summary(job, found):
            lines.append(text)
            print(line(text), flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    with open(options.out / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0] if rows else ["job"])
        writer.writeheader()
        writer.writerows(rows)
    (options.out / "summary.md").write_text(table(lines, skipped))
    (options.out / "ratios.svg").write_text(picture(lines))
    sys.exit(0 if all(s["agrees"] for s in lines) else 1)


if __name__ == "__main__":
    main()
