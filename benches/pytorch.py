"""The peer of compare.py: PyTorch in a process of its own, which trains an epoch for each line it is given. Must not know Inkling.

As a module it starts that process and asks it; run by itself it is that process.
"""

import argparse
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import time

# What both sides train a net with.
NETS = {
    "convnet": {"optimizer": "adamw", "lr": 1e-3, "schedule": "constant"},
    "speedrun": {"optimizer": "adam", "lr": 1e-2, "schedule": "one-cycle"},
}


class Torch:
    """The process, asked from this one."""

    def __init__(self, folder, threads, device):
        command = [python_with_torch(), __file__, str(folder), "--threads", str(threads), "--device", device]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        began = self.answer()
        self.version, self.device = began["version"], began["device"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("PyTorch's side ended; what it said is above.")
        return json.loads(line)

    def epoch(self, net, batch, mode):
        """Seconds per image."""
        self.process.stdin.write(f"{net} {batch} {mode}\n")
        self.process.stdin.flush()
        return self.answer()["seconds_per_image"]


def python_with_torch():
    """A Python that has PyTorch; made where there is none."""
    given = os.environ.get("INKLING_TORCH_PYTHON")
    if given:
        return given
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or pathlib.Path.home() / ".cache")
    folder = cache / "inkling" / "torch"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    has_torch = lambda: python.exists() and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    if not has_torch():
        print(f"Installing PyTorch into {folder}", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "torch", "numpy"], check=True)
    return str(python)


def idx(torch, folder, name):
    """The bytes of an IDX file, in its shape."""
    with gzip.open(folder / f"{name}.gz") if (folder / f"{name}.gz").exists() else open(folder / name, "rb") as file:
        raw = file.read()
    sizes = struct.unpack(f">{raw[3]}I", raw[4:4 + 4 * raw[3]])
    return torch.frombuffer(bytearray(raw[4 + 4 * raw[3]:]), dtype=torch.uint8).view(sizes)


def model_of(nn, net):
    pool = lambda: nn.MaxPool2d(2)
    if net == "convnet":
        return nn.Sequential(
            nn.Conv2d(1, 32, 5), pool(), nn.Conv2d(32, 64, 5), pool(), nn.Flatten(),
            nn.Linear(1024, 1024), nn.ReLU(), nn.Dropout(0.5), nn.Linear(1024, 10))
    return nn.Sequential(
        nn.Conv2d(1, 24, 5), pool(), nn.ReLU(), nn.Conv2d(24, 32, 3), pool(), nn.ReLU(), nn.Flatten(),
        nn.Linear(800, 256), nn.ReLU(), nn.Linear(256, 10))


def serve(folder, threads, device):
    import torch
    from torch import nn

    torch.set_num_threads(threads)
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU that it can use: its build, or the driver, may be without CUDA; INKLING_TORCH_PYTHON names another Python.")
    # All batches are alike: it may try which way to convolve them is fastest, in the epoch that is not counted.
    torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    images = ((idx(torch, folder, "train-images-idx3-ubyte")[:, None].float() / 255 - 0.1307) / 0.3081).to(device)
    labels = idx(torch, folder, "train-labels-idx1-ubyte").long().to(device)
    loss_of = nn.CrossEntropyLoss()

    def epoch(net, size, mode):
        settings = NETS[net]
        layout = torch.channels_last if mode.endswith("channels_last") else torch.contiguous_format
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = mode.startswith("tf32")
        model = model_of(nn, net).to(device).to(memory_format=layout).train()
        steps = len(images) // size
        rule = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings["optimizer"]]
        optimizer = rule(model.parameters(), settings["lr"], fused=True)
        schedule = None
        if settings["schedule"] == "one-cycle":
            schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings["lr"], total_steps=steps, cycle_momentum=False)
        wait()
        began = time.perf_counter()
        order = torch.randperm(len(images), device=device)
        for chosen in order.split(size)[:steps]:
            batch = images[chosen].contiguous(memory_format=layout)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=mode.startswith("bf16")):
                logits = model(batch)
            loss = loss_of(logits.float(), labels[chosen])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            if schedule:
                schedule.step()
        wait()
        return (time.perf_counter() - began) / (steps * size)

    name = torch.cuda.get_device_name() if device == "cuda" else "processor"
    print(json.dumps({"version": torch.__version__, "device": name}), flush=True)
    for line in sys.stdin:
        net, size, mode = line.split()
        print(json.dumps({"seconds_per_image": epoch(net, int(size), mode)}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], required=True)
    arguments = parser.parse_args()
    serve(arguments.folder, arguments.threads, arguments.device)
