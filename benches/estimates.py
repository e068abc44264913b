#!/usr/bin/env python3
"""How long every preset takes beside how long the window says that it will, on this machine, which must be idle.

    cargo build --release
    python3 benches/estimates.py target/release/inkling [DATA [EPOCHS]]

DATA is `mnist`, or any other value of --data. The presets are timed as the window times them before the first run; then each is trained
for its epochs, or for EPOCHS of them if it has more. The whole of that, with validation, test and files, is compared with the estimate for as
many epochs. Needs python3-msgpack.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/faults"))
from engine import Engine  # noqa: E402

PRESETS = ["quick", "one-epoch", "balanced", "best", "compact"]


class Inkling:
    def __init__(self, program, home):
        self.program, self.home = program, home
        data = os.environ.get("INKLING_DATA_DIR", str(ROOT.parent / "shared/data"))
        self.variables = {**os.environ, "INKLING_HOME": str(home), "INKLING_DATA_DIR": data}

    def start(self, options):
        """A run that has begun, with its settings and plan."""
        out = tempfile.mkdtemp(dir=self.home)
        command = [self.program, "train", "--json", "--force", "--out", out, *map(str, options)]
        process = subprocess.Popen(command, env=self.variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        started = next(event for event in map(json.loads, process.stdout) if event["event"] == "started")
        return process, started["config"], started["plan"]

    def settings(self, options):
        process, config, plan = self.start(options)
        process.kill()
        process.communicate()
        return config, plan

    def seconds(self, options):
        began = time.monotonic()
        process, _, _ = self.start(options)
        process.communicate()
        assert process.returncode == 0, options
        return time.monotonic() - began

    def rates(self, configs):
        """Images per second with each of these settings, and the share of the machine that others used meanwhile."""
        setting = SimpleNamespace(
            program=self.program,
            environment=lambda _: self.variables,
            run=lambda _, *options: subprocess.run([self.program, *options], capture_output=True, text=True, check=True),
        )
        engine = Engine(setting, self.home)
        engine.submit({"TimeSteps": configs})
        kind, content = engine.until(["Done", "Failed"], 120)
        assert kind == "Done", content
        engine.end()
        result = content["event"]["Done"]["TimeSteps"]
        return result["images_per_second"], result["background_load"]


def main():
    program = os.path.abspath(sys.argv[1])
    data = sys.argv[2] if len(sys.argv) > 2 else "mnist"
    longest = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    with tempfile.TemporaryDirectory() as home:
        inkling = Inkling(program, Path(home))
        options = {preset: ["--data", data, "--preset", preset] for preset in PRESETS}
        settings = {preset: inkling.settings(chosen) for preset, chosen in options.items()}
        rates, load = inkling.rates([config for config, _ in settings.values()])
        print(f"other programs used {load:.0%} of the machine while the presets were timed")
        for (preset, (config, plan)), rate in zip(settings.items(), rates):
            epochs = min(longest, config["epochs"])
            seconds = inkling.seconds([*options[preset], "--epochs", epochs])
            # As in src/window/train/setup/estimates.rs.
            estimate = (plan["train_images"] * epochs + (plan["validation_images"] * epochs + plan["test_images"]) / 3) / rate
            print(f"{preset}: {epochs} epochs, estimated {estimate:.1f} s, took {seconds:.1f} s: {seconds / estimate - 1:+.0%}", flush=True)


main()
