//! Owns the application's state: what it is at the start, what the window may ask of it, and how it is put away.
//! Must not know how any of it is drawn. It changes in `apply` (actions) and `incoming` (events and findings) only.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::WizardStep;
use super::action::Screen;
use super::background::{BackgroundTasks, Wake};
use super::desktop::{Desktop, DesktopState, Dialogs};
use super::drawing::{Drawing, InferenceDevice, PredictionQueue};
use super::engine_link::EngineLink;
use super::jobs::Jobs;
use super::machine::{BenchmarkView, Checks, Monitor, SampleLoad, SelfTest};
use super::messages::Message;
use super::models::{ExportView, ResultsView};
use super::notice::{Notice, Severity};
use super::run::RunView;
use super::settings::Settings;
use super::setup::Form;
use crate::data::Found;
use crate::engine::{EngineHandle, EngineHost, EngineSettings};
use crate::hardware::Hardware;
use crate::records::{ModelInfo, Prediction};
use crate::run_config::{DataSource, RunConfig};
use crate::runs::{InterruptedRun, RunEntry};
use crate::system::paths::Paths;

/// The most notices at a time; the oldest make room.
const NOTICES: usize = 4;

/// Looks at the machine, and for NVIDIA's libraries in this folder first.
pub type Probe = Arc<dyn Fn(Option<&Path>) -> Hardware + Send + Sync>;

/// What the app stands on, given from outside so that tests can put something else in its place.
pub struct AppDeps {
    /// The folders of this installation.
    pub paths: Paths,
    /// Where engines live at first.
    pub host: EngineHost,
    /// Starts an engine; called again when one is gone.
    pub connect: Box<dyn Fn(EngineHost, EngineSettings, Wake) -> EngineHandle>,
    /// Looks at this machine, for NVIDIA's libraries in this folder first; blocks until it is done.
    pub probe: Probe,
    /// Takes a reading of how busy it is; blocks until that is done.
    pub sample_load: SampleLoad,
    /// Checks that a device of it computes rightly.
    pub self_test: SelfTest,
    /// Asks for file names.
    pub dialogs: Box<dyn Dialogs>,
    /// Keeps the machine awake, shows notifications.
    pub desktop: Arc<dyn Desktop>,
    /// Called when there is something to [`App::poll`].
    pub wake: Wake,
}

/// Everything the window shows.
#[expect(clippy::struct_excessive_bools, reason = "each stands for a fact of its own, and no two of them exclude each other")]
pub struct App {
    /// The screen behind the chosen tab.
    pub screen: Screen,
    /// The wizard's page while it is open.
    pub wizard: Option<WizardStep>,
    /// What is remembered.
    pub settings: Settings,
    /// This machine, once probed.
    pub hardware: Option<Hardware>,
    /// Data sets found by name, once looked for.
    pub found: Option<Vec<Found>>,
    /// The configuration of the next run.
    pub config: RunConfig,
    /// The run that is under way or was last.
    pub run: Option<RunView>,
    /// The canvas.
    pub drawing: Drawing,
    /// Who reads.
    pub model_in_use: Option<ModelInfo>,
    /// Runs that were interrupted and can go on, newest first.
    pub interrupted: Vec<InterruptedRun>,
    /// Finished runs, newest first, once listed.
    pub runs: Option<Vec<RunEntry>>,
    /// What the results screen shows.
    pub results: Option<ResultsView>,
    /// The jobs that run.
    pub jobs: Jobs,
    /// The export being chosen or written.
    pub export: Option<ExportView>,
    /// The run that was imported last, until somebody looks at another.
    pub just_imported: Option<PathBuf>,
    /// What is known of this machine's speed.
    pub benchmark: BenchmarkView,
    /// What is known of whether its devices compute rightly.
    pub checks: Checks,
    /// How busy this machine was lately, while that is shown.
    pub monitor: Monitor,
    /// Notices, oldest first.
    pub notices: Vec<Notice>,
    /// True while the person works in the window; the window says so.
    pub focused: bool,
    pub(super) inference: InferenceDevice,
    pub(super) predictions: PredictionQueue,
    pub(super) engine: EngineLink,
    pub(super) background: BackgroundTasks,
    pub(super) deps: AppDeps,
    pub(super) last_id: u64,
    /// Training seconds at which the drawing was last read again by itself.
    pub(super) classified_at: f32,
    pub(super) form: Form,
    /// True once a person chose a setting.
    pub(super) chosen: bool,
    pub(super) discovery_started: bool,
    /// True while NVIDIA's libraries are looked for in another place.
    pub looking_for_cuda: bool,
    pub(super) desktop_state: DesktopState,
    pub(super) autosave: super::settings::Autosave,
}

impl App {
    /// The state at launch. Nothing is looked for yet: [`App::start_discovery`] does that, after the first frame.
    ///
    /// `set_aside` is where a settings file that could not be read was kept.
    pub fn new(settings: Settings, set_aside: Option<PathBuf>, deps: AppDeps) -> Self {
        let engine = EngineLink::start(&deps, &settings);
        let mut drawing = Drawing::default();
        drawing.pen = settings.pen;
        let mut app = Self {
            screen: Screen::Train,
            wizard: (!settings.wizard_done).then_some(WizardStep::Welcome),
            config: settings.config.clone(),
            autosave: super::settings::Autosave::new(settings.clone()),
            settings,
            hardware: None,
            found: None,
            run: None,
            drawing,
            model_in_use: None,
            interrupted: Vec::new(),
            runs: None,
            results: None,
            jobs: Jobs::default(),
            export: None,
            just_imported: None,
            benchmark: BenchmarkView::default(),
            checks: Checks::default(),
            monitor: Monitor::default(),
            notices: Vec::new(),
            focused: true,
            inference: InferenceDevice::default(),
            predictions: PredictionQueue::default(),
            engine,
            background: BackgroundTasks::new(Arc::clone(&deps.wake)),
            deps,
            last_id: 0,
            classified_at: 0.0,
            form: Form::default(),
            chosen: false,
            discovery_started: false,
            looking_for_cuda: false,
            desktop_state: DesktopState::default(),
        };
        if let Some(aside) = set_aside {
            app.show_notice(Severity::Info, Message::settings_set_aside(&aside));
        }
        app.send_inference_choice();
        app
    }

    /// The newest prediction for the drawing on the canvas.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.predictions.prediction()
    }

    /// True while a run is under way.
    pub fn is_training(&self) -> bool {
        self.run.as_ref().is_some_and(RunView::is_active)
    }

    /// True while the engine must not be replaced by another one, which would know nothing of what it is doing.
    pub(super) fn is_at_work(&self) -> bool {
        !self.jobs.is_empty() || self.export.is_some()
    }

    /// How a data set that was found is named in a configuration: by its name where the engine looks for it there.
    pub fn source_of(&self, found: &Found) -> DataSource {
        let known = self.engine.data_folders.iter().any(|folder| found.folder.starts_with(folder));
        if known { DataSource::Named(found.set) } else { DataSource::Path(found.folder.clone()) }
    }

    /// The folder that holds the run folders.
    pub fn runs_folder(&self) -> &Path {
        &self.deps.paths.runs
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Shows a notice, unless the same one is being shown.
    pub(super) fn show_notice(&mut self, severity: Severity, message: Message) {
        self.notices.retain(|notice| notice.message != message);
        let id = self.next_id();
        if self.notices.len() >= NOTICES {
            self.notices.remove(0);
        }
        self.notices.push(Notice { id, severity, message, since: Instant::now() });
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("screen", &self.screen).field("run", &self.run).finish_non_exhaustive()
    }
}
