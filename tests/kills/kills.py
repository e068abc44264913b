#!/usr/bin/env python3
"""Kills Inkling at random moments while it trains, resumes each run to its end, and compares the weights bit for bit with those of a run that
was left alone: tests/kills/kills.py PROGRAM [--count N] [--seed S] [--only kills|signals|leftovers|disk|threads]

Needs Python alone; the parts about full disks and a limit of threads need root, and say so where it is not there."""

import argparse
import concurrent.futures
import fcntl
import glob
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP]
# Ignored where this script was started with `nohup`, and a process passes on what it ignores.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
EPOCHS = 12
OPTIONS = ["--network", "mlp", "--epochs", str(EPOCHS), "--batch-size", "25", "--threads", "1", "--seed", "3"]


def fail(what, *details):
    print("FAILED:", what, *details, sep="\n", flush=True)
    sys.exit(1)


def check(fact, what, *details):
    if not fact:
        raise AssertionError("\n".join([what, *map(str, details)]))


def write_set(folder, train=1500, test=200, seed=1, swap=False):
    """An IDX set of bright squares, each digit's at a place of its own. `swap` exchanges two labels."""
    os.makedirs(folder, exist_ok=True)
    numbers = random.Random(seed)
    for name, count in (("train", train), ("t10k", test)):
        labels = bytearray(index % 10 for index in range(count))
        images = bytearray()
        for label in labels:
            image = bytearray(numbers.randbytes(28 * 28))
            for y in range(28):
                for x in range(28):
                    inside = y // 14 == label // 5 and x // 5 == label % 5
                    image[y * 28 + x] = image[y * 28 + x] // 4 + (180 if inside else 0)
            images += image
        if swap:
            labels[0], labels[1] = labels[1], labels[0]
        with open(f"{folder}/{name}-images-idx3-ubyte", "wb") as file:
            file.write(struct.pack(">IIII", 0x0803, count, 28, 28) + images)
        with open(f"{folder}/{name}-labels-idx1-ubyte", "wb") as file:
            file.write(struct.pack(">II", 0x0801, count) + labels)


class Home:
    """The folders of an installation, and runs in it."""

    def __init__(self, program, data, folder=None):
        self.program, self.data = program, data
        self.folder = folder or tempfile.mkdtemp(prefix="inkling-kills-")
        # Not on a disk that is filled: what is said there would be lost.
        self.said = tempfile.TemporaryFile()

    def start(self, *arguments, command="train", engine="thread", stdin=subprocess.DEVNULL, temporary=None, **options):
        environment = {**os.environ, "INKLING_HOME": self.folder, "INKLING_ENGINE": engine, "RUST_BACKTRACE": "0"}
        if temporary:
            environment["TMPDIR"] = temporary
        return subprocess.Popen([self.program, command, *arguments], env=environment, stdin=stdin, stdout=subprocess.DEVNULL,
                                stderr=self.said, cwd=self.folder, start_new_session=True, **options)

    def new(self, *arguments, **options):
        return self.start("--data", self.data, *OPTIONS, *arguments, **options)

    def errors(self):
        """What its runs have said."""
        return os.pread(self.said.fileno(), 1 << 24, 0).decode(errors="replace")

    def processes(self):
        """Inkling's processes at home here."""
        marker = f"INKLING_HOME={self.folder}\0".encode()
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if marker in file.read() + b"\0":
                        found.append(int(entry))
            except OSError:
                pass
        return found

    def wait_until_nobody_is_left(self, seconds=60):
        end = time.monotonic() + seconds
        while self.processes():
            check(time.monotonic() < end, "a process is still there", self.processes(), self.errors())
            time.sleep(0.01)

    def checkpoints(self):
        return glob.glob(f"{self.folder}/checkpoints/*/checkpoint")

    def runs(self):
        return glob.glob(f"{self.folder}/runs/*/run.json")

    def temporary(self):
        return [os.path.join(at, name) for at, folders, files in os.walk(self.folder) for name in folders + files
                if name.startswith(".inkling-")]

    def weights(self):
        with open(glob.glob(f"{self.folder}/runs/*/model.safetensors")[0], "rb") as file:
            length, = struct.unpack("<Q", file.read(8))
            file.seek(8 + length)
            return hashlib.sha256(file.read()).hexdigest()

    def assert_one_run_and_nothing_else(self, weights):
        check(len(self.runs()) == 1, "one run is saved", self.runs(), self.errors())
        check(self.weights() == weights, "its weights are those of a run that was left alone", self.errors())
        check(not os.listdir(f"{self.folder}/checkpoints") if os.path.isdir(f"{self.folder}/checkpoints") else True,
              "no checkpoint is left", self.errors())
        check(not self.temporary(), "no temporary file is left", self.temporary())
        check("panicked" not in self.errors(), "no thread panicked", self.errors())

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def end(process, home, number, whom):
    """Sends the signal to the process, to the engine in a process of its own, or to both as a terminal does."""
    engines = [pid for pid in home.processes() if pid != process.pid]
    if whom == "engine" and engines:
        targets = engines
    elif whom == "both":
        targets = [process.pid, *engines]
    else:
        targets = [process.pid]
    for pid in targets:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    return process.pid in targets


def killed_and_resumed(program, data, seconds, weights, seed):
    """One run, killed up to three times. Says what was done."""
    dice = random.Random(seed)
    home = Home(program, data)
    engine = dice.choice(["thread", "process"])
    story = [engine]
    process = home.new(engine=engine)
    for _ in range(dice.randint(1, 3)):
        number = dice.choice(SIGNALS)
        whom = dice.choice(["caller", "engine", "both"]) if engine == "process" else "caller"
        after = dice.uniform(0.0, seconds)
        time.sleep(after)
        hit = end(process, home, number, whom)
        story.append(f"{signal.Signals(number).name} to {whom} after {after:.2f} s")
        status = process.wait(60)
        home.wait_until_nobody_is_left()
        if home.runs() and status == 0:
            break
        if hit and number != signal.SIGKILL and status != 0:
            # Before its handler is there a process ends as any other.
            check(status in (128 + number, -number), f"{story}: exit status {status}", home.errors())
        check(len(home.runs()) <= 1, f"{story}: several runs", home.errors())
        if home.runs():
            break
        process = home.start("--resume", engine=engine) if home.checkpoints() else home.new(engine=engine)
    status = process.wait(60)
    check(status == 0 or home.runs(), f"{story}: exit status {status}", home.errors())
    home.wait_until_nobody_is_left()
    # Whoever was killed between saving the run and deleting its checkpoint leaves that to the next start.
    if os.path.isdir(f"{home.folder}/checkpoints") and os.listdir(f"{home.folder}/checkpoints") or home.temporary():
        listed = home.start("--resume")
        check(listed.wait(60) == 1, f"{story}: nothing is left to resume", home.errors())
        start_once(home)
    try:
        home.assert_one_run_and_nothing_else(weights)
    except AssertionError as error:
        raise AssertionError(f"{story}\n{error}") from None
    home.remove()
    return story


def late_signal(program, data):
    """Both processes get SIGTERM, and the engine has ended before its caller handles it: the exit status is still that of the signal."""
    home = Home(program, data)
    process = home.new(engine="process")
    wait_for(home.checkpoints, "a checkpoint", home)
    os.kill(process.pid, signal.SIGSTOP)
    end(process, home, signal.SIGTERM, "engine")
    # The caller is stopped for as long as its engine needs to end; then it goes on, and the signal comes last.
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGCONT)
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGTERM)
    status = process.wait(60)
    home.wait_until_nobody_is_left()
    check(status == 128 + signal.SIGTERM, f"exit status {status} after a signal that the engine handled first", home.errors())
    check(len(home.checkpoints()) == 1, "and the run can be resumed", home.errors())
    print("signals: one that the engine handles first gives its exit status")
    home.remove()


def start_once(home):
    """A start that trains nothing, because its data is not there."""
    home.start("--data", "nowhere").wait(60)


def leftovers(program, data, dice):
    """Forty runs and sweeps in one home are killed; after one start nothing is left but what can be resumed."""
    home = Home(program, data)
    for number in range(40):
        engine = dice.choice(["thread", "process"])
        if number % 4 == 0:
            process = home.start("--data", data, "--set", "learning-rate=1e-4..1e-2:log", "--set", "epochs=2", "--trials", "9", command="sweep", engine=engine)
        else:
            process = home.new(engine=engine)
        time.sleep(dice.uniform(0.0, 0.5))
        for pid in [process.pid, *home.processes()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
    home.wait_until_nobody_is_left()
    before = len(home.temporary())
    start_once(home)
    check(not home.temporary(), "temporary files are left", home.temporary())
    folders = [os.path.basename(os.path.dirname(path)) for path in glob.glob(f"{home.folder}/checkpoints/*/")]
    for folder in folders:
        names = set(os.listdir(f"{home.folder}/checkpoints/{folder}"))
        check("checkpoint" in names and names <= {"checkpoint", "lock"}, "only checkpoints are left", folder, names)
    for folder in glob.glob(f"{home.folder}/sweeps/*/"):
        check(os.path.exists(f"{folder}/sweep.json"), "only sweeps are left", folder, os.listdir(folder))
    print(f"leftovers: 40 kills left {before} temporary files and folders; after one start {len(folders)} checkpoints and the sweeps are left and nothing else")
    home.remove()


class Tmpfs:
    """A disk of this many bytes; `None` to whoever may not mount one."""

    def __init__(self, size):
        self.folder = tempfile.mkdtemp(prefix="inkling-disk-")
        self.mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.folder], capture_output=True).returncode == 0

    def __enter__(self):
        return self if self.mounted else None

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "--lazy", self.folder], check=True)
        os.rmdir(self.folder)

    def fill(self):
        """Takes all the room there is, also what a file that could not be completed has left since the last time."""
        with open(f"{self.folder}/filler", "ab", buffering=0) as file:
            for block in (bytes(1 << 20), bytes(4096)):
                try:
                    while True:
                        file.write(block)
                except OSError:
                    pass

    def leave(self, room):
        """Takes all the room there is but this many bytes."""
        self.fill()
        filler = f"{self.folder}/filler"
        os.truncate(filler, max(os.path.getsize(filler) - room, 0))

    def empty(self):
        os.remove(f"{self.folder}/filler")


def wait_for(fact, what, home, seconds=60):
    end = time.monotonic() + seconds
    while not fact():
        check(time.monotonic() < end, f"waited {seconds} s for {what}", home.errors())
        time.sleep(0.01)


def disks(program, data, weights):
    """Disks that are too small from the start, and one that fills up while a run trains."""
    refused = 0
    sizes = [64 << 10, 256 << 10, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 48 << 20, 64 << 20, 96 << 20]
    # A run with SGLD saves samples from the posterior as well, and needs more space.
    runs = [((), size) for size in sizes] + [(("--optimizer", "sgld"), size) for size in [16 << 20, 32 << 20, 64 << 20, 96 << 20, 160 << 20]]
    for options, size in runs:
        with Tmpfs(size) as disk:
            if disk is None:
                return print("disks: skipped, because this user may not mount one")
            home = Home(program, data, disk.folder)
            status = home.new(*options).wait(60)
            errors = home.errors()
            check("MessagePack" not in errors and "panicked" not in errors, f"{size} bytes", errors)
            if status == 0:
                home.assert_one_run_and_nothing_else(home.weights() if options else weights)
            else:
                refused += 1
                check(status == 1 and "No space left" in errors and "Epoch" not in errors, f"{size} bytes: refused before it trains", errors)
                check(not home.runs() and not home.temporary(), f"{size} bytes: nothing is left", errors)
    check(0 < refused < len(runs), "some disks are too small, and some are not", refused)
    check(status == 0, f"{size} bytes are enough for samples from the posterior", errors)

    for stopped in (False, True):
        with Tmpfs(160 << 20) as disk:
            home = Home(program, data, disk.folder)
            process = home.new()
            wait_for(home.checkpoints, "a checkpoint", home)
            wait_for(lambda: disk.fill() or "not saved yet" in home.errors(), "the run to say that it cannot be saved", home)
            check(process.poll() is None, "it waits", home.errors())
            check("No space left on device" in home.errors() and "MessagePack" not in home.errors(), "it says why", home.errors())
            if stopped:
                # What it says to do is done.
                told = re.search(r"Press Ctrl-C to quit without saving. Later, `inkling train (--resume .+?)` (saves|resumes) it", home.errors())
                check(told, "it says how to end it", home.errors())
                process.send_signal(signal.SIGINT)
                check(process.wait(60) == 130, "Ctrl-C ends it", home.errors())
            disk.empty()
            if stopped:
                process = home.start(*shlex.split(told[1]))
            check(process.wait(60) == 0, "it is saved once there is room", home.errors())
            home.assert_one_run_and_nothing_else(weights)
    print(f"disks: {refused} of {len(runs)} were too small and refused before training; a run whose disk fills up waits, and is saved later")


SLOW = ["--network", "convnet", "--batch-size", "50", "--threads", "1"]


def unsaved_run(program, data, disk, *options, **start):
    """A run that cannot be saved and has no checkpoint: its disk is full before its first epoch is complete."""
    home = Home(program, data, disk.folder)
    process = home.start("--data", data, *SLOW, *options, **start)
    wait_for(lambda: "Training" in home.errors(), "the first step", home)
    wait_for(lambda: disk.fill() or "not saved yet" in home.errors(), "the run to say that it cannot be saved", home, 300)
    wait_for(lambda: "Press Ctrl-C" in home.errors(), "the run to say what Ctrl-C does", home)
    check(not home.checkpoints(), "it has no checkpoint", home.checkpoints())
    check("--resume" not in home.errors(), "nothing is said that is not so", home.errors())
    return home, process


def only_run(home, folder):
    """The only run in the folder. It can be used."""
    runs = glob.glob(f"{folder}/**/run.json", recursive=True)
    check(len(runs) == 1, "one run is saved", runs, home.errors())
    run = os.path.dirname(runs[0])
    check(home.start("--model", f"{run}/model.safetensors", "--data", "builtin", command="eval").wait(120) == 0, "it can be used", home.errors())
    return run


def rescued_run(home, folder):
    """The same, as the last words name it."""
    run = only_run(home, folder)
    check(run in home.errors(), "it is named", run, home.errors())
    return run


def without_checkpoint(program, data):
    """Disks that fill up before a run's first checkpoint."""
    with Tmpfs(320 << 20) as disk:
        if disk is None:
            return print("unsaved: skipped, because this user may not mount a disk")
        # Another folder is typed in a terminal.
        terminal, own = os.openpty()
        elsewhere = tempfile.mkdtemp(prefix="inkling-elsewhere-")
        home, process = unsaved_run(program, data, disk, "--epochs", "1", stdin=own, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        check("type the path of the folder and press Enter" in home.errors(), "it says how", home.errors())
        os.write(terminal, f"{elsewhere}/new\n".encode())
        check(process.wait(60) == 0, "it is saved there", home.errors())
        only_run(home, f"{elsewhere}/new")
        [os.close(end) for end in (terminal, own)]
        shutil.rmtree(elsewhere)
    with Tmpfs(320 << 20) as disk, Tmpfs(320 << 20) as temporary:
        # Ctrl-C, or the end of the session: it is whole in the temporary folder.
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            home, process = unsaved_run(program, data, disk, "--epochs", "1", temporary=temporary.folder)
            process.send_signal(number)
            check(process.wait(60) == status, "its exit status is that of the signal", home.errors())
            run = rescued_run(home, temporary.folder)
            check(os.path.exists(f"{run}/steps.csv") and "move the run to another place" in home.errors(), "it is whole", home.errors())
            shutil.rmtree(os.path.dirname(run))
            disk.empty()
    with Tmpfs(320 << 20) as disk, Tmpfs(320 << 20) as temporary:
        # There is space for the model alone, without the samples from its posterior.
        home, process = unsaved_run(program, data, disk, "--optimizer", "sgld", "--epochs", "2", temporary=temporary.folder)
        probe = Home(program, data)
        check(probe.start("--data", data, *SLOW, "--epochs", "1", "--out", "one").wait(120) == 0, "another run", probe.errors())
        disk.leave(os.path.getsize(f"{probe.folder}/one/model.safetensors") * 3 // 2)
        probe.remove()
        process.send_signal(signal.SIGINT)
        check(process.wait(60) == 130, "Ctrl-C ends it", home.errors())
        run = rescued_run(home, disk.folder)
        check("Only its model" in home.errors() and not glob.glob(f"{run}/sample-*"), "and says what is missing", home.errors())
    with Tmpfs(320 << 20) as disk:
        # Nothing fits anywhere: it waits on, and is saved once there is room.
        home, process = unsaved_run(program, data, disk, "--epochs", "1", temporary=disk.folder)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: "Nothing could be saved anywhere" in home.errors(), "it to say so", home)
        check(process.poll() is None, "it is not lost", home.errors())
        disk.empty()
        check(process.wait(60) == 0 and len(home.runs()) == 1, "it is saved", home.errors())
    print("unsaved: runs whose disk was full before their first checkpoint were saved elsewhere, in part or later, and none was lost")


def fitting_disk(program, data, weights):
    """A disk that just has room for a run has room to resume it."""
    with Tmpfs(160 << 20) as disk:
        if disk is None:
            return
        for room in range(1 << 20, 160 << 20, 1 << 20):
            home = Home(program, data, disk.folder)
            disk.leave(room)
            process = home.new()
            wait_for(lambda: process.poll() is not None or home.checkpoints(), "a checkpoint or a refusal", home)
            if process.poll() is None:
                break
            check("No space left" in home.errors(), "it is refused for lack of room", home.errors())
        process.kill()
        process.wait()
        check(home.start("--resume").wait(60) == 0, f"{room} bytes: it is resumed", home.errors())
        disk.empty()
        home.assert_one_run_and_nothing_else(weights)
    print(f"disks: a run that fits into {room} bytes can be resumed there")


def start_limited(home, data, engine, drop_rights):
    """A run whose rights are limited before the program starts."""
    end = time.monotonic() + 10
    while True:
        try:
            return home.start("--data", data, "--network", "mlp", "--epochs", "1", "--threads", "2", engine=engine, preexec_fn=drop_rights)
        except BlockingIOError:
            # The threads of a process that is just ending still count.
            check(time.monotonic() < end, "the program cannot be started with so few threads")
            time.sleep(0.01)


def threads(program, data):
    """A limit on the user's threads is a sentence, and never a panic."""
    if os.getuid() != 0:
        return print("threads: skipped, because root is not limited by others alone")
    nobody = 65534
    tried = sentences = 0
    # Where anybody may read it.
    folder = os.path.dirname(data)
    program = shutil.copy(program, f"{folder}/inkling")
    os.chmod(folder, 0o755)
    for engine in ("thread", "process"):
        # With so few that the engine starts but not everything around it, what comes first is a matter of luck.
        for limit in [*range(1, 17), *range(2, 6), *range(2, 6), *range(2, 6)]:
            tried += 1
            home = Home(program, data)
            os.chmod(home.folder, 0o777)

            def drop_rights(limit=limit):
                resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
                os.setgid(nobody)
                os.setuid(nobody)

            process = start_limited(home, data, engine, drop_rights)
            status = process.wait(60)
            errors = home.errors()
            check("panicked" not in errors, f"{engine}, {limit} threads: a panic", errors)
            check("invalid message" not in errors, f"{engine}, {limit} threads: the message blames the client", errors)
            check(status == 0 or status == 1 and "thread" in errors.lower() or "engine could not be started" in errors,
                  f"{engine}, {limit} threads: exit status {status}", errors)
            sentences += status != 0
            home.wait_until_nobody_is_left()
            home.remove()
    print(f"threads: {sentences} of {tried} limits were too low, and each was a sentence")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only")
    arguments = parser.parse_args()
    program = os.path.realpath(arguments.program)
    print(f"seed {arguments.seed}", flush=True)
    dice = random.Random(arguments.seed)
    work = tempfile.mkdtemp(prefix="inkling-kills-data-")
    data = f"{work}/set"
    write_set(data)
    wanted = lambda part: arguments.only in (None, part)
    try:
        if wanted("kills") or wanted("disk"):
            alone = Home(program, data)
            start = time.monotonic()
            check(alone.new().wait(120) == 0, "a run that is left alone", alone.errors())
            seconds, weights = time.monotonic() - start, alone.weights()
            alone.assert_one_run_and_nothing_else(weights)
            alone.remove()
            if wanted("kills"):
                with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                    runs = [pool.submit(killed_and_resumed, program, data, seconds, weights, dice.random()) for _ in range(arguments.count)]
                    stories = [run.result() for run in runs]
                kills = sum(len(story) - 1 for story in stories)
                print(f"kills: {arguments.count} runs of {seconds:.1f} s, killed {kills} times, came to the same weights, bit for bit")
            if wanted("disk"):
                disks(program, data, weights)
                fitting_disk(program, data, weights)
                without_checkpoint(program, data)
        if wanted("signals"):
            late_signal(program, data)
        if wanted("threads"):
            threads(program, data)
        if wanted("leftovers"):
            leftovers(program, data, dice)
    except AssertionError as error:
        fail(str(error))
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
