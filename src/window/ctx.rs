//! What every feature may use besides its own state.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::background::{BackgroundTasks, Wake};
use super::desktop::{Desktop, Dialogs};
use super::engine_link::EngineLink;
use super::hardware::{DeleteReceived, ListReceived, ReachHost, SampleLoad, SelfTest};
use super::jobs::Jobs;
use super::messages::Message;
use super::notice::{Notice, Offer, Severity};
use super::settings::{Autosave, Settings};
use super::sweeps::ExecutorFactory;
use crate::download::Downloader;
use crate::engine::{EngineHandle, EngineHost, EngineSettings};
use crate::hardware::Hardware;
use crate::records::ModelInfo;
use crate::run_config::RunConfig;
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

/// What every feature may use besides its own state.
pub struct Ctx {
    pub settings: Settings,
    pub(in crate::window) autosave: Autosave,
    pub config: RunConfig,
    /// This machine's hardware, once detected.
    pub hardware: Option<Hardware>,
    pub model_in_use: Option<ModelInfo>,
    /// The starter model, once it has been in use: the engine begins with it.
    pub starter_model: Option<ModelInfo>,
    pub jobs: Jobs,
    /// Notices, oldest first.
    pub notices: Vec<Notice>,
    /// True while the window has the focus.
    pub focused: bool,
    pub(in crate::window) engine: EngineLink,
    pub(in crate::window) background: BackgroundTasks,
    pub(in crate::window) deps: AppDeps,
    pub(in crate::window) last_id: u64,
}

impl Ctx {
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
