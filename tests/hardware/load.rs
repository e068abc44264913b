//! Load: of this very machine, and of GPUs that another process answers for.

use std::time::{Duration, Instant};

use inkling::hardware::{Meter, Watched};

fn own() -> Watched {
    Watched {
        processes: vec![std::process::id()],
        gpus: false,
    }
}

#[test]
fn this_machine_can_be_read() {
    let mut meter = Meter::with_drivers_in_subprocess(|| panic!("nobody asked for GPUs"));
    for _ in 0..2 {
        let sample = meter.sample(&own());
        assert!((0.0..=1.0).contains(&sample.processor));
        assert!(sample.memory_total > sample.memory_available && sample.memory_available > 0);
        assert!(sample.process_memory.unwrap() > 1 << 20, "{sample:?}");
        assert_eq!(sample.gpus, []);
    }
    assert_eq!(
        meter.sample(&Watched::default()).process_memory,
        None,
        "of no process"
    );
    // Kept busy, it shows: one core of however many there are.
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(500) {
        std::hint::black_box(since);
    }
    let least = 0.5 / std::thread::available_parallelism().unwrap().get() as f32;
    assert!(meter.sample(&own()).processor > least * 0.5);
}

#[cfg(unix)]
mod gpus {
    use std::path::Path;
    use std::process::Command;

    use inkling::hardware::{Gpu, LoadSample};

    use super::*;
    use crate::fake_engine::gpu;

    const GPUS: Watched = Watched {
        processes: Vec::new(),
        gpus: true,
    };

    /// A process that says this, and notes that it was started.
    fn meter(folder: &Path, script: String) -> Meter {
        let folder = folder.to_owned();
        Meter::with_drivers_in_subprocess(move || {
            let mut shell = Command::new("sh");
            shell
                .arg("-c")
                .arg(format!("echo $$ >> started; {script}"))
                .current_dir(&folder);
            shell
        })
    }

    fn line(gpus: Vec<Gpu>) -> String {
        serde_json::to_string(&LoadSample {
            gpus,
            ..LoadSample::default()
        })
        .unwrap()
    }

    fn started(folder: &Path) -> Vec<String> {
        std::fs::read_to_string(folder.join("started"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    fn until(meter: &mut Meter, what: &str, done: impl Fn(&[Gpu]) -> bool) {
        let since = Instant::now();
        while !done(&meter.sample(&GPUS).gpus) {
            assert!(
                since.elapsed() < Duration::from_secs(30),
                "never happened: {what}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn another_process_answers_for_them_until_it_breaks() {
        let folder = tempfile::tempdir().unwrap();
        let warmer = Gpu {
            temperature: Some(62),
            ..gpu()
        };
        let script = format!(
            "echo '{}'; echo nonsense; while [ ! -e on ]; do sleep 0.05; done; echo '{}'; while [ ! -e off ]; do sleep 0.05; done",
            line(vec![gpu()]),
            line(vec![warmer.clone()])
        );
        let mut meter = meter(folder.path(), script);
        assert_eq!(
            meter.sample(&GPUS).gpus,
            [],
            "the first answer is not waited for"
        );
        until(&mut meter, "the first answer", |gpus| gpus == [gpu()]);
        std::fs::write(folder.path().join("on"), "").unwrap();
        until(&mut meter, "the next answer", |gpus| {
            gpus == [warmer.clone()]
        });
        std::fs::write(folder.path().join("off"), "").unwrap();
        until(&mut meter, "its end", <[Gpu]>::is_empty);
        for _ in 0..20 {
            assert_eq!(meter.sample(&GPUS).gpus, []);
        }
        assert_eq!(
            started(folder.path()).len(),
            1,
            "what broke is not tried again and again"
        );
    }

    #[test]
    fn one_that_cannot_be_started_or_says_nothing_costs_its_figures() {
        let mut absent = Meter::with_drivers_in_subprocess(|| Command::new("no such program"));
        assert_eq!(absent.sample(&GPUS).gpus, []);
        assert!(absent.sample(&GPUS).memory_total > 0);
        let folder = tempfile::tempdir().unwrap();
        let mut silent = meter(folder.path(), "exec sleep 60".to_owned());
        until(&mut silent, "its start", |_| {
            !started(folder.path()).is_empty()
        });
        let process = started(folder.path()).remove(0);
        // Somebody looks all the time: it is killed for its silence.
        until(&mut silent, "its end", |gpus| {
            assert_eq!(gpus, []);
            !is_there(&process)
        });
    }

    #[test]
    fn it_is_ended_when_nobody_looks_and_started_again_when_somebody_does() {
        let folder = tempfile::tempdir().unwrap();
        let mut meter = meter(
            folder.path(),
            format!("while :; do echo '{}'; sleep 0.1; done", line(vec![gpu()])),
        );
        until(&mut meter, "the first answer", |gpus| gpus == [gpu()]);
        until_gone(&started(folder.path())[0]);
        until(&mut meter, "an answer of another process", |gpus| {
            gpus == [gpu()]
        });
        assert_eq!(started(folder.path()).len(), 2);
    }

    fn is_there(process: &str) -> bool {
        Command::new("kill")
            .args(["-0", process])
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap()
            .success()
    }

    fn until_gone(process: &str) {
        let since = Instant::now();
        while is_there(process) {
            assert!(since.elapsed() < Duration::from_secs(30), "it goes on");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
