"""Owns that a bill of materials fits the schema of CycloneDX, and lists what the executable says that it is built from.

    tests/packages/bill_of_materials.py FILE COMMAND…

COMMAND is how Inkling is started. The schema comes with `cyclonedx-python-lib[json-validation]`; without it, only the packages are compared."""

import json
import re
import subprocess
import sys

file, *command = sys.argv[1:]
with open(file, encoding="utf-8") as opened:
    text = opened.read()
bill = json.loads(text)

told = subprocess.run([*command, "licenses"], check=True, capture_output=True, text=True, encoding="utf-8").stdout
# A line for each package, before the texts of the licenses: `name 1.2.3: LICENSE`.
expected = set(re.findall(r"^([\w-]+ \d+\.\d+\.\d+\S*): ", told, re.MULTILINE))
listed = {f"{part['name']} {part['version']}" for part in bill["components"]}
assert len(expected) > 100, f"`inkling licenses` names only {len(expected)} packages"
assert listed == expected, f"only in the bill: {sorted(listed - expected)}; only in the executable: {sorted(expected - listed)}"

parts = [bill["metadata"]["component"], *bill["components"]]
references = {part["bom-ref"] for part in parts}
assert len(references) == len(parts), "a package is listed twice"
for entry in bill["dependencies"]:
    assert {entry["ref"], *entry["dependsOn"]} <= references, f"{entry['ref']} depends on what is not listed"
for part in bill["components"]:
    assert part["licenses"] and part["hashes"], f"{part['name']} has no license or no checksum"

try:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
except ImportError:
    checked = "not compared with the schema"
else:
    wrong = JsonStrictValidator(SchemaVersion.from_version(bill["specVersion"])).validate_str(text)
    assert not wrong, wrong
    checked = f"valid CycloneDX {bill['specVersion']}"
print(f"ok: {len(listed)} packages, the same as in the executable; {checked}")
