//! Owns the wording of what happens by itself: runs that end, files that are written, an engine that broke.
//! Must not know where it is shown.

use std::path::Path;

use super::Message;
use crate::app::device_name;
use crate::infer::ReadingFlaw;
use crate::problem::Problem;
use crate::protocol::ExportReport;
use crate::records::{ImportFinding, Intervention, QuantizedAccuracy, RunSummary};
use crate::run_config::{DataSpec, DeviceChoice};
use crate::text::format::{capitalised, grouped, percent};

impl Message {
    /// A run is over and kept.
    pub fn run_finished(summary: &RunSummary) -> Self {
        match &summary.test {
            Some(test) => Self::new(
                format!("The run has finished: {} of {} test pictures are read rightly.", percent(test.accuracy, 2), grouped(test.images)),
                "Draw a digit to try it, or look at its mistakes under Results.",
            ),
            None => Self::new("The run was stopped. What it had learned by its last full epoch is kept.", "You find it under Models."),
        }
    }

    /// A run ended without being finished, while nobody looked.
    pub(in crate::app) fn run_interrupted() -> Self {
        Self::new("The run broke off.", "Inkling's window says why, and how to go on.")
    }

    /// Only the first drawing of a file is on the canvas.
    pub(in crate::app) fn first_of_several(file: &Path) -> Self {
        Self::new(
            format!("{} holds several drawings; this is the first.", file.display()),
            "`inkling predict` reads all of them, and Train can learn from them where they have labels.",
        )
    }

    /// A run did something by itself.
    pub fn intervened(intervention: &Intervention) -> Self {
        match *intervention {
            Intervention::SkippedStep { step, loss_scale } => Self::new(
                format!("Step {step} was skipped: its gradients were too large for f16."),
                format!("Nothing needs to be done; the loss scale is now {}.", grouped(loss_scale as u64)),
            ),
            Intervention::SteppedBack { step, to_step, rate_factor, left } => {
                let from = if to_step == 0 { "its start".to_owned() } else { format!("step {}", grouped(to_step)) };
                let share = (1.0 / rate_factor).round() as u64;
                let then = match left {
                    0 => "It will not step back again".to_owned(),
                    1 => "It will step back once more if it has to".to_owned(),
                    _ => format!("It will step back {left} times more if it has to"),
                };
                Self::new(
                    format!(
                        "At step {} the loss was no longer a number. The run goes on from {from} with 1/{share} of its learning rate.",
                        grouped(step)
                    ),
                    format!("{then}; next time, choose a lower learning rate."),
                )
            }
            Intervention::SmallerParts { step, images } => Self::new(
                format!("Autosave ran short at step {}: batches are now computed {images} pictures at a time.", grouped(step)),
                "The batch size stays what it is: gradients of the parts add up to those of the batch. It takes a little longer.",
            ),
            Intervention::StoppedEarly { epoch, best_epoch } => Self::new(
                format!("Training ended after epoch {epoch}: validation had not got better since epoch {best_epoch}."),
                format!("The weights of epoch {best_epoch} are kept."),
            ),
        }
    }

    /// The engine broke and started afresh by itself, or another one took its place.
    pub fn engine_restarted() -> Self {
        Self::new(
            "Inkling's engine broke and was started afresh. A run that was under way broke off; models that were kept are safe.",
            "You can go on: Continue goes on from the run's last full epoch, if it had one.",
        )
    }

    /// The engine's process is gone; `left` is the number of epochs that a run under way can go on from.
    pub fn engine_exited(problem: &Problem, was_training: bool, left: Option<u32>) -> Self {
        let what = Self::from(problem).what;
        let remedy = match (was_training, left) {
            (true, Some(epochs)) => {
                let epochs = if epochs == 1 { "its first epoch is".to_owned() } else { format!("its first {epochs} epochs are") };
                format!("The run under way broke off, but {epochs} safe: press Continue to go on from there, on the processor.")
            }
            (true, None) => "The run under way broke off before its first epoch was complete. Press Start to train again.".to_owned(),
            (false, _) => "Reading and training go on within Inkling itself; nothing was lost.".to_owned(),
        };
        Self::new(what, remedy)
    }

    /// A model does not read on a device that it could have read on.
    pub fn reading_flaw(device: DeviceChoice, flaw: &ReadingFlaw) -> Self {
        let name = capitalised(device_name(device, true));
        let what = match flaw {
            ReadingFlaw::Disagrees(agreement) => {
                let otherwise = agreement.pictures - agreement.alike;
                format!(
                    "{name} is not used for reading: it read {otherwise} of {} pictures otherwise than the processor, with probabilities up to {:.0e} apart.",
                    agreement.pictures, agreement.largest_difference
                )
            }
            ReadingFlaw::Slow { drawings, seconds } => {
                format!("{name} is not used for reading: it took {seconds:.1} s for {drawings} drawings.")
            }
            ReadingFlaw::Failed(error) => format!("{name} is not used for reading. {}", Self::from(&Problem::from(error.clone())).what),
        };
        Self::new(what, "The processor reads; nothing needs to be done.")
    }

    /// Checkpoints cannot be written.
    pub fn checkpoint_not_kept(problem: &Problem) -> Self {
        Self::new(
            format!("The run goes on, but could not be continued if it were interrupted: {}", Self::from(problem).what),
            "Free some room on the disk, or check that you may write there.",
        )
    }

    /// What was typed is not what the field takes.
    pub(in crate::app) fn not_a_number(text: &str, range: &str) -> Self {
        let what =
            if text.trim().is_empty() { "A number is missing.".to_owned() } else { format!("“{}” cannot be used.", text.trim()) };
        Self::new(what, format!("Type {range}."))
    }

    /// Weights came in and stand among the models.
    pub fn imported(summary: &RunSummary, finding: &ImportFinding) -> Self {
        let file = summary.imported.as_deref().unwrap_or("The file");
        let model = summary.config.model.label();
        match finding {
            ImportFinding::Described => Self::new(format!("{file} is imported: {model}, {}.", trained_on(&summary.config.data)), ""),
            ImportFinding::Recognised { accuracy, images, sure, .. } => {
                let reads = format!("reads {} of {} digits written by Inkling rightly", percent(*accuracy, 1), grouped(*images));
                let what =
                    format!("{file} is imported: its weights are those of {model} ({}), which {reads}.", summary.config.activation.label());
                let remedy = if *sure {
                    ""
                } else {
                    "That is hardly more than chance: it was trained on something else, or with an activation or a normalisation that was not guessed."
                };
                Self::new(what, remedy)
            }
        }
    }

    /// A picture was dropped on the window.
    pub fn picture_dropped(path: &Path) -> Self {
        Self::new(
            "Single pictures are read in the terminal, and not in the window.",
            format!(
                "Type: inkling predict \"{}\". A folder of such pictures, one for each digit, can be dropped here to train on.",
                path.display()
            ),
        )
    }

    /// A model was exported.
    pub fn exported(report: &ExportReport) -> Self {
        let what =
            report.paths.first().map_or_else(|| "The model was exported.".to_owned(), |path| format!("Exported to {}.", path.display()));
        let remedy = match (&report.quantized, &report.unmeasured) {
            (Some(QuantizedAccuracy { images, original, quantized }), _) => format!(
                "With 8-bit weights it reads {} of {} test pictures rightly; before, {}.",
                percent(*quantized, 2),
                grouped(*images),
                percent(*original, 2)
            ),
            (None, Some(problem)) => format!("What the 8-bit weights cost could not be measured: {}", Self::from(problem).what),
            (None, None) => String::new(),
        };
        Self::new(what, remedy)
    }

    /// A file was written.
    pub fn written(path: &Path) -> Self {
        Self::new(format!("Saved as {}.", path.display()), "")
    }

    /// The settings cannot be kept.
    pub fn settings_not_saved(problem: &Problem) -> Self {
        Self::new(format!("Your choices cannot be remembered for the next time: {problem}."), "Everything else works as usual.")
    }

    /// The settings file made no sense.
    pub fn settings_set_aside(aside: &Path) -> Self {
        Self::new(
            "The file with your settings could not be read, so the usual ones are used.",
            format!("The old file is kept as {}.", aside.display()),
        )
    }
}

fn trained_on(data: &DataSpec) -> String {
    format!("trained on {}", data.label())
}
