"""Converts ONNX files of networks without preprocessing to TFLite with onnx2tf, and computes logits with LiteRT. It runs in an environment of its own,
because TensorFlow needs other versions than the rest: `python tflite.py PICTURES.npy MODEL.onnx…` takes pictures `[n, 28, 28, 1]`, normalized, and
writes the logits `[n, 10]` to MODEL.npy beside each file. The first file is also converted by the commands of docs/export-compatibility.md."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx2tf
import onnxsim
from ai_edge_litert.interpreter import Interpreter


def logits_of(model, pictures):
    with tempfile.TemporaryDirectory() as scratch:
        # onnx2tf compares shapes to tell where channels are, and for that it must know all of them.
        simplified, equivalent = onnxsim.simplify(onnx.load(model), overwrite_input_shapes={"input": [len(pictures), 1, 28, 28]})
        assert equivalent, f"onnxsim changed what {model} computes"
        copy = Path(scratch, "model.onnx")
        onnx.save(simplified, copy)
        onnx2tf.convert(input_onnx_file_path=str(copy), output_folder_path=scratch, not_use_onnxsim=True, verbosity="error")
        return computed(Path(scratch, "model_float32.tflite"), pictures)


def computed(path, pictures):
    interpreter = Interpreter(model_path=str(path))
    interpreter.allocate_tensors()
    [takes], [gives] = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.set_tensor(takes["index"], pictures)
    interpreter.invoke()
    return interpreter.get_tensor(gives["index"])


def documented(model, picture):
    """Logits of one picture after the commands of the documentation."""
    page = (Path(__file__).parents[2] / "docs/export-compatibility.md").read_text()
    commands = re.findall(r"^ *(onnxsim|onnx2tf) (.*)$", page, re.MULTILINE)
    assert [name for name, _ in commands] == ["onnxsim", "onnx2tf"], commands
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch, "model.onnx").write_bytes(Path(model).read_bytes())
        for name, arguments in commands:
            done = subprocess.run([Path(sys.executable).with_name(name), *arguments.split()], cwd=scratch, capture_output=True, text=True)
            assert done.returncode == 0, f"{name} {arguments}: {done.stderr}"
        return computed(Path(scratch, "tflite/fixed_float32.tflite"), picture)


given = np.load(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    np.save(path.with_suffix(".npy"), logits_of(path, given))
first = Path(sys.argv[2])
error = np.abs(documented(first, given[:1]) - np.load(first.with_suffix(".npy"))[:1]).max()
assert error < 1e-4, f"the documented commands change the logits by {error}"
