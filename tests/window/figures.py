"""Owns the window's figures in the README: tests/window/run target/release/inkling figures.py

First frame, processor time and memory at rest, and how long the window takes to answer a click and the pen at rest and
while a run keeps every core busy. All are taken from outside: from the X server's pixels and from /proc."""

import math
import os
import random
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


def answers(program, count):
    """Milliseconds from the end of a click on the tab that is not chosen until it looks chosen, `count` times."""
    boxes = [program.find(name, role="page tab").box for name in ("Draw", "Train")]
    spots = [(int(x + 6), int(y + height / 2 - 3), int(width) - 12, 6) for x, y, width, height in boxes]
    times = []
    for index in range(count):
        x, y, width, height = spots[index % 2]
        screen.move(x + width // 2, y + 3)
        time.sleep(0.1)
        screen.button(True)
        time.sleep(0.08 + 0.01 * (index % 7))  # as long as a finger stays down; the tab has answered to that by then
        before = screen.pixels(x, y, width, height)
        screen.button(False)
        seconds = screen.until_changed(x, y, before, width, height)
        assert seconds < 2, "a click on a tab changed nothing"
        times.append(seconds * 1000)
    return times


def verdicts(program, count):
    """Milliseconds from a motion of the pen until the window shows what the model made of it, `count` times: until the image
    of what the model saw changes, which is painted together with the verdict."""
    x, y, width, height = program.find("Drawing canvas").box
    sees = program.find("The image the model sees").box
    seen = tuple(int(value) for value in (sees[0] + 2, sees[1] + 2, sees[2] - 4, sees[3] - 4))

    def at(index):
        """A spiral that widens with each motion, so that what the model sees changes every time."""
        angle, radius = index * 0.5, min(width, height) * (0.08 + 0.34 * (index % 50) / 50)
        return x + width / 2 + radius * math.cos(angle), y + height / 2 + radius * math.sin(angle)

    times = []
    for index in range(count):
        if index % 50 == 0:
            screen.button(False)
            program.key("Delete")
            screen.move(*at(index))
            time.sleep(0.2)
            screen.button(True)
            for following in range(1, 6):
                screen.move(*at(index + following - 5))
                time.sleep(0.05)
        time.sleep(random.uniform(0.1, 0.2))
        before = screen.pixels(*seen)
        start = time.perf_counter()
        screen.move(*at(index))
        changed = screen.until_changed(seen[0], seen[1], before, seen[2], seen[3])
        if changed < 2:  # some motions leave the image of 28x28 pixels as it is
            times.append((time.perf_counter() - start) * 1000)
    screen.button(False)
    assert len(times) > 0.9 * count, "the pen moved, and the image that the model sees stayed"
    return times


def report(what, times):
    print(f"{what}: median {statistics.median(times):.1f} ms, 99th percentile {percentile(times, 0.99):.1f} ms of {len(times)}", flush=True)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


frames = [first_frame() for _ in range(10)][1:]
print(f"first frame: median {statistics.median(frames):.0f} ms, slowest {max(frames):.0f} ms of {len(frames)}")

with Program(program_path) as program:
    program.wait_for_window()
    program.find("Teach your computer")
    program.key("Escape")  # leaves the wizard
    program.find("No run yet")
    time.sleep(5)
    used = processor_seconds(program.process.pid)
    time.sleep(20)
    used = processor_seconds(program.process.pid) - used
    print(f"at rest: {used / 20:.2%} of a core, {megabytes(program.process.pid):.0f} MiB resident")

    report("answer to a click at rest", answers(program, 100))
    program.key("ctrl+2")
    report("pen to verdict at rest", verdicts(program, 300))
    program.key("ctrl+1", "ctrl+Return")  # starts the run as it is configured
    wait(lambda: program.shows("at step"), 60, "the run under way", program)
    report("answer to a click while training", answers(program, 300))
    program.key("ctrl+2")
    report("pen to verdict while training", verdicts(program, 300))
    print(f"while training: {megabytes(program.process.pid):.0f} MiB resident, {megabytes(program.process.pid, 'VmHWM'):.0f} MiB at most")
