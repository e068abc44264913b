"""The peers of compare.py, each in a separate process that trains an epoch for each line it is given. Must not know Inkling.

This side starts such a process and asks it. `serve` is the other side, which pytorch.py, with_jax.py and with_tensorflow.py run.
"""

import argparse
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys

# What all sides train a network with. Their names are Inkling's.
ADAMW = {"optimizer": "adamw", "lr": 1e-3, "schedule": "constant"}
NETS = {
    **dict.fromkeys(["linear", "mlp-small", "mlp", "mlp-large", "lenet", "convnet", "pytorch-example", "cnn"], ADAMW),
    "speedrun": {"optimizer": "adam", "lr": 1e-2, "schedule": "one-cycle"},
    **dict.fromkeys(["convnet-bn", "tiny", "resnet8", "resnet14", "resnet20", "resnet34", "attention"], ADAMW),
}


class Peer:
    """The process, asked from this one."""

    name, script, packages = "", "", ()
    # The networks that it has.
    nets = tuple(NETS)

    def __init__(self, folder, threads, device="cpu"):
        script = pathlib.Path(__file__).with_name(self.script)
        command = [python_with(self.packages), script, folder, "--threads", str(threads), "--device", device]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        began = self.answer()
        self.version, self.device = began["version"], began["device"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name}'s side ended; what it said is above.")
        return json.loads(line)

    def epoch(self, net, batch, mode, steps=None):
        """Seconds per image, in an epoch or this many steps. `mode` is a number format, and for PyTorch "-channels_last" or "-compile"."""
        self.process.stdin.write(f"{net} {batch} {mode} {steps or 0}\n")
        self.process.stdin.flush()
        return self.answer()["seconds_per_image"]


class Torch(Peer):
    name, script, packages = "PyTorch", "pytorch.py", ("torch", "numpy")


class Jax(Peer):
    name, script, packages = "JAX", "with_jax.py", ("jax", "optax", "numpy")
    nets = ("convnet", "speedrun", "resnet8")


class TensorFlow(Peer):
    name, script, packages = "TensorFlow", "with_tensorflow.py", ("tensorflow-cpu", "numpy")
    nets = ("convnet", "speedrun", "resnet8")


def python_with(packages):
    """A Python that has these packages; installed into a virtual environment in the user's cache folder if there is none."""
    [library, *_] = packages
    module = library.removesuffix("-cpu")
    given = os.environ.get(f"INKLING_{module.upper()}_PYTHON")
    if given:
        return given
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / ".cache")
    folder = cache / "inkling" / module
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    works = lambda: python.exists() and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0
    if not works():
        print(f"Installing {', '.join(packages)} into {folder}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return str(python)


def mnist(folder):
    """The training images `[n, 28, 28]` and their labels, as bytes."""
    import numpy
    arrays = []
    for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
        with gzip.open(folder / f"{name}.gz") if (folder / f"{name}.gz").exists() else open(folder / name, "rb") as file:
            raw = file.read()
        sizes = struct.unpack(f">{raw[3]}I", raw[4:4 + 4 * raw[3]])
        arrays.append(numpy.frombuffer(raw[4 + 4 * raw[3]:], numpy.uint8).reshape(sizes))
    return arrays


def normalized(images):
    """Pixels as numbers, as all sides train on them."""
    return ((images.astype("float32") / 255) - 0.1307) / 0.3081


def step_count(steps, size, count):
    """Steps of an epoch of `count` images, or the first of them if fewer are wanted."""
    return min(count // size, steps or count)


def serve(prepare):
    """Answers each line. `prepare(folder, threads, device)` returns the version, the device's name, and what trains an epoch:
    `epoch(net, batch, mode, steps)` in seconds per image."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], required=True)
    arguments = parser.parse_args()
    version, device, epoch = prepare(arguments.folder, arguments.threads, arguments.device)
    print(json.dumps({"version": version, "device": device}), flush=True)
    for line in sys.stdin:
        net, size, mode, steps = line.split()
        print(json.dumps({"seconds_per_image": epoch(net, int(size), mode, int(steps))}), flush=True)
