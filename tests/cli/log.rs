//! The log of the real program: written, kept small, and shared without anything personal.

use std::fs;

use super::{exits, inkling, run, stderr, stdout};

#[test]
fn failures_are_logged() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(
        run(
            &home,
            &["predict", "--model", "Oma Ilse.safetensors", "letter.png"]
        )
        .status
        .code(),
        Some(1)
    );
    let log = fs::read_to_string(home.path().join("inkling.log")).unwrap();
    for part in [
        "started version=",
        "command=\"predict\"",
        "the command failed status=\"1\"",
        "Oma Ilse",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

#[test]
fn a_full_log_is_renamed_and_the_oldest_is_deleted() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    for round in 0..4_u8 {
        fs::write(at("inkling.log"), vec![b'a' + round; 1 << 20]).unwrap();
        run(&home, &["licenses"]);
    }
    let first = |name: &str| fs::read(at(name)).unwrap()[0];
    assert_eq!(first("inkling.1.log"), b'd');
    assert_eq!(first("inkling.2.log"), b'c');
    assert!(fs::metadata(at("inkling.log")).unwrap().len() < 1 << 10);
    assert!(!at("inkling.3.log").exists());
}

#[test]
fn a_log_that_cannot_be_written_stops_nothing() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("inkling.log")).unwrap();
    let output = run(&home, &["licenses"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output).as_str(), "");
}

#[test]
fn diagnostics_hold_what_helps_and_nothing_personal() {
    let outer = tempfile::tempdir().unwrap();
    // The home folder, the user, and names of files and folders, each to be found nowhere in the
    // text.
    let home = outer.path().join("Annabel Ohnesorg");
    fs::create_dir(&home).unwrap();
    let config = serde_json::json!({ "data": "builtin+/data/Klasse 4b", "initial_weights": "/data/Oma Ilse.safetensors", "epochs": 7 });
    let settings = serde_json::json!({ "config": config, "data_folders": ["/data/Klasse 4b"], "cuda_folder": "/opt/Werner" });
    fs::write(home.join("settings.json"), settings.to_string()).unwrap();
    let personal = |arguments: &[&str]| {
        let mut program = inkling(&home);
        program
            .env("HOME", &home)
            .env("USER", "annabel99")
            .env("LOGNAME", "annabel99")
            .args(arguments)
            .output()
            .unwrap()
    };
    for file in [
        "Oma Ilse.png",
        "/home/annabel99/Oma Ilse: 3.png",
        "Ilse (os error 2).png",
    ] {
        personal(&["predict", file]);
        personal(&["train", "--data", file]);
    }
    let before = fs::read(home.join("settings.json")).unwrap();
    let text = stdout(&personal(&["hardware", "--diagnostics"]));
    for part in [
        env!("CARGO_PKG_VERSION"),
        "CPU: ",
        "\"epochs\": 7",
        "builtin+…",
        "the command failed status=\"1\"",
        "problem=\"DataError::",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let host = sysinfo::System::host_name().unwrap_or_default();
    let names = [
        "annabel",
        "Ohnesorg",
        "Ilse",
        "Klasse",
        "Werner",
        "/data",
        &outer.path().display().to_string(),
    ];
    for name in names.into_iter().map(str::to_lowercase) {
        assert!(!text.to_lowercase().contains(&name), "{name}: {text}");
    }
    assert!(
        host.is_empty()
            || !text
                .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
                .any(|word| word == host),
        "{text}"
    );
    assert_eq!(fs::read(home.join("settings.json")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_log_and_it_has_no_passwords() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    for mirror in [
        "http://anna:s3cret@127.0.0.1:1/sets",
        "http://anna:s3/cret@127.0.0.1:1/sets",
        "ftp://anna:s3cret@host/",
    ] {
        let output = run(&home, &["data", "fetch", "mnist", "--mirror", mirror]);
        exits(&output, 1);
        assert!(!stderr(&output).contains("cret"), "{}", stderr(&output));
    }
    let log = home.path().join("inkling.log");
    let text = fs::read_to_string(&log).unwrap();
    assert!(
        text.contains("127.0.0.1:1") && !text.contains("cret"),
        "{text}"
    );
    assert_eq!(
        fs::metadata(&log).unwrap().permissions().mode() & 0o777,
        0o600
    );
}
