"""PyTorch's side of compare.py."""

import sys
import time

import torch
from torch import nn

from peers import NETS, mnist, normalized, serve, step_count
from pytorch_networks import NETWORKS


def prepare(folder, threads, device):
    torch.set_num_threads(threads)
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("PyTorch finds no GPU that it can use: its build, or the driver, may be without CUDA; INKLING_TORCH_PYTHON names another Python.")
    # All batches are alike: it may try which way to convolve them is fastest, in the epoch that is not counted.
    torch.backends.cudnn.benchmark = True
    # Each network is compiled anew for each batch size and number format, and so is the code that all of them share.
    torch._dynamo.config.recompile_limit = 1000
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    pixels, labels = mnist(folder)
    images, labels = torch.tensor(normalized(pixels))[:, None].to(device), torch.tensor(labels).long().to(device)
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
        steps = step_count(most_steps, size, len(images))
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

    return torch.__version__, torch.cuda.get_device_name() if device == "cuda" else "processor", epoch


if __name__ == "__main__":
    serve(prepare)
