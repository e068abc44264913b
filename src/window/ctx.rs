//! The state that every feature may use besides its own.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::download::Downloader;
use crate::engine::{EngineHandle, EngineHost, EngineSettings};
use crate::hardware::Hardware;
use crate::ink::Image;
use crate::problem::{Message, Problem};
use crate::protocol::{Command, EngineError, Job};
use crate::records::{JobId, ModelInfo, ModelRef};
use crate::run_config::RunConfig;
use crate::settings::Settings;
use crate::system::paths::Paths;
use crate::window::autosave::Autosave;
use crate::window::engine_link::EngineLink;
use crate::window::jobs::Activity;
use crate::window::sweeps::SweepRequests;
use crate::window::{
    Action, BackgroundTasks, Checks, Collection, DeleteReceived, Desktop, Dialogs, ExecutorFactory,
    Jobs, Level, ListReceived, Notice, Offer, OtherMachine, ReachHost, RunView, SampleLoad, Screen,
    SelfTest, Severity, Wake, WizardStep,
};

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

/// The state that every feature may use besides its own.
pub struct Ctx {
    pub screen: Screen,
    /// The level that Inside shows.
    pub inside: Level,
    /// The wizard's page while it is open.
    pub wizard: Option<WizardStep>,
    /// The guided collection of drawings, while it is in progress: the canvas is for one digit
    /// then.
    pub collection: Option<Collection>,
    /// What features want of the engine and of each other; carried out when the action or event in
    /// hand is.
    pub requests: VecDeque<Request>,
    /// Requests to the thread of the sweep in progress; `None` without a sweep.
    pub(in crate::window) sweep: Option<Arc<SweepRequests>>,
    pub settings: Settings,
    pub(in crate::window) autosave: Autosave,
    pub config: RunConfig,
    /// This machine's hardware, once detected.
    pub hardware: Option<Hardware>,
    pub checks: Checks,
    /// The other machine that is in use, if it is one.
    pub other_machine: Option<OtherMachine>,
    pub discovery_started: bool,
    pub model_in_use: Option<ModelInfo>,
    /// The starter model, once it has been in use: the engine begins with it.
    pub starter_model: Option<ModelInfo>,
    pub jobs: Jobs,
    /// Notices, oldest first.
    pub notices: Vec<Notice>,
    /// True while the window has the focus.
    pub focused: bool,
    /// True if the system asks programs not to animate.
    pub motion_is_reduced: bool,
    pub(in crate::window) engine: EngineLink,
    pub(in crate::window) background: BackgroundTasks,
    pub(in crate::window) deps: AppDeps,
    pub(in crate::window) last_id: u64,
}

/// A request of a feature to the engine or to another feature.
#[derive(Debug)]
pub enum Request {
    Send(Box<Command>),
    /// Prepare the screen that is shown now in the place of this one.
    Prepare {
        before: Screen,
    },
    Start(Box<RunView>),
    /// A run begins: the drawing is classified anew from its first steps on.
    RunBegins,
    /// Show the results of the run in this folder.
    ShowResults(PathBuf),
    /// The person chose the device that recognizes drawings, or what may be used has changed.
    UpdateInferenceDevice,
    /// Put this image on the clipboard.
    CopyImage(Box<Image>),
    /// Time the presets as soon as nothing else is measured, if that is still wanted.
    TimePresets,
    MoveEngine(EngineHost),
    RestartEngine,
    /// Do this as if the person had asked for it again.
    Do(Box<Action>),
}

impl Ctx {
    /// The state at launch, with an engine that starts.
    pub fn new(settings: Settings, deps: AppDeps) -> Self {
        Self {
            screen: Screen::Train,
            inside: Level::Network,
            wizard: (!settings.wizard_done).then_some(WizardStep::Welcome),
            collection: None,
            requests: VecDeque::new(),
            sweep: None,
            autosave: Autosave::new(settings.clone()),
            config: settings.config.clone(),
            hardware: None,
            checks: Checks::default(),
            other_machine: None,
            discovery_started: false,
            model_in_use: None,
            starter_model: None,
            jobs: Jobs::default(),
            notices: Vec::new(),
            focused: true,
            motion_is_reduced: false,
            engine: EngineLink::start(&deps, &settings),
            background: BackgroundTasks::new(Arc::clone(&deps.wake)),
            settings,
            deps,
            last_id: 0,
        }
    }

    /// True while a run is in progress.
    pub fn is_training(&self) -> bool {
        self.jobs.doing(Activity::Run).is_some()
    }

    /// True while a sweep is in progress.
    pub const fn is_sweeping(&self) -> bool {
        self.sweep.is_some()
    }

    /// True while the engine is busy, so that replacing it would lose work.
    pub(in crate::window) fn is_at_work(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// True while there is something that takes long and can be resumed later: a run or a sweep.
    pub fn is_at_long_work(&self) -> bool {
        self.is_training() || self.is_sweeping()
    }

    pub(in crate::window) fn request(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    pub(in crate::window) fn send(&mut self, command: Command) {
        self.request(Request::Send(Box::new(command)));
    }

    /// Hands a job to the engine.
    pub(in crate::window) fn submit(&mut self, job: Job) {
        let id = JobId(self.next_id());
        self.submit_as(id, job);
    }

    pub(in crate::window) fn submit_as(&mut self, id: JobId, job: Job) {
        self.jobs.add(id, job.clone());
        self.send(Command::Submit {
            id,
            job: Box::new(job),
            data: None,
        });
    }

    pub(in crate::window) fn cancel_job(&mut self, id: JobId) {
        if self.jobs.cancel(id) {
            self.send(Command::Cancel(id));
        }
    }

    /// Shows why a job cannot be submitted now; false if it can.
    pub(in crate::window) fn is_too_busy(&mut self) -> bool {
        if self.is_sweeping() {
            self.show_notice(Severity::Info, Message::sweep_in_progress());
        } else if self.is_training() {
            self.show_problem(&EngineError::Busy.into());
        }
        self.is_sweeping() || self.is_training()
    }

    pub(in crate::window) fn use_model(&mut self, model: ModelRef) {
        if model == ModelRef::Starter {
            self.settings.last_model = None;
        }
        self.send(Command::UseModel(model));
    }

    /// Goes to a screen, as the person does by its tab.
    pub(in crate::window) fn show(&mut self, screen: Screen) {
        let before = self.screen;
        self.go_to(screen);
        self.request(Request::Prepare { before });
    }

    /// Changes the screen, and nothing else.
    pub(in crate::window) fn go_to(&mut self, screen: Screen) {
        if screen != self.screen {
            self.notices.retain(|notice| !notice.goes_with_its_screen());
        }
        self.screen = screen;
    }

    /// The value of a result; a notice and `None` if it is an error.
    pub(in crate::window) fn tell_failure<T>(
        &mut self,
        outcome: Result<T, impl Into<Problem>>,
    ) -> Option<T> {
        outcome
            .map_err(|error| self.show_problem(&error.into()))
            .ok()
    }

    /// Shows that a file was written, or why not.
    pub(in crate::window) fn tell_written(&mut self, outcome: Result<PathBuf, impl Into<Problem>>) {
        if let Some(path) = self.tell_failure(outcome) {
            self.show_notice(Severity::Info, Message::written(&path));
        }
    }

    /// Shows what went wrong and what to do.
    pub(in crate::window) fn show_problem(&mut self, problem: &Problem) {
        tracing::info!(problem = problem.name, %problem, "a problem is shown");
        self.show_notice(Severity::Error, problem.message.clone());
    }

    pub(in crate::window) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Shows a notice, in place of one with the same message.
    pub(in crate::window) fn show_notice(&mut self, severity: Severity, message: Message) {
        self.show_notice_with(severity, message, None);
    }

    /// The same with something to do about it.
    pub(in crate::window) fn show_notice_with(
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
