"""The web pages that Inkling exports, in Chromium and Firefox, against what Inkling itself reads:

    python pages.py INKLING FILES HOSTILE WEB_FOLDER WORK

The starter model and every network that round_trip.py has exported with 16-bit weights to FILES. Of each drawing,
the page has to say the same as Inkling: whether it is a digit, which, and the probabilities within 1e-4. A Speedrun network has to read 60 drawings a
second. The page is used with pointer and keys, and asks for nothing outside of itself; that of the hostile model in HOSTILE has the elements
that it has with harmless words. .ci/exports installs what it takes.
"""
import gzip
import json
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path

INKLING, FILES, HOSTILE, WEB, WORK = sys.argv[1], *(Path(path).resolve() for path in sys.argv[2:6])
BROWSERS = {"chrome": "chromium", "firefox": "firefox-esr"}
TOLERANCE = 1e-4
PER_SECOND = 60
# Enough for a network that only has to be computed like the others.
FEW = 20
PENS = Path(__file__).parents[2] / "../shared/data/pens"


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))[:300]} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def of_pens():
    """Digits and other things that people have drawn with pens, if they are there."""
    chosen = []
    for name, every in [("digits", 25), ("not-digits", 80)]:
        with gzip.open(PENS / f"{name}.jsonl.gz", "rt") as lines:
            chosen += [json.loads(line)["strokes"] for index, line in enumerate(lines) if index % every == 0]
    return [dict(strokes=strokes) for strokes in chosen]


# A digit as the corners that a pen passes.
CORNERS = {
    0: [(.5, 0), (.1, .3), (.1, .7), (.5, 1), (.9, .7), (.9, .3), (.5, 0)], 1: [(.5, 0), (.5, 1)], 2: [(.1, .2), (.5, 0), (.9, .3), (.1, 1), (1, 1)],
    3: [(.1, .1), (.6, 0), (.8, .25), (.4, .5), (.9, .75), (.5, 1), (.1, .9)], 4: [(.6, 1), (.6, 0), (0, .6), (1, .6)],
    5: [(.9, 0), (.2, 0), (.2, .45), (.7, .4), (.9, .7), (.5, 1), (.1, .9)], 6: [(.7, 0), (.2, .5), (.2, .9), (.6, 1), (.8, .7), (.2, .6)],
    7: [(0, 0), (1, 0), (.4, 1)], 8: [(.5, .5), (.1, .2), (.5, 0), (.9, .2), (.1, .8), (.5, 1), (.9, .8), (.5, .5)],
    9: [(.8, .3), (.4, .4), (.2, .2), (.5, 0), (.8, .2), (.7, 1)],
}


def made_up():
    """Digits that are slanted, scaled and shaky, and scribbles: also dots, single points and huge coordinates."""
    drawings = []
    for index in range(250):
        size, slant, unit = random.uniform(20, 200), random.uniform(-.4, .4), 10 ** random.randint(-2, 3)
        if index % 5:
            corners = CORNERS[index % 10]
            strokes = [[at(first, second, step / 12) for first, second in zip(corners, corners[1:]) for step in range(13)]]
        else:
            strokes = [[(random.random(), random.random()) for _ in range(random.randint(1, 9))] for _ in range(random.randint(1, 4))]
        shaken = [[[unit * (size * (x - slant * y) + random.gauss(0, 1)), unit * (size * y + random.gauss(0, 1))] for x, y in stroke] for stroke in strokes]
        drawings.append(dict(strokes=shaken, pen=20 * unit) if index % 3 else dict(strokes=shaken))
    dot = dict(strokes=[[[100, 100], [101, 100]]], pen=20)
    return [*drawings, dot, dict(strokes=[[[5, 5]]]), dict(strokes=[[[3e38, -3e38], [-3e38, 3e38]]])]


def at(first, second, share):
    return [a + (b - a) * share for a, b in zip(first, second)]


def wanted(model, drawings):
    """What Inkling reads in the drawings, all of them together in one file. What it takes for several digits is left out."""
    path = WORK / "drawings.jsonl"
    path.write_text("".join(json.dumps(drawing) + "\n" for drawing in drawings))
    rows = objects(run(INKLING, "predict", "--json", "--model", model, path))
    assert len(rows) == len(drawings)
    return rows


def compare(what, rows, got):
    """The greatest difference of a probability."""
    worst = count = 0
    for row, page in zip(rows, got, strict=True):
        if not row["probabilities"]:
            continue
        count += 1
        difference = max(abs(a - b) for a, b in zip(row["probabilities"], page["probabilities"], strict=True))
        worst = max(worst, difference)
        assert math.isfinite(page["score"]) and difference <= TOLERANCE, f"{what}: {difference:.1e} away from Inkling: {row}"
        # Classes that are as good as equally likely may change places.
        first, second = sorted(row["probabilities"])[:-3:-1]
        assert page["best"] == row["digit"] or first - second < TOLERANCE, f"{what}: {page['best']} instead of {row}"
        assert page["isDigit"] == row["is_digit"], f"{what}: {page['isDigit']} instead of {row}, {page['score']}"
    assert count > 0.8 * len(rows), f"{what}: only {count} are drawings of one thing"
    return worst, count


def main():
    random.seed(1)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    drawings = [*made_up(), *(of_pens() if PENS.is_dir() else [])]
    starter = WORK / "starter.html"
    model = Path("assets/starter.safetensors").resolve()
    run(INKLING, "export", "--model", model, "--format", "html", "--out", starter)
    compared = [("starter", starter, model, drawings)]
    for half in sorted(FILES.glob("*/half")):
        count = 200 if half.parent.name == "speedrun" else FEW
        page = half / "model.html"
        assert page.stat().st_size <= 650_000 or half.parent.name not in ("speedrun", "lenet"), page
        compared.append((half.parent.name, page, half / "model.safetensors", drawings[:count]))
    assert starter.stat().st_size <= 250_000 and len(compared) > 15
    rows = [wanted(model, drawings) for _, _, model, drawings in compared]
    request = WORK / "request.json"
    pages = [dict(path=str(path), drawings=drawings) for _, path, _, drawings in compared]
    hostile = [str(HOSTILE / name / "model.html") for name in ("harmless", "hostile")]
    request.write_text(json.dumps(dict(pages=pages, compared=hostile)))
    shutil.copy(Path(__file__).with_name("pages.mjs"), WEB)
    for browser, program in BROWSERS.items():
        print(f"{program}: {run(program, '--version').strip()}")
        read = json.loads(run("node", "pages.mjs", browser, shutil.which(program), request, cwd=WEB, timeout=900))
        for (name, *_), rows_of_it, of_page in zip(compared, rows, read, strict=True):
            worst, count = compare(f"{name} in {program}", rows_of_it, of_page["readings"])
            per_second = 1000 / of_page["milliseconds"]
            print(f"    {name}: {count} drawings, at most {worst:.1e} away, {per_second:.0f} a second")
            assert name != "speedrun" or per_second >= PER_SECOND, f"{name}: {per_second:.0f} drawings a second"


main()
