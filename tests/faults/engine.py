"""An engine in a process of its own, driven as the window drives it. Needs python3-msgpack."""

import os
import queue
import re
import struct
import subprocess
import threading
from pathlib import Path

import msgpack

WIRE = Path(__file__).resolve().parents[2] / "src/engine/wire.rs"


class Engine:
    def __init__(self, setting, home):
        protocol = int(re.search(r"const PROTOCOL: u32 = (\d+);", WIRE.read_text())[1])
        version = setting.run(home, "--version").stdout.split()[-1]
        settings = {
            "data_folders": [],
            "runs": {"Store": str(home / "runs")},
            "checkpoints": str(home / "checkpoints"),
            "benchmarks": str(home / "bench"),
            "weights": "f32",
            "background_priority": False,
            "reports_learning": False,
        }
        command = [setting.program, "engine"]
        self.process = subprocess.Popen(command, env=setting.environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write(b"INKLING\n")
        self.send({"protocol": protocol, "program": version})
        self.send(settings)
        assert self.process.stdout.read(8) == b"INKLING\n", "this is not an engine"
        self.events = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        self.job = 0

    def send(self, message):
        frame = msgpack.packb(message)
        self.process.stdin.write(struct.pack("<I", len(frame)) + frame)
        self.process.stdin.flush()

    def listen(self):
        while length := self.process.stdout.read(4):
            self.events.put(msgpack.unpackb(self.process.stdout.read(struct.unpack("<I", length)[0]), strict_map_key=False))

    def submit(self, job):
        self.job += 1
        self.send({"Submit": {"id": self.job, "job": job}})
        return self.job

    def until(self, wanted, seconds=30):
        """The first event of one of these kinds; of jobs, how they ended counts as a kind: `Done`, `Cancelled`, `Failed`."""
        while True:
            event = self.events.get(timeout=seconds)
            kind, content = (event, None) if isinstance(event, str) else next(iter(event.items()))
            if kind == "Job" and content["id"] == self.job:
                kind = content["event"] if isinstance(content["event"], str) else next(iter(content["event"]))
            if kind in wanted:
                return kind, content

    def end(self):
        self.process.stdin.close()
        return self.process.wait(30)

    def resources(self):
        """Memory in kB, open descriptors, threads."""
        own = Path(f"/proc/{self.process.pid}")
        status = dict(line.split(":", 1) for line in (own / "status").read_text().splitlines())
        return int(status["VmRSS"].split()[0]), len(os.listdir(own / "fd")), int(status["Threads"])
