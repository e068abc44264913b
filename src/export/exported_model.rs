use serde_json::json;

use super::ExportError;
use super::untrusted::{self, Untrusted};
use crate::ink::SIDE;
use crate::math::statistics::{calibration_error, reliability_sentence, wilson_interval};
use crate::nn::ModelFile;
use crate::records::{
    Accuracy, Calibration, Evaluation, Normalization, QuantizedAccuracy, RunSummary,
    SplitEvaluation,
};
use crate::run_config::{Classes, DataSource, DataSpec, WeightFormat};
use crate::text::format::{duration, grouped, joined, local_time, percent};

/// A model to export with the run that trained it, and the descriptions that all exported files
/// share.
#[derive(Clone, Debug)]
pub struct ExportedModel {
    pub file: ModelFile,
    /// The run that trained it, if known.
    pub run: Option<RunSummary>,
    /// The accuracy before and after quantization, if it was measured.
    pub quantized: Option<QuantizedAccuracy>,
}

impl ExportedModel {
    /// The same without any paths of this machine, which must not leak into shared files.
    #[must_use]
    pub fn without_folders(mut self) -> Self {
        let card = &mut self.file.card;
        (card.data, card.config) = (card.data.without_folders(), card.config.without_folders());
        card.test
            .iter_mut()
            .for_each(|test| test.data = test.data.without_folders());
        if let Some(run) = &mut self.run {
            run.config = run.config.without_folders();
            run.test
                .iter_mut()
                .for_each(|test| test.data = test.data.without_folders());
        }
        self
    }

    /// A short name of lower-case letters, digits and hyphens: `lenet-mnist`.
    pub fn name(&self) -> String {
        let card = &self.file.card;
        harmless(&format!("{}-{}", card.model.name(), data_name(&card.data)))
    }

    /// Network and data: "LeNet-5 on MNIST".
    pub(super) fn title(&self) -> Untrusted {
        format!(
            "{} on {}",
            self.file.card.network().label(),
            self.file.card.data.label()
        )
        .into()
    }

    pub(super) fn data(&self) -> Untrusted {
        self.file.card.data.label().into()
    }

    pub(super) fn labels(&self) -> Vec<Untrusted> {
        self.classes().names().map(Into::into).collect()
    }

    pub(super) fn classes(&self) -> Classes {
        self.file.card.labels.clone()
    }

    pub(super) fn description(&self) -> Untrusted {
        let card = &self.file.card;
        format!(
            "Recognizes {} in an image of {SIDE}x{SIDE} pixels: {} with {} parameters, trained on {}.",
            card.labels.subject(),
            card.network().label(),
            grouped(self.file.net.parameter_count()),
            card.data.label()
        )
        .into()
    }

    /// How pixels are turned into the network's input.
    pub fn preprocessing(&self) -> String {
        let Normalization { mean, std } = self.file.card.normalization;
        format!(
            "{SIDE}x{SIDE} grayscale, light ink on a dark background; x = (pixel / 255 - {mean}) / {std} for pixels from 0 to 255"
        )
    }

    /// Descriptions of the input and the output of an ONNX file.
    pub(super) fn signature(&self, preprocessing: bool) -> [Untrusted; 2] {
        let labels = joined(self.classes().names(), ", ");
        if preprocessing {
            let form = match self.classes() {
                Classes::Digits => {
                    "light ink on a dark background, the digit scaled to fit 20x20 pixels and centered by its center of mass, as in MNIST"
                }
                _ => "light on a dark background, in the frame of its data set",
            };
            let pixels = format!("Raw {SIDE}x{SIDE} grayscale images, one byte per pixel: {form}");
            [
                pixels.into(),
                format!("One probability for each of {labels}; they sum to 1").into(),
            ]
        } else {
            [
                self.preprocessing().into(),
                format!("One logit for each of {labels}, divided by the temperature; softmax turns them into probabilities").into(),
            ]
        }
    }

    /// The evaluation on the test set, if the run ended with one.
    pub fn test(&self) -> Option<&Evaluation> {
        self.run
            .as_ref()
            .and_then(|run| run.test.as_ref())
            .map(|test| &test.evaluation)
    }

    /// The accuracy on a test set, if one was measured.
    pub(super) fn tested(&self) -> Option<Accuracy> {
        let of_run = self.run.as_ref().and_then(|run| run.test.as_ref());
        of_run
            .map(SplitEvaluation::accuracy)
            .or_else(|| self.file.card.test.clone())
    }

    /// The test accuracy with its 95% confidence interval, as text.
    pub fn test_accuracy(&self) -> Option<String> {
        let accuracy = self.tested()?;
        let images = accuracy.images.unwrap_or_default();
        let (low, high) = wilson_interval((accuracy.value * images as f64).round() as u64, images);
        Some(format!(
            "{} on {} test images of {} (95% confidence interval: {} to {})",
            accuracy.percent(),
            grouped(images),
            accuracy.data.label(),
            percent(low, 2),
            percent(high, 2)
        ))
    }

    /// The accuracy before and after quantization, as text.
    pub fn quantization(&self) -> Option<String> {
        let measured = self.quantized?;
        Some(format!(
            "8-bit integers with one scale per output channel: accuracy {} on {} test images, {} before quantization",
            percent(measured.quantized, 2),
            grouped(measured.images),
            percent(measured.original, 2)
        ))
    }

    /// Names and values for the metadata of a file. Each value is one line of text, or JSON.
    pub fn metadata(&self) -> Vec<(&'static str, String)> {
        let card = &self.file.card;
        let plain = |text: &str| Untrusted::from(text).plain();
        let mut pairs = vec![
            ("title", self.title().plain()),
            ("description", self.description().plain()),
            ("model", card.model.name().to_owned()),
            ("activation", card.config.activation.name().to_owned()),
            ("labels", untrusted::json(&json!(card.labels).to_string())),
            ("preprocessing", self.preprocessing()),
            ("mean", card.normalization.mean.to_string()),
            ("std", card.normalization.std.to_string()),
            ("temperature", card.calibration.temperature.to_string()),
            (
                "digit_threshold",
                card.calibration.digit_threshold.to_string(),
            ),
            ("data", plain(&card.data.to_string())),
            ("epochs", card.epochs.to_string()),
            (
                "program",
                concat!("Inkling ", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
        ];
        if let Some(layers) = card.network().chosen_layers() {
            pairs.push(("layers", layers.to_string()));
        }
        if let Some(accuracy) = card.validation_accuracy {
            pairs.push(("validation_accuracy", accuracy.to_string()));
        }
        if let Some(accuracy) = self.test_accuracy() {
            pairs.push(("test_accuracy", plain(&accuracy)));
        }
        if let Some(run) = &self.run {
            pairs.push(("finished_at", plain(&run.finished_at)));
            pairs.push(("train_seconds", format!("{:.1}", run.train_seconds)));
            pairs.push(("machine", plain(&run.machine)));
        }
        if let Some(quantization) = self.quantization() {
            pairs.push(("quantization", quantization));
        }
        if let Ok(config) = serde_json::to_string(&card.config) {
            pairs.push(("config", untrusted::json(&config)));
        }
        pairs.retain(|(_, value)| !value.is_empty());
        pairs
    }

    /// A safetensors file that Inkling can import again together with the run's results.
    pub fn safetensors(&self, weights: WeightFormat) -> Result<Vec<u8>, ExportError> {
        // Readers of the format look for this key.
        let mut metadata = vec![("format".to_owned(), "pt".to_owned())];
        metadata.extend(
            self.metadata()
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value)),
        );
        if let Some(run) = self
            .run
            .as_ref()
            .and_then(|run| serde_json::to_string(&run.without_images()).ok())
        {
            metadata.push((RUN_KEY.to_owned(), run));
        }
        Ok(self.file.to_bytes_with(weights, metadata)?)
    }
}

/// A name of lower-case letters, digits and hyphens for data: `mnist-builtin`.
pub(super) fn data_name(data: &DataSpec) -> String {
    let source = |source: &DataSource| match source {
        DataSource::Path(_) => source.label(),
        _ => source.name(),
    };
    harmless(&joined(data.sources().iter().map(source), "-"))
}

fn harmless(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    name.chars().map(safe).take(60).collect()
}

pub const RUN_KEY: &str = "inkling_run";

type Row = (&'static str, Untrusted);
pub type Section = (&'static str, Vec<Row>);

/// All sections, the most important first.
pub fn sections(model: &ExportedModel) -> Vec<Section> {
    let mut sections = vec![
        ("Input and output", signature(model)),
        ("Training", training(model)),
    ];
    if model
        .run
        .as_ref()
        .is_none_or(|run| run.imported.is_none() || !run.epochs.is_empty())
    {
        sections.push(("Configuration", configuration(model)));
    }
    sections
}

fn signature(model: &ExportedModel) -> Vec<Row> {
    let card = &model.file.card;
    let Calibration {
        temperature,
        digit_threshold,
    } = card.calibration;
    let labels = joined(model.classes().names(), ", ");
    let score = if model.file.net.digit_detector().is_some() {
        "score of the digit detector, whose weights are in model.safetensors,"
    } else {
        "log-sum-exp of the logits, before they are divided,"
    };
    vec![
        ("Input", model.preprocessing().into()),
        ("Output", format!("one logit for each of {labels}; softmax of the logits divided by the temperature gives probabilities").into()),
        ("Temperature", format!("{temperature:.3}, fitted on validation images (Guo et al. 2017)").into()),
        (
            if model.classes().are_digits() { "Not a digit" } else { "None of the classes" },
            format!("if the {score} is below {digit_threshold:.3}").into(),
        ),
        ("Parameters", grouped(model.file.net.parameter_count()).into()),
    ]
}

fn training(model: &ExportedModel) -> Vec<Row> {
    let card = &model.file.card;
    let mut rows = vec![("Data", model.data())];
    if let Some(run) = &model.run {
        if let Some(file) = &run.imported {
            rows.push(("Imported from", file.as_str().into()));
        }
        if !run.epochs.is_empty() {
            let plan = &run.plan;
            let images = format!(
                "{} for training, {} for validation",
                grouped(plan.train_images),
                grouped(plan.validation_images)
            );
            rows.push(("Images", images.into()));
            rows.push((
                "Epochs",
                format!(
                    "{} of {}; weights from epoch {}",
                    run.epochs.len(),
                    run.config.epochs,
                    card.epochs
                )
                .into(),
            ));
            rows.push((
                "Training time",
                format!(
                    "{} ({} images/s)",
                    duration(run.train_seconds),
                    grouped(run.images_per_second.round() as u64)
                )
                .into(),
            ));
            if !run.machine.is_empty() {
                rows.push(("Machine", run.machine.as_str().into()));
            }
            let threads = if plan.threads == 1 {
                "1 thread".to_owned()
            } else {
                format!("{} threads", plan.threads)
            };
            rows.push((
                "Device",
                format!(
                    "{}, {threads}, {}",
                    plan.device.label(),
                    plan.precision.name()
                )
                .into(),
            ));
            rows.push(("Finished", local_time(&run.finished_at).into()));
        }
    }
    if let Some(error) = model.test().and_then(calibration_error) {
        rows.push((
            "Calibration error",
            format!(
                "{} on the test set (expected calibration error, 15 bins)",
                percent(error, 2)
            )
            .into(),
        ));
        rows.extend(
            model
                .test()
                .and_then(reliability_sentence)
                .map(|sentence| ("Reliability", sentence.into())),
        );
    }
    if let Some(accuracy) = card.validation_accuracy {
        rows.push((
            "Validation accuracy",
            percent(f64::from(accuracy), 2).into(),
        ));
    }
    rows
}

fn configuration(model: &ExportedModel) -> Vec<Row> {
    let config = &model.file.card.config;
    let mut rows = vec![
        ("Network", config.network().label()),
        (
            "Preset",
            config.preset.map_or_else(
                || "custom settings".to_owned(),
                |preset| preset.label().to_owned(),
            ),
        ),
    ];
    // What is turned off is left out.
    rows.extend(
        config
            .training_settings()
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    rows.push(("Seed", config.seed.to_string()));
    rows.into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect()
}
