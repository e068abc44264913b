//! Exporting and importing models from the window: the export dialog's state, file dialogs, and
//! dropped files.

use std::path::{Path, PathBuf};

use crate::ink::is_named_like_an_image;
use crate::problem::{Code, Message, Problem};
use crate::protocol::{ExportReport, Job, JobResult};
use crate::records::{
    ExportSpec, ImportSpec, MeasuredReading, ModelRef, Reading, Replace, RunSummary, Trials,
};
use crate::run_config::{ExportFormat, ModelKind};
use crate::text::format::{capitalized, joined, percent};
use crate::window::{
    Activity, Ctx, JobOutcome, Models, Purpose, RunningJob, Screen, Severity, Train, WithoutResult,
};

/// An export that is being chosen, or written.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportView {
    pub model: ModelRef,
    pub spec: ExportSpec,
    /// The content of its files, once the engine has reported it.
    pub preview: Option<ExportReport>,
    pub written: Option<ExportReport>,
    /// Files that exist and would have to be replaced, until the person decides.
    pub in_the_way: Option<InTheWay>,
}

impl ExportView {
    fn job(&self, to: Option<PathBuf>, replace: Replace) -> Job {
        Job::Export {
            model: self.model.clone(),
            spec: self.spec.clone(),
            to,
            replace,
        }
    }
}

/// An export that was not written because of files that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InTheWay {
    pub to: PathBuf,
    pub paths: Vec<PathBuf>,
}

/// A file of weights that trials did not decide on.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportQuestion {
    pub spec: ImportSpec,
    pub trials: Trials,
    pub what: String,
}

impl ImportQuestion {
    /// The choices, in words and as an import, the best first.
    pub fn choices(&self) -> Vec<(String, ImportSpec)> {
        let choice = |measured: &MeasuredReading| {
            let Reading {
                network,
                activation,
                normalization,
            } = measured.reading;
            let label = format!(
                "{} ({})",
                capitalized(&self.trials.describe(&measured.reading)),
                percent(measured.accuracy, 1)
            );
            let model = network.model();
            let spec = ImportSpec {
                model: Some(model),
                layers: (model == ModelKind::Cnn).then(|| network.hidden_layers()),
                // The activations of an ONNX network are its own.
                activation: model.is_trainable().then_some(activation),
                normalization: Some(normalization),
                accept: true,
                ..self.spec.clone()
            };
            (label, spec)
        };
        self.trials.readings.iter().map(choice).collect()
    }
}

impl Models {
    /// Opens the choice of how to export this model, with the format that was chosen last.
    pub fn open_export(&mut self, ctx: &mut Ctx, model: ModelRef) {
        let spec = self
            .export
            .take()
            .map_or_else(|| ExportSpec::new(ExportFormat::Onnx), |before| before.spec);
        self.export = Some(ExportView {
            model,
            spec,
            preview: None,
            written: None,
            in_the_way: None,
        });
        self.preview_export(ctx);
    }

    pub fn change_export(&mut self, ctx: &mut Ctx, spec: ExportSpec) {
        if ctx.jobs.doing(Activity::Export).is_some() {
            return;
        }
        if let Some(view) = self.export.as_mut().filter(|view| view.spec != spec) {
            (view.spec, view.written, view.in_the_way) = (spec, None, None);
            self.preview_export(ctx);
        }
    }

    fn preview_export(&mut self, ctx: &mut Ctx) {
        let Some(view) = &self.export else {
            return;
        };
        ctx.jobs.forget(Activity::ExportPreview);
        ctx.submit(view.job(None, Replace::Nothing));
    }

    pub fn choose_export_file(&mut self, ctx: &mut Ctx) {
        let Some(view) = self
            .export
            .as_ref()
            .filter(|_| ctx.jobs.doing(Activity::Export).is_none())
        else {
            return;
        };
        let model = match &view.model {
            ModelRef::File(file) => self.saved_model_name(file),
            _ => None,
        };
        let name = export_name(model, view.spec.format.file_name());
        ctx.ask_for_new_file("Export the model", &name, Purpose::Export);
    }

    pub fn export_to(&mut self, ctx: &mut Ctx, to: PathBuf) {
        let Some(view) = &mut self.export else {
            return;
        };
        // A name without an extension is completed: other programs go by it. About the completed
        // name nobody was asked.
        let ending = Path::new(view.spec.format.file_name()).extension();
        let (to, replace) = match (to.extension(), ending) {
            (None, Some(ending)) => (to.with_extension(ending), Replace::Nothing),
            _ => (to, Replace::Requested),
        };
        (view.written, view.in_the_way) = (None, None);
        ctx.submit(view.job(Some(to), replace));
    }

    pub fn job_ended(
        &mut self,
        ctx: &mut Ctx,
        ended: RunningJob,
        outcome: JobOutcome,
    ) -> Option<Problem> {
        match (ended.job, outcome) {
            (Job::Export { to, .. }, Ok(JobResult::Export(report))) => {
                self.exported(ctx, to.is_none(), report);
            }
            (Job::Export { to, .. }, Err(WithoutResult::Failed(problem))) => {
                return self.export_failed(to, problem);
            }
            (Job::Export { .. }, Err(WithoutResult::EngineGone)) => self.export = None,
            (Job::Import(spec), Ok(JobResult::ImportUndecided { trials, message })) => {
                let what = message.what;
                self.import_question = Some(ImportQuestion { spec, trials, what });
            }
            (_, Ok(JobResult::Import { summary, finding })) => {
                let again = self.readable().any(|run| run.imported == summary.imported);
                let mut message = Message::imported(&summary, &finding);
                if again {
                    let before = "A file of this name was imported before.";
                    let sentences = [before, &message.remedy];
                    message.remedy = joined(sentences.iter().filter(|text| !text.is_empty()), " ");
                }
                ctx.list_runs();
                self.close_comparison(ctx);
                ctx.show_notice(Severity::Info, message);
                self.run_to_select = Some(summary.folder);
            }
            (_, Ok(JobResult::CompareModels(found))) => {
                if let Some(view) = &mut self.comparison {
                    view.found = Some(found);
                }
            }
            (_, outcome) => return outcome.err()?.problem(),
        }
        None
    }

    /// Files in the way are a question to the person, and nothing else has to be said.
    fn export_failed(&mut self, to: Option<PathBuf>, problem: Problem) -> Option<Problem> {
        match (to, problem.code, &mut self.export) {
            (Some(to), Code::FilesExist { paths }, Some(view)) => {
                view.in_the_way = Some(InTheWay { to, paths });
                None
            }
            (_, code, _) => Some(Problem { code, ..problem }),
        }
    }

    /// The answer to that question.
    pub fn replace_exported(&mut self, ctx: &mut Ctx, replace: bool) {
        let Some(view) = &mut self.export else {
            return;
        };
        let Some(InTheWay { to, .. }) = view.in_the_way.take().filter(|_| replace) else {
            return;
        };
        ctx.submit(view.job(Some(to), Replace::Everything));
    }

    /// Closes the choice; an export in progress is cancelled.
    pub fn close_export(&mut self, ctx: &mut Ctx) {
        if let Some(id) = ctx.jobs.doing(Activity::Export).map(|running| running.id) {
            ctx.cancel_job(id);
        }
        ctx.jobs.forget(Activity::Export);
        ctx.jobs.forget(Activity::ExportPreview);
        self.export = None;
    }

    fn exported(&mut self, ctx: &mut Ctx, is_preview: bool, report: ExportReport) {
        let Some(view) = &mut self.export else {
            return;
        };
        if is_preview {
            view.preview = Some(report);
        } else {
            let message = Message::exported(&report);
            view.written = Some(report);
            ctx.show_notice(Severity::Info, message);
        }
    }

    pub fn import_as(&mut self, ctx: &mut Ctx, spec: ImportSpec) {
        self.import_question = None;
        if !ctx.is_too_busy() {
            ctx.submit(Job::Import(spec));
        }
    }
}

impl Ctx {
    pub fn choose_import_file(&self) {
        self.ask_for_file(
            "Import a model",
            "Models (safetensors, PyTorch, ONNX)",
            &WEIGHT_ENDINGS,
            Purpose::Import,
        );
    }

    pub fn import(&mut self, path: PathBuf) {
        if !self.is_too_busy() {
            self.show(Screen::Models);
            self.submit(Job::Import(ImportSpec::of(path)));
        }
    }
}

impl Train {
    /// Starts the next run from the weights of this one.
    pub fn train_further(&mut self, ctx: &mut Ctx, from: &RunSummary) {
        self.setting_chosen();
        self.take_settings(ctx, from.config.clone().further(from.model_path.clone()));
        ctx.config.preset = ctx.config.matching_preset();
        ctx.settings.former_learning_rate = Some(from.config.learning_rate);
        ctx.show(Screen::Train);
    }

    pub fn drop_files(&mut self, ctx: &mut Ctx, files: Vec<PathBuf>) {
        for file in files {
            match Dropped::of(&file) {
                Dropped::Data => self.use_data_folder(ctx, file),
                Dropped::Ink | Dropped::Image => ctx.open_on_canvas(file),
                Dropped::Weights => ctx.import(file),
            }
        }
    }
}

/// A name for the file of an export, by the model's name: "speedrun-on-mnist.onnx" instead of the
/// `usual` "model.onnx".
fn export_name(model: Option<&str>, usual: &str) -> String {
    let words = model
        .unwrap_or_default()
        .split(|c: char| !c.is_alphanumeric());
    let words = joined(words.filter(|word| !word.is_empty()), "-").to_lowercase();
    match usual.strip_prefix("model") {
        Some(rest) if !words.is_empty() => words + rest,
        _ => usual.to_owned(),
    }
}

/// The action for a file that is dropped on the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    Weights,
    /// A drawing to put on the canvas.
    Ink,
    /// A data set to train on.
    Data,
    Image,
}

/// The file extensions of models that can be imported.
const WEIGHT_ENDINGS: [&str; 6] = ["safetensors", "pt", "pth", "bin", "ckpt", "onnx"];

/// Whether a file's name has one of the usual endings of models to import.
pub fn is_named_like_weights(path: &Path) -> bool {
    path.extension().is_some_and(|ending| {
        WEIGHT_ENDINGS
            .iter()
            .any(|weights| ending.eq_ignore_ascii_case(weights))
    })
}

impl Dropped {
    /// By its name, and whether it is a folder.
    pub fn of(path: &Path) -> Self {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let is = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        if path.is_dir()
            || is(&[
                ".csv",
                ".csv.gz",
                ".tsv",
                ".npz",
                ".npy",
                ".parquet",
                "-ubyte",
                "-ubyte.gz",
            ])
        {
            Self::Data
        } else if is(&[
            ".json",
            ".jsonl",
            ".ndjson",
            ".json.gz",
            ".jsonl.gz",
            ".ndjson.gz",
            ".ink",
        ]) {
            Self::Ink
        } else if is_named_like_an_image(path) {
            Self::Image
        } else {
            Self::Weights
        }
    }

    /// The effect of dropping it.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Weights => "Drop to import this model",
            Self::Ink => "Drop to open this drawing on the canvas",
            Self::Data => "Drop to train on this data",
            Self::Image => "Drop to recognize this image in Draw",
        }
    }
}
