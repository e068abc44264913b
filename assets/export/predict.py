"""Reads digits from pictures with an ONNX file of Inkling's, through onnxruntime.

    pip install onnxruntime numpy pillow
    python predict.py picture.png …

A picture of 28x28 pixels with light ink on dark ground is read as it is; any other is brought into that frame first:
dark ink on light paper is turned round, the digit is cut out, made 20 pixels tall and centred by its mass.
Written by Inkling.
"""
import argparse
import json
from pathlib import Path

import numpy
import onnxruntime
from PIL import Image

SIDE, DIGIT = 28, 20


def framed(image):
    """The picture as the network knows pictures: [28, 28] bytes, light ink on dark ground."""
    pixels = numpy.asarray(image.convert("L"), dtype=numpy.float32)
    edge = numpy.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    ground = numpy.median(edge)
    if pixels.shape == (SIDE, SIDE) and ground < 128:
        return pixels.astype(numpy.uint8)
    ink = numpy.abs(pixels - ground)
    # What hardly differs from the ground is paper, not ink.
    ink[ink < 0.25 * max(ink.max(), 1)] = 0
    rows, columns = numpy.flatnonzero(ink.any(1)), numpy.flatnonzero(ink.any(0))
    if len(rows) == 0:
        return numpy.zeros((SIDE, SIDE), numpy.uint8)
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] * (255 / ink.max())
    scale = DIGIT / max(ink.shape)
    size = [max(1, round(length * scale)) for length in reversed(ink.shape)]
    digit = numpy.asarray(Image.fromarray(ink.astype(numpy.uint8)).resize(size, Image.Resampling.BOX), dtype=numpy.float32)
    mass = max(digit.sum(), 1)
    height, width = digit.shape
    top = round(SIDE / 2 - (digit.sum(1) @ (numpy.arange(height) + 0.5)) / mass)
    left = round(SIDE / 2 - (digit.sum(0) @ (numpy.arange(width) + 0.5)) / mass)
    top, left = min(max(top, 0), SIDE - height), min(max(left, 0), SIDE - width)
    picture = numpy.zeros((SIDE, SIDE), numpy.uint8)
    picture[top : top + height, left : left + width] = digit.clip(0, 255).astype(numpy.uint8)
    return picture


class Model:
    """An ONNX file, ready to read; it says itself what it takes and what its answers mean."""

    def __init__(self, path):
        self.session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        about = self.session.get_modelmeta().custom_metadata_map
        self.labels = json.loads(about["labels"])
        self.mean, self.std = numpy.float32(about["mean"]), numpy.float32(about["std"])
        self.takes = self.session.get_inputs()[0]

    def probabilities(self, pictures):
        """A row of probabilities for each of these pictures, [n, 28, 28] bytes."""
        if self.takes.type == "tensor(uint8)":
            return self.session.run(None, {self.takes.name: pictures})[0]
        numbers = (pictures[:, None].astype(numpy.float32) / numpy.float32(255) - self.mean) / self.std
        logits = self.session.run(None, {self.takes.name: numbers})[0]
        exponentials = numpy.exp(logits - logits.max(1, keepdims=True))
        return exponentials / exponentials.sum(1, keepdims=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Reads digits from pictures.")
    parser.add_argument("--model", help="the ONNX file; the one beside this program where there is only one")
    parser.add_argument("pictures", nargs="+", metavar="PICTURE")
    given = parser.parse_args()
    # The 8-bit form of a model stands beside it by another name.
    beside = [path for path in Path(__file__).parent.glob("*.onnx") if not path.stem.endswith("-int8")]
    if given.model is None and len(beside) != 1:
        parser.error(f"there are {len(beside)} ONNX files beside this program: name one with --model")
    model = Model(given.model or beside[0])
    for path in given.pictures:
        row = model.probabilities(framed(Image.open(path))[None])[0]
        best = int(row.argmax())
        print(json.dumps({"path": path, "digit": model.labels[best], "confidence": float(row[best]), "probabilities": row.tolist()}))
