"""A hundred random networks of all kinds of hidden layers, trained for some steps, exported, and computed by onnxruntime and PyTorch:

    python blocks.py INKLING WORK

Both have to give Inkling's probabilities within 1e-5.
"""
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from PIL import Image

from digits import digit
from idx import write_idx

INKLING, WORK = sys.argv[1], Path(sys.argv[2])
COUNT, SEED = 100, int(os.environ.get("INKLING_SEED", "1"))
TOLERANCE = 1e-5
ACTIVATIONS = ["relu", "leaky-relu", "gelu", "silu", "tanh"]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def hidden_layers(choose):
    """Layers that fit together, in their notation."""
    layers, side, channels, at_most = [], 28, 1, choose.randint(1, 9)
    while len(layers) < at_most and side > 1:
        kind = choose.choice(["conv", "conv", "conv", "residual", "dropout"])
        if kind == "dropout":
            layers.append(f"D{choose.choice([0.1, 0.25, 0.5])}")
            continue
        stride, channels = choose.choice([1, 1, 1, 2, 3]), choose.choice([1, 3, 4, 6, 8, 12])
        if kind == "residual":
            layers.append(f"{channels}R" + (f"S{stride}" if stride > 1 else ""))
            side = (side - 1) // stride + 1
            continue
        kernel = choose.randint(1, min(5, side))
        padding = choose.randint(0, kernel - 1)
        layers.append(f"{channels}C{kernel}" + (f"P{padding}" if padding else "") + (f"S{stride}" if stride > 1 else "") + choose.choice(["", "", "L"]))
        side = (side + 2 * padding - kernel) // stride + 1
        if stride == 1 and side > 1 and choose.random() < 0.5:
            layers.append("MP2")
            side //= 2
        if choose.random() < 0.5:
            layers.append("BN")
    end = choose.choice(["dense", "dense", "pool", "transformer"])
    if end == "transformer" and side <= 16 and layers:
        for _ in range(choose.randint(1, 3)):
            layers.append(f"T{choose.choice([heads for heads in (1, 2, 3, 4) if channels % heads == 0])}")
            layers += choose.choice([[], [], ["D0.1"], ["LN"]])
    if end != "dense":
        layers += ["GAP", *choose.choice([[], ["LN"]])]
    for _ in range(choose.randint(0, 3)):
        layers.append(f"{choose.randint(3, 40)}" + choose.choice(["", "", "L"]))
        layers += choose.choice([[], [], ["LN"], ["D0.5"]])
    return "-".join(layers[:24]) or "none"


def module_of(folder):
    spec = importlib.util.spec_from_file_location(f"model_{folder.parent.name}", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(number, layers, activation):
    home = WORK / str(number)
    run(INKLING, "train", "--data", WORK / "data", "--layers", layers, "--activation", activation, "--epochs", 1, "--batch-size", 64,
        "--augmentation", "off", "--threads", 1, "--out", home / "run", "--json")
    model = home / "run/model.safetensors"
    rows = [json.loads(line) for line in run(INKLING, "predict", "--json", "--model", model, *pictures).splitlines()]
    wanted = np.array([row["probabilities"] for row in rows], np.float64)
    run(INKLING, "export", "--model", model, "--format", "zip", "--out", home / "whole.zip")
    with zipfile.ZipFile(home / "whole.zip") as archive:
        archive.extractall(home)
    session = onnxruntime.InferenceSession(home / "whole/model.onnx", providers=["CPUExecutionProvider"])
    module = module_of(home / "whole")
    with torch.no_grad():
        found = {"onnxruntime": session.run(None, {"image": images})[0], "PyTorch": module.load()(module.preprocess(images)).softmax(1).numpy()}
    for tool, probabilities in found.items():
        away = np.abs(probabilities - wanted).max()
        assert away <= TOLERANCE, f"{tool} is {away:.1e} away from Inkling for {layers} with {activation}"
    shutil.rmtree(home)
    return max(np.abs(probabilities - wanted).max() for probabilities in found.values())


shutil.rmtree(WORK, ignore_errors=True)
(WORK / "data").mkdir(parents=True)
torch.set_num_threads(1)
noise = np.random.default_rng(SEED)
for name, count in [("train", 180), ("t10k", 20)]:
    labels = (np.arange(count) % 10).astype(np.uint8)
    images = np.stack([digit(label, noise) for label in labels])
    write_idx(WORK / f"data/{name}-images-idx3-ubyte", images)
    write_idx(WORK / f"data/{name}-labels-idx1-ubyte", labels)
pictures = []
for number, image in enumerate(images):
    pictures.append(WORK / f"{number:02}.png")
    Image.fromarray(image).save(pictures[-1])
choose = random.Random(SEED)
networks = {}
while len(networks) < COUNT:
    networks.setdefault(hidden_layers(choose), choose.choice(ACTIVATIONS))
away = [check(number, *network) for number, network in enumerate(networks.items())]
print(f"{COUNT} networks of random layers, such as {', '.join(list(networks)[:3])}: onnxruntime and PyTorch are at most {max(away):.0e} away from Inkling")
