#!/usr/bin/env python3
"""Trains networks in Keras on MNIST, exports them as ONNX by Keras itself and by tf2onnx, and imports them: how many of the 10,000 test images is each
right about in Keras and in Inkling?

    pip install tensorflow-cpu tf2onnx
    python3 benches/keras_imports.py target/release/inkling FOLDER          FOLDER: that of MNIST's files, train-images-idx3-ubyte.gz and so on
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import keras  # noqa: E402  (quiet only if it is told so before)
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

PROGRAM, FOLDER = os.path.realpath(sys.argv[1]), Path(sys.argv[2])


def mnist(split):
    """Images, with pixels from 0 to 1, and labels."""
    read = lambda name, offset: np.frombuffer(gzip.decompress((FOLDER / f"{split}-{name}-ubyte.gz").read_bytes()), np.uint8, offset=offset)  # noqa: E731
    return (read("images-idx3", 16).reshape(-1, 28, 28, 1) / 255).astype("float32"), read("labels-idx1", 8)


def convolution(filters, size, padding="valid"):
    return layers.Conv2D(filters, size, padding=padding, activation="relu")


def dense(units):
    return layers.Dense(units, activation="relu")


NETWORKS = {
    "TensorFlow's quickstart": [layers.Flatten(), dense(128), layers.Dropout(0.2), layers.Dense(10)],
    "LeNet-5": [convolution(6, 5, "same"), layers.MaxPooling2D(), convolution(16, 5), layers.MaxPooling2D(), layers.Flatten(), dense(120), dense(84),
                layers.Dense(10)],
    "PyTorch's example": [convolution(32, 3), convolution(64, 3), layers.MaxPooling2D(), layers.Dropout(0.25), layers.Flatten(), dense(128),
                          layers.Dropout(0.5), layers.Dense(10)],
    "Keras' example": [convolution(32, 3), layers.MaxPooling2D(), convolution(64, 3), layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5),
                       layers.Dense(10)],
    "one convolution": [convolution(32, 3), layers.MaxPooling2D(), layers.Flatten(), dense(100), layers.Dense(10)],
    "pairs of convolutions": [convolution(16, 3, "same"), convolution(16, 3, "same"), layers.MaxPooling2D(), convolution(32, 3, "same"),
                              convolution(32, 3, "same"), layers.MaxPooling2D(), layers.Flatten(), dense(64), layers.Dense(10)],
}


def imported(file, home):
    """How many test images Inkling is right about with this file."""
    environment = {**os.environ, "INKLING_HOME": str(home), "INKLING_DATA_DIR": str(FOLDER.parent)}
    run = home / f"{file.name} imported"
    subprocess.run([PROGRAM, "import", file, "--out", run], env=environment, check=True, stdout=subprocess.DEVNULL)
    evaluated = subprocess.run([PROGRAM, "eval", "--model", run / "model.safetensors", "--data", "mnist", "--json"], env=environment, check=True,
                               capture_output=True, text=True)
    return round(json.loads(evaluated.stdout)["accuracy"] * 10_000)


def main():
    (images, labels), (test_images, test_labels) = mnist("train"), mnist("t10k")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name, parts in NETWORKS.items():
            keras.utils.set_random_seed(1)
            model = keras.Sequential([keras.Input((28, 28, 1)), *parts])
            model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            model.fit(images, labels, batch_size=64, verbose=0)
            right = int((model.predict(test_images, verbose=0).argmax(1) == test_labels).sum())
            files = [home / f"{name}.onnx", home / f"{name} by tf2onnx.onnx"]
            model.export(str(files[0]), format="onnx", verbose=False)
            model.export(str(home / name), verbose=False)
            subprocess.run([sys.executable, "-m", "tf2onnx.convert", "--saved-model", home / name, "--output", files[1]], check=True, capture_output=True)
            print(f"{name}: {right} in Keras, {' and '.join(str(imported(file, home)) for file in files)} in Inkling", flush=True)


if __name__ == "__main__":
    main()
