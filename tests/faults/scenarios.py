"""What is done to files while faults are injected, and what must be true afterwards.

Each scenario works in a folder of its own. The state of its targets is either the old or the new one; nothing in between counts.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

# By then the window has saved its settings, unless a fault keeps it from that; and on a machine with much else to do.
SETTINGS_SECONDS, PATIENT_SECONDS = 5, 60
TRAIN = ["--network", "tiny", "--epochs", "2", "--batch-size", "64", "--augmentation", "off", "--threads", "1"]


def write_idx(folder, train, test):
    """A small data set of bright squares with noise, one place for each class."""
    folder.mkdir(parents=True)
    for name, count, seed in (("train", train, 1), ("t10k", test, 2)):
        source = random.Random(seed)
        images, labels = bytearray(struct.pack(">4I", 0x803, count, 28, 28)), bytearray(struct.pack(">2I", 0x801, count))
        for index in range(count):
            label = index % 10
            top, left = 4 + label // 5 * 12, 2 + label % 5 * 5
            pixels = bytearray(source.randrange(60) for _ in range(784))
            for y in range(top, top + 8):
                for x in range(left, left + 4):
                    pixels[y * 28 + x] += 180
            images += pixels
            labels.append(label)
        (folder / f"{name}-images-idx3-ubyte").write_bytes(images)
        (folder / f"{name}-labels-idx1-ubyte").write_bytes(labels)


class Setting:
    """The program, and what every scenario starts from: a data set and models. Read-only."""

    def __init__(self, program, folder):
        self.program, self.folder = str(Path(program).resolve()), folder
        self.data, self.model = folder / "data", folder / "run/model.safetensors"
        write_idx(self.data, 200, 60)
        self.must("train", "--data", self.data, *TRAIN, "--out", folder / "run")
        # Another model of the same network, to be replaced.
        self.must("train", "--data", self.data, *TRAIN, "--seed", "2", "--out", folder / "earlier")

    def environment(self, home):
        keep = {key: value for key, value in os.environ.items() if key not in ("RUST_LOG", "DISPLAY", "WAYLAND_DISPLAY")}
        return {**keep, "INKLING_HOME": str(home), "INKLING_DATA_DIR": str(self.folder), "RUST_BACKTRACE": "0"}

    def run(self, home, *arguments, wrapper=(), timeout=120):
        command = [*wrapper, self.program, *map(str, arguments)]
        return subprocess.run(command, env=self.environment(home), capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)

    def must(self, *arguments):
        done = self.run(self.folder / "home", *arguments)
        assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stderr}"


def weights(model):
    """The digest of a model's weights, without its card, which may hold times."""
    bytes_ = model.read_bytes()
    head = struct.unpack("<Q", bytes_[:8])[0]
    tensors = {name: tensor for name, tensor in json.loads(bytes_[8 : 8 + head]).items() if name != "__metadata__"}
    return hashlib.sha256(json.dumps(tensors, sort_keys=True).encode() + bytes_[8 + head :]).hexdigest()


def run_state(folder):
    """What identifies a whole run; raises where a file of it is missing or is not whole."""
    summary = json.loads((folder / "run.json").read_text())
    history = (folder / "history.csv").read_text().splitlines()
    assert len(history) == len(summary["epochs"]) + 1 and sorted(name for name in os.listdir(folder) if not name.startswith("step-")) == ["history.csv", "model.safetensors", "run.json", "steps.csv"]
    return weights(folder / "model.safetensors")


def leftovers(*folders):
    """Temporary files and folders of Inkling."""
    return [str(path) for folder in folders for path in Path(folder).rglob(".inkling-*")] + [
        str(path) for folder in folders for path in Path(folder).rglob(".tmp*")
    ]


class Scenario:
    """Arguments of the program, the state of its targets, and how to carry on after a fault."""

    # True where the exit status and the last words say what happened.
    says = True

    def __init__(self, setting):
        self.setting = setting

    def prepare(self, work):
        """Creates the old state in `work`, whose folder `home` is Inkling's own."""
        (work / "home").mkdir(parents=True)

    def start(self, work, wrapper=()):
        return self.setting.run(work / "home", *self.arguments(work), wrapper=wrapper)

    def next_start(self, work):
        """Nothing is left of a process that has ended after Inkling's next start."""
        done = self.setting.run(work / "home", "licenses")
        assert done.returncode == 0, done.stderr
        assert not leftovers(work / "home"), f"leftovers after the next start: {leftovers(work / 'home')}"

    def carry_on(self, work):
        """What a person does after a fault. The state is the new one afterwards."""
        done = self.start(work)
        assert done.returncode == 0, f"a second time: {done.stderr}"


class Train(Scenario):
    """A run with checkpoints, saved among Inkling's runs."""

    name = "train"

    def arguments(self, work):
        return ["train", "--data", self.setting.data, *TRAIN]

    def state(self, work):
        runs = work / "home/runs"
        return sorted(run_state(run) for run in runs.iterdir() if run.name[0] != ".") if runs.is_dir() else []

    def carry_on(self, work):
        if self.state(work):
            return
        checkpoints = work / "home/checkpoints"
        written = checkpoints.is_dir() and any((folder / "checkpoint").is_file() for folder in checkpoints.iterdir())
        done = self.setting.run(work / "home", "train", "--resume") if written else self.start(work)
        assert done.returncode == 0, f"{'resumed' if written else 'started again'}: {done.stderr}"

    def at_the_end(self, work):
        checkpoints = work / "home/checkpoints"
        left = [str(path) for path in checkpoints.iterdir()] if checkpoints.is_dir() else []
        assert not left, f"checkpoints remain: {left}"


class TrainInto(Scenario):
    """A run that replaces the one in a folder."""

    name = "train --out"

    def prepare(self, work):
        super().prepare(work)
        shutil.copytree(self.setting.folder / "earlier", work / "out/run")

    def arguments(self, work):
        return ["train", "--data", self.setting.data, *TRAIN, "--out", work / "out/run", "--force"]

    def state(self, work):
        return [run_state(work / "out/run")]

    def at_the_end(self, work):
        assert os.listdir(work / "out") == ["run"], os.listdir(work / "out")


class Files(Scenario):
    """Files in one folder, each old or new, and all of them the same."""

    def prepare(self, work):
        super().prepare(work)
        (work / "out").mkdir()

    def next_start(self, work):
        super().next_start(work)
        # A folder of the person's own is cleaned when something is written to it.
        other = work / "out/another.png"
        done = self.setting.run(work / "home", "data", "show", self.setting.data, "--out", other)
        assert done.returncode == 0, done.stderr
        other.unlink()
        assert not leftovers(work), f"leftovers after something else was written there: {leftovers(work)}"

    def state(self, work):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (work / "out").iterdir() if path.name[0] != "."}


class ExportOne(Files):
    name = "export of one file"

    def prepare(self, work):
        super().prepare(work)
        (work / "out/model.safetensors").write_bytes(b"old")

    def arguments(self, work):
        to = ["--format", "safetensors", "--out", work / "out/model.safetensors"]
        return ["export", "--model", self.setting.model, *to, "--force"]


class ExportGroup(Files):
    name = "export of several files"

    def prepare(self, work):
        super().prepare(work)
        (work / "out/main.rs").write_bytes(b"old")

    def arguments(self, work):
        return ["export", "--model", self.setting.model, "--format", "candle", "--out", work / "out/main.rs", "--force"]


class Import(Scenario):
    """A model file, saved among Inkling's runs."""

    name = "import"

    def arguments(self, work):
        # A file of Inkling's says what it holds; trials of how a network was built would take most of the time.
        return ["import", self.setting.model]

    def state(self, work):
        runs = work / "home/runs"
        return sorted(run_state(run) for run in runs.iterdir() if run.name[0] != ".") if runs.is_dir() else []

    def carry_on(self, work):
        if not self.state(work):
            super().carry_on(work)


class Show(Files):
    name = "data show --out"

    def prepare(self, work):
        super().prepare(work)
        (work / "out/sheet.png").write_bytes(b"old")

    def arguments(self, work):
        return ["data", "show", self.setting.data, "--out", work / "out/sheet.png", "--force"]


class Settings(Scenario):
    """The window saves its settings by itself, here through a symbolic link. Needs a display."""

    name = "settings"
    # It stays open whatever happens to its settings, and says so in the window.
    says = False

    def prepare(self, work):
        super().prepare(work)
        (work / "dotfiles").mkdir()
        (work / "dotfiles/settings.json").write_text('{"wizard_done": true, "zoom": 1.25}')
        (work / "home/settings.json").symlink_to("../dotfiles/settings.json")

    def start(self, work, wrapper=()):
        environment = {**self.setting.environment(work / "home"), "DISPLAY": os.environ["DISPLAY"], "LIBGL_ALWAYS_SOFTWARE": "1"}
        command = [*wrapper, self.setting.program]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, env=environment, start_new_session=True, **quiet)
        old, end = self.state(work), time.monotonic() + (SETTINGS_SECONDS if wrapper else PATIENT_SECONDS)
        while process.poll() is None and time.monotonic() < end and self.state(work) == old:
            time.sleep(0.1)
        alive = process.poll() is None
        # Whatever else it does with its files.
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGKILL) if alive else None
        said = process.communicate()[1]
        self.wait_for_end(process.pid)
        return subprocess.CompletedProcess(command, 0 if alive else process.returncode, "", said)

    def carry_on(self, work):
        if not self.state(work)["window"]:
            super().carry_on(work)

    @staticmethod
    def wait_for_end(group):
        """Waits for what the tracer leaves behind: while it ends, another window would be shown by it, and end at once."""
        for _ in range(100):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)

    def state(self, work):
        settings = json.loads((work / "home/settings.json").read_text())
        return {"zoom": settings["zoom"], "window": settings.get("window") is not None}

    def at_the_end(self, work):
        assert (work / "home/settings.json").is_symlink(), "the link to the settings was replaced"


ALL = [Train, TrainInto, ExportOne, ExportGroup, Import, Show]
WITH_DISPLAY = [Settings]
