"""Runs every example of docs/automation.md, as its readers would, and checks what comes of it:

    python automation.py INKLING WORK

.ci/exports installs what it takes.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/automation.md"
PROGRAM, WORK = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
# A heading, or a block of code with its language.
PARTS = re.compile(r"^## ([^\n]+)$|^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks():
    """The code by heading and language, in the order of the page."""
    found, heading = {}, ""
    for part in PARTS.finditer(PAGE.read_text(encoding="utf-8")):
        if part[1]:
            heading = part[1]
        else:
            found.setdefault((heading, part[2]), []).append(part[3])
    return found


def run(command):
    """Runs a command in the working folder, where `inkling` is the program; returns what it prints."""
    environment = {**os.environ, "PATH": f"{WORK / 'bin'}{os.pathsep}{os.environ['PATH']}", "INKLING_HOME": str(WORK / "home"), "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=WORK, env=environment, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        sys.exit(f"{command} ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "bin").mkdir(parents=True)
    (WORK / "bin/inkling").symlink_to(PROGRAM)
    code = blocks()
    shell, python, make, notebook = (code.pop(key) for key in [
        ("In a shell", "sh"), ("In Python", "python"), ("With Make", "make"), ("In a notebook", "python")])
    assert not code, f"nothing runs {list(code)}"

    printed = run(["bash", "-euc", "".join(shell)])
    assert json.loads(printed)["path"] == "one.json", printed
    assert json.loads((WORK / "first.json").read_text())["accuracy"] > 0.5

    (WORK / "script.py").write_text("\n".join(python), encoding="utf-8")
    printed = run([sys.executable, "script.py"])
    for words in ["epoch 2: ", "of the test images; saved as", "the hardest digit is", "one.json", "exit status 1"]:
        assert words in printed, f"{words!r} is not in:\n{printed}"

    (WORK / "Makefile").write_text("\n".join(make), encoding="utf-8")
    run(["make"])
    assert len(json.loads((WORK / "comparison.json").read_text())["models"]) == 3
    assert "up to date" in run(["make"]), "nothing is left to do"

    # Only IPython can show a figure and update it.
    (WORK / "cells.py").write_text("\n".join([python[0], *notebook, "print('losses:', len(losses))"]), encoding="utf-8")
    printed = run([sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "cells.py"])
    assert int(re.search(r"losses: (\d+)", printed)[1]) > 100, printed

    # Each schema is one, by the rules for schemas themselves.
    import jsonschema
    schemas = json.loads(run([PROGRAM, "schema"]))["commands"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    print(f"ok: every example of {PAGE.name}, and {len(schemas)} schemas")


main()
