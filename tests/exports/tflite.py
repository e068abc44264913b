"""Converts ONNX files of networks without preprocessing to TFLite with onnx2tf, and computes logits with LiteRT. It runs in an environment of its own,
because TensorFlow needs other versions than the rest: `python tflite.py PICTURES.npy MODEL.onnx…` takes pictures `[n, 28, 28, 1]`, normalized, and
writes the logits `[n, 10]` to MODEL.npy beside each file."""
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
        interpreter = Interpreter(model_path=str(Path(scratch, "model_float32.tflite")))
    interpreter.allocate_tensors()
    [takes], [gives] = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.set_tensor(takes["index"], pictures)
    interpreter.invoke()
    return interpreter.get_tensor(gives["index"])


given = np.load(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    np.save(path.with_suffix(".npy"), logits_of(path, given))
