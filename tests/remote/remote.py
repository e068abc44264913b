#!/usr/bin/env python3
"""Trains and sweeps on other machines, kills them, and checks that nothing is lost and that everything comes out as it does here.

Usage: remote.py EXECUTABLE, as root.
"""

import glob
import hashlib
import json
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import services
from services import USERS, wait

SWEEP = ["--preset", "quick", "--set", "learning-rate=0.001,0.003,0.01", "--set", "batch-size=64,128", "--set", "epochs=2", "--sampler", "grid", "--pruner", "none"]
TRAIN = ["--preset", "quick", "--epochs", "6"]


def say(text):
    print(f"ok: {text}", flush=True)


def check(true, text):
    assert true, f"not so: {text}"
    say(text)


class Inkling:
    """The program with folders of its own."""

    def __init__(self, program, folder):
        self.program, self.home = str(program), Path(folder)

    def start(self, *arguments):
        environment = {**os.environ, "INKLING_HOME": str(self.home)}
        # To a file, because nobody reads while the other side is killed; a separate file each, because several run at the same time.
        output = tempfile.NamedTemporaryFile("w+", dir=self.home, prefix="output-")
        # A process group of its own, as a shell makes one for each command.
        process = subprocess.Popen([self.program, *arguments], env=environment, stdout=output, stderr=subprocess.STDOUT, text=True, process_group=0)
        process.output = output
        return process

    def run(self, *arguments, status=0):
        process = self.start(*arguments)
        process.wait(timeout=300)
        process.output.seek(0)
        text = process.output.read()
        assert process.returncode == status, f"{arguments}: exit status {process.returncode}\n{text}"
        return text

    def newest_weights(self):
        models = glob.glob(f"{self.home}/runs/*/model.safetensors")
        return hashlib.sha256(Path(max(models, key=os.path.getmtime)).read_bytes()).hexdigest()


class Shim:
    """A script in front of a command of Slurm: it runs first, and may exit before the command is run."""

    def __init__(self, command, script):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / command
        self.path.write_text(f'#!/bin/sh\n{script}\nexec {shutil.which(command)} "$@"\n')
        self.path.chmod(0o755)

    def __enter__(self):
        self.before = os.environ["PATH"]
        os.environ["PATH"] = f"{self.folder.name}:{self.before}"
        return self

    def __exit__(self, *_):
        os.environ["PATH"] = self.before
        self.folder.cleanup()

    def read(self, suffix):
        return Path(f"{self.path}.{suffix}").read_text()


def table(text):
    """Trials with their settings and accuracies, from the lines of `--json`."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    values = {line["trial"]: line["values"] for line in lines if line["event"] == "trial_started"}
    ended = {line["trial"]: line["validation_accuracy"] for line in lines if line["event"] == "trial_ended"}
    return {trial: (json.dumps(values[trial], sort_keys=True), accuracy) for trial, accuracy in ended.items()}


def has_finished(text):
    """Whether the lines of `--json` end with all six trials completed."""
    ended = [json.loads(line) for line in text.splitlines() if '"finished"' in line]
    return ended[0]["completed"] == 6 and ended[0]["complete"]


def signal_group(process, number):
    """Sends a signal to the program and its children, as a terminal does. The exit status, and what was printed."""
    os.killpg(process.pid, number)
    return process.wait(timeout=60), Path(process.output.name).read_text()


def wait_for_output(process, text, times=1):
    def there():
        assert process.poll() is None, f"it ended with {process.returncode}: {Path(process.output.name).read_text()}"
        return Path(process.output.name).read_text().count(text) >= times
    wait(there, 120, f"{text!r} is not printed {times} times")


def kill_user(host):
    subprocess.run(["pkill", "-9", "-u", USERS[host]], check=False)


def sweeps(inkling, hosts):
    here = table(inkling.run("sweep", *SWEEP, "--json"))
    check(len(here) == 6, "a sweep of six trials on this machine")
    check(table(inkling.run("sweep", *SWEEP, "--json", "--hosts", hosts)) == here, "the same sweep over two SSH hosts gives the same table")
    slurm = ("--executor", "slurm", "--parallel", "2", "--threads", "1")
    check(table(inkling.run("sweep", *SWEEP, "--json", *slurm)) == here, "and so does a Slurm job array")
    queue = lambda: subprocess.run(["squeue", "--noheader", "--states=PENDING,RUNNING"], capture_output=True, text=True).stdout.strip()
    wait(lambda: queue() == "", 30, f"the queue is not empty: {queue()}")
    say("which leaves nothing in the queue")

    process = inkling.start("sweep", *SWEEP, "--json", "--hosts", hosts)
    wait_for_output(process, "trial_ended")
    kill_user("two")
    process.wait(timeout=300)
    check(table(Path(process.output.name).read_text()) == here, "a host that is killed in the middle costs nothing")

    process = inkling.start("sweep", *SWEEP, "--json", *slurm)
    wait_for_output(process, "trial_ended")
    tasks = subprocess.run(["squeue", "--noheader", "--array", "--format=%A"], capture_output=True, text=True).stdout.split()
    subprocess.run(["scancel", tasks[0]], check=True)
    process.wait(timeout=300)
    check(table(Path(process.output.name).read_text()) == here, "nor does a task that is cancelled")

    for place in (("--hosts", hosts), slurm):
        process = inkling.start("sweep", *SWEEP, "--json", *place)
        wait_for_output(process, "trial_ended")
        status, text = signal_group(process, signal.SIGINT)
        check(status == 130, f"Ctrl-C stops a sweep with {place[0]} {place[1]}")
        assert '"failed":0' in text and "connection" not in text, text
        wait(lambda: queue() == "", 30, f"the queue is not empty: {queue()}")
        check(has_finished(inkling.run("sweep", "--resume", "--json", *place[:4])), "and it is resumed")
    with Shim("squeue", 'count=$(cat "$0.count" 2>/dev/null || echo 0); echo $((count + 1)) > "$0.count"; [ "$count" -ge 3 ] || exit 1'):
        text = inkling.run("sweep", *SWEEP, "--json", *slurm)
    check(table(text) == here, "a squeue that fails three times costs nothing")
    description = inkling.home / "sweep.toml"
    description.write_text('preset = "quick"\nparallel = 1\n[set]\nepochs = 1\nlr = [0.001, 0.01]\n')
    with Shim("sbatch", 'echo "$*" > "$0.arguments"') as sbatch:
        inkling.run("sweep", str(description), "--executor", "slurm", "--threads", "1", "--sampler", "grid")
        check("--array=0-0 " in sbatch.read("arguments"), "parallel in the description sets the size of the job array")
    with Shim("sbatch", 'echo "sbatch: error: invalid partition specified: none" >&2; exit 1'):
        text = inkling.run("sweep", *SWEEP, *slurm, status=1)
    check("Slurm failed: sbatch" in text and "invalid partition" in text, "the error message of sbatch is shown")

    process = inkling.start("sweep", *SWEEP, "--json", "--hosts", hosts)
    wait_for_output(process, "trial_ended")
    process.send_signal(signal.SIGKILL)
    process.wait()
    for host in USERS:
        kill_user(host)
    resumed = inkling.run("sweep", "--resume", "--json", "--hosts", hosts)
    check(has_finished(resumed), "a sweep that was killed with all its hosts is resumed")


def runs(inkling, one, two):
    inkling.run("train", *TRAIN)
    here = inkling.newest_weights()
    inkling.run("train", *TRAIN, "--hosts", one)
    check(inkling.newest_weights() == here, "a run on another machine has the same weights as here")

    process = inkling.start("train", *TRAIN, "--hosts", one)
    wait_for_output(process, "Epoch 3 of 6")
    kill_user("one")
    check(process.wait(timeout=60) == 1, "a connection that is lost ends the run with a message")
    inkling.run("train", "--resume", "--hosts", two)
    check(inkling.newest_weights() == here, "it is resumed on another host, to the same weights")

    process = inkling.start("train", *TRAIN, "--hosts", one)
    wait_for_output(process, "Epoch 3 of 6")
    process.send_signal(signal.SIGKILL)
    process.wait()
    alive = lambda: subprocess.run(["pgrep", "-u", USERS["one"], "inkling"], capture_output=True).returncode == 0
    wait(lambda: not alive(), 30, "an engine without a caller does not end")
    say("an engine whose caller is killed ends")
    inkling.run("train", "--resume")
    check(inkling.newest_weights() == here, "and its run is resumed here, to the same weights")
    left = glob.glob(f"/home/{USERS['one']}/.local/share/inkling/received/.inkling*/*")
    inkling.run("train", "--preset", "quick", "--epochs", "1", "--hosts", one)
    check(not [path for path in left if os.path.exists(path)], "what was left there is deleted by the next start")


def signals(inkling, one):
    process = inkling.start("train", "--preset", "quick", "--epochs", "500", "--hosts", one)
    wait_for_output(process, "Epoch 3 of 500")
    status, text = signal_group(process, signal.SIGINT)
    assert status == 130 and "the model was saved" in text, f"exit status {status}\n{text}"
    say("Ctrl-C stops a run on another machine and saves it")

    # A terminal that is closed, and a system that shuts down.
    for number in (signal.SIGHUP, signal.SIGTERM):
        process = inkling.start("train", *TRAIN, "--hosts", one)
        wait_for_output(process, "Epoch 3 of 6")
        status, text = signal_group(process, number)
        assert status == 128 + number and "can be resumed" in text, f"exit status {status}\n{text}"
        text = inkling.run("train", "--resume", "--hosts", one)
        assert "Resuming after" in text and "Epoch 3 of 6" not in text, text
        say(f"a run on another machine that is interrupted by {signal.Signals(number).name} is resumed where it was")


def repeats(inkling, hosts):
    train = ["train", "--preset", "quick", "--epochs", "2", "--repeats", "3"]
    mean = lambda text: [line for line in text.splitlines() if "interval of the mean" in line]
    here = mean(inkling.run(*train))
    check(here and mean(inkling.run(*train, "--hosts", hosts)) == here, "repeated runs on two hosts have the same mean and interval as here")
    process = inkling.start(*train, "--hosts", hosts)
    wait_for_output(process, "Done.")
    kill_user("two")
    process.wait(timeout=300)
    check(mean(Path(process.output.name).read_text()) == here, "also where one of them is killed")


def data(inkling, one):
    images = bytes([0, 0, 8, 3]) + b"".join(n.to_bytes(4, "big") for n in (100, 28, 28)) + bytes(i % 256 for i in range(100 * 784))
    labels = bytes([0, 0, 8, 1]) + (100).to_bytes(4, "big") + bytes(i % 10 for i in range(100))
    folder = inkling.home / "set"
    folder.mkdir()
    for part in ("train", "t10k"):
        (folder / f"{part}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)
    train = ["train", "--data", str(folder), "--network", "mlp", "--batch-size", "10", "--epochs", "1", "--hosts", one]
    received = lambda: sorted(glob.glob(f"{received_folder('one')}/?*/train-images*"))
    text = inkling.run(*train)
    check("Sending set to one: 200 images," in text, "what is sent is said, with its size and the host")
    first = received()
    check(len(first) == 1, "data is sent to a host where it is missing")
    time_of = os.path.getmtime(first[0])
    inkling.run(*train)
    check(received() == first and os.path.getmtime(first[0]) == time_of, "and not a second time")


def received_folder(host):
    return Path(f"/home/{USERS[host]}/.local/share/inkling/received")


def received(host):
    """Everything in that folder; an engine that is just ending may delete its part of it meanwhile."""
    return sorted(Path(folder) / name for folder, folders, files in os.walk(received_folder(host)) for name in [*folders, *files])


def received_for_good(host):
    """What stays there when engines have ended, by name."""
    return [path.name for path in received(host) if not any(part.startswith(".inkling-") for part in path.parts)]


def check_private(host):
    """Lists what has arrived, and checks that nobody but its owner can read it."""
    found = [received_folder(host), *received(host)]
    for path in found:
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        print(f"    {stat.filemode(status.st_mode)} {status.st_size:>9} {path.relative_to(received_folder(host).parent)}", flush=True)
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
        assert stat.S_IMODE(status.st_mode) == wanted and status.st_uid == pwd.getpwnam(USERS[host]).pw_uid, path
    return [path.name for path in found]


def my_digits(inkling, one):
    (inkling.home / "data").mkdir(exist_ok=True)
    drawing = lambda digit: json.dumps({"strokes": [[[float(digit), 0.0], [9.5, 40.0]]], "pen": 4.0, "label": str(digit)})
    (inkling.home / "data" / "my-digits.jsonl").write_text("".join(f"{drawing(digit)}\n" for _ in range(3) for digit in range(10)))
    train = ["train", "--data", "builtin+mine", "--preset", "quick", "--epochs", "3", "--hosts", one]
    before = received_for_good("one")
    text = inkling.run(*train, status=2)
    check(all(part in text for part in ("30 drawings", "one", "--send-my-digits", "30 days")), "My digits are not sent unasked")
    check(received_for_good("one") == before, "nor anything else")
    process = inkling.start(*train, "--send-my-digits")
    wait_for_output(process, "Epoch 1 of 3")
    names = check_private("one")
    check("checkpoints" in names and "train-images-idx3-ubyte" in names, "during a run, all that has arrived is for its owner alone")
    on = ["--on", one, "--json"]
    listed = [json.loads(line) for line in inkling.run("hosts", "received", *on).splitlines()]
    mine = [bundle for bundle in listed if "My digits" in bundle["what"]]
    check(len(mine) == 1 and mine[0]["in_use"], "it is listed from here, as in use")
    inkling.run("hosts", "delete", mine[0]["id"], *on, status=1)
    check(process.wait(timeout=120) == 0, "and is not deleted until the run has ended")
    check_private("one")
    other = subprocess.run(["su", USERS["two"], "-s", "/bin/sh", "-c", f"ls {received_folder('one')}"], capture_output=True)
    check(other.returncode != 0, "another user of that machine cannot even list it")
    inkling.run("hosts", "delete", mine[0]["id"], *on)
    check(not (received_folder("one") / mine[0]["id"]).exists(), "it is deleted from here")
    inkling.run("hosts", "withdraw", "one")
    inkling.run(*train, status=2)
    say("and the agreement can be withdrawn")


def addresses(inkling, program, folder):
    """A host with a user and a port, as an address."""
    port = next(line.split()[1] for line in (Path(folder) / "sshd_config").read_text().splitlines() if line.startswith("Port"))
    url = f"ssh://{USERS['one']}@127.0.0.1:{port}{program}"
    text = inkling.run("hosts", "received", "--on", url)
    check("last used" in text, "a host can be named as ssh://USER@HOST:PORT/PATH")


def main():
    folder = tempfile.mkdtemp(prefix="inkling-remote-")
    os.chmod(folder, 0o755)
    program = Path(folder) / "inkling"
    shutil.copy(sys.argv[1], program)
    program.chmod(0o755)
    home = Path(folder) / "home"
    home.mkdir()
    inkling = Inkling(program, home)
    one, two = f"one:{program}", f"two:{program}"
    processes = []
    try:
        processes.append(services.start_sshd(folder))
        data(inkling, one)
        my_digits(inkling, one)
        addresses(inkling, program, folder)
        runs(inkling, one, two)
        signals(inkling, one)
        text = inkling.run("train", *TRAIN, "--hosts", "nowhere.invalid", status=1)
        check("nowhere.invalid" in text and "inkling --version" in text, "a host that cannot be reached is said, with what to try")
        repeats(inkling, f"{one},{two}")
        processes += services.start_slurm(folder)
        sweeps(inkling, f"{one},{two}")
    finally:
        for host in USERS:
            kill_user(host)
        for process in reversed(processes):
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


main()
