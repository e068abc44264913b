"""Has Inkling import ONNX files of networks that it cannot build, which PyTorch writes here, evaluate them and export them again:

    python foreign_onnx.py INKLING WORK

.ci/exports installs what it takes.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from idx import write_idx

INKLING, WORK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MEAN, STD = 0.5, 0.5
random = np.random.default_rng(1)


class Branches(nn.Module):
    """Two branches, one of them with a sigmoid; the output is probabilities, not logits."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.Hardswish())
        self.wide, self.narrow = nn.Conv2d(12, 12, 3, padding=1), nn.Conv2d(12, 12, 1)
        self.last = nn.Linear(24 * 49, 10)

    def forward(self, x):
        x = self.stem(x)
        x = torch.cat([F.relu(self.wide(x)), torch.sigmoid(self.narrow(x))], 1)
        return torch.softmax(self.last(F.avg_pool2d(x, 2).flatten(1)), 1)


class SqueezeExcitation(nn.Module):
    """A depthwise convolution, squeeze and excitation, and ReLU6."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 5, 2, 2)
        self.depthwise, self.pointwise = nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 32, 1)
        self.squeeze, self.excite = nn.Linear(32, 8), nn.Linear(8, 32)
        self.last = nn.Linear(32 * 49, 10)

    def forward(self, x):
        x = F.relu6(self.pointwise(self.depthwise(F.relu6(self.stem(x)))))
        weights = torch.sigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3))))))
        return self.last(F.max_pool2d(x * weights[:, :, None, None], 2).flatten(1))


def squares(count):
    """Squares of ten similar sizes, in noise: no network is right about all of them, so that equal accuracies mean something."""
    labels = (np.arange(count) % 10).astype(np.uint8)
    images = random.integers(0, 160, (count, 28, 28)).astype(np.uint8)
    for image, label in zip(images, labels):
        side, (top, left) = 10 + label, random.integers(0, 9, 2)
        image[top:top + side, left:left + side] = random.integers(96, 256, (side, side))
    return images, labels


def inkling(*arguments, status=0):
    done = subprocess.run([INKLING, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, "INKLING_HOME": str(WORK / "home")})
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def tensor(images):
    return (torch.tensor(images)[:, None].float() / 255 - MEAN) / STD


def check(network, data, train, test):
    name = type(network).__name__
    images, labels = tensor(train[0]), torch.tensor(train[1]).long()
    optimizer = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(6):
        for chosen in torch.randperm(len(images)).split(64):
            optimizer.zero_grad()
            output = network(images[chosen])
            log = torch.log(output + 1e-9) if name == "Branches" else F.log_softmax(output, 1)
            F.nll_loss(log, labels[chosen]).backward()
            optimizer.step()
    network.eval()
    with torch.no_grad():
        expected = (network(tensor(test[0])).argmax(1).numpy() == test[1]).mean()
    assert 0.5 < expected < 1, f"{name} has learned too little or too much to be a test: {expected:.2%}"
    file, out = WORK / f"{name}.onnx", WORK / name
    torch.onnx.export(network, torch.zeros(1, 1, 28, 28), file, dynamo=False, dynamic_axes={"x": {0: "n"}}, input_names=["x"], opset_version=17)
    [imported] = map(json.loads, inkling("import", file, "--mean", MEAN, "--std", STD, "--data", data, "--out", out, "--json").stdout.splitlines())
    model = imported["model_path"]
    [evaluated] = map(json.loads, inkling("eval", "--model", model, "--data", data, "--json").stdout.splitlines())
    accuracy = evaluated["accuracy"]
    assert abs(accuracy - expected) < 1.5 / len(test[1]), f"{name}: {accuracy:.2%} instead of {expected:.2%}"
    exported = WORK / f"{name}-exported.onnx"
    inkling("export", "--model", model, "--format", "onnx", "--out", exported)
    assert exported.read_bytes() == file.read_bytes(), f"{name}: the exported file is not the one that was imported"
    refused = inkling("train", "--initial-weights", model, "--data", data, "--epochs", 1, status=2)
    assert "cannot be trained" in refused.stderr, refused.stderr
    print(f"{name}: {accuracy:.2%} of {len(test[1])} test images, in PyTorch {expected:.2%}")


torch.manual_seed(1)
shutil.rmtree(WORK, ignore_errors=True)
data = WORK / "squares"
data.mkdir(parents=True)
train, test = squares(2000), squares(500)
for split, (images, labels) in [("train", train), ("t10k", test)]:
    write_idx(data / f"{split}-images-idx3-ubyte", images)
    write_idx(data / f"{split}-labels-idx1-ubyte", labels)
for network in (Branches(), SqueezeExcitation()):
    check(network, data, train, test)
