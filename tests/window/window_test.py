"""Goes through the real program as a person would, with a real pointer and real keys: the wizard, a small run, a drawing,
the verdict, the finished model, the results. What counts is what the window tells assistive technology it shows.

    tests/window/run target/release/inkling
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from driver import Failure, Program, wait

path = sys.argv[1]


def say(what):
    print(f"ok: {what}", flush=True)


def check(fact, what):
    if not fact:
        raise Failure(what)
    say(what)


def wizard(program):
    program.find("Teach your computer to recognize digits", seconds=20)
    program.find("Start training", role="push button", seconds=20)
    program.click("Set up step by step", role="push button")
    program.find("Your hardware")
    wait(lambda: any("core" in node.text for node in program.nodes()), 15, "the processor with its cores", program)
    say("the wizard shows the hardware")
    program.key("Return")
    program.find("Choose the training data")
    program.find("Built-in digits")
    program.key("Return")
    program.find("Choose a preset")
    program.key("alt+Left")
    program.find("Choose the training data")
    say("every page of the wizard can be gone back to")
    program.key("Return")
    program.find("Choose a preset")
    program.click("Quick look")
    program.key("Return")
    program.find("Ready to train")
    program.find("Drawing canvas")
    program.click("Open Inkling", role="push button")
    program.find("No run yet")
    say("the wizard ends where training begins")


def refuse_zero_epochs(program):
    program.click("Epochs", role="entry")
    program.key("ctrl+a", "0")
    program.find("from 1 to 1000")
    program.find("Start", enabled=False)
    say("0 epochs are refused beside the field, and Start is not to be pressed")
    program.key("ctrl+a", "2")
    program.find("Start", enabled=True)


def newest_step(program):
    values = [re.search(r"at step ([\d,]+)", node.text) for node in program.nodes()]
    return max((int(found.group(1).replace(",", "")) for found in values if found), default=0)


def is_over(program):
    return any(node.name.startswith("Training finished") for node in program.nodes())


def train(program):
    program.click("Start", role="push button")
    first = wait(lambda: newest_step(program), 60, "a point on the loss plot", program)
    more = wait(lambda: max(0, newest_step(program) - first), 30, "a further point on the loss plot", program)
    say(f"points arrive on the loss plot (step {first}, then {more} more)")


def pause_and_resume(program):
    program.click("Pause", role="push button")
    program.find("Resume", role="push button")
    held = newest_step(program)
    time.sleep(1)
    check(newest_step(program) == held, "a paused run holds still")
    program.click("Resume", role="push button")
    wait(lambda: newest_step(program) > held or is_over(program), 30, "steps after the pause", program)
    say("and goes on")


def draw(program, digit, strokes):
    program.key("ctrl+2")
    x, y, width, height = program.find("Drawing canvas", role="canvas").box
    program.key("Delete")
    for stroke in strokes:
        # Two corners are not how hands draw: the pointer passes all points between.
        points = []
        for (ax, ay), (bx, by) in zip(stroke, stroke[1:]):
            points += [(ax + (bx - ax) * i / 12, ay + (by - ay) * i / 12) for i in range(12)]
        points.append(stroke[-1])
        program.drag([(x + px * width, y + py * height) for px, py in points])
    def verdict():
        names = [node.name for node in program.nodes()]
        return str(digit) in names and any(name.endswith("sure") for name in names)
    wait(verdict, 10, f"the verdict {digit}", program)
    say(f"a drawn {digit} is read as a {digit}")


SEVEN = [[(0.28, 0.22), (0.72, 0.22), (0.62, 0.42), (0.45, 0.82)]]
ONE = [[(0.5, 0.15), (0.5, 0.85)]]
FOUR = [[(0.36, 0.15), (0.3, 0.52), (0.72, 0.52)], [(0.62, 0.2), (0.62, 0.88)]]


def undo(program):
    program.key("ctrl+z", "ctrl+z")
    program.find("Draw a digit to see it recognized")
    say("undoing both strokes empties the canvas and the verdict")


def finished(program):
    program.key("ctrl+1")
    wait(lambda: is_over(program), 120, "the end of the run", program)
    program.key("ctrl+5")
    wait(lambda: any("Quick look" in node.text or "MLP" in node.text for node in program.nodes()), 10, "the run among the models", program)
    say("the finished run is among the models")
    program.key("ctrl+4")
    program.find("Confusion", seconds=10)
    check(len(os.listdir(os.path.join(program.home, "runs"))) == 1, "one run folder is on disk")


def where_it_reads(program):
    program.key("ctrl+2")
    # Notices lie over the lower right corner until they are dismissed.
    while program.shows("Dismiss"):
        program.click("Dismiss", role="push button")
        time.sleep(0.3)
    line = program.find("Recognition on the CPU: ", seconds=30).name
    program.click(line, role="push button")
    program.find("99th percentile")
    program.find("Fastest measured", role="radio button")
    program.key("Escape")
    say(f"where drawings are read is said and can be chosen ({line})")


def export(program):
    program.key("ctrl+5")
    program.click("Export…", role="push button")
    program.click("ONNX")
    program.find("model.onnx")
    say("what an export will hold is shown before")
    program.click("Close", role="push button")


def benchmark(program):
    program.key("ctrl+8")
    program.find("Benchmark")
    program.click("Quick benchmark", role="push button")
    program.find("GFLOP/s", seconds=60)
    say("a benchmark shows its first figure")
    program.click("Cancel", role="push button")
    program.find("Quick benchmark", role="push button", seconds=60)
    check(not os.path.exists(os.path.join(program.home, "bench")), "cancelled, it leaves nothing behind")


def epoch(program):
    """The epoch the run is in, by its own words."""
    found = [re.search(r"Training, epoch (\d+) of", node.name) for node in program.nodes()]
    return max((int(match.group(1)) for match in found if match), default=0)


def survive_the_engine(home):
    """With the engine in a process of its own: that is killed, and then the window is."""
    with Program(path, home=home, environment={"INKLING_ENGINE": "process"}) as program:
        program.wait_for_window()
        program.find("Using", seconds=15)
        click_in_run_panel(program, "Epochs", role="entry")
        program.key("ctrl+a", "4", "0", "0")
        wait(lambda: program.find("Epochs", role="entry").text.endswith("400"), 10, "400 in the field", program)
        program.click("Start", role="push button")
        wait(lambda: epoch(program) >= 3, 120, "the third epoch", program)
        check(subprocess.run(["pkill", "-9", "-P", str(program.process.pid)]).returncode == 0, "the engine is a process of its own, killed now")
        program.find("crashed")
        program.find("Start new run", role="push button")
        draw(program, 7, SEVEN)
        program.key("ctrl+1")
        safe = int(re.search(r"Resume after epoch (\d+)", program.click("Resume after epoch", role="push button").name).group(1))
        check(safe >= 1, f"the run can go on after epoch {safe}")
        wait(lambda: epoch(program) > safe + 1, 120, "an epoch after those that were safe", program)
        say("and does")
        os.kill(program.process.pid, signal.SIGKILL)
    with Program(path, home=home) as program:
        program.wait_for_window()
        program.key("ctrl+5")
        program.find("Interrupted on", seconds=15)
        program.click("Resume", role="push button")
        wait(lambda: epoch(program) > safe + 1, 120, "the run, further than it was", program)
        say("what was under way when the window was killed goes on from Models")
        program.click("Stop", role="push button")
        program.find("weights saved")
        program.key("ctrl+5")
        wait(lambda: not program.shows("Interrupted on"), 10, "the list without it", program)
        check(os.listdir(os.path.join(home, "checkpoints")) == [], "and leaves no checkpoint when it is over")


def click_in_run_panel(program, name, role="push button"):
    """Scrolls the run panel until what `name` names is well in view, or to its end, and clicks it."""
    start = program.find("Start", role="push button")
    lowest = start.box[1] - 130  # above what is said of the last run
    def position(before=None):
        """Where it is once the panel, which scrolls and opens smoothly, has come to rest."""
        while before != (now := program.find(name, role).box[1]):
            before = now
            time.sleep(0.3)
        return now
    before, now = None, position()
    while now > lowest and now != before:
        program.pointer(start.box[0] + 20, lowest - 130)
        subprocess.run(["xdotool", "click", "5"], check=True)
        time.sleep(0.3)
        before, now = now, position()
    program.click(name, role)


def searches(program):
    """The searches for a learning rate and a batch size, from their buttons beside the fields."""
    program.key("ctrl+1")
    click_in_run_panel(program, "Find a batch size")
    program.click("Start search", role="push button")
    program.find("Search progress")
    program.key("Escape")
    wait(lambda: not program.shows("Search progress"), 10, "the dialog to close", program)
    say("a search for a batch size starts, and Escape ends it")
    click_in_run_panel(program, "More settings", role="toggle button")
    click_in_run_panel(program, "Find a learning rate")
    program.find("Loss by learning rate")
    rate = program.click("Use 0.", role="push button", seconds=120).name.removeprefix("Use ")
    wait(lambda: program.find("Learning rate", role="entry").text.endswith(rate), 10, f"the learning rate {rate} in its field", program)
    say(f"a learning rate is found and used ({rate})")


def trials(program):
    """How many trials of the sweep that is shown have ended."""
    found = [re.match(r"(\d+) of 30 trials", node.name) for node in program.nodes()]
    return max((int(match.group(1)) for match in found if match), default=-1)


def sweep_survives_a_kill():
    home = tempfile.mkdtemp(prefix="inkling-sweep-")
    with open(os.path.join(home, "settings.json"), "w") as settings:
        json.dump({"wizard_done": True}, settings)
    with Program(path, home=home, environment={"INKLING_ENGINE": "process"}) as program:
        program.wait_for_window()
        program.find("Start", role="push button", seconds=15)
        program.key("ctrl+7")
        program.click("Start the sweep", role="push button")
        ended = wait(lambda: max(0, trials(program) - 2), 300, "the third trial", program) + 2
        subprocess.run(["pkill", "-9", "-P", str(program.process.pid)], check=True)
        os.kill(program.process.pid, signal.SIGKILL)
    with Program(path, home=home) as program:
        program.wait_for_window()
        program.find("Start", role="push button", seconds=15)
        program.key("ctrl+7")
        program.click("Resume the sweep", role="push button", seconds=15)
        wait(lambda: trials(program) > ended, 300, "a further trial", program)
        say(f"a sweep that was killed after {ended} trials goes on with them")
        program.click("Pause", role="push button")
        program.click("Trial 2: ")
        program.click("Use these settings", role="push button")
        program.find("Start", role="push button")
        say("and the settings of a trial are used")


def percent_in_title(program):
    title = subprocess.run(["xdotool", "getwindowname", str(program.window)], capture_output=True, text=True).stdout
    found = re.match(r"(\d+)%", title)
    return int(found.group(1)) if found else -1


def minimize(program):
    subprocess.run(["xdotool", "windowminimize", str(program.window)], check=True)
    time.sleep(1)


def active_window():
    """The window in front of the others, or none."""
    return subprocess.run(["xdotool", "getactivewindow"], capture_output=True, text=True).stdout.strip()


def goes_on_out_of_sight():
    """A window that is minimized, or covered by another, is not drawn. Everything else goes on."""
    home = tempfile.mkdtemp(prefix="inkling-window-")
    with open(os.path.join(home, "settings.json"), "w") as settings:
        json.dump({"wizard_done": True}, settings)
    with Program(path, home=home) as program:
        program.wait_for_window()
        program.find("Epochs", role="entry", seconds=15)
        click_in_run_panel(program, "Epochs", role="entry")
        program.key("ctrl+a", "2", "0", "0")
        wait(lambda: program.find("Epochs", role="entry").text.endswith("200"), 10, "200 in the field", program)
        program.click("Start", role="push button")
        wait(lambda: epoch(program) >= 2, 60, "the second epoch", program)
        minimize(program)
        percent = percent_in_title(program)
        wait(lambda: percent_in_title(program) > percent, 120, f"progress in the title after {percent}%", program)
        say("the title of a minimized window follows the run")
        later = subprocess.run([path], env={**os.environ, "INKLING_HOME": home}, timeout=20)
        wait(lambda: active_window() == str(program.window), 10, "the window in front", program)
        check(later.returncode == 0, "a later start brings it to the front")
        minimize(program)
        program.process.terminate()
        wait(lambda: program.process.poll() is not None, 10, "the end of the program", None)
        check(len(os.listdir(os.path.join(home, "checkpoints"))) == 1, "minimized and ended by the system, it saves the run to be resumed")


def without_a_display():
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    ended = subprocess.run([path], env=environment, capture_output=True, text=True, timeout=20)
    check(ended.returncode == 2 and "inkling train" in ended.stderr, "without a display it says so, names `inkling train` and exits 2")


def main():
    home = tempfile.mkdtemp(prefix="inkling-window-")
    with Program(path, home=home) as program:
        program.wait_for_window()
        wizard(program)
        refuse_zero_epochs(program)
        draw(program, 7, SEVEN)
        program.key("ctrl+1")
        train(program)
        pause_and_resume(program)
        draw(program, 1, ONE)
        draw(program, 4, FOUR)
        undo(program)
        finished(program)
        where_it_reads(program)
        export(program)
        benchmark(program)
        program.key("alt+F4")
        wait(lambda: program.process.poll() is not None, 10, "the end of the program", None)
        check(program.process.returncode == 0, "closing the window ends the program")
    with Program(path, home=home) as program:
        program.wait_for_window()
        program.find("Start", seconds=15)
        check(not program.shows("Teach your computer"), "the second launch skips the wizard")
        check(program.find("Epochs", role="entry").text.endswith("2"), "and remembers the settings")
        searches(program)
    survive_the_engine(home)
    sweep_survives_a_kill()
    with Program(path) as program:
        program.wait_for_window()
        program.find("Teach your computer")
        program.key("Escape")
        program.find("No run yet")
        draw(program, 7, SEVEN)
        say("without any run the starter model reads")
    goes_on_out_of_sight()
    without_a_display()


main()
print("the window does what it should")
