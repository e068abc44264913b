#!/usr/bin/env python3
"""Starts and stops training in one engine over and over, with drawings in between. Memory, descriptors and threads must stay the same.

Usage: soak.py EXECUTABLE [SECONDS]
"""

import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import scenarios
from engine import Engine

# Until then everything is loaded and every pool has its threads.
WARM_UP = 0.2
# How much memory may grow from the warm-up to the end: noise of the allocator, in kB, and as a share.
GROWTH_KB, GROWTH = 6_000, 0.03
# Memory is compared between this many parts of the time after the warm-up.
PARTS = 5
# How often memory that seems to grow is measured again.
MORE_ROUNDS = 2
# A measurement may fall into the moment in which a file is written or a thread ends. What leaks grows with every cycle.
PASSING = 2


def cycle(engine, setting, home, source):
    """A run that is stopped at a random moment, drawings that are recognized meanwhile, and at times an export or an evaluation."""
    config = {"version": 1, "data": str(setting.data), "model": "tiny", "epochs": 1000, "batch_size": 32, "seed": 1}
    engine.submit({"Train": {"config": config, "from": None}})
    kind, content = engine.until(["Started", "Failed"])
    assert kind == "Started", content
    model = source.choice(["Starter", {"Training": engine.job}])
    engine.send({"UseModel": model})
    if model != "Starter":
        # The map of the starter model would read its data on another thread, which takes seconds.
        engine.send({"Read": {"request": 9, "what": {"Map": {"known": None, "own": [], "components": 2}}}})
    for request in range(source.randrange(4)):
        stroke = [[source.uniform(0, 280), source.uniform(0, 280)] for _ in range(30)]
        every_step = {"without": [False] * 6, "page": [28.0, 28.0], "middle": None}
        why = source.choice([None, {"digit": 0, "class": source.choice([None, 8]), "counterfactual": source.random() < 0.5}])
        details = {"inspection": source.random() < 0.5, "look": None, "why": why, "nearest": source.choice([0, 10])}
        what = {"Drawing": {"ink": {"strokes": [stroke], "pen": None}, "steps": every_step, "details": details}}
        engine.send({"Read": {"request": request, "what": what}})
    if source.random() < 0.3:
        engine.send({"ScaleLearningRate": {"run": engine.job, "factor": source.choice([0.5, 2.0])}})
        engine.send({"TakeStep": {"run": engine.job, "unit": {"layer": "conv1", "unit": 1}}})
    time.sleep(source.uniform(0, 0.15))
    engine.send({"Cancel": engine.job})
    kind, content = engine.until(["Done", "Cancelled", "Failed"])
    assert kind != "Failed", content
    if kind == "Cancelled":
        # Stopped in its first epoch: it could be resumed.
        shutil.rmtree(home / "checkpoints", ignore_errors=True)
    shutil.rmtree(home / "runs", ignore_errors=True)
    if source.random() < 0.1:
        spec = {"format": "safetensors", "weights": "f32", "quantize": False, "preprocessing": True, "opset": 17}
        engine.submit({"Export": {"model": {"File": str(setting.model)}, "spec": spec, "to": str(home / "exported.safetensors"), "replace": "Nothing"}})
        assert engine.until(["Done", "Failed"])[0], "an export"
        (home / "exported.safetensors").unlink(missing_ok=True)


def soak(engine, setting, home, source, seconds, warm_up):
    """Cycles for this many seconds; what the engine used after each of them once it was warm."""
    start, measured = time.monotonic(), []
    while (passed := time.monotonic() - start) < seconds:
        cycle(engine, setting, home, source)
        if passed > seconds * warm_up:
            measured.append(engine.resources())
    assert len(measured) >= 2 * PARTS, f"only {len(measured)} cycles"
    return measured


def growth(measured):
    """By how many kB memory grows between most parts of the time, or 0 where that is within what the allocator does."""
    length = len(measured) // PARTS
    parts = [measured[length * part:length * (part + 1)] for part in range(PARTS)]
    memory = [statistics.median(sample[0] for sample in part) for part in parts]
    most = [[max(sample[what] for sample in part) for part in (parts[0], parts[-1])] for what in (1, 2)]
    print(f"{len(measured)} cycles: memory {', '.join(f'{kb / 1024:.1f}' for kb in memory)} MB; "
          f"descriptors {most[0][0]}, then {most[0][1]}; threads {most[1][0]}, then {most[1][1]}")
    assert all(later <= earlier + PASSING for earlier, later in most), "descriptors or threads grow"
    # A leak of 20 kB a cycle shows from part to part. The allocator takes up to 10 MB more, or gives it back, at any moment, but rarely.
    allowed = max(GROWTH_KB, memory[0] * GROWTH) / (PARTS - 1)
    between = statistics.median_low(later - earlier for earlier, later in zip(memory, memory[1:]))
    return between if between > allowed else 0


def main():
    program, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 120.0
    source = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="inkling-soak-") as root:
        root = Path(root).resolve()
        setting = scenarios.Setting(program, root / "setting")
        home = root / "home"
        home.mkdir()
        engine = Engine(setting, home)
        grown = growth(soak(engine, setting, home, source, seconds, WARM_UP))
        # What leaks goes on growing, which the allocator does not.
        for _ in range(MORE_ROUNDS):
            grown = grown and growth(soak(engine, setting, home, source, seconds, 0))
        assert engine.end() == 0, "the engine did not end by itself"
        left = scenarios.leftovers(home) + [str(path) for path in home.glob("checkpoints/*")]
    assert not left, f"left behind: {left}"
    assert not grown, f"memory grows by {grown:.0f} kB between most parts of the time, {1 + MORE_ROUNDS} times in a row"


if __name__ == "__main__":
    main()
