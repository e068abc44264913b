//! Other machines, the programs that reach them, and what is known of one before anything is
//! trained there: asked of Inkling's own command line.

use std::fmt::{Display, Formatter};
use std::process::Command;
use std::str::FromStr;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::hardware::Hardware;
use crate::problem::Problem;
use crate::protocol::EngineExit;
use crate::records::{BundleId, DeletedBundle, ReceivedBundle};
use crate::run_config::DeviceChoice;
use crate::self_test::{SelfTestReport, run_in_subprocess};
use crate::system::process::{Exit, quoted_for_sh, run_within};

/// The program if none is named.
const INKLING: &str = "inkling";
/// The prefix of an address that may have a port; `ssh` takes it as it is.
const URL: &str = "ssh://";

/// The name for all nodes of a Slurm cluster.
pub const SLURM: &str = "Slurm";

/// How an engine on another machine is reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RemoteHost {
    Ssh(SshHost),
    /// As a task of a Slurm job that runs already.
    Slurm(SlurmTask),
}

/// A host of the person's SSH configuration, and the program there: `gpu-box`, `anna@10.0.0.7`,
/// `gpu-box:/opt/inkling/inkling`, `ssh://anna@10.0.0.7:2222/opt/inkling/inkling`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SshHost {
    host: String,
    program: String,
}

/// A step of a Slurm job that runs `inkling engine --remote`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlurmTask {
    /// The job's number; of a job array, the task's own.
    pub job: u64,
    /// The machine's name, for messages.
    pub name: String,
}

/// A name that `ssh` would not take for a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not the name of an SSH host: write it as after `ssh`, such as gpu-box, anna@10.0.0.7 or ssh://anna@10.0.0.7:2222"
)]
pub struct InvalidHostError {
    pub given: String,
}

impl FromStr for SshHost {
    type Err = InvalidHostError;

    fn from_str(text: &str) -> Result<Self, InvalidHostError> {
        let text = text.trim();
        let wrong = || InvalidHostError {
            given: text.to_owned(),
        };
        let (host, program) = match text.strip_prefix(URL) {
            Some(rest) => {
                let (authority, program) =
                    rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
                if !is_authority(authority) {
                    return Err(wrong());
                }
                (
                    &text[..URL.len() + authority.len()],
                    if program.len() > 1 { program } else { INKLING },
                )
            }
            None => text
                .find(":/")
                .map_or((text, INKLING), |at| (&text[..at], &text[at + 1..])),
        };
        // What begins with a dash would be an option of ssh.
        let is_host = !host.is_empty()
            && !host.starts_with('-')
            && !host.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_host && !program.contains(char::is_control) {
            Ok(Self {
                host: host.to_owned(),
                program: program.to_owned(),
            })
        } else {
            Err(wrong())
        }
    }
}

/// `anna@10.0.0.7:2222`, `[::1]`: a host with or without a user and a port, none of which could be
/// an option of ssh.
fn is_authority(text: &str) -> bool {
    let (user, rest) = text
        .rsplit_once('@')
        .map_or((None, text), |(user, rest)| (Some(user), rest));
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (rest, None),
    };
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('-');
    // A password would be visible to every user of this machine in the list of processes.
    user.is_none_or(|user| is_name(user) && !user.contains(':'))
        && is_name(host)
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

impl Display for SshHost {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let separator = if self.host.starts_with(URL) { "" } else { ":" };
        f.write_str(&self.host)?;
        if self.program == INKLING {
            Ok(())
        } else {
            write!(f, "{separator}{}", self.program)
        }
    }
}

impl SshHost {
    /// Runs Inkling there with these arguments. OpenSSH asks for nothing: whoever uses a host has a
    /// key, an agent or a connection that is shared (`ControlMaster`).
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut ssh = Command::new("ssh");
        let options = [
            "BatchMode=yes",
            "Compression=yes",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            "ConnectTimeout=20",
        ];
        ssh.arg("-T")
            .args(options.iter().flat_map(|option| ["-o", option]))
            .arg("--")
            .arg(&self.host);
        ssh.arg(format!(
            "exec {} {}",
            quoted_for_sh(&self.program),
            arguments.join(" ")
        ));
        ssh
    }

    pub fn name(&self) -> &str {
        &self.host
    }
}

impl RemoteHost {
    /// The program whose standard input and output lead to an engine there.
    pub fn program(&self) -> Command {
        match self {
            Self::Ssh(host) => host.command(&["engine", "--remote"]),
            Self::Slurm(task) => {
                let mut attach = Command::new("sattach");
                attach.args(["--quiet", &format!("{}.0", task.job)]);
                attach
            }
        }
    }

    /// By what name a person agrees that My digits are sent there: the nodes of a Slurm job are not
    /// known before it runs.
    pub fn recipient(&self) -> &str {
        match self {
            Self::Ssh(host) => host.name(),
            Self::Slurm(_) => SLURM,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Ssh(host) => host.name(),
            Self::Slurm(task) => &task.name,
        }
    }
}

/// Drivers that do not respond are given up there before.
const TIME_LIMIT: Duration = Duration::from_mins(1);
/// A GPU's driver may compile its kernels first.
const SELF_TEST_LIMIT: Duration = Duration::from_mins(4);

/// The hardware of a host; an error if it cannot be reached, or has no Inkling of this version.
pub fn hardware_on(host: &SshHost) -> Result<Hardware, EngineExit> {
    let (lines, exit) = lines_of(host, &["hardware", "--json"])?;
    lines
        .into_iter()
        .next()
        .ok_or_else(|| disconnected(host, exit))
}

/// The bundles that were sent to a host and are still there.
pub fn received_on(host: &SshHost) -> Result<Vec<ReceivedBundle>, EngineExit> {
    let (lines, exit) = lines_of(host, &["hosts", "received", "--json"])?;
    if exit.is_success {
        Ok(lines)
    } else {
        Err(disconnected(host, exit))
    }
}

pub fn delete_received_on(
    host: &SshHost,
    bundles: &[BundleId],
) -> Result<Vec<DeletedBundle>, EngineExit> {
    let arguments = ["hosts", "delete", "--json"]
        .into_iter()
        .chain(bundles.iter().map(|id| id.0.as_str()));
    let (lines, exit): (Vec<DeletedBundle>, _) = lines_of(host, &arguments.collect::<Vec<_>>())?;
    if lines.len() == bundles.len() {
        Ok(lines)
    } else {
        Err(disconnected(host, exit))
    }
}

fn lines_of<T: DeserializeOwned>(
    host: &SshHost,
    arguments: &[&str],
) -> Result<(Vec<T>, Exit), EngineExit> {
    let failed = |reason: String| EngineExit::Disconnected {
        machine: host.name().to_owned(),
        reason,
    };
    let (output, exit) = run_within(host.command(arguments), TIME_LIMIT).map_err(failed)?;
    Ok((
        output
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        exit,
    ))
}

fn disconnected(host: &SshHost, exit: Exit) -> EngineExit {
    let reason = if exit.stderr_tail.is_empty() {
        exit.status
    } else {
        exit.stderr_tail
    };
    EngineExit::Disconnected {
        machine: host.name().to_owned(),
        reason,
    }
}

pub fn self_test_on(host: &SshHost, device: DeviceChoice) -> Result<SelfTestReport, Problem> {
    run_in_subprocess(
        host.command(&[
            "hardware",
            "--self-test",
            "--json",
            "--device",
            device.name(),
        ]),
        SELF_TEST_LIMIT,
    )
}
