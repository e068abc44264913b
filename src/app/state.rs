//! Owns the application's state and the two places where it changes: `apply` for actions, `on_event` for events.
//! Must not know how any of it is drawn.

use std::sync::Arc;

use super::background::{Background, Finding};
use super::drawing::Drawing;
use super::notice::{Notice, Severity};
use super::results::ResultsView;
use super::run_view::{Phase, RunView};
use super::settings::Settings;
use super::{Action, Screen, WizardStep};
use crate::engine::EngineHandle;
use crate::hardware::Hardware;
use crate::paths::Paths;
use crate::protocol::{Command, Event, ModelInfo, Reading, RunId, Task};
use crate::run_config::RunConfig;
use crate::runs::RunEntry;

/// Everything the window shows.
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
    pub found: Option<Vec<crate::data::Found>>,
    /// The configuration of the next run.
    pub config: RunConfig,
    /// The run that is under way or was last.
    pub run: Option<RunView>,
    /// The canvas.
    pub drawing: Drawing,
    /// What was read last, for the drawing as it was then.
    pub reading: Option<Reading>,
    /// Who reads.
    pub reader: Option<ModelInfo>,
    /// Finished runs, newest first, once listed.
    pub runs: Option<Vec<RunEntry>>,
    /// What the results screen shows.
    pub results: Option<ResultsView>,
    /// The measurement under way, from 0 to 1.
    pub evaluating: Option<f32>,
    /// Notices, oldest first.
    pub notices: Vec<Notice>,
    engine: EngineHandle,
    background: Background,
    paths: Paths,
    next_id: u64,
    evaluation_request: u64,
}
