//! An engine on another machine: this program again, with folders of its own, at the end of a pipe
//! as it would be at the end of `ssh`.

use std::path::Path;
use std::process::{Command as Program, Stdio};

use inkling::engine::{
    EngineHandle, RemoteHost, SshHost, read, recv_handshake, send_handshake, this_machine, write,
};
use inkling::nn::ModelFile;
use inkling::problem::{Code, Problem};
use inkling::protocol::{Command, EngineError, EngineExit, Event, JobEvent};
use inkling::records::{BundleId, BundleUse, FilePart, JobId, ModelRef, RunSummary};
use inkling::run_config::{DataSource, DataSpec, RunConfig};
use inkling::runs::Checkpoints;

use super::child::config;
use super::{read_stroke, settings, until, wait};
use crate::jobs::{failure, finished, train};
use crate::support::write_idx_set;

/// The program as another machine has it, whose folders are in `home`.
pub(super) fn there(home: &Path) -> Program {
    let mut program = Program::new(env!("CARGO_BIN_EXE_inkling"));
    program
        .args(["engine", "--remote"])
        .env("INKLING_HOME", home)
        .env_remove("INKLING_DATA_DIR");
    program
}

pub(super) fn connect(home: &Path, here: &Path) -> EngineHandle {
    EngineHandle::remote(
        there(home),
        &host("gpu-box"),
        settings(here, this_machine()),
        |_| {},
    )
}

pub(super) fn host(name: &str) -> RemoteHost {
    RemoteHost::Ssh(name.parse().unwrap())
}

/// The run of this configuration on this machine.
fn trained_here(here: &Path, config: &RunConfig) -> RunSummary {
    let handle = EngineHandle::spawn(settings(here, this_machine()), |_| {});
    handle.send(train(1, config, None));
    until(&handle, finished)
}

fn weights(summary: &RunSummary) -> Vec<u8> {
    std::fs::read(&summary.model_path).unwrap()
}

/// The folders of bundles that are kept there.
pub(super) fn kept(home: &Path) -> usize {
    let entries = std::fs::read_dir(home.join("received"))
        .into_iter()
        .flatten();
    entries
        .filter(|entry| entry.as_ref().unwrap().file_name().len() == 64)
        .count()
}

#[test]
fn a_run_trains_there_with_data_of_this_machine_and_is_saved_here() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let config = config(here.path(), 2);
    let handle = connect(home.path(), here.path());
    handle.send(train(1, &config, None));
    let summary = until(&handle, finished);
    assert!(
        summary.folder.starts_with(here.path().join("runs")),
        "{:?}",
        summary.folder
    );
    assert_eq!((&summary.config, summary.epochs.len()), (&config, 2));
    let model = until(&handle, |event| {
        if let Event::ModelInUse(model) = event {
            Some(model)
        } else {
            None
        }
    });
    assert_eq!(
        model.reference,
        ModelRef::File(summary.model_path.clone()),
        "the model in use is called as it is here"
    );
    assert_eq!(model.data, config.data, "and so is its data");
    handle.send(read_stroke(7));
    wait(&handle, |event| {
        matches!(event, Event::Read { request: 7, .. })
    });
    handle.send(train(2, &config, None));
    until(&handle, finished);
    assert_eq!(kept(home.path()), 1, "the same data is not sent again");
    handle.send(Command::UseModel(ModelRef::File(
        summary.model_path.clone(),
    )));
    wait(
        &handle,
        |event| matches!(event, Event::ModelInUse(model) if model.reference == ModelRef::File(summary.model_path.clone())),
    );
    assert_eq!(kept(home.path()), 2, "a model is sent to be used there");
    let early = summary.snapshot_path(summary.snapshots[1].step);
    assert_eq!(ModelFile::load(&early).unwrap().card.data, config.data);
    handle.send(Command::UseModel(ModelRef::File(early.clone())));
    wait(
        &handle,
        |event| matches!(event, Event::ModelInUse(model) if model.reference == ModelRef::File(early.clone())),
    );
    handle.send(Command::Shutdown);
    while handle.recv().is_some() {}
    assert_eq!(
        weights(&summary),
        weights(&trained_here(here.path(), &config)),
        "it computes the same wherever it is"
    );
    assert!(!home.path().join("runs").exists(), "no run stays there");
    assert!(
        Checkpoints::new(here.path().join("checkpoints"))
            .list()
            .is_empty(),
        "a run that is over leaves no checkpoint"
    );
}

#[test]
fn a_run_whose_machine_is_lost_is_resumed_on_another_and_ends_with_the_same_weights() {
    let [here, home, another] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    // So many epochs that it is not over before two of them are known to be safe here.
    let config = config(here.path(), 40);
    let program = there(home.path());
    let handle = EngineHandle::remote(
        program,
        &host("gpu-box"),
        settings(here.path(), this_machine()),
        |_| {},
    );
    handle.send(train(1, &config, None));
    // Two epochs are safe here, or a few more where checkpoints are written less often; then the
    // machine there is lost.
    let mut safe = 0;
    let exit = until(&handle, |event| {
        match event {
            Event::Checkpoint { kept, position, .. } => {
                kept.unwrap();
                safe = position.epochs;
            }
            Event::EngineExited(exit) => return Some(exit),
            _ => {}
        }
        if safe >= 2 {
            signal_children_in(home.path(), "-KILL");
        }
        None
    });
    assert!(
        matches!(&exit, EngineExit::Disconnected { machine, .. } if machine == "gpu-box"),
        "{exit:?}"
    );
    let left = Checkpoints::new(here.path().join("checkpoints")).list();
    let [run] = left.as_slice() else {
        panic!("{left:?}")
    };
    assert_eq!(run.card.config, config, "with the paths of this machine");
    let handle = connect(another.path(), here.path());
    handle.send(train(3, &config, Some(run.folder.clone())));
    let summary = until(&handle, finished);
    assert_eq!(
        weights(&summary),
        weights(&trained_here(here.path(), &config))
    );
}

#[test]
fn a_second_run_is_refused_and_the_first_is_saved_all_the_same() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let config = config(here.path(), 3);
    let handle = connect(home.path(), here.path());
    handle.send(train(1, &config, None));
    wait(&handle, |event| matches!(event, Event::Started { .. }));
    handle.send(train(2, &config, None));
    assert_eq!(
        until(&handle, |event| failure(event, 2)),
        EngineError::Busy.into()
    );
    assert_eq!(until(&handle, finished).epochs.len(), 3);
}

#[test]
fn after_an_upload_that_was_cancelled_the_next_run_trains_on_its_own_data() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let small = config(here.path(), 1);
    let set = here.path().join("large");
    write_idx_set(&set, 40_000, 50);
    let large = RunConfig {
        data: DataSpec::single(DataSource::Path(set)),
        ..small.clone()
    };
    for next in [&small, &large] {
        let handle = connect(home.path(), here.path());
        handle.send(train(1, &large, None));
        // The first of some thirty parts has arrived. What is said of the others comes after the
        // next run was begun.
        until(&handle, |event| match event {
            Event::Job {
                event: JobEvent::Progress(now),
                ..
            } => (now.fraction > 0.31).then_some(()),
            _ => None,
        });
        signal_children_in(home.path(), "-STOP");
        handle.send(Command::Cancel(JobId(1)));
        handle.send(train(2, next, None));
        wait(&handle, |event| {
            matches!(
                event,
                Event::Job {
                    id: JobId(1),
                    event: JobEvent::Cancelled
                }
            )
        });
        signal_children_in(home.path(), "-CONT");
        let summary = until(&handle, finished);
        assert!(
            weights(&summary) == weights(&trained_here(here.path(), next)),
            "trained on the data of another run"
        );
        handle.send(Command::Shutdown);
        while handle.recv().is_some() {}
        std::fs::remove_dir_all(home.path().join("received")).unwrap();
    }
}

/// Sends a signal to the engine whose folders are there.
fn signal_children_in(home: &Path, signal: &str) {
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(environment) = std::fs::read(process.path().join("environ")) else {
            continue;
        };
        let wanted = format!("INKLING_HOME={}\0", home.display());
        if String::from_utf8_lossy(&environment).contains(&wanted)
            && let Some(id) = process
                .file_name()
                .to_str()
                .and_then(|name| name.parse::<i32>().ok())
        {
            Program::new("kill")
                .args([signal, &id.to_string()])
                .status()
                .unwrap();
        }
    }
}

#[test]
fn a_run_that_is_interrupted_there_leaves_a_checkpoint_here() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let config = config(here.path(), 500);
    let handle = connect(home.path(), here.path());
    handle.send(train(1, &config, None));
    wait(&handle, |event| matches!(event, Event::Epoch { .. }));
    handle.send(Command::Interrupt);
    let folder = until(&handle, |event| match event {
        Event::Job {
            event:
                JobEvent::Failed(Problem {
                    code: Code::Interrupted { checkpoint },
                    ..
                }),
            ..
        } => checkpoint,
        _ => None,
    });
    while handle.recv().is_some() {}
    let left = Checkpoints::new(here.path().join("checkpoints")).list();
    assert_eq!(
        left.iter().map(|run| &run.folder).collect::<Vec<_>>(),
        [&folder]
    );
}

#[test]
fn data_that_is_missing_here_and_programs_that_are_no_engines_are_said() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let handle = connect(home.path(), here.path());
    let data = DataSpec::single(DataSource::Path(here.path().join("nothing")));
    handle.send(train(
        1,
        &RunConfig {
            data,
            ..config(here.path(), 1)
        },
        None,
    ));
    let problem = until(&handle, |event| {
        if let Event::Job {
            event: JobEvent::Failed(problem),
            ..
        } = event
        {
            Some(problem)
        } else {
            None
        }
    });
    assert!(problem.name.starts_with("DataError::"), "{problem:?}");
    let mut none = Program::new("sh");
    none.args(["-c", "echo no such host >&2; exit 255"]);
    let handle = EngineHandle::remote(
        none,
        &host("nowhere"),
        settings(here.path(), this_machine()),
        |_| {},
    );
    let exit = until(&handle, |event| {
        if let Event::EngineExited(exit) = event {
            Some(exit)
        } else {
            None
        }
    });
    assert_eq!(
        exit,
        EngineExit::Disconnected {
            machine: "nowhere".to_owned(),
            reason: "no such host".to_owned()
        }
    );
}

/// The answers of the engine there to these commands about a bundle.
fn answers(home: &Path, commands: &[Command]) -> Vec<Result<bool, String>> {
    let mut child = there(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    send_handshake(&mut to).unwrap();
    write(&mut to, &settings(home, this_machine())).unwrap();
    commands
        .iter()
        .for_each(|command| write(&mut to, command).unwrap());
    recv_handshake(&mut from).unwrap().unwrap();
    let mut answers = Vec::new();
    while answers.len() < commands.len() {
        if let Event::Bundle { folder, .. } = read::<Event>(&mut from).unwrap().unwrap() {
            answers.push(folder.map(|folder| folder.is_some()));
        }
    }
    drop(to);
    child.wait().unwrap();
    answers
}

#[test]
fn a_bundle_is_kept_only_where_it_is_what_it_claims_and_stays_in_its_folder() {
    let home = tempfile::tempdir().unwrap();
    let file = |bundle: &BundleId, name: &str| Command::SendFile {
        bundle: bundle.clone(),
        part: FilePart {
            name: name.to_owned(),
            bytes: b"bytes".to_vec(),
        },
    };
    let keep = |bundle: &BundleId| Command::KeepBundle {
        bundle: bundle.clone(),
        purpose: BundleUse::Keep,
        what: "data".to_owned(),
    };
    let claimed = BundleId("0".repeat(64));
    let leads_away = BundleId("../../away".to_owned());
    let found = answers(
        home.path(),
        &[
            Command::FindBundle(claimed.clone()),
            file(&claimed, "data"),
            keep(&claimed),
            file(&leads_away, "data"),
            keep(&leads_away),
            Command::FindBundle(leads_away.clone()),
            file(&claimed, "../away"),
            keep(&claimed),
        ],
    );
    let damaged = || Err("the files were damaged on their way".to_owned());
    let away = Err("a file's name leads to another folder".to_owned());
    assert_eq!(
        found,
        [
            Ok(false),
            Ok(false),
            damaged(),
            Ok(false),
            damaged(),
            Ok(false),
            Ok(false),
            away
        ]
    );
    assert_eq!(kept(home.path()), 0);
    assert!(
        !home.path().join("away").exists() && !home.path().parent().unwrap().join("away").exists()
    );
}

#[test]
fn hosts_are_named_as_for_ssh_and_no_name_is_an_option() {
    for name in [
        "gpu-box",
        "anna@10.0.0.7",
        "anna@gpu-box:/opt/my inkling",
        "ssh://gpu-box",
        "ssh://anna@[::1]:2222/opt/my inkling",
    ] {
        assert_eq!(name.parse::<SshHost>().unwrap().to_string(), name);
    }
    let urls = [
        "ssh://",
        "ssh:///opt/inkling",
        "ssh://-oProxyCommand=reboot",
        "ssh://-l@gpu-box",
        "ssh://gpu-box:no",
        "ssh://a:secret@gpu-box",
    ];
    for name in ["", " ", "-oProxyCommand=reboot", "two words", "a\nb"]
        .into_iter()
        .chain(urls)
    {
        assert!(name.parse::<SshHost>().is_err(), "{name:?}");
    }
    let arguments = |name: &str| {
        let command = name
            .parse::<SshHost>()
            .unwrap()
            .command(&["engine", "--remote"]);
        command
            .get_args()
            .map(|argument| argument.to_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let plain = arguments("gpu-box");
    assert_eq!(
        plain[plain.len() - 3..],
        ["--", "gpu-box", "exec inkling engine --remote"]
    );
    let url = arguments("ssh://anna@10.0.0.7:2222/");
    assert_eq!(
        url[url.len() - 3..],
        [
            "--",
            "ssh://anna@10.0.0.7:2222",
            "exec inkling engine --remote"
        ]
    );
    let url = arguments("ssh://anna@10.0.0.7:2222/opt/inkling");
    assert_eq!(
        url[url.len() - 3..],
        [
            "--",
            "ssh://anna@10.0.0.7:2222",
            "exec /opt/inkling engine --remote"
        ]
    );
    let quoted = arguments("anna@gpu-box:/opt/it's; reboot");
    assert_eq!(
        quoted.last().unwrap(),
        r"exec '/opt/it'\''s; reboot' engine --remote"
    );
}
