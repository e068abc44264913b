#!/usr/bin/env python3
"""Lets each scenario run on disks of 13 sizes, most of which are too small for it. Needs root, for tmpfs.

Afterwards every target is old or new, and the message says that the disk is full. A run that waits for room goes on once there is some.

Usage: disks.py EXECUTABLE [SCENARIO …]
"""

import collections
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import scenarios

# Free space, in kB, besides what is there at the start.
FREE = [0, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384]
# A run that has not ended by then waits for room.
PATIENCE = 6


def resize(work, free_kb):
    """Leaves so much room; None for more than enough."""
    filesystem = os.statvfs(work)
    used = (filesystem.f_blocks - filesystem.f_bfree) * filesystem.f_frsize // 1024
    subprocess.run(["mount", "-o", f"remount,size={(1 << 16) if free_kb is None else max(used + free_kb, 4)}k", work], check=True)


def attempt(scenario, work, free_kb, old, new):
    """What happened on a disk of that size."""
    scenario.prepare(work)
    resize(work, free_kb)
    command = [scenario.setting.program, *map(str, scenario.arguments(work))]
    environment = scenario.setting.environment(work / "home")
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    waited = False
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        waited = True
        assert scenario.state(work) in (old, new)
        resize(work, None)
        _, said = process.communicate(timeout=60)
    assert process.returncode in (0, 1) and "panicked" not in said, f"exit status {process.returncode}: {said}"
    full = "No space left" in said
    assert full or process.returncode == 0, f"not said that the disk is full: {said}"
    state = scenario.state(work)
    assert state in (old, new), f"neither old nor new: {state}"
    assert (process.returncode == 1) or state == new, "success, but the state is not the new one"
    resize(work, None)
    scenario.next_start(work)
    scenario.carry_on(work)
    assert scenario.state(work) == new and not scenarios.leftovers(work), scenarios.leftovers(work)
    return "waited" if waited and full else "new" if process.returncode == 0 else "refused"


def main():
    program, names = sys.argv[1], sys.argv[2:]
    failures = []
    with tempfile.TemporaryDirectory(prefix="inkling-disks-") as root:
        root = Path(root).resolve()
        setting = scenarios.Setting(program, root / "setting")
        work = root / "disk"
        for kind in scenarios.ALL:
            if names and kind.name not in names:
                continue
            scenario, ends, old, new = kind(setting), collections.Counter(), None, None
            for free_kb in [None, *FREE]:
                work.mkdir()
                subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", work], check=True)
                try:
                    if free_kb is None:
                        scenario.prepare(work)
                        old = scenario.state(work)
                        assert scenario.start(work).returncode == 0
                        new = scenario.state(work)
                        continue
                    ends[attempt(scenario, work, free_kb, old, new)] += 1
                except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as problem:
                    failures.append(f"{kind.name} with {free_kb} kB free: {type(problem).__name__}: {problem}")
                finally:
                    # Somebody may just be looking at it.
                    while subprocess.run(["umount", work], capture_output=True).returncode:
                        time.sleep(0.1)
                    work.rmdir()
            print(f"{kind.name}: {len(FREE)} disks: {dict(ends)}", flush=True)
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
