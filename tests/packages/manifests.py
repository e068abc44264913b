"""Owns that the manifests for package managers can be read, lead to the packages of the release with their digests, and name every crate.

    tests/packages/manifests.py FOLDER REPOSITORY

FOLDER has the packages and the archive that `packaging/manifests` made of them; REPOSITORY is OWNER/NAME. Needs PyYAML."""

import hashlib
import json
import re
import sys
import tarfile
import tomllib
from pathlib import Path

import yaml

folder, repository = Path(sys.argv[1]), sys.argv[2]
home = f"https://github.com/{repository}"
files = {}
with tarfile.open(next(folder.glob("*-manifests.tar.gz"))) as archive:
    for entry in archive.getmembers():
        if entry.isfile():
            files[entry.name.split("/", 1)[1]] = archive.extractfile(entry).read().decode()
with open("Cargo.toml", "rb") as file:
    version = tomllib.load(file)["package"]["version"]


def is_of_the_release(address, digest):
    start = f"{home}/releases/download/v{version}/"
    assert address.startswith(start), address
    expected = hashlib.sha256((folder / address.removeprefix(start)).read_bytes()).hexdigest()
    assert digest.lower() == expected, f"{address}: {digest} instead of {expected}"


kinds = {}
for name, text in files.items():
    if name.startswith("winget/"):
        content = yaml.safe_load(text)
        kinds[content["ManifestType"]] = content
        assert content["PackageIdentifier"] == f"{repository.split('/')[0]}.Inkling" and content["PackageVersion"] == version, content
assert sorted(kinds) == ["defaultLocale", "installer", "version"], sorted(kinds)
architectures = {"x64": "x86_64", "arm64": "aarch64"}
assert sorted(installer["Architecture"] for installer in kinds["installer"]["Installers"]) == sorted(architectures)
for installer in kinds["installer"]["Installers"]:
    assert installer["InstallerUrl"].endswith(f"-{architectures[installer['Architecture']]}-setup.exe"), installer
    is_of_the_release(installer["InstallerUrl"], installer["InstallerSha256"])

cask = files["homebrew/inkling.rb"].replace("#{version}", version)
is_of_the_release(re.search(r'url "(.*)"', cask)[1], re.search(r'sha256 "(.*)"', cask)[1])
# Homebrew's own limit.
assert len(re.search(r'desc "(.*)"', cask)[1]) <= 80

flatpak = yaml.safe_load(next(text for name, text in files.items() if name.startswith("flatpak/") and name.endswith(".yml")))
source = flatpak["modules"][0]["sources"][0]
assert source["url"] == f"{home}.git" and source["tag"] == f"v{version}", source
crates = {entry["sha256"] for entry in json.loads(files["flatpak/cargo-sources.json"]) if entry["type"] == "archive"}
with open("Cargo.lock", "rb") as file:
    assert crates == {package["checksum"] for package in tomllib.load(file)["package"] if "checksum" in package}
print(f"ok: {len(files)} manifests, {len(crates)} crates")
