#!/usr/bin/env python3
"""Lets each system call by which Inkling changes a file fail once, with several errors, and kills it once at each.

Afterwards every target is old or new, the exit status and the message fit, nothing is left behind after the next start, and a run that was
interrupted ends with the same weights as one that was not. Needs strace.

Usage: faults.py EXECUTABLE [--all] [SCENARIO …]
"""

import argparse
import collections
import concurrent.futures
import itertools
import os
import shutil
import sys
import tempfile
from pathlib import Path

import recording
import scenarios

# Standard error of a program that has lost control.
PANICS = ["panicked", "unreachable", "RUST_BACKTRACE", "Traceback"]


# About this many faults are tried in each scenario unless all are.
SELECTED = 30


class Matrix:
    def __init__(self, setting, scenario, root):
        self.setting, self.scenario, self.root = setting, scenario, root
        self.numbers = itertools.count()
        self.figures = collections.Counter()
        clean = self.folder()
        scenario.prepare(clean)
        self.old = scenario.state(clean)
        done = scenario.start(clean, recording.strace(clean / "calls"))
        assert done.returncode == 0, done.stderr
        self.new = scenario.state(clean)
        assert self.new != self.old
        self.calls = recording.changes(clean / "calls", clean)

    def folder(self):
        path = self.root / f"{self.scenario.name.replace(' ', '_')}-{next(self.numbers)}"
        path.mkdir()
        return path

    def points(self, everything):
        """Each call with each fault, or a selection: the first and the last write of a file, and one error for each call. The log, to whose
        failures nothing is sensitive, and locks are not in it."""
        seen, points = set(), []
        writes = [call for call in self.calls if call.name == "write"]
        few = {id(call) for before, call in zip([None, *writes], writes) if before is None or before.line.split(",")[0] != call.line.split(",")[0]}
        few |= {id(call) for call, after in zip(writes, [*writes[1:], None]) if after is None or after.line.split(",")[0] != call.line.split(",")[0]}
        for turn, call in enumerate(self.calls):
            if not everything and (call.name == "flock" or "/inkling.log" in call.line or (call.name == "write" and id(call) not in few)):
                continue
            if (call.name, call.number) in seen:
                continue
            seen.add((call.name, call.number))
            errors = recording.ERRORS[call.name]
            errors = errors if everything else [errors[turn % len(errors)]]
            points += [(call, f"error={error}") for error in errors] + [(call, "signal=KILL")]
        # An odd stride, so that errors and kills take turns.
        stride = 1 if everything else max(len(points) // SELECTED, 1) | 1
        return points[::stride]

    def check(self, point):
        call, fault = point
        work = self.folder()
        try:
            self.scenario.prepare(work)
            inject = f"inject={call.name}:{fault}:when={call.number}"
            done = self.scenario.start(work, recording.strace(work / "calls", "-e", inject))
            killed = fault == "signal=KILL"
            # Threads do not always do the same in the same order.
            hit = recording.injected(work / "calls")
            if not killed and not any(str(work) in line for line in hit):
                return self.figures.update(missed=1)
            # The call of another thread that has the same number may have been the one that says what happened.
            self.judge(work, done, killed, silenced=any("<pipe:" in line for line in hit))
            self.figures.update(kills=int(killed and done.returncode != 0), errors=int(not killed))
            return None
        except (AssertionError, OSError, ValueError, KeyError) as problem:
            return f"{self.scenario.name}: {inject}: {call.line[:160]}\n    {type(problem).__name__}: {problem}"
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def judge(self, work, done, killed, silenced):
        scenario, said = self.scenario, done.stderr.strip()
        assert not any(word in said for word in PANICS), said
        if killed:
            # The process may have been through when a call of another thread was to kill it.
            assert done.returncode in (-9, 137, 0), f"exit status {done.returncode}: {said}"
        else:
            assert done.returncode in (0, 1), f"exit status {done.returncode}: {said}"
            assert done.returncode == 0 or silenced or not scenario.says or (said.endswith(".") and said.count(" ") > 5), f"no sentence: {said!r}"
        scenario.next_start(work)
        state = scenario.state(work)
        assert state in (self.old, self.new), f"neither old nor new: {state}"
        if done.returncode == 0 and not killed and scenario.says:
            assert state == self.new, "success, but the state is not the new one"
        scenario.carry_on(work)
        assert scenario.state(work) == self.new, "not the new state at the end"
        assert not scenarios.leftovers(work), f"leftovers at the end: {scenarios.leftovers(work)}"
        getattr(scenario, "at_the_end", lambda _: None)(work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("scenarios", nargs="*", help="names of scenarios; by default all that need no display")
    parser.add_argument("--all", action="store_true", help="every call with every error, instead of a selection")
    given = parser.parse_intermixed_args()
    failures = []
    with tempfile.TemporaryDirectory(prefix="inkling-faults-") as root:
        root = Path(root).resolve()
        setting = scenarios.Setting(given.program, root / "setting")
        kinds = [kind for kind in scenarios.ALL + scenarios.WITH_DISPLAY if kind.name in given.scenarios]
        for kind in kinds or scenarios.ALL:
            matrix = Matrix(setting, kind(setting), root)
            points = matrix.points(given.all)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = [problem for problem in pool.map(matrix.check, points) if problem]
            print(f"{kind.name}: {len(matrix.calls)} calls, {len(points)} faults: {dict(matrix.figures)}, {len(found)} failures", flush=True)
            failures += found
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
