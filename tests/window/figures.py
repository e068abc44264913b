"""Owns the window's figures in the README: tests/window/run target/release/inkling figures.py

First frame, processor time and memory at rest, and how long the window takes to answer the pointer while a run keeps
every core busy. All are taken from outside: from the X server's pixels and from /proc."""

import os
import statistics
import sys
import time

from driver import Program, wait
from x11 import Screen

program_path = sys.argv[1]
screen = Screen()
MIDDLE = (720, 450)


def first_frame():
    """Milliseconds from starting the program to its first pixels on the screen."""
    before = screen.pixels(*MIDDLE, 3, 3)
    start = time.perf_counter()
    with Program(program_path):
        changed = screen.until_changed(*MIDDLE, before, 3, 3, seconds=20)
        milliseconds = (time.perf_counter() - start) * 1000
        assert changed < 20, "no window appeared"
    wait(lambda: screen.pixels(*MIDDLE, 3, 3) == before, 5, "the empty screen again")
    return milliseconds


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def megabytes(pid, field="VmRSS"):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field + ":")) / 1024


def answers(program, names, count):
    """Milliseconds until a control looks different after the pointer came upon it, `count` times."""
    boxes = [program.find(name).box for name in names]
    away = (MIDDLE[0], 560)
    spots = [(int(x + 4), int(y + 4), max(1, int(width) - 8), 3) for x, y, width, height in boxes]
    times = []
    for index in range(count):
        x, y, width, height = spots[index % len(spots)]
        screen.move(*away)
        time.sleep(0.25)  # until its fading out is over
        before = screen.pixels(x, y, width, height)
        screen.move(x + width // 2, y + 6)
        times.append(screen.until_changed(x, y, before, width, height) * 1000)
        time.sleep(0.01 * (index % 7))
    return times


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


frames = [first_frame() for _ in range(8)][1:]
print(f"first frame: median {statistics.median(frames):.0f} ms, slowest {max(frames):.0f} ms of {len(frames)}")

with Program(program_path) as program:
    program.wait_for_window()
    program.find("Teach your computer")
    program.key("Escape")  # leaves the wizard
    program.find("Nothing learned yet")
    time.sleep(5)
    used = processor_seconds(program.process.pid)
    time.sleep(20)
    used = processor_seconds(program.process.pid) - used
    print(f"at rest: {used / 20:.2%} of a core, {megabytes(program.process.pid):.0f} MB resident")

    names = ["Train", "Draw", "Models", "Results"]
    rest = answers(program, names, 60)
    print(f"answer at rest: median {statistics.median(rest):.0f} ms, 99th percentile {percentile(rest, 0.99):.0f} ms of {len(rest)}")
    program.key("ctrl+Return")  # starts the default run
    wait(lambda: program.shows("at step"), 60, "the run under way", program)
    busy = answers(program, names, 200)
    print(f"answer while training: median {statistics.median(busy):.0f} ms, 99th percentile {percentile(busy, 0.99):.0f} ms of {len(busy)}")
    print(f"while training: {megabytes(program.process.pid):.0f} MB resident, {megabytes(program.process.pid, 'VmHWM'):.0f} MB at most")
