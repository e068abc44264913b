"""IDX, the format of MNIST's files."""
import numpy as np


def write_idx(path, array):
    kind = bytes([0, 0, 8, array.ndim]) + b"".join(length.to_bytes(4, "big") for length in array.shape)
    path.write_bytes(kind + array.tobytes())


def read_idx(path):
    data = path.read_bytes()
    shape = [int.from_bytes(data[4 * axis:4 * axis + 4], "big") for axis in range(1, data[3] + 1)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)
