"""Figures of `inkling compare` and `inkling train --repeats` as SciPy has them, from the same counts and accuracies:

    python against_scipy.py INKLING WORK

.ci/exports installs what it takes.
"""
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
from scipy.stats import binomtest, sem, t

INKLING, WORK = sys.argv[1], Path(sys.argv[2])
# Three models that differ little, one that differs much.
MODELS = {
    "first": ["--seed", "1"],
    "second": ["--seed", "2"],
    "third": ["--seed", "1", "--learning-rate", "0.0012"],
    "worse": ["--seed", "1", "--learning-rate", "0.00002"],
}


def inkling(*arguments):
    done = subprocess.run([INKLING, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def close(name, found, wanted, tolerance=1e-9):
    assert math.isclose(found, wanted, rel_tol=tolerance, abs_tol=tolerance), f"{name}: {found}, SciPy has {wanted}"


def wilson(correct, images):
    interval = binomtest(correct, images).proportion_ci(0.95, method="wilson")
    return interval.low, interval.high


def newcombe(both, first, second, neither):
    """Method 10 of Newcombe 1998, "Improved confidence intervals for the difference between binomial proportions based on paired data"."""
    n = both + first + second + neither
    p1, p2 = (both + first) / n, (both + second) / n
    (l1, u1), (l2, u2) = wilson(both + first, n), wilson(both + second, n)
    product = (both + first) * (second + neither) * (both + second) * (first + neither)
    numerator = both * neither - first * second
    if numerator > 0:
        numerator = max(numerator - n / 2, 0)
    phi = numerator / math.sqrt(product) if product else 0
    half = lambda x, y: math.sqrt(x * x - 2 * phi * x * y + y * y)  # noqa: E731
    return p1 - p2 - half(p1 - l1, u2 - p2), p1 - p2 + half(p2 - l2, u1 - p1)


def holm(values):
    adjusted, highest = {}, 0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = min(1, max(highest, values[index] * (len(values) - rank)))
        adjusted[index] = highest
    return [adjusted[index] for index in range(len(values))]


def compared():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for name, settings in MODELS.items():
        inkling("train", "--preset", "quick", "--epochs", "1", "--batch-size", "500", *settings, "--out", str(WORK / name), "--json")
    [found] = inkling("compare", *[str(WORK / name) for name in MODELS], "--json")
    images, first = found["images"], found["models"][0]
    correct = [round(model["accuracy"] * images) for model in found["models"]]
    for model, right in zip(found["models"], correct):
        for end, wanted in zip(model["interval"], wilson(right, images)):
            close(f"the interval of {model['path']}", end, wanted)
    p_values = []
    for pair, right in zip(found["against_first"], correct[1:]):
        only, only_first = pair["only_correct"], pair["only_first_correct"]
        both = right - only
        assert both + only_first == correct[0], f"{pair['path']}: the counts do not add up"
        for end, wanted in zip(pair["interval"], newcombe(both, only, only_first, images - both - only - only_first)):
            close(f"the interval of {pair['path']} against {first['path']}", end, wanted)
        p_values.append(binomtest(only, only + only_first, 0.5).pvalue)
    for pair, wanted in zip(found["against_first"], holm(p_values)):
        close(f"p of {pair['path']}", pair["p"], wanted, 1e-7)
    assert found["against_first"][-1]["significant"], "the last of them is much worse"
    return len(MODELS)


def repeated():
    found = inkling("train", "--preset", "quick", "--epochs", "1", "--batch-size", "500", "--repeats", "4", "--json")
    accuracies = [event["test_accuracy"] for event in found if event["event"] == "finished"]
    interval = t.interval(0.95, len(accuracies) - 1, loc=numpy.mean(accuracies), scale=sem(accuracies))
    mean = found[-1]
    for name, wanted in {"low": interval[0], "high": interval[1], "mean_accuracy": numpy.mean(accuracies),
                         "standard_deviation": numpy.std(accuracies, ddof=1)}.items():
        close(f"{name} of repeated runs", mean[name], wanted)
    return len(accuracies)


print(f"compare: the intervals and p-values of {compared()} models are SciPy's")
print(f"repeated runs: mean and interval of {repeated()} runs are SciPy's")
