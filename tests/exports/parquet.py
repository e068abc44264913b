"""Writes data sets as Parquet files with Apache Arrow, whose format it is, and has Inkling read them:

    python parquet.py INKLING WORK

.ci/exports installs what it takes.
"""
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
from PIL import Image

INKLING, WORK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
random = np.random.default_rng(1)


def digits(count):
    """Bright squares of ten sizes."""
    labels = np.arange(count) % 10
    images = np.zeros((count, 28, 28), np.uint8)
    for image, label in zip(images, labels):
        image[8:13 + label, 8:13 + label] = random.integers(200, 256, (5 + label, 5 + label))
    return images, labels


def png(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": None}


def as_hugging_face(images, labels):
    """As its library `datasets` writes images."""
    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    return pyarrow.table({"image": pyarrow.array([png(image) for image in images], kind), "label": pyarrow.array(labels, pyarrow.int64())})


def as_pixels(images, labels):
    columns = {f"pixel{index}": column for index, column in enumerate(images.reshape(len(images), -1).T)}
    return pyarrow.table({"label": pyarrow.array(labels.astype(np.uint8)), **columns})


def idx(path):
    data = path.read_bytes()
    return np.frombuffer(data, np.uint8, offset=16 if data[3] == 3 else 8)


def check(name, table, **options):
    """Writes training and test images, and compares what Inkling makes IDX files of."""
    folder, out = WORK / name, WORK / f"{name}-idx"
    folder.mkdir()
    splits = {"train": digits(700), "test": digits(100)}
    for split, (images, labels) in splits.items():
        pyarrow.parquet.write_table(table(images, labels), folder / f"{split}-00000-of-00001.parquet", row_group_size=256, **options)
    environment = {**os.environ, "INKLING_HOME": str(WORK / "home")}
    subprocess.run([INKLING, "data", "export", folder, "--format", "idx", "--out", out], check=True, env=environment, stdout=subprocess.DEVNULL)
    for split, (images, labels) in splits.items():
        prefix = {"train": "train", "test": "t10k"}[split]
        assert np.array_equal(idx(out / f"{prefix}-images-idx3-ubyte"), images.ravel()), (name, split)
        assert np.array_equal(idx(out / f"{prefix}-labels-idx1-ubyte"), labels), (name, split)
    print(f"ok: Parquet, {name}")


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
check("images", as_hugging_face, compression="snappy")
check("images-gzip", as_hugging_face, compression="gzip", data_page_version="2.0")
check("images-lz4", as_hugging_face, compression="lz4", use_dictionary=False)
check("pixels", as_pixels, compression="snappy")
check("pixels-plain", as_pixels, compression="none", version="1.0")
