use std::process::ExitCode;

use super::interrupt::{self, Request};
use super::output::note;
use crate::infer::ComparisonError;
use crate::problem::Problem;
use crate::run_config::ConfigProblem;
use crate::sweep::SweepError;
use crate::window::messages::Message;

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
        /// What became of the work, if there was any.
        sentence: Option<String>,
        status: u8,
    },
}

impl Failure {
    /// All problems of a configuration, one per line.
    pub fn of_config(problems: &[ConfigProblem]) -> Self {
        let sentences = problems
            .iter()
            .map(|problem| Message::from(&Problem::from(problem.clone())).to_string());
        Self::Usage(sentences.collect::<Vec<_>>().join("\n"))
    }

    /// Why a sweep cannot begin or go on.
    pub fn of_sweep(error: SweepError) -> Self {
        match error {
            SweepError::Definition(_) => Self::Usage(Message::from(&error).to_string()),
            SweepError::Problem(problem) => problem.into(),
            error => Self::Failed(Message::from(&error).to_string()),
        }
    }

    /// The same, where this process was asked to end.
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
            note(&sentence);
        }
        ExitCode::from(status)
    }
}

impl<P: Into<Problem>> From<P> for Failure {
    fn from(problem: P) -> Self {
        let problem = problem.into();
        tracing::info!(problem = problem.name(), "a problem is reported");
        let sentence = Message::from(&problem).to_string();
        match (problem, interrupt::requested()) {
            (
                Problem::Config(_)
                | Problem::Comparison(ComparisonError::Count { .. } | ComparisonError::Repeated)
                | Problem::NoConsent { .. },
                _,
            ) => Self::Usage(sentence),
            (Problem::Cancelled(_), Some(Request::Interrupt(status))) => Self::Terminated {
                sentence: Some(sentence),
                status,
            },
            (Problem::Cancelled(_), _) => Self::Terminated {
                sentence: Some(sentence),
                status: INTERRUPTED,
            },
            _ => Self::Failed(sentence),
        }
    }
}
