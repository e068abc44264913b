"""Every network Inkling can build, exported in every format, computed by the tools it was exported for, and brought back:

    python round_trip.py INKLING RUST_PROJECT NETRON_FOLDER WORK OLD_PYTHON WEB_FOLDER [NETWORK…]

What Inkling itself reads in 1,000 pictures (`inkling predict --json`) is what all others have to read, within 1e-5 of each probability:
onnxruntime (a new one, by OLD_PYTHON the oldest that can be installed, and in node with the modules in WEB_FOLDER), OpenVINO, OpenCV, onnx2torch, tract,
candle-onnx, PyTorch with the generated model.py, predict.py, and the generated candle program. The differences become a table, WORK/table.md; that in
docs/export-compatibility.md has to claim the same. .ci/exports installs what it takes.
"""
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

# Packages that are imported later take this folder from the path of modules.
from digits import digit
from idx import write_idx
from onnx_readers import softmax, through_onnx2torch, through_onnxruntime_web, through_opencv, through_openvino

import coremltools
import cv2
import numpy as np
import onnx
import onnxruntime
import openvino
import safetensors
import safetensors.torch
import torch
import tract
from huggingface_hub import ModelCard
from PIL import Image, ImageFilter

INKLING, RUST, NETRON, WORK, OLD_PYTHON, WEB, TFLITE_PYTHON = sys.argv[1], *map(Path, sys.argv[2:8])
TOLERANCE = 1e-5
PICTURES = 1000
# Where it is enough that it works at all.
FEW, MANY = 50, 200
# Every network, and between them every activation.
NETWORKS = [
    ("linear", "relu"), ("mlp-small", "tanh"), ("mlp-large", "gelu"), ("pytorch-example", "relu"),
    ("mlp", "relu"), ("lenet", "tanh"), ("convnet", "leaky-relu"), ("cnn", "silu"), ("speedrun", "gelu"), ("convnet-bn", "silu"), ("tiny", "relu"),
    ("resnet8", "gelu"), ("resnet14", "leaky-relu"), ("resnet20", "silu"), ("resnet34", "relu"), ("attention", "gelu"),
]
# One of all kinds of hidden layers.
LAYERS = {"cnn": ["--layers", "12C5P2S2L-BN-16R-24RS2-D0.1-24C1L-T4-LN-T2-GAP-LN-20"]}
# What is the same for every network, or takes long, is tried with these two.
TRIED = ("lenet", "resnet8")
# ResNet-8's blocks, more often.
DEEP = ("resnet14", "resnet20", "resnet34")
DIGITS = [str(label) for label in range(10)]
random = np.random.default_rng(1)


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))[:300]} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def inkling(*arguments):
    return run(INKLING, *arguments)


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def photograph(path):
    """A digit on paper, unevenly lit, with a thin or thick pen, dark on light or light on dark."""
    width, height = (int(random.integers(120, 420)) for _ in "xy")
    side = int(random.uniform(0.5, 0.95) * min(width, height))
    big = np.asarray(Image.fromarray(digit(random.integers(10), random)).resize((side, side), Image.Resampling.BICUBIC), np.float32) / 255
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


def make_data(folder, train):
    folder.mkdir(parents=True)
    for name, count in [("train", train), ("t10k", PICTURES)]:
        labels = (np.arange(count) % 10).astype(np.uint8)
        pictures = np.stack([digit(label, random) for label in labels])
        write_idx(folder / f"{name}-images-idx3-ubyte", pictures)
        write_idx(folder / f"{name}-labels-idx1-ubyte", labels)
    return pictures, labels


def read(model, count=PICTURES):
    """What Inkling itself reads in the pictures, or the first of them."""
    names = [WORK / "pictures"] if count == PICTURES else sorted((WORK / "pictures").iterdir())[:count]
    rows = objects(inkling("predict", "--json", "--model", model, *names))
    assert len(rows) == count
    return np.array([row["probabilities"] for row in rows], np.float64)


def near(what, got, wanted, network):
    worst = np.abs(np.asarray(got, np.float64) - wanted).max()
    assert worst <= TOLERANCE, f"{what} is {worst:.2e} away from Inkling for {network}"
    of_network = worst_seen.setdefault(what, {})
    of_network[network] = max(of_network.get(network, 0), worst)


# By program and network.
worst_seen = {}
# Every predict.py that was exported.
programs = set()


def normalized(pictures, model):
    """What a model without preprocessing takes: `[n, 1, 28, 28]`."""
    about = {entry.key: entry.value for entry in model.metadata_props}
    return (pictures[:, None].astype(np.float32) / np.float32(255) - np.float32(about["mean"])) / np.float32(about["std"])


def through_onnxruntime(path, preprocessing=True, batch=250, pictures=None, names=DIGITS):
    pictures = globals()["pictures"] if pictures is None else pictures
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    known = {value.name for value in [*inferred.graph.value_info, *inferred.graph.output]}
    unknown = [name for node in inferred.graph.node for name in node.output if name not in known]
    assert not unknown, f"{path}: no shapes of {unknown}"
    assert all(node.name for node in model.graph.node) and len({node.name for node in model.graph.node}) == len(model.graph.node)
    about = {entry.key: entry.value for entry in model.metadata_props}
    assert json.loads(about["labels"]) == names, about
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    takes, gives = session.get_inputs()[0], session.get_outputs()[0]
    if preprocessing:
        assert (takes.name, takes.type, takes.shape) == ("image", "tensor(uint8)", ["batch", 28, 28]), takes
        assert (gives.name, gives.shape) == ("probabilities", ["batch", len(names)]), gives
        given = pictures
    else:
        assert (takes.name, takes.shape, gives.name) == ("input", ["batch", 1, 28, 28], "logits")
        given = normalized(pictures, model)
    rows = np.concatenate([session.run(None, {takes.name: given[at:at + batch]})[0] for at in range(0, len(pictures), batch)])
    return rows if preprocessing else softmax(rows)


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
    epochs = 1 if name in DEEP else 6 if name in LAYERS else 2
    inkling("train", "--data", data, "--model", name, *LAYERS.get(name, []), "--activation", activation, "--epochs", epochs, "--batch-size", 32,
            "--augmentation", "off", "--out", run_folder, "--json")
    model = run_folder / "model.safetensors"
    wanted = read(model)
    right = (wanted.argmax(1) == labels).mean()
    assert right > 0.2, f"{name} has learned nothing: {right}"

    # Everything in one archive, with 8-bit weights besides.
    [told] = objects(inkling("export", "--model", model, "--format", "zip", "--quantize", "--data", data, "--out",
                              home / "whole.zip", "--json"))
    folder = unpack(home / "whole.zip")
    assert {file["name"] for file in told["files"]} == {path.name for path in folder.iterdir()}
    near("onnxruntime", through_onnxruntime(folder / "model.onnx"), wanted, name)
    near("tract", through_tract(folder / "model.onnx", pictures[:MANY]), wanted[:MANY], name)
    near("OpenVINO", through_openvino(folder / "model.onnx", pictures), wanted, name)
    near("OpenCV", through_opencv(folder / "model.onnx", pictures), wanted, name)
    near("onnx2torch", through_onnx2torch(folder / "model.onnx", pictures[:MANY]), wanted[:MANY], name)
    near("onnxruntime-web", through_onnxruntime_web(folder / "model.onnx", pictures[:MANY], WEB), wanted[:MANY], name)
    inkling("export", "--model", model, "--format", "onnx", "--preprocessing", "off", "--out", home / "logits.onnx")
    opsets = onnx.load(folder / "model.onnx")
    assert (opsets.opset_import[0].version, opsets.ir_version) == (17, 8), opsets.opset_import
    near("the oldest onnxruntime", through_old_onnxruntime(folder / "model.onnx"), wanted, name)
    newest = home / "newest.onnx"
    inkling("export", "--model", model, "--format", "onnx", "--opset", 26, "--out", newest)
    near("onnxruntime, opset 26", through_onnxruntime(newest), wanted, name)
    near("onnxruntime, one picture at a time", through_onnxruntime(folder / "model.onnx", batch=1, pictures=pictures[:FEW]), wanted[:FEW], name)
    module = module_of(folder)
    net = module.load()
    few = module.preprocess(pictures[:FEW])
    with torch.no_grad():
        near("PyTorch", net(module.preprocess(pictures)).softmax(1).numpy(), wanted, name)
        near("TorchScript", torch.jit.script(net)(few).softmax(1).numpy(), wanted[:FEW], name)
        near("torch.export", torch.export.export(net, (few,)).module()(few).softmax(1).numpy(), wanted[:FEW], name)
    card = ModelCard.load(folder / "README.md").data
    [result] = card.eval_results
    assert (card.license, card.library_name, card.pipeline_tag) == ("unknown", "inkling", "image-classification"), card
    assert (result.task_type, result.dataset_name, result.dataset_split, result.metric_type) == ("image-classification", "data", "test", "accuracy"), result
    assert abs(result.metric_value - right) < 1e-4, result
    stored = safetensors.torch.load_file(folder / "model.safetensors")
    # What distinguishes digits from other drawings is Inkling's own.
    state = {key: value for key, value in stored.items() if not key.startswith("digit_detector.")}
    assert len(stored) == len(state) + 4, sorted(stored)
    dict_of_pt = torch.load(folder / "model.pt", weights_only=True)
    assert list(state) and all(torch.equal(state[key], dict_of_pt[key]) for key in dict_of_pt) and len(state) == len(dict_of_pt)
    net.load_state_dict(state)
    # Core ML computes on macOS alone; here it is enough that every layer can be converted.
    traced = torch.jit.trace(net.eval(), torch.zeros(1, 1, 28, 28))
    converted = coremltools.convert(traced, inputs=[coremltools.TensorType(shape=(1, 1, 28, 28))], convert_to="mlprogram")
    assert [len(output.type.multiArrayType.shape) for output in converted.get_spec().description.output] == [2], "logits"
    worst_seen.setdefault("coremltools", {})[name] = None
    with safetensors.safe_open(folder / "model.safetensors", "pt") as file:
        assert file.metadata()["format"] == "pt" and "preprocessing" in file.metadata() and "config" in file.metadata()
    # The same program for every network, next to its own model.py.
    programs.add((folder / "predict.py").read_text())
    assert len(programs) == 1, f"predict.py of {name} is another program"
    if name in TRIED:
        taken = [Path(row["path"]) for row in objects(inkling("predict", "--json", "--model", model, *photographs)) if row["probabilities"]]
        assert len(taken) > 0.8 * len(photographs), "photographs of one digit are taken for several"
        same = objects(inkling("predict", "--json", "--model", model, *taken))
        # Starting Python takes longer than all of this, so one start reads both.
        rows = objects(run(sys.executable, folder / "predict.py", *sorted((WORK / "pictures").iterdir())[:FEW], *taken))
        near("predict.py", [row["probabilities"] for row in rows[:FEW]], wanted[:FEW], name)
        near("predict.py, photographs", [row["probabilities"] for row in rows[FEW:]], [row["probabilities"] for row in same], name)
        assert all(row["digit"] == np.argmax(row["probabilities"]) for row in rows), "the digit is a number"

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
    near("onnxruntime, f16, logits, opset 20", through_onnxruntime(half / "model.onnx", preprocessing=False, pictures=pictures[:FEW]), halved, name)
    module = module_of(half)
    with torch.no_grad():
        near("PyTorch, f16", module.load()(module.preprocess(pictures[:FEW])).softmax(1).numpy(), halved, name)
    assert (half / "model.pt").stat().st_size < 0.6 * (folder / "model.pt").stat().st_size + 20_000

    # What went out comes back: as Inkling wrote it, and as PyTorch would have.
    # Trials of how a file is meant take a while. A .pt file of every network follows, as PyTorch writes it; Inkling's own tests import every network
    # from ONNX.
    tried = ["model.pt", "model.onnx"] if name in TRIED else []
    for file in ("model.safetensors", *tried):
        arguments = [] if not file.endswith("pt") else ["--activation", activation, "--mean", 0.1307, "--std", 0.3081]
        [back] = objects(inkling("import", folder / file, "--out", home / f"back-{file}", "--json", *arguments))
        assert (back["model"], back["activation"]) == (name, activation), back
        near(f"import of {file}", read(back["model_path"], FEW), wanted[:FEW], name)
    # What the layers are, weights alone do not say.
    if name not in DEEP and name not in LAYERS:
        torch.save({"state_dict": {f"module.{key}": value for key, value in net.state_dict().items()}, "epoch": 3}, home / "wrapped.pt")
        [back] = objects(inkling("import", home / "wrapped.pt", "--out", home / "back-wrapped", "--activation", activation, "--json",
                                 "--mean", 0.1307, "--std", 0.3081, "--data", data))
        # Weights alone have no temperature: it is fitted anew, which scales all logarithms of the probabilities by the same factor.
        logits = [np.log(rows) - np.log(rows).mean(1, keepdims=True) for rows in (read(back["model_path"], FEW), wanted[:FEW])]
        scaled = logits[0] * (logits[0] * logits[1]).sum() / (logits[0] ** 2).sum()
        near("import of what torch.save wrote", np.exp(scaled) / np.exp(scaled).sum(1, keepdims=True), wanted[:FEW], name)

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
    worst_seen.setdefault("Netron", {})[name] = None
    shutil.copy(folder / "main.rs", RUST / "src/bin" / f"{name}.rs")
    print(f"{name} with {activation}: {time.perf_counter() - began:.1f} s, {right:.1%} right", flush=True)
    return name, folder, half, wanted, halved


def check_classes(name):
    """The same for a model of three classes with names of their own, one of which no program may stumble over."""
    names = ["one", "zwölf", 'the "rest" \\']
    home, data = WORK / "classes" / name, WORK / "classes/data"
    if not data.exists():
        shutil.copytree(WORK / "data", data)
        for part, count in [("train", 2000), ("t10k", PICTURES)]:
            write_idx(data / f"{part}-labels-idx1-ubyte", (np.arange(count) % 10 % 3).astype(np.uint8))
        (data / "classes.txt").write_text("\n".join(names))
    model = home / "run/model.safetensors"
    inkling("train", "--data", data, "--model", name, "--epochs", 2, "--batch-size", 32, "--augmentation", "off", "--out", model.parent, "--json")
    few = sorted((WORK / "pictures").iterdir())[:FEW]
    rows = objects(inkling("predict", "--json", "--model", model, *few))
    wanted = np.array([row["probabilities"] for row in rows], np.float64)
    assert wanted.shape == (FEW, 3) and all(row["label"] == names[row["digit"]] for row in rows)
    inkling("export", "--model", model, "--format", "zip", "--out", home / "whole.zip")
    folder = unpack(home / "whole.zip")
    near("onnxruntime", through_onnxruntime(folder / "model.onnx", pictures=pictures[:FEW], names=names), wanted, name)
    near("onnx2torch", through_onnx2torch(folder / "model.onnx", pictures[:FEW]), wanted, name)
    for program in ("predict.py", "model.py"):
        rows = objects(run(sys.executable, folder / program, *few))
        near(program, [row["probabilities"] for row in rows], wanted, name)
        assert all(row["label"] == names[row["digit"]] for row in rows), program
    shutil.copy(folder / "main.rs", RUST / "src/bin" / f"classes-{name}.rs")
    return name, folder, wanted, names


def through_tract(path, pictures):
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


def check_tflite(checked):
    """All at once: TensorFlow takes seconds to start."""
    files = [folder.parent / "logits.onnx" for _, folder, *_ in checked]
    given = WORK / "normalized.npy"
    # TFLite has channels last.
    np.save(given, normalized(pictures[:MANY], onnx.load(files[0])).transpose(0, 2, 3, 1))
    run(TFLITE_PYTHON, Path(__file__).with_name("tflite.py"), given, *files)
    for (name, _, _, wanted, _), file in zip(checked, files):
        near("TFLite", softmax(np.load(file.with_suffix(".npy"))), wanted[:MANY], name)


def through_candle_onnx(program, path):
    given, got = WORK / "given", WORK / "got"
    given.write_bytes(pictures[:FEW].tobytes())
    run(program, path, given, got)
    return np.frombuffer(got.read_bytes(), np.float32).reshape(-1, 10)


def check_candle(checked, classes):
    """The program that Inkling wrote for candle, and candle's own reader of ONNX files."""
    subprocess.run(["cargo", "build", "--locked", "--quiet", "--manifest-path", RUST / "Cargo.toml", "--target-dir", RUST / "target"], check=True)
    built = RUST / "target/debug"
    names = sorted((WORK / "pictures").iterdir())
    for name, folder, half, wanted, halved in checked:
        near("candle-onnx", through_candle_onnx(built / "candle_onnx", folder / "model.onnx"), wanted[:FEW], name)
        # It reads them one by one, and is built in a hurry here.
        rows = objects(run(built / name, *names[:MANY], cwd=folder))
        near("candle", [row["probabilities"] for row in rows], wanted[:MANY], name)
        few = objects(run(built / name, *names[:FEW], cwd=half))
        near("candle, f16", [row["probabilities"] for row in few], halved, name)
    for name, folder, wanted, labels in classes:
        rows = objects(run(built / f"classes-{name}", *names[:FEW], cwd=folder))
        near("candle", [row["probabilities"] for row in rows], wanted, name)
        assert all(row["label"] == labels[row["digit"]] for row in rows)


def version_of(module):
    return module.__version__.split("+")[0].split("-")[0]


def table():
    """A row for each program."""
    old = run(OLD_PYTHON, "-c", "import onnxruntime; print(onnxruntime.__version__)").strip()
    web = json.loads((WEB / "node_modules/onnxruntime-web/package.json").read_text())["version"]
    tflite = run(TFLITE_PYTHON, "-c", "from importlib.metadata import version; print(version('onnx2tf'), 'and', version('ai-edge-litert'))").strip()
    crates = {package["name"]: package["version"] for package in tomllib.loads((RUST / "Cargo.lock").read_text())["package"]}
    rows = [
        ("onnxruntime", version_of(onnxruntime), "`model.onnx`", "onnxruntime"),
        ("onnxruntime, the oldest that installs", old, "`model.onnx`", "the oldest onnxruntime"),
        ("onnxruntime-web", web, "`model.onnx`", "onnxruntime-web"),
        ("OpenVINO", version_of(openvino), "`model.onnx`", "OpenVINO"),
        ("OpenCV", version_of(cv2), "`model.onnx`", "OpenCV"),
        ("onnx2torch", version("onnx2torch"), "`model.onnx`", "onnx2torch"),
        ("onnx2tf and LiteRT", tflite, "`model.onnx` without preprocessing", "TFLite"),
        ("tract", version("tract"), "`model.onnx`", "tract"),
        ("candle-onnx", crates["candle-onnx"], "`model.onnx`", "candle-onnx"),
        ("PyTorch", version_of(torch), "`model.py` with `model.pt`", "PyTorch"),
        ("candle", crates["candle-core"], "`main.rs` with `model.safetensors`", "candle"),
        ("coremltools", version_of(coremltools), "`model.py`, converted", "coremltools"),
        ("Netron", version("netron"), "all of them, shown", "Netron"),
    ]
    lines = ["| program | version | reads | networks | largest difference |", "|---" * 5 + "|"]
    for program, its_version, reads, what in rows:
        lines.append(f"| {program} | {its_version} | {reads} | {' | '.join(summary(worst_seen.get(what, {})))} |")
    text = "\n".join(lines) + "\n"
    (WORK / "table.md").write_text(text)
    print(text)
    return text


def summary(of_program):
    """How many networks it reads, and the largest difference of a probability where it computes any."""
    seen = [of_program[name] for name, _ in NETWORKS if name in of_program]
    worst = max((value for value in seen if value is not None), default=None)
    return f"{len(seen)} of {len(NETWORKS)}", "not computed" if worst is None else f"{worst:.0e}"


def compare_tables(made, page):
    """Figures differ between processors; programs, versions and how many networks they read are the same."""
    claims = lambda text: [re.sub(r"\d+e[+-]\d+", "N", line) for line in text.splitlines() if line.startswith("|")]
    missing = [line for line in claims(made) if line not in claims(page)]
    assert not missing, "docs/export-compatibility.md does not say: " + "\n".join(missing)


shutil.rmtree(WORK, ignore_errors=True)
pictures, labels = make_data(WORK / "data", 2000)
(WORK / "pictures").mkdir()
for index, picture in enumerate(pictures):
    Image.fromarray(picture).save(WORK / "pictures" / f"{index:04}.png")
(WORK / "photographs").mkdir()
photographs = [WORK / "photographs" / f"{index:02}.png" for index in range(12)]
for path in photographs:
    photograph(path)
chosen = sys.argv[8:]
checked = [check(name, activation) for name, activation in NETWORKS if not chosen or name in chosen]
classes = [check_classes(name) for name in ("lenet", "resnet8", "attention") if not chosen or name in chosen]
check_candle(checked, classes)
check_tflite(checked)
for what, worst in worst_seen.items():
    print(f"{what}: at most {max((value for value in worst.values() if value is not None), default=0):.1e} away")
if not chosen:
    compare_tables(table(), (Path(__file__).parents[2] / "docs/export-compatibility.md").read_text())
