"""IDX, the format of MNIST's files."""


def write_idx(path, array):
    kind = bytes([0, 0, 8, array.ndim]) + b"".join(length.to_bytes(4, "big") for length in array.shape)
    path.write_bytes(kind + array.tobytes())
