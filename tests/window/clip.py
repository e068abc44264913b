"""Owns the README's clip: a run is started, and while it trains, a hand draws digits; the maps inside the network follow.

    INKLING_TEST_SCREEN=1760x1100 tests/window/run target/release/inkling clip.py assets/inkling.webp

Needs ffmpeg, which nothing else here does. On a busy machine the clip stutters.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

from driver import Program, smooth, wait

path, target = sys.argv[1:3]
SECONDS, FRAMES = 8, 12
# The README shows it half as large.
ZOOM, SIZE = 1.375, [1280, 800]

home = tempfile.mkdtemp(prefix="inkling-clip-")
with open(os.path.join(home, "settings.json"), "w") as settings:
    json.dump({"theme": "dark", "wizard_done": True, "zoom": ZOOM, "window": {"position": [0, 0], "size": SIZE, "maximized": False}}, settings)

# As a hand draws them: points of smooth curves, in shares of the canvas.
SEVEN = [[(0.28, 0.24), (0.5, 0.22), (0.73, 0.23), (0.66, 0.38), (0.54, 0.58), (0.45, 0.82)]]
THREE = [[(0.31, 0.22), (0.45, 0.14), (0.62, 0.17), (0.67, 0.29), (0.58, 0.41), (0.46, 0.46), (0.6, 0.5), (0.7, 0.62), (0.65, 0.76),
          (0.5, 0.85), (0.35, 0.82), (0.28, 0.75)]]


def draw(program, strokes):
    x, y, width, height = program.find("Drawing canvas", role="canvas").box
    for stroke in strokes:
        points = [(x + px * width, y + py * height) for px, py in smooth(stroke)]
        length = sum(math.dist(a, b) for a, b in zip(points, points[1:]))
        program.drag(points, pause=0.6 * (length / width) / len(points))


def record(program):
    return subprocess.Popen(
        ["ffmpeg", "-loglevel", "error", "-y", "-f", "x11grab", "-framerate", str(FRAMES), "-window_id", str(program.window),
         "-i", os.environ["DISPLAY"], "-t", str(SECONDS), "-c:v", "libwebp_anim", "-lossless", "0", "-q:v", "50", "-loop", "0", target])


with Program(path, home=home) as program:
    program.wait_for_window()
    program.find("Using", seconds=20)
    program.click("Epochs", role="entry")
    program.key("ctrl+a", "3")
    program.click("Maps")
    recording = record(program)
    time.sleep(0.2)
    program.click("Start", role="push button")
    wait(lambda: any("at step" in node.text for node in program.nodes()), 20, "the first steps", program)
    draw(program, SEVEN)
    time.sleep(0.4)
    program.key("Delete")
    program.key("ctrl+3")
    draw(program, THREE)
    recording.wait()
    if recording.returncode:
        sys.exit("ffmpeg could not record the window")
print(f"ok: {target}, {os.path.getsize(target) // 1000} kB")
