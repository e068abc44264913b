//! What a person can do there, and what each action does.

use std::path::PathBuf;

use crate::run_config::{NamedSet, Preset, RunConfig, Setting};
use crate::window::{App, ComparisonKind, Purpose};

/// What a person can do on this screen and with what it shows elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainAction {
    /// Start a run with the current settings once the one in progress has finished.
    QueueRun,
    /// Show the next run on Train, or the current or last one.
    ShowNextRun(bool),
    /// Start the first run of the queue.
    StartQueued,
    /// Take a run out of the queue.
    RemoveQueued(usize),
    /// Change the configuration of the next run.
    Configure(Box<RunConfig>),
    Download(NamedSet),
    /// Cancel that, or put away what is said about its failure.
    CancelDownload,
    /// Type into the field of a number.
    Type(Setting, String),
    ApplyPreset(Preset),
    /// Apply the settings recommended for this machine.
    ApplyRecommended,
    /// Start a run with the current configuration.
    Start,
    Pause,
    Resume,
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
    /// Show the curves of a finished run.
    ShowCurves(PathBuf),
    /// Start the next run from the weights of the run in this folder.
    TrainFurther(PathBuf),
    /// Compare batch sizes or devices with the current settings.
    Compare(ComparisonKind),
    /// Choose a data folder in a dialog.
    ChooseDataFolder,
    /// Add this folder to those searched for data sets, and train on it.
    UseDataFolder(PathBuf),
    /// Write the run's curves to a CSV file chosen in a dialog.
    SaveCurves,
}

impl App {
    pub fn update_train(&mut self, action: TrainAction) {
        match action {
            TrainAction::Configure(config) => self.configure(*config),
            TrainAction::Download(set) => self.train.start_download(&mut self.ctx, set),
            TrainAction::CancelDownload => self.train.cancel_download(),
            TrainAction::Type(field, text) => {
                self.train.setting_chosen();
                self.type_text(field, text);
            }
            TrainAction::ApplyPreset(preset) => {
                self.train.setting_chosen();
                self.train.form.clear();
                self.ctx.settings.former_learning_rate = None;
                self.ctx.config.apply_preset(preset);
            }
            TrainAction::ApplyRecommended => {
                if let Some((config, _)) = self.train.recommended(&self.ctx) {
                    self.train.form.clear();
                    self.ctx.settings.former_learning_rate = None;
                    self.ctx.config = config;
                }
            }
            TrainAction::Start => self.start(),
            TrainAction::QueueRun => self.queue_run(),
            TrainAction::ShowNextRun(shown) => self.train.next_run_shown = shown,
            TrainAction::StartQueued => self.start_queued(),
            TrainAction::RemoveQueued(index) => self.train.remove_queued(index),
            TrainAction::Pause => self.train.pause(&mut self.ctx),
            TrainAction::Resume => self.train.resume(&mut self.ctx),
            TrainAction::Stop => self.train.stop(&mut self.ctx),
            TrainAction::SaveRun => self.train.save_run(&mut self.ctx, None),
            TrainAction::ChooseRunFolder => self
                .ctx
                .ask_for_folder("Choose a folder for the run", Purpose::RunFolder),
            TrainAction::ResumeInterrupted(folder) => self.resume_interrupted(&folder),
            TrainAction::SaveInterrupted(folder) => self.save_interrupted(&folder),
            TrainAction::ForgetInterrupted(folder) => {
                self.train.forget_interrupted(&mut self.ctx, folder);
            }
            TrainAction::ShowCurves(folder) => self.ctx.show_curves(folder),
            TrainAction::TrainFurther(folder) => self.train_further(&folder),
            TrainAction::Compare(what) => self.compare(what),
            TrainAction::ChooseDataFolder => self
                .ctx
                .ask_for_folder("Choose a folder with training data", Purpose::DataFolder),
            TrainAction::UseDataFolder(folder) => self.train.use_data_folder(&mut self.ctx, folder),
            TrainAction::SaveCurves => {
                if let Some(run) = &self.train.run {
                    let name = format!("inkling-{}-curves.csv", run.config.model);
                    let text = run.history.csv();
                    self.ctx.ask_for_new_file(
                        "Save the training curves",
                        &name,
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
        }
    }
}
