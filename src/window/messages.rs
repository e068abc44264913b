//! Messages that only the window shows.

use std::path::Path;

use super::{SweepPhase, SweepView, device_name};
use crate::data::my_digits::Edit;
use crate::infer::DeviceRejection;
use crate::problem::{Explain, Message, Problem};
use crate::records::{Accuracy, BeforeAfter, FineTuned, RunPosition, RunSummary};
use crate::run_config::{
    DeviceChoice, ModelKind, ParseLayersError, Range, layers_hint, widths_hint,
};
use crate::runs::Reproduction;
use crate::sweep::{DefinitionError, Trial};
use crate::text::format::{capitalized, count, grouped, percent};
use crate::text::visible;

impl Message {
    /// A model was fine-tuned on the person's drawings, and taken over or not.
    pub fn fine_tuned(tuned: &FineTuned) -> Self {
        let change = |figures: BeforeAfter, of: &str, places| {
            let [before, after] = [figures.before(), figures.after()];
            format!(
                "{} of {of} ({} before)",
                percent(after, places),
                percent(before, places)
            )
        };
        let mine = change(tuned.mine, "your drawings", 0);
        let apart = match tuned.held_out {
            Some(apart) if apart.after == apart.before => {
                format!("Held-out drawings: {} of {}, unchanged.", apart.after, apart.images)
            }
            Some(apart) => {
                format!("Held-out drawings: {} of {} ({} before).", apart.after, apart.images, apart.before)
            }
            None => "It was trained on all of your drawings; with 30 or more, some are held out to measure its accuracy.".to_owned(),
        };
        if let Some(saved) = &tuned.saved {
            let accuracy = saved.accuracy().map_or_else(String::new, |accuracy| {
                let is_of_same_images = |before: &&Accuracy| before.label() == accuracy.label();
                let before = tuned.before.as_ref().filter(is_of_same_images);
                format!(
                    " {accuracy}{}.",
                    before.map_or_else(String::new, |before| format!(
                        " ({} before)",
                        before.percent()
                    ))
                )
            });
            return Self::new(
                format!("Fine-tuned: the model recognizes {mine}.{accuracy}"),
                format!("{apart} The previous model is still under Models."),
            );
        }
        let of = format!(
            "{} validation images of {}",
            grouped(tuned.old.images),
            tuned.old_data.label()
        );
        let known = change(tuned.old, &of, 1);
        Self::new(
            format!(
                "Fine-tuning was discarded: the fine-tuned model recognizes {mine}, and {known}."
            ),
            "A fine-tuned model is used only if it loses at most 0.2 points on the original data and recognizes as many of your drawings. Check the labels of your drawings, and add more.",
        )
    }

    /// Drawings were added from a file.
    pub fn ink_imported(added: usize, found: usize) -> Self {
        let drawings = count(added as u64, "drawing");
        let what = if added < found {
            format!(
                "Added {drawings}; you had the other {} already.",
                found - added
            )
        } else {
            format!("Added {drawings}.")
        };
        Self::new(
            what,
            "They are under My digits, where Undo removes them again.",
        )
    }

    /// A change of the kept drawings was undone.
    pub fn undone(edit: &Edit) -> Self {
        let what = match (edit.remove.as_slice(), edit.add.as_slice()) {
            ([], [kept]) => format!("The drawing of a {} was removed.", kept.digit),
            ([], several) => format!(
                "The {} that you imported were removed.",
                count(several.len() as u64, "drawing")
            ),
            ([deleted], []) => format!("The drawing of a {} was restored.", deleted.digit),
            ([before, ..], _) => format!("The drawing is a {} again.", before.digit),
        };
        Self::new(what, "")
    }

    pub fn drawings_unreadable(lines: usize) -> Self {
        let lines = count(lines as u64, "line");
        Self::new(
            format!("{lines} of my-digits.jsonl could not be read."),
            "They stay in the file, which is in the folder data, but are ignored.",
        )
    }

    /// A run was trained again.
    pub fn reproduced(found: &Reproduction) -> Self {
        Self::new(found.sentence(), "Both runs are under Models.")
    }

    /// A run has finished or was stopped, and was saved.
    pub fn run_finished(summary: &RunSummary) -> Self {
        let accuracy = summary
            .accuracy()
            .map_or_else(String::new, |accuracy| format!(" {accuracy}."));
        if summary.stopped {
            let what = format!(
                "Training stopped. The weights from the last completed epoch were saved.{accuracy}"
            );
            return Self::new(what, "You can find them under Models.");
        }
        Self::new(
            format!("Training finished.{accuracy}"),
            "Draw a digit to try the model, or see its errors under Results.",
        )
    }

    /// A run was saved in the folder that it was started with on the command line, not among the
    /// others.
    pub fn saved_in_its_folder(folder: &Path) -> Self {
        Self::new(
            format!(
                "The run was saved in {}, the folder that was chosen when it was started.",
                folder.display()
            ),
            "To list it under Models as well, import the model in that folder.",
        )
    }

    /// A path that was typed leads to no folder.
    pub fn no_such_folder(path: &Path) -> Self {
        Self::new(
            format!("There is no folder {}.", path.display()),
            "Check the spelling.",
        )
    }

    /// A path that was typed leads to no file.
    pub fn no_such_file(path: &Path) -> Self {
        Self::new(
            format!("There is no file {}.", path.display()),
            "Check the spelling.",
        )
    }

    /// A file of the name that was typed exists.
    pub fn file_exists(path: &Path) -> Self {
        Self::new(
            format!("{} exists already.", path.display()),
            "Choose another name.",
        )
    }

    pub fn run_deleted(title: &str) -> Self {
        Self::new(
            format!("“{title}” was deleted."),
            "It is removed from the disk when Inkling is closed.",
        )
    }

    /// A model was to be given the name of another.
    pub fn name_taken(name: &str) -> Self {
        Self::new(
            format!("Another model is already called “{name}”."),
            "Choose a different name.",
        )
    }

    pub fn diagnostics_copied() -> Self {
        Self::new(
            "Diagnostics were copied to the clipboard.",
            "Paste them into a bug report. They contain versions, hardware, settings and the end of the log, but no personal data.",
        )
    }

    /// A run was stopped before its first epoch was complete.
    pub fn stopped_unfinished() -> Self {
        Self::new(
            "Training stopped before the first epoch was complete, so there is no model yet.",
            "You can resume the run now or later.",
        )
    }

    /// A run was interrupted while the window was in the background.
    pub fn run_interrupted() -> Self {
        Self::new(
            "Training was interrupted.",
            "Open Inkling to see why and to resume it.",
        )
    }

    /// Only the first of a file's drawings is shown on the canvas.
    pub fn first_of_several(file: &Path) -> Self {
        Self::new(
            format!(
                "{} contains several drawings; only the first is shown.",
                file.display()
            ),
            "The command inkling predict recognizes all of them. If they have labels, you can train on them.",
        )
    }

    /// Something that was sent to another machine could not be deleted there.
    pub fn not_deleted_there(what: &str, host: &str, problem: &str) -> Self {
        Self::new(
            format!("{what} was not deleted on {host}, because {problem}."),
            "Try again when no run trains there.",
        )
    }

    pub fn not_a_host(given: &str) -> Self {
        Self::new(
            format!(
                "“{}” is not the name of an SSH host.",
                visible::one_line(given)
            ),
            "Enter a name as you would after `ssh`, without options, such as gpu-box, anna@10.0.0.7 or ssh://anna@10.0.0.7:2222.",
        )
    }

    /// A device of another machine failed its self-test.
    pub fn self_test_failed_on(host: &str, failure: &str) -> Self {
        Self::new(
            format!("{host} cannot be used. {failure}"),
            format!("Run `ssh {host} inkling hardware --self-test` for the details."),
        )
    }

    /// The engine's process exited, or it crashed within this one if there is no `problem`; `left`
    /// is where the interrupted run can be resumed from.
    pub fn engine_lost(
        problem: Option<&Problem>,
        was_training: bool,
        left: Option<RunPosition>,
    ) -> Self {
        let what = problem.map_or_else(
            || "Inkling's engine crashed and was restarted.".to_owned(),
            |problem| problem.message.what.clone(),
        );
        let on_the_cpu = if problem.is_some() { " on the CPU" } else { "" };
        let remedy = match (was_training, left) {
            (true, Some(position)) => {
                format!(
                    "Training was interrupted; it was last saved after {position}. Press Resume to resume it from there{on_the_cpu}."
                )
            }
            (true, None) => {
                "Training was interrupted before it was first saved. Press Start to train again."
                    .to_owned()
            }
            (false, _) if problem.is_some() => {
                "A new engine was started within Inkling itself; nothing was lost.".to_owned()
            }
            (false, _) => "Saved models are safe.".to_owned(),
        };
        Self::new(what, remedy)
    }

    /// A device that is not used for recognition although it is available.
    pub fn inference_rejection(device: DeviceChoice, flaw: &DeviceRejection) -> Self {
        let name = capitalized(device_name(device, true));
        let what = match flaw {
            DeviceRejection::Disagrees(agreement) => {
                let differing = agreement.images - agreement.matching;
                format!(
                    "{name} is not used for recognition: it disagreed with the CPU on {differing} of {} images (probabilities differed by up to {:.0e}).",
                    agreement.images, agreement.max_difference
                )
            }
            DeviceRejection::Slow { images, seconds } => {
                format!(
                    "{name} is not used for recognition: it took {seconds:.1} s for {images} drawings."
                )
            }
            DeviceRejection::Failed(error) => {
                format!("{name} is not used for recognition. {}", error.message.what)
            }
        };
        Self::new(what, "The CPU is used instead; no action is needed.")
    }

    /// The text in a field is not a valid value.
    pub fn not_a_number(text: &str, range: &Range) -> Self {
        let what = match text.trim() {
            "" => format!("{} is missing.", capitalized(range.name)),
            text => format!("“{text}” is not valid for {}.", range.name),
        };
        Self::new(what, format!("Enter {}.", range.hint()))
    }

    /// The text in the field of the layer widths gives none.
    pub fn not_widths(text: &str, model: ModelKind) -> Self {
        Self::new(
            format!("“{}” is not a list of layer widths.", text.trim()),
            widths_hint(model),
        )
    }

    /// The text in the field of the hidden layers gives none.
    pub fn not_layers(error: &ParseLayersError) -> Self {
        let ParseLayersError { given, reason, .. } = error;
        Self::new(
            format!("“{given}” is not a list of hidden layers: {reason}."),
            layers_hint(),
        )
    }

    pub fn written(path: &Path) -> Self {
        Self::new(format!("Saved as {}.", path.display()), "")
    }

    pub fn image_copied() -> Self {
        Self::new(
            "The image that the model sees was copied to the clipboard.",
            "It has 28 × 28 pixels, white on black as in MNIST.",
        )
    }

    pub fn settings_not_saved(problem: &Problem) -> Self {
        Self::new(
            format!("Your settings could not be saved: {}", problem.message.what),
            "They apply until Inkling is closed.",
        )
    }

    /// The settings file could not be read and was renamed.
    pub fn settings_set_aside(aside: &Path) -> Self {
        Self::new(
            "The settings file could not be read, so default settings are used.",
            format!("The old file was renamed to {}.", aside.display()),
        )
    }

    /// A mistake in the form of the window, where nobody writes options.
    pub fn in_sweep_form(error: &DefinitionError) -> Self {
        match error {
            DefinitionError::NothingVaries => Self::new("No setting varies.", "Add one."),
            DefinitionError::NoBudget => {
                Self::new("The sweep has no limit.", "Limit the trials or the time.")
            }
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
                "A grid needs values, not a range.",
                "List values, or choose another method.",
            ),
            DefinitionError::GridTooLarge { size } => Self::new(
                format!("There are {size} combinations, more than a sweep can try."),
                "Leave values out, or choose another method.",
            ),
            other => other.message(),
        }
    }

    /// A field of that form holds no number.
    pub fn not_a_number_in_sweep(text: &str) -> Self {
        Self::new(
            format!("\"{text}\" is not a number."),
            "Enter a number, or leave the field empty.",
        )
    }

    pub fn invalid_in_train(message: &Self) -> Self {
        Self::new(
            format!("In the settings under Train: {}", message.what),
            message.remedy.clone(),
        )
    }

    /// Something would fight with the sweep for the cores.
    pub fn sweep_in_progress() -> Self {
        Self::new(
            "A sweep is in progress.",
            "Pause it under Sweep, or wait until it has ended.",
        )
    }

    pub fn sweep_ended(view: &SweepView) -> Self {
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
                "The sweep is complete, but no trial was completed.",
                "Details are under Sweep.",
            ),
        }
    }

    pub fn sweep_deleted() -> Self {
        Self::new(
            "The sweep was deleted.",
            "It can be restored until Inkling is closed.",
        )
    }
}
