"""Every network Inkling can build, exported in every format, computed by the tools it was exported for, and brought back:

    python round_trip.py INKLING RUST_PROJECT NETRON_FOLDER WORK OLD_PYTHON

What Inkling itself reads in 1,000 pictures (`inkling predict --json`) is what all others have to read, within 1e-5 of each probability:
onnxruntime (a new one, and by OLD_PYTHON the oldest that can be installed), PyTorch with the generated model.py, predict.py, tract, and the generated candle program. .ci/exports installs what it takes.
"""
import importlib.util
import json
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors
import safetensors.torch
import torch
import tract
from PIL import Image, ImageDraw, ImageFilter, ImageFont

INKLING, RUST, NETRON, WORK, OLD_PYTHON = sys.argv[1], *map(Path, sys.argv[2:6])
TOLERANCE = 1e-5
PICTURES = 1000
# Where it is enough that it works at all.
FEW, MANY = 50, 200
# Every network, and between them every activation.
NETWORKS = [
    ("mlp", "relu"), ("lenet", "tanh"), ("convnet", "leaky-relu"), ("speedrun", "gelu"), ("convnet-bn", "silu"), ("tiny", "relu"),
    ("resnet8", "gelu"), ("resnet14", "leaky-relu"), ("resnet20", "silu"), ("attention", "gelu"),
]
random = np.random.default_rng(1)


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))[:300]} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def inkling(*arguments):
    return run(INKLING, *arguments)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def digit(label):
    """A digit in MNIST's frame: 20 pixels long, centred by mass, so that Inkling reads the file as it is."""
    while True:
        image = Image.new("L", (96, 96))
        ImageDraw.Draw(image).text((30, 16), str(label), fill=255, font=ImageFont.load_default(size=int(random.integers(44, 60))))
        image = image.rotate(random.uniform(-18, 18), resample=Image.Resampling.BILINEAR)
        image = image.crop(image.getbbox())
        scale = 20 / max(image.size)
        image = image.resize([max(1, round(length * scale)) for length in image.size], Image.Resampling.BOX)
        ink = np.asarray(image, dtype=np.float32)
        ink = np.where(ink < 40, 0, ink)
        (height, width), mass = ink.shape, ink.sum()
        top, left = round(14 - (ink.sum(1) @ np.arange(height)) / mass), round(14 - (ink.sum(0) @ np.arange(width)) / mass)
        if 0 <= top <= 28 - height and 0 <= left <= 28 - width:
            picture = np.zeros((28, 28), np.uint8)
            picture[top:top + height, left:left + width] = ink
            return picture


def photograph(path):
    """A digit on paper, unevenly lit, with a thin or thick pen, dark on light or light on dark."""
    width, height = (int(random.integers(120, 420)) for _ in "xy")
    side = int(random.uniform(0.5, 0.95) * min(width, height))
    big = np.asarray(Image.fromarray(digit(random.integers(10))).resize((side, side), Image.Resampling.BICUBIC), np.float32) / 255
    drawn = Image.fromarray((255 * ((big - 0.5) * 8 + 0.5).clip(0, 1)).astype(np.uint8))
    pen = 2 * int(random.integers(0, 3) * side / 280) + 1
    drawn = drawn.filter(random.choice([ImageFilter.MaxFilter, ImageFilter.MinFilter])(pen))
    ink = np.zeros((height, width), np.float32)
    top, left = (height - side) // 2, (width - side) // 2
    ink[top:top + side, left:left + side] = np.asarray(drawn, np.float32) / 255
    y, x = np.mgrid[0:height, 0:width]
    light = random.uniform(0.6, 1) - random.uniform(0, 0.35) * (x / width * random.uniform(-1, 1) + y / height)
    image = light * (1 - ink * random.uniform(0.5, 0.95)) + random.normal(0, random.uniform(0, 0.03), ink.shape)
    image = 1 - image if random.random() < 0.2 else image
    Image.fromarray((255 * image.clip(0, 1)).astype(np.uint8)).save(path)


def write_idx(path, array):
    kind = bytes([0, 0, 8, array.ndim]) + b"".join(length.to_bytes(4, "big") for length in array.shape)
    path.write_bytes(kind + array.tobytes())


def make_data(folder, train):
    folder.mkdir(parents=True)
    for name, count in [("train", train), ("t10k", PICTURES)]:
        labels = (np.arange(count) % 10).astype(np.uint8)
        pictures = np.stack([digit(label) for label in labels])
        write_idx(folder / f"{name}-images-idx3-ubyte", pictures)
        write_idx(folder / f"{name}-labels-idx1-ubyte", labels)
    return pictures, labels


def read(model, count=PICTURES):
    """What Inkling itself reads in the pictures, or the first of them."""
    names = [WORK / "pictures"] if count == PICTURES else sorted((WORK / "pictures").iterdir())[:count]
    rows = objects(inkling("predict", "--json", "--model", model, *names))
    assert len(rows) == count
    return np.array([row["probabilities"] for row in rows], np.float64)


def near(what, got, wanted):
    worst = np.abs(np.asarray(got, np.float64) - wanted).max()
    assert worst <= TOLERANCE, f"{what} is {worst:.2e} away from Inkling"
    worst_seen[what] = max(worst_seen.get(what, 0), worst)


worst_seen = {}


def through_onnxruntime(path, preprocessing=True, batch=250, pictures=None):
    pictures = globals()["pictures"] if pictures is None else pictures
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    known = {value.name for value in [*inferred.graph.value_info, *inferred.graph.output]}
    unknown = [name for node in inferred.graph.node for name in node.output if name not in known]
    assert not unknown, f"{path}: no shapes of {unknown}"
    assert all(node.name for node in model.graph.node) and len({node.name for node in model.graph.node}) == len(model.graph.node)
    about = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(about["labels"]) == [str(label) for label in range(10)], about
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    takes, gives = session.get_inputs()[0], session.get_outputs()[0]
    if preprocessing:
        assert (takes.name, takes.type, takes.shape) == ("image", "tensor(uint8)", ["batch", 28, 28]), takes
        assert (gives.name, gives.shape) == ("probabilities", ["batch", 10]), gives
        given = pictures
    else:
        assert (takes.name, takes.shape, gives.name) == ("input", ["batch", 1, 28, 28], "logits")
        given = (pictures[:, None].astype(np.float32) / np.float32(255) - np.float32(about["mean"])) / np.float32(about["std"])
    rows = np.concatenate([session.run(None, {takes.name: given[at:at + batch]})[0] for at in range(0, len(pictures), batch)])
    if not preprocessing:
        rows = torch.from_numpy(rows).double().softmax(1).numpy()
    return rows


def module_of(folder):
    spec = importlib.util.spec_from_file_location(f"model_{folder.parent.name.replace('-', '_')}_{folder.name}", folder / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def unpack(path):
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        archive.extractall(path.parent)
    assert folder.is_dir()
    return folder


def check(name, activation):
    began = time.perf_counter()
    home = WORK / name
    run_folder, data = home / "run", WORK / "data"
    inkling("train", "--data", data, "--model", name, "--activation", activation, "--epochs", 2, "--batch-size", 32, "--augmentation", "off",
            "--out", run_folder, "--json")
    model = run_folder / "model.safetensors"
    wanted = read(model)
    right = (wanted.argmax(1) == labels).mean()
    assert right > 0.2, f"{name} has learned nothing: {right}"

    # Everything in one archive, with 8-bit weights besides.
    [told] = objects(inkling("export", "--model", model, "--format", "zip", "--quantize", "--data", data, "--out",
                              home / "whole.zip", "--json"))
    folder = unpack(home / "whole.zip")
    assert {file["name"] for file in told["files"]} == {path.name for path in folder.iterdir()}
    near("onnxruntime", through_onnxruntime(folder / "model.onnx"), wanted)
    near("tract", through_tract(folder / "model.onnx"), wanted)
    opsets = onnx.load(folder / "model.onnx")
    assert (opsets.opset_import[0].version, opsets.ir_version) == (17, 8), opsets.opset_import
    near("the oldest onnxruntime", through_old_onnxruntime(folder / "model.onnx"), wanted)
    newest = home / "newest.onnx"
    inkling("export", "--model", model, "--format", "onnx", "--opset", 26, "--out", newest)
    near("onnxruntime, opset 26", through_onnxruntime(newest), wanted)
    near("onnxruntime, one picture at a time", through_onnxruntime(folder / "model.onnx", batch=1, pictures=pictures[:FEW]), wanted[:FEW])
    module = module_of(folder)
    net = module.load()
    with torch.no_grad():
        near("PyTorch", net(module.preprocess(pictures)).softmax(1).numpy(), wanted)
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    # What distinguishes digits from other drawings is Inkling's own.
    state = {key: value for key, value in stored.items() if not key.startswith("digit_detector.")}
    assert len(stored) == len(state) + 4, sorted(stored)
    dict_of_pt = torch.load(folder / "model.pt", weights_only=True)
    assert list(state) and all(torch.equal(state[key], dict_of_pt[key]) for key in dict_of_pt) and len(state) == len(dict_of_pt)
    net.load_state_dict(state)
    with safetensors.safe_open(folder / "model.safetensors", "pt") as file:
        assert file.metadata()["format"] == "pt" and "preprocessing" in file.metadata() and "config" in file.metadata()
    few = sorted((WORK / "pictures").iterdir())[:FEW]
    rows = objects(run(sys.executable, folder / "predict.py", *few))
    near("predict.py", [row["probabilities"] for row in rows], wanted[:FEW])
    assert all(row["digit"] == np.argmax(row["probabilities"]) for row in rows), "the digit is a number"
    taken = [Path(row["path"]) for row in objects(inkling("predict", "--json", "--model", model, *photographs)) if row["probabilities"]]
    assert len(taken) > 0.8 * len(photographs), "photographs of one digit are taken for several"
    same = objects(inkling("predict", "--json", "--model", model, *taken))
    rows = objects(run(sys.executable, folder / "predict.py", *taken))
    near("predict.py, photographs", [row["probabilities"] for row in rows], [row["probabilities"] for row in same])
    rows = objects(run(sys.executable, folder / "model.py", *few))
    near("model.py", [row["probabilities"] for row in rows], wanted[:FEW])

    # 8-bit weights: really smaller, and as accurate as was said.
    quantized = told["quantized"]
    rows = through_onnxruntime(folder / "model-int8.onnx")
    assert quantized["images"] == PICTURES and abs((rows.argmax(1) == labels).mean() - quantized["quantized"]) <= 0.002, quantized
    assert abs(right - quantized["original"]) < 1e-9
    sizes = [(folder / file).stat().st_size for file in ("model-int8.onnx", "model.onnx")]
    weights = sum(tensor.numel() * 4 for key, tensor in state.items() if tensor.ndim > 1)
    assert sizes[0] < sizes[1] - 0.7 * weights + 6000, sizes

    # 16-bit weights, logits, and an older operator set: all that there is to choose.
    inkling("export", "--model", model, "--format", "zip", "--weights", "f16", "--preprocessing", "off", "--opset", 20, "--out", home / "half.zip")
    half = unpack(home / "half.zip")
    halved = read(half / "model.safetensors", FEW)
    near("onnxruntime, f16, logits, opset 20", through_onnxruntime(half / "model.onnx", preprocessing=False, pictures=pictures[:FEW]), halved)
    module = module_of(half)
    with torch.no_grad():
        near("PyTorch, f16", module.load()(module.preprocess(pictures[:FEW])).softmax(1).numpy(), halved)
    assert (half / "model.pt").stat().st_size < 0.6 * (folder / "model.pt").stat().st_size + 20_000

    # What went out comes back: as Inkling wrote it, and as PyTorch would have.
    for file in ("model.safetensors", "model.pt"):
        arguments = [] if file.endswith("safetensors") else ["--activation", activation, "--mean", 0.1307, "--std", 0.3081]
        [back] = objects(inkling("import", folder / file, "--out", home / f"back-{file}", "--json", *arguments))
        assert (back["model"], back["activation"]) == (name, activation), back
        near(f"import of {file}", read(back["model_path"], FEW), wanted[:FEW])
    torch.save({"state_dict": {f"module.{key}": value for key, value in net.state_dict().items()}, "epoch": 3}, home / "wrapped.pt")
    [back] = objects(inkling("import", home / "wrapped.pt", "--out", home / "back-wrapped", "--activation", activation, "--json",
                             "--mean", 0.1307, "--std", 0.3081))
    # Weights alone have no temperature: it is fitted anew, which scales all logarithms of the probabilities by the same factor.
    logits = [np.log(rows) - np.log(rows).mean(1, keepdims=True) for rows in (read(back["model_path"], FEW), wanted[:FEW])]
    scaled = logits[0] * (logits[0] * logits[1]).sum() / (logits[0] ** 2).sum()
    near("import of what torch.save wrote", np.exp(scaled) / np.exp(scaled).sum(1, keepdims=True), wanted[:FEW])

    # Netron names the layers.
    shown = objects(run("node", Path(__file__).with_name("netron.mjs"), folder / "model.onnx", folder / "model-int8.onnx",
                        folder / "model.pt", folder / "model.safetensors", cwd=NETRON))
    layers = {key.rsplit(".", 1)[0] for key in state if key.endswith(".weight")}
    for view in shown[:2]:
        names = {node["name"] for node in view["nodes"]}
        assert layers <= names, f"Netron misses {layers - names}"
        assert view["inputs"] == [{"name": "image", "type": "uint8[batch,28,28]"}] and view["metadata"]["labels"], view
    for view, names in zip(shown[2:], (state, stored)):
        assert {weight["name"] for weight in view["weights"]} == set(names)
    shutil.copy(folder / "main.rs", RUST / "src/bin" / f"{name}.rs")
    print(f"{name} with {activation}: {time.perf_counter() - began:.1f} s, {right:.1%} right", flush=True)
    return name, folder, half, wanted, halved


def through_tract(path):
    model = tract.onnx().load(str(path)).into_model().into_runnable()
    return model.run([pictures])[0].to_numpy()


def through_old_onnxruntime(path):
    program = ("import sys, numpy, onnxruntime; given = numpy.load(sys.argv[2]); "
               "session = onnxruntime.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider']); "
               "numpy.save(sys.argv[3], session.run(None, {'image': given})[0])")
    given, got = WORK / "given.npy", WORK / "got.npy"
    np.save(given, pictures)
    run(OLD_PYTHON, "-c", program, path, given, got)
    return np.load(got)


def check_candle(checked):
    """The program that Inkling wrote for candle."""
    subprocess.run(["cargo", "build", "--locked", "--quiet", "--manifest-path", RUST / "Cargo.toml", "--target-dir", RUST / "target"], check=True)
    built = RUST / "target/debug"
    names = sorted((WORK / "pictures").iterdir())
    for name, folder, half, wanted, halved in checked:
        # It reads them one by one, and is built in a hurry here.
        rows = objects(run(built / name, *names[:MANY], cwd=folder))
        near("candle", [row["probabilities"] for row in rows], wanted[:MANY])
        few = objects(run(built / name, *names[:FEW], cwd=half))
        near("candle, f16", [row["probabilities"] for row in few], halved)


shutil.rmtree(WORK, ignore_errors=True)
pictures, labels = make_data(WORK / "data", 2000)
(WORK / "pictures").mkdir()
for index, picture in enumerate(pictures):
    Image.fromarray(picture).save(WORK / "pictures" / f"{index:04}.png")
(WORK / "photographs").mkdir()
photographs = [WORK / "photographs" / f"{index:02}.png" for index in range(12)]
for path in photographs:
    photograph(path)
chosen = sys.argv[6:]
checked = [check(name, activation) for name, activation in NETWORKS if not chosen or name in chosen]
check_candle(checked)
for what, worst in worst_seen.items():
    print(f"{what}: at most {worst:.1e} away")
