//! The application's state: creating it, queries of the window, and closing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::WizardStep;
use super::action::Screen;
use super::background::{BackgroundTasks, Wake};
use super::desktop::{Desktop, DesktopState, Dialogs, PathQuestion};
use super::draw::{
    Drawing, InferenceDevice, NumberCanvas, OpenImages, PredictionQueue, Preprocessing,
    RecentDrawings, Tool,
};
use super::engine_link::EngineLink;
use super::hardware::{
    BenchmarkView, Checks, DeleteReceived, ListReceived, Monitor, OtherMachine, OtherMachineDialog,
    ReachHost, SampleLoad, SelfTest, SendingQuestion, SentView,
};
use super::jobs::Jobs;
use super::messages::Message;
use super::models::{Changes, ComparisonView, ExportView, ImportQuestion, Thumbnail};
use super::my_digits::MyDigitsView;
use super::notice::{Notice, Offer, Severity};
use super::results::ResultsView;
use super::settings::Settings;
use super::sweeps::{ExecutorFactory, Sweeps};
use super::train::learning::Learning;
use super::train::run::RunView;
use super::train::setup::{
    BatchSizeSearchView, DownloadView, Form, ProfileView, RateSearchView, Samples,
};
use crate::data::{DataError, Found};
use crate::download::Downloader;
use crate::engine::{EngineHandle, EngineHost, EngineSettings};
use crate::hardware::Hardware;
use crate::records::{JobId, ModelInfo, Prediction, RunSummary};
use crate::run_config::{DataSource, RunConfig};
use crate::runs::{InterruptedRun, RunEntry};
use crate::system::paths::Paths;

/// The largest number of notices; the oldest are dropped.
const NOTICES: usize = 4;

/// Detects the hardware, searching this folder for NVIDIA's libraries first.
pub type Probe = Arc<dyn Fn(Option<&Path>) -> Hardware + Send + Sync>;

/// The services the app depends on, passed in so that tests can replace them.
pub struct AppDeps {
    pub paths: Paths,
    /// Where the engine runs at first.
    pub host: EngineHost,
    /// Starts an engine; called again after it has exited.
    pub connect: Box<dyn Fn(EngineHost, EngineSettings, Wake) -> EngineHandle>,
    /// Makes what trains the trials of a sweep.
    pub executor: ExecutorFactory,
    /// Detects the hardware, searching this folder for NVIDIA's libraries first; blocks until it is
    /// done.
    pub probe: Probe,
    /// Samples the machine's load; blocks until it is done.
    pub sample_load: SampleLoad,
    pub self_test: SelfTest,
    /// Whether this machine can reach others, to download from them; answers immediately.
    pub has_network: Box<dyn Fn() -> bool>,
    /// Looks up another machine, and runs its self-tests.
    pub reach_host: ReachHost,
    /// Lists what was sent to another machine.
    pub list_received: ListReceived,
    pub delete_received: DeleteReceived,
    /// Downloads a data set; blocks until it is done.
    pub download: Downloader,
    pub dialogs: Box<dyn Dialogs>,
    pub desktop: Arc<dyn Desktop>,
    /// Called when [`App::poll`] has something to process.
    pub wake: Wake,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each stands for a fact of its own, and no two of them exclude each other"
)]
pub struct App {
    pub screen: Screen,
    /// The wizard's page while it is open.
    pub wizard: Option<WizardStep>,
    pub settings: Settings,
    /// This machine's hardware, once detected.
    pub hardware: Option<Hardware>,
    /// Data sets found by name, once the search has finished.
    pub found: Option<Vec<Found>>,
    /// The data set that is being downloaded, or could not be.
    pub download: Option<DownloadView>,
    pub config: RunConfig,
    pub run: Option<RunView>,
    /// True while the next run is shown in its place: its data, its network, and what it will do.
    pub(super) next_run_shown: bool,
    /// The settings of the runs that wait for its end, the next one first.
    pub queue: Vec<RunConfig>,
    pub(super) learning: Option<Learning>,
    pub drawing: Drawing,
    pub number: NumberCanvas,
    /// What the pointer does to the canvas.
    pub tool: Tool,
    /// The drawings that were cleared from the canvas.
    pub recent_drawings: RecentDrawings,
    pub my_digits: MyDigitsView,
    pub model_in_use: Option<ModelInfo>,
    /// The starter model, once it has been in use: the engine begins with it.
    pub starter_model: Option<ModelInfo>,
    /// Interrupted runs that can be resumed, newest first.
    pub interrupted: Vec<InterruptedRun>,
    /// Finished runs, newest first, once listed.
    pub runs: Option<Vec<RunEntry>>,
    pub(super) thumbnails: BTreeMap<PathBuf, Thumbnail>,
    /// Changes to saved runs that are being made.
    pub(super) changes: Changes,
    pub results: Option<ResultsView>,
    /// The comparison of models, while it is open.
    pub comparison: Option<ComparisonView>,
    pub jobs: Jobs,
    /// The export dialog, while it is open.
    pub export: Option<ExportView>,
    /// The run to select under Models, until that has been done: the one that was imported last or
    /// is to be exported.
    pub run_to_select: Option<PathBuf>,
    pub benchmark: BenchmarkView,
    /// The search for a learning rate, while its dialog is open.
    pub rate_search: Option<RateSearchView>,
    /// Where the time of a training step goes, while its dialog is open.
    pub profile: Option<ProfileView>,
    /// The search for a batch size, while its dialog is open.
    pub batch_size_search: Option<BatchSizeSearchView>,
    pub sweeps: Sweeps,
    /// The run that trains an earlier one again, and that one.
    pub(super) reproducing: Option<(JobId, Box<RunSummary>)>,
    pub checks: Checks,
    /// The other machine that is in use, if it is one.
    pub(super) other_machine: Option<OtherMachine>,
    /// The dialog that asks for another machine, while it is open.
    pub machine_dialog: Option<OtherMachineDialog>,
    /// The question whether My digits may be sent to it, while it is asked.
    pub sending_question: Option<SendingQuestion>,
    /// What was sent to it.
    pub sent: SentView,
    /// The other machines that My digits may be sent to.
    pub(super) recipients: Vec<String>,
    /// The machine's recent load, sampled while the monitor is shown.
    pub monitor: Monitor,
    /// Notices, oldest first.
    pub notices: Vec<Notice>,
    /// The question for a path, where no dialog could be shown.
    pub path_question: Option<PathQuestion>,
    /// The question how the weights of a file are meant, while it is asked.
    pub import_question: Option<ImportQuestion>,
    /// True while the window has the focus.
    pub focused: bool,
    pub(super) inference: InferenceDevice,
    pub(super) predictions: PredictionQueue,
    pub(super) preprocessing: Preprocessing,
    /// The images that are open over the canvas.
    pub(super) images: OpenImages,
    pub(super) engine: EngineLink,
    pub(super) background: BackgroundTasks,
    pub(super) deps: AppDeps,
    pub(super) last_id: u64,
    /// Training seconds at which the drawing was last classified again automatically.
    pub(super) classified_at: f32,
    pub(super) form: Form,
    /// What is wrong with folders and files that were chosen as data.
    pub(super) data_problems: BTreeMap<PathBuf, DataError>,
    pub(super) samples: Option<Samples>,
    /// True once the person has chosen a setting.
    pub(super) chosen: bool,
    pub(super) discovery_started: bool,
    /// True if data sets can be downloaded, as far as is known.
    pub has_network: bool,
    /// True while another folder is searched for NVIDIA's libraries.
    pub looking_for_cuda: bool,
    pub(super) desktop_state: DesktopState,
    pub(super) autosave: crate::window::settings::Autosave,
}

impl App {
    /// The state at launch. Discovery starts after the first frame, by [`App::start_discovery`].
    ///
    /// `set_aside` is the new name of a settings file that could not be read.
    pub fn new(settings: Settings, set_aside: Option<PathBuf>, deps: AppDeps) -> Self {
        let engine = EngineLink::start(&deps, &settings);
        let mut drawing = Drawing::default();
        drawing.pen = settings.pen;
        let mut number = NumberCanvas::default();
        number.drawing.pen = settings.pen;
        let mut app = Self {
            screen: Screen::Train,
            wizard: (!settings.wizard_done).then_some(WizardStep::Welcome),
            config: settings.config.clone(),
            autosave: crate::window::settings::Autosave::new(settings.clone()),
            settings,
            hardware: None,
            found: None,
            download: None,
            run: None,
            next_run_shown: false,
            learning: None,
            drawing,
            number,
            tool: Tool::Pen,
            recent_drawings: RecentDrawings::default(),
            my_digits: MyDigitsView::default(),
            model_in_use: None,
            starter_model: None,
            interrupted: Vec::new(),
            runs: None,
            thumbnails: BTreeMap::new(),
            changes: Changes::default(),
            results: None,
            comparison: None,
            jobs: Jobs::default(),
            export: None,
            run_to_select: None,
            queue: Vec::new(),
            path_question: None,
            import_question: None,
            benchmark: BenchmarkView::default(),
            rate_search: None,
            profile: None,
            batch_size_search: None,
            sweeps: Sweeps::default(),
            reproducing: None,
            checks: Checks::default(),
            other_machine: None,
            machine_dialog: None,
            sending_question: None,
            sent: SentView::default(),
            recipients: Vec::new(),
            monitor: Monitor::default(),
            notices: Vec::new(),
            focused: true,
            inference: InferenceDevice::default(),
            predictions: PredictionQueue::default(),
            preprocessing: Preprocessing::default(),
            images: OpenImages::default(),
            engine,
            background: BackgroundTasks::new(Arc::clone(&deps.wake)),
            deps,
            last_id: 0,
            classified_at: 0.0,
            form: Form::default(),
            data_problems: BTreeMap::new(),
            samples: None,
            chosen: false,
            discovery_started: false,
            has_network: false,
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

    /// True while Train shows the next run: if there is no other, or the person has chosen so.
    pub const fn shows_next_run(&self) -> bool {
        self.run.is_none() || self.next_run_shown
    }

    /// True while a run is in progress.
    pub fn is_training(&self) -> bool {
        self.run.as_ref().is_some_and(RunView::is_active)
    }

    /// True while there is something that takes long and can be resumed later: a run or a sweep.
    pub fn is_at_long_work(&self) -> bool {
        self.is_training() || self.is_sweeping()
    }

    /// True while the engine is busy, so that replacing it would lose work.
    pub(super) fn is_at_work(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// The source of a found data set: its name if the engine finds it by name, else its path.
    pub fn source_of(&self, found: &Found) -> DataSource {
        let known = self
            .engine
            .data_folders
            .iter()
            .any(|folder| found.folder.starts_with(folder));
        if known {
            DataSource::Named(found.set)
        } else {
            DataSource::Path(found.folder.clone())
        }
    }

    /// The folder that contains the run folders.
    pub fn runs_folder(&self) -> &Path {
        &self.deps.paths.runs
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Shows a notice, in place of one with the same message.
    pub(super) fn show_notice(&mut self, severity: Severity, message: Message) {
        self.show_notice_with(severity, message, None);
    }

    /// The same with something to do about it.
    pub(super) fn show_notice_with(
        &mut self,
        severity: Severity,
        message: Message,
        offer: Option<Offer>,
    ) {
        self.notices.retain(|notice| notice.message != message);
        let id = self.next_id();
        if self.notices.len() >= NOTICES {
            self.notices.remove(0);
        }
        self.notices.push(Notice {
            id,
            severity,
            message,
            offer,
            since: Instant::now(),
        });
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("screen", &self.screen)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}
