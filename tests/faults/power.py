#!/usr/bin/env python3
"""Cuts the power in imagination: records every call by which files change, with its data, and rebuilds what would be on the disk after each.

What counts as on the disk: names as of the call, as a journaling file system keeps them, but of each file only the bytes that were synced. A
file that was renamed before it was synced is therefore empty. From each such state Inkling is started, and every target must be old or new. At
the end of the recording every new name must have been synced as well, by way of its folder.

Usage: power.py EXECUTABLE [SCENARIO …]
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import scenarios

CALLS = "openat,write,ftruncate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat"
STRACE = ["strace", "-f", "-y", "--seccomp-bpf", "-qq", "-xx", "-s", str(1 << 26), "-e", "signal=none", "-e", f"trace={CALLS}"]
UNFINISHED, RESUMED = re.compile(r"(.*) <unfinished \.\.\.>$"), re.compile(r"<\.\.\. \w+ resumed>(.*)$")


def decoded(text):
    return bytes.fromhex(text.replace("\\x", "")) if text.startswith("\\x") else text.encode()


def recorded(path):
    """The calls that succeeded, in the order in which they ended: name, arguments and result as strace writes them."""
    waiting = {}
    for line in path.read_text(errors="replace").splitlines():
        thread, text = line.split(None, 1)
        if half := UNFINISHED.match(text):
            waiting[thread] = half[1]
            continue
        if rest := RESUMED.match(text):
            text = waiting.pop(thread, "") + rest[1]
        whole = re.match(r"(\w+)\((.*)\)\s+= (\d+)(<.*>)?$", text)
        if whole:
            yield whole[1], whole[2], int(whole[3]), whole[4]


class Disk:
    """Names and files below a folder: what the program sees, and of each file what is on the disk."""

    def __init__(self, root):
        self.root, self.folders, self.names, self.count = os.fsencode(root), set(), {}, 0
        self.seen, self.synced, self.unsynced_names = {}, {}, set()
        for path in sorted(root.rglob("*")):
            if path.is_dir():
                self.folders.add(os.fsencode(path))
            else:
                file = self.new_file(os.fsencode(path))
                self.seen[file][:] = self.synced[file] = path.read_bytes()

    def new_file(self, path):
        self.count += 1
        self.names[path], self.seen[self.count], self.synced[self.count] = self.count, bytearray(), b""
        return self.count

    def below(self, path):
        return path.startswith(self.root + b"/")

    def move(self, one, other, exchange):
        def moved(path, at, to):
            return to + path[len(at) :] if path == at or path.startswith(at + b"/") else None

        def both(path):
            return moved(path, one, other) or (exchange and moved(path, other, one)) or path

        if not exchange:
            self.names.pop(other, None)
        self.names = {both(path): file for path, file in self.names.items()}
        self.folders = {both(path) for path in self.folders}

    def apply(self, call, arguments, result):
        """True where the state on the disk may have changed."""
        paths = [decoded(text) for text in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', arguments)]
        opened = re.match(r"\d+<([^>]*)>", arguments)
        opened = decoded(opened[1]) if opened else b""
        if call == "openat":
            path = paths[0]
            if self.below(path) and path not in self.names and "O_CREAT" in arguments:
                self.new_file(path)
                return True
            if self.below(path) and "O_TRUNC" in arguments and path in self.names:
                del self.seen[self.names[path]][:]
        elif call == "write" and opened in self.names:
            # Every file is written from its start to its end.
            self.seen[self.names[opened]] += paths[0][:result]
        elif call in ("fsync", "fdatasync") and opened in self.names:
            self.synced[self.names[opened]] = bytes(self.seen[self.names[opened]])
            return True
        elif call in ("fsync", "fdatasync") and opened in self.folders:
            self.unsynced_names = {name for name in self.unsynced_names if os.path.dirname(name) != opened}
        elif call.startswith("rename") and self.below(paths[0]):
            self.move(paths[0], paths[1], "EXCHANGE" in arguments)
            if b"/.inkling-" not in paths[1]:
                self.unsynced_names.add(paths[1])
            return True
        elif call.startswith("link") and self.below(paths[0]):
            self.names[paths[1]] = self.names[paths[0]]
            return True
        elif call in ("unlink", "unlinkat", "rmdir"):
            # Below a folder that is open, as its entries are deleted one by one.
            at = re.match(r"\d+<([^>]*)>", arguments)
            path = paths[0] if paths[0].startswith(b"/") or not at else decoded(at[1]) + b"/" + paths[0]
            self.names.pop(path, None)
            self.folders.discard(path)
            # What is gone needs no name on the disk.
            self.unsynced_names.discard(path)
            return self.below(path)
        elif call.startswith("mkdir") and self.below(paths[0]):
            self.folders.add(paths[0])
            return True
        return False

    def rebuild(self, work):
        """Writes what is on the disk to another folder."""
        to = lambda path: Path(os.fsdecode(os.fsencode(work) + path[len(self.root) :]))
        for folder in sorted(self.folders):
            to(folder).mkdir(parents=True, exist_ok=True)
        first = {}
        for path, file in self.names.items():
            to(path).parent.mkdir(parents=True, exist_ok=True)
            if file in first:
                os.link(to(first[file]), to(path))
            else:
                first[file] = path
                to(path).write_bytes(self.synced[file])


def check(scenario, work, old, new, after):
    try:
        scenario.next_start(work)
        state = scenario.state(work)
        assert state in (old, new), f"neither old nor new: {state}"
        scenario.carry_on(work)
        assert scenario.state(work) == new, "not the new state at the end"
        return None
    except (AssertionError, OSError, ValueError, KeyError) as problem:
        return f"{scenario.name}: power cut after {after}: {type(problem).__name__}: {problem}"
    finally:
        shutil.rmtree(work, ignore_errors=True)


def main():
    program, names = sys.argv[1], sys.argv[2:]
    failures = []
    with tempfile.TemporaryDirectory(prefix="inkling-power-") as root, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        root = Path(root).resolve()
        setting = scenarios.Setting(program, root / "setting")
        for kind in scenarios.ALL:
            if names and kind.name not in names:
                continue
            scenario, work, trace = kind(setting), root / "recorded", root / "calls"
            scenario.prepare(work)
            old, disk = scenario.state(work), Disk(work)
            done = scenario.start(work, [*STRACE, "-o", str(trace)])
            assert done.returncode == 0, done.stderr
            new, checks = scenario.state(work), []
            for number, (call, arguments, result, _) in enumerate(recorded(trace)):
                if disk.apply(call, arguments, result):
                    cut = root / f"cut-{number}"
                    disk.rebuild(cut)
                    about = " ".join(os.path.basename(os.fsdecode(decoded(text))) for text in re.findall(r'["<]((?:\\x[0-9a-f]{2})+)[">]', arguments)[:3])
                    checks.append(pool.submit(check, scenario, cut, old, new, f"{call} {about}"))
            if disk.unsynced_names:
                failures.append(f"{kind.name}: names that were never synced: {disk.unsynced_names}")
            found = [problem for problem in (check.result() for check in checks) if problem]
            print(f"{kind.name}: power cut at {len(checks)} moments, {len(found)} failures", flush=True)
            failures += found
            shutil.rmtree(work)
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
