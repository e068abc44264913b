"""Measures how `inkling predict` reads several digits: single drawings, which have to stay one digit, and strings of 2 to 6 of one writer's
drawings side by side.

    python3 benches/strings.py target/release/inkling PENS [--model FILE] [--strings N] [--show N]

PENS is an ink file of labeled single digits with a `writer` each (JSON lines, gzipped or not). Strings are made with random gaps, baselines and
sizes, the same ones every time; lengths are relative to a digit's height:

    gap     0.08 to 0.45 between digits
    tight   0.02 to 0.08
    touch   digits overlap by up to 0.12
    joined  as gap, but at every other place the pen stays down between two digits
"""

import argparse
import collections
import gzip
import json
import os
import random
import subprocess
import tempfile

GAPS = {"gap": (0.08, 0.45), "tight": (0.02, 0.08), "touch": (-0.12, 0.01), "joined": (0.08, 0.45)}


def bounds(strokes):
    xs, ys = zip(*(point for stroke in strokes for point in stroke))
    return min(xs), min(ys), max(xs), max(ys)


def upright(strokes):
    """The drawing, 1 high, or lower where it is very wide."""
    left, top, right, bottom = bounds(strokes)
    scale = 1 / max(bottom - top, (right - left) * 0.7, 1e-6)
    return [[[(x - left) * scale, (y - top) * scale] for x, y in stroke] for stroke in strokes]


def string(kind, length, by_writer, chance):
    """A string of one writer's digits, and what it says."""
    strokes, text, left = [], "", 0.0
    for drawing in chance.choices(by_writer[chance.choice(sorted(by_writer))], k=length):
        size, drop = chance.uniform(0.85, 1.1), chance.uniform(-0.12, 0.12)
        left += chance.uniform(*GAPS[kind]) if strokes else 0
        placed = [[[x * size + left, 1 - (1 - y) * size + drop] for x, y in stroke] for stroke in upright(drawing["strokes"])]
        left = bounds(placed)[2]
        if kind == "joined" and strokes and chance.random() < 0.5:
            strokes[-1] += placed.pop(0)
        strokes += placed
        text += drawing["label"]
    return strokes, text


def read(arguments, drawings):
    """What the program reads in each drawing, as the objects it prints."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "drawings.jsonl")
        with open(path, "w") as file:
            file.writelines(json.dumps({"strokes": strokes}) + "\n" for strokes in drawings)
        model = ["--model", arguments.model] if arguments.model else []
        lines = subprocess.run([arguments.program, "predict", "--json", path, *model], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def digits(line):
    return "".join(str(digit["digit"]) for digit in line["digits"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("pens")
    parser.add_argument("--model", help="instead of the starter model")
    parser.add_argument("--strings", type=int, default=500, help="of each kind")
    parser.add_argument("--show", type=int, default=0, help="how many that were split wrongly to print")
    arguments = parser.parse_args()
    with (gzip.open if arguments.pens.endswith(".gz") else open)(arguments.pens, "rt") as file:
        drawings = [json.loads(line) for line in file]
    lines = read(arguments, [drawing["strokes"] for drawing in drawings])
    split = [(drawing["label"], digits(line)) for drawing, line in zip(drawings, lines) if len(line["digits"]) != 1]
    right = sum(digits(line) == drawing["label"] for drawing, line in zip(drawings, lines))
    count = len(drawings)
    print(f"{count} single digits: {100 - 100 * len(split) / count:.2f}% stay one, {100 * right / count:.2f}% are read right")
    print(*(f"    {label} as {as_read}" for label, as_read in split[:arguments.show]), sep="\n", end="\n" if arguments.show else "")
    by_writer = collections.defaultdict(list)
    for drawing in drawings:
        by_writer[drawing["writer"]].append(drawing)
    by_writer = {writer: drawn for writer, drawn in by_writer.items() if len(drawn) >= 6}
    for kind in GAPS:
        chance = random.Random(1)
        strings = [string(kind, 2 + index % 5, by_writer, chance) for index in range(arguments.strings)]
        lines = read(arguments, [strokes for strokes, _ in strings])
        right = sum(digits(line) == text for (_, text), line in zip(strings, lines))
        counted = sum(len(line["digits"]) == len(text) for (_, text), line in zip(strings, lines))
        print(f"{kind:7} {len(strings)} strings: {100 * right / len(strings):.1f}% read right, {100 * counted / len(strings):.1f}% with as many digits")
        wrong = [(text, digits(line)) for (_, text), line in zip(strings, lines) if len(line["digits"]) != len(text)]
        print(*(f"    {text} as {as_read}" for text, as_read in wrong[:arguments.show]), sep="\n", end="\n" if arguments.show else "")


main()
