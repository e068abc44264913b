"""Owns driving the real program: starts it, finds what it shows through the accessibility bus, moves the real pointer
and presses real keys. Must not know what the program ought to show: the scripts that use it do."""

import os
import subprocess
import tempfile
import time

subprocess.run(
    ["gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus",
     "--method", "org.freedesktop.DBus.Properties.Set", "org.a11y.Status", "IsEnabled", "<true>"],
    check=True, stdout=subprocess.DEVNULL)

import gi  # noqa: E402  (the bus must be on before the bindings connect to it)

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402


class Failure(AssertionError):
    """What was expected did not show."""


class Node:
    """A control, as assistive technology sees it."""

    def __init__(self, accessible):
        self.accessible = accessible
        self.role = accessible.get_role_name() or ""
        self.name = accessible.get_name() or ""
        self.description = accessible.get_description() or ""

    @property
    def text(self):
        """Name, description and text content together: everything a screen reader could say."""
        parts = [self.name, self.description]
        try:
            text = self.accessible.get_text_iface()
            if text is not None:
                parts.append(Atspi.Text.get_text(text, 0, -1))
        except GLib.Error:
            pass
        return " ".join(part for part in parts if part)

    @property
    def box(self):
        extents = self.accessible.get_component_iface().get_extents(Atspi.CoordType.SCREEN)
        return extents.x, extents.y, extents.width, extents.height

    @property
    def enabled(self):
        return self.accessible.get_state_set().contains(Atspi.StateType.ENABLED)

    def __repr__(self):
        return f"{self.role} “{self.name}”"


class Program:
    """The program in its window."""

    def __init__(self, path, home=None, environment=None, arguments=()):
        self.home = home or tempfile.mkdtemp(prefix="inkling-window-")
        self.errors = tempfile.TemporaryFile("w+")
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [path, *arguments], stderr=self.errors,
            env={**os.environ, "INKLING_HOME": self.home, "XDG_CONFIG_HOME": self.home, **(environment or {})})
        self.window = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def log(self):
        self.errors.seek(0)
        return self.errors.read()

    def wait_for_window(self, seconds=20):
        self.window = wait(lambda: _window_of(self.process.pid), seconds, "a window", self)
        wait(self.root, seconds, "the program on the accessibility bus", self)
        return self.window

    def root(self):
        desktop = Atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            application = desktop.get_child_at_index(index)
            if application is not None and application.get_process_id() == self.process.pid:
                return application
        return None

    def nodes(self):
        """Every control there is now."""
        found, queue = [], [self.root()]
        while queue:
            accessible = queue.pop()
            if accessible is None:
                continue
            try:
                found.append(Node(accessible))
                queue.extend(accessible.get_child_at_index(i) for i in reversed(range(accessible.get_child_count())))
            except GLib.Error:
                continue  # it went away while we looked
        return found

    def find(self, name, role=None, seconds=10, enabled=None):
        """The first control whose name or text contains `name`."""
        def look():
            for node in self.nodes():
                if role and node.role != role:
                    continue
                if name.lower() in node.text.lower() and (enabled is None or node.enabled == enabled):
                    return node
            return None
        return wait(look, seconds, f"{role or 'something'} named “{name}”", self)

    def shows(self, name):
        return any(name.lower() in node.text.lower() for node in self.nodes())

    def click(self, name, role=None, seconds=10):
        node = self.find(name, role, seconds)
        x, y, width, height = node.box
        self.pointer(x + width / 2, y + height / 2)
        xdotool("click", "1")
        return node

    @staticmethod
    def pointer(x, y):
        xdotool("mousemove", str(round(x)), str(round(y)))

    def drag(self, points, pause=0.012):
        """Draws one stroke through these screen points."""
        self.pointer(*points[0])
        xdotool("mousedown", "1")
        for point in points[1:]:
            self.pointer(*point)
            time.sleep(pause)
        xdotool("mouseup", "1")

    @staticmethod
    def key(*keys):
        for key in keys:
            xdotool("key", "--clearmodifiers", key)
            time.sleep(0.05)

    def screenshot(self, path):
        subprocess.run(["import", "-window", str(self.window), path], check=True)


def xdotool(*arguments):
    subprocess.run(["xdotool", *arguments], check=True, stdout=subprocess.DEVNULL)


def smooth(points, parts=7):
    """The points of a Catmull-Rom spline through these, as a hand draws them."""
    ends = [points[0], *points, points[-1]]
    for a, b, c, d in zip(ends, ends[1:], ends[2:], ends[3:]):
        for part in range(parts):
            t = part / parts
            yield tuple(
                0.5 * (2 * b[i] + (c[i] - a[i]) * t + (2 * a[i] - 5 * b[i] + 4 * c[i] - d[i]) * t**2 + (3 * b[i] - a[i] - 3 * c[i] + d[i]) * t**3)
                for i in (0, 1))
    yield points[-1]


def wait(look, seconds, what, program=None):
    """Looks until there is something to see."""
    deadline = time.monotonic() + seconds
    while True:
        seen = look()
        if seen:
            return seen
        if program is not None and program.process.poll() is not None:
            raise Failure(f"the program ended with {program.process.returncode} before there was {what}:\n{program.log()}")
        if time.monotonic() > deadline:
            shown = "" if program is None else "\nshown: " + "; ".join(map(repr, program.nodes()))
            raise Failure(f"there was no {what} within {seconds} s{shown}")
        time.sleep(0.05)


def _window_of(pid):
    found = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(pid)], capture_output=True, text=True)
    windows = found.stdout.split()
    return int(windows[-1]) if windows else None
