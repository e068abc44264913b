"""Curves for TensorBoard, read by TensorBoard's own reader while a run trains, after it, and after it was killed and resumed:

    python tensorboard.py INKLING WORK

Every figure has to be what the run's folder and `inkling train --json` say. .ci/exports installs what it takes.
"""
import csv
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

# This file has the name of the package.
sys.path.pop(0)
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402
from tensorboard.plugins.hparams import metadata  # noqa: E402

INKLING, WORK = sys.argv[1], Path(sys.argv[2])
BOARD, OUT = WORK / "board", WORK / "run"
TRAIN = [INKLING, "train", "--preset", "quick", "--batch-size", "500", "--epochs", "8", "--threads", "1", "--json", "--tensorboard", BOARD]
STEPS = {"loss/train": "loss", "accuracy/train": "accuracy", "learning_rate": "learning_rate"}
EPOCHS = {
    "loss/train_epoch": "train_loss", "accuracy/train_epoch": "train_accuracy",
    "loss/validation": "validation_loss", "accuracy/validation": "validation_accuracy",
}


def reader():
    """What TensorBoard has read of the one run there is."""
    [run] = BOARD.iterdir()
    events = EventAccumulator(str(run), size_guidance={"scalars": 0})
    events.Reload()
    return events


def scalars(events, tag):
    return [(event.step, event.value) for event in events.Scalars(tag)]


def single(number):
    """The number as TensorBoard keeps it."""
    return float(np.float32(number))


def check(lines):
    events = reader()
    rows = list(csv.DictReader((OUT / "steps.csv").open()))
    assert len(rows) == 8 * 110, f"{len(rows)} steps"
    for tag, name in STEPS.items():
        assert scalars(events, tag) == [(int(row["step"]), single(row[name])) for row in rows], tag
    history = json.loads((OUT / "run.json").read_text())["epochs"]
    for tag, name in EPOCHS.items():
        assert scalars(events, tag) == [(epoch["step"], single(epoch[name])) for epoch in history], tag
        printed = [(line["step"], single(line[name])) for line in lines if line["event"] == "epoch"]
        assert scalars(events, tag)[-len(printed):] == printed, f"{tag} and --json"
    assert scalars(events, "accuracy/test") == [(880, single(lines[-1]["test_accuracy"]))]
    assert all(rate > 0 for _, rate in scalars(events, "images_per_second"))

    [text] = events.Tensors("settings/text_summary")[-1].tensor_proto.string_val
    assert "| batch_size | 500 |" in text.decode(), text
    content = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    params = metadata.parse_session_start_info_plugin_data(content).hparams
    assert params["batch_size"].number_value == 500 and params["model"].string_value == "mlp", params


def fresh():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)


def whole():
    fresh()
    with subprocess.Popen([*TRAIN, "--out", OUT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        lines, live = [], 0
        for line in run.stdout:
            lines.append(json.loads(line))
            if lines[-1]["event"] == "epoch" and lines[-1]["epoch"] == 2:
                live = len(scalars(reader(), "loss/train"))
        said = run.stderr.read()
    assert run.returncode == 0, said
    assert 110 <= live < 880, f"{live} steps could be read while it trained"
    check(lines)
    return live


def resumed():
    fresh()
    run = subprocess.Popen(TRAIN, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in run.stdout:
        if json.loads(line).get("epoch") == 3:
            # Some steps follow that the checkpoint does not have.
            time.sleep(0.2)
            break
    run.kill()
    run.wait()
    # The time in the files' names is in seconds.
    time.sleep(1.1)
    again = [INKLING, "train", "--resume", "--json", "--out", OUT, "--tensorboard", BOARD]
    done = subprocess.run(again, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    check([json.loads(line) for line in done.stdout.splitlines()])


live = whole()
resumed()
print(f"TensorBoard reads every figure: of a run in progress ({live} steps by then), of a whole one, and of one that was killed and resumed")
