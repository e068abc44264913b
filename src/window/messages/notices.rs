//! The messages about events: runs that end, files that are written, an engine that crashed.

use std::path::Path;

use super::Message;
use super::problems::{layers_hint, widths_hint};
use crate::data::my_digits::Edit;
use crate::infer::DeviceRejection;
use crate::problem::Problem;
use crate::protocol::ExportReport;
use crate::records::{
    Accuracy, BatchSizeFinding, BeforeAfter, DataUpload, Divergence, FineTuned, ImportFinding,
    Intervention, KEPT_DAYS, QuantizedAccuracy, RateFinding, Rescue, RunPosition, RunSummary,
    SearchEnd, TimeToAccuracy, fastest_batch_size,
};
use crate::run_config::{DataSpec, DeviceChoice, ModelKind, NotCnnLayers, Range, RunConfig};
use crate::runs::Reproduction;
use crate::system::WriteError;
use crate::text::format::{
    capitalised, count, duration, file_size, grouped, percent, plain, plain_percent, rounded,
};
use crate::text::visible;
use crate::window::device_name;

impl Message {
    /// A model was fine-tuned on the person's drawings, and taken over or not.
    pub fn fine_tuned(tuned: &FineTuned) -> Self {
        let change = |figures: BeforeAfter, places| {
            format!(
                "from {} to {}",
                percent(figures.before(), places),
                percent(figures.after(), places)
            )
        };
        let mine = format!("{} of yours", change(tuned.mine, 0));
        let apart = match tuned.held_out {
            Some(apart) if apart.after == apart.before => {
                format!("Of {} of yours that were kept apart, it recognises {}, as before.", apart.images, apart.after)
            }
            Some(apart) => {
                format!("Of {} of yours that were kept apart, it recognises {} instead of {}.", apart.images, apart.after, apart.before)
            }
            None => "It learned from all of your drawings; with 30 or more, some are kept apart to measure.".to_owned(),
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
                format!("Fine-tuned: {mine}.{accuracy}"),
                format!("{apart} The model before is still under Models."),
            );
        }
        let known = format!(
            "{} on {} validation images of {}",
            change(tuned.old, 1),
            grouped(tuned.old.images),
            tuned.old_data.label()
        );
        Self::new(
            format!("The model stays as it was: {mine}, but {known}."),
            "It would have lost more than 0.2 points of what it knew, or some of your drawings. Check the labels of your drawings, and add more.",
        )
    }

    /// Drawings were added from a file.
    pub(in crate::window) fn ink_imported(added: usize, found: usize) -> Self {
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
            "They are under My digits, where Undo takes them out again.",
        )
    }

    /// A change of the kept drawings was taken back.
    pub(in crate::window) fn undone(edit: &Edit) -> Self {
        let what = match (edit.remove.as_slice(), edit.add.as_slice()) {
            ([], [kept]) => format!("The drawing of a {} is no longer kept.", kept.digit),
            ([], several) => format!(
                "The {} that you imported are no longer kept.",
                count(several.len() as u64, "drawing")
            ),
            ([deleted], []) => format!("The drawing of a {} is back.", deleted.digit),
            ([before, ..], _) => format!("The drawing is a {} again.", before.digit),
        };
        Self::new(what, "")
    }

    /// Lines of the file of drawings are damaged.
    pub(in crate::window) fn drawings_unreadable(lines: usize) -> Self {
        let lines = count(lines as u64, "line");
        Self::new(
            format!("{lines} of the file of your drawings cannot be read."),
            "They stay in the file, my-digits.jsonl in the folder data, and are left out.",
        )
    }

    /// A run was trained again.
    pub(in crate::window) fn reproduced(found: &Reproduction) -> Self {
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
    pub(in crate::window) fn saved_in_its_folder(folder: &Path) -> Self {
        Self::new(
            format!(
                "The run was saved in {}, the folder that was chosen when it was started.",
                folder.display()
            ),
            "To list it under Models as well, import the model in that folder.",
        )
    }

    /// A path that was typed leads to no folder.
    pub(in crate::window) fn no_such_folder(path: &Path) -> Self {
        Self::new(
            format!("There is no folder {}.", path.display()),
            "Check the spelling.",
        )
    }

    /// A path that was typed leads to no file.
    pub(in crate::window) fn no_such_file(path: &Path) -> Self {
        Self::new(
            format!("There is no file {}.", path.display()),
            "Check the spelling.",
        )
    }

    /// A file of the name that was typed exists.
    pub(in crate::window) fn file_exists(path: &Path) -> Self {
        Self::new(
            format!("{} exists already.", path.display()),
            "Choose another name.",
        )
    }

    /// A run was deleted and can be restored.
    pub(in crate::window) fn run_deleted(title: &str) -> Self {
        Self::new(
            format!("“{title}” was deleted."),
            "It is removed from the disk when Inkling is closed.",
        )
    }

    /// A model was to be given the name of another.
    pub(in crate::window) fn name_taken(name: &str) -> Self {
        Self::new(
            format!("Another model is already called “{name}”."),
            "Choose a different name.",
        )
    }

    pub(in crate::window) fn diagnostics_copied() -> Self {
        Self::new(
            "Diagnostics were copied to the clipboard.",
            "Paste them into a bug report. They contain versions, hardware, settings and the end of the log, and nothing personal.",
        )
    }

    /// A run was stopped before its first epoch was complete.
    pub(in crate::window) fn stopped_unfinished() -> Self {
        Self::new(
            "Training stopped before the first epoch was complete, so there is no model yet.",
            "You can resume the run now or later.",
        )
    }

    /// A run was interrupted while the window was in the background.
    pub(in crate::window) fn run_interrupted() -> Self {
        Self::new(
            "Training was interrupted.",
            "Open Inkling to see why and to resume it.",
        )
    }

    /// Only the first of a file's drawings is shown on the canvas.
    pub(in crate::window) fn first_of_several(file: &Path) -> Self {
        Self::new(
            format!(
                "{} contains several drawings; only the first is shown.",
                file.display()
            ),
            "The command inkling predict recognises all of them. If they have labels, you can train on them.",
        )
    }

    pub fn intervened(intervention: &Intervention) -> Self {
        match *intervention {
            Intervention::SkippedStep { step, loss_scale } => Self::new(
                format!("Step {step} was skipped because its gradients overflowed in f16."),
                format!("No action is needed; the loss scale is now {}.", grouped(loss_scale as u64)),
            ),
            Intervention::RolledBack { step, to_step, lr_factor, left, cause } => {
                let from = if to_step == 0 { "the start".to_owned() } else { format!("step {}", grouped(to_step)) };
                let share = (1.0 / lr_factor).round() as u64;
                let then = match left {
                    0 => "No more rollbacks are allowed".to_owned(),
                    1 => "One more rollback is allowed".to_owned(),
                    _ => format!("{left} more rollbacks are allowed"),
                };
                Self::new(
                    format!(
                        "{}. Training was rolled back to {from} and continues at 1/{share} of the learning rate.",
                        capitalised(&diverged(cause, step))
                    ),
                    format!("{then}. Choose a lower learning rate next time."),
                )
            }
            Intervention::SmallerMicroBatches { step, images } => Self::new(
                format!("Memory ran low at step {}, so batches are now split into micro-batches of {images} images.", grouped(step)),
                "The effective batch size is unchanged; training is slightly slower.",
            ),
            Intervention::LargerBatches { epoch, batch_size, noise_scale } => Self::new(
                format!("From epoch {epoch} on, batches have {} images.", grouped(batch_size.into())),
                match noise_scale {
                    Some(scale) => format!(
                        "The gradient noise scale is about {} images: smaller batches would be mostly noise.",
                        grouped(scale.round() as u64)
                    ),
                    None => "The gradient noise scale is too large to be measured: smaller batches would be mostly noise.".to_owned(),
                },
            ),
            Intervention::WorseThanChance { validation_loss, chance_loss } => Self::new(
                format!(
                    "The model does worse than guessing: its validation loss is {validation_loss:.1}, that of guessing is {chance_loss:.2}."
                ),
                "Lower the learning rate, for example to a tenth, and train again.",
            ),
            Intervention::StoppedEarly { epoch, best_epoch } => Self::new(
                format!("Stopped early after epoch {epoch}: no improvement on the validation set since epoch {best_epoch}."),
                format!("The weights of epoch {best_epoch} were saved."),
            ),
        }
    }

    /// Training data is about to be sent to another machine.
    pub fn sending(upload: &DataUpload) -> Self {
        let DataUpload {
            what,
            images,
            bytes,
            machine,
        } = upload;
        Self::new(
            format!(
                "Sending {what} to {machine}: {}, {}.",
                count(*images, "image"),
                file_size(*bytes)
            ),
            format!(
                "It is kept there until {KEPT_DAYS} days after its last use, or until you delete it: under Hardware, or with `inkling hosts`."
            ),
        )
    }

    /// Something that was sent to another machine could not be deleted there.
    pub(in crate::window) fn not_deleted_there(what: &str, host: &str, problem: &str) -> Self {
        Self::new(
            format!("{what} was not deleted on {host}, because {problem}."),
            "Try again when no run trains there.",
        )
    }

    /// What was typed is not a host.
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
            |problem| Self::from(problem).what,
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
        let name = capitalised(device_name(device, true));
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
                format!(
                    "{name} is not used for recognition. {}",
                    Self::from(&Problem::from(error.clone())).what
                )
            }
        };
        Self::new(what, "The CPU is used instead; no action is needed.")
    }

    pub fn checkpoint_not_kept(problem: &Problem) -> Self {
        let Self { what, remedy } = Self::from(problem);
        Self::new(
            format!(
                "Training continues, but checkpoints cannot be saved, so it could not be resumed if interrupted: {what}"
            ),
            remedy,
        )
    }

    /// The curves of a run for `TensorBoard` cannot be written.
    pub fn tensorboard_not_written(error: &WriteError) -> Self {
        let Self { what, remedy } = Self::from(&Problem::from(error.clone()));
        Self::new(
            format!("Training continues, but without curves for TensorBoard. {what}"),
            remedy,
        )
    }

    /// A run that has ended could not be saved; `checkpoint` is how far it is in its checkpoint.
    pub fn run_not_saved(problem: &Problem, checkpoint: Option<RunPosition>) -> Self {
        let Self { what, remedy } = Self::from(problem);
        let lost = if checkpoint.is_none() {
            " No checkpoint of it could be saved either, so it cannot be resumed."
        } else {
            ""
        };
        Self::new(
            format!("The run has ended, but it is not saved yet: {what}"),
            format!("{remedy} Saving is tried again every few seconds.{lost}"),
        )
    }

    /// A run that could not be saved as it was to be was saved another way.
    pub fn rescued(problem: &Problem, rescue: &Rescue) -> Self {
        let Self { what, .. } = Self::from(problem);
        let folder = rescue.folder.display();
        let kept = if rescue.model_alone {
            format!(
                "Only its model, its accuracies and its history by epoch were saved, in {folder}: without the curve of its steps, its misclassified images and samples from its posterior."
            )
        } else {
            format!("It was saved in {folder} instead.")
        };
        let remedy = if rescue.temporary {
            "The system deletes what is in this temporary folder: move the run to another place, for example among your other runs."
        } else {
            ""
        };
        Self::new(
            format!("The run could not be saved as intended. {what} {kept}"),
            remedy,
        )
    }

    /// What came of the search for a learning rate, and why.
    pub fn learning_rate_found(finding: &RateFinding) -> Self {
        let Some(suggestion) = finding.suggestion else {
            let what = "The loss did not fall at any learning rate.";
            return Self::new(
                what,
                "Check the data, or choose another optimiser or network.",
            );
        };
        let end = match finding.end {
            SearchEnd::Risen => "then rises",
            SearchEnd::Diverged => "then training diverges",
            SearchEnd::Completed => "and has not risen much by the end",
        };
        let [rate, steepest, lowest, tenth] = [
            suggestion.rate,
            suggestion.steepest,
            suggestion.lowest,
            suggestion.tenth_of_lowest(),
        ]
        .map(plain);
        Self::new(
            format!(
                "Suggested learning rate: {rate}. The loss falls fastest at {steepest} and is lowest at {lowest}, {end}."
            ),
            format!(
                "The suggestion is halfway between, on a logarithmic scale. A cautious choice is a tenth of the lowest loss's rate: {tenth}."
            ),
        )
    }

    /// What the times to an accuracy say about the batch size, and what the gradient noise scale
    /// does.
    pub fn batch_size_found(
        rows: &[TimeToAccuracy],
        accuracy: f64,
        finding: &BatchSizeFinding,
    ) -> Self {
        let target = plain_percent(accuracy);
        let fastest = fastest_batch_size(rows)
            .and_then(|size| rows.iter().find(|row| row.batch_size == size));
        let what = match fastest.and_then(|row| Some((row, row.reached?))) {
            Some((row, reached)) => format!(
                "Recommended batch size: {}. It reaches {target} validation accuracy after {} of training.",
                row.batch_size,
                duration(reached.seconds)
            ),
            None => {
                format!("No batch size reached {target} validation accuracy in the time it had.")
            }
        };
        let noise = match finding.noise_scale {
            Some(scale) => format!(
                "Gradient noise scale: about {} images. Larger batches than that need noticeably more images for the same accuracy.",
                grouped(rounded(scale, 2).round() as u64)
            ),
            None => "The gradient noise scale is too large to be measured: noise outweighs the gradient at every batch size.".to_owned(),
        };
        let remedy = if fastest.is_none() {
            "Try a lower accuracy or another learning rate. "
        } else {
            ""
        };
        Self::new(what, format!("{remedy}{noise}"))
    }

    /// The text in a field is not a valid value.
    pub(in crate::window) fn not_a_number(text: &str, range: &Range) -> Self {
        let what = match text.trim() {
            "" => format!("{} is missing.", capitalised(range.name)),
            text => format!("“{text}” is not valid for {}.", range.name),
        };
        Self::new(what, format!("Enter {}.", range.hint()))
    }

    /// The text in the field of the layer widths gives none.
    pub(in crate::window) fn not_widths(text: &str, model: ModelKind) -> Self {
        Self::new(
            format!("“{}” is not a list of layer widths.", text.trim()),
            widths_hint(model),
        )
    }

    /// The text in the field of a CNN's layers gives none.
    pub(in crate::window) fn not_layers(error: &NotCnnLayers) -> Self {
        let NotCnnLayers { given, reason } = error;
        Self::new(
            format!("“{given}” is not a list of the layers of a CNN: {reason}."),
            layers_hint(),
        )
    }

    /// Weights were imported and appear among the models.
    pub fn imported(summary: &RunSummary, finding: &ImportFinding) -> Self {
        let file = summary.imported.as_deref().unwrap_or("The file");
        let model = summary.config.network().label();
        let accuracy = summary
            .accuracy()
            .map_or_else(String::new, |accuracy| format!(" {accuracy}."));
        match finding {
            ImportFinding::Described { calibrated } => {
                let what = format!(
                    "Imported {file}: {model}, {}.{accuracy}",
                    trained_on(&summary.config.data)
                );
                Self::new(
                    what,
                    if *calibrated {
                        "It had no temperature; its probabilities were calibrated on built-in digits."
                    } else {
                        ""
                    },
                )
            }
            ImportFinding::OnnxGraph { .. } => Self::new(
                format!("Imported {file}: {model}.{accuracy}"),
                "Inkling cannot train this network, but you can draw with it, evaluate it and compare it.",
            ),
            ImportFinding::Recognised {
                accuracy: tried,
                sure,
                calibrated,
                ..
            } => {
                let recognises = *tried >= 0.5;
                let what = format!(
                    "Imported {file}: {model} ({}).{accuracy}",
                    summary.config.activation.label()
                );
                let remedy = if *calibrated {
                    "Its probabilities were calibrated on built-in digits."
                } else if *sure || recognises {
                    ""
                } else {
                    "That is barely above chance. The model was probably trained on other data, or uses an activation or normalisation that Inkling did not try."
                };
                Self::new(what, remedy)
            }
        }
    }

    /// Settings were changed because there are only so many training images.
    pub fn fitted_to_small_data(before: &RunConfig, fitted: &RunConfig, images: u64) -> Self {
        /// Of fewer images the usual share would be hardly any.
        const FEW: u64 = 110;
        let changed = |what: &str, before: u32, after: u32| {
            (before != after).then(|| format!("{what} {after} instead of {before}"))
        };
        let changes = [
            changed("batch size", before.batch_size, fitted.batch_size),
            changed("epochs", before.epochs, fitted.epochs),
        ];
        Self::new(
            format!(
                "The settings were adjusted to {}: {}.",
                count(images, "training image"),
                changes.into_iter().flatten().collect::<Vec<_>>().join(", ")
            ),
            if images < FEW {
                "One in five images is used for validation, up to ten."
            } else {
                ""
            },
        )
    }

    pub fn exported(report: &ExportReport) -> Self {
        let what = report.paths.first().map_or_else(
            || "The model was exported.".to_owned(),
            |path| format!("Exported to {}.", path.display()),
        );
        let remedy = match (&report.quantized, &report.unmeasured) {
            (
                Some(QuantizedAccuracy {
                    images,
                    original,
                    quantized,
                }),
                _,
            ) => format!(
                "Test accuracy with 8-bit weights: {} on {} images, compared with {} before.",
                percent(*quantized, 2),
                grouped(*images),
                percent(*original, 2)
            ),
            (None, Some(problem)) => format!(
                "The accuracy with 8-bit weights could not be measured: {}",
                Self::from(problem).what
            ),
            (None, None) => String::new(),
        };
        Self::new(what, remedy)
    }

    pub fn written(path: &Path) -> Self {
        Self::new(format!("Saved as {}.", path.display()), "")
    }

    pub(in crate::window) fn image_copied() -> Self {
        Self::new(
            "The image that the model sees was copied to the clipboard.",
            "It has 28 × 28 pixels, white on black as in MNIST.",
        )
    }

    /// The settings could not be saved.
    pub fn settings_not_saved(problem: &Problem) -> Self {
        Self::new(
            format!("Your settings could not be saved: {problem}."),
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
}

/// How training diverged, in the middle of a sentence.
pub(super) fn diverged(cause: Divergence, step: u64) -> String {
    let step = grouped(step);
    match cause {
        Divergence::NotFinite => {
            format!("the loss or its gradient became NaN or infinite at step {step}")
        }
        Divergence::Exploded => format!("the loss exploded at step {step}"),
    }
}

fn trained_on(data: &DataSpec) -> String {
    format!("trained on {}", data.label())
}
