"""Starts an executable built with CUDA where NVIDIA's libraries are absent, incomplete, outdated or crash, by means of fake ones: it starts, reports
what is wrong, and still trains on the CPU.

    python3 tests/cuda/stand_ins.py target/cuda/inkling
    python3 tests/cuda/stand_ins.py inkling.exe             under wine, with the libraries' names on Windows
"""

import os
import shutil
import subprocess
import sys
import tempfile

program = os.path.realpath(sys.argv[1])
WINDOWS = program.endswith(".exe")
NAMES = (
    ["nvcuda.dll", "cublasLt64_13.dll", "cublas64_13.dll", "curand64_10.dll"]
    if WINDOWS
    else ["libcuda.so.1", "libcublasLt.so.13", "libcublas.so.13", "libcurand.so.10"]
)
COMPILER = ["x86_64-w64-mingw32-gcc"] if WINDOWS else ["gcc", "-fPIC"]
# Lists the libraries a program is linked to.
NEEDED = ["x86_64-w64-mingw32-objdump", "-p"] if WINDOWS else ["readelf", "-d"]

# Prints its arguments, so that a register the stand-in lost would show, and then has no device.
DRIVER = """
#include <stdio.h>
int cuInit(unsigned flags) { fprintf(stderr, "cuInit was called with %u\\n", flags); return 0; }
int cuDeviceGet(int *device, int ordinal) { fprintf(stderr, "cuDeviceGet was called for device %d\\n", ordinal); *device = ordinal; return 101; }
int cuGetErrorString(int error, const char **text) {
    static char message[64];
    snprintf(message, sizeof message, "fake driver error %d", error);
    *text = message;
    return 0;
}
"""
OUTDATED = "int cuSomethingElse(void) { return 0; }"
CRASHING = "#include <stdlib.h>\nint cuInit(unsigned flags) { abort(); }"


def check(passed, what, output=""):
    if not passed:
        sys.exit(f"failed: {what}\n{output}")
    print(f"ok: {what}", flush=True)


def library(folder, name, source):
    subprocess.run([*COMPILER, "-shared", "-o", os.path.join(folder, name), "-x", "c", "-"], input=source, text=True, check=True)


def folder(driver, others=NAMES[1:]):
    """A folder with a driver of this source, if any, and other libraries without functions."""
    made = tempfile.mkdtemp(prefix="inkling-cuda-")
    if driver is not None:
        library(made, NAMES[0], driver)
    for name in others:
        library(made, name, "int fake;")
    return made


def run(folder, *arguments):
    home = tempfile.mkdtemp(prefix="inkling-home-")
    # Nothing else of the environment: the machine may have libraries of its own.
    names = ("PATH", "LANG", "DISPLAY", "HOME") if WINDOWS else ("PATH", "LANG")
    inherited = {key: value for key, value in os.environ.items() if key in names or key.startswith("WINE")}
    path = (lambda path: "Z:" + path.replace("/", "\\")) if WINDOWS else str
    environment = {**inherited, "INKLING_HOME": path(home), "INKLING_CUDA_DIR": path(folder)}
    command = [*(["wine"] if WINDOWS else []), program, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    shutil.rmtree(home)
    return done.returncode, done.stdout + done.stderr


def self_test(folder):
    return run(folder, "hardware", "--self-test", "--device", "cuda")


needed = subprocess.run([*NEEDED, program], capture_output=True, text=True, check=True).stdout
linked = [line for line in needed.splitlines() if "NEEDED" in line or "DLL Name" in line]
assert linked, needed
check(not any(name in line for line in linked for name in ("cuda", "cublas", "curand", "nvrtc", "nvidia")), "it is linked to no NVIDIA library", needed)

status, output = self_test(folder(None, []))
check(status == 2 and f"{NAMES[0]} was not found" in output, "a missing driver is reported", output)
status, output = self_test(folder(DRIVER, NAMES[2:]))
check(status == 2 and f"{NAMES[1]} is not installed" in output and "pip install nvidia-cublas" in output, "a missing library is named", output)
status, output = self_test(folder(DRIVER))
check("called with 0" in output and "called for device 0" in output, "functions get their arguments", output)
check(status == 2 and "fake driver error 101" in output, "a library's error is reported", output)
status, output = self_test(folder(OUTDATED))
check(status == 2 and "303" in output or "SHARED_OBJECT_INIT_FAILED" in output, "functions that an outdated library lacks return an error", output)
crashing = folder(CRASHING)
status, output = self_test(crashing)
# The exit status of abort() on Windows is 3; elsewhere Inkling ends with a sentence and status 1.
check(status == 3 if WINDOWS else status == 1 and "had to end" in output, "a driver that crashes ends the self-test", f"{status}: {output}")
status, output = run(crashing, "train", "--device", "cuda", "--preset", "quick", "--epochs", "1")
check(status == 1 and "self-test" in output and ("code: 3" if WINDOWS else "status: 1") in output, "training on it fails with a sentence", output)
status, output = run(crashing, "train", "--preset", "quick", "--epochs", "1")
check(status == 0, "training on the CPU works", output)
print("the stand-ins work")
