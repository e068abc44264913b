"""Owns what an installed Inkling must do in a terminal, wherever it is installed: train one epoch, read one digit, say what is wrong.

    tests/packages/command_line.py FOLDER AS COMMAND…

FOLDER is a folder for what is written, AS the same folder as the command sees it, COMMAND how Inkling is started."""

import json
import os
import subprocess
import sys

folder, seen_as, *command = sys.argv[1:]


def inkling(*arguments, status=0):
    ended = subprocess.run([*command, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=300)
    assert ended.returncode == status, f"{arguments} ended with {ended.returncode}, not {status}:\n{ended.stdout}\n{ended.stderr}"
    return ended


def say(what):
    print(f"ok: {what}", flush=True)


version = inkling("--version").stdout.strip()
assert version.startswith("inkling "), version
say(version)
trained = inkling("train", "--preset", "one-epoch", "--epochs", "1", "--out", f"{seen_as}/run", "--json").stdout.splitlines()
finished = json.loads(trained[-1])
assert finished["event"] == "finished" and finished["test_accuracy"] > 0.9, finished
say(f"one epoch in {finished['train_seconds']:.1f} s reads {finished['test_accuracy']:.2%} of the test digits")
with open(os.path.join(folder, "seven.json"), "w", encoding="utf-8") as file:
    json.dump({"strokes": [[[28, 22], [50, 21], [72, 22], [66, 36], [58, 54], [50, 72], [45, 84]]]}, file)
read = json.loads(inkling("predict", "--model", f"{seen_as}/run/model.safetensors", f"{seen_as}/seven.json", "--json").stdout)
assert read["digit"] == 7, read
say(f"a drawn 7 is read as a 7 ({read['confidence']:.0%})")
refused = inkling("train", "--epochs", "0", status=2)
assert "got 0" in refused.stderr and not refused.stdout, refused
say("0 epochs are refused on standard error with exit status 2")
hardware = json.loads(inkling("hardware", "--json").stdout)
assert hardware["cpu"]["usable_cores"] >= 1 and hardware["memory_total"] > 1 << 28, hardware
say(f"it runs on {hardware['system']} with {hardware['memory_total'] / 2**30:.0f} GiB of memory")
licenses = inkling("licenses").stdout
assert all(f"\n{name} " in licenses for name in ("candle-core", "eframe", "serde")), licenses[:500]
assert "Permission is hereby granted" in licenses and len(licenses) > 100_000, len(licenses)
say(f"it shows the licenses of what is built in ({len(licenses) // 1000} kB)")
