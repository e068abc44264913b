//! A Slurm job array whose tasks are engines: submitted with `sbatch`, watched with `squeue`,
//! reached with `sattach`, ended with `scancel`.
//!
//! A task reads nothing but what `sattach` sends it, and ends by itself if that is silent for
//! long; a driver that is killed leaves nothing in the queue.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::engines::Slot;
use crate::engine::{RemoteHost, SlurmTask};
use crate::problem::Problem;
use crate::protocol::EngineExit;
use crate::system::process::{quoted_for_sh, run_within};

/// How often the queue is looked at.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// How long `squeue` may take: meanwhile, nothing is known of the tasks.
const QUEUE_LIMIT: Duration = Duration::from_secs(10);
/// How long it may fail: Slurm's controller may be restarted.
const FAILING_LIMIT: Duration = Duration::from_mins(2);
/// How long other commands may take: the controller answers late when it is busy.
const TIME_LIMIT: Duration = Duration::from_mins(1);

/// A job array that was submitted; cancelled when dropped.
#[derive(Debug)]
pub struct SlurmArray {
    job: String,
    tasks: u32,
    looked: Option<Instant>,
    /// Since when `squeue` has failed.
    failing_since: Option<Instant>,
    assigned: Vec<Option<u64>>,
}

impl SlurmArray {
    /// Submits this many tasks, each of which runs `program` as an engine; `options` go to
    /// `sbatch`.
    pub fn submit(
        program: &Path,
        tasks: u32,
        threads: Option<u32>,
        options: &[String],
    ) -> Result<Self, Problem> {
        let tasks = tasks.max(1);
        let mut sbatch = Command::new("sbatch");
        sbatch
            .args([
                "--parsable",
                "--job-name=inkling",
                "--output=/dev/null",
                "--requeue",
            ])
            .arg(format!("--array=0-{}", tasks - 1));
        sbatch
            .args(threads.map(|threads| format!("--cpus-per-task={threads}")))
            .args(options);
        // The pipe that is opened for writing too never ends: what the engine reads comes from
        // sattach. Unbuffered, as what it writes has no lines.
        let engine = quoted_for_sh(&program.to_string_lossy());
        sbatch.arg(format!(
            "--wrap=pipe=$(mktemp -u) && mkfifo \"$pipe\" && exec 3<>\"$pipe\" && rm \"$pipe\" && exec srun --unbuffered {engine} engine --remote <&3"
        ));
        let printed = slurm(sbatch, TIME_LIMIT)?;
        // "12" or "12;cluster"
        let job = printed
            .trim()
            .split(';')
            .next()
            .unwrap_or_default()
            .to_owned();
        if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(failed(format!(
                "sbatch printed {:?} instead of a job\u{2019}s number",
                printed.trim()
            )));
        }
        Ok(Self {
            job,
            tasks,
            looked: None,
            failing_since: None,
            assigned: vec![None; tasks as usize],
        })
    }

    pub const fn tasks(&self) -> u32 {
        self.tasks
    }

    /// Gives slots the tasks that run now, and takes away those that do not any more. An error
    /// if no task is left.
    pub fn assign(&mut self, slots: &mut [Slot]) -> Result<(), Problem> {
        if self
            .looked
            .is_some_and(|looked| looked.elapsed() < POLL_INTERVAL)
        {
            return Ok(());
        }
        self.looked = Some(Instant::now());
        let mut squeue = Command::new("squeue");
        squeue.args([
            "--noheader",
            "--array",
            "--format=%A %K %T %N",
            "--jobs",
            &self.job,
        ]);
        let queue = match slurm(squeue, QUEUE_LIMIT) {
            Ok(queue) => queue,
            Err(problem) => {
                tracing::warn!(%problem, "the queue could not be read");
                let since = *self.failing_since.get_or_insert_with(Instant::now);
                return if since.elapsed() < FAILING_LIMIT {
                    Ok(())
                } else {
                    Err(problem)
                };
            }
        };
        self.failing_since = None;
        let tasks: Vec<(u64, usize, &str, &str)> = queue.lines().filter_map(parse).collect();
        if tasks.is_empty() {
            return Err(failed(format!(
                "job {} has no task left in the queue",
                self.job
            )));
        }
        let running: BTreeMap<usize, (u64, &str)> = tasks
            .iter()
            .filter(|(_, _, state, _)| *state == "RUNNING")
            .map(|&(job, index, _, node)| (index, (job, node)))
            .collect();
        for (index, (slot, assigned)) in slots.iter_mut().zip(&mut self.assigned).enumerate() {
            match running.get(&index) {
                Some((job, node)) if *assigned != Some(*job) => {
                    *assigned = Some(*job);
                    slot.assign(RemoteHost::Slurm(SlurmTask {
                        job: *job,
                        name: (*node).to_owned(),
                    }));
                }
                None if assigned.is_some() => {
                    *assigned = None;
                    slot.unassign();
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for SlurmArray {
    fn drop(&mut self) {
        let mut scancel = Command::new("scancel");
        scancel.arg(&self.job);
        if let Err(error) = slurm(scancel, TIME_LIMIT) {
            tracing::warn!(%error, job = self.job, "a job array remains in the queue");
        }
    }
}

/// The job, the index in the array, the state and the node of a line of `squeue`.
fn parse(line: &str) -> Option<(u64, usize, &str, &str)> {
    let mut words = line.split_whitespace();
    Some((
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
        words.next()?,
        words.next().unwrap_or("Slurm"),
    ))
}

fn slurm(command: Command, limit: Duration) -> Result<String, Problem> {
    let name = command.get_program().to_string_lossy().into_owned();
    let (output, exit) =
        run_within(command, limit).map_err(|reason| failed(format!("{name}: {reason}")))?;
    if exit.is_success {
        Ok(output)
    } else {
        Err(failed(format!("{name} ended with {exit}")))
    }
}

fn failed(reason: String) -> Problem {
    EngineExit::Slurm { reason }.into()
}
