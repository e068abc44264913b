//! `--out`, and all that it must not destroy: what is not a regular file, the model itself, files
//! that exist, and names that clash.

use std::fs;
use std::path::Path;
use std::process::Output;

use super::{exits, fails, run, says, succeed, words};

/// The model that comes with Inkling, as a file in `home`.
pub fn home_with_model() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let starter = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/starter.safetensors");
    fs::copy(starter, home.path().join("m.safetensors")).unwrap();
    home
}

fn export(home: &Path, format: &str, out: &str, force: bool) -> Output {
    let mut arguments = words("export --model m.safetensors --format");
    arguments.extend([format, "--out", out]);
    arguments.extend(force.then_some("--force"));
    run(home, &arguments)
}

fn refused(output: &Output, words: &[&str]) {
    exits(output, 1);
    words.iter().for_each(|word| says(output, word));
}

/// Every file in the folder with its content, but for the log.
fn content(home: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(home)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let entries =
        entries.filter(|path| path.is_file() && path.file_name().unwrap() != "inkling.log");
    let mut all: Vec<_> = entries
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

/// The files that each format asks for, the one that is named first.
const FORMATS: [(&str, &[&str]); 8] = [
    ("safetensors", &["x.safetensors"]),
    ("onnx", &["x.onnx", "predict.py"]),
    ("pytorch", &["x.pt", "model.py"]),
    ("candle", &["x.rs", "Cargo.toml", "model.safetensors"]),
    ("html", &["x.html"]),
    ("card", &["x.md", "x.json"]),
    ("report", &["x.html"]),
    ("zip", &["x.zip"]),
];

#[test]
fn files_that_exist_are_named_and_only_replaced_with_force() {
    for (format, files) in FORMATS {
        let home = home_with_model();
        for name in files {
            fs::write(home.path().join(name), "mine").unwrap();
        }
        let before = content(home.path());
        let output = export(home.path(), format, files[0], false);
        // Beside another model.py, PyTorch's module gets the name of its weights.
        let in_the_way = if format == "pytorch" {
            &files[..1]
        } else {
            files
        };
        refused(&output, in_the_way);
        refused(&output, &["--force"]);
        assert_eq!(content(home.path()), before, "{format}");
        exits(&export(home.path(), format, files[0], true), 0);
        let replaced = in_the_way
            .iter()
            .all(|name| fs::read(home.path().join(name)).unwrap() != b"mine");
        assert!(replaced, "{format}");
        // Once more: what is the same beside the file is in nobody's way.
        refused(&export(home.path(), format, files[0], false), &[files[0]]);
        exits(&export(home.path(), format, files[0], true), 0);
    }
}

#[test]
fn the_model_itself_is_never_replaced_by_whichever_path() {
    let home = home_with_model();
    let before = fs::read(home.path().join("m.safetensors")).unwrap();
    fs::create_dir(home.path().join("d")).unwrap();
    fs::hard_link(
        home.path().join("m.safetensors"),
        home.path().join("hard.md"),
    )
    .unwrap();
    let absolute = home.path().join("m.safetensors").display().to_string();
    let mut paths = vec![
        "m.safetensors",
        "./m.safetensors",
        "d/../m.safetensors",
        &absolute,
    ];
    if cfg!(unix) {
        paths.push("hard.md");
    }
    for path in paths {
        for format in ["card", "safetensors", "zip"] {
            refused(
                &export(home.path(), format, path, true),
                &["is the input file"],
            );
        }
    }
    // As one of the files beside it.
    fs::rename(
        home.path().join("m.safetensors"),
        home.path().join("model.safetensors"),
    )
    .unwrap();
    let itself = "model.safetensors is the input file";
    let export = "export --model model.safetensors --format candle --out main.rs --force";
    fails(&home, export, 1, itself);
    assert_eq!(
        fs::read(home.path().join("model.safetensors")).unwrap(),
        before
    );
    assert!(!home.path().join("main.rs").exists() && !home.path().join("Cargo.toml").exists());
}

#[test]
fn two_files_with_one_name_are_refused() {
    for (format, out) in [
        ("onnx", "predict.py"),
        ("onnx", "PREDICT.py"),
        ("pytorch", "model.py"),
        ("candle", "Cargo.toml"),
        ("candle", "cargo.TOML"),
        ("candle", "model.safetensors"),
        ("card", "card.json"),
        ("card", "card.JSON"),
    ] {
        let home = home_with_model();
        refused(
            &export(home.path(), format, out, true),
            &[
                "Two of the files would have the name",
                "Choose another name for the one that was asked for",
            ],
        );
        assert_eq!(content(home.path()).len(), 1, "{format} {out}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_stays_what_it_is() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::os::unix::net::UnixListener;

    let home = home_with_model();
    let at = |name: &str| home.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("target"), "mine").unwrap();
    symlink("target", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("m.safetensors", at("model-link")).unwrap();
    let _listener = UnixListener::bind(at("socket")).unwrap();
    let fifo = std::ffi::CString::new(at("fifo").to_str().unwrap()).unwrap();
    // SAFETY: the path is a string that ends with a zero byte, and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    let kinds = [
        ("folder", "folder"),
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("model-link", "symbolic link"),
        ("socket", "socket"),
        ("fifo", "named pipe"),
        ("/dev/null", "device"),
        (
            if cfg!(target_os = "linux") {
                "/dev/full"
            } else {
                "/dev/zero"
            },
            "device",
        ),
    ];
    for (path, kind) in kinds {
        for (format, _) in FORMATS {
            refused(&export(home.path(), format, path, true), &[kind]);
        }
        let to = |command: &str| {
            fails(&home, &format!("{command} --force --out {path}"), 1, kind);
        };
        to("data show builtin");
        if path != "folder" {
            to("import m.safetensors");
            to("train --epochs 1");
        }
    }
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    assert!(
        at("fifo").symlink_metadata().unwrap().file_type().is_fifo()
            && at("socket")
                .symlink_metadata()
                .unwrap()
                .file_type()
                .is_socket()
    );
    assert!(at("link").is_symlink() && at("dangling").is_symlink() && !at("nowhere").exists());
    assert_eq!(fs::read(at("target")).unwrap(), b"mine");
    // Nor may the files beside one be anything else.
    symlink("target", at("predict.py")).unwrap();
    refused(
        &export(home.path(), "onnx", "x.onnx", true),
        &["predict.py", "symbolic link"],
    );
    assert!(!at("x.onnx").exists() && fs::read(at("target")).unwrap() == b"mine");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_read_as_models() {
    let home = home_with_model();
    let fifo = std::ffi::CString::new(home.path().join("fifo").to_str().unwrap()).unwrap();
    // SAFETY: the path is a string that ends with a zero byte, and outlives the call.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    for (path, kind) in [("fifo", "named pipe"), ("/dev/zero", "device")] {
        for command in [
            "import",
            "predict a.png --model",
            "export --format zip --out a.zip --model",
            "eval --data builtin --model",
            "train --epochs 1 --initial-weights",
        ] {
            fails(&home, &format!("{command} {path}"), 1, kind);
        }
    }
}

#[test]
fn sheets_and_runs_are_replaced_with_force_alone() {
    let home = home_with_model();
    fs::write(home.path().join("sheet.png"), "mine").unwrap();
    let show = "data show builtin --out sheet.png";
    fails(&home, show, 1, "sheet.png exists already");
    assert_eq!(fs::read(home.path().join("sheet.png")).unwrap(), b"mine");
    succeed(&home, "import m.safetensors --out run");
    let again = run(&home, "import m.safetensors --out run");
    let files = ["model.safetensors", "run.json", "history.csv"];
    refused(&again, &files);
    says(&again, "exist already");
    fails(&home, "train --epochs 1 --out run", 1, "exist already");
    succeed(&home, "import m.safetensors --out run --force");
    for command in ["import", "train --epochs 1 --initial-weights"] {
        let command = format!("{command} run/model.safetensors --out run --force");
        fails(&home, &command, 1, "is the input file");
    }
}

#[test]
fn a_run_whose_folder_was_taken_meanwhile_is_saved_beside_it_without_anybody_there() {
    let home = tempfile::tempdir().unwrap();
    crate::support::write_idx_set(&home.path().join("set"), 1200, 50);
    let mut program = super::inkling(home.path());
    program.args(words(
        "train --data set --network mlp --epochs 40 --threads 1 --batch-size 20 --out \
             mine --json",
    ));
    program
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut printed = String::new();
    while !printed.contains("\"event\":\"started\"") {
        assert!(
            std::io::BufRead::read_line(&mut out, &mut printed).unwrap() > 0,
            "it ended too soon"
        );
    }
    fs::create_dir(home.path().join("mine")).unwrap();
    fs::write(home.path().join("mine/file"), "somebody else's").unwrap();
    std::io::Read::read_to_string(&mut out, &mut printed).unwrap();
    let output = child.wait_with_output().unwrap();
    refused(&output, &["mine contains other files", "mine_2"]);
    super::schema::check_output(&["train", "--json"], &printed);
    let events: Vec<serde_json::Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [.., rescued, finished] = events.as_slice() else {
        panic!("{printed}")
    };
    assert_eq!(rescued["event"], "rescued");
    assert_eq!(finished["event"], "finished");
    assert_eq!(rescued["run"], finished["run"]);
    assert!(home.path().join("mine_2/model.safetensors").is_file());
    assert_eq!(fs::read_dir(home.path().join("mine")).unwrap().count(), 1);
}
