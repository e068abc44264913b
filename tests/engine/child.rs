//! An engine in a separate process: it works like any other, and whatever ends it becomes one
//! last event.

use std::io::Write;
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::time::{Duration, Instant};

use inkling::engine::{EngineHandle, send_handshake, this_machine, write};
use inkling::protocol::{Command, EngineExit, Event, JobEvent};
use inkling::records::ModelRef;
use inkling::run_config::{DataSource, DataSpec, ModelKind, RunConfig};
use inkling::runs::Checkpoints;

use super::{read_stroke, settings, until, wait};
use crate::jobs::{finished, has_ended, train};
use crate::support::write_idx_set;

const PATIENT: Duration = Duration::from_mins(1);

fn program() -> Program {
    let mut program = Program::new(env!("CARGO_BIN_EXE_inkling"));
    program.arg("engine");
    program
}

fn start(folder: &Path) -> EngineHandle {
    EngineHandle::child(program(), settings(folder, this_machine()), PATIENT, |_| {})
}

pub(super) fn config(folder: &Path, epochs: u32) -> RunConfig {
    let set = folder.join("set");
    if !set.exists() {
        write_idx_set(&set, 600, 50);
    }
    let data = DataSpec::single(DataSource::Path(set));
    RunConfig {
        data,
        model: ModelKind::Mlp,
        epochs,
        batch_size: 50,
        threads: Some(1),
        learning_rate: 1e-3,
        ..RunConfig::default()
    }
}

fn lost(event: Event) -> Option<EngineExit> {
    if let Event::EngineExited(loss) = event {
        Some(loss)
    } else {
        None
    }
}

#[test]
fn it_trains_reads_and_ends_like_one_on_a_thread() {
    let folder = tempfile::tempdir().unwrap();
    let handle = start(folder.path());
    assert!(
        matches!(handle.recv(), Some(Event::ModelInUse(model)) if model.reference == ModelRef::Starter)
    );
    let config = config(folder.path(), 2);
    handle.send(train(1, &config, None));
    let summary = until(&handle, finished);
    assert_eq!((&summary.config, summary.epochs.len()), (&config, 2));
    assert!(summary.model_path.is_file());
    assert!(
        Checkpoints::new(folder.path().join("checkpoints"))
            .list()
            .is_empty(),
        "a run that is over leaves no checkpoint"
    );
    handle.send(read_stroke(7));
    wait(&handle, |event| {
        matches!(event, Event::Read { request: 7, .. })
    });
    handle.send(Command::Shutdown);
    assert_eq!(
        handle.recv(),
        None,
        "an end that was asked for needs no words"
    );
}

#[test]
fn an_engine_that_cannot_be_started_or_is_none_is_called_that() {
    let folder = tempfile::tempdir().unwrap();
    let try_it = |program: Program| {
        let handle = EngineHandle::child(
            program,
            settings(folder.path(), this_machine()),
            PATIENT,
            |_| {},
        );
        let loss = until(&handle, lost);
        assert_eq!(handle.recv(), None, "nothing comes after it");
        loss
    };
    let loss = try_it(Program::new(folder.path().join("not there")));
    assert!(matches!(loss, EngineExit::NotStarted { .. }), "{loss:?}");
    // A program that is not an engine, and complains about how it was called.
    let mut other = Program::new(env!("CARGO_BIN_EXE_inkling"));
    other.args(["train", "--epochs", "no"]);
    let loss = try_it(other);
    assert!(
        matches!(&loss, EngineExit::Ended { status, words } if status.contains('2') && words.contains("--epochs")),
        "{loss:?}"
    );
    // One that says something else on its standard output.
    let mut other = Program::new(env!("CARGO_BIN_EXE_inkling"));
    other.arg("--help");
    let loss = try_it(other);
    assert!(matches!(loss, EngineExit::Garbled { .. }), "{loss:?}");
}

#[test]
fn an_engine_refuses_callers_it_does_not_understand() {
    let try_it = |said: &[u8]| {
        let mut child = program()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It may have seen enough before it has heard everything.
        let _ = child.stdin.take().unwrap().write_all(said);
        let output = child.wait_with_output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (status, said) = try_it(b"");
    assert_eq!(status, Some(2));
    assert!(said.contains("No caller connected"), "{said}");
    let (status, said) = try_it(b"hello there, engine");
    assert_eq!(status, Some(1));
    assert!(said.contains("invalid message"), "{said}");
    let mut older = Vec::new();
    send_handshake(&mut older).unwrap();
    let at = older
        .windows(5)
        .position(|bytes| bytes == b"0.1.0")
        .unwrap();
    older[at] = b'9';
    let (status, said) = try_it(&older);
    assert_eq!(status, Some(1));
    assert!(said.contains("9.1.0") && said.contains("0.1.0"), "{said}");
}

#[cfg(target_os = "linux")]
mod killed {
    use inkling::math::random::Random;

    use super::*;

    /// Engines this process has started, by process number.
    fn engines(folder: &Path) -> Vec<u32> {
        let of_ours = |pid: &u32| {
            let read = |name: &str| {
                std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default()
            };
            let parent = read("stat")
                .rsplit(')')
                .next()
                .and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
            parent == Some(std::process::id())
                && read("environ").contains(&folder.display().to_string())
        };
        let processes = std::fs::read_dir("/proc").unwrap();
        processes
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(of_ours)
            .collect()
    }

    /// How often this process has read something so far: each ping is read at least once.
    fn reads(pid: u32) -> u64 {
        let counts = std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap();
        counts
            .lines()
            .find_map(|line| line.strip_prefix("syscr: "))
            .unwrap()
            .parse()
            .unwrap()
    }

    fn signal(name: &str, folder: &Path) {
        let pids = engines(folder);
        assert_eq!(pids.len(), 1, "one engine");
        assert!(
            Program::new("sh")
                .arg("-c")
                .arg(format!("kill -{name} {}", pids[0]))
                .status()
                .unwrap()
                .success()
        );
    }

    /// An engine whose process can be distinguished from those of other tests.
    fn marked(folder: &Path, patience: Duration) -> EngineHandle {
        let mut program = program();
        program.env("INKLING_HOME", folder);
        EngineHandle::child(program, settings(folder, this_machine()), patience, |_| {})
    }

    #[test]
    fn killed_fifty_times_it_loses_at_most_what_came_after_its_last_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let of = config(folder.path(), 1000);
        let mut random = Random::new(17);
        let (mut from, mut safe) = (None, 0);
        for round in 0..50 {
            let handle = marked(folder.path(), PATIENT);
            handle.send(train(round, &of, from.clone()));
            let (before, place) = until(&handle, |event| match event {
                Event::Started { before, folder, .. } => Some((before, folder)),
                Event::Job {
                    event: JobEvent::Failed(problem),
                    ..
                } => panic!("round {round}: {problem}"),
                _ => None,
            });
            assert!(
                before.len() >= safe,
                "round {round}: {} epochs where {safe} were safe",
                before.len()
            );
            // At any moment of the next epochs, some of them while a checkpoint is being written,
            // some when one just was.
            let (mut to_come, after_checkpoints) = (random.below(4), random.chance(0.5));
            let mut alive = true;
            loop {
                if alive && to_come == 0 {
                    std::thread::sleep(Duration::from_millis(random.below(8) as u64));
                    signal("KILL", folder.path());
                    alive = false;
                }
                match handle
                    .recv()
                    .expect("the loss is said before the line closes")
                {
                    Event::Checkpoint {
                        folder,
                        position,
                        kept,
                        ..
                    } => {
                        kept.unwrap();
                        safe = safe.max(position.epochs as usize);
                        from = Some(folder);
                        to_come = if after_checkpoints {
                            to_come.saturating_sub(1)
                        } else {
                            to_come
                        };
                    }
                    Event::Epoch { .. } if !after_checkpoints => {
                        to_come = to_come.saturating_sub(1);
                    }
                    Event::EngineExited(EngineExit::Ended { status, .. }) => {
                        assert!(
                            !alive && status.contains("signal: 9"),
                            "round {round}: {status}"
                        );
                        break;
                    }
                    event if has_ended(&event) => panic!("round {round}: it ended by itself"),
                    _ => {}
                }
            }
            assert_eq!(handle.recv(), None);
            // A checkpoint that it did not live to tell of counts as well.
            if let Ok(left) = Checkpoints::read_card(&place) {
                assert!(left.card.epochs.len() >= safe, "round {round}");
                (safe, from) = (left.card.epochs.len(), Some(place));
            }
        }
        assert!(safe > 0, "checkpoints were written");
        // What is left is whole, and all of one run.
        let left = Checkpoints::new(folder.path().join("checkpoints")).list();
        assert_eq!(
            left.iter()
                .map(|run| (Some(&run.folder), run.card.epochs.len()))
                .collect::<Vec<_>>(),
            [(from.as_ref(), safe)]
        );
    }

    #[test]
    fn what_is_written_to_its_standard_output_besides_is_no_part_of_the_frames() {
        let folder = tempfile::tempdir().unwrap();
        let handle = marked(folder.path(), PATIENT);
        wait(&handle, |event| matches!(event, Event::ModelInUse(_)));
        let pids = engines(folder.path());
        assert_eq!(handle.process(), Some(pids[0]));
        // As a driver within that process would, which knows nothing but descriptor 1.
        let mut stdout = std::fs::File::options()
            .write(true)
            .open(format!("/proc/{}/fd/1", pids[0]))
            .unwrap();
        writeln!(stdout, "a driver says something").unwrap();
        handle.send(read_stroke(3));
        wait(&handle, |event| {
            matches!(event, Event::Read { request: 3, .. })
        });
        drop(stdout);
        signal("KILL", folder.path());
        let EngineExit::Ended { words, .. } = until(&handle, lost) else {
            panic!("garbled")
        };
        assert!(
            words.contains("a driver says something"),
            "it is among the last words: {words}"
        );
    }

    #[test]
    fn one_that_hangs_is_ended_and_called_that() {
        let folder = tempfile::tempdir().unwrap();
        let handle = marked(folder.path(), Duration::from_secs(2));
        wait(&handle, |event| matches!(event, Event::ModelInUse(_)));
        // Silence that is answered for is not a hang: it answers more pings than fit into the time
        // it may be silent.
        let pid = engines(folder.path())[0];
        let (asked, since) = (reads(pid), Instant::now());
        while reads(pid) < asked + 18 {
            assert!(since.elapsed() < Duration::from_secs(30), "it is not asked");
            assert_eq!(handle.try_recv(), Ok(None));
            std::thread::sleep(Duration::from_millis(50));
        }
        signal("STOP", folder.path());
        assert_eq!(until(&handle, lost), EngineExit::Hung { seconds: 2 });
        assert!(engines(folder.path()).is_empty());
    }
}

#[test]
fn what_a_caller_sends_stays_text_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program();
    program
        .env("INKLING_HOME", folder.path())
        .env_remove("RUST_LOG");
    let mut engine = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = engine.stdin.take().unwrap();
    send_handshake(&mut input).unwrap();
    write(&mut input, &settings(folder.path(), this_machine())).unwrap();
    // A command that there is not, whose name would clear the screen, fake a line and turn text
    // around.
    write(&mut input, &"\u{1b}[2J\r\nfake line\u{202e}\u{9b}31m").unwrap();
    drop(input);
    let output = engine.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("\\u{1b}[2J"), "{text:?}");
    let hidden = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(
        !text.contains(hidden) && !text.contains("\nfake line"),
        "{text:?}"
    );
}
