#!/usr/bin/env python3
"""Inkling against PyTorch on this machine: the same nets, data, batch sizes and threads, in turn, and the ratios.

    cargo build --release
    python3 benches/compare.py                       # every network, one epoch each, 5 rounds
    python3 benches/compare.py --nets convnet speedrun resnet8 --peers compile jax tensorflow   # beside these as well
    python3 benches/compare.py --presets one-epoch:10 balanced:5   # presets by seeds: accuracy, and time in PyTorch epochs
    python3 benches/compare.py --device cuda         # every network on an NVIDIA GPU, in batches of 256 and 1024; --presets one-epoch:10 as well
    python3 benches/compare.py --device cuda --peers compile   # the same beside torch.compile, which takes a minute for each line

PyTorch is installed into a virtual environment in this user's cache folder, once, and so are JAX and TensorFlow if they are asked
for; INKLING_TORCH_PYTHON, INKLING_JAX_PYTHON and INKLING_TENSORFLOW_PYTHON name a Python that has them already. MNIST's four IDX files are looked for in INKLING_DATA_DIR, else in ../shared/data beside this repository.

What is compared is the time training takes for 60,000 images, without validation, test and getting the data into memory:
Inkling's `epoch_seconds` leave those out, and learn from the 55,000 images that are not held back, so both sides are
counted by the image. Every side has one epoch to warm up that is not counted; then they take turns, so that whatever else
this machine does hits all of them. On a GPU, whose epochs are short, our turn is one sweep over all networks, batch sizes and
number formats, in which the second epoch of two seeds counts, and PyTorch's turn at each of them is 30 steps. A figure is
the median of its rounds, and in each number format PyTorch's is that of its faster layout. Of each network the last line compares
the best: the fastest number format of Inkling's with the fastest of all modes of all peers.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from peers import NETS, Jax, TensorFlow, Torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
EPOCH = 60_000
# Of which we learn from those that are not held back for validation.
TRAINED = 55_000
# Steps of PyTorch in a turn on a GPU.
STEPS = 30


class Failed(Exception):
    """A run of ours came to nothing."""


def inkling(arguments, subcommand, options):
    """What training or a sweep on MNIST reports, line by line, and what it says to people."""
    with tempfile.TemporaryDirectory() as home:
        command = [arguments.inkling, subcommand, "--data", "mnist", "--data-dir", arguments.data, "--threads", arguments.threads,
                   "--device", arguments.device, "--json", *options]
        process = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ, "INKLING_HOME": home})
    if process.returncode:
        raise Failed(f"{' '.join(map(str, command))} failed:\n{process.stderr}")
    return [json.loads(line) for line in process.stdout.splitlines()], process.stderr


def train(arguments, options):
    """Trains; gives what it reported last, and the images it learned from."""
    events, said = inkling(arguments, "train", options)
    plan = next(event["plan"] for event in events if event["event"] == "started")
    if events[-1]["device"] != arguments.device:
        raise Failed(f"Inkling trained on {events[-1]['device']} instead of {arguments.device}:\n{said}")
    return events[-1], plan["train_images"]


def our_epoch(arguments, net, batch, precision):
    """Seconds per image."""
    settings = NETS[net]
    options = ["--preset", "quick", "--network", net, "--epochs", 1, "--batch-size", batch, "--optimizer", settings["optimizer"],
               "--learning-rate", settings["lr"], "--schedule", settings["schedule"], "--augmentation", "off", "--precision", precision]
    finished, images = train(arguments, options)
    return statistics.median(finished["epoch_seconds"]) / images


def our_epochs(arguments, nets, batches, formats):
    """Seconds per image of each network, batch size and number format, from one process for all that are trained with the same settings."""
    seconds = {}
    for settings in {json.dumps(NETS[net]): NETS[net] for net in nets}.values():
        chosen = [net for net in nets if NETS[net] == settings]
        # Two seeds, because a sweep has to vary something.
        ranges = {"network": chosen, "batch-size": batches, "precision": formats, "seed": [1, 2], "epochs": [2], "optimizer": [settings["optimizer"]],
                  "lr": [settings["lr"]], "schedule": [settings["schedule"]], "augmentation": ["off"]}
        options = ["--preset", "quick", "--sampler", "grid", "--pruner", "none", "--parallel", 1]
        options += [part for name, values in ranges.items() for part in ("--set", f"{name}={','.join(map(str, values))}")]
        trials = {}
        for event in inkling(arguments, "sweep", options)[0]:
            if event["event"] == "trial_started":
                values = event["values"]
                # What does not vary is not among a trial's values.
                varied = lambda name, only: values.get(name, only[0])
                trials[event["trial"]] = varied("network", chosen), int(varied("batch-size", batches)), varied("precision", formats)
            elif event["event"] == "epoch" and event["epoch"] == 2:
                seconds.setdefault(trials[event["trial"]], []).append(event["seconds"] / TRAINED)
            elif event["event"] == "trial_ended" and event["outcome"] != "completed":
                say(f"{trials[event['trial']]}: {event['outcome']}: {event.get('reason')}")
    return {trial: statistics.median(taken) for trial, taken in seconds.items()}


def processor():
    """The processor's name, and the kind that decides speed here."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        import platform
        return platform.processor() or platform.machine(), "unknown kind", True
    fields = dict([part.strip() for part in line.split(":", 1)] for line in text.splitlines() if ":" in line)
    flags = set(fields.get("flags", fields.get("Features", "")).split())
    if "avx512f" in flags:
        kind = "AVX-512 with BF16" if "avx512_bf16" in flags else "AVX-512 without BF16"
    else:
        kind = "AVX2" if "avx2" in flags else "neither AVX2 nor AVX-512"
    return fields.get("model name", "unknown processor"), kind, "avx512_bf16" in flags


def say(text):
    print(text, file=sys.stderr, flush=True)


def seconds_of(sides, rounds, what):
    """Each side's seconds for an epoch, round by round in turn, after one that is not counted. Without those that fail."""
    taken = {name: [] for name in sides}
    for turn in range(rounds + 1):
        for name in list(taken):
            try:
                seconds = sides[name]() * EPOCH
            except Failed as failure:
                say(f"{what}: {name} is left out. {failure}")
                del taken[name]
                continue
            say(f"{what}, {'warm-up' if turn == 0 else f'round {turn}'}: {name} {seconds:.3f} s")
            if turn:
                taken[name].append(seconds)
    return taken


def compare_nets(arguments, torch, others, formats, results):
    """A line for each net, batch size and number format, and one of the best."""
    for net in arguments.nets:
        for batch in arguments.batches or [128 if net == "convnet" else 256]:
            sides = {}
            for precision in formats:
                modes = [precision, f"{precision}-channels_last"] + ([f"{precision}-compile"] if "compile" in arguments.peers else [])
                for mode in modes:
                    sides[f"PyTorch {mode}"] = lambda mode=mode: torch.epoch(net, batch, mode)
                for peer in others:
                    if net in peer.nets:
                        sides[f"{peer.name} {precision}"] = lambda peer=peer, precision=precision: peer.epoch(net, batch, precision)
                sides[f"Inkling {precision}"] = lambda precision=precision: our_epoch(arguments, net, batch, precision)
            taken = seconds_of(sides, arguments.rounds, f"{net}, batch {batch}")
            medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
            for precision in [precision for precision in formats if f"Inkling {precision}" in medians]:
                ours = medians[f"Inkling {precision}"]
                theirs = min(medians[f"PyTorch {precision}"], medians[f"PyTorch {precision}-channels_last"])
                results.append({"net": net, "batch": batch, "precision": precision, "inkling_seconds": ours, "pytorch_seconds": theirs,
                                "ratio": ours / theirs, "rounds": taken})
                line = f"{net:15} batch {batch:4} {precision:4}  Inkling {ours:7.3f} s  PyTorch {theirs:7.3f} s  ratio {ours / theirs:.2f}"
                rest = [f"{name} {seconds:.3f} s" for name, seconds in medians.items()
                        if name.endswith(f" {precision}-compile") or name.split()[0] not in ("Inkling", "PyTorch") and name.endswith(precision)]
                print("  ".join([line, *rest]), flush=True)
            best = {ours: min(filter(lambda name: name.startswith("Inkling") == ours, medians), key=medians.get, default=None) for ours in (True, False)}
            if best[True] and best[False]:
                ratio = medians[best[True]] / medians[best[False]]
                results.append({"net": net, "batch": batch, "best": [best[True], best[False]], "ratio": ratio})
                print(f"{net:15} batch {batch:4} best  {best[True]} {medians[best[True]]:.3f} s  {best[False]} {medians[best[False]]:.3f} s  "
                      f"ratio {ratio:.2f}", flush=True)


def compare_on_gpu(arguments, torch, formats, results):
    """A line for each network, batch size and number format; every side's rounds in turn."""
    nets, batches = arguments.nets, arguments.batches or [256, 1024]
    # One sweep for every three of PyTorch's turns: each has two epochs of every line that count.
    ours = [our_epochs(arguments, nets, batches, formats) for _ in range((arguments.rounds + 2) // 3)]
    for net, batch, precision in itertools.product(nets, batches, formats):
        modes = [precision, f"{precision}-channels_last"] + ([f"{precision}-compile"] if "compile" in arguments.peers else [])
        # Without convolutions there is only one layout.
        if net == "linear" or "mlp" in net:
            modes.remove(f"{precision}-channels_last")
        sides = {mode: lambda mode=mode: torch.epoch(net, batch, mode, STEPS) for mode in modes}
        taken = seconds_of(sides, arguments.rounds, f"{net}, batch {batch}, PyTorch")
        compiled = statistics.median(taken.pop(f"{precision}-compile")) if "compile" in arguments.peers else None
        eager = min(statistics.median(seconds) for seconds in taken.values())
        rounds = [round[net, batch, precision] * EPOCH for round in ours if (net, batch, precision) in round]
        inkling = statistics.median(rounds) if rounds else math.nan
        results.append({"net": net, "batch": batch, "precision": precision, "inkling_seconds": inkling, "pytorch_seconds": eager,
                        "compiled_seconds": compiled, "ratio": inkling / eager, "inkling_rounds": rounds, "pytorch_rounds": taken})
        line = f"{net:15} batch {batch:4} {precision:4}  Inkling {inkling:6.3f} s  PyTorch {eager:6.3f} s  ratio {inkling / eager:.2f}"
        print(line + (f"  compiled {compiled:6.3f} s  ratio {inkling / compiled:.2f}" if compiled else ""), flush=True)


def compare_presets(arguments, torch, results):
    """Each preset by several seeds, in turn with PyTorch's epochs of `speedrun`, f32 channels_last."""
    peer = lambda: torch.epoch("speedrun", 256, "f32-channels_last") * EPOCH
    for preset, seeds in (wish.split(":") if ":" in wish else (wish, "1") for wish in arguments.presets):
        peer()
        accuracies, seconds, epochs = [], [], []
        for seed in range(1, int(seeds) + 1):
            epochs.append(peer())
            finished, _ = train(arguments, ["--preset", preset, "--seed", seed])
            accuracies.append(finished["test_accuracy"])
            seconds.append(finished["train_seconds"])
            say(f"{preset}, seed {seed}: {accuracies[-1]:.2%} in {seconds[-1]:.2f} s; PyTorch's epoch {epochs[-1]:.2f} s")
        mean, ours, epoch = statistics.mean(accuracies), statistics.median(seconds), statistics.median(epochs)
        results.append({"preset": preset, "accuracies": accuracies, "parameters": finished["parameters"], "train_seconds": seconds,
                        "pytorch_epoch_seconds": epochs, "ratio": ours / epoch})
        print(f"{preset:9} {mean:.2%} mean of {len(accuracies)} ({min(accuracies):.2%} to {max(accuracies):.2%}), "
              f"{finished['parameters']:,} parameters  {ours:.2f} s = {ours / epoch:.2f} PyTorch epochs of speedrun (f32, channels_last)", flush=True)


def main():
    default_data = pathlib.Path(os.environ.get("INKLING_DATA_DIR") or ROOT.parent / "shared" / "data")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", nargs="+", choices=NETS, help="instead of all")
    parser.add_argument("--presets", nargs="+", metavar="NAME:SEEDS", help="compare presets instead of nets")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="where both sides train")
    parser.add_argument("--batches", nargs="+", type=int, metavar="SIZE", help="instead of 128 for convnet and 256 for the others, on a GPU 256 and 1024")
    parser.add_argument("--precisions", nargs="+", choices=["f32", "tf32", "bf16", "f16"], help="instead of those that the device has")
    parser.add_argument("--peers", nargs="+", choices=["compile", "jax", "tensorflow"], default=[],
                        help="besides eager PyTorch; on a GPU torch.compile alone")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    parser.add_argument("--inkling", type=pathlib.Path, default=ROOT / "target" / "release" / "inkling", help="the program")
    parser.add_argument("--data", type=pathlib.Path, default=default_data, help="the folder that holds mnist/")
    parser.add_argument("--json", type=pathlib.Path, help="write every figure to this file as well")
    arguments = parser.parse_args()
    if not arguments.inkling.exists():
        sys.exit(f"{arguments.inkling} is not there: build it with `cargo build --release`, or name the program with --inkling.")
    name, kind, has_bf16 = processor()
    torch = Torch(arguments.data / "mnist", arguments.threads, arguments.device)
    gpu = arguments.device == "cuda"
    others = [] if gpu or arguments.presets else [
        peer(arguments.data / "mnist", arguments.threads) for name, peer in (("jax", Jax), ("tensorflow", TensorFlow)) if name in arguments.peers]
    arguments.nets = arguments.nets or list(NETS)
    formats = arguments.precisions or (["f32", "tf32", "bf16", "f16"] if gpu else ["f32", "bf16"] if has_bf16 else ["f32"])
    where = torch.device if gpu else f"{name} ({kind})"
    print(f"{where}, {arguments.threads} threads, " + ", ".join(f"{peer.name} {peer.version}" for peer in [torch, *others]), flush=True)
    results = []
    try:
        if arguments.presets:
            compare_presets(arguments, torch, results)
        elif gpu:
            compare_on_gpu(arguments, torch, formats, results)
        else:
            compare_nets(arguments, torch, others, formats, results)
    except Failed as failure:
        sys.exit(str(failure))
    finally:
        if arguments.json:
            arguments.json.write_text(json.dumps({"processor": name, "kind": kind, "device": torch.device, "threads": arguments.threads,
                                                  "results": results}, indent=1))


if __name__ == "__main__":
    main()
