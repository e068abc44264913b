//! The options that say on which machines runs and trials train.

use std::path::PathBuf;

use crate::cli::failure::Failure;
use crate::data::{MyDigits, Recipients};
use crate::engine::{EngineHost, EngineSettings, RemoteHost, SLURM, SshHost};
use crate::protocol::EngineError;
use crate::run_config::DataSpec;
use crate::sweep::{EngineExecutor, SlurmArray, Work};
use crate::system::paths::Paths;

/// Tasks of a job array if none is given.
const TASKS: u32 = 4;

/// Where they train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExecutorKind {
    /// On this machine.
    Local,
    /// On machines that are reached through OpenSSH.
    Ssh,
    /// In the tasks of a Slurm job array.
    Slurm,
}

/// The options.
#[derive(Debug, clap::Args)]
pub struct Machines {
    /// Where to train: on this machine, on others over SSH, or in a Slurm job array [default:
    /// local, or ssh with --hosts]
    #[arg(long, value_name = "NAME", ignore_case = true)]
    executor: Option<ExecutorKind>,
    /// Comma-separated SSH hosts, as in your SSH configuration, one run at a time on each; append a
    /// path to Inkling after a colon if needed
    #[arg(long, value_name = "HOST[:PATH],…", value_delimiter = ',')]
    hosts: Vec<SshHost>,
    /// Option for sbatch, such as --slurm=--partition=gpu; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    slurm: Vec<String>,
    /// Allow My digits to be sent to these machines, now and later; `inkling hosts withdraw`
    /// revokes this
    #[arg(long)]
    send_my_digits: bool,
}

impl Machines {
    fn kind(&self) -> ExecutorKind {
        self.executor.unwrap_or(if self.hosts.is_empty() {
            ExecutorKind::Local
        } else {
            ExecutorKind::Ssh
        })
    }

    /// True if trials train on this machine.
    pub fn is_here(&self) -> bool {
        self.kind() == ExecutorKind::Local
    }

    /// True if trials train in a Slurm job array.
    pub fn is_in_array(&self) -> bool {
        self.kind() == ExecutorKind::Slurm
    }

    /// How many train in parallel if none is given: as many as there are places; `None` on this
    /// machine.
    pub fn usual_parallel(&self) -> Option<u32> {
        match self.kind() {
            ExecutorKind::Local => None,
            ExecutorKind::Ssh => Some(self.hosts.len() as u32),
            ExecutorKind::Slurm => Some(TASKS),
        }
    }

    /// The one SSH host that was named, if all else is as on this machine.
    pub fn only_host(&self) -> Option<&SshHost> {
        if let (ExecutorKind::Ssh, [host]) = (self.kind(), self.hosts.as_slice()) {
            Some(host)
        } else {
            None
        }
    }

    /// An error if the options contradict each other, or hosts are missing.
    pub fn check(&self) -> Result<(), Failure> {
        let usage = |sentence: &str| Err(Failure::Usage(sentence.to_owned()));
        match self.kind() {
            ExecutorKind::Local | ExecutorKind::Slurm if !self.hosts.is_empty() => {
                usage("--hosts is for --executor ssh. Leave one of the two options out.")
            }
            ExecutorKind::Local | ExecutorKind::Ssh if !self.slurm.is_empty() => usage(
                "--slurm is for --executor slurm. Leave --slurm out, or add --executor slurm.",
            ),
            ExecutorKind::Local if self.send_my_digits => usage(
                "--send-my-digits is for other machines. Leave it out, or add --hosts or --executor slurm.",
            ),
            ExecutorKind::Ssh if self.hosts.is_empty() => {
                usage("--executor ssh needs hosts: --hosts HOST,HOST")
            }
            _ => Ok(()),
        }
    }

    /// An error if My digits are among the data and the person has not agreed that they are sent
    /// to these machines; to be asked before any is connected to.
    pub fn check_consent(
        &self,
        data: &DataSpec,
        folders: &[PathBuf],
        paths: &Paths,
    ) -> Result<(), Failure> {
        if self.is_here() || !data.has_my_digits() {
            return Ok(());
        }
        let drawings = MyDigits::in_folders(folders).count()?;
        let recipients = Recipients::in_file(&paths.recipients);
        let mut machines: Vec<&str> = if self.is_in_array() {
            vec![SLURM]
        } else {
            self.hosts.iter().map(SshHost::name).collect()
        };
        machines.retain(|machine| !recipients.contains(machine));
        machines.dedup();
        if machines.is_empty() {
            return Ok(());
        }
        if !self.send_my_digits {
            return Err(EngineError::NoConsent {
                drawings,
                machine: machines.join(", "),
            }
            .into());
        }
        Ok(machines
            .into_iter()
            .try_for_each(|machine| recipients.add(machine))?)
    }

    /// What trains this many in parallel, with this many threads each, if given.
    pub fn executor(
        &self,
        work: Work,
        parallel: u32,
        threads: Option<u32>,
        settings: EngineSettings,
    ) -> Result<EngineExecutor, Failure> {
        match self.kind() {
            ExecutorKind::Local => Ok(EngineExecutor::local(
                &EngineHost::from_env(),
                settings,
                parallel,
            )),
            ExecutorKind::Ssh => Ok(EngineExecutor::on_hosts(
                work,
                self.hosts.iter().cloned().map(RemoteHost::Ssh),
                settings,
            )),
            ExecutorKind::Slurm => {
                // The nodes see the same files, as is usual.
                let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("inkling"));
                let array = SlurmArray::submit(&program, parallel, threads, &self.slurm)?;
                Ok(EngineExecutor::in_array(work, array, settings))
            }
        }
    }
}
