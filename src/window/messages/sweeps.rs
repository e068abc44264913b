//! The message for everything that can be wrong with a sweep.

use super::Message;
use super::problems::sentence;
use crate::problem::Problem;
use crate::run_config::Setting;
use crate::sweep::{DefinitionError, SweepError, Trial};
use crate::text::format::{capitalised, percent};
use crate::window::{SweepPhase, SweepView};

impl From<&SweepError> for Message {
    fn from(error: &SweepError) -> Self {
        match error {
            SweepError::Definition(error) => error.into(),
            SweepError::Unreadable { path, reason } => Self::new(
                format!("{} could not be read: {}", path.display(), sentence(reason)),
                "Check that the file exists and that you have permission to read it.",
            ),
            SweepError::Malformed { path, reason } => Self::new(
                format!(
                    "{} is not part of a sweep, or is damaged: {}",
                    path.display(),
                    sentence(reason)
                ),
                "Choose another folder, or start a new sweep.",
            ),
            SweepError::Occupied { folder } => Self::new(
                format!("The folder {} is not empty.", folder.display()),
                "Choose another, or resume the sweep in it with --resume.",
            ),
            SweepError::InUse { folder } => Self::new(
                format!(
                    "The sweep in {} is in progress in another process.",
                    folder.display()
                ),
                "Wait until that has ended, or stop it.",
            ),
            SweepError::None { folder } => Self::new(
                format!("There is no sweep to resume in {}.", folder.display()),
                "Leave out --resume to start a new one.",
            ),
            SweepError::Write(error) => (&Problem::from(error.clone())).into(),
            SweepError::Problem(problem) => problem.into(),
        }
    }
}

impl From<&DefinitionError> for Message {
    fn from(error: &DefinitionError) -> Self {
        match error {
            DefinitionError::UnknownSetting { name } => Self::new(
                format!("No setting is called \"{name}\"."),
                format!("Choose one of {}.", Setting::names(Setting::sweepable())),
            ),
            DefinitionError::NotAnAssignment { text } => Self::new(
                format!("\"{text}\" does not say what to set."),
                "Write NAME=VALUES, such as learning-rate=1e-4..1e-2:log or batch-size=32,64,128.",
            ),
            DefinitionError::Value {
                setting,
                given,
                wanted,
            } => Self::new(
                format!("{given} is not a value of {setting}."),
                format!("Choose {wanted}."),
            ),
            DefinitionError::NoValues { setting } => Self::new(
                format!("There are too few values of {setting} to choose from."),
                "List them with commas between them, or give one value to fix the setting.",
            ),
            DefinitionError::NotARange { setting, text } => Self::new(
                format!("\"{text}\" is not a range of {setting}."),
                "Write LOW..HIGH, with :log behind it for a logarithmic range, and :N for N values spread over it.",
            ),
            DefinitionError::RangeOfNames { setting } => Self::new(
                format!("The values of {setting} are names and have no range."),
                "List those to choose from, with commas between them.",
            ),
            DefinitionError::Reversed { setting, low, high } => Self::new(
                format!("The range of {setting}, {low} to {high}, is empty."),
                "Write the lower number first.",
            ),
            DefinitionError::LogFromZero { setting, low } => Self::new(
                format!("A logarithmic range of {setting} cannot begin at {low}."),
                "Begin above 0, or leave out :log.",
            ),
            DefinitionError::ValueTwice { setting, given } => Self::new(
                format!("The value {given} of {setting} is listed twice."),
                "Leave one of them out.",
            ),
            DefinitionError::SettingTwice { setting } => Self::new(
                format!("{setting} is given twice."),
                "Leave one of them out.",
            ),
            DefinitionError::NothingVaries => Self::new(
                "No setting varies.",
                "Name at least one with --set, for example --set learning-rate=1e-4..1e-2:log --set batch-size=32,64,128.",
            ),
            DefinitionError::NoBudget => Self::new(
                "The sweep would never end.",
                "Limit it with --trials or --time.",
            ),
            DefinitionError::Number {
                what,
                given,
                low,
                high,
            } => Self::new(
                format!("{} is out of range (got {given}).", capitalised(what)),
                format!("Choose a number from {low} to {high}."),
            ),
            DefinitionError::GridOfRange { setting } => Self::new(
                format!("A grid needs single values of {setting}, not a range."),
                format!(
                    "List them, or spread a number of them over the range: --set {setting}=LOW..HIGH:5."
                ),
            ),
            DefinitionError::GridTooLarge { size } => Self::new(
                format!("The grid has {size} combinations, more than a sweep can try."),
                "Leave values out, or choose the sampler tpe or random.",
            ),
            DefinitionError::Duration { text } => Self::new(
                format!("\"{text}\" is not a duration."),
                "Write, for example, 90s, 30m or 2h.",
            ),
            DefinitionError::File { reason } => Self::new(
                format!(
                    "The definition of the sweep cannot be read: {}",
                    sentence(reason)
                ),
                "Correct the file.",
            ),
            DefinitionError::Config(problem) => (&Problem::from(problem.clone())).into(),
        }
    }
}

impl Message {
    /// A mistake in the form of the window, where nobody writes options.
    pub(in crate::window) fn in_sweep_form(error: &DefinitionError) -> Self {
        match error {
            DefinitionError::NothingVaries => Self::new("No setting varies.", "Add one."),
            DefinitionError::NoBudget => Self::new(
                "The sweep would never end.",
                "Limit the trials or the time.",
            ),
            DefinitionError::NoValues { .. } => Self::new(
                "There is too little to choose from.",
                "Choose two values or more.",
            ),
            DefinitionError::Value { given, .. } if given.is_empty() => {
                Self::new("A number is missing.", "Fill in both ends of the range.")
            }
            DefinitionError::LogFromZero { low, .. } => Self::new(
                format!("A logarithmic range cannot begin at {low}."),
                "Begin above 0, or search it linearly.",
            ),
            DefinitionError::GridOfRange { .. } => Self::new(
                "Every combination can be tried of values only, not of a range.",
                "List values, or choose another method.",
            ),
            DefinitionError::GridTooLarge { size } => Self::new(
                format!("There are {size} combinations, more than a sweep can try."),
                "Leave values out, or choose another method.",
            ),
            other => other.into(),
        }
    }

    /// A field of that form holds no number.
    pub(in crate::window) fn not_a_number_in_sweep(text: &str) -> Self {
        Self::new(
            format!("\"{text}\" is not a number."),
            "Enter a number, or leave the field empty.",
        )
    }

    pub(in crate::window) fn invalid_in_train(message: &Self) -> Self {
        Self::new(
            format!("In the settings under Train: {}", message.what),
            message.remedy.clone(),
        )
    }

    /// Something would fight with the sweep for the cores.
    pub(in crate::window) fn sweep_in_progress() -> Self {
        Self::new(
            "A sweep is in progress.",
            "Pause it under Sweep, or wait until it has ended.",
        )
    }

    pub(in crate::window) fn sweep_ended(view: &SweepView) -> Self {
        match (&view.phase, view.best().and_then(Trial::result)) {
            (SweepPhase::Failed(message), _) => message.clone(),
            (_, Some(accuracy)) => Self::new(
                format!(
                    "The sweep is complete. Highest validation accuracy: {}.",
                    percent(accuracy, 2)
                ),
                "The settings that reached it are under Sweep.",
            ),
            (_, None) => Self::new(
                "The sweep is complete, but no trial trained to its end.",
                "See under Sweep why.",
            ),
        }
    }

    pub(in crate::window) fn sweep_deleted() -> Self {
        Self::new(
            "The sweep was deleted.",
            "It can be restored until Inkling is closed.",
        )
    }
}
