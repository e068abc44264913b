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

# What both sides train a network with. Their names are Inkling's.
ADAMW = {"optimizer": "adamw", "lr": 1e-3, "schedule": "constant"}
NETS = {
    **dict.fromkeys(["linear", "mlp-small", "mlp", "mlp-large", "lenet", "convnet", "pytorch-example", "cnn"], ADAMW),
    "speedrun": {"optimizer": "adam", "lr": 1e-2, "schedule": "one-cycle"},
    **dict.fromkeys(["convnet-bn", "tiny", "resnet8", "resnet14", "resnet20", "resnet34", "attention"], ADAMW),
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

    def epoch(self, net, batch, mode, steps=None):
        """Seconds per image, in an epoch or this many steps. `mode` is a number format, then "-channels_last" or "-compile"."""
        self.process.stdin.write(f"{net} {batch} {mode} {steps or 0}\n")
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


def serve(folder, threads, device):
    import torch
    from torch import nn

    from pytorch_networks import NETWORKS

    torch.set_num_threads(threads)
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU that it can use: its build, or the driver, may be without CUDA; INKLING_TORCH_PYTHON names another Python.")
    # All batches are alike: it may try which way to convolve them is fastest, in the epoch that is not counted.
    torch.backends.cudnn.benchmark = True
    # Each network is compiled anew for each batch size and number format, and so is the code that all of them share.
    torch._dynamo.config.recompile_limit = 1000
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    images = ((idx(torch, folder, "train-images-idx3-ubyte")[:, None].float() / 255 - 0.1307) / 0.3081).to(device)
    labels = idx(torch, folder, "train-labels-idx1-ubyte").long().to(device)
    loss_of = nn.CrossEntropyLoss()

    trained = {}

    def epoch(net, size, mode, most_steps):
        settings = NETS[net]
        precision, *options = mode.split("-")
        layout = torch.channels_last if "channels_last" in options else torch.contiguous_format
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
        number = {"bf16": torch.bfloat16, "f16": torch.float16}.get(precision)
        # What has been compiled is used again.
        if (net, size, mode) not in trained:
            model = NETWORKS[net]().to(device).to(memory_format=layout).train()
            rule = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings["optimizer"]]
            optimizer = rule(model.parameters(), settings["lr"], fused=True)
            trained[net, size, mode] = torch.compile(model, dynamic=False) if "compile" in options else model, optimizer
        model, optimizer = trained[net, size, mode]
        for group in optimizer.param_groups:
            group["lr"] = settings["lr"]
        # f16 needs its losses scaled.
        scaler = torch.amp.GradScaler(device, enabled=precision == "f16")
        steps = min(len(images) // size, most_steps or len(images))
        schedule = None
        if settings["schedule"] == "one-cycle":
            schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings["lr"], total_steps=len(images) // size, cycle_momentum=False)
        wait()
        began = time.perf_counter()
        order = torch.randperm(len(images), device=device)
        for chosen in order.split(size)[:steps]:
            batch = images[chosen].contiguous(memory_format=layout)
            with torch.autocast(device, dtype=number, enabled=number is not None):
                logits = model(batch)
            loss = loss_of(logits.float(), labels[chosen])
            optimizer.zero_grad(set_to_none=True)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            if schedule:
                schedule.step()
        wait()
        return (time.perf_counter() - began) / (steps * size)

    name = torch.cuda.get_device_name() if device == "cuda" else "processor"
    print(json.dumps({"version": torch.__version__, "device": name}), flush=True)
    for line in sys.stdin:
        net, size, mode, steps = line.split()
        print(json.dumps({"seconds_per_image": epoch(net, int(size), mode, int(steps))}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], required=True)
    arguments = parser.parse_args()
    serve(arguments.folder, arguments.threads, arguments.device)
