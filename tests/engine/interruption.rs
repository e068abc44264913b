//! A run that is interrupted, whichever way, is not saved, and comes to the same weights once it is
//! resumed. One that is stopped is saved.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command as Program, Stdio};
use std::time::{Duration, Instant};

use inkling::engine::{
    EngineHandle, EngineSettings, read, recv_handshake, send_handshake, this_machine, write,
};
use inkling::protocol::{Command, EngineError, Event};
use inkling::records::{JobId, ModelRef, RunSummary};
use inkling::run_config::{DataSource, DataSpec, ModelKind, RunConfig};
use inkling::runs::{Checkpoints, Store};
use tempfile::TempDir;

use super::{until, wait};
use crate::jobs::{failure, finished, train};
use crate::support::write_idx_set;

const PATIENT: Duration = Duration::from_mins(1);
const EPOCHS: u32 = 60;

/// Folders of an installation, and a configuration that takes about a second.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_idx_set(&folder.path().join("set"), 600, 50);
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn settings(&self) -> EngineSettings {
        super::settings(self.path(), this_machine())
    }

    fn config(&self) -> RunConfig {
        let data = DataSpec::single(DataSource::Path(self.path().join("set")));
        RunConfig {
            data,
            model: ModelKind::Mlp,
            epochs: EPOCHS,
            batch_size: 50,
            threads: Some(1),
            ..RunConfig::default()
        }
    }

    fn saved(&self) -> Vec<RunSummary> {
        let runs = Store::new(self.path().join("runs")).list();
        runs.into_iter()
            .map(|entry| *entry.summary.unwrap())
            .collect()
    }

    /// Waits until nobody trains the one run here any more, and gives its checkpoint.
    fn interrupted(&self) -> PathBuf {
        let since = Instant::now();
        loop {
            if let [run] = Checkpoints::new(self.path().join("checkpoints"))
                .list()
                .as_slice()
            {
                return run.folder.clone();
            }
            assert!(self.saved().is_empty(), "it was saved");
            assert!(since.elapsed() < PATIENT, "it cannot be resumed");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Trains to the end, from the checkpoint if there is one.
    fn trained(&self, from: Option<PathBuf>) -> RunSummary {
        let engine = EngineHandle::spawn(self.settings(), |_| {});
        engine.send(train(9, &self.config(), from));
        until(&engine, finished)
    }

    /// The run can be resumed, and comes to the weights of one that was left alone.
    fn assert_resumable(&self) {
        let resumed = self.trained(Some(self.interrupted()));
        assert_eq!(self.saved().len(), 1, "nothing else was saved");
        assert!(
            Checkpoints::new(self.path().join("checkpoints"))
                .list()
                .is_empty()
        );
        let whole = Self::new();
        let left_alone = whole.trained(None);
        assert_eq!(resumed.epochs.len(), EPOCHS as usize);
        assert!(!resumed.stopped);
        assert!(
            weights(&resumed) == weights(&left_alone),
            "it came to other weights"
        );
    }
}

/// The bytes of the weights, without the description before them.
fn weights(run: &RunSummary) -> Vec<u8> {
    let file = std::fs::read(&run.model_path).unwrap();
    let header = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    file[8 + header..].to_vec()
}

fn is_epoch(event: &Event) -> bool {
    matches!(event, Event::Epoch { .. })
}

fn in_process(settings: EngineSettings) -> EngineHandle {
    EngineHandle::child(program(), settings, PATIENT, |_| {})
}

fn in_thread(settings: EngineSettings) -> EngineHandle {
    EngineHandle::spawn(settings, |_| {})
}

fn program() -> Program {
    let mut program = Program::new(env!("CARGO_BIN_EXE_inkling"));
    program.arg("engine");
    program
}

#[test]
fn a_caller_that_vanishes_interrupts_the_run() {
    for start in [in_thread, in_process] {
        let home = Home::new();
        let engine = start(home.settings());
        engine.send(train(1, &home.config(), None));
        wait(&engine, is_epoch);
        drop(engine);
        home.assert_resumable();
    }
}

#[test]
fn a_run_that_is_interrupted_says_where_it_can_be_resumed() {
    for start in [in_thread, in_process] {
        let home = Home::new();
        let engine = start(home.settings());
        engine.send(train(1, &home.config(), None));
        wait(&engine, is_epoch);
        engine.send(Command::Interrupt);
        let problem = until(&engine, |event| failure(event, 1));
        let rest: Vec<Event> = std::iter::from_fn(|| engine.recv()).collect();
        assert!(
            !rest
                .iter()
                .any(|event| matches!(event, Event::EngineExited(_))),
            "an end that was asked for needs no words: {rest:?}"
        );
        assert_eq!(
            problem,
            EngineError::Interrupted {
                checkpoint: Some(home.interrupted())
            }
            .into()
        );
        home.assert_resumable();
    }
}

#[test]
fn a_resumed_run_recognizes_drawings_from_its_start() {
    let home = Home::new();
    let engine = in_thread(home.settings());
    engine.send(train(1, &home.config(), None));
    wait(&engine, is_epoch);
    engine.send(Command::Interrupt);
    until(&engine, |event| failure(event, 1));
    let engine = in_thread(home.settings());
    engine.send(train(2, &home.config(), Some(home.interrupted())));
    wait(&engine, |event| matches!(event, Event::Started { .. }));
    let next = engine.recv();
    assert!(
        matches!(&next, Some(Event::ModelInUse(model)) if model.reference == ModelRef::Training(JobId(2))),
        "{next:?}"
    );
}

#[test]
fn a_paused_run_can_be_interrupted() {
    let home = Home::new();
    let engine = in_thread(home.settings());
    engine.send(train(1, &home.config(), None));
    wait(&engine, is_epoch);
    engine.send(Command::Pause(JobId(1)));
    wait(&engine, |event| matches!(event, Event::Paused(_)));
    engine.send(Command::Interrupt);
    until(&engine, |event| failure(event, 1));
    home.assert_resumable();
}

#[test]
fn a_run_that_is_shut_down_is_stopped_and_saved() {
    for start in [in_thread, in_process] {
        let home = Home::new();
        let engine = start(home.settings());
        engine.send(train(1, &home.config(), None));
        wait(&engine, is_epoch);
        engine.send(Command::Shutdown);
        let stopped = until(&engine, finished);
        drop(engine);
        assert!(stopped.stopped && stopped.model_path.is_file());
        assert!(
            Checkpoints::new(home.path().join("checkpoints"))
                .list()
                .is_empty(),
            "a run that was saved leaves no checkpoint"
        );
    }
}

/// An engine at the other end of two pipes, which trains and has completed an epoch.
fn training(home: &Home) -> (Child, ChildStdin) {
    let mut engine = program()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = engine.stdin.take().unwrap();
    let mut stdout = BufReader::new(engine.stdout.take().unwrap());
    send_handshake(&mut stdin).unwrap();
    write(&mut stdin, &home.settings()).unwrap();
    write(&mut stdin, &train(1, &home.config(), None)).unwrap();
    recv_handshake(&mut stdout).unwrap();
    while !is_epoch(&read(&mut stdout).unwrap().unwrap()) {}
    // What it says from now on is taken and forgotten.
    std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    (engine, stdin)
}

#[test]
fn a_caller_that_talks_nonsense_interrupts_the_run() {
    let home = Home::new();
    let (mut engine, mut stdin) = training(&home);
    stdin.write_all(&[0xFF; 16]).unwrap();
    engine.wait().unwrap();
    home.assert_resumable();
}

#[cfg(unix)]
#[test]
fn an_engine_process_that_the_system_ends_can_be_resumed_and_one_that_hears_ctrl_c_waits_for_its_caller()
 {
    crate::support::hangups_end_programs();
    for (signal, status) in [("TERM", 143), ("HUP", 129)] {
        let home = Home::new();
        let (mut engine, mut stdin) = training(&home);
        let kill = |signal: &str| {
            assert!(
                Program::new("kill")
                    .args([format!("-{signal}"), engine.id().to_string()])
                    .status()
                    .unwrap()
                    .success()
            );
        };
        kill("INT");
        std::thread::sleep(Duration::from_millis(20));
        write(&mut stdin, &Command::Ping).expect("it is still there");
        kill(signal);
        assert_eq!(engine.wait().unwrap().code(), Some(status));
        drop(stdin);
        home.assert_resumable();
    }
}
