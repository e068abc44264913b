"""Trains on a GPU that is this processor (tests/cuda/gpu): every kernel of an executable that carries CUDA is translated and run, so that what it
computes is known before a GPU sees it. Runs come to what they come to on the processor; memory runs out; nothing is copied at a step.

    python3 tests/cuda/gpu.py target/cuda/inkling [FOLDER]      FOLDER keeps what was translated
"""

import gzip
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

program = os.path.realpath(sys.argv[1])
kept = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="inkling-fake-gpu-")
home, counted = os.path.join(kept, "home"), os.path.join(kept, "counts")
subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu", "make"), kept], check=True)


def check(fact, what, output=""):
    if not fact:
        sys.exit(f"failed: {what}\n{output}")
    print(f"ok: {what}", flush=True)


def data():
    """A small data set: a bar for each class, elsewhere noise."""
    folder, chance = os.path.join(kept, "bars"), random.Random(1)
    os.makedirs(folder, exist_ok=True)
    for name, count in (("train", 280), ("t10k", 40)):
        labels = [index % 10 for index in range(count)]
        pixels = bytearray()
        for label in labels:
            for place in range(784):
                bar = place % 28 in (2 * label + 4, 2 * label + 5) and 4 <= place // 28 < 24
                pixels.append(chance.randrange(160, 256) if bar else chance.randrange(0, 60))
        parts = {"images-idx3": struct.pack(">4i", 2051, count, 28, 28) + pixels, "labels-idx1": struct.pack(">2i", 2049, count) + bytes(labels)}
        for part, content in parts.items():
            with gzip.open(os.path.join(folder, f"{name}-{part}-ubyte.gz"), "wb") as file:
                file.write(content)
    return folder


def run(*arguments, **more):
    keep = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "HOME")}
    environment = {**keep, "INKLING_HOME": home, "INKLING_CUDA_DIR": kept, "LD_LIBRARY_PATH": kept, "FAKE_GPU_CACHE": kept, "FAKE_GPU_COUNTS": counted, **more}
    if os.path.exists(counted):
        os.remove(counted)
    ended = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=600)
    if ended.returncode:
        sys.exit(f"failed: {' '.join(arguments)}\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def train(device, *arguments, **more):
    options = ["--preset", "balanced", "--model", "speedrun", "--augmentation", "off", "--epochs", "2", "--batch-size", "64", "--lr", "0.004"]
    said = run("train", "--data", bars, "--device", device, "--json", *last(options + list(arguments)), **more)
    return [json.loads(line) for line in said.splitlines()]


def last(arguments):
    """Of options that are named twice, the last."""
    return [part for pair in {arguments[index]: arguments[index + 1] for index in range(0, len(arguments), 2)}.items() for part in pair]


def losses(events):
    return [event[key] for event in events if event["event"] == "epoch" for key in ("train_loss", "validation_loss")]


def alike(what, tolerance, *arguments, **more):
    """Trains on both; gives what the run on the GPU said."""
    here, events = losses(train("cpu", *arguments)), train("cuda", *arguments, **more)
    apart = max(abs(a - b) / max(abs(a), 0.1) for a, b in zip(here, losses(events), strict=True))
    check(apart <= tolerance, f"{what}: losses {apart:.0e} apart from those of the processor", f"{here}\n{events}")
    return events


bars = data()
said = run("hardware", "--self-test", "--device", "cuda")
found = re.search(r"^  CUDA.*?^\s+\(for an op", said, re.M | re.S)
check("Fake GPU" in said and found and "WRONG" not in said and "FAILED" not in said, "the GPU is found, and every check of it passes", said)
print(found[0].rsplit("\n", 1)[0])

alike("pictures changed strongly, averaged weights, clipped gradients of two batches", 1e-4,
      "--augmentation", "strong", "--weight-averaging", "0.9", "--clip-norm", "0.5", "--accumulation", "2")
alike("batch normalisation", 1e-4, "--model", "convnet-bn", "--optimizer", "sgd", "--epochs", "1")
alike("dropout", 1e-4, "--model", "convnet", "--optimizer", "sgd", "--epochs", "1")
alike("a residual network", 1e-4, "--model", "resnet8", "--optimizer", "sgd", "--epochs", "1", "--activation", "gelu")
alike("attention", 1e-3, "--model", "attention", "--optimizer", "sgd", "--epochs", "1")
short = losses(alike("tf32", 0.02, "--precision", "tf32"))
check(short != losses(train("cuda")), "which is not f32 there")
alike("bf16", 0.05, "--precision", "bf16")
alike("f16 with loss scaling", 0.02, "--precision", "f16")

small = {"FAKE_GPU_MEMORY": str(42 << 20)}
events = alike("batches in parts where memory runs short", 1e-4, "--batch-size", "256", **small)
parts = [event["images"] for event in events if event.get("kind") == "smaller_parts"]
check(parts and parts[0] < 256, f"which is said: {parts} pictures at a time")


def counts(model, batch_size):
    train("cuda", "--model", model, "--augmentation", "gentle", "--batch-size", str(batch_size))
    # The check of the GPU counts first, then the engine, which may take a moment longer than the program it works for.
    for _ in range(100):
        with open(counted, encoding="utf-8") as file:
            sums = [line for line in file.read().splitlines() if "launches" in line]
        if len(sums) > 1:
            launches, to, size, *_ = map(int, re.findall(r"\d+", sums[-1]))
            return launches, to, size
        time.sleep(0.1)
    sys.exit("failed: the fake GPU did not say what it did")


steps = 2 * (-(-252 // 32) - -(-252 // 64))
for model in ("speedrun", "attention"):
    few, many = counts(model, 64), counts(model, 32)
    check(few[1:] == many[1:], f"a step of {model} copies nothing to the GPU", f"{few} {many}")
    check(few[0] < many[0], f"and takes {(many[0] - few[0]) / steps:.0f} launches besides matrix products")
print("what the GPU computes is right")
