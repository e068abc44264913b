#!/usr/bin/env python3
"""Inkling against PyTorch on this processor: the same nets, data, batch sizes and threads, in turn, and the ratios.

    cargo build --release
    python3 benches/compare.py                       # convnet and speedrun, one epoch each, 5 rounds
    python3 benches/compare.py --presets speedrun:10 balanced:5   # presets by seeds: accuracy, and time in PyTorch epochs

PyTorch is installed into a virtual environment in this user's cache folder, once; INKLING_TORCH_PYTHON names a Python that has
it already. MNIST's four IDX files are looked for in INKLING_DATA_DIR, else in ../shared/data beside this repository.

What is compared is the time training takes for 60,000 images, without validation, test and getting the data into memory:
Inkling's `epoch_seconds` leave those out, and learn from the 55,000 images that are not held back, so both sides are
counted by the image. Every side has one epoch to warm up that is not counted; then they take turns, so that whatever else
this machine does hits all of them. A figure is the median of its rounds. f32 is compared with PyTorch's faster f32 layout.
"""

import argparse
import gzip
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Batch size, and the optimiser and schedule both sides train with.
NETS = {
    "convnet": {"batch": 128, "optimizer": "adamw", "lr": 1e-3, "schedule": "constant"},
    "speedrun": {"batch": 256, "optimizer": "adam", "lr": 1e-2, "schedule": "one-cycle"},
}
EPOCH = 60_000


# The peer: PyTorch in a process of its own, which trains an epoch for each line it is given.

def peer(folder, threads):
    import torch
    from torch import nn

    torch.set_num_threads(threads)

    def idx(name):
        with gzip.open(folder / f"{name}.gz") if (folder / f"{name}.gz").exists() else open(folder / name, "rb") as file:
            raw = file.read()
        sizes = struct.unpack(f">{raw[3]}I", raw[4:4 + 4 * raw[3]])
        return torch.frombuffer(bytearray(raw[4 + 4 * raw[3]:]), dtype=torch.uint8).view(sizes)

    images = (idx("train-images-idx3-ubyte")[:, None].float() / 255 - 0.1307) / 0.3081
    labels = idx("train-labels-idx1-ubyte").long()
    pool = lambda: nn.MaxPool2d(2)
    build = {
        "convnet": lambda: nn.Sequential(
            nn.Conv2d(1, 32, 5), pool(), nn.Conv2d(32, 64, 5), pool(), nn.Flatten(),
            nn.Linear(1024, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10)),
        "speedrun": lambda: nn.Sequential(
            nn.Conv2d(1, 24, 5), pool(), nn.ReLU(), nn.Conv2d(24, 32, 3), pool(), nn.ReLU(), nn.Flatten(),
            nn.Linear(800, 256), nn.ReLU(), nn.Linear(256, 10)),
    }
    loss_of = nn.CrossEntropyLoss()

    def epoch(net, mode):
        settings = NETS[net]
        layout = torch.channels_last if mode.endswith("channels_last") else torch.contiguous_format
        model = build[net]().to(memory_format=layout).train()
        steps = len(images) // settings["batch"]
        rule = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings["optimizer"]]
        optimizer = rule(model.parameters(), settings["lr"], fused=True)
        schedule = None
        if settings["schedule"] == "one-cycle":
            schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings["lr"], total_steps=steps, cycle_momentum=False)
        began = time.perf_counter()
        order = torch.randperm(len(images))
        for chosen in order.split(settings["batch"])[:steps]:
            batch = images[chosen].contiguous(memory_format=layout)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mode.startswith("bf16")):
                logits = model(batch)
            loss = loss_of(logits.float(), labels[chosen])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if schedule:
                schedule.step()
        return (time.perf_counter() - began) / (steps * settings["batch"])

    print(json.dumps({"version": torch.__version__}), flush=True)
    for line in sys.stdin:
        net, mode = line.split()
        print(json.dumps({"seconds_per_image": epoch(net, mode)}), flush=True)


class Torch:
    """The peer's process, asked from this one."""

    def __init__(self, python, folder, threads):
        command = [python, __file__, "--peer", str(folder), "--threads", str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self.answer()["version"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("PyTorch's side ended; what it said is above.")
        return json.loads(line)

    def epoch(self, net, mode):
        """Seconds per image."""
        self.process.stdin.write(f"{net} {mode}\n")
        self.process.stdin.flush()
        return self.answer()["seconds_per_image"]


def torch_python():
    """A Python that has PyTorch; made where there is none."""
    given = os.environ.get("INKLING_TORCH_PYTHON")
    if given:
        return given
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / ".cache")
    folder = cache / "inkling" / "torch"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    has_torch = lambda: python.exists() and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    if not has_torch():
        say(f"Installing PyTorch into {folder}")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "torch", "numpy"], check=True)
    return str(python)


# Our side.

def inkling(program, data, threads, options):
    """Trains; gives what it reported last, and the images it learned from."""
    with tempfile.TemporaryDirectory() as home:
        command = [program, "train", "--data", "mnist", "--data-dir", data, "--threads", threads, "--json", "--out", f"{home}/run", *options]
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "INKLING_HOME": home})
        out, said = process.communicate()
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{said}")
    events = [json.loads(line) for line in out.splitlines()]
    plan = next(event["plan"] for event in events if event["event"] == "started")
    return events[-1], plan["train_images"]


def our_epoch(program, data, threads, net, precision):
    """Seconds per image."""
    settings = NETS[net]
    options = ["--preset", "quick", "--model", net, "--epochs", 1, "--batch-size", settings["batch"], "--optimizer", settings["optimizer"],
               "--lr", settings["lr"], "--schedule", settings["schedule"], "--augmentation", "off", "--precision", precision]
    finished, images = inkling(program, data, threads, options)
    return finished["epoch_seconds"][0] / images


# What is asked, and what came of it.

def processor():
    """The processor's name, and the kind that decides speed here."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        import platform
        return platform.processor() or platform.machine(), "unknown kind", True
    fields = dict([part.strip() for part in line.split(":", 1)] for line in text.splitlines() if ":" in line)
    flags = set(fields.get("flags", fields.get("Features", "")).split())
    if "avx512f" in flags:
        kind = "AVX-512 with BF16" if "avx512_bf16" in flags else "AVX-512 without BF16"
    else:
        kind = "AVX2" if "avx2" in flags else "neither AVX2 nor AVX-512"
    return fields.get("model name", "unknown processor"), kind, "avx512_bf16" in flags


def say(text):
    print(text, file=sys.stderr, flush=True)


def compare_nets(arguments, torch, bf16):
    """Epochs in turn; prints a line for each net and precision."""
    results = []
    for net in arguments.nets:
        sides = {f"pytorch {mode}": (lambda mode=mode: torch.epoch(net, mode)) for mode in ["f32", "f32-channels_last"]}
        sides["inkling f32"] = lambda: our_epoch(arguments.inkling, arguments.data, arguments.threads, net, "f32")
        if bf16:
            sides["pytorch bf16-channels_last"] = lambda: torch.epoch(net, "bf16-channels_last")
            sides["inkling bf16"] = lambda: our_epoch(arguments.inkling, arguments.data, arguments.threads, net, "bf16")
        taken = {name: [] for name in sides}
        for turn in range(arguments.rounds + 1):
            for name, side in sides.items():
                seconds = side() * EPOCH
                say(f"{net}, {'warm-up' if turn == 0 else f'round {turn}'}: {name} {seconds:.2f} s")
                if turn:
                    taken[name].append(seconds)
        medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
        theirs = {"f32": min(medians["pytorch f32"], medians["pytorch f32-channels_last"]), "bf16": medians.get("pytorch bf16-channels_last")}
        for precision in ["f32", "bf16"] if bf16 else ["f32"]:
            ours = medians[f"inkling {precision}"]
            results.append({"net": net, "batch": NETS[net]["batch"], "precision": precision, "inkling_seconds": ours,
                            "pytorch_seconds": theirs[precision], "ratio": ours / theirs[precision], "rounds": taken})
            print(f"{net:9} batch {NETS[net]['batch']:3} {precision:4}  Inkling {ours:6.2f} s  PyTorch {theirs[precision]:6.2f} s  "
                  f"ratio {ours / theirs[precision]:.2f}", flush=True)
    return results


def compare_presets(arguments, torch):
    """Each preset by several seeds, in turn with PyTorch's epochs of `speedrun`, f32 channels_last."""
    results = []
    for preset, seeds in (wish.split(":") if ":" in wish else (wish, "1") for wish in arguments.presets):
        torch.epoch("speedrun", "f32-channels_last")
        accuracies, seconds, epochs = [], [], []
        for seed in range(1, int(seeds) + 1):
            epochs.append(torch.epoch("speedrun", "f32-channels_last") * EPOCH)
            finished, _ = inkling(arguments.inkling, arguments.data, arguments.threads, ["--preset", preset, "--seed", seed])
            accuracies.append(finished["test_accuracy"])
            seconds.append(finished["train_seconds"])
            say(f"{preset}, seed {seed}: {accuracies[-1]:.2%} in {seconds[-1]:.2f} s; PyTorch's epoch {epochs[-1]:.2f} s")
        mean, ours, epoch = statistics.mean(accuracies), statistics.median(seconds), statistics.median(epochs)
        results.append({"preset": preset, "accuracies": accuracies, "parameters": finished["parameters"], "train_seconds": seconds,
                        "pytorch_epoch_seconds": epochs, "ratio": ours / epoch})
        print(f"{preset:9} {mean:.2%} mean of {len(accuracies)} ({min(accuracies):.2%} to {max(accuracies):.2%}), "
              f"{finished['parameters']:,} parameters  {ours:.2f} s = {ours / epoch:.2f} PyTorch epochs of speedrun (f32, channels_last)", flush=True)
    return results


def main():
    default_data = pathlib.Path(os.environ.get("INKLING_DATA_DIR") or ROOT.parent / "shared" / "data")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", choices=NETS, default=list(NETS))
    parser.add_argument("--presets", nargs="+", metavar="NAME:SEEDS", help="compare presets instead of nets")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    parser.add_argument("--inkling", type=pathlib.Path, default=ROOT / "target" / "release" / "inkling", help="the program")
    parser.add_argument("--data", type=pathlib.Path, default=default_data, help="the folder that holds mnist/")
    parser.add_argument("--json", type=pathlib.Path, help="write every figure to this file as well")
    parser.add_argument("--peer", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.peer:
        return peer(arguments.peer, arguments.threads)
    if not arguments.inkling.exists():
        sys.exit(f"{arguments.inkling} is not there: build it with `cargo build --release`, or name the program with --inkling.")
    name, kind, bf16 = processor()
    torch = Torch(torch_python(), arguments.data / "mnist", arguments.threads)
    print(f"{name} ({kind}), {arguments.threads} threads, PyTorch {torch.version}", flush=True)
    results = compare_presets(arguments, torch) if arguments.presets else compare_nets(arguments, torch, bf16)
    if arguments.json:
        arguments.json.write_text(json.dumps({"processor": name, "kind": kind, "threads": arguments.threads, "results": results}, indent=1))


if __name__ == "__main__":
    main()
