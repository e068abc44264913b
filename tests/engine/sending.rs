//! What leaves this machine for another, who can read it there, and deleting it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command as Program;

use inkling::data::my_digits::{Edit, KeptDrawing};
use inkling::data::{MyDigits, Recipients};
use inkling::engine::{EngineHandle, ReceivedFolder, RemoteHost, SLURM, SlurmTask, this_machine};
use inkling::ink::{Image, Ink};
use inkling::problem::Problem;
use inkling::protocol::{Answer, Command, EngineError, Event, Job, Needs, Question};
use inkling::records::{BatchSizeSpec, DataUpload, LabeledImage, MapSpec};
use inkling::run_config::{DataSource, DataSpec, RunConfig};
use inkling::system::paths::Paths;

use super::child::config;
use super::remote::{connect, host, kept, there};
use super::{settings, until, wait};
use crate::jobs::{failure, finished, submit, train};

/// Keeps three drawings, and returns settings that train on them and on a small set.
fn with_my_digits(here: &Path, epochs: u32) -> RunConfig {
    let drawing = |digit: u8| {
        KeptDrawing::new(
            &Ink {
                strokes: vec![vec![[f32::from(digit), 0.0], [9.0, 40.0]]],
                ..Ink::default()
            },
            digit,
        )
    };
    let add = (1..4).filter_map(drawing).collect();
    MyDigits::in_folders(&[here.join("data")])
        .change(&Edit {
            add,
            ..Edit::default()
        })
        .unwrap();
    let set = config(here, epochs);
    RunConfig {
        data: DataSpec::of(vec![set.data.sources()[0].clone(), DataSource::Mine]),
        ..set
    }
}

fn recipients(here: &Path) -> Recipients {
    Recipients::in_file(&settings(here, this_machine()).recipients)
}

fn no_consent(machine: &str) -> Problem {
    EngineError::NoConsent {
        drawings: 3,
        machine: machine.to_owned(),
    }
    .into()
}

#[test]
fn my_digits_are_sent_nowhere_unless_the_person_has_agreed() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let config = with_my_digits(here.path(), 1);
    let handle = connect(home.path(), here.path());
    recipients(here.path()).add("another-box").unwrap();
    let jobs = [
        Job::Train {
            config: config.clone(),
            from: None,
        },
        Job::Trial(config.clone()),
        Job::FindLearningRate(config.clone()),
        Job::FindBatchSize(BatchSizeSpec {
            config: config.clone(),
            accuracy: 0.5,
        }),
    ];
    for (id, job) in (1..).zip(jobs) {
        handle.send(submit(id, job));
        assert_eq!(
            until(&handle, |event| failure(event, id)),
            no_consent("gpu-box")
        );
    }
    handle.send(Command::Read {
        request: 5,
        what: Question::Drawings(vec![Ink::default(); 3]),
    });
    let answer = until(&handle, |event| {
        if let Event::Read { answer, .. } = event {
            Some(answer)
        } else {
            None
        }
    });
    assert_eq!(answer, Err(no_consent("gpu-box")));
    let mine = LabeledImage {
        image: Image::BLANK,
        label: 3,
    };
    for (request, own) in [(6, vec![mine; 3]), (7, Vec::new())] {
        let spec = MapSpec {
            own: own.clone(),
            components: 2,
            ..MapSpec::default()
        };
        handle.send(Command::Read {
            request,
            what: Question::Map(spec),
        });
        let answer = until(&handle, |event| match event {
            Event::Read {
                request: answered,
                answer,
            } if answered == request => Some(answer),
            _ => None,
        });
        if own.is_empty() {
            assert!(matches!(answer, Ok(Answer::Map(_))), "{answer:?}");
        } else {
            assert_eq!(answer, Err(no_consent("gpu-box")));
        }
    }
    // The nodes of a Slurm cluster have one name together.
    let slurm = RemoteHost::Slurm(SlurmTask {
        job: 1,
        name: "node-7".to_owned(),
    });
    let task = EngineHandle::remote(
        there(home.path()),
        &slurm,
        settings(here.path(), this_machine()),
        |_| {},
    );
    task.send(train(1, &config, None));
    assert_eq!(until(&task, |event| failure(event, 1)), no_consent(SLURM));
    assert_eq!(kept(home.path()), 0);

    recipients(here.path()).add("gpu-box").unwrap();
    handle.send(train(6, &config, None));
    let sent = until(&handle, |event| {
        if let Event::Sending(upload) = event {
            Some(upload)
        } else {
            None
        }
    });
    let DataUpload {
        what,
        images,
        bytes,
        machine,
    } = sent;
    assert_eq!(what.as_str(), "set + My digits");
    assert_eq!(images, 653);
    assert_eq!(machine.as_str(), "gpu-box");
    assert!(bytes > 653 * 784, "{bytes}");
    until(&handle, finished);
    assert_eq!(kept(home.path()), 1);
    recipients(here.path()).remove("gpu-box").unwrap();
    handle.send(train(7, &config, None));
    assert_eq!(
        until(&handle, |event| failure(event, 7)),
        no_consent("gpu-box"),
        "withdrawn, it counts at once"
    );
}

/// Every file and folder below, with its mode.
fn modes(folder: &Path, found: &mut Vec<(String, bool, u32)>) {
    let metadata = folder.symlink_metadata().unwrap();
    found.push((
        folder.display().to_string(),
        metadata.is_dir(),
        metadata.permissions().mode() & 0o777,
    ));
    for entry in std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
    {
        // One that was temporary may be gone.
        if entry.path().symlink_metadata().is_ok() {
            modes(&entry.path(), found);
        }
    }
}

#[track_caller]
fn assert_private(home: &Path, what: &str) {
    let mut found = Vec::new();
    modes(&home.join("received"), &mut found);
    assert!(
        found.iter().any(|(path, ..)| path.contains(what)),
        "{what} is not among {found:?}"
    );
    let wrong: Vec<_> = found
        .iter()
        .filter(|(_, is_folder, mode)| *mode != if *is_folder { 0o700 } else { 0o600 })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_was_sent_is_there_for_its_owner_alone() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    // As a folder that somebody else has made.
    std::fs::create_dir(home.path().join("received")).unwrap();
    std::fs::set_permissions(
        home.path().join("received"),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let config = config(here.path(), 3);
    let handle = connect(home.path(), here.path());
    handle.send(train(1, &config, None));
    wait(&handle, |event| matches!(event, Event::Checkpoint { .. }));
    assert_private(home.path(), "checkpoints");
    assert_private(home.path(), "train-images-idx3-ubyte");
    until(&handle, finished);
    assert_private(home.path(), "train-images-idx3-ubyte");
}

/// The folder that the engine with this home keeps bundles in.
fn received(home: &Path) -> ReceivedFolder {
    ReceivedFolder::of(&Paths {
        local: home.to_owned(),
        ..Paths::find()
    })
}

#[test]
fn what_a_run_uses_is_not_deleted_and_what_was_deleted_is_sent_again() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let config = config(here.path(), 500);
    let handle = connect(home.path(), here.path());
    handle.send(train(1, &config, None));
    wait(&handle, |event| matches!(event, Event::Epoch { .. }));
    let folder = received(home.path());
    let [bundle] = folder.list().unwrap().try_into().unwrap();
    assert_eq!(bundle.what.as_str(), "set (650 images)");
    assert!(bundle.in_use);
    assert!(
        bundle.bytes > 650 * 784 && bundle.last_used.starts_with("20"),
        "{bundle:?}"
    );
    let [refused] = folder
        .delete(std::slice::from_ref(&bundle.id))
        .try_into()
        .unwrap();
    assert_eq!(refused.problem.as_deref(), Some("a run uses it"));
    handle.send(Command::Cancel(inkling::records::JobId(1)));
    until(&handle, finished);
    let [bundle] = folder.list().unwrap().try_into().unwrap();
    assert!(!bundle.in_use);
    let trial = RunConfig {
        epochs: 1,
        ..config
    };
    let trains = |id: u64| {
        handle.send(submit(id, Job::Trial(trial.clone())));
        until(&handle, |event| crate::jobs::result(event, id));
    };
    trains(2);
    let [deleted] = folder
        .delete(std::slice::from_ref(&bundle.id))
        .try_into()
        .unwrap();
    assert_eq!(deleted.what.as_str(), "set (650 images)");
    assert_eq!(deleted.problem, None);
    assert_eq!(folder.list().unwrap(), Vec::new());
    assert_eq!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .filter(is_of_a_bundle)
            .count(),
        0
    );
    trains(3);
    assert_eq!(
        folder.list().unwrap().len(),
        1,
        "the data of a sweep is sent again"
    );
    let [missing] = folder
        .delete(&[inkling::records::BundleId("../away".to_owned())])
        .try_into()
        .unwrap();
    assert_eq!(missing.problem.as_deref(), Some("it is not there"));
}

fn is_of_a_bundle(entry: &std::io::Result<std::fs::DirEntry>) -> bool {
    !entry
        .as_ref()
        .unwrap()
        .file_name()
        .to_string_lossy()
        .starts_with(".inkling")
}

#[test]
fn whatever_trains_there_has_its_initial_weights_sent() {
    let config = || RunConfig::default();
    let mut jobs = [
        Job::Train {
            config: config(),
            from: None,
        },
        Job::Trial(config()),
        Job::FindLearningRate(config()),
        Job::Profile(config()),
        Job::Compare {
            config: config(),
            step_configs: Vec::new(),
        },
    ];
    for job in &mut jobs {
        assert!(job.needs() != Needs::ThisMachine, "{job:?}");
    }
}

#[test]
fn no_folder_of_this_machine_is_named_there() {
    let [here, home] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let sent = home.path().join("sent");
    let mut program = Program::new("sh");
    program
        .args(["-c", "tee \"$0\" | \"$1\" engine --remote"])
        .arg(&sent)
        .arg(env!("CARGO_BIN_EXE_inkling"))
        .env("INKLING_HOME", home.path());
    let config = config(here.path(), 1);
    let settings = settings(here.path(), this_machine());
    let handle = EngineHandle::remote(program, &host("gpu-box"), settings, |_| {});
    handle.send(train(1, &config, None));
    until(&handle, finished);
    handle.send(Command::Shutdown);
    while handle.recv().is_some() {}
    let (bytes, path) = (
        std::fs::read(sent).unwrap(),
        here.path().as_os_str().as_encoded_bytes(),
    );
    assert!(bytes.len() > 650 * 784 && !bytes.windows(path.len()).any(|window| window == path));
}
