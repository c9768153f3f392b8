#!/usr/bin/env python3
"""The pictures of docs/concepts.md: runs the program on the data of docs/make_data.py and draws what it says.

    python3 docs/figures.py --program target/debug/lopsided
"""
import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLOURS = ["#4477aa", "#ee6677", "#228833", "#aa7711"]
#: Colours of text and axes that can be read on light and dark ground.
INK, FAINT = "#7a7a7a", "#b0b0b0"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 280, 240, 44, 30, 40


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = Path(path).resolve(), folder

    def json(self, *words):
        command = [self.path, *map(str, words), "--json", "--quiet"]
        return json.loads(subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True).stdout)

    def table(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.reader(file))[1:]


def number(value):
    return f"{value:.3g}"


def panel(at, title, axes, body, ticks):
    """One plot; `ticks` are pairs of place and word for both axes."""
    x, lines = at * WIDTH, []
    bottom, right = HEIGHT - BOTTOM, WIDTH - 12
    lines.append(f'<g transform="translate({x} 0)" font-size="11" fill="{INK}">')
    lines.append(f'<text x="{LEFT}" y="18" font-size="12">{title}</text>')
    lines.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="{FAINT}"/>')
    lines += [f'<text x="{place:.1f}" y="{bottom + 14}" text-anchor="middle">{word}</text>' for place, word in ticks[0]]
    lines += [f'<text x="{LEFT - 4}" y="{place + 4:.1f}" text-anchor="end">{word}</text>' for place, word in ticks[1]]
    lines.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{axes[0]}</text>')
    lines.append(f'<text x="12" y="{(TOP + bottom) / 2}" text-anchor="middle" transform="rotate(-90 12 {(TOP + bottom) / 2})">{axes[1]}</text>')
    return "\n".join([*lines, *body, "</g>"])


def places(values, low, high):
    """Places of values between two pixels, with a little room at both ends."""
    least, most = min(values), max(values)
    room = 0.04 * (most - least or 1)
    scale = (high - low) / (most - least + 2 * room)
    return lambda value: low + (value - least + room) * scale


def scatter(at, title, points, classes):
    x = places([p[0] for p in points], LEFT, WIDTH - 12)
    y = places([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    dots = [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2.2" fill="{COLOURS[c]}"/>' for (a, b), c in zip(points, classes)]
    return panel(at, title, ("component 2", "component 3"), dots, ([], []))


def lines(at, title, axes, names, series, level=None):
    """Lines over a few places, which stand at equal distances; `level` is a dashed one."""
    every = [v for values in series.values() for v in values] + ([level] if level is not None else [])
    steps = (WIDTH - 24 - LEFT) / max(len(names) - 1, 1)
    x, y = (lambda k: LEFT + 8 + k * steps * 0.94), places(every, HEIGHT - BOTTOM, TOP + 14)
    body = []
    if level is not None:
        body.append(f'<path d="M{LEFT} {y(level):.1f}H{WIDTH - 12}" stroke="{INK}" stroke-dasharray="4 3"/>')
    for k, (name, values) in enumerate(series.items()):
        path = "L".join(f"{x(i):.1f} {y(v):.1f}" for i, v in enumerate(values))
        body.append(f'<path d="M{path}" fill="none" stroke="{COLOURS[k]}" stroke-width="1.6"/>')
        body += [f'<circle cx="{x(i):.1f}" cy="{y(v):.1f}" r="2.6" fill="{COLOURS[k]}"/>' for i, v in enumerate(values)]
        if name:
            body.append(f'<text x="{WIDTH - 14}" y="{TOP + 8 + 13 * k}" text-anchor="end" fill="{COLOURS[k]}">{name}</text>')
    heights = [min(every), max(every)]
    ticks = ([(x(i), word) for i, word in enumerate(names)], [(y(v), number(v)) for v in heights])
    return panel(at, title, axes, body, ticks)


def write(name, title, panels):
    size = f'viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}" width="{WIDTH * len(panels)}"'
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif"><title>{title}</title>\n'
    (HERE / "figures").mkdir(exist_ok=True)
    (HERE / "figures" / name).write_text(text + "\n".join(panels) + "\n</svg>\n")


def sides(program):
    groups = dict(program.table("groups.csv"))
    codes = {name: code for code, name in enumerate(sorted(set(groups.values())))}

    def embedded(*words):
        program.json("embed", "follows.csv", "--rank", 3, *words, "--rows-out", "u.csv", "--cols-out", "v.csv")
        for name in ("u.csv", "v.csv"):
            rows = program.table(name)
            yield [(float(r[2]), float(r[3])) for r in rows], [codes[groups[r[0]]] for r in rows]

    rows, cols = embedded()
    plain, _ = embedded("--links", "either")
    panels = [scatter(0, "as people who are followed (U)", *rows), scatter(1, "as people who follow (V)", *cols), scatter(2, "without direction", *plain)]
    write("sides.svg", "Both sides of a circle of four groups, and the graph without direction", panels)


def landmarks(program):
    fit = ["fit", "krr", "houses.csv", "--target", "price", "--penalty", 100, "--model", "m"]
    counts, samplers = [10, 20, 40, 80, 160], ["uniform", "rpcholesky"]
    exact = program.json(*fit)["train_score"]
    score = lambda count, sampler: program.json(*fit, "--approach", "lla", "--landmarks", count, "--sampler", sampler)["train_score"]
    series = {sampler: [score(count, sampler) for count in counts] for sampler in samplers}
    write("landmarks.svg", "Error by the number of landmarks", [lines(0, "prices of houses", ("landmarks", "RMSE"), counts, series, exact)])


def knobs(program):
    def accuracy(*words):
        program.json("fit", "kernel-svd", "follows.csv", "--labels", "known.csv", "--links", "in", *words, "--model", "m")
        return program.json("predict", "m", "follows.csv", "--ids", "unknown.txt", "--labels", "groups.csv", "--out", "p.csv")["accuracy"]

    ranks, factors = [2, 3, 4, 8, 16, 32, 64], [0.3, 0.5, 1, 2, 3, 6, 12]
    by_rank = lines(0, "by the rank", ("rank", "accuracy"), ranks, {"": [accuracy("--rank", r) for r in ranks]})
    width = {"": [accuracy("--rank", 8, "--gamma-factor", f) for f in factors]}
    write("knobs.svg", "Accuracy by rank and by the width of the kernel", [by_rank, lines(1, "by the width of the kernel", ("gamma factor", "accuracy"), factors, width)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=HERE.parent / "target" / "debug" / "lopsided")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, HERE / "make_data.py", folder], check=True, capture_output=True)
        program = Program(asked.program, Path(folder))
        for draw in (sides, landmarks, knobs):
            draw(program)
    print(f"pictures are in {HERE / 'figures'}")


if __name__ == "__main__":
    main()
