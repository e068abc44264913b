//! Train: the settings of the next run, the run in progress, and what is learned.

use std::collections::BTreeMap;
use std::path::PathBuf;

use setup::Form;

use crate::data::{DataError, FoundDataset};
use crate::protocol::Command;
use crate::records::{RecordCard, UnitName};
use crate::run_config::{HiddenLayer, Network, Preset, PublicDataset, RunConfig, Setting};
use crate::runs::InterruptedRun;
use crate::window::{Ctx, Models, MyDigitsView, Purpose};

pub mod learning;
pub mod run;
pub mod setup;
pub mod view;

pub use learning::{ClassCount, HeldOutView};
pub use run::{DataImages, Headline, History, LastCheckpoint, Phase, RunView, RunningMean};
pub use setup::{
    AccuracySource, DownloadState, DownloadView, Samples, Search, SearchAction, SearchKind,
    SearchState, ValidationError,
};

/// The next run, the one in progress, and those that wait.
#[derive(Default)]
pub struct Train {
    pub run: Option<RunView>,
    /// True while the next run is shown in its place: its data, its network, and what it will do.
    pub next_run_shown: bool,
    /// The settings of the runs that wait for its end, the next one first.
    pub queue: Vec<RunConfig>,
    pub learning: Option<HeldOutView>,
    /// Interrupted runs that can be resumed, newest first.
    pub interrupted: Vec<InterruptedRun>,
    /// Data sets found by name, once the search has finished.
    pub found: Option<Vec<FoundDataset>>,
    /// The data set that is being downloaded, or could not be.
    pub download: Option<DownloadView>,
    /// The record cards that were written on this machine, the newest first.
    pub records: Vec<RecordCard>,
    /// True if data sets can be downloaded, as far as is known.
    pub has_network: bool,
    /// A short training that finds something out about the next run, while its dialog is open.
    pub search: Option<Search>,
    pub form: Form,
    /// The network before each change of its layers, and the text of those if they did not fit.
    pub former_layers: Vec<(Network, Option<String>)>,
    /// The layer whose settings were changed last, if nothing else was since.
    pub edited_layer: Option<usize>,
    /// The problems of folders and files that were chosen as data.
    pub data_problems: BTreeMap<PathBuf, DataError>,
    pub samples: Option<Samples>,
    /// True once the person has chosen a setting.
    pub chosen: bool,
}

/// Actions on this screen and on its parts elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainAction {
    /// Start a run with the current settings once the one in progress has finished.
    QueueRun,
    /// Show the next run on Train, or the current or last one.
    ShowNextRun(bool),
    StartQueued,
    /// Take a run out of the queue.
    RemoveQueued(usize),
    Configure(Box<RunConfig>),
    Download(PublicDataset),
    /// Cancel that, or dismiss the message about its failure.
    CancelDownload,
    /// Type into the field of a number.
    Type(Setting, String),
    /// Give the next run these hidden layers.
    EditLayers(Vec<HiddenLayer>),
    /// Take the last change of them back.
    UndoLayers,
    ApplyPreset(Preset),
    ApplyRecommended,
    /// Use these settings, which come from elsewhere, on the device that is in use.
    UseSettings(Box<RunConfig>),
    /// Start a run with the current configuration.
    Start,
    Pause,
    Resume,
    /// Take one step of the run and hold it there; with the unit whose weights are of interest.
    TakeStep(Option<UnitName>),
    /// Multiply the learning rate of the run by this from its next step on.
    ScaleLearningRate(f32),
    Stop,
    /// Try again to save the run that has ended but could not be saved.
    SaveRun,
    /// Save that run in a folder chosen in a dialog.
    ChooseRunFolder,
    /// Resume an interrupted run from the checkpoint in this folder.
    ResumeInterrupted(PathBuf),
    /// Save an interrupted run as it was after its last completed epoch, without training on.
    SaveInterrupted(PathBuf),
    /// Discard an interrupted run: delete its checkpoint.
    ForgetInterrupted(PathBuf),
    ShowCurves(PathBuf),
    /// Start the next run from the weights of the run in this folder.
    TrainFurther(PathBuf),
    ChooseDataFolder,
    /// Add this folder to those searched for data sets, and train on it.
    UseDataFolder(PathBuf),
    /// Write the run's curves to a CSV file chosen in a dialog.
    SaveCurves,
}

impl Train {
    pub fn update(
        &mut self,
        ctx: &mut Ctx,
        (mine, models): (&MyDigitsView, &Models),
        action: TrainAction,
    ) {
        match action {
            TrainAction::Configure(config) => self.configure(ctx, mine, *config),
            TrainAction::Download(set) => self.start_download(ctx, set),
            TrainAction::CancelDownload => self.cancel_download(),
            TrainAction::Type(field, text) => self.type_text(ctx, mine, field, text),
            TrainAction::EditLayers(layers) => self.edit_layers(ctx, mine, &layers),
            TrainAction::UndoLayers => self.undo_layers(ctx, mine),
            TrainAction::ApplyPreset(preset) => {
                self.setting_chosen();
                let config = ctx.with_preset(preset);
                self.take_settings(ctx, config);
            }
            TrainAction::ApplyRecommended => {
                if let Some((config, _)) = self.recommended(ctx) {
                    self.take_settings(ctx, config);
                }
            }
            TrainAction::UseSettings(config) => self.use_settings(ctx, *config),
            TrainAction::Start => self.start(ctx, mine),
            TrainAction::QueueRun => self.queue_run(ctx, mine),
            TrainAction::ShowNextRun(shown) => self.next_run_shown = shown,
            TrainAction::StartQueued => self.start_queued(ctx),
            TrainAction::RemoveQueued(index) => {
                if index < self.queue.len() {
                    self.queue.remove(index);
                }
            }
            TrainAction::Pause => self.send_to_run(ctx, Command::Pause, &[Phase::Training]),
            TrainAction::Resume => self.send_to_run(ctx, Command::Resume, &[Phase::Paused]),
            TrainAction::TakeStep(unit) => {
                let phases = [Phase::Training, Phase::Paused];
                self.send_to_run(ctx, |run| Command::TakeStep { run, unit }, &phases);
            }
            TrainAction::ScaleLearningRate(factor) => {
                let phases = [Phase::Training, Phase::Paused];
                let command = |run| Command::ScaleLearningRate { run, factor };
                self.send_to_run(ctx, command, &phases);
                if let Some(run) = &mut self.run {
                    run.rate_factor = factor;
                }
            }
            TrainAction::Stop => self.stop(ctx),
            TrainAction::SaveRun => self.save_run(ctx, None),
            TrainAction::ChooseRunFolder => {
                ctx.ask_for_folder("Choose a folder for the run", Purpose::RunFolder);
            }
            TrainAction::ResumeInterrupted(folder) => {
                self.resume_interrupted(ctx, models.entries(), folder);
            }
            TrainAction::SaveInterrupted(folder) => self.save_interrupted(ctx, folder),
            TrainAction::ForgetInterrupted(folder) => self.forget_interrupted(ctx, folder),
            TrainAction::ShowCurves(folder) => ctx.show_curves(folder),
            TrainAction::TrainFurther(folder) => {
                if let Some(summary) = models.listed(&folder) {
                    self.train_further(ctx, summary);
                }
            }
            TrainAction::ChooseDataFolder => {
                ctx.ask_for_folder("Choose a folder with training data", Purpose::DataFolder);
            }
            TrainAction::UseDataFolder(folder) => self.use_data_folder(ctx, folder),
            TrainAction::SaveCurves => {
                if let Some(run) = &self.run {
                    let name = format!("inkling-{}-curves.csv", run.config.model);
                    let purpose = Purpose::Save(run.history.csv().into_bytes());
                    ctx.ask_for_new_file("Save the training curves", &name, purpose);
                }
            }
        }
    }
}
