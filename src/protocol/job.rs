//! The jobs: what is asked, what comes of it, and what else is known of each without doing it.
//! Whoever adds one is led by the compiler from here to all that has to know it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::ink::Image;
use crate::problem::{Code, Message, Problem};
use crate::records::benchmark::{BenchmarkReport, Effort, JobProgress, SavedBenchmark, StepConfig};
use crate::records::{
    BatchSizeFinding, BatchSizeSpec, ComparisonSpec, EvaluationReport, EvaluationSpec, ExportSpec,
    FileInfo, FineTuned, ImportFinding, ImportSpec, LearningRateFinding, ModelComparison,
    ModelLook, ModelRef, Profile, QuantizedAccuracy, Replace, RunSummary, Trials,
};
use crate::run_config::{DeviceChoice, RunConfig};

/// Work that takes a while and ends with a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Job {
    /// Prepare the data and train.
    Train {
        config: RunConfig,
        /// The folder of the checkpoint to resume from, for a run that was interrupted.
        from: Option<PathBuf>,
    },
    /// Train a trial of a sweep: for its validation accuracy alone, reading no test images and
    /// saving nothing. Each epoch is reported with [`Event::Epoch`], and how far it is with
    /// [`JobEvent::Progress`].
    Trial(RunConfig),
    /// Measure a model on a data set.
    Evaluate(EvaluationSpec),
    /// Fine-tune a model on the person's own drawings.
    FineTune(ModelRef),
    /// Measure this machine's speed.
    Benchmark(Effort),
    /// Time a few training steps of a configuration with several devices, precisions or batch
    /// sizes.
    Compare {
        /// Whose steps.
        config: RunConfig,
        step_configs: Vec<StepConfig>,
    },
    /// Compare models on the same images.
    CompareModels(ComparisonSpec),
    /// Time a few training steps of each of these configurations, for an estimate of how long it
    /// takes.
    TimeSteps(Vec<RunConfig>),
    /// Record where the time of training steps with this configuration goes.
    Profile(RunConfig),
    /// Search for a good learning rate for runs of this configuration, by short training with rates
    /// that grow. The steps are reported as [`Event::Steps`].
    FindLearningRate(RunConfig),
    /// Train with each batch size until a validation accuracy is reached. Each is reported with
    /// [`Event::TimedToAccuracy`].
    FindBatchSize(BatchSizeSpec),
    /// Export a model, or only list what its export would contain.
    Export {
        model: ModelRef,
        /// As what.
        spec: ExportSpec,
        /// The file to write; `None` for a preview.
        to: Option<PathBuf>,
        /// Which existing files may be replaced.
        replace: Replace,
    },
    /// Import a file of weights.
    Import(ImportSpec),
    /// Look at a saved network, such as one of those that a run kept while it trained.
    LookAt {
        /// Its file.
        model: PathBuf,
        /// The images to recognize, as models see them.
        images: Vec<Image>,
    },
}

/// Where a job is done if the engine in use is on another machine, and which files of this machine
/// go there with it. The paths in the settings become those of the files there.
#[derive(Debug, PartialEq)]
pub enum Needs<'j> {
    /// This machine: the job reads or writes its models, or measures it.
    ThisMachine,
    /// The inputs of a run: its data, its initial weights and its checkpoint.
    Run {
        /// Its settings.
        config: &'j mut RunConfig,
        /// The folder of the checkpoint.
        from: &'j mut Option<PathBuf>,
    },
    /// The data and the initial weights that these settings name.
    Data(&'j mut RunConfig),
    /// The same, for one of many jobs on the same data, which is read once.
    SharedData(&'j mut RunConfig),
    /// The initial weights alone: it uses the built-in digits, whatever the run learns from.
    InitialWeights(&'j mut RunConfig),
}

impl Job {
    /// True for work so short that it is done between two training steps: an export for which
    /// nothing has to be measured, or a look at a network.
    pub const fn is_immediate(&self) -> bool {
        match self {
            Self::Export { spec, to, .. } => to.is_none() || !spec.is_quantized(),
            Self::LookAt { .. } => true,
            _ => false,
        }
    }

    /// The device that the engine has to reach for it; of several the one that needs a driver.
    /// `None` if it does not depend on one.
    pub fn device(&self) -> Option<DeviceChoice> {
        let needs_driver = |device: &DeviceChoice| *device == DeviceChoice::Cuda;
        match self {
            Self::Train { config, .. }
            | Self::Trial(config)
            | Self::Profile(config)
            | Self::FindLearningRate(config)
            | Self::FindBatchSize(BatchSizeSpec { config, .. }) => Some(config.device),
            Self::Compare { step_configs, .. } => {
                let mut devices = step_configs.iter().map(|step_config| step_config.device);
                devices.find(needs_driver)
            }
            Self::TimeSteps(configs) => {
                let mut devices = configs.iter().map(|config| config.device);
                devices.find(needs_driver)
            }
            Self::Evaluate(_)
            | Self::FineTune(_)
            | Self::Benchmark(_)
            | Self::CompareModels(_)
            | Self::Export { .. }
            | Self::Import(_)
            | Self::LookAt { .. } => None,
        }
    }

    /// The resources that it takes of this machine.
    pub const fn needs(&mut self) -> Needs<'_> {
        match self {
            Self::Train { config, from } => Needs::Run { config, from },
            Self::Trial(config) => Needs::SharedData(config),
            Self::FindLearningRate(config)
            | Self::FindBatchSize(BatchSizeSpec { config, .. }) => Needs::Data(config),
            Self::Compare { config, .. } | Self::Profile(config) => Needs::InitialWeights(config),
            Self::Evaluate(_)
            | Self::FineTune(_)
            | Self::CompareModels(_)
            | Self::Export { .. }
            | Self::Import(_)
            | Self::LookAt { .. }
            // What is reported about this machine is measured on it.
            | Self::Benchmark(_)
            | Self::TimeSteps(_) => Needs::ThisMachine,
        }
    }
}

/// What a job reports. Training and benchmarks say more, in separate events; each job ends with
/// one of the last three.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JobEvent {
    /// How far it is; training reports this only while it prepares its data.
    Progress(JobProgress),
    /// It is done.
    Done(Box<JobResult>),
    /// It was cancelled; nothing is kept of it but the checkpoint of a run, which was reported
    /// before.
    Cancelled,
    /// It failed.
    Failed(Problem),
}

impl From<Result<JobResult, Problem>> for JobEvent {
    fn from(result: Result<JobResult, Problem>) -> Self {
        match result {
            Ok(result) => Self::Done(Box::new(result)),
            Err(problem) if problem.code == Code::Cancelled => Self::Cancelled,
            Err(problem) => Self::Failed(problem),
        }
    }
}

/// The result of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JobResult {
    /// A training run, finished or stopped after an epoch: its folder is written.
    Train(RunSummary),
    /// A trial, trained to its end; its epochs were reported one by one.
    Trial,
    /// A model's figures.
    Evaluate(EvaluationReport),
    /// This machine's figures.
    Benchmark {
        /// All figures.
        report: BenchmarkReport,
        /// Where they are saved, or why they are not.
        saved: Result<SavedBenchmark, Problem>,
    },
    /// A comparison; its figures were reported one by one.
    Compare {
        /// Configurations that could not be measured, and why.
        failed: Vec<(StepConfig, Problem)>,
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        background_load: f32,
    },
    /// How models did on the same images.
    CompareModels(ModelComparison),
    /// The throughput of each configuration.
    TimeSteps {
        /// In training images per second, in the order of the configurations; `None` if it could
        /// not be measured.
        images_per_second: Vec<Option<f64>>,
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        background_load: f32,
    },
    /// Where the time went.
    Profile {
        /// Step by step and layer by layer.
        profile: Profile,
        /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
        background_load: f32,
    },
    /// A learning rate; the steps that it rests on were reported one by one.
    FindLearningRate(LearningRateFinding),
    /// The settings that training with each batch size had in common; the times were reported one
    /// by one.
    FindBatchSize(BatchSizeFinding),
    /// A fine-tuned model.
    FineTune(FineTuned),
    /// The files of the export, or those that it would write.
    Export(ExportReport),
    /// A model that was imported and stands among the runs.
    Import {
        summary: RunSummary,
        /// How that was found out.
        finding: ImportFinding,
    },
    LookAt(ModelLook),
    /// It is not clear how the weights to import are meant: nothing was imported, and somebody has
    /// to choose.
    ImportUndecided {
        trials: Trials,
        /// The ambiguity, and the possible ways to import.
        message: Message,
    },
}

impl JobResult {
    /// The model that it made, with its run.
    pub fn model(&self) -> Option<&RunSummary> {
        match self {
            Self::Train(summary) | Self::Import { summary, .. } => Some(summary),
            Self::FineTune(tuned) => tuned.saved.as_deref(),
            Self::Trial
            | Self::Evaluate(_)
            | Self::Benchmark { .. }
            | Self::Compare { .. }
            | Self::CompareModels(_)
            | Self::TimeSteps { .. }
            | Self::Profile { .. }
            | Self::FindLearningRate(_)
            | Self::FindBatchSize(_)
            | Self::Export(_)
            | Self::LookAt(_)
            | Self::ImportUndecided { .. } => None,
        }
    }
}

/// The contents of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportReport {
    /// Its files, the one asked for first; a zip archive contains the others.
    pub files: Vec<FileInfo>,
    /// The files that were written; empty for a preview.
    pub paths: Vec<PathBuf>,
    /// The loss of accuracy by quantization, if it was measured.
    pub quantized: Option<QuantizedAccuracy>,
    /// Why that could not be measured, if it should have been.
    pub unmeasured: Option<Problem>,
}
