"""Tests an executable built with CUDA on a CPU emulation of an NVIDIA GPU (tests/cuda/gpu), which translates its kernels to C and runs them: the
self-test passes, training gives the losses it gives on the CPU, also when memory runs out, and a training step copies nothing to the GPU.

    python3 tests/cuda/gpu.py target/cuda/inkling [FOLDER]      FOLDER caches the translated kernels
"""

import gzip
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

program = os.path.realpath(sys.argv[1])
cache = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="inkling-gpu-emulation-")
home, counts_file = os.path.join(cache, "home"), os.path.join(cache, "counts")
subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu", "make"), cache], check=True)


def check(passed, what, output=""):
    if not passed:
        sys.exit(f"failed: {what}\n{output}")
    print(f"ok: {what}", flush=True)


def write_data_set():
    """A small data set: a vertical bar at a place of its own for each class, on noise."""
    folder, rng = os.path.join(cache, "bars"), random.Random(1)
    os.makedirs(folder, exist_ok=True)
    for name, count in (("train", 280), ("t10k", 40)):
        labels = [index % 10 for index in range(count)]
        pixels = bytearray()
        for label in labels:
            for y in range(28):
                for x in range(28):
                    bar = x in (2 * label + 4, 2 * label + 5) and 4 <= y < 24
                    pixels.append(rng.randrange(160, 256) if bar else rng.randrange(0, 60))
        files = {"images-idx3": struct.pack(">4i", 2051, count, 28, 28) + pixels, "labels-idx1": struct.pack(">2i", 2049, count) + bytes(labels)}
        for kind, content in files.items():
            with gzip.open(os.path.join(folder, f"{name}-{kind}-ubyte.gz"), "wb") as file:
                file.write(content)
    return folder


def run(*arguments, **variables):
    """Runs Inkling with these additional environment variables; returns its output."""
    inherited = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "HOME")}
    emulation = {"INKLING_HOME": home, "INKLING_CUDA_DIR": cache, "LD_LIBRARY_PATH": cache, "EMULATED_GPU_CACHE": cache, "EMULATED_GPU_COUNTS": counts_file}
    if os.path.exists(counts_file):
        os.remove(counts_file)
    done = subprocess.run([program, *arguments], env={**inherited, **emulation, **variables}, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"failed: {' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


# Without batch normalization, which gives other results in the smaller micro-batches of a CPU.
DEFAULTS = {"--preset": "balanced", "--network": "cnn", "--layers": "24C5-MP2-32C3-MP2-256", "--augmentation": "off", "--epochs": "2",
            "--batch-size": "64", "--learning-rate": "0.004"}


def train(device, *arguments, flags=(), **variables):
    """Trains with DEFAULTS, these options and these flags; returns the events of the run."""
    options = {**DEFAULTS, **dict(zip(arguments[::2], arguments[1::2], strict=True))}
    if options["--network"] != "cnn":
        del options["--layers"]
    output = run("train", "--data", data_set, "--device", device, "--json", *flags, *(part for option in options.items() for part in option), **variables)
    return [json.loads(line) for line in output.splitlines()]


def losses(events):
    return [event[key] for event in events if event["event"] == "epoch" for key in ("train_loss", "validation_loss")]


def compare(what, tolerance, *arguments, flags=(), **variables):
    """Trains on the CPU and on the emulated GPU and compares the losses; returns how far they differ, and the events of the GPU's run."""
    expected, events = losses(train("cpu", *arguments)), train("cuda", *arguments, flags=flags, **variables)
    difference = max(abs(a - b) / max(abs(a), 0.1) for a, b in zip(expected, losses(events), strict=True))
    check(difference <= tolerance, f"{what}: losses differ from the CPU's by {difference:.0e}", f"{expected}\n{events}")
    return difference, events


def compare_trials(name, tolerances, **settings):
    """Compares the validation losses of a sweep over one setting, whose trials need only one self-test; returns how far each differs."""
    def trials(device):
        defaults = {option.removeprefix("--"): setting for option, setting in DEFAULTS.items() if option != "--preset"}
        ranges = {**defaults, **settings, name: ",".join(tolerances)}
        if ranges["network"] != "cnn":
            del ranges["layers"]
        sets = (part for option, values in ranges.items() for part in ("--set", f"{option}={values}"))
        output = run("sweep", "--data", data_set, "--device", device, "--json", "--preset", DEFAULTS["--preset"], "--sampler", "grid", "--pruner", "none",
                     "--parallel", "1", *sets)
        found, values = {}, {}
        for event in map(json.loads, output.splitlines()):
            if event["event"] == "trial_started":
                values[event["trial"]] = event["values"][name]
            elif event["event"] == "epoch":
                found.setdefault(values[event["trial"]], []).append(event["validation_loss"])
        return found

    expected, found, differences = trials("cpu"), trials("cuda"), {}
    for value, tolerance in tolerances.items():
        differences[value] = max(abs(a - b) / max(abs(a), 0.1) for a, b in zip(expected[value], found[value], strict=True))
        check(differences[value] <= tolerance, f"{value}: validation losses differ from the CPU's by {differences[value]:.0e}", f"{expected}\n{found}")
    return differences


data_set = write_data_set()
output = run("hardware", "--self-test", "--device", "cuda")
table = re.search(r"^  CUDA.*?(?=^  Ops:)", output, re.M | re.S)
passed = re.search(r"All (\d+) checks passed", output)
check("Emulated GPU" in output and table and passed, f"the GPU is found, and all {passed and passed[1]} checks of the self-test pass", output)
print(table[0].rstrip())

compare("strong augmentation, averaged weights, gradients clipped and accumulated over two batches", 5e-4,
        "--augmentation", "strong", "--weight-averaging", "0.9", "--clip-norm", "0.5", "--accumulation", "2")
# Batch normalization, residual networks, attention.
compare_trials("network", {"convnet-bn": 1e-4, "resnet8": 1e-4, "attention": 1e-3}, optimizer="sgd", epochs="1", activation="gelu")
# f16 with loss scaling.
rounding = compare_trials("precision", dict.fromkeys(["tf32", "bf16", "f16"], 0.05))
check(rounding["tf32"] > 1e-4, "and tf32 is less precise than f32")

_, events = compare("micro-batches where memory runs out", 1e-4, "--batch-size", "257", EMULATED_GPU_MEMORY=str(42 << 20))
sizes = [event["images"] for event in events if event.get("kind") == "smaller_micro_batches"]
check(sizes and sizes[0] < 257, f"and the run reports them: {sizes} images")


def autotuned(ways=None):
    """The file with the fastest way to compute each product, and how many there are; they become these ways in turn, if some are given."""
    file = pathlib.Path(home, "bench", "autotuning.json")
    found = json.loads(file.read_text())
    if ways is not None:
        in_turn = {gpu: {product: ways[index % len(ways)] for index, product in enumerate(products)} for gpu, products in found.items()}
        file.write_text(json.dumps(in_turn))
    return file, sum(map(len, found.values()))


shutil.rmtree(os.path.join(home, "bench"), ignore_errors=True)
with_dropout = ["--network", "convnet", "--optimizer", "sgd", "--epochs", "1"]
compare("dropout, and autotuning", 1e-4, *with_dropout, flags=["--autotune"])
file, products = autotuned()
saved = file.stat().st_mtime_ns
train("cuda", *with_dropout, flags=["--autotune"])
check(file.stat().st_mtime_ns == saved, f"and the fastest algorithms for {products} products are found once")
# An algorithm of cuBLASLt, one that fails, which cuBLAS's own replaces, and one that there is not.
autotuned([1, 2, 9])
compare("products by other algorithms, of which some fail", 1e-4, *with_dropout, flags=["--autotune"])
log = "".join(path.read_text() for path in pathlib.Path(home).rglob("*.log"))
check("an algorithm of cuBLASLt failed" in log, "and the log says that it failed", log[-2000:])

profile = json.loads(run("profile", "--device", "cuda", "--network", "speedrun", "--batch-size", "64", "--json"))
rows = profile["rows"]
sum_of_rows = sum(row["seconds"] for row in rows)
check({"data", "forward", "loss", "backward", "optimizer"} <= {row["kind"] for row in rows} and abs(sum_of_rows / profile["step_seconds"] - 1) < 0.03,
      f"the profile of a step, by the GPU's events: {len(rows)} rows add up to {sum_of_rows / profile['step_seconds']:.1%} of it", json.dumps(profile))


def counts(network, batch_size):
    """Kernels launched, copies to the GPU, and their bytes, of a run with this batch size."""
    train("cuda", "--network", network, "--augmentation", "gentle", "--batch-size", str(batch_size))
    # The process of the self-test writes its counts first, then the engine's, which may end a moment after the program.
    for _ in range(100):
        with open(counts_file, encoding="utf-8") as file:
            totals = [line for line in file.read().splitlines() if "launches" in line]
        if len(totals) > 1:
            launches, copies, size, *_ = map(int, re.findall(r"\d+", totals[-1]))
            return launches, copies, size
        time.sleep(0.1)
    sys.exit("failed: the emulated GPU did not write its counts")


# Two epochs of 257 images (280, less those for validation): how many more steps they take with batches of 26 than of 72. Both runs keep the network
# within an epoch as often (at steps 0, 1, 2 and 5), each time with its accuracy on images that are copied for it.
steps = 2 * (-(-257 // 26) - -(-257 // 72))
for network in ("speedrun", "attention"):
    fewer, more = counts(network, 72), counts(network, 26)
    check(fewer[1:] == more[1:], f"a step of {network} copies nothing to the GPU", f"{fewer} {more}")
    check(fewer[0] < more[0], f"and takes {(more[0] - fewer[0]) / steps:.0f} launches besides matrix products")
print("the emulated GPU computes what the CPU does")
