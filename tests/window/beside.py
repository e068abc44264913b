"""How much of its speed training keeps beside the window: tests/window/run target/release/inkling beside.py [ROUNDS]

Epochs of Speedrun on MNIST, in the window with Train shown and nobody touching it, and in a terminal with the same settings,
in turn. Without MNIST in INKLING_DATA_DIR or ../shared/data, on the built-in digits."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from driver import wait

program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
EPOCHS = 4
home = pathlib.Path(tempfile.mkdtemp(prefix="inkling-beside-"))
data = os.environ.get("INKLING_DATA_DIR") or str(pathlib.Path("../shared/data").resolve())
environment = {**os.environ, "INKLING_HOME": str(home), "XDG_CONFIG_HOME": str(home), "INKLING_DATA_DIR": data}


def key(*keys):
    subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)


def window(work):
    with subprocess.Popen([program], env=environment, stderr=subprocess.DEVNULL) as process:
        time.sleep(6)  # until the hardware is known
        work()
        process.terminate()


def finished():
    return sorted(home.glob("runs/*/run.json"))


def in_the_window():
    before = len(finished())

    def train():
        key("ctrl+Return")
        wait(lambda: len(finished()) > before, 300, "the run to end")
        time.sleep(1)

    window(train)
    newest = max(finished(), key=lambda path: path.stat().st_mtime)
    return [epoch["seconds"] for epoch in json.loads(newest.read_text())["epochs"]][1:], newest.parent


def in_a_terminal(run):
    done = subprocess.run([program, "train", "--config", run, "--json"], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])["epoch_seconds"][1:]


window(lambda: key("Escape"))  # leaves the wizard
settings = home / "settings.json"
chosen = json.loads(settings.read_text())
has_mnist = pathlib.Path(data, "mnist").is_dir()
chosen["config"].update(data="mnist" if has_mnist else "builtin", preset=None, epochs=EPOCHS, batch_size=128)
settings.write_text(json.dumps(chosen))
times = {"window": [], "terminal": []}
for _ in range(rounds):
    seconds, run = in_the_window()
    times["window"] += seconds
    times["terminal"] += in_a_terminal(run)
medians = {where: statistics.median(seconds) for where, seconds in times.items()}
print(f"an epoch beside the window: {medians['window']:.2f} s, in a terminal: {medians['terminal']:.2f} s; "
      f"{medians['terminal'] / medians['window']:.2f} of its speed")
