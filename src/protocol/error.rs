use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::problem::{Code, Explain, sentence};
use crate::records::KEPT_DAYS;
use crate::run_config::Classes;
use crate::text::format::count;

/// Why the engine does not do what it was asked, besides what its jobs report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// A run is in progress already.
    #[error("Another run is already in progress.")]
    Busy,
    /// No run or model answers to that reference any more.
    #[error("That run has ended, so its live model is no longer available.")]
    NoSuchRun,
    /// A model was to classify images of something else than it knows.
    #[error(
        "This model recognizes {}, but the images show {}.",
        model.plural(),
        data.plural()
    )]
    DifferentClasses {
        /// The classes of the model.
        model: Classes,
        /// The classes of the data set.
        data: Classes,
    },
    /// An ensemble was given where the weights of one model are needed.
    #[error("An ensemble cannot be exported or fine-tuned.")]
    NotOneModel,
    /// Files could not be sent to another machine.
    #[error(
        "The files could not be sent to the other machine: {}",
        sentence(reason)
    )]
    NotSent { reason: String },
    /// My digits were to be sent to another machine, and the person has not agreed to that.
    #[error(
        "This would send My digits to {machine}: {}, as images with their labels, stored there for your account only until {KEPT_DAYS} days after their last use. You have not agreed to that, so nothing was sent.",
        count(*drawings, "drawing")
    )]
    NoConsent {
        /// How many.
        drawings: u64,
        /// Where to.
        machine: String,
    },
    /// The run was interrupted before its end.
    #[error("Training was interrupted{}", if checkpoint.is_some() { "." } else { " and has no checkpoint: nothing was saved." })]
    Interrupted {
        /// The folder of the checkpoint it can be resumed from, if it has one.
        checkpoint: Option<PathBuf>,
    },
    /// It crashed, and was restarted.
    #[error("Inkling's engine crashed: {}", sentence(message))]
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// It is gone and did not come back.
    #[error("Inkling's engine has stopped and could not be restarted.")]
    Gone,
}

impl Explain for EngineError {
    fn remedy(&self) -> String {
        match self {
            Self::Busy => "Stop it or wait until it has finished.",
            Self::NoSuchRun => "Choose a saved model.",
            Self::DifferentClasses { .. } => "Choose a model that was trained on such images, or another data set.",
            Self::NotOneModel => "Choose one of its models.",
            Self::NotSent { .. } => "Check that there is space on its disk, and try again.",
            Self::NoConsent { .. } => "Agree with --send-my-digits, or in the window when you start it there; or train on this machine.",
            Self::Interrupted { checkpoint: Some(_) } => "It can be resumed: with `inkling train --resume`, or in the window under Models.",
            Self::Interrupted { checkpoint: None } => "Start it again.",
            Self::Panicked { .. } => "Saved models are safe. Try again, and please report this as a bug.",
            Self::Gone => "Saved models are safe. Restart Inkling.",
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match self {
            Self::Busy => Code::Busy,
            Self::NoSuchRun => Code::NoSuchRun,
            Self::NoConsent { .. } => Code::Usage,
            Self::Interrupted { checkpoint } => Code::Interrupted {
                checkpoint: checkpoint.clone(),
            },
            Self::Panicked { .. } => Code::Panicked,
            Self::Gone => Code::EngineGone,
            Self::DifferentClasses { .. } | Self::NotOneModel | Self::NotSent { .. } => Code::Other,
        }
    }
}

/// Why an engine in a separate process is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EngineExit {
    /// Its process could not be started.
    #[error("Inkling's engine could not be started: {}", sentence(reason))]
    NotStarted {
        /// The system's words.
        reason: String,
    },
    /// Its process ended without being asked to.
    #[error("Inkling's engine crashed ({status}).{}", last_output(words))]
    Ended {
        /// "signal: 9 (SIGKILL)", "exit status: 1".
        status: String,
        /// The last lines it wrote on its standard error; may be empty.
        words: String,
    },
    /// It no longer said that it lives.
    #[error("Inkling's engine did not respond for {seconds} s and was terminated.")]
    Hung {
        /// For how long.
        seconds: u32,
    },
    /// It is of another version.
    #[error(
        "The engine (Inkling {theirs}) and the window (Inkling {ours}) are different versions."
    )]
    Version {
        /// This program's.
        ours: String,
        /// The engine's.
        theirs: String,
    },
    /// It is on another machine, which cannot be reached, or not any more.
    #[error("The connection to {machine} failed: {}", sentence(reason))]
    Disconnected {
        /// The machine's name.
        machine: String,
        /// The message of ssh or Slurm, or what is wrong with the engine there.
        reason: String,
    },
    /// A command of Slurm failed, or the job array has left the queue.
    #[error("Slurm failed: {}", sentence(reason))]
    Slurm {
        /// The command's message, or what is wrong.
        reason: String,
    },
    /// Its content makes no sense.
    #[error("Inkling's engine sent an invalid message: {}", sentence(reason))]
    Garbled {
        /// The problem.
        reason: String,
    },
}

fn last_output(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(" Last output: {}", sentence(words))
    }
}

impl Explain for EngineExit {
    fn remedy(&self) -> String {
        match self {
            Self::NotStarted { .. } => "Close other programs, then restart Inkling.",
            Self::Ended { .. } | Self::Hung { .. } | Self::Garbled { .. } => "Saved models are safe.",
            Self::Version { .. } => "Restart Inkling. It was probably updated while it was running.",
            Self::Disconnected { machine, .. } => {
                return format!(
                    "Check that `ssh {machine} inkling --version` prints {} without asking for anything.",
                    concat!("“inkling ", env!("CARGO_PKG_VERSION"), "”")
                );
            }
            Self::Slurm { .. } => "Check the sbatch options, and use `squeue` to see whether the job is still in the queue.",
        }
        .to_owned()
    }
}
