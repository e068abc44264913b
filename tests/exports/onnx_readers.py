"""Owns what programs for ONNX files compute that do not belong to Inkling's other tests: each function takes a file and 28x28 pictures, and gives
probabilities. `.ci/exports` installs what it takes."""
import subprocess
import tempfile
from pathlib import Path

import cv2
import numpy as np
import onnx2torch
import openvino
import torch


def softmax(logits):
    return torch.from_numpy(np.asarray(logits)).double().softmax(1).numpy()


def through_openvino(path, pictures):
    core = openvino.Core()
    # On processors with instructions for bf16 it would compute in that.
    model = core.compile_model(core.read_model(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return model(pictures)[0]


def through_opencv(path, pictures):
    net = cv2.dnn.readNetFromONNX(str(path))
    net.setInput(pictures)
    return net.forward()


def through_onnx2torch(path, pictures):
    with torch.no_grad():
        return onnx2torch.convert(str(path)).eval()(torch.from_numpy(pictures)).numpy()


def through_onnxruntime_web(path, pictures, folder):
    """In node; `folder` has onnxruntime-web in its node_modules."""
    script = folder / "onnxruntime_web.mjs"
    script.write_bytes(Path(__file__).with_name("onnxruntime_web.mjs").read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        given, got = Path(scratch, "given"), Path(scratch, "got")
        given.write_bytes(pictures.tobytes())
        subprocess.run(["node", script, path.resolve(), given, got], check=True)
        return np.frombuffer(got.read_bytes(), np.float32).reshape(-1, 10)
