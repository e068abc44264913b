//! Owns how a command ends when it does not end well: the sentence and the exit status.
//! Must not word problems: `app::messages` does.

use std::process::ExitCode;

use super::output::note;
use crate::app::messages::Message;
use crate::problem::Problem;
use crate::run_config::ConfigProblem;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// It was asked for something that cannot be; exit status 2.
    Usage(String),
    /// It could not be done; exit status 1.
    Failed(String),
    /// It could not be done, or not all of it, and was said already; exit status 1.
    Said,
    /// The person pressed Ctrl-C, and was told what that left; exit status 130, as shells have it.
    Interrupted,
}

impl Failure {
    /// Several things wrong with a configuration.
    pub fn of_config(problems: &[ConfigProblem]) -> Self {
        let sentences = problems.iter().map(|problem| Message::from(&Problem::from(problem.clone())).to_string());
        Self::Usage(sentences.collect::<Vec<_>>().join("\n"))
    }

    /// Says it and gives the exit status.
    pub fn report(self) -> ExitCode {
        let (sentence, status) = match self {
            Self::Usage(sentence) => (Some(sentence), 2),
            Self::Failed(sentence) => (Some(sentence), 1),
            Self::Said => (None, 1),
            Self::Interrupted => (None, 130),
        };
        if let Some(sentence) = sentence {
            note(&sentence);
        }
        ExitCode::from(status)
    }
}

impl<P: Into<Problem>> From<P> for Failure {
    fn from(problem: P) -> Self {
        let problem = problem.into();
        let sentence = Message::from(&problem).to_string();
        if matches!(problem, Problem::Config(_)) { Self::Usage(sentence) } else { Self::Failed(sentence) }
    }
}
