use std::process::ExitCode;

use super::interrupt::{self, Request};
use super::output::warn;
use crate::problem::{Code, Explain, Problem};
use crate::run_config::ConfigError;
use crate::text::format::joined;

/// The exit status after Ctrl-C, as is usual for shells.
pub const INTERRUPTED: u8 = 130;

/// Why a subcommand failed: its message and its exit status.
#[derive(Debug)]
pub enum Failure {
    /// The arguments are invalid; exit status 2.
    Usage(String),
    /// The work failed; exit status 1.
    Failed(String),
    /// The work failed in part or in full, and a message was printed already; exit status 1.
    Reported,
    /// Ctrl-C was pressed, and a message was printed already; exit status 130.
    Interrupted,
    /// The system asked this process to end, and the work can be resumed if the message says so;
    /// exit status 143 after SIGTERM, 129 after SIGHUP.
    Terminated {
        /// The state of the work, if there was any.
        sentence: Option<String>,
        status: u8,
    },
}

impl Failure {
    /// All problems of a configuration, one per line.
    pub fn of_config(problems: &[ConfigError]) -> Self {
        Self::Usage(joined(problems.iter().map(Explain::message), "\n"))
    }

    /// The same, if this process was asked to end.
    pub fn terminated(self, status: u8) -> Self {
        let sentence = match self {
            Self::Usage(sentence) | Self::Failed(sentence) => Some(sentence),
            Self::Reported | Self::Interrupted => None,
            Self::Terminated { sentence, .. } => sentence,
        };
        Self::Terminated { sentence, status }
    }

    /// Of a run that was saved, but not as it was to be, which was said already.
    pub fn of_rescue() -> Self {
        match interrupt::requested() {
            None => Self::Reported,
            Some(Request::Stop) => Self::Interrupted,
            Some(Request::Interrupt(status)) => Self::Interrupted.terminated(status),
        }
    }

    /// The same with another sentence after its own.
    pub fn followed_by(self, next: &str) -> Self {
        match self {
            Self::Failed(sentence) => Self::Failed(format!("{sentence} {next}")),
            Self::Terminated {
                sentence: Some(sentence),
                status,
            } => Self::Terminated {
                sentence: Some(format!("{sentence} {next}")),
                status,
            },
            other => other,
        }
    }

    /// Prints the message and returns the exit status.
    pub fn report(self) -> ExitCode {
        let (sentence, status) = match self {
            Self::Usage(sentence) => (Some(sentence), 2),
            Self::Failed(sentence) => (Some(sentence), 1),
            Self::Reported => (None, 1),
            Self::Interrupted => (None, INTERRUPTED),
            Self::Terminated { sentence, status } => (sentence, status),
        };
        tracing::info!(status, sentence, "the command failed");
        if let Some(sentence) = sentence {
            warn(&sentence);
        }
        ExitCode::from(status)
    }
}

impl<P: Into<Problem>> From<P> for Failure {
    fn from(problem: P) -> Self {
        let problem = problem.into();
        tracing::info!(problem = problem.name, "a problem is reported");
        let sentence = problem.message.to_string();
        match problem.code {
            Code::Usage | Code::Config | Code::BatchLargerThanSet { .. } => Self::Usage(sentence),
            Code::Cancelled => Self::Terminated {
                sentence: Some(sentence),
                status: match interrupt::requested() {
                    Some(Request::Interrupt(status)) => status,
                    _ => INTERRUPTED,
                },
            },
            _ => Self::Failed(sentence),
        }
    }
}
