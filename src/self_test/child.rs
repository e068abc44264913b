//! Owns a self-test in a process of its own, with a time limit: a driver that crashes or hangs costs a sentence.
//! Must not know what is tested.

use std::io::Read;
use std::process::{Child, Command as Program, Stdio};
use std::thread::Builder;
use std::time::Duration;

use serde::Deserialize;

use super::report::Report;
use crate::problem::Problem;

/// How often it is looked whether the process has ended.
const GLANCE: Duration = Duration::from_millis(20);

/// What the process prints.
#[derive(Deserialize)]
struct Printed {
    self_test: Report,
}

/// Runs `program` (`inkling hardware --self-test --json`) for at most `limit`.
pub fn in_child(mut program: Program, limit: Duration) -> Result<Report, Problem> {
    let failed = |reason: String| Problem::SelfTest { reason };
    let mut child =
        program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| failed(error.to_string()))?;
    let (stdout, stderr) = (child.stdout.take().map(whole), child.stderr.take().map(whole));
    let status = wait(&mut child, limit).ok_or_else(|| failed(format!("it took longer than {} s", limit.as_secs())))?;
    let [stdout, stderr] = [stdout, stderr].map(|said| said.flatten().and_then(|said| said.join().ok()).unwrap_or_default());
    let printed = stdout.lines().find_map(|line| serde_json::from_str::<Printed>(line).ok());
    printed.map(|printed| printed.self_test).ok_or_else(|| {
        let words = stderr.trim();
        failed(if words.is_empty() { format!("it ended with {status}") } else { format!("it ended with {status}: {words}") })
    })
}

/// Reads all that is said while the process runs, so that it never waits for a full pipe.
fn whole(mut pipe: impl Read + Send + 'static) -> Option<std::thread::JoinHandle<String>> {
    let read = move || {
        let mut said = Vec::new();
        // What was said until the pipe broke is all there is.
        let _ = pipe.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    };
    Builder::new().name("inkling-self-test".to_owned()).spawn(read).ok()
}

/// How it ended; `None` when it had to be ended.
fn wait(child: &mut Child, limit: Duration) -> Option<std::process::ExitStatus> {
    let mut left = limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if !left.is_zero() => std::thread::sleep(GLANCE),
            _ => {
                // One that is gone already cannot be killed, and need not be.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
        left = left.saturating_sub(GLANCE);
    }
}
