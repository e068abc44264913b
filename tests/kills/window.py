"""Kills the window while it trains, and its engine where that is a process of its own. Each run is resumed on the command line and comes to the
weights of one that was left alone: tests/window/run PROGRAM ../kills/window.py"""

import json
import os
import re
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "window"))

from driver import Program, wait  # noqa: E402
from kills import EPOCHS, Home, check, write_set  # noqa: E402

program = sys.argv[1]


def epoch(window):
    """The epoch that the window shows; 0 before there is one."""
    shown = (re.search(r"epoch (\d+) of", node.name) for node in window.nodes())
    return max((int(found[1]) for found in shown if found), default=0)


def trained_in_the_window(data, settings, engine, number):
    """Starts a run in a window and sends the window a signal in its third epoch or later."""
    home = Home(program, data)
    with open(f"{home.folder}/settings.json", "w", encoding="utf-8") as file:
        json.dump(settings, file)
    with Program(program, home=home.folder, environment={"INKLING_ENGINE": engine}) as window:
        window.wait_for_window()
        window.find("Using", seconds=20)
        window.click("Start", role="push button", seconds=20)
        wait(lambda: epoch(window) >= 3, 60, "the third epoch", window)
        os.kill(window.process.pid, number)
        status = window.process.wait(30)
        if number != signal.SIGKILL:
            check(status == 128 + number, f"exit status {status}", window.log())
        home.wait_until_nobody_is_left()
        check("panicked" not in window.log(), "no thread panicked", window.log())
    return home


def main():
    data = tempfile.mkdtemp(prefix="inkling-kills-data-")
    write_set(data)
    alone = Home(program, data)
    # As long as the window's, which has to be looked at while it trains.
    options = ["--network", "mlp", "--epochs", str(10 * EPOCHS), "--batch-size", "25", "--threads", "1"]
    check(alone.start("--data", data, *options).wait(120) == 0, "a run that is left alone", alone.errors())
    with open(alone.runs()[0], encoding="utf-8") as file:
        settings = {"wizard_done": True, "config": json.load(file)["config"]}
    for engine in ("thread", "process"):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            home = trained_in_the_window(data, settings, engine, number)
            check(not home.runs(), "it was saved as a stopped run")
            check(home.start("--resume").wait(120) == 0, "it cannot be resumed", home.errors())
            home.assert_one_run_and_nothing_else(alone.weights())
            print(f"window: {signal.Signals(number).name} to a window with its engine on a {engine}: resumed, the same weights", flush=True)
            home.remove()
    alone.remove()


if __name__ == "__main__":
    main()
