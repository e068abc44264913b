"""System calls of the program, recorded and made to fail with strace."""

import re
from pathlib import Path

# Calls by which files change, and the errors that each is given. None of them is retried by the system.
ERRORS = {
    "openat": ["ENOSPC", "EMFILE", "EACCES", "EIO"],
    "mkdir": ["ENOSPC", "EACCES", "EIO"],
    "write": ["ENOSPC", "EIO"],
    "fsync": ["EIO", "ENOSPC"],
    "rename": ["ENOSPC", "EACCES", "EIO"],
    "renameat": ["ENOSPC", "EACCES", "EIO"],
    "renameat2": ["ENOSPC", "EACCES", "EIO"],
    "link": ["EACCES", "EIO"],
    "linkat": ["EACCES", "EIO"],
    "unlink": ["EACCES", "EIO"],
    "unlinkat": ["EACCES", "EIO"],
    "rmdir": ["EACCES", "EIO"],
    "flock": ["EIO"],
}
# A file that is only read may fail to open as well, but nothing is written then.
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")


class Call:
    """A recorded call: which one of its kind it is in its thread, and its line."""

    def __init__(self, name, number, line):
        self.name, self.number, self.line = name, number, line


def strace(output, *options):
    """The command that records the calls below to a file for each thread."""
    calls = ",".join(ERRORS)
    # Faster, but without signals.
    filtered = [] if any("signal=KILL" in option for option in options) else ["--seccomp-bpf"]
    return ["strace", "-ff", "-y", *filtered, "-qq", "-s", "0", "-e", "signal=none", "-e", f"trace={calls}", "-o", str(output), *options]


def threads(output):
    """The lines that each thread wrote."""
    return [path.read_text(errors="replace").splitlines() for path in sorted(Path(output.parent).glob(output.name + ".*"))]


def changes(output, folder):
    """The recorded calls that change something below `folder`."""
    found = []
    for lines in threads(output):
        counts = {}
        for line in lines:
            name = line.split("(", 1)[0]
            if name not in ERRORS:
                continue
            counts[name] = counts.get(name, 0) + 1
            if f"{folder}" in line and (name != "openat" or WRITES.search(line)):
                found.append(Call(name, counts[name], line))
    return found


def injected(output):
    """The recorded calls that were made to fail."""
    return [line for lines in threads(output) for line in lines if "(INJECTED)" in line]
