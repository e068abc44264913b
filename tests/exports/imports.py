"""Makes files of networks with the tools that people have them from, and imports each. It is imported with the accuracy that it has in its tool, or
refused with a next step, which is then taken:

    python imports.py INKLING WORK

What becomes of each is also what docs/import-compatibility.md has to claim. .ci/exports installs what it takes.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"

import joblib  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
from keras import layers  # noqa: E402
from onnxruntime import InferenceSession, quantization  # noqa: E402
from onnxruntime.transformers.float16 import convert_float_to_float16  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from skl2onnx import to_onnx  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from idx import read_idx, write_idx  # noqa: E402

INKLING, WORK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
UNIT, MNIST, HALF = (0.0, 1.0), (0.1307, 0.3081), (0.5, 0.5)
TRAINED_ON, TESTED_ON = 12_000, 2000


def inkling(*arguments):
    environment = {**os.environ, "INKLING_HOME": str(WORK / "home"), "INKLING_DATA_DIR": ""}
    return subprocess.run([INKLING, *map(str, arguments)], capture_output=True, text=True, env=environment)


class Tutorial(nn.Module):
    """The network of the most copied PyTorch tutorial: ReLU behind each pooling."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 10, 5), nn.Conv2d(10, 20, 5)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(F.dropout2d(self.conv2(x), training=self.training), 2)).flatten(1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), 1)


class Example(nn.Module):
    """PyTorch's MNIST example."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.dropout1, self.dropout2 = nn.Dropout(0.25), nn.Dropout(0.5)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = self.dropout2(F.relu(self.fc1(self.dropout1(x).flatten(1))))
        return F.log_softmax(self.fc2(x), 1)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.one, self.two = nn.Conv2d(1, 12, 3, 2, 1), nn.Conv2d(12, 12, 3, padding=1), nn.Conv2d(12, 12, 3, padding=1)
        self.norm, self.head = nn.BatchNorm2d(12), nn.Linear(12 * 49, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(x + self.two(F.relu(self.norm(self.one(x)))))
        return self.head(F.avg_pool2d(x, 2).flatten(1))


class Branches(nn.Module):
    """Two branches, one of them with a sigmoid; the output is probabilities, not logits."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.Hardswish())
        self.wide, self.narrow, self.head = nn.Conv2d(12, 12, 3, padding=1), nn.Conv2d(12, 12, 1), nn.Linear(24 * 49, 10)

    def forward(self, x):
        x = self.stem(x)
        x = torch.cat([F.relu(self.wide(x)), torch.sigmoid(self.narrow(x))], 1)
        return torch.softmax(self.head(F.avg_pool2d(x, 2).flatten(1)), 1)


class SqueezeExcitation(nn.Module):
    """A depthwise convolution, squeeze and excitation, and ReLU6."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 5, 2, 2)
        self.depthwise, self.pointwise = nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 32, 1)
        self.squeeze, self.excite, self.head = nn.Linear(32, 8), nn.Linear(8, 32), nn.Linear(32 * 49, 10)

    def forward(self, x):
        x = F.relu6(self.pointwise(self.depthwise(F.relu6(self.stem(x)))))
        weights = torch.sigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3))))))
        return self.head(F.max_pool2d(x * weights[:, :, None, None], 2).flatten(1))


class Transformer(nn.Module):
    """Rows of pixels as tokens."""

    def __init__(self):
        super().__init__()
        self.embed, self.position = nn.Linear(28, 32), nn.Parameter(torch.zeros(28, 32))
        self.block = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.block(self.embed(x.squeeze(1)) + self.position).mean(1))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(28, 32, batch_first=True), nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.lstm(x.squeeze(1))[0][:, -1])


class Maxout(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.head = nn.Linear(784, 128), nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.hidden(x.flatten(1)).unflatten(1, (64, 2)).amax(2))


class Mixer(nn.Module):
    """Patches mixed along places and along channels, as in an MLP-Mixer."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, 24, 7, 7)
        self.norm1, self.norm2 = nn.LayerNorm(24), nn.LayerNorm(24)
        self.places = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.channels = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24))
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = x + self.places(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(self.norm2(x))
        return self.head(x.mean(1))


class Shuffle(nn.Module):
    """Grouped convolutions whose channels are shuffled, as in ShuffleNet."""

    def __init__(self):
        super().__init__()
        self.stem, self.one, self.two = nn.Conv2d(1, 16, 3, 2, 1), nn.Conv2d(16, 32, 3, padding=1, groups=4), nn.Conv2d(32, 32, 3, 2, 1, groups=4)
        self.head = nn.Linear(32 * 49, 10)

    def forward(self, x):
        x = F.leaky_relu(self.one(F.leaky_relu(self.stem(x), 0.1)), 0.1)
        x = x.unflatten(1, (4, 8)).transpose(1, 2).flatten(1, 2)
        return self.head(F.leaky_relu(self.two(x), 0.1).flatten(1))


class Bilinear(nn.Module):
    """Rows and columns weighted with one Einstein sum."""

    def __init__(self):
        super().__init__()
        self.rows, self.columns, self.head = nn.Parameter(torch.randn(28, 12) / 6), nn.Parameter(torch.randn(28, 12) / 6), nn.Linear(144, 10)

    def forward(self, x):
        return self.head(F.relu(torch.einsum("nij,ih,jw->nhw", x.squeeze(1), self.rows, self.columns)).flatten(1))


def mlp(activation, *widths):
    sizes = [784, *widths]
    hidden = [layer for pair in zip(sizes, widths) for layer in (nn.Linear(*pair), activation())]
    return nn.Sequential(nn.Flatten(), *hidden, nn.Linear(sizes[-1], 10))


def convolutions(*before, flat, dense=()):
    sizes = [flat, *dense, 10]
    hidden = [layer for pair in zip(sizes[:-2], sizes[1:-1]) for layer in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*before, nn.Flatten(), *hidden, nn.Linear(*sizes[-2:]))


class Asks(str):
    """The network that a state dict is imported as once what is offered was accepted."""


class Rounded(str):
    """The network that it is imported as, with numbers of few bits."""


class Refused(str):
    """Words that the refusal has. Its next step is another file of these."""


# The lines of Python that refusals name: they are run for all networks.
EXPORT = 'import torch; torch.onnx.export(model.eval(), (torch.zeros(1, 1, 28, 28),), "model.onnx")'
AS_ONNX = "what these lines write"

# Networks, how their pixels are normalized, and what becomes of their state dicts and of their ONNX files. "onnx" is a network that is computed as
# its file says.
NETWORKS = {
    "PyTorch's example": (Example, MNIST, Asks("pytorch-example"), "pytorch-example"),
    "tutorial": (Tutorial, MNIST, Asks("cnn"), "cnn"),
    "quickstart": (lambda: mlp(nn.ReLU, 512, 512), UNIT, Asks("mlp-large"), "mlp-large"),
    "logistic regression": (lambda: mlp(nn.ReLU), UNIT, "linear", "linear"),
    "tanh MLP": (lambda: mlp(nn.Tanh, 100), HALF, Asks("mlp-small"), "mlp-small"),
    "sigmoid MLP": (lambda: mlp(nn.Sigmoid, 128), UNIT, AS_ONNX, "onnx"),
    "SiLU MLP": (lambda: mlp(nn.SiLU, 64, 32), UNIT, AS_ONNX, "mlp"),
    "LeNet-5 of 1998": (lambda: nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
                                              nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)), HALF, AS_ONNX, "onnx"),
    "three convolutions": (lambda: convolutions(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                                nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), flat=784, dense=[32]), MNIST, AS_ONNX, "cnn"),
    "GELU and ReLU": (lambda: convolutions(nn.Conv2d(1, 8, 3), nn.GELU(), nn.MaxPool2d(2), flat=1352, dense=[64]), UNIT, AS_ONNX, "onnx"),
    "batch normalization": (lambda: convolutions(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                                                 nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), flat=1568), HALF, AS_ONNX, "cnn"),
    "strided": (lambda: convolutions(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), flat=1568), MNIST, AS_ONNX, "cnn"),
    "residual": (Residual, HALF, AS_ONNX, "onnx"),
    "branches": (Branches, HALF, None, "onnx"),
    "squeeze and excitation": (SqueezeExcitation, HALF, None, "onnx"),
    "transformer": (Transformer, UNIT, AS_ONNX, "onnx"),
    "maxout": (Maxout, UNIT, None, "onnx"),
    "mixer": (Mixer, HALF, None, "onnx"),
    "shuffled groups": (Shuffle, MNIST, None, "onnx"),
    "dilated, PReLU": (lambda: convolutions(nn.Conv2d(1, 12, 3, 2), nn.PReLU(12), nn.Conv2d(12, 12, 3, dilation=2), nn.PReLU(), flat=972), UNIT, None, "onnx"),
    "group normalization": (lambda: convolutions(nn.Conv2d(1, 16, 5, 2), nn.GroupNorm(4, 16), nn.ELU(), nn.Conv2d(16, 16, 3, 2), nn.Softplus(), flat=400), MNIST, None, "onnx"),
    "global average": (lambda: convolutions(nn.Conv2d(1, 16, 5, 2), nn.ELU(), nn.Conv2d(16, 32, 3), nn.SiLU(), nn.AdaptiveAvgPool2d(2), flat=128), HALF, None, "onnx"),
    "one-dimensional": (lambda: convolutions(nn.Flatten(), nn.Unflatten(1, (28, 28)), nn.Conv1d(28, 32, 5), nn.ReLU(), nn.MaxPool1d(2), flat=384), UNIT, None, "onnx"),
    "recurrent": (Recurrent, UNIT, None, "onnx"),
    "bilinear": (Bilinear, UNIT, None, "onnx"),
    "Mish": (lambda: convolutions(nn.Conv2d(1, 8, 5, 2), nn.Mish(), flat=1152), UNIT, None, Refused("the operator Mish, which Inkling does not support")),
}

# Of Keras, whose images have their channels last, with pixels from 0 to 1.
KERAS = {
    "Keras' quickstart": ([layers.Flatten(), layers.Dense(128, "relu"), layers.Dropout(0.2), layers.Dense(10)], "mlp"),
    "Keras' example": ([layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Conv2D(64, 3, activation="relu"), layers.MaxPooling2D(),
                        layers.Flatten(), layers.Dropout(0.5), layers.Dense(10, "softmax")], "cnn"),
    "Keras, strided": ([layers.Conv2D(16, 3, 2, "same", activation="relu"), layers.Conv2D(32, 3, 2, activation="swish"), layers.Flatten(), layers.Dense(10)], "onnx"),
    "Keras, separable": ([layers.Conv2D(16, 5, 2, activation="gelu"), layers.SeparableConv2D(32, 3, 2, activation="elu"), layers.Flatten(), layers.Dense(10)], "onnx"),
}


def make_data():
    """Images and labels of the built-in data set, to train on and to test with; those are a folder for Inkling, too."""
    done = inkling("data", "export", "builtin", "--format", "idx", "--out", WORK / "digits")
    assert done.returncode == 0, done.stderr
    (WORK / "set").mkdir()
    splits = []
    for split, count in (("train", TRAINED_ON), ("t10k", TESTED_ON)):
        images, labels = (read_idx(next((WORK / "digits").glob(f"{split}-{kind}*")))[:count] for kind in ("images", "labels"))
        write_idx(WORK / "set" / f"{split}-images-idx3-ubyte", images[:TESTED_ON])
        write_idx(WORK / "set" / f"{split}-labels-idx1-ubyte", labels[:TESTED_ON])
        splits.append((images, labels))
    return splits


def tensor(images, normalization):
    mean, std = normalization
    return (torch.tensor(images)[:, None].float() / 255 - mean) / std


def log_probabilities(output):
    """Of probabilities as well as of logits, and of what log_softmax gave."""
    is_probability = output.min() >= 0 and (output.sum(1) - 1).abs().max() < 1e-3
    return torch.log(output + 1e-9) if is_probability else F.log_softmax(output, 1)


def trained(network, normalization, train, epochs):
    """Most learn just enough that their accuracy depends on how their pixels are normalized."""
    count = 4000 if epochs < 3 else TRAINED_ON
    images, labels = tensor(train[0][:count], normalization), torch.tensor(train[1][:count]).long()
    optimizer = torch.optim.Adam(network.parameters(), 2e-3)
    for _ in range(epochs):
        for chosen in torch.randperm(len(images)).split(64):
            optimizer.zero_grad()
            F.nll_loss(log_probabilities(network(images[chosen])), labels[chosen]).backward()
            optimizer.step()
    return network.eval()


def accuracy(compute, test):
    with torch.no_grad():
        return float((np.asarray(compute(test[0])).argmax(1) == test[1]).mean())


def make_files(train, test):
    """The cases: each a tool, a file that it wrote, what becomes of it, and its accuracy in the tool."""
    folder, cases = WORK / "files", []
    folder.mkdir()

    def file(tool, name, expected, own=None):
        cases.append((tool, folder / name, expected, own))
        return str(folder / name)

    example = (torch.zeros(1, 1, 28, 28),)
    models = {}
    for name, (build, normalization, of_weights, of_onnx) in NETWORKS.items():
        model = trained(build(), normalization, train, 3 if name == "tutorial" else 2)
        own = accuracy(lambda images: model(tensor(images, normalization)), test)
        models[name] = (model, own)
        print(f"{name}: {own:.2%}", flush=True)
        if of_weights is not None:
            torch.save(model.state_dict(), file("torch.save", f"{name}.pt", of_weights, own))
        # The newer exporter, which is the default, takes seconds for each.
        newer = of_weights is not None or isinstance(of_onnx, Refused)
        tool = "torch.onnx.export" if newer else "torch.onnx.export, dynamo=False"
        path = file(tool, f"{name}.onnx", of_onnx, own)
        if newer:
            exec(EXPORT.replace('"model.onnx"', repr(path)), {"model": model})
        else:
            torch.onnx.export(model, example, path, dynamo=False, verbose=False)
    # The older one writes one file, and an older operator set.
    for name, expected in {"PyTorch's example": "pytorch-example", "tutorial": "cnn", "batch normalization": "cnn", "Mish": "onnx"}.items():
        path = file("torch.onnx.export, dynamo=False", f"{name}, opset 17.onnx", expected, models[name][1])
        torch.onnx.export(models[name][0], example, path, dynamo=False, opset_version=17, verbose=False)

    model, own = models["tutorial"]
    state = model.state_dict()
    save_file(state, file("safetensors", "tutorial.safetensors", Asks("cnn"), own))
    save_file({name: value.bfloat16() for name, value in state.items()}, file("safetensors", "tutorial, bf16.safetensors", Asks("cnn"), own))
    torch.save({name: value.half() for name, value in state.items()}, file("torch.save", "tutorial, f16.pt", Asks("cnn"), own))
    torch.save({"epoch": 2, "model_state_dict": nn.DataParallel(model).state_dict(), "optimizer": torch.optim.Adam(model.parameters()).state_dict()},
               file("torch.save", "tutorial, checkpoint of DataParallel.pt", Asks("cnn"), own))
    lightning_checkpoint(model, file("Lightning", "tutorial.ckpt", Asks("cnn"), own))
    torch.save(model, file("torch.save", "tutorial, whole.pt", Refused("save model.state_dict\\(\\) instead")))
    torch.jit.save(torch.jit.trace(model, example), file("torch.jit.save", "tutorial, traced.pt", Refused("save model.state_dict\\(\\) instead")))
    np.savez(file("NumPy", "tutorial.npz", Refused("not written by torch.save")), **{name: value.numpy() for name, value in state.items()})

    float16 = convert_float_to_float16(onnx.load(str(folder / "tutorial.onnx")), keep_io_types=True)
    onnx.save(float16, file("onnxruntime", "tutorial, f16.onnx", Rounded("cnn"), own))
    source = str(folder / "tutorial, opset 17.onnx")
    normalized = tensor(test[0], MNIST).numpy()
    name = onnx.load(source).graph.input[0].name

    class Reader(quantization.CalibrationDataReader):
        batches = iter([{name: image[None]} for image in normalized[:200]])

        def get_next(self):
            return next(self.batches, None)

    quantized = {"dynamic": lambda out: quantization.quantize_dynamic(source, out), "static": lambda out: quantization.quantize_static(source, out, Reader())}
    for kind, quantize in quantized.items():
        path = folder / f"tutorial, {kind} 8 bits.onnx"
        quantize(path)
        session = InferenceSession(path)
        own = accuracy(lambda _: np.concatenate([session.run(None, {name: image[None]})[0] for image in normalized]), test)
        file("onnxruntime", path.name, Rounded("onnx"), own)

    for name, (architecture, expected) in KERAS.items():
        model = keras.Sequential([keras.Input((28, 28, 1)), *architecture])
        model.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=name != "Keras' example"))
        channels_last = lambda images: images[..., None].astype("float32") / 255  # noqa: E731
        model.fit(channels_last(train[0][:4000]), train[1][:4000], 64, 3, verbose=0)
        own = accuracy(lambda images: model.predict(channels_last(images), verbose=0), test)
        print(f"{name}: {own:.2%}", flush=True)
        model.export(file("Keras", f"{name}.onnx", expected, own), format="onnx", verbose=False)
    for suffix, save in {"keras": model.save, "weights.h5": model.save_weights}.items():
        save(file("Keras", f"separable.{suffix}", Refused('model.export\\("model.onnx", format="onnx"\\) writes an ONNX file')))

    pixels = test[0].reshape(len(test[0]), -1) / 255
    regression = LogisticRegression(max_iter=20).fit(pixels[:500], test[1][:500])
    joblib.dump(regression, file("scikit-learn", "regression.joblib", Refused("a model of scikit-learn")))
    path = file("skl2onnx", "regression.onnx", Refused("the operator ai.onnx.ml.LinearClassifier, which Inkling does not support"))
    Path(path).write_bytes(to_onnx(regression, pixels[:1].astype(np.float32)).SerializeToString())
    return cases


def lightning_checkpoint(model, path):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = model

        def training_step(self, batch, _):
            return F.nll_loss(self.model(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.0)

    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    batch = torch.utils.data.TensorDataset(torch.zeros(2, 1, 28, 28), torch.zeros(2).long())
    trainer.fit(Module(), torch.utils.data.DataLoader(batch, 2))
    trainer.save_checkpoint(path)
    model.eval()


def imported(path, *options):
    """The network that a file is imported as and its accuracy, or None and the refusal."""
    out = WORK / "runs" / f"{path.parent.name}, {path.name}, {len(options)}"
    done = inkling("import", path, *options, "--out", out, "--json")
    if done.returncode != 0:
        assert done.returncode == 1 and "panicked" not in done.stderr, f"{path.name}: {done.returncode} {done.stderr}"
        return None, done.stderr
    found = json.loads(done.stdout)
    [evaluated] = map(json.loads, inkling("eval", "--model", found["model_path"], "--data", WORK / "set", "--json").stdout.splitlines())
    if found["model"] == "onnx":
        exported = WORK / "exported" / f"{out.name}.onnx"
        assert inkling("export", "--model", found["model_path"], "--format", "onnx", "--out", exported).returncode == 0
        # Weights beside the file, and bytes that are stored as integers of 32 bits, are put into it.
        if not Path(f"{path}.data").exists() and "8 bits" not in path.name:
            assert exported.read_bytes() == path.read_bytes(), f"{path.name}: the exported file is not the one that was imported"
        refused = inkling("train", "--initial-weights", found["model_path"], "--data", WORK / "set", "--epochs", 1)
        assert refused.returncode == 2 and "cannot be trained" in refused.stderr, refused.stderr
    return found["model"], evaluated["accuracy"]


def check(case):
    """What became of the file, in words, and the accuracy here."""
    tool, path, expected, own = case
    network, result = imported(path)
    if isinstance(expected, Refused):
        assert network is None and re.search(expected, result), f"{path.name}: {network}, {result}"
        return "refused", None
    how = ""
    if isinstance(expected, Asks) or expected == AS_ONNX:
        assert network is None, f"{path.name} is imported as {network} with {result:.2%}, {own:.2%} in {tool}"
        accepted, accuracy = imported(path, "--accept")
        assert (accepted is None) == ("--accept" not in result), f"{path.name}: {accepted} {result}"
        if accepted is not None:
            offered = float(re.search(r"Accuracy on [^:]*: ([0-9.]+)%", result)[1]) / 100
            assert accuracy > offered - 0.04, f"{path.name}: offered with {offered:.2%}, imported with {accuracy:.2%}"
        if isinstance(expected, Asks):
            how, network, result = "asks; when accepted, ", accepted, accuracy
        else:
            assert EXPORT in result, f"{path.name}: {result}"
            return f"asks; exported as it says, see `{path.stem}.onnx`", None
    assert network == expected, f"{path.name} {how}is imported as {network} {result}, not as {expected}"
    # What is rounded may be right about another image.
    allowed = 4.5 if isinstance(expected, Rounded) or "16" in path.name else 1.5
    assert abs(result - own) < allowed / TESTED_ON, f"{path.name} {how}: {result:.2%} instead of {own:.2%}"
    return how + ("computed as it is" if network == "onnx" else network), result


shutil.rmtree(WORK, ignore_errors=True)
(WORK / "exported").mkdir(parents=True)
torch.manual_seed(1)
keras.utils.set_random_seed(1)
cases = make_files(*make_data())
lines, failures = ["| file | written by | imported as |", "|---|---|---|"], []
for case in cases:
    tool, path, _, own = case
    try:
        how, accuracy_here = check(case)
    except AssertionError as error:
        failures.append(error)
        print(f"FAILED: {error}", flush=True)
        continue
    lines.append(f"| `{path.name}` | {tool} | {how} |")
    print(lines[-1], "" if accuracy_here is None else f"{accuracy_here:.2%} here, {own:.2%} there", flush=True)
assert not failures, f"{len(failures)} of {len(cases)} failed"
page = (Path(__file__).parents[2] / "docs/import-compatibility.md").read_text()
assert "\n".join(lines) in page, "docs/import-compatibility.md does not have this table:\n" + "\n".join(lines)
print(f"{len(cases)} files of other programs")
