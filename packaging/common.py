"""Shared by all packages: metadata from Cargo.toml, icons in every size and container, templates, and archives that are
byte for byte the same for the same commit."""

import gzip
import io
import os
import re
import string
import struct
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SVG = ROOT / "assets/icon/inkling.svg"


def _metadata():
    with open(ROOT / "Cargo.toml", "rb") as file:
        package = tomllib.load(file)["package"]
    return {**package["metadata"]["packaging"], **{key: package[key] for key in ("name", "version", "description", "license")}}


METADATA = _metadata()


def commit_time():
    """The time of the current commit in seconds since 1970, used for all timestamps so that builds are reproducible."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(told.stdout) if told.returncode == 0 and told.stdout.strip() else 1_577_836_800


def day():
    """The day of the current commit."""
    return time.strftime("%Y-%m-%d", time.gmtime(commit_time()))


def repository():
    """The address of the public repository on GitHub, from `INKLING_REPOSITORY` (OWNER/NAME), which the release workflow sets; otherwise None.
    Nothing else here knows an address, so that packages never lead to one that is not theirs."""
    given = os.environ.get("INKLING_REPOSITORY")
    if given and not re.fullmatch(r"[\w.-]+/[\w.-]+", given):
        sys.exit(f"INKLING_REPOSITORY is “{given}”: it has to be the owner and the name of a repository on GitHub, as in owner/name.")
    return f"https://github.com/{given}" if given else None


def fill(template, **more):
    """The template packaging/`template`, with each `@NAME@` replaced from Cargo.toml's metadata or from `more`."""
    class Template(string.Template):
        delimiter = "@"
        pattern = r"@(?:(?P<named>[A-Z_]+)@|(?P<braced>\b\B)|(?P<escaped>\b\B)|(?P<invalid>\b\B))"

    words = {key.upper(): value for key, value in {**METADATA, **more}.items() if isinstance(value, str)}
    return Template((ROOT / "packaging" / template).read_text(encoding="utf-8")).substitute(words)


def png(size, svg=None):
    """The icon as PNG, `size` pixels wide and high."""
    drawn = ["rsvg-convert", "--width", str(size), "--height", str(size), "--format", "png"]
    return subprocess.run(drawn, input=svg or SVG.read_bytes(), check=True, capture_output=True).stdout


def ico(sizes=(16, 24, 32, 48, 256)):
    """A Windows icon: a directory of PNG images (Windows Vista and later)."""
    pictures = [png(size) for size in sizes]
    directory, offset = struct.pack("<HHH", 0, 1, len(sizes)), 6 + 16 * len(sizes)
    for size, picture in zip(sizes, pictures):
        side = size % 256  # 0 means 256
        directory += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), offset)
        offset += len(picture)
    return directory + b"".join(pictures)


def icns(svg):
    """A macOS icon: PNGs in the sizes used since 10.7; `ic11` to `ic14` and `ic10` are for two pixels per point."""
    kinds = {"icp4": 16, "icp5": 32, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024, "ic11": 32, "ic12": 64, "ic13": 256, "ic14": 512}
    drawn = {size: png(size, svg) for size in set(kinds.values())}
    entries = b"".join(kind.encode() + struct.pack(">I", 8 + len(drawn[size])) + drawn[size] for kind, size in kinds.items())
    return b"icns" + struct.pack(">I", 8 + len(entries)) + entries


def write(path, content, mode=0o644):
    """Writes text or bytes and creates the parent folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    path.chmod(mode)


def files_below(folder):
    """Every file and folder below, sorted, with its relative path."""
    return [(path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*"))]


def tar_gz(folder, target):
    """The folder as a tar.gz, owned by root, dated as the commit."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, name in [(folder, ""), *files_below(folder)]:
            entry = archive.gettarinfo(path, arcname=f"{folder.name}/{name}".rstrip("/"))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = commit_time()
            if path.is_file():
                with open(path, "rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)
    target.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=0))


def zip_of(folder, target):
    """The folder as a zip, dated as the commit; executables stay executable."""
    date = time.gmtime(max(commit_time(), 315_532_800))[:6]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, name in files_below(folder):
            entry = zipfile.ZipInfo(f"{folder.name}/{name}" + ("/" if path.is_dir() else ""), date)
            entry.external_attr = (path.stat().st_mode & 0xFFFF) << 16 | (0x10 if path.is_dir() else 0)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, b"" if path.is_dir() else path.read_bytes())
