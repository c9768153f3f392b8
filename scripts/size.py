#!/usr/bin/env python3
"""Print the numbers this project holds itself to, measured on the Rust sources.

Counting rules: lengths are those of every Rust file, tests, examples and benchmarks included, and of all functions in
them. Documentation, traits and panics are those of the library, where a file ends at its first `#[cfg(test)] mod` and
files of tests alone are left out. A function runs from its `fn` line to the closing brace at the same indentation, so
the sources must be formatted by rustfmt. Sealed traits are not counted: nobody outside can implement them. With
--strict the exit status is 1 if any number is not held.
"""

import math
import re
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "crates" / "lopsided" / "src"

TEST_MODULE = re.compile(r"^\s*#\[cfg\(test\)\]\s*\n(?:\s*#\[.*\]\s*\n)*\s*(?:pub(?:\([^)]*\))?\s+)?mod\b", re.M)
FUNCTION = re.compile(
    r'^(?P<indent>[ ]*)(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*fn\s+(?P<name>\w+)',
    re.M,
)
TRAIT = re.compile(r"^pub\s+(?:unsafe\s+)?trait\s+(\w+)([^{]*)\{", re.M)
PANIC = re.compile(r"\.unwrap\(\)|\.expect\(|\b(?:panic|unreachable|todo|unimplemented)!")


def without_tests(path):
    text = path.read_text(encoding="utf-8")
    tests = TEST_MODULE.search(text)
    return text[: tests.start()] if tests else text


def code_lines(text):
    """Lines without comments; a `//` inside a string ends the line too early, which no count here minds."""
    return [line.split("//", 1)[0] for line in text.splitlines()]


def closing(text, start, opening, end):
    """Position of the bracket that closes the one at `start`; the `>` of an arrow does not count."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] == opening:
            depth += 1
        elif text[at] == end and not (end == ">" and text[at - 1] in "-="):
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def arguments(text, after_name):
    """Number of arguments, `self` included, of the function whose name ends at `after_name`."""
    at = after_name
    if text[at : at + 1] == "<":
        at = closing(text, at, "<", ">") + 1
    if text[at : at + 1] != "(":
        return 0
    inside = text[at + 1 : closing(text, at, "(", ")")].replace("->", "  ").replace("=>", "  ")
    depth, parts, current = 0, [], ""
    for char in inside:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    return sum(bool(part.strip()) for part in [*parts, current])


def functions(path):
    """(name, lines, arguments, line number) of each function; lines is None for a declaration without body."""
    text = "\n".join(code_lines(path.read_text(encoding="utf-8")))
    lines = text.split("\n")
    for match in FUNCTION.finditer(text):
        first = text.count("\n", 0, match.start("indent"))
        head = first
        while head + 1 < len(lines) and not lines[head].rstrip().endswith(("{", "}", ";")):
            head += 1
        length = None
        if lines[head].rstrip().endswith("}"):
            length = head - first + 1
        elif lines[head].rstrip().endswith("{"):
            brace = match["indent"] + "}"
            last = next((i for i in range(head + 1, len(lines)) if lines[i].rstrip() == brace), len(lines) - 1)
            length = last - first + 1
        yield match["name"], length, arguments(text, match.end("name")), first + 1


def p90(values):
    ordered = sorted(values)
    return ordered[math.ceil(0.9 * len(ordered)) - 1]


def spread(values):
    return (median(values), p90(values), max(values)) if values else (0, 0, 0)


def judge(value, low=None, high=None):
    if high is not None and value > high:
        return "over"
    if low is not None and value < low:
        return "under"
    return "ok"


def measure():
    """Rows (quantity, value, hold, verdict) and remarks to print below the table."""
    files = sorted(p for place in ("crates/*", "python") for p in ROOT.glob(f"{place}/*/**/*.rs"))
    texts = {path: without_tests(path) for path in files if not path.stem.endswith("tests")}
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    found = [(path, *function) for path in files for function in functions(path)]
    bodies = [(lines, path, name) for path, name, lines, _, _ in found if lines is not None]
    crowded = [(path, name, count, line) for path, name, _, count, line in found if count > 6]

    library = "\n".join(text for path, text in texts.items() if LIBRARY in path.parents)
    total = max(1, len(library.splitlines()))
    docs = sum(line.lstrip().startswith(("///", "//!")) for line in library.splitlines())
    panics = sum(len(PANIC.findall(line)) for line in code_lines(library))
    traits = [name for name, bounds in TRAIT.findall(library) if "sealed" not in bounds.lower()]

    file_median, file_p90, file_max = spread(list(lengths.values()))
    body_median, body_p90, body_max = spread([lines for lines, _, _ in bodies])
    doc_share, panic_rate = 100 * docs / total, 1000 * panics / total
    rows = [
        ("lines per file: median", f"{file_median:g}", "100-250", judge(file_median, 100, 250)),
        ("lines per file: p90", f"{file_p90}", "<= 450", judge(file_p90, high=450)),
        ("lines per file: max", f"{file_max}", "<= 800", judge(file_max, high=800)),
        ("function lines: median", f"{body_median:g}", "<= 8", judge(body_median, high=8)),
        ("function lines: p90", f"{body_p90}", "<= 40", judge(body_p90, high=40)),
        ("function lines: max", f"{body_max}", "<= 120", judge(body_max, high=120)),
        ("public traits in the library", f"{len(traits)}", "<= 7", judge(len(traits), high=7)),
        ("documentation in the library", f"{doc_share:.1f} %", ">= 20 %", judge(doc_share, low=20)),
        ("panic-ish calls per 1000 lines", f"{panic_rate:.1f}", "<= 3", judge(panic_rate, high=3)),
        ("functions with more than 6 arguments", f"{len(crowded)}", "0", judge(len(crowded), high=0)),
    ]
    remarks = [f"{len(files)} files, {sum(lengths.values())} lines and {len(bodies)} functions"]
    if files:
        longest = max(files, key=lengths.get)
        remarks.append(f"longest file: {longest.relative_to(ROOT)} ({lengths[longest]})")
    if bodies:
        lines, path, name = max(bodies, key=lambda body: body[0])
        remarks.append(f"longest function: {name} in {path.relative_to(ROOT)} ({lines})")
    remarks.append(f"public traits: {', '.join(traits) or 'none'}")
    remarks += [f"{count} arguments: {name} at {path.relative_to(ROOT)}:{line}" for path, name, count, line in crowded]
    return rows, remarks


def main():
    unknown = [word for word in sys.argv[1:] if word != "--strict"]
    if unknown:
        sys.exit(f"size.py: unknown option {unknown[0]}; the only one is --strict")
    rows, remarks = measure()
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for quantity, value, hold, verdict in rows:
        print(f"{quantity:<{widths[0]}}  {value:>{widths[1]}}  {hold:>{widths[2]}}  {verdict}")
    print("\n" + "\n".join(remarks))
    return int("--strict" in sys.argv[1:] and any(row[3] != "ok" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
