"""Owns the README's pictures: every screen of the real program, written to the folder named.

    tests/window/run target/release/inkling screenshots.py assets/screenshots [light|dark] [WIDTHxHEIGHT]
"""

import json
import os
import subprocess
import sys
import tempfile
import time

from driver import Program, smooth, wait, xdotool

path, folder = sys.argv[1:3]
theme = sys.argv[3] if len(sys.argv) > 3 else "light"
size = [int(part) for part in (sys.argv[4] if len(sys.argv) > 4 else "1280x800").split("x")]
os.makedirs(folder, exist_ok=True)

home = tempfile.mkdtemp(prefix="inkling-pictures-")
with open(os.path.join(home, "settings.json"), "w") as settings:
    window = {"position": None, "size": size, "maximized": False}
    # As the window is enlarged when it is first opened on a large screen.
    json.dump({"theme": theme, "window": window, "zoom": 1.5 if size[0] >= 3200 else 1.0}, settings)

THREE = [[(0.3, 0.2), (0.45, 0.13), (0.62, 0.16), (0.68, 0.28), (0.6, 0.4), (0.46, 0.46), (0.62, 0.5), (0.71, 0.62),
          (0.67, 0.76), (0.52, 0.86), (0.36, 0.84), (0.28, 0.76)]]


def picture(program, name):
    program.pointer(2, 2)  # away from everything that answers to it
    time.sleep(0.8)  # until bars and hovers have come to rest
    whole = os.path.join(folder, name + ".png")
    program.screenshot(whole)
    # 256 colors are enough for a window, and a third of the bytes.
    subprocess.run(["convert", whole, "-strip", "+dither", "-colors", "256", "-define", "png:compression-level=9", "PNG8:" + whole], check=True)


def scroll(program, x, look, until):
    """Scrolls what is at `x`, halfway down the window, until the box is in place or moves no further."""
    program.pointer(x, size[1] / 2)
    box = look()
    while not until(box):
        before = box
        xdotool("click", "5")
        time.sleep(1)  # it scrolls smoothly
        box = look()
        if box == before:
            return


def click(program, name, role, x=size[0] / 2):
    """Clicks what may be below the edge of a small window."""
    scroll(program, x, lambda: program.find(name, role).box, lambda box: box[1] + box[3] < size[1] - 110)
    program.click(name, role)


def draw(program, strokes):
    if not program.shows("Drawing canvas"):
        return  # a small window has none beside the plots
    x, y, width, height = program.find("Drawing canvas", role="canvas").box
    for stroke in strokes:
        program.drag([(x + px * width, y + py * height) for px, py in smooth(stroke)])
    wait(lambda: any(node.name.endswith("sure") for node in program.nodes()), 10, "a verdict", program)


with Program(path, home=home) as program:
    program.wait_for_window()
    titles = ["Teach your computer", "Your hardware", "Choose the training data", "Choose a preset", "Ready to train"]
    for number, title in enumerate(titles):
        program.find(title)
        if number == 1:
            wait(lambda: program.shows("Vector instructions") and program.shows("checks passed"), 100, "the processor, checked", program)
        picture(program, f"wizard-{number + 1}")
        if number == 3:
            program.click("One epoch")
        if number == 0:
            program.click("Set up step by step", role="push button")
        elif number < 4:
            program.key("Return")
        else:
            program.click("Open Inkling", role="push button")
    program.find("No run yet")
    picture(program, "train-empty")
    [x, y, width, height] = next(node.box for node in program.nodes() if node.name == "Convolution" and node.role == "push button")
    program.click("Convolution", "push button")
    scroll(program, x + width / 2, lambda: program.find("Image, 28").box, lambda box: box[1] < 150)
    picture(program, "blocks")
    click(program, "Epochs", "entry", x=150)
    program.key("ctrl+a", "6")
    program.click("Start", role="push button")
    wait(lambda: any("of 6" in node.text and "epoch 3" in node.text.lower() for node in program.nodes()), 400, "the third epoch", program)
    draw(program, THREE)
    picture(program, "train")
    program.key("ctrl+2", "Delete")
    draw(program, THREE)
    picture(program, "draw")
    program.key("w")
    program.click("Probability of 8")
    wait(lambda: any(node.name.startswith("Apply") for node in program.nodes()), 20, "a change", program)
    picture(program, "why")
    program.key("w")
    program.key("ctrl+3")
    picture(program, "inside")
    program.click("conv2, Filter 3")
    [x, y, width, height] = wait(lambda: next((node.box for node in program.nodes() if node.name == "Map"), None), 10, "the map", program)
    program.drag([(x + width * 0.55, y + height * 0.35)])
    picture(program, "inside-number")
    program.key("ctrl+1")
    wait(lambda: any(node.name.startswith("Training finished") for node in program.nodes()), 400, "the end of the run", program)
    program.key("ctrl+3", "Escape", "Escape")
    program.click("During training")
    wait(lambda: sum(node.name.startswith("Step") or node.name.startswith("Epoch") for node in program.nodes()) > 8, 20, "the steps", program)
    time.sleep(3)
    picture(program, "over-the-run")
    program.key("Escape")
    program.click("Map of digits")
    program.click("Neighbors", seconds=20)
    time.sleep(8)
    picture(program, "map-of-digits")
    program.key("Escape", "ctrl+9")
    program.click("Begin: The learning rate")
    program.click("Next", role="push button")
    program.click("Fall as before, only less smoothly")
    picture(program, "lesson")
    program.click("End the lesson")
    program.key("ctrl+5")
    time.sleep(1)
    picture(program, "models")
    program.key("ctrl+4")
    time.sleep(1)
    picture(program, "results")
    program.key("ctrl+7")
    click(program, "Start the sweep", "push button")
    ended = lambda: [int(node.name.split()[0]) for node in program.nodes() if " of 30 trials" in node.name and node.name[0].isdigit()]
    wait(lambda: max(ended(), default=0) >= 14, 400, "the fourteenth trial", program)
    picture(program, "sweep")
    program.click("Stop", role="push button")
    program.find("10 more trials", role="push button")
    program.key("ctrl+8")
    click(program, "Run benchmark", "push button")
    wait(lambda: program.shows("Copy as text"), 300, "the benchmark's end", program)
    picture(program, "hardware")
    program.key("F1")
    time.sleep(0.5)
    picture(program, "shortcuts")
