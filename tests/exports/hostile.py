"""A model whose every word is chosen by somebody hostile, exported in every format, then compiled, run, parsed and rendered:

    python hostile.py INKLING RUST_PROJECT WORK

Every program and document must have the structure that it has with harmless words, and no command in those words may run: each of them
would leave a file. Run by .ci/exports, which installs what it takes.
"""
import ast
import html.parser
import json
import os
import shutil
import struct
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import onnx
from markdown_it import MarkdownIt
from PIL import Image

INKLING, RUST, WORK = sys.argv[1], *map(Path, sys.argv[2:4])
MARK = "command-ran"
RUST_COMMAND = f'std::process::Command::new("touch").arg("{MARK}").status();'
PYTHON = f'open("{MARK}", "w")'
# Without slashes: of a path, only what comes after the last one is told.
NAMES = [
    "a\n#[used] static X: () = ();", f"b\nfn x() {{ {RUST_COMMAND} }}", f'"; {RUST_COMMAND} "', f'\\"; {RUST_COMMAND}', f'"""\n{PYTHON}\n"""',
    f"\'\'\'\n{PYTHON}\n\'\'\'", f'"; {PYTHON} #', f'\\"; {PYTHON} #', f"{{{PYTHON}}} ${{{PYTHON}}} $(touch {MARK}) `touch {MARK}` %s",
    "---\nmodel: x\n---", "# heading\n- item\n> quote", "| a | b |\n|---|---|", "```sh\ncode\n```", '[dependencies]\nevil = "1"',
    "<script>alert(1)<script>", "<img src=x onerror=alert(1)>", '" onload="alert(1) \' <!-- <svg> &lt; -->', "[link](javascript:alert(1))",
    "www.c.example d@e.example", "\x00\x07\x08\x7f\x85\x9b31m\x1b[2J\x1b]0;title\x07", "\u2028\u2029\u202e\u2066\ufeff\U000e0041",
]
HOSTILE = "\n".join(NAMES) + (
    f"*/ {RUST_COMMAND} /* // </title></style></script><script>alert(1)</script> ![image](https://tracker.example/x.png) <https://a.example> "
    "https://b.example"
) + " long" * 20_000

def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))[:300]} ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def run_folder(folder, names, words):
    """The starter model as a finished run, in which every text is this."""
    run(INKLING, "import", "assets/starter.safetensors", "--out", folder)
    summary, path = json.loads((folder / "run.json").read_text()), folder / "model.safetensors"
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header["__metadata__"]
    # Without a digest, as other programs write files: whoever is hostile could write one that fits.
    assert metadata.pop("inkling_sha256")
    card = json.loads(metadata["inkling"])
    config = dict(card["config"], data=names)
    summary.update(config=config, machine=words, finished_at=words, imported=words)
    summary["epochs"] = [dict(epoch=1, step=1, train_loss=1.0, train_accuracy=0.5, validation_loss=1.0, validation_accuracy=0.5, seconds=1.0)]
    metadata["inkling"] = json.dumps(dict(card, data=names, config=config))
    packed = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(packed)) + packed + data[8 + length:])
    (folder / "run.json").write_text(json.dumps(summary))
    return path


class Page(html.parser.HTMLParser):
    """The elements and attributes of a page, without its text."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, [name for name, _ in attributes], [value for name, value in attributes if name in ("href", "src", "style")]))

    def handle_endtag(self, tag):
        self.found.append(tag)

    def handle_comment(self, data):
        self.found.append("comment")


def elements(text):
    return Page(text).found


def rendered(text):
    return MarkdownIt("gfm-like", {"html": True, "linkify": True}).render(text)


def docstring_and_shape(source):
    tree = ast.parse(source)
    return ast.get_docstring(tree), [type(node).__name__ for node in ast.walk(tree)]


def onnx_texts(model):
    values = [value.doc_string for value in (*model.graph.input, *model.graph.output)]
    return [model.doc_string, model.graph.doc_string, model.graph.name, *values, *(entry.value for entry in model.metadata_props)]


def is_plain(text):
    return all(c.isprintable() for c in text)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    folders = {}
    for name, names, words in [("hostile", NAMES, HOSTILE), ("harmless", ["a"] * len(NAMES), "a")]:
        model = run_folder(WORK / f"run-{name}", names, words)
        out = WORK / f"{name}.zip"
        said = subprocess.run([INKLING, "export", "--model", model, "--format", "zip", "--quantize", "--out", out], capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        # The terminal gets no control characters, and the data that the file names is not even looked for.
        assert all(is_plain(line) for line in (said.stdout + said.stderr).splitlines()), said
        assert "opened only for models among Inkling's own runs" in said.stderr, said.stderr
        with zipfile.ZipFile(out) as archive:
            archive.extractall(WORK)
        folders[name] = WORK / name
    bad, good = folders["hostile"], folders["harmless"]
    read = lambda folder, name: (folder / name).read_text(encoding="utf-8")

    # Text that is read by people or programs: no control characters, and as many lines.
    for path in sorted(bad.iterdir()):
        if path.suffix in (".py", ".rs", ".md", ".json", ".html", ".toml"):
            text = read(bad, path.name)
            assert all(is_plain(line) for line in text.split("\n")), path
            assert text.count("\n") == read(good, path.name).count("\n"), path
            assert len(text) < 60_000 or path.name in ("model.html", "model-card.json"), (path, len(text))

    # Python: the same syntax tree, with a docstring, and it runs.
    for name in ("model.py", "predict.py"):
        (words, shape), (_, expected) = docstring_and_shape(read(bad, name)), docstring_and_shape(read(good, name))
        assert shape == expected and words, name
    picture = WORK / "picture.png"
    Image.new("L", (28, 28)).save(picture)
    for name in ("model.py", "predict.py"):
        json.loads(run(sys.executable, bad / name, picture, cwd=bad))

    # Rust: documentation of two lines, nothing but our items, and it compiles and runs.
    source = read(bad, "main.rs").splitlines()
    assert [line.startswith("//!") for line in source[:3]] == [True, True, False]
    items = lambda folder: [line.split("(")[0] for line in read(folder, "main.rs").splitlines() if line[:1].isalpha()]
    assert items(bad) == items(good)
    assert tomllib.loads(read(bad, "Cargo.toml"))["dependencies"] == tomllib.loads(read(good, "Cargo.toml"))["dependencies"]
    shutil.copy(bad / "main.rs", RUST / "src/bin/hostile.rs")
    run("cargo", "build", "--locked", "--quiet", "--bin", "hostile", "--manifest-path", RUST / "Cargo.toml", "--target-dir", RUST / "target")
    json.loads(run(RUST / "target/debug/hostile", picture, cwd=bad))
    (RUST / "src/bin/hostile.rs").unlink()

    # Documents: the elements and attributes of harmless ones; no link, image or front matter.
    for name in ("report.html", "model.html"):
        assert elements(read(bad, name)) == elements(read(good, name)), name
    assert elements(rendered(read(bad, "README.md"))) == elements(rendered(read(good, "README.md")))
    _, front, card = read(bad, "README.md").split("---\n", 2)
    assert card.strip().startswith("# LeNet-5 on ") and all(line.isascii() for line in front.splitlines())
    card = json.loads(read(bad, "model-card.json"))
    assert "a\\n#[used] static X" in card["description"] and list(card) == list(json.loads(read(good, "model-card.json")))

    # ONNX: valid, and its texts are plain.
    for name in ("model.onnx", "model-int8.onnx"):
        model = onnx.load(bad / name)
        onnx.checker.check_model(model, full_check=True)
        assert all(is_plain(text) for text in onnx_texts(model)), name

    # What was exported can be imported again.
    run(INKLING, "import", bad / "model.safetensors", "--out", WORK / "back")
    ran = [*WORK.rglob(MARK), *Path.cwd().glob(MARK), *RUST.rglob(MARK)]
    assert not ran, f"a command in a model file was executed: {ran}"
    print("hostile words stay words in every export")


def int4(value):
    return b"J" + struct.pack("<i", value)


def text(words):
    return b"X" + struct.pack("<I", len(words)) + words.encode()


def archive(path, pickle, storage=bytes(4)):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        file.writestr("a/data.pkl", b"\x80\x02" + pickle)
        file.writestr("a/data/0", storage)


TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + b"K\x01tQK\x00"


def bombs(folder):
    """Small files that ask for much memory or time."""
    pickles = {
        "values": b"N" * (60 << 20) + b".",
        "names": text("a" * 1_000_000) + b"q\x00" + b"h\x00h\x00\x93" * 1_000_000 + b".",
        "keys": text("a." * 500_000) + b"q\x000}(" + (b"h\x00" + TENSOR + b"K\x01\x85K\x01\x85tR") * 20_000 + b"u.",
        "shapes": b"(" + b"K\x01" * 200_000 + b"tq\x000}(" + (b"X\x01\0\0\0a" + TENSOR + b"h\x00h\x00tR") * 5_000 + b"u.",
        "zero-strides": b"}(" + b"".join(text(str(n)) + TENSOR + int4(1 << 15) + int4(1 << 10) + b"\x86K\x00K\x00\x86tR" for n in range(100)) + b"u.",
        "storage": b"}(" + text("a") + TENSOR + int4(1 << 25) + b"\x85K\x01\x85tRu.",
    }
    for name, pickle in pickles.items():
        archive(folder / f"{name}.pt", pickle, bytes(200 << 20) if name == "storage" else bytes(4))
    with zipfile.ZipFile(folder / "entries.pt", "w") as file:
        file.writestr("a/data.pkl", b"\x80\x02}.")
        for number in range(200_000):
            file.writestr(f"a/data/{number}", b"")
    header = b'{"a":{"dtype":"F32","shape":[1' + b",1" * (24 << 20) + b'],"data_offsets":[0,4]}}'
    (folder / "header.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    header = json.dumps({f"{n:060}": {"dtype": "F16", "shape": [3000], "data_offsets": [n * 6000, n * 6000 + 6000]} for n in range(9_000)}).encode()
    (folder / "halves.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(9_000 * 6000))


def check_memory():
    """Imports of bombs: refused, with at most 8 bytes of memory for each of the file and 200 MB besides."""
    folder = WORK / "bombs"
    folder.mkdir()
    # In a process of its own: children start with the peak of their parent.
    if (builder := os.fork()) == 0:
        bombs(folder)
        os._exit(0)
    assert os.waitpid(builder, 0)[1] == 0
    for path in sorted(folder.iterdir()):
        limit = 8 * path.stat().st_size + (200 << 20)
        process = subprocess.Popen([INKLING, "import", path, "--out", WORK / "never"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        words = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        peak = usage.ru_maxrss << 10
        assert os.waitstatus_to_exitcode(status) == 1 and ("does not contain weights" in words or "do not match" in words), (path.name, status, words[-500:])
        assert peak <= limit, f"{path.name}: {peak >> 20} MB for a file of {path.stat().st_size >> 10} kB"
        print(f"{path.name}: {path.stat().st_size >> 10} kB, peak {peak >> 20} MB, {usage.ru_utime + usage.ru_stime:.1f} s: {words.strip()[:160]}")


main()
check_memory()
