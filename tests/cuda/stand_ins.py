"""Puts fake NVIDIA libraries in front of an executable that carries CUDA: present, absent, one missing, old, crashing. What counts is that
it starts, says what is wrong, and goes on training on the processor.

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
# What lists the libraries a program is linked with.
NEEDED = ["x86_64-w64-mingw32-objdump", "-p"] if WINDOWS else ["readelf", "-d"]

# Hands back what it was given, so that a register lost on the way would show; then there is no device.
DRIVER = """
#include <stdio.h>
int cuInit(unsigned flags) { fprintf(stderr, "the fake driver was asked with %u\\n", flags); return 0; }
int cuDeviceGet(int *device, int ordinal) { fprintf(stderr, "for device %d\\n", ordinal); *device = ordinal; return 101; }
int cuGetErrorString(int error, const char **text) {
    static char said[64];
    snprintf(said, sizeof said, "the fake driver says %d", error);
    *text = said;
    return 0;
}
"""
OLD = "int cuSomethingElse(void) { return 0; }"
CRASHING = "#include <stdlib.h>\nint cuInit(unsigned flags) { abort(); }"


def check(fact, what, output=""):
    if not fact:
        sys.exit(f"failed: {what}\n{output}")
    print(f"ok: {what}", flush=True)


def library(folder, name, source):
    subprocess.run([*COMPILER, "-shared", "-o", os.path.join(folder, name), "-x", "c", "-"], input=source, text=True, check=True)


def folder(driver, others=NAMES[1:]):
    made = tempfile.mkdtemp(prefix="inkling-cuda-")
    if driver is not None:
        library(made, NAMES[0], driver)
    for name in others:
        library(made, name, "int fake;")
    return made


def run(folder, *arguments):
    home = tempfile.mkdtemp(prefix="inkling-home-")
    # Only what is in the folder: the machine may have libraries of its own.
    kept = ("PATH", "LANG", "DISPLAY", "HOME") if WINDOWS else ("PATH", "LANG")
    keep = {key: value for key, value in os.environ.items() if key in kept or key.startswith("WINE")}
    seen = (lambda path: "Z:" + path.replace("/", "\\")) if WINDOWS else str
    environment = {**keep, "INKLING_HOME": seen(home), "INKLING_CUDA_DIR": seen(folder)}
    command = [*(["wine"] if WINDOWS else []), program, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    shutil.rmtree(home)
    return ended.returncode, ended.stdout + ended.stderr


def self_test(folder):
    return run(folder, "hardware", "--self-test", "--device", "cuda")


needed = subprocess.run([*NEEDED, program], capture_output=True, text=True, check=True).stdout
wanted = [line for line in needed.splitlines() if "NEEDED" in line or "DLL Name" in line]
assert wanted, needed
check(not any(name in line for line in wanted for name in ("cuda", "cublas", "curand", "nvrtc", "nvidia")), "it needs no NVIDIA library", needed)

status, said = self_test(folder(None, []))
check(status == 2 and f"{NAMES[0]} was not found" in said, "without a driver it says so", said)
status, said = self_test(folder(DRIVER, NAMES[2:]))
check(status == 2 and f"{NAMES[1]} is not installed" in said and "pip install nvidia-cublas" in said, "one missing library is named", said)
status, said = self_test(folder(DRIVER))
check("asked with 0" in said and "for device 0" in said, "libraries that are there are called, with what they were given", said)
check(status == 2 and "the fake driver says 101" in said, "and what they answer is said", said)
status, said = self_test(folder(OLD))
check(status == 2 and "303" in said or "SHARED_OBJECT_INIT_FAILED" in said, "functions an old library lacks return its error", said)
crashing = folder(CRASHING)
status, said = self_test(crashing)
# Windows' abort() ends a process so.
check(status == (3 if WINDOWS else -6), "a driver that crashes takes only the check with it", f"{status}: {said}")
status, said = run(crashing, "train", "--device", "cuda", "--preset", "quick", "--epochs", "1")
check(status == 1 and "came to no result" in said and ("code: 3" if WINDOWS else "SIGABRT") in said, "whoever asked for it gets a sentence", said)
status, said = run(crashing, "train", "--preset", "quick", "--epochs", "1")
check(status == 0, "and trains on the processor", said)
print("the stand-ins do what they should")
