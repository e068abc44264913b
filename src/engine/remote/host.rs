//! Other machines, and the programs that reach them.

use std::fmt::{Display, Formatter};
use std::process::Command;
use std::str::FromStr;

use crate::system::process::quoted_for_sh;

/// The program where none is named.
const INKLING: &str = "inkling";
/// What an address begins with that may have a port; `ssh` takes it as it is.
const URL: &str = "ssh://";

/// What stands for all nodes of a Slurm cluster.
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
    /// What the machine is called, for messages.
    pub name: String,
}

/// A name that `ssh` would not take for a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given:?} is not the name of an SSH host: write it as after `ssh`, such as gpu-box, anna@10.0.0.7 or ssh://anna@10.0.0.7:2222"
)]
pub struct NotAHost {
    pub given: String,
}

impl FromStr for SshHost {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, NotAHost> {
        let text = text.trim();
        let wrong = || NotAHost {
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
