//! What happens by itself or by request, in sentences that window and command line share: what a
//! run does, what was found, what was written.

pub mod label_errors;
pub mod verdict;

use crate::infer::STARTER_ACCURACIES;
use crate::problem::{Explain, Message, Problem};
use crate::protocol::ExportReport;
use crate::records::{
    BatchSizeFinding, DataUpload, ImportFinding, Intervention, KEPT_DAYS, LearningRateFinding,
    QuantizedAccuracy, Rescue, RunPosition, RunSummary, SearchEnd, TimeToAccuracy,
    fastest_batch_size,
};
use crate::run_config::{DataSource, DataSpec, RunConfig};
use crate::system::WriteError;
use crate::text::format::{
    capitalized, count, duration, file_size, grouped, percent, plain, plain_percent, rounded,
};

impl Message {
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
                        capitalized(&cause.at_step(step))
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
                    "The model is worse than chance: its validation loss is {validation_loss:.1}, and random guessing has {chance_loss:.2}."
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

    pub fn checkpoint_not_kept(problem: &Problem) -> Self {
        let Self { what, remedy } = &problem.message;
        Self::new(
            format!(
                "Training continues, but checkpoints cannot be saved, so it could not be resumed if interrupted: {what}"
            ),
            remedy,
        )
    }

    /// The curves of a run for `TensorBoard` cannot be written.
    pub fn tensorboard_not_written(error: &WriteError) -> Self {
        let Self { what, remedy } = error.message();
        Self::new(
            format!("Training continues, but without curves for TensorBoard. {what}"),
            remedy,
        )
    }

    /// A run that has ended could not be saved; `checkpoint` is how far it is in its checkpoint.
    pub fn run_not_saved(problem: &Problem, checkpoint: Option<RunPosition>) -> Self {
        let Self { what, remedy } = &problem.message;
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
        let what = &problem.message.what;
        let folder = rescue.folder.display();
        let kept = if rescue.model_alone {
            format!(
                "Only its model, its accuracies and its history by epoch were saved, in {folder}: without the curve of its steps, its misclassified images, samples from its posterior and its snapshots."
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

    /// The result of the search for a learning rate, and the reason.
    pub fn learning_rate_found(finding: &LearningRateFinding) -> Self {
        let Some(suggestion) = finding.suggestion else {
            let what = "The loss did not fall at any learning rate.";
            return Self::new(
                what,
                "Check the data, or choose another optimizer or network.",
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

    /// Weights were imported and appear among the models.
    pub fn imported(summary: &RunSummary, finding: &ImportFinding) -> Self {
        let file = summary.imported.as_deref().unwrap_or("The file");
        let model = summary.config.network().label();
        let accuracy = summary
            .accuracy()
            .map_or_else(String::new, |accuracy| format!(" {accuracy}."));
        match finding {
            ImportFinding::Described => {
                let data = trained_on(&summary.config.data);
                Self::new(format!("Imported {file}: {model}, {data}.{accuracy}"), "")
            }
            ImportFinding::Recognized { .. } if !summary.config.model.is_trainable() => Self::new(
                format!("Imported {file}: {model}.{accuracy}"),
                "Inkling cannot train this network, but you can draw with it, evaluate it and compare it.",
            ),
            ImportFinding::Recognized {
                accuracy: tried,
                sure,
                calibrated,
                ..
            } => {
                let recognizes = *tried >= 0.5;
                let what = format!(
                    "Imported {file}: {model} ({}).{accuracy}",
                    summary.config.activation.label()
                );
                let remedy = if *calibrated {
                    "Its probabilities were calibrated on built-in digits."
                } else if *sure || recognizes {
                    ""
                } else {
                    "That is barely above chance. The model was probably trained on other data, or uses an activation or normalization that Inkling did not try."
                };
                Self::new(what, remedy)
            }
        }
    }

    /// Settings were changed because there are only so many training images.
    pub fn fitted_to_small_data(before: &RunConfig, fitted: &RunConfig, images: u64) -> Self {
        /// Of fewer images the usual fraction would be hardly any.
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
                problem.message.what
            ),
            (None, None) => String::new(),
        };
        Self::new(what, remedy)
    }
}

fn trained_on(data: &DataSpec) -> String {
    format!("trained on {}", data.label())
}

/// A sentence for accuracies on built-in test digits, which are lower than those on MNIST; `None`
/// for data that is tested on anything else.
pub fn harder_data_note(data: &DataSpec) -> Option<String> {
    let is_builtin = data.sources().first() == Some(&DataSource::Builtin);
    is_builtin.then(|| {
        let [builtin, mnist] = STARTER_ACCURACIES.map(|accuracy| percent(accuracy, 1));
        format!("Built-in test digits are harder than MNIST's: the starter model classifies {builtin} of them correctly, and {mnist} of MNIST's.")
    })
}
