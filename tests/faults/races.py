#!/usr/bin/env python3
"""Trains several runs at once, with every rename delayed, while other processes start, look for interrupted runs and clean up.

Every run must be saved, whole and once, in a folder of its own, and nothing may be left behind.

Usage: races.py EXECUTABLE
"""

import collections
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import scenarios

RUNS = 4
# Microseconds before each rename.
DELAY = 150_000
RENAMES = "rename,renameat,renameat2"


def main():
    with tempfile.TemporaryDirectory(prefix="inkling-races-") as root:
        root = Path(root).resolve()
        setting = scenarios.Setting(sys.argv[1], root / "setting")
        train, work = scenarios.Train(setting), root / "work"
        train.prepare(work)
        expected = scenarios.run_state(setting.folder / "run")
        delayed = ["strace", "-f", "-qq", "-e", "signal=none", "-e", f"trace={RENAMES}", "-e", f"inject={RENAMES}:delay_enter={DELAY}", "-o"]
        over, others = threading.Event(), collections.Counter()

        def look():
            """Starts that clean up, and that would resume a run if one looked interrupted."""
            while not over.is_set():
                assert setting.run(work / "home", "licenses").returncode == 0
                done = setting.run(work / "home", "train", "--resume")
                others[done.returncode] += 1
                others["panics"] += "panicked" in done.stderr

        looking = threading.Thread(target=look)
        looking.start()
        environment = setting.environment(work / "home")
        commands = [[*delayed, str(root / f"calls-{number}"), setting.program, *map(str, train.arguments(work))] for number in range(RUNS)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        running = [subprocess.Popen(command, env=environment, **quiet) for command in commands]
        ended = [(run.communicate(timeout=120)[1], run.returncode) for run in running]
        over.set()
        looking.join()
        for said, status in ended:
            assert status == 0, f"exit status {status}: {said}"
        # What looked interrupted and was resumed is a run as well, and ends like the others.
        states = train.state(work)
        resumed = others[0]
        print(f"{RUNS} runs at once: {len(states)} saved; others tried to resume {sum(others.values()) - others['panics']} times: {dict(others)}")
        assert others["panics"] == 0 and set(states) == {expected} and len(states) == RUNS + resumed, states
        train.next_start(work)
        train.at_the_end(work)


if __name__ == "__main__":
    main()
