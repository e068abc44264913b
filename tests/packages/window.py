"""Owns what the window of an installed Inkling must look like from outside, wherever it is installed: it is there, something is drawn in
it, and a second start goes to it instead of opening another.

    tests/packages/window.py PICTURE COMMAND…          on a display; PICTURE is where the window's picture goes"""

import subprocess
import sys
import time

picture, *command = sys.argv[1:]


def windows():
    found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "Inkling"], capture_output=True, text=True)
    return found.stdout.split()


def colors():
    told = subprocess.run(["identify", "-format", "%k", picture], check=True, capture_output=True, text=True)
    return int(told.stdout)


def wait(seconds, what, look):
    deadline = time.monotonic() + seconds
    while not (seen := look()):
        assert program.poll() is None, f"ended with {program.returncode} before there was {what}"
        assert time.monotonic() < deadline, f"no {what} within {seconds} s"
        time.sleep(0.25)
    return seen


def drawn():
    subprocess.run(["import", "-window", windows()[0], picture], check=True)
    # Text is smoothed: a page with words has many shades, an empty one has one.
    return colors() > 60


program = subprocess.Popen(command)
try:
    wait(60, "window", windows)
    wait(30, "picture in it", drawn)
    time.sleep(2)
    drawn()
    print(f"ok: the window shows something ({colors()} colors): {picture}", flush=True)
    second = subprocess.run(command, timeout=60)
    assert second.returncode == 0, f"the second start ended with {second.returncode}"
    assert program.poll() is None and len(windows()) == 1, f"{len(windows())} windows after a second start"
    print("ok: a second start ends at once and leaves one window", flush=True)
finally:
    program.terminate()
    program.wait()
